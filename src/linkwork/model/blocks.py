"""Block: the base of engines, sensors, actuators and agents.

All sensors (or actuators) of one type compile to one block, with one row for each. A block declares
slots in the state, publishes signals on them, and is bound to the state's views before the first
step. Blocks keep all variables in the state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import msgspec

from linkwork.core.errors import Origin, SceneError
from linkwork.core.forms import ParameterLocation, read_form
from linkwork.core.mistakes import unknown_key
from linkwork.core.signals import Signals
from linkwork.core.state import Layout, State
from linkwork.model.parts import Spec
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.world import Finding, World

P = TypeVar("P", bound=msgspec.Struct)


def read_params(spec: Spec, form: type[P]) -> P:
    """Checks a spec's parameters against a msgspec struct.

    Raises:
        FormatError: Naming the parameter, what was found, what is allowed, file and line.
    """
    who = f"{spec.kind} {spec.name or spec.type!r}"
    known = form.__struct_encode_fields__
    for key in spec.params:
        if key not in known:
            raise unknown_key(ParameterLocation(who, spec.origin, spec.lines), key, known)
    return read_form(spec.params, form, who, origin=spec.origin, lines=spec.lines)


def scoped_name(spec: Spec, name: str) -> str:
    """Returns the full name in the scene of a name in a part's file."""
    return scoped_name_of(spec.scope, name)


def period_in_steps(period: float, step: float, what: str, origin: Origin) -> int:
    """Returns the number of steps of a period.

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
    """A signal that a block publishes on one number of its slots."""

    name: str
    field: str
    index: tuple[int, ...]
    unit: str = ""
    lo: float = -math.inf
    hi: float = math.inf
    direction: str = "output"


class Block:
    """Base class of everything that the simulation cycle runs.

    Subclasses set ``kind`` and ``type``, read their specs in ``__init__`` and override the
    methods that they need. ``name`` makes the block's fields in the state unique.
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
        """Returns the features of its world that this block rejects or only approximates."""
        return []

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Returns the shape of each slot in the state; names with ``int:`` are of int64."""
        return {}

    def signals(self) -> list[SignalSpec]:
        """Returns the signals."""
        return self._signals

    def field(self, slot: str) -> str:
        """Returns the name of a slot in the state."""
        return f"{self.name}/{slot}"

    def slot(self, slot: str) -> Any:
        """Returns the view of a slot."""
        return self.state[self.field(slot)]

    def bind(self, state: State) -> None:
        """Stores the views that the steps use."""
        self.state = state

    def reset(self) -> None:
        """Writes the initial values into the block's slots."""

    def params_changed(self) -> None:
        """Applies the ``param/…`` fields after the inbox or a restore changed them."""

    def close(self) -> None:
        """Releases resources outside the state."""


def add_blocks(layout: Layout, blocks: list[Block]) -> None:
    """Adds the slots of every block to the layout."""
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
