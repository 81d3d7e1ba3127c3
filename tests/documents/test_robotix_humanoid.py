"""RoboTiX thesis chapter 5: one Jacobian for the whole humanoid, with its center of mass."""

import numpy as np
import pytest

from example_robots import Robot, pinocchio
from linkwork.dynamics import holding_efforts
from linkwork.geometry import Pose
from linkwork.kinematics import (
    CenterOfMassTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
    forward,
    jacobian,
)
from linkwork.kinematics.packed_tasks import center_of_mass

ROMEO = Robot("romeo_description/urdf/romeo_laas_small.urdf", floating=True)
WORLD = ROMEO.world
FEET = ("r/l_sole", "r/r_sole")
HANDS = ("r/l_wrist", "r/r_wrist")
GRAVITY = 9.81


def at(q: np.ndarray, name: str) -> Pose:
    """Returns the pose of a frame."""
    body, local = WORLD.frame(name)
    row = forward(WORLD, q)[body]
    return Pose(tuple(row[:3]), tuple(row[3:])) @ local


def crouching() -> np.ndarray:
    """Returns a posture with bent knees, hips and arms, and flat soles."""
    q = WORLD.q0.copy()
    for side, sign in (("L", 1.0), ("R", -1.0)):
        bent = [("HipPitch", -1.0), ("KneePitch", 1.6), ("AnklePitch", -0.6)]
        bent += [("ShoulderPitch", 1.0), ("ShoulderYaw", 0.3 * sign), ("ElbowYaw", -1.2 * sign)]
        for joint, value in bent:
            q[WORLD.qadr[WORLD.joint_body[WORLD.joint(f"r/{side}{joint}_joint")]]] = value
    return q


def moved(q: np.ndarray, name: str, by: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = at(q, name).xyz
    return x + by[0], y + by[1], z + by[2]


@pytest.mark.capability(141)
def test_33_joints_and_6_virtual_ones_make_39_columns() -> None:
    """Eq. 5.3 and 5.4: one column each, zero for joints that do not move the control point.

    Two rows of the center of mass, in the support plane, are added to those of feet and hands.
    """
    assert len(WORLD.joints) == 1 + 33
    assert WORLD.nv == 39
    points = [PositionTask(name) for name in (*FEET, *HANDS)]
    solver = Solver(WORLD, [*points, CenterOfMassTask(weight=(1, 1, 0)), PostureTask(priority=1)])
    rows, _ = solver.rows(crouching())
    assert rows.shape == (3 * 4 + 3, 39)
    assert (rows[-1] == 0.0).all()
    assert np.abs(rows[-3:-1]).max() > 0.0
    whole = [jacobian(WORLD, crouching(), name)[:3] for name in (*FEET, *HANDS)]
    np.testing.assert_allclose(rows[:12], np.concatenate(whole), atol=1e-12)
    left, right = (
        {d for d in range(39) if f"r/{s}" in WORLD.dof_name(d) and "Hip" in WORLD.dof_name(d)}
        for s in "LR"
    )
    assert len(left) == len(right) == 3
    assert not rows[:3, sorted(right)].any()
    assert not rows[3:6, sorted(left)].any()
    for d in left:
        assert rows[:3, d].any()
    for limb in rows[:12, :3].reshape(4, 3, 3):  # virtual joints move all four equally
        np.testing.assert_allclose(limb, np.eye(3), atol=1e-12)


@pytest.mark.capability(142)
def test_the_jacobian_of_the_center_of_mass_is_the_mean_of_all_links() -> None:
    """Eq. 5.10, J_G = Σ mᵢ J_Gᵢ / m, link by link; and Pinocchio's, to 1e-12."""
    q, theirs = ROMEO.posture(np.random.default_rng(2))
    rows, _ = Solver(WORLD, [CenterOfMassTask()]).rows(q)
    total, expected = 0.0, np.zeros((3, 39))
    first = {int(b): n for n, b in reversed(list(enumerate(WORLD.element_body)))}
    for body in np.flatnonzero(WORLD.mass):
        name = WORLD.element_names[first[int(body)]]
        _, local = WORLD.frame(name)
        place = local.inverse().apply(WORLD.com[body])
        expected += WORLD.mass[body] * jacobian(WORLD, q, name, point=place)[:3]
        total += WORLD.mass[body]
    np.testing.assert_allclose(rows, expected / total, atol=1e-12)
    peer = pinocchio.jacobianCenterOfMass(ROMEO.model, ROMEO.data, theirs)
    np.testing.assert_allclose(rows, peer @ ROMEO.to_theirs(q), atol=1e-12)


@pytest.mark.capability(146)
def test_balancing_efforts_follow_from_the_same_jacobian() -> None:
    """§5.2.4: τ = m g J_Gᵀ e_z holds the weight, without an inertia matrix."""
    q = crouching()
    rows, _ = Solver(WORLD, [CenterOfMassTask()]).rows(q)
    weight = GRAVITY * WORLD.mass.sum() * rows[2]
    made = holding_efforts(WORLD, q, gravity=(0.0, 0.0, -GRAVITY))
    np.testing.assert_allclose(made, weight, atol=1e-9)


@pytest.mark.capability(141)
def test_eq_5_12_serves_neither_hand_and_the_augmented_jacobian_both() -> None:
    """½(q̇_br + q̇_bl), with a misprint of the left one: the mean for the back fails.

    Each hand is solved as if the back were its own. With their mean both miss; as printed (the
    right one twice) only the right hand arrives. One solution for all columns reaches both.
    """
    q = crouching()
    back = [d for d in range(39) if WORLD.dof_name(d) in ("r/TrunkYaw",)]
    arms = [f"r/{j.name}" for j in WORLD.joints if j.name[1:6] in ("Shoul", "Elbow", "Wrist")]
    names = [*arms, "r/TrunkYaw"]
    tasks = [
        PositionTask(name, moved(q, name, (0.02, 0.05 * side, 0.03)))
        for name, side in zip(HANDS, (1, -1), strict=True)
    ]
    metric = np.where([WORLD.dof_name(d) == "r/TrunkYaw" for d in range(39)], 0.01, 1.0)

    def step(tasks: list[PositionTask]) -> np.ndarray:
        solver = Solver(WORLD, tasks, joints=names, limits=False, metric=metric)
        return solver.step(q, 1.0, damping=1e-10, speeds=False).v

    def miss(v: np.ndarray) -> np.ndarray:
        wanted = [np.array(t.target) - at(q, t.frame).xyz for t in tasks]
        got = [jacobian(WORLD, q, name)[:3] @ v for name in HANDS]
        return np.linalg.norm(np.array(got) - np.array(wanted), axis=1)

    left, right = step(tasks[:1]), step(tasks[1:])
    assert abs(left[back[0]] - right[back[0]]) > 1e-2  # eq. 5.11
    apart = left + right  # joints of the arms: each solution is zero where the other is not
    mean, printed = apart.copy(), apart.copy()
    mean[back] = 0.5 * (left + right)[back]
    printed[back] = right[back]
    assert (miss(mean) > 1e-3).all()
    assert miss(printed)[0] > 1e-3
    assert miss(printed)[1] < 1e-6
    assert (miss(step(tasks)) < 1e-6).all()


@pytest.mark.capability(143)
def test_weights_of_the_pseudo_inverse_choose_who_moves() -> None:
    """J⁺_W = W⁻¹Jᵀ(JW⁻¹Jᵀ)⁻¹ moves a heavy trunk less, with the same hand motion."""
    q = crouching()
    task = PositionTask(HANDS[0], moved(q, HANDS[0], (0.05, 0.1, 0.05)))
    trunk = WORLD.dof_name(6)
    assert trunk == "r/TrunkYaw"
    joints = [f"r/{j.name}" for j in WORLD.joints[1:]]
    moves = []
    for weight in (1.0, 100.0):
        metric = np.ones(39)
        metric[6] = weight
        solver = Solver(WORLD, [task], joints=joints, limits=False, metric=metric)
        rows, error = solver.rows(q)
        step = solver.step(q, 1.0, damping=1e-10, speeds=False).v[6:]
        simple = np.diag(1.0 / metric[6:])
        wanted = simple @ rows.T @ np.linalg.solve(rows @ simple @ rows.T, error)
        np.testing.assert_allclose(step, wanted, atol=1e-6)
        moves.append(abs(step[0]))
    assert moves[1] < 0.1 * moves[0]


@pytest.mark.capability(142)
def test_standing_up_keeps_the_feet_and_the_center_of_pressure() -> None:
    """§5.3.1: fixed feet, pelvis up by 15 cm, center of pressure over the soles.

    In slow motion the center of pressure is below the center of mass.
    """
    q = crouching()
    feet = [PoseTask(name) for name in FEET]
    soles = np.array([at(q, name).xyz for name in FEET])
    over = (*soles[:, :2].mean(axis=0), 0.0)
    pelvis, high = "r/body", at(q, "r/body").xyz[2]
    rise = PositionTask(pelvis, weight=(0, 0, 1), priority=1)
    solver = Solver(WORLD, [*feet, CenterOfMassTask(over, weight=(1, 1, 0)), rise], q=q)
    for _ in range(40):  # first over the feet
        q = solver.step(q, 0.1).q
    kept = [at(q, name) for name in FEET]
    for k in range(150):
        solver.set_target((0.0, 0.0, high + 0.15 * (k + 1) / 150), task=pelvis)
        q = solver.step(q, 0.05).q
        for name, before in zip(FEET, kept, strict=True):
            now = at(q, name)
            assert np.linalg.norm(np.subtract(now.xyz, before.xyz)) < 2e-5
            assert abs(abs(np.dot(now.quat, before.quat)) - 1.0) < 1e-8
        center = center_of_mass(WORLD, forward(WORLD, q))
        # within the strip between the sole centers, far less than half a sole
        low, top = np.sort(soles[:, 1])
        assert low < center[1] < top
        assert abs(center[0] - over[0]) < 0.02
    for _ in range(10):
        q = solver.step(q, 0.05).q
    assert at(q, pelvis).xyz[2] == pytest.approx(high + 0.15, abs=1e-3)
