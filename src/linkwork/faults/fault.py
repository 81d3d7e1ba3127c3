"""Fault: something that goes wrong on purpose, when its rule or a person says so."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar

import msgspec

from linkwork.agents.chance import Chance
from linkwork.blocks import Block, SignalSpec, read_params
from linkwork.errors import FormatError, SceneError
from linkwork.parts import Spec
from linkwork.signals import Signal
from linkwork.state import State
from linkwork.world import World

#: A time [s].
Time = Annotated[float, msgspec.Meta(ge=0.0, le=1e9)]
Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

#: Rows of a fault's memory: at most so many signals are struck by one fault.
ROWS, COLUMNS = 8, 5
#: Memory of a fault's timing: whether it is at work, until when [s], how often it began, whether
#: its rule has been used up, and which fault this is.
ACTIVE, UNTIL, COUNT, SPENT, STAMP = range(5)


class Phase(Enum):
    """Where in a step a fault strikes.

    Between sensing and deciding, between driving and moving, where sensors read what the step has
    made of the world, and where ports give out.
    """

    SENSE = "sense"
    MOVE = "move"
    LOOK = "look"
    GIVE = "give"


@dataclass(frozen=True)
class Targets:
    """What faults may strike.

    Attributes:
        sensors: Signals of each sensor, and where in a step they are written.
        signals: Every signal that is measured for somebody, likewise.
        driven: Degrees of freedom with a drive that puts effort on them.
        prescribed: Degrees of freedom that go where their target says, without effort.
        standing: Bodies that Kinematic has and leaves where they are.
        buses: The class that serves each bus.
    """

    sensors: dict[str, list[tuple[Signal, Phase]]]
    signals: dict[str, tuple[Signal, Phase]]
    driven: frozenset[int]
    prescribed: frozenset[int]
    standing: frozenset[int]
    buses: dict[str, Any]


class FaultParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of every fault.

    Attributes:
        at: When it begins [s]; without ``at`` and ``chance`` it waits for a person.
        lasts: How long it lasts [s]; for good if absent.
        chance: How often it begins by chance [1/s], from ``at`` on.
        seed: Of the chance; the scene's own and the fault's name if 0.
    """

    at: Time | None = None
    lasts: Time | None = None
    chance: Annotated[float, msgspec.Meta(ge=0.0, le=1e9)] | None = None
    seed: Whole = 0


class Fault(Block):
    """Base of all faults: one block each, its memory in the state.

    A subclass names its ``form`` of parameters and ``what`` of them says what it strikes, finds it
    in :meth:`join`, and puts itself on in :meth:`strike` and off in :meth:`lift`, which are called
    for every phase of every step, whether or not it is at work.

    Args:
        world: The world.
        spec: The fault.
        name: Of its fields in the state.

    Attributes:
        spec: The fault.
        params: Its parameters.
        once_begun: Whether the chance is for something within the fault, not for its beginning.
    """

    kind: ClassVar[str] = "fault"
    form: ClassVar[type[FaultParams]] = FaultParams
    what: ClassVar[str] = ""
    once_begun: ClassVar[bool] = False

    def __init__(self, world: World, spec: Spec, name: str = "") -> None:
        super().__init__(world, [spec], name or f"fault/{spec.name}")
        self.spec = spec
        self.params: Any = read_params(spec, self.form)
        if self.once_begun and (self.params.chance or 0.0) > 1.0:
            raise FormatError(
                f"fault {spec.name!r}: chance is for each frame, 0 to 1, not "
                f"{self.params.chance:g}.",
                origin=spec.origin,
            )
        self._stamp = float(zlib.crc32(repr((spec.type, spec.name, spec.params)).encode()))

    # ---- what a type fills in ----------------------------------------------------------------

    def join(self, targets: Targets) -> None:
        """Finds what it strikes.

        Raises:
            LinkworkError: If that does not exist or cannot be struck like this.
        """

    def strike(self, phase: Phase) -> None:
        """Puts the fault on, where it is at work and this is its phase."""

    def lift(self, phase: Phase) -> None:
        """Takes off what :meth:`strike` put on."""

    def stale(self, phase: Phase) -> bool:
        """Whether what :meth:`strike` put on in this phase is not what it would put on now."""
        return False

    @property
    def about(self) -> str:
        """What it strikes, for people."""
        return str(getattr(self.params, self.what, "")) if self.what else ""

    @property
    def when(self) -> str:
        """When it strikes, for people."""
        at, chance, lasts = self.params.at, self.params.chance, self.params.lasts
        words = [f"at {at:g} s"] if at is not None else []
        if chance is not None:
            words = [f"from {at:g} s"] if at is not None else []
            words.append(f"by chance, {chance:g} {'of frames' if self.once_begun else 'per s'}")
        words = words or ["by hand"]
        return ", ".join([*words, *([f"for {lasts:g} s"] if lasts is not None else [])])

    @property
    def order(self) -> tuple[str, dict[str, Any]] | None:
        """Bus and arguments of the order by which a bus's process does it; None for others."""
        return None

    # ---- memory ------------------------------------------------------------------------------

    @staticmethod
    def memory() -> dict[str, tuple[int, ...]]:
        """Slots of every fault, so that one that a person injects finds room."""
        return {"clock": (5,), "int:chance": (1,), "rows": (ROWS, COLUMNS)}

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return self.memory()

    def signals(self) -> list[SignalSpec]:
        """``<fault>.active``: 1 while it is at work."""
        active = SignalSpec(f"{self.spec.name}.active", self.field("clock"), (ACTIVE,), hi=1.0)
        return [active, *self._signals]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self.rows = self.slot("rows")
        self._clock = self.slot("clock")
        self.chance = Chance(self.slot("chance"))

    def reset(self) -> None:
        """Nothing is wrong yet."""
        self.rows[...] = 0.0
        self._clock[...] = 0.0
        self._clock[STAMP] = self._stamp
        self.chance.seed(self.params.seed or self.world.scene.seed, self.spec.name)

    @property
    def mine(self) -> bool:
        """Whether the memory is of this fault: where a person injects, another may have it."""
        return bool(self._clock[STAMP] == self._stamp)

    @property
    def active(self) -> bool:
        """Whether it is at work."""
        return bool(self._clock[ACTIVE]) and self.mine

    @property
    def waits(self) -> bool:
        """Whether its rule may still begin it."""
        ruled = self.params.at is not None or self.params.chance is not None
        return ruled and not self._clock[SPENT] and self.mine

    @property
    def count(self) -> int:
        """How often it has begun."""
        return int(self._clock[COUNT])

    # ---- time --------------------------------------------------------------------------------

    def begin(self, time: float) -> None:
        """Begins now, for as long as it lasts."""
        lasts = self.params.lasts
        clock = self._clock
        if not self.mine:  # the session went back to a time at which another fault was here
            self.reset()
        clock[ACTIVE] = 1.0
        clock[UNTIL] = math.inf if lasts is None else time + lasts
        clock[COUNT] += 1.0

    def end(self) -> None:
        """Ends now; its rule begins it no more."""
        if self.mine:
            self._clock[ACTIVE] = 0.0
            self.spend()

    def spend(self) -> None:
        """Uses up the rule."""
        self._clock[SPENT] = 1.0

    def tick(self, time: float, h: float) -> None:
        """Begins or ends, as the rule says, at the start of a step of length ``h`` [s]."""
        clock, params = self._clock, self.params
        now = time + 1e-6 * h
        if clock[ACTIVE] and now >= clock[UNTIL]:
            clock[ACTIVE] = 0.0
        if clock[SPENT] or (params.at is None and params.chance is None):
            return
        start = params.at or 0.0
        if now < start:
            return
        if params.chance is None or self.once_begun:
            clock[SPENT] = 1.0
            if not clock[ACTIVE]:
                self.begin(start if params.at is not None else time)
        elif not clock[ACTIVE] and self.chance.uniform() < -math.expm1(-params.chance * h):
            self.begin(time)

    def wrong(self, text: str, hint: str = "") -> SceneError:
        """An error about this fault, with its place."""
        return SceneError(f"fault {self.spec.name!r}: {text}", origin=self.spec.origin, hint=hint)
