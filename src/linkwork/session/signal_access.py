"""Access to the signals of a running world."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.core.signals import Signals
from linkwork.session import messages
from linkwork.session.cycle import USER, Cycle
from linkwork.session.listeners import SignalListener, SignalListeners
from linkwork.session.transfer import new_names


class SignalAccess:
    """Owners, listeners and pending writes of a session's signals.

    An agent or bus of the scene writes directly: a replay has the same agent, which writes the same
    values. All other writes go through the inbox, which is recorded.

    Args:
        cycle: The compiled world.
        send: Puts a message into the inbox.
        log: Logs a message for users.

    Attributes:
        listeners: Those of the scene's agents; their memory is in the state.
        observers: All others; they cannot change the run.
        deciding: Whether agents decide now, so that their writes apply at once.
    """

    def __init__(
        self,
        cycle: Cycle,
        send: Callable[[messages.Message], object],
        log: Callable[..., object],
    ) -> None:
        self._send, self._log = send, log
        self.deciding = False
        self._writes: list[tuple[str, float, str]] = []
        self._enter(cycle)

    def _enter(self, cycle: Cycle) -> None:
        self._cycle = cycle
        self._agents = frozenset(block.spec.name for block in (*cycle.agents, *cycle.buses))
        self._deciders = self._agents - {bus.spec.name for bus in cycle.buses}
        self._taken_over: set[str] = set()
        self._first_set: set[str] = set()  # owned by non-agents, who set them first
        self.listeners = SignalListeners(cycle.signals, cycle.state["listeners/last"])
        self.observers = SignalListeners(cycle.signals)

    @property
    def _signals(self) -> Signals:
        return self._cycle.signals

    # ---- listening -----------------------------------------------------------------------

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float = 0.0, owner: str = USER
    ) -> None:
        """Calls ``call(value)`` after each step in which ``signal`` changed by more than ``by``."""
        listeners = self.listeners if owner in self._agents else self.observers
        listeners.add(SignalListener(signal, call, by, owner), self._cycle.state.data)

    def forget(self, owner: str) -> None:
        """Ends all listeners and ownerships of ``owner``."""
        self.listeners.forget(owner)
        self.observers.forget(owner)
        self._signals.release(owner)

    # ---- writing -------------------------------------------------------------------------

    def write(self, signal: str, value: float, owner: str) -> None:
        """Sets a signal for an agent: at once while deciding, else before the next step.

        A signal that was taken over from the agents, or set before any of them did, keeps the
        value of its owner.
        """
        if self._first_set and signal in self._first_set and owner in self._deciders:
            self._yield_signal(signal, owner)
        if self._taken_over and self._is_taken(signal, owner):
            return
        if self.deciding:
            self._signals.set(signal, float(value), owner)
            self._note_param(signal)
        elif owner in self._agents:
            self._signals.check(signal, value, owner)
            self._writes.append((signal, float(value), owner))
        else:
            self._send(messages.SetSignal(signal, float(value), owner))

    def check(self, signal: str, value: float, owner: str) -> None:
        """Raises what :meth:`write` would raise.

        Raises:
            SignalError: If the signal cannot be set to ``value``, or not by ``owner``.
        """
        kept = signal in self._first_set and owner in self._deciders
        if kept or self._is_taken(signal, owner):
            owner = self._signals.owners[signal]
        self._signals.check(signal, value, owner)

    def _is_taken(self, signal: str, owner: str) -> bool:
        """Returns whether ``signal`` was taken over from the agents, including ``owner``."""
        return signal in self._taken_over and owner in self._agents

    def _yield_signal(self, signal: str, owner: str) -> None:
        """Leaves a signal to its owner when an agent tries to set it, and logs that."""
        self._first_set.discard(signal)
        self._taken_over.add(signal)
        self._log(
            f"{owner} tries to set {signal}, which {self._signals.owners[signal]} has set before: "
            "it keeps that value until it is released.", level="warning", source=owner,
        )  # fmt: skip

    def apply_writes(self) -> None:
        """Applies the pending writes of agents."""
        if not self._writes:
            return
        writes, self._writes = self._writes, []
        for signal, value, owner in writes:
            self._signals.set(signal, value, owner)
            self._note_param(signal)

    def discard_writes(self) -> None:
        """Drops the pending writes of agents."""
        self._writes.clear()

    def _note_param(self, signal: str) -> None:
        if self._signals[signal].direction == "param":
            for block in self._cycle.blocks:
                block.params_changed()

    # ---- owners --------------------------------------------------------------------------

    def set_now(self, signal: str, value: float, owner: str) -> None:
        """Sets a signal; ``owner`` becomes the owner of an input without one. For ``SetSignal``.

        Raises:
            SignalError: If it cannot be set to ``value``, or not by ``owner``.
        """
        free = signal not in self._signals.owners
        self._signals.set(signal, value, owner)
        if free and owner not in self._agents and signal in self._signals.owners:
            self._first_set.add(signal)
        self._note_param(signal)

    def assign_owner(self, signal: str, owner: str) -> None:
        """Makes ``owner`` the owner of an input; for ``TakeSignal``."""
        before = self._signals.take(signal, owner)
        self._first_set.discard(signal)
        if owner in self._agents:
            self._taken_over.discard(signal)
        else:
            self._taken_over.add(signal)
        if before != owner:
            self._log(f"{owner} took {signal} from {before or 'nobody'}.")

    def return_signal(self, signal: str, owner: str) -> None:
        """Returns one input to an agent or bus of the scene, or to nobody."""
        before = self._signals.owners.pop(signal, None)
        self._taken_over.discard(signal)
        self._first_set.discard(signal)
        if owner:
            self._signals.owners[signal] = owner
        self._log(f"{before or 'nobody'} released {signal}.")

    def release_owner(self, owner: str) -> None:
        """Releases all inputs of ``owner``; for ``ReleaseSignals``."""
        owned = sorted(name for name, who in self._signals.owners.items() if who == owner)
        self._signals.release(owner)
        self._taken_over.difference_update(owned)
        self._first_set.difference_update(owned)
        if owned:
            self._log(f"{owner} released {', '.join(owned)}.")

    def clear(self) -> None:
        """Drops all owners and pending writes."""
        self.discard_writes()
        self._taken_over.clear()
        self._first_set.clear()
        self._signals.owners.clear()

    # ---- failed steps --------------------------------------------------------------------

    def checkpoint(self) -> tuple[int, int]:
        """Returns the number of listeners and of owners, for :meth:`rollback`."""
        return len(self.listeners), len(self._signals.owners)

    def rollback(self, checkpoint: tuple[int, int]) -> None:
        """Removes the writes, listeners and owners that were added since a checkpoint."""
        listeners, owners = checkpoint
        self.deciding = False
        self.discard_writes()
        self.listeners.truncate(listeners)
        for name in list(self._signals.owners)[owners:]:
            del self._signals.owners[name]

    # ---- another world -------------------------------------------------------------------

    def switch_cycle(self, cycle: Cycle) -> None:
        """Continues with another compiled world; keeps owners and observers of its signals.

        The scene's agents have no listeners until they are started.
        """
        names = new_names(self._cycle, cycle)
        owners, agents = self._signals.owners, self._agents
        taken, first = self._taken_over, self._first_set
        observers = self.observers
        self._enter(cycle)
        for name, owner in owners.items():
            now = names.get(name, name)
            gone = owner in agents and owner not in self._agents
            if not gone and now in self._signals:
                self._signals.owners[now] = owner
        kept = self._signals.owners.keys()
        self._taken_over = {names.get(name, name) for name in taken} & kept
        self._first_set = {names.get(name, name) for name in first} & kept
        for listener in observers.transfer_to(self.observers, names, cycle.state.data):
            self._log(
                f"the listener of {listener.signal} has ended: the signal no longer exists.",
                level="warning", source=listener.owner,
            )  # fmt: skip
