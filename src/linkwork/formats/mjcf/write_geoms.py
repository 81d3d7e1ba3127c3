"""Writing geoms: shapes with colour and surface, and the mesh assets they use."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from linkwork.formats.colors import rgba
from linkwork.formats.flat import FlatLink, unique
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.mjcf.cones import cone_corners
from linkwork.formats.mjcf.spelling import Spelling
from linkwork.formats.mjcf.write_words import set_words
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.parts import (
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
from linkwork.parts.names import scoped
from linkwork.spatial.pose import Pose

#: Geom groups that MuJoCo's viewers show (0 to 2) and hide (3 to 5).
SEEN_ONLY, TOUCHED_ONLY = "2", "3"
#: Thickness of the slab that stands for a plane on a body that moves [m].
_SLAB = 0.02


class GeomWriter:
    """Writes shapes as geoms and remembers the meshes they need.

    Attributes:
        assets: Meshes and height fields.
        named: Name in the file of each shape that has one, by the part's and its own.
    """

    def __init__(self, meshes: MeshFolder, spelling: Spelling, notes: Notes) -> None:
        self.meshes, self.spelling, self.notes = meshes, spelling, notes
        self.assets: list[ET.Element] = []
        self.named: dict[str, str] = {}
        pairs = (spelling.engine or {}).get("pairs", ())
        self._wanted = {pair[end] for pair in pairs for end in ("a", "b")}
        self._names: dict[object, str] = {}
        self._taken: set[str] = set()
        self._taken_geoms: set[str] = set()
        self._geoms: list[tuple[ET.Element, float]] = []

    def add(
        self, body: ET.Element, link: FlatLink, element: Element, *, moves: bool, name: str = ""
    ) -> None:
        """Adds the shapes of a link's element to a body; ``name`` is for those without one."""
        for shape in element.shapes:
            own = str(shape.mujoco.get("name", ""))
            full = scoped(link.placed, own) if own else ""
            felt = "fluid" in shape.mujoco or full in self._wanted
            if not (shape.visible or shape.collide or felt):
                self.notes.about("shapes neither seen nor touched, left out", link.name)
                continue
            pose = shape.at
            attributes = self._form(shape)
            if isinstance(shape, Plane) and moves:
                self.notes.about("planes on moving bodies, written as slabs", link.name)
                attributes = {
                    "type": "box",
                    "size": numerals((shape.size[0] / 2, shape.size[1] / 2, _SLAB / 2)),
                }
                pose = pose @ Pose((0.0, 0.0, -_SLAB / 2))
            if isinstance(shape, Terrain):
                pose = pose @ Pose((0.0, 0.0, float(shape.grid().min())))
            node = ET.SubElement(body, "geom", attributes)
            place(node, pose)
            node.set("rgba", numerals(rgba(shape.color or element.color)))
            if full or name:
                node.set("name", unique(self.spelling.bare(full) or name, self._taken_geoms))
            if full:
                self.named[full] = node.attrib["name"]
            self._surface(node, shape, element)

    def _surface(self, node: ET.Element, shape: Shape, element: Element) -> None:
        words = {word: value for word, value in shape.mujoco.items() if word != "name"}
        if not shape.visible:
            node.set("group", TOUCHED_ONLY)
        if not shape.collide:
            words |= {"contype": 0, "conaffinity": 0}
            if shape.visible:
                node.set("group", SEEN_ONLY)
        else:
            node.set("friction", numerals((element.friction, 0.005, 0.0001)))
            if "priority" not in words and "friction" not in words:
                self._geoms.append((node, element.friction))
        set_words(node, words)

    def rank(self) -> None:
        """Lets the smoother of two geoms count, as here: MuJoCo would take the rougher one."""
        if self.spelling.native:
            return  # where MuJoCo's own way of mixing is meant
        levels = sorted({friction for _, friction in self._geoms}, reverse=True)
        for node, friction in self._geoms if len(levels) > 1 else ():
            node.set("priority", str(levels.index(friction)))

    def _form(self, shape: Shape) -> dict[str, str]:
        match shape:
            case Box():
                return {"type": "box", "size": numerals(c / 2 for c in shape.size)}
            case Sphere():
                return {"type": "sphere", "size": numeral(shape.radius)}
            case Cylinder() | Capsule():
                return {"type": shape.kind, "size": numerals((shape.radius, shape.length / 2))}
            case Plane():
                return {
                    "type": "plane",
                    "size": numerals((shape.size[0] / 2, shape.size[1] / 2, 1.0)),
                }
            case Ellipsoid():
                return {"type": "ellipsoid", "size": numerals(shape.radii)}
            case Terrain():
                return {"type": "hfield", "hfield": self._heights(shape)}
            case Cone() | Mesh():
                return {"type": "mesh", "mesh": self._asset(shape)}
        raise TypeError(f"no geom for {type(shape).__name__}")

    def _heights(self, shape: Terrain) -> str:
        """Name of the height field asset: heights as shares of the highest one."""
        grid = shape.grid()
        top = float(grid.max() - grid.min()) or 1.0
        name = unique("terrain", self._taken)
        size = (shape.size[0] / 2, shape.size[1] / 2, top, shape.depth)
        shares = (grid - grid.min())[::-1] / top  # MJCF's text begins with the row farthest in y
        node = ET.Element("hfield", name=name, size=numerals(size))
        node.set("nrow", str(shape.rows))
        node.set("ncol", str(shape.columns))
        node.set("elevation", numerals(shares.ravel().tolist()))
        self.assets.append(node)
        return name

    def _asset(self, shape: Cone | Mesh) -> str:
        """Name of the mesh asset; equal ones are written once."""
        if isinstance(shape, Cone):
            key = ("cone", shape.radius, shape.top_radius, shape.length)
        else:
            key = (self.meshes.stl(shape), shape.scale)
        if key in self._names:
            return self._names[key]
        stem = "cone" if isinstance(shape, Cone) else self.meshes.stl(shape)
        name = unique(stem.rpartition("/")[2].removesuffix(".stl"), self._taken)
        node = ET.Element("mesh", name=name)
        if isinstance(shape, Cone):
            node.set("vertex", numerals(cone_corners(shape)))
            self.notes.about("cones, written as many-sided meshes", name)
        else:
            node.set("file", stem)
            if shape.scale != (1.0, 1.0, 1.0):
                node.set("scale", numerals(shape.scale))
        node.set("inertia", "convex" if shape.collide else "shell")
        self.assets.append(node)
        self._names[key] = name
        return name


def place(node: ET.Element, pose: Pose) -> None:
    """Gives an MJCF element its pose, where it changes anything."""
    if any(pose.xyz):
        node.set("pos", numerals(pose.xyz))
    if any(pose.quat[1:]):
        node.set("quat", numerals(pose.quat))
