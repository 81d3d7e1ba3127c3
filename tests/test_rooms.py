"""Imports between the packages ("rooms") follow one order."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "linkwork"

# Each room imports from itself and from the rooms before it. A dotted name is a room inside one.
# `kits` is data: its control programs import what a user's would, and nothing imports them.
ROOMS = [
    "core",
    "geometry",
    "model.parts",
    "model.scene",
    "model.world",
    "model.blocks",
    "formats",
    "project",
    "kinematics",
    "dynamics",
    "engines",
    "motion",
    "components.sensors",
    "components.actuators",
    "components.agents",
    "components.faults",
    "link",
    "session",
    "buses",
    "devices",
    "studies",
    "review",
    "sweeps",
    "studio.protocol",
    "studio.web",
    "studio.host",
    "studio.client",
    "cli",
    "kits",
]
#: Packages that hold rooms, with only a docstring of their own.
HALLS = {room.partition(".")[0] for room in ROOMS if "." in room}


def room_of(name: str) -> str | None:
    """Returns the room of a dotted name below the package, None if there is none."""
    parts = name.split(".")
    found = ".".join(parts[:2]) if parts[0] in HALLS else parts[0]
    return found if found in ROOMS else None


def imported(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Yields (line, dotted name) of all imports of a file."""
    here = [package.name, *path.relative_to(package).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def violations(package: Path) -> list[str]:
    """Yields a description of each import against the order."""
    found = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        name = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
        if name in ("__init__", "__main__", *HALLS):  # the public entry modules
            continue
        room = room_of(name)
        if room is None:
            found.append(f"{relative}: {name} is in no room; the rooms are {', '.join(ROOMS)}")
            continue
        for line, name in imported(path, package):
            top, _, rest = name.partition(".")
            if top != package.name or rest.startswith("__") or room == "kits":
                continue
            target = room_of(rest)
            if target is None:
                found.append(f"{relative}:{line}: imports {name}; import it from its room instead")
            elif ROOMS.index(target) > ROOMS.index(room):
                found.append(f"{relative}:{line}: {room} imports {name}, but {target} comes later")
    return found


def test_each_room_imports_only_from_the_rooms_above_it() -> None:
    """No module imports a later room, nor the package's top level."""
    assert list(PACKAGE.rglob("*.py"))
    found = violations(PACKAGE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("file", "statement", "complaint"),
    [
        ("geometry/pose.py", "from linkwork.session import Session", "session comes later"),
        ("geometry/pose.py", "import linkwork.link as link", "link comes later"),
        ("geometry/pose.py", "from linkwork import session", "session comes later"),
        ("geometry/pose.py", "from ..session import Session", "session comes later"),
        ("geometry/__init__.py", "from .. import session", "session comes later"),
        ("core/units.py", "from ..geometry import Pose", "geometry comes later"),
        ("core/units.py", "def late():\n    import linkwork.cli", "cli comes later"),
        ("model/world/compile.py", "from linkwork import Part", "from its room"),
        ("model/world/compile.py", "import linkwork", "from its room"),
        ("misc/helpers.py", "import os", "in no room"),
    ],
)
def test_an_import_against_the_order_is_named(
    tmp_path: Path, file: str, statement: str, complaint: str
) -> None:
    """Absolute, relative and late imports count, in every syntax."""
    path = tmp_path / "linkwork" / file
    path.parent.mkdir(parents=True)
    path.write_text(statement + "\n")
    (found,) = violations(tmp_path / "linkwork")
    assert found.startswith(file)
    assert complaint in found


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("geometry/pose.py", "from .rotation import Rotation"),
        ("geometry/pose.py", "from ..core.errors import LinkworkError"),
        ("cli/run.py", "import linkwork.session"),
        ("cli/run.py", "from linkwork import __version__"),
        ("cli/run.py", "import numpy.linalg"),
        ("kits/tripod/control.py", "from linkwork import Control"),
        ("__init__.py", "from linkwork.cli import main"),
    ],
)
def test_an_import_along_the_order_is_fine(tmp_path: Path, file: str, statement: str) -> None:
    """The same room, earlier rooms, other packages and the top level itself may be imported."""
    path = tmp_path / "linkwork" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(statement + "\n")
    assert violations(tmp_path / "linkwork") == []
