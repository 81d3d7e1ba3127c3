"""MovementPlayer: plays a movement from a file."""

from __future__ import annotations

import math
from typing import ClassVar

import msgspec

from linkwork.components.agents import AgentContext
from linkwork.components.agents.lookup import find_dof, find_scope
from linkwork.components.agents.prescription import PrescribedSignal, Prescription
from linkwork.components.agents.program_source import ProgramFile
from linkwork.components.agents.reference import check_settable
from linkwork.components.agents.servo_limits import servo_limits
from linkwork.core.errors import FormatError
from linkwork.formats.movements import load_movement
from linkwork.model.blocks import SignalSpec, period_in_steps, read_params
from linkwork.model.parts import Spec
from linkwork.model.scene import Movement
from linkwork.model.world import World
from linkwork.motion.profiles.movement_profiles import movement_profiles


class MovementPlayerParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``MovementPlayer``.

    Attributes:
        file: The movement's file, relative to the file that names it.
        source: The file's text; with ``file`` as well, the file is not read but still named.
        movement: Name of the movement, if the file holds several.
        on: Part in which the joints' names are looked up first.
        start: When it begins [s]; until then it writes nothing.
        repeat: Whether to start again at the end, instead of staying in the last posture.
        speed: Relative speed, 1 for that of the file; also a signal.
        ramp: Duration of the transition from the present targets [s]; 0 to jump.
        period: Period [s], a whole multiple of the step; 0 for every step.
    """

    file: str = ""
    source: str | None = None
    movement: str = ""
    on: str = ""
    start: float = 0.0
    repeat: bool = False
    speed: float = 1.0
    ramp: float = 0.0
    period: float = 0.0


class MovementPlayer(Prescription):
    """Sets the targets of all joints of a movement, at one time of it.

    ``<name>.time`` [s] is that time at the end of the step, ``<name>.speed`` its rate; at speed 0
    the posture is held. Velocities and accelerations are those of the movement, so that in the
    modes ``kinematic`` and ``emulation`` joints have them exactly. With a period of several steps
    the targets are held between, and no velocities are known.
    Before ``start`` it owns nothing. If the movement has a planner, no joint exceeds its max_speed,
    nor the limits of its servo, at speed 1.

    Attributes:
        path: The movement's file, or None.
        source: The played text.
        movement: The movement.
    """

    type: ClassVar[str] = "movement"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, MovementPlayerParams)
        scope = find_scope(world, spec, params.on)
        super().__init__(world, spec, name, scope, params.start)
        self._params = params
        self.every = period_in_steps(params.period, world.scene.step, self.what, spec.origin)
        for each in ("start", "speed", "ramp"):
            value = getattr(params, each)
            if not (math.isfinite(value) and value >= 0.0):
                self._refuse(f"{each} must be a finite number of 0 or more, not {value:g}")
        if not params.file and params.source is None:
            self._refuse("it needs a 'file' or a 'source'")
        file = ProgramFile(params.file, spec.name, spec.origin) if params.file else None
        self.path = file.path if file else None
        if params.source is not None:
            text = params.source
        else:
            assert file is not None
            text = file.read()
        self.source = text
        self.movement = self._read(text)
        if params.repeat and self.movement.duration <= 0.0:
            self._refuse("to repeat, it needs postures at two times")
        self._dofs = {joint: self._find(joint) for joint in self.movement.joints()}
        self._courses = movement_profiles(
            self.movement,
            {name: servo_limits(world, dof) for name, dof in self._dofs.items()},
            {name: "rad" if world.dof_is_angle(dof) else "m" for name, dof in self._dofs.items()},
        )
        self._signals = [
            SignalSpec(f"{spec.name}.time", self.field("time"), (0,), "s", 0.0),
            SignalSpec(f"{spec.name}.speed", self.field("speed"), (0,), "", 0.0, direction="param"),
        ]

    def _refuse(self, why: str) -> None:
        raise FormatError(f"{self.what}: {why}.", origin=self.spec.origin)

    def _read(self, text: str) -> Movement:
        file = str(self.path) if self.path else f"{self.spec.name}.toml"
        return load_movement(file, self._params.movement, text=text, origin=self.spec.origin)

    def _find(self, joint: str) -> int:
        movement, world = self.movement, self.world
        origin = next(p.origin for p in movement.postures if joint in p.joints)
        dof = find_dof(world, joint, scope=self._scope, origin=origin)
        angle = world.dof_is_angle(dof)
        if joint in (movement.lengths if angle else movement.angles):
            raise FormatError(
                f"{self.what}: {joint} is {'an angle' if angle else 'a length'}, but is given in "
                f"{'mm or cm' if angle else 'degrees'}.",
                origin=origin,
            )
        return dof

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Time of the movement, its speed, the joints' first targets, seconds since then."""
        return {"time": (1,), "speed": (1,), "first": (len(self._dofs),), "since": (1,)}

    def reset(self) -> None:
        """Starts from the beginning."""
        self.slot("time")[0] = 0.0
        self.slot("speed")[0] = self._params.speed
        self.slot("first")[:] = 0.0
        self.slot("since")[0] = -1.0

    def start(self, context: AgentContext) -> None:
        """Finds the joints' targets.

        Raises:
            NameNotFound: If a joint has no target.
            SignalError: If the movement leaves the range of a target.
        """
        super().start(context)
        self._signals_set = []
        for joint, course in self._courses.items():
            prescribed = self.joint_signal(context, self._dofs[joint])
            if not (self.every == 1 and context.follows_exactly(prescribed.dof)):
                check_settable(
                    context, prescribed.signal.name, course.extent(), self.what, self.spec
                )
            self._signals_set.append((prescribed, course))

    def decide(self, step: int) -> None:
        """Sets the posture at the end of this step."""
        params, h = self._params, self.world.scene.step
        elapsed = self.elapsed
        if elapsed < 0.0:
            return
        now, since, first = self.slot("time"), self.slot("since"), self.slot("first")
        rate = float(self.slot("speed")[0])
        passed = self.every * h
        if since[0] < 0.0:
            since[0] = 0.0
            data = self.context.state.data
            first[:] = [data[each.signal.address] for each, _ in self._signals_set]
            passed = min(elapsed, h)
        since[0] += passed
        now[0] = self._wrapped(now[0] + passed * rate)
        share = since[0] / params.ramp if params.ramp > 0.0 else 1.0
        for number, (prescribed, course) in enumerate(self._signals_set):
            value, speed, change = course.motion(now[0])
            speed, change = rate * speed, rate * rate * change
            if share < 1.0:  # first + s (value − first), and its derivatives
                away, slope = value - first[number], 1.0 / params.ramp
                change = 2.0 * slope * speed + share * change
                speed = slope * away + share * speed
                value = first[number] + share * away
            self._write(prescribed, (float(value), speed, change))

    def _write(self, prescribed: PrescribedSignal, course: tuple[float, float, float]) -> None:
        signal, known = prescribed.signal, self.every == 1
        if not (known and self.context.follows_exactly(prescribed.dof)):
            value = min(max(course[0], signal.lo), signal.hi)  # rounding of the ends
            course = (value, *course[1:])
        self.write_course(prescribed, course, known=known)

    def _wrapped(self, time: float) -> float:
        end = self.movement.duration
        if not self._params.repeat:
            return min(time, end)
        left = math.fmod(time, end)
        return 0.0 if end - left < 1e-9 else left  # rounding may miss the end by a few bits
