"""Board: the signals of a running world: who may set them, who listens, what waits to be set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.errors import NameNotFound, listing
from linkwork.session import messages
from linkwork.session.cycle import PERSON, Cycle
from linkwork.session.listeners import Listener, Listeners
from linkwork.session.messages import Message
from linkwork.session.transfer import new_names
from linkwork.signals import Signals
from linkwork.state import State
from linkwork.world import World


class Board:
    """What agents, listeners and users see of a session.

    An agent or bus of the scene writes for itself: a replay has the same one, which writes the
    same.
    What anybody else writes goes through the inbox, which is recorded.

    Attributes:
        cycle: Everything compiled for the world that runs.
    """

    def __init__(self, cycle: Cycle) -> None:
        self._deciding = False
        self._writes: list[tuple[str, float, str]] = []
        self._enter(cycle)

    def _enter(self, cycle: Cycle) -> None:
        self.cycle = cycle
        self._agents = frozenset(block.spec.name for block in (*cycle.agents, *cycle.buses))
        self._deciders = self._agents - {bus.spec.name for bus in cycle.buses}
        self._taken: set[str] = set()
        self._kept: set[str] = set()  # what others than agents own because they set it first
        self._listeners = Listeners(cycle.signals, cycle.state["listeners/last"])
        self._onlookers = Listeners(cycle.signals)

    @property
    def world(self) -> World:
        """The world as compiled."""
        return self.cycle.world

    @property
    def state(self) -> State:
        """The state. Write only through :meth:`send`; what you keep must be a copy."""
        return self.cycle.state

    @property
    def signals(self) -> Signals:
        """Every signal."""
        return self.cycle.signals

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.cycle.state.step * self.cycle.h

    def array(self, sensor: str, name: str) -> np.ndarray:
        """A copy of a reading that is an array: ``array("scan", "ranges")``.

        Raises:
            NameNotFound: If there is no such sensor, or no such array of it.
        """
        block, number = self.cycle.sensor(sensor)
        if name not in block.arrays:
            has = f"It has {listing(block.arrays)}." if block.arrays else "It has numbers only."
            raise NameNotFound(f"{block.type} {sensor!r} has no array {name!r}.", hint=has)
        return block.array(number, name)

    def image(self, camera: str, what: str = "colour") -> np.ndarray:
        """The newest picture of a camera: its ``colour``, ``depth`` or ``segmentation``.

        Colour is height×width×3 of 8 bit. Depth is height×width along the optical axis [m], inf
        where nothing is seen. Segmentation is height×width with places in ``world.element_names``,
        −1 for none.

        Raises:
            NameNotFound: If there is no such camera, or it has nothing of that name.
        """
        return self.array(camera, what)

    def send(self, message: Message) -> None:
        """Puts a message into the inbox."""
        raise NotImplementedError

    def say(self, text: str, *, level: str = "info", source: str = "") -> None:
        """Puts a message for people into the outbox."""
        raise NotImplementedError

    # ---- listening -----------------------------------------------------------------------

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float = 0.0, owner: str = PERSON
    ) -> None:
        """Calls ``call(value)`` after each step in which ``signal`` moved by more than ``by``."""
        listeners = self._listeners if owner in self._agents else self._onlookers
        listeners.add(Listener(signal, call, by, owner), self.state.data)

    def forget(self, owner: str) -> None:
        """Ends all listeners and ownerships of ``owner``."""
        self._listeners.forget(owner)
        self._onlookers.forget(owner)
        self.signals.release(owner)

    # ---- writing -------------------------------------------------------------------------

    def write(self, signal: str, value: float, owner: str) -> None:
        """Sets a signal for an agent: at once while deciding, else before the next step.

        What somebody took over from the agents, or set before any of them did, stays as its owner
        sets it.
        """
        if self._kept and signal in self._kept and owner in self._deciders:
            self._give_way(signal, owner)
        if self._taken and self._is_taken(signal, owner):
            return
        if self._deciding:
            self.signals.set(signal, float(value), owner)
            self._note_param(signal)
        elif owner in self._agents:
            self.signals.check(signal, value, owner)
            self._writes.append((signal, float(value), owner))
        else:
            self.send(messages.Set(signal, float(value), owner))

    def check(self, signal: str, value: float, owner: str) -> None:
        """Refuses what :meth:`write` would refuse.

        Raises:
            SignalError: If the signal cannot be set to ``value``, or not by ``owner``.
        """
        kept = signal in self._kept and owner in self._deciders
        if kept or self._is_taken(signal, owner):
            owner = self.signals.owners[signal]
        self.signals.check(signal, value, owner)

    def _is_taken(self, signal: str, owner: str) -> bool:
        """Whether somebody took ``signal`` over from the agents, of which ``owner`` is one."""
        return signal in self._taken and owner in self._agents

    def _give_way(self, signal: str, owner: str) -> None:
        """Leaves to its owner what an agent of the scene would set from now on, and says so."""
        self._kept.discard(signal)
        self._taken.add(signal)
        self.say(
            f"{owner} would drive {signal}, which {self.signals.owners[signal]} has set before: it "
            "stays so until it is given back.", level="warning", source=owner,
        )  # fmt: skip

    def _apply_writes(self) -> None:
        writes, self._writes = self._writes, []
        for signal, value, owner in writes:
            self.signals.set(signal, value, owner)
            self._note_param(signal)

    def _note_param(self, signal: str) -> None:
        if self.signals[signal].direction == "param":
            for block in self.cycle.blocks:
                block.params_changed()

    # ---- owning --------------------------------------------------------------------------

    def take(self, signal: str, owner: str = PERSON) -> None:
        """Takes an input over with the next step, whoever has it."""
        self.send(messages.Take(signal, owner))

    def release(self, owner: str = PERSON) -> None:
        """Gives up everything that ``owner`` owns; the scene's agents set it again."""
        self.send(messages.Release(owner))

    def set_now(self, signal: str, value: float, owner: str) -> None:
        """Sets a signal; an input that nobody owns is ``owner``'s from then on. For ``Set``.

        Raises:
            SignalError: If it cannot be set to ``value``, or not by ``owner``.
        """
        free = signal not in self.signals.owners
        self.signals.set(signal, value, owner)
        if free and owner not in self._agents and signal in self.signals.owners:
            self._kept.add(signal)
        self._note_param(signal)

    def hand_over(self, signal: str, owner: str) -> None:
        """Makes ``owner`` the owner of an input; for ``Take``."""
        before = self.signals.take(signal, owner)
        self._kept.discard(signal)
        if owner in self._agents:
            self._taken.discard(signal)
        else:
            self._taken.add(signal)
        if before != owner:
            self.say(f"{owner} took {signal} from {before or 'nobody'}.")

    def hand_on(self, signal: str, owner: str) -> None:
        """Gives one input back to an agent or bus of the scene, or to nobody."""
        before = self.signals.owners.pop(signal, None)
        self._taken.discard(signal)
        self._kept.discard(signal)
        if owner:
            self.signals.owners[signal] = owner
        self.say(f"{before or 'nobody'} let go of {signal}.")

    def hand_back(self, owner: str) -> None:
        """Releases all that ``owner`` owns; for ``Release``."""
        owned = sorted(name for name, who in self.signals.owners.items() if who == owner)
        self.signals.release(owner)
        self._taken.difference_update(owned)
        self._kept.difference_update(owned)
        if owned:
            self.say(f"{owner} released {', '.join(owned)}.")

    # ---- another world -------------------------------------------------------------------

    def _go_over(self, cycle: Cycle) -> None:
        """Goes on with another compiled world; owners and listeners keep what is still there.

        The scene's agents listen to nothing until they are started.
        """
        names = new_names(self.cycle, cycle)
        owners, agents = self.signals.owners, self._agents
        taken, kept = self._taken, self._kept
        onlookers = self._onlookers
        self._enter(cycle)
        for name, owner in owners.items():
            now = names.get(name, name)
            gone = owner in agents and owner not in self._agents
            if not gone and now in self.signals:
                self.signals.owners[now] = owner
        self._taken = {names.get(name, name) for name in taken} & self.signals.owners.keys()
        self._kept = {names.get(name, name) for name in kept} & self.signals.owners.keys()
        for listener in onlookers.move_to(self._onlookers, names, self.state.data):
            self.say(
                f"nobody listens to {listener.signal} any more: it is gone.", level="warning",
                source=listener.owner,
            )  # fmt: skip
