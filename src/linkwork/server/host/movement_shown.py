"""MovementShown: a posture of a movement on the robot, and what hands move of it."""

from __future__ import annotations

import contextlib

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.server.host.door import Door
from linkwork.server.host.movement_play import MovementPlay
from linkwork.server.host.movement_source import driven
from linkwork.server.host.movement_work import MovementWork
from linkwork.server.host.posture_steps import PostureSteps
from linkwork.server.host.timeline import Timeline
from linkwork.session import messages as inbox
from linkwork.session.cycle import PERSON
from linkwork.session.session import Session

#: A joint that is moved by less has not been moved [rad or m].
_STILL = 1e-9


class MovementShown:
    """Gives the robot the selected posture, or the movement at a time.

    Args:
        session: The session.
        door: The way into it.
        work: What is edited.
        play: Plays it.
        postures: Keeps what can be undone of postures that are in no movement.
        timeline: The instant that is looked at.
    """

    def __init__(
        self, session: Session, door: Door, work: MovementWork, play: MovementPlay,
        postures: PostureSteps, timeline: Timeline,
    ) -> None:  # fmt: skip
        self._session, self._door, self._work = session, door, work
        self._play, self._postures, self._time = play, postures, timeline
        self._seen: tuple[int, np.ndarray] | None = None

    @property
    def editing(self) -> bool:
        """Whether the robot has the selected posture, so that what a hand moves goes into it."""
        session = self._session
        return (
            self._seen is not None and self._work.now.selected >= 0 and not session.running
            and not self._play.playing and session.state.step == self._seen[0]
        )  # fmt: skip

    def lose(self) -> bool:
        """The robot has another posture now; returns whether that is news."""
        seen, self._seen = self._seen, None
        return seen is not None

    def edited(self) -> None:
        """Gives the robot the selected posture where nothing else is changed by it.

        While time runs nothing is driven that nobody asked to be, and while the past is looked at
        the present stays as it is.
        """
        if self._session.running or self._time.past is not None:
            self.lose()
            return
        with contextlib.suppress(LinkworkError):  # the movement is edited, wherever the robot is
            self.selected()

    def selected(self) -> None:
        """Gives the robot the selected posture.

        Raises:
            LinkworkError: If a program drives the joints.
        """
        now, self._seen = self._work.now, None
        if now.movement is None or not 0 <= now.selected < len(now.movement.postures):
            return
        self._play.time = now.movement.postures[now.selected].time
        self.at(self._play.time)
        if not self._session.running:
            self._postures.forget()
            state = self._session.state
            self._seen = state.step, state.q.copy()

    def at(self, time: float) -> None:
        """Gives the robot the movement's posture at a time: itself, or where it is to go.

        Raises:
            LinkworkError: If a program drives the joints.
        """
        session, robot = self._session, self._work.robot
        values = {joint: float(way.value(time)) for joint, way in self._work.ways()[0].items()}
        if not session.running:
            self._door.apply(inbox.Arrange(robot.arranged(session.state.q, values)))
            return
        for joint, name in self._play.targets(robot, values, take=False).items():
            signal = session.signals[name]
            inside = min(max(values[joint], signal.lo), signal.hi)
            self._door.apply(inbox.Set(name, inside, PERSON))

    def moved(self) -> dict[str, float]:
        """What hands have moved since the last look, by joint."""
        if self._seen is None or not self.editing:
            return {}
        q, before = self._session.state.q, self._seen[1]
        if (np.abs(q - before) <= _STILL).all():
            return {}
        robot = self._work.robot
        had, has = robot.values(before), robot.values(q)
        self._seen = self._seen[0], q.copy()
        kept = {*driven(self._session, robot), *self._work.movement.joints()}
        return {name: has[name] for name in has if has[name] != had[name] and name in kept}
