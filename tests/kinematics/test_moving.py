"""A solver moves the robots that its tasks need, and nothing else."""

import numpy as np
import pytest

from kinematics.test_inverse import BENT, WORLD, arm, at
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.kinematics import (
    CenterOfMassTask,
    CouplingTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
)
from linkwork.model.parts import Box, Coupling, Element, Part
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene


def crowded() -> World:
    """Returns two arms and a free ball."""
    ball = Part("ball").add(Element("ball", (Box(size=(0.1, 0.1, 0.1)),), mass=1.0))
    scene = Scene("crowd").place(arm(), name="a", base="fixed")
    scene.place(arm(), name="b", base="fixed", at=Pose((0.0, 1.0, 0.0)))
    return compile_scene(scene.place(ball, name="ball", base="free", at=Pose((1.0, 0.0, 0.0))))


CROWD = crowded()


def part_of(solver: Solver) -> set[str]:
    return {name.partition("/")[0] for name in solver.movable}


@pytest.mark.parametrize("priority", [0, 1])
def test_a_posture_moves_the_robot_of_the_other_tasks_only(priority: int) -> None:
    """Restarts also leave another arm and a free ball unmoved."""
    target = at(CROWD, np.r_[BENT, CROWD.q0[7:]], "a/tool")
    tasks = [PoseTask("a/tool", target), PostureTask(weight=1e-3, priority=priority)]
    solver = Solver(CROWD, tasks)
    assert part_of(solver) == {"a"}
    start = CROWD.q0.copy()
    start[CROWD.qadr[CROWD.joint_body[CROWD.joint("b/j1")]]] = 0.7
    answer = solver.solve(start, starts=20)
    moved = np.flatnonzero(answer.q != start)
    mine = [CROWD.qadr[CROWD.joint_body[CROWD.joint(f"a/j{n}")]] for n in range(7)]
    assert set(moved) <= {int(c) for c in mine}
    assert len(moved)


def test_a_posture_alone_moves_all_robots_but_nothing_loose() -> None:
    """Without other tasks a posture applies to all robots; a named one to its joint."""
    assert part_of(Solver(CROWD, [PostureTask()])) == {"a", "b"}
    assert Solver(CROWD, [PostureTask({"b/j2": 0.4})]).movable == ["b/j2"]
    pair = CouplingTask(ratios={"a/j1": 1.0, "a/j3": 2.0}, offset=0.1)
    assert Solver(CROWD, [pair]).movable == ["a/j1", "a/j3"]
    assert part_of(Solver(CROWD, [CenterOfMassTask()])) == {"a", "b"}
    assert part_of(Solver(CROWD, [CenterOfMassTask(part="b")])) == {"b"}


def test_a_frame_that_stays_beside_a_posture_moves_its_own_robot_only() -> None:
    """A base does not move, but determines the robot of the posture."""
    tasks = [PoseTask("a/base", Pose((0.0, 0.0, 0.1))), PostureTask(weight=1e-3)]
    assert part_of(Solver(CROWD, tasks)) == {"a"}


def following() -> World:
    """Returns an arm whose fourth joint follows its second: j3 = 0.1 − 0.5 j1."""
    part = arm().add(Coupling("j3", "j1", ratio=-0.5, offset=0.1))
    return compile_scene(Scene("s").place(part, name="a", base="fixed"))


def test_the_posture_of_a_follower_is_that_of_its_leader() -> None:
    """For −0.3 the leader moves to 0.8; an infeasible value is reported as not reached."""
    world = following()
    where = {n: int(world.qadr[world.joint_body[world.joint(f"a/j{n}")]]) for n in (1, 3)}
    solver = Solver(world, [PostureTask({"a/j3": -0.3}, tolerance=1e-6)])
    assert solver.movable == ["a/j1"]
    answer = solver.solve()
    assert answer.reached
    assert answer.q[where[3]] == pytest.approx(-0.3, abs=1e-6)
    assert answer.q[where[1]] == pytest.approx(0.8, abs=1e-6)
    step = solver.step(world.q0, 1.0, speeds=False)
    assert step.q[where[1]] == pytest.approx(0.8, abs=1e-6)
    # conflicting leader and follower: least squares of x − 0.4 and −x/2 + 0.1 + 0.3
    both = Solver(world, [PostureTask({"a/j1": 0.4, "a/j3": -0.3}, tolerance=1e-6)]).solve()
    assert not both.reached
    assert both.q[where[1]] == pytest.approx((0.4 + 0.5 * 0.4) / 1.25, abs=1e-5)
    levels = Solver(
        world, [PostureTask({"a/j0": 0.2}), PostureTask({"a/j3": -0.3}, priority=1, tolerance=1e-6)]
    )
    assert levels.solve().q[where[3]] == pytest.approx(-0.3, abs=1e-6)


@pytest.mark.parametrize("priority", [0, 1])
def test_a_stride_holds_for_followers_too(priority: int) -> None:
    """A joint with ten times its leader's motion moves 0.05 rad, and its leader 0.005."""
    part = arm().add(Coupling("j3", "j1", ratio=-10.0))
    world = compile_scene(Scene("s").place(part, name="a", base="fixed"))
    tasks = [PostureTask({"a/j1": 0.1}), PostureTask({"a/j0": 1.0}, priority=priority)]
    step = Solver(world, tasks).step(world.q0, 1.0, speeds=False, stride=0.05)
    assert step.v[:4] == pytest.approx([0.05, 0.005, 0.0, -0.05])


def test_a_posture_of_a_joint_that_may_not_move_is_not_reached() -> None:
    """The error is that of the named joint."""
    answer = Solver(WORLD, [PostureTask({"a/j1": 0.5}, tolerance=1e-6)], joints=["a/j2"]).solve()
    assert not answer.reached
    assert answer.task_errors[0].distance == pytest.approx(0.5)


def test_a_curved_law_is_refused_where_it_would_move_and_nowhere_else() -> None:
    """The hint names the leader; without it both stay fixed, and the rest is solved."""
    law = {"polycoef": [0.5, 0.0, 0.0]}
    part = arm().add(Coupling("j6", "j5", mujoco=law))
    world = compile_scene(Scene("s").place(part, name="a", base="fixed"))
    with pytest.raises(LinkworkError, match="Leave 'a/j5' out of the joints that may move"):
        Solver(world, [PoseTask("a/tool")])
    names = [f"a/j{n}" for n in range(5)]
    task = PositionTask("a/tool", (0.3, 0.2, 0.8))
    answer = Solver(world, [task], joints=names).solve()
    assert answer.reached
    assert (answer.q[5:] == world.q0[5:]).all()
