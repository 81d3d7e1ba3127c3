"""A bus outside, joined through python-can."""

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

import can
import pytest

from linkwork.buses.can import CanError, CanHub, data_frame, remote_frame
from linkwork.buses.can.bridge import Bridge


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(6000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come")


def run(test: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(test())


async def there_and_back(hub: CanHub, outside: can.BusABC) -> None:
    node = hub.attach("ours")
    node.send(data_frame(0x123, b"abc"))
    node.send(data_frame(0x12345, b""))
    node.send(remote_frame(0x55, 3))
    got = [await asyncio.to_thread(outside.recv, 30.0) for _ in range(3)]
    assert [
        (m.arbitration_id, bytes(m.data), m.is_extended_id, m.is_remote_frame, m.dlc)
        for m in got
        if m
    ] == [
        (0x123, b"abc", False, False, 3),
        (0x12345, b"", True, False, 0),
        (0x55, b"", False, True, 3),
    ]
    outside.send(can.Message(arbitration_id=0x321, data=b"xyz", is_extended_id=False))
    frames = []
    await until(lambda: bool(frames.extend(node.take()) or frames))
    assert [(f.id, f.data) for f in frames] == [(0x321, b"xyz")]


def test_the_virtual_bus_of_python_can_is_joined() -> None:
    """Frames go both ways, and nobody hears himself."""

    async def test() -> None:
        channel = str(uuid.uuid4())
        hub = CanHub()
        bridge = Bridge(hub, "virtual", channel)
        await bridge.start()
        with can.Bus(interface="virtual", channel=channel) as outside:
            await there_and_back(hub, outside)
        assert bridge.connected
        await bridge.stop()
        assert not hub.nodes.keys() - {"ours"}

    run(test)


def test_what_comes_back_of_our_own_is_not_heard_again() -> None:
    """An interface that brings back what was sent; the same frame of another is heard."""

    async def test() -> None:
        channel = str(uuid.uuid4())
        hub = CanHub()
        bridge = Bridge(hub, "virtual", channel, receive_own_messages=True)
        await bridge.start()
        node, frames = hub.attach("ours"), []
        with can.Bus(interface="virtual", channel=channel) as outside:
            for _ in range(20):
                node.send(data_frame(0x123, b"abc"))
            for _ in range(20):
                message = await asyncio.to_thread(outside.recv, 30.0)
                assert message
                outside.send(message)
            outside.send(can.Message(arbitration_id=0x7FF, is_extended_id=False))
            await until(lambda: bool(frames.extend(node.take())) or 0x7FF in [f.id for f in frames])
        assert [frame.id for frame in frames] == [0x123] * 20 + [0x7FF]
        await bridge.stop()

    run(test)


def test_udp_multicast_is_joined() -> None:
    """Another process, or machine, may be at the other end."""
    pytest.importorskip("msgpack")

    async def test() -> None:
        hub = CanHub()
        options: dict[str, Any] = {"port": 43211, "hop_limit": 0}
        bridge = Bridge(hub, "udp_multicast", "239.74.163.2", **options)
        try:
            await bridge.start()
        except CanError as error:
            pytest.skip(f"no multicast on this machine: {error}")
        with can.Bus(interface="udp_multicast", channel="239.74.163.2", **options) as outside:
            await there_and_back(hub, outside)
            node, frames = hub.attach("another"), []
            node.send(data_frame(0x123, b"abc"))
            message = None
            while message is None or message.arbitration_id != 0x123:  # it hears itself, too
                message = await asyncio.to_thread(outside.recv, 30.0)
                assert message, "nothing came"
            assert str(message.channel).startswith("linkwork-")
            same = can.Message(arbitration_id=0x123, data=b"abc", is_extended_id=False)
            for _ in range(3):  # at the same time as ours come back
                node.send(data_frame(0x123, b"abc"))
                outside.send(same)
            await until(lambda: bool(frames.extend(node.take())) or len(frames) >= 3)
            outside.send(can.Message(arbitration_id=0x7FF, is_extended_id=False))
            await until(lambda: bool(frames.extend(node.take())) or len(frames) >= 4)
            assert [frame.id for frame in frames] == [0x123] * 3 + [0x7FF]
        await bridge.stop()

    run(test)


def test_an_end_that_cannot_be_opened_is_told() -> None:
    """What is missing is named, and the hub goes on without it."""

    async def test() -> None:
        hub = CanHub()
        with pytest.raises(CanError, match="no_such_thing 0 cannot be opened"):
            await Bridge(hub, "no_such_thing", "0").start()
        with pytest.raises(CanError, match="socketcan nosuchcan9 cannot be opened"):
            await Bridge(hub, "socketcan", "nosuchcan9").start()
        assert not hub.nodes

    run(test)


def test_an_end_that_breaks_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cable pulled out: people are told, and frames go on when it is back."""

    async def test() -> None:
        channel = str(uuid.uuid4())
        hub = CanHub()
        bridge = Bridge(hub, "virtual", channel, retry=0.02)
        await bridge.start()
        bridge._bus.shutdown()  # the driver's end goes away under it
        await until(lambda: any("broke" in event.text for event in hub.events))
        await until(lambda: any("is back" in event.text for event in hub.events))
        with can.Bus(interface="virtual", channel=channel) as outside:
            await there_and_back(hub, outside)
        await bridge.stop()

    run(test)


def test_can_fd_is_refused_and_counted() -> None:
    """This bus carries CAN 2.0."""

    async def test() -> None:
        channel = str(uuid.uuid4())
        hub = CanHub()
        bridge = Bridge(hub, "virtual", channel)
        await bridge.start()
        with can.Bus(
            interface="virtual", channel=channel, protocol=can.CanProtocol.CAN_FD
        ) as outside:
            outside.send(can.Message(arbitration_id=1, data=bytes(12), is_fd=True))
            await until(lambda: bridge.node.count.bad == 1)
        await bridge.stop()

    run(test)
