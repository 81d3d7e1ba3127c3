"""Movement playback: a movement, or one posture of it, on the robot."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping

import numpy as np

from linkwork.components.agents.lookup import dof_signal
from linkwork.core.errors import LinkworkError, NameNotFound, SessionError, listing
from linkwork.model.scene.movement import Trajectory
from linkwork.session import messages as inbox
from linkwork.session.cycle import USER
from linkwork.session.session import Session
from linkwork.studio.host.movement_model import MovementModel
from linkwork.studio.host.movement_robot import MovementRobot, driven_joints
from linkwork.studio.host.posture_edits import PostureHistory
from linkwork.studio.host.session_inbox import SessionInbox
from linkwork.studio.host.timeline import Timeline

#: Minimum period of targets [s].
_PERIOD = 0.008
#: Time for the robot to settle in the last posture [s].
SETTLE = 0.5


class JointOwnedError(SessionError):
    """A program owns the joints."""


class MovementPlayback:
    """Writes targets while the session runs, through the inbox and thus into recordings.

    Args:
        session: The session.
        session_inbox: The inbox of the session.
        failed: Called with the error that ended playback early.

    Attributes:
        playing: Whether a movement is being played.
        time: Playback time [s].
    """

    def __init__(
        self,
        session: Session,
        session_inbox: SessionInbox,
        failed: Callable[[LinkworkError], object],
    ) -> None:
        self._session, self._session_inbox, self._failed = session, session_inbox, failed
        self.playing, self.time = False, 0.0
        self._trajectories: dict[str, Trajectory] = {}
        self._end, self._begun, self._last, self._stood = 0.0, 0.0, 0.0, False
        session.after_step.append(self._after_step)

    def targets(
        self, robot: MovementRobot, joints: Mapping[str, object], *, take: bool
    ) -> dict[str, str]:
        """Takes over the inputs of joints and returns them by joint; owned ones only with ``take``.

        Raises:
            JointOwnedError: If a program owns some of them.
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
        others = {name: who for name, who in owned.items() if who not in (None, "", USER)}
        if others and not take:
            who = listing(dict.fromkeys(str(each) for each in others.values()))
            raise JointOwnedError(
                f"{who} drives {len(others)} of these joints.", hint="Take them over."
            )
        for name, who in owned.items():
            if who != USER:  # also inputs without owner, since a program may take them later
                self._session_inbox.apply(inbox.TakeSignal(name, USER))
        return made

    def begin(
        self, robot: MovementRobot, tracks: Mapping[str, Trajectory], end: float, *, take: bool
    ) -> None:
        """Starts playback; in a paused session the robot is set to the first posture.

        Raises:
            LinkworkError: If joints have no drive, or a program owns them.
        """
        session = self._session
        self.stop()
        targets = self.targets(robot, tracks, take=take)
        self._stood = not session.running
        if self._stood:
            first = {joint: float(trajectory.value(0.0)) for joint, trajectory in tracks.items()}
            self._session_inbox.apply(inbox.PlaceJoints(robot.arranged(session.state.q, first)))
        self._trajectories = {targets[joint]: trajectory for joint, trajectory in tracks.items()}
        self._end, self._begun, self._last = end, session.time, session.time - 1.0
        self.playing, self.time = True, 0.0
        self._write()
        if self._stood:
            self._session_inbox.apply(inbox.StartClock())

    def stop(self) -> None:
        """Stops playback, and pauses the session if it was paused before."""
        ended, self.playing = self.playing, False
        if ended and self._stood and self._session.running:
            self._session_inbox.apply(inbox.PauseClock())

    def leave_running(self) -> None:
        """Keeps the session running when playback ends."""
        self._stood = False

    def _after_step(self) -> None:
        if not self.playing:
            return
        now = self._session.time
        if now < self._begun - 1e-9:  # the state was reset or an earlier one restored
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
        for name, trajectory in self._trajectories.items():
            value = min(max(float(trajectory.value(self.time)), signals[name].lo), signals[name].hi)
            if value != signals.value(name) or signals.owners.get(name) != USER:
                self._session_inbox.apply(inbox.SetSignal(name, value, USER))


#: Smallest joint displacement that counts as moved [rad or m].
_STILL = 1e-9


class MovementPreview:
    """Shows the selected posture, or the movement at a time, on the robot.

    Args:
        session: The session.
        session_inbox: The inbox of the session.
        work: The edited movement.
        play: Plays it.
        postures: Undo history of postures that belong to no movement.
        timeline: The displayed instant.
    """

    def __init__(
        self,
        session: Session,
        session_inbox: SessionInbox,
        work: MovementModel,
        play: MovementPlayback,
        postures: PostureHistory,
        timeline: Timeline,
    ) -> None:
        self._session, self._session_inbox, self._work = session, session_inbox, work
        self._play, self._postures, self._time = play, postures, timeline
        self._seen: tuple[int, np.ndarray] | None = None

    @property
    def editing(self) -> bool:
        """Whether the robot has the selected posture, so that drags by hand edit it."""
        session = self._session
        return (
            self._seen is not None and self._work.now.selected >= 0 and not session.running
            and not self._play.playing and session.state.step == self._seen[0]
        )  # fmt: skip

    def lose(self) -> bool:
        """Ends the preview; returns whether there was one."""
        seen, self._seen = self._seen, None
        return seen is not None

    def edited(self) -> None:
        """Shows the selected posture on the robot if that has no side effects.

        A running session is left alone, and the present state is kept while the past is displayed.
        """
        if self._session.running or self._time.past is not None:
            self.lose()
            return
        with contextlib.suppress(LinkworkError):  # the edit is valid in any state of the robot
            self.selected()

    def selected(self) -> None:
        """Shows the selected posture on the robot.

        Raises:
            LinkworkError: If a program owns the joints.
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
        """Shows the movement at a time: sets the joints, or their targets while running.

        Raises:
            LinkworkError: If a program owns the joints.
        """
        session, robot = self._session, self._work.robot
        tracks, _ = self._work.tracks()
        values = {joint: float(track.value(time)) for joint, track in tracks.items()}
        if not session.running:
            self._session_inbox.apply(inbox.PlaceJoints(robot.arranged(session.state.q, values)))
            return
        for joint, name in self._play.targets(robot, values, take=False).items():
            signal = session.signals[name]
            inside = min(max(values[joint], signal.lo), signal.hi)
            self._session_inbox.apply(inbox.SetSignal(name, inside, USER))

    def moved(self) -> dict[str, float]:
        """Joint values changed by hand since the last call, by joint."""
        if self._seen is None or not self.editing:
            return {}
        q, before = self._session.state.q, self._seen[1]
        if (np.abs(q - before) <= _STILL).all():
            return {}
        robot = self._work.robot
        had, has = robot.values(before), robot.values(q)
        self._seen = self._seen[0], q.copy()
        kept = {*driven_joints(self._session, robot), *self._work.movement.joints()}
        return {name: has[name] for name in has if has[name] != had[name] and name in kept}
