"""The cache of compiled kernels: a changed source recompiles its dependents only."""

import ast
import re
from pathlib import Path

import linkwork
from linkwork.core import jit
from linkwork.engines.impulse import joint_kernels, step_kernels
from linkwork.kinematics import differential_kernels

ROOT = Path(linkwork.__file__).parent


def test_kernels_stand_in_files_that_are_hashed() -> None:
    """All kernels are in kernel files; elsewhere a changed callee would be missed."""
    for path in ROOT.rglob("*.py"):
        if "kernels" not in path.name:
            assert not re.search(r"^@(\w+_)?kernel\b", path.read_text(), re.MULTILINE), path


def imported(path: Path) -> set[Path]:
    """Returns the files of the package that a file imports anywhere, from its syntax tree."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert not any(name.name.startswith("linkwork") for name in node.names), path
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linkwork"):
            place = ROOT.joinpath(*str(node.module).split(".")[1:])
            inside = [place / f"{name.name}.py" for name in node.names]
            found |= {each for each in (place.with_suffix(".py"), *inside) if each.is_file()}
    return found


def test_every_import_of_a_kernel_file_is_seen() -> None:
    """The hash covers each file that a kernel file imports."""
    files = list(ROOT.rglob("*kernels*.py"))
    assert len(files) > 40
    for path in files:
        below = jit.sources_of(path)
        assert {path, ROOT / "core" / "jit.py", *imported(path)} <= below
        for each in below:
            assert imported(each) <= below


def test_what_does_not_stand_on_a_file_stays_compiled() -> None:
    """A changed joint of the impulse engine recompiles its steps, but no inverse kinematics."""
    changed = Path(joint_kernels.__file__)
    assert changed in jit.sources_of(Path(step_kernels.__file__))
    assert changed not in jit.sources_of(Path(differential_kernels.__file__))


def test_machine_code_of_a_kernel_is_kept_in_the_folder_of_its_file() -> None:
    """Numba uses the folder of the right file, although it has one global setting."""
    for module, kernel in (
        (step_kernels, step_kernels.rattle_step),
        (differential_kernels, differential_kernels.step),
    ):
        kept = kernel._cache.cache_path  # type: ignore[attr-defined]
        assert Path(kept).is_relative_to(jit.folder_of(Path(str(module.__file__))))
