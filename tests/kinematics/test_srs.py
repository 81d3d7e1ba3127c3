"""Closed form of S-R-S arms: exact; other geometries are rejected."""

import dataclasses
import math

import numpy as np
import pytest

import linkwork
from kinematics.test_inverse import WORLD, arm, at
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.kinematics.srs import SrsArm
from linkwork.model.parts import Joint
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene


def check(world: World, tool: str, count: int, seed: int) -> None:
    """Checks random reachable poses: the solution has the pose, within the ranges."""
    closed = SrsArm(world, tool)
    rng = np.random.default_rng(seed)
    lo, hi = world.dof_lo, world.dof_hi
    dofs = world.vadr[closed._path]
    for _ in range(count):
        q = world.q0.copy()
        q[closed.coordinates] = rng.uniform(lo[dofs], hi[dofs])
        goal = at(world, q, tool)
        for near in (None, q):
            found = closed.solve(goal, seed=near)
            assert found is not None
            there = at(world, found, tool)
            assert math.dist(there.xyz, goal.xyz) < 1e-9
            assert abs(abs(np.dot(there.quat, goal.quat)) - 1.0) < 1e-12
            values = found[closed.coordinates]
            assert (values >= lo[dofs] - 1e-9).all()
            assert (values <= hi[dofs] + 1e-9).all()


def test_the_iiwa_is_solved_in_closed_form() -> None:
    """Two hundred poses, first posture and nearest one."""
    check(WORLD, "a/tool", 200, 1)


@pytest.mark.parametrize("kit", ["kuka/arm", "mitsubishi/arm", "amtec/arm"])
def test_the_arms_of_003_are_solved_in_closed_form(kit: str) -> None:
    """KUKA's LWR, Mitsubishi's PA-10 and Amtec's LWA are S-R-S arms (RoboTiX thesis)."""
    part = linkwork.load_part(kit)
    world = compile_scene(Scene("s").place(part, name="r", base="fixed", at=Pose((0.1, 0.2, 0.3))))
    last = max(range(world.nb), key=lambda b: depth(world, b))
    tool = next(
        n for n, b in zip(world.element_names, world.element_body, strict=True) if b == last
    )
    check(world, tool, 60, 2)


def depth(world: World, body: int) -> int:
    """Hinges that carry a body; bodies carried by sliders do not count."""
    count = 0
    while body > 0:
        if world.kind[body] == 2:
            return -1
        count += int(world.kind[body] == 1)
        body = int(world.parent[body])
    return count


def test_the_posture_next_to_the_present_one_is_found() -> None:
    """With enough elbow angles the arm hardly moves for its present pose."""
    closed = SrsArm(WORLD, "a/tool")
    q = np.array([0.3, 0.5, -0.2, -1.1, 0.4, 0.7, 0.1])
    found = closed.solve(at(WORLD, q), seed=q, turns=720)
    assert found is not None
    assert np.abs(found - q).max() < math.radians(1.0)


def test_what_is_out_of_reach_has_no_posture() -> None:
    """A pose beyond the stretched arm gives None."""
    closed = SrsArm(WORLD, "a/tool")
    assert closed.solve(Pose((2.0, 0.0, 0.5))) is None
    q, reached = closed.solve_many([Pose((2.0, 0.0, 0.5)), at(WORLD, np.full(7, 0.4))])
    assert reached.tolist() == [False, True]
    row = forward(WORLD, q[1])[WORLD.frame("a/tool")[0]]
    assert np.isfinite(row).all()


def test_other_arms_are_refused_with_the_reason() -> None:
    """Six joints, and axes that do not intersect."""
    six = compile_scene(Scene("s").place(arm(joints=6), name="a", base="fixed"))
    with pytest.raises(LinkworkError, match="6 joints carry it"):
        SrsArm(six, "a/tool")
    part = arm()
    joint = part.joints["j1"]
    moved = Joint(
        "j1", "hinge", joint.from_, joint.to, at=Pose((0.05, 0.0, 0.0)), axis=(0, 1, 0),
        range=joint.range,
    )  # fmt: skip
    part.joints["j1"] = moved
    shifted = compile_scene(Scene("s").place(part, name="a", base="fixed"))
    with pytest.raises(LinkworkError, match="shoulder miss each other"):
        SrsArm(shifted, "a/tool")


def test_the_nearest_posture_is_also_nearest_by_whole_turns() -> None:
    """Joints with several turns stay near their present values, within ranges."""
    part = arm()
    full = 2.0 * math.pi
    for n, most in ((0, None), (4, 1.6 * full), (6, 0.9 * full)):
        ends = None if most is None else (-most, most)
        part.joints[f"j{n}"] = dataclasses.replace(part.joints[f"j{n}"], range=ends)
    world = compile_scene(Scene("s").place(part, name="a", base="fixed"))
    closed = SrsArm(world, "a/tool")
    q = np.array([0.3, 0.5, -0.2, -1.1, 0.4, 0.7, 0.1])
    for turns in ((3, 1, 0), (-5, -1, 0), (1, 2, -1), (0, -2, 1)):
        near = q.copy()
        near[[0, 4, 6]] += full * np.array(turns)
        found = closed.solve(at(world, q), seed=near, turns=720)
        assert found is not None
        whole = np.clip(turns, (-np.inf, -1, 0), (np.inf, 1, 0))  # within the ranges
        expected = q.copy()
        expected[[0, 4, 6]] += full * whole
        if (whole == turns).all():
            assert np.abs(found - expected).max() < math.radians(1.0)
        far = np.abs(found - near).max()
        assert far <= np.abs(expected - near).max() + math.radians(1.0)
        assert (found >= world.dof_lo).all()
        assert (found <= world.dof_hi).all()
        there = at(world, found)
        assert math.dist(there.xyz, at(world, q).xyz) < 1e-9


def test_what_is_no_posture_to_stay_near_is_refused() -> None:
    """Numbers that are not finite, and no elbow angles to try."""
    closed, goal = SrsArm(WORLD, "a/tool"), at(WORLD, WORLD.q0)
    with pytest.raises(LinkworkError, match="seed holds numbers that are not finite"):
        closed.solve(goal, seed=np.full(WORLD.nq, np.nan))
    with pytest.raises(LinkworkError, match="turns must be 1 or above, not 0"):
        closed.solve(goal, turns=0)
    with pytest.raises(LinkworkError, match="turns must be 1 or above, not -3"):
        closed.solve_many([goal], turns=-3)
