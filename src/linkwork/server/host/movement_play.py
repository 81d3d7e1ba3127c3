"""MovementPlay: plays a movement on the robot of a running session, as a person's wishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from linkwork.agents.lookup import dof_signal
from linkwork.errors import LinkworkError, NameNotFound, SessionError, listing
from linkwork.scene.track import Course
from linkwork.server.host.door import Door
from linkwork.server.host.movement_robot import MovementRobot
from linkwork.session import messages as inbox
from linkwork.session.cycle import PERSON
from linkwork.session.session import Session

#: Least time between two wishes [s].
_PERIOD = 0.008
#: How long the robot may still settle in the last posture [s].
SETTLE = 0.5


class OwnedError(SessionError):
    """A program drives the joints."""


class MovementPlay:
    """Writes targets while time runs; all go in through the door and so into recordings.

    Args:
        session: The session.
        door: The way into it.
        failed: Called with what ended it early.

    Attributes:
        playing: Whether a movement is being played.
        time: Where in it [s].
    """

    def __init__(
        self, session: Session, door: Door, failed: Callable[[LinkworkError], object]
    ) -> None:
        self._session, self._door, self._failed = session, door, failed
        self.playing, self.time = False, 0.0
        self._ways: dict[str, Course] = {}
        self._end, self._begun, self._last, self._stood = 0.0, 0.0, 0.0, False
        session.after_step.append(self._after_step)

    def targets(
        self, robot: MovementRobot, joints: Mapping[str, object], *, take: bool
    ) -> dict[str, str]:
        """The inputs of joints, by joint, taken over; those of programs only with ``take``.

        Raises:
            OwnedError: If a program drives some of them.
            SessionError: If some have no drive.
        """
        session, world = self._session, self._session.world
        made: dict[str, str] = {}
        idle: list[str] = []
        for joint in joints:
            try:
                made[joint] = dof_signal(world, session.signals, robot.dofs[joint], "target")
            except NameNotFound:
                idle.append(joint)
        if idle:
            raise SessionError(
                f"{listing(idle)} cannot be driven.",
                hint="Pause, and move along the time line: then joints are placed without drives.",
            )
        owners = session.signals.owners
        owned = {name: owners.get(name) for name in made.values()}
        others = {name: who for name, who in owned.items() if who not in (None, "", PERSON)}
        if others and not take:
            who = listing(dict.fromkeys(str(each) for each in others.values()))
            raise OwnedError(f"{who} drives {len(others)} of these joints.", hint="Take them over.")
        for name, who in owned.items():
            if who != PERSON:  # also what nobody has yet: a program may come
                self._door.apply(inbox.Take(name, PERSON))
        return made

    def begin(
        self, robot: MovementRobot, ways: Mapping[str, Course], end: float, *, take: bool
    ) -> None:
        """Begins at the beginning; a robot that stands still is put into the first posture.

        Raises:
            LinkworkError: If joints have no drive, or a program drives them.
        """
        session = self._session
        self.stop()
        targets = self.targets(robot, ways, take=take)
        self._stood = not session.running
        if self._stood:
            first = {joint: float(way.value(0.0)) for joint, way in ways.items()}
            self._door.apply(inbox.Arrange(robot.arranged(session.state.q, first)))
        self._ways = {targets[joint]: way for joint, way in ways.items()}
        self._end, self._begun, self._last = end, session.time, session.time - 1.0
        self.playing, self.time = True, 0.0
        self._write()
        if self._stood:
            self._door.apply(inbox.Play())

    def stop(self) -> None:
        """Lets the robot stay on its way; time stands again where it stood before."""
        ended, self.playing = self.playing, False
        if ended and self._stood and self._session.running:
            self._door.apply(inbox.Pause())

    def leave_running(self) -> None:
        """Somebody wants time to run, whatever becomes of the movement."""
        self._stood = False

    def _after_step(self) -> None:
        if not self.playing:
            return
        now = self._session.time
        if now < self._begun - 1e-9:  # somebody went back in time
            return self.stop()
        passed = now - self._begun
        self.time = min(passed, self._end)
        if now - self._last >= _PERIOD - 1e-9 or passed >= self._end:
            self._last = now
            try:
                self._write()
            except LinkworkError as error:
                self.stop()
                self._failed(error)
                return
        if passed >= self._end + SETTLE:
            self.stop()

    def _write(self) -> None:
        signals = self._session.signals
        for name, way in self._ways.items():
            value = min(max(float(way.value(self.time)), signals[name].lo), signals[name].hi)
            if value != signals.value(name) or signals.owners.get(name) != PERSON:
                self._door.apply(inbox.Set(name, value, PERSON))
