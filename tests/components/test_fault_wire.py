"""Faults on the wire through a bus's own process, seen by python-can and by a TCP controller."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import can
import pytest

from bus_fixture import process_of
from buses.test_can_bus import TIMEOUT, cell, client, frame, running, until
from linkwork import LinkworkError, Scene, Session, load
from linkwork.buses import bus_processes
from linkwork.buses.tcp.faults import LineFaultOrder, LineFaults
from linkwork.session.messages import BusCommand, SetFault, SetSignal
from linkwork.session.replay import replay
from part_fixture import Controller, endpoint, run_until
from part_fixture import cell as part_cell

#: J1's angle is sent each period, whether or not it moves.
PERIODIC = """
[[port]]
name = "beat"
sensors = [
  { signal = "arm/J3.angle", can_id = 0x113, bits = 12, send = "period", every = 0.01 },
]
"""


class Beat:
    """A session that is stepped by hand, one period of its bus at a time, and a client's ears.

    All that the bus's process sends for a period has come when two marks have, one after the other:
    an order's own frame is carried before values of the same moment, and no fault strikes it.
    """

    def __init__(self, session: Session, bus: can.BusABC) -> None:
        self.session, self.bus = session, bus

    def received(self, number: int) -> list[bytes]:
        """Frames of an identifier that came since the last time."""
        found = []
        for mark in (0x7F1, 0x7F2):
            self.session.send(BusCommand("can0", "send", {"frame": f"{mark:X}#"}))
            self.session.process_inbox()
            end = time.monotonic() + TIMEOUT
            while (message := self.bus.recv(1.0)) is None or message.arbitration_id != mark:
                assert time.monotonic() < end, "a mark did not come"
                if message is not None and message.arbitration_id == number:
                    found.append(bytes(message.data))
        return found

    def __call__(self, number: int, periods: int = 1) -> list[bytes]:
        """Frames of an identifier in so many periods."""
        self.received(0)
        found = []
        for _ in range(periods):
            self.session.step(5)
            found += self.received(number)
        return found

    def until(self, reached: Callable[[], object], what: str) -> None:
        """Lets the session take in, without a step, until something is so."""

        def now() -> object:
            self.session.process_inbox()
            return reached()

        until(now, what)


@contextmanager
def beating(scene: Scene) -> Iterator[Beat]:
    with Session(scene) as session, client(session) as bus:
        beat = Beat(session, bus)
        beat.until(
            lambda: session.bus_processes and session.bus_processes["can0"].clients,
            "the client",
        )
        yield beat


@pytest.mark.capability(130)
def test_a_scenes_rule_and_a_person_drop_frames(tmp_path: Path) -> None:
    """By rule one identifier is lost from its time on, for as long as said; by hand until ended."""
    rule = '[[fault]]\nname = "gap"\ntype = "drop"\nids = [0x113]\nat = 0.5\nlasts = 1\n'
    with beating(cell(tmp_path, more=PERIODIC + rule)) as beat:
        session = beat.session
        session.step(200)
        assert len(beat(0x113, 3)) == 3
        session.step(50)
        assert session["gap.active"]
        assert beat(0x113, 5) == []
        session.step(round((1.52 - session.time) / 0.002))
        assert not session["gap.active"]
        assert len(beat(0x113, 3)) == 3
        session.send(SetFault("hush", kind="drop", args={"bus": "can0"}))
        assert beat(0x113, 5) == []
        session.send(SetFault("hush", on=False))
        assert len(beat(0x113, 3)) == 3


def test_frames_are_doubled_and_turned(tmp_path: Path) -> None:
    """A duplicate comes after each frame; a corrupt frame has one bit turned."""
    with beating(cell(tmp_path, more=PERIODIC)) as beat:
        session = beat.session

        def swing(target: float) -> list[bytes]:
            """J1 goes somewhere; what its frame, which is sent on change only, says meanwhile."""
            session.send(SetSignal("arm/J1.target", target))
            return beat(0x111, 10)

        once = swing(0.5)
        assert len(once) > 3
        assert all(a != b for a, b in itertools.pairwise(once))
        session.send(SetFault("twice", kind="duplicate", args={"node": "linkwork", "ids": [0x111]}))
        twice = swing(0.9)
        assert len(twice) > 6
        assert twice[::2] == twice[1::2]
        session.send(SetFault("twice", on=False))
        (before,) = beat(0x113)
        session.send(SetFault("bits", kind="corrupt", args={"ids": [0x113], "seed": 3}))
        (now,) = beat(0x113)
        assert sum((a ^ b).bit_count() for a, b in zip(now, before, strict=True)) == 1


def test_bus_off_silences_everybody_until_it_ends(tmp_path: Path) -> None:
    """Nobody hears or says anything, the counter tells, and all come back."""
    with beating(cell(tmp_path, more=PERIODIC)) as beat:
        session = beat.session
        assert len(beat(0x113, 3)) == 3
        session.send(SetFault("off", kind="bus_off"))
        beat.until(lambda: session["can0.off"] == 2, "the counter")
        session.step(100)
        session.send(SetFault("off", on=False))
        beat.until(lambda: session["can0.off"] == 0, "the counter")
        assert len(beat.received(0x113)) <= 1  # what stands now, said when it was back
        assert len(beat(0x113, 3)) == 3


def test_a_process_that_began_anew_hears_of_its_fault_again(tmp_path: Path) -> None:
    """A killed bus process is started anew, and the fault that is at work goes on."""
    rule = '[[fault]]\nname = "gap"\ntype = "drop"\nat = 0\n'
    with running(cell(tmp_path, more=PERIODIC + rule)) as session:
        process = process_of(session, "can0")
        until(lambda: session["gap.active"], "the rule")
        assert process._process is not None
        process._process.kill()
        until(lambda: process.restarts == 1 and process.ready, "another process")

        def affected() -> bool:
            return any(fault.hits for fault in process.faults)

        with client(session) as bus:
            until(affected, "frames that are lost")
            session.send(SetFault("gap", on=False))
            frame(bus, 0x113)


def test_a_lost_frame_of_a_turn_does_not_freeze_the_tripod(monkeypatch: pytest.MonkeyPatch) -> None:
    """In lock-step the fault ends in simulated time, which goes on without the program's turn."""
    monkeypatch.setattr(bus_processes, "FAULT_TIMEOUT", 0.3)
    scene = load("tripod/can")
    assert isinstance(scene, Scene)
    scene.buses[0].params["socketcand"] = 0
    scene.fault("gap", "drop", at=0.1, lasts=0.05)
    with Session(scene) as session:
        over = threading.Event()

        def level(bus: can.BusABC) -> None:
            while not over.is_set():
                message = bus.recv(0.1)
                if message is not None and message.arbitration_id == 0x120:
                    bus.send(can.Message(arbitration_id=0x80, is_extended_id=False))

        with client(session) as bus:
            threads = [
                threading.Thread(target=session.run),
                threading.Thread(target=level, args=(bus,)),
            ]
            for thread in threads:
                thread.start()
            try:
                until(lambda: session.time > 0.2, "time that goes on")
                until(lambda: not session["can0.lost"], "the program's return")
            finally:
                over.set()
                session.stop()
                for thread in threads:
                    thread.join(TIMEOUT)
        texts = [event.text for event in session.outbox.events]
        assert any("while fault gap is active on the wire" in text for text in texts), texts


def test_a_run_with_a_bad_wire_replays(tmp_path: Path) -> None:
    """What came over the bus is recorded: the replay needs neither bus nor wire."""
    file = tmp_path / "run.mcap"
    rule = '[[fault]]\nname = "gap"\ntype = "drop"\nchance = 0.5\nseed = 7\n'
    with Session(cell(tmp_path, more=PERIODIC + rule), record=file) as session:
        with client(session) as bus:
            for number in range(20):
                data = (1000 + 50 * number).to_bytes(2, "little")
                bus.send(can.Message(arbitration_id=0x11, data=data, is_extended_id=False))
                session.run(0.05, clock="real")
        assert 0 < session["can0.inputs"] < 20
    result = replay(file)
    assert result.same, result.mismatch


# ---- the TCP part ------------------------------------------------------------------------------


def sent(faults: LineFaults, count: int, node: str = "part") -> list[list[float | None]]:
    """What arrives of so many lines."""
    out: list[list[float | None]] = []
    for number in range(count):
        faults.apply_faults([float(number) + 1.0, None], node, out.append)
    return out


def test_lines_meet_the_same_fate_with_the_same_seed() -> None:
    """By chance, so many times, of one side only; a corrupt value is another finite number."""

    def lines(seed: int) -> list[list[float | None]]:
        faults = LineFaults()
        faults.add(LineFaultOrder("drop", chance=0.5, seed=seed))
        return sent(faults, 50)

    assert lines(7) == lines(7) != lines(8)
    assert 10 < len(lines(7)) < 40
    faults = LineFaults()
    faults.add(LineFaultOrder("duplicate", times=2, node="part", name="twice"))
    assert len(sent(faults, 5, "controller")) == 5
    assert len(sent(faults, 5)) == 7
    faults.clear("twice")
    faults.add(LineFaultOrder("corrupt", seed=3))
    for number, (value, nothing) in enumerate(sent(faults, 50)):
        assert nothing is None
        assert value not in (None, number + 1.0)
        assert abs(value or 0.0) < 200.0
    faults.clear("")
    assert sent(faults, 2) == [[1.0, None], [2.0, None]]


def test_a_controllers_lines_are_lost_until_the_fault_ends(tmp_path: Path) -> None:
    """What the controller says does not arrive; what the part tells still does."""
    with Session(part_cell(tmp_path)) as session:
        controller = Controller(endpoint(session))
        session.send(SetFault("deaf", kind="drop", args={"bus": "part", "node": "controller"}))
        session.step()

        def lost() -> bool:
            lines, feeds = session["part.lines_in"], session["part.inputs"]
            controller.send_text("c 0.5 - 0.3")
            run_until(session, lambda: session["part.lines_in"] > lines)
            return session["part.inputs"] == feeds

        run_until(session, lost)
        assert controller.until("s ")
        session.send(SetFault("deaf", on=False))

        def moved() -> bool:
            controller.send_text("c 0.6 - 0.3")
            return session["arm/J1.target"] == 0.6

        run_until(session, moved)


def test_a_tcp_part_knows_no_bus_off(tmp_path: Path) -> None:
    """What a type cannot do is refused, with what it can; so are frames' identifiers."""
    scene = part_cell(tmp_path)
    with pytest.raises(LinkworkError, match="drop, delay, corrupt, duplicate"):
        Session(scene.fault("off", "bus_off"), buses=False)
    scene.faults.clear()
    with pytest.raises(LinkworkError, match="ids"):
        Session(scene.fault("lost", "drop", ids=[4]), buses=False)
