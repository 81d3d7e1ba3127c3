"""The Lagrange engine between our state and our state."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from linkwork.blocks import read_params
from linkwork.dynamics.branches import dof_above, owned_coordinates
from linkwork.dynamics.recursive import Arrays
from linkwork.engines.engine import Engine
from linkwork.engines.kernels import grab_forces
from linkwork.engines.kinematic import coordinate_of_dof, joint_springs, own_loops
from linkwork.engines.lagrange import force_kernels as laws
from linkwork.engines.lagrange import step_kernels as kernels
from linkwork.engines.lagrange.generated import Generated, generate
from linkwork.engines.lagrange.grip_kernels import list_contacts
from linkwork.engines.lagrange.ground import make_ground
from linkwork.engines.lagrange.params import LagrangeParams
from linkwork.engines.lagrange.tableaus import TABLEAUS
from linkwork.engines.mujoco.kernels import add_energies
from linkwork.errors import EngineError, listing
from linkwork.kinematics.kernels import BALL, FREE, forward_poses, forward_twists
from linkwork.parts import Spec
from linkwork.state import Report, State
from linkwork.world import Finding, World


class Lagrange(Engine):
    """Trees in joint coordinates: no joint can open, and the equations are integrated directly.

    M(q) v̇ = τ − c(q, v) is solved by Cholesky's method along the tree at every evaluation (002
    chapter 4). Where drives, dampers or contacts are stiff, a step is taken in as many equal
    pieces as keep the method stable.
    """

    type: ClassVar[str] = "lagrange"

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, spec, name, owned)
        self.params = read_params(spec, LagrangeParams)
        self._dofs = self.owned_dofs
        self._bodies = np.flatnonzero(owned)
        self._qaddr = coordinate_of_dof(world)
        self._own_q = owned_coordinates(world, owned)
        self._poses = np.zeros((world.nb, 7))
        forward_poses(*world.tree, world.q0, self._poses)
        self._ground = make_ground(world, owned, self._poses, self.params.contacts, spec)
        self._comply = np.zeros(world.nv)
        for joint, stiffness in self.params.compliance.items():
            dof = world.single_dof(joint, origin=spec.at("compliance"))
            if not owned[world.dof_body[dof]]:
                raise EngineError(
                    f"compliance: this engine does not move {joint!r}.",
                    origin=spec.at("compliance"),
                )
            self._comply[dof] = stiffness

    def check(self) -> list[Finding]:
        """What cannot be done, or is done only softly, with this world."""
        world, found = self.world, super().check()

        def say(level: str, about: str, text: str) -> None:
            found.append(Finding(level, about, text, self.spec.origin))

        for n in own_loops(world, self.owned):
            text = "Lagrange moves trees and closes no loops; Impulse and Mujoco do."
            found.append(Finding("error", world.loop_names[n], text, world.loop_origins[n]))
        for n in np.flatnonzero(self.owned[world.spring_body].any(axis=1)):
            text = "Lagrange knows no springs between anchors; Impulse and Mujoco do."
            found.append(Finding("error", world.spring_names[n], text, world.spring_origins[n]))
        for follows, _ in world.coupling_dof.tolist():
            if self.owned[world.dof_body[follows]]:
                name = world.dof_name(int(follows))
                say("error", name, "Lagrange couples no joints; Impulse and Mujoco do.")
        turning = [d for d in self._dofs if world.kind[world.dof_body[d]] in (BALL, FREE)]
        for dof in turning:
            if world.stiffness[dof] > 0.0:
                text = "Lagrange knows springs of joints with one value only."
                say("error", world.dof_name(dof), text)
        single = [d for d in self._dofs if d not in turning]
        ends = [d for d in single if np.isfinite([world.dof_lo[d], world.dof_hi[d]]).any()]
        if ends:
            names = listing([world.dof_name(d) for d in ends], most=4)
            say("soft", names, "the ends of its range are stiff springs that it may pass a little.")
        if touching := self._touchable(self.owned):
            text = (
                "with Lagrange only the points named in contacts touch, and only planes that stand "
                "still. Mujoco knows all contacts."
            )
            say("soft", listing(touching, most=4), text)
        return found

    def prepare(self, driven: list[int]) -> None:
        """Lays out what the kernels read.

        Raises:
            EngineError: A compliant joint has no rotor, neither its own nor its actuator's.
        """
        world, params = self.world, self.params
        for dof in np.flatnonzero(self._comply):
            if not world.armature[dof] > 0.0:
                raise EngineError(
                    f"compliance: {world.dof_name(int(dof))!r} has no armature, so that its rotor "
                    "weighs nothing.",
                    origin=self.spec.at("compliance"),
                    hint="Give the joint an armature, the inertia of its rotor.",
                )
        arrays = Arrays(world)
        static = np.array([world.is_static(b) for b in range(world.nb)])
        order = np.flatnonzero(self.owned | static)
        self._order = order[order > 0]
        self._inert, self._work = arrays.inert.copy(), arrays.work
        self._laws = np.zeros((world.nv, laws.LAW_COLUMNS))
        self._laws[:, laws.SPRING] = world.stiffness
        self._laws[:, laws.REST] = world.rest
        single = ~np.isin(world.kind[world.dof_body], (BALL, FREE))
        self._laws[:, laws.LO] = np.where(single, world.dof_lo, -np.inf)
        self._laws[:, laws.HI] = np.where(single, world.dof_hi, np.inf)
        self._laws[:, laws.COMPLY] = self._comply
        self._rotors = world.armature.copy()
        ratio = params.compliance_damping
        self._laws[:, laws.COMPLY_DAMP] = 2.0 * ratio * np.sqrt(self._comply * self._rotors)
        self._armature = np.where(self._comply > 0.0, 0.0, world.armature)
        self._generated: Generated | None = None
        if params.code == "generated":
            self._generated = generate(world, self.owned, self._armature)
        self._code = np.zeros(2, np.int64)
        self._method = TABLEAUS[params.integrator]()
        stages, nv, nq = len(self._method[1]), world.nv, world.nq
        self._desk = (
            np.zeros((world.nb, 10)), np.zeros((nv, nv)), np.zeros(nv), np.zeros(nv), np.zeros(7),
            np.zeros(5),
        )  # fmt: skip
        rates = tuple(np.zeros((stages, nv)) for _ in range(4))
        self._room = (
            np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((2, nv)), np.zeros(nq),
            np.zeros(nq), *rates,
        )  # fmt: skip
        self._rub = np.zeros((len(self._ground.points), len(self._ground.planes)))
        self._firm = np.array([params.stiffness, params.damping])
        self._gravity = np.zeros(3)
        self._wrench = np.zeros((world.nb, 6))

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Rotors of compliant joints, and where contact points grip."""
        points = len(self._ground.points)
        return {"rotor": (2, self.world.nv), "grip": (points, laws.GRIP_COLUMNS)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        world = self.world
        self._rotor, self._grip = self.slot("rotor"), self.slot("grip")
        self._q, self._v = state.q.copy(), state.v.copy()
        self._rotor_next, self._grip_next = self._rotor.copy(), self._grip.copy()
        self._twist, self._place = np.zeros_like(state.twist), np.zeros_like(state.pose)
        self._robot = (
            world.tree, self._order, self._inert, self._armature, self._gravity, self._dofs,
            self._qaddr, dof_above(world), self._wrench, world.com, self._code,
        )  # fmt: skip
        ground = self._ground
        self._touching = (ground.points, ground.planes, self._rub, self._grip_next, self._firm)
        self._law = (
            self._laws, state["param/damping"], state["param/joint_friction"], state.drive,
            self._rotors,
        )  # fmt: skip
        self._energies = (
            self._bodies, state.pose, state.twist, state["param/mass"], world.mass, world.com,
            world.inertia, state["param/gravity"], self._dofs, self._qaddr, state.q, state.v,
            joint_springs(world), self._armature, state.report.energy,
        )  # fmt: skip
        self._pulling = False

    def reset(self) -> None:  # noqa: D102
        self._rotor[0] = self.state.q[self._qaddr]
        self._rotor[1] = self.state.v
        self._grip[:] = 0.0

    def params_changed(self) -> None:
        """Takes masses, friction and gravity over."""
        state, world = self.state, self.world
        mass = state["param/mass"]
        self._inert[:, 0] = mass
        share = np.divide(mass, world.mass, out=np.ones_like(mass), where=world.mass > 0.0)
        self._inert[:, 4:] = world.inertia.reshape(world.nb, 9) * share[:, None]
        self._gravity[:] = state["param/gravity"]
        self._rub[:] = self._ground.friction(state["param/friction"])
        self._pulling = bool(state["param/grab"][:, 0].any())
        self._wrench[:] = 0.0

        if self._generated is not None:
            # masses and gravity are numbers in it: while others hold, kernels that read them do
            as_made = np.array_equal(mass[self.owned], world.mass[self.owned])
            as_made &= np.array_equal(state["param/gravity"], world.scene.gravity)
            self._code[:] = self._generated.addresses if as_made else 0

    def assemble(self) -> list[Finding]:
        """Says what became of generated code."""
        made = self._generated
        if made is None:
            return []
        about = listing(self._touchable(self.owned) or [self.world.scene.name], most=4)
        return [Finding("note" if made.there else "soft", about, made.text, self.spec.origin)]

    def code(self) -> str:
        """Which code moves the bodies, as recordings note it."""
        return "" if self._generated is None else self._generated.made

    def advance(self, h: float) -> None:  # noqa: D102
        state = self.state
        if self._pulling:
            self._wrench[:] = 0.0
            grab_forces(
                state["param/grab"], state.pose, state.twist, self.world.com, self.owned,
                self._wrench,
            )  # fmt: skip
        self._q[:], self._v[:] = state.q, state.v
        self._rotor_next[:], self._grip_next[:] = self._rotor, self._grip
        outcome, pieces = kernels.step(*self.step_arguments(h))
        if outcome != kernels.DONE:
            self._give_up(h, outcome, pieces)
        self._leave(h)

    def step_arguments(self, h: float) -> tuple[Any, ...]:
        """What the kernel takes; it moves the sixth and seventh, q and v, by ``h``."""
        return (
            self._robot, self._touching, self._law, self._method, h, self._q, self._v,
            self._rotor_next, self._work, self._desk, self._room,
        )  # fmt: skip

    def _leave(self, h: float) -> None:
        """Writes state and report."""
        state, world, mine = self.state, self.world, self._dofs
        state.report.acceleration[mine] = (self._v[mine] - state.v[mine]) / h
        state.q[self._own_q] = self._q[self._own_q]
        state.v[mine] = self._v[mine]
        self._rotor[:], self._grip[:] = self._rotor_next, self._grip_next
        forward_poses(*world.tree, state.q, self._place)
        forward_twists(*world.tree, world.com, state.q, state.v, self._place, self._twist)
        state.pose[self._bodies] = self._place[self._bodies]
        state.twist[self._bodies] = self._twist[self._bodies]
        compliant = self._comply > 0.0
        x = np.where(compliant, self._rotor[0], state.q[self._qaddr])
        speed = np.where(compliant, self._rotor[1], state.v)
        bias, kp, kd, lowest, highest = state.drive
        efforts = np.clip(bias - kp * x - kd * speed, lowest, highest)
        rub = state["param/joint_friction"] * np.tanh(state.v / laws.CREEP)
        passive = state["param/damping"] * state.v + rub
        passive += world.stiffness * (state.q[self._qaddr] - world.rest)
        efforts -= np.where(compliant, 0.0, passive)  # of those the drive's is told, at its rotor
        state.report.effort[mine] = efforts[mine]
        if self.reports_contacts:
            self.add_contacts(state.report)
        add_energies(*self._energies)
        if compliant.any():
            energy, twist = state.report.energy, self._rotor[0] - state.q[self._qaddr]
            energy[0] += 0.5 * float(self._rotors[compliant] @ self._rotor[1][compliant] ** 2)
            energy[1] += 0.5 * float(self._comply @ twist**2)

    def add_contacts(self, report: Report) -> None:
        """Adds the contacts after the last step to a report's table."""
        if not len(self._ground.points):
            return
        wanted = list_contacts(
            self._robot, self._touching, self.state.q, self.state.v, self._work, self._desk,
            self._ground.point_element, self._ground.plane_body, report.contact_count,
            report.contacts,
        )  # fmt: skip
        report.contact_count = min(wanted, len(report.contacts))

    def _give_up(self, h: float, outcome: int, pieces: int) -> None:
        """Says why the motion cannot go on; the state is as before the step."""
        when = f"at {self.state.step * h:.3f} s"
        if outcome == kernels.MASSLESS:
            mass = self._desk[1]
            heavy = [mass[d, d] for d in self._dofs]
            worst = int(self._dofs[int(np.argmin(heavy))])
            raise EngineError(
                f"joint {self.world.dof_name(worst)!r} moves nothing that has mass.",
                origin=self.spec.origin,
                hint="Give what it carries a mass, or the joint an armature.",
            )
        if outcome == kernels.STIFF:
            raise EngineError(
                f"{when} drives, dampers or contacts are so stiff that a step would need {pieces} "
                f"pieces, more than {kernels.MOST_PIECES}.",
                origin=self.spec.origin,
                hint="Use a smaller step, softer gains, or the engine mujoco.",
            )
        speeds = np.nan_to_num(np.abs(self._v[self._dofs]), nan=np.inf)
        worst = int(self._dofs[int(np.argmax(speeds))])
        raise EngineError(
            f"the motion diverged {when} (joint {self.world.dof_name(worst)}).",
            hint="Use a smaller step or softer gains.",
        )
