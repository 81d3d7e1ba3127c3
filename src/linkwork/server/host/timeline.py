"""Timeline: single steps of a running scene, and looks at what was before."""

from __future__ import annotations

import numpy as np

from linkwork.server.host.door import Door
from linkwork.session import messages as inbox
from linkwork.session.history import History
from linkwork.session.session import Session
from linkwork.state import State


class Timeline:
    """The history of a session and where in it somebody looks.

    Args:
        session: The session.
        door: The way into it.

    Attributes:
        past: The earlier state that is looked at, None for the present.
    """

    def __init__(self, session: Session, door: Door) -> None:
        self._session, self._door = session, door
        self.enter()

    def enter(self) -> None:
        """Begins with a world, the first or an edited one."""
        self.past: State | None = None
        self.begin()

    def begin(self) -> None:
        """Begins a history with the state as it is."""
        session = self._session
        self._history = History(session.cycle.h, session.state.data.size)
        self.keep_now()

    def keep(self) -> None:
        """Keeps the state if it is time for the next one."""
        self._history.keep(self._session.state)

    def keep_now(self) -> None:
        """Keeps the state in any case."""
        self._history.keep(self._session.state, at_once=True)

    @property
    def span(self) -> tuple[float, float] | None:
        """The times that can be looked at [s], None before the first is kept."""
        return self._history.span

    @property
    def shown(self) -> State:
        """The state that is looked at."""
        return self.past or self._session.state

    def step(self, steps: int) -> None:
        """Stops and goes so many steps on, or back if negative."""
        self._stop()
        if steps > 0:
            self._door.apply(inbox.Advance(steps))
        elif steps < 0:
            self.seek((self.shown.step + steps) * self._session.cycle.h)

    def seek(self, when: float) -> None:
        """Stops and looks at what was at a time [s]."""
        self._stop()
        now = self._session.state
        if self.past is None:
            self.keep_now()  # the way back to the present
        kept = self._history.at(when)
        if kept is not None:
            state = State(now.layout, np.frombuffer(kept).copy())
            self.past = state if state.step != now.step else None

    def _stop(self) -> None:
        if self._session.running:
            self._door.apply(inbox.Pause())

    def go_on(self) -> None:
        """Makes the past that is looked at the present; what came after it is forgotten."""
        past, self.past = self.past, None
        if past is not None:
            self._door.apply(inbox.Restore(past.save()))
            self._history.forget_after(past.step)
