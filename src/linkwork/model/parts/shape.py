"""Shapes: the geometry of an element, with volume or inertia in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from linkwork.core.errors import Origin, PartError
from linkwork.core.forms import plain_values
from linkwork.core.value_types import is_number
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.meshes import TriangleMesh, load_mesh, mass_properties
from linkwork.geometry.pose import IDENTITY, Pose, Vec3
from linkwork.model.parts.native_attributes import MUJOCO_SHAPE, check_native_attributes


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One shape of an element.

    Attributes:
        at: Pose in the element's frame.
        color: ``#rrggbb`` or ``#rrggbbaa``; empty takes the element's.
        texture: Image file of the texture, or empty.
        texture_repeat: Repetitions of the texture along its width and its height.
        visible: Whether it is drawn.
        collide: Whether it collides.
        mujoco: Native attributes of the Mujoco engine.
    """

    kind: ClassVar[str] = ""
    at: Pose = IDENTITY
    color: str = ""
    texture: str = ""
    texture_repeat: tuple[float, float] = (1.0, 1.0)
    visible: bool = True
    collide: bool = True
    mujoco: dict[str, Any] = field(default_factory=dict, hash=False)

    def check_native_attributes(self, *, origin: Origin) -> None:
        """Checks the native attributes."""
        check_native_attributes(self.mujoco, MUJOCO_SHAPE, f"a {self.kind}", origin=origin)

    def volume(self) -> float:
        """Returns the volume [m³]; zero for a surface without inside."""
        raise NotImplementedError

    def inertia(self, mass: float) -> Inertia:
        """Returns the inertia of the filled shape with ``mass`` [kg], in the shape's own frame."""
        raise NotImplementedError

    def moved(self, pose: Pose) -> Shape:
        """Returns the shape in a frame in which the element's frame is at ``pose``."""
        return replace(self, at=pose @ self.at)

    def _positive(self, **lengths: float) -> None:
        for name, value in lengths.items():
            if not is_number(value):
                raise PartError(f"a {self.kind}'s {name} must be a number, not {value!r}.")
            if not (math.isfinite(value) and value > 0.0):
                raise PartError(f"a {self.kind}'s {name} must be positive, not {value:g}.")

    def _several(self, name: str, count: int) -> tuple[float, ...]:
        """Returns a field as a tuple of ``count`` numbers."""
        given = plain_values(getattr(self, name))
        right = isinstance(given, list | tuple) and len(given) == count
        if not right or not all(map(is_number, given)):
            word = {2: "two", 3: "three"}[count]
            raise PartError(f"a {self.kind}'s {name} must be {word} numbers, not {given!r}.")
        object.__setattr__(self, name, tuple(given))
        return tuple(given)


@dataclass(frozen=True)
class Box(Shape):
    """A box of full edge lengths ``size`` [m], centered."""

    kind: ClassVar[str] = "box"
    size: Vec3

    def __post_init__(self) -> None:
        x, y, z = self._several("size", 3)
        self._positive(x=x, y=y, z=z)

    def volume(self) -> float:  # noqa: D102
        return self.size[0] * self.size[1] * self.size[2]

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        x, y, z = (c * c * mass / 12.0 for c in self.size)
        return Inertia.of(mass, matrix=np.diag([y + z, x + z, x + y]))


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z, centered [m]."""

    kind: ClassVar[str] = "cylinder"
    radius: float
    length: float

    def __post_init__(self) -> None:
        self._positive(radius=self.radius, length=self.length)

    def volume(self) -> float:  # noqa: D102
        return math.pi * self.radius**2 * self.length

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        across = mass * (3.0 * self.radius**2 + self.length**2) / 12.0
        return Inertia.of(mass, matrix=np.diag([across, across, mass * self.radius**2 / 2.0]))


@dataclass(frozen=True)
class Cone(Shape):
    """A cone along z, base ``radius`` at −length/2, ``top_radius`` at +length/2 [m]."""

    kind: ClassVar[str] = "cone"
    radius: float
    length: float
    top_radius: float = 0.0

    def __post_init__(self) -> None:
        self._positive(radius=self.radius, length=self.length)
        if not (math.isfinite(self.top_radius) and self.top_radius >= 0.0):
            raise PartError(f"a cone's top_radius must be 0 or more, not {self.top_radius:g}.")

    def _moments(self) -> tuple[float, float, float, float]:
        """∫r², ∫r² z, ∫r² z², ∫r⁴ over −l/2…l/2 with r linear in z (Gauss, exact)."""
        nodes, weights = np.polynomial.legendre.leggauss(3)
        z = nodes * self.length / 2.0
        r = (self.radius + self.top_radius) / 2.0 + (
            self.top_radius - self.radius
        ) * z / self.length
        w = weights * self.length / 2.0
        return (
            float(w @ r**2),
            float(w @ (r**2 * z)),
            float(w @ (r**2 * z**2)),
            float(w @ r**4),
        )

    def volume(self) -> float:  # noqa: D102
        return math.pi * self._moments()[0]

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        r2, r2z, r2zz, r4 = self._moments()
        height = r2z / r2
        across = mass * ((r4 / 4.0 + r2zz) / r2 - height**2)
        return Inertia.of(mass, (0.0, 0.0, height), np.diag([across, across, mass * r4 / r2 / 2.0]))


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere [m]."""

    kind: ClassVar[str] = "sphere"
    radius: float

    def __post_init__(self) -> None:
        self._positive(radius=self.radius)

    def volume(self) -> float:  # noqa: D102
        return 4.0 / 3.0 * math.pi * self.radius**3

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        return Inertia.of(mass, matrix=np.eye(3) * (0.4 * mass * self.radius**2))


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid of half axes ``radii`` along x, y and z [m]."""

    kind: ClassVar[str] = "ellipsoid"
    radii: Vec3

    def __post_init__(self) -> None:
        x, y, z = self._several("radii", 3)
        self._positive(x=x, y=y, z=z)

    def volume(self) -> float:  # noqa: D102
        return 4.0 / 3.0 * math.pi * self.radii[0] * self.radii[1] * self.radii[2]

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        x, y, z = (c * c * mass / 5.0 for c in self.radii)
        return Inertia.of(mass, matrix=np.diag([y + z, x + z, x + y]))

    def triangles(self) -> TriangleMesh:
        """Returns the surface as rings about z, for drawing."""
        turns, rings = 40, 20
        tilt = np.linspace(0.0, np.pi, rings + 1)[1:-1, None]
        turn = np.linspace(0.0, 2.0 * np.pi, turns, endpoint=False)[None, :]
        ring = np.stack(
            [np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt) + 0.0 * turn],
            axis=-1,
        ).reshape(-1, 3)
        vertices = np.vstack([ring, (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]) * self.radii
        top, bottom, last = len(ring), len(ring) + 1, len(ring) - turns
        faces = []
        for k in range(turns):
            after = (k + 1) % turns
            faces += [(top, k, after), (bottom, last + after, last + k)]
            for first in range(0, last, turns):
                below = first + turns
                faces += [(first + k, below + k, below + after)]
                faces += [(first + k, below + after, first + after)]
        return TriangleMesh(vertices, np.array(faces, np.int32))


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder of ``length`` along z with hemispheres at both ends [m]."""

    kind: ClassVar[str] = "capsule"
    radius: float
    length: float

    def __post_init__(self) -> None:
        self._positive(radius=self.radius, length=self.length)

    def volume(self) -> float:  # noqa: D102
        return math.pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        r, length = self.radius, self.length
        tube = mass * length / (length + 4.0 / 3.0 * r)
        balls = mass - tube
        along = tube * r**2 / 2.0 + balls * 0.4 * r**2
        across = tube * (3.0 * r**2 + length**2) / 12.0 + balls * (
            0.4 * r**2 + 3.0 / 8.0 * r * length + length**2 / 4.0
        )
        return Inertia.of(mass, matrix=np.diag([across, across, along]))


@dataclass(frozen=True)
class Plane(Shape):
    """An infinite ground plane, normal +z; ``size`` [m] is the extent that is drawn."""

    kind: ClassVar[str] = "plane"
    size: tuple[float, float] = (10.0, 10.0)

    def __post_init__(self) -> None:
        self._several("size", 2)

    def volume(self) -> float:  # noqa: D102
        return 0.0

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        return Inertia.of(mass)


@dataclass(frozen=True)
class Mesh(Shape):
    """Triangles from a file (STL, OBJ, Collada, glTF), scaled per axis; collides as its hull.

    Attributes:
        file: The file.
        scale: Factor along each axis.
        node: Node of a glTF file; empty for all nodes.
    """

    kind: ClassVar[str] = "mesh"
    file: str
    scale: Vec3 = (1.0, 1.0, 1.0)
    node: str = ""

    def __post_init__(self) -> None:
        if not all(math.isfinite(c) and c != 0.0 for c in self._several("scale", 3)):
            raise PartError(f"a mesh's scale must be three numbers but 0, not {self.scale}.")

    def triangles(self) -> TriangleMesh:
        """Returns the scaled triangles."""
        return load_mesh(Path(self.file), node=self.node).scaled(self.scale)

    def volume(self) -> float:  # noqa: D102
        return mass_properties(self.triangles(), density=1.0).mass

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        found = mass_properties(self.triangles(), mass=mass)
        return Inertia(found.mass, found.com, found.inertia)


#: Maximum number of points of a grid.
MAX_POINTS = 1_000_000


@dataclass(frozen=True)
class Terrain(Shape):
    """A height field over a centered rectangle ``size`` [m].

    Attributes:
        size: Extent along x and y [m].
        rows: Points along y.
        columns: Points along x.
        heights: Height of each point [m], row by row from −y to y, each from −x to x; flat if
            empty.
        depth: Thickness below the lowest point [m].
    """

    kind: ClassVar[str] = "terrain"
    size: tuple[float, float]
    rows: int = 2
    columns: int = 2
    heights: tuple[float, ...] = ()
    depth: float = 0.1

    def __post_init__(self) -> None:
        self._positive(x=self.size[0], y=self.size[1], depth=self.depth)
        for name in ("rows", "columns"):
            count = getattr(self, name)
            if not isinstance(count, int) or not 2 <= count <= MAX_POINTS:
                raise PartError(f"a terrain's {name} must be a whole number from 2, not {count}.")
        points = self.rows * self.columns
        if points > MAX_POINTS:
            raise PartError(f"a terrain has at most {MAX_POINTS} points, not {points}.")
        if self.heights and len(self.heights) != points:
            raise PartError(
                f"a terrain of {self.rows} rows and {self.columns} columns needs {points} "
                f"heights, not {len(self.heights)}."
            )
        if not all(math.isfinite(height) for height in self.heights):
            raise PartError("a terrain's heights must be finite numbers.")

    def grid(self) -> np.ndarray:
        """Height of each point (rows×columns) [m]."""
        if not self.heights:
            return np.zeros((self.rows, self.columns))
        return np.array(self.heights, np.float64).reshape(self.rows, self.columns)

    def triangles(self) -> TriangleMesh:
        """Returns the surface, two triangles to a cell."""
        x = np.linspace(-self.size[0] / 2.0, self.size[0] / 2.0, self.columns)
        y = np.linspace(-self.size[1] / 2.0, self.size[1] / 2.0, self.rows)
        vertices = np.column_stack([*(a.ravel() for a in np.meshgrid(x, y)), self.grid().ravel()])
        number = np.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        a, b = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
        c, d = number[1:, 1:].ravel(), number[1:, :-1].ravel()
        faces = np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
        return TriangleMesh(vertices, faces.astype(np.int32))

    def volume(self) -> float:  # noqa: D102
        return 0.0

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        return Inertia.of(mass)


#: Every shape class by its key in files.
SHAPES: dict[str, type[Shape]] = {
    cls.kind: cls for cls in (Box, Cylinder, Cone, Sphere, Ellipsoid, Capsule, Plane, Terrain, Mesh)
}


def lowest_point(shape: Shape, pose: Pose) -> float:
    """Returns the height of a shape's lowest point [m]; inf for planes and terrains.

    Args:
        shape: The shape.
        pose: Its pose in the world.
    """
    up = np.array([pose.rotate(axis)[2] for axis in ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))])
    along, across = abs(float(up[2])), math.hypot(up[0], up[1])
    middle = pose.xyz[2]
    match shape:
        case Box():
            return middle - float(np.abs(up) @ shape.size) / 2.0
        case Sphere():
            return middle - shape.radius
        case Ellipsoid():
            return middle - float(np.linalg.norm(up * shape.radii))
        case Capsule():
            return middle - shape.radius - along * shape.length / 2.0
        case Cylinder():
            return middle - along * shape.length / 2.0 - across * shape.radius
        case Cone():
            half = float(up[2]) * shape.length / 2.0
            base, top = -half - across * shape.radius, half - across * shape.top_radius
            return middle + min(base, top)
        case Mesh():
            return middle + float((shape.triangles().vertices @ up).min())
        case _:
            return math.inf
