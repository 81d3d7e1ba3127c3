"""The server's process: started, monitored and ended by the session's process."""

from __future__ import annotations

import contextlib
import selectors
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import msgspec

from linkwork.core.errors import ErrorRecord, LinkworkError

#: Timeout for starting a server [s], and maximum number of restarts per minute.
START_TIMEOUT, MAX_STARTS_PER_MINUTE = 20.0, 5


class ServerSettings(msgspec.Struct, frozen=True):
    """Settings of the server's process, sent over standard input: no other user sees them.

    Attributes:
        link: Address of the session's link.
        key: Its key.
        host: Interface to listen on.
        port: Port; 0 takes a free one.
        token: The token that clients must send.
        certificate: File for HTTPS, or empty.
        certificate_key: File of its key, or empty.
        recordings: Folder whose recordings are listed, or empty.
        address: The address for other machines, without the token; empty if they cannot reach it.
        lines: TCP port for clients that use JSON lines; 0 takes a free one, -1 has none.
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


class ServerReady(msgspec.Struct, frozen=True):
    """The answer of the server's process, in one line: its ports, or why it cannot start."""

    port: int = 0
    lines: int = -1
    error: ErrorRecord | None = None


class ServerProcess:
    """A running server.

    Args:
        settings: Its settings.

    Raises:
        LinkworkError: If it cannot start.

    Attributes:
        port: Its port.
        lines: Its TCP port for JSON lines; -1 if it has none.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._starts: list[float] = []
        self._failures = 0
        self._lock = threading.Lock()
        self._starting: subprocess.Popen[bytes] | None = None  # has not answered yet
        self._coming: Future[subprocess.Popen[bytes]] | None = None
        self.given_up = False
        self._process = self._start(settings)

    def _start(self, settings: ServerSettings) -> subprocess.Popen[bytes]:
        """Starts a server and waits for its answer.

        Raises:
            LinkworkError: If it does not start.
        """
        self._starts.append(time.monotonic())
        with self._lock:
            if self.given_up:
                raise LinkworkError("the studio ends.")
            process = self._starting = _launch()
        try:
            ready = _handshake(process, settings)
            if ready.error is not None:
                raise LinkworkError.from_record(ready.error)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            self._starting = None
        self.port, self.lines = ready.port, ready.lines
        return process

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def poll(self) -> str:
        """Restarts the server if it has died; returns a message about that, or an empty text.

        It never blocks: a server takes seconds to start, and the caller runs a simulation.
        """
        if self._coming is not None:
            return self._look_for() if self._coming.done() else ""
        if self.given_up or self._process.poll() is None:
            return ""
        recent = [start for start in self._starts if time.monotonic() - start < 60.0]
        if len(recent) >= MAX_STARTS_PER_MINUTE or self._failures >= MAX_STARTS_PER_MINUTE:
            self.given_up = True
            return "the studio's server keeps ending; the session continues without it."
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
        """Takes over a restarted server, or returns why there is none."""
        coming, self._coming = self._coming, None
        assert coming is not None
        error = coming.exception()
        if error is not None:
            self._failures += 1
            return f"the studio's server ended and does not start: {error}"
        self._drop_output()
        self._process, self._failures = coming.result(), 0
        return "the studio's server had ended; it was restarted."

    def close(self) -> None:
        """Ends the server; it also ends by itself when the link does."""
        with self._lock:
            self.given_up = True
            if self._starting is not None:
                self._starting.kill()
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
    """Launches a new process.

    Raises:
        LinkworkError: If the system cannot create one.
    """
    try:
        # In a session of its own: Ctrl-C goes to the parent, which then ends this process.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "linkwork.studio.web"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise LinkworkError(f"the studio's server cannot be started: {error}.") from None


def _handshake(process: subprocess.Popen[bytes], settings: ServerSettings) -> ServerReady:
    """Sends a new server its settings and waits for its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(msgspec.json.encode(settings) + b"\n")
        process.stdin.close()
    with selectors.DefaultSelector() as waiting:  # select() is limited to 1024 descriptors
        waiting.register(process.stdout, selectors.EVENT_READ)
        answered = waiting.select(START_TIMEOUT)
    if not answered:
        raise LinkworkError(f"the studio's server does not answer within {START_TIMEOUT:g} s.")
    try:
        return msgspec.json.decode(process.stdout.readline(), type=ServerReady)
    except msgspec.MsgspecError:
        raise LinkworkError("the studio's server ended while it started; see above.") from None
