"""Outbox: events for people and peers, snapshots for viewers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from linkwork.errors import LinkworkError
from linkwork.session import messages
from linkwork.session.link import Joined, Left
from linkwork.session.messages import Event, Hello, Message, Snapshot

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: Snapshots go out at most this often [1/s].
SNAPSHOT_RATE = 60.0


class Peers(Protocol):
    """Where peers are: what a session asks of the end of a link."""

    def receive(self) -> list[tuple[int, bytes | Joined | Left]]:
        """Takes what has arrived since the last call."""
        ...

    def wait(self, timeout: float) -> bool:
        """Sleeps until there is something to receive, at most ``timeout`` [s]."""
        ...

    def send(self, peer: int, event: bytes, /) -> None:
        """Sends an event to one peer."""
        ...

    def emit(self, *events: bytes) -> None:
        """Sends events to every peer."""
        ...

    def publish(self, snapshot: bytes, /) -> None:
        """Puts the newest snapshot before every peer."""
        ...

    def close(self) -> None:
        """Says goodbye."""
        ...


class Outbox:
    """What leaves a session: copies only.

    Args:
        link: Where peers are; None for nobody.

    Attributes:
        events: The last thousand events.
        listeners: Called with each event.
        snapshot: Makes what viewers see; exchanged by those who show more.
    """

    def __init__(self, link: Peers | None) -> None:
        self.link = link
        self.events: deque[Event] = deque(maxlen=1000)
        self.listeners: list[Callable[[Event], object]] = []
        self.snapshot: Callable[[Session], bytes] = self._snapshot
        self._peers: set[int] = set()
        self._watched: dict[int, list[str]] = {}
        self._owners: dict[int, set[str]] = {}
        self._due = 0.0

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
        """Messages of peers since the last call.

        Newcomers are greeted and garbage is answered. When the last peer that set or took
        signals under a name has left, what it owned is released.
        """
        link = self.link
        assert link is not None
        found: list[Message] = []
        for peer, item in link.receive():
            if isinstance(item, Joined):
                self._peers.add(peer)
                link.send(peer, messages.encode(hello(session)))
            elif isinstance(item, Left):
                found.extend(self._left(peer))
            else:
                try:
                    message = messages.decode(item)
                    if isinstance(message, messages.Watch):
                        self._watch(session, peer, message.signals)
                        continue
                except LinkworkError as error:
                    answer = Event(session.state.step, "error", str(error), "inbox")
                    link.send(peer, messages.encode(answer))
                    continue
                if isinstance(message, messages.Set | messages.Take):
                    self._owners.setdefault(peer, set()).add(message.owner)
                found.append(message)
        return found

    def _watch(self, session: Session, peer: int, names: list[str]) -> None:
        """Lets a peer watch those signals that exist, and tells it of the first that does not."""
        self._watched[peer] = [name for name in names if name in session.signals]
        for name in names:
            session.signals[name]

    def _left(self, peer: int) -> list[Message]:
        self._peers.discard(peer)
        self._watched.pop(peer, None)
        gone = self._owners.pop(peer, set())
        gone = gone.difference(*self._owners.values())
        return [messages.Release(owner) for owner in sorted(gone)]

    def watched(self) -> list[str]:
        """Signals that some peer watches, in order of asking."""
        return list(dict.fromkeys(name for names in self._watched.values() for name in names))

    def greet(self, session: Session) -> None:
        """Tells every peer of a new world."""
        if self.link is not None:
            self.link.emit(messages.encode(hello(session)))

    def publish(self, session: Session, *, at_once: bool = False) -> None:
        """Publishes a snapshot if the last one is old enough, or ``at_once``."""
        now = time.perf_counter()
        if self.link is None or not (at_once or now >= self._due):
            return
        period = 1.0 / SNAPSHOT_RATE
        # On a grid: a step that ends a little late does not delay all that follow.
        self._due = self._due + period if now < self._due + period else now + period
        self.link.publish(self.snapshot(session))

    def _snapshot(self, session: Session) -> bytes:
        values = {n: session[n] for n in self.watched() if n in session.signals}
        snapshot = Snapshot(
            session.version, session.state.step, session.time, session.running,
            session.clock.lateness, session.state.pose.tobytes(), values,
        )  # fmt: skip
        return messages.encode(snapshot)


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
