"""The server as a process of its own: started, looked after and ended by the session's."""

from __future__ import annotations

import contextlib
import selectors
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import msgspec

from linkwork.errors import LinkworkError

#: How long a server may take to start [s], and how often it is started again within a minute.
START, AGAIN = 20.0, 5


class Settings(msgspec.Struct, frozen=True):
    """What the server's process is told, through its standard input: no other user sees it.

    Attributes:
        link: Address of the session's link.
        key: Its key.
        host: Interface to listen on.
        port: Port; 0 takes a free one.
        token: What clients must know.
        certificate: File for HTTPS, or empty.
        certificate_key: File of its key, or empty.
        recordings: Folder whose recordings are listed, or empty.
        address: Where other machines reach it, without the token; empty where they cannot.
        lines: Port for clients that speak lines over TCP; 0 takes a free one, -1 has none.
    """

    link: str
    key: str
    host: str
    port: int
    token: str
    certificate: str = ""
    certificate_key: str = ""
    recordings: str = ""
    address: str = ""
    lines: int = -1


class Ready(msgspec.Struct, frozen=True):
    """What the server's process answers, in one line: its ports, or why it cannot start."""

    port: int = 0
    lines: int = -1
    error: str = ""


class ServerProcess:
    """A running server.

    Args:
        settings: What it is told.

    Raises:
        LinkworkError: If it cannot start.

    Attributes:
        port: Where it listens.
        lines: Where it listens for lines over TCP; -1 if it does not.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._starts: list[float] = []
        self._failures = 0
        self._lock = threading.Lock()
        self._young: subprocess.Popen[bytes] | None = None  # has not answered yet
        self._coming: Future[subprocess.Popen[bytes]] | None = None
        self.given_up = False
        self._process = self._start(settings)

    def _start(self, settings: Settings) -> subprocess.Popen[bytes]:
        """Starts a server and waits for its answer.

        Raises:
            LinkworkError: If it does not start.
        """
        self._starts.append(time.monotonic())
        with self._lock:
            if self.given_up:
                raise LinkworkError("the studio ends.")
            process = self._young = _launch()
        try:
            ready = _talk(process, settings)
            if ready.error:
                raise LinkworkError(ready.error)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            self._young = None
        self.port, self.lines = ready.port, ready.lines
        return process

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def look_after(self) -> str:
        """Starts the server anew if it has died; returns what there is to say about it.

        It never waits: a server takes seconds to start, and who calls this has a robot to move.
        """
        if self._coming is not None:
            return self._look_for() if self._coming.done() else ""
        if self.given_up or self._process.poll() is None:
            return ""
        recent = [start for start in self._starts if time.monotonic() - start < 60.0]
        if len(recent) >= AGAIN or self._failures >= AGAIN:
            self.given_up = True
            return "the studio's server keeps ending; the session goes on without it."
        coming = self._coming = Future[subprocess.Popen[bytes]]()
        settings = msgspec.structs.replace(self._settings, port=self.port, lines=self.lines)

        def start() -> None:
            try:
                coming.set_result(self._start(settings))
            except BaseException as error:
                coming.set_exception(error)

        threading.Thread(target=start, name="linkwork-server-start", daemon=True).start()
        return ""

    def _look_for(self) -> str:
        """Takes over a server that was started anew, or says why there is none."""
        coming, self._coming = self._coming, None
        assert coming is not None
        error = coming.exception()
        if error is not None:
            self._failures += 1
            return f"the studio's server ended and does not start: {error}"
        self._drop_output()
        self._process, self._failures = coming.result(), 0
        return "the studio's server had ended; it was started anew."

    def close(self) -> None:
        """Ends the server; it also ends by itself when the link does."""
        with self._lock:
            self.given_up = True
            if self._young is not None:
                self._young.kill()
        if self._coming is not None and self._coming.exception() is None:
            self._look_for()
        self._process.terminate()
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._drop_output()

    def _drop_output(self) -> None:
        if self._process.stdout is not None:
            self._process.stdout.close()


def _launch() -> subprocess.Popen[bytes]:
    """A new process.

    Raises:
        LinkworkError: If the system has none to give.
    """
    try:
        # Of a session of its own: Ctrl-C is for the one who started it, who then ends this.
        return subprocess.Popen(
            [sys.executable, "-m", "linkwork.server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise LinkworkError(f"the studio's server cannot be started: {error}.") from None


def _talk(process: subprocess.Popen[bytes], settings: Settings) -> Ready:
    """Tells a new server its settings and waits for its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(msgspec.json.encode(settings) + b"\n")
        process.stdin.close()
    with selectors.DefaultSelector() as waiting:  # select() knows the first 1024 files only
        waiting.register(process.stdout, selectors.EVENT_READ)
        answered = waiting.select(START)
    if not answered:
        return Ready(error=f"the studio's server does not answer within {START:g} s.")
    try:
        return msgspec.json.decode(process.stdout.readline(), type=Ready)
    except msgspec.MsgspecError:
        return Ready(error="the studio's server ended while it started; see above.")
