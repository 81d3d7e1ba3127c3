"""Reading a posture back: the joint values that a real machine reports over a bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.agents.lookup import value_signal
from linkwork.errors import SessionError, listing

if TYPE_CHECKING:
    from linkwork.session.cycle import Cycle


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
        Values [rad or m] by joint, ``arm/elbow``, or by ``joint.dof``.

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


def _sensors(cycle: Cycle, bus: str) -> dict[str, str]:
    """Joints by the key of the sensor on a bus that tells their value."""
    world, block = cycle.world, cycle.bus(bus)
    names = {value_signal(world, dof): world.dof_name(dof) for dof in range(world.nv)}
    return {
        key: names[signal.signal]
        for key, signal in block.plan.entries("sensor")
        if signal.signal in names
    }
