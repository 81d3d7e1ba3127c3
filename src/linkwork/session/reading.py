"""Reading a posture back: the joint values that a real machine reports over a bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.agents.lookup import value_signal
from linkwork.errors import SessionError, listing
from linkwork.units import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linkwork.session.cycle import Cycle
    from linkwork.world import World

#: How far rounding on the way may lead beyond a joint's range [rad or m].
_SLACK = 1e-6


def machine_buses(cycle: Cycle) -> list[str]:
    """Buses with a machine behind them that tells where joints are."""
    return [
        block.plan.name
        for block in cycle.buses
        if block.plan.plant != "virtual" and _sensors(cycle, block.plan.name)
    ]


def read_posture(cycle: Cycle, bus: str = "") -> dict[str, float]:
    """What a machine reported last, whatever the ports show.

    Args:
        cycle: The world and its state.
        bus: Its bus; the only one with a machine behind it if empty.

    Returns:
        Values [rad or m] by joint, ``arm/elbow``, or by ``joint.dof``; as they came, also beyond
        the joint's range.

    Raises:
        LinkworkError: If there is no such bus, no machine is behind it, or it has not yet said
            where all joints are, or is lost.
    """
    known = machine_buses(cycle)
    if not bus:
        if len(known) != 1:
            what = f"{len(known)} buses have one: {listing(known)}" if known else "no bus has one"
            raise SessionError(
                f"a posture is read of a machine, and {what}.",
                hint="Name the bus." if known else "Give a bus plant = 'real', or 'both'.",
            )
        bus = known[0]
    cycle.bus(bus)
    if bus not in known:
        if any(block.plan.name == bus and block.plan.plant != "virtual" for block in cycle.buses):
            raise SessionError(f"bus {bus!r} has no sensor of a joint's value.")
        raise SessionError(
            f"the scene itself is behind bus {bus!r}, no machine.",
            hint="Give it plant = 'real', or 'both'.",
        )
    block, found, silent = cycle.bus(bus), {}, []
    lost = {
        port.name
        for port, gone in zip(block.plan.ports, block.watch.lost.tolist(), strict=True)
        if gone
    }
    for key, joint in _sensors(cycle, bus).items():
        number, row = block.row(key)
        came, value = block.slot("fed")[number].tolist()
        if not came or row.port.name in lost:
            silent.append(joint)
        else:
            found[joint] = value
    if silent:
        raise SessionError(
            f"bus {bus!r}: the machine says nothing of {listing(silent)}.",
            hint="Is it switched on and connected? While the session runs or waits, values come.",
        )
    return found


def beyond(world: World, found: Mapping[str, float]) -> list[str]:
    """What to say of joints that a machine reports beyond their range."""
    said = []
    for name, value in found.items():
        dof = world.single_dof(name)
        low, high = float(world.dof_lo[dof]), float(world.dof_hi[dof])
        if not low - _SLACK <= value <= high + _SLACK:
            unit = "rad" if world.dof_is_angle(dof) else "m"
            at, least, most = (in_words(each, unit) for each in (value, low, high))
            said.append(f"{name} is at {at}, beyond its range of {least} to {most}.")
    return said


def _sensors(cycle: Cycle, bus: str) -> dict[str, str]:
    """Joints by the key of the sensor on a bus that tells their value."""
    world, block = cycle.world, cycle.bus(bus)
    names = {value_signal(world, dof): world.dof_name(dof) for dof in range(world.nv)}
    return {
        key: names[signal.signal]
        for key, signal in block.plan.entries("sensor")
        if signal.signal in names
    }
