"""Running: lets a session step as its clock says, and looks after its program files meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from linkwork.agents.program import Program
from linkwork.errors import LinkworkError, SessionError
from linkwork.session.durations import check_duration
from linkwork.session.messages import Reload

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: How often program files are looked at for changes [s].
WATCH_PERIOD = 0.5
#: How often progress is told [s].
PROGRESS_PERIOD = 0.1
#: Longest sleep before a session looks again whether it is to stop [s].
NAP = 0.02


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
    left = math.inf if duration is None else round(duration / h)
    shown = watched = -math.inf
    session.clock.restart()
    session.running, session.halted_by = True, ""
    while not session.stopping and left > 0:
        now = time.monotonic()
        if session.watch and now - watched > WATCH_PERIOD:
            watched = now
            look_after_files(session)
        if progress is not None and now - shown > PROGRESS_PERIOD:
            shown = now
            progress(session.time)
        session.take_in(in_order=True)
        if session.cycle.h != h:
            left = left if duration is None else round(left * h / session.cycle.h)
            h = session.cycle.h
        if session.halted_by and not session.running and not session.outbox.connected:
            raise _halted(session)  # nobody is there who could let it go on
        wait = _wait(session)
        if wait > 0.0:
            _idle(session, min(wait, NAP))
        elif _go(session):
            left -= 1


def _halted(session: Session) -> SessionError:
    return SessionError(
        f"bus {session.halted_by!r} has lost its controller, and its on_loss is pause: the "
        f"session stands at {session.time:g} s.",
        hint="Run it again to go on; hold, ramp, limp and stop do not stop time.",
    )


def _wait(session: Session) -> float:
    """How long until the next step is due [s]; endless while nobody hands one out."""
    if session.partners is not None and session.partners.lagging():
        return math.inf
    if session.by_hand:
        return 0.0 if session.clock.granted else math.inf
    return session.clock.pace(session.time)


def _go(session: Session) -> bool:
    """Does the step that is due; False if it failed while somebody watches."""
    by_hand = session.by_hand
    if by_hand:
        session.clock.granted -= 1
    try:
        session.advance()
    except LinkworkError:
        if not session.outbox.connected:
            raise
        return False
    if by_hand and not session.clock.granted and session.outbox.connected:
        session.outbox.publish(session, at_once=True)  # the partner waits for it
    return True


def _idle(session: Session, seconds: float) -> None:
    outbox = session.outbox
    if outbox.connected:
        outbox.publish(session)
    if session.partners is not None and session.partners.lagging():
        session.partners.wait(seconds)
    elif outbox.link is not None and seconds > 0.002:
        outbox.link.wait(seconds)
    else:
        time.sleep(seconds)


def look_after_files(session: Session) -> None:
    """Reloads the programs whose files have changed."""
    for agent in session.cycle.agents:
        if not isinstance(agent, Program):
            continue
        try:
            source = agent.changed_on_disk()
            if source is not None:
                session.send(Reload(agent.spec.name, source))
        except LinkworkError as error:
            session.say(str(error), level="error", source=agent.spec.name)
