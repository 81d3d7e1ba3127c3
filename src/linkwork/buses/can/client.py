"""One client on a TCP door: bounded in both directions, so that it can harm nobody but itself."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

from linkwork.buses.can.node import Node

HIGH_WATER = 256 * 1024  # bytes that wait for a client before frames are lost
# What browsers say first, and clients of a bus never: a web page must not command a robot.
STRANGERS = (
    *(b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"CONNECT ", b"OPTIONS ", b"TRACE "),
    *(b"PATCH ", b"PRI ", b"\x16\x03"),  # the last begins a TLS hello
)
PATIENCE = 10.0  # how long a client may lose frames without reading before it is dropped [s]


class TcpClient(asyncio.Protocol):
    """Shared manners of the TCP doors: batched writes, loss instead of growth, back pressure.

    What the client writes is parsed only as fast as its node's send queue takes frames; the rest
    stays in the kernel and slows the client down. What it does not read is lost frame by frame,
    counted on its node, and after :attr:`patience` the client is dropped.

    Attributes:
        node: Its place on the bus, once it has one.
        patience: See above [s].
    """

    transport: asyncio.Transport

    def __init__(self, *, patience: float = PATIENCE) -> None:
        self.node: Node | None = None
        self.patience = patience
        self.peer = ""
        self.loop = asyncio.get_running_loop()
        self._input = bytearray()
        self._output: list[bytes] = []
        self._flush_due = False
        self._blocked = False
        self._lost_while_blocked = 0
        self._unread = 0
        self._impatience: asyncio.TimerHandle | None = None
        self._held = False
        self._ending = False
        self._known = False

    # What a door fills in

    def opened(self) -> None:
        """The connection stands."""

    def closed(self) -> None:
        """The connection is gone."""

    def stranger(self) -> None:
        """A browser has come; counts and tells it before the connection ends."""

    def consume(self, buffer: bytearray) -> bool:
        """Takes whole messages off the front of the buffer.

        Returns:
            False where it stopped early: the node's send queue is full, or others should run.
        """
        raise NotImplementedError

    # asyncio's side

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
            # Megabytes of old frames in the kernel would serve nobody.
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, HIGH_WATER)
        self.opened()

    def connection_lost(self, exc: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        self._output.clear()
        self._input.clear()
        self._calm()
        self.closed()
        if self.node is not None:
            self.node.detach()

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        self._input += data
        if self._known or self._introduced():
            self._work()

    def pause_writing(self) -> None:
        """The client does not read, and its buffer is full."""
        self._blocked, self._lost_while_blocked = True, 0
        self._wait_for_it()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._blocked = False
        self._calm()

    # For the doors

    def write(self, text: bytes) -> bool:
        """Queues text for the client; False where it is lost, because the client does not read."""
        if self._blocked or self._ending:
            self._lost_while_blocked += 1
            return False
        self._output.append(text)
        if not self._flush_due:
            self._flush_due = True
            self.loop.call_soon(self._flush)
        return True

    def end(self) -> None:
        """Closes the connection when what was written has gone out."""
        self._flush()
        self._ending = True
        self._input.clear()
        self.transport.close()

    # Inside

    def _flush(self) -> None:
        self._flush_due = False
        if self._output and not self.transport.is_closing():
            self.transport.write(b"".join(self._output))
        self._output.clear()

    def _introduced(self) -> bool:
        """Whether the first bytes are those of a client; ends the connection of a browser.

        A body may follow an HTTP head, with commands that a web page put there.
        """
        head = bytes(self._input[:16])
        if head.startswith(STRANGERS):
            self._input.clear()
            self._ending = True
            self.stranger()
            self.transport.abort()
            return False
        self._known = not any(each.startswith(head) for each in STRANGERS)
        return self._known

    def _work(self) -> None:
        if self._held or self._ending:
            return
        if self.consume(self._input):
            return
        self._held = True
        self.transport.pause_reading()
        if self.node is not None and self.node.full:
            self.node.on_room = self._go_on
        else:
            self.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if not self._held or self.transport.is_closing():
            return
        self._held = False
        if self.node is not None:
            self.node.on_room = None
        self._work()
        if not self._held and not self.transport.is_closing():
            self.transport.resume_reading()

    def _wait_for_it(self) -> None:
        self._calm()
        self._unread = self.transport.get_write_buffer_size()
        self._impatience = self.loop.call_later(self.patience, self._lose_patience)

    def _calm(self) -> None:
        if self._impatience is not None:
            self._impatience.cancel()
            self._impatience = None

    def _lose_patience(self) -> None:
        self._impatience = None
        if self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() < self._unread or not self._lost_while_blocked:
            self._wait_for_it()  # it reads, if slowly; or the bus is quiet
            return
        if self.node is not None:
            self.node.hub.tell(
                f"{self.node.name} did not read for {self.patience:g} s, lost "
                f"{self.node.count.lost} frames and was dropped."
            )
        self.transport.abort()
