"""Faults on the wire through a bus's own process, seen by python-can and by a TCP controller."""

from __future__ import annotations

import time
from pathlib import Path

import can
import pytest

from linkwork import Session
from linkwork.session.messages import Fault
from linkwork.session.replay import replay
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
    rule = '[[fault]]\nname = "gap"\ntype = "drop"\nids = [0x113]\nat = 0.5\nlasts = 1\n'
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


def test_answers_are_doubled_and_frames_turned(tmp_path: Path) -> None:
    """A duplicate doubles each answer to a request; a corrupt frame has one bit turned."""
    ask = can.Message(arbitration_id=0x112, is_remote_frame=True, dlc=2, is_extended_id=False)
    with running(cell(tmp_path, more=PERIODIC)) as session, client(session) as bus:

        def answers() -> int:
            bus.send(ask)
            return len(heard(bus, 0x112, 0.3))

        until(lambda: answers() == 1, "one answer")
        session.send(Fault("twice", kind="duplicate", args={"node": "linkwork", "ids": [0x112]}))
        until(lambda: answers() == 2, "two answers")
        session.send(Fault("twice", on=False))
        until(lambda: answers() == 1, "one answer")
        before = bytes(heard(bus, 0x113, 0.5)[-1].data)  # the arm rests by now
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
