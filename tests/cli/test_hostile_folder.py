"""A folder with modules of the names that we import: nothing of it runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Modules that our processes import, of ours, of libraries and of Python itself.
NAMES = ("msgspec", "numpy", "uvicorn", "socket", "selectors", "asyncio", "secrets", "linkwork")
SCENE = """
format = "linkwork/scene 1"
name = "cell"

[[part]]
name = "arm"
part = "gripper/arm"

[[bus]]
name = "line"
type = "tcp"
port = 0

[[port]]
name = "J1"
commands = [{ signal = "arm/J1.target" }]
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder that leaves a mark when a module or plug-in of it is imported."""
    mark = f"open({str(tmp_path / 'RAN')!r}, 'a').write(__name__)\n"
    for name in (*NAMES, "evil"):
        (tmp_path / f"{name}.py").write_text(mark)
    info = tmp_path / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    groups = ("sensors", "buses", "engines", "kits", "formats", "agents", "actuators")
    texts = [f"[linkwork.{group}]\ntcp = evil:Evil\nevil = evil:Evil\n" for group in groups]
    (info / "entry_points.txt").write_text("".join(texts))
    (tmp_path / "scene.toml").write_text(SCENE)
    return tmp_path


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in the folder as the installed command does: without it on the path."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=folder, capture_output=True, text=True, timeout=300,
        env={**os.environ, "HOME": str(folder / "home")}, check=False,
    )  # fmt: skip


def test_a_run_with_a_bus_imports_nothing_of_it(hostile: Path) -> None:
    """The bus has a process of its own, whose search path is that of the command."""
    code = "from linkwork.cli import main; main()"
    done = run(hostile, f"import sys; sys.argv[1:] = ['run', 'scene.toml', '--for', '0.1']; {code}")
    assert done.returncode == 0, done.stderr
    assert "TCP part on 127.0.0.1" in done.stdout + done.stderr
    assert not (hostile / "RAN").exists(), (hostile / "RAN").read_text()


def test_the_studios_server_imports_nothing_of_it(hostile: Path) -> None:
    """Nor does the process that compiles kernels ahead, nor the one that reads STEP files."""
    code = """
import json, subprocess
from linkwork.cli import warmup_stages
from linkwork.link import serve
from linkwork.studio.web.process import ServerProcess, ServerSettings
with serve() as link:
    server = ServerProcess(ServerSettings(link.address, link.key, "127.0.0.1", 0, "token-token"))
    server.close()
with warmup_stages.begin_stages([]) as beside:
    pass
command = [*warmup_stages.COMMAND[:-1], "--version"]
version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
print(json.dumps([beside.returncode, version]))
"""
    done = run(hostile, code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0] == 0
    assert json.loads(done.stdout)[1].startswith("linkwork")
    assert not (hostile / "RAN").exists(), (hostile / "RAN").read_text()
