"""Loose files: meshes that came without their folders, put where a file beside them looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote

#: Files that refer to others by quoted paths, or SDF's by <uri>.
_DESCRIBING = (".urdf", ".toml", ".sdf", ".world", ".xml", ".mjcf", ".gltf")
_REFERENCE = re.compile(r"""["']([^"'\r\n<>]{1,400})["']|<uri>\s*([^<>\r\n]{1,400}?)\s*</uri>""")
#: Where an MJCF file says that its meshes and images are.
_ASSETS = re.compile(r"""\b(?:assetdir|meshdir|texturedir)\s*=\s*["']([^"'\r\n<>]{1,400})["']""")
_STEP = re.compile(r"(?!\.\.\Z)[^/\\:\0]{1,200}\Z")
#: A folder around what was brought, for references that lead out of it.
_AROUND = "brought"


def put_in_place(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files, and those that lie beside a robot or scene also where it looks for them.

    A browser names files that are picked or dropped one by one without their folders. A reference
    ``meshes/arm.stl`` or ``package://robot/meshes/arm.stl`` then means the ``arm.stl`` beside the
    file that holds it, unless there is one where it leads to.
    """
    wanted = [
        (main, beside, steps)
        for main in files
        if main.lower().endswith(_DESCRIBING)
        for beside, steps in _wishes(main, files)
    ]
    depth = max((_way_out(main, steps) for main, _, steps in wanted), default=0)
    around = f"{_AROUND}/" * depth
    made = {around + name: content for name, content in files.items()}
    for main, beside, steps in wanted:
        target = _joined(around + main, steps)
        if not any("/".join(target[:n]) in made for n in range(1, len(target))):
            made.setdefault("/".join(target), files[beside])
    return made


def _wishes(main: str, files: dict[str, bytes]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Files beside one that it seeks elsewhere, and the steps from its folder to there."""
    folder = PurePosixPath(main).parent
    text = files[main].decode("utf-8", "replace")
    named = dict.fromkeys(found[1] or found[2] for found in _REFERENCE.finditer(text))
    bases = dict.fromkeys(_ASSETS.findall(text))
    for reference in [*named, *(f"{base}/{name}" for base in bases for name in named)]:
        path = unquote(reference).replace("\\", "/")
        scheme, separator, rest = path.partition("://")
        if separator and scheme not in ("package", "model"):
            continue  # it leads to one place of one machine
        steps = tuple(s for s in (rest if separator else path).split("/") if s not in ("", "."))
        if (
            len(steps) < 2
            or path.startswith("/")
            or not all(map(_STEP.match, steps[_ups(steps) :]))
        ):
            continue
        beside = str(folder / steps[-1])
        if beside in files and "/".join(_joined(main, steps)) not in files:
            yield beside, steps


def _ups(steps: tuple[str, ...]) -> int:
    """How many folders up a path begins."""
    return next((n for n, step in enumerate(steps) if step != ".."), len(steps))


def _way_out(main: str, steps: tuple[str, ...]) -> int:
    """How many folders must stand around all files for a path to stay inside."""
    return max(0, _ups(steps) - main.count("/"))


def _joined(main: str, steps: tuple[str, ...]) -> tuple[str, ...]:
    folders, ups = main.split("/")[:-1], _ups(steps)
    return (*folders[: max(0, len(folders) - ups)], *steps[ups:])
