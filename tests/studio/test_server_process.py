"""The server's process as the session's side sees it: it may die or not start, and nobody waits."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from linkwork.core.errors import LinkworkError
from linkwork.link import serve
from linkwork.studio.web.process import MAX_STARTS_PER_MINUTE, ServerProcess, ServerSettings
from studio_fixture import TIMEOUT


@pytest.fixture
def settings() -> Iterator[ServerSettings]:
    with serve() as link:
        yield ServerSettings(link.address, link.key, "127.0.0.1", 0, "only-for-tests")


@pytest.fixture
def killed(settings: ServerSettings) -> Iterator[ServerProcess]:
    """A server that ran and was killed."""
    server = ServerProcess(settings)
    os.kill(server.pid, signal.SIGKILL)
    server._process.wait(TIMEOUT)
    yield server
    server.close()


def test_a_server_that_hangs_while_it_starts_holds_nobody_up(
    killed: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking after it returns while it starts, and closing does not wait for it either."""
    hangs = tmp_path / "hangs"
    hangs.write_text("#!/bin/sh\nexec sleep 1000\n")
    hangs.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(hangs))
    assert killed.poll() == ""
    assert killed.poll() == ""
    coming = killed._coming
    assert coming is not None
    assert not coming.done()
    killed.close()
    assert isinstance(coming.exception(TIMEOUT), LinkworkError)


def test_a_server_that_cannot_be_started_is_given_up(
    killed: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the system is told in words, a few times and no more."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    logged: list[str] = []
    end = time.monotonic() + TIMEOUT
    while not killed.given_up:
        assert time.monotonic() < end
        logged += filter(None, [killed.poll()])
        time.sleep(0.001)
    assert len(logged) <= MAX_STARTS_PER_MINUTE
    assert "does not start: the studio's server cannot be started" in logged[0]
    assert "continues without it" in logged[-1]


def test_the_first_start_says_in_words_why_it_fails(
    settings: ServerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback for a system that gives no process."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    with pytest.raises(LinkworkError, match="cannot be started"):
        ServerProcess(settings)
