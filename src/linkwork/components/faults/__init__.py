"""Faults: base class of faults that can be injected into a running scene."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar

import msgspec

from linkwork.components.agents.program_state import RandomStream
from linkwork.core.errors import FormatError, SceneError
from linkwork.core.signals import Signal
from linkwork.core.state import State
from linkwork.model.blocks import Block, SignalSpec, read_params
from linkwork.model.parts import Spec
from linkwork.model.world import World

#: A time [s].
Time = Annotated[float, msgspec.Meta(ge=0.0, le=1e9)]
NonNegativeInt = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

#: Rows and columns of a fault's memory; the maximum number of signals of one fault.
MAX_SIGNALS, MEMORY_COLUMNS = 8, 5
#: Timing of a fault: whether it is active, until when [s], how often it began, whether its rule has
#: been used up, and which fault this is.
ACTIVE, END_TIME, COUNT, RULE_USED, SPEC_HASH = range(5)


class Phase(Enum):
    """Phase of a step in which a fault is applied.

    Between sensing and deciding, between driving and moving, when sensors read the result of the
    step, and when ports publish.
    """

    SENSE = "sense"
    MOVE = "move"
    AFTER_STEP = "after_step"
    OUTPUT = "output"


@dataclass(frozen=True)
class FaultTargets:
    """Possible targets of faults.

    Attributes:
        sensors: Signals of each sensor, and the phase in which they are written.
        signals: Every measured signal, likewise.
        driven: Degrees of freedom with a drive that applies effort.
        prescribed: Degrees of freedom that follow their target without effort.
        standing: Bodies that Kinematic owns and does not move.
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
        at: Start time [s]; without ``at`` and ``chance`` it begins on request.
        lasts: Duration [s]; unlimited if absent.
        chance: Rate at which it begins randomly [1/s], from ``at`` on.
        seed: Seed of the chance; from the scene's seed and the fault's name if 0.
    """

    at: Time | None = None
    lasts: Time | None = None
    chance: Annotated[float, msgspec.Meta(ge=0.0, le=1e9)] | None = None
    seed: NonNegativeInt = 0


class Fault(Block):
    """Base of all faults: one block each, its memory in the state.

    A subclass sets ``form``, its parameters, and ``what``, the parameter that names its target,
    resolves the target in :meth:`join`, and applies and reverts the fault in :meth:`apply` and
    :meth:`revert`, which are called for every phase of every step, whether or not it is active.

    Args:
        world: The world.
        spec: The fault.
        name: Prefix of its fields in the state.

    Attributes:
        spec: The fault.
        params: Its parameters.
        chance_per_frame: Whether the chance is for something within the fault, not for its
        beginning.
    """

    kind: ClassVar[str] = "fault"
    form: ClassVar[type[FaultParams]] = FaultParams
    what: ClassVar[str] = ""
    chance_per_frame: ClassVar[bool] = False

    def __init__(self, world: World, spec: Spec, name: str = "") -> None:
        super().__init__(world, [spec], name or f"fault/{spec.name}")
        self.spec = spec
        self.params: Any = read_params(spec, self.form)
        if self.chance_per_frame and (self.params.chance or 0.0) > 1.0:
            raise FormatError(
                f"fault {spec.name!r}: chance is for each frame, 0 to 1, not "
                f"{self.params.chance:g}.",
                origin=spec.origin,
            )
        self._stamp = float(zlib.crc32(repr((spec.type, spec.name, spec.params)).encode()))

    # ---- implemented by a type ---------------------------------------------------------------

    def join(self, targets: FaultTargets) -> None:
        """Resolves its target.

        Raises:
            LinkworkError: If it does not exist or cannot have this fault.
        """

    def apply(self, phase: Phase) -> None:
        """Applies the fault, if it is active and this is its phase."""

    def revert(self, phase: Phase) -> None:
        """Reverts :meth:`apply`."""

    def stale(self, phase: Phase) -> bool:
        """Whether the effect applied in this phase differs from the present one."""
        return False

    @property
    def about(self) -> str:
        """Description of its target."""
        return str(getattr(self.params, self.what, "")) if self.what else ""

    @property
    def when(self) -> str:
        """Description of its timing."""
        at, chance, lasts = self.params.at, self.params.chance, self.params.lasts
        words = [f"at {at:g} s"] if at is not None else []
        if chance is not None:
            words = [f"from {at:g} s"] if at is not None else []
            words.append(
                f"by chance, {chance:g} {'of frames' if self.chance_per_frame else 'per s'}"
            )
        words = words or ["by hand"]
        return ", ".join([*words, *([f"for {lasts:g} s"] if lasts is not None else [])])

    @property
    def order(self) -> tuple[str, dict[str, Any]] | None:
        """Bus and arguments of the order with which a bus's process injects it; None for others."""
        return None

    # ---- memory ------------------------------------------------------------------------------

    @staticmethod
    def memory() -> dict[str, tuple[int, ...]]:
        """Slots of every fault, also sufficient for injected ones."""
        return {"clock": (5,), "int:chance": (1,), "rows": (MAX_SIGNALS, MEMORY_COLUMNS)}

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return self.memory()

    def signals(self) -> list[SignalSpec]:
        """``<fault>.active``: 1 while it is active."""
        active = SignalSpec(f"{self.spec.name}.active", self.field("clock"), (ACTIVE,), hi=1.0)
        return [active, *self._signals]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self.rows = self.slot("rows")
        self._clock = self.slot("clock")
        self.chance = RandomStream(self.slot("chance"))

    def reset(self) -> None:
        """Resets the timing."""
        self.rows[...] = 0.0
        self._clock[...] = 0.0
        self._clock[SPEC_HASH] = self._stamp
        self.chance.seed(self.params.seed or self.world.scene.seed, self.spec.name)

    @property
    def owns_memory(self) -> bool:
        """Whether the memory belongs to this fault: another injected fault may have the slot."""
        return bool(self._clock[SPEC_HASH] == self._stamp)

    @property
    def active(self) -> bool:
        """Whether it is active."""
        return bool(self._clock[ACTIVE]) and self.owns_memory

    @property
    def pending(self) -> bool:
        """Whether its rule may still begin it."""
        ruled = self.params.at is not None or self.params.chance is not None
        return ruled and not self._clock[RULE_USED] and self.owns_memory

    @property
    def count(self) -> int:
        """How often it has begun."""
        return int(self._clock[COUNT])

    # ---- time --------------------------------------------------------------------------------

    def begin(self, time: float) -> None:
        """Begins now, for its duration."""
        lasts = self.params.lasts
        clock = self._clock
        if not self.owns_memory:  # a restored state may contain another fault in this slot
            self.reset()
        clock[ACTIVE] = 1.0
        clock[END_TIME] = math.inf if lasts is None else time + lasts
        clock[COUNT] += 1.0

    def end(self) -> None:
        """Ends now; its rule is used up."""
        if self.owns_memory:
            self._clock[ACTIVE] = 0.0
            self.use_up_rule()

    def use_up_rule(self) -> None:
        """Uses up the rule."""
        self._clock[RULE_USED] = 1.0

    def tick(self, time: float, h: float) -> None:
        """Begins or ends by its rule, at the start of a step of length ``h`` [s]."""
        clock, params = self._clock, self.params
        now = time + 1e-6 * h
        if clock[ACTIVE] and now >= clock[END_TIME]:
            clock[ACTIVE] = 0.0
        if clock[RULE_USED] or (params.at is None and params.chance is None):
            return
        start = params.at or 0.0
        if now < start:
            return
        if params.chance is None or self.chance_per_frame:
            clock[RULE_USED] = 1.0
            if not clock[ACTIVE]:
                self.begin(start if params.at is not None else time)
        elif not clock[ACTIVE] and self.chance.uniform() < -math.expm1(-params.chance * h):
            self.begin(time)

    def wrong(self, text: str, hint: str = "") -> SceneError:
        """An error about this fault, with its origin."""
        return SceneError(f"fault {self.spec.name!r}: {text}", origin=self.spec.origin, hint=hint)


__all__ = ["Fault", "FaultTargets", "Phase"]
