"""Solving with priority levels and loops: nearest postures, closed loops."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.errors import LinkworkError
from linkwork.kinematics import (
    CenterOfMassTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
    Task,
)
from linkwork.kinematics.leg import LegGeometry
from linkwork.kinematics.measures import manipulability
from linkwork.kinematics.workspace import workspace
from linkwork.motion import keep_distance

ARM = lw.compile_scene(lw.Scene("s").place(lw.load_part("kuka/arm"), name="arm", base="fixed"))


@pytest.mark.parametrize(
    ("scene", "part", "height"),
    [("hexapod", "hexapod", 0.6), ("hexapod", "hexapod", 2.0), ("delta", "robot", 0.1)],
)
def test_what_is_out_of_reach_leaves_loops_closed(scene: str, part: str, height: float) -> None:
    """To 1e-9 m; a hexapod ends level, with all legs at their maximum."""
    world = lw.compile_scene(lw.load_scene(f"mechanisms/{scene}"))
    answer = Solver(world, [PositionTask(f"{part}/platform", (0, 0, height))]).solve()
    assert not answer.reached
    assert not answer.changed_assembly
    assert max(miss.distance for miss in answer.task_errors[1:]) < 1e-9
    strokes = [
        world.qadr[body]
        for name, body in zip(world.joint_names, world.joint_body, strict=True)
        if name.endswith("stroke")
    ]
    np.testing.assert_allclose(answer.q[strokes], 0.08, atol=1e-6)


def test_another_way_to_put_loops_together_is_told() -> None:
    """A delta reaches 0.8 m only in another assembly; 0.4 m is reached in the present one."""
    world = lw.compile_scene(lw.load_scene("mechanisms/delta"))
    far = Solver(world, [PositionTask("robot/platform", (0, 0, 0.8))]).solve()
    assert far.reached
    assert far.changed_assembly
    assert "with a changed assembly" in str(far)
    near = Solver(world, [PositionTask("robot/platform", (0, 0, 0.4))]).solve()
    assert near.reached
    assert not near.changed_assembly
    assert float(np.abs(near.q - world.q0).max()) < math.pi / 2


def test_a_lower_priority_that_can_be_reached_is_reached() -> None:
    """A hand reaches its target while both feet and the center of mass stay."""
    world = lw.compile_scene(lw.load_scene("bioloid/stand"))
    answer = Solver(
        world,
        [
            PoseTask("robot/left_sole"),
            PoseTask("robot/right_sole"),
            CenterOfMassTask(weight=(1, 1, 0), part="robot"),
            PositionTask("robot/left_hand", (0.1, 0.06, 0.2), priority=1),
        ],
    ).solve()
    assert answer.reached, answer


def test_a_lower_priority_takes_nothing_from_one_out_of_reach() -> None:
    """The tool is as near as alone to 2 µm, and the arm nearer to its posture."""
    far = PositionTask("arm/flange", (3.0, 0.0, 0.0))
    posture = PostureTask(priority=1)
    alone = Solver(ARM, [far]).solve()
    both = Solver(ARM, [far, posture]).solve()
    assert both.task_errors[0].distance <= alone.task_errors[0].distance + 2e-6
    there = Solver(ARM, [far, posture]).task_errors(alone.q)[1].distance
    assert both.task_errors[1].distance <= there + 1e-9


def test_a_posture_alone_is_gone_to() -> None:
    """A posture beyond a range is reported as not reached."""
    there = Solver(ARM, [PostureTask({"arm/J1": 1.0})]).solve()
    assert there.reached
    assert there.q[0] == pytest.approx(1.0, abs=1e-6)
    beyond = Solver(ARM, [PostureTask({"arm/J1": 10.0})]).solve()
    assert not beyond.reached
    assert beyond.q[0] == pytest.approx(ARM.dof_hi[0])


def test_joints_do_not_chase_what_speeds_keep_back() -> None:
    """A tool slower than its target causes no oscillation of joints."""
    solver, q = Solver(ARM, [PositionTask("arm/flange")]), ARM.q0.copy()
    flips, before = 0, np.zeros(7)
    for n in range(600):
        solver.set_target((0.5 + 0.6 * math.sin(2 * math.pi * n / 600), 0.1, 0.6))
        step = solver.step(q, 0.01)
        q = step.q
        fast = np.minimum(np.abs(step.v), np.abs(before)) > 0.5 * ARM.dof_speed
        flips += int((fast & (step.v * before < 0.0)).sum())
        before = step.v
    assert flips < 5


@pytest.mark.parametrize(
    ("task", "logged"),
    [
        (PoseTask("arm/flange", (1, 0, 0)), "must be a Pose"),  # type: ignore[arg-type]
        (OrientationTask("arm/flange", (1, 0, 0)), "must be a Pose"),  # type: ignore[arg-type]
        (PositionTask("arm/flange", priority=-1), "whole number"),
        (PositionTask("arm/flange", priority=2.5), "whole number"),  # type: ignore[arg-type]
    ],
)
def test_tasks_that_mean_nothing_are_refused(task: Task, logged: str) -> None:
    """The message states the valid form."""
    with pytest.raises(LinkworkError, match=logged):
        Solver(ARM, [task])


def test_mistakes_in_calls_are_told() -> None:
    """Invalid arguments are rejected."""
    tool = PositionTask("arm/flange")
    with pytest.raises(LinkworkError, match="needs a world, not Part"):
        Solver(lw.load_part("kuka/arm"), [tool])  # type: ignore[arg-type]
    with pytest.raises(LinkworkError, match="list of names"):
        Solver(ARM, [tool], joints="arm/J1")
    with pytest.raises(LinkworkError, match="at least one posture"):
        workspace(ARM, "arm/flange", -1)
    with pytest.raises(LinkworkError, match="0 m or longer"):
        LegGeometry(-0.3, 0.3)
    with pytest.raises(LinkworkError, match="cannot avoid itself"):
        keep_distance(ARM, "arm", "arm")
    with pytest.raises(LinkworkError, match="no joint moves"):
        manipulability(ARM, ARM.q0, "arm/mount")
