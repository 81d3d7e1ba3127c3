"""ReachEditor: the dragged tool of a running scene and its settings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

import msgspec
import numpy as np

from linkwork.core.errors import LinkworkError, SessionError
from linkwork.core.state import State
from linkwork.geometry.pose import Pose
from linkwork.kinematics import Damping
from linkwork.motion import Avoidance, ReachGoal, ReachSolver
from linkwork.motion.reach import EDGE, joints_to
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.posture_edits import PostureHistory
from linkwork.studio.host.reach_view import ReachView, surroundings
from linkwork.studio.host.session_inbox import SendMessage, SessionInbox
from linkwork.studio.host.tool_drag import ToolDrag


class ReachEditor:
    """Chooses the tool and its goals, prepares the solver, and handles drags.

    Args:
        session: The session.
        session_inbox: The inbox of the session.
        send: Sends a message to clients.
        postures: Undo history of postures.
        send_undo: Sends the undo state to every client.

    Attributes:
        setup: Settings of the dragged tool, or None.
        reach: The inverse kinematics solver; None until it is prepared.
        drag: The drag in progress.
    """

    def __init__(
        self,
        session: Session,
        session_inbox: SessionInbox,
        send: SendMessage,
        postures: PostureHistory,
        send_undo: Callable[[], object],
    ) -> None:
        self._session, self._send = session, send
        self.setup: m.ReachSetup | None = None
        self.reach: ReachSolver | None = None
        self.drag = ToolDrag(session, session_inbox, send, postures, send_undo)
        self._making: Future[ReachSolver] | None = None
        self._requester = ""
        self._view, self._jumps = ReachView(), 0

    def set_up(self, client: str, setup: m.ReachSetup | None) -> None:
        """Sets the tool, its goals and their priorities, and the damping.

        Raises:
            LinkworkError: If the setup names an object that does not exist.
        """
        if setup is not None:
            try:
                self._check(setup)
                if self._is_live(setup):
                    self._check_ellipsoid(setup)
            except LinkworkError:
                self._send(client, self.state_message)  # the page shows the refused setup
                raise
        live = self._is_live(setup)
        self.setup, self._requester = setup, client
        if setup is None:
            self.drag.stop()
            self.reach = self._making = None
        elif live and self.reach is not None:
            self.reach.damping = _damping(setup)
            self.reach.avoidance = self._keep(setup)
        else:
            self.drag.stop()
            self._make(setup)
        self._send("", self.state_message)

    def _is_live(self, setup: m.ReachSetup | None) -> bool:
        """Whether the current solver can be used for a setup."""
        return (
            setup is not None
            and self.reach is not None
            and self.setup is not None
            and _is_same_setup(self.setup, setup)
        )

    def _check_ellipsoid(self, setup: m.ReachSetup) -> None:
        """Raises an error if the ellipsoid needs masses and there are none."""
        assert self.reach is not None
        self.reach.ellipsoid(self._session.state.q, setup.ellipsoid)

    def _check(self, setup: m.ReachSetup) -> None:
        world = self._session.world
        chain = joints_to(world, setup.tip)
        if not chain:
            raise SessionError(f"{setup.tip!r} is not carried by a joint that moves.")
        if setup.first and setup.first not in chain:
            raise SessionError(
                f"{setup.first!r} does not carry {setup.tip!r}.",
                hint=f"Those that do: {', '.join(chain)}.",
            )
        if not setup.aims:
            raise SessionError("no goal is set.", hint="Switch on one of the goals.")
        for aim in setup.aims:
            if aim.kind == "point":
                world.frame(aim.frame)

    def _make(self, setup: m.ReachSetup) -> None:
        """Prepares the solver in the background, since kernels may have to be compiled."""
        self.reach, self._making = None, Future()
        job = self._making, setup, self._session.state.q.copy()
        threading.Thread(target=self._work, args=job, name="linkwork-reach", daemon=True).start()

    def _work(self, made: Future[ReachSolver], setup: m.ReachSetup, q: np.ndarray) -> None:
        try:
            reach = self._build(setup, q, _aims(setup))
            for speeds in (True, False):
                reach.step(q, 0.01, speeds=speeds)
            reach.ellipsoid(q)
        except BaseException as error:  # raised where the result is read
            made.set_exception(error)
        else:
            made.set_result(reach)

    def _build(
        self,
        setup: m.ReachSetup,
        q: np.ndarray,
        aims: list[ReachGoal],
        joints: list[str] | None = None,
    ) -> ReachSolver:
        return ReachSolver(
            self._session.world, setup.tip, aims, point=setup.point, q=q, first=setup.first,
            joints=joints, damping=_damping(setup), avoidance=self._keep(setup),
        )  # fmt: skip

    def _keep(self, setup: m.ReachSetup) -> Avoidance | None:
        if setup.keep is None:
            return None
        world = self._session.world
        return surroundings(world, setup.tip, distance=setup.keep, itself=setup.itself)

    @property
    def state_message(self) -> m.ReachState:
        """The state message for clients."""
        if self.setup is None:
            return m.ReachState(None, [], [], [])
        chain = joints_to(self._session.world, self.setup.tip)
        if self.reach is None:
            return m.ReachState(self.setup, chain, [], [])
        return m.ReachState(self.setup, chain, self.reach.joints, self.reach.columns)

    def enter(self) -> None:
        """Starts with an edited world; a tool that no longer exists is dropped."""
        self.drag.stop()
        setup, self.reach, self._making = self.setup, None, None
        if setup is not None:
            try:
                self._check(setup)
                self._make(setup)
            except LinkworkError:
                self.setup = None

    def jump(self) -> None:
        """Interrupts the trace of the tool, since the robot's coordinates were set directly."""
        self._jumps += 1

    def restart(self) -> None:
        """Uses the present posture as the reference of posture goals."""
        self.drag.stop()
        setup, q = self.setup, self._session.state.q
        if setup is not None and self.reach is not None:
            self.reach = self._build(setup, q, _aims(setup))
        elif setup is not None:
            self._make(setup)

    def poll(self) -> None:
        """Takes over a prepared solver; while paused, advances the dragged joints."""
        making = self._making
        if making is not None and making.done():
            self._making, error = None, making.exception()
            if error is None:
                self.reach = making.result()
                self._warn_of_ellipsoid()
            else:
                self.setup = None
                self._send(self._requester, m.Refused.of("set_reach", _reportable(error)))
            self._send("", self.state_message)
        self.drag.poll()

    def _warn_of_ellipsoid(self) -> None:
        """Logs why the ellipsoid chosen before cannot be shown for a new tool."""
        try:
            if self.setup is not None:
                self._check_ellipsoid(self.setup)
        except LinkworkError as error:
            text = f"no ellipsoid is shown: {error.message}"
            known = SessionError(text, origin=error.origin, hint=error.hint)
            self._session.log_error(known, level="warning", source="reach")

    def take(self, client: str, message: m.DragTool) -> None:
        """Sets the target of the tool, or of a point of a link.

        Raises:
            LinkworkError: If nothing can be dragged, or a program owns the joints.
        """
        setup, reach = self.setup, self.reach
        if setup is None:
            raise SessionError("no tool is chosen.", hint="Choose one under Reach.")
        if reach is None:
            raise SessionError("the inverse kinematics solver is being prepared. Try again.")
        gesture = (client, message.gesture)
        if not self.drag.goes_on(gesture):
            self.drag.begin(gesture, self._dragged(setup, reach, message))
        assert self.drag.reach is not None
        if message.frame:
            self.drag.reach.pull(message.pose[:3])
        else:
            self.drag.reach.set_target(Pose.of(message.pose[:3], quat=message.pose[3:]))

    def _dragged(self, setup: m.ReachSetup, reach: ReachSolver, message: m.DragTool) -> ReachSolver:
        """The solver for a gesture: that of the tool, or one for a dragged link."""
        world, signals = self._session.world, self._session.signals
        driven = reach.joints
        if self._session.running and not world.loop_names:  # joints without drive do not move
            dofs = {name: world.dofs(name) for name in driven}
            driven = [
                name
                for name in driven
                if any(f"{world.dof_name(dof)}.target" in signals for dof in dofs[name])
            ]
        if not message.frame and driven == reach.joints:
            return reach
        aims = (
            _with_hand_target(setup, message.frame, message.point)
            if message.frame
            else _aims(setup)
        )
        joints = None if message.frame and driven == reach.joints else driven
        return self._build(setup, self.drag.wanted(), aims, joints)

    def block(self, kind: int, state: State) -> bytes:
        """The block of a kind about the tool or its surroundings, for viewers."""
        reach, setup = self.reach, self.setup
        if reach is None or setup is None:
            return b""
        if kind == m.NEAR:
            return self._view.near(reach, setup, state)
        return self._view.tool(reach, setup, state, self.drag, self._jumps)


def _damping(setup: m.ReachSetup) -> Damping:
    return Damping(setup.damping, setup.damping_value, EDGE)


def _aims(setup: m.ReachSetup) -> list[ReachGoal]:
    return [ReachGoal(a.kind, a.priority, a.weight, a.frame, a.point) for a in setup.aims]


def _is_same_setup(a: m.ReachSetup, b: m.ReachSetup) -> bool:
    """Whether two setups differ only in settings that can change between two steps."""
    live = {
        name: getattr(a, name)
        for name in ("damping", "damping_value", "keep", "itself", "hold", "ellipsoid")
    }
    return msgspec.structs.replace(b, **live) == a


def _with_hand_target(setup: m.ReachSetup, frame: str, point: m.Triple) -> list[ReachGoal]:
    """Goals for dragging a link: its point follows the hand, after a tool to be held."""
    tool = [a for a in _aims(setup) if a.kind in ("position", "orientation")]
    rest = [a for a in setup.aims if a.kind not in ("position", "orientation")]
    return [
        *(ReachGoal(a.kind, 0, a.weight) for a in (tool if setup.hold else [])),
        ReachGoal("hand", 1, frame=frame, point=point),
        *(ReachGoal(a.kind, a.priority + 2, a.weight, a.frame, a.point) for a in rest),
    ]


def _reportable(error: BaseException) -> LinkworkError:
    if isinstance(error, LinkworkError):
        return error
    return SessionError(f"the tool cannot be dragged: {type(error).__name__}: {error}.")
