"""Input buffer: the newest value of each signal until the session takes it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Protocol

import msgspec

from linkwork.buses.messages import ControllerGone, InputValues

#: Maximum number of messages that the session has not taken; more values are merged.
IN_FLIGHT = 4


class MessageSink(Protocol):
    """Receiver of an adapter's messages."""

    def send(self, message: msgspec.Struct) -> bool:
        """Sends a message to the session; returns False if it is lost."""
        ...


class InputBuffer:
    """Passes inputs to the session, a few messages at a time, without loss.

    In lock-step they wait for the end of their turn.

    Args:
        sink: Receives the messages.
        lockstep: Whether the scene waits for turns.
        counters: Returns the counters that are sent with a turn, in lock-step.

    Attributes:
        version: Number of the plan that the values belong to.
    """

    def __init__(
        self,
        sink: MessageSink,
        *,
        lockstep: bool,
        counters: Callable[[], dict[str, float]] = dict,
    ) -> None:
        self._sink, self._lockstep, self._counters = sink, lockstep, counters
        self.version = 0
        self._values: dict[str, float] = {}
        self._ended = 0
        self._sent = self._taken = 0
        self._gone = False
        self._left: set[str] = set()  # inputs of controllers that have left

    def put(self, values: dict[str, float], turn: int) -> None:
        """Stores values; ``turn`` is the turn that they end, 0 for none."""
        self._values.update(values)
        self._ended = turn or self._ended
        self._left -= values.keys()
        self._gone = self._gone and bool(self._left) and not turn
        self.flush()

    def taken(self, version: int, taken: int) -> None:
        """Records the number of messages of a plan that the session has taken."""
        self.version, self._taken = version, taken
        self.flush()

    def replan(self, inputs: Container[str], version: int) -> None:
        """Discards the values of other ports; both ends count from 0 for each plan."""
        self._values = {key: value for key, value in self._values.items() if key in inputs}
        self._left = {key for key in self._left if key in inputs}
        self._gone = self._gone and (self._lockstep or bool(self._left))
        self.version = version
        self._sent = self._taken = self._ended = 0

    def gone(self, keys: Iterable[str]) -> None:
        """Reports that the controller of inputs has left, after earlier values."""
        self._gone = True
        self._left.update(keys)
        if self._lockstep and not self._ended:
            self._values = {}  # of a turn that will not end
        self.flush(at_once=True)

    def flush(self, *, at_once: bool = False) -> None:
        """Sends the stored values, if the session has taken the previous ones.

        Args:
            at_once: Whether to send them even if it has not, because the sender leaves.
        """
        crowded = not at_once and self._sent - self._taken >= IN_FLIGHT
        if (
            self._waits
            and (self._lockstep or not crowded)
            and self._sink.send(self._input_message())
        ):
            self._values, self._ended = {}, 0
            self._sent += 1
        if self._gone and not self._waits and self._sink.send(ControllerGone(sorted(self._left))):
            self._gone = False
            self._left.clear()

    def _input_message(self) -> InputValues:
        counters = self._counters() if self._lockstep else {}
        return InputValues(self.version, self._values, self._ended, counters)

    @property
    def _waits(self) -> bool:
        return bool(self._ended) if self._lockstep else bool(self._values)
