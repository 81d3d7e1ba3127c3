"""Keys: what files may say of a bus, of a port's signal and of a joint on a bus."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from linkwork.buses.port import Plant, Policy
from linkwork.errors import Origin
from linkwork.forms import read_form

Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=1e9)]
Bound = Annotated[float, msgspec.Meta(ge=-1e30, le=1e30)]


class BusForm(msgspec.Struct, kw_only=True):
    """Keys of every ``[[bus]]``; see :class:`BusPlan`."""

    plant: Plant = "virtual"
    closes: Literal["virtual", "real"] | None = None
    period: Seconds = 0.0
    deadline: Seconds = 0.0
    on_loss: Policy | None = None
    ramp: Seconds = 1.0
    lockstep: bool = False
    patience: Seconds = 0.0


class SignalForm(msgspec.Struct, kw_only=True):
    """Keys of every signal of a port; see :class:`PortSignal`."""

    signal: str = ""
    name: str = ""
    bits: Annotated[int, msgspec.Meta(ge=1, le=52)] | None = None
    lo: Bound | None = None
    hi: Bound | None = None
    signed: bool = False
    scale: Bound | None = None
    offset: Bound = 0.0
    unit: str = ""
    safe: Bound | None = None


class JointForm(SignalForm, kw_only=True):
    """Keys of a joint's ``bus`` table: those of a signal, for its value and its target."""

    bus: str = ""
    dof: str = ""
    group: str = ""
    commands: list[str | dict[str, Any]] | None = None
    sensors: list[str | dict[str, Any]] | None = None
    parameters: list[str | dict[str, Any]] = []


def split_form(given: dict[str, Any], form: type, who: str, origin: Origin) -> tuple[Any, dict]:
    """The known keys of a table, checked, and the others: its address."""
    known = {field.name for field in msgspec.structs.fields(form)}
    made = read_form({k: v for k, v in given.items() if k in known}, form, who, origin=origin)
    return made, {k: v for k, v in given.items() if k not in known}
