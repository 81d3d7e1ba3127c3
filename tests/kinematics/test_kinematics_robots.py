"""Forward kinematics and Jacobians of real robots agree with Pinocchio."""

from typing import Any

import numpy as np
import pytest

from example_robots import FILES, FLOATING, Robot, pinocchio, rotations
from linkwork.kinematics import forward, jacobian, velocities

POSTURES = 100
ALIGNED = pinocchio.LOCAL_WORLD_ALIGNED


def assert_close(made: Any, expected: Any) -> None:
    np.testing.assert_allclose(made, expected, rtol=0.0, atol=1e-9)


def compare(robot: Robot) -> None:
    """Compares poses of all links and Jacobians of leaves and some others, at all postures."""
    rng = np.random.default_rng(7)
    turn_in_body = rotations(robot.local[:, 3:])
    model, data = robot.model, robot.data
    for _ in range(POSTURES):
        q, theirs = robot.posture(rng)
        pose = forward(robot.world, q)
        pinocchio.computeJointJacobians(model, data, theirs)
        pinocchio.updateFramePlacements(model, data)
        turn = rotations(pose[robot.bodies, 3:])
        place = pose[robot.bodies, :3] + np.einsum("nij,nj->ni", turn, robot.local[:, :3])
        found = [data.oMf[frame] for frame in robot.frames]
        assert_close(place, [f.translation for f in found])
        assert_close(turn @ turn_in_body, [f.rotation for f in found])
        change = robot.to_theirs(q)
        for number in robot.chosen:
            made = jacobian(robot.world, q, f"r/{robot.names[number]}", pose=pose)
            if model.nv == 0:  # a matrix without columns, which Pinocchio cannot return
                assert made.shape == (6, 0)
                continue
            frame = robot.frames[number]
            expected = pinocchio.getFrameJacobian(model, data, frame, ALIGNED) @ change
            assert_close(made, expected)


@pytest.mark.capability(109)
@pytest.mark.parametrize("file", FILES)
def test_a_robot_stands_and_moves_as_pinocchio_says(file: str) -> None:
    """Poses of all links and Jacobians agree to 1e-9 at 100 random postures."""
    compare(Robot(file))


@pytest.mark.capability(86)
@pytest.mark.parametrize("file", FLOATING)
def test_a_robot_on_a_floating_base_moves_as_pinocchio_says(file: str) -> None:
    """The same with base = "free": linear velocity in world axes, angular in its own."""
    compare(Robot(file, floating=True))


@pytest.mark.capability(86)
@pytest.mark.parametrize("file", FLOATING)
def test_bodies_of_a_floating_robot_have_pinocchios_velocities(file: str) -> None:
    """Linear velocity of each center of mass, angular velocity, total mass and center of mass."""
    robot = Robot(file, floating=True)
    rng = np.random.default_rng(3)
    world, model, data = robot.world, robot.model, robot.data
    assert world.mass.sum() == pytest.approx(pinocchio.computeTotalMass(model), rel=1e-12)
    for _ in range(10):
        q, theirs = robot.posture(rng)
        v = rng.uniform(-1, 1, world.nv)
        pose = forward(world, q)
        twist = velocities(world, q, v, pose)
        pinocchio.forwardKinematics(model, data, theirs, robot.to_theirs(q) @ v)
        turn = rotations(pose[:, 3:])
        centers = pose[:, :3] + np.einsum("nij,nj->ni", turn, world.com)
        center = pinocchio.centerOfMass(model, data, theirs, robot.to_theirs(q) @ v)
        weights = world.mass / world.mass.sum()
        assert_close(weights @ centers, center)
        assert_close(weights @ twist[:, :3], data.vcom[0])
        for number in robot.chosen:
            body = robot.bodies[number]
            if world.mass[body] == 0.0:
                continue
            found = pinocchio.getFrameVelocity(model, data, robot.frames[number], ALIGNED)
            arm = centers[body] - data.oMi[model.frames[robot.frames[number]].parentJoint].act(
                model.frames[robot.frames[number]].placement.translation
            )
            expected = found.linear + np.cross(found.angular, arm)
            assert_close(twist[body, 3:], found.angular)
            assert_close(twist[body, :3], expected)


def test_the_floating_robots_are_there() -> None:
    """All named files exist in the package."""
    assert len(FLOATING) >= 3
    assert len(FILES) >= 68
