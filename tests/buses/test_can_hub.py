"""The hub: who hears what, in which order, what is lost, and how faults strike."""

import asyncio
import itertools
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine

import pytest

from linkwork.buses.can import (
    CanError,
    CanFault,
    CanFaultKind,
    CanFrame,
    CanHub,
    NodeState,
    data_frame,
    error_frame,
)
from linkwork.buses.can.frame import frame_bits


def on_a_hub(test: Callable[[CanHub], Coroutine[None, None, None]], **options) -> None:
    async def run() -> None:
        hub = CanHub(**options)
        await test(hub)
        hub.close()

    asyncio.run(run())


async def settle(hub: CanHub) -> None:
    """Until nothing waits to be carried."""
    for _ in range(2000):
        await asyncio.sleep(0)
        if not any(node.outbox for node in hub.nodes.values()):
            await asyncio.sleep(0)
            return
    raise AssertionError("the bus does not come to rest")


def ids(frames: list[CanFrame]) -> list[int]:
    return [frame.id for frame in frames]


def test_every_node_hears_the_others_and_not_itself() -> None:
    """Three nodes, one of which asked for its own frames as well."""

    async def test(hub: CanHub) -> None:
        a, b = hub.attach("a"), hub.attach("b")
        c = hub.attach("c", echo=True)
        for node, id in ((a, 1), (b, 2), (c, 3)):
            node.send(data_frame(id, b"x"))
        await settle(hub)
        assert [ids(node.take()) for node in (a, b, c)] == [[2, 3], [1, 3], [1, 2, 3]]
        assert (a.count.sent, a.count.received, a.count.sent_bytes) == (1, 2, 1)
        assert hub.frames == 3

    on_a_hub(test)


def test_frames_of_one_instant_go_by_identifier_but_a_node_keeps_its_order() -> None:
    """Arbitration is among the first frames of the nodes, as controllers queue them."""

    async def test(hub: CanHub) -> None:
        frames_received = hub.attach("listener")
        a, b = hub.attach("a"), hub.attach("b")
        for id in (0x300, 0x001):
            a.send(data_frame(id))
        for id in (0x200, 0x400):
            b.send(data_frame(id))
        await settle(hub)
        frames = frames_received.take()
        assert ids(frames) == [0x200, 0x300, 0x001, 0x400]
        assert sorted(f.stamp for f in frames) == [f.stamp for f in frames]

    on_a_hub(test)


def test_a_callback_hears_at_once_and_its_mistake_is_its_own() -> None:
    """A receiver that raises loses its frame, is counted and told once; others hear on."""

    async def test(hub: CanHub) -> None:
        good: list[CanFrame] = []

        def broken(frame: CanFrame) -> None:
            raise ValueError("no")

        bad = hub.attach("bad", broken)
        hub.attach("good", good.append)
        sender = hub.attach("sender")
        for id in range(5):
            sender.send(data_frame(id))
        await settle(hub)
        assert ids(good) == [0, 1, 2, 3, 4]
        assert bad.count.lost == 5
        assert len([event for event in hub.events if "bad" in event.text]) == 1

    on_a_hub(test)


def test_a_node_that_never_takes_loses_the_oldest_and_is_counted() -> None:
    """Queues are bounded in both directions."""

    async def test(hub: CanHub) -> None:
        lazy = hub.attach("lazy", inbox=3)
        sender = hub.attach("sender", outbox=10)
        accepted = [sender.send(data_frame(id)) for id in range(12)]
        assert accepted == [True] * 10 + [False] * 2
        assert sender.count.refused == 2
        await settle(hub)
        assert ids(lazy.take()) == [7, 8, 9]
        assert lazy.count.lost == 7

    on_a_hub(test)


def test_room_in_the_queue_is_told() -> None:
    """A full sender is called when it may go on."""

    async def test(hub: CanHub) -> None:
        called = []
        sender = hub.attach("sender", outbox=1)
        sender.on_room = lambda: called.append(True)
        sender.send(data_frame(1))
        assert sender.full
        await settle(hub)
        assert called == [True]
        assert not sender.full

    on_a_hub(test)


def test_two_nodes_with_one_identifier_are_told_once_and_counted() -> None:
    """Both are heard; the second sender counts as a conflict until the first has left."""

    async def test(hub: CanHub) -> None:
        a, b = hub.attach("a"), hub.attach("b")
        for _ in range(3):
            a.send(data_frame(5))
            b.send(data_frame(5))
        await settle(hub)
        assert hub.conflicts == 3
        assert len(b.take()) == 3
        assert [e.text for e in hub.events if "both" in e.text] == ["b and a both send 005."]
        a.detach()
        b.send(data_frame(5))
        await settle(hub)
        assert hub.conflicts == 3

    on_a_hub(test)


def test_names_are_unique_and_nodes_leave() -> None:
    """A second node of a name gets a number; one that left hears and sends no more."""

    async def test(hub: CanHub) -> None:
        a, again = hub.attach("a"), hub.attach("a")
        assert (a.name, again.name) == ("a", "a 2")
        a.send(data_frame(1))
        a.detach()
        assert not a.send(data_frame(2))
        await settle(hub)
        assert again.take() == []
        assert a.count.refused == 2

    on_a_hub(test)


def test_what_a_node_counted_is_not_forgotten_when_it_leaves() -> None:
    """The bus's totals never fall."""

    async def test(hub: CanHub) -> None:
        sender, deaf = hub.attach("sender"), hub.attach("deaf", lambda frame: False)
        sender.send(data_frame(1, b"xy"))
        deaf.bad("wrote rubbish.")
        hub.bus_off(deaf)
        hub.restart(deaf)
        await settle(hub)
        before = hub.totals
        deaf.detach()
        deaf.detach()
        assert hub.totals == before
        assert (before.sent, before.sent_bytes, before.lost, before.bad) == (1, 2, 3, 1)
        assert hub.confinement.offs == 1

    on_a_hub(test)


@pytest.mark.parametrize("name", ["", "can 0", "a" * 17, "can<0>"])
def test_a_bus_has_a_name_that_clients_can_write(name: str) -> None:
    """Spaces, brackets and long names have no place in socketcand."""

    async def run() -> None:
        with pytest.raises(CanError, match="bus name"):
            CanHub(name)

    asyncio.run(run())


def test_load_is_bits_against_the_bit_rate() -> None:
    """A hundred frames in one second's window fill what their bits say, stuffing included."""

    async def test(hub: CanHub) -> None:
        sender = hub.attach("sender")
        frames = [data_frame(id, bytes([id] * 8)) for id in range(100)]
        for frame in frames:
            sender.send(frame)
        await settle(hub)
        bits = sum(map(frame_bits, frames))
        assert hub.load.total == bits
        assert hub.load.load(hub.now()) == pytest.approx(bits / 125_000)
        assert hub.load.load(hub.now() + 2.0) == 0.0

    on_a_hub(test, bitrate=125_000)


def test_a_timed_bus_takes_its_time() -> None:
    """Time stamps of a flood are as far apart as the bits take at the bit rate."""

    async def test(hub: CanHub) -> None:
        frames_received, sender = hub.attach("listener"), hub.attach("sender")
        frames = [data_frame(0x555, b"\x55" * 8) for _ in range(50)]
        for frame in frames:
            sender.send(frame)
        while hub.frames < 50:
            await asyncio.sleep(0.001)
        stamps = [frame.stamp for frame in frames_received.take()]
        least = frame_bits(frames[0]) / 500_000
        gaps = [b - a for a, b in itertools.pairwise(stamps)]
        assert min(gaps) >= least * 0.999
        assert stamps[-1] - stamps[0] >= 49 * least * 0.999

    on_a_hub(test, bitrate=500_000, timed=True)


def test_a_timed_bus_delivers_a_frame_when_it_has_passed_and_not_before() -> None:
    """At 10 kbit/s 8 bytes take more than 11 ms; nothing is heard sooner, or from the future."""

    async def test(hub: CanHub) -> None:
        frames_received: list[tuple[float, float]] = []
        hub.attach("listener", lambda frame: frames_received.append((hub.now(), frame.stamp)))
        sender, frame = hub.attach("sender"), data_frame(1, bytes(8))
        hub.add_fault(
            CanFault(CanFaultKind.ERROR, times=1)
        )  # the first frame is broken, and goes again
        hub.add_fault(CanFault(CanFaultKind.DUPLICATE))
        begun = hub.now()
        sender.send(frame)
        while len(frames_received) < 3:
            await asyncio.sleep(0.001)
        error, long = 23 / 10_000, frame_bits(frame) / 10_000
        due = [begun + long + error + n * long for n in (0, 1, 2)]
        assert all(stamp >= at - 1e-6 for (_, stamp), at in zip(frames_received, due, strict=True))
        assert all(stamp <= now for now, stamp in frames_received), "heard before it had passed"
        assert hub.log.after(0)[0].mark == "destroyed"
        assert hub.load.total == 23 + 3 * frame_bits(frame)

    on_a_hub(test, bitrate=10_000, timed=True)


def test_a_timed_bus_catches_up_with_its_timers() -> None:
    """Frames that wait pass without a gap, although timers are coarser than they are long."""

    async def test(hub: CanHub) -> None:
        frames_received, low, high = hub.attach("listener"), hub.attach("low"), hub.attach("high")
        for _ in range(100):
            low.send(data_frame(0x700))
        high.send(data_frame(0x001))
        asked = hub.now()
        while hub.frames < 101:
            await asyncio.sleep(0.001)
        frames = frames_received.take()
        (urgent,) = [frame for frame in frames if frame.id == 0x001]
        last = frame_bits(frames[-1]) / 100_000  # one of these may have begun already
        assert urgent.stamp <= asked + last + frame_bits(urgent) / 100_000 + 1e-6
        for one, two in itertools.pairwise(frames):
            if one.stamp > asked:  # from here on all of them wait
                took = two.stamp - one.stamp
                assert took == pytest.approx(frame_bits(two) / 100_000, abs=1e-6)

    on_a_hub(test, bitrate=100_000, timed=True)


def test_a_frame_is_not_older_than_its_sending_on_a_timed_bus() -> None:
    """An answer to a frame that passed while the bus slept begins when it was given."""

    async def test(hub: CanHub) -> None:
        frames_received, given = list[float](), list[float]()

        def answer(frame: CanFrame) -> None:
            if frame.id == 1:
                given.append(hub.now())
                answering.send(data_frame(2))

        answering = hub.attach("answering", answer)
        asking = hub.attach("asking", lambda frame: frames_received.append(frame.stamp))
        for _ in range(10):
            asking.send(data_frame(1))
        while len(frames_received) < 10:
            await asyncio.sleep(0.001)
        assert all(stamp > at for stamp, at in zip(frames_received, given, strict=True))

    on_a_hub(test, timed=True)


def test_the_log_keeps_the_newest_and_filters() -> None:
    """Lines are numbered; a reader asks for what is new, or for some identifiers."""

    async def test(hub: CanHub) -> None:
        sender = hub.attach("sender")
        for id in (1, 2, 1):
            sender.send(data_frame(id))
        await settle(hub)
        assert [entry.number for entry in hub.log.after(1)] == [2, 3]
        assert [entry.number for entry in hub.log.after(ids={1})] == [1, 3]
        assert [entry.number for entry in hub.log.after(most=1)] == [3]
        assert hub.log.after(3) == []
        assert {entry.sender for entry in hub.log.after()} == {"sender"}

    on_a_hub(test)


def heard_with(*faults: CanFault, count: int = 200) -> tuple[list[CanFrame], list[str]]:
    """What a listener hears of numbered frames, and the marks of the log."""
    frames: list[CanFrame] = []
    marks: list[str] = []

    async def test(hub: CanHub) -> None:
        for fault in faults:
            hub.add_fault(fault)
        sender = hub.attach("sender", outbox=count)
        hub.attach("listener", frames.append)
        for number in range(count):
            sender.send(data_frame(0x100 + number % 2, number.to_bytes(2, "big")))
        await settle(hub)
        while any(fault.kind is CanFaultKind.DELAY for fault in faults) and len(frames) < count:
            await asyncio.sleep(0.001)
        marks.extend(entry.mark for entry in hub.log.after())

    on_a_hub(test)
    return frames, marks


def test_chance_with_a_seed_strikes_the_same_frames_again() -> None:
    """Same seed, same fate; another seed, another one; about as many as the chance says."""
    first, marks = heard_with(CanFault(CanFaultKind.DROP, chance=0.3, seed=5))
    again, _ = heard_with(CanFault(CanFaultKind.DROP, chance=0.3, seed=5))
    other, _ = heard_with(CanFault(CanFaultKind.DROP, chance=0.3, seed=6))
    assert [f.data for f in first] == [f.data for f in again]
    assert [f.data for f in first] != [f.data for f in other]
    assert 110 < len(first) < 170
    assert marks.count("dropped") == 200 - len(first)


def test_faults_may_be_meant_for_some_frames_only() -> None:
    """By identifier, by node, and at most so often."""
    frames, _ = heard_with(CanFault(CanFaultKind.DROP, ids=frozenset({0x101})))
    assert set(ids(frames)) == {0x100}
    assert len(heard_with(CanFault(CanFaultKind.DROP, node="somebody"))[0]) == 200
    assert len(heard_with(CanFault(CanFaultKind.DROP, times=7))[0]) == 193
    assert len(heard_with(CanFault(CanFaultKind.DROP, begin=3600.0))[0]) == 200
    assert len(heard_with(CanFault(CanFaultKind.DROP, end=0.0))[0]) == 200


def test_corrupt_turns_one_bit_and_duplicate_doubles() -> None:
    """A corrupted frame differs by exactly one bit and keeps its length."""
    frames, marks = heard_with(CanFault(CanFaultKind.CORRUPT))
    for number, frame in enumerate(frames):
        turned = int.from_bytes(frame.data, "big") ^ number
        assert turned.bit_count() == 1
        assert frame.dlc == 2
    assert set(marks) == {"corrupted"}
    frames, _ = heard_with(CanFault(CanFaultKind.DUPLICATE), count=3)
    assert [f.data[1] for f in frames] == [0, 0, 1, 1, 2, 2]


def test_a_delayed_frame_comes_late_and_not_never() -> None:
    """Frames that are delayed arrive after those that were sent later."""
    frames, marks = heard_with(
        CanFault(CanFaultKind.DELAY, ids=frozenset({0x100}), delay=0.3), count=20
    )
    assert ids(frames) == [0x101] * 10 + [0x100] * 10
    assert marks.count("delayed") == 10
    assert frames[10].stamp - frames[9].stamp > 0.01


def test_a_destroyed_frame_is_sent_again_and_all_count() -> None:
    """An error on the wire: an error frame to all, 8 for the sender, 1 for others, then success."""

    async def test(hub: CanHub) -> None:
        hub.add_fault(CanFault(CanFaultKind.ERROR, times=3))
        frames_received: list[CanFrame] = []
        sender, listener = hub.attach("sender"), hub.attach("listener", frames_received.append)
        sender.send(data_frame(0x10, b"abc"))
        await settle(hub)
        errors = [frame for frame in frames_received if frame.error]
        assert [f.data for f in frames_received if not f.error] == [b"abc"]
        assert len(errors) == 3
        assert errors[-1].id & 0x88
        assert sender.errors.transmit == 3 * 8 - 1
        assert listener.errors.receive == 3 - 1
        for _ in range(30):
            sender.send(data_frame(1))
        await settle(hub)
        assert sender.errors.transmit == listener.errors.receive == 0

    on_a_hub(test)


def test_a_broken_wire_drives_a_sender_through_passive_to_bus_off() -> None:
    """128 is error passive, 256 bus off; its frames are refused until it is restarted."""

    async def test(hub: CanHub) -> None:
        number = hub.add_fault(CanFault(CanFaultKind.ERROR, node="sender"))
        reported: list[CanFrame] = []
        sender = hub.attach("sender", reported.append)
        listener = hub.attach("listener")
        sender.send(data_frame(1))
        await settle(hub)
        assert sender.state is NodeState.OFF
        assert not sender.send(data_frame(2))
        assert any(frame.id & 0x040 for frame in reported)  # bus off
        passive = [frame for frame in reported if frame.id & 0x004 and frame.data[1] & 0x20]
        assert len(passive) == 1
        assert passive[0].data[6] == 128
        hub.remove_fault(number)
        sender.restart()
        assert sender.state is NodeState.ACTIVE
        listener.take()
        assert sender.send(data_frame(3))
        await settle(hub)
        assert ids(listener.take()) == [3]

    on_a_hub(test)


def test_bus_off_at_a_time_ends_by_itself() -> None:
    """A planned fault strikes without any frame and lets go at its end."""

    async def test(hub: CanHub) -> None:
        sender, other = hub.attach("sender"), hub.attach("other")
        hub.add_fault(
            CanFault(CanFaultKind.BUS_OFF, node="sender", begin=hub.age + 0.02, end=hub.age + 0.8)
        )
        assert sender.state is NodeState.ACTIVE
        while sender.state is not NodeState.OFF:
            await asyncio.sleep(0.001)
        other.send(data_frame(1))
        await settle(hub)
        assert other.state is NodeState.ACTIVE
        assert [f for f in sender.take() if not f.error] == []
        while sender.state is NodeState.OFF:
            await asyncio.sleep(0.001)
        other.send(data_frame(2))
        await settle(hub)
        assert ids([f for f in sender.take() if not f.error]) == [2]

    on_a_hub(test)


def test_a_node_may_come_back_by_itself() -> None:
    """With a restart time, as SocketCAN's restart-ms."""

    async def test(hub: CanHub) -> None:
        node = hub.attach("node")
        hub.bus_off(node)
        assert node.state is NodeState.OFF
        while node.state is NodeState.OFF:
            await asyncio.sleep(0.001)
        assert any(frame.id & 0x100 for frame in node.take())

    on_a_hub(test, restart_after=0.01)


def test_an_error_frame_may_be_put_on_the_bus() -> None:
    """All nodes are told, and none of them takes it for a message."""

    async def test(hub: CanHub) -> None:
        node = hub.attach("node")
        hub.inject(error_frame(0x20))
        (frame,) = node.take()
        assert frame.error
        assert node.count.errors == 1

    on_a_hub(test)


@pytest.mark.parametrize(
    "wrong",
    [{"chance": 1.5}, {"chance": float("nan")}, {"begin": 2.0, "end": 1.0}, {"delay": -1.0}],
)
def test_a_fault_that_makes_no_sense_is_refused(wrong) -> None:
    """Chances above one, times that run backwards."""
    with pytest.raises(CanError, match="fault"):
        CanFault(CanFaultKind.DROP, **wrong)


def test_a_bus_without_standard_input_stays() -> None:
    """With ``/dev/null`` as its input, as a service has, it serves until it is terminated."""
    command = [sys.executable, "-m", "linkwork.buses.can"]
    for ends_by_itself, given in ((False, subprocess.DEVNULL), (True, subprocess.PIPE)):
        with subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, text=True) as bus:
            assert bus.stdout is not None
            host, port = json.loads(bus.stdout.readline())["socketcand"]
            if ends_by_itself:
                assert bus.stdin is not None
                bus.stdin.close()
                assert bus.wait(timeout=30.0) == 0
                continue
            try:
                for _ in range(3):
                    with socket.create_connection((host, port), timeout=10.0) as client:
                        assert client.recv(4) == b"< hi"
                    with pytest.raises(subprocess.TimeoutExpired):
                        bus.wait(timeout=0.3)
            finally:
                bus.terminate()
