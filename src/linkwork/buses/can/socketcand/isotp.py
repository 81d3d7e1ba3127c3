"""ISO-TP mode: messages of up to 4095 bytes over a pair of identifiers."""

from __future__ import annotations

from linkwork.buses.can.frame import CanError, Frame
from linkwork.buses.can.isotp import IsoTp, IsoTpSettings
from linkwork.buses.can.node import Node
from linkwork.buses.can.socketcand.mode import Silent, Write
from linkwork.buses.can.socketcand.text import hex_byte, hex_number, identifier, whole


class IsoTpMode(Silent):
    """Understands ``isotpconf`` and then ``sendpdu``; received messages come as ``pdu``."""

    def __init__(self, node: Node, write: Write) -> None:
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

    def wants(self, frame: Frame) -> bool:
        """The channel's frames."""
        channel = self._channel
        return channel is not None and (frame.id, frame.extended) == channel.settings.rx

    def hear(self, frame: Frame) -> bool | None:
        """Gives the frame to the channel."""
        if self._channel is not None and not frame.error and not frame.remote:
            self._channel.hear(frame)
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
