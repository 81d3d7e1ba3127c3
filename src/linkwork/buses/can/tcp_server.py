"""TcpServer: a port for clients of one text protocol, bounded in both directions."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import ClassVar, cast

from linkwork.buses.can.frame import CanError
from linkwork.buses.can.node import CanNode
from linkwork.core.errors import os_error_text

HIGH_WATER = 256 * 1024  # maximum number of bytes that wait for a client before frames are lost
# What browsers send first, and clients of a bus never: a web page must not command a robot.
BROWSER_GREETINGS = (
    *(b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"CONNECT ", b"OPTIONS ", b"TRACE "),
    *(b"PATCH ", b"PRI ", b"\x16\x03"),  # the last begins a TLS hello
)
CLIENT_TIMEOUT = 10.0  # maximum time of losing frames before a client is dropped [s]


class WriteTimeout:
    """Timeout of a client that loses frames and reads nothing.

    Args:
        timeout: [s].
        progress: Returns a number that rises when the client reads.
        expired: Called at the timeout.

    Attributes:
        lost: Number of frames lost since the client is blocked.
    """

    def __init__(
        self, timeout: float, progress: Callable[[], int], expired: Callable[[], None]
    ) -> None:
        self.timeout = timeout
        self.lost = 0
        self._progress, self._expired = progress, expired
        self._before = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begins when the client's buffer is full."""
        self.stop()
        self.lost = 0
        self._wait(loop)

    def stop(self) -> None:
        """Ends when the client reads again or leaves."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        self._before = self._progress()
        self._timer = loop.call_later(self.timeout, self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        if self._progress() > self._before or not self.lost:
            self._wait(loop)  # it reads slowly; or the bus is idle
        else:
            self._expired()


class TcpClient(asyncio.Protocol):
    """Base of TCP connections: batched writes, bounded buffers, back pressure.

    Input is parsed only as fast as the node's send queue accepts frames; the rest stays in the
    kernel and slows the client down. Output that the client does not read is lost frame by frame,
    counted on its node, and after ``timeout`` the client is dropped.

    Attributes:
        node: Its node on the bus, once it has one.
    """

    transport: asyncio.Transport

    def __init__(self, *, timeout: float = CLIENT_TIMEOUT) -> None:
        self.node: CanNode | None = None
        self.peer = ""
        self.loop = asyncio.get_running_loop()
        self._input = bytearray()
        self._output: list[bytes] = []
        self._flush_due = False
        self._blocked = False
        self._timeout = WriteTimeout(
            timeout, lambda: -self.transport.get_write_buffer_size(), self._drop
        )
        self._held = False
        self._ending = False
        self._known = False

    # Implemented by a protocol

    def opened(self) -> None:
        """Called when the connection is open."""

    def closed(self) -> None:
        """Called when the connection is closed."""

    def foreign_protocol(self) -> None:
        """Counts and answers a browser before the connection ends."""

    def consume(self, buffer: bytearray) -> bool:
        """Removes complete messages from the front of the buffer.

        Returns:
            False if it stopped early: the node's send queue is full, or other tasks should run.
        """
        raise NotImplementedError

    # Called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=HIGH_WATER)
        address = transport.get_extra_info("peername")
        self.peer = f"{address[0]}:{address[1]}" if address else "?"
        raw = transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            # Megabytes of old frames in the kernel would be useless.
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, HIGH_WATER)
        self.opened()

    def connection_lost(self, exc: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        self._output.clear()
        self._input.clear()
        self._timeout.stop()
        self.closed()
        if self.node is not None:
            self.node.detach()

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        self._input += data
        if self._known or self._introduced():
            self._work()

    def pause_writing(self) -> None:
        """Called when the client does not read, and its buffer is full."""
        self._blocked = True
        self._timeout.start(self.loop)

    def resume_writing(self) -> None:
        """Called when the client reads again."""
        self._blocked = False
        self._timeout.stop()

    # For the protocols

    def write(self, text: bytes) -> bool:
        """Queues text for the client; returns False if it is lost, as the client does not read."""
        if self._blocked or self._ending:
            self._timeout.lost += 1
            return False
        self._output.append(text)
        if not self._flush_due:
            self._flush_due = True
            self.loop.call_soon(self._flush)
        return True

    def end(self) -> None:
        """Closes the connection after sending the buffered text."""
        self._flush()
        self._ending = True
        self._input.clear()
        self.transport.close()

    # Private

    def _flush(self) -> None:
        self._flush_due = False
        if self._output and not self.transport.is_closing():
            self.transport.write(b"".join(self._output))
        self._output.clear()

    def _introduced(self) -> bool:
        """Whether the first bytes are those of a client; closes the connection of a browser.

        An HTTP head may be followed by a body with commands of a web page.
        """
        head = bytes(self._input[:16])
        if head.startswith(BROWSER_GREETINGS):
            self._input.clear()
            self._ending = True
            self.foreign_protocol()
            self.transport.abort()
            return False
        self._known = not any(each.startswith(head) for each in BROWSER_GREETINGS)
        return self._known

    def _work(self) -> None:
        if self._held or self._ending:
            return
        if self.consume(self._input):
            return
        self._held = True
        self.transport.pause_reading()
        if self.node is not None and self.node.full:
            self.node.on_room = self._resume
        else:
            self.loop.call_soon(self._resume)

    def _resume(self) -> None:
        if not self._held or self.transport.is_closing():
            return
        self._held = False
        if self.node is not None:
            self.node.on_room = None
        self._work()
        if not self._held and not self.transport.is_closing():
            self.transport.resume_reading()

    def _drop(self) -> None:
        if self.transport.is_closing():
            return
        if self.node is not None:
            self.node.hub.emit(
                f"{self.node.name} did not read for {self._timeout.timeout:g} s, lost "
                f"{self.node.count.lost} frames and was dropped."
            )
        self.transport.abort()


MAX_CLIENTS = 64


class TcpServer:
    """Base of the TCP servers; a protocol sets ``protocol`` and makes its clients.

    Args:
        timeout: Time for which a client may lose frames without reading before it is dropped [s].
        most_clients: Maximum number of connected clients.

    Attributes:
        host, port: Where it listens, once it does.
    """

    protocol: ClassVar[str] = ""
    usual_port: ClassVar[int] = 0

    def __init__(self, *, timeout: float = CLIENT_TIMEOUT, most_clients: int = MAX_CLIENTS) -> None:
        self.timeout = timeout
        self.most_clients = most_clients
        self.host, self.port = "", 0
        self._clients: set[TcpClient] = set()
        self._server: asyncio.Server | None = None

    def client(self) -> TcpClient:
        """Makes the protocol object of a new connection."""
        raise NotImplementedError

    async def start(
        self, host: str = "127.0.0.1", port: int | None = None, *, tls: ssl.SSLContext | None = None
    ) -> None:
        """Opens the port; 0 takes a free one, which is then in :attr:`port`.

        Raises:
            CanError: If it cannot listen there.
        """
        port = self.usual_port if port is None else port
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                self.client, host, port, ssl=tls, reuse_address=True
            )
        except OSError as error:
            raise CanError(
                f"{self.protocol} cannot listen on {host}:{port}: {os_error_text(error)}.",
                hint="Give another port, or 0 for a free one.",
            ) from None
        self.host, self.port = self._server.sockets[0].getsockname()[:2]

    @property
    def clients(self) -> int:
        """Number of connected clients."""
        return len(self._clients)

    def admit(self, client: TcpClient) -> bool:
        """Adds a client, unless there are too many."""
        if len(self._clients) >= self.most_clients:
            return False
        self._clients.add(client)
        return True

    def forget(self, client: TcpClient) -> None:
        """Removes a disconnected client."""
        self._clients.discard(client)

    async def stop(self) -> None:
        """Closes the port and all connections."""
        if self._server is not None:
            self._server.close()
            for client in list(self._clients):
                client.transport.abort()
            await self._server.wait_closed()
            self._server = None
