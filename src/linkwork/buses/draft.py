"""Draft: a port as the scene's files have it, before its signals are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from linkwork.agents.lookup import value_signal
from linkwork.buses.keys import JointForm, split_form
from linkwork.buses.port import Role
from linkwork.errors import FormatError, Origin, SceneError, not_found, suggestion
from linkwork.parts import Spec
from linkwork.world import World

ROLES: dict[str, Role] = {"commands": "command", "sensors": "sensor", "parameters": "parameter"}


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
        if joint.bus is None:
            continue
        form, address = split_form(joint.bus, JointForm, f"joint {name!r}", joint.origin)
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
