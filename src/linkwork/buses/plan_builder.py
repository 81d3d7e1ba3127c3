"""Builds the plan of a bus from its tables."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import msgspec

from linkwork.buses.adapter import Adapter
from linkwork.buses.port import BusPlan, Port, PortSignal, Quant, Role
from linkwork.buses.port_spec import BusKeys, PortSpec, SignalKeys, split_keys
from linkwork.components.agents.lookup import find_name
from linkwork.core.errors import FormatError, LinkworkError, SceneError, SignalError
from linkwork.core.forms import ParameterLocation, read_form
from linkwork.core.mistakes import unknown_key
from linkwork.core.registry import BUSES
from linkwork.core.signals import Signals
from linkwork.model.blocks import period_in_steps, read_params
from linkwork.model.parts import Spec
from linkwork.model.world import World


def adapter_of(spec: Spec) -> type[Adapter]:
    """Returns the adapter class of a bus."""
    return BUSES.get(spec.type, origin=spec.origin)


def read_bus(world: World, spec: Spec) -> BusPlan:
    """Reads a bus without its ports.

    Raises:
        LinkworkError: Naming the parameter and its origin.
    """
    adapter = adapter_of(spec)
    common = {field.name for field in msgspec.structs.fields(BusKeys)}
    known = {field.encode_name for field in msgspec.structs.fields(adapter.Params)}
    for key in spec.params:
        if key not in common | known:
            location = ParameterLocation(f"bus {spec.name!r}", spec.origin, spec.lines)
            raise unknown_key(location, key, common | known)
    form = read_params(
        replace(spec, params={k: v for k, v in spec.params.items() if k in common}), BusKeys
    )
    own = replace(spec, params={k: v for k, v in spec.params.items() if k not in common})
    params = msgspec.to_builtins(read_params(own, adapter.Params))
    h = world.scene.step
    steps = period_in_steps(form.period, h, f"bus {spec.name!r}", spec.origin)
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
        form.turn_timeout, h,
    )  # fmt: skip


def join_port(
    draft: PortSpec, signals: Signals, adapter: type[Adapter], params: dict[str, Any]
) -> Port:
    """Resolves the signals of a port.

    Args:
        draft: The port.
        signals: Signals of the scene.
        adapter: The type of its bus.
        params: The bus's parameters of its type.

    Raises:
        LinkworkError: If a signal does not exist or has the wrong direction.
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
    draft: PortSpec, role: Role, item: dict[str, Any], signals: Signals, adapter: type[Adapter],
    params: dict[str, Any],
) -> PortSignal | None:  # fmt: skip
    who = f"port {draft.name!r}"
    form, address = split_keys(item, SignalKeys, who, draft.origin)
    known = [field.name for field in msgspec.structs.fields(SignalKeys)]
    read_form(address, adapter.Address, who, origin=draft.origin, also=known)
    lo, hi, unit, name = -math.inf, math.inf, form.unit, form.name
    full = ""
    if form.signal:
        if draft.optional and role == "command" and form.signal not in signals:
            return None  # a joint without a drive has sensors only
        names = {signal.name: None for signal in signals}
        full = find_name("signal", form.signal, names, scope=draft.scope, origin=draft.origin)
        signal = signals[full]
        lo, hi, unit = signal.lo, signal.hi, signal.unit
        name = name or full.rpartition(".")[2]
        if role == "command" and signal.direction != "input":
            raise SceneError(
                f"{who}: {full!r} is not an input, so it cannot be commanded.",
                origin=draft.origin,
                hint="Outputs can be sensors, and parameters can be parameters.",
            )
        if role == "parameter" and signal.direction != "param":
            raise SceneError(f"{who}: {full!r} is not a parameter.", origin=draft.origin)
    if not name:
        raise SceneError(
            f"{who}: a signal needs a name or a signal behind it.", origin=draft.origin
        )
    try:
        known = {**adapter.fill(params, address, unit), **item}
    except LinkworkError as error:  # its origin, if any, is in the type's own file
        raise FormatError(f"{who}: {error}", origin=draft.origin) from None
    if "scale" in item and {"lo", "hi"} & item.keys():
        raise SceneError(
            f"{who}, {name}: scale and lo, hi exclude each other.",
            origin=draft.origin,
            hint="Leave scale out, or lo and hi.",
        )
    form, _ = split_keys(known, SignalKeys, who, draft.origin)
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
            raise SignalError("scale needs bits.")
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
