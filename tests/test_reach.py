"""Reach: a tool dragged live by short steps, out of reach and at singular postures too."""

import math

import numpy as np
import pytest

from linkwork.engines.kernels import loop_state
from linkwork.errors import LinkworkError
from linkwork.formats import load_scene
from linkwork.kinematics import CentreOfMassTask, Solver, forward, jacobian
from linkwork.motion import Aim, Reach, keep_distance
from linkwork.motion.chains import chain_of
from linkwork.motion.reach import SHORT
from linkwork.parts import Part
from linkwork.scene import Scene
from linkwork.spatial.pose import Pose
from linkwork.world import World, compile_scene
from looped_arm import looped_arm, sliding_ball
from test_inverse import arm

TIP = "arm/flange"


@pytest.fixture(scope="module")
def table() -> World:
    return compile_scene(load_scene("kuka/table"))


def shifted(pose: Pose, *by: float) -> Pose:
    return Pose.of(np.add(pose.xyz, by), quat=pose.quat)


def dragged(reach: Reach, q: np.ndarray, to: Pose, steps: int = 300) -> list[np.ndarray]:
    """Every posture on the way to a pose."""
    way = [q]
    reach.aim(to)
    for _ in range(steps):
        way.append(reach.step(way[-1], 1.0 / 60.0, speeds=False))
        if np.abs(way[-1] - way[-2]).max() < 1e-6:
            break
    return way


@pytest.mark.parametrize(
    "aims",
    [
        [Aim("position"), Aim("orientation", 0, 0.2), Aim("posture", 1, 0.1)],
        [Aim("position"), Aim("orientation", 1), Aim("posture", 2, 0.1)],
    ],
    ids=["shared", "strict"],
)
def test_out_of_reach_and_back_without_a_jump_or_shaking(table: World, aims: list[Aim]) -> None:
    """Far out, straight up and behind: short steps that come to rest; in reach it arrives."""
    reach = Reach(table, TIP, aims)
    home, q = reach.place(table.q0), table.q0.copy()
    for by in ((1.4, 0.0, 0.3), (0.0, 0.0, 0.0), (-0.176, 0.0, 0.9), (-0.3, 0.1, 0.3)):
        way = dragged(reach, q, shifted(home, *by))
        steps = np.abs(np.diff(way, axis=0)).max(axis=1)
        assert np.isfinite(way).all()
        assert steps.max() <= SHORT + 1e-12
        assert steps[-1] < 2e-3  # 0.1°: nobody sees it
        q = way[-1]
    assert reach.miss(q) == pytest.approx((0.0, 0.0), abs=1e-5)


def test_speeds_of_joints_count_while_time_runs(table: World) -> None:
    """No joint goes faster than it can, however far the target leaps."""
    reach = Reach(table, TIP)
    reach.aim(shifted(reach.place(table.q0), 0.0, 0.5, 0.2))
    dt = 0.002
    after = reach.step(table.q0, dt)
    assert (np.abs(after - table.q0) <= table.dof_speed * dt + 1e-12).all()
    assert np.abs(after - table.q0).max() > 0.1 * dt


def test_a_leg_is_dragged_while_the_free_body_stays() -> None:
    """Free bodies move only where the chain is said to begin with them."""
    world = compile_scene(load_scene("bioloid/stand"))
    tip = "robot/left_sole"
    free = chain_of(world, tip)[0]
    reach = Reach(world, tip)
    assert free not in reach.joints
    assert reach.counted == [joint for joint in reach.chain if joint != free]
    way = dragged(reach, world.q0.copy(), shifted(reach.place(world.q0), 0.01, 0.0, 0.01), 60)
    first = slice(int(world.qadr[int(world.joint_body[world.joint(free)])]), None)
    assert (way[-1][first][:7] == world.q0[first][:7]).all()
    assert free in Reach(world, tip, first=free).joints


@pytest.mark.capability(142)
def test_the_centre_of_mass_comes_before_a_hand() -> None:
    """With the centre of mass first, all limbs balance a reach that would have moved it away."""
    world = compile_scene(load_scene("bioloid/fixed"))
    tip = "robot/right_hand"
    far = {}
    for name, aims in {
        "first": [Aim("centre of mass"), Aim("position", 1)],
        "not at all": [Aim("position")],
    }.items():
        reach = Reach(world, tip, aims)
        q = dragged(reach, world.q0.copy(), shifted(reach.place(world.q0), 0.1, 0.0, 0.05), 80)[-1]
        part = world.body_part[world.frame(tip)[0]]
        measure = Solver(world, [CentreOfMassTask(part=part, weight=(1.0, 1.0, 0.0))])
        far[name] = measure.misses(q)[0].distance
        assert reach.miss(q)[0] < 0.11
    assert far["first"] < 1e-6 < 1e-4 < far["not at all"]


def test_loops_stay_closed_while_a_coupler_is_dragged() -> None:
    """A four-bar follows a hand on its coupler as far as its loop lets it."""
    world = compile_scene(load_scene("mechanisms/four_bar"))
    reach = Reach(world, "linkage/coupler_end", [Aim("position")])
    q = dragged(reach, world.q0.copy(), shifted(reach.place(world.q0), 0.02, 0.0, 0.02), 60)[-1]
    assert np.abs(q - world.q0).max() > 0.05
    loops = np.arange(len(world.loop_names))
    rest = np.zeros(len(loops))
    gap, _ = loop_state(loops, *world.loop_arrays, forward(world, q), rest, rest.copy())
    assert gap < 1e-6


def test_mistakes_are_told(table: World) -> None:
    with pytest.raises(LinkworkError, match="no joint that may move moves"):
        Reach(table, TIP, joints=["arm/J1"], first="arm/J4")
    with pytest.raises(LinkworkError, match="kind of aim"):
        Reach(table, TIP, [Aim("place")])
    with pytest.raises(LinkworkError, match="must be above 0"):
        Reach(table, TIP, [Aim("position", 0, 0.0)])


def beside_a_ball(part: Part, place: tuple[float, ...]) -> tuple[World, int]:
    """A robot and a ball on a rail, and the coordinate of the rail."""
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
    """A ball that comes at 0.5 m/s pushes the arm away, step by step as fast as it comes."""
    world, slide = beside_a_ball(arm(), place)
    keep = keep_distance(world, "a", "b/ball", 0.05)
    q = world.q0.copy()
    q[:7] = (0.0, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0)
    reach = Reach(world, "a/tool", q=q, keep=keep)
    reach.aim(Pose.of(target))
    least = math.inf
    for _ in range(150):
        q = reach.step(q, 1.0 / 60.0, speeds=False)
        q[slide] += 0.008
        least = min([least, *(each.distance for each in keep.nearest(q, 0.5))])
    assert 0.045 < least < 0.06


def test_the_ellipsoid_of_a_platform_is_that_of_its_drives() -> None:
    """A delta's platform hangs on no joint but a free one: its three levers count."""
    world = compile_scene(load_scene("mechanisms/delta"))
    reach = Reach(world, "robot/platform", [Aim("position")])
    assert reach.columns == [f"robot/arm{n}/drive" for n in (1, 2, 3)]
    made = reach.ellipsoid(world.q0)
    sigma = np.linalg.svd(reach.jacobian(world.q0)[:3], compute_uv=False)
    assert reach.jacobian(world.q0).shape == (6, 3)
    np.testing.assert_allclose(made.lengths, sigma, atol=1e-9)
    assert made.lengths[0] < 0.5  # a free body would have 1


@pytest.mark.parametrize("speeds", [False, True])
def test_a_looped_robot_keeps_fences_strides_and_speeds_too(speeds: bool) -> None:
    """An arm with a parallelogram: as far from the ball as one without, and loops stay closed."""
    world, slide = beside_a_ball(looped_arm(), (0.25, -0.5, 0.8))
    keep = keep_distance(world, "a", "b/ball", 0.05)
    q = world.q0.copy()
    for n, value in enumerate((0.0, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0)):
        q[world.qadr[world.joint_body[world.joint(f"a/j{n}")]]] = value
    reach = Reach(world, "a/tool", q=q, keep=keep)
    reach.aim(Pose.of((0.3, -1.0, 0.3)))
    dt, least, longest, fastest = 1.0 / 60.0, math.inf, 0.0, 0.0
    for _ in range(150):
        after = reach.step(q, dt, speeds=speeds)
        longest = max(longest, float(np.abs(after - q).max()))
        fastest = max(fastest, float((np.abs(after - q) / world.dof_speed).max()))
        q = after
        q[slide] += 0.008
        least = min([least, *(each.distance for each in keep.nearest(q, 0.5))])
    assert 0.045 < least < 0.06
    assert longest <= SHORT + 1e-12
    assert not speeds or fastest <= dt + 1e-12
    rest = np.zeros(1)
    gap, _ = loop_state(np.arange(1), *world.loop_arrays, forward(world, q), rest, rest.copy())
    assert gap < 1e-5


def test_a_chosen_chain_counts_also_where_there_are_loops() -> None:
    """Three joints of an arm with a parallelogram: three columns, and the ellipsoid is theirs."""
    world = compile_scene(Scene("s").place(looped_arm(), name="a", base="fixed"))
    chosen = ["a/j3", "a/j4", "a/j5"]
    reach = Reach(world, "a/tool", joints=chosen)
    assert reach.columns == chosen
    dofs = [world.single_dof(name) for name in chosen]
    rows = jacobian(world, world.q0, "a/tool")[:, dofs]
    np.testing.assert_allclose(reach.jacobian(world.q0), rows, atol=1e-12)
    sigma = np.linalg.svd(rows[:3], compute_uv=False)
    np.testing.assert_allclose(reach.ellipsoid(world.q0).lengths, sigma, atol=1e-7)
    assert Reach(world, "a/rod").columns == [*(f"a/j{n}" for n in range(7)), "a/grip"]


def test_a_ball_is_as_urgent_after_steps_have_become_short() -> None:
    """A target that flickers makes steps short; a ball at 1 m/s pushes the arm as far as ever."""
    world, slide = beside_a_ball(arm(), (0.3, -0.5, 0.6))
    keep = keep_distance(world, "a", "b/ball", 0.05)
    q = world.q0.copy()
    q[:7] = (0.0, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0)
    reach = Reach(world, "a/tool", q=q, keep=keep)
    here, least = reach.place(q), math.inf
    for n in range(60):
        reach.aim(shifted(here, 0.0, 0.0, 0.2 if n % 2 else -0.2))
        q = reach.step(q, 1.0 / 60.0, speeds=False)
        q[slide] += 1.0 / 60.0
        least = min([least, *(each.distance for each in keep.nearest(q, 0.5))])
    assert 0.04 < least < 0.06
