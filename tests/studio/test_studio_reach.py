"""A tool dragged in the studio: the session's side, spoken to as the server does."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from host_fixture import Backstage, backstage
from linkwork.formats import load_scene
from linkwork.geometry.pose import Pose
from linkwork.kinematics import jacobian
from linkwork.model.world import compile_scene
from linkwork.motion import ReachSolver
from linkwork.session.replay import replay
from linkwork.studio import protocol as m
from linkwork.studio.host.open_scene import OpenScene
from studio_fixture import TIMEOUT

TIP = "arm/flange"
#: From the shoulder to the wrist of the stretched arm [m].
STRETCHED = 0.4 + 0.39


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backstage]:
    """The KUKA arm on its table, with its flange as the tool; kernels are compiled first."""
    world = compile_scene(load_scene("kuka/table"))
    for speeds in (True, False):
        ReachSolver(world, TIP).step(world.q0, 0.01, speeds=speeds)
    with backstage("kuka/table", tmp_path_factory.mktemp("reach")) as made:
        made.until("scene")
        yield made


@pytest.fixture
def arm(table: Backstage) -> Backstage:
    """Paused at the first state, the whole arm active."""
    for message in (m.Pause(), m.Release(), m.Reset(), m.SetReach(m.ReachSetup(TIP))):
        table.ask(message)
    table.until("reaching", lambda r: r["setup"] is not None and r["joints"])
    return table


def scene_of(here: Backstage) -> OpenScene:
    assert isinstance(here.host.open, OpenScene)
    return here.host.open


def tool(here: Backstage) -> Pose:
    reach = scene_of(here).reach.reach
    assert reach is not None
    return reach.place(scene_of(here).session.state.q)


def to(pose: Pose, gesture: int = 1, **more: object) -> m.DragTool:
    return m.DragTool(tuple(pose.array().tolist()), gesture, **more)  # type: ignore[arg-type]


def eventually(what: str, test: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not test():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def settled(here: Backstage) -> None:
    """Lets go and waits until nothing is on its way."""
    here.ask(m.EndToolDrag())
    eventually("arrived", lambda: scene_of(here).reach.drag.reach is None)


def dragged(here: Backstage, pose: Pose, gesture: int = 1) -> None:
    """Drags the tool somewhere, lets go there and waits until it has come to rest."""
    here.ask(to(pose, gesture))
    eventually("on its way", lambda: scene_of(here).reach.drag.reach is not None)
    settled(here)


def shifted(pose: Pose, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(tuple(np.add(pose.xyz, (x, y, z))), pose.quat)  # type: ignore[arg-type]


@pytest.mark.capability(110)
def test_a_paused_arm_follows_its_tool_and_is_undone_in_one_step(arm: Backstage) -> None:
    """The flange arrives where it was dragged to; undo puts every joint back, bit for bit."""
    session = scene_of(arm).session
    first, start = session.state.copy(), tool(arm)
    goal = shifted(start, 0.05, 0.2, 0.1)
    for part in (0.3, 1.0):
        arm.ask(to(shifted(start, 0.05 * part, 0.2 * part, 0.1 * part)))
    eventually("there", lambda: np.allclose(tool(arm).array(), goal.array(), atol=1e-6))
    settled(arm)
    arm.ask(m.Undo())
    eventually("undone", lambda: session.state.same(first))
    assert "nothing to undo" in arm.refused(m.Undo())


def test_a_drag_that_is_given_up_goes_back(arm: Backstage) -> None:
    """The state is what it was, and there is nothing to undo."""
    session = scene_of(arm).session
    first = session.state.copy()
    arm.ask(to(shifted(tool(arm), y=0.3)))
    eventually("on its way", lambda: abs(session["arm/J1.angle"]) > 0.05)
    arm.ask(m.EndToolDrag(cancelled=True))
    eventually("back", lambda: session.state.same(first))
    assert "nothing to undo" in arm.refused(m.Undo())


@pytest.mark.capability(112)
def test_only_the_chosen_sub_chain_moves(arm: Backstage) -> None:
    """From the elbow on, the shoulder's joints stay bit for bit where they are."""
    session = scene_of(arm).session
    arm.ask(m.SetReach(m.ReachSetup(TIP, first="arm/J4")))
    arm.until("reaching", lambda r: r["joints"] == [f"arm/J{n}" for n in (4, 5, 6, 7)])
    first = session.state.q.copy()
    arm.ask(to(shifted(tool(arm), x=0.05)))
    eventually("moved", lambda: bool(np.abs(session.state.q - first).max() > 0.05))
    settled(arm)
    assert (session.state.q[:3] == first[:3]).all()
    refused = arm.refused(m.SetReach(m.ReachSetup("arm/upper_arm", first="arm/J6")))
    assert "'arm/J6' does not carry 'arm/upper_arm'" in refused


@pytest.mark.capability(116, 117)
def test_an_elbow_is_dragged_while_the_tool_stays(arm: Backstage) -> None:
    """With the tool first, a hand on the forearm turns the arm about shoulder and wrist only."""
    arm.ask(m.SetReach(m.ReachSetup(TIP, hold=True)))
    session, start = scene_of(arm).session, tool(arm)
    body, local = session.world.frame("arm/forearm")
    row = session.state.pose[body].copy()
    elbow = Pose(tuple(row[:3]), tuple(row[3:])) @ local  # type: ignore[arg-type]
    arm.ask(to(shifted(elbow, y=0.12), frame="arm/forearm"))
    eventually("pulled", lambda: abs(session["arm/J3.angle"]) > 0.1)
    settled(arm)
    assert np.allclose(tool(arm).array(), start.array(), atol=1e-5)
    after = session.state.pose[body][:3]
    assert after[1] > row[1] + 0.05


def test_while_time_runs_targets_move_as_the_persons_and_replay_bit_for_bit(
    arm: Backstage, tmp_path: Path
) -> None:
    """A program that drives the joints keeps them until they are taken over; then the arm goes."""
    session, start = scene_of(arm).session, tool(arm)
    arm.ask(m.Play())
    goal = shifted(start, -0.05, 0.15, 0.05)
    assert "is owned by 'reach'" in arm.refused(to(goal))
    for n in range(1, 8):
        arm.ask(m.Take(f"arm/J{n}.target"))
    arm.ask(m.Record(True))
    arm.ask(to(goal))
    eventually("there", lambda: np.allclose(tool(arm).xyz, goal.xyz, atol=4e-3))
    assert set(session.signals.owners.values()) == {"user"}
    settled(arm)
    recording = scene_of(arm)._recording.file
    arm.ask(m.Record(False))
    arm.ask(m.Pause())
    eventually("written", lambda: scene_of(arm)._recording.file is None)
    assert recording is not None
    assert replay(recording).same


def test_what_viewers_see_is_the_singular_value_decomposition(arm: Backstage) -> None:
    """Axes, lengths, figure and Jacobian of the block are those that NumPy finds."""
    session, editor = scene_of(arm).session, scene_of(arm).reach
    block = np.frombuffer(editor.block(m.REACH, session.state))
    count = int(block[32])
    whole = jacobian(session.world, session.state.q, TIP)
    assert count == 7
    assert block[33:].reshape(6, count) == pytest.approx(whole, abs=1e-12)
    u, s, _ = np.linalg.svd(whole[:3])
    assert block[14:17] == pytest.approx(s, abs=1e-12)
    assert block[26] == pytest.approx(s.prod(), abs=1e-12)
    assert np.abs(block[17:26].reshape(3, 3) @ u) == pytest.approx(np.eye(3), abs=1e-6)
    assert block[:7] == pytest.approx(tool(arm).array(), abs=1e-12)
    assert np.isnan(block[7:14]).all()


@pytest.mark.capability(118, 125)
def test_the_tool_stops_before_the_table(arm: Backstage) -> None:
    """With a distance to keep it goes no nearer, however far down it is dragged."""
    arm.ask(m.SetReach(m.ReachSetup(TIP, keep=0.03)))
    arm.until("reaching", lambda r: r["setup"]["keep"] == 0.03)
    session, editor = scene_of(arm).session, scene_of(arm).reach
    arm.ask(to(shifted(tool(arm), z=-0.6)))
    eventually("down", lambda: tool(arm).xyz[2] < 0.85)
    settled(arm)
    rows = np.frombuffer(editor.block(m.NEAR, session.state), "<f4").reshape(-1, 11)
    assert rows[:, 6].min() == pytest.approx(0.03, abs=4e-3)
    apart = np.linalg.norm(rows[:, :3] - rows[:, 3:6], axis=1)
    assert apart == pytest.approx(rows[:, 6], abs=1e-6)


@pytest.mark.capability(127)
def test_the_workspace_is_a_cloud_with_progress_that_can_be_given_up(arm: Backstage) -> None:
    """It grows while the scene goes on, lies within the arm's length, and ends when told to."""
    arm.ask(m.SampleWorkspace(20_000))
    first = arm.until("cloud", lambda c: c["count"] == 20_000)
    assert (first["done"], first["hash"], first["tip"]) == (0, "", TIP)
    last = arm.until("cloud", lambda c: c["done"] == 20_000 and c["hash"])
    data = scene_of(arm).meshes.get(last["hash"])
    positions = np.frombuffer(data, "<f4").reshape(-1, 3)
    assert len(positions) == 20_000
    base = scene_of(arm).session.state.pose[scene_of(arm).session.world.frame("arm/upper_arm")[0]]
    far = np.linalg.norm(positions - base[:3], axis=1)
    assert far.max() <= STRETCHED + 0.078 + 1e-6
    assert far.max() > 0.97 * (STRETCHED + 0.078)
    arm.ask(m.SampleWorkspace(1_000_000))
    arm.until("cloud", lambda c: 0 < c["done"] < 1_000_000)
    arm.ask(m.SampleWorkspace(0))
    arm.until("cloud", lambda c: c["count"] == 0)
    assert scene_of(arm).meshes.get(last["hash"]) == b""


def reported(here: Backstage) -> np.ndarray:
    """The numbers of the tool as viewers get them."""
    return np.frombuffer(scene_of(here).reach.block(m.REACH, scene_of(here).session.state))


def test_what_is_out_of_reach_is_told_when_the_tool_has_come_to_rest(arm: Backstage) -> None:
    """How far is left stays told until something else is done; who arrives has nothing left."""
    start = tool(arm)
    goal = shifted(start, z=1.5)
    dragged(arm, goal)
    far = np.linalg.norm(np.subtract(goal.xyz, tool(arm).xyz))
    assert far > 0.5
    eventually("told", lambda: reported(arm)[28] == pytest.approx(far, abs=1e-9))
    assert np.isnan(reported(arm)[7:14]).all()
    arm.ask(m.Undo())
    eventually("undone", lambda: reported(arm)[28] == 0.0 and tool(arm) == start)
    dragged(arm, shifted(start, y=0.1), 2)
    assert reported(arm)[28:30].tolist() == [0.0, 0.0]


def test_a_reset_is_the_posture_that_is_kept_to(arm: Backstage) -> None:
    """Wanted where it stands after a reset, the tool moves no joint, whatever was before."""
    session = scene_of(arm).session
    first = session.state.q.copy()
    arm.ask(m.DragJoint("arm/J3", "", 0.6))
    arm.ask(m.SetReach(None))
    arm.ask(m.SetReach(m.ReachSetup(TIP)))
    arm.until("reaching", lambda r: r["setup"] is not None and r["joints"])
    arm.ask(m.Reset())
    eventually("reset", lambda: bool((session.state.q == first).all()))
    dragged(arm, tool(arm))
    assert session.state.q == pytest.approx(first, abs=1e-5)


def test_viewers_are_told_when_the_tool_is_put_elsewhere(arm: Backstage) -> None:
    """A drag is a way that the tool goes; reset, undo and a drag given up are none."""
    before = reported(arm)[31]
    dragged(arm, shifted(tool(arm), y=0.1))
    assert reported(arm)[31] == before
    arm.ask(m.Undo())
    arm.ask(m.Redo())
    arm.ask(m.Reset())
    arm.ask(to(shifted(tool(arm), y=0.1), 2))
    arm.ask(m.EndToolDrag(cancelled=True))
    eventually("told", lambda: reported(arm)[31] == before + 4)


#: A stick of one hinge that weighs nothing.
STICK = """
format = "linkwork/part 1"
name = "stick"

[[element]]
name = "base"
mass = 1

[[element]]
name = "pole"
mass = 0

[[joint]]
name = "hinge"
type = "hinge"
from = "base"
to = "pole"
axis = [0, 1, 0]

[[anchor]]
name = "tip"
on = "pole"
at = { xyz = [0, 0, 0.5] }
"""
BENCH = """
format = "linkwork/scene 1"
name = "bench"

[[part]]
part = "./stick.toml"
name = "stick"
base = "fixed"

[[engine]]
type = "kinematic"
"""


def test_an_ellipsoid_that_needs_masses_is_refused_without_them(tmp_path: Path) -> None:
    """Where a joint moves nothing that has mass, impact is refused and velocity stays."""
    (tmp_path / "stick.toml").write_text(STICK)
    (tmp_path / "scene.toml").write_text(BENCH)
    with backstage(str(tmp_path / "scene.toml"), tmp_path) as here:
        here.until("scene")
        here.ask(m.SetReach(m.ReachSetup("stick/tip")))
        here.until("reaching", lambda r: r["setup"] is not None and r["joints"])
        editor, session = scene_of(here).reach, scene_of(here).session
        seen = np.frombuffer(editor.block(m.REACH, session.state))[14:17]
        assert np.isfinite(seen).all()
        logged = here.refused(m.SetReach(m.ReachSetup("stick/tip", ellipsoid="impact")))
        assert "nothing that has mass" in logged
        assert editor.setup is not None
        assert editor.setup.ellipsoid == "velocity"
