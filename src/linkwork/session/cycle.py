"""Cycle: everything compiled for one world, and one step of it.

sense → decide → drive → move, in this order; see the design's section 2. The session adds what
comes in before and what goes out after.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.actuators import Actuator
from linkwork.agents import Agent
from linkwork.blocks import Block, add_blocks, add_signals
from linkwork.engines import Engine
from linkwork.engines.kernels import loop_state
from linkwork.engines.spring_kernels import spring_state
from linkwork.errors import EngineError, SceneError, not_found
from linkwork.faults import Phase
from linkwork.kinematics.kernels import BALL, FREE, forward_poses, forward_twists
from linkwork.parts import Spec
from linkwork.registry import ACTUATORS, AGENTS, SENSORS, Registry, bus_block
from linkwork.sensors import Sensor
from linkwork.session.kernels import keep_run, orientations
from linkwork.session.listeners import Listeners
from linkwork.session.ownership import build_engines
from linkwork.session.trouble import Trouble
from linkwork.session.world_signals import add_target_signals, add_world_signals
from linkwork.signals import Signals
from linkwork.state import CONTACT_CAPACITY, Layout, State
from linkwork.world import Finding, World

#: Owner of what people set; no agent can have this name.
PERSON = "user"


#: A loop that is wider open than this in the first posture is told of [m].
OPEN_AT_THE_START = 1e-4
#: Rows of the contact table for each shape that moves and touches.
CONTACTS_EACH = 8


class Cycle:
    """A compiled world with its engines, sensors, agents and actuators, and its state.

    Attributes:
        world: Structure.
        state: Everything that remembers.
        signals: Named values on the state.
        findings: What engines and others cannot do, or do only softly.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.h = world.scene.step
        self.engines: list[Engine] = build_engines(world)
        self.sensors: list[Sensor] = _by_type(SENSORS, world, world.sensors)
        self._early = [sensor for sensor in self.sensors if not sensor.at_the_end]
        self._last = [sensor for sensor in self.sensors if sensor.at_the_end]
        self.actuators: list[Actuator] = _by_type(ACTUATORS, world, _actuator_specs(world))
        self._metered = [actuator for actuator in self.actuators if actuator.metered]
        _add_rotors(world, self.actuators)
        for sensor in self.sensors:
            sensor.meet(self.engines)
        _check_names(world.agents, taken=(PERSON,))
        self.agents: list[Agent] = [
            AGENTS.get(spec.type, origin=spec.origin)(world, spec, f"agent/{spec.name}")
            for spec in world.agents
        ]
        self.buses: list[Any] = _buses(world)
        _check_names(world.faults)
        self.trouble = Trouble(world)
        inputs = {d: a.inputs_of(n) for a in self.actuators for n, d in enumerate(a.dofs)}
        for engine in self.engines:
            engine.inputs = inputs
        self._check()
        driven = _driven(world, self.actuators, self.engines)
        for engine in self.engines:
            engine.prepare(driven)
            engine.reports_contacts = any(sensor.reads_contacts for sensor in self.sensors)
        self._lay_out()
        self._reset()

    @property
    def blocks(self) -> list[Block]:
        """Everything that takes part, in the order of the cycle."""
        return [*self.sensors, *self.agents, *self.actuators, *self.engines, *self.buses,
                *self.trouble.faults]  # fmt: skip

    @property
    def codes(self) -> dict[str, str]:
        """Code that was made for this world or chosen on this machine, by who uses it."""
        found = {f"engine {n} ({e.type})": e.code() for n, e in enumerate(self.engines, start=1)}
        return {who: code for who, code in found.items() if code}

    def _check(self) -> None:
        self.findings: list[Finding] = [f for block in self.blocks for f in block.check()]
        errors = [f for f in self.findings if f.level == "error"]
        if errors:
            more = f" ({len(errors) - 1} more like this)" if len(errors) > 1 else ""
            raise EngineError(f"{errors[0].about}: {errors[0].text}{more}", origin=errors[0].origin)

    def _lay_out(self) -> None:
        world = self.world
        layout = Layout()
        touching = sum(s.shape.collide and not world.is_static(s.body) for s in world.shapes)
        layout.add_world(
            world.nq, world.nv, world.nb, len(world.loop_names), len(world.element_names),
            springs=len(world.spring_names), contacts=CONTACT_CAPACITY + CONTACTS_EACH * touching,
        )  # fmt: skip
        turning = [b for b in world.joint_body.tolist() if world.kind[b] in (BALL, FREE)]
        layout.add("orientation", len(turning), 3)
        add_blocks(layout, self.blocks)
        self.trouble.lay_out(layout)
        layout.add("listeners/last", Listeners.capacity)
        self.state = State(layout)
        self._before = np.zeros_like(self.state.data)
        self._listeners = -1  # how many there were at the last keep()
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
        self.trouble.join(self)
        for block in self.blocks:
            block.bind(self.state)
        if len(self.engines) > 1:
            self._seen = self.state.pose.copy(), self.state.twist.copy()
            for engine in self.engines:
                engine.seen_pose, engine.seen_twist = self._seen

    def _reset(self) -> None:
        """Writes the first state."""
        world, state = self.world, self.state
        state.data[:] = 0.0
        state.q[:], state.v[:] = world.q0, world.v0
        owned = np.any([engine.owned for engine in self.engines], axis=0)
        state.v[~owned[world.dof_body]] = 0.0  # scenery stands still
        state.drive[3], state.drive[4] = -np.inf, np.inf
        state.target_speed[:] = world.dof_speed
        for i in range(world.nv):
            body = int(world.dof_body[i])
            if world.kind[body] not in (BALL, FREE):
                state.target[i] = world.q0[int(world.qadr[body]) + i - int(world.vadr[body])]
        state["param/gravity"][:] = world.scene.gravity
        state["param/mass"][:] = world.mass
        state["param/visible"][:] = 1.0
        state["param/damping"][:] = world.damping
        state["param/joint_friction"][:] = world.friction
        for piece in world.shapes:
            state["param/friction"][piece.element] = piece.friction
        self._place()
        self._stretch_springs()
        for block in self.blocks:
            block.reset()
        for block in self.blocks:
            block.params_changed()
        for engine in self.engines:
            self.findings += engine.assemble()
        for sensor in self.sensors:
            sensor.read(0, now=True)
        for bus in self.buses:
            bus.give_out()
        self._measure_loops()
        self.first = state.copy()

    def _stretch_springs(self) -> None:
        """Springs that have no rest of their own are slack as they are."""
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
        """Says which loops do not close in the first posture, and by how much."""
        world, state = self.world, self.state
        for n, name in enumerate(world.loop_names):
            gap, _ = loop_state(
                np.array([n]), *world.loop_arrays, state.pose, state.loop_q, state["loop_turns"],
            )  # fmt: skip
            if gap > self._gap[0]:
                self._gap[:] = gap, n
            if gap > OPEN_AT_THE_START:
                text = (
                    f"it is open by {1e3 * gap:.3g} mm at the start; a dynamic engine snaps it "
                    "shut. Give its joints values that close it."
                )
                self.findings.append(Finding("soft", name, text, world.loop_origins[n]))

    def refresh(self) -> None:
        """Makes all that is derived fit the state, after it was written from outside."""
        self._place()
        for block in self.blocks:
            block.params_changed()

    def _place(self) -> None:
        """Puts every body where the coordinates say."""
        world, state = self.world, self.state
        forward_poses(*world.tree, state.q, state.pose)
        forward_twists(*world.tree, world.com, state.q, state.v, state.pose, state.twist)
        orientations(state.q, self._quaternions, self._orientation)

    def restore(self, state: State | bytes) -> None:
        """Goes back to a state, bit for bit."""
        self.state.restore(state)
        for block in self.blocks:
            block.params_changed()

    def sense(self) -> None:
        """Fills the readings."""
        step, trouble = int(self._clock[0]), self.trouble
        if trouble:
            trouble.lift(Phase.SENSE)
            trouble.tick(step * self.h, self.h)
            trouble.renew(Phase.LOOK)
        for sensor in self._early:
            sensor.read(step)
        if trouble:
            trouble.strike(Phase.SENSE)

    def decide(self) -> None:
        """Lets each agent whose period is due write targets."""
        step = int(self._clock[0])
        self.state.lead[0] = 0.0
        self.state.stance[:, 0] = 0.0
        for agent in self.agents:
            if step % agent.every == 0:
                agent.decide(step)

    def bus(self, name: str) -> Any:
        """The bus called ``name``.

        Raises:
            NameNotFound: If there is none.
        """
        for bus in self.buses:
            if bus.spec.name == name:
                return bus
        raise not_found("bus", name, [bus.spec.name for bus in self.buses])

    def sensor(self, name: str) -> tuple[Sensor, int]:
        """The block that holds the sensor called ``name``, and its row in it.

        Raises:
            NameNotFound: If there is none.
        """
        for block in self.sensors:
            for number, spec in enumerate(block.specs):
                if spec.name == name:
                    return block, number
        known = [spec.name for block in self.sensors for spec in block.specs]
        raise not_found("sensor", name, known)

    def give_out(self) -> None:
        """Hands the sensors' values to the buses' ports."""
        trouble = self.trouble
        if trouble:
            trouble.lift(Phase.GIVE)
        for bus in self.buses:
            bus.finish()
        if trouble:
            trouble.strike(Phase.GIVE)

    def move(self) -> None:
        """Turns targets into efforts and moves everything by one step."""
        state, h = self.state, self.h
        step = int(self._clock[0])
        for actuator in self.actuators:
            actuator.drive(step)
        if self.trouble:
            self.trouble.strike(Phase.MOVE)
        energy = self._energy
        energy[0] = energy[1] = self._gap[0] = self._gap[1] = 0.0
        if self._contacts[0]:
            state.report.clear_contacts()
        engines = self.engines
        if len(engines) > 1:
            self._seen[0][:] = state.pose
            self._seen[1][:] = state.twist
        for engine in engines:
            engine.advance(h)
        for actuator in self._metered:
            actuator.meter()
        if self.trouble:
            self.trouble.lift(Phase.MOVE)
        if len(self._quaternions):
            orientations(state.q, self._quaternions, self._orientation)
        self._clock[0] += 1
        self._look(step + 1)
        keep_run(self._run, self._gap, energy, step + 1)

    def _look(self, step: int) -> None:
        """Fills the readings of what the step has made of the world."""
        if not self._last:
            return
        if self.trouble:
            self.trouble.lift(Phase.LOOK)
        for sensor in self._last:
            sensor.read(step)
        if self.trouble:
            self.trouble.strike(Phase.LOOK)

    def contacts(self) -> np.ndarray:
        """The contacts of the last step, a row each as in the report; for those who look on."""
        report = self.state.copy().report
        report.clear_contacts()
        for engine in self.engines:
            engine.add_contacts(report)
        return report.contacts[: report.contact_count]

    def joint_forces(self) -> np.ndarray:
        """What held joints and loops in the last step, as :meth:`Engine.joint_forces` tells it."""
        return np.concatenate([engine.joint_forces() for engine in self.engines])

    def keep(self, listeners: int = 0) -> None:
        """Remembers the state, for :meth:`undo`; of the listeners' memory only what is in use."""
        if listeners != self._listeners:
            self._listeners = listeners
            end = self.state.data.size - Listeners.capacity + listeners
            reported = any(engine.reports_contacts for engine in self.engines)
            start = 0 if reported else self.state.layout.fields["report/contacts"].size
            self._kept = self._before[start:end], self.state.data[start:end]
        before, now = self._kept
        before[:] = now

    def undo(self) -> None:
        """Goes back to what :meth:`keep` remembered: a failed step never happened."""
        before, now = self._kept
        now[:] = before
        for block in self.blocks:
            block.params_changed()

    def close(self) -> None:
        """Gives back what blocks hold outside the state."""
        for block in self.blocks:
            block.close()


def _buses(world: World) -> list[Any]:
    """A block for each bus; a scene without any does not even load their room."""
    if not world.buses and not world.ports:
        return []
    return bus_block().build(world)


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
    """Refuses things without a name of their own."""
    names: dict[str, Spec] = {}
    for spec in specs:
        if not spec.name:
            raise SceneError(f"a {spec.kind} needs a name.", origin=spec.origin)
        if spec.name in taken:
            raise SceneError(
                f"a {spec.kind} cannot be named {spec.name!r}.",
                origin=spec.origin,
                hint="The name stands for the people who use the session.",
            )
        if spec.name in names:
            raise SceneError(
                f"two {spec.kind}s are named {spec.name!r}.",
                origin=spec.origin,
                hint=f"The other is at {names[spec.name].origin}.",
            )
        names[spec.name] = spec


def _actuator_specs(world: World) -> list[Spec]:
    """The scene's actuators, and the drives that sit on joints."""
    drives = []
    for name, joint in zip(world.joint_names, world.joints, strict=True):
        if joint.drive is not None:
            params = {**joint.drive.params, "joint": name}
            drives.append(replace(joint.drive, kind="actuator", name=name, params=params))
    return [*world.actuators, *drives]


def _add_rotors(world: World, actuators: list[Actuator]) -> None:
    """Gives joints the inertia of their drives' rotors, on top of their own."""
    for actuator in actuators:
        for dof, inertia in actuator.armature().items():
            joint = world.joints[int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])]
            world.armature[dof] = joint.armature + inertia


def _driven(world: World, actuators: list[Actuator], engines: list[Engine]) -> list[int]:
    """Every driven degree of freedom, in order.

    Raises:
        SceneError: If two actuators drive one. Prescribed ones need no drive and are left out.
    """
    driven: dict[int, Spec] = {}
    for actuator in actuators:
        for number, dof in enumerate(actuator.dofs):
            spec = actuator.spec_of(number)
            other = driven.setdefault(dof, spec)
            if other is not spec:
                raise SceneError(
                    f"joint {world.dof_name(dof)!r} has two actuators: {_who(other)} and "
                    f"{_who(spec)}.",
                    origin=spec.origin,
                    hint="One actuator drives a joint.",
                )
    prescribed = {dof for engine in engines for dof in engine.prescribed}
    return [dof for dof in driven if dof not in prescribed]


def _who(spec: Spec) -> str:
    return f"{spec.type} {spec.name!r} ({spec.origin})"
