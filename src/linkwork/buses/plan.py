"""Plan: what a scene's files say of buses and ports, checked and joined to its signals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import msgspec

from linkwork.agents.lookup import find_name, value_signal
from linkwork.blocks import read_params, whole_steps
from linkwork.buses.adapter import Adapter
from linkwork.buses.port import BusPlan, Plant, Policy, Port, PortSignal, Role
from linkwork.buses.quant import Quant
from linkwork.errors import (
    FormatError,
    LinkworkError,
    Origin,
    SceneError,
    SignalError,
    not_found,
    suggestion,
)
from linkwork.forms import read_form
from linkwork.parts import Spec
from linkwork.registry import BUSES
from linkwork.signals import Signals
from linkwork.world import World

Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=1e9)]
Bound = Annotated[float, msgspec.Meta(ge=-1e30, le=1e30)]

ROLES: dict[str, Role] = {"commands": "command", "sensors": "sensor", "parameters": "parameter"}


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


@dataclass(frozen=True)
class Draft:
    """A port before its signals are known: as the file has it, its bus found.

    Attributes:
        name: Full name.
        bus: Its bus.
        group: Path of groups.
        items: Role, and what the file says of a signal.
        origin: Where it was said.
        scope: Part in which names are looked up first.
        optional: Whether commands whose signal does not exist are left out, as those of a joint
            without a drive.
    """

    name: str
    bus: str
    group: str
    items: tuple[tuple[Role, dict[str, Any]], ...]
    origin: Origin
    scope: str = ""
    optional: bool = False


def adapter_of(spec: Spec) -> type[Adapter]:
    """The adapter class of a bus."""
    return BUSES.get(spec.type, origin=spec.origin)


def read_bus(world: World, spec: Spec) -> BusPlan:
    """A bus without its ports.

    Raises:
        LinkworkError: Naming the parameter and its place.
    """
    adapter = adapter_of(spec)
    common = {field.name for field in msgspec.structs.fields(BusForm)}
    known = {field.encode_name for field in msgspec.structs.fields(adapter.Params)}
    for key in spec.params:
        if key not in common | known:
            raise FormatError(
                f"bus {spec.name!r} has no parameter {key!r}.",
                origin=spec.origin,
                hint=suggestion(key, common | known, kind="parameters"),
            )
    form = read_params(
        replace(spec, params={k: v for k, v in spec.params.items() if k in common}), BusForm
    )
    own = replace(spec, params={k: v for k, v in spec.params.items() if k not in common})
    params = msgspec.to_builtins(read_params(own, adapter.Params))
    h = world.scene.step
    steps = whole_steps(form.period, h, f"bus {spec.name!r}", spec.origin)
    closes = form.closes or ("real" if form.plant == "real" else "virtual")
    if form.plant != "both" and closes != form.plant:
        raise SceneError(
            f"bus {spec.name!r}: the plant is {form.plant}, so {closes} cannot close the loop.",
            origin=spec.origin,
            hint='Leave closes out, or write plant = "both".',
        )
    return BusPlan(
        spec.name, spec.type, params, form.plant, closes, steps * h, form.deadline,
        form.on_loss or ("pause" if form.lockstep else "hold"), form.ramp, form.lockstep,
        form.patience, h,
    )  # fmt: skip


def drafts(world: World, buses: Iterable[str]) -> list[Draft]:
    """All ports of a scene: those of its files, and those of joints with a ``bus`` table.

    Raises:
        LinkworkError: If one names no bus, or has another's name.
    """
    names = list(buses)
    found: dict[str, Draft] = {}
    for draft in (*map(_of_port(names), world.ports), *_of_joints(world, names)):
        other = found.get(draft.name)
        if other is not None:
            raise SceneError(
                f"two ports are named {draft.name!r}.",
                origin=draft.origin,
                hint=f"The other is at {other.origin}.",
            )
        found[draft.name] = draft
    return list(found.values())


def _of_port(buses: list[str]) -> Any:
    def read(spec: Spec) -> Draft:
        items: list[tuple[Role, dict[str, Any]]] = []
        for key, value in spec.params.items():
            if key in ROLES:
                for item in _items(value, key, spec.name, spec.origin):
                    items.append((ROLES[key], item))
            elif key not in ("bus", "group"):
                raise FormatError(
                    f"port {spec.name!r} has no parameter {key!r}.",
                    origin=spec.origin,
                    hint=suggestion(key, ("bus", "group", *ROLES), kind="parameters"),
                )
        bus = _bus(str(spec.params.get("bus", "")), buses, f"port {spec.name!r}", spec.origin)
        group = str(spec.params.get("group", ""))
        return Draft(spec.name, bus, group, tuple(items), spec.origin, spec.scope)

    return read


def _items(value: Any, key: str, port: str, origin: Origin) -> Iterator[dict[str, Any]]:
    if not isinstance(value, list | tuple):
        raise FormatError(f"port {port!r}: {key} must be a list.", origin=origin)
    for item in value:
        if isinstance(item, str):
            yield {"signal": item}
        elif isinstance(item, dict):
            yield item
        else:
            raise FormatError(f"port {port!r}: {key} holds {item!r}.", origin=origin)


def _bus(name: str, buses: list[str], who: str, origin: Origin) -> str:
    if not name and len(buses) == 1:
        return buses[0]
    if not name:
        what = "there are several" if buses else "the scene has none"
        raise SceneError(f"{who} must name its bus: {what}.", origin=origin)
    if name not in buses:
        raise not_found("bus", name, buses, origin=origin)
    return name


def _of_joints(world: World, buses: list[str]) -> Iterator[Draft]:
    """Ports of joints. A part brings its table along; a scene without buses has no use for it."""
    if not buses:
        return
    for name, joint in zip(world.joint_names, world.joints, strict=True):
        if not joint.bus:
            continue
        form, address = _split(joint.bus, JointForm, f"joint {name!r}", joint.origin)
        bus = _bus(form.bus, buses, f"joint {name!r}", joint.origin)
        where = f"{name}.{form.dof}" if form.dof else name
        dof = world.single_dof(where, origin=joint.origin)
        own = {
            key: value for key, value in joint.bus.items()
            if key in ("bits", "lo", "hi", "signed", "scale", "offset", "safe", *address)
        }  # fmt: skip
        value = value_signal(world, dof)
        split = "." if joint.kind.nv == 1 else "_"
        prefix = f"{world.dof_name(dof)}{split}"
        items: list[tuple[Role, dict[str, Any]]] = []
        for key, role in ROLES.items():
            given = getattr(form, key)
            if given is None:
                given = ["target"] if role == "command" else [value.rpartition(".")[2]]
            for item in _items(given, key, name, joint.origin):
                what = str(item.get("signal", ""))
                mine = what == "target" or f"{world.dof_name(dof)}.{what}" == value
                full = value if mine and what != "target" else f"{prefix}{what}"
                if what.startswith("target"):
                    full = f"{world.dof_name(dof)}.{what}"
                more = own if mine else {k: own[k] for k in address}
                items.append((role, {**more, **item, "signal": full, "name": what}))
        yield Draft(name, bus, form.group, tuple(items), joint.origin, optional=True)


def _split(given: dict[str, Any], form: type, who: str, origin: Origin) -> tuple[Any, dict]:
    """The known keys of a table, checked, and the others: its address."""
    known = {field.name for field in msgspec.structs.fields(form)}
    made = read_form({k: v for k, v in given.items() if k in known}, form, who, origin=origin)
    return made, {k: v for k, v in given.items() if k not in known}


def join_port(
    draft: Draft, signals: Signals, adapter: type[Adapter], params: dict[str, Any]
) -> Port:
    """A port with its signals.

    Args:
        draft: The port.
        signals: Signals of the scene.
        adapter: The type of its bus.
        params: Parameters of the bus of the type's own.

    Raises:
        LinkworkError: If a signal does not exist, or cannot do what is asked of it.
    """
    made: dict[str, PortSignal] = {}
    for role, item in draft.items:
        signal = _join(draft, role, item, signals, adapter, params)
        if signal is None:
            continue
        if signal.name in made:
            raise SceneError(
                f"port {draft.name!r} has two signals named {signal.name!r}.", origin=draft.origin
            )
        made[signal.name] = signal
    return Port(draft.name, draft.bus, draft.group, tuple(made.values()))


def _join(
    draft: Draft, role: Role, item: dict[str, Any], signals: Signals, adapter: type[Adapter],
    params: dict[str, Any],
) -> PortSignal | None:  # fmt: skip
    who = f"port {draft.name!r}"
    form, address = _split(item, SignalForm, who, draft.origin)
    known = [field.name for field in msgspec.structs.fields(SignalForm)]
    read_form(address, adapter.Address, who, origin=draft.origin, also=known)
    lo, hi, unit, name = -math.inf, math.inf, form.unit, form.name
    full = ""
    if form.signal:
        if draft.optional and role == "command" and form.signal not in signals:
            return None  # a joint without a drive only tells
        names = {signal.name: None for signal in signals}
        full = find_name("signal", form.signal, names, scope=draft.scope, origin=draft.origin)
        signal = signals[full]
        lo, hi, unit = signal.lo, signal.hi, signal.unit
        name = name or full.rpartition(".")[2]
        if role == "command" and signal.direction != "input":
            raise SceneError(
                f"{who}: {full!r} is no input, so it cannot be commanded.",
                origin=draft.origin,
                hint="Sensors tell what is measured, parameters adjust what is a parameter.",
            )
        if role == "parameter" and signal.direction != "param":
            raise SceneError(f"{who}: {full!r} is no parameter.", origin=draft.origin)
    if not name:
        raise SceneError(
            f"{who}: a signal needs a name or a signal behind it.", origin=draft.origin
        )
    try:
        known = {**adapter.fill(params, address, unit), **item}
    except LinkworkError as error:  # its place, if it has one, is in the type's own file
        raise FormatError(f"{who}: {error}", origin=draft.origin) from None
    if "scale" in item and {"lo", "hi"} & item.keys():
        raise SceneError(
            f"{who}, {name}: scale says what a code is worth, in place of lo and hi.",
            origin=draft.origin,
            hint="Leave scale out, or lo and hi.",
        )
    form, _ = _split(known, SignalForm, who, draft.origin)
    unit = unit or form.unit
    low, high = (lo if form.lo is None else form.lo), (hi if form.hi is None else form.hi)
    quant = None
    try:
        if form.bits is not None and form.scale is not None:
            quant = Quant.scaled(form.bits, form.scale, form.offset, form.signed, lo=low, hi=high)
            low, high = quant.lo, quant.hi
        elif form.bits is not None:
            quant = Quant(form.bits, low, high, form.signed)
        elif form.scale is not None:
            raise SignalError("scale says what a code is worth, so it needs bits.")
    except LinkworkError as error:
        raise SceneError(
            f"{who}, {name}: {error.message}",
            origin=draft.origin,
            hint="Give lo and hi, or the joint a range.",
        ) from None
    if not low <= high:
        raise SceneError(f"{who}, {name}: lo {low:g} is above hi {high:g}.", origin=draft.origin)
    if role == "command" and form.safe is not None and not low <= form.safe <= high:
        raise SceneError(
            f"{who}, {name}: safe must be from {low:g} to {high:g} {unit}, "
            f"not {form.safe:g}.".replace("  ", " "),
            origin=draft.origin,
        )
    return PortSignal(name, role, unit, low, high, quant, address, full, form.safe)
