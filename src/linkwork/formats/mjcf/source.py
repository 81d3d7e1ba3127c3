"""Source: an MJCF file with its includes put in, each element with its file and line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from linkwork.errors import FormatError
from linkwork.formats.xml_tree import Node, parse

#: Deepest nesting of elements, which is that of MuJoCo's own reader, and most of them in all.
DEEPEST, MOST_ELEMENTS = 499, 20_000


@dataclass
class Source:
    """A model's text.

    Attributes:
        root: The outermost element, includes put in.
        folder: Folder of the file; nothing outside of it is read.
    """

    root: Node
    folder: Path

    def locate(self, reference: str, node: Node, *, base: str = "") -> Path:
        """The file that a reference means, inside the model's folder.

        Raises:
            FormatError: If it leads out of the folder.
        """
        given = reference.replace("\\", "/")
        if "\0" in given:
            raise FormatError(f"{reference!r} is no path.", origin=node.origin)
        path = Path(os.path.realpath(self.folder / base.replace("\\", "/") / given))
        if not path.is_relative_to(os.path.realpath(self.folder)):
            raise FormatError(
                f"<{node.tag}> names the file {reference!r}, which is outside of the model's "
                f"folder {str(self.folder)!r}.",
                origin=node.origin,
                hint="Copy it there.",
            )
        return path


def read_source(path: Path) -> Source:
    """Reads a file and what it includes.

    Raises:
        FormatError: If it is not MJCF, includes in a circle or is beyond all measure.
    """
    root = parse(path)
    if root.tag != "mujoco":
        raise FormatError(
            f"the outermost element is <{root.tag}>; that of MJCF is <mujoco>.", origin=root.origin
        )
    source = Source(root, Path(os.path.abspath(path)).parent)
    _include(source, root, [Path(os.path.realpath(path))])
    if sum(1 for _ in root.walk()) > MOST_ELEMENTS:
        raise FormatError(f"the model has more than {MOST_ELEMENTS} elements.", origin=root.origin)
    return source


def _include(source: Source, root: Node, files: list[Path]) -> None:
    """Puts the children of included files in the place of each ``<include>``."""
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise FormatError(
                f"elements are nested deeper than {DEEPEST}, which is as deep as MuJoCo reads.",
                origin=node.origin,
            )
        made: list[Node] = []
        inside = [*reversed(node.children)]
        while inside:
            child = inside.pop()
            if child.tag != "include":
                made.append(child)
                continue
            inside.extend(reversed(_included(source, child, files).children))
        node.children[:] = made
        waiting.extend((child, depth + 1) for child in reversed(made))


def _included(source: Source, node: Node, files: list[Path]) -> Node:
    reference = node.attributes.get("file", "").strip()
    if not reference:
        raise FormatError("<include> needs the attribute 'file'.", origin=node.origin)
    path = source.locate(reference, node)
    if path in files:
        raise FormatError(f"{reference!r} is included a second time.", origin=node.origin)
    files.append(path)
    if len(files) > 1000:
        raise FormatError("more than 1000 files are included.", origin=node.origin)
    return parse(path)
