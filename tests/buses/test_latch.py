"""Latch: what is fed reaches the session, also where the link is full or the ports change."""

from __future__ import annotations

import msgspec
import pytest

from linkwork.buses.__main__ import receive_messages
from linkwork.buses.adapter import Adapter
from linkwork.buses.input_buffer import IN_FLIGHT
from linkwork.buses.messages import ControllerGone, InputValues, OutputValues, encode
from linkwork.buses.port import BusPlan, Port, PortSignal
from linkwork.link import connect, serve


class Link:
    """The session's end: keeps what is sent, unless it is full."""

    def __init__(self) -> None:
        self.full = False
        self.sent: list[msgspec.Struct] = []

    def send(self, message: msgspec.Struct) -> bool:
        if not self.full:
            self.sent.append(message)
        return not self.full

    def feeds(self) -> list[dict[str, float]]:
        found = [message.values for message in self.sent if isinstance(message, InputValues)]
        self.sent.clear()
        return found


def rig(*, lockstep: bool = False, commands: str = "tu") -> tuple[Adapter, Link]:
    signals = tuple(PortSignal(name, "command", lo=-9.0, hi=9.0) for name in commands)
    link = Link()
    adapter = Adapter(
        BusPlan("b", "x", lockstep=lockstep, ports=(Port("J", "b", "", signals),)), link
    )
    adapter.taken(1, 0)
    return adapter, link


def test_only_a_few_feeds_are_under_way_and_the_newest_of_each_follows() -> None:
    """What comes while the session is slow is latched; it goes out when the session has taken."""
    adapter, link = rig()
    for n in range(20):
        adapter.feed({"J.t": n / 10, "J.u" if n % 2 else "J.t": 1.0})
    assert len(link.feeds()) == IN_FLIGHT
    adapter.taken(1, 1)
    assert link.feeds() == [{"J.t": 1.9, "J.u": 1.0}]


def test_a_feed_that_found_no_room_goes_out_later() -> None:
    """A full link loses nothing, and what it refused is not counted as under way."""
    adapter, link = rig()
    link.full = True
    for n in range(3 * IN_FLIGHT):
        adapter.feed({"J.t": float(n) / 2})
    link.full = False
    adapter.taken(1, 0)
    assert link.feeds() == [{"J.t": 5.5}]
    for n in range(IN_FLIGHT):
        adapter.feed({"J.u": float(n)})
    assert len(link.feeds()) == IN_FLIGHT - 1


def test_a_turn_that_found_no_room_is_ended_later() -> None:
    """In lock-step the scene waits for it: it must not get lost."""
    adapter, link = rig(lockstep=True)
    adapter.feed({"J.t": 0.5})
    assert not link.sent
    link.full = True
    adapter.feed({"J.u": 0.25}, turn=7)
    link.full = False
    adapter.taken(1, 0)
    assert link.sent == [InputValues(1, {"J.t": 0.5, "J.u": 0.25}, 7)]


def test_an_edit_begins_the_count_anew() -> None:
    """Both ends count from 0 for each plan; what is latched for a port that stays is kept."""
    adapter, link = rig()
    for n in range(20):
        adapter.feed({"J.t": n / 10})
        adapter.taken(1, n + 1)
    assert len(link.feeds()) == 20
    link.full = True
    adapter.feed({"J.t": 3.0, "J.u": 4.0})
    link.full = False
    adapter.replan(rig(commands="t")[0].plan, 2)
    adapter.taken(2, 0)
    assert link.sent == [InputValues(2, {"J.t": 3.0})]
    link.sent.clear()
    for n in range(20):
        adapter.feed({"J.t": -n / 10})
        adapter.taken(2, n + 1)
    assert len(link.feeds()) == 20


def test_the_loss_of_who_commanded_comes_after_what_he_said() -> None:
    """However slow the session is; otherwise his last words would end his loss."""
    adapter, link = rig()
    for n in range(IN_FLIGHT + 1):
        adapter.feed({"J.t": float(n)})
    link.full = True
    adapter.gone()
    link.full = False
    adapter.taken(1, IN_FLIGHT)
    assert link.sent[IN_FLIGHT:] == [
        InputValues(1, {"J.t": float(IN_FLIGHT)}),
        ControllerGone(["J.t", "J.u"]),
    ]
    adapter.taken(1, IN_FLIGHT + 1)
    assert len(link.sent) == IN_FLIGHT + 2


def test_who_takes_over_at_once_is_not_lost_with_the_one_before() -> None:
    """What the new one has commanded meanwhile is his; the rest is told to be without a master."""
    adapter, link = rig(commands="tuv")
    link.full = True
    adapter.feed({"J.t": 1.0})
    adapter.gone(["J.t", "J.u"])
    adapter.feed({"J.t": 2.0})
    link.full = False
    adapter.taken(1, 0)
    assert link.sent == [InputValues(1, {"J.t": 2.0}), ControllerGone(["J.u"])]


def test_a_turn_that_comes_between_two_looks_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The link rings once: what arrives while events are taken must not wait for more."""
    adapter, _ = rig(lockstep=True)
    with serve() as session, connect(session.address, session.key) as peer:
        peer.fileno()  # from here on it rings
        events = peer.events

        def late(timeout: float = 0.0) -> list[bytes]:
            monkeypatch.setattr(peer, "events", events)
            session.publish(encode(OutputValues(1, 5, 0.01, 3, 0, [])))
            assert peer.wait(30.0)
            return events(timeout)

        monkeypatch.setattr(peer, "events", late)
        receive_messages(peer, adapter)
    assert (adapter.step, adapter.turn) == (5, 3)


def test_half_a_turn_of_one_who_left_is_forgotten() -> None:
    """Who comes next ends a turn of his own, not that of the dead."""
    adapter, link = rig(lockstep=True)
    adapter.feed({"J.t": 0.5})
    adapter.gone()
    adapter.feed({"J.u": 0.25}, turn=3)
    assert link.sent == [ControllerGone(), InputValues(1, {"J.u": 0.25}, 3)]
