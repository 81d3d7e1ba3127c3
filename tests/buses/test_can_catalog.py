"""A scene's bus as a DBC file: every frame, with names that are its own; and what cannot be one."""

from __future__ import annotations

from typing import Any

import cantools
import pytest
from cantools.database.can import Database

from linkwork.buses.can.dbc_export import dbc_text
from linkwork.buses.can.layout import check
from linkwork.buses.port import BusPlan, Port, PortSignal, Quant


def signal(
    name: str, role: str = "sensor", codes: Quant | None = None, **address: Any
) -> PortSignal:
    codes = codes or Quant(8, -1.0, 1.0)
    return PortSignal(name, role, "rad", codes.lo, codes.hi, codes, address)  # type: ignore[arg-type]


def plan(**ports: list[PortSignal]) -> BusPlan:
    made = (Port(name.replace("__", "/"), "c", "", tuple(s)) for name, s in ports.items())
    return BusPlan("c", "can", ports=tuple(made), period=0.01)


def read(bus: BusPlan) -> Database:
    """What cantools makes of it."""
    assert list(check(bus)) == []
    database = cantools.database.load_string(dbc_text(bus), "dbc")
    assert isinstance(database, Database)
    return database


def test_ports_whose_names_look_alike_keep_their_signals() -> None:
    """What a DBC file cannot write is an underscore there; the second one gets a number."""
    database = read(plan(
        a__b=[signal("x", can_id=5)], a_b=[signal("x", can_id=5, start=8)],
    ))  # fmt: skip
    (message,) = database.messages
    assert [(s.name, s.start) for s in message.signals] == [("a_b_x", 0), ("a_b_x_2", 8)]


def test_identifiers_of_11_and_of_29_bits_may_have_the_same_number() -> None:
    """They are two frames, with a name each."""
    database = read(plan(J=[signal("x", can_id=6), signal("y", can_id=6, extended=True)]))
    found = {(m.name, m.frame_id, m.is_extended_frame) for m in database.messages}
    assert found == {("J_x", 6, False), ("J_y", 6, True)}


def test_messages_are_named_after_what_they_hold_and_say_how_often_they_come() -> None:
    """By their only signal, else their only port; a number where several ports share a frame."""
    database = read(plan(
        tilt=[signal("x", can_id=5, send="period", every=0.02),
              signal("y", can_id=5, start=8, send="period", every=0.02)],
        hip=[signal("target", "command", can_id=7), signal("angle", can_id=8, send="period")],
        knee=[signal("target", "command", can_id=7, start=8)],
        ankle=[signal("target", "command", can_id=9), signal("angle", can_id=9)],
    ))  # fmt: skip
    found = {(m.frame_id, m.name, m.cycle_time or 0) for m in database.messages}
    assert found == {
        (5, "tilt", 20), (7, "Frame_7", 0), (8, "hip_angle", 10), (9, "ankle", 0),
    }  # fmt: skip


def test_one_identifier_both_ways_is_one_message() -> None:
    """001's joints: the same bits mean the same, whoever sends them."""
    database = read(plan(J=[signal("target", "command", can_id=4), signal("angle", can_id=4)]))
    (message,) = database.messages
    assert [s.name for s in message.signals] == ["J_angle"]
    assert set(message.senders) == {"Plant", "Controller"}


@pytest.mark.parametrize(
    "other",
    [
        signal("angle", can_id=4, codes=Quant(8, -3.0, 3.0)),
        signal("angle", can_id=4, codes=Quant(16, -1.0, 1.0, True)),
        signal("angle", can_id=4, start=4),
        signal("angle", can_id=4, start=7, big_endian=True),
    ],
)
def test_one_identifier_both_ways_with_two_meanings_is_refused(other: PortSignal) -> None:
    """Nobody who hears the frame could tell which is meant."""
    (problem,) = check(plan(J=[signal("target", "command", can_id=4), other]))
    assert "J.angle and J.target encode the same bits differently" in str(problem)
    apart = moved(other)
    assert list(check(plan(J=[signal("target", "command", can_id=4), apart]))) == []


def moved(one: PortSignal) -> PortSignal:
    """The same signal in bits of its own."""
    return signal(one.name, codes=one.quant, can_id=4, start=32)


@pytest.mark.parametrize("second", [{"send": "period"}, {"send": "request"}, {"every": 0.5}])
def test_signals_of_a_frame_are_sent_together(second: dict[str, Any]) -> None:
    """When the one says so and the other so, neither is right."""
    both = [signal("x", can_id=6), signal("y", can_id=6, start=8, **second)]
    (problem,) = check(plan(J=both))
    assert "J.y and J.x are in frame 0x6" in str(problem)
    assert problem.key == "J.y"
    assert "same send and every" in problem.hint
    taken = [signal(s.name, "command", **s.address) for s in both]
    assert list(check(plan(J=taken))) == []  # the controller decides when it sends
