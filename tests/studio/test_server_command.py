"""``linkwork studio`` from a shell: its address works, Ctrl-C ends all of it."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from linkwork.cli import studio_server
from linkwork.cli.warmup_stages import BEGUN


@pytest.mark.skipif(
    not studio_server.is_built(), reason="the page is not built; make studio builds it"
)
def test_the_studio_prints_its_address_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    """Without a screen it opens no browser and does not fail; after Ctrl-C nobody answers.

    This is its first use, with nothing compiled: that goes on behind, is said, and ends with it.
    """
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    process = subprocess.Popen(
        [sys.executable, "-m", "linkwork", "studio", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**environment, "HOME": str(tmp_path), "LINKWORK_CACHE": str(tmp_path / "cold")},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://localhost:(\d+)/\?token=(\S+)", line)
    assert found, line + process.communicate()[1]
    address = f"http://localhost:{found[1]}/api/gallery?token={found[2]}"
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert json.load(answer)["scenes"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out.splitlines()[-1]) == (0, "Stopped.")
    assert err.split() == f"note: {BEGUN}".split()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=5)


def test_a_scene_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A mistake ends the command with one line and leaves no server behind."""
    run = subprocess.run(
        [sys.executable, "-m", "linkwork", "studio", "none.toml", "--no-open"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert run.returncode == 1
    assert "none.toml" in run.stderr
    assert "Traceback" not in run.stderr
