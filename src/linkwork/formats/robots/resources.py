"""Resolution of references to meshes, textures and models: package://, model://, Fuel, paths.

Nothing is downloaded: models of Gazebo Fuel are looked for where ``gz fuel download`` puts them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from linkwork.core.errors import (
    FormatError,
    LinkworkError,
    MeshNotFound,
    Origin,
    closest_name,
    listing,
)
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.xml import parse_xml

#: Folders that hold ROS packages or Gazebo models, by the variable that lists them.
SEARCH_VARIABLES = (
    "ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "SDF_PATH",
    "GZ_FILE_PATH", "IGN_FILE_PATH", "GAZEBO_MODEL_PATH", "GAZEBO_RESOURCE_PATH",
)  # fmt: skip
AMENT_VARIABLE = "AMENT_PREFIX_PATH"
#: Variables with the folder of models downloaded from Fuel, and its default, newest first.
FUEL_CACHES = (("GZ_FUEL_CACHE_PATH", "~/.gz/fuel"), ("IGN_FUEL_CACHE_PATH", "~/.ignition/fuel"))
#: Names of the server of Fuel in that folder.
FUEL_SERVERS = ("fuel.gazebosim.org", "fuel.ignitionrobotics.org")
#: Models of Gazebo Classic.
CLASSIC_MODELS = "~/.gazebo/models"
#: Maximum depth and number of folders searched for packages below one of ``ROS_PACKAGE_PATH``.
MAX_DEPTH, MAX_FOLDERS = 5, 5000
#: Maximum number of folders above a file whose neighbors are searched.
MAX_PARENTS = 8
#: Number of folders above a file in which a relative path is looked for.
MAX_LEVELS = 3
#: Maximum number of missing files in a message.
MAX_MISSING = 200
#: Maximum number of searched paths in a message.
MAX_PATHS = 24

_FUEL = re.compile(
    r"https?://(?:fuel|app|api)\.(?:gazebosim|ignitionrobotics)\.org/(?:[\d.]+/)?"
    r"(?P<owner>[^/]+)/(?:fuel/)?(?P<kind>models|worlds)/(?P<name>[^/]+)"
    r"(?:/(?P<version>tip|\d+))?(?:/files)?(?:/(?P<inner>.*))?\Z",
    re.IGNORECASE | re.ASCII,
)

#: What a reader does about a missing mesh or model: refuse the file, or leave it out with a note.
MissingFiles = Literal["error", "skip"]
_policy: list[MissingFiles] = ["error"]


def missing_files() -> MissingFiles:
    """Returns what readers do about missing meshes and models, unless they are told."""
    return _policy[-1]


def set_missing_files(choice: MissingFiles) -> None:
    """Sets what readers of this process do, for the command line."""
    _policy[0] = choice


@contextlib.contextmanager
def missing_files_as(choice: MissingFiles) -> Iterator[None]:
    """Sets what readers do within a ``with`` block."""
    _policy.append(choice)
    try:
        yield
    finally:
        _policy.pop()


def package_name(folder: Path) -> str:
    """Returns the package name in ``folder``'s ``package.xml``, or an empty text."""
    file = folder / "package.xml"
    if not os.path.isfile(file):
        return ""
    try:
        name = parse_xml(file, on_fault=lambda *_: None).first("name")
    except FormatError:
        return ""
    return name.text.strip() if name is not None else ""


class ResourceLocator:
    """Finds the files that a robot or world refers to.

    Args:
        folder: Folder of its file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.abspath(folder))
        self._packages: dict[str, list[Path]] = {}

    def find(self, reference: str, inside: str = "") -> tuple[Path | None, list[str]]:
        """Returns the file that ``reference`` means, if it exists, and all paths tried.

        Args:
            reference: A path, or a URI.
            inside: Path below the folder that ``reference`` means.
        """
        tried: dict[str, None] = {}
        for spelling in dict.fromkeys((reference, unquote(reference), _slashes(reference))):
            for candidate in self._candidates(spelling):
                path = os.path.abspath(candidate / inside)
                tried[path] = None
                if _is_file(path):
                    return Path(path), list(tried)
        return None, list(tried)

    def _candidates(self, reference: str) -> Iterator[Path]:
        scheme, separator, rest = reference.partition("://")
        if not separator or scheme == "file":
            path = rest if separator else reference.removeprefix("file:")
            yield self.folder / path
            if not os.path.isabs(path):  # as Bullet does
                yield from (parent / path for parent in self.folder.parents[:MAX_LEVELS])
        elif scheme in ("package", "model"):
            package, _, inner = rest.lstrip("/").partition("/")
            if package and package not in (".", ".."):
                for root in self._package_roots(package):
                    yield root / inner
        elif found := _FUEL.match(reference):
            yield from (folder / (found["inner"] or "") for folder in _fuel_folders(found))

    def _parents(self) -> list[Path]:
        return [self.folder, *self.folder.parents]

    def _package_roots(self, package: str) -> Iterator[Path]:
        """Yields the possible folders of a package: those of that name, then by package.xml."""
        yield from self._named_folders(package)
        if package not in self._packages:
            self._packages[package] = list(self._declared_folders(package))
        yield from self._packages[package]

    def _named_folders(self, package: str) -> Iterator[Path]:
        for _, folder in _listed_folders():
            if package in (folder.name, package_name(folder)):
                yield folder
            yield folder / package
        for prefix in _folders(AMENT_VARIABLE):
            yield prefix / "share" / package
        for parent in self._parents():
            if package in (parent.name, package_name(parent)) or _is_version_of(parent, package):
                yield parent
            yield parent / package
            yield parent / "models" / package
        yield Path(os.path.expanduser(CLASSIC_MODELS)) / package

    def _declared_folders(self, package: str) -> Iterator[Path]:
        """Yields folders whose package.xml, or whose own name deeper down, is the package's."""
        for variable, folder in _listed_folders():
            # A workspace's source folder holds repositories that hold packages.
            inner = (each / package for each in _subfolders(folder))
            yield from (each for each in inner if os.path.isdir(each))
            for each in _packages_below(folder) if variable == "ROS_PACKAGE_PATH" else ():
                if package in (each.name, package_name(each)):
                    yield each
        for parent in self._parents()[:MAX_PARENTS]:
            for each in _subfolders(parent):
                if package_name(each) == package:
                    yield each

    def find_model(self, reference: str) -> tuple[Path | None, list[str]]:
        """Returns the SDF file that ``model://name``, a folder, a name or a path means."""
        tried: list[str] = []
        _, separator, rest = reference.partition("://")
        by_name = not separator or reference.startswith("file://")
        name = rest if separator else reference
        for each in (reference, *([f"model://{name}"] if by_name and name[:1] != "/" else ())):
            found, paths = self.find(each)
            if found is not None and found.suffix in (".sdf", ".xml", ".world", ".urdf"):
                return found, tried
            tried += paths
            config, _ = self.find(each, "model.config")
            for own in reversed(_configured(config) if config is not None else []):
                if _is_file(str(own)):
                    return own, tried
            found, _ = self.find(each, "model.sdf")
            if found is not None:
                return found, tried
        return None, list(dict.fromkeys(tried))

    def hint(self, reference: str, tried: list[str]) -> str:
        """Returns what was searched for a missing file, and how to get it."""
        shown = [f"\n  {path}" for path in tried[:MAX_PATHS]] or [" nowhere"]
        if len(tried) > MAX_PATHS:
            shown.append(f"\n  … ({len(tried) - MAX_PATHS} more)")
        return f"Searched:{''.join(shown)}\n{self._remedy(reference)}"

    def _remedy(self, reference: str) -> str:
        """Returns how to get a missing file, or to do without it."""
        skip = "or leave it out: --missing-meshes skip."
        scheme, separator, rest = reference.partition("://")
        if scheme in ("package", "model") and separator:
            package = rest.lstrip("/").partition("/")[0]
            variable = "ROS_PACKAGE_PATH" if scheme == "package" else "GZ_SIM_RESOURCE_PATH"
            if near := self.nearest(reference):
                return (
                    f"There is {near}: if the folder of {package!r} was renamed, give it that name "
                    f"again or put a link of that name beside it, {skip}"
                )
            return f"Name the folder that holds {package!r} in {variable}, {skip}"
        if found := _FUEL.match(reference):
            url = f"https://{FUEL_SERVERS[0]}/1.0/{found['owner']}/{found['kind']}/{found['name']}"
            if found["version"]:
                url += f"/{found['version']}"
            return f"Get it:\n  gz fuel download -u {quote(unquote(url), safe=':/')}\n{skip}"
        if separator and scheme != "file":
            return f"Use a path, file://, package:// or model://, {skip}"
        near = self.nearest(reference)
        return f"{f'Did you mean {near}? ' if near else ''}Put it there, {skip}"

    def nearest(self, reference: str) -> str:
        """Returns a file that may be the missing one; empty if none is similar.

        For ``package://name/inner`` it is ``inner`` in a folder near the file, that with the most
        similar name; for a path, a file in its folder with a similar name.
        """
        scheme, separator, rest = _slashes(unquote(reference)).partition("://")
        if separator and scheme in ("package", "model"):
            package, _, inner = rest.lstrip("/").partition("/")
            found: dict[str, str] = {}
            for parent in self._parents()[:MAX_PARENTS]:
                for folder in (parent, *_subfolders(parent)) if inner else ():
                    path = os.path.join(folder, inner)
                    if _is_file(path):
                        found.setdefault(folder.name, path)
                if found:
                    break
            return found.get(closest_name(package, found) or "", next(iter(found.values()), ""))
        path = os.path.join(self.folder, rest if separator else reference.removeprefix("file:"))
        folder, name = os.path.split(path)
        try:
            names = {each.lower(): each for each in os.listdir(folder)}
        except (OSError, ValueError):
            return ""
        similar = closest_name(name.lower(), names)
        return os.path.join(folder, names[similar]) if similar else ""


class MissingResources:
    """The meshes and models of a file that are not found.

    Args:
        skip: Whether they are left out with a note.
        notes: Receives the notes.
    """

    def __init__(self, skip: bool, notes: ConversionNotes) -> None:
        self.skip, self.notes = skip, notes
        self._first: LinkworkError | None = None
        self._others: dict[str, None] = {}

    def add(
        self, what: str, reference: str, origin: Origin, locator: ResourceLocator, tried: list[str]
    ) -> None:
        """Adds a file that is left out, or an error for :meth:`check`.

        Args:
            what: "visual mesh", "collision mesh" or "model".
            reference: How the file is named.
            origin: Where it is named.
            locator: What searched for it.
            tried: Paths searched.
        """
        if self.skip:
            plural = what.replace("mesh", "meshe") + "s"
            kind = "" if what == "visual mesh" else "motion"
            named = f"{reference} ({origin})"
            self.notes.about(f"{plural} that are missing, left out", named, kind=kind)
        elif self._first is None:
            error = MeshNotFound if "mesh" in what else FormatError
            hint = locator.hint(reference, tried)
            self._first = error(f"{what} {reference!r} not found.", origin=origin, hint=hint)
            self._others[reference] = None
        else:
            self._others[reference] = None

    def check(self) -> None:
        """Raises the error of the first missing file, which names the others, if there is one.

        Raises:
            MeshNotFound: If a mesh is missing.
            FormatError: If a model is missing.
        """
        error, others = self._first, list(self._others)[1:]
        if error is None:
            return
        if others:
            error.hint += f" Also missing: {listing(others, most=MAX_MISSING)}."
        raise type(error)(error.message, origin=error.origin, hint=error.hint)


def _configured(config: Path) -> list[Path]:
    """Returns the SDF files that a model.config names, oldest version first."""
    try:
        nodes = parse_xml(config, on_fault=lambda *_: None).all("sdf")
    except FormatError:
        return []
    return [config.parent / node.text.strip() for node in nodes if node.text.strip()]


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a zero character
        return False


def _slashes(reference: str) -> str:
    """Returns the reference with the backslashes of Windows as slashes."""
    return reference.replace("\\", "/")


def _folders(variable: str) -> list[Path]:
    given = os.environ.get(variable, "")
    return [Path(os.path.abspath(p)) for p in given.split(os.pathsep) if p]


def _listed_folders() -> Iterator[tuple[str, Path]]:
    """Yields the folders of the search variables, with the variable."""
    for variable in SEARCH_VARIABLES:
        for folder in _folders(variable):
            yield variable, folder


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(e.name for e in entries if e.name[0] != "." and e.is_dir())
    except OSError:
        return []
    return [folder / name for name in found[:MAX_FOLDERS]]


def _packages_below(folder: Path) -> Iterator[Path]:
    """Yields the folders with a package.xml below ``folder``, which ROS does not nest."""
    level, count = [folder], 0
    for _ in range(MAX_DEPTH):
        below: list[Path] = []
        for each in level:
            count += 1
            if os.path.isfile(each / "package.xml"):
                yield each
            elif count <= MAX_FOLDERS and not os.path.isfile(each / "CATKIN_IGNORE"):
                below += _subfolders(each)
        level = below


def _is_version_of(folder: Path, model: str) -> bool:
    """Whether a folder is a version of a model in the cache of Fuel: ``<model>/<version>``."""
    return folder.name.isdigit() and folder.parent.name.lower() == model.lower()


def _fuel_folders(found: re.Match[str]) -> Iterator[Path]:
    """Yields the folders in which a model of Fuel may be: of a version, else the newest first."""
    owner, kind, name = (unquote(found[key]).lower() for key in ("owner", "kind", "name"))
    if {owner, name} & {"", ".", ".."}:
        return
    for variable, default in FUEL_CACHES:
        cache = Path(os.environ.get(variable) or os.path.expanduser(default))
        for server in FUEL_SERVERS:
            home = _child(_child(_child(cache / server, owner), kind), name)
            version = (found["version"] or "tip").lower()
            if version != "tip":
                yield home / version
                continue
            stored = [each for each in _subfolders(home) if each.name.isdecimal()]
            yield from sorted(stored, key=lambda each: int(each.name), reverse=True)
            if not stored and server == FUEL_SERVERS[0]:
                yield home / "1"  # where it would be


def _child(folder: Path, name: str) -> Path:
    """Returns the folder ``name``, in lower case or as the user's tools have spelled it."""
    if os.path.isdir(folder / name):
        return folder / name
    return next((each for each in _subfolders(folder) if each.name.lower() == name), folder / name)
