"""Schwanen 2002: BARt-UH II, its direct kinematics and its equations of motion."""

import math

import numpy as np
import pytest

import linkwork as lw
from dynamics.test_dynamics_robots import share_inertias
from example_robots import ROBOTS, Robot, pinocchio
from linkwork.dynamics import aba, bias, crba, rnea
from linkwork.dynamics.symbolic import CompiledDynamics, SymbolicModel
from linkwork.kinematics import forward
from linkwork.model.world import World, compile_scene

LEG = ("hip_z", "hip_y", "hip_x", "knee", "ankle_x", "ankle_y")
JOINTS = [f"{side}_{name}" for side in ("right", "left") for name in LEG]  # q1 … q12
DISTANCE, L0, L2, L3, L4, A4 = 0.20, 0.20, 0.35, 0.35, 0.10, 0.05


def placed(base: str) -> World:
    """Returns the robot with straight legs on the ground."""
    part = lw.load_part("bart_uh/biped")
    at = lw.Pose((0.0, 0.0, L4 + L3 + L2 + L0 / 2.0))
    return compile_scene(lw.Scene("bart").place(part, name="robot", base=base, at=at))


@pytest.fixture(scope="module")
def fixed() -> World:
    return placed("fixed")


@pytest.fixture(scope="module")
def floating() -> World:
    return placed("free")


@pytest.fixture(scope="module")
def fixed_model(fixed: World) -> SymbolicModel:
    return SymbolicModel(fixed)


@pytest.fixture(scope="module")
def model(floating: World) -> SymbolicModel:
    return SymbolicModel(floating)


def coordinates(world: World, **values: float) -> np.ndarray:
    """Returns coordinates with q1 … q12 as given, the rest as placed."""
    q = world.q0.copy()
    for name, value in values.items():
        number = world.joint(f"robot/{JOINTS[int(name[1:]) - 1]}")
        q[world.qadr[world.joint_body[number]]] = value
    return q


def turn(axis: str, angle: float) -> np.ndarray:
    """Returns Rx, Ry and Rz of equations 3.1 to 3.3."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array(
        {
            "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


def foot_by_hand(side: str, q: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Returns center of mass and axes of a foot: §3.1 with the hip's order Rz Ry Rx."""
    down = np.array([0.0, 0.0, -1.0])
    sign = 1.0 if side == "right" else -1.0
    hip = np.array([sign * DISTANCE / 2.0, 0.0, L4 + L3 + L2])
    thigh = turn("z", q[0]) @ turn("y", q[1]) @ turn("x", q[2])
    shank = thigh @ turn("x", q[3])
    foot = shank @ turn("x", q[4]) @ turn("y", q[5])
    return hip + L2 * thigh @ down + L3 * shank @ down + A4 * foot @ down, foot


def test_seven_bodies_twelve_joints_and_the_lengths_of_the_errata(fixed: World) -> None:
    """Seven bodies have mass; hip height minus l2 is 0.45 m, l3 + a4 0.40 m."""
    assert np.count_nonzero(fixed.mass) == 7
    assert fixed.nv == 12
    assert [fixed.dof_name(n) for n in range(12)] == [f"robot/{name}" for name in JOINTS]
    part = lw.load_part("bart_uh/biped")
    for side in ("right", "left"):
        corners = [name for name in part.anchors if name.startswith((f"{side}_f", f"{side}_r"))]
        assert len(corners) == 4
        assert any(sensor.name == f"{side}_tread" for sensor in part.sensors)
    pose = forward(fixed, fixed.q0)
    knee = pose[fixed.body("robot/right_shank")]
    assert knee[:3] == pytest.approx([DISTANCE / 2.0, 0.0, 0.45], abs=1e-15)
    body = fixed.body("robot/right_foot")
    center = pose[body, :3] + fixed.com[body]
    assert knee[2] - center[2] == pytest.approx(0.40, abs=1e-15)


@pytest.mark.capability(62, 63, 77)
def test_equation_5_2_and_its_figures(fixed: World, fixed_model: SymbolicModel) -> None:
    """x4 = 0.1, y4 = 0.4 sin q4, z4 = 0.45 − 0.4 cos q4 for q4 = (3π/4) sin 2πt, with ẏ."""
    point = fixed_model.point("robot/right_foot", (0.0, 0.0, -A4))

    def at(t: float) -> tuple[np.ndarray, np.ndarray]:
        wave, rate = 0.75 * math.pi * math.sin(2 * math.pi * t), 1.5 * math.pi**2
        q = coordinates(fixed, q4=wave)
        v = np.zeros(fixed.nv)
        v[3] = rate * math.cos(2 * math.pi * t)
        place = fixed_model.evaluate(point.position, q)
        by_hand = [0.1, 0.4 * math.sin(wave), 0.45 - 0.4 * math.cos(wave)]
        assert place == pytest.approx(by_hand, abs=1e-15)
        return place, fixed_model.evaluate(point.velocity, q, v)

    assert at(0.0)[0][2] == pytest.approx(0.05, abs=1e-15)
    assert at(0.0)[1][1] == pytest.approx(5.922, abs=5e-4)
    assert at(0.1161)[0][1] == pytest.approx(0.4, abs=1e-6)
    assert at(0.25)[0][1] == pytest.approx(0.2828, abs=5e-5)
    assert max(at(t)[0][2] for t in np.linspace(0, 1, 101)) == pytest.approx(0.7328, abs=5e-5)


@pytest.mark.capability(77)
@pytest.mark.parametrize("number", range(1, 13))
def test_a_sine_on_each_joint_moves_the_feet_as_derived_by_hand(
    fixed: World, fixed_model: SymbolicModel, number: int
) -> None:
    """Positions of both feet along a sine of every joint, the others bent; rates by differences."""
    rng = np.random.default_rng(number)
    rest = rng.uniform(-0.5, 0.5, 12)
    points = {s: fixed_model.point(f"robot/{s}_foot", (0, 0, -A4)) for s in ("right", "left")}
    for t in (0.05, 0.3, 0.62):
        values = rest.copy()
        values[number - 1] = 0.75 * math.pi * math.sin(2 * math.pi * t)
        q = coordinates(fixed, **{f"q{n + 1}": value for n, value in enumerate(values)})
        v = np.zeros(12)
        v[number - 1] = 1.5 * math.pi**2 * math.cos(2 * math.pi * t)
        for side, own in (("right", slice(0, 6)), ("left", slice(6, 12))):
            expected, _ = foot_by_hand(side, values[own].tolist())
            made = fixed_model.evaluate(points[side].position, q)
            np.testing.assert_allclose(made, expected, atol=1e-14)
            ahead, behind = values + 1e-6 * v, values - 1e-6 * v
            rate = foot_by_hand(side, ahead[own].tolist())[0]
            rate = (rate - foot_by_hand(side, behind[own].tolist())[0]) / 2e-6
            speed = fixed_model.evaluate(points[side].velocity, q, v)
            np.testing.assert_allclose(speed, rate, atol=1e-7)


def test_with_a_straight_leg_q1_moves_no_center_of_mass(fixed: World) -> None:
    """All of them are on its axis."""
    for angle in (-0.7, 0.4):
        before, after = forward(fixed, fixed.q0), forward(fixed, coordinates(fixed, q1=angle))
        for b in np.flatnonzero(fixed.mass):
            positions = [pose_of(pose[b]).apply(fixed.com[b]) for pose in (before, after)]
            np.testing.assert_allclose(positions[1], positions[0], atol=1e-15)


def pose_of(row: np.ndarray) -> lw.Pose:
    return lw.Pose.of(row[:3].tolist(), quat=row[3:].tolist())


@pytest.mark.capability(69)
def test_the_cholesky_factor_gives_the_mass_matrix_back(fixed: World) -> None:
    """LLᵀ = M at random postures (§4.3)."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        mass = crba(fixed, rng.uniform(-1, 1, 12))
        factor = np.linalg.cholesky(mass)
        np.testing.assert_allclose(factor @ factor.T, mass, atol=1e-14)


@pytest.mark.capability(67, 86)
def test_m_cg_and_forward_dynamics_of_bart_are_pinocchios(
    floating: World, model: SymbolicModel
) -> None:
    """Traced, as C and recursive, with a floating base: all to 1e-11."""
    their = Peer(floating)
    code = CompiledDynamics(model, "bart")
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, v, a = random_state(floating, rng)
        change, spin, theirs = their.state(q, v)
        data, robot = their.data, their.model
        upper = np.triu(pinocchio.crba(robot, data, theirs))
        mass = change.T @ (upper + np.triu(upper, 1).T) @ change
        efforts = change.T @ pinocchio.rnea(robot, data, theirs, change @ v, change @ a + spin)
        entries = [each for row in model.mass_matrix for each in row]
        for made in (code.mass_matrix(q), crba(floating, q), model.evaluate(entries, q)):
            close(made.reshape(18, 18), mass)
        moving = change.T @ pinocchio.rnea(robot, data, theirs, change @ v, spin)
        for made in (code.bias(q, v), bias(floating, q, v), model.evaluate(model.bias, q, v)):
            close(made, moving)
        close(code.inverse_dynamics(q, v, a), efforts)
        given = np.linalg.solve(change.T, efforts)
        expected = np.linalg.solve(
            change, pinocchio.aba(robot, data, theirs, change @ v, given) - spin
        )
        close(code.forward_dynamics(q, v, efforts), expected)
        close(aba(floating, q, v, efforts), expected)


class Peer:
    """The same robot built joint by joint in Pinocchio."""

    def __init__(self, world: World) -> None:
        self.world = world
        model = pinocchio.Model()
        numbers = {0: 0}
        axes = {
            "x": pinocchio.JointModelRX,
            "y": pinocchio.JointModelRY,
            "z": pinocchio.JointModelRZ,
        }
        for b in range(1, world.nb):
            free = int(world.kind[b]) == 9
            letter = "xyz"[int(np.argmax(world.axis[b]))]
            kind = pinocchio.JointModelFreeFlyer() if free else axes[letter]()
            start = pinocchio.SE3.Identity()
            if not free:
                start = pinocchio.SE3(np.eye(3), world.x0[b, :3])
            over = numbers[int(world.parent[b])]
            numbers[b] = model.addJoint(over, kind, start, f"j{b}")
            own = pinocchio.Inertia(world.mass[b], world.com[b], world.inertia[b])
            model.appendBodyToJoint(numbers[b], own, pinocchio.SE3.Identity())
        model.armature = world.armature.copy()
        self.model, self.data = model, model.createData()

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Change of velocities, rate of the turning base's axes, and coordinates."""
        theirs = np.concatenate([q[:3], q[4:7], q[3:4], q[7:]])
        change = np.eye(18)
        change[:3, :3] = pose_of(q[:7]).matrix()[:3, :3].T
        spin = np.zeros(18)
        spin[:3] = -np.cross(v[3:6], change[:3, :3] @ v[:3])
        return change, spin, theirs


def random_state(
    world: World, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = np.concatenate([rng.uniform(-1, 1, 3), rng.normal(size=4), rng.uniform(-2, 2, 12)])
    q[3:7] /= np.linalg.norm(q[3:7])
    v, a = rng.uniform(-1, 1, (2, world.nv))
    return q, v, a


def close(made: np.ndarray, expected: np.ndarray) -> None:
    """Asserts equality to 1e-11 of the largest number."""
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(made, expected, rtol=0.0, atol=1e-11 * scale)


@pytest.mark.parametrize(
    ("file", "free"),
    [
        ("panda_description/urdf/panda.urdf", False),
        ("solo_description/robots/solo12.urdf", True),
        ("double_pendulum_description/urdf/double_pendulum.urdf", False),
    ],
)
def test_traced_models_of_known_robots_are_pinocchios(file: str, free: bool) -> None:
    """M, CG and forward dynamics of three robots of example-robot-data to 1e-11."""
    assert (ROBOTS / file).exists()
    robot = Robot(file, floating=free)
    share_inertias(robot)
    world, model = robot.world, SymbolicModel(robot.world)
    rng = np.random.default_rng(8)
    q, theirs = robot.posture(rng)
    v, a = rng.uniform(-1, 1, (2, world.nv))
    change, spin = robot.to_theirs(q), np.zeros(world.nv)
    if free:
        spin[:3] = -np.cross(v[3:6], change[:3, :3] @ v[:3])
    upper = np.triu(pinocchio.crba(robot.model, robot.data, theirs))
    whole = change.T @ (upper + np.triu(upper, 1).T) @ change
    entries = [each for row in model.mass_matrix for each in row]
    close(model.evaluate(entries, q).reshape(world.nv, world.nv), whole)
    their_v = change @ v
    still = pinocchio.rnea(robot.model, robot.data, theirs, their_v, spin)
    close(model.evaluate(model.bias, q, v), change.T @ still)
    efforts = pinocchio.rnea(robot.model, robot.data, theirs, their_v, change @ a + spin)
    made = model.evaluate(model.forward_dynamics, q, v, effort=change.T @ efforts)
    given = pinocchio.aba(robot.model, robot.data, theirs, their_v, efforts)
    expected = np.linalg.solve(change, given - spin)
    close(whole @ made, whole @ expected)
    np.testing.assert_allclose(rnea(world, q, v, made), change.T @ efforts, atol=1e-9)
