"""ToolDrag: drags a tool, or any link, to a target."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.core.errors import LinkworkError, SessionError
from linkwork.core.state import State
from linkwork.kinematics.columns import coordinates_of
from linkwork.motion import ReachSolver
from linkwork.motion.reach import CONVERGED
from linkwork.session import messages as inbox
from linkwork.session.cycle import USER
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.posture_edits import PostureHistory
from linkwork.studio.host.session_inbox import SendMessage, SessionInbox

#: Client and gesture number.
Gesture = tuple[str, int]

#: Number of short steps between two snapshots while paused, and the duration of each [s].
_STEPS, _DT = 4, 1.0 / 60.0
#: Minimum time between two steps while the session runs [s].
_PERIOD = 0.008
#: A released drag ends after this number of steps without this much progress [m].
_STALLED_STEPS, _MIN_PROGRESS = 40, 1e-5


class ToolDrag:
    """Turns a drag of the tool into joint targets.

    While the session runs it sets targets, owned by the user; while paused it sets the joints
    directly. Both go through the inbox and so into recordings: a replay needs no inverse
    kinematics.

    Args:
        session: The session.
        session_inbox: The inbox of the session.
        send: Sends a message to clients.
        postures: Undo history of postures.
        send_undo: Sends the undo state to every client.

    Attributes:
        reach: The solver of the drag, or None.
        missed: Remaining distance of the tool at rest from its target [m, rad]; zeros for a link,
            and after any other action.
    """

    def __init__(
        self,
        session: Session,
        session_inbox: SessionInbox,
        send: SendMessage,
        postures: PostureHistory,
        send_undo: Callable[[], object],
    ) -> None:
        self._session, self._session_inbox, self._send = session, session_inbox, send
        self._postures, self._send_undo = postures, send_undo
        self.stop()
        session.after_step.append(self._after_step)

    def stop(self) -> None:
        """Stops all joints."""
        self.reach: ReachSolver | None = None
        self.missed = (0.0, 0.0)
        self._gesture: Gesture = ("", 0)
        self._before: State | None = None
        self._undo: object = None
        self._held, self._last = False, 0.0
        self._best, self._stalled = np.inf, 0

    def goes_on(self, gesture: Gesture) -> bool:
        """Whether a gesture continues the drag in progress."""
        return self.reach is not None and gesture == self._gesture and self._held

    def begin(self, gesture: Gesture, reach: ReachSolver) -> None:
        """Begins a gesture.

        Raises:
            SessionError: If a program owns the joints, or none of them has a drive.
        """
        self.stop()
        session = self._session
        if session.running:
            self._check_owners(reach)
        if reach.avoidance is not None:
            reach.avoidance.reset()
        self.reach, self._gesture, self._held = reach, gesture, True
        self._before, self._last = session.state.copy(), session.time - 1.0
        self._undo = self._postures.reached(gesture, reach.tip, session.state)

    def _check_owners(self, reach: ReachSolver) -> None:
        signals, targets = self._session.signals, self._targets(reach)
        if not targets:
            raise SessionError(
                f"no joint that moves {reach.tip!r} has a drive.",
                hint="Pause, then drag it; or pull it with Ctrl.",
            )
        for name in targets:
            holder = signals.owners.get(name)
            if holder not in (None, USER):
                raise SessionError(f"{name!r} is owned by {holder!r}.", hint="Take it over first.")

    def _targets(self, reach: ReachSolver) -> list[str]:
        """The inputs of the joints that may move."""
        world, signals = self._session.world, self._session.signals
        names = [f"{world.dof_name(int(d))}.target" for d in reach.solver.columns.dof]
        return [name for name in names if name in signals]

    def end(self, *, cancelled: bool) -> None:
        """Releases: the joints continue to the target, or return to where they were."""
        self._held = False
        reach, before, undo = self.reach, self._before, self._undo
        if not cancelled or reach is None or before is None:
            return
        self.stop()
        if self._session.running:
            for dof in reach.solver.columns.dof.tolist():
                self._set(dof, float(before.target[dof]))
        else:
            self._session_inbox.apply(inbox.RestoreState(before.save()))
            self._undo = undo
            self._keep()
            self._undo = None

    def wanted(self) -> np.ndarray:
        """The wanted posture: while running, driven joints at their targets."""
        session, world = self._session, self._session.world
        q = session.state.q.copy()
        if session.running:
            coordinates = coordinates_of(world)
            for dof in np.flatnonzero(coordinates >= 0).tolist():
                if f"{world.dof_name(dof)}.target" in session.signals:
                    q[coordinates[dof]] = session.state.target[dof]
        return q

    # ---- step by step --------------------------------------------------------------------

    def poll(self) -> None:
        """While the session is paused, advances by some short steps."""
        if self.reach is not None and not self._session.running:
            self._guard(self._place, self.reach)

    def _after_step(self) -> None:
        reach, now = self.reach, self._session.time
        if reach is None or 0.0 <= now - self._last < _PERIOD:
            return
        self._last = now
        self._guard(self._want, reach)

    def _guard(self, act: Callable[[ReachSolver], object], reach: ReachSolver) -> None:
        """Runs a step; an error ends the drag and is sent to the dragging client."""
        try:
            act(reach)
        except LinkworkError as error:
            client = self._gesture[0]
            self.stop()
            self._send(client, m.Refused.of("reach", error))

    def _want(self, reach: ReachSolver) -> None:
        """Sets the joint targets one step further."""
        q = self.wanted()
        there = reach.step(q, max(_PERIOD, self._session.cycle.h))
        coordinates = coordinates_of(self._session.world)
        for dof in np.flatnonzero(reach.solver.columns.col >= 0).tolist():
            if coordinates[dof] >= 0:
                self._set(dof, float(there[coordinates[dof]]))
        self._rest(reach, there, float(np.abs(there - q).max(initial=0.0)))

    def _rest(self, reach: ReachSolver, q: np.ndarray, far: float) -> None:
        """Ends the drag when the tool has arrived or stalls, unless the gesture continues."""
        if self._held:
            return
        left = reach.left(q)
        self._stalled = 0 if left < self._best - _MIN_PROGRESS else self._stalled + 1
        self._best = min(left, self._best)
        if far < CONVERGED or self._stalled > _STALLED_STEPS:
            missed = reach.miss(q) if reach.hand is None else (0.0, 0.0)
            self.stop()
            self.missed = missed

    def _set(self, dof: int, value: float) -> None:
        name = f"{self._session.world.dof_name(dof)}.target"
        signals = self._session.signals
        if name in signals:
            inside = min(max(value, signals[name].lo), signals[name].hi)
            if inside != signals.value(name):
                self._session_inbox.apply(inbox.SetSignal(name, inside, USER))

    def _place(self, reach: ReachSolver) -> None:
        """Advances the joints directly, by a few short steps."""
        before = self._session.state.q.copy()
        q, far = before, 0.0
        for _ in range(_STEPS):
            there = reach.step(q, _DT, speeds=False)
            far, q = float(np.abs(there - q).max(initial=0.0)), there
            if far < CONVERGED:
                break
        joints = self._moved(before, q)
        if joints:
            self._session_inbox.apply(inbox.PlaceJoints(joints))
            self._keep()
        self._rest(reach, q, far)

    def _moved(self, before: np.ndarray, q: np.ndarray) -> dict[str, list[float]]:
        """Coordinates of the changed joints, within their ranges."""
        world, found = self._session.world, {}
        if (np.abs(q - before) < CONVERGED).all():
            return {}
        for joint, (body, name) in enumerate(
            zip(world.joint_body.tolist(), world.joint_names, strict=True)
        ):
            kind, first = world.joints[joint].kind, int(world.qadr[body])
            values = q[first : first + kind.nq]
            if (values == before[first : first + kind.nq]).all():
                continue
            if kind.nq == kind.nv:
                dofs = slice(int(world.vadr[body]), int(world.vadr[body]) + kind.nv)
                values = np.clip(values, world.dof_lo[dofs], world.dof_hi[dofs])
            found[name] = values.tolist()
        return found

    def _keep(self) -> None:
        """Adds an undo step, one per gesture."""
        words = self._postures.undo_words
        self._postures.keep(self._undo, self._session.state)  # type: ignore[arg-type]
        if words != self._postures.undo_words:
            self._send_undo()
