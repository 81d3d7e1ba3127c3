"""Bridge from the hub to an external CAN bus, by python-can."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import secrets
import threading
from typing import Any

from linkwork.buses.can.frame import CanError, CanFrame
from linkwork.buses.can.hub import CanHub

# Interfaces that return sent messages; the channel of a message identifies its sender.
_ECHOING = frozenset({"udp_multicast"})
MAX_WAITING = 4096
BATCH = 256


class Bridge:
    """Connects two buses: frames of either are received on the other.

    python-can blocks, so that reading and writing have a thread each. A lost connection (an
    unplugged cable) is logged as an event and opened again every ``retry`` seconds.

    Args:
        hub: The hub.
        interface: python-can's name of the interface: ``socketcan``, ``udp_multicast``,
            ``virtual``, ``pcan``, …
        channel: Its channel.
        retry: Time between two attempts to open it again [s].
        options: Further arguments of ``can.Bus``, such as ``bitrate``.
    """

    def __init__(
        self, hub: CanHub, interface: str, channel: str | int, *, retry: float = 2.0, **options: Any
    ) -> None:
        self.hub = hub
        self.where = f"{interface} {channel}"
        self.retry = retry
        self._options = {"interface": interface, "channel": channel, **options}
        self._waiting: queue.Queue[CanFrame | None] = queue.Queue(MAX_WAITING)
        self._ended = threading.Event()
        self._bus: Any = None
        self._mark = f"linkwork-{secrets.token_hex(6)}" if interface in _ECHOING else None
        self._threads: list[threading.Thread] = []
        self.node = hub.attach(self.where, self._on_frame, outbox=MAX_WAITING)
        self.node.present = lambda: self.connected

    @property
    def connected(self) -> bool:
        """Whether the external bus is open."""
        return self._bus is not None

    async def start(self) -> None:
        """Opens the external bus.

        Raises:
            CanError: If it cannot be opened.
        """
        try:
            self._bus = await asyncio.to_thread(self._open)
        except CanError:
            self.node.detach()
            raise
        for work in (self._read, self._write):
            name = f"{self.where} {work.__name__}"
            thread = threading.Thread(target=work, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()
        self.hub.emit(f"bus {self.hub.name} is connected to {self.where}.")

    async def stop(self) -> None:
        """Closes it."""
        self._ended.set()
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join, 5.0)
        self._threads.clear()
        if self._bus is not None:
            await asyncio.to_thread(self._bus.shutdown)
            self._bus = None
        self.node.detach()

    def _on_frame(self, frame: CanFrame) -> bool | None:
        if frame.error:
            return None
        if self._bus is None:
            return False
        try:
            self._waiting.put_nowait(frame)
        except queue.Full:
            return False
        return None

    def _arrived(self, frames: list[CanFrame], odd: int) -> None:
        for frame in frames:
            self.node.send(frame)
        for _ in range(odd):
            self.node.bad("received a CAN FD frame, which this bus does not support.")

    # In threads

    def _open(self) -> Any:
        try:
            import can
        except ImportError:
            raise CanError(
                "an external bus needs python-can, which is not installed.",
                hint='Install it with: pip install "linkwork[bus]"',
            ) from None
        try:
            return can.Bus(**self._options)
        except Exception as error:  # each interface raises its driver's exceptions
            raise CanError(
                f"{self.where} cannot be opened: {str(error).rstrip('.') or type(error).__name__}.",
                hint="Check that the interface exists and is up; socketcan needs kernel support.",
            ) from None

    def _call(self, *call: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self.hub.loop.call_soon_threadsafe(*call)

    def _read(self) -> None:
        while not self._ended.is_set():
            bus = self._bus
            try:
                if bus is None:
                    self._reopen()
                    continue
                message = bus.recv(0.2)
                frames, odd, seen = [], 0, 0
                while message is not None:
                    seen += 1
                    if not self._is_echo(message):
                        frame = from_message(message)
                        frames += [frame] if frame is not None else []
                        odd += frame is None
                    message = bus.recv(0) if seen < BATCH else None
                if frames or odd:
                    self._call(self._arrived, frames, odd)
            except Exception as error:
                self._broke(error)

    def _is_echo(self, message: Any) -> bool:
        """Whether a message is an echo of a sent one."""
        return not message.is_rx or (self._mark is not None and message.channel == self._mark)

    def _reopen(self) -> None:
        if self._ended.wait(self.retry):
            return
        with contextlib.suppress(CanError):
            self._bus = self._open()
            self._call(self.hub.emit, f"{self.where} is back.")

    def _broke(self, error: Exception) -> None:
        bus, self._bus = self._bus, None
        if bus is None or self._ended.is_set():
            return
        with contextlib.suppress(Exception):
            bus.shutdown()
        self._call(self.hub.emit, f"{self.where} broke: {error}. Retrying.")

    def _write(self) -> None:
        while not self._ended.is_set():
            frame = self._waiting.get()
            bus = self._bus
            if frame is None or bus is None:
                continue
            try:
                bus.send(to_message(frame, channel=self._mark), timeout=0.1)
            except Exception as error:
                if self.node.count.lost == 0:
                    self._call(self.hub.emit, f"{self.where} does not accept frames: {error}.")
                self.node.count.lost += 1


def to_message(frame: CanFrame, *, channel: str | None = None) -> Any:
    """Returns a frame as a message of python-can, with the channel of its sender."""
    import can

    return can.Message(
        arbitration_id=frame.id,
        is_extended_id=frame.extended,
        is_remote_frame=frame.remote,
        dlc=frame.dlc,
        data=None if frame.remote else frame.data,
        channel=channel,
        check=False,
    )


def from_message(message: Any) -> CanFrame | None:
    """A message of python-can as a frame; None for kinds that CAN 2.0 does not have."""
    if message.is_error_frame:
        return CanFrame(message.arbitration_id, bytes(8), True, False, True, 8)
    if message.is_fd or message.dlc > 8:
        return None
    return CanFrame(
        message.arbitration_id,
        b"" if message.is_remote_frame else bytes(message.data),
        message.is_extended_id,
        message.is_remote_frame,
        False,
        message.dlc,
    )
