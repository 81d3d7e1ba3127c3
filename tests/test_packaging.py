"""The installed package agrees with the repository."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))


def locked(path: Path) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", path.read_text(), re.MULTILINE))


def test_wheel_carries_every_file_of_the_package(tmp_path: Path) -> None:
    """The wheel contains kits, schemas and py.typed, not only modules."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    ours = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "linkwork/py.typed" in ours
    assert not ours - packed


@pytest.mark.parametrize("name", ["runtime", "dev"])
def test_every_dependency_is_locked(name: str) -> None:
    """The requirements file has all of pyproject.toml; if not, run: make lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {re.split(r"[^A-Za-z0-9._-]", each)[0].lower() for each in project["dependencies"]}
    missing = asked - locked(ROOT / "requirements" / f"{name}.txt")
    assert not missing, f"requirements/{name}.txt lacks {missing}; run: make lock"


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.stem)
def test_requirements_are_hashed_and_name_no_place(path: Path) -> None:
    """Each pinned package has hashes, and no index or folder is named."""
    text = path.read_text()
    blocks = re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.MULTILINE)[1:]
    assert blocks
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text
    assert "index-url" not in text
