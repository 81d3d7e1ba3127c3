"""PortSpec: a port as written in the files of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from linkwork.buses.port import Plant, Policy, Role
from linkwork.components.agents.lookup import value_signal
from linkwork.core.errors import FormatError, Origin, SceneError, not_found
from linkwork.core.forms import ParameterLocation, read_form
from linkwork.core.mistakes import unknown_key
from linkwork.core.registry import BUSES
from linkwork.model.parts import Spec
from linkwork.model.world import World

Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=1e9)]
Bound = Annotated[float, msgspec.Meta(ge=-1e30, le=1e30)]


class BusKeys(msgspec.Struct, kw_only=True):
    """Keys of every ``[[bus]]``; see :class:`BusPlan`."""

    plant: Plant = "virtual"
    closes: Literal["virtual", "real"] | None = None
    period: Seconds = 0.0
    deadline: Seconds = 0.0
    on_loss: Policy | None = None
    ramp: Seconds = 1.0
    lockstep: bool = False
    turn_timeout: Seconds = 0.0


class SignalKeys(msgspec.Struct, kw_only=True):
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


class JointBusKeys(SignalKeys, kw_only=True):
    """Keys of a joint's ``bus`` table: those of a signal, for its value and its target."""

    bus: str = ""
    dof: str = ""
    group: str = ""
    commands: list[str | dict[str, Any]] | None = None
    sensors: list[str | dict[str, Any]] | None = None
    parameters: list[str | dict[str, Any]] = []


def split_keys(given: dict[str, Any], form: type, who: str, origin: Origin) -> tuple[Any, dict]:
    """Splits a table into the known keys, checked, and the others: its address."""
    known = {field.name for field in msgspec.structs.fields(form)}
    made = read_form({k: v for k, v in given.items() if k in known}, form, who, origin=origin)
    return made, {k: v for k, v in given.items() if k not in known}


ROLES: dict[str, Role] = {"commands": "command", "sensors": "sensor", "parameters": "parameter"}


@dataclass(frozen=True)
class PortSpec:
    """A port before its signals are resolved.

    Attributes:
        name: Full name.
        bus: Its bus.
        group: Path of groups.
        items: Role and table of each signal.
        origin: Where it was written.
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


def port_specs(world: World) -> list[PortSpec]:
    """Returns all ports of a scene: those of its files, and those of joints with a ``bus`` table.

    Raises:
        LinkworkError: If one names no bus, or has another's name.
    """
    names = [spec.name for spec in world.buses]
    found: dict[str, PortSpec] = {}
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
    def read(spec: Spec) -> PortSpec:
        items: list[tuple[Role, dict[str, Any]]] = []
        for key, value in spec.params.items():
            if key in ROLES:
                for item in _items(value, key, spec.name, spec.origin):
                    items.append((ROLES[key], item))
            elif key not in ("bus", "group"):
                location = ParameterLocation(f"port {spec.name!r}", spec.origin, spec.lines)
                raise unknown_key(location, key, ("bus", "group", *ROLES))
        bus = _bus(str(spec.params.get("bus", "")), buses, f"port {spec.name!r}", spec.origin)
        group = str(spec.params.get("group", ""))
        return PortSpec(spec.name, bus, group, tuple(items), spec.origin, spec.scope)

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


def _unknown_keys(type_name: str, address: dict[str, Any]) -> set[str]:
    """Keys of an address that buses of a type refuse."""
    form = BUSES.get(type_name).Address
    if not form.__struct_config__.forbid_unknown_fields:
        return set()
    return {*address} - {field.encode_name for field in msgspec.structs.fields(form)}


def _bus_of_address(world: World, address: dict[str, Any]) -> str:
    """The only bus, or the only one whose type takes an address; empty if there is none."""
    if len(world.buses) == 1:
        return world.buses[0].name
    fits = [spec.name for spec in world.buses if not _unknown_keys(spec.type, address)]
    return fits[0] if address and len(fits) == 1 else ""


def _is_for_another_type(world: World, address: dict[str, Any]) -> bool:
    """Whether an address belongs to a type of bus that the scene does not have."""
    if any(not _unknown_keys(spec.type, address) for spec in world.buses):
        return False
    return any(not _unknown_keys(each, address) for each in _strict_types())


def _strict_types() -> list[str]:
    """The types of buses that refuse keys of others."""
    return [
        n for n in BUSES.names() if BUSES.get(n).Address.__struct_config__.forbid_unknown_fields
    ]


def _foreign_keys(bus: Spec, address: dict[str, Any]) -> set[str]:
    """Keys of an address that belong to another type of bus than this one."""
    unknown = _unknown_keys(bus.type, address)
    return {k for k in unknown if any(not _unknown_keys(n, {k: 0}) for n in _strict_types())}


def _of_joints(world: World, buses: list[str]) -> Iterator[PortSpec]:
    """Ports of joints. A scene without buses ignores the table that a part contains.

    A part made for another type of bus can be used: its ``can_id`` has no effect on TCP.
    """
    if not buses:
        return
    for name, joint in zip(world.joint_names, world.joints, strict=True):
        if joint.bus is None:
            continue
        form, address = split_keys(joint.bus, JointBusKeys, f"joint {name!r}", joint.origin)
        bus = form.bus or _bus_of_address(world, address)
        if not bus and _is_for_another_type(world, address):
            continue  # the part is made for a type of bus that the scene does not have
        bus = _bus(bus, buses, f"joint {name!r}", joint.origin)
        foreign = _foreign_keys(next(b for b in world.buses if b.name == bus), address)
        address = {key: value for key, value in address.items() if key not in foreign}
        where = f"{name}.{form.dof}" if form.dof else name
        dof = world.single_dof(where, origin=joint.origin)
        own = {
            key: value for key, value in joint.bus.items()
            if key not in foreign
            and key in ("bits", "lo", "hi", "signed", "scale", "offset", "safe", *address)
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
        yield PortSpec(name, bus, form.group, tuple(items), joint.origin, optional=True)
