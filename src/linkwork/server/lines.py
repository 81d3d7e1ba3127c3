"""Lines: clients that speak the studio's messages as lines of JSON over plain TCP."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator

import msgspec

from linkwork.server import messages as m
from linkwork.server.access import Access
from linkwork.server.hub import Hub
from linkwork.server.live import attend
from linkwork.server.stream import Stream

#: Longest line, as of a text frame [byte].
LONGEST = 2**20
#: How long a client may take to say who it is [s].
PATIENCE = 10.0
#: What may wait on its way to a client before the next picture is held back [byte].
_AHEAD = 2**16


class Join(msgspec.Struct, frozen=True, tag_field="type", tag="join", forbid_unknown_fields=True):
    """The first line of a client.

    ``protocol`` is that of the messages; with ``poses`` pictures hold those of the bodies.
    """

    token: str
    protocol: int = m.PROTOCOL
    poses: bool = False


class PictureLine(msgspec.Struct, frozen=True, tag_field="type", tag="picture"):
    """A picture: the watched signals, null where there is none of that name, and poses.

    ``number`` is that of the watch. ``poses`` are rows x y z, quaternion w x y z.
    """

    version: int
    time: float
    number: int
    signals: list[float]
    poses: list[tuple[float, ...]]


class LineSocket:
    """A client's connection: texts are lines, pictures are turned into one.

    A picture counts as received when what waits for the client has gone out, so that one who does
    not read misses pictures, and need not acknowledge any.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, poses: bool = False
    ) -> None:
        self._reader, self._writer = reader, writer
        self._poses = poses
        self._sent = 0
        self.stream: Stream | None = None

    async def send_text(self, data: str) -> None:
        """Sends a line."""
        self._writer.write(data.encode() + b"\n")
        await self._writer.drain()

    async def send_bytes(self, data: bytes) -> None:
        """Sends a picture as a line, if anything in it was asked for."""
        self._sent += 1
        line = picture_line(data, poses=self._poses)
        if line.signals or self._poses:
            await self.send_text(m.encode(line).decode())
        if self.stream is not None:
            self.stream.acknowledge(self._sent)

    async def read(self) -> str | bytes | None:
        """The next line that is not empty; None when the client is gone or its line too long."""
        while True:
            try:
                line = await self._reader.readline()
            except (ValueError, ConnectionError):
                return None
            if not line.endswith(b"\n"):
                return None
            if line.strip():
                return line

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Ends the connection."""
        self._writer.close()
        await self._writer.wait_closed()


def picture_line(data: bytes, *, poses: bool) -> PictureLine:
    """A binary frame as a line."""
    _, _, _, version, time = m.HEADER.unpack_from(data)
    number, signals, rows, at = 0, [], [], m.HEADER.size
    while at < len(data):
        kind, flags, length = m.BLOCK.unpack_from(data, at)
        at += m.BLOCK.size
        if kind == m.SIGNALS:
            number, signals = flags, list(struct.unpack_from(f"<{length // 8}d", data, at))
        elif kind == m.POSES and poses:
            rows = list(struct.iter_unpack("<7f", data[at : at + length]))
        at += length + -length % 8
    return PictureLine(version, time, number, signals, rows)


@contextlib.asynccontextmanager
async def serve_lines(
    listening: socket.socket, hub: Hub, access: Access, certificate: str = "", key: str = ""
) -> AsyncIterator[None]:
    """Lets clients in at a socket that listens, with TLS where there is a certificate."""
    tls = None
    if certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
    clients: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        clients.add(task)
        try:
            await _client(reader, writer, hub, access)
        except ConnectionError:
            pass  # gone in the middle of a line
        finally:
            clients.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, sock=listening, limit=LONGEST, ssl=tls)
    try:
        yield
    finally:
        server.close()
        for task in list(clients):
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


async def _client(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, hub: Hub, access: Access
) -> None:
    """Serves one client until it goes."""
    writer.transport.set_write_buffer_limits(high=_AHEAD)
    waiting = LineSocket(reader, writer)
    try:
        first = await asyncio.wait_for(waiting.read(), PATIENCE)
    except TimeoutError:
        return
    if first is None:
        return
    joined = _joined(first, access)
    if isinstance(joined, str):
        await waiting.send_text(m.encode(m.Refused("join", joined)).decode())
        await waiting.close()
        return
    line_socket = LineSocket(reader, writer, poses=joined.poses)
    stream = line_socket.stream = Stream(line_socket)
    await attend(line_socket, hub, stream, hub.join(stream))


def _joined(line: str | bytes, access: Access) -> Join | str:
    """What a client's first line says, or why it is not let in."""
    try:
        said = msgspec.json.decode(line, type=Join)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return 'the first line must be {"type": "join", "token": "…"}.'
    if not access.knows(said.token):
        return "the token is wrong. Use the one of the address that linkwork studio printed."
    if said.protocol != m.PROTOCOL:
        return f"this studio speaks protocol {m.PROTOCOL}, not {said.protocol}."
    return said
