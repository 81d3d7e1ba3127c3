"""Reading: what the readers of models, links and joints share while one file is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from linkwork.errors import FormatError
from linkwork.formats.notes import Notes
from linkwork.formats.urdf.locate import Locator
from linkwork.formats.xml_tree import Node

#: Most files that one file may include.
MOST_FILES = 200


@dataclass
class Reading:
    """One file being read.

    Attributes:
        locator: Finds meshes and models.
        skip_missing: Leaves out meshes and models that are missing, with a note.
        notes: What was left out or changed.
        homes: Where the models of included files look for theirs, by their nodes.
        static: What includes say of their models being static, by their nodes.
        files: Files read so far.
    """

    locator: Locator
    skip_missing: bool = False
    notes: Notes = field(default_factory=Notes)
    homes: dict[int, Locator] = field(default_factory=dict)
    static: dict[int, bool] = field(default_factory=dict)
    files: int = 0

    def unread(self, node: Node, of: str = "") -> None:
        """Notes an element that is not read, with its line."""
        tag = f"{of}/{node.tag}" if of else node.tag
        self.notes.about(f"<{tag}>, not read, in line", f"{node.origin.line}")

    def unread_but(self, node: Node, known: set[str]) -> None:
        """Notes the children of an element that are not read."""
        for child in node.children:
            if child.tag not in known:
                self.unread(child, node.tag)

    def enter(self, file: Path, node: Node) -> None:
        """Counts the files that are included."""
        self.files += 1
        if self.files > MOST_FILES:
            raise FormatError(
                f"more than {MOST_FILES} files are included, the last {file}.", origin=node.origin
            )

    def miss(self, node: Node, what: str) -> None:
        """Refuses or notes something that is not found."""
        if not self.skip_missing:
            raise FormatError(
                f"{what} not found.",
                origin=node.origin,
                hint="It is looked for beside the file, in the folders above it and in those of "
                "GZ_SIM_RESOURCE_PATH; leave out what is missing with missing='skip'.",
            )
        self.notes.say(f"{node.origin}: {what} not found, left out.")
