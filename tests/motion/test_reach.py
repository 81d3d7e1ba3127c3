"""Interactive reach: a tool dragged by short steps, also out of reach and at singularities."""

import math

import numpy as np
import pytest

from kinematics.test_inverse import arm
from linkwork.core.errors import LinkworkError
from linkwork.engines.common.kernels import loop_state
from linkwork.formats import load_scene
from linkwork.geometry.pose import Pose
from linkwork.kinematics import CenterOfMassTask, Solver, forward, jacobian
from linkwork.model.parts import Part
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from linkwork.motion import ReachGoal, ReachSolver, keep_distance
from linkwork.motion.reach import SHORT_STEP, joints_to
from looped_arm import looped_arm, sliding_ball

TIP = "arm/flange"


@pytest.fixture(scope="module")
def table() -> World:
    return compile_scene(load_scene("kuka/table"))


def shifted(pose: Pose, *by: float) -> Pose:
    return Pose.of(np.add(pose.xyz, by), quat=pose.quat)


def dragged(reach: ReachSolver, q: np.ndarray, to: Pose, steps: int = 300) -> list[np.ndarray]:
    """Returns all postures on the path to a pose."""
    way = [q]
    reach.set_target(to)
    for _ in range(steps):
        way.append(reach.step(way[-1], 1.0 / 60.0, speeds=False))
        if np.abs(way[-1] - way[-2]).max() < 1e-6:
            break
    return way


@pytest.mark.parametrize(
    "aims",
    [
        [ReachGoal("position"), ReachGoal("orientation", 0, 0.2), ReachGoal("posture", 1, 0.1)],
        [ReachGoal("position"), ReachGoal("orientation", 1), ReachGoal("posture", 2, 0.1)],
    ],
    ids=["shared", "strict"],
)
def test_out_of_reach_and_back_without_a_jump_or_shaking(
    table: World, aims: list[ReachGoal]
) -> None:
    """Out of reach the steps come to rest without oscillation; within reach it arrives."""
    reach = ReachSolver(table, TIP, aims)
    home, q = reach.place(table.q0), table.q0.copy()
    for by in ((1.4, 0.0, 0.3), (0.0, 0.0, 0.0), (-0.176, 0.0, 0.9), (-0.3, 0.1, 0.3)):
        way = dragged(reach, q, shifted(home, *by))
        steps = np.abs(np.diff(way, axis=0)).max(axis=1)
        assert np.isfinite(way).all()
        assert steps.max() <= SHORT_STEP + 1e-12
        assert steps[-1] < 2e-3  # 0.1° is not visible
        q = way[-1]
    assert reach.miss(q) == pytest.approx((0.0, 0.0), abs=1e-5)


def test_speeds_of_joints_count_while_time_runs(table: World) -> None:
    """No joint exceeds its velocity limit, however far the target jumps."""
    reach = ReachSolver(table, TIP)
    reach.set_target(shifted(reach.place(table.q0), 0.0, 0.5, 0.2))
    dt = 0.002
    after = reach.step(table.q0, dt)
    assert (np.abs(after - table.q0) <= table.dof_speed * dt + 1e-12).all()
    assert np.abs(after - table.q0).max() > 0.1 * dt


def test_a_leg_is_dragged_while_the_free_body_stays() -> None:
    """Free bodies move only if the chain begins with them."""
    world = compile_scene(load_scene("bioloid/stand"))
    tip = "robot/left_sole"
    free = joints_to(world, tip)[0]
    reach = ReachSolver(world, tip)
    assert free not in reach.joints
    assert reach.counted == [joint for joint in reach.chain if joint != free]
    way = dragged(reach, world.q0.copy(), shifted(reach.place(world.q0), 0.01, 0.0, 0.01), 60)
    first = slice(int(world.qadr[int(world.joint_body[world.joint(free)])]), None)
    assert (way[-1][first][:7] == world.q0[first][:7]).all()
    assert free in ReachSolver(world, tip, first=free).joints


@pytest.mark.capability(142)
def test_the_center_of_mass_comes_before_a_hand() -> None:
    """With the center of mass first, all limbs balance the reach."""
    world = compile_scene(load_scene("bioloid/fixed"))
    tip = "robot/right_hand"
    far = {}
    for name, aims in {
        "first": [ReachGoal("center of mass"), ReachGoal("position", 1)],
        "not at all": [ReachGoal("position")],
    }.items():
        reach = ReachSolver(world, tip, aims)
        q = dragged(reach, world.q0.copy(), shifted(reach.place(world.q0), 0.1, 0.0, 0.05), 80)[-1]
        part = world.body_part[world.frame(tip)[0]]
        measure = Solver(world, [CenterOfMassTask(part=part, weight=(1.0, 1.0, 0.0))])
        far[name] = measure.task_errors(q)[0].distance
        assert reach.miss(q)[0] < 0.11
    assert far["first"] < 1e-6 < 1e-4 < far["not at all"]


def test_loops_stay_closed_while_a_coupler_is_dragged() -> None:
    """A four-bar follows a hand on its coupler as far as its loop permits."""
    world = compile_scene(load_scene("mechanisms/four_bar"))
    reach = ReachSolver(world, "linkage/coupler_end", [ReachGoal("position")])
    q = dragged(reach, world.q0.copy(), shifted(reach.place(world.q0), 0.02, 0.0, 0.02), 60)[-1]
    assert np.abs(q - world.q0).max() > 0.05
    loops = np.arange(len(world.loop_names))
    rest = np.zeros(len(loops))
    gap, _ = loop_state(loops, *world.loop_arrays, forward(world, q), rest, rest.copy())
    assert gap < 1e-6


def test_mistakes_are_told(table: World) -> None:
    with pytest.raises(LinkworkError, match="no joint that may move moves"):
        ReachSolver(table, TIP, joints=["arm/J1"], first="arm/J4")
    with pytest.raises(LinkworkError, match="kind of goal"):
        ReachSolver(table, TIP, [ReachGoal("place")])
    with pytest.raises(LinkworkError, match="must be above 0"):
        ReachSolver(table, TIP, [ReachGoal("position", 0, 0.0)])


def beside_a_ball(part: Part, place: tuple[float, ...]) -> tuple[World, int]:
    """Returns a robot and a ball on a rail, and the coordinate of the rail."""
    scene = Scene("s").place(part, name="a", base="fixed")
    world = compile_scene(scene.place(sliding_ball(), name="b", base="fixed", at=Pose.of(place)))
    return world, int(world.qadr[world.joint_body[world.joint("b/slide")]])


@pytest.mark.parametrize(
    ("target", "place"),
    [((0.3, -1.0, 0.3), (0.25, -0.5, 0.8)), ((-3.0, 0.0, 0.3), (0.3, -0.5, 0.8))],
    ids=["across the ball", "far out of reach"],
)
def test_a_fence_holds_however_far_the_target_leaps(
    target: tuple[float, ...], place: tuple[float, ...]
) -> None:
    """A ball at 0.5 m/s pushes the arm away at its own velocity."""
    world, slide = beside_a_ball(arm(), place)
    keep = keep_distance(world, "a", "b/ball", 0.05)
    q = world.q0.copy()
    q[:7] = (0.0, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0)
    reach = ReachSolver(world, "a/tool", q=q, avoidance=keep)
    reach.set_target(Pose.of(target))
    least = math.inf
    for _ in range(150):
        q = reach.step(q, 1.0 / 60.0, speeds=False)
        q[slide] += 0.008
        least = min([least, *(each.distance for each in keep.nearest(q, 0.5))])
    assert 0.045 < least < 0.06


def test_the_ellipsoid_of_a_platform_is_that_of_its_drives() -> None:
    """A delta's platform has only a free tree joint: its three levers are counted."""
    world = compile_scene(load_scene("mechanisms/delta"))
    reach = ReachSolver(world, "robot/platform", [ReachGoal("position")])
    assert reach.columns == [f"robot/arm{n}/drive" for n in (1, 2, 3)]
    made = reach.ellipsoid(world.q0)
    sigma = np.linalg.svd(reach.jacobian(world.q0)[:3], compute_uv=False)
    assert reach.jacobian(world.q0).shape == (6, 3)
    np.testing.assert_allclose(made.lengths, sigma, atol=1e-9)
    assert made.lengths[0] < 0.5  # a free body would have 1


@pytest.mark.parametrize("speeds", [False, True])
def test_a_looped_robot_keeps_fences_strides_and_speeds_too(speeds: bool) -> None:
    """An arm with a parallelogram keeps the same distance, and loops stay closed."""
    world, slide = beside_a_ball(looped_arm(), (0.25, -0.5, 0.8))
    keep = keep_distance(world, "a", "b/ball", 0.05)
    q = world.q0.copy()
    for n, value in enumerate((0.0, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0)):
        q[world.qadr[world.joint_body[world.joint(f"a/j{n}")]]] = value
    reach = ReachSolver(world, "a/tool", q=q, avoidance=keep)
    reach.set_target(Pose.of((0.3, -1.0, 0.3)))
    dt, least, longest, fastest = 1.0 / 60.0, math.inf, 0.0, 0.0
    for _ in range(150):
        after = reach.step(q, dt, speeds=speeds)
        longest = max(longest, float(np.abs(after - q).max()))
        fastest = max(fastest, float((np.abs(after - q) / world.dof_speed).max()))
        q = after
        q[slide] += 0.008
        least = min([least, *(each.distance for each in keep.nearest(q, 0.5))])
    assert 0.045 < least < 0.06
    assert longest <= SHORT_STEP + 1e-12
    assert not speeds or fastest <= dt + 1e-12
    rest = np.zeros(1)
    gap, _ = loop_state(np.arange(1), *world.loop_arrays, forward(world, q), rest, rest.copy())
    assert gap < 1e-5


def test_a_chosen_chain_counts_also_where_there_are_loops() -> None:
    """Three joints of an arm with a parallelogram give three columns and their ellipsoid."""
    world = compile_scene(Scene("s").place(looped_arm(), name="a", base="fixed"))
    chosen = ["a/j3", "a/j4", "a/j5"]
    reach = ReachSolver(world, "a/tool", joints=chosen)
    assert reach.columns == chosen
    dofs = [world.single_dof(name) for name in chosen]
    rows = jacobian(world, world.q0, "a/tool")[:, dofs]
    np.testing.assert_allclose(reach.jacobian(world.q0), rows, atol=1e-12)
    sigma = np.linalg.svd(rows[:3], compute_uv=False)
    np.testing.assert_allclose(reach.ellipsoid(world.q0).lengths, sigma, atol=1e-7)
    assert ReachSolver(world, "a/rod").columns == [*(f"a/j{n}" for n in range(7)), "a/grip"]


def test_a_ball_is_as_urgent_after_steps_have_become_short() -> None:
    """A jumping target shortens steps; a ball at 1 m/s still pushes the arm as far."""
    world, slide = beside_a_ball(arm(), (0.3, -0.5, 0.6))
    keep = keep_distance(world, "a", "b/ball", 0.05)
    q = world.q0.copy()
    q[:7] = (0.0, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0)
    reach = ReachSolver(world, "a/tool", q=q, avoidance=keep)
    here, least = reach.place(q), math.inf
    for n in range(60):
        reach.set_target(shifted(here, 0.0, 0.0, 0.2 if n % 2 else -0.2))
        q = reach.step(q, 1.0 / 60.0, speeds=False)
        q[slide] += 1.0 / 60.0
        least = min([least, *(each.distance for each in keep.nearest(q, 0.5))])
    assert 0.04 < least < 0.06
