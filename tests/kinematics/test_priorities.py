"""Priorities, loops and inequalities: lower priorities do not disturb higher ones."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinematics.test_inverse import BENT, GOAL, WORLD, at
from linkwork.geometry import Pose
from linkwork.kinematics import (
    Damping,
    DistanceTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
    jacobian,
)
from linkwork.model.parts import Anchor, Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from mechanisms import four_bar

FIRST = PositionTask("a/tool", GOAL.xyz, name="tool")
SECOND = PositionTask("a/l5", (0.2, 0.3, 0.9), weight=(0, 1, 1), name="elbow", priority=1)
THIRD = PostureTask({f"a/j{n}": 0.3 for n in range(7)}, priority=2)
LEVELS = Solver(WORLD, [FIRST, SECOND, THIRD], limits=False)
ALONE = Solver(WORLD, [FIRST], limits=False)
LIMITED = Solver(WORLD, [FIRST, SECOND, THIRD])
LIMITED_ALONE = Solver(WORLD, [FIRST])
_SMALL = Damping("constant", 1e-10)


@pytest.mark.capability(116)
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_a_lower_priority_never_disturbs_a_higher_one(seed: int) -> None:
    """The first task's motion is the same with and without lower ones, to 1e-9."""
    q = np.random.default_rng(seed).uniform(WORLD.dof_lo, WORLD.dof_hi)
    tool = jacobian(WORLD, q, "a/tool")[:3]
    for damping in (_SMALL, Damping(), Damping("robotix", 0.1)):
        alone = ALONE.step(q, 1.0, damping=damping, scheme="strict", speeds=False).v
        three = LEVELS.step(q, 1.0, damping=damping, speeds=False).v
        if damping is _SMALL and np.linalg.svd(tool, compute_uv=False)[-1] < 0.02:
            continue
        # one solves in columns, the other in rows: equal if both are exact
        moved = tool @ (three - alone)
        assert np.abs(moved).max() < 1e-9
        two = TWO.step(q, 1.0, damping=damping, speeds=False).v
        assert np.abs(tool @ (three - two)).max() < 1e-9


TWO = Solver(WORLD, [FIRST, SECOND], limits=False)


def test_levels_are_the_recursion_of_siciliano_and_slotine() -> None:
    """x = Σ (Jₖ Nₖ₋₁)⁺ (eₖ − Jₖ x), with numpy's pseudo-inverse."""
    whole, error = LEVELS.rows(BENT)
    posture = np.array([0.3] * 7) - BENT
    levels = [(whole[:3], error[:3]), (whole[3:6], error[3:6]), (np.eye(7), posture)]
    x, null = np.zeros(7), np.eye(7)
    for rows, wanted in levels:
        reduced = rows @ null
        inverse = np.linalg.pinv(reduced, rcond=1e-9)
        x = x + inverse @ (wanted - rows @ x)
        null = null - inverse @ reduced
    step = LEVELS.step(BENT, 1.0, damping=_SMALL, speeds=False)
    np.testing.assert_allclose(step.v, x, atol=1e-8)


def test_the_nested_form_keeps_the_first_task_and_loses_the_second() -> None:
    """RoboTiX thesis eq. 3.16 as printed: x = J⁺v + N (J₁⁺v₁ + N₁ …)."""
    whole, error = LEVELS.rows(BENT)
    first, second = whole[:3], whole[3:6]
    posture = np.array([0.3] * 7) - BENT
    lower = np.linalg.pinv(second) @ error[3:6]
    lower += (np.eye(7) - np.linalg.pinv(second) @ second) @ posture
    expected = np.linalg.pinv(first) @ error[:3]
    expected += (np.eye(7) - np.linalg.pinv(first) @ first) @ lower
    step = LEVELS.step(BENT, 1.0, damping=_SMALL, scheme="nested", speeds=False)
    np.testing.assert_allclose(step.v, expected, atol=1e-8)
    strict = LEVELS.step(BENT, 1.0, damping=_SMALL, speeds=False)
    assert np.abs(second @ strict.v - error[3:6]).max() < 1e-8
    assert np.abs(second @ step.v - error[3:6]).max() > 1e-2
    assert np.abs(first @ step.v - error[:3]).max() < 1e-8


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_limits_come_before_priorities_and_priorities_hold_within_them(seed: int) -> None:
    """Bounds are kept, and the first task is as good as alone within them."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(WORLD.dof_lo, WORLD.dof_hi)
    dt = 0.1
    step = LIMITED.step(q, dt, damping=1e-6)
    lo, hi = np.maximum(WORLD.dof_lo - q, -0.2), np.minimum(WORLD.dof_hi - q, 0.2)
    x = step.v * dt
    assert (x >= lo - 1e-9).all()
    assert (x <= hi + 1e-9).all()
    rows, error = LIMITED_ALONE.rows(q)
    alone = LIMITED_ALONE.step(q, dt, damping=1e-6).v * dt
    left = np.linalg.norm(rows @ alone - error)
    assert np.linalg.norm(rows @ x - error) == pytest.approx(left, abs=1e-9)


def test_solving_with_priorities_reaches_the_first_and_nears_the_second() -> None:
    """The full pose first; the elbow's height and the posture use the remaining freedom."""
    tool = PoseTask("a/tool", at(WORLD, BENT))
    high = PositionTask("a/l3", (0.0, 0.0, 0.8), weight=(0, 0, 1.0), priority=1, name="elbow")
    plain = Solver(WORLD, [tool]).solve()
    better = Solver(WORLD, [tool, high]).solve()
    assert better.task_errors[0].distance < 1e-6
    assert better.task_errors[0].angle < 1e-6
    assert better.task_errors[1].distance <= abs(at(WORLD, plain.q, "a/l3").xyz[2] - 0.8) + 1e-6


def planar(count: int) -> World:
    """Returns links of 0.5 m that rotate about y."""
    part = Part("p").add(Element("stand", mass=1.0))
    for n in range(count):
        part.add(Element(f"l{n}", (Box(size=(0.5, 0.1, 0.1)),), mass=1.0))
        before, x = (f"l{n - 1}", 0.5) if n else ("stand", 0.0)
        part.add(Joint(f"j{n}", "hinge", before, f"l{n}", at=Pose((x, 0, 0)), axis=(0, -1, 0)))
    part.add(Anchor("tip", f"l{count - 1}", at=Pose((0.5, 0.0, 0.0))))
    return compile_scene(Scene("s").place(part, name="p", base="fixed"))


@pytest.mark.parametrize("bend", [0.3, 1e-2, 1e-4, 3e-9, 1e-12, 0.0])
def test_a_posture_of_some_joints_is_damped_where_they_hardly_take_part(bend: float) -> None:
    """As the null motion leaves the shoulder, no step exceeds e/ε."""
    world, damping = planar(3), Damping()
    q = np.array([0.4, 0.7, bend])
    tasks = [
        PositionTask("p/tip", at(world, q, "p/tip").xyz, weight=(1, 0, 1)),
        PostureTask({"p/j0": 0.9}, priority=1),
    ]
    step = Solver(world, tasks).step(q, 1.0, damping=damping).v
    assert np.abs(jacobian(world, q, "p/tip")[:3] @ step).max() < 1e-9
    null = np.linalg.svd(jacobian(world, q, "p/tip")[[0, 2]])[2][-1]
    assert np.linalg.norm(step) <= 0.5 / max(damping.edge, abs(null[0])) * 1.001
    if abs(null[0]) > damping.edge:
        assert step[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("bend", [1.0, 1e-2, 1e-4, 1e-8, 0.0])
def test_a_single_row_is_damped_where_its_axis_hardly_moves(bend: float, level: int) -> None:
    """A stretched arm along itself, and its tip's distance: no step exceeds e/εF."""
    world, damping = planar(2), Damping()
    q = np.array([-0.5 * bend, bend])
    here = at(world, q, "p/tip").xyz
    along = PositionTask("p/tip", np.add(here, (-0.1, 0, 0)), weight=(1, 0, 0), priority=level)
    far = DistanceTask("p/tip", "p/stand", math.dist(here, (0, 0, 0)) - 0.1, priority=level)
    first = [PostureTask({"p/j0": q[0]}, weights={"p/j0": 0.0})] if level else []
    rows = jacobian(world, q, "p/tip")[:3]
    for task in (along, far):
        step = Solver(world, [*first, task]).step(q, 1.0, damping=damping).v
        assert np.linalg.norm(step) <= 0.1 / (damping.edge * np.linalg.norm(rows)) * 1.001
        if bend == 1.0:
            assert rows[0] @ step == pytest.approx(-0.1, abs=1e-6)


def test_a_fence_is_not_crossed() -> None:
    """A point approaches a plane only up to the inequality; the task uses the rest."""
    solver = Solver(WORLD, [PositionTask("a/tool", at(WORLD, BENT).apply((0, 0, 0.3)))])
    tool = np.array(at(WORLD, BENT).xyz)
    body = WORLD.frame("a/tool")[0]
    free = solver.step(BENT, 0.1, damping=1e-8)
    rows = jacobian(WORLD, BENT, "a/tool")[:3]
    along = rows @ free.v * 0.1
    n = -along / np.linalg.norm(along)
    bodies = np.array([[body, 0]])
    points = np.concatenate([tool, tool, n])[None]
    for bound in (-0.01, 0.02):
        inequalities = bodies, points, np.array([bound])
        held = solver.step(BENT, 0.1, damping=1e-8, inequalities=inequalities)
        assert n @ rows @ held.v * 0.1 == pytest.approx(bound, abs=1e-9)


def test_loops_stay_closed_while_solving() -> None:
    """A four-bar's coupler and rocker follow its crank, closed to 1e-9 m throughout."""
    world = compile_scene(Scene("s").place(four_bar(), name="f", base="fixed"))
    crank = Solver(world, [PostureTask({"f/A": 1.5}, tolerance=1e-6)])
    answer = crank.solve()
    assert answer.reached, answer
    assert answer.q[world.qadr[world.joint_body[world.joint("f/A")]]] == pytest.approx(1.5)
    rocker = Solver(world, [PositionTask("f/rocker", point=(0.25, 0.0, 0.0))])
    wanted = np.array(at(world, answer.q, "f/rocker").apply((0.25, 0.0, 0.0)))
    rocker.set_target(wanted)
    back = rocker.solve(world.q0)
    assert back.reached, back
    assert max(miss.distance for miss in back.task_errors[1:]) < 1e-9
    slow = Solver(world, [PositionTask("f/rocker", wanted, point=(0.25, 0.0, 0.0), gain=0.1)])
    q = world.q0
    for _ in range(150):
        q = slow.step(q, 0.01).q
        assert max(miss.distance for miss in slow.task_errors(q)[1:]) < 1e-3
    assert slow.task_errors(q)[0].distance < 1e-4


@pytest.mark.parametrize("scheme", ["strict", "nested"])
def test_the_damping_of_a_task_acts_in_its_own_level(scheme: str) -> None:
    """x₂ = (J₂N)ᵀ (J₂N (J₂N)ᵀ + (λ² + lm ‖e₂‖²))⁻¹ (e₂ − J₂ x₁), against numpy."""
    lm_damping = 0.3
    second = PositionTask(
        "a/l5", (0.2, 0.3, 0.9), weight=(0, 1, 1), priority=1, lm_damping=lm_damping
    )
    solver = Solver(WORLD, [FIRST, second], limits=False)
    rows, error = solver.rows(BENT)
    one, two, e1, e2 = rows[:3], rows[3:], error[:3], error[3:]

    def damped(j: np.ndarray, e: np.ndarray, damping: float) -> np.ndarray:
        return j.T @ np.linalg.solve(j @ j.T + damping * np.eye(len(j)), e)

    null = np.eye(7) - np.linalg.pinv(one) @ one
    small, large = 1e-10, 1e-10 + lm_damping * float(e2 @ e2)
    if scheme == "strict":
        first = damped(one, e1, small)
        expected = first + damped(two @ null, e2 - two @ first, large)
    else:
        expected = damped(two, e2, large)
        expected = expected + damped(one, e1 - one @ expected, small)
    step = solver.step(BENT, 1.0, damping=_SMALL, scheme=scheme, speeds=False)
    np.testing.assert_allclose(step.v, expected, atol=1e-8)
    assert step.damping == pytest.approx(large)


@pytest.mark.parametrize("kind", ["smallest", "robotix"])
@pytest.mark.parametrize("weights", [{}, {"a/j1": 1e-3, "a/j4": 30.0}], ids=["even", "uneven"])
def test_postures_need_no_damping(kind: str, weights: dict[str, float]) -> None:
    """Alone, below or beside another task: free joints reach the posture in one step."""
    goal = {f"a/j{n}": 0.3 for n in range(7)}
    alone = Solver(WORLD, [PostureTask(goal, weights=weights)], limits=False)
    step = alone.step(BENT, 1.0, damping=Damping(kind), speeds=False)
    np.testing.assert_allclose(step.q, 0.3, atol=1e-6)
    below = Solver(WORLD, [FIRST, PostureTask(goal, weights=weights, priority=1)], limits=False)
    rows, error = below.rows(BENT)
    x = below.step(BENT, 1.0, damping=Damping(kind, 1e-6), speeds=False).v
    size = np.array([weights.get(name, 1.0) for name in goal])
    first = np.linalg.pinv(rows) @ error
    null = np.eye(7) - np.linalg.pinv(rows) @ rows
    lower = np.linalg.pinv(size[:, None] * null, rcond=1e-9) @ (size * (0.3 - BENT - first))
    np.testing.assert_allclose(x, first + lower, atol=1e-5)
