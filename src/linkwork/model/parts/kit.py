"""Kit: a folder of parts and scenes, from the package, a plug-in package or the user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from linkwork.core.errors import LinkworkError, Origin, not_found
from linkwork.core.registry import PACKAGE
from linkwork.model.parts.spec import check_name

#: Folder of the user's kits; ``LINKWORK_KITS`` overrides it.
USER_KITS = Path("~/.linkwork/kits")


@dataclass(frozen=True)
class Kit:
    """A folder of parts (``*.toml``) with pictures beside them.

    Attributes:
        name: The folder's name.
        folder: Its path.
        source: "package", "user" or the name of the plug-in package.
    """

    name: str
    folder: Path
    source: str

    def parts(self) -> list[str]:
        """Returns the names of the kit's parts, ``kit/part``."""
        return [f"{self.name}/{p.stem}" for p in self._files("linkwork/part")]

    def scenes(self) -> list[str]:
        """Returns the names of the kit's scenes, ``kit/scene``."""
        return [f"{self.name}/{p.stem}" for p in self._files("linkwork/scene")]

    def movements(self) -> list[str]:
        """Returns the names of the kit's movements, ``kit/movement``."""
        return [f"{self.name}/{p.stem}" for p in self._files("linkwork/movement")]

    def _files(self, form: str) -> list[Path]:
        return [p for p in sorted(self.folder.glob("*.toml")) if _has_format(p, form)]


def _has_format(path: Path, form: str) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            head = file.read(4096)
    except (OSError, UnicodeDecodeError):
        return False
    return any(
        line.split("=")[0].strip() == "format" and form in line for line in head.splitlines()
    )


def _user_folders() -> list[Path]:
    given = os.environ.get("LINKWORK_KITS", "")
    folders = [Path(p) for p in given.split(os.pathsep) if p]
    return [*folders, USER_KITS.expanduser()]


def user_kit(name: str) -> Path:
    """Returns the folder of a kit of the user, which need not exist yet.

    Raises:
        PartError: If the name is not allowed.
    """
    return _user_folders()[0] / check_name(name, "kit")


def find_kits() -> dict[str, Kit]:
    """Returns all kits by name; the user's kits hide others of the same name."""
    kits: dict[str, Kit] = {}

    def take(folder: Path, source: str) -> None:
        if folder.is_dir():
            for child in sorted(folder.iterdir()):
                if child.is_dir() and any(child.glob("*.toml")):
                    kits[child.name] = Kit(child.name, child, source)

    def is_plugin(entry: EntryPoint) -> bool:
        return entry.dist is None or entry.dist.name != PACKAGE

    for entry in sorted(entry_points(group=f"{PACKAGE}.kits"), key=is_plugin):  # ours first
        try:
            module = import_module(entry.module)
        except Exception as error:  # code of a plug-in may raise anything
            raise LinkworkError(
                f"the kits {entry.name!r} ({entry.value}) cannot be imported: {error}.",
                hint="Repair or remove the package that declares them.",
            ) from error
        for folder in getattr(module, "__path__", []):
            source = entry.dist.name if entry.dist else entry.name
            take(Path(folder), source if is_plugin(entry) else "package")
    for folder in reversed(_user_folders()):
        take(folder, "user")
    return kits


def kit_part(name: str, *, origin: Origin | None = None) -> Path:
    """Returns the file of the part or scene ``kit/name``.

    Raises:
        NameNotFound: If there is none; the message lists what exists.
    """
    kits = find_kits()
    kit_name, _, rest = name.partition("/")
    if kit_name not in kits:
        raise not_found("kit", kit_name, kits, origin=origin)
    kit = kits[kit_name]
    path = kit.folder / f"{rest}.toml"
    if "/" in rest or not path.is_file():
        known = [*kit.parts(), *kit.scenes(), *kit.movements()]
        raise not_found("kit part", name, known, origin=origin)
    return path
