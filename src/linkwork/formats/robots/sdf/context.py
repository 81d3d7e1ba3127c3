"""Read context of one SDF file: resource locator, notes, includes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from linkwork.core.errors import FormatError, Origin
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.resources import MissingResources, ResourceLocator
from linkwork.formats.robots.xml import XmlNode

#: Maximum number of included files.
MAX_FILES = 200


@dataclass
class SdfReadContext:
    """One file being read.

    Attributes:
        locator: Finds meshes and models.
        notes: Notes on omissions and changes.
        missing: Meshes and models that are not found.
        homes: Resource locators of included files, by the node of their model.
        static: The ``<static>`` of includes, by the node of their model.
        files: Files read so far.
    """

    locator: ResourceLocator
    notes: ConversionNotes
    missing: MissingResources
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
        """Counts the files that are included.

        Raises:
            FormatError: If there are too many, as in files that include each other.
        """
        self.files += 1
        if self.files > MAX_FILES:
            raise FormatError(
                f"more than {MAX_FILES} files are included, the last {file}.", origin=node.origin
            )

    def note_fault(self, origin: Origin, text: str) -> None:
        """Notes a fault of the XML that was repaired."""
        self.notes.about(text, f"{origin}")
