"""Pose: position and unit quaternion of a frame in another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError

#: Tolerance of unit length, the size of rounding errors. A second normalization then changes no
#: bit, so that values read back from a file are identical.
_ROUNDING = 1e-15

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Numbers = Sequence[float] | np.ndarray


def quat_multiply(a: Quat, b: Quat) -> Quat:
    """Hamilton product of two quaternions (wxyz)."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quat_rotate(q: Quat, v: Vec3) -> Vec3:
    """Rotates ``v`` by the unit quaternion ``q``."""
    w, x, y, z = q
    tx = 2.0 * (y * v[2] - z * v[1])
    ty = 2.0 * (z * v[0] - x * v[2])
    tz = 2.0 * (x * v[1] - y * v[0])
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


def quat_from_rpy(roll: float, pitch: float, yaw: float) -> Quat:
    """Fixed-axis xyz angles [rad] to a quaternion, Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def quat_from_axis(axis: Numbers, angle: float) -> Quat:
    """Returns the quaternion of a rotation by ``angle`` [rad] about ``axis`` (nonzero length)."""
    x, y, z = unit(axis)
    s = math.sin(angle / 2)
    return (math.cos(angle / 2), x * s, y * s, z * s)


def quat_from_matrix(r: np.ndarray) -> Quat:
    """Returns the quaternion wxyz of a rotation, from its largest component (Shepperd)."""
    squares = [
        1.0 + r[0, 0] + r[1, 1] + r[2, 2],
        1.0 + r[0, 0] - r[1, 1] - r[2, 2],
        1.0 - r[0, 0] + r[1, 1] - r[2, 2],
        1.0 - r[0, 0] - r[1, 1] + r[2, 2],
    ]
    largest = int(np.argmax(squares))
    root = 2.0 * math.sqrt(squares[largest])
    x, y, z = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    xy, xz, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    rows = [
        (squares[0], x, y, z),
        (x, squares[1], xy, xz),
        (y, xy, squares[2], yz),
        (z, xz, yz, squares[3]),
    ]
    w, qx, qy, qz = (float(c) / root for c in rows[largest])
    return (w, qx, qy, qz)


def matrix_from_quat(quat: Numbers) -> np.ndarray:
    """Returns the rotation matrix (3×3) of a unit quaternion wxyz."""
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quat_between(a: Numbers, b: Numbers) -> Quat:
    """Returns the shortest rotation from direction ``a`` to direction ``b``."""
    ax, ay, az = unit(a)
    bx, by, bz = unit(b)
    dot = ax * bx + ay * by + az * bz
    if dot < -1.0 + 1e-12:
        other = (1.0, 0.0, 0.0) if abs(ax) < 0.9 else (0.0, 1.0, 0.0)
        cross = np.cross((ax, ay, az), other)
        return quat_from_axis(tuple(float(c) for c in cross), math.pi)
    cross = (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    q = (1.0 + dot, *cross)
    n = math.sqrt(sum(c * c for c in q))
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)


def cross(a: Vec3, b: Vec3) -> Vec3:
    """Returns the cross product a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(v: Numbers) -> Vec3:
    """Returns ``v`` scaled to length one.

    Raises:
        LinkworkError: If ``v`` is zero or not finite.
    """
    x, y, z = (float(c) for c in v)
    n = math.sqrt(x * x + y * y + z * z)
    if not math.isfinite(n) or n < 1e-12:
        raise LinkworkError(f"a direction must be three numbers that are not all zero, not {v!r}.")
    if abs(n - 1.0) <= _ROUNDING:
        return (x, y, z)
    return (x / n, y / n, z / n)


def _checked_numbers(values: Numbers, count: int, what: str) -> list[float]:
    """Returns ``count`` numbers.

    Raises:
        LinkworkError: If their count is different or they are not numbers.
    """
    try:
        made = [float(c) for c in values]
    except (TypeError, ValueError):
        made = []
    if len(made) != count:
        raise LinkworkError(f"{what} has {count} numbers, not {values!r}.")
    return made


@dataclass(frozen=True, slots=True)
class Pose:
    """Position [m] and unit quaternion (wxyz) of a frame in its parent's frame."""

    xyz: Vec3 = (0.0, 0.0, 0.0)
    quat: Quat = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        w, x, y, z = self.quat
        length = w * w + x * x + y * y + z * z
        if not abs(length - 1.0) < 1e-6 or not all(map(math.isfinite, self.xyz)):
            raise LinkworkError(
                f"a pose needs a finite position and a quaternion of length one, not "
                f"{list(self.xyz)}, {list(self.quat)}.",
                hint="Pose.of scales a quaternion to length one.",
            )

    @classmethod
    def of(
        cls,
        xyz: Numbers = (0.0, 0.0, 0.0),
        *,
        rpy: Numbers | None = None,
        quat: Numbers | None = None,
    ) -> Pose:
        """Returns a pose from position [m] and fixed-axis xyz angles [rad] or a quaternion wxyz."""
        x, y, z = _checked_numbers(xyz, 3, "a position [m]")
        q: Quat = (1.0, 0.0, 0.0, 0.0)
        if quat is not None:
            w, qx, qy, qz = _checked_numbers(quat, 4, "a quaternion wxyz")
            n = math.sqrt(w * w + qx * qx + qy * qy + qz * qz)
            if not math.isfinite(n) or n < 1e-9:
                raise LinkworkError(f"a quaternion must not be zero: {list(quat)}.")
            if abs(n - 1.0) <= _ROUNDING:
                n = 1.0
            q = (w / n, qx / n, qy / n, qz / n)
        elif rpy is not None:
            roll, pitch, yaw = _checked_numbers(rpy, 3, "rpy [rad]")
            q = quat_from_rpy(roll, pitch, yaw)
        if not all(math.isfinite(c) for c in (x, y, z, *q)):
            raise LinkworkError(f"a pose must be made of finite numbers, not {list(xyz)}, {q}.")
        return cls((x, y, z), q)

    def __matmul__(self, other: Pose) -> Pose:
        """Composes two poses: ``other``, given in this frame, in the parent's frame."""
        rotated = quat_rotate(self.quat, other.xyz)
        q = quat_multiply(self.quat, other.quat)
        n = math.sqrt(sum(c * c for c in q))
        return Pose(
            (self.xyz[0] + rotated[0], self.xyz[1] + rotated[1], self.xyz[2] + rotated[2]),
            (q[0] / n, q[1] / n, q[2] / n, q[3] / n),
        )

    def inverse(self) -> Pose:
        """Returns the pose of the parent's frame in this one."""
        w, x, y, z = self.quat
        q = (w, -x, -y, -z)
        p = quat_rotate(q, self.xyz)
        return Pose((-p[0], -p[1], -p[2]), q)

    def apply(self, point: Numbers) -> Vec3:
        """Returns a point [m] of this frame in the parent's frame."""
        r = quat_rotate(self.quat, (float(point[0]), float(point[1]), float(point[2])))
        return (self.xyz[0] + r[0], self.xyz[1] + r[1], self.xyz[2] + r[2])

    def rotate(self, direction: Numbers) -> Vec3:
        """Returns a direction of this frame in the parent's frame."""
        x, y, z = direction
        return quat_rotate(self.quat, (float(x), float(y), float(z)))

    def matrix(self) -> np.ndarray:
        """Returns the rotation as a 3x3 matrix."""
        columns = [self.rotate(e) for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
        return np.array(columns).T

    def rpy(self) -> Vec3:
        """Fixed-axis xyz angles [rad] of the rotation, exact at pitch ±90° too.

        Yaw is computed first and removed before roll, so that both are consistent even where only
        yaw ∓ roll is defined.
        """
        (m00, m01, m02), (m10, m11, m12), (m20, _, _) = self.matrix().tolist()
        yaw = math.atan2(m10, m00)
        c, s = math.cos(yaw), math.sin(yaw)
        pitch = math.atan2(-m20, c * m00 + s * m10)
        roll = math.atan2(s * m02 - c * m12, c * m11 - s * m01)
        return (roll, pitch, yaw)

    def array(self) -> np.ndarray:
        """Seven numbers: position, then quaternion wxyz."""
        return np.array([*self.xyz, *self.quat])

    def is_identity(self) -> bool:
        """Whether the pose is exactly the identity, except for the quaternion's sign."""
        return not any((*self.xyz, *self.quat[1:]))


IDENTITY = Pose()
