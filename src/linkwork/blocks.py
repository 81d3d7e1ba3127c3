"""Block: what engines, sensors, actuators and agents share: parameters, memory and signals.

All sensors (or actuators) of one type compile to one block; the things users name are its rows.
A block asks for memory in the state, offers signals on it, and is bound to the state's views
before the first step. It keeps nothing that changes anywhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import msgspec

from linkwork.errors import FormatError, Origin, SceneError, suggestion
from linkwork.forms import read_form
from linkwork.parts import Spec
from linkwork.parts.names import scoped
from linkwork.signals import Signals
from linkwork.state import Layout, State
from linkwork.world import Finding, World

P = TypeVar("P", bound=msgspec.Struct)


def read_params(spec: Spec, form: type[P]) -> P:
    """Checks a spec's parameters against a msgspec struct.

    Raises:
        FormatError: Naming the parameter, what was found, what is allowed, and the place.
    """
    known = set(form.__struct_encode_fields__)
    for key in spec.params:
        if key not in known:
            raise FormatError(
                f"{spec.kind} {spec.name or spec.type!r} has no parameter {key!r}.",
                origin=spec.at(key),
                hint=suggestion(key, known, kind="parameters"),
            )
    who = f"{spec.kind} {spec.name or spec.type!r}"
    return read_form(spec.params, form, who, origin=spec.origin, lines=spec.lines)


def scoped_name(spec: Spec, name: str) -> str:
    """A name that a part's file gives, as the whole scene knows it."""
    return scoped(spec.scope, name)


def whole_steps(period: float, step: float, what: str, origin: Origin) -> int:
    """How many steps a period takes.

    Raises:
        SceneError: If it is not a whole number of at least one.
    """
    if period == 0.0:
        return 1
    count = period / step
    if (
        not math.isfinite(count)
        or count < 0.5
        or abs(count - round(count)) > min(1e-6 * count, 1e-3)
    ):
        raise SceneError(
            f"{what}: the period {period:g} s is not a whole multiple of the step {step:g} s.",
            origin=origin,
            hint=f"Nearest: {max(1, round(count) if math.isfinite(count) else 1) * step:g} s.",
        )
    return round(count)


@dataclass(frozen=True)
class SignalSpec:
    """A signal that a block offers on one number of its memory."""

    name: str
    field: str
    index: tuple[int, ...]
    unit: str = ""
    lo: float = -math.inf
    hi: float = math.inf
    direction: str = "output"


class Block:
    """Base of what takes part in the cycle.

    Subclasses set ``kind`` and ``type``, read their specs in ``__init__`` and fill in what they
    need of the methods below. ``name`` makes the block's fields in the state unique.
    """

    kind: ClassVar[str] = ""
    type: ClassVar[str] = ""

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        self.world = world
        self.specs = specs
        self.name = name or f"{self.kind}/{self.type}"
        self.state: State
        self._signals: list[SignalSpec] = []

    def check(self) -> list[Finding]:
        """What this block cannot do, or does only softly, with its world."""
        return []

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Memory wanted in the state: slot to shape; start the slot with ``int:`` for int64."""
        return {}

    def signals(self) -> list[SignalSpec]:
        """Signals offered."""
        return self._signals

    def field(self, slot: str) -> str:
        """Name of a slot in the state."""
        return f"{self.name}/{slot}"

    def slot(self, slot: str) -> Any:
        """The view of a slot."""
        return self.state[self.field(slot)]

    def bind(self, state: State) -> None:
        """Keeps the views that the step will use."""
        self.state = state

    def reset(self) -> None:
        """Writes the first values into the block's memory."""

    def params_changed(self) -> None:
        """Takes over ``param/…`` fields after the inbox or a restore changed them."""

    def close(self) -> None:
        """Gives back what is held outside the state."""


def add_blocks(layout: Layout, blocks: list[Block]) -> None:
    """Gives every block its memory."""
    for block in blocks:
        for slot, shape in block.slots().items():
            integer = slot.startswith("int:")
            layout.add(block.field(slot.removeprefix("int:")), *shape, integer=integer)


def add_signals(signals: Signals, state: State, blocks: list[Block]) -> None:
    """Publishes the blocks' signals."""
    for block in blocks:
        for spec in block.signals():
            signals.add(
                spec.name,
                state.address(spec.field, *spec.index),
                unit=spec.unit,
                lo=spec.lo,
                hi=spec.hi,
                direction=spec.direction,
            )
