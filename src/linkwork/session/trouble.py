"""Trouble: the faults of a compiled world, the scene's and those that people inject."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from linkwork.errors import LinkworkError, SceneError, SessionError
from linkwork.faults import Fault, Phase, Targets
from linkwork.kinematics.kernels import FREE
from linkwork.parts import Spec
from linkwork.registry import FAULTS
from linkwork.state import Layout
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.session.cycle import Cycle

#: How many faults people can inject into a running scene besides its own.
LIVE = 8


class Trouble:
    """Every fault of a cycle.

    Args:
        world: The world.

    Attributes:
        faults: The scene's.
        live: Those that people injected, by their place in the state.
        lost: Names of those that an edit of the scene ended, because what they struck is gone.
    """

    def __init__(self, world: World) -> None:
        self.faults: list[Fault] = [_build(world, spec) for spec in world.faults]
        self.live: list[Fault | None] = [None] * LIVE
        self.lost: list[str] = []
        self._all: list[Fault] = list(self.faults)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def lay_out(self, layout: Layout) -> None:
        """Makes room for those that people will inject."""
        for number in range(LIVE):
            for slot, shape in Fault.memory().items():
                name = f"{_place(number)}/{slot.removeprefix('int:')}"
                layout.add(name, *shape, integer=slot.startswith("int:"))

    def join(self, cycle: Cycle) -> None:
        """Lets every fault find what it strikes."""
        self._cycle = cycle
        self._targets = _targets(cycle)
        for fault in self.faults:
            fault.join(self._targets)

    # ---- the step ----------------------------------------------------------------------------

    def tick(self, time: float, h: float) -> None:
        """Begins and ends faults, as their rules say."""
        for fault in self._all:
            if fault.mine:
                fault.tick(time, h)

    def strike(self, phase: Phase) -> None:
        """Puts them on."""
        for fault in self._all:
            fault.strike(phase)

    def lift(self, phase: Phase) -> None:
        """Takes them off, the last first."""
        for fault in reversed(self._all):
            fault.lift(phase)

    def renew(self, phase: Phase) -> None:
        """Puts them on anew where one has begun or ended since that phase."""
        if any(fault.stale(phase) for fault in self._all):
            self.lift(phase)
            self.strike(phase)

    # ---- by hand -----------------------------------------------------------------------------

    def find(self, name: str) -> Fault | None:
        """The fault called ``name``."""
        return next((fault for fault in self._all if fault.spec.name == name), None)

    def inject(self, spec: Spec, slot: int = -1) -> Fault:
        """Adds a fault to the running scene.

        Args:
            spec: The fault.
            slot: Its place, where the state holds its memory already; -1 for a new one.

        Raises:
            LinkworkError: If it cannot be, or there is no room.
        """
        cycle, known = self._cycle, slot >= 0
        if slot < 0:
            slot = self._free(spec.name)
        fault = _build(cycle.world, spec, _place(slot))
        fault.join(self._targets)
        fault.bind(cycle.state)
        before = self.live[slot]
        if before is not None:
            for phase in reversed(Phase):
                before.lift(phase)
        if not known:
            fault.reset()
        self.live[slot] = fault
        self._all = [*self.faults, *(each for each in self.live if each is not None)]
        return fault

    def _free(self, name: str) -> int:
        for slot, fault in enumerate(self.live):
            if fault is not None and fault.spec.name == name:
                return slot
        for slot, fault in enumerate(self.live):
            if fault is None:
                return slot
        for slot, fault in enumerate(self.live):
            if fault is not None and not (fault.active or fault.waits):
                return slot
        raise SessionError(f"{LIVE} faults are injected already.", hint="End one of them first.")

    def take_over(self, old: Trouble) -> None:
        """Injects what was injected into the scene before its edit; names what no longer fits."""
        for slot, fault in enumerate(old.live):
            if fault is None or not fault.mine:
                continue
            try:
                self.inject(fault.spec, slot)
            except LinkworkError:
                self.lost.append(fault.spec.name)
                continue
            for name in Fault.memory():
                field = f"{_place(slot)}/{name.removeprefix('int:')}"
                self._cycle.state[field][...] = old._cycle.state[field]


def _place(slot: int) -> str:
    return f"fault/+{slot}"  # no name in a scene has a plus


def _build(world: World, spec: Spec, place: str = "") -> Fault:
    taken = {*world.joint_names, *world.element_names, *world.scene.parts}
    taken |= {each.name for each in (*world.sensors, *world.agents, *world.buses)}
    if spec.name in taken:
        raise SceneError(
            f"fault {spec.name!r} has the name of another thing of the scene.", origin=spec.origin
        )
    return FAULTS.get(spec.type, origin=spec.origin)(world, spec, place)


def _targets(cycle: Cycle) -> Targets:
    sensors: dict[str, Any] = {}
    signals: dict[str, Any] = {}
    for block in cycle.sensors:
        phase = Phase.LOOK if block.at_the_end else Phase.SENSE
        for spec in block.specs:
            names = [s.name for s in block.signals() if s.name.startswith(f"{spec.name}.")]
            found = {name: (cycle.signals[name], phase) for name in names}
            sensors[spec.name] = list(found.values())
            signals |= found
    for bus in cycle.buses:
        for row in bus.rows.values():
            if row.own.direction == "output":
                signals[row.own.name] = row.own, Phase.GIVE
    standing = {
        int(body)
        for engine in cycle.engines
        if engine.kinematic
        for body in engine.owned.nonzero()[0]
        if cycle.world.kind[body] == FREE
    }
    return Targets(
        sensors=sensors,
        signals=signals,
        driven=frozenset(dof for actuator in cycle.actuators for dof in actuator.dofs),
        prescribed=frozenset(dof for engine in cycle.engines for dof in engine.prescribed),
        standing=frozenset(standing),
        buses={bus.spec.name: bus.adapter for bus in cycle.buses},
    )
