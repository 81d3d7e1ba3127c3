"""The Mujoco engine: one step of MuJoCo between our state and our state."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
import mujoco
import numpy as np

from linkwork.blocks import read_params
from linkwork.engines.engine import Engine
from linkwork.engines.kernels import follow_targets, grab_forces, loop_state
from linkwork.engines.kinematic import coordinate_of_dof
from linkwork.engines.mujoco import kernels
from linkwork.engines.mujoco.model import CODE, Options, build_model, is_link
from linkwork.errors import EngineError
from linkwork.parts import Spec
from linkwork.parts.shape import Mesh, Plane
from linkwork.state import Report, State
from linkwork.world import Finding, World

Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]


class MujocoParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Mujoco``.

    Attributes:
        owns: Parts it moves; all that are left if absent.
        prescribed: Joints that follow their targets whatever it takes.
        iterations: Most solver iterations a step.
        tolerance: Solver tolerance.
        impratio: How much harder friction resists slip than contact resists depth.
        contact_time: Time constant of contacts [s]; longer is softer.
        loop_time: Time constant of loops and couplings [s]; at least twice the step.
    """

    owns: list[str] | None = None
    prescribed: list[str] = []
    iterations: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 100
    tolerance: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1e-10
    impratio: Positive = 10.0
    contact_time: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] = 0.0
    loop_time: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] = 0.0


class Mujoco(Engine):
    """Contact-rich dynamics by MuJoCo: implicit integrator, elliptic friction cones.

    Affine efforts become MuJoCo actuators, so that stiff servos are integrated implicitly.
    Bodies that others move enter with pose and velocity as infinite masses. Loops, couplings
    and screws are equality constraints: soft, and :meth:`check` says so.
    """

    type: ClassVar[str] = "mujoco"

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, spec, name, owned)
        self.params = read_params(spec, MujocoParams)
        self.prescribed = [
            world.single_dof(joint, origin=spec.origin) for joint in self.params.prescribed
        ]
        for dof in self.prescribed:
            if not owned[world.dof_body[dof]]:
                raise EngineError(
                    f"joint {world.dof_name(dof)!r} is prescribed but not owned.",
                    origin=spec.origin,
                )
        self._bodies = np.flatnonzero(owned)
        self._dofs = self.owned_dofs
        self._qaddr = coordinate_of_dof(world)
        self._driven: list[int] = []

    def check(self) -> list[Finding]:
        """What MuJoCo cannot do, or does only softly, with this world."""
        world, found = self.world, []
        carried = [0] * world.nb
        for b in range(1, world.nb):
            carried[int(world.parent[b])] += 1
        for b in self._bodies:
            kind, where = int(world.kind[b]), world.body_origins[b]
            name = world.body_names[b]
            if is_link(world, int(b)):
                if carried[b] != 1:
                    text = "a chain of joints must end in one body with mass."
                    found.append(Finding("error", name, text, where))
            elif kind and world.mass[b] <= 0.0:
                text = "a moving body needs mass: give its elements mass or density."
                found.append(Finding("error", name, text, where))
            if kind == CODE["rail"] and _is_bent(world, int(b)):
                text = "Mujoco has only straight rails; let Kinematic own this part."
                found.append(Finding("error", name, text, where))
            if kind == CODE["screw"]:
                found.append(Finding("soft", name, "the screw's thread is a soft constraint.", where))
        for n, name in enumerate(world.loop_names):
            if not self.owned[world.loop_body[n]].any():
                continue
            if world.loop_kind[n] in (CODE["ball"], CODE["hinge"], CODE["fixed"]):
                text = "the loop is a soft constraint; its gap is reported."
                found.append(Finding("soft", name, text, world.loop_origins[n]))
            else:
                text = "Mujoco closes loops by ball, hinge or fixed only."
                found.append(Finding("error", name, text, world.loop_origins[n]))
        if self.owned[world.dof_body[world.coupling_dof[:, 0]]].any():
            found.append(Finding("soft", "couplings", "coupled joints follow softly."))
        for piece in world.shapes:
            name = world.element_names[piece.element]
            where = world.element_origins[piece.element]
            if piece.restitution > 0.0 and self.owned[piece.body]:
                text = "restitution is a soft, damped contact spring; rebound is approximate."
                found.append(Finding("soft", name, text, where))
            if isinstance(piece.shape, Mesh) and piece.shape.collide and self.owned[piece.body]:
                found.append(Finding("note", name, "the mesh touches by its convex hull.", where))
            if isinstance(piece.shape, Plane) and self.owned[piece.body]:
                text = "a plane that moves is a slab of its drawn size."
                found.append(Finding("note", name, text, where))
        return found

    def prepare(self, driven: list[int]) -> None:
        """Builds the MuJoCo model with actuators on the driven degrees of freedom."""
        self._driven = [d for d in driven if self.owned[self.world.dof_body[d]]]
        options = Options(
            self.params.iterations, self.params.tolerance, self.params.impratio,
            self.params.contact_time, self.params.loop_time,
        )  # fmt: skip
        try:
            self.model = build_model(
                self.world, self.owned, self.prescribed, self._driven, options
            )
        except ValueError as error:
            raise EngineError(
                f"MuJoCo refuses this scene: {error}", origin=self.spec.origin
            ) from None
        self._mj = self.model.mj
        self._data = mujoco.MjData(self._mj)

    def slots(self) -> dict[str, tuple[int, ...]]:
        """MuJoCo's warm start (the last accelerations), and velocities of others' bodies."""
        return {"warmstart": (self._mj.nv,), "foreign_speed": (len(self.model.foreign), 6)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        model, mj, data = self.model, self._mj, self._data
        self._warmstart = self.slot("warmstart")
        self._foreign_last = self.slot("foreign_speed")
        self._push = data.qfrc_applied
        self._dofs_driven = np.array(self._driven, np.int64)
        self._maps = (
            np.column_stack([model.q_from, model.q_to]), np.column_stack([model.v_from, model.v_to])
        )  # fmt: skip
        self._qpos, self._qvel, self._qacc = data.qpos, data.qvel, data.qacc
        self._efforts = data.qfrc_actuator
        self._bias = mj.actuator_biasprm
        self._range = mj.actuator_forcerange
        self._wrench = np.zeros((self.world.nb, 6))
        self._grab = state["param/grab"]
        self._q_next, self._v_next = state.q.copy(), state.v.copy()
        self._prescribed = np.array(self.prescribed, np.int64)
        to = dict(zip(model.v_from.tolist(), model.v_to.tolist(), strict=True))
        self._prescribed_to = np.array([to[d] for d in self.prescribed], np.int64)
        self._all = np.flatnonzero(self.owned)
        self._alone = bool((self.owned | (self.world.island < 0)).all())
        self._pose, self._twist = state.pose, state.twist
        if not self._alone:
            self._pose, self._twist = np.zeros_like(state.pose), np.zeros_like(state.twist)
        report = state.report
        self._after = (
            *self.world.tree, self.world.com, *self._maps, self._prescribed, self._qaddr,
            self._q_next, self._v_next, self._qpos, self._qvel, self._qacc, data.qacc_warmstart,
            self._efforts, state.q, state.v, report.acceleration, report.effort, self._warmstart,
            self._pose, self._twist,
        )  # fmt: skip
        self._energies = (
            self._all, state.pose, state.twist, state["param/mass"], self.world.com,
            self.world.inertia, state["param/gravity"], self._dofs, self._qaddr, state.q,
            self.world.stiffness, self.world.rest, report.energy,
        )  # fmt: skip
        self._fresh = False
        self._pulling = False

    def params_changed(self) -> None:
        """Takes masses, friction, damping and gravity over into the MuJoCo model."""
        mj, model, world, state = self._mj, self.model, self.world, self.state
        mj.opt.gravity[:] = state["param/gravity"]
        mass = state["param/mass"]
        changed = False
        for b in self._all:
            number = model.body_to[b]
            if number >= 0 and world.mass[b] > 0.0 and mj.body_mass[number] != mass[b]:
                mj.body_inertia[number] *= mass[b] / mj.body_mass[number]
                mj.body_mass[number] = mass[b]
                changed = True
        mj.geom_friction[:, 0] = state["param/friction"][model.geom_element]
        mj.dof_damping[model.v_to] = state["param/damping"][model.v_from]
        mj.dof_frictionloss[model.v_to] = state["param/joint_friction"][model.v_from]
        if changed:
            scratch = mujoco.MjData(mj)
            mean = float(mj.stat.meaninertia)
            mujoco.mj_setConst(mj, scratch)
            mj.stat.meaninertia = mean
        self._fresh = False
        self._pulling = bool(self._grab[:, 0].any())
        self._data.xfrc_applied[:] = 0.0

    def advance(self, h: float) -> None:  # noqa: D102
        state, model, data = self.state, self.model, self._data
        q, v, qpos, qvel = state.q, state.v, self._qpos, self._qvel
        kernels.prepare_step(
            *self._maps, self._dofs_driven, h, q, v, state.drive, qpos, qvel,
            self._bias, self._range,
        )  # fmt: skip
        for dof, a, i, pitch in model.slides:
            qpos[a], qvel[i] = pitch * q[self._qaddr[dof]], pitch * v[dof]
        if len(model.foreign):
            kernels.place_foreign(
                model.foreign, model.foreign_q, model.foreign_v,
                self.seen_pose, self.seen_twist, self.world.com, self._foreign_last, h,
                model.heavy, qpos, qvel, self._push,
            )  # fmt: skip
        if not self._fresh:
            data.qacc_warmstart[:] = self._warmstart
            self._fresh = True
        if self.prescribed:
            self._prescribe(h)
        if self._pulling:
            self._pull()
        mujoco.mj_step(self._mj, data)
        if not kernels.finish_step(*self._after):
            self._fresh = False
            raise EngineError(
                f"the motion diverged at {state.step * h:.3f} s ({self._worst()}).",
                hint="Use a smaller step, softer gains, or look for overlapping bodies.",
            )
        self._report()

    def _prescribe(self, h: float) -> None:
        """Pushes prescribed joints so that they arrive, and the rest feels their inertia."""
        state, world = self.state, self.world
        follow_targets(
            self._prescribed, self._qaddr, state.q, state.v, state.target, state.target_speed,
            world.dof_lo, world.dof_hi, h, self._q_next, self._v_next,
        )  # fmt: skip
        wanted = (self._v_next[self._prescribed] - state.v[self._prescribed]) / h
        to = self._prescribed_to
        self._push[to] = self._mj.dof_armature[to] * wanted

    def _pull(self) -> None:
        """Hands pull at bodies, where a grab slot is active."""
        self._wrench[:] = 0.0
        grab_forces(
            self._grab, self.state.pose, self.state.twist, self.world.com, self.owned, self._wrench
        )
        there = self.model.body_to[self._all]
        self._data.xfrc_applied[there[there >= 0]] = self._wrench[self._all[there >= 0]]

    def _worst(self) -> str:
        """Names the joint that moves fastest."""
        speeds = np.nan_to_num(np.abs(self._qvel[self.model.v_to]), nan=np.inf)
        return f"joint {self.world.dof_name(int(self.model.v_from[int(np.argmax(speeds))]))}"

    def add_contacts(self, report: Report) -> None:
        """Adds the contacts of the last step to a report's table."""
        data = self._data
        if count := data.ncon:
            contact = data.contact
            report.contact_count = kernels.read_contacts(
                count, contact.geom, contact.pos, contact.frame, contact.dist,
                contact.efc_address, contact.dim, data.efc_force,
                self.model.geom_body, self.model.geom_element, report.contact_count,
                report.contacts,
            )  # fmt: skip

    def _report(self) -> None:
        """Fills in what remains of state and report after the step."""
        state, world = self.state, self.world
        report = state.report
        if not self._alone:
            state.pose[self._all] = self._pose[self._all]
            state.twist[self._all] = self._twist[self._all]
        if self.reports_contacts:
            self.add_contacts(report)
        if world.loop_names:
            gap = loop_state(
                world.loop_kind, world.loop_body, world.loop_pose, world.loop_axis,
                state.pose, state.loop_q, state["loop_turns"],
            )  # fmt: skip
            report.gap[0] = max(report.gap[0], gap)
        kernels.add_energies(*self._energies)


def _is_bent(world: World, b: int) -> bool:
    first, count = int(world.rail_first[b]), int(world.rail_count[b])
    return bool(np.any(world.rail[first : first + count, 1:] != 0.0))
