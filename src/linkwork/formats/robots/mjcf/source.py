"""Source: an MJCF file with its includes resolved, each element with its file and line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from linkwork.core.errors import FormatError
from linkwork.formats.robots.xml import XmlNode, parse_xml

#: Maximum depth of elements, that of MuJoCo's reader, and maximum number of them.
MAX_DEPTH, MAX_ELEMENTS = 499, 20_000
#: Number of folders above the model's that a reference may lead to, never to the root of the
#: file system: dm_control's dog has its meshes below the fourth.
MAX_FOLDERS_UP = 5


@dataclass
class MjcfSource:
    """A model's text.

    Attributes:
        root: The root element, with includes resolved.
        folder: Folder of the file.
    """

    root: XmlNode
    folder: Path

    def locate(self, reference: str, node: XmlNode, *, base: str = "") -> Path:
        """Returns the file that a relative reference means.

        It may lead to folders beside the model's or a few above, as those of shared meshes. As in
        MuJoCo, the model's folder comes first, then that of the included file with the reference.

        Raises:
            FormatError: If the reference is an absolute path outside of the model's folder, or
                leads too far up.
        """
        given = reference.replace("\\", "/")
        if "\0" in given:
            raise FormatError(f"{reference!r} is no path.", origin=node.origin)
        inner = Path(base.replace("\\", "/")) / given
        above = (self.folder, *self.folder.parents)[: MAX_FOLDERS_UP + 1]
        outermost = above[-1] if above[-1] != above[-1].parent else (self.folder, *above)[-2]
        within = self.folder if inner.is_absolute() else outermost
        if not Path(os.path.normpath(self.folder / inner)).is_relative_to(within):
            raise FormatError(
                f"<{node.tag}> names the file {reference!r}, which is outside of {str(within)!r}.",
                origin=node.origin,
                hint="Name it relative to the model, at most "
                f"{MAX_FOLDERS_UP} folders up, or copy it there.",
            )
        path = Path(os.path.realpath(self.folder / inner))
        beside = Path(os.path.normpath(Path(node.origin.file).parent / inner))
        if not path.is_file() and beside.is_relative_to(outermost) and beside.is_file():
            return Path(os.path.realpath(beside))
        return path


def read_source(path: Path) -> MjcfSource:
    """Reads a file and the files that it includes.

    Raises:
        FormatError: If it is not MJCF, has cyclic includes or is too large.
    """
    root = parse_xml(path)
    if root.tag != "mujoco":
        raise FormatError(
            f"the outermost element is <{root.tag}>; that of MJCF is <mujoco>.", origin=root.origin
        )
    source = MjcfSource(root, Path(os.path.abspath(path)).parent)
    _include(source, root, [Path(os.path.realpath(path))])
    if sum(1 for _ in root.walk()) > MAX_ELEMENTS:
        raise FormatError(f"the model has more than {MAX_ELEMENTS} elements.", origin=root.origin)
    return source


def _include(source: MjcfSource, root: XmlNode, files: list[Path]) -> None:
    """Replaces each ``<include>`` by the children of the included file."""
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise FormatError(
                f"elements are nested deeper than {MAX_DEPTH}, which is as deep as MuJoCo reads.",
                origin=node.origin,
            )
        made: list[XmlNode] = []
        inside = [*reversed(node.children)]
        while inside:
            child = inside.pop()
            if child.tag != "include":
                made.append(child)
                continue
            inside.extend(reversed(_included(source, child, files).children))
        node.children[:] = made
        waiting.extend((child, depth + 1) for child in reversed(made))


def _included(source: MjcfSource, node: XmlNode, files: list[Path]) -> XmlNode:
    reference = node.attributes.get("file", "").strip()
    if not reference:
        raise FormatError("<include> needs the attribute 'file'.", origin=node.origin)
    path = source.locate(reference, node)
    if path.suffix.lower() not in (".xml", ".mjcf"):
        raise FormatError(
            f"<include> names {reference!r}, which is no XML file.", origin=node.origin
        )
    if path in files:
        raise FormatError(f"{reference!r} is included a second time.", origin=node.origin)
    files.append(path)
    if len(files) > 1000:
        raise FormatError("more than 1000 files are included.", origin=node.origin)
    return parse_xml(path)
