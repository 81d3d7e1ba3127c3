"""IsoTp: one channel, which sends and receives messages."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.buses.can.frame import Frame
from linkwork.buses.can.isotp.receiver import Receiver
from linkwork.buses.can.isotp.sender import Sender
from linkwork.buses.can.isotp.settings import HALF_DUPLEX, RX_EXTEND, IsoTpSettings


class IsoTp:
    """One channel.

    Args:
        settings: Its identifiers and options.
        put: Sends a frame; False where the bus does not take it.
        message: Called with each whole message.
        failed: Called with the reason when a message is given up.
    """

    def __init__(
        self,
        settings: IsoTpSettings,
        put: Callable[[Frame], bool],
        message: Callable[[bytes], None],
        failed: Callable[[str], None],
    ) -> None:
        self.settings = settings
        self._sender = Sender(settings, put, failed)
        self._receiver = Receiver(settings, put, message, failed)

    def send(self, data: bytes) -> None:
        """Queues a message of 1 to 4095 bytes."""
        self._sender.send(data)

    def close(self) -> None:
        """Gives up what is under way."""
        self._sender.close()
        self._receiver.close()

    def hear(self, frame: Frame) -> None:
        """Takes a frame of the bus; others than the channel's are ignored."""
        settings = self.settings
        if (frame.id, frame.extended) != settings.rx:
            return
        content = frame.data
        if settings.shift:
            own = settings.rx_address if settings.flags & RX_EXTEND else settings.address
            if not content or content[0] != own:
                return
            content = content[1:]
        if not content:
            return
        is_flow = content[0] >> 4 == 3
        if settings.flags & HALF_DUPLEX and (self._receiver if is_flow else self._sender).busy:
            return
        if is_flow:
            self._sender.flow(content)
        else:
            self._receiver.hear(content, frame.stamp)
