"""Read context of one SDF file: resource locator, notes, includes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from linkwork.core.errors import FormatError
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.resources import ResourceLocator
from linkwork.formats.robots.xml import XmlNode

#: Maximum number of included files.
MAX_FILES = 200


@dataclass
class SdfReadContext:
    """One file being read.

    Attributes:
        locator: Finds meshes and models.
        skip_missing: Leaves out meshes and models that are missing, with a note.
        notes: Notes on omissions and changes.
        homes: Resource locators of included files, by the node of their model.
        static: The ``<static>`` of includes, by the node of their model.
        files: Files read so far.
    """

    locator: ResourceLocator
    skip_missing: bool = False
    notes: ConversionNotes = field(default_factory=ConversionNotes)
    homes: dict[int, ResourceLocator] = field(default_factory=dict)
    static: dict[int, bool] = field(default_factory=dict)
    files: int = 0

    def unread(self, node: XmlNode, of: str = "") -> None:
        """Notes an element that is not read, with its line."""
        tag = f"{of}/{node.tag}" if of else node.tag
        self.notes.about(f"<{tag}>, not read, in line", f"{node.origin.line}")

    def unread_but(self, node: XmlNode, known: set[str]) -> None:
        """Notes the children of an element that are not read."""
        for child in node.children:
            if child.tag not in known:
                self.unread(child, node.tag)

    def enter(self, file: Path, node: XmlNode) -> None:
        """Counts the files that are included."""
        self.files += 1
        if self.files > MAX_FILES:
            raise FormatError(
                f"more than {MAX_FILES} files are included, the last {file}.", origin=node.origin
            )

    def miss(self, node: XmlNode, what: str) -> None:
        """Raises an error, or adds a note, for a file that is not found."""
        if not self.skip_missing:
            raise FormatError(
                f"{what} not found.",
                origin=node.origin,
                hint="It is looked for beside the file, in the folders above it and in those of "
                "GZ_SIM_RESOURCE_PATH; leave out what is missing with missing='skip'.",
            )
        self.notes.add(f"{node.origin}: {what} not found, left out.")
