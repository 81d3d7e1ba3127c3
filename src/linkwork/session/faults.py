"""Faults of a running session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwork.components.faults import Fault, FaultTargets, Phase
from linkwork.core.errors import (
    FormatError,
    LinkworkError,
    Origin,
    SceneError,
    SessionError,
    not_found,
)
from linkwork.core.registry import FAULTS
from linkwork.core.state import Layout
from linkwork.kinematics.kernels import FREE
from linkwork.model.parts import Spec
from linkwork.model.world import World
from linkwork.session import messages as m

if TYPE_CHECKING:
    from linkwork.session.cycle import Cycle
    from linkwork.session.session import Session


#: Maximum number of injected faults besides those of the scene.
MAX_INJECTED_FAULTS = 8


class FaultSet:
    """Every fault of a cycle.

    Args:
        world: The world.

    Attributes:
        scene_faults: The faults of the scene.
        injected: Injected faults, by their slot in the state.
        lost: Names of faults that an edit of the scene ended, because their target no longer
            exists.
    """

    def __init__(self, world: World) -> None:
        self.scene_faults: list[Fault] = [_build(world, spec) for spec in world.faults]
        self.injected: list[Fault | None] = [None] * MAX_INJECTED_FAULTS
        self.lost: list[str] = []
        self._all: list[Fault] = list(self.scene_faults)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def lay_out(self, layout: Layout) -> None:
        """Allocates memory for injected faults."""
        for number in range(MAX_INJECTED_FAULTS):
            for slot, shape in Fault.memory().items():
                name = f"{_slot_name(number)}/{slot.removeprefix('int:')}"
                layout.add(name, *shape, integer=slot.startswith("int:"))

    def join(self, cycle: Cycle) -> None:
        """Resolves the targets of all faults."""
        self._cycle = cycle
        self._targets = _targets(cycle)
        for fault in self.scene_faults:
            fault.join(self._targets)

    # ---- the step ----------------------------------------------------------------------------

    def tick(self, time: float, h: float) -> None:
        """Begins and ends faults by their rules."""
        for fault in self._all:
            if fault.owns_memory:
                fault.tick(time, h)

    def apply(self, phase: Phase) -> None:
        """Applies active faults."""
        for fault in self._all:
            fault.apply(phase)

    def revert(self, phase: Phase) -> None:
        """Reverts active faults, in reverse order."""
        for fault in reversed(self._all):
            fault.revert(phase)

    def reapply(self, phase: Phase) -> None:
        """Applies them again if one has begun or ended since that phase."""
        if any(fault.stale(phase) for fault in self._all):
            self.revert(phase)
            self.apply(phase)

    # ---- by request --------------------------------------------------------------------------

    def find(self, name: str) -> Fault | None:
        """The fault called ``name``."""
        return next((fault for fault in self._all if fault.spec.name == name), None)

    def inject(self, spec: Spec, slot: int = -1) -> Fault:
        """Adds a fault to the running scene.

        Args:
            spec: The fault.
            slot: Its slot, if the state holds its memory already; -1 for a new one.

        Raises:
            LinkworkError: If it is invalid, or all slots are used.
        """
        cycle, known = self._cycle, slot >= 0
        if slot < 0:
            slot = self._free(spec.name)
        fault = _build(cycle.world, spec, _slot_name(slot))
        fault.join(self._targets)
        fault.bind(cycle.state)
        before = self.injected[slot]
        if before is not None:
            for phase in reversed(Phase):
                before.revert(phase)
        if not known:
            fault.reset()
        self.injected[slot] = fault
        self._all = [*self.scene_faults, *(each for each in self.injected if each is not None)]
        return fault

    def _free(self, name: str) -> int:
        for slot, fault in enumerate(self.injected):
            if fault is not None and fault.spec.name == name:
                return slot
        for slot, fault in enumerate(self.injected):
            if fault is None:
                return slot
        for slot, fault in enumerate(self.injected):
            if fault is not None and not (fault.active or fault.pending):
                return slot
        raise SessionError(
            f"{MAX_INJECTED_FAULTS} faults are injected already.", hint="End one of them first."
        )

    def transfer_from(self, old: FaultSet) -> None:
        """Injects the faults injected before an edit again; lists those that no longer fit."""
        for slot, fault in enumerate(old.injected):
            if fault is None or not fault.owns_memory:
                continue
            try:
                self.inject(fault.spec, slot)
            except LinkworkError:
                self.lost.append(fault.spec.name)
                continue
            for name in Fault.memory():
                field = f"{_slot_name(slot)}/{name.removeprefix('int:')}"
                self._cycle.state[field][...] = old._cycle.state[field]


def _slot_name(slot: int) -> str:
    return f"fault/+{slot}"  # no name in a scene contains a plus


def _build(world: World, spec: Spec, place: str = "") -> Fault:
    taken = {*world.joint_names, *world.element_names, *world.scene.parts}
    taken |= {each.name for each in (*world.sensors, *world.agents, *world.buses)}
    if spec.name in taken:
        raise SceneError(
            f"fault {spec.name!r} has the name of another object of the scene.", origin=spec.origin
        )
    return FAULTS.get(spec.type, origin=spec.origin)(world, spec, place)


def _targets(cycle: Cycle) -> FaultTargets:
    sensors: dict[str, Any] = {}
    signals: dict[str, Any] = {}
    for block in cycle.sensors:
        phase = Phase.AFTER_STEP if block.reads_after_step else Phase.SENSE
        for spec in block.specs:
            names = [s.name for s in block.signals() if s.name.startswith(f"{spec.name}.")]
            found = {name: (cycle.signals[name], phase) for name in names}
            sensors[spec.name] = list(found.values())
            signals |= found
    for bus in cycle.buses:
        for row in bus.rows.values():
            if row.own.direction == "output":
                signals[row.own.name] = row.own, Phase.OUTPUT
    standing = {
        int(body)
        for engine in cycle.engines
        if engine.kinematic
        for body in engine.owned.nonzero()[0]
        if cycle.world.kind[body] == FREE
    }
    return FaultTargets(
        sensors=sensors,
        signals=signals,
        driven=frozenset(dof for actuator in cycle.actuators for dof in actuator.dofs),
        prescribed=frozenset(dof for engine in cycle.engines for dof in engine.prescribed),
        standing=frozenset(standing),
        buses={bus.spec.name: bus.adapter for bus in cycle.buses},
    )


class _Ordered(NamedTuple):
    """An order to a bus process: the fault's bus and count, and the restarts of the process."""

    bus: str
    begun: int
    restarts: int


class FaultInjector:
    """Begins, ends and logs the faults of a session; keeps nothing that affects the run.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._logged: dict[str, bool] = {}
        self._ordered: dict[str, _Ordered] = {}

    # ---- requests ----------------------------------------------------------------------------

    def apply(self, message: m.SetFault) -> None:
        """Begins or ends a fault; for ``SetFault``.

        Raises:
            LinkworkError: If there is no fault of that name, or it is invalid.
        """
        faults = self._session.cycle.faults
        if message.kind:
            self._inject(message)
        elif not message.name:
            if message.on:
                raise SessionError("a fault needs a name, or a type and a target.")
            for fault in faults:
                fault.end()
        else:
            fault = faults.find(message.name)
            if fault is None:
                raise not_found("fault", message.name, [f.spec.name for f in faults])
            if message.on:
                fault.begin(self._session.time)
            else:
                fault.end()
        self.log_changes()

    def _inject(self, message: m.SetFault) -> None:
        faults = self._session.cycle.faults
        if not message.on:
            raise SessionError("a new fault cannot be ended; give its name alone.")
        name = message.name or self._new_name(message.kind)
        if any(fault.spec.name == name for fault in faults.scene_faults):
            raise SessionError(
                f"the scene has a fault {name!r}.", hint="Give the new one another name."
            )
        if not name.replace("-", "").replace("_", "").isalnum() or len(name) > 100:
            raise FormatError(f"a fault cannot be named {name!r}: use letters, digits, _ and -.")
        spec = Spec("fault", message.kind, name, dict(message.args), Origin())
        fault = faults.inject(spec, message.slot)
        if message.slot < 0 and fault.params.at is None and fault.params.chance is None:
            fault.begin(self._session.time)
        elif message.slot < 0 and fault.chance_per_frame and fault.params.at is None:
            fault.begin(self._session.time)
            fault.use_up_rule()

    def _new_name(self, type: str) -> str:
        taken, name, number = {f.spec.name for f in self._session.cycle.faults}, type, 2
        while name in taken:
            name, number = f"{type}_{number}", number + 1
        return name

    def injected(self) -> list[m.SetFault]:
        """Returns messages that inject the same faults, for a recording that begins in mid-run."""
        return [
            m.SetFault(fault.spec.name, True, fault.spec.type, dict(fault.spec.params), slot)
            for slot, fault in enumerate(self._session.cycle.faults.injected)
            if fault is not None
        ]

    # ---- events ------------------------------------------------------------------------------

    def log_changes(self) -> None:
        """Logs faults that began or ended, and passes them to the buses."""
        for fault in self._session.cycle.faults:
            name, active = fault.spec.name, fault.active
            if self._logged.get(name, False) != active:
                self._logged[name] = active
                if _is_known_to_recur(fault):
                    continue
                what = f"{fault.type} {fault.about}".strip()
                if active:
                    again = ", again and again by chance" if _recurs(fault) else ""
                    self._session.log(
                        f"fault {name} begins: {what}{again}.", level="warning", source=name
                    )
                else:
                    self._session.log(f"fault {name} is over.", source=name)
            if fault.order is not None:
                self._order(fault)

    def _order(self, fault: Fault) -> None:
        """Starts or ends a fault in the process of a bus; again after that has restarted."""
        session, order = self._session, fault.order
        if session.bus_processes is None or order is None:
            return
        bus, args = order
        process = session.bus_processes[bus]
        if not process.ready:
            return
        name = fault.spec.name
        wanted = _Ordered(bus, fault.count, process.restarts) if fault.active else None
        before = self._ordered.get(name)
        if wanted == before:
            return
        if before is not None and before.restarts == process.restarts:
            session.bus_processes.order(before.bus, "clear", {"name": name})
        if wanted is not None:
            session.bus_processes.order(bus, "fault", args)
            self._ordered[name] = wanted
        else:
            self._ordered.pop(name, None)


def _is_known_to_recur(fault: Fault) -> bool:
    """Returns whether its recurrence was already logged."""
    return _recurs(fault) and fault.count > 1


def _recurs(fault: Fault) -> bool:
    """Whether it begins by chance, more than once."""
    return fault.params.chance is not None and not fault.chance_per_frame
