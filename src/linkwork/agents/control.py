"""Control: the base of user programs."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.agents.chance import Chance
from linkwork.agents.desk import Desk
from linkwork.agents.handles import (
    CameraHandle,
    JointHandle,
    PortHandle,
    SensorHandle,
    SignalHandle,
)
from linkwork.agents.memory import Memory
from linkwork.agents.timers import Timer
from linkwork.errors import SessionError


class Control:
    """Base of a control program: a file with one class of this kind (001 §3).

    ::

        class Follow(Control):
            def init(self):
                self.joint("J2").on_change(self.follow)

            def follow(self, angle):
                self.joint("J3").value = angle

    A session that goes back in time restores :attr:`memory`, :attr:`random` and the timers,
    which live in its state; plain attributes of the program stay as they are. After a reload or
    a live edit of the scene a new object starts with :meth:`init`; only :attr:`memory` stays.
    """

    _desk: Desk | None = None

    def init(self) -> None:
        """Called once before the first step, and again after a reload."""

    def loop(self) -> None:
        """Called every control period."""

    def exit(self) -> None:
        """Called when the session ends, and before a reload."""

    def joint(self, name: str) -> JointHandle:
        """The joint ``name``, or one degree of freedom of it (``base.x``).

        Names are looked up in the program's part first, then in the whole scene, and then by
        their last segment where only one joint has it.
        """
        return self._place().joint(name)

    def signal(self, name: str) -> SignalHandle:
        """The signal ``name``, looked up as :meth:`joint` does."""
        return self._place().signal(name)

    def sensor(self, name: str) -> SensorHandle:
        """The sensor ``name``, looked up as :meth:`joint` does; its readings are attributes."""
        return self._place().sensor(name)

    def camera(self, name: str) -> CameraHandle:
        """The camera ``name``, looked up as :meth:`joint` does.

        ``self.camera("eye").colour()`` is its newest picture, an array; so are ``depth()`` and
        ``segmentation()``.
        """
        return self._place().camera(name)

    def port(self, name: str) -> PortHandle:
        """The port ``name`` of a bus, looked up as :meth:`joint` does.

        Its signals are attributes: ``self.port("elbow").target = 0.5``. A program that speaks to
        ports alone drives the virtual plant or the real one, as the scene's ``plant`` says.
        """
        return self._place().port(name)

    def every(self, period: float, call: Callable[[], object]) -> Timer:
        """Calls each ``period`` [s] from now, before :meth:`loop`.

        The period is a whole multiple of :attr:`step`.
        """
        return self._place().every(period, call)

    def after(self, delay: float, call: Callable[[], object]) -> Timer:
        """Calls once, ``delay`` [s] from now or at the control period that follows."""
        return self._place().after(delay, call)

    def say(self, text: object) -> None:
        """Shows a message to whoever watches the session."""
        desk = self._place()
        desk.bench.say(str(text), source=desk.owner)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._place().bench.time

    @property
    def step(self) -> float:
        """The control period [s]."""
        return self._place().period

    @property
    def memory(self) -> Memory:
        """Named numbers that the session saves, restores and keeps over a reload."""
        return self._place().memory

    @property
    def random(self) -> Chance:
        """Random numbers, the same in each run with the same seed."""
        return self._place().chance

    def _place(self) -> Desk:
        if self._desk is None:
            raise SessionError(
                f"{type(self).__name__} is not part of a session.",
                hint="Name its file in a scene: [[agent]] type = 'program', file = 'control.py'.",
            )
        return self._desk
