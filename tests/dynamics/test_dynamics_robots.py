"""Recursive dynamics of real robots agrees with Pinocchio."""

from typing import Any

import numpy as np
import pytest

from example_robots import FILES, FLOATING, Robot, pinocchio, rotations
from linkwork.core.errors import LinkworkError
from linkwork.dynamics import aba, crba, drift, rnea
from linkwork.kinematics import forward

POSTURES = 4


def assert_same(made: Any, expected: Any) -> None:
    """Asserts equality to 1e-11 of the largest number."""
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(made, expected, rtol=0.0, atol=1e-11 * scale)


def share_inertias(robot: Robot) -> None:
    """Sets Pinocchio's inertias to those of our bodies: the reader repairs invalid ones."""
    world, model, data = robot.world, robot.model, robot.data
    q, theirs = robot.posture(np.random.default_rng(0))
    pose = forward(world, q)
    pinocchio.forwardKinematics(model, data, theirs)
    for joint, body in zip(world.joints, world.joint_body, strict=True):
        free = joint.type == "free"
        number = 1 if free else model.getJointId(robot.spelled(joint.name))
        turn = rotations(pose[body : body + 1, 3:])[0]
        place = data.oMi[number].actInv(pinocchio.SE3(turn, pose[body, :3]))
        own = pinocchio.Inertia(world.mass[body], world.com[body], world.inertia[body])
        model.inertias[number] = place.act(own)


def compare(robot: Robot) -> None:
    """Compares efforts, mass matrix and accelerations at random states."""
    world, model, data = robot.world, robot.model, robot.data
    if model.nv == 0:
        assert rnea(world, world.q0, world.v0, world.v0).shape == (0,)
        assert crba(world, world.q0).shape == (0, 0)
        return
    share_inertias(robot)
    rng = np.random.default_rng(5)
    frame = robot.frames[robot.chosen[-1]]
    for _ in range(POSTURES):
        q, theirs = robot.posture(rng)
        v, a = rng.uniform(-1, 1, (2, world.nv))
        change = robot.to_theirs(q)
        # Pinocchio has the velocity of a free base in the base's own axes
        spin = np.zeros(model.nv)
        if robot.floating:
            spin[:3] = -np.cross(v[3:6], change[:3, :3] @ v[:3])
        their_v, their_a = change @ v, change @ a + spin
        expected = pinocchio.rnea(model, data, theirs, their_v, their_a)
        made = rnea(world, q, v, a)
        assert_same(made, change.T @ expected)
        upper = np.triu(pinocchio.crba(model, data, theirs))
        whole = upper + np.triu(upper, 1).T
        assert_same(crba(world, q), change.T @ whole @ change)
        pinocchio.forwardKinematics(model, data, theirs, their_v, spin)
        pinocchio.updateFramePlacements(model, data)
        found = pinocchio.getFrameClassicalAcceleration(
            model, data, frame, pinocchio.LOCAL_WORLD_ALIGNED
        )
        name = f"r/{robot.names[robot.chosen[-1]]}"
        assert_same(drift(world, q, v, name), found.vector)
        if (np.diag(whole) < 1e-14).any():
            with pytest.raises(LinkworkError, match="moves nothing that has mass"):
                aba(world, q, v, made)
            continue
        # light fingers on heavy arms: accelerations are compared by their efforts
        given = pinocchio.aba(model, data, theirs, their_v, np.linalg.solve(change.T, made))
        masses = change.T @ whole
        assert_same(masses @ change @ aba(world, q, v, made), masses @ (given - spin))
        assert_same(masses @ change @ aba(world, q, v, made), masses @ change @ a)


@pytest.mark.parametrize("file", FILES)
def test_efforts_masses_and_accelerations_are_pinocchios(file: str) -> None:
    """rnea, crba, aba and J̇v agree to 1e-11 at random states."""
    compare(Robot(file))


@pytest.mark.parametrize("file", FLOATING)
def test_a_floating_robot_has_pinocchios_dynamics(file: str) -> None:
    """The same with a free base, in world axes here and in its own axes there."""
    compare(Robot(file, floating=True))
