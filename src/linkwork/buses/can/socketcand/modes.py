"""Modes of a socketcand connection: raw, control, ISO-TP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from linkwork.buses.can.frame import CanError, CanFrame
from linkwork.buses.can.iso_tp import IsoTp, IsoTpSettings
from linkwork.buses.can.node import CanNode
from linkwork.buses.can.socketcand.text import (
    frame_of,
    frame_text,
    hex_byte,
    hex_number,
    identifier,
    whole,
)


class ConnectionMode(Protocol):
    """One mode of a connection: handles commands and frames."""

    def command(self, name: str, words: list[str]) -> bool:
        """Executes a command; returns False if the mode has no such command.

        Raises:
            CanError: If the command is wrong; the text is sent to the client.
        """
        ...

    def wants(self, frame: CanFrame) -> bool:
        """Whether a frame is meant for the client."""
        ...

    def on_frame(self, frame: CanFrame) -> bool | None:
        """Handles an accepted frame or an error frame; returns False if it was lost."""
        ...

    def close(self) -> None:
        """Leaves the mode and ends its timers and jobs."""
        ...


Write = Callable[[bytes], bool]


class BaseMode:
    """A mode without frames; base of modes that do not show them."""

    def __init__(self, node: CanNode, write: Write) -> None:
        self.node = node
        self.write = write

    def command(self, name: str, words: list[str]) -> bool:
        """See :class:`ConnectionMode`."""
        return False

    def wants(self, frame: CanFrame) -> bool:
        """See :class:`ConnectionMode`."""
        return False

    def on_frame(self, frame: CanFrame) -> bool | None:
        """See :class:`ConnectionMode`."""
        return None

    def close(self) -> None:
        """See :class:`ConnectionMode`."""


HOLD = 0.1  # a client that reads late expects "< ok >" alone [s]
MAX_HELD_FRAMES = 4096


class RawMode(BaseMode):
    """Sends and receives everything; the first frames wait, then follow in order."""

    def __init__(self, node: CanNode, write: Write, *, hold: float = HOLD) -> None:
        super().__init__(node, write)
        self._held: list[bytes] | None = []
        self._timer = asyncio.get_running_loop().call_later(hold, self._release)

    def command(self, name: str, words: list[str]) -> bool:
        """Executes ``send``."""
        if name != "send":
            return False
        self.node.send(frame_of(words))
        return True

    def wants(self, frame: CanFrame) -> bool:
        """All frames that the protocol can express."""
        return not frame.remote

    def on_frame(self, frame: CanFrame) -> bool | None:
        """Sends the frame to the client."""
        text = frame_text(frame)
        if self._held is None:
            return self.write(text)
        if len(self._held) >= MAX_HELD_FRAMES:
            return False
        self._held.append(text)
        return None

    def close(self) -> None:
        """Cancels the wait."""
        self._timer.cancel()
        self._held = None

    def _release(self) -> None:
        held, self._held = self._held or [], None
        for text in held:
            if not self.write(text):
                self.node.count.lost += 1


class StatisticsReport:
    """Sends ``< stat rbytes rpackets tbytes tpackets >`` periodically, in any mode.

    The protocol sends them inline with frames and other data until the interval is set to 0.
    Received counts frames of other nodes, transmitted those of this client.
    """

    def __init__(self, node: CanNode, write: Write) -> None:
        self.node = node
        self.write = write
        self._timer: asyncio.TimerHandle | None = None
        self._interval = 0.0

    def set(self, interval: float) -> None:
        """Sets the interval [s]; 0 stops."""
        self.close()
        self._interval = interval
        if interval:
            self._next()

    def close(self) -> None:
        """Stops."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _next(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._interval, self._report)

    def _report(self) -> None:
        hub, count = self.node.hub, self.node.count
        numbers = (
            hub.frame_bytes - count.sent_bytes,
            hub.frames - count.sent,
            count.sent_bytes,
            count.sent,
        )
        self.write(f"< stat {' '.join(map(str, numbers))} >".encode())
        self._next()


class ControlMode(BaseMode):
    """Executes ``statistics``."""

    def __init__(self, node: CanNode, write: Write, statistics: StatisticsReport) -> None:
        super().__init__(node, write)
        self._statistics = statistics

    def command(self, name: str, words: list[str]) -> bool:
        """Executes ``statistics ival`` [ms]."""
        if name != "statistics":
            return False
        if len(words) != 1:
            raise CanError("statistics needs an interval in milliseconds")
        self._statistics.set(whole(words[0], 10**9) / 1000.0)
        return True


class IsoTpMode(BaseMode):
    """Executes ``isotpconf`` and then ``sendpdu``; received messages are sent as ``pdu``."""

    def __init__(self, node: CanNode, write: Write) -> None:
        super().__init__(node, write)
        self._channel: IsoTp | None = None

    def command(self, name: str, words: list[str]) -> bool:
        """See :class:`Mode`."""
        if name == "isotpconf":
            self.close()
            self._channel = IsoTp(_settings(words), self.node.send, self._message, self._failed)
        elif name == "sendpdu":
            if self._channel is None:
                raise CanError("sendpdu: configure the channel with isotpconf first")
            if len(words) != 1:
                raise CanError("sendpdu: hexadecimal digits without spaces expected")
            try:
                data = bytes.fromhex(words[0])
            except ValueError:
                raise CanError("sendpdu: not an even number of hexadecimal digits") from None
            self._channel.send(data)
        else:
            return False
        return True

    def wants(self, frame: CanFrame) -> bool:
        """The channel's frames."""
        channel = self._channel
        return channel is not None and (frame.id, frame.extended) == channel.settings.rx

    def on_frame(self, frame: CanFrame) -> bool | None:
        """Passes the frame to the channel."""
        if self._channel is not None and not frame.error and not frame.remote:
            self._channel.on_frame(frame)
        return None

    def close(self) -> None:
        """Ends the channel."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _message(self, data: bytes) -> None:
        text = f"< pdu {self.node.hub.now():.6f} {data.hex().upper()} >"
        if not self.write(text.encode()):
            self.node.count.lost += 1

    def _failed(self, why: str) -> None:
        self.write(f"< error isotp: {why} >".encode())


def _settings(words: list[str]) -> IsoTpSettings:
    """Reads ``tx_id rx_id flags blocksize stmin [wftmax txpad rxpad ext rx_ext]``."""
    if not 5 <= len(words) <= 10:
        raise CanError("isotpconf: 5 to 10 values expected")
    optional = [whole(words[5], 255)] if len(words) > 5 else []
    optional += [hex_byte(word) for word in words[6:]]
    optional += [0] * (5 - len(optional))
    settings = IsoTpSettings(
        identifier(words[0]),
        identifier(words[1]),
        hex_number(words[2], 0xFFFF),
        whole(words[3], 255),
        hex_byte(words[4]),
        *optional[1:],
    )
    if settings.needs > len(words):
        raise CanError(f"isotpconf: the flags {words[2]} need {settings.needs} values")
    return settings
