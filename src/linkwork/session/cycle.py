"""Cycle: one step of a compiled world.

sense → decide → drive → move, in this order. The session applies inputs before and publishes
outputs after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.components.actuators import Actuator, EffortBy
from linkwork.components.actuators.auto_servo import resolve_auto_servos
from linkwork.components.agents import Agent
from linkwork.components.faults import Phase
from linkwork.components.sensors import Sensor
from linkwork.core.errors import EngineError, LinkworkError, SceneError, not_found
from linkwork.core.registry import ACTUATORS, AGENTS, BUSES, SENSORS, Registry
from linkwork.core.signals import Signals
from linkwork.core.state import CONTACT_CAPACITY, Layout, State
from linkwork.engines import Engine
from linkwork.engines.common.kernels import loop_state, spring_state
from linkwork.geometry.kernels import quat_rotvec
from linkwork.kinematics.kernels import BALL, FREE, forward_poses, forward_twists
from linkwork.model.blocks import Block, add_blocks, add_signals
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World
from linkwork.session.bus_interface import BusType, SessionBus
from linkwork.session.engine_assignment import build_engines
from linkwork.session.faults import FaultSet
from linkwork.session.kernels import RUN_LAST_ENERGY, orientations, update_run_stats
from linkwork.session.listeners import SignalListeners
from linkwork.session.world_signals import add_target_signals, add_world_signals

#: Owner of signals set by users; no agent can have this name.
USER = "user"


#: Gap of a loop in the first posture above which it is reported [m].
OPEN_LOOP_TOLERANCE = 1e-4
#: Rows of the contact table for each shape that moves and touches.
CONTACTS_PER_SHAPE = 8


class Cycle:
    """A compiled world with its engines, sensors, agents and actuators, and its state.

    Attributes:
        world: Structure.
        state: Everything that changes with time.
        signals: Named values on the state.
        findings: Features that engines and components refuse or approximate.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.h = world.scene.step
        self._servo_notes = resolve_auto_servos(world)
        self.engines: list[Engine] = build_engines(world)
        self.sensors: list[Sensor] = _by_type(SENSORS, world, world.sensors)
        self._early = [sensor for sensor in self.sensors if not sensor.reads_after_step]
        self._last = [sensor for sensor in self.sensors if sensor.reads_after_step]
        self.actuators: list[Actuator] = _by_type(ACTUATORS, world, _actuator_specs(world))
        self._metered = [actuator for actuator in self.actuators if actuator.metered]
        _add_rotors(world, self.actuators)
        for block in (*self.sensors, *self.actuators):
            block.attach_engines(self.engines)
        _check_names(world.agents, taken=(USER,))
        self.agents: list[Agent] = [
            AGENTS.get(spec.type, origin=spec.origin)(world, spec, f"agent/{spec.name}")
            for spec in world.agents
        ]
        self.buses: list[SessionBus] = _build_buses(world)
        _check_names(world.faults)
        self.faults = FaultSet(world)
        inputs: dict[int, Sequence[str]] = {}
        for actuator in self.actuators:
            for n, d in enumerate(actuator.dofs):
                inputs[d] = (*inputs.get(d, ()), *actuator.inputs_of(n))
        for engine in self.engines:
            engine.inputs = inputs
            for actuator in self.actuators:
                for n, d in enumerate(actuator.dofs):
                    hard, most = actuator.limits_of(n)
                    engine.max_acceleration[d] = hard
                    engine.max_effort[d] = min(engine.max_effort[d], most)
        self._check()
        driven = _driven(world, self.actuators, self.engines)
        for engine in self.engines:
            engine.prepare(driven)
            engine.reports_contacts = any(sensor.reads_contacts for sensor in self.sensors)
        self._lay_out()
        self._reset()

    @property
    def blocks(self) -> list[Block]:
        """All blocks, in the order of the cycle."""
        return [*self.sensors, *self.agents, *self.actuators, *self.engines, *self.buses,
                *self.faults.scene_faults]  # fmt: skip

    @property
    def codes(self) -> dict[str, str]:
        """Code generated for this world or chosen on this machine, by its user."""
        found = {f"engine {n} ({e.type})": e.code() for n, e in enumerate(self.engines, start=1)}
        return {who: code for who, code in found.items() if code}

    def _check(self) -> None:
        found = [f for block in self.blocks for f in block.check()]
        self.findings: list[Finding] = [*found, *self._servo_notes]
        errors = [f for f in self.findings if f.level == "error"]
        if errors:
            more = f" ({len(errors) - 1} more like this)" if len(errors) > 1 else ""
            raise EngineError(f"{errors[0].about}: {errors[0].text}{more}", origin=errors[0].origin)

    def _lay_out(self) -> None:
        world = self.world
        layout = Layout()
        touching = sum(s.shape.collide and not world.is_static(s.body) for s in world.shapes)
        layout.add_world(
            world.nq,
            world.nv,
            world.nb,
            len(world.loop_names),
            len(world.element_names),
            springs=len(world.spring_names),
            contacts=CONTACT_CAPACITY + CONTACTS_PER_SHAPE * touching,
        )
        turning = [b for b in world.joint_body.tolist() if world.kind[b] in (BALL, FREE)]
        layout.add("orientation", len(turning), 3)
        add_blocks(layout, self.blocks)
        self.faults.lay_out(layout)
        layout.add("listeners/last", SignalListeners.capacity)
        self.state = State(layout)
        self._before = np.zeros_like(self.state.data)
        self._listeners = -1  # number of listeners at the last checkpoint()
        offset = [int(world.qadr[b]) + (3 if world.kind[b] == FREE else 0) for b in turning]
        self._quaternions = np.array(offset, np.int64)
        self._orientation = self.state["orientation"]
        self._energy, self._gap = self.state.report.energy, self.state.report.gap
        self._contacts = self.state["report/contact_count"]
        self._clock, self._run = self.state["clock"], self.state["report/run"]
        self.signals = Signals(self.state.data)
        add_world_signals(self.signals, self.state, world, turning)
        undriven = {d for e in self.engines for d in e.prescribed}
        undriven -= {d for a in self.actuators for d in a.dofs}
        add_target_signals(self.signals, self.state, world, sorted(undriven))
        add_signals(self.signals, self.state, self.blocks)
        for bus in self.buses:
            bus.join(self.signals, self.state)
        self.faults.join(self)
        for block in self.blocks:
            block.bind(self.state)
        if len(self.engines) > 1:
            self._step_start = self.state.pose.copy(), self.state.twist.copy()
            for engine in self.engines:
                engine.start_pose, engine.start_twist = self._step_start

    def _reset(self) -> None:
        """Writes the first state."""
        world, state = self.world, self.state
        state.data[:] = 0.0
        state.q[:], state.v[:] = world.q0, world.v0
        owned = np.any([engine.owned for engine in self.engines], axis=0)
        state.v[~owned[world.dof_body]] = 0.0  # scenery does not move
        state.drive[3], state.drive[4] = -np.inf, np.inf
        state.target_speed[:] = world.dof_speed
        for i in range(world.nv):
            body = int(world.dof_body[i])
            k = i - int(world.vadr[body])
            if world.kind[body] not in (BALL, FREE) or (world.kind[body] == FREE and k < 3):
                state.target[i] = world.q0[int(world.qadr[body]) + k]
            elif world.kind[body] == FREE:
                first = int(world.qadr[body]) + 3
                state.target[i] = quat_rotvec(world.q0[first : first + 4])[k - 3]
        state["param/gravity"][:] = world.scene.gravity
        state["param/mass"][:] = world.mass
        state["param/visible"][:] = 1.0
        state["param/damping"][:] = world.damping
        state["param/joint_friction"][:] = world.friction
        for piece in world.shapes:
            state["param/friction"][piece.element] = piece.friction
        self._place()
        self._init_spring_lengths()
        for block in self.blocks:
            block.reset()
        for block in self.blocks:
            block.params_changed()
        for engine in self.engines:
            self.findings += engine.assemble()
        for sensor in self.sensors:
            sensor.read(0, now=True)
        for bus in self.buses:
            bus.publish_outputs()
        self._measure_loops()
        self._measure_energy()
        self.first = state.copy()

    def _measure_energy(self) -> None:
        """Fills the energy of the present state."""
        energy = self._energy
        energy[:] = 0.0
        for engine in self.engines:
            engine.add_energy()
        self._run[RUN_LAST_ENERGY] = energy.sum()

    def _init_spring_lengths(self) -> None:
        """Sets the rest length of springs without one to their first length."""
        world, state = self.world, self.state
        law, which = state["param/spring"], np.arange(len(world.spring_names))
        law[:] = world.spring_law
        spring_state(
            which, *world.spring_arrays, law, state.pose, state.twist, world.com,
            state.report.spring,
        )  # fmt: skip
        slack = np.isnan(law[:, 1])
        law[slack, 1] = state.report.spring[slack, 0]
        state.report.spring[slack, 1] = 0.0

    def _measure_loops(self) -> None:
        """Reports the loops that are open in the first posture."""
        world, state = self.world, self.state
        for n, name in enumerate(world.loop_names):
            gap, _ = loop_state(
                np.array([n]), *world.loop_arrays, state.pose, state.loop_q, state["loop_turns"],
            )  # fmt: skip
            if gap > self._gap[0]:
                self._gap[:] = gap, n
            if gap > OPEN_LOOP_TOLERANCE:
                text = (
                    f"it is open by {1e3 * gap:.3g} mm at the start; a dynamic engine snaps it "
                    "shut. Give its joints values that close it."
                )
                self.findings.append(Finding("approximated", name, text, world.loop_origins[n]))

    def follows_exactly(self, dof: int) -> bool:
        """Whether a prescribed motion of this degree of freedom is followed, beyond limits too."""
        return any(engine.follows_exactly(dof) for engine in self.engines)

    def place_start(self) -> None:
        """Moves joints to the motions that agents prescribe at t = 0."""
        state = self.state
        state.lead[0] = 0.0
        for agent in self.agents:
            agent.place_start()
        placed = [engine.place_start() for engine in self.engines]
        if any(placed):
            orientations(state.q, self._quaternions, self._orientation)
            for sensor in self.sensors:
                sensor.read(0, now=True)
            for bus in self.buses:
                bus.publish_outputs()
        state.lead[0] = 0.0
        state.stance[:, 0] = 0.0

    def take_notices(self) -> list[str]:
        """Returns the engines' warnings of the last step, once."""
        found = [text for engine in self.engines for text in engine.notices]
        for engine in self.engines:
            engine.notices = []
        return found

    def refresh(self) -> None:
        """Updates all derived values, after the state was written from outside."""
        self._place()
        for block in self.blocks:
            block.params_changed()
        self._measure_energy()

    def _place(self) -> None:
        """Computes poses and twists from the coordinates."""
        world, state = self.world, self.state
        forward_poses(*world.tree, state.q, state.pose)
        forward_twists(*world.tree, world.com, state.q, state.v, state.pose, state.twist)
        orientations(state.q, self._quaternions, self._orientation)

    def restore(self, state: State | bytes) -> None:
        """Restores a state, bit for bit."""
        self.state.restore(state)
        for block in self.blocks:
            block.params_changed()

    def sense(self) -> None:
        """Fills the readings."""
        step, faults = int(self._clock[0]), self.faults
        if faults:
            faults.revert(Phase.SENSE)
            faults.tick(step * self.h, self.h)
            faults.reapply(Phase.AFTER_STEP)
        for sensor in self._early:
            sensor.read(step)
        if faults:
            faults.apply(Phase.SENSE)

    def decide(self) -> None:
        """Calls each agent whose period is due."""
        step = int(self._clock[0])
        self.state.lead[0] = 0.0
        self.state.stance[:, 0] = 0.0
        for agent in self.agents:
            if step % agent.every == 0:
                try:
                    agent.decide(step)
                except LinkworkError as error:
                    raise error.during(f"{agent.type} {agent.spec.name!r}") from None

    def bus(self, name: str) -> SessionBus:
        """Returns the bus called ``name``.

        Raises:
            NameNotFound: If there is none.
        """
        for bus in self.buses:
            if bus.spec.name == name:
                return bus
        raise not_found("bus", name, [bus.spec.name for bus in self.buses])

    def sensor(self, name: str) -> tuple[Sensor, int]:
        """Returns the block of the sensor called ``name``, and its row in it.

        Raises:
            NameNotFound: If there is none.
        """
        for block in self.sensors:
            for number, spec in enumerate(block.specs):
                if spec.name == name:
                    return block, number
        known = [spec.name for block in self.sensors for spec in block.specs]
        raise not_found("sensor", name, known)

    def publish_outputs(self) -> None:
        """Publishes the sensors' values to the buses' ports."""
        faults = self.faults
        if faults:
            faults.revert(Phase.OUTPUT)
        for bus in self.buses:
            bus.finish()
        if faults:
            faults.apply(Phase.OUTPUT)

    def move(self) -> None:
        """Turns targets into efforts and advances the engines by one step."""
        state, h = self.state, self.h
        step = int(self._clock[0])
        for actuator in self.actuators:
            actuator.drive(step)
        if self.faults:
            self.faults.apply(Phase.MOVE)
        energy = self._energy
        energy[0] = energy[1] = self._gap[0] = self._gap[1] = 0.0
        if self._contacts[0]:
            state.report.clear_contacts()
        engines = self.engines
        if len(engines) > 1:
            self._step_start[0][:] = state.pose
            self._step_start[1][:] = state.twist
        for engine in engines:
            engine.advance(h)
        for actuator in self._metered:
            actuator.meter()
        if self.faults:
            self.faults.revert(Phase.MOVE)
        if len(self._quaternions):
            orientations(state.q, self._quaternions, self._orientation)
        self._clock[0] += 1
        self._read_end_sensors(step + 1)
        update_run_stats(self._run, self._gap, energy, step + 1)

    def _read_end_sensors(self, step: int) -> None:
        """Reads the sensors that measure after the step."""
        if not self._last:
            return
        if self.faults:
            self.faults.revert(Phase.AFTER_STEP)
        for sensor in self._last:
            sensor.read(step)
        if self.faults:
            self.faults.apply(Phase.AFTER_STEP)

    def contacts(self) -> np.ndarray:
        """Returns the contacts of the last step, as rows of the report's table."""
        report = self.state.copy().report
        report.clear_contacts()
        for engine in self.engines:
            engine.add_contacts(report)
        return report.contacts[: report.contact_count]

    def joint_forces(self) -> np.ndarray:
        """Returns the reaction forces of the last step; see :meth:`Engine.joint_forces`."""
        return np.concatenate([engine.joint_forces() for engine in self.engines])

    def checkpoint(self, listeners: int = 0) -> None:
        """Saves the state for :meth:`rollback`, without unused memory of listeners."""
        if listeners != self._listeners:
            self._listeners = listeners
            end = self.state.data.size - SignalListeners.capacity + listeners
            reported = any(engine.reports_contacts for engine in self.engines)
            start = 0 if reported else self.state.layout.fields["report/contacts"].size
            self._kept = self._before[start:end], self.state.data[start:end]
        before, now = self._kept
        before[:] = now

    def rollback(self) -> None:
        """Restores the state of :meth:`checkpoint`, after a failed step."""
        before, now = self._kept
        now[:] = before
        self.take_notices()
        for block in self.blocks:
            block.params_changed()

    def close(self) -> None:
        """Releases what blocks hold outside the state."""
        for block in self.blocks:
            block.close()


def _build_buses(world: World) -> list[SessionBus]:
    """Builds a block for each bus.

    Raises:
        LinkworkError: If a bus has no name of its own, or a port has no bus.
    """
    names: dict[str, Spec] = {}
    agents = {spec.name: spec for spec in world.agents}
    for spec in world.buses:
        if not spec.name or spec.name == USER:
            raise SceneError(f"a bus needs a name, other than {spec.name!r}.", origin=spec.origin)
        other = names.setdefault(spec.name, agents.get(spec.name, spec))
        if other is not spec:
            raise SceneError(
                f"a {other.kind} and a bus are named {spec.name!r}.",
                origin=spec.origin,
                hint=f"The other is at {other.origin}.",
            )
    if world.ports and not world.buses:
        port = world.ports[0]
        raise SceneError(f"port {port.name!r} has no bus: the scene has none.", origin=port.origin)
    types: list[BusType] = [BUSES.get(spec.type, origin=spec.origin) for spec in world.buses]
    return [kind.block(world, spec) for kind, spec in zip(types, world.buses, strict=True)]


def _by_type(registry: Registry[Any], world: World, specs: list[Spec]) -> list[Any]:
    """One block per type, in order of first appearance."""
    _check_names(specs)
    groups: dict[str, list[Spec]] = {}
    for spec in specs:
        groups.setdefault(spec.type, []).append(spec)
    return [
        registry.get(type_name, origin=group[0].origin)(world, group)
        for type_name, group in groups.items()
    ]


def _check_names(specs: list[Spec], taken: tuple[str, ...] = ()) -> None:
    """Refuses specs without a unique name."""
    names: dict[str, Spec] = {}
    for spec in specs:
        if not spec.name:
            raise SceneError(f"a {spec.kind} needs a name.", origin=spec.origin)
        if spec.name in taken:
            raise SceneError(
                f"a {spec.kind} cannot be named {spec.name!r}.",
                origin=spec.origin,
                hint="The name is reserved for the users of the session.",
            )
        if spec.name in names:
            raise SceneError(
                f"two {spec.kind}s are named {spec.name!r}.",
                origin=spec.origin,
                hint=f"The other is at {names[spec.name].origin}.",
            )
        names[spec.name] = spec


def _actuator_specs(world: World) -> list[Spec]:
    """Returns the scene's actuators, and the drives of its joints."""
    drives = []
    for name, joint in zip(world.joint_names, world.joints, strict=True):
        if joint.drive is not None:
            params = {**joint.drive.params, "joint": name}
            drives.append(replace(joint.drive, kind="actuator", name=name, params=params))
    return [*world.actuators, *drives]


def _add_rotors(world: World, actuators: list[Actuator]) -> None:
    """Adds the rotor inertia of the drives to the armature of the joints."""
    for actuator in actuators:
        for dof, inertia in actuator.armature().items():
            joint = world.joints[int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])]
            world.armature[dof] = joint.armature + inertia


def _driven(world: World, actuators: list[Actuator], engines: list[Engine]) -> list[int]:
    """Returns every driven degree of freedom, in order.

    Raises:
        SceneError: If two actuators drive one, unless an engine computes the efforts of both.
            Prescribed ones need no drive and are left out.
    """
    driven: dict[int, tuple[Spec, EffortBy] | None] = {}
    for actuator in actuators:
        for number, dof in enumerate(actuator.dofs):
            spec, by = actuator.spec_of(number), actuator.effort_by(number)
            if by == "nothing":
                driven.setdefault(dof, None)
                continue
            other, other_by = driven.get(dof) or (spec, by)
            driven[dof] = other, other_by
            if other is not spec and "block" in (by, other_by):
                raise SceneError(
                    f"joint {world.dof_name(dof)!r} has two actuators: {_label(other)} and "
                    f"{_label(spec)}.",
                    origin=spec.origin,
                    hint="One actuator drives a joint.",
                )
    prescribed = {dof for engine in engines for dof in engine.prescribed}
    return [dof for dof in driven if dof not in prescribed]


def _label(spec: Spec) -> str:
    return f"{spec.type} {spec.name!r} ({spec.origin})"
