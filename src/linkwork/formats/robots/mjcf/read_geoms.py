"""MJCF geom reader: shapes with MuJoCo-specific surface attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.core.mujoco_library import ROLLING_FRICTION, TORSIONAL_FRICTION, mujoco
from linkwork.formats.appearance import hex_color
from linkwork.formats.robots.mjcf.compiled import pose_of
from linkwork.formats.robots.mjcf.context import MjcfReadContext, numbers
from linkwork.formats.robots.mjcf.sanitize import NUMBER
from linkwork.formats.robots.mjcf.write_geoms import cone_of
from linkwork.geometry.pose import IDENTITY, Pose
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
from linkwork.model.parts.spec import plain_name

_GEOM, _SAME = mujoco.mjtGeom, mujoco.mjtSameFrame
#: Drawn extent of an infinite plane [m].
_INFINITE_PLANE_EXTENT = 20.0
#: Geom groups that MuJoCo's viewers show.
_VISIBLE_GROUPS = (0, 1, 2)
_DEFAULTS: dict[str, Any] = {
    "solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0), "condim": 3, "contype": 1,
    "conaffinity": 1, "priority": 0, "solmix": 1.0, "margin": 0.0, "gap": 0.0, "adhesion": 0.0,
    "surfacevel": (0.0,) * 6,
}  # fmt: skip


def read_shapes(reading: MjcfReadContext, body: int) -> tuple[tuple[Shape, ...], float, str]:
    """Returns the shapes of a body, the friction of the first that collides, and its color.

    Each geom is one shape. ``pair_shapes``, which URDF and SDF use, does not apply: an MJCF geom is
    visual and collision at once; two equal geoms have attributes and names of their own, to which
    pairs and sensors refer, and a model that is written again must have as many.
    """
    m = reading.m
    found = reading.geoms_of(body)
    touching = [g for g in found if _touches(m, g)]
    friction = float(m.geom_friction[touching[0], 0]) if touching else 1.0
    color = _color(m, found[0]) if found else Element.color
    shapes = [read_shape(reading, g, friction, color) for g in found]
    return tuple(shape for shape in shapes if shape is not None), friction, color


def read_scenery(reading: MjcfReadContext) -> None:
    """Adds an element for each geom of the world body."""
    m, scene = reading.m, reading.scene
    taken, numbers_of = {*scene.scenery, reading.part.name}, dict[str, int]()
    for g in reading.geoms_of(0):
        friction, color = float(m.geom_friction[g, 0]), _color(m, g)
        shape = read_shape(reading, g, friction, color)
        if shape is None:
            continue
        at, shape = shape.at, _without_pose(shape)
        given = reading.model.name("geom", g) or shape.kind
        name = base = plain_name(given)
        while name in taken:
            numbers_of[base] = numbers_of.get(base, 1) + 1
            name = f"{base}_{numbers_of[base]}"
        taken.add(name)
        reading.scenery[g] = name
        origin = reading.model.origin("geom", g)
        scene.add(Element(name, (shape,), at=at, friction=friction, color=color, origin=origin))


def _without_pose(shape: Shape) -> Shape:
    return shape.moved(shape.at.inverse())


def _touches(m: Any, g: int) -> bool:
    return bool(m.geom_contype[g] or m.geom_conaffinity[g])


def read_shape(reading: MjcfReadContext, g: int, friction: float, color: str) -> Shape | None:
    """Returns a geom as a shape in the frame of its body; None if it cannot be converted."""
    m = reading.m
    own = _color(m, g)
    visible = int(m.geom_group[g]) in _VISIBLE_GROUPS and m.geom_rgba[g, 3] > 0.0
    common: dict[str, Any] = {
        "at": _place(m, g),
        "color": own if own != color else "",
        "visible": bool(visible),
        "collide": _touches(m, g),
        "mujoco": _native_attributes(reading, g, friction),
    }
    x, y, z = numbers(m.geom_size[g])
    match int(m.geom_type[g]):
        case _GEOM.mjGEOM_PLANE:
            extent = _INFINITE_PLANE_EXTENT
            return Plane(size=(2.0 * x or extent, 2.0 * y or extent), **common)
        case _GEOM.mjGEOM_SPHERE:
            return Sphere(radius=x, **common)
        case _GEOM.mjGEOM_CAPSULE:
            return Capsule(radius=x, length=2.0 * y, **common)
        case _GEOM.mjGEOM_ELLIPSOID:
            return Ellipsoid(radii=(x, y, z), **common)
        case _GEOM.mjGEOM_CYLINDER:
            return Cylinder(radius=x, length=2.0 * y, **common)
        case _GEOM.mjGEOM_BOX:
            return Box(size=(2.0 * x, 2.0 * y, 2.0 * z), **common)
        case _GEOM.mjGEOM_HFIELD:
            return _terrain(reading, g, common)
        case _GEOM.mjGEOM_MESH:
            return _mesh(reading, g, common)
    reading.lost("geoms of a type that is not read", "geom", g)
    return None


def _place(m: Any, g: int) -> Pose:
    """Returns the pose of a geom; MuJoCo snaps geoms within 1e-6 of a body's frames to them."""
    body, same = int(m.geom_bodyid[g]), int(m.geom_sameframe[g])
    pos, quat = m.geom_pos[g], m.geom_quat[g]
    if same in (_SAME.mjSAMEFRAME_BODY, _SAME.mjSAMEFRAME_BODYROT):
        quat = np.array((1.0, 0.0, 0.0, 0.0))
    elif same in (_SAME.mjSAMEFRAME_INERTIA, _SAME.mjSAMEFRAME_INERTIAROT):
        quat = m.body_iquat[body]
    if same == _SAME.mjSAMEFRAME_BODY:
        pos = np.zeros(3)
    elif same == _SAME.mjSAMEFRAME_INERTIA:
        pos = m.body_ipos[body]
    return pose_of(pos, quat)


def _terrain(reading: MjcfReadContext, g: int, common: dict[str, Any]) -> Terrain | None:
    m, number = reading.m, int(reading.m.geom_dataid[g])
    if why := reading.model.safe.lost_fields.get(m.hfield(number).name):
        reading.lost(f"geoms of height fields that cannot be read ({why})", "geom", g)
        return None
    x, y, top, depth = numbers(m.hfield_size[number])
    rows, columns = int(m.hfield_nrow[number]), int(m.hfield_ncol[number])
    first = int(m.hfield_adr[number])
    heights = np.array(m.hfield_data[first : first + rows * columns], np.float64) * top
    given = numbers(heights) if heights.any() else ()
    size = (2.0 * x, 2.0 * y)
    return Terrain(size=size, rows=rows, columns=columns, heights=given, depth=depth, **common)


def _mesh(reading: MjcfReadContext, g: int, common: dict[str, Any]) -> Mesh | Cone | None:
    m, number = reading.m, int(reading.m.geom_dataid[g])
    name = m.mesh(number).name
    safe = reading.model.safe
    if name in safe.corners and (cone := _cone(reading, number, safe.corners[name], common)):
        return cone
    triangles = reading.model.meshes.get(name)
    if triangles is None or name in safe.lost_meshes:
        why = safe.lost_meshes.get(name, "without a file")
        reading.lost(f"geoms of meshes {why}", "geom", g)
        return None
    scale = numbers(m.mesh_scale[number])
    first, count = int(m.mesh_vertadr[number]), int(m.mesh_vertnum[number])
    there = np.array(m.mesh_vert[first : first + count], np.float64)
    moved = _mesh_frame(reading, number, triangles.vertices * scale, there)
    if moved is None:
        reading.lost("geoms of meshes that MuJoCo changes", "geom", g)
        return None
    common["at"] = common["at"] @ moved
    common["mujoco"] |= reading.model.mesh_attributes.get(name, {})
    return Mesh(file=str(safe.meshes[name]), scale=scale, **common)  # type: ignore[arg-type]


def _cone(reading: MjcfReadContext, number: int, text: str, common: dict[str, Any]) -> Cone | None:
    """Returns the cone that an unscaled mesh of given vertices represents, if any."""
    m, words = reading.m, text.split()
    if numbers(m.mesh_scale[number]) != (1.0, 1.0, 1.0) or not all(map(NUMBER.match, words)):
        return None
    # MuJoCo centers meshes; this pose restores the original vertices
    back = pose_of(m.mesh_pos[number], m.mesh_quat[number]).inverse()
    return cone_of([float(word) for word in words], **{**common, "at": common["at"] @ back})


def _mesh_frame(
    reading: MjcfReadContext, number: int, here: np.ndarray, there: np.ndarray
) -> Pose | None:
    """Returns the pose of the file's frame in MuJoCo's frame of a mesh.

    MuJoCo moves the vertices to the frame of the mesh's inertia, after its reference pose.
    """
    m = reading.m
    own = pose_of(m.mesh_pos[number], m.mesh_quat[number]).inverse()
    reference = reading.model.mesh_references.get(m.mesh(number).name, IDENTITY)
    size = float(np.abs(there).max(initial=1e-12))
    x, y, z = (a * b for a, b in zip(reference.xyz, numbers(m.mesh_scale[number]), strict=True))
    for frame in (own @ Pose((x, y, z), reference.quat).inverse(), own @ reference.inverse()):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, np.array(frame.quat))
        moved = here @ turn.reshape(3, 3).T + frame.xyz
        ends = [each(axis=0) for each in (moved.min, moved.max)]
        wanted = [each(axis=0) for each in (there.min, there.max)]
        if np.allclose(ends, wanted, rtol=0.0, atol=1e-4 * size):
            return frame
    return None


def _native_attributes(reading: MjcfReadContext, g: int, friction: float) -> dict[str, Any]:
    """Returns the MuJoCo-specific attributes of a geom that are not defaults."""
    m = reading.m
    made: dict[str, Any] = {}
    if name := reading.model.name("geom", g):
        here = plain_name(name, reading.geom_names)
        reading.geom_names.add(here)
        reading.geoms[g] = made["name"] = here
    if m.geom_fluid[g, 0]:
        made["fluid"] = numbers(m.geom_fluid[g, 1:6])
    if not _touches(m, g):
        return made
    triple = numbers(m.geom_friction[g])
    if triple != (friction, TORSIONAL_FRICTION, ROLLING_FRICTION):
        made["friction"] = triple
    for word, default in _DEFAULTS.items():
        value = getattr(m, f"geom_{word}")[g]
        read = numbers(value) if np.ndim(value) else type(default)(value)
        if read != default:
            made[word] = read
    return made


#: Color of a geom that names none.
_DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)


def _color(m: Any, g: int) -> str:
    rgba, material = numbers(m.geom_rgba[g]), int(m.geom_matid[g])
    if material >= 0 and rgba == _DEFAULT_COLOR:
        rgba = numbers(m.mat_rgba[material])
    return hex_color(rgba)
