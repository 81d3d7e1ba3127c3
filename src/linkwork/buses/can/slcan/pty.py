"""slcan on a pseudo terminal: a device file that looks like a serial adapter."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import deque
from pathlib import Path

from linkwork.buses.can.client import PATIENCE
from linkwork.buses.can.frame import CanError
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.slcan.adapter import SlcanAdapter
from linkwork.buses.can.slcan.lines import Lines

WAITING_MOST = 64 * 1024  # bytes for a client that does not read, besides the kernel's 4 kB
PAUSE = 1.0  # a command that is begun must go on within this time [s]


class SlcanPty:
    """One adapter on a pseudo terminal. Not on Windows: use :class:`SlcanTcp` there.

    The slave side stays open here, so that clients may come and go; it is in raw mode before the
    first one opens it. A client that stops reading loses whole frames, never half of one; after
    ``patience`` its channel is closed and what it did not read is thrown away, so that the next
    client finds a clean line.

    Args:
        hub: The bus.
        link: Also known by this path, a symbolic link that is removed at the end.
        patience: See above [s].

    Attributes:
        path: The device file that a client opens.
    """

    def __init__(self, hub: Hub, *, link: Path | None = None, patience: float = PATIENCE) -> None:
        if sys.platform == "win32":
            raise CanError(
                "there are no pseudo terminals on Windows.", hint="Use slcan over TCP instead."
            )
        import tty

        self.patience = patience
        self._loop = hub.loop
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        self._link = link
        if link is not None:
            self._make_link(link)
        self.adapter = SlcanAdapter(hub, f"slcan {link or self.path}", self._write)
        self._lines = Lines(self.adapter)
        self._input = bytearray()
        self._output: deque[bytes] = deque()
        self._waiting = 0
        self._flush_due = self._blocked = False
        self._lost_while_blocked = 0
        self._read = self._read_before = 0  # bytes that the client took
        self._timer: asyncio.TimerHandle | None = None
        self._impatience: asyncio.TimerHandle | None = None
        self._loop.add_reader(self._master, self._readable)

    def stop(self) -> None:
        """Removes the device."""
        self._loop.remove_reader(self._master)
        self._loop.remove_writer(self._master)
        if self._timer is not None:
            self._timer.cancel()
        self._calm()
        self.adapter.node.detach()
        os.close(self._master)
        os.close(self._slave)
        self._master = -1
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.unlink()

    def _make_link(self, link: Path) -> None:
        try:
            if link.is_symlink():
                link.unlink()
            link.symlink_to(self.path)
        except OSError as error:
            os.close(self._master)
            os.close(self._slave)
            raise CanError(f"the link {link} cannot be made: {error.strerror}.") from None

    # What comes in

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
            self.adapter.node.on_room = self._go_on
        else:
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        self.adapter.node.on_room = None
        if self._master >= 0:
            self._loop.add_reader(self._master, self._readable)
            self._work()

    def _late(self) -> None:
        self._timer = None
        self._lines.forget(self._input)

    # What goes out

    def _write(self, text: bytes) -> bool:
        if self._waiting + len(text) > WAITING_MOST:
            self._lost_while_blocked += 1
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
                self._output[0] = text[done:]  # the rest of this frame goes first, later
                self._block()
                return
            self._output.popleft()
        if self._blocked:
            self._unblock()

    def _block(self) -> None:
        if not self._blocked:
            self._blocked, self._lost_while_blocked = True, 0
            self._loop.add_writer(self._master, self._flush)
            self._wait_for_it()

    def _unblock(self) -> None:
        self._blocked = False
        self._loop.remove_writer(self._master)
        self._calm()

    def _wait_for_it(self) -> None:
        self._read_before = self._read
        self._impatience = self._loop.call_later(self.patience, self._lose_patience)

    def _calm(self) -> None:
        if self._impatience is not None:
            self._impatience.cancel()
            self._impatience = None

    def _lose_patience(self) -> None:
        if self._read > self._read_before or not self._lost_while_blocked:
            self._wait_for_it()  # it is read, if slowly; or the bus is quiet
            return
        import termios

        node = self.adapter.node
        node.hub.tell(
            f"{node.name} was not read for {self.patience:g} s, lost {node.count.lost} frames "
            "and was closed."
        )
        self.adapter.close()
        self._output.clear()
        self._waiting = 0
        self._unblock()
        termios.tcflush(self._slave, termios.TCIFLUSH)
