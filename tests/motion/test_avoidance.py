"""Minimum distances: from a moving obstacle, from the robot itself, by repulsion."""

import math
from typing import Any

import numpy as np
import pytest

from kinematics.test_inverse import arm, at
from linkwork import load_part
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.kinematics import PositionTask, PostureTask, Solver
from linkwork.model.parts import Element, Joint, Part, Sphere
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from linkwork.motion import Avoidance, Repulsion, keep_distance

START = np.array([0.0, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0])


def cell() -> World:
    """Returns the arm, and a ball of 6 cm that moves along y beside its elbow."""
    ball = Part("ball").add(
        Element("rail", mass=1.0),
        Element("ball", (Sphere(radius=0.06),), mass=1.0),
        Joint("slide", "slider", "rail", "ball", axis=(0, 1, 0)),
    )
    scene = Scene("s").place(arm(), name="a", base="fixed")
    scene.place(ball, name="b", base="fixed", at=Pose((0.18, 0.0, 0.92)))
    return compile_scene(scene)


WORLD = cell()
SLIDE = int(WORLD.qadr[WORLD.joint_body[WORLD.joint("b/slide")]])


def run(seconds: float, avoidance: Avoidance | None) -> tuple[float, float]:
    """Follows a circle while the ball swings through the arm; returns worst error and distance."""
    dt, q = 0.01, WORLD.q0.copy()
    q[:7] = START
    center = np.array(at(WORLD, q).xyz)
    solver = Solver(
        WORLD, [PositionTask("a/tool", center), PostureTask(weight=0.05, priority=1)], q=q,
        joints=[f"a/j{n}" for n in range(7)],
    )  # fmt: skip
    watch = keep_distance(WORLD, "a", "b/ball", 0.05)
    worst, least = 0.0, math.inf
    for n in range(round(seconds / dt)):
        time = (n + 1) * dt
        angle = 0.4 * time
        circle = 0.08 * np.array([0.0, math.sin(angle), 1.0 - math.cos(angle)])
        solver.set_target(center + circle, 0)
        inequalities: Any = (
            {} if avoidance is None else {"inequalities": avoidance.inequalities(q, dt)}
        )
        q = solver.step(q, dt, **inequalities).q
        q[SLIDE] = 0.5 * math.cos(0.5 * time)
        worst = max(worst, math.dist(at(WORLD, q).xyz, center + circle))
        if n % 5 == 0:
            near = watch.nearest(q, 0.5)
            least = min(least, near[0].distance if near else math.inf)
    return worst, least


@pytest.mark.capability(118, 61)
def test_an_arm_keeps_5_cm_from_a_moving_ball_while_its_tool_follows_a_circle() -> None:
    """For 60 s to 1 mm; with avoidance off the ball hits the arm."""
    worst, least = run(15.0, None)
    assert least < 0.0
    assert worst < 1e-3
    worst, least = run(60.0, keep_distance(WORLD, "a", "b/ball", 0.055))
    assert least > 0.05
    assert worst < 1e-3


def test_a_robot_keeps_away_from_itself() -> None:
    """Folding the arm stops before the hand touches the base."""
    own = Avoidance(WORLD, "a", itself=True, distance=0.04)
    q = WORLD.q0.copy()
    q[:7] = START
    solver = Solver(
        WORLD, [PositionTask("a/tool", (0.0, 0.0, 0.1))], q=q, joints=[f"a/j{n}" for n in range(7)]
    )
    for _ in range(300):
        q = own.step(solver, q, 0.02)
    assert own.nearest(q)[0].distance > 0.035
    free = q.copy()
    for _ in range(300):
        free = solver.step(free, 0.02).q
    assert own.nearest(free)[0].distance < 0.03


@pytest.mark.capability(145)
def test_control_points_flee_from_a_place() -> None:
    """The elbow moves away from a source beside it; the tool stays."""
    q = WORLD.q0.copy()
    q[:7] = START
    field = Repulsion([("a/l3", (0.0, 0.0, 0.0))], reach=0.3)
    tool = PositionTask("a/tool", name="tool")
    solver = Solver(WORLD, [tool, *field.tasks], q=q, joints=[f"a/j{n}" for n in range(7)])
    elbow = np.array(at(WORLD, q, "a/l3").xyz)
    source = elbow + np.array([0.0, 0.1, 0.0])
    place = np.array(at(WORLD, q).xyz)
    for _ in range(200):
        field.set_target(solver, WORLD, q, source, 0.01)
        q = solver.step(q, 0.01).q
    assert math.dist(at(WORLD, q, "a/l3").xyz, source) > 0.15
    assert math.dist(at(WORLD, q).xyz, place) < 1e-4
    assert np.linalg.norm(field.speed(elbow, elbow + np.array([0.0, 0.4, 0.0]))) == 0.0


def test_what_cannot_be_kept_away_from_is_told() -> None:
    """Unknown names, and gains out of range."""
    with pytest.raises(LinkworkError, match="nobody"):
        keep_distance(WORLD, "a", "nobody")
    with pytest.raises(LinkworkError, match="gain"):
        Avoidance(WORLD, "a", ["b"], gain=0.0)
    with pytest.raises(LinkworkError, match="nothing to keep"):
        Avoidance(WORLD, "a")


def balls(*, apart: float) -> World:
    """Returns two balls of 6 cm that slide along x, at a given distance."""
    scene = Scene("s")
    for name, x in (("a", 0.0), ("b", apart)):
        part = Part(name).add(
            Element("rail", mass=1.0),
            Element("ball", (Sphere(radius=0.06),), mass=1.0),
            Joint("slide", "slider", "rail", "ball", axis=(1, 0, 0)),
        )
        scene.place(part, name=name, base="fixed", at=Pose((x, 0.0, 0.5)))
    return compile_scene(scene)


def test_only_what_nobody_moves_is_taken_to_move_on() -> None:
    """A ball's own velocity enters the inequality; a step of the solver does not."""
    world = balls(apart=0.2)
    both = Solver(world, [PostureTask()])
    alone = Solver(world, [PostureTask()], joints=["a/slide"])
    for solver, extra in ((None, 0.01), (alone, 0.01), (both, 0.0)):
        keep = Avoidance(world, "a", ["b"], distance=0.05, gain=0.2)
        keep.inequalities(np.array([0.0, 0.0]), 0.01, solver)
        bound = keep.inequalities(np.array([0.0, -0.01]), 0.01, solver)[2]
        assert bound == pytest.approx([extra - 0.2 * (0.07 - 0.05)], abs=1e-9)
        keep.reset()
        after = keep.inequalities(np.array([0.0, 0.0]), 0.01, solver)[2]
        assert after == pytest.approx([-0.2 * (0.08 - 0.05)], abs=1e-9)


def test_links_of_a_robot_have_no_speed_of_their_own() -> None:
    """Their inequalities do not depend on the previous step."""
    keep = Avoidance(WORLD, "a", itself=True, distance=0.04, reach=0.5)
    q = WORLD.q0.copy()
    q[:7] = START
    keep.inequalities(q + 0.05, 0.01)
    _, _, bounds = keep.inequalities(q, 0.01)
    keep.reset()
    anew = keep.inequalities(q, 0.01)[2]
    assert np.isin(anew, bounds).all()
    assert len(anew) > 2


@pytest.mark.parametrize("seen", [False, True])
def test_what_just_touches_goes_no_nearer(seen: bool) -> None:
    """The inequality has a direction: the last one, or that of the centers."""
    world = balls(apart=0.12)
    keep = Avoidance(world, "a", ["b"], distance=0.0)
    if seen:
        keep.inequalities(np.array([-0.01, 0.0]), 0.01)
    solver = Solver(world, [PostureTask({"a/slide": 0.05})], joints=["a/slide"])
    q = np.zeros(2)
    _, points, _ = keep.inequalities(q, 0.01)
    np.testing.assert_allclose(points[0, 6:], (-1.0, 0.0, 0.0), atol=1e-9)
    assert solver.step(q, 0.01).q[0] > 0.01
    assert keep.step(solver, q, 0.01)[0] < 1e-9


def test_more_fences_may_be_broken_than_tasks_have_rows() -> None:
    """A step is found without writing beyond its arrays."""
    q = WORLD.q0.copy()
    q[:7] = START
    joints = [f"a/j{n}" for n in range(7)]
    solver = Solver(WORLD, [PositionTask("a/tool", at(WORLD, q).xyz)], q=q, joints=joints)
    bodies, points, least = keep_distance(WORLD, "a", "b/ball", 0.5).inequalities(q, 0.01)
    assert len(least) > 0
    many = [np.concatenate([each] * (200 // len(least) + 1)) for each in (bodies, points, least)]
    many[2] = np.abs(many[2]) + 0.01  # each requires motion
    step = solver.step(q, 0.01, inequalities=(many[0], many[1], many[2]))
    assert np.isfinite(step.v).all()
    with pytest.raises(LinkworkError, match="no inequalities"):
        solver.step(q, 0.01, scheme="nested", inequalities=(bodies, points, least))


def test_an_arm_settles_at_the_distance_from_a_block_that_stands_in_its_way() -> None:
    """With parallel faces it comes to rest 5 cm away, with its target behind the block."""
    scene = Scene("cell").place(load_part("kuka/arm"), name="arm", base="fixed")
    scene.place(load_part("amtec/block"), name="block", at=Pose((0.6, 0.5, 0.6)), base="free")
    world = compile_scene(scene)
    solver = Solver(world, [PositionTask("arm/flange", (0.55, 0.0, 0.5))])
    keep, q = keep_distance(world, "arm", "block", 0.05), world.q0.copy()
    v = np.zeros(7)
    for n in range(700):
        q[7:10] = 0.55, 0.5 - min(n / 600, 0.7), 0.5
        step = solver.step(q, 0.01, inequalities=keep.inequalities(q, 0.01))
        q, v = step.q, step.v[:7]
    assert keep.nearest(q)[0].distance > 0.05 - 1e-6
    assert np.abs(v).max() < 0.05
