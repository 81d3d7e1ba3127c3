"""History: the states of the last seconds."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque

import numpy as np

from linkwork.core.errors import SessionError
from linkwork.core.state import State
from linkwork.session.cycle import Cycle

#: Rate [1/s] and span [s of simulated time] of the kept states.
HISTORY_RATE, HISTORY_SPAN = 30.0, 10.0
#: Maximum memory of a history [byte].
MAX_BYTES = 64 * 2**20


class History:
    """Ring buffer of copies of a running state.

    Args:
        h: Time step [s].
        size: Numbers in a state.
    """

    def __init__(self, h: float, size: int) -> None:
        self._h = h
        self._every = max(1, round(1.0 / (HISTORY_RATE * h)))
        most = min(round(HISTORY_SPAN * HISTORY_RATE), max(2, MAX_BYTES // (8 * max(1, size))))
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=most)

    @property
    def span(self) -> tuple[float, float] | None:
        """First and last kept time [s]."""
        if not self._kept:
            return None
        return self._kept[0][0] * self._h, self._kept[-1][0] * self._h

    def keep(self, state: State, *, at_once: bool = False) -> None:
        """Keeps a state if one is due, or ``at_once``; later states are dropped."""
        step = state.step
        if not at_once and step % self._every:
            return
        self.forget_after(step - 1)
        self._kept.append((step, state.save()))

    def forget_after(self, step: int) -> None:
        """Drops the states after a step."""
        while self._kept and self._kept[-1][0] > step:
            self._kept.pop()

    def at(self, time: float) -> bytes | None:
        """Returns the last state at or before a time [s]; the first if all are later."""
        if not self._kept:
            return None
        place = bisect_right([step for step, _ in self._kept], round(time / self._h, 6))
        return self._kept[max(0, place - 1)][1]


def check_state(cycle: Cycle, data: bytes) -> None:
    """Checks that bytes are a valid state of a world, so that kernels can run on them.

    Raises:
        SessionError: If they are not valid.
    """
    state, first = cycle.state.copy(), cycle.first
    state.restore(data)
    for name, field in state.layout.fields.items():
        if not field.integer and not (np.isfinite(state[name]) | ~np.isfinite(first[name])).all():
            raise SessionError(f"this is not a state of the session: {name} is not finite.")
    grabbed = state["param/grab"][:, 1]
    if (
        state.step < 0
        or not 0 <= state.report.contact_count <= len(state.report.contacts)
        or not ((grabbed >= 0) & (grabbed < cycle.world.nb)).all()
    ):
        raise SessionError("this is not a state of the session: its counts are out of bounds.")
