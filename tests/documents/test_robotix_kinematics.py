"""RoboTiX thesis chapter 3: equations of inverse kinematics, as printed and corrected."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.kinematics import (
    Damping,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
    jacobian,
)
from linkwork.kinematics.measures import manipulability
from linkwork.kinematics.srs import SrsArm

ARMS = ("kuka/arm", "mitsubishi/arm", "amtec/arm")
WORLD = lw.compile_scene(lw.Scene("s").place(lw.load_part("kuka/arm"), name="arm"))
BENT = np.array([0.3, 0.5, -0.2, 1.1, 0.4, 0.7, 0.1])
GOAL = lw.Pose.of((0.4, 0.2, 0.6), rpy=(0.3, 2.4, 0.2))
EXACT = Damping("constant", 1e-12)


def postures(count: int) -> np.ndarray:
    """Returns random postures within KUKA's ranges."""
    return np.random.default_rng(3).uniform(WORLD.dof_lo, WORLD.dof_hi, (count, 7))


def test_the_pseudo_inverse_of_eq_3_3_and_its_damped_form_of_eq_3_7() -> None:
    """One step is Jᵀ(JJᵀ)⁻¹ e without damping and Jᵀ(JJᵀ + λ²I)⁻¹ e with it, to 1e-9."""
    solver = Solver(WORLD, [PoseTask("arm/flange", GOAL)], limits=False)
    for q in (BENT, *postures(20)):
        rows, error = solver.rows(q)
        for square in (0.01, 1e-4):
            damped = rows.T @ np.linalg.solve(rows @ rows.T + square * np.eye(6), error)
            step = solver.step(q, 1.0, damping=square, speeds=False)
            np.testing.assert_allclose(step.v, damped, atol=1e-9)
    rows, error = solver.rows(BENT)
    step = solver.step(BENT, 1.0, damping=EXACT, speeds=False)
    np.testing.assert_allclose(step.v, np.linalg.pinv(rows) @ error, atol=1e-4)


@pytest.mark.capability(110)
def test_eq_3_8_is_there_by_name_and_does_not_see_singular_postures() -> None:
    """λ = k/(1 + ‖JJᵀ‖) does not grow at the stretched arm, where σ is 0.

    By the text λ = k there and negligible elsewhere. In fact λ/k stays within a quarter of its mean
    over all postures; the default damps only there.
    """
    solver = Solver(WORLD, [PoseTask("arm/flange", GOAL)], limits=False)
    k, straight = 0.3, np.zeros(7)

    def printed(q: np.ndarray) -> float:
        rows, _ = solver.rows(q)
        damping = solver.step(q, 0.1, damping=Damping("robotix", k)).damping
        assert damping == pytest.approx((k / (1.0 + np.linalg.norm(rows @ rows.T))) ** 2)
        return math.sqrt(damping) / k

    parts = np.array([printed(q) for q in postures(200)])
    assert parts.max() < 1.25 * parts.mean()
    assert parts.min() > 0.75 * parts.mean()
    assert np.linalg.svd(solver.rows(straight)[0], compute_uv=False)[-1] < 1e-12
    assert printed(straight) < parts.min()
    sizes = [np.linalg.svd(solver.rows(q)[0], compute_uv=False) for q in postures(200)]
    simple = [
        q for q, s in zip(postures(200), sizes, strict=True) if s[-1] > 0.05 * np.hypot(*s[:2])
    ]
    simple = [q for q in simple if solver.step(q, 0.1).damping < 1e-10]
    assert len(simple) > 50
    assert solver.step(straight, 0.1).damping > 0.1


def test_the_damping_of_eq_3_8_grows_with_k_while_running() -> None:
    """k can change at each step: a larger k gives a shorter step."""
    solver = Solver(WORLD, [PoseTask("arm/flange", GOAL)], limits=False)
    steps = [
        np.linalg.norm(solver.step(BENT, 1.0, damping=Damping("robotix", k)).v)
        for k in (0.01, 0.3, 1.0, 3.0)
    ]
    assert steps == sorted(steps, reverse=True)
    assert steps[-1] < 0.8 * steps[0]


@pytest.mark.capability(113)
def test_the_ellipsoid_has_axes_u_and_lengths_sigma() -> None:
    """Eq. 3.9–3.12: u and v are eigenvectors of JJᵀ and JᵀJ (not eigenvalues, as printed)."""
    for q in postures(20):
        found = manipulability(WORLD, q, "arm/flange")
        rows = jacobian(WORLD, q, "arm/flange")[:3]
        left, sizes, right = np.linalg.svd(rows)
        np.testing.assert_allclose(found.lengths, sizes, atol=1e-7)
        for k in range(3):
            axis = found.axes[:, k]
            assert abs(axis @ left[:, k]) == pytest.approx(1.0, abs=1e-6)
            np.testing.assert_allclose(rows @ rows.T @ axis, sizes[k] ** 2 * axis, atol=1e-9)
            twin = rows.T @ axis / sizes[k]
            assert abs(twin @ right[k]) == pytest.approx(1.0, abs=1e-6)


def levels() -> tuple[PositionTask, PositionTask]:
    """Returns the flange first, then a point of the forearm in its null space."""
    first = PositionTask("arm/flange", (0.45, 0.1, 0.5), name="flange")
    second = PositionTask(
        "arm/forearm", (0.1, 0.3, 0.7), weight=(0, 1, 1), priority=1, name="elbow"
    )
    return first, second


@pytest.mark.capability(116)
@pytest.mark.parametrize("q", [BENT, *postures(5)], ids=range(6))
def test_eq_3_16_loses_the_second_task_and_the_recursion_keeps_all(q: np.ndarray) -> None:
    """Both keep the first to 1e-9; only the recursion keeps a feasible second task."""
    solver = Solver(WORLD, list(levels()), limits=False)
    rows, error = solver.rows(q)
    assert np.linalg.matrix_rank(rows, 1e-3) == 5
    nested = solver.step(q, 1.0, damping=EXACT, scheme="nested", speeds=False).v
    strict = solver.step(q, 1.0, damping=EXACT, scheme="strict", speeds=False).v
    assert np.abs(rows[:3] @ nested - error[:3]).max() < 1e-8
    assert np.abs(rows[:3] @ strict - error[:3]).max() < 1e-8
    assert np.abs(rows[3:] @ strict - error[3:]).max() < 1e-6
    lost = np.linalg.norm(rows[3:] @ nested - error[3:])
    assert lost > 1e-3 * np.linalg.norm(error[3:])
    null = np.eye(7) - np.linalg.pinv(rows[:3]) @ rows[:3]
    printed = np.linalg.pinv(rows[:3]) @ error[:3] + null @ np.linalg.pinv(rows[3:]) @ error[3:]
    np.testing.assert_allclose(nested, printed, atol=1e-5)


def test_eq_3_14_lets_the_posture_move_only_what_the_tool_leaves_free() -> None:
    """q̇ = J⁺v + (I − J⁺J) q̇_t, with the posture as second task."""
    away = {f"arm/J{k}": 0.2 for k in range(1, 8)}
    tasks = [PoseTask("arm/flange", GOAL), PostureTask(away, priority=1)]
    rows, error = Solver(WORLD, tasks[:1], limits=False).rows(BENT)
    step = Solver(WORLD, tasks, limits=False).step(BENT, 1.0, damping=1e-9, speeds=False)
    inverse = np.linalg.pinv(rows)
    wanted = inverse @ error + (np.eye(7) - inverse @ rows) @ (0.2 - BENT)
    np.testing.assert_allclose(step.v, wanted, atol=1e-6)


@pytest.mark.capability(116)
def test_r_redundant_joints_carry_r_more_control_points() -> None:
    """Seven joints and a full pose leave r = 1: one more scalar is feasible, a second is not."""
    pose = PoseTask("arm/flange", GOAL)
    second = PositionTask("arm/forearm", (0, 0, 0.9), weight=(0, 0, 1), priority=1, name="second")
    third = PositionTask("arm/forearm", (0.5, 0, 0), weight=(1, 0, 0), priority=2, name="third")
    solver = Solver(WORLD, [pose, second, third], limits=False)
    rows, error = solver.rows(BENT)
    v = solver.step(BENT, 1.0, damping=EXACT, speeds=False).v
    left = np.abs(rows @ v - error)
    assert left[:6].max() < 1e-6
    assert left[6:9].max() < 1e-6
    assert left[9:].max() > 1e-2


@pytest.mark.parametrize("name", ARMS)
def test_the_three_arms_of_003_close_by_formula_and_by_search(name: str) -> None:
    """S-R-S geometry: shoulder, elbow and wrist in closed form, and the numeric solver agrees."""
    world = lw.compile_scene(lw.Scene("s").place(lw.load_part(name), name="arm"))
    closed, solver = SrsArm(world, "arm/flange"), Solver(world, [PoseTask("arm/flange")])
    body, local = world.frame("arm/flange")
    lo, hi = world.dof_lo[:7], world.dof_hi[:7]
    for values in np.random.default_rng(5).uniform(lo, hi, (20, 7)):
        q = world.q0.copy()
        q[closed.coordinates] = values
        row = lw.forward(world, q)[body].tolist()
        target = lw.Pose.of(row[:3], quat=row[3:]) @ local
        solver.set_target(target)
        found = closed.solve(target)
        assert found is not None
        assert solver.task_errors(found)[0].distance < 1e-12
        assert solver.solve().reached
