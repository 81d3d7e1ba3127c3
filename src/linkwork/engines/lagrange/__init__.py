"""The Lagrange engine: trees in joint coordinates, with Runge-Kutta methods."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.core.errors import EngineError, listing
from linkwork.core.state import Report, State
from linkwork.dynamics.recursive import NO_MASS_HINT, DynamicsArrays, parent_dofs
from linkwork.engines import Engine
from linkwork.engines.common import (
    coordinate_of_dof,
    energy_arrays,
    owned_coordinates,
    owned_loops,
)
from linkwork.engines.common.kernels import add_energies, grab_forces
from linkwork.engines.lagrange import force_kernels as laws
from linkwork.engines.lagrange import step_kernels as kernels
from linkwork.engines.lagrange.force_kernels import list_contacts
from linkwork.engines.lagrange.generated_code import GeneratedCode, generate
from linkwork.engines.lagrange.ground import find_ground_contacts
from linkwork.kinematics.kernels import BALL, FREE, forward_poses, forward_twists
from linkwork.model.blocks import read_params
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World

Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e15)]
NotNegative = Annotated[float, msgspec.Meta(ge=0.0, le=1e15)]


class LagrangeParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``Lagrange``.

    Attributes:
        owns: Parts that it moves; all remaining ones if absent.
        integrator: Runge-Kutta method: "rk4" (order 4, four evaluations a step), "heun" (order 2)
            or "rk8" (order 8, eleven).
        code: Computation of accelerations: "recursive" kernels, or C code "generated" for this
            robot, compiled once and cached.
        contacts: Anchors and elements whose origins touch static planes.
        stiffness: K_f of each contact point [N/m], also tangential while it sticks.
        damping: D_f of each contact point [N s/m], likewise.
        compliance: Stiffness between drive and joint [N m/rad or N/m] by joint; its rotor, the
            joint's armature, is then a degree of freedom of its own.
        compliance_damping: Damping ratio of rotors on compliant joints.
    """

    owns: list[str] | None = None
    integrator: Literal["heun", "rk4", "rk8"] = "rk4"
    code: Literal["recursive", "generated"] = "recursive"
    contacts: list[str] = []
    stiffness: Positive = 50_000.0
    damping: NotNegative = 500.0
    compliance: dict[str, Positive] = {}
    compliance_damping: NotNegative = 0.05


Tableau = tuple[np.ndarray, np.ndarray]


def heun() -> Tableau:
    """Returns the method of order 2 with two evaluations."""
    return np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0.5, 0.5])


def rk4() -> Tableau:
    """Returns the classical method of order 4 (Schwanen 2002 eq. 4.22, with k2 at q + k1/2)."""
    a = np.zeros((4, 4))
    a[1, 0], a[2, 1], a[3, 2] = 0.5, 0.5, 1.0
    return a, np.array([1.0, 2.0, 2.0, 1.0]) / 6.0


def rk8() -> Tableau:
    """Returns the method of order 8 with eleven evaluations (Cooper and Verner 1972)."""
    s = float(np.sqrt(21.0))
    rows: list[list[float]] = [
        [],
        [1 / 2],
        [1 / 4, 1 / 4],
        [1 / 7, (-7 - 3 * s) / 98, (21 + 5 * s) / 49],
        [(11 + s) / 84, 0, (18 + 4 * s) / 63, (21 - s) / 252],
        [(5 + s) / 48, 0, (9 + s) / 36, (-231 + 14 * s) / 360, (63 - 7 * s) / 80],
        [(10 - s) / 42, 0, (-432 + 92 * s) / 315, (633 - 145 * s) / 90, (-504 + 115 * s) / 70,
         (63 - 13 * s) / 35],
        [1 / 14, 0, 0, 0, (14 - 3 * s) / 126, (13 - 3 * s) / 63, 1 / 9],
        [1 / 32, 0, 0, 0, (91 - 21 * s) / 576, 11 / 72, (-385 - 75 * s) / 1152,
         (63 + 13 * s) / 128],
        [1 / 14, 0, 0, 0, 1 / 9, (-733 - 147 * s) / 2205, (515 + 111 * s) / 504,
         (-51 - 11 * s) / 56, (132 + 28 * s) / 245],
        [0, 0, 0, 0, (-42 + 7 * s) / 18, (-18 + 28 * s) / 45, (-273 - 53 * s) / 72,
         (301 + 53 * s) / 72, (28 - 28 * s) / 45, (49 - 7 * s) / 18],
    ]  # fmt: skip
    a = np.zeros((11, 11))
    for n, row in enumerate(rows):
        a[n, : len(row)] = row
    b = np.zeros(11)
    b[[0, 7, 8, 9, 10]] = 1 / 20, 49 / 180, 16 / 45, 49 / 180, 1 / 20
    return a, b


TABLEAUS = {"heun": heun, "rk4": rk4, "rk8": rk8}


class Lagrange(Engine):
    """Trees in joint coordinates: no joint can open, and the equations are integrated directly.

    M(q) v̇ = τ − c(q, v) is solved by Cholesky factorization along the tree at every evaluation
    (Schwanen 2002 chapter 4). Where drives, dampers or contacts are stiff, a step is divided into
    as many equal substeps as keep the method stable.
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
        self._ground = find_ground_contacts(world, owned, self._poses, self.params.contacts, spec)
        self._compliance = np.zeros(world.nv)
        for joint, stiffness in self.params.compliance.items():
            dof = world.single_dof(joint, origin=spec.at("compliance"))
            if not owned[world.dof_body[dof]]:
                raise EngineError(
                    f"compliance: this engine does not move {joint!r}.",
                    origin=spec.at("compliance"),
                )
            self._compliance[dof] = stiffness

    def check(self) -> list[Finding]:
        """Returns what this engine cannot do, or only approximates, in this world."""
        world, found = self.world, super().check()

        def note(level: str, about: str, text: str) -> None:
            found.append(Finding(level, about, text, self.spec.origin))

        for n in owned_loops(world, self.owned):
            text = "Lagrange does not support loops; Impulse and Mujoco do."
            found.append(Finding("error", world.loop_names[n], text, world.loop_origins[n]))
        for n in np.flatnonzero(self.owned[world.spring_body].any(axis=1)):
            text = "Lagrange does not support springs between anchors; Impulse and Mujoco do."
            found.append(Finding("error", world.spring_names[n], text, world.spring_origins[n]))
        for follows, _ in world.coupling_dof.tolist():
            if self.owned[world.dof_body[follows]]:
                name = world.dof_name(int(follows))
                note("error", name, "Lagrange does not support couplings; Impulse and Mujoco do.")
        turning = [d for d in self._dofs if world.kind[world.dof_body[d]] in (BALL, FREE)]
        for dof in turning:
            if world.stiffness[dof] > 0.0:
                text = "Lagrange supports springs of joints with one coordinate only."
                note("error", world.dof_name(dof), text)
        single = [d for d in self._dofs if d not in turning]
        ends = [d for d in single if np.isfinite([world.dof_lo[d], world.dof_hi[d]]).any()]
        if ends:
            names = listing([world.dof_name(d) for d in ends], most=4)
            note(
                "approximated",
                names,
                "its limits are stiff springs, which it may exceed.",
            )
        if touching := self._colliding_parts(self.owned):
            text = (
                "Lagrange supports contacts of named points with static planes only; Mujoco "
                "supports all contacts."
            )
            note("approximated", listing(touching, most=4), text)
        return found

    def prepare(self, driven: list[int]) -> None:
        """Builds the arrays of the kernels.

        Raises:
            EngineError: If a compliant joint has no rotor, neither its own nor its actuator's.
        """
        world, params = self.world, self.params
        for dof in np.flatnonzero(self._compliance):
            if not world.armature[dof] > 0.0:
                raise EngineError(
                    f"compliance: {world.dof_name(int(dof))!r} has no armature, so that its rotor "
                    "weighs nothing.",
                    origin=self.spec.at("compliance"),
                    hint="Give the joint an armature, the inertia of its rotor.",
                )
        arrays = DynamicsArrays(world)
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
        self._laws[:, laws.COMPLIANCE] = self._compliance
        self._rotors = world.armature.copy()
        ratio = params.compliance_damping
        self._laws[:, laws.COMPLIANCE_DAMPING] = (
            2.0 * ratio * np.sqrt(self._compliance * self._rotors)
        )
        self._armature = np.where(self._compliance > 0.0, 0.0, world.armature)
        self._generated: GeneratedCode | None = None
        if params.code == "generated":
            self._generated = generate(world, self.owned, self._armature)
        self._code = np.zeros(2, np.int64)
        self._method = TABLEAUS[params.integrator]()
        stages, nv, nq = len(self._method[1]), world.nv, world.nq
        self._workspace = (
            np.zeros((world.nb, 10)), np.zeros((nv, nv)), np.zeros(nv), np.zeros(nv), np.zeros(7),
            np.zeros(5),
        )  # fmt: skip
        rates = tuple(np.zeros((stages, nv)) for _ in range(4))
        self._room = (
            np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((2, nv)), np.zeros(nq),
            np.zeros(nq), *rates,
        )  # fmt: skip
        self._friction = np.zeros((len(self._ground.points), len(self._ground.planes)))
        self._contact_stiffness = np.array([params.stiffness, params.damping])
        self._gravity = np.zeros(3)
        self._wrench = np.zeros((world.nb, 6))

    def stops_at_scenery(self) -> bool:
        """Whether points are named that touch the ground."""
        return bool(len(self._ground.points))

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Rotors of compliant joints, and stick points of contacts."""
        points = len(self._ground.points)
        return {"rotor": (2, self.world.nv), "stick_points": (points, laws.GRIP_COLUMNS)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        world = self.world
        self._rotor, self._grip = self.slot("rotor"), self.slot("stick_points")
        self._q, self._v = state.q.copy(), state.v.copy()
        self._rotor_next, self._grip_next = self._rotor.copy(), self._grip.copy()
        self._twist, self._place = np.zeros_like(state.twist), np.zeros_like(state.pose)
        self._robot = (
            world.tree, self._order, self._inert, self._armature, self._gravity, self._dofs,
            self._qaddr, parent_dofs(world), self._wrench, world.com, self._code,
        )  # fmt: skip
        ground = self._ground
        self._touching = (
            ground.points,
            ground.planes,
            self._friction,
            self._grip_next,
            self._contact_stiffness,
        )
        self._law = (
            self._laws, state["param/damping"], state["param/joint_friction"], state.drive,
            self._rotors,
        )  # fmt: skip
        self._energies = energy_arrays(state, world, self._bodies, self._dofs, self._armature)
        self._pulling = False

    def reset(self) -> None:  # noqa: D102
        self._rotor[0] = self.state.q[self._qaddr]
        self._rotor[1] = self.state.v
        self._grip[:] = 0.0

    def params_changed(self) -> None:
        """Applies masses, friction and gravity."""
        state, world = self.state, self.world
        mass = state["param/mass"]
        self._inert[:, 0] = mass
        share = np.divide(mass, world.mass, out=np.ones_like(mass), where=world.mass > 0.0)
        self._inert[:, 4:] = world.inertia.reshape(world.nb, 9) * share[:, None]
        self._gravity[:] = state["param/gravity"]
        self._friction[:] = self._ground.friction(state["param/friction"])
        self._pulling = bool(state["param/grab"][:, 0].any())
        self._wrench[:] = 0.0

        if self._generated is not None:
            # masses and gravity are constants of the code: with others, the recursive kernels are
            # used
            as_made = np.array_equal(mass[self.owned], world.mass[self.owned])
            as_made &= np.array_equal(state["param/gravity"], world.scene.gravity)
            self._code[:] = self._generated.addresses if as_made else 0

    def assemble(self) -> list[Finding]:
        """Notes whether generated code is used."""
        made = self._generated
        if made is None:
            return []
        about = listing(self._colliding_parts(self.owned) or [self.world.scene.name], most=4)
        return [
            Finding("note" if made.there else "approximated", about, made.text, self.spec.origin)
        ]

    def code(self) -> str:
        """Returns the code that moves the bodies, for recordings."""
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
        outcome, substeps = kernels.runge_kutta_step(*self.step_arguments(h))
        if outcome != kernels.DONE:
            self._give_up(h, outcome, substeps)
        self._leave(h)

    def step_arguments(self, h: float) -> tuple[Any, ...]:
        """Returns the kernel's arguments; it moves the sixth and seventh, q and v, by ``h``."""
        return (
            self._robot, self._touching, self._law, self._method, h, self._q, self._v,
            self._rotor_next, self._work, self._workspace, self._room,
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
        compliant = self._compliance > 0.0
        x = np.where(compliant, self._rotor[0], state.q[self._qaddr])
        speed = np.where(compliant, self._rotor[1], state.v)
        bias, kp, kd, lowest, highest = state.drive
        efforts = np.clip(bias - kp * x - kd * speed, lowest, highest)
        friction_coefficient = state["param/joint_friction"] * np.tanh(
            state.v / laws.FRICTION_SPEED
        )
        passive = state["param/damping"] * state.v + friction_coefficient
        passive += world.stiffness * (state.q[self._qaddr] - world.rest)
        efforts -= np.where(
            compliant, 0.0, passive
        )  # of compliant joints, the drive's effort at its rotor
        state.report.effort[mine] = efforts[mine]
        if self.reports_contacts:
            self.add_contacts(state.report)
        add_energies(*self._energies)
        if compliant.any():
            energy, twist = state.report.energy, self._rotor[0] - state.q[self._qaddr]
            energy[0] += 0.5 * float(self._rotors[compliant] @ self._rotor[1][compliant] ** 2)
            energy[1] += 0.5 * float(self._compliance @ twist**2)

    def add_contacts(self, report: Report) -> None:
        """Adds the contacts after the last step to a report's table."""
        if not len(self._ground.points):
            return
        wanted = list_contacts(
            self._robot, self._touching, self.state.q, self.state.v, self._work, self._workspace,
            self._ground.point_element, self._ground.plane_body, report.contact_count,
            report.contacts,
        )  # fmt: skip
        report.contact_count = min(wanted, len(report.contacts))

    def _give_up(self, h: float, outcome: int, substeps: int) -> None:
        """Raises an error that names the reason; the state is as before the step."""
        when = f"at {self.state.step * h:.3f} s"
        if outcome == kernels.MASSLESS:
            mass = self._workspace[1]
            heavy = [mass[d, d] for d in self._dofs]
            worst = int(self._dofs[int(np.argmin(heavy))])
            raise EngineError(
                f"joint {self.world.dof_name(worst)!r} moves nothing that has mass.",
                origin=self.spec.origin,
                hint=NO_MASS_HINT,
            )
        if outcome == kernels.STIFF:
            raise EngineError(
                f"{when} drives, dampers or contacts are so stiff that a step would need "
                f"{substeps} substeps, more than {kernels.MAX_SUBSTEPS}.",
                origin=self.spec.origin,
                hint="Use a smaller step, softer gains, or the engine mujoco.",
            )
        speeds = np.nan_to_num(np.abs(self._v[self._dofs]), nan=np.inf)
        worst = int(self._dofs[int(np.argmax(speeds))])
        raise EngineError(
            f"the motion diverged {when} (joint {self.world.dof_name(worst)}).",
            hint="Use a smaller step or softer gains.",
        )


__all__ = ["Lagrange"]
