"""Resolution of a URDF's mesh and texture references: package://, model://, file:// and paths."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from linkwork.core.errors import FormatError
from linkwork.formats.robots.xml import parse_xml

#: Folders that hold ROS packages or Gazebo models, by the variable that lists them.
SEARCH_VARIABLES = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
AMENT_VARIABLE = "AMENT_PREFIX_PATH"


def package_name(folder: Path) -> str:
    """Returns the package name in ``folder``'s ``package.xml``, or an empty text."""
    file = folder / "package.xml"
    if not os.path.isfile(file):
        return ""
    try:
        name = parse_xml(file).first("name")
    except FormatError:
        return ""
    return name.text.strip() if name is not None else ""


class ResourceLocator:
    """Finds the files that a URDF refers to.

    Args:
        folder: Folder of the URDF.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.abspath(folder))
        self._roots: dict[str, list[Path]] = {}

    def find(self, reference: str) -> tuple[Path | None, list[str]]:
        """Returns the file that ``reference`` means, if it exists, and all paths tried."""
        tried: list[str] = []
        for spelling in dict.fromkeys((reference, unquote(reference), _slashes(reference))):
            for candidate in self._candidates(spelling):
                if str(candidate) not in tried:
                    tried.append(str(candidate))
                if os.path.isfile(candidate):
                    return Path(os.path.abspath(candidate)), tried
        return None, tried

    def _candidates(self, reference: str) -> Iterator[Path]:
        scheme, separator, rest = reference.partition("://")
        if not separator:
            yield self.folder / reference.removeprefix("file:")
        elif scheme in ("package", "model"):
            package, _, inner = rest.lstrip("/").partition("/")
            for root in self._package_roots(package):
                yield root / inner
        elif scheme == "file":
            yield self.folder / rest

    def _package_roots(self, package: str) -> list[Path]:
        if package not in self._roots:
            self._roots[package] = list(dict.fromkeys(self._search(package)))
        return self._roots[package]

    def _search(self, package: str) -> Iterator[Path]:
        if not package or package in (".", ".."):
            return
        for variable in SEARCH_VARIABLES:
            for folder in _folders(variable):
                if package in (folder.name, package_name(folder)):
                    yield folder
                yield folder / package
                # A workspace's source folder holds repositories that hold packages.
                yield from (p for p in _children(folder, package) if os.path.isdir(p))
        for prefix in _folders(AMENT_VARIABLE):
            yield prefix / "share" / package
        for parent in (self.folder, *self.folder.parents):
            if package in (parent.name, package_name(parent)):
                yield parent
            yield parent / package


def _slashes(reference: str) -> str:
    """Returns the reference with the backslashes of Windows as slashes."""
    return reference.replace("\\", "/")


def _folders(variable: str) -> list[Path]:
    given = os.environ.get(variable, "")
    return [Path(os.path.abspath(p)) for p in given.split(os.pathsep) if p]


def _children(folder: Path, package: str) -> list[Path]:
    try:
        return [child / package for child in sorted(folder.iterdir())]
    except OSError:
        return []
