"""Read context of one SDF file: resource locator, notes, includes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from linkwork.core.errors import FormatError, Origin
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.gazebo import is_false, is_zero, note_plugin
from linkwork.formats.robots.resources import MissingResources, ResourceLocator
from linkwork.formats.robots.xml import XmlNode

#: Elements that change the motion and are not read, with the consequence.
UNREAD_MOTION = {
    "link/kinematic": "forces move these links",
    "link/enable_wind": "no wind acts on these links",
    "model/enable_wind": "no wind acts on these links",
    "link/velocity_decay": "these links move without this damping",
    "link/contact": "these links have the default contacts",
    "inertial/fluid_added_mass": "the fluid around these links has no inertia",
    "mesh/submesh": "the whole mesh is taken",
    "world/population": "these models are missing",
    "world/road": "this road is missing",
}
#: Maximum number of included files.
MAX_FILES = 200


@dataclass
class SdfReadContext:
    """One file being read.

    Attributes:
        locator: Finds meshes and models.
        notes: Notes on omissions and changes.
        missing: Meshes and models that are not found.
        file: The outermost file.
        homes: Resource locators of included files, by the node of their model.
        static: The ``<static>`` of includes, by the node of their model.
        files: Files read so far.
    """

    locator: ResourceLocator
    notes: ConversionNotes
    missing: MissingResources
    file: str = ""
    homes: dict[int, ResourceLocator] = field(default_factory=dict)
    static: dict[int, bool] = field(default_factory=dict)
    files: int = 0

    def line(self, node: XmlNode) -> str:
        """Returns the line of an element, with its file if that is included."""
        outer = node.origin.file == self.file
        return f"{node.origin.line}" if outer else f"{node.origin}"

    def unread(self, node: XmlNode, of: str = "") -> None:
        """Notes an element that is not read, with its line, and what moves differently."""
        if node.tag == "plugin":
            note_plugin(node, self.line(node), self.notes)
            return
        tag, why = f"{of}/{node.tag}" if of else node.tag, ""
        if not (is_false(node) or is_zero(node)):
            why = UNREAD_MOTION.get(tag, "")
        what = f"<{tag}>, not read{f'; {why}' if why else ''}, in line"
        self.notes.about(what, self.line(node), kind="motion" if why else "")

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
