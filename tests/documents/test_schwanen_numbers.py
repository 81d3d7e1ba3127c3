"""Schwanen 2002: numbers of its errata, on legs, feet and equations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.dynamics.recursive import crba, parent_dofs
from linkwork.dynamics.tree_cholesky_kernels import factor_tree, solve_tree
from linkwork.geometry import Pose
from linkwork.kinematics import forward, jacobian
from linkwork.kinematics.closed_form_kernels import leg_angles
from linkwork.kinematics.leg import KNEES, Leg
from linkwork.model.world import World, compile_scene

THIGH, SHANK, FOOT = 0.35, 0.35, 0.10
HIP = np.array([0.1, 0.0, -0.1])  # of the right leg, in the torso [m]


def biped(base: str) -> World:
    part = lw.load_part("bart_uh/biped")
    return compile_scene(lw.Scene("bart").place(part, name="robot", base=base))


def turns(axis: int, angle: np.ndarray) -> np.ndarray:
    """Returns rotations about x, y or z (n×3×3)."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    made = np.zeros((len(angle), 3, 3))
    made[:, axis, axis] = 1.0
    made[:, i, i] = made[:, j, j] = c
    made[:, i, j], made[:, j, i] = -s, s
    return made


def feet(q: np.ndarray) -> np.ndarray:
    """Returns rotation by rows and position of the foot's contact point in the hip's frame."""
    down = np.array([0.0, 0.0, -1.0])
    thigh = turns(2, q[:, 0]) @ turns(1, q[:, 1]) @ turns(0, q[:, 2])
    shank = thigh @ turns(0, q[:, 3])
    foot = shank @ turns(0, q[:, 4]) @ turns(1, q[:, 5])
    place = THIGH * thigh @ down + SHANK * shank @ down + FOOT * foot @ down
    return np.column_stack([foot.reshape(-1, 9), place])


@pytest.mark.capability(64, 65)
def test_the_closed_form_closes_on_a_hundred_thousand_poses() -> None:
    """Both knees, to 1e-12 in position and rotation; poses out of reach are rejected."""
    rng = np.random.default_rng(1)
    q = rng.uniform(-math.pi, math.pi, (100_000, 6))
    # stretched or folded, acos loses half the digits of the reference too
    q[:, 3] = rng.uniform(0.05, 3.0, len(q)) * rng.choice([-1.0, 1.0], len(q))
    goals = feet(q)
    for sign in KNEES.values():
        found = np.zeros_like(q)
        for goal, made in zip(goals, found, strict=True):
            assert leg_angles(THIGH, SHANK, FOOT, goal, sign, False, False, made) == 1
        assert (found[:, 3] * sign > 0.0).all()
        assert np.abs(feet(found) - goals).max() < 1e-12
    goals[:, 9:] *= 1.01 * (THIGH + SHANK + FOOT) / np.linalg.norm(goals[:, 9:], axis=1)[:, None]
    for goal in goals[:100]:
        assert leg_angles(THIGH, SHANK, FOOT, goal, -1.0, False, False, np.zeros(6)) == -1


@pytest.mark.capability(66)
def test_a_foot_turns_about_its_virtual_contact_point() -> None:
    """Figure 3.1: on the ground while the foot is flat, body-fixed, kept in position.

    For any pose of the torso and the feet, with both knees of both legs.
    """
    world = biped("free")
    rng = np.random.default_rng(3)
    straight = world.q0.copy()
    straight[2] = 0.9  # the torso's center, above flat soles
    for side in ("right", "left"):
        body, local = world.frame(f"robot/{side}_sole")
        flat = pose_of(forward(world, straight)[body]) @ local
        q = straight.copy()
        assert flat.xyz[2] == pytest.approx(0.0, abs=1e-15)
        leg = Leg(world, f"robot/{side}_sole")
        for knee, bend in KNEES.items():
            solved = 0
            for _ in range(50):
                q[:3] = rng.uniform((-0.05, -0.05, 0.72), (0.05, 0.05, 0.82))
                tilt = Pose.of(rpy=rng.uniform(-0.15, 0.15, 3).tolist())
                q[3:7] = tilt.quat
                # the heel lifts, the foot rolls and rotates: the point is fixed
                attitude = Pose.of(rpy=rng.uniform(-0.3, 0.3, 3).tolist())
                target = Pose(flat.xyz) @ attitude @ Pose((0.0, 0.0, 0.0), flat.quat)
                found = leg.solve(target, seed=q, knee=knee)
                if found is None:
                    continue  # beyond a joint's range
                solved += 1
                made = pose_of(forward(world, found)[body]) @ local
                assert made.xyz == pytest.approx(flat.xyz, abs=1e-12)
                np.testing.assert_allclose(made.matrix(), target.matrix(), atol=1e-12)
                assert found[world.qadr[world.body(f"robot/{side}_shank")]] * bend > 0.0
            assert solved > 25


def pose_of(row: np.ndarray) -> Pose:
    return Pose.of(row[:3].tolist(), quat=row[3:].tolist())


def test_the_printed_order_of_the_hip_is_another_hip() -> None:
    """Equation 3.6 swaps q1 and q3; text and Maple code rotate about z, then y, then x."""
    world = biped("fixed")
    q = world.q0.copy()
    first = int(world.qadr[world.body("robot/right_thigh")]) - 2
    q[first : first + 3] = 0.3, -0.2, 0.5
    knee = forward(world, q)[world.body("robot/right_shank"), :3]
    z, y, x = (turns(axis, np.array([a]))[0] for axis, a in ((2, 0.3), (1, -0.2), (0, 0.5)))
    down = np.array([0.0, 0.0, -THIGH])
    np.testing.assert_allclose(knee, HIP + z @ y @ x @ down, atol=1e-15)
    swapped = turns(2, np.array([0.5]))[0] @ y @ turns(0, np.array([0.3]))[0] @ down
    assert np.linalg.norm(knee - HIP - swapped) > 0.05


def test_the_printed_ankle_misses_a_lateral_offset_by_41_cm() -> None:
    """Eq. 3.10 with the wrong sign of q6: twice the offset, 0.41 m at 0.205 m."""
    goal = np.concatenate([np.eye(3).ravel(), [0.205, 0.0, -0.65]])
    q = np.zeros(6)
    assert leg_angles(THIGH, SHANK, FOOT, goal, -1.0, False, False, q) == 1
    printed = q * [1, -1, 1, 1, 1, -1]
    missed = np.linalg.norm(feet(printed[None])[0, 9:] - goal[9:])
    assert missed == pytest.approx(0.41, abs=1e-12)


def test_joint_rates_are_no_body_rates() -> None:
    """The kinetic energy of the Maple code uses them so: M is wrong by one to three percent."""
    world = biped("fixed")
    rng = np.random.default_rng(6)
    # rates about x, y, z of thigh, shank and foot as sums of joint rates q1 … q6
    sums = {
        "thigh": ((2,), (1,), (0,)), "shank": ((2, 3), (1,), (0,)),
        "foot": ((2, 3, 4), (1, 5), (0,)),
    }  # fmt: skip
    apart = []
    for _ in range(200):
        q = rng.uniform(-0.5, 0.5, 12)
        naive = np.diag(world.armature)
        for side, shift in (("right", 0), ("left", 6)):
            for name, columns in sums.items():
                body = world.body(f"robot/{side}_{name}")
                whole = jacobian(world, q, f"robot/{side}_{name}", point=world.com[body])
                rates = np.zeros((3, 12))
                for axis, which in enumerate(columns):
                    rates[axis, [shift + n for n in which]] = 1.0
                naive = naive + world.mass[body] * whole[:3].T @ whole[:3]
                naive = naive + rates.T @ world.inertia[body] @ rates
        mass = crba(world, q)
        apart.append(float(np.linalg.norm(naive - mass) / np.linalg.norm(mass)))
    assert 0.01 < float(np.median(apart)) < 0.03


@pytest.mark.capability(69)
def test_the_engines_own_factors_give_the_mass_matrix_back() -> None:
    """§4.3, along the tree: M = Lᵀ D L, so (Lᵀ √D)(Lᵀ √D)ᵀ = M; it solves M x = b."""
    for base in ("fixed", "free"):
        world = biped(base)
        rng = np.random.default_rng(5)
        dofs, above = np.arange(world.nv), parent_dofs(world)
        for _ in range(20):
            q = world.q0.copy()
            q[-12:] = rng.uniform(-1.0, 1.0, 12)
            mass = crba(world, q)
            made = mass.copy()
            assert factor_tree(made, above, dofs)
            lower = np.tril(made, -1) + np.eye(world.nv)
            factor = lower.T * np.sqrt(np.diag(made))
            np.testing.assert_allclose(factor @ factor.T, mass, atol=1e-13)
            right = rng.uniform(-1.0, 1.0, world.nv)
            x = right.copy()
            solve_tree(made, above, dofs, x)
            np.testing.assert_allclose(mass @ x, right, atol=1e-11)
