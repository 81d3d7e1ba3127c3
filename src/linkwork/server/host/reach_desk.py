"""ReachDesk: which tool of a running scene people drag, and how."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

import msgspec
import numpy as np

from linkwork.errors import LinkworkError, SessionError
from linkwork.kinematics import Damping
from linkwork.motion import Aim, Avoidance, Reach
from linkwork.motion.chains import chain_of
from linkwork.motion.reach import EDGE
from linkwork.server import messages as m
from linkwork.server.host.door import Door, Tell
from linkwork.server.host.near import surroundings
from linkwork.server.host.posture_steps import PostureSteps
from linkwork.server.host.reach_view import ReachView
from linkwork.server.host.tool_drag import ToolDrag
from linkwork.session.session import Session
from linkwork.spatial.pose import Pose
from linkwork.state import State


class ReachDesk:
    """Chooses the tool and its aims, makes the mathematics ready, and takes drags in.

    Args:
        session: The session.
        door: The way into it.
        tell: Tells clients something.
        postures: Keeps what can be undone.
        tell_undo: Tells every client what can be undone now.

    Attributes:
        setup: How the tool is dragged; None while none is.
        reach: The live inverse kinematics; None until they are ready.
        drag: What is on its way.
    """

    def __init__(
        self, session: Session, door: Door, tell: Tell, postures: PostureSteps,
        tell_undo: Callable[[], object],
    ) -> None:  # fmt: skip
        self._session, self._tell = session, tell
        self.setup: m.ReachSetup | None = None
        self.reach: Reach | None = None
        self.drag = ToolDrag(session, door, tell, postures, tell_undo)
        self._making: Future[Reach] | None = None
        self._asker = ""
        self._view, self._jumps = ReachView(), 0

    def set_up(self, client: str, setup: m.ReachSetup | None) -> None:
        """Chooses the tool, what comes first, and how it is damped.

        Raises:
            LinkworkError: If something that it names is not there.
        """
        if setup is not None:
            try:
                self._check(setup)
                if self._is_live(setup):
                    self._check_ellipsoid(setup)
            except LinkworkError:
                self._tell(client, self.told)  # the page shows what was asked for
                raise
        live = self._is_live(setup)
        self.setup, self._asker = setup, client
        if setup is None:
            self.drag.stop()
            self.reach = self._making = None
        elif live and self.reach is not None:
            self.reach.damping = _damping(setup)
            self.reach.keep = self._keep(setup)
        else:
            self.drag.stop()
            self._make(setup)
        self._tell("", self.told)

    def _is_live(self, setup: m.ReachSetup | None) -> bool:
        """Whether the mathematics there are do for a setup, too."""
        return (
            setup is not None
            and self.reach is not None
            and self.setup is not None
            and _alike(self.setup, setup)
        )

    def _check_ellipsoid(self, setup: m.ReachSetup) -> None:
        """Refuses an ellipsoid that needs masses where there are none."""
        assert self.reach is not None
        self.reach.ellipsoid(self._session.state.q, setup.ellipsoid)

    def _check(self, setup: m.ReachSetup) -> None:
        world = self._session.world
        chain = chain_of(world, setup.tip)
        if not chain:
            raise SessionError(f"{setup.tip!r} hangs on no joint that moves.")
        if setup.first and setup.first not in chain:
            raise SessionError(
                f"{setup.first!r} does not carry {setup.tip!r}.",
                hint=f"Those that do: {', '.join(chain)}.",
            )
        if not setup.aims:
            raise SessionError("reaching wants nothing.", hint="Switch one of its aims on.")
        for aim in setup.aims:
            if aim.kind == "point":
                world.frame(aim.frame)

    def _make(self, setup: m.ReachSetup) -> None:
        """Makes the mathematics ready in the background: kernels may have to be compiled."""
        self.reach, self._making = None, Future()
        job = self._making, setup, self._session.state.q.copy()
        threading.Thread(target=self._work, args=job, name="linkwork-reach", daemon=True).start()

    def _work(self, made: Future[Reach], setup: m.ReachSetup, q: np.ndarray) -> None:
        try:
            reach = self._build(setup, q, _aims(setup))
            for speeds in (True, False):
                reach.step(q, 0.01, speeds=speeds)
            reach.ellipsoid(q)
        except BaseException as error:  # handed to whoever waits
            made.set_exception(error)
        else:
            made.set_result(reach)

    def _build(
        self, setup: m.ReachSetup, q: np.ndarray, aims: list[Aim], joints: list[str] | None = None
    ) -> Reach:
        return Reach(
            self._session.world, setup.tip, aims, point=setup.point, q=q, first=setup.first,
            joints=joints, damping=_damping(setup), keep=self._keep(setup),
        )  # fmt: skip

    def _keep(self, setup: m.ReachSetup) -> Avoidance | None:
        if setup.keep is None:
            return None
        world = self._session.world
        return surroundings(world, setup.tip, distance=setup.keep, itself=setup.itself)

    @property
    def told(self) -> m.Reaching:
        """How the tool is dragged, as clients are told."""
        if self.setup is None:
            return m.Reaching(None, [], [], [])
        chain = chain_of(self._session.world, self.setup.tip)
        if self.reach is None:
            return m.Reaching(self.setup, chain, [], [])
        return m.Reaching(self.setup, chain, self.reach.joints, self.reach.columns)

    def enter(self) -> None:
        """Begins with an edited world; a tool that it has no more is let go."""
        self.drag.stop()
        setup, self.reach, self._making = self.setup, None, None
        if setup is not None:
            try:
                self._check(setup)
                self._make(setup)
            except LinkworkError:
                self.setup = None

    def jump(self) -> None:
        """The robot is put elsewhere: the tool has not gone the way between."""
        self._jumps += 1

    def begin_anew(self) -> None:
        """The first state is the present one: aims that keep to a posture keep to that one."""
        self.drag.stop()
        setup, q = self.setup, self._session.state.q
        if setup is not None and self.reach is not None:
            self.reach = self._build(setup, q, _aims(setup))
        elif setup is not None:
            self._make(setup)

    def look_after(self) -> None:
        """Takes over what was made ready, and moves on what is dragged while time stands."""
        making = self._making
        if making is not None and making.done():
            self._making, error = None, making.exception()
            if error is None:
                self.reach = making.result()
                self._warn_of_ellipsoid()
            else:
                self.setup = None
                self._tell(self._asker, m.Refused("set_reach", _words(error)))
            self._tell("", self.told)
        self.drag.look_after()

    def _warn_of_ellipsoid(self) -> None:
        """Says why a new tool has none of the ellipsoids that were chosen for the last one."""
        try:
            if self.setup is not None:
                self._check_ellipsoid(self.setup)
        except LinkworkError as error:
            self._session.say(
                f"no ellipsoid is shown: {error}", level="warning", source="reach"
            )  # fmt: skip

    def take(self, client: str, message: m.Reach) -> None:
        """Wants the tool, or a point of a link, somewhere.

        Raises:
            LinkworkError: If nothing can be dragged, or a program drives the joints.
        """
        setup, reach = self.setup, self.reach
        if setup is None:
            raise SessionError("no tool is chosen.", hint="Choose one under Reach.")
        if reach is None:
            raise SessionError("inverse kinematics are being made ready. A moment, please.")
        gesture = (client, message.gesture)
        if not self.drag.goes_on(gesture):
            self.drag.begin(gesture, self._dragged(setup, reach, message))
        assert self.drag.reach is not None
        if message.frame:
            self.drag.reach.pull(message.pose[:3])
        else:
            self.drag.reach.aim(Pose.of(message.pose[:3], quat=message.pose[3:]))

    def _dragged(self, setup: m.ReachSetup, reach: Reach, message: m.Reach) -> Reach:
        """What a movement of a hand drags: the tool, or a link that it has hold of."""
        world, signals = self._session.world, self._session.signals
        driven = reach.joints
        if self._session.running and not world.loop_names:  # what has no drive goes nowhere
            dofs = {name: world.dofs(name) for name in driven}
            driven = [
                name
                for name in driven
                if any(f"{world.dof_name(dof)}.target" in signals for dof in dofs[name])
            ]
        if not message.frame and driven == reach.joints:
            return reach
        aims = _with_hand(setup, message.frame, message.point) if message.frame else _aims(setup)
        joints = None if message.frame and driven == reach.joints else driven
        return self._build(setup, self.drag.wanted(), aims, joints)

    def block(self, kind: int, state: State) -> bytes:
        """What viewers see of the tool and of what is near, by kind of block."""
        reach, setup = self.reach, self.setup
        if reach is None or setup is None:
            return b""
        if kind == m.NEAR:
            return self._view.near(reach, setup, state)
        return self._view.tool(reach, setup, state, self.drag, self._jumps)


def _damping(setup: m.ReachSetup) -> Damping:
    return Damping(setup.damping, setup.damping_value, EDGE)


def _aims(setup: m.ReachSetup) -> list[Aim]:
    return [Aim(a.kind, a.priority, a.weight, a.frame, a.point) for a in setup.aims]


def _alike(a: m.ReachSetup, b: m.ReachSetup) -> bool:
    """Whether two setups differ only in what can be changed between two steps."""
    live = {
        name: getattr(a, name)
        for name in ("damping", "damping_value", "keep", "itself", "hold", "ellipsoid")
    }
    return msgspec.structs.replace(b, **live) == a


def _with_hand(setup: m.ReachSetup, frame: str, point: m.Triple) -> list[Aim]:
    """What a hand on a link wants: its point at the hand, behind a tool that is to stay."""
    tool = [a for a in _aims(setup) if a.kind in ("position", "orientation")]
    rest = [a for a in setup.aims if a.kind not in ("position", "orientation")]
    return [
        *(Aim(a.kind, 0, a.weight) for a in (tool if setup.hold else [])),
        Aim("hand", 1, frame=frame, point=point),
        *(Aim(a.kind, a.priority + 2, a.weight, a.frame, a.point) for a in rest),
    ]


def _words(error: BaseException) -> str:
    if isinstance(error, LinkworkError):
        return str(error)
    return f"the tool cannot be dragged: {type(error).__name__}: {error}."
