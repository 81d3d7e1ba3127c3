"""MJCF geom writer: shapes with color, surface, mesh assets (cones as vertex lists)."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from typing import Any

from linkwork.core.mujoco_library import ROLLING_FRICTION, TORSIONAL_FRICTION
from linkwork.formats.appearance import rgba
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import FlatLink, unique
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.robots.links import note_unused_shapes
from linkwork.formats.robots.mjcf.naming import MjcfNames, set_native_attributes
from linkwork.formats.text_output import number_text, numbers_text
from linkwork.geometry.pose import Pose
from linkwork.model.parts import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Element,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Terrain,
)
from linkwork.model.parts.spec import scoped_name_of

#: Vertices of a circle.
_CORNERS = 32


def cone_corners(shape: Cone) -> list[float]:
    """Returns the vertices of a polygonal cone, x y z each [m]."""
    corners: list[float] = []
    for radius, z in ((shape.radius, -shape.length / 2), (shape.top_radius, shape.length / 2)):
        count = _CORNERS if radius > 0.0 else 1
        for number in range(count):
            angle = 2.0 * math.pi * number / count
            x, y = radius * math.cos(angle), radius * math.sin(angle)
            corners += [round(x, 12), round(y, 12), z]
    return corners


def cone_of(corners: list[float], **common: Any) -> Cone | None:
    """Returns the cone with exactly these vertices; None if there is none."""
    if len(corners) not in (3 * (_CORNERS + 1), 3 * 2 * _CORNERS):
        return None
    radius, top_radius = corners[0], corners[3 * _CORNERS]
    length = 2.0 * corners[-1]
    if not (radius > 0.0 and top_radius >= 0.0 and length > 0.0):
        return None
    made = Cone(radius=radius, length=length, top_radius=top_radius, **common)
    return made if cone_corners(made) == corners else None


#: Geom groups that MuJoCo's viewers show (0 to 2) and hide (3 to 5).
VISUAL_GROUP, COLLISION_GROUP = "2", "3"
#: Thickness of the slab that replaces a plane on a moving body [m].
_SLAB_THICKNESS = 0.02


#: Native attributes of a shape that belong to its mesh asset.
_OF_ASSETS = ("mesh_inertia", "maxhullvert")


class GeomWriter:
    """Writes shapes as geoms and collects their mesh assets.

    Attributes:
        assets: Meshes and height fields.
        named: Name in the file of each named shape, by its full name.
    """

    def __init__(self, meshes: MeshFolder, spelling: MjcfNames, notes: ConversionNotes) -> None:
        self.meshes, self.spelling, self.notes = meshes, spelling, notes
        self.assets: list[ET.Element] = []
        self.named: dict[str, str] = {}
        pairs = (spelling.engine or {}).get("pairs", ())
        self._wanted = {pair[end] for pair in pairs for end in ("a", "b")}
        tendons = (spelling.engine or {}).get("tendons", ())
        wraps = [wrap for tendon in tendons for wrap in tendon.get("path", ())]
        self._wanted |= {wrap.get("geom", "") for wrap in wraps if not isinstance(wrap, str)}
        self._names: dict[object, str] = {}
        self._taken: set[str] = set()
        self._taken_geoms: set[str] = set()
        self._geoms: list[tuple[ET.Element, float]] = []

    def add(
        self, body: ET.Element, link: FlatLink, element: Element, *, moves: bool, name: str = ""
    ) -> None:
        """Adds the shapes of a link's element to a body; ``name`` is used for unnamed shapes.

        Each shape is one geom, with its role in group and contact bits. URDF and SDF write a visual
        and a collision of it (``shapes_by_role``), which would double the geoms.
        """
        for shape in element.shapes:
            own = str(shape.mujoco.get("name", ""))
            full = scoped_name_of(link.placed, own) if own else ""
            collidable = "fluid" in shape.mujoco or full in self._wanted
            if not (shape.visible or shape.collide or collidable):
                note_unused_shapes(link.name, self.notes)
                continue
            pose = shape.at
            attributes = self._form(shape)
            if isinstance(shape, Plane) and moves:
                self.notes.about("planes on moving bodies, written as slabs", link.name)
                size = (shape.size[0] / 2, shape.size[1] / 2, _SLAB_THICKNESS / 2)
                attributes = {"type": "box", "size": numbers_text(size)}
                pose = pose @ Pose((0.0, 0.0, -_SLAB_THICKNESS / 2))
            if isinstance(shape, Terrain):
                pose = pose @ Pose((0.0, 0.0, float(shape.grid().min())))
            node = ET.SubElement(body, "geom", attributes)
            place(node, pose)
            node.set("rgba", numbers_text(rgba(shape.color or element.color)))
            if full or name:
                node.set("name", unique(self.spelling.bare(full) or name, self._taken_geoms))
            if full:
                self.named[full] = node.attrib["name"]
            self._surface(node, shape, element)

    def _surface(self, node: ET.Element, shape: Shape, element: Element) -> None:
        words = {w: value for w, value in shape.mujoco.items() if w not in ("name", *_OF_ASSETS)}
        if not shape.visible:
            node.set("group", COLLISION_GROUP)
        if not shape.collide:
            words |= {"contype": 0, "conaffinity": 0}
            if shape.visible:
                node.set("group", VISUAL_GROUP)
        else:
            friction = element.friction, TORSIONAL_FRICTION, ROLLING_FRICTION
            node.set("friction", numbers_text(friction))
            if "priority" not in words and "friction" not in words:
                self._geoms.append((node, element.friction))
        set_native_attributes(node, words)

    def rank(self) -> None:
        """Sets priorities so that the lower friction of two geoms applies, not MuJoCo's maximum."""
        if self.spelling.native:
            return  # MuJoCo's default rule applies
        levels = sorted({friction for _, friction in self._geoms}, reverse=True)
        for node, friction in self._geoms if len(levels) > 1 else ():
            node.set("priority", str(levels.index(friction)))

    def _form(self, shape: Shape) -> dict[str, str]:
        match shape:
            case Box():
                return {"type": "box", "size": numbers_text(c / 2 for c in shape.size)}
            case Sphere():
                return {"type": "sphere", "size": number_text(shape.radius)}
            case Cylinder() | Capsule():
                return {"type": shape.kind, "size": numbers_text((shape.radius, shape.length / 2))}
            case Plane():
                return {
                    "type": "plane",
                    "size": numbers_text((shape.size[0] / 2, shape.size[1] / 2, 1.0)),
                }
            case Ellipsoid():
                return {"type": "ellipsoid", "size": numbers_text(shape.radii)}
            case Terrain():
                return {"type": "hfield", "hfield": self._heights(shape)}
            case Cone() | Mesh():
                return {"type": "mesh", "mesh": self._asset(shape)}
        raise TypeError(f"no geom for {type(shape).__name__}")

    def _heights(self, shape: Terrain) -> str:
        """Returns the name of the height field asset; its elevations are normalized to 0…1."""
        grid = shape.grid()
        top = float(grid.max() - grid.min()) or 1.0
        name = unique("terrain", self._taken)
        size = (shape.size[0] / 2, shape.size[1] / 2, top, shape.depth)
        shares = (grid - grid.min())[::-1] / top  # the first row in MJCF is at the highest y
        node = ET.Element("hfield", name=name, size=numbers_text(size))
        node.set("nrow", str(shape.rows))
        node.set("ncol", str(shape.columns))
        node.set("elevation", numbers_text(shares.ravel().tolist()))
        self.assets.append(node)
        return name

    def _asset(self, shape: Cone | Mesh) -> str:
        """Returns the name of the mesh asset; equal ones are written once."""
        if isinstance(shape, Cone):
            key = ("cone", shape.radius, shape.top_radius, shape.length)
        else:
            key = (self.meshes.stl(shape), shape.scale, *map(shape.mujoco.get, _OF_ASSETS))
        if key in self._names:
            return self._names[key]
        stem = "cone" if isinstance(shape, Cone) else self.meshes.stl(shape)
        name = unique(stem.rpartition("/")[2].removesuffix(".stl"), self._taken)
        node = ET.Element("mesh", name=name)
        if isinstance(shape, Cone):
            node.set("vertex", numbers_text(cone_corners(shape)))
            self.notes.about("cones, written as many-sided meshes", name)
        else:
            node.set("file", stem)
            if shape.scale != (1.0, 1.0, 1.0):
                node.set("scale", numbers_text(shape.scale))
        own = "convex" if shape.collide else "shell"
        node.set("inertia", str(shape.mujoco.get("mesh_inertia", own)))
        if "maxhullvert" in shape.mujoco:
            node.set("maxhullvert", str(shape.mujoco["maxhullvert"]))
        self.assets.append(node)
        self._names[key] = name
        return name


def place(node: ET.Element, pose: Pose) -> None:
    """Sets the pose of an MJCF element, unless it is the identity."""
    if any(pose.xyz):
        node.set("pos", numbers_text(pose.xyz))
    if any(pose.quat[1:]):
        node.set("quat", numbers_text(pose.quat))
