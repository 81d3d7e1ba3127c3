"""Lookup of joints, sensors or signals by short names."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from linkwork.core.errors import NameNotFound, Origin, closest_name, listing, not_found
from linkwork.core.signals import Signals
from linkwork.model.parts import Spec
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.world import World


class AmbiguousName(NameNotFound):
    """A short name that several objects have."""


def find_name(
    kind: str,
    name: str,
    names: Collection[str],
    *,
    scope: str = "",
    aliases: Mapping[str, str] | None = None,
    origin: Origin | None = None,
) -> str:
    """The full name of ``name``.

    Tried in this order: ``name`` in ``scope``, ``name`` itself, and the only one of
    ``names`` whose last segment (after ``/``) is ``name``.

    Raises:
        NameNotFound: If there is none; the message lists the existing ones.
        AmbiguousName: If there is more than one; the message lists them.
    """
    aliases = aliases or {}
    for candidate in (scoped_name_of(scope, name), name):
        full = aliases.get(candidate, candidate)
        if full in names:
            return full
    ending = f"/{name}"
    found = [full for full in names if full.endswith(ending)]
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousName(
            f"{len(found)} {kind}s are named {name!r}: {listing(found)}.",
            origin=origin,
            hint="Give the full name, or the part with 'on'.",
        )
    error = not_found(kind, name, names, origin=origin)
    if closest_name(name, names) is not None:
        error.hint += f" Available {kind}s: {listing(names)}."
    raise error


def find_scope(world: World, spec: Spec, on: str) -> str:
    """Returns the part in which an agent's short names are searched first.

    Args:
        world: The world.
        spec: The agent's spec.
        on: The part it names, relative to its own; empty for its own.

    Raises:
        NameNotFound: If there is no such part.
    """
    if not on:
        return spec.scope
    names = [*world.joint_names, *world.element_names]
    scopes = {n[:i] for n in names for i, letter in enumerate(n) if letter == "/"}
    for scope in (scoped_name_of(spec.scope, on), on):
        if scope in scopes:
            return scope
    raise not_found("part", on, scopes, origin=spec.origin)


def find_frame(world: World, name: str, *, scopes: Collection[str]) -> str:
    """Returns the full name of an anchor or element: in one of the parts, or the name itself."""
    for scope in scopes:
        full = scoped_name_of(scope, name)
        if full in world.anchors or full in world.element_names:
            return full
    return name


def port_names(world: World, signals: Signals) -> dict[str, None]:
    """Every port with its bus, ``can0/arm/elbow``."""
    buses = tuple(f"{spec.name}/" for spec in world.buses)
    return {s.name.rpartition(".")[0]: None for s in signals if s.name.startswith(buses)}


def find_dof(world: World, name: str, *, scope: str = "", origin: Origin | None = None) -> int:
    """Degree of freedom of a joint that has one (``J2``), or of ``joint.dof`` (``base.x``)."""
    joint, dot, dof = _split(world, name, scope)
    full = find_name(
        "joint", joint, world.joint_names, scope=scope, aliases=world.aliases, origin=origin
    )
    return world.single_dof(f"{full}{dot}{dof}", origin=origin)


def _split(world: World, name: str, scope: str) -> tuple[str, str, str]:
    """Joint and degree of freedom of a name; an imported joint's name may contain dots."""
    for joint, dot, dof in ((name, "", ""), name.rpartition(".")):
        for candidate in (scoped_name_of(scope, joint), joint):
            if candidate in world.aliases:
                return world.aliases[candidate], dot, dof
        found = [full for alias, full in world.aliases.items() if alias.endswith(f"/{joint}")]
        if joint and len(found) == 1:
            return found[0], dot, dof
    return name.partition(".")


def value_signal(world: World, dof: int) -> str:
    """Name of the signal of a degree of freedom's value: ``arm/J2.angle``, ``base.x``."""
    name = world.dof_name(dof)
    if "." in name:
        return name
    return f"{name}.{world.joints[world.joint(name)].kind.dofs[0]}"


#: Signals of a degree of freedom that only an actuator adds.
_ACTUATOR_INPUTS = ("target", "target_speed", "target_effort")


def dof_signal(
    world: World, signals: Signals, dof: int, what: str, *, origin: Origin | None = None
) -> str:
    """Name of another signal of a degree of freedom: ``what`` is "speed", "target", ….

    Raises:
        NameNotFound: If the degree of freedom has none; the message lists the existing ones.
    """
    name = world.dof_name(dof)
    for candidate in (f"{name}.{what}", f"{name}_{what}"):
        if candidate in signals:
            return candidate
    joint = name.partition(".")[0]
    has = [signal.name for signal in signals if signal.name.startswith(f"{joint}.")]
    hint = "Give the joint an actuator first. " if what in _ACTUATOR_INPUTS else ""
    raise NameNotFound(
        f"joint {name!r} has no {what.replace('_', ' ')}.",
        origin=origin,
        hint=f"{hint}Its signals: {listing(has)}.",
    )
