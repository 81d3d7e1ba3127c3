"""Client sockets: messages over WebSocket or as JSON lines over TCP."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator
from typing import Protocol
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from linkwork.studio import protocol as m
from linkwork.studio.web.access import Access
from linkwork.studio.web.connections import FIRST_BYTES_TIMEOUT, ConnectionGuard, RefusalLog
from linkwork.studio.web.hub import Hub
from linkwork.studio.web.stream import ClientStream

#: Close codes: another protocol version, and a client that did not read its texts.
RELOAD, TOO_SLOW = 4000, 1013
#: Timeout for closing a connection [s].
_CLOSE_TIMEOUT = 2.0


class WebSocketClient:
    """A WebSocket over ASGI.

    Starlette's class has more overhead, at sixty snapshots a second per client.

    Args:
        scope: Scope of the connection.
        receive: Waits for the client's next message.
        send: Sends to the client.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
        self._receive, self._send = receive, send

    async def accept(self) -> None:
        """Accepts the client."""
        await self._receive()  # its request to connect
        await self._send({"type": "websocket.accept"})

    async def send_text(self, data: str) -> None:
        """Sends a text frame."""
        await self._send({"type": "websocket.send", "text": data})

    async def send_bytes(self, data: bytes) -> None:
        """Sends a binary frame."""
        await self._send({"type": "websocket.send", "bytes": data})

    async def read(self) -> str | bytes | None:
        """The client's next message; None after it has disconnected."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            return None
        text = message.get("text")
        return text if text is not None else message.get("bytes") or b""

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection."""
        await self._send({"type": "websocket.close", "code": code, "reason": reason})


async def serve_websocket(socket: WebSocketClient, hub: Hub) -> None:
    """Serves one client until it disconnects."""
    await socket.accept()
    asked = socket.asked
    if asked.get("protocol") != str(m.PROTOCOL):
        text = "this page belongs to another version of Linkwork. Reload it."
        await socket.send_text(m.encode(m.Refused("hello", text, reason="reload")).decode())
        await socket.close(RELOAD, "reload")
        return
    stream = ClientStream(socket)
    name = hub.join(stream, asked.get("was", ""), watched="watched" in asked)
    await serve_client(socket, hub, stream, name)


class ClientSocket(Protocol):
    """A socket that is read until its client disconnects."""

    async def read(self) -> str | bytes | None:
        """The client's next message; None after it has disconnected."""
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection."""
        ...


async def serve_client(socket: ClientSocket, hub: Hub, stream: ClientStream, name: str) -> None:
    """Reads from and writes to an accepted client, until it disconnects or is dropped."""
    reader = asyncio.ensure_future(_read(socket, hub, name))
    writer = asyncio.ensure_future(stream.run())
    # A client that does not read blocks the writer inside a send, which never ends by itself.
    tasks = [reader, writer, asyncio.ensure_future(stream.given_up.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        hub.leave(name)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(Exception):  # it has disconnected already
            code = TOO_SLOW if stream.given_up.is_set() else 1000
            await asyncio.wait_for(socket.close(code), _CLOSE_TIMEOUT)


async def _read(socket: ClientSocket, hub: Hub, name: str) -> None:
    while (data := await socket.read()) is not None:
        hub.take(name, data)


async def reject_socket(
    scope: Scope, receive: Receive, send: Send, why: m.ErrorResponse, headers: list[tuple[str, str]]
) -> None:
    """Rejects a socket before it is opened: the browser sees 403, with these headers."""
    await receive()
    if "websocket.http.response" in scope.get("extensions", {}):
        body = m.encode(why)
        head = [(name.encode(), value.encode()) for name, value in headers]
        head.append((b"content-type", b"application/json"))
        await send({"type": "websocket.http.response.start", "status": 403, "headers": head})
        await send({"type": "websocket.http.response.body", "body": body})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": why.error})


#: Maximum length of a line or text frame [byte].
MAX_LINE = 2**20
#: Maximum send buffer of a client; with more, snapshots are held back [byte].
_MAX_WAITING = 2**16


class JoinRequest(
    msgspec.Struct, frozen=True, tag_field="type", tag="join", forbid_unknown_fields=True
):
    """The first line of a client.

    ``protocol`` is the version of the messages; with ``poses`` snapshots contain those of the
    bodies.
    """

    token: str
    protocol: int = m.PROTOCOL
    poses: bool = False


class SnapshotLine(msgspec.Struct, frozen=True, tag_field="type", tag="snapshot"):
    """A snapshot: the watched signals, null for unknown names, and poses.

    ``number`` is that of the watch. ``poses`` are rows x y z, quaternion w x y z.
    """

    version: int
    time: float
    number: int
    signals: list[float]
    poses: list[tuple[float, ...]]


class LineSocket:
    """A client's connection: texts and snapshots are sent as lines.

    A snapshot counts as received when the send buffer has been written, so that a client that does
    not read misses snapshots, and need not acknowledge any.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, poses: bool = False
    ) -> None:
        self._reader, self._writer = reader, writer
        self._poses = poses
        self._sent = 0
        self.stream: ClientStream | None = None

    async def send_text(self, data: str) -> None:
        """Sends a line."""
        self._writer.write(data.encode() + b"\n")
        await self._writer.drain()

    async def send_bytes(self, data: bytes) -> None:
        """Sends a snapshot as a line, if it contains requested data."""
        self._sent += 1
        line = snapshot_line(data, poses=self._poses)
        if line.signals or self._poses:
            await self.send_text(m.encode(line).decode())
        if self.stream is not None:
            self.stream.acknowledge(self._sent)

    async def read(self) -> str | bytes | None:
        """The next non-empty line; None after disconnecting, or if the line is too long."""
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
        """Closes the connection."""
        self._writer.close()
        await self._writer.wait_closed()


def snapshot_line(data: bytes, *, poses: bool) -> SnapshotLine:
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
    return SnapshotLine(version, time, number, signals, rows)


@contextlib.asynccontextmanager
async def serve_lines(
    listening: socket.socket, hub: Hub, access: Access, certificate: str = "", key: str = ""
) -> AsyncIterator[None]:
    """Accepts clients at a listening socket, with TLS if there is a certificate."""
    tls = None
    if certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
    clients: set[asyncio.Task[None]] = set()
    guard, refusals = ConnectionGuard(listening), RefusalLog()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        clients.add(task)
        client = writer.get_extra_info("peername")[:2]
        try:
            joined = await _join(reader, writer, access)
            if isinstance(joined, m.Refused):
                refusals.add(client, "a connection", joined.text)
                return
            if joined is not None:
                guard.begin(client)
                guard.admit(client)
                await _client(reader, writer, hub, joined)
        except ConnectionError:
            pass  # disconnected in the middle of a line
        finally:
            clients.discard(task)
            writer.close()

    def protocol() -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(limit=MAX_LINE), serve)

    guard.start(protocol, tls)
    try:
        yield
    finally:
        guard.close()
        for task in list(clients):
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


async def _join(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, access: Access
) -> JoinRequest | m.Refused | None:
    """The join request of a client, or why it is rejected, which it reads; None if it is silent."""
    writer.transport.set_write_buffer_limits(high=_MAX_WAITING)
    waiting = LineSocket(reader, writer)
    try:
        first = await asyncio.wait_for(waiting.read(), FIRST_BYTES_TIMEOUT)
    except TimeoutError:
        return None
    if first is None:
        return None
    joined = _joined(first, access)
    if isinstance(joined, m.Refused):
        await waiting.send_text(m.encode(joined).decode())
        await waiting.close()
    return joined


async def _client(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, hub: Hub, joined: JoinRequest
) -> None:
    """Serves one client until it disconnects."""
    line_socket = LineSocket(reader, writer, poses=joined.poses)
    stream = line_socket.stream = ClientStream(line_socket)
    await serve_client(line_socket, hub, stream, hub.join(stream))


def _joined(line: str | bytes, access: Access) -> JoinRequest | m.Refused:
    """The join request in a client's first line, or why it is rejected."""
    try:
        request = msgspec.json.decode(line, type=JoinRequest)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return m.Refused("join", 'the first line must be {"type": "join", "token": "…"}.')
    if not access.knows(request.token):
        text = "the token is wrong. Use the one of the address that linkwork studio printed."
        return m.Refused("join", text, reason="token")
    if request.protocol != m.PROTOCOL:
        text = f"this studio speaks protocol {m.PROTOCOL}, not {request.protocol}."
        return m.Refused("join", text, reason="reload")
    return request
