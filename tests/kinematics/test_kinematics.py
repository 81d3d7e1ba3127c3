"""Poses, Jacobians and twists of every joint type agree with matrices and finite differences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork
from linkwork.core.errors import LinkworkError, NameNotFound
from linkwork.geometry import Pose
from linkwork.geometry.pose import Vec3, quat_from_axis
from linkwork.kinematics import forward, integrate, jacobian, velocities
from linkwork.kinematics.curve_kernels import rail_pose
from linkwork.model.parts import Anchor, Box, Element, Joint, Part, RailPiece
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

BEND = (
    RailPiece(0.4),
    RailPiece(0.6, turn=1.1),
    RailPiece(0.5, climb=-0.7),
    RailPiece(0.8, turn=-0.9, climb=0.6),
)
AXIS, ACROSS = (1.0, 2.0, -2.0), (2.0, 1.0, 2.0)


def the_joint(kind: str, name: str = "joint", from_: str = "base", to: str = "tip") -> Joint:
    """Returns a joint whose frame is skew in both elements."""
    return Joint(
        name,
        kind,
        from_,
        to,
        at=Pose.of((0.2, -0.1, 0.3), rpy=(0.4, -0.3, 0.8)),
        at_to=Pose.of((-0.15, 0.05, 0.1), rpy=(-0.7, 0.5, 0.2)),
        axis=AXIS,
        axis2=ACROSS,
        pitch=0.3 if kind == "screw" else 0.0,
        rail=BEND if kind == "rail" else (),
    )


KINDS = ["hinge", "slider", "ball", "universal", "cylindrical", "screw", "planar", "rail"]


def single(kind: str) -> World:
    """Returns two elements with one joint, skew in the world."""
    part = Part("p").add(
        Element("base", mass=1.0),
        Element("tip", (Box(size=(0.1, 0.2, 0.3), at=Pose((0.1, 0.2, 0.05))),), mass=1.0),
        Anchor("end", "tip", at=Pose.of((0.3, 0.1, -0.2), rpy=(0.1, 0.2, 0.3))),
    )
    base = "fixed"
    if kind == "free":
        part = Part("p").add(part.elements["tip"], part.anchors["end"])
        base = "free"
    else:
        part.add(the_joint(kind))
    place = Pose.of((0.5, 0.6, 0.7), rpy=(0.2, 0.3, 0.4))
    return compile_scene(Scene("s").place(part, at=place, base=base))


def every_joint() -> World:
    """Returns a floating chain with one joint of each type and elements between."""
    part = Part("p").add(Element("e0", (Box(size=(0.2, 0.1, 0.3)),), mass=1.0))
    for number, kind in enumerate(KINDS, start=1):
        shape = Box(size=(0.1, 0.2, 0.3), at=Pose((0.05 * number, 0.1, -0.1)))
        part.add(
            Element(f"e{number}", (shape,), mass=1.0),
            the_joint(kind, kind, f"e{number - 1}", f"e{number}"),
        )
    part.add(Anchor("end", f"e{len(KINDS)}", at=Pose((0.1, 0.2, 0.3))))
    return compile_scene(Scene("s").place(part, base="free", at=Pose((0.0, 0.0, 1.0))))


def somewhere(world: World, seed: int) -> np.ndarray:
    """Returns random coordinates, rails inside their length."""
    rng = np.random.default_rng(seed)
    q = integrate(world, world.q0, rng.uniform(-2.0, 2.0, world.nv), 1.0)
    for joint, body in zip(world.joints, world.joint_body, strict=True):
        if joint.type == "rail":
            q[world.qadr[body]] = rng.uniform(0.0, 2.3)
    return q


# --- independent reference: matrix exponentials


def expm(twist: list[float]) -> np.ndarray:
    """exp of a twist (v, ω) as 4×4 matrix, by its series with scaling and squaring."""
    vx, vy, vz, wx, wy, wz = twist
    a = np.array([[0, -wz, wy, vx], [wz, 0, -wx, vy], [-wy, wx, 0, vz], [0, 0, 0, 0]]) / 2**10
    made, term = np.eye(4), np.eye(4)
    for k in range(1, 12):
        term = term @ a / k
        made = made + term
    return np.linalg.matrix_power(made, 2**10)


def matrix(pose: Pose) -> np.ndarray:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = pose.matrix(), pose.xyz
    return made


def motion(joint: Joint, q: np.ndarray) -> np.ndarray:
    """Returns the joint's motion in its own frame at the values ``q``, as 4×4 matrix."""
    a, b = np.array(joint.axis), np.array(joint.axis2)
    zero = [0.0, 0.0, 0.0]
    if joint.type == "hinge":
        return expm([*zero, *(a * q[0])])
    if joint.type == "slider":
        return expm([*(a * q[0]), *zero])
    if joint.type == "universal":
        return expm([*zero, *(a * q[0])]) @ expm([*zero, *(b * q[1])])
    if joint.type == "cylindrical":
        return expm([*(a * q[0]), *(a * q[1])])
    if joint.type == "screw":
        return expm([*(a * q[0] * joint.pitch / (2 * math.pi)), *(a * q[0])])
    if joint.type == "planar":
        x = np.array([0.0, 0.0, 1.0]) - a[2] * a  # the frame's z projected into the plane
        x /= np.linalg.norm(x)
        return expm([*(x * q[0] + np.cross(a, x) * q[1]), *zero]) @ expm([*zero, *(a * q[2])])
    made, left = np.eye(4), float(q[0])
    for piece in joint.rail:
        part = min(left, piece.length) / piece.length
        made = made @ expm(
            [piece.length * part, 0.0, 0.0, 0.0, -piece.climb * part, piece.turn * part]
        )
        left -= piece.length
        if left <= 0.0:
            break
    return made


def body_matrix(pose: np.ndarray) -> np.ndarray:
    return matrix(Pose.of(pose[:3], quat=pose[3:]))


def element_matrix(world: World, q: np.ndarray, name: str) -> np.ndarray:
    body, local = world.frame(name)
    return body_matrix(forward(world, q)[body]) @ matrix(local)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ball"])
def test_a_joint_moves_as_its_twist_says(kind: str) -> None:
    """parent ∘ at ∘ exp(twist) ∘ at_to⁻¹, with skew joint frames."""
    world = single(kind)
    joint = the_joint(kind)
    base = matrix(Pose.of((0.5, 0.6, 0.7), rpy=(0.2, 0.3, 0.4)))
    for seed in range(10):
        q = somewhere(world, seed)
        expected = base @ matrix(joint.at) @ motion(joint, q) @ matrix(joint.at_to.inverse())
        np.testing.assert_allclose(element_matrix(world, q, "p/tip"), expected, atol=1e-12)
        end = expected @ matrix(Pose.of((0.3, 0.1, -0.2), rpy=(0.1, 0.2, 0.3)))
        np.testing.assert_allclose(element_matrix(world, q, "p/end"), end, atol=1e-12)


def test_a_ball_turns_about_its_center() -> None:
    """The quaternion is the rotation in the child's axes; its center is fixed."""
    world = single("ball")
    joint = the_joint("ball")
    base = Pose.of((0.5, 0.6, 0.7), rpy=(0.2, 0.3, 0.4))
    center = base @ joint.at
    for seed in range(10):
        q = somewhere(world, seed)
        tip = Pose.of(forward(world, q)[2, :3], quat=forward(world, q)[2, 3:])
        np.testing.assert_allclose(tip.apply(joint.at_to.xyz), center.xyz, atol=1e-12)
        expected = center.matrix() @ joint.at_to.matrix().T @ Pose.of(quat=q).matrix()
        np.testing.assert_allclose(tip.matrix(), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["ball", "free"])
def test_initial_values_of_turning_joints_are_rotation_vectors(kind: str) -> None:
    """rx, ry, rz are axis times angle in the joint's frame, as their signals show them."""
    turn = (0.3, -0.5, 0.7)
    value = turn if kind == "ball" else (0.1, 0.2, 0.3, *turn)
    at, at_to = Pose.of((0.2, 0, 0.3), rpy=(0.4, -0.3, 0.8)), Pose.of((0, 0, 1), rpy=(1, 0.5, 0.2))
    part = Part("p").add(
        Element("base", mass=1.0),
        Element("tip", mass=1.0),
        Joint("j", kind, "base", "tip", at=at, at_to=at_to, value=value),
    )
    world = compile_scene(Scene("s").place(part))
    angle = math.sqrt(sum(c * c for c in turn))
    inner = Pose.of(value[:-3] or (0, 0, 0), quat=quat_from_axis(turn, angle))
    expected = matrix(at) @ matrix(inner) @ matrix(at_to.inverse())
    np.testing.assert_allclose(element_matrix(world, world.q0, "p/tip"), expected, atol=1e-12)


# --- Jacobians and twists


def turned(plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
    """Returns the small rotation vector between two rotation matrices, world axes."""
    r = plus @ minus.T
    return 0.5 * np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])


def differences(world: World, q: np.ndarray, frame: str, point: Vec3) -> np.ndarray:
    """Returns the Jacobian by central differences through integrate and forward."""
    h = 1e-5
    made = np.zeros((6, world.nv))
    for i in range(world.nv):
        v = np.zeros(world.nv)
        v[i] = 1.0
        plus = element_matrix(world, integrate(world, q, v, h), frame)
        minus = element_matrix(world, integrate(world, q, v, -h), frame)
        made[:3, i] = ((plus - minus) @ [*point, 1.0])[:3] / (2 * h)
        made[3:, i] = turned(plus[:3, :3], minus[:3, :3]) / (2 * h)
    return made


@pytest.mark.parametrize("kind", [*KINDS, "free"])
def test_the_jacobian_of_each_joint_is_its_derivative(kind: str) -> None:
    """Geometric Jacobian, world axes, of elements, anchors and points on them."""
    world = single(kind)
    for seed in range(5):
        q = somewhere(world, seed)
        for frame, point in (("p/tip", (0, 0, 0)), ("p/end", (0, 0, 0)), ("p/end", (1, -2, 3))):
            made = jacobian(world, q, frame, point=point)
            expected = differences(world, q, frame, point)
            np.testing.assert_allclose(made, expected, atol=1e-8)


@pytest.mark.capability(86, 109)
def test_a_floating_chain_of_every_joint_has_the_derivative_as_jacobian() -> None:
    """One tree with every joint type on a free base: Jacobians and all bodies' twists."""
    world = every_joint()
    assert {joint.type for joint in world.joints} == {*KINDS, "free"}
    for seed in range(5):
        q = somewhere(world, seed)
        for frame in ("p/end", "p/e4", "p/e0"):
            expected = differences(world, q, frame, (0.1, 0.2, 0.3))
            made = jacobian(world, q, frame, point=(0.1, 0.2, 0.3), pose=forward(world, q))
            np.testing.assert_allclose(made, expected, atol=1e-8)
        v = np.random.default_rng(seed).uniform(-1, 1, world.nv)
        twist = velocities(world, q, v, forward(world, q))
        for number in range(len(KINDS) + 1):
            name = f"p/e{number}"
            body, local = world.frame(name)
            assert local.is_identity()
            center = world.com[body]
            expected = jacobian(world, q, name, point=center) @ v
            np.testing.assert_allclose(twist[body], expected, atol=1e-12)


def test_twists_are_the_rates_of_poses() -> None:
    """Centres of mass and rotations move as the twists say, through integrate."""
    world, h = every_joint(), 1e-5
    q, v = somewhere(world, 3), np.random.default_rng(3).uniform(-1, 1, world.nv)
    twist = velocities(world, q, v, forward(world, q))
    plus, minus = (forward(world, integrate(world, q, v, s * h)) for s in (1.0, -1.0))
    for body in range(1, world.nb):
        a, b = body_matrix(plus[body]), body_matrix(minus[body])
        center = [*world.com[body], 1.0]
        np.testing.assert_allclose(twist[body, :3], ((a - b) @ center)[:3] / (2 * h), atol=1e-8)
        np.testing.assert_allclose(
            twist[body, 3:], turned(a[:3, :3], b[:3, :3]) / (2 * h), atol=1e-8
        )
    np.testing.assert_array_equal(twist[0], 0.0)


def test_columns_of_joints_that_do_not_carry_a_frame_are_zero() -> None:
    """A sibling branch has no effect, and the world's frame never moves."""
    part = Part("p").add(Element("base", mass=1.0))
    for side in ("left", "right"):
        part.add(Element(side, mass=1.0), Joint(f"to_{side}", "hinge", "base", side))
    world = compile_scene(Scene("s").place(part))
    made = jacobian(world, world.q0, "p/left", point=(1, 0, 0))
    np.testing.assert_array_equal(made[:, world.single_dof("p/to_right")], 0.0)
    assert np.abs(made[:, world.single_dof("p/to_left")]).max() == 1.0
    assert not jacobian(world, world.q0, "p/base").any()


# --- rails


def along(fragments: list[tuple[float, float, float]], s: float) -> Pose:
    out, a, b = np.empty(7), np.empty(7), np.empty(7)
    rail_pose(np.array(fragments, float), 0, len(fragments), s, out, a, b)
    return Pose.of(out[:3], quat=out[3:])


def test_a_quarter_turn_is_an_arc_of_its_radius() -> None:
    """Turning left by 90° on radius 2 ends at (2, 2, 0), heading +y; climbing ends at (2, 0, 2)."""
    left = along([(math.pi, math.pi / 2, 0.0)], math.pi)
    np.testing.assert_allclose(left.xyz, [2, 2, 0], atol=1e-12)
    np.testing.assert_allclose(left.rotate((1, 0, 0)), [0, 1, 0], atol=1e-12)
    up = along([(math.pi, 0.0, math.pi / 2)], math.pi)
    np.testing.assert_allclose(up.xyz, [2, 0, 2], atol=1e-12)
    np.testing.assert_allclose(up.rotate((1, 0, 0)), [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(up.rotate((0, 0, 1)), [-1, 0, 0], atol=1e-12)


def test_four_quarter_turns_close_a_circuit() -> None:
    """Straights of 1 and quarter turns of radius 0.5 return to the start."""
    lap = [(1.0, 0.0, 0.0), (math.pi / 4, math.pi / 2, 0.0)] * 4
    end = along(lap, sum(piece[0] for piece in lap))
    np.testing.assert_allclose(end.xyz, [0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(end.rotate((1, 0, 0)), [1, 0, 0], atol=1e-12)


@given(st.floats(-6.0, 6.0), st.floats(-6.0, 6.0), st.floats(0.01, 5.0), st.floats(0.0, 1.0))
def test_a_piece_is_an_arc_in_a_tilted_plane(
    turn: float, climb: float, length: float, share: float
) -> None:
    """ρ sin α forward and ρ (1 − cos α) toward the center, left and up by the rates."""
    total = math.hypot(turn, climb)
    pose = along([(length, turn, climb)], share * length)
    assert math.dist(pose.xyz, (0, 0, 0)) <= share * length + 1e-12
    if total < 1e-9:
        np.testing.assert_allclose(pose.xyz, [share * length, 0, 0], atol=1e-8)
        return
    # 1 − cos α loses digits for small angles; more digits give the reference.
    alpha = np.longdouble(total) * np.longdouble(share)
    rho = np.longdouble(length) / np.longdouble(total)
    inward = rho * 2 * np.sin(alpha / 2) ** 2
    expected = [rho * np.sin(alpha), inward * turn / total, inward * climb / total]
    np.testing.assert_allclose(pose.xyz, np.array(expected, float), rtol=1e-10, atol=1e-14)


def test_beyond_its_ends_a_rail_runs_straight_on() -> None:
    """Before 0 along −x, past the end along the last heading, continuously."""
    bend = [(piece.length, piece.turn, piece.climb) for piece in BEND]
    whole = sum(piece[0] for piece in bend)
    np.testing.assert_allclose(along(bend, -0.3).array(), [-0.3, 0, 0, 1, 0, 0, 0], atol=1e-15)
    end = along(bend, whole)
    np.testing.assert_allclose(along(bend, whole + 0.7).xyz, end.apply((0.7, 0, 0)), atol=1e-12)
    seam = 0.0
    for length, _, _ in bend:
        seam += length
        before, after = along(bend, seam - 1e-12), along(bend, seam + 1e-12)
        np.testing.assert_allclose(before.array(), after.array(), atol=1e-11)


# --- coordinates


@given(st.lists(st.floats(-50.0, 50.0), min_size=6, max_size=6), st.integers(0, 1000))
def test_integrate_keeps_quaternions_of_length_one(speeds: list[float], seed: int) -> None:
    """At any velocity and step."""
    world = single("free")
    q = somewhere(world, seed)
    for h in (1e-4, 0.01, 1.0, 30.0):
        q = integrate(world, q, np.array(speeds), h)
        assert math.sqrt(q[3:] @ q[3:]) == pytest.approx(1.0, abs=4e-16)


@pytest.mark.parametrize("kind", [*KINDS, "free"])
def test_even_motion_can_be_integrated_in_pieces(kind: str) -> None:
    """At constant velocity three steps of h equal one of 3h; reversed it returns."""
    world = single(kind)
    q, v = somewhere(world, 1), np.linspace(-0.8, 0.9, world.nv + 1)[1:]
    steps = q
    for _ in range(3):
        steps = integrate(world, steps, v, 0.1)
    whole = integrate(world, q, v, 0.3)
    np.testing.assert_allclose(steps, whole, atol=1e-14)
    np.testing.assert_allclose(integrate(world, whole, -v, 0.3), q, atol=1e-14)


def test_lengths_that_do_not_fit_are_refused() -> None:
    """Compiled code would read beyond the end of short arrays."""
    world = every_joint()
    q, v, pose = world.q0, np.zeros(world.nv), forward(world, world.q0)
    with pytest.raises(LinkworkError, match=rf"q must have {world.nq} numbers, not shape"):
        forward(world, q[:-1])
    with pytest.raises(LinkworkError, match=r"out must have .* float64"):
        forward(world, q, np.empty((1, 7)))
    with pytest.raises(LinkworkError, match=rf"v must have {world.nv} numbers"):
        integrate(world, q, v[1:], 0.1)
    with pytest.raises(LinkworkError, match=rf"v must have {world.nv} numbers"):
        velocities(world, q, np.zeros((2, world.nv)), pose)
    with pytest.raises(LinkworkError, match=rf"pose must have {world.nb}×7 numbers"):
        velocities(world, q, v, pose[:2])
    with pytest.raises(LinkworkError, match=rf"pose must have {world.nb}×7 numbers"):
        jacobian(world, q, "p/end", pose=pose[:2])
    with pytest.raises(NameNotFound, match=r"no element named 'p/ende'. Did you mean 'p/end'"):
        jacobian(world, q, "p/ende")


@pytest.mark.capability(109)
def test_forward_kinematics_of_a_kit_arm_is_its_drawing() -> None:
    """The fingertips of the gripper arm are where Rocon's figure has them, by trigonometry."""
    world = linkwork.compile_scene(linkwork.load_scene("gripper/follow"))
    q = world.q0.copy()
    lift, spread = math.radians(30), math.radians(20)
    for name, angle in (("arm/J1", lift), ("arm/J2", spread), ("arm/J3", spread)):
        q[world.qadr[world.joint_body[world.joint(name)]]] = angle
    poses = linkwork.forward(world, q)
    for name, side in (("arm/E4", 1.0), ("arm/E5", -1.0)):
        # along the arm 0.34, sideways ±0.03, then 0.14 of finger spread by ±20°
        reach = 0.34 + 0.14 * math.cos(spread)
        across = side * (0.03 + 0.14 * math.sin(spread))
        tip = [reach * math.cos(lift), across, 0.08 + 0.24 + reach * math.sin(lift)]
        body = world.body(name)
        finger = Pose.of(poses[body, :3], quat=poses[body, 3:])
        np.testing.assert_allclose(finger.apply((0.14, 0, 0)), tip, atol=1e-12)
