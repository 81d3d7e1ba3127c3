"""Outbox: events for people and peers, snapshots for viewers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from linkwork.errors import FormatError
from linkwork.session import messages
from linkwork.session.link import Joined, Left, SessionEnd
from linkwork.session.messages import Event, Hello, Message, Snapshot

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: Snapshots go out at most this often [1/s].
SNAPSHOT_RATE = 60.0


class Outbox:
    """What leaves a session: copies only.

    Args:
        link: Where peers are; None for nobody.

    Attributes:
        events: The last thousand events.
        listeners: Called with each event.
    """

    def __init__(self, link: SessionEnd | None) -> None:
        self.link = link
        self.events: deque[Event] = deque(maxlen=1000)
        self.listeners: list[Callable[[Event], object]] = []
        self._peers: set[int] = set()
        self._watched: dict[int, list[str]] = {}
        self._published = 0.0

    @property
    def connected(self) -> bool:
        """Whether any peer is there."""
        return bool(self._peers)

    def event(self, event: Event) -> None:
        """Keeps an event and hands it to everyone."""
        self.events.append(event)
        for call in self.listeners:
            call(event)
        if self.link is not None:
            self.link.emit(messages.encode(event))

    def receive(self, session: Session) -> list[Message]:
        """Messages of peers since the last call; newcomers are greeted, garbage is answered."""
        link = self.link
        assert link is not None
        found: list[Message] = []
        for peer, item in link.receive():
            if isinstance(item, Joined):
                self._peers.add(peer)
                link.send(peer, messages.encode(hello(session)))
            elif isinstance(item, Left):
                self._peers.discard(peer)
                self._watched.pop(peer, None)
            else:
                try:
                    message = messages.decode(item)
                except FormatError as error:
                    answer = Event(session.state.step, "error", str(error), "inbox")
                    link.send(peer, messages.encode(answer))
                    continue
                if isinstance(message, messages.Watch):
                    known = [name for name in message.signals if name in session.signals]
                    self._watched[peer] = known
                else:
                    found.append(message)
        return found

    def watched(self) -> list[str]:
        """Signals that some peer watches, in order of asking."""
        return list(dict.fromkeys(name for names in self._watched.values() for name in names))

    def greet(self, session: Session) -> None:
        """Tells every peer of a new world."""
        if self.link is not None:
            self.link.emit(messages.encode(hello(session)))

    def publish(self, session: Session) -> None:
        """Publishes a snapshot if the last one is old enough."""
        now = time.perf_counter()
        if self.link is None or now - self._published < 1.0 / SNAPSHOT_RATE:
            return
        self._published = now
        values = {n: session[n] for n in self.watched() if n in session.signals}
        snapshot = Snapshot(
            session.version, session.state.step, session.time, session.running,
            session.clock.lateness, session.state.pose.tobytes(), values,
        )  # fmt: skip
        self.link.publish(messages.encode(snapshot))


def hello(session: Session) -> Hello:
    """What a peer is told first."""
    world = session.world
    return Hello(
        session.version,
        world.scene.name,
        world.scene.step,
        list(world.body_names),
        list(world.joint_names),
        [(s.name, s.unit, s.lo, s.hi, s.direction) for s in session.signals],
    )
