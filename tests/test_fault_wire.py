"""Faults on the wire through a bus's own process, seen by python-can and by a TCP controller."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import can
import pytest

from linkwork import LinkworkError, Session
from linkwork.buses.tcp.faults import LineFaultOrder, LineFaults
from linkwork.session.messages import Fault
from linkwork.session.replay import replay
from part_rig import Controller, door, run_until
from part_rig import cell as part_cell
from test_can_bus import cell, client, frame, running, until

#: J1's angle is sent each period, whether or not it moves.
PERIODIC = """
[[port]]
name = "beat"
sensors = [
  { signal = "arm/J3.angle", can_id = 0x113, bits = 12, send = "period", every = 0.01 },
]
"""


def heard(bus: can.BusABC, number: int, seconds: float) -> list[can.Message]:
    """Frames of an identifier within so many seconds."""
    end, found = time.monotonic() + seconds, []
    while (left := end - time.monotonic()) > 0.0:
        message = bus.recv(left)
        if message is not None and message.arbitration_id == number:
            found.append(message)
    return found


def silent(bus: can.BusABC, number: int) -> bool:
    """Whether a frame that comes a hundred times a second has ceased to come."""
    return not heard(bus, number, 0.3)


@pytest.mark.capability(130)
def test_a_scenes_rule_and_a_person_drop_frames(tmp_path: Path) -> None:
    """By rule one identifier is lost from its time on, for as long as said; by hand until ended."""
    rule = '[[fault]]\nname = "gap"\ntype = "drop"\nids = [0x113]\nat = 0.5\nlasts = 3\n'
    with running(cell(tmp_path, more=PERIODIC + rule)) as session, client(session) as bus:
        frame(bus, 0x113)
        until(lambda: session["gap.active"], "the rule")
        until(lambda: silent(bus, 0x113), "silence")
        until(lambda: not session["gap.active"], "its end")
        frame(bus, 0x113)
        session.send(Fault("hush", kind="drop", args={"bus": "can0"}))
        until(lambda: silent(bus, 0x113), "silence")
        session.send(Fault("hush", on=False))
        frame(bus, 0x113)


def swing(bus: can.BusABC, code: int) -> list[bytes]:
    """J1 goes to a code; what its frame, which is sent on change only, says meanwhile."""
    data = code.to_bytes(2, "little")
    bus.send(can.Message(arbitration_id=0x11, data=data, is_extended_id=False))
    return [bytes(message.data) for message in heard(bus, 0x111, 0.5)]


def doubled(frames: list[bytes]) -> bool:
    return bool(frames) and frames[::2] == frames[1::2]


def test_frames_are_doubled_and_turned(tmp_path: Path) -> None:
    """A duplicate comes after each frame; a corrupt frame has one bit turned."""
    with running(cell(tmp_path, more=PERIODIC)) as session, client(session) as bus:
        codes = itertools.cycle((1000, 3000))
        once: list[bytes] = []
        until(lambda: once.extend(swing(bus, next(codes))) or once, "frames of a swing")
        assert all(a != b for a, b in itertools.pairwise(once))
        session.send(Fault("twice", kind="duplicate", args={"node": "linkwork", "ids": [0x111]}))
        until(lambda: doubled(swing(bus, next(codes))), "frames twice")
        session.send(Fault("twice", on=False))
        until(lambda: len(set(map(bytes, (m.data for m in heard(bus, 0x113, 0.3))))) == 1, "rest")
        before = bytes(frame(bus, 0x113).data)
        session.send(Fault("bits", kind="corrupt", args={"ids": [0x113], "seed": 3}))

        def turned() -> bool:
            now = bytes(frame(bus, 0x113).data)
            return sum((a ^ b).bit_count() for a, b in zip(now, before, strict=True)) == 1

        until(turned, "a turned bit")


def test_bus_off_silences_everybody_until_it_ends(tmp_path: Path) -> None:
    """Nobody hears or says anything, the counter tells, and all come back."""
    with running(cell(tmp_path, more=PERIODIC)) as session, client(session) as bus:
        frame(bus, 0x113)
        session.send(Fault("off", kind="bus_off"))
        until(lambda: silent(bus, 0x113), "silence")
        until(lambda: session["can0.off"] > 0, "the counter")
        session.send(Fault("off", on=False))
        frame(bus, 0x113)
        until(lambda: session["can0.off"] == 0, "the counter")


def test_a_process_that_began_anew_hears_of_its_fault_again(tmp_path: Path) -> None:
    """A killed bus process is started anew, and the fault that is at work goes on."""
    rule = '[[fault]]\nname = "gap"\ntype = "drop"\nat = 0\n'
    with running(cell(tmp_path, more=PERIODIC + rule)) as session:
        assert session.partners is not None
        process = session.partners["can0"]
        until(lambda: session["gap.active"], "the rule")
        process._process.kill()
        until(lambda: process.restarts == 1 and process.ready, "another process")
        with client(session) as bus:
            until(lambda: silent(bus, 0x113), "silence")
            session.send(Fault("gap", on=False))
            frame(bus, 0x113)


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
        assert 0 < session["can0.feeds"] < 20
    result = replay(file)
    assert result.same, result.mismatch


# ---- the TCP part ------------------------------------------------------------------------------


def sent(faults: LineFaults, count: int, node: str = "part") -> list[list[float | None]]:
    """What arrives of so many lines."""
    out: list[list[float | None]] = []
    for number in range(count):
        faults.pass_on([float(number) + 1.0, None], node, out.append)
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
        controller = Controller(door(session))
        session.send(Fault("deaf", kind="drop", args={"bus": "part", "node": "controller"}))
        session.step()

        def lost() -> bool:
            lines, feeds = session["part.lines_in"], session["part.feeds"]
            controller.say("c 0.5 - 0.3")
            run_until(session, lambda: session["part.lines_in"] > lines)
            return session["part.feeds"] == feeds

        run_until(session, lost)
        assert controller.until("s ")
        session.send(Fault("deaf", on=False))

        def moved() -> bool:
            controller.say("c 0.6 - 0.3")
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
