"""One tick against the formulas of mink and pink, written with Pinocchio, and MuJoCo's box QP.

Both build H = Σ (W J)ᵀ W J + (μ + Σ lm ‖W e‖²) I and c = −Σ (W J)ᵀ W e, with the logarithm of
SE(3) as a frame's error, and hand them to a solver of quadratic programs. ``benchmarks/ik.py``
compares with mink itself.
"""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from example_robots import Robot, pinocchio
from linkwork.geometry import Pose
from linkwork.kinematics import CenterOfMassTask, PoseTask, PostureTask, Solver

mujoco: Any = import_module("mujoco")  # its functions are defined at run time
ROMEO = Robot("romeo_description/urdf/romeo_laas_small.urdf", floating=True)
FRAMES = ("l_sole", "r_sole", "l_wrist", "r_wrist")
DAMPING, GAIN, LM = 1e-4, 0.7, 1e-3
POSITION, ORIENTATION, CENTRE, POSTURE = 1.5, 0.6, 2.0, 0.05


def near_home(rng: np.random.Generator, wide: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns a posture in our order and in Pinocchio's, part of the way to a random one."""
    world = ROMEO.world
    ours, theirs = world.q0.copy(), pinocchio.neutral(ROMEO.model)
    ours[:3] = theirs[:3] = rng.uniform(-0.1, 0.1, 3)
    turn = rng.normal(size=4) * 0.1 + (1.0, 0.0, 0.0, 0.0)
    turn /= np.linalg.norm(turn)
    ours[3:7], theirs[3:6], theirs[6] = turn, turn[1:], turn[0]
    for number, (coordinate, joint) in enumerate(ROMEO.pairs):
        value = wide * rng.uniform(world.dof_lo[6 + number], world.dof_hi[6 + number])
        ours[coordinate] = theirs[joint.idx_q] = value
    return ours, theirs


class Formula:
    """The quadratic program of the tasks, in our order of degrees of freedom."""

    def __init__(self, q: np.ndarray, theirs: np.ndarray, change: np.ndarray) -> None:
        self.q, self.theirs, self.change = q, theirs, change
        nv = len(ROMEO.columns)
        self.h, self.c, self.damping = np.zeros((nv, nv)), np.zeros(nv), DAMPING

    def add(self, rows: np.ndarray, error: np.ndarray, weight: np.ndarray) -> None:
        """Adds ‖W (J x − gain e)‖² and the damping by the error."""
        rows, error = weight[:, None] * rows, weight * GAIN * error
        self.h += rows.T @ rows
        self.c -= rows.T @ error
        self.damping += LM * float(error @ error)

    def frame(self, name: str, target: Any) -> None:
        """e = log(T⁻¹ T_goal), J = Jlog6(T_goal⁻¹ T) J_frame, as in mink and pink."""
        model, data = ROMEO.model, ROMEO.data
        number = model.getFrameId(name)
        rows = pinocchio.computeFrameJacobian(
            model, data, self.theirs, number, pinocchio.ReferenceFrame.LOCAL
        )
        pinocchio.framesForwardKinematics(model, data, self.theirs)
        here = data.oMf[number]
        error = pinocchio.log6(here.actInv(target)).vector
        rows = pinocchio.Jlog6(target.actInv(here)) @ rows @ self.change
        self.add(rows, error, np.array([POSITION] * 3 + [ORIENTATION] * 3))

    def center(self, target: np.ndarray) -> None:
        """Centre of mass."""
        model, data = ROMEO.model, ROMEO.data
        rows = pinocchio.jacobianCenterOfMass(model, data, self.theirs) @ self.change
        self.add(rows, target - data.com[0], np.full(3, CENTRE))

    def posture(self, wanted: np.ndarray) -> None:
        """Adds all joints except the base."""
        self.add(np.eye(len(self.c))[6:], (wanted - self.q)[7:], np.full(33, POSTURE))

    def whole(self) -> np.ndarray:
        """Returns H with all damping."""
        return self.h + self.damping * np.eye(len(self.c))


def posed(seed: int, *, limits: bool) -> tuple[Solver, Formula]:
    """Returns the same tasks here and as formulas."""
    rng = np.random.default_rng(seed)
    there, goal = near_home(rng, 0.5)
    q, theirs = near_home(rng, 0.5)
    formula = Formula(q, theirs, ROMEO.to_theirs(q))
    model, data, tasks = ROMEO.model, ROMEO.data, []
    common: Any = {"gain": GAIN, "lm_damping": LM}
    for name in FRAMES:
        pinocchio.framesForwardKinematics(model, data, goal)
        target = data.oMf[model.getFrameId(name)].copy()
        turn = pinocchio.Quaternion(target.rotation).coeffs()  # x, y, z, w
        pose = Pose.of(target.translation.tolist(), quat=(turn[3], *turn[:3]))
        tasks.append(
            PoseTask(
                f"r/{name}", pose, position=POSITION, orientation=ORIENTATION, error="twist",
                **common,
            )
        )  # fmt: skip
        formula.frame(name, target)
    center = pinocchio.centerOfMass(model, data, goal).copy()
    formula.center(center)
    tasks.append(CenterOfMassTask(tuple(center), weight=CENTRE, **common))
    formula.posture(there)
    tasks.append(PostureTask(weight=POSTURE, **common))
    return Solver(ROMEO.world, tasks, q=there, limits=limits), formula


@pytest.mark.capability(141)
@pytest.mark.parametrize("seed", range(8))
def test_a_tick_is_minks_to_1e_8(seed: int) -> None:
    """39 degrees of freedom; feet, wrists, center of mass and posture; no active bound."""
    solver, formula = posed(seed, limits=False)
    step = solver.step(formula.q, 1.0, damping=DAMPING, speeds=False)
    np.testing.assert_allclose(step.damping, formula.damping, rtol=1e-10)
    np.testing.assert_allclose(step.v, np.linalg.solve(formula.whole(), -formula.c), atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_within_limits_a_tick_is_that_of_another_solver(seed: int) -> None:
    """Ranges and velocities bind several joints; MuJoCo's box QP agrees within 1 %."""
    solver, formula = posed(seed, limits=True)
    world, dt, n = ROMEO.world, 0.1, len(formula.c)
    step = solver.step(formula.q, dt, damping=DAMPING).v * dt
    lo, hi = np.full(n, -10.0), np.full(n, 10.0)
    lo[6:] = np.maximum(world.dof_lo[6:] - formula.q[7:], -world.dof_speed[6:] * dt)
    hi[6:] = np.minimum(world.dof_hi[6:] - formula.q[7:], world.dof_speed[6:] * dt)
    found, factor, index = np.zeros(n), np.zeros(n * (n + 7)), np.zeros(n, np.int32)
    rank = mujoco.mju_boxQP(found, factor, index, formula.whole(), formula.c, lo, hi)
    assert 0 <= rank < n - 3  # several bounds are active
    assert np.linalg.norm(step - found) < 0.01 * np.linalg.norm(found)
    np.testing.assert_allclose(step, found, atol=1e-6)
