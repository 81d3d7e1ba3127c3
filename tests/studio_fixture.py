"""A studio for tests: a session's side in a thread, a real server process, clients in Python."""

import contextlib
import json
import struct
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

from linkwork.cli.studio_server import LIMITS, loader
from linkwork.link import serve
from linkwork.studio.host.host import Host
from linkwork.studio.web.gallery import Recents
from linkwork.studio.web.process import ServerProcess, ServerSettings

TOKEN = "only-for-tests"
HEADER = struct.Struct("<BBHId")  # repeated: the test must not follow a mistake in the program
BLOCK = struct.Struct("<HHI")
POSES, SIGNALS, CONTACTS, GHOST = 1, 2, 3, 4
SIZES = {POSES: 28, SIGNALS: 8, CONTACTS: 28, GHOST: 28}
PROTOCOL = 3
TIMEOUT = 30.0


class Client:
    """A client that answers as the page does: it acknowledges pictures as they come.

    Attributes:
        frames: Of each kind of block the newest: flags, count, simulated time, numbers.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.acknowledges = True
        self.received = 0
        self.last: dict[str, dict[str, Any]] = {}
        self.frames: dict[int, tuple[int, int, float, bytes]] = {}

    def send(self, type: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"type": type, **fields}))

    def read(self, timeout: float = TIMEOUT) -> dict[str, Any] | list[int]:
        """Reads one frame: a message, or the kinds of a picture's blocks."""
        data = self.socket.recv(timeout=timeout)
        if isinstance(data, str):
            message = json.loads(data)
            self.last[message["type"]] = message
            return message
        kind, flags, zero, version, now = HEADER.unpack_from(data)
        assert (kind, flags, zero) == (1, 0, 0)
        kinds, at = list[int](), HEADER.size
        while at < len(data):
            kind, flags, length = BLOCK.unpack_from(data, at)
            content = data[at + BLOCK.size : at + BLOCK.size + length]
            count, rest = divmod(length, SIZES[kind])
            assert len(content) == length
            assert not rest
            self.frames[kind] = (flags, count, now, content)
            kinds.append(kind)
            at += BLOCK.size + length + -length % 8
        assert at == len(data)
        self.last.setdefault("versions", {})[str(version)] = True
        self.received += 1
        if self.acknowledges:
            self.send("ack", frame=self.received)
        return kinds

    def until(self, what: str | int, test: Callable[[Any], bool] = lambda _: True) -> Any:
        """Reads until a message of a type, or a block of a kind, passes a test."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            found = self.read(end - time.monotonic())
            if isinstance(found, dict) and found["type"] == what and test(found):
                return found
            if isinstance(found, list) and what in found and test(self.frames[int(what)]):
                return self.frames[int(what)]
        raise AssertionError(f"no {what} within {TIMEOUT:g} s; last: {self.last.keys()}")

    def poses(self) -> np.ndarray:
        """Returns the next poses, n×7."""
        _, count, _, data = self.until(POSES)
        return np.frombuffer(data, "<f4").reshape(count, 7)

    def value(self, signal: str, number: int = 1) -> float:
        """Returns the current value of a signal."""
        self.send("watch", number=number, signals=[signal])
        frame = self.until(SIGNALS, lambda f: f[0] == number and f[1] == 1)
        return float(np.frombuffer(frame[3], "<f8")[0])


class Studio:
    def __init__(self, host: Host, server: ServerProcess) -> None:
        self.host, self.server = host, server

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    @contextlib.contextmanager
    def client(
        self, *, token: str = TOKEN, protocol: int = PROTOCOL, origin: str | None = None
    ) -> Iterator[Client]:
        where = f"ws://{self.address}/ws?token={token}&protocol={protocol}"
        with connect(where, origin=origin, max_size=None, open_timeout=TIMEOUT) as socket:  # type: ignore[arg-type]
            yield Client(socket)

    def get(self, path: str, data: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        request = urllib.request.Request(f"http://{self.address}{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


@contextlib.contextmanager
def studio(scene: str | None, folder: Path, *, port: int = 0) -> Iterator[Studio]:
    """Runs a studio whose files are in ``folder``; port 0 is a free one."""
    with serve(limits=LIMITS) as link:
        recordings = folder / "recordings"
        server = ServerProcess(
            ServerSettings(
                link.address,
                link.key,
                "127.0.0.1",
                port,
                TOKEN,
                recordings=str(recordings),
                lines=0,
            )
        )
        recents = Recents(folder / "recent.json")
        host = Host(
            link,
            loader(scene, recents, recordings),
            recents=recents,
            recordings=recordings,
            idle=server.poll,
        )
        host.prepare(scene)
        thread = threading.Thread(target=host.run, daemon=True)
        thread.start()
        try:
            yield Studio(host, server)
        finally:
            host.stop()
            thread.join(TIMEOUT)
            server.close()
            assert not thread.is_alive()
