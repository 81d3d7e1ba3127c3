"""Element: a rigid body with shapes, mass and surface."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from linkwork.core.errors import Origin, PartError
from linkwork.geometry.inertia import Inertia, combine
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts.native_attributes import MUJOCO_ELEMENT, check_native_attributes
from linkwork.model.parts.shape import Shape
from linkwork.model.parts.spec import check_name

_COLOR = re.compile(r"#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?\Z")


@dataclass(frozen=True)
class Element:
    """A rigid body, or a part of one.

    Attributes:
        name: Name in its part.
        shapes: Geometry, in the element's frame.
        on: Element that this one is rigidly fixed to; a chain of such elements is one body.
        at: Pose in the frame of ``on``.
        mass: [kg]; None takes it from ``density`` and the shapes' volumes.
        density: [kg/m³].
        inertia: Explicit inertia in the element's frame; sets ``mass`` and clears ``density``.
        friction: Coulomb coefficient of the surface.
        restitution: Coefficient of restitution, 0 to 1.
        color: ``#rrggbb`` or ``#rrggbbaa``.
        group: Collision group; groups are switched in the scene's ``collide`` table.
        velocity: Initial linear velocity [m/s], for free bodies, world axes.
        spin: Initial angular velocity [rad/s], for free bodies, world axes.
        labels: Labels by language.
        mujoco: Native attributes of the Mujoco engine.
        origin: Where it is defined.
    """

    name: str
    shapes: tuple[Shape, ...] = ()
    on: str = ""
    at: Pose = IDENTITY
    mass: float | None = None
    density: float | None = None
    inertia: Inertia | None = None
    friction: float = 0.8
    restitution: float = 0.0
    color: str = "#b9c0c9"
    group: str = ""
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    labels: dict[str, str] = field(default_factory=dict)
    mujoco: dict[str, Any] = field(default_factory=dict, hash=False)
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "element", origin=self.origin)
        if isinstance(self.shapes, Shape):
            object.__setattr__(self, "shapes", (self.shapes,))
        for what, value in (("mass", self.mass), ("density", self.density)):
            if value is not None and not (math.isfinite(value) and value >= 0.0):
                self._refuse(f"{what} must be 0 or more, not {value:g}.")
        if not (math.isfinite(self.friction) and self.friction >= 0.0):
            self._refuse(f"friction must be 0 or more, not {self.friction:g}.")
        if not 0.0 <= self.restitution <= 1.0:
            self._refuse(f"restitution must be from 0 to 1, not {self.restitution:g}.")
        for color in (self.color, *(s.color for s in self.shapes)):
            if color and not _COLOR.match(color):
                self._refuse(f"color {color!r} is not of the form #rrggbb or #rrggbbaa.")
        check_native_attributes(
            self.mujoco, MUJOCO_ELEMENT, f"element {self.name!r}", origin=self.origin
        )
        for shape in self.shapes:
            shape.check_native_attributes(origin=self.origin)
        if self.inertia is not None:
            if why := self.inertia.problem():
                self._refuse(f"inertia is not physical: {why}.")
            object.__setattr__(self, "mass", self.inertia.mass)
            object.__setattr__(self, "density", None)

    def _refuse(self, why: str) -> None:
        raise PartError(f"element {self.name!r}: {why}", origin=self.origin)

    def mass_properties(self) -> Inertia:
        """Mass, center of mass and inertia in the element's frame.

        An explicit inertia takes precedence; else the mass is distributed over the shapes by
        volume (a mass without volume is a point at the frame's origin). Shapes of massless
        elements are not integrated, so that scenery may be an open mesh.
        """
        if self.inertia is not None:
            return self.inertia
        if not (self.density if self.mass is None else self.mass):
            return Inertia.of(0.0)
        volumes = [s.volume() for s in self.shapes]
        total = sum(volumes)
        mass = self.mass if self.mass is not None else (self.density or 0.0) * total
        if total <= 0.0:
            return Inertia.of(mass)
        return combine(
            shape.inertia(mass * volume / total).moved(shape.at)
            for shape, volume in zip(self.shapes, volumes, strict=True)
            if volume > 0.0
        )
