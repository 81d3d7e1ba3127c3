"""Joint: a movable connection between two elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from linkwork.core.errors import LinkworkError, Origin, PartError, suggestion
from linkwork.core.forms import Key
from linkwork.core.value_types import NumberType
from linkwork.geometry.pose import IDENTITY, Pose, Vec3, unit
from linkwork.model.parts.joint_attribute import attribute, declared_attributes
from linkwork.model.parts.native_attributes import MUJOCO_JOINT, check_native_attributes
from linkwork.model.parts.spec import Spec, check_name


@dataclass(frozen=True)
class JointType:
    """Properties of a joint type.

    Attributes:
        code: Number used by the kernels.
        nq: Coordinates.
        nv: Degrees of freedom.
        dofs: Name of each degree of freedom; angles in radians, lengths in meters.
    """

    code: int
    nq: int
    nv: int
    dofs: tuple[str, ...]

    def is_angle(self, dof: int) -> bool:
        """Whether degree of freedom ``dof`` is a rotation [rad] rather than a length [m]."""
        return self.dofs[dof][0] in "ar"


#: Joint types. ``free`` and ``ball`` have quaternions in ``q``.
JOINT_TYPES: dict[str, JointType] = {
    "fixed": JointType(0, 0, 0, ()),
    "hinge": JointType(1, 1, 1, ("angle",)),
    "slider": JointType(2, 1, 1, ("position",)),
    "ball": JointType(3, 4, 3, ("rx", "ry", "rz")),
    "universal": JointType(4, 2, 2, ("angle1", "angle2")),
    "cylindrical": JointType(5, 2, 2, ("position", "angle")),
    "screw": JointType(6, 1, 1, ("angle",)),
    "planar": JointType(7, 3, 3, ("x", "y", "angle")),
    "rail": JointType(8, 1, 1, ("position",)),
    "free": JointType(9, 7, 6, ("x", "y", "z", "rx", "ry", "rz")),
}

Range = tuple[float, float]


@dataclass(frozen=True)
class RailPiece:
    """A rail segment: ``length`` [m] along +x, turning left and climbing at constant rates.

    Attributes:
        length: Arc length [m].
        turn: Total angle turned about the rail's z [rad].
        climb: Total angle pitched upward, about −y [rad].
    """

    length: float
    turn: float = 0.0
    climb: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A movable connection.

    The joint's frame is at ``at`` in the frame of ``from_`` and at ``at_to`` in that of
    ``to``; at value 0 both coincide. ``axis`` is given in the joint's frame.

    Limits, force laws and descriptions are declared with :func:`attribute`, once for files, panel,
    formats and world: :data:`JOINT_ATTRIBUTES`. None of a limit is no limit.

    Attributes:
        name: Name in its part.
        type: One of hinge, slider, ball, universal, cylindrical, screw, planar, rail, fixed, free.
        from_: Parent element.
        to: Child element, or the next joint of a chain of joints.
        at: Pose of the joint's frame in ``from_``.
        at_to: Pose of the joint's frame in ``to``.
        axis: Axis, or the plane's normal.
        axis2: Second axis of a universal joint.
        range: Lowest and highest value [rad or m] of each degree of freedom, None for no limit.
        pitch: Advance of a screw per turn [m].
        rail: Segments of a rail.
        value: Initial value of each degree of freedom [rad or m]; rx, ry, rz of a ball or free
            joint together are a rotation vector in the joint's frame.
        speed: Initial speed of each degree of freedom [rad/s or m/s], 0 if None; that of a ball in
            the axes of ``to``. A free body has its element's ``velocity`` and ``spin`` instead.
        drive: Spec of the actuator on the joint.
        bus: Keys of the joint's port on a bus, as written; None without one.
        labels: Labels by language.
        mujoco: Native attributes of the Mujoco engine.
        origin: Where it is defined.
    """

    name: str
    type: str
    from_: str
    to: str
    at: Pose = IDENTITY
    at_to: Pose = IDENTITY
    axis: Vec3 = (0.0, 0.0, 1.0)
    axis2: Vec3 = (0.0, 1.0, 0.0)
    range: tuple[Range | None, ...] | Range | None = None
    max_speed: float | None = attribute(
        None, Key(NumberType(above=0.0), "Maximum speed [rad/s or m/s].", "dof", si="rad/s or m/s"),
        plural="largest speeds", array="dof_speed",
    )  # fmt: skip
    max_effort: float | None = attribute(
        None,
        Key(NumberType(above=0.0), "Maximum drive torque or force [N m or N].", si="N m or N"),
        plural="largest efforts", array="dof_effort",
    )  # fmt: skip
    damping: float = attribute(
        0.0,
        Key(NumberType(0.0), "Viscous damping [N m s/rad or N s/m].", si="N m s/rad or N s/m"),
        plural="damping", array="damping",
    )  # fmt: skip
    friction: float = attribute(
        0.0, Key(NumberType(0.0), "Coulomb friction [N m or N].", si="N m or N"),
        plural="friction", array="friction",
    )  # fmt: skip
    stiffness: float = attribute(
        0.0,
        Key(NumberType(0.0), "Spring stiffness towards 'rest' [N m/rad or N/m].",
            si="N m/rad or N/m"),
        plural="springs", array="stiffness",
    )  # fmt: skip
    rest: float = attribute(
        0.0, Key(NumberType(), "Rest position of the spring [rad or m].", "dof"),
        plural="", array="rest",
    )  # fmt: skip
    armature: float = attribute(
        0.0, Key(NumberType(0.0), "Rotor inertia at the joint [kg m² or kg].", si="kg m² or kg"),
        plural="rotor inertias", array="armature",
    )  # fmt: skip
    restitution: float = attribute(
        0.0,
        Key(NumberType(0.0, 1.0), "Coefficient of restitution at the ends of its range, 0 to 1."),
        plural="restitution", array="restitution",
    )  # fmt: skip
    pitch: float = 0.0
    rail: tuple[RailPiece, ...] = ()
    value: tuple[float, ...] | float | None = None
    speed: float | tuple[float, ...] | None = None
    drive: Spec | None = None
    bus: dict[str, Any] | None = None
    labels: dict[str, str] = field(default_factory=dict)
    mujoco: dict[str, Any] = field(default_factory=dict, hash=False)
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "joint", origin=self.origin)
        if self.type not in JOINT_TYPES:
            self._refuse(
                f"there is no joint type {self.type!r}. "
                + suggestion(self.type, JOINT_TYPES, kind="types")
            )
        for what in ("axis", "axis2"):
            try:
                object.__setattr__(self, what, unit(getattr(self, what)))
            except LinkworkError as error:
                self._refuse(f"{what}: {error.message}")
        if self.type == "universal":
            dot = sum(a * b for a, b in zip(self.axis, self.axis2, strict=True))
            if abs(dot) > 1e-6:
                self._refuse("axis and axis2 of a universal joint must be at right angles.")
        for what, declared in JOINT_ATTRIBUTES.items():
            declared.check(what, getattr(self, what), f"joint {self.name!r}", origin=self.origin)
        if not math.isfinite(self.pitch):
            self._refuse(f"pitch must be a finite number, not {self.pitch:g}.")
        if self.type == "screw" and self.pitch == 0.0:
            self._refuse("a screw needs its pitch (advance per turn) [m], other than 0.")
        if self.type == "rail" or self.rail:
            check_rail(self.rail, self._refuse)
        check_native_attributes(
            self.mujoco, MUJOCO_JOINT, f"joint {self.name!r}", origin=self.origin
        )
        self._normalize_ranges()
        self._normalize_value()
        self._normalize_speed()

    def _refuse(self, why: str) -> None:
        raise PartError(f"joint {self.name!r}: {why}", origin=self.origin)

    @property
    def kind(self) -> JointType:
        """Properties of its type."""
        return JOINT_TYPES[self.type]

    @property
    def directions(self) -> tuple[Vec3, Vec3]:
        """Two directions in the joint's frame that define its motion.

        They are the axis and the second axis; for a planar joint the normal and the plane's x (the
        frame's x, or its z if the normal is nearer to x or y, projected into the plane); for a
        rail up (z) and forward (x).
        """
        return directions(self.type, self.axis, self.axis2)

    @property
    def ranges(self) -> tuple[Range | None, ...]:
        """Limits of each degree of freedom."""
        return self.range  # type: ignore[return-value] - normalized by __post_init__

    @property
    def values(self) -> tuple[float, ...]:
        """Initial value of each degree of freedom."""
        return self.value  # type: ignore[return-value] - normalized by __post_init__

    @property
    def speeds(self) -> tuple[float, ...]:
        """Initial speed of each degree of freedom."""
        return self.speed  # type: ignore[return-value] - normalized by __post_init__

    def _normalize_ranges(self) -> None:
        given = self.range
        nv = self.kind.nv
        if given is None:
            ranges: tuple[Range | None, ...] = (None,) * nv
            if self.type == "rail":
                ranges = ((0.0, sum(p.length for p in self.rail)),)
        elif len(given) == 2 and all(isinstance(c, int | float) for c in given):
            ranges = (tuple(given),) + (None,) * (nv - 1)  # type: ignore[assignment]
        else:
            ranges = tuple(given)  # type: ignore[arg-type]
        if len(ranges) != nv:
            self._refuse(f"range needs {nv} pairs for a {self.type} joint, not {len(ranges)}.")
        for pair in ranges:
            if pair is not None and not (
                math.isfinite(pair[0]) and math.isfinite(pair[1]) and pair[0] <= pair[1]
            ):
                self._refuse(f"range must be [lowest, highest], not [{pair[0]:g}, {pair[1]:g}].")
        object.__setattr__(self, "range", ranges)

    def _normalize_value(self) -> None:
        given, nv = self.value, self.kind.nv
        if given is None:
            values = tuple(
                0.0 if r is None or self.type == "ball" else min(max(0.0, r[0]), r[1])
                for r in self.ranges
            )
        else:
            values = (float(given),) if isinstance(given, int | float) else tuple(given)
        if len(values) != nv or not all(math.isfinite(c) for c in values):
            self._refuse(f"value needs {nv} finite numbers for a {self.type} joint.")
        object.__setattr__(self, "value", values)

    def _normalize_speed(self) -> None:
        given, nv = self.speed, self.kind.nv
        if given is None or given == (0.0,) * len(given if isinstance(given, tuple) else ()):
            given = (0.0,) * nv  # at rest, also if dataclasses.replace changed the type
        speeds = (float(given),) if isinstance(given, int | float) else tuple(given)
        if len(speeds) != nv or not all(math.isfinite(c) for c in speeds):
            self._refuse(f"speed needs {nv} finite numbers for a {self.type} joint.")
        if self.type == "free" and any(speeds):
            self._refuse("a free body's initial motion is its element's velocity and spin.")
        object.__setattr__(self, "speed", speeds)


#: The attributes that Joint declares with :func:`attribute`, by name.
JOINT_ATTRIBUTES = declared_attributes(Joint)


def directions(type: str, axis: Vec3, axis2: Vec3) -> tuple[Vec3, Vec3]:
    """Returns the two directions of a type of joint, see :attr:`Joint.directions`."""
    if type == "rail":
        return (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    if type != "planar":
        return axis, axis2
    x, y, z = axis
    if abs(z) > 0.9:
        return axis, unit((1.0 - x * x, -x * y, -x * z))
    return axis, unit((-z * x, -z * y, 1.0 - z * z))


def check_rail(rail: tuple[RailPiece, ...], refuse: Callable[[str], None]) -> None:
    """Checks the segments of a rail."""
    if not rail:
        refuse("a rail needs its segments, for example rail = [{ length = 1.0 }].")
    if any(not (math.isfinite(p.length) and p.length > 0.0) for p in rail):
        refuse("each segment of a rail needs a length above 0.")
    if any(not (math.isfinite(p.turn) and math.isfinite(p.climb)) for p in rail):
        refuse("turn and climb of a rail segment must be finite numbers.")
