"""Imports between the rooms of the package go one way."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "linkwork"

# Each room imports from itself and from the rooms before it. `kits` is data: its control programs
# import what a user's would, and nothing imports them.
ROOMS = [
    "errors",
    "hosts",
    "units",
    "forms",
    "registry",
    "jit",
    "mujoco_library",
    "spatial",
    "signals",
    "meshes",
    "parts",
    "scene",
    "formats",
    "world",
    "state",
    "blocks",
    "kinematics",
    "dynamics",
    "engines",
    "sensors",
    "motion",
    "actuators",
    "agents",
    "faults",
    "session",
    "buses",
    "devices",
    "studies",
    "review",
    "sweeps",
    "server",
    "cli",
    "kits",
]


def imported(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of all that a file imports, wherever in it the import stands."""
    here = [package.name, *path.relative_to(package).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def violations(package: Path) -> list[str]:
    """Describe each import that goes against the order."""
    found = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        room = relative.parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):  # the front doors
            continue
        if room not in ROOMS:
            found.append(f"{relative}: {room} is not a room; the rooms are {', '.join(ROOMS)}")
            continue
        for line, name in imported(path, package):
            top, _, rest = name.partition(".")
            target = rest.partition(".")[0]
            if top != package.name or target.startswith("__") or room == "kits":
                continue
            if target not in ROOMS:
                found.append(f"{relative}:{line}: imports {name}; import it from its room instead")
            elif ROOMS.index(target) > ROOMS.index(room):
                found.append(f"{relative}:{line}: {room} imports {name}, but {target} comes later")
    return found


def test_each_room_imports_only_from_the_rooms_above_it() -> None:
    """No module imports a later room, nor the package's front door."""
    assert list(PACKAGE.rglob("*.py"))
    found = violations(PACKAGE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("file", "statement", "complaint"),
    [
        ("spatial/pose.py", "from linkwork.session import Session", "session comes later"),
        ("spatial/pose.py", "import linkwork.session.link as link", "session comes later"),
        ("spatial/pose.py", "from linkwork import session", "session comes later"),
        ("spatial/pose.py", "from ..session import Session", "session comes later"),
        ("spatial/__init__.py", "from .. import session", "session comes later"),
        ("units.py", "from .spatial import Pose", "spatial comes later"),
        ("units.py", "def late():\n    import linkwork.cli", "cli comes later"),
        ("world/compile.py", "from linkwork import Part", "from its room"),
        ("world/compile.py", "import linkwork", "from its room"),
        ("misc/helpers.py", "import os", "not a room"),
    ],
)
def test_an_import_against_the_order_is_named(
    tmp_path: Path, file: str, statement: str, complaint: str
) -> None:
    """Absolute, relative and late imports count, in each way of writing them."""
    path = tmp_path / "linkwork" / file
    path.parent.mkdir(parents=True)
    path.write_text(statement + "\n")
    (found,) = violations(tmp_path / "linkwork")
    assert found.startswith(file)
    assert complaint in found


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("spatial/pose.py", "from .rotation import Rotation"),
        ("spatial/pose.py", "from ..errors import LinkworkError"),
        ("cli/run.py", "import linkwork.session"),
        ("cli/run.py", "from linkwork import __version__"),
        ("cli/run.py", "import numpy.linalg"),
        ("kits/tripod/control.py", "from linkwork import Control"),
        ("__init__.py", "from linkwork.cli import main"),
    ],
)
def test_an_import_along_the_order_is_fine(tmp_path: Path, file: str, statement: str) -> None:
    """The same room, rooms above, other packages and the front door itself are free to import."""
    path = tmp_path / "linkwork" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(statement + "\n")
    assert violations(tmp_path / "linkwork") == []
