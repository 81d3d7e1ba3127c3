"""Elements from meshes: what a file of triangles says, and what has to be assumed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from linkwork.errors import LinkworkError, MeshError, Origin
from linkwork.formats.notes import Notes
from linkwork.meshes import TriangleMesh, load_mesh, up_of
from linkwork.parts import Element, Mesh
from linkwork.spatial.pose import IDENTITY, Pose

#: Density of what a file says nothing about [kg/m³]: water, near to most plastics.
DENSITY = 1000.0

#: A thing larger than this [m] was probably drawn in millimetres.
LARGE = 5.0

#: Turns that bring a file's up to z.
UPRIGHT: dict[str, Pose] = {
    "X": Pose.of(rpy=(math.pi / 2, -math.pi / 2, 0.0)),
    "Y": Pose.of(rpy=(math.pi / 2, 0.0, 0.0)),
    "Z": IDENTITY,
}


def mesh_element(
    file: Path, name: str, notes: Notes, *, node: str = "", at: Pose | None = None
) -> Element:
    """An element with a mesh, upright, of the mesh's colour and the usual density.

    Args:
        file: The mesh.
        name: Name of the element.
        notes: Takes what had to be assumed.
        node: Of a glTF file, the node that is meant.
        at: Pose of the mesh in the element's frame; stands the file's up along z if absent.

    Raises:
        MeshError: If the file cannot be read.
    """
    mesh = load_mesh(file, node=node)
    size = float((mesh.bounds[1] - mesh.bounds[0]).max())
    if size > LARGE and not node:
        notes.say(
            f"{file}: the thing is {size:.4g} m large, as the file says it; if it was drawn in "
            "millimetres, say scale = [0.001, 0.001, 0.001], or begin with "
            f"linkwork new --from {file.name} --unit mm."
        )
    return Element(
        name,
        (Mesh(str(file), node=node, at=UPRIGHT[up_of(file)] if at is None else at),),
        density=DENSITY if _has_volume(mesh, name, notes) else None,
        color=hex_color(mesh) or Element.color,
        origin=Origin(str(file)),
    )


def hex_color(mesh: TriangleMesh) -> str:
    """The colour of a mesh as ``#rrggbb`` or ``#rrggbbaa``; empty if it has none."""
    if mesh.color is None:
        return ""
    levels = [round(255 * c) for c in mesh.color]
    return "#" + "".join(f"{level:02x}" for level in levels[: 3 if levels[3] == 255 else 4])


def _has_volume(mesh: TriangleMesh, name: str, notes: Notes) -> bool:
    """Whether a mass can be found from a density; tells how it is, or why not."""
    from linkwork.meshes import mass_properties

    try:
        found = mass_properties(mesh, density=DENSITY)
    except MeshError:
        notes.about("meshes without volume, elements without mass", name)
        return False
    except (LinkworkError, np.linalg.LinAlgError, ArithmeticError) as error:
        notes.about(f"meshes whose volume cannot be measured ({error}), without mass", name)
        return False
    notes.about(f"masses taken from a density of {DENSITY:g} kg/m³, which the file does not say",
                f"{name} ({found.mass:.4g} kg)")  # fmt: skip
    if found.note:
        notes.about(f"where {found.note} to find the mass", name)
    return True
