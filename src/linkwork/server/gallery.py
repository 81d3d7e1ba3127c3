"""Gallery: the scenes and parts of all kits, for the studio's first page."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from linkwork.errors import LinkworkError
from linkwork.parts.kit import Kit, find_kits
from linkwork.server.messages import Gallery, GalleryKit, GalleryPart, GalleryScene
from linkwork.server.recent import Recents
from linkwork.server.shelf import Shelf

_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")


def gallery(version: str, recents: Recents, shelf: Shelf) -> Gallery:
    """Everything that can be opened."""
    scenes: list[GalleryScene] = []
    kits: list[GalleryKit] = []
    for kit in _kits().values():
        for name in kit.scenes():
            data = _head(kit, name)
            engines = [str(e.get("type")) for e in data.get("engine", []) if isinstance(e, dict)]
            engine = ", ".join(dict.fromkeys(engines))
            scenes.append(
                GalleryScene(name, _title(data, name), engine, _address(kit, name), kit.name)
            )
        parts = [
            GalleryPart(name, _title(_head(kit, name), name), _address(kit, name))
            for name in kit.parts()
        ]
        kits.append(GalleryKit(kit.name, parts))
    return Gallery(version, scenes, kits, recents.listed(), shelf.all())


def picture(kit: str, name: str) -> Path | None:
    """The picture of a scene or part; None if there is none."""
    if not (_NAME.match(kit) and _NAME.match(name)):
        return None
    found = _kits().get(kit)
    file = found.folder / f"{name}.png" if found is not None else None
    return file if file is not None and file.is_file() else None


def _kits() -> dict[str, Kit]:
    try:
        return find_kits()
    except (LinkworkError, OSError):  # a broken plug-in; opening one of its parts says so
        return {}


def _head(kit: Kit, name: str) -> dict[str, Any]:
    try:
        text = (kit.folder / f"{name.partition('/')[2]}.toml").read_text(encoding="utf-8")
        return tomllib.loads(text)
    except (OSError, ValueError):
        return {}


def _title(data: dict[str, Any], name: str) -> str:
    title = data.get("title")
    return title if isinstance(title, str) and title else name.partition("/")[2].replace("_", " ")


def _address(kit: Kit, name: str) -> str | None:
    short = name.partition("/")[2]
    exists = (kit.folder / f"{short}.png").is_file()
    return f"/api/picture/{kit.name}/{short}.png" if exists else None
