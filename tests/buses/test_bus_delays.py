"""What faults hold: bounded in number and size, and gone when they end."""

import msgspec
import pytest

from linkwork.buses.can.faults import MAX_FAULTS, CanFault, CanFaultKind
from linkwork.buses.can.frame import CanError, data_frame
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.params import FaultOrder
from linkwork.buses.delay_queue import MAX_HELD
from linkwork.buses.messages import ActiveFault, BusReport, decode_from_process, encode
from linkwork.buses.tcp.faults import LineFaultOrder, LineFaults
from linkwork.core.errors import SignalError
from manual_clock import HandClock, by_hand


async def send(loop: HandClock, hub: CanHub, count: int) -> None:
    """Sends numbered frames, in heaps that the bus takes."""
    node = hub.attach("sender")
    for number in range(count):
        node.send(data_frame(5, number.to_bytes(4, "big")))
        if node.full:
            await loop.settle(3)
    await loop.settle(3)
    node.detach()


def test_a_delay_holds_so_much_and_lets_go_when_it_ends() -> None:
    """The oldest frames are lost, counted and told; the others come at once, in order."""

    async def test(loop: HandClock) -> None:
        hub, received = CanHub(), list[int]()
        hub.attach("listener", lambda frame: received.append(int.from_bytes(frame.data, "big")))
        fault = hub.add_fault(CanFault(CanFaultKind.DELAY, delay=3600.0))
        await send(loop, hub, MAX_HELD + 1000)
        assert (len(hub.confinement.delays), hub.confinement.delays.lost) == (MAX_HELD, 1000)
        assert sum("the oldest are lost" in event.text for event in hub.events) == 1
        assert received == []
        hub.remove_fault(fault)
        assert received == list(range(1000, MAX_HELD + 1000))
        assert len(hub.confinement.delays) == 0
        await loop.forward(4000.0)
        assert len(received) == MAX_HELD, "something came after the fault had ended"
        hub.close()

    by_hand(test)


def test_delays_keep_their_time_and_their_order() -> None:
    """Frames come as late as they should, those of one fault in the order in which they were."""

    async def test(loop: HandClock) -> None:
        hub, received = CanHub(), list[int]()
        hub.attach("listener", lambda frame: received.append(frame.data[3]))
        hub.add_fault(CanFault(CanFaultKind.DELAY, delay=1.0))
        for _ in range(3):
            await send(loop, hub, 2)
            await loop.forward(0.25)
        assert received == []
        await loop.forward(0.3)
        assert received == [0, 1]
        await loop.forward(0.5)
        assert received == [0, 1] * 3
        hub.close()

    by_hand(test)


def test_a_lines_delay_is_bounded_and_ends_with_its_fault() -> None:
    """As on CAN; another fault's lines stay where they are."""

    async def test(loop: HandClock) -> None:
        faults, came = LineFaults(), list[list[float | None]]()
        faults.add(LineFaultOrder("delay", name="slow", node="part", delay=3600.0))
        faults.add(LineFaultOrder("delay", name="late", node="controller", delay=1.0))
        affected = [
            faults.apply_faults([float(number)], "part", came.append)
            for number in range(MAX_HELD + 10)
        ]
        assert affected == ["delay"] * MAX_HELD + ["delay lost the oldest"] * 10
        faults.apply_faults([-1.0], "controller", came.append)
        assert faults.delays.lost == 10
        faults.clear("slow")
        assert came == [[float(number)] for number in range(10, MAX_HELD + 10)]
        await loop.forward(1.1)
        assert came[-1] == [-1.0]
        await loop.forward(4000.0)
        assert len(came) == MAX_HELD + 1

    by_hand(test)


def test_faults_that_are_over_are_gone() -> None:
    """By time, or by number of hits, which can still be read; too many at once are refused."""

    async def test(loop: HandClock) -> None:
        hub = CanHub()
        hub.attach("listener")
        spent = hub.add_fault(CanFault(CanFaultKind.DROP, times=2))
        await send(loop, hub, 5)
        assert [(number, hits) for number, _, hits in hub.faults] == [(spent, 2)]
        assert not hub.faults.armed
        for _ in range(MAX_FAULTS - 1):
            hub.add_fault(CanFault(CanFaultKind.DROP, begin=1.0, end=2.0))
        with pytest.raises(CanError, match="256 faults"):
            hub.add_fault(CanFault(CanFaultKind.DROP))
        await loop.forward(3.0)
        assert [number for number, _, _ in hub.faults] == [spent]
        hub.close()

    by_hand(test)


def test_a_bus_off_does_not_end_another() -> None:
    """A node comes back when nothing holds it off; one that broke by itself stays off."""

    async def test(loop: HandClock) -> None:
        hub = CanHub()
        one, two, broken = hub.attach("one"), hub.attach("two"), hub.attach("broken")
        hub.bus_off(broken)
        alone = hub.add_fault(CanFault(CanFaultKind.BUS_OFF, node="one"))
        everybody = hub.add_fault(CanFault(CanFaultKind.BUS_OFF))
        await loop.forward(0.1)
        assert [node.errors.off for node in (one, two, broken)] == [True, True, True]
        hub.remove_fault(everybody)
        assert [node.errors.off for node in (one, two, broken)] == [True, False, True]
        hub.remove_fault(alone)
        assert [node.errors.off for node in (one, two, broken)] == [False, False, True]
        hub.close()

    by_hand(test)


def test_a_bus_off_by_chance_ends_with_its_time() -> None:
    """Whoever it struck comes back."""

    async def test(loop: HandClock) -> None:
        hub = CanHub()
        node = hub.attach("node")
        hub.add_fault(CanFault(CanFaultKind.BUS_OFF, ids=frozenset({5}), end=100.0))
        node.send(data_frame(5))
        await loop.forward(50.0)
        assert node.errors.off
        await loop.forward(51.0)
        assert not node.errors.off
        hub.close()

    by_hand(test)


def test_a_fault_is_never_too_long_for_a_message() -> None:
    """Names have their most; the words that a report carries fit with the longest of all."""
    longest = {"kind": "error", "name": "n" * 200, "node": "m" * 200, "ids": [0x1FFFFFFF] * 4096}
    order = msgspec.convert(longest, FaultOrder)
    report = BusReport(1, {}, [ActiveFault(999999999, order.name, str(order), 1, order.kind.value)])
    assert decode_from_process(encode(report)) == report
    for wrong in ({"name": "n" * 201}, {"node": "n" * 201}, {"ids": [1] * 4097}):
        with pytest.raises(msgspec.ValidationError, match="length"):
            msgspec.convert({"kind": "drop", **wrong}, FaultOrder)
    with pytest.raises(msgspec.ValidationError, match="length"):
        msgspec.convert({"kind": "drop", "name": "n" * 201}, LineFaultOrder)
    faults = LineFaults()
    for _ in range(256):
        faults.add(LineFaultOrder("drop"))
    with pytest.raises(SignalError, match="256 faults"):
        faults.add(LineFaultOrder("drop"))
