"""The CAN type of bus in its process: what its ports send, what it hears, who commands it."""

from __future__ import annotations

import asyncio
import math
import os
import struct
import uuid
from collections.abc import Callable, Coroutine
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import can
import msgspec
import pytest

from linkwork.buses.can import data_frame, remote_frame
from linkwork.buses.can.adapter import CanBus
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.node import CanNode
from linkwork.buses.can.socketcand import Beacon
from linkwork.buses.loopback import Loopback
from linkwork.buses.messages import BusReport, ControllerGone, InputValues, LogNote
from linkwork.buses.port import BusPlan, Port, PortSignal, Quant

CODES = Quant(12, -1.0, 1.0)


def signal(name: str, role: str = "sensor", **address: Any) -> PortSignal:
    return PortSignal(name, role, "rad", -1.0, 1.0, CODES, address)  # type: ignore[arg-type]


ANGLE = signal("angle", can_id=0x111)
TARGET, SPEED = signal("target", "command", can_id=0x11), signal("speed", "command", can_id=0x12)


def plan(*signals: PortSignal, params: dict[str, Any] | None = None, **bus: Any) -> BusPlan:
    signals = signals or (ANGLE, TARGET, SPEED)
    params = {"socketcand": 0, **(params or {})}
    ports = (Port("J", "c", "", signals),)
    return BusPlan("c", "can", params=params, ports=ports, **{"period": 0.01, **bus})


@dataclass
class Link:
    """The session's end."""

    sent: list[msgspec.Struct] = field(default_factory=list)

    def send(self, message: msgspec.Struct) -> bool:
        self.sent.append(message)
        return True

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.sent if isinstance(message, kind)]


async def until(reached: Callable[[], object]) -> None:
    for _ in range(6000):
        if reached():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come")


def served(plan: BusPlan, test: Callable[[CanBus, Link], Coroutine[None, None, None]]) -> None:
    """Runs a test with the adapter of a plan, as the bus's process has it."""

    async def run() -> None:
        link = Link()
        adapter = CanBus(plan, link)
        adapter.taken(1, 0)
        await adapter.start()
        try:
            await test(adapter, link)
        finally:
            await adapter.close()

    asyncio.run(run())


async def received(node: CanNode) -> list[tuple[int, int]]:
    """Identifiers and codes of what a node has heard, once the bus is quiet."""
    await asyncio.sleep(0.0)
    await asyncio.sleep(0.0)
    return [(frame.id, int.from_bytes(frame.data, "little")) for frame in node.take()]


def test_commands_that_nobody_gave_are_not_sent_to_a_real_plant() -> None:
    """A frame waits until all its values are there; a request for it is not answered either."""
    channel = str(uuid.uuid4())
    both = signal("effort", "command", can_id=0x12, start=16)
    bridge = {"bridge": {"interface": "virtual", "channel": channel}}

    async def test(adapter: CanBus, link: Link) -> None:
        with can.Bus(interface="virtual", channel=channel) as machine:
            machine.send(can.Message(arbitration_id=0x12, is_remote_frame=True, dlc=4,
                                     is_extended_id=False))  # fmt: skip
            await until(lambda: adapter.hub.frames == 1)
            adapter.arrived(1, 0.01, 0, [math.nan, math.nan, math.nan])
            adapter.arrived(2, 0.02, 0, [0.0, math.nan, 1.0])
            adapter.arrived(3, 0.03, 0, [0.0, -1.0, 1.0])
            got = [await asyncio.to_thread(machine.recv, 30.0) for _ in range(2)]
            assert [(m.arbitration_id, bytes(m.data)) for m in got if m] == [
                (0x11, (2048).to_bytes(2, "little")), (0x12, bytes.fromhex("0000ff0f")),
            ]  # fmt: skip
            machine.send(can.Message(arbitration_id=0x111, data=[0xFF, 0x0F], is_extended_id=False))
            await until(lambda: link.of(InputValues))
            assert link.of(InputValues)[0].values == {"J.angle": 1.0}

    real = plan(ANGLE, TARGET, SPEED, both, params=bridge, plant="real", closes="real")
    served(real, test)


def test_a_loop_leads_nothing_back_that_nobody_gave() -> None:
    """The cable for tests bears a real plant, too."""

    async def test() -> None:
        link, wire = Link(), {"wire": "a"}
        target = PortSignal("target", "command", "rad", -1.0, 1.0, None, wire)
        angle = PortSignal("angle", "sensor", "rad", -1.0, 1.0, None, wire)
        ports = (Port("J", "l", "", (target, angle)),)
        loop = Loopback(BusPlan("l", "loop", plant="real", closes="real", ports=ports), link)
        loop.taken(1, 0)
        await loop.start()
        loop.arrived(1, 0.1, 0, [math.nan])
        loop.arrived(2, 0.2, 0, [0.5])
        await until(lambda: link.of(InputValues))
        assert [inputs.values for inputs in link.of(InputValues)] == [{"J.angle": 0.5}]

    asyncio.run(test())


def test_a_value_that_the_bus_refused_is_told_when_the_node_is_back() -> None:
    """A frame on change is not said before the bus took it; also if time stands still by then."""

    async def test(adapter: CanBus, _link: Link) -> None:
        other = adapter.hub.attach("other")
        adapter.arrived(1, 0.01, 0, [-1.0])
        assert await received(other) == [(0x111, 0)]
        adapter.hub.bus_off(adapter.node)
        adapter.arrived(2, 0.02, 0, [1.0])
        assert await received(other) == []
        adapter.hub.restart(adapter.node)
        adapter.arrived(3, 0.03, 0, [1.0])
        assert await received(other) == [(0x111, 4095)]
        adapter.arrived(4, 0.04, 0, [0.0])  # in its queue when it goes off
        adapter.hub.bus_off(adapter.node)
        adapter.hub.restart(adapter.node)
        frames = []
        await until(lambda: frames.extend(other.take()) or frames)
        assert [int.from_bytes(frame.data, "little") for frame in frames] == [2048]
        adapter.arrived(5, 0.05, 0, [0.0])
        assert await received(other) == []

    served(plan(), test)


@pytest.mark.parametrize(("every", "count"), [(0.015, 201), (0.01, 301), (0.025, 121), (0.3, 11)])
def test_a_frame_comes_as_often_as_it_says(every: float, count: int) -> None:
    """Also where that is no multiple of the bus's period; going back in time begins anew."""

    async def test(adapter: CanBus, _link: Link) -> None:
        other = adapter.hub.attach("other")
        for n in range(301):
            adapter.arrived(n, n * 0.01, 0, [0.0])
            await asyncio.sleep(0.0)
        assert len(await received(other)) == count
        adapter.arrived(0, 0.0, 0, [0.0])
        adapter.arrived(1, 0.001, 0, [0.0])
        assert len(await received(other)) == 1

    served(plan(signal("angle", can_id=0x111, send="period", every=every)), test)


@contextmanager
def client(hub: CanHub, name: str):
    node = hub.attach(name)
    try:
        yield node
    finally:
        node.detach()


def test_who_commands_is_missed_though_others_are_there() -> None:
    """The node whose frames were taken last; not one that only sends what no port takes."""

    async def test(adapter: CanBus, link: Link) -> None:
        with client(adapter.hub, "onlooker") as observer:
            with client(adapter.hub, "first") as first, client(adapter.hub, "second") as second:
                first.send(data_frame(0x11, [0, 0]))
                await until(lambda: adapter.hub.frames == 1)
                second.send(data_frame(0x11, [0, 0]))
                observer.send(data_frame(0x700, [1]))
                await until(lambda: adapter.hub.frames == 3)
                await until(lambda: adapter.clients == 3)
                first.detach()
                await until(lambda: adapter.clients == 2)
                assert not link.of(ControllerGone)
            await until(lambda: link.of(ControllerGone))
            await until(lambda: adapter.clients == 1)
        await until(lambda: adapter.clients == 0)
        assert len(link.of(ControllerGone)) == 1
        adapter.order("send", {"frame": "011#0000"})  # a person is no controller that leaves
        await until(lambda: len(link.of(InputValues)) == 3)
        reports = len(link.of(BusReport))
        with client(adapter.hub, "next"):
            await until(lambda: len(link.of(BusReport)) > reports and adapter.clients == 1)
        assert len(link.of(ControllerGone)) == 1

    served(plan(), test)


def test_in_lock_step_the_one_who_ends_the_turns_commands() -> None:
    """The turn's frame has 11 bits where its number has; a sensor that leaves is no loss."""

    async def test(adapter: CanBus, link: Link) -> None:
        adapter.arrived(0, 0.0, 1, [0.0])
        with client(adapter.hub, "sensor") as sensor:
            with client(adapter.hub, "driver") as driver:
                driver.send(data_frame(0x80, extended=True))
                driver.send(remote_frame(0x80, 0))
                driver.send(data_frame(0x80))
                await until(lambda: link.of(InputValues))
                assert [inputs.turn for inputs in link.of(InputValues)] == [1]
                adapter.arrived(5, 0.01, 2, [0.0])
                sensor.send(data_frame(0x11, [0, 0]))
                await until(lambda: adapter.hub.frames >= 5 and adapter.clients == 2)
                sensor.detach()
                await until(lambda: adapter.clients == 1)
                assert not link.of(ControllerGone)
            await until(lambda: link.of(ControllerGone))

    served(plan(lockstep=True, params={"turn_id": 0x80}), test)


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo terminals")
def test_a_terminal_that_nobody_opened_is_no_partner() -> None:
    """An slcan adapter counts while its channel is open."""

    async def test(adapter: CanBus, link: Link) -> None:
        with client(adapter.hub, "other"):
            await until(lambda: adapter.clients == 1)
            (pty,) = [node for node in adapter.hub.nodes.values() if "slcan" in node.name]
            assert not pty.present()
        await until(lambda: adapter.clients == 0)
        path = next(
            endpoint.path for endpoint in adapter._endpoints._all if hasattr(endpoint, "path")
        )
        line = os.open(path, os.O_RDWR | os.O_NOCTTY)
        try:
            os.write(line, b"O\rt01120000\r")
            await until(lambda: adapter.clients == 1 and link.of(InputValues))
            os.write(line, b"C\r")
            await until(lambda: adapter.clients == 0 and link.of(ControllerGone))
        finally:
            os.close(line)

    served(plan(params={"pty": True}), test)


def test_counters_stay_when_the_culprit_has_left() -> None:
    """Each wrong message counts once, whether its client is there or not."""

    async def test(adapter: CanBus, link: Link) -> None:
        async def send_text(port: int, text: bytes, bad: float) -> None:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(text)
            await until(lambda: adapter.status()["bad"] == bad)
            writer.close()
            await until(lambda: len(adapter.hub.nodes) == 1)
            looks = adapter.status()["frames"]
            adapter.order("send", {"frame": "700#01"})
            await until(lambda: adapter.status()["frames"] > looks)  # it was counted anew
            assert adapter.status()["bad"] == bad

        socketcand, slcan = (endpoint.port for endpoint in adapter._endpoints._all)
        await send_text(socketcand, b"< open can0 >< rawmode >" + b"< send 123 9 1 >" * 100, 100)
        await send_text(slcan, b"O\r" + b"t9\r" * 50, 150)
        with client(adapter.hub, "sleeper") as sleeper:
            for n in range(5000):
                adapter.hub.inject(data_frame(0x700, [n % 256]), "test")
            await until(lambda: adapter.status()["missed"] > 0)
            missed = sleeper.count.lost
        assert not sleeper.attached
        frames = adapter.status()["frames"]
        adapter.order("send", {"frame": "700#01"})
        await until(lambda: adapter.status()["frames"] > frames)
        assert adapter.status()["missed"] == missed

    served(plan(params={"slcan": 0}), test)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_beacon_of_a_scene_says_where_others_reach_it(host: str) -> None:
    """An address that a client can open, sent to the network where it is."""

    async def test(adapter: CanBus, _link: Link) -> None:
        (beacon,) = [
            endpoint for endpoint in adapter._endpoints._all if isinstance(endpoint, Beacon)
        ]
        text, (address, _) = beacon._text.decode(), beacon._target
        assert '<Bus name="can0"/>' in text
        assert "0.0.0.0" not in text
        local = "<URL>can://127." in text
        assert address == ("127.255.255.255" if local else "255.255.255.255")
        assert local or host == "0.0.0.0"

    served(plan(params={"beacon": True, "host": host}), test)


def test_a_line_of_the_log_has_the_time_of_its_frame() -> None:
    """Lines are told in bulk now and then; each says when its frame passed, in simulated time."""

    async def test(adapter: CanBus, link: Link) -> None:
        node = adapter.hub.attach("tool")
        for step in range(1, 6):
            adapter.arrived(step, 0.01 * step, 0, [0.1 * step])
            await received(node)
            node.send(data_frame(0x11, bytes([step, 0])))
            await received(node)
        adapter._log_frames()
        lines = [(f.address, round(f.time, 3), f.data[0]) for f in adapter._frames if f.data]
        ours = [time for address, time, _ in lines if address == "111"]
        assert ours == [0.01, 0.02, 0.03, 0.04, 0.05]
        theirs = [(time, data) for address, time, data in lines if address == "011"]
        assert theirs == [(0.01, 1), (0.02, 2), (0.03, 3), (0.04, 4), (0.05, 5)]

    served(plan(), test)


def test_the_kind_of_a_line_is_data() -> None:
    """A line is an error frame by its kind, whatever the words of its text."""

    async def test(adapter: CanBus, link: Link) -> None:
        node = adapter.hub.attach("error frame")
        node.send(data_frame(0x11, b"\x01\x02"))
        node.send(remote_frame(0x12))
        await until(lambda: adapter.hub.log.last >= 2)
        adapter.order("fault", {"kind": "error", "times": 1, "chance": 1.0, "seed": 7})
        (fault,) = adapter.active_faults()
        assert (fault.kind, fault.chance, fault.seed) == ("error", 1.0, 7)
        node.send(data_frame(0x13))
        await until(lambda: adapter.hub.log.last >= 4)
        adapter._log_frames()
        kinds = {(line.kind, line.address) for line in adapter._frames}
        assert {("data", "011"), ("remote", "012"), ("data", "013")} <= kinds
        assert "error" in {kind for kind, _ in kinds}

    served(plan(), test)


def test_values_in_the_log_have_their_units() -> None:
    """Angles in degrees, as everywhere for people."""

    async def test(adapter: CanBus, link: Link) -> None:
        node = adapter.hub.attach("tool")
        adapter.arrived(1, 0.01, 0, [0.5])
        await received(node)
        adapter._log_frames()
        (line,) = (f for f in adapter._frames if f.address == "111")
        assert line.text == "linkwork J.angle = 28.64°"

    served(plan(), test)


def test_a_frame_that_is_too_short_is_told_once() -> None:
    """Each is counted; a person hears who sends it, and what it lacks."""

    async def test(adapter: CanBus, link: Link) -> None:
        node = adapter.hub.attach("tool")
        for data in (b"", b"\x01", b"\x01\x02"):
            node.send(data_frame(0x11, data))
            await received(node)
        await until(lambda: adapter.status()["short"] == 2)
        (note,) = link.of(LogNote)
        assert note.text == "tool sent 0x11 with 0 bytes of 2: missing signals keep their values."

    served(plan(), test)


def test_the_load_in_lockstep_is_that_of_simulated_time() -> None:
    """However long the controller thinks: 100 frames in a simulated second, in no time here."""

    async def test(adapter: CanBus, link: Link) -> None:
        hub = adapter.hub
        hub.attach("controller").send(data_frame(0x80, b""))
        await until(lambda: adapter._turn_answered)
        before = hub.load.total
        for step in range(1, 101):
            adapter.arrived(step, 0.01 * step, step, [0.01 * (step % 7)])
            await asyncio.sleep(0.0)
        await until(lambda: hub.log.last > 100)
        bits = hub.load.total - before
        assert hub.load_share == pytest.approx(bits / 500_000, rel=0.06)
        adapter.arrived(1, 0.01, 1, [0.0])  # the scene begins again
        await asyncio.sleep(0.0)
        await until(lambda: hub.log.last > 101)
        assert hub.load_share < 0.1 * bits / 500_000

    served(plan(lockstep=True, params={"turn_id": 0x80}), test)


def test_a_float_that_is_no_number_is_counted_and_told_once() -> None:
    """NaN and infinities in the bits of an IEEE number change nothing."""
    loose = PortSignal("target", "command", "rad", -1.0, 1.0, None, {"can_id": 0x11})

    async def test(adapter: CanBus, link: Link) -> None:
        node = adapter.hub.attach("controller")
        for value in (math.nan, math.inf, -math.inf, 0.5):
            node.send(data_frame(0x11, struct.pack("<f", value)))
        await until(lambda: link.of(InputValues))
        assert [inputs.values for inputs in link.of(InputValues)] == [{"J.target": 0.5}]
        assert adapter.status()["invalid"] == 3
        (note,) = link.of(LogNote)
        assert "J.target came with nan" in note.text

    served(plan(loose), test)


def test_who_leaves_is_told_with_what_he_commanded() -> None:
    """Each identifier has its master: the last who sent it."""

    async def test(adapter: CanBus, link: Link) -> None:
        one, two = adapter.hub.attach("one"), adapter.hub.attach("two")
        two.send(data_frame(0x12, b"\x00\x04"))
        one.send(data_frame(0x11, b"\x00\x04"))
        await until(lambda: len(link.of(InputValues)) == 2)
        two.detach()
        await until(lambda: link.of(ControllerGone))
        one.detach()
        await until(lambda: len(link.of(ControllerGone)) == 2)
        assert [gone.keys for gone in link.of(ControllerGone)] == [["J.speed"], ["J.target"]]

    served(plan(), test)
