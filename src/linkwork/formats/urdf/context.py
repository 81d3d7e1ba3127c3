"""Reading: what the readers of links and joints share while one file is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.formats.notes import Notes
from linkwork.formats.urdf.locate import Locator


@dataclass(frozen=True)
class Material:
    """How a surface looks: ``#rrggbb`` or ``#rrggbbaa`` and an image file, each may be empty."""

    color: str = ""
    texture: str = ""


@dataclass
class Reading:
    """One file being read.

    Attributes:
        locator: Finds meshes and textures.
        skip_missing: Leaves out shapes whose mesh is missing, with a note, rather than refuse.
        notes: What was left out or changed.
        materials: Materials by name, from anywhere in the file.
    """

    locator: Locator
    skip_missing: bool = False
    notes: Notes = field(default_factory=Notes)
    materials: dict[str, Material] = field(default_factory=dict)
