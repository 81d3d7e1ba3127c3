"""ToolDrag: a tool, or any link, on its way to where a hand drags it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.errors import LinkworkError, SessionError
from linkwork.kinematics.columns import coordinates_of
from linkwork.motion import Reach
from linkwork.motion.reach import STILL
from linkwork.server import messages as m
from linkwork.server.host.door import Door, Tell
from linkwork.server.host.posture_steps import PostureSteps
from linkwork.session import messages as inbox
from linkwork.session.cycle import PERSON
from linkwork.session.session import Session
from linkwork.state import State

#: Whose movement of a hand, and which.
Gesture = tuple[str, int]

#: Short steps between two pictures while time stands, and how long each would last [s].
_STEPS, _DT = 4, 1.0 / 60.0
#: Least time between two steps while time runs [s].
_PERIOD = 0.008
#: After so many rounds that bring it no nearer by as much [m], what was let go has arrived.
_VAIN, _NEARER = 40, 1e-5


class ToolDrag:
    """Turns a drag into wishes for joints: the same that a hand on a joint has.

    While time runs it sets targets, as the person's; while it stands it moves the joints
    themselves. Both go in through the door and so into recordings: a replay needs no inverse
    kinematics.

    Args:
        session: The session.
        door: The way into it.
        tell: Tells clients something.
        postures: Keeps what can be undone.
        tell_undo: Tells every client what can be undone now.

    Attributes:
        reach: What is on its way; None for nothing.
        missed: How far from where it was dragged the tool has come to rest [m, rad]; zeros for a
            link, and once anything else is done.
    """

    def __init__(
        self, session: Session, door: Door, tell: Tell, postures: PostureSteps,
        tell_undo: Callable[[], object],
    ) -> None:  # fmt: skip
        self._session, self._door, self._tell = session, door, tell
        self._postures, self._tell_undo = postures, tell_undo
        self.stop()
        session.after_step.append(self._after_step)

    def stop(self) -> None:
        """Lets everything stay where it is now."""
        self.reach: Reach | None = None
        self.missed = (0.0, 0.0)
        self._gesture: Gesture = ("", 0)
        self._before: State | None = None
        self._undo: object = None
        self._held, self._last = False, 0.0
        self._best, self._vain = np.inf, 0

    def goes_on(self, gesture: Gesture) -> bool:
        """Whether a hand goes on with the movement under way."""
        return self.reach is not None and gesture == self._gesture and self._held

    def begin(self, gesture: Gesture, reach: Reach) -> None:
        """Begins a movement of a hand.

        Raises:
            SessionError: If a program drives the joints, or none of them has a drive.
        """
        self.stop()
        session = self._session
        if session.running:
            self._check_owners(reach)
        if reach.keep is not None:
            reach.keep.reset()
        self.reach, self._gesture, self._held = reach, gesture, True
        self._before, self._last = session.state.copy(), session.time - 1.0
        self._undo = self._postures.reached(gesture, reach.tip, session.state)

    def _check_owners(self, reach: Reach) -> None:
        signals, targets = self._session.signals, self._targets(reach)
        if not targets:
            raise SessionError(
                f"no joint that moves {reach.tip!r} has a drive.",
                hint="Pause, then drag it; or pull it with Ctrl.",
            )
        for name in targets:
            holder = signals.owners.get(name)
            if holder not in (None, PERSON):
                raise SessionError(f"{name!r} is owned by {holder!r}.", hint="Take it over first.")

    def _targets(self, reach: Reach) -> list[str]:
        """The inputs of the joints that may move."""
        world, signals = self._session.world, self._session.signals
        names = [f"{world.dof_name(int(d))}.target" for d in reach.solver.columns.dof]
        return [name for name in names if name in signals]

    def end(self, *, given_up: bool) -> None:
        """Lets go: the joints go on to where it left off, or back to where they were."""
        self._held = False
        reach, before, undo = self.reach, self._before, self._undo
        if not given_up or reach is None or before is None:
            return
        self.stop()
        if self._session.running:
            for dof in reach.solver.columns.dof.tolist():
                self._set(dof, float(before.target[dof]))
        else:
            self._door.apply(inbox.Restore(before.save()))
            self._undo = undo
            self._keep()
            self._undo = None

    def wanted(self) -> np.ndarray:
        """The posture as it is wanted: while time runs, driven joints where they are to go."""
        session, world = self._session, self._session.world
        q = session.state.q.copy()
        if session.running:
            coordinates = coordinates_of(world)
            for dof in np.flatnonzero(coordinates >= 0).tolist():
                if f"{world.dof_name(dof)}.target" in session.signals:
                    q[coordinates[dof]] = session.state.target[dof]
        return q

    # ---- step by step --------------------------------------------------------------------

    def look_after(self) -> None:
        """While time stands, moves on by some short steps."""
        if self.reach is not None and not self._session.running:
            self._guard(self._place, self.reach)

    def _after_step(self) -> None:
        reach, now = self.reach, self._session.time
        if reach is None or 0.0 <= now - self._last < _PERIOD:
            return
        self._last = now
        self._guard(self._want, reach)

    def _guard(self, act: Callable[[Reach], object], reach: Reach) -> None:
        """Moves on; what is refused ends the drag and is told to who drags."""
        try:
            act(reach)
        except LinkworkError as error:
            client = self._gesture[0]
            self.stop()
            self._tell(client, m.Refused("reach", str(error)))

    def _want(self, reach: Reach) -> None:
        """Sets the targets of the joints one step further."""
        q = self.wanted()
        there = reach.step(q, max(_PERIOD, self._session.cycle.h))
        coordinates = coordinates_of(self._session.world)
        for dof in np.flatnonzero(reach.solver.columns.col >= 0).tolist():
            if coordinates[dof] >= 0:
                self._set(dof, float(there[coordinates[dof]]))
        self._rest(reach, there, float(np.abs(there - q).max(initial=0.0)))

    def _rest(self, reach: Reach, q: np.ndarray, far: float) -> None:
        """Ends what has arrived or comes no nearer, unless the hand may still go on."""
        if self._held:
            return
        left = reach.left(q)
        self._vain = 0 if left < self._best - _NEARER else self._vain + 1
        self._best = min(left, self._best)
        if far < STILL or self._vain > _VAIN:
            missed = reach.miss(q) if reach.hand is None else (0.0, 0.0)
            self.stop()
            self.missed = missed

    def _set(self, dof: int, value: float) -> None:
        name = f"{self._session.world.dof_name(dof)}.target"
        signals = self._session.signals
        if name in signals:
            inside = min(max(value, signals[name].lo), signals[name].hi)
            if inside != signals.value(name):
                self._door.apply(inbox.Set(name, inside, PERSON))

    def _place(self, reach: Reach) -> None:
        """Moves the joints themselves on, by a few short steps."""
        before = self._session.state.q.copy()
        q, far = before, 0.0
        for _ in range(_STEPS):
            there = reach.step(q, _DT, speeds=False)
            far, q = float(np.abs(there - q).max(initial=0.0)), there
            if far < STILL:
                break
        joints = self._moved(before, q)
        if joints:
            self._door.apply(inbox.Arrange(joints))
            self._keep()
        self._rest(reach, q, far)

    def _moved(self, before: np.ndarray, q: np.ndarray) -> dict[str, list[float]]:
        """Coordinates of the joints that differ, within their ranges."""
        world, found = self._session.world, {}
        if (np.abs(q - before) < STILL).all():
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
        """Keeps what can be undone: one step for a movement of the hand."""
        words = self._postures.undo_words
        self._postures.keep(self._undo, self._session.state)  # type: ignore[arg-type]
        if words != self._postures.undo_words:
            self._tell_undo()
