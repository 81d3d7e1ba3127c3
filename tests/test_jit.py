"""The cache of compiled kernels: what is compiled anew when a source changes, and what stays."""

import ast
import re
from pathlib import Path

import linkwork
from linkwork import jit
from linkwork.engines.impulse import joint_kernels, step_kernels
from linkwork.kinematics import tick_kernels

ROOT = Path(linkwork.__file__).parent


def test_kernels_stand_in_files_that_are_hashed() -> None:
    """One elsewhere would be compiled anew with its own file alone."""
    for path in ROOT.rglob("*.py"):
        if "kernels" not in path.name:
            assert not re.search(r"^@(\w+_)?kernel\b", path.read_text(), re.MULTILINE), path


def imported(path: Path) -> set[Path]:
    """Files of the package that a file imports anywhere, by its syntax tree."""
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
    """What numba would not notice is part of the hash: each file that a kernel file names."""
    files = list(ROOT.rglob("*kernels*.py"))
    assert len(files) > 40
    for path in files:
        below = jit.sources_of(path)
        assert {path, ROOT / "jit.py", *imported(path)} <= below
        for each in below:
            assert imported(each) <= below


def test_what_does_not_stand_on_a_file_stays_compiled() -> None:
    """A changed joint of the impulse engine compiles its steps anew, and no inverse kinematics."""
    changed = Path(joint_kernels.__file__)
    assert changed in jit.sources_of(Path(step_kernels.__file__))
    assert changed not in jit.sources_of(Path(tick_kernels.__file__))


def test_machine_code_of_a_kernel_is_kept_in_the_folder_of_its_file() -> None:
    """Numba was handed the folder of the right file, though it has one setting for all."""
    for module, name in ((step_kernels, "step"), (tick_kernels, "tick")):
        kept = getattr(module, name)._cache.cache_path
        assert Path(kept).is_relative_to(jit.folder_of(Path(str(module.__file__))))
