"""Import options: units, density, base, anchors, ranges that a file lacks."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from linkwork.core.errors import FormatError, Origin, PartError, listing, not_found, os_error_text
from linkwork.formats.drawings.mesh import UP_ROTATIONS
from linkwork.formats.extent import part_extent, shape_extent, zero_element_poses
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.meshes import mesh_files
from linkwork.geometry.pose import IDENTITY, Pose, Vec3
from linkwork.model.parts import Anchor, Element, Joint, Mesh, Part
from linkwork.model.parts.joint import JOINT_ATTRIBUTES, Range

#: Units of drawings [m].
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254}
#: Positions of an anchor: center of the part's bottom or top, its root, or none.
ANCHOR_POSITIONS = ("bottom", "top", "origin", "none")


def scaled(part: Part, factor: float) -> Part:
    """Returns the part with every length times ``factor``, masses unchanged.

    Raises:
        PartError: If the factor would change other units: of shapes with sizes, forces, attached
            parts.
    """
    _check_scalable(part)

    def smaller(pose: Pose) -> Pose:
        return Pose(_times(pose.xyz, factor), pose.quat)

    made = replace(part, elements={}, joints={}, anchors={})
    for element in part.elements.values():
        shapes = tuple(
            replace(s, scale=_times(s.scale, factor), at=smaller(s.at))
            for s in element.shapes
            if isinstance(s, Mesh)
        )
        given = element.inertia
        inertia = given and Inertia(given.mass, given.com * factor, given.matrix * factor**2)
        velocity = _times(element.velocity, factor)
        at = smaller(element.at)
        made.add(replace(element, shapes=shapes, at=at, inertia=inertia, velocity=velocity))
    for joint in part.joints.values():
        made.add(_scaled_joint(joint, factor, smaller(joint.at), smaller(joint.at_to)))
    for anchor in part.anchors.values():
        made.add(replace(anchor, at=smaller(anchor.at)))
    return made


def _scaled_joint(joint: Joint, factor: float, at: Pose, at_to: Pose) -> Joint:
    units = [1.0 if joint.kind.is_angle(dof) else factor for dof in range(joint.kind.nv)]
    ranges = tuple(
        pair and (pair[0] * unit, pair[1] * unit)
        for pair, unit in zip(joint.ranges, units, strict=True)
    )
    attributes = {
        name: getattr(joint, name) * units[0]
        for name, declared in JOINT_ATTRIBUTES.items()
        if declared.is_dof_value and units and getattr(joint, name) is not None
    }
    return replace(
        joint, at=at, at_to=at_to, range=ranges, pitch=joint.pitch * factor, **attributes,
        value=tuple(value * unit for value, unit in zip(joint.values, units, strict=True)),
        speed=tuple(value * unit for value, unit in zip(joint.speeds, units, strict=True)),
        rail=tuple(replace(piece, length=piece.length * factor) for piece in joint.rail),
    )  # fmt: skip


def _check_scalable(part: Part) -> None:
    hint = "A unit is for drawings; give their lengths in meters in the file itself."
    for element in part.elements.values():
        for shape in element.shapes:
            if not isinstance(shape, Mesh):
                raise PartError(
                    f"element {element.name!r} has a {shape.kind}, whose size is in meters.",
                    origin=element.origin, hint="A unit is for meshes.",
                )  # fmt: skip
    for joint in part.joints.values():
        laws = [name for name, declared in JOINT_ATTRIBUTES.items() if declared.has_force_unit]
        laws += ["drive", "mujoco"]
        if found := [law for law in laws if getattr(joint, law)]:
            raise PartError(
                f"joint {joint.name!r} has {listing(found)}, whose unit holds newtons and meters.",
                origin=joint.origin, hint=hint,
            )  # fmt: skip
    for what in ("couplings", "attachments", "sensors", "ports"):
        if getattr(part, what):
            raise PartError(
                f"part {part.name!r} has {what}, whose lengths would stay as they are.",
                origin=part.origin, hint=hint,
            )  # fmt: skip


def _times(vector: Vec3, factor: float) -> Vec3:
    x, y, z = vector
    return (x * factor, y * factor, z * factor)


def upright(part: Part, up: str) -> Part:
    """Returns the part rotated so that the file's ``up`` axis ("x", "y", "z") is z.

    The frames of its elements stay upright; shapes, joints and anchors rotate in them.
    """
    turn = UP_ROTATIONS[up.upper()]
    back = turn.inverse()
    made = replace(part, elements={}, joints={}, anchors={})
    for element in part.elements.values():
        made.add(
            replace(
                element, shapes=tuple(shape.moved(turn) for shape in element.shapes),
                at=turn @ element.at @ back,
                inertia=element.inertia and element.inertia.moved(turn),
                velocity=turn.rotate(element.velocity), spin=turn.rotate(element.spin),
            )
        )  # fmt: skip
    for joint in part.joints.values():
        made.add(replace(joint, at=turn @ joint.at, at_to=turn @ joint.at_to))
    for anchor in part.anchors.values():
        made.add(replace(anchor, at=turn @ anchor.at))
    return made


def elements_without_mass(part: Part) -> list[str]:
    """Returns the elements with shapes and without mass."""
    return [
        element.name
        for element in part.elements.values()
        if element.shapes and element.inertia is None and not (element.mass or element.density)
    ]


def with_mass(part: Part, names: list[str], *, density: float = 0.0, mass: float = 0.0) -> Part:
    """Returns the part with a density [kg/m³], or with a total mass ``mass`` [kg].

    Raises:
        PartError: If the elements have no volume.
    """
    made = replace(part, elements=dict(part.elements))
    if mass:
        volume = sum(shape.volume() for name in names for shape in part.elements[name].shapes)
        if not volume > 0.0:
            raise PartError(
                f"part {part.name!r}: its elements have no volume for a mass.",
                origin=part.origin,
            )
        density = mass / volume
    for name in names:
        made.elements[name] = replace(part.elements[name], density=density, mass=None)
    return made


def fixed_to_base(part: Part, base: str) -> Part:
    """Returns a part without joints, with all its elements fixed to ``base``.

    Raises:
        LinkworkError: If there is no such element, or the part has joints.
    """
    if base not in part.elements:
        raise not_found("element", base, part.elements, origin=part.origin)
    if base == part.root():
        return part
    if part.joints:
        raise PartError(
            f"part {part.name!r} has joints, which say that {part.root()!r} is its base.",
            origin=part.origin,
        )
    poses = zero_element_poses(part)
    back = poses[base].inverse()
    made = replace(part, elements={})
    made.add(replace(part.elements[base], on="", at=IDENTITY))
    for element in part.elements.values():
        if element.name == base or (not element.shapes and not element.on):
            continue  # the element of the file's origin is not needed any more
        made.add(replace(element, on=base, at=back @ poses[element.name]))
    return made


def with_anchor(part: Part, name: str, place: str) -> Part:
    """Returns the part with an anchor: "bottom", "top", "origin", "none" or ``x,y,z`` [m].

    "top" of a robot with joints is that of its last element.

    Raises:
        PartError: If the position is unknown, or the name taken.
    """
    if place == "none":
        return part
    on, pose = part.root(), IDENTITY
    if place in ("bottom", "top"):
        last = _end_of_longest_chain(part) if place == "top" else on
        if last != on:
            on = last
            found = [e for s in part.elements[on].shapes if (e := shape_extent(s)) is not None]
            low = [min(e[0][k] for e in found) for k in range(3)] if found else [0.0] * 3
            high = [max(e[1][k] for e in found) for k in range(3)] if found else [0.0] * 3
        else:
            low, high = part_extent(part)
        height = low[2] if place == "bottom" else high[2]
        pose = Pose.of(((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, height))
    elif place != "origin":
        try:
            x, y, z = (float(word) for word in place.split(","))
        except ValueError:
            raise PartError(
                f"anchor {name!r}: {place!r} is not a position.",
                hint=f"Say {', '.join(ANCHOR_POSITIONS)}, or x,y,z in meters.",
            ) from None
        pose = Pose.of((x, y, z))
    made = replace(part, anchors=dict(part.anchors))
    return made.add(Anchor(name, on, pose))


def _end_of_longest_chain(part: Part) -> str:
    """Returns the element at the end of the longest chain of joints; the root if there is none."""
    above = {joint.to: joint.from_ for joint in part.joints.values()}
    depths: dict[str, int] = {}
    for element in part.elements:
        walker, depth = element, 0
        while walker in above and depth <= len(above):
            walker, depth = above[walker], depth + 1
        depths[element] = depth
    return max(depths, key=lambda name: depths[name]) if part.joints else part.root()


def joints_without_range(part: Part) -> list[Joint]:
    """Returns the hinges and sliders without a range."""
    return [
        joint
        for joint in part.joints.values()
        if joint.type in ("hinge", "slider") and joint.ranges[0] is None
    ]


def with_ranges(part: Part, ranges: Mapping[str, Range]) -> Part:
    """Returns the part with ranges of joints [deg or m].

    Raises:
        LinkworkError: If a joint does not exist, or a range is invalid.
    """
    made = replace(part, joints=dict(part.joints))
    for name, (lo, hi) in ranges.items():
        if name not in part.joints:
            raise not_found("joint", name, part.joints, origin=part.origin)
        joint = part.joints[name]
        unit = math.pi / 180.0 if joint.kind.nv == 1 and joint.kind.is_angle(0) else 1.0
        made.joints[name] = replace(joint, range=(lo * unit, hi * unit), value=None)
    return made


def with_copied_meshes(part: Part, folder: Path, name: str) -> Part:
    """Returns the part with its meshes copied to ``<name>_meshes`` in a folder.

    Meshes inside the folder are not copied.

    Raises:
        LinkworkError: If a mesh cannot be read or copied.
    """
    copies: dict[str, str] = {}
    home = folder.resolve()

    def place(file: str) -> str:
        source = Path(file).resolve()
        if source.is_relative_to(home):
            return file
        if file not in copies:
            target = folder / f"{name}_meshes"
            if (target / source.name).exists():
                target /= f"{len(copies) + 1}"
            for each in mesh_files(source):
                copy = target / each.relative_to(source.parent)
                try:
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(each, copy)
                except OSError as error:
                    why = os_error_text(error)
                    raise FormatError(
                        f"the mesh cannot be copied: {why}.", origin=Origin(str(copy))
                    ) from error
            copies[file] = str(target / source.name)
        return copies[file]

    def moved(element: Element) -> Element:
        shapes = tuple(
            replace(s, file=place(s.file)) if isinstance(s, Mesh) else s for s in element.shapes
        )
        return replace(element, shapes=shapes)

    return replace(part, elements={key: moved(each) for key, each in part.elements.items()})
