"""Mesh files (STL, OBJ, Collada) as parts of one element."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import ClassVar

import numpy as np

from linkwork.core.errors import FormatError, LinkworkError, MeshError, Origin
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.geometry.meshes import TriangleMesh, load_mesh, up_axis_of
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts import Element, Mesh, Part
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Scene

#: Default density [kg/m³]: that of water, close to most plastics.
DENSITY = 1000.0

#: A larger object [m] was probably drawn in millimeters.
LARGE_SIZE = 5.0

#: Rotations from the file's up axis to z.
UP_ROTATIONS: dict[str, Pose] = {
    "X": Pose.of(rpy=(math.pi / 2, -math.pi / 2, 0.0)),
    "Y": Pose.of(rpy=(math.pi / 2, 0.0, 0.0)),
    "Z": IDENTITY,
}


def mesh_element(
    file: Path, name: str, notes: ConversionNotes, *, node: str = "", at: Pose | None = None
) -> Element:
    """Returns an element with a mesh, upright, with the mesh's color and the default density.

    Args:
        file: The mesh.
        name: Name of the element.
        notes: Receives assumptions.
        node: Node of a glTF file.
        at: Pose of the mesh in the element's frame; by default the file's up axis is along z.

    Raises:
        MeshError: If the file cannot be read.
    """
    mesh = load_mesh(file, node=node)
    size = float((mesh.bounds[1] - mesh.bounds[0]).max())
    if size > LARGE_SIZE and not node:
        notes.add(
            f"{file}: the object is {size:.4g} m large in meters; if it was drawn in "
            "millimeters, say scale = [0.001, 0.001, 0.001], or begin with "
            f"linkwork new --from {file.name} --unit mm.",
            kind="unit",
        )
    return Element(
        name,
        (Mesh(str(file), node=node, at=UP_ROTATIONS[up_axis_of(file)] if at is None else at),),
        density=DENSITY if _has_volume(mesh, name, notes) else None,
        color=hex_color(mesh) or Element.color,
        origin=Origin(str(file)),
    )


def hex_color(mesh: TriangleMesh) -> str:
    """Returns the color of a mesh as ``#rrggbb`` or ``#rrggbbaa``; empty if it has none."""
    if mesh.color is None:
        return ""
    levels = [round(255 * c) for c in mesh.color]
    return "#" + "".join(f"{level:02x}" for level in levels[: 3 if levels[3] == 255 else 4])


def _has_volume(mesh: TriangleMesh, name: str, notes: ConversionNotes) -> bool:
    """Whether the mass follows from a density; adds a note."""
    from linkwork.geometry.meshes import mass_properties

    try:
        found = mass_properties(mesh, density=DENSITY)
    except MeshError:
        notes.about("meshes without volume, elements without mass", name)
        return False
    except (LinkworkError, np.linalg.LinAlgError, ArithmeticError) as error:
        notes.about(f"meshes whose volume cannot be measured ({error}), without mass", name)
        return False
    notes.about(
        f"masses taken from a density of {DENSITY:g} kg/m³, which is not in the file",
        f"{name} ({found.mass:.4g} kg)",
        kind="density",
    )
    if found.note:
        notes.about(f"where {found.note} to find the mass", name)
    return True


__all__ = ["MeshFormat"]


class MeshFormat:
    """Reads a mesh file as a part with one element, named as the file."""

    suffixes: ClassVar[tuple[str, ...]] = (".stl", ".obj", ".dae")
    writes: ClassVar[bool] = False

    def read(self, path: str | os.PathLike[str]) -> Part:
        """Returns the part of a mesh; see :meth:`read_with_notes`."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """Returns the part of a mesh, and assumptions.

        A mesh has no units and no density: numbers are meters, the density is that of water.

        Raises:
            MeshError: If the file cannot be read.
        """
        file, notes = Path(path), ConversionNotes()
        name = plain_name(file.stem)
        element = mesh_element(file, name, notes)
        part = Part(name, origin=element.origin)
        if name != file.stem:
            part.title = file.stem
        return part.add(element), notes.lines()

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Refuses to write: a mesh cannot hold a robot.

        Raises:
            FormatError: Always; it names formats that can be written.
        """
        raise FormatError(
            f"{os.fspath(path)!r}: {thing.name!r} cannot be written as a mesh.",
            origin=thing.origin,
            hint="Write it as .toml or .urdf, which name mesh files.",
        )
