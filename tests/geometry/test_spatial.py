"""Poses and inertias obey their algebra, and the compiled forms agree with matrices."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.core.errors import LinkworkError
from linkwork.geometry import Inertia, Pose, kernels
from linkwork.geometry.inertia import combine
from linkwork.geometry.pose import (
    quat_between,
    quat_from_axis,
    quat_from_matrix,
    quat_multiply,
    unit,
)

ANGLE = st.floats(-2 * math.pi, 2 * math.pi)
LENGTH = st.floats(-10.0, 10.0)
VECTOR = st.tuples(LENGTH, LENGTH, LENGTH)
POSE = st.builds(lambda xyz, rpy: Pose.of(xyz, rpy=rpy), VECTOR, st.tuples(ANGLE, ANGLE, ANGLE))
DIRECTION = VECTOR.filter(lambda v: math.hypot(*v) > 1e-3)


def homogeneous(pose: Pose) -> np.ndarray:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = pose.matrix(), pose.xyz
    return made


def cube_cloud(mass: float, size: tuple[float, float, float], pose: Pose) -> np.ndarray:
    """Eight point masses with the mass, center and inertia of a box: rows x, y, z, m."""
    half = np.array(size) / (2.0 * math.sqrt(3.0))
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    positions = corners @ pose.matrix().T + pose.xyz
    return np.column_stack([positions, np.full(8, mass / 8.0)])


def of_cloud(cloud: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, center and inertia about the center of point masses, by the definition."""
    mass = cloud[:, 3].sum()
    com = cloud[:, 3] @ cloud[:, :3] / mass
    matrix = np.zeros((3, 3))
    for *place, m in cloud:
        r = np.array(place) - com
        matrix += m * (r @ r * np.eye(3) - np.outer(r, r))
    return mass, com, matrix


BOX = st.tuples(
    st.floats(0.01, 10.0), st.tuples(*[st.floats(0.01, 2.0)] * 3), POSE
)  # mass, size, pose


def box_inertia(mass: float, size: tuple[float, float, float], pose: Pose) -> Inertia:
    x, y, z = (mass * c * c / 12.0 for c in size)
    return Inertia.of(mass, matrix=np.diag([y + z, x + z, x + y])).moved(pose)


def assert_same(one: Inertia, other: Inertia, tolerance: float = 1e-9) -> None:
    assert one.mass == pytest.approx(other.mass, rel=1e-12)
    scale = 1.0 + float(np.abs(other.matrix).max())
    np.testing.assert_allclose(one.com, other.com, atol=tolerance)
    np.testing.assert_allclose(one.matrix, other.matrix, atol=tolerance * scale)


@given(POSE, POSE)
def test_composing_poses_multiplies_their_matrices(a: Pose, b: Pose) -> None:
    """a @ b is the product of the homogeneous matrices."""
    np.testing.assert_allclose(homogeneous(a @ b), homogeneous(a) @ homogeneous(b), atol=1e-12)


@given(POSE, POSE, POSE)
def test_composition_is_associative(a: Pose, b: Pose, c: Pose) -> None:
    """(a @ b) @ c is a @ (b @ c)."""
    np.testing.assert_allclose(homogeneous((a @ b) @ c), homogeneous(a @ (b @ c)), atol=1e-12)


@given(POSE, VECTOR)
def test_inverse_undoes(pose: Pose, point: tuple[float, float, float]) -> None:
    """The inverse maps every point back and composes to the identity on both sides."""
    np.testing.assert_allclose(pose.inverse().apply(pose.apply(point)), point, atol=1e-12)
    np.testing.assert_allclose(homogeneous(pose @ pose.inverse()), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(homogeneous(pose.inverse() @ pose), np.eye(4), atol=1e-12)


@given(POSE, VECTOR)
def test_apply_and_rotate_agree_with_the_matrix(
    pose: Pose, point: tuple[float, float, float]
) -> None:
    """A point is rotated and translated, a direction only rotated."""
    matrix = pose.matrix()
    np.testing.assert_allclose(pose.apply(point), matrix @ point + pose.xyz, atol=1e-12)
    np.testing.assert_allclose(pose.rotate(point), matrix @ point, atol=1e-12)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(matrix) == pytest.approx(1.0)


@given(st.tuples(ANGLE, ANGLE, ANGLE))
def test_rpy_turns_about_fixed_axes(rpy: tuple[float, float, float]) -> None:
    """The rotation is Rz(yaw) Ry(pitch) Rx(roll)."""
    (r, p, y) = rpy
    rx = np.array([[1, 0, 0], [0, math.cos(r), -math.sin(r)], [0, math.sin(r), math.cos(r)]])
    ry = np.array([[math.cos(p), 0, math.sin(p)], [0, 1, 0], [-math.sin(p), 0, math.cos(p)]])
    rz = np.array([[math.cos(y), -math.sin(y), 0], [math.sin(y), math.cos(y), 0], [0, 0, 1]])
    np.testing.assert_allclose(Pose.of(rpy=rpy).matrix(), rz @ ry @ rx, atol=1e-12)


@given(
    ANGLE,
    st.one_of(ANGLE, st.sampled_from([math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-9])),
    ANGLE,
)
def test_rpy_reads_back_the_rotation(roll: float, pitch: float, yaw: float) -> None:
    """The angles give the same rotation again, also where pitch is ±90° (gimbal lock)."""
    pose = Pose.of(rpy=(roll, pitch, yaw))
    np.testing.assert_allclose(Pose.of(rpy=pose.rpy()).matrix(), pose.matrix(), atol=1e-12)


@given(DIRECTION, DIRECTION)
def test_the_shortest_turn_between_directions(
    a: tuple[float, float, float], b: tuple[float, float, float]
) -> None:
    """It maps a to b, by the angle between them."""
    turn = Pose(quat=quat_between(a, b))
    np.testing.assert_allclose(turn.rotate(unit(a)), unit(b), atol=1e-6)
    angle = 2.0 * math.acos(min(1.0, abs(turn.quat[0])))
    between = math.acos(max(-1.0, min(1.0, float(np.dot(unit(a), unit(b))))))
    assert angle == pytest.approx(between, abs=1e-5)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, -1), (0.6, 0.8, 0)])
def test_the_turn_to_the_opposite_direction_is_half_a_turn(
    axis: tuple[float, float, float],
) -> None:
    """The axis is not unique, but a valid one is chosen."""
    turn = Pose(quat=quat_between(axis, tuple(-c for c in axis)))
    np.testing.assert_allclose(turn.rotate(axis), [-c for c in axis], atol=1e-12)


def test_a_pose_needs_a_unit_quaternion() -> None:
    """Pose rejects other quaternions; Pose.of normalizes them, except zero and infinite ones."""
    with pytest.raises(LinkworkError, match=r"length one.*Pose\.of scales"):
        Pose(quat=(1.0, 1.0, 0.0, 0.0))
    with pytest.raises(LinkworkError, match="finite position"):
        Pose((math.nan, 0.0, 0.0))
    half = math.sqrt(0.5)
    assert Pose.of(quat=(3, 3, 0, 0)).quat == pytest.approx((half, half, 0, 0))
    with pytest.raises(LinkworkError, match="must not be zero"):
        Pose.of(quat=(0, 0, 0, 0))
    with pytest.raises(LinkworkError, match="finite"):
        Pose.of((0, 0, math.inf))
    with pytest.raises(LinkworkError, match="not all zero"):
        quat_from_axis((0, 0, 0), 1.0)


@given(POSE)
def test_scaling_twice_changes_no_bit(pose: Pose) -> None:
    """A quaternion made by Pose.of reads back bit-exact."""
    once = Pose.of(pose.xyz, quat=pose.quat)
    assert Pose.of(once.xyz, quat=once.quat) == once
    assert Pose.of(once.array()[:3], quat=once.array()[3:]) == once


# --- compiled forms


@given(POSE, POSE, VECTOR)
def test_kernels_agree_with_poses(a: Pose, b: Pose, point: tuple[float, float, float]) -> None:
    """compose, relative, rotate, rotate_back and quat_mul are the authoring forms, compiled."""
    out = np.empty(7)
    kernels.compose(a.array(), b.array(), out)
    np.testing.assert_allclose(out, (a @ b).array(), atol=1e-12)
    kernels.relative(a.array(), b.array(), out)
    expected = (a.inverse() @ b).array()
    np.testing.assert_allclose(out, expected, atol=1e-12)
    np.testing.assert_allclose(kernels.rotate(np.array(a.quat), *point), a.rotate(point))
    back = kernels.rotate_back(np.array(a.quat), *point)
    np.testing.assert_allclose(back, a.inverse().rotate(point), atol=1e-12)
    product = np.empty(4)
    kernels.quat_mul(np.array(a.quat), np.array(b.quat), product)
    np.testing.assert_allclose(product, quat_multiply(a.quat, b.quat), atol=1e-12)


@given(DIRECTION, st.floats(-math.pi + 1e-6, math.pi - 1e-6))
def test_rotation_vectors_and_quaternions_agree(
    axis: tuple[float, float, float], angle: float
) -> None:
    """A rotation vector is axis times angle; reading it from the quaternion gives it back."""
    x, y, z = unit(axis)
    quat, other = np.empty(4), np.empty(4)
    kernels.rotvec_quat(x * angle, y * angle, z * angle, quat)
    kernels.axis_quat(x, y, z, angle, other)
    np.testing.assert_allclose(quat, other, atol=1e-14)
    np.testing.assert_allclose(quat, quat_from_axis(axis, angle), atol=1e-14)
    expected = [x * angle, y * angle, z * angle]
    np.testing.assert_allclose(kernels.quat_rotvec(quat), expected, atol=1e-9)
    np.testing.assert_allclose(kernels.quat_rotvec(-quat), expected, atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-4])
def test_small_rotations_keep_their_size(angle: float) -> None:
    """Near zero the quaternion is (1, angle/2) and converts back without loss."""
    quat = np.empty(4)
    kernels.rotvec_quat(angle, 0.0, 0.0, quat)
    assert quat[1] == pytest.approx(math.sin(angle / 2), rel=1e-15)
    assert kernels.quat_rotvec(quat)[0] == pytest.approx(angle, rel=1e-12)


def test_normalize_scales_and_mends_zero() -> None:
    """Any quaternion is scaled to length one; zero becomes the identity."""
    quat = np.array([0.0, 3.0, 0.0, -4.0])
    kernels.normalize(quat)
    np.testing.assert_allclose(quat, [0.0, 0.6, 0.0, -0.8])
    quat = np.zeros(4)
    kernels.normalize(quat)
    np.testing.assert_array_equal(quat, [1.0, 0.0, 0.0, 0.0])


# --- inertias


@given(st.lists(BOX, min_size=1, max_size=4))
def test_combined_inertias_are_those_of_all_their_points(
    boxes: list[tuple[float, tuple[float, float, float], Pose]],
) -> None:
    """Rigidly joined boxes have the inertia of all their point masses together."""
    made = combine(box_inertia(*box) for box in boxes)
    mass, com, matrix = of_cloud(np.vstack([cube_cloud(*box) for box in boxes]))
    assert_same(made, Inertia(mass, com, matrix))
    assert made.problem() == ""


@given(BOX, BOX, BOX)
def test_combining_is_associative_and_commutative(a: tuple, b: tuple, c: tuple) -> None:
    """The order of joining does not matter."""
    one, two, three = (box_inertia(*box) for box in (a, b, c))
    whole = combine([one, two, three])
    assert_same(combine([combine([one, two]), three]), whole)
    assert_same(combine([one, combine([two, three])]), whole)
    assert_same(combine([three, one, two]), whole)


@given(BOX, VECTOR)
def test_parallel_axis(box: tuple, point: tuple[float, float, float]) -> None:
    """The inertia about any point is that about the center plus m (r² 1 − r rᵀ)."""
    inertia = box_inertia(*box)
    direct = np.zeros((3, 3))
    for *place, m in cube_cloud(*box):
        r = np.array(place) - point
        direct += m * (r @ r * np.eye(3) - np.outer(r, r))
    scale = 1.0 + np.abs(direct).max()
    np.testing.assert_allclose(inertia.about(point), direct, atol=1e-9 * scale)
    np.testing.assert_allclose(inertia.about(inertia.com), inertia.matrix, atol=1e-12)


@given(BOX, POSE, POSE)
def test_moving_an_inertia_follows_the_poses(box: tuple, a: Pose, b: Pose) -> None:
    """Moving by b and then by a is moving by a @ b; the inverse restores it."""
    inertia = box_inertia(*box)
    assert_same(inertia.moved(b).moved(a), inertia.moved(a @ b))
    assert_same(inertia.moved(a).moved(a.inverse()), inertia)


def test_nothing_and_massless_pieces_combine() -> None:
    """No bodies have zero mass; massless ones keep their center and add nothing to others."""
    assert combine([]) == Inertia.of(0.0)
    middle = combine([Inertia.of(0.0, (1, 0, 0)), Inertia.of(0.0, (3, 0, 0))])
    assert (middle.mass, middle.com.tolist()) == (0.0, [2.0, 0.0, 0.0])
    heavy = Inertia.of(2.0, (1, 2, 3), np.diag([1, 1, 1]))
    assert_same(combine([heavy, Inertia.of(0.0, (9, 9, 9))]), heavy)


@pytest.mark.parametrize(
    ("inertia", "words"),
    [
        (Inertia.of(-1.0), "mass is negative"),
        (Inertia.of(math.nan), "finite"),
        (Inertia.of(1.0, (0, math.inf, 0)), "finite"),
        (Inertia.of(1.0, matrix=np.diag([1, 1, math.nan])), "finite"),
        (Inertia.of(1.0, matrix=[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
        (Inertia.of(1.0, matrix=np.diag([-1, 1, 1])), "principal axis is negative"),
        (Inertia.of(1.0, matrix=np.diag([1, 1, 3])), "add up to at least the largest"),
        (Inertia.of(1.0, matrix=[[2, 1.9, 0], [1.9, 2, 0], [0, 0, 1]]), "no real body"),
    ],
)
def test_what_no_body_can_have_is_named(inertia: Inertia, words: str) -> None:
    """An impossible mass or inertia is described in words."""
    assert words in inertia.problem()


def test_bodies_at_the_edge_of_the_possible_are_fine() -> None:
    """Points, rods and thin plates are valid."""
    assert Inertia.of(1.0).problem() == ""
    assert Inertia.of(1.0, matrix=np.diag([1, 1, 0])).problem() == ""
    assert Inertia.of(1.0, matrix=np.diag([1, 1, 2])).problem() == ""


def test_inertias_compare_by_value() -> None:
    """Equal values are equal and hash alike; different values differ."""
    made = [Inertia.of(1.0, (0, 0, 1), np.eye(3)) for _ in range(2)]
    assert made[0] == made[1]
    assert len({hash(one) for one in made}) == 1
    changed = [Inertia.of(2.0, (0, 0, 1), np.eye(3)), Inertia.of(1.0, (0, 0, 2), np.eye(3))]
    changed.append(Inertia.of(1.0, (0, 0, 1), 2 * np.eye(3)))
    assert all(one != made[0] for one in changed)
    assert all(one != two for one, two in pairwise(changed))
    assert made[0] != "an inertia"


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.4, 3.0, math.pi])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -2, 0.5)])
def test_a_rotation_comes_back_from_its_matrix(
    axis: tuple[float, float, float], angle: float
) -> None:
    """Including half turns, where the quaternion's w is 0."""
    matrix = Pose(quat=quat_from_axis(axis, angle)).matrix()
    np.testing.assert_allclose(Pose(quat=quat_from_matrix(matrix)).matrix(), matrix, atol=1e-12)
