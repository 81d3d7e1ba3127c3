"""slcan servers: on a TCP port or on a pseudo terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections import deque
from pathlib import Path

from linkwork.buses.can.frame import CanError
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.slcan.adapter import SlcanAdapter
from linkwork.buses.can.tcp_server import (
    CLIENT_TIMEOUT,
    MAX_CLIENTS,
    TcpClient,
    TcpServer,
    WriteTimeout,
)
from linkwork.core.errors import os_error_text

MAX_LINE = 64  # maximum length of a command; the longest valid one has 26 characters
COMMANDS_PER_TURN = 256


class CommandBuffer:
    """Passes the commands of a stream to an adapter.

    Line feeds are ignored, since some terminals send them after CR.
    """

    def __init__(self, adapter: SlcanAdapter) -> None:
        self._adapter = adapter
        self._skipping = False

    def consume(self, buffer: bytearray) -> bool:
        """Removes complete commands from the front of the buffer.

        Returns:
            False if it stopped early: the send queue is full, or other tasks should run.
        """
        place, adapter = 0, self._adapter
        for _ in range(COMMANDS_PER_TURN):
            if adapter.node.full:
                break
            end = buffer.find(b"\r", place)
            if end < 0:
                del buffer[:place]
                if len(buffer) > MAX_LINE:
                    buffer.clear()
                    self._skipping = True
                return True
            line = bytes(buffer[place:end]).strip(b"\n")
            place = end + 1
            if self._skipping or len(line) > MAX_LINE:
                self._skipping = False
                adapter.reply_error()
            else:
                adapter.command(line)
        del buffer[:place]
        return False

    def begun(self, buffer: bytearray) -> bool:
        """Whether a command has begun and not ended, even one too long to be kept."""
        return bool(buffer) or self._skipping

    def forget(self, buffer: bytearray) -> None:
        """Discards a command that was not finished in time."""
        if self.begun(buffer):
            buffer.clear()
            self._skipping = False
            self._adapter.node.bad("began a command and did not finish it.")


class _Connection(TcpClient):
    """One client; TCP loses nothing, so that only a carriage return ends a command."""

    def __init__(self, server: SlcanServer) -> None:
        super().__init__(timeout=server.timeout)
        self._server = server
        self._lines: CommandBuffer | None = None

    def opened(self) -> None:
        """Attaches an adapter, if the number of clients allows it."""
        if not self._server.admit(self):
            self.write(b"\a")
            self.end()
            return
        adapter = SlcanAdapter(self._server.hub, f"slcan {self.peer}", self.write)
        self.node = adapter.node
        self._lines = CommandBuffer(adapter)
        self._server.hub.emit(f"{self.node.name} is connected to bus {self._server.hub.name}.")

    def closed(self) -> None:
        """Detaches it."""
        self._server.forget(self)

    def foreign_protocol(self) -> None:
        """Counts and answers a browser."""
        if self.node is not None:
            self.node.bad("sent a browser's request, and was disconnected.")

    def consume(self, buffer: bytearray) -> bool:
        """Executes complete commands."""
        return self._lines is None or self._lines.consume(buffer)


class SlcanServer(TcpServer):
    """Serves one bus.

    Args:
        hub: The bus.
        timeout: See :class:`TcpServer` [s].
        most_clients: Maximum number of connected clients.
    """

    protocol = "slcan"

    def __init__(
        self, hub: CanHub, *, timeout: float = CLIENT_TIMEOUT, most_clients: int = MAX_CLIENTS
    ) -> None:
        super().__init__(timeout=timeout, most_clients=most_clients)
        self.hub = hub

    def client(self) -> TcpClient:
        """An adapter for each connection."""
        return _Connection(self)


MAX_WAITING = 64 * 1024  # buffer for a client that does not read, besides the kernel's 4 kB [byte]
PAUSE = 1.0  # maximum pause within a command [s]


_PTY_NAME = re.compile(r"/dev/(pts/|ttys)[0-9]+")


class SlcanPty:
    """One adapter on a pseudo terminal. Not on Windows: use :class:`SlcanTcp` there.

    The slave side stays open here, so that clients may connect and leave; it is in raw mode before
    the first one opens it. A client that stops reading loses whole frames, never half of one; after
    ``timeout`` its channel is closed and unread data is discarded, so that the next client starts
    with an empty line.

    Args:
        hub: The bus.
        link: Path of a symbolic link to it, removed at the end.
        replace: Whether it may replace a symbolic link that another program made; the link of an
            ended bus is always replaced.
        timeout: See above [s].

    Attributes:
        path: The device file that a client opens.
    """

    def __init__(
        self,
        hub: CanHub,
        *,
        link: Path | None = None,
        replace: bool = False,
        timeout: float = CLIENT_TIMEOUT,
    ) -> None:
        if sys.platform == "win32":
            raise CanError(
                "there are no pseudo terminals on Windows.", hint="Use slcan over TCP instead."
            )
        import tty

        self._loop = hub.loop
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        self._link = link
        if link is not None:
            self._make_link(link, replace)
        self.adapter = SlcanAdapter(hub, f"slcan {link or self.path}", self._write)
        self._lines = CommandBuffer(self.adapter)
        self._input = bytearray()
        self._output: deque[bytes] = deque()
        self._waiting = 0
        self._flush_due = self._blocked = False
        self._read = 0  # bytes that the client has read
        self._timeout = WriteTimeout(timeout, lambda: self._read, self._close_unread)
        self._timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(self._master, self._readable)

    def stop(self) -> None:
        """Removes the device."""
        self._loop.remove_reader(self._master)
        self._loop.remove_writer(self._master)
        if self._timer is not None:
            self._timer.cancel()
        self._timeout.stop()
        self.adapter.node.detach()
        os.close(self._master)
        os.close(self._slave)
        self._master = -1
        if self._link is not None:
            with contextlib.suppress(OSError):
                if os.readlink(self._link) == self.path:
                    self._link.unlink()

    def _make_link(self, link: Path, replace: bool) -> None:
        try:
            if link.is_symlink():
                target = os.readlink(link)
                if not replace and not self._is_leftover(target):
                    raise CanError(
                        f"{link} is a link to {target} that this bus did not make.",
                        hint="Name another path, remove the link, or allow it: "
                        "--allow replace-links, Session(…, allow=['replace-links']).",
                    )
                link.unlink()
            link.symlink_to(self.path)
        except (CanError, OSError) as error:
            os.close(self._master)
            os.close(self._slave)
            if isinstance(error, CanError):
                raise
            raise CanError(f"the link {link} cannot be made: {os_error_text(error)}.") from None

    def _is_leftover(self, target: str) -> bool:
        """Whether a link leads to a pseudo terminal that no longer exists, or is this one."""
        ended = _PTY_NAME.fullmatch(target) is not None and not os.path.exists(target)
        return ended or target == self.path

    # Input

    def _readable(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except (BlockingIOError, OSError):
            return
        self._input += data
        self._work()

    def _work(self) -> None:
        if self._master < 0:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._lines.consume(self._input):
            if self._lines.begun(self._input):
                self._timer = self._loop.call_later(PAUSE, self._late)
            return
        self._loop.remove_reader(self._master)
        if self.adapter.node.full:
            self.adapter.node.on_room = self._resume
        else:
            self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        self.adapter.node.on_room = None
        if self._master >= 0:
            self._loop.add_reader(self._master, self._readable)
            self._work()

    def _late(self) -> None:
        self._timer = None
        self._lines.forget(self._input)

    # Output

    def _write(self, text: bytes) -> bool:
        if self._waiting + len(text) > MAX_WAITING:
            self._timeout.lost += 1
            return False
        self._output.append(text)
        self._waiting += len(text)
        if not self._flush_due and not self._blocked:
            self._flush_due = True
            self._loop.call_soon(self._flush)
        return True

    def _flush(self) -> None:
        self._flush_due = False
        while self._output and self._master >= 0:
            text = self._output[0]
            try:
                done = os.write(self._master, text)
            except BlockingIOError:
                done = 0
            except OSError:
                done = len(text)
            self._waiting -= done
            self._read += done
            if done < len(text):
                self._output[0] = text[done:]  # the rest of this frame is sent first, later
                self._block()
                return
            self._output.popleft()
        if self._blocked:
            self._unblock()

    def _block(self) -> None:
        if not self._blocked:
            self._blocked = True
            self._loop.add_writer(self._master, self._flush)
            self._timeout.start(self._loop)

    def _unblock(self) -> None:
        self._blocked = False
        self._loop.remove_writer(self._master)
        self._timeout.stop()

    def _close_unread(self) -> None:
        import termios

        node = self.adapter.node
        node.hub.emit(
            f"{node.name} was not read for {self._timeout.timeout:g} s, lost "
            f"{node.count.lost} frames and was closed."
        )
        self.adapter.close()
        self._output.clear()
        self._waiting = 0
        self._unblock()
        termios.tcflush(self._slave, termios.TCIFLUSH)
