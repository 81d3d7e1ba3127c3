"""Kit: a folder of parts and scenes, from the package, a plug-in package or the user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from linkwork.errors import LinkworkError, Origin, not_found
from linkwork.parts.names import check_name

#: Folder of the user's own kits unless ``LINKWORK_KITS`` names others.
USER_KITS = Path("~/.linkwork/kits")


@dataclass(frozen=True)
class Kit:
    """A folder of parts (``*.toml``) with pictures beside them.

    Attributes:
        name: The folder's name.
        folder: Where it is.
        source: "package", "user" or the name of the plug-in package.
    """

    name: str
    folder: Path
    source: str

    def parts(self) -> list[str]:
        """Names of the kit's parts, ``kit/part``."""
        return [f"{self.name}/{p.stem}" for p in self._files("linkwork/part")]

    def scenes(self) -> list[str]:
        """Names of the kit's scenes, ``kit/scene``."""
        return [f"{self.name}/{p.stem}" for p in self._files("linkwork/scene")]

    def movements(self) -> list[str]:
        """Names of the kit's movements, ``kit/movement``."""
        return [f"{self.name}/{p.stem}" for p in self._files("linkwork/movement")]

    def _files(self, form: str) -> list[Path]:
        return [p for p in sorted(self.folder.glob("*.toml")) if _declares(p, form)]


def _declares(path: Path, form: str) -> bool:
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


def own_kit(name: str) -> Path:
    """The folder of a kit of the user's own, which need not exist yet.

    Raises:
        PartError: If the name is not allowed.
    """
    return _user_folders()[0] / check_name(name, "kit")


def find_kits() -> dict[str, Kit]:
    """All kits by name; the user's own hide others of the same name."""
    kits: dict[str, Kit] = {}

    def take(folder: Path, source: str) -> None:
        if folder.is_dir():
            for child in sorted(folder.iterdir()):
                if child.is_dir() and any(child.glob("*.toml")):
                    kits[child.name] = Kit(child.name, child, source)

    take(Path(__file__).parent.parent / "kits", "package")
    for entry in entry_points(group="linkwork.kits"):
        try:
            module = import_module(entry.module)
        except Exception as error:  # whatever a plug-in's own code raises
            raise LinkworkError(
                f"the kits {entry.name!r} ({entry.value}) cannot be imported: {error}.",
                hint="Repair or remove the package that offers them.",
            ) from error
        for folder in getattr(module, "__path__", []):
            take(Path(folder), entry.dist.name if entry.dist else entry.name)
    for folder in reversed(_user_folders()):
        take(folder, "user")
    return kits


def kit_part(name: str, *, origin: Origin | None = None) -> Path:
    """The file of the part or scene ``kit/name``.

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
