"""ISO-TP: every message arrives whole and in order, or its sender is told."""

from typing import Any

import pytest

from linkwork.buses.can.frame import CanFrame, data_frame
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.iso_tp import FORCE_RX_GAP, HALF_DUPLEX, IsoTp, IsoTpSettings
from manual_clock import HandClock, by_hand

ONE, TWO = (0x123, False), (0x321, False)


class Wire:
    """A channel on a wire that takes frames or not; what comes of it is kept."""

    def __init__(self, **settings: Any) -> None:
        self.takes = True
        self.sent: list[str] = []
        self.messages: list[str] = []
        self.failed: list[str] = []
        self.channel = IsoTp(
            IsoTpSettings(ONE, TWO, **settings),
            self._put,
            lambda message: self.messages.append(message.hex()),
            self.failed.append,
        )

    def _put(self, frame: CanFrame) -> bool:
        if self.takes:
            self.sent.append(frame.data.hex())
        return self.takes

    def on_frame(self, content: str, stamp: float = 0.0) -> None:
        self.channel.on_frame(data_frame(TWO[0], bytes.fromhex(content))._replace(stamp=stamp))


def test_messages_of_all_lengths_arrive_in_order() -> None:
    """Short ones between long ones, queued all at once, on a bus that holds four frames."""

    async def test(loop: HandClock) -> None:
        hub, received = CanHub(), list[bytes]()
        messages = [bytes([n]) * length for n, length in enumerate((1, 20, 20, 3, 7, 8, 4095, 1))]

        def channel(name: str, settings: IsoTpSettings) -> IsoTp:
            node = hub.attach(name, lambda frame: made.on_frame(frame), outbox=4)
            made = IsoTp(
                settings, node.send, received.append, lambda why: received.append(why.encode())
            )
            return made

        one = channel("one", IsoTpSettings(ONE, TWO))
        channel("two", IsoTpSettings(TWO, ONE, block=3))
        for message in messages:
            one.send(message)
        for _ in range(5000):
            if len(received) == len(messages):
                break
            await loop.forward(0.002)
        assert received == messages

    by_hand(test)


def test_a_short_message_does_not_push_a_long_one_aside() -> None:
    """A single frame, then a first frame; the next message waits for the flow control."""

    async def test(loop: HandClock) -> None:
        wire = Wire()
        for content in ("11", "aa" * 20, "bb" * 20):
            wire.channel.send(bytes.fromhex(content))
        await loop.forward(0.1)
        assert wire.sent == ["0111", "1014aaaaaaaaaaaa"]
        wire.on_frame("300000")
        await loop.forward(0.1)
        assert wire.sent[2:] == ["21" + "aa" * 7, "22" + "aa" * 7, "1014bbbbbbbbbbbb"]

    by_hand(test)


@pytest.mark.parametrize("length", [4, 20])
def test_a_frame_that_the_bus_refuses_is_tried_again(length: int) -> None:
    """Single or first, it goes out as soon as there is room."""

    async def test(loop: HandClock) -> None:
        wire = Wire()
        wire.takes = False
        wire.channel.send(bytes(length))
        await loop.forward(0.5)
        assert not wire.sent
        assert not wire.failed
        wire.takes = True
        await loop.forward(0.1)
        assert len(wire.sent) == 1

    by_hand(test)


def test_a_bus_that_takes_nothing_is_told_for_each_message() -> None:
    """After a second each; then the next one is tried."""

    async def test(loop: HandClock) -> None:
        wire = Wire()
        wire.takes = False
        wire.channel.send(bytes(4))
        wire.channel.send(bytes(20))
        for _ in range(40):
            await loop.forward(0.1)
        assert wire.failed == ["the bus accepted no frame for 1 s"] * 2
        wire.takes = True
        wire.channel.send(b"1")
        assert wire.sent == ["0131"]

    by_hand(test)


def test_a_flow_control_that_the_bus_refuses_is_sent_later() -> None:
    """Or the other side would wait in vain."""

    async def test(loop: HandClock) -> None:
        wire = Wire()
        wire.takes = False
        wire.on_frame("1008000102030405")
        wire.takes = True
        await loop.forward(0.1)
        assert wire.sent == ["300000"]

    by_hand(test)


def test_half_duplex_goes_one_way_at_a_time() -> None:
    """While sending nothing is received; while receiving no flow control is heard."""

    async def test(loop: HandClock) -> None:
        wire = Wire(flags=HALF_DUPLEX)
        wire.channel.send(bytes(20))
        wire.on_frame("0177")
        assert wire.messages == []
        wire.channel.close()
        wire.sent.clear()

        wire.on_frame("1008000102030405")
        wire.channel.send(bytes(20))
        wire.on_frame("300000")
        await loop.forward(0.1)
        assert wire.sent == ["300000", "1014000000000000"]

    by_hand(test)


def test_consecutive_frames_that_come_too_fast_are_ignored_where_forced() -> None:
    """As Linux does with CAN_ISOTP_FORCE_RXSTMIN: the copy that comes in time counts."""

    async def test(loop: HandClock) -> None:
        wire = Wire(flags=FORCE_RX_GAP, forced_gap=0.01)
        wire.on_frame("1014000102030405", 5.0)
        wire.on_frame("21060708090a0b0c", 5.001)
        wire.on_frame("220d0e0f10111213", 5.002)
        assert wire.messages == wire.failed == []
        wire.on_frame("220d0e0f10111213", 5.012)
        assert wire.messages == [bytes(range(20)).hex()]

    by_hand(test)
