"""Clock: paces a session as fast as possible, in real time or in lock-step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING

from linkwork.components.agents.program import Program
from linkwork.core.errors import LinkworkError, SessionError
from linkwork.session.messages import ReloadProgram

if TYPE_CHECKING:
    from linkwork.session.session import Session


MODES = ("fast", "real", "lockstep")

#: Maximum lateness that is made up for [s].
MAX_LATENESS = 1.0


class Clock:
    """Paces a session.

    Args:
        mode: "fast", "real" or "lockstep" (steps only as granted by ``AdvanceSteps`` messages).
        speed: Simulated seconds per real second, in mode "real".

    Attributes:
        lateness: Lag behind real time [s].
        lost: Real time given up so far because the machine was too slow [s].
        granted: Granted steps that are not done yet.
    """

    def __init__(self, mode: str = "fast", speed: float = 1.0) -> None:
        if mode not in MODES:
            raise SessionError(f"there is no clock {mode!r}.", hint=f"Clocks: {', '.join(MODES)}.")
        if not speed > 0.0:
            raise SessionError(f"a clock's speed must be above 0, not {speed:g}.")
        self.mode = mode
        self.speed = speed
        self.lateness = 0.0
        self.lost = 0.0
        self.granted = 0
        self._start: tuple[float, float] | None = None

    def restart(self) -> None:
        """Resets the real-time reference, after a pause or a jump."""
        self._start = None
        self.lateness = 0.0

    def pace(self, simulated: float) -> float:
        """Time to sleep before the step from time ``simulated`` [s]; updates the lateness."""
        if self.mode != "real":
            return 0.0
        now = time.perf_counter()
        if self._start is None:
            self._start = (now, simulated)
        due = self._start[0] + (simulated - self._start[1]) / self.speed
        self.lateness = max(0.0, now - due)
        if self.lateness > MAX_LATENESS:
            # Too slow for this machine: continue from here instead of catching up.
            self._start = (now, simulated)
            self.lost += self.lateness
        return max(0.0, due - now)


def check_duration(seconds: object) -> None:
    """Checks a duration.

    Raises:
        SessionError: If it is not a number from 0 to 1e12 s.
    """
    if not isinstance(seconds, Real) or not 0.0 <= float(seconds) < 1e12:
        raise SessionError(f"a session runs for 0 s or more, not for {seconds!r} s.")


def check_steps(steps: object) -> None:
    """Checks a number of steps.

    Raises:
        SessionError: If it is not an integer, or below 0.
    """
    if not isinstance(steps, Integral) or steps < 0:
        raise SessionError(f"steps must be an integer of 0 or more, not {steps!r}.")


#: Period of checking program files for changes [s].
WATCH_PERIOD = 0.5
#: Period of progress calls [s].
PROGRESS_PERIOD = 0.1
#: Maximum sleep of a session before it checks whether to stop [s].
MAX_SLEEP = 0.02


def run(
    session: Session, duration: float | None, progress: Callable[[float], object] | None
) -> None:
    """Runs for ``duration`` [s] of simulated time, or until the session is stopped.

    Raises:
        LinkworkError: If a step fails, or a bus pauses the session, while no peer watches it.
    """
    if duration is not None:
        check_duration(duration)
    h = session.cycle.h
    left = math.inf if duration is None else _due_steps(session, duration)
    shown = watched = -math.inf
    session.clock.restart()
    session.running, session.paused_by = True, ""
    while not session.stopping and left > 0:
        now = time.monotonic()
        if session.watch and now - watched > WATCH_PERIOD:
            watched = now
            reload_changed_programs(session)
        if progress is not None and now - shown > PROGRESS_PERIOD:
            shown = now
            progress(session.time)
        session.process_inbox(in_order=True)
        if session.cycle.h != h:
            left = left if duration is None else round(left * h / session.cycle.h)
            h = session.cycle.h
        if session.paused_by and not session.running and not session.outbox.connected:
            raise _paused_error(session)  # no client is connected that could resume it
        wait = _wait(session)
        if wait > 0.0:
            _idle(session, min(wait, MAX_SLEEP))
        elif _step_if_due(session):
            left -= 1


def _due_steps(session: Session, duration: float) -> int:
    """Returns the steps of a duration and of the remainder of runs before; keeps the remainder."""
    h = session.cycle.h
    due = (duration + session.remainder) / h
    steps = max(round(due), 0)
    rest = due - steps
    session.remainder = 0.0 if abs(rest) < 1e-6 else rest * h
    return steps


def _paused_error(session: Session) -> SessionError:
    return SessionError(
        f"bus {session.paused_by!r} has lost its controller, and its on_loss is pause: the "
        f"session is paused at {session.time:g} s.",
        hint="Run it again to continue; hold, ramp, torque_off and stop do not stop time.",
    )


def _wait(session: Session) -> float:
    """Returns the time until the next step [s]; inf while none is granted."""
    if session.bus_processes is not None and session.bus_processes.waiting_for_turn():
        return math.inf
    if session.manual:
        return 0.0 if session.clock.granted else math.inf
    return session.clock.pace(session.time)


def _step_if_due(session: Session) -> bool:
    """Executes a due step; returns False if it failed while a client is connected."""
    manual = session.manual
    if manual:
        session.clock.granted -= 1
    try:
        session.advance()
    except LinkworkError:
        if not session.outbox.connected:
            raise
        return False
    if manual and not session.clock.granted:
        session.outbox.publish(session, at_once=True)  # a client waits for it
    return True


def _idle(session: Session, seconds: float) -> None:
    outbox = session.outbox
    if outbox.viewer is not None:
        outbox.publish(session)
    if session.bus_processes is not None and session.bus_processes.waiting_for_turn():
        session.bus_processes.wait(seconds)
    elif outbox.viewer is not None and seconds > 0.002:
        outbox.viewer.wait(seconds)
    else:
        time.sleep(seconds)


def reload_changed_programs(session: Session) -> None:
    """Reloads the programs whose files have changed."""
    for agent in session.cycle.agents:
        if not isinstance(agent, Program) or agent.spec.name in session.withheld:
            continue
        try:
            source = agent.changed_on_disk()
            if source is not None:
                session.send(ReloadProgram(agent.spec.name, source))
        except LinkworkError as error:
            session.log_error(error, source=agent.spec.name)
