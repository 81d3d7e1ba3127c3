"""The Mujoco engine: contact-rich dynamics by the MuJoCo library."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.core.errors import EngineError
from linkwork.core.mujoco_library import mujoco, warning_log
from linkwork.core.state import Report, State
from linkwork.engines import Engine
from linkwork.engines.common import (
    coordinate_of_dof,
    energy_arrays,
    joint_springs,
    owned_loops,
)
from linkwork.engines.common.kernels import (
    add_energies,
    follow_speeds,
    follow_targets,
    grab_forces,
    loop_state,
    spring_state,
)
from linkwork.engines.mujoco import kernels
from linkwork.engines.mujoco.actuators import ActuatorExchange, EngineActuator, add_actuators
from linkwork.engines.mujoco.contacts import scale_friction, set_friction
from linkwork.engines.mujoco.findings import find_approximations
from linkwork.engines.mujoco.model import MujocoModel, build_model
from linkwork.engines.mujoco.params import MujocoParams
from linkwork.engines.mujoco.self_collision import overlap_findings, separate_bodies
from linkwork.engines.mujoco.spec_builder import ModelBuilder
from linkwork.engines.mujoco.tendons import own_springs, set_springs, tendon_springs
from linkwork.model.blocks import read_params
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World


class ForeignBodies:
    """Moves the infinite masses through each step as their engines do.

    Args:
        model: The MuJoCo model.
        data: Its MjData.
        com: Centers of mass of all bodies (nb×3) [m].
        ahead: Mask over bodies whose engine advances before this one.
        last: Their velocities in the previous step (n×6), stored in the state.
    """

    def __init__(
        self, model: MujocoModel, data: Any, com: np.ndarray, ahead: np.ndarray, last: np.ndarray
    ) -> None:
        self._bodies, self._com, self._last = model.foreign, com, last
        self._ahead = ahead[model.foreign]
        self._start, self._end = last.copy(), last.copy()
        self._foreign_addresses = (model.foreign, model.foreign_q, model.foreign_v)
        self._arrays = (model.heavy, data.qpos, data.qvel, data.qfrc_applied)

    def __len__(self) -> int:
        return len(self._bodies)

    def reset(self, pose: np.ndarray, twist: np.ndarray) -> None:
        """Initializes the stored velocities from all bodies."""
        kernels.foreign_speeds(self._bodies, pose, twist, self._com, self._last)

    def look(
        self, start_pose: np.ndarray, start_twist: np.ndarray, pose: np.ndarray, h: float
    ) -> None:
        """Computes their motion in this step, from the poses at its start."""
        kernels.foreign_speeds(self._bodies, start_pose, start_twist, self._com, self._start)
        kernels.foreign_motion(
            self._bodies, self._ahead, start_pose, pose, self._last, h, self._start, self._end
        )

    def enter(self, start_pose: np.ndarray, h: float) -> None:
        """Writes them into MuJoCo's arrays."""
        kernels.place_foreign(
            *self._foreign_addresses, start_pose, self._start, self._end, h, *self._arrays
        )

    def remember(self) -> None:
        """Stores their velocities for the next step, after this one succeeded."""
        self._last[:] = np.where(self._ahead[:, None], self._end, self._start)


#: Maximum number of retries of a step whose drives saturate differently than assumed.
MAX_RETRIES = 6


class Mujoco(Engine):
    """Contact-rich dynamics by MuJoCo, with elliptic friction cones.

    General drives and MuJoCo's own actuators are compiled into the model. Affine efforts of other
    drives become forces, springs and dampers of joints: the velocity at the end of the step
    agrees with the efforts there, limits included, so that stiff servos do not oscillate and apply
    their full force. Of two touching surfaces, the smaller friction and the larger restitution are
    used. Bodies of other engines enter with pose and velocity as infinite masses. Loops, couplings
    and screws are soft equality constraints, which :meth:`check` reports.
    """

    type: ClassVar[str] = "mujoco"

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, spec, name, owned)
        self.params = read_params(spec, MujocoParams)
        named = [world.single_dof(joint, origin=spec.origin) for joint in self.params.prescribed]
        self.prescribed = list(dict.fromkeys(named))
        for dof in self.prescribed:
            if not owned[world.dof_body[dof]]:
                raise EngineError(
                    f"joint {world.dof_name(dof)!r} is prescribed but not owned.",
                    origin=spec.origin,
                )
        self._overlaps = separate_bodies(world, owned)
        self._bodies = np.flatnonzero(owned)
        self._dofs = self.owned_dofs
        self._qaddr = coordinate_of_dof(world)
        self._loops = owned_loops(world, owned)
        self._springs = own_springs(world, owned)
        self._driven: list[int] = []
        if self.params.integrator == "auto":
            choice = choose_integrator(world, owned, self.params)
            self.params = msgspec.structs.replace(self.params, integrator=choice)
        self._explicit = self.params.integrator != "discrete"
        self.extras: list[Callable[[ModelBuilder], None]] = []
        self.actuators: list[EngineActuator] = []

    def check(self) -> list[Finding]:
        """Returns what MuJoCo cannot do, or only approximates, in this world."""
        return [
            *super().check(),
            *self.ineffective_drives(self.prescribed),
            *find_approximations(
                self.world, self.owned, self.collidable, self.prescribed, self.params
            ),
            *overlap_findings(self.world, self._overlaps),
        ]

    def summary(self) -> str:
        """Returns the time integrator, if the scene names none."""
        if self.spec.params.get("integrator", "auto") != "auto":
            return ""
        why = "stiff springs, drives and loops are stable"
        if self.params.integrator != "discrete":
            why = "it is the fastest for free bodies"
        return (
            f"mujoco: the time integrator is {self.params.integrator!r}, as none is named: {why}."
        )

    def prepare(self, driven: list[int]) -> None:
        """Builds the MuJoCo model."""
        compiled = {dof for actuator in self.actuators for dof in actuator.dofs}
        owned = [d for d in driven if self.owned[self.world.dof_body[d]]]
        self._driven = [d for d in owned if d not in compiled]
        extras = [*self.extras, lambda build: add_actuators(build, self.actuators)]
        try:
            self.model = build_model(
                self.world, self.owned, self.collidable, self.prescribed, self._driven, self.params,
                origin=self.spec.origin, extras=extras,
            )  # fmt: skip
        except ValueError as error:
            raise EngineError(
                f"MuJoCo refuses this scene: {error}", origin=self.spec.origin, hint=_hint(error)
            ) from None
        self._mj = self.model.mj
        self._data = mujoco.MjData(self._mj)
        joints = self.model.dof_to[:, 0]
        self._exchange = ActuatorExchange(self._mj, self._data, self.actuators, joints)

    def slots(self) -> dict[str, tuple[int, ...]]:
        """MuJoCo's warm start, the saturation of each drive, velocities of foreign bodies."""
        return {
            "warmstart": (self._mj.nv,),
            "saturation": (len(self._driven),),
            "foreign_speed": (len(self.model.foreign), 6),
        }

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        model, world, data = self.model, self.world, self._data
        self._warmstart, saturation = self.slot("warmstart"), self.slot("saturation")
        self._exchange.bind(state)
        before = [f.owned for f in self.all_engines[: self.all_engines.index(self)]]
        ahead = np.any([np.zeros(world.nb, bool), *before], axis=0)
        self._foreign = ForeignBodies(model, data, world.com, ahead, self.slot("foreign_speed"))
        self._push = data.qfrc_applied
        self._qpos, self._qvel = data.qpos, data.qvel
        self._wrench = np.zeros((world.nb, 6))
        self._grab = state["param/grab"]
        self._q_next, self._v_next = state.q.copy(), state.v.copy()
        self._prescribed = np.array(self.prescribed, np.int64)
        self._speed_driven = self.speed_driven(self.prescribed)
        turning = set(self._speed_driven.tolist())
        self._position_driven = np.array([d for d in self.prescribed if d not in turning], np.int64)
        self._alone = bool((self.owned | (world.island < 0)).all())
        self._pose, self._twist = state.pose, state.twist
        if not self._alone:
            self._pose, self._twist = np.zeros_like(state.pose), np.zeros_like(state.twist)
        dofs = np.array(self._driven, np.int64)
        driven = np.column_stack([dofs, model.dof_to[dofs]])
        side, laws, report = np.zeros(len(dofs)), joint_springs(world), state.report
        self._before = (model.q_map, model.v_map, driven, side)
        self._before_state = (
            saturation, laws, state["param/damping"], state.q, state.v, state.drive,
            self._qpos, self._qvel, self._mj.jnt_stiffness, self._mj.dof_damping, self._push,
        )  # fmt: skip
        self._after = (
            *world.tree, world.com, model.q_map, model.v_map, driven, side, state.drive, laws,
            state["param/damping"], self._prescribed, self._qaddr, self._q_next, self._v_next,
            self._qpos, self._qvel, data.qacc_warmstart, state.q, state.v, report.acceleration,
            report.effort, self._warmstart, saturation, self._pose, self._twist,
        )  # fmt: skip
        self._energies = energy_arrays(state, world, self._bodies, self._dofs)
        self._spring_arrays = (
            self._springs, *world.spring_arrays, state["param/spring"], state.pose, state.twist,
            world.com, report.spring,
        )  # fmt: skip
        self._tendon_laws = tendon_springs(world, self._mj, self._springs)
        springs = any(law.any() for law in self._tendon_laws)
        self._tendon_data = mujoco.MjData(self._mj) if springs else None
        self._first_friction = np.zeros(len(world.element_names))
        for world_shape in world.shapes:
            self._first_friction[world_shape.element] = world_shape.friction
        self._fresh = False
        self._pulling = self._rubbing = False

    def reset(self) -> None:  # noqa: D102
        self._warmstart[:] = 0.0
        self.slot("saturation")[:] = 0.0
        self._foreign.reset(self.state.pose, self.state.twist)

    def params_changed(self) -> None:
        """Writes masses, friction, damping and gravity to the MuJoCo model."""
        mj, model, world, state = self._mj, self.model, self.world, self.state
        mj.opt.gravity[:] = state["param/gravity"]
        masses, inertias = model.body_mass.copy(), model.body_inertia.copy()
        changed = self._bodies[state["param/mass"][self._bodies] != world.mass[self._bodies]]
        for b in changed:
            number = model.body_to[b]
            if more := model.element_bodies.get(int(b)):
                masses[[number, *more]] *= state["param/mass"][b] / world.mass[b]
                inertias[[number, *more]] *= state["param/mass"][b] / world.mass[b]
                continue
            masses[number] = state["param/mass"][b]
            inertias[number] *= masses[number] / world.mass[b]
        if (masses != mj.body_mass).any():
            mj.body_mass[:], mj.body_inertia[:] = masses, inertias
            mean = float(mj.stat.meaninertia)
            mujoco.mj_setConst(mj, mujoco.MjData(mj))
            mj.stat.meaninertia = mean
        friction = state["param/friction"][model.geom_element]
        if self.params.native:
            first = self._first_friction[model.geom_element]
            share = np.divide(friction, first, out=np.ones_like(friction), where=first > 0.0)
            scale_friction(mj, model.geom_friction, share)
        else:
            set_friction(mj, friction)
        ours, theirs = model.v_map.T
        mj.dof_damping[theirs] = state["param/damping"][ours]
        mj.dof_frictionloss[theirs] = state["param/joint_friction"][ours]
        set_springs(world, mj, self._springs, state["param/spring"])
        self._exchange.set_gains()
        self._rubbing = bool(mj.dof_frictionloss.any())
        self._fresh = False
        self._pulling = bool(self._grab[:, 0].any())
        self._data.xfrc_applied[:] = 0.0

    def advance(self, h: float) -> None:  # noqa: D102
        if self._foreign:
            self._foreign.look(self.start_pose, self.start_twist, self.state.pose, h)
        if self.prescribed:
            self._prescribe(h)
        if self._pulling:
            self._pull()
        for left in range(MAX_RETRIES - 1, -1, -1):
            self._enter(h, left == MAX_RETRIES - 1)
            try:
                mujoco.mj_step(self._mj, self._data)
            except mujoco.FatalError as error:
                raise self._broken(error, h) from None
            if warning_log.warnings:
                self._raise_warning(h)
            outcome = kernels.finish_step(*self._after, h, left == 0 or self._explicit)
            if outcome == kernels.SETTLED:
                break
            self._fresh = False
            if outcome == kernels.DIVERGED:
                self._give_up(h)
        self._report()

    def sense(self) -> np.ndarray:
        """Returns the readings of the model's own sensors in the present state."""
        self._enter(self.world.scene.step, True)
        mujoco.mj_forward(self._mj, self._data)
        self._fresh = False  # restore the warm start
        if warning_log.warnings:
            warning_log.warnings.clear()  # the step itself will report it
        return self._data.sensordata

    def _enter(self, h: float, first: bool) -> None:
        """Writes the start of the step into MuJoCo's arrays."""
        state, model = self.state, self.model
        kernels.prepare_step(*self._before, first, self._explicit, *self._before_state)
        for dof, a, i, pitch in model.slides:
            self._qpos[a] = pitch * state.q[self._qaddr[dof]]
            self._qvel[i] = pitch * state.v[dof]
        if self._foreign:
            self._foreign.enter(self.start_pose, h)
        if self.actuators:
            self._exchange.enter()
        if not self._fresh:
            self._data.qacc_warmstart[:] = self._warmstart
            self._fresh = True

    def _prescribe(self, h: float) -> None:
        """Applies forces that move prescribed joints to their targets with infinite inertia."""
        state, world = self.state, self.world
        limits = world.dof_lo, world.dof_hi, h, self._q_next, self._v_next
        follow_targets(
            self._position_driven, self._qaddr, state.q, state.target, state.target_speed, *limits
        )
        if len(self._speed_driven):
            follow_speeds(
                self._speed_driven, self._qaddr, state.q, state.target_speed, world.dof_speed,
                *limits,
            )  # fmt: skip
        dofs = self._prescribed
        self._wanted = (self._v_next[dofs] - state.v[dofs]) / h
        self._push[self.model.dof_to[dofs, 2]] = self.model.heavy * self._wanted

    def _pull(self) -> None:
        """Applies the forces of active grab slots."""
        self._wrench[:] = 0.0
        grab_forces(
            self._grab, self.state.pose, self.state.twist, self.world.com, self.owned, self._wrench
        )
        there = self.model.body_to[self._bodies]
        self._data.xfrc_applied[there[there >= 0]] = self._wrench[self._bodies[there >= 0]]

    def _give_up(self, h: float) -> None:
        """Raises an error about the divergence; the state is as before the step."""
        speeds = np.nan_to_num(np.abs(self._qvel[self.model.v_map[:, 1]]), nan=np.inf)
        worst = int(self.model.v_map[int(np.argmax(speeds)), 0])
        raise EngineError(
            f"the motion diverged at {self.state.step * h:.3f} s "
            f"(joint {self.world.dof_name(worst)}).",
            hint="Use a smaller step, softer gains, or look for overlapping bodies.",
        )

    def _broken(self, error: Exception, h: float) -> EngineError:
        """Returns the error for a failure of MuJoCo, and resets its data."""
        mujoco.mj_resetData(self._mj, self._data)  # MuJoCo was interrupted
        warning_log.warnings.clear()
        self._fresh = False
        why = " ".join(str(error).split()).rstrip(".")
        return EngineError(
            f"MuJoCo failed at {self.state.step * h:.3f} s: {why}.",
            origin=self.spec.origin,
            hint="Use a smaller step or fewer contacts, or look for overlapping bodies.",
        )

    def _raise_warning(self, h: float) -> None:
        """Raises a warning of MuJoCo as an error."""
        text = " ".join(warning_log.warnings[0].split()).partition(" Time =")[0]
        warning_log.warnings.clear()
        self._data.warning.number[:] = 0
        self._fresh = False
        if not np.isfinite(self._qvel).all() or np.abs(self._qvel).max(initial=0.0) > 1e10:
            self._give_up(h)
        names = {there: self.world.dof_name(here) for here, there in self.model.v_map.tolist()}
        text = re.sub(r"DOF (\d+)", lambda m: f"joint {names.get(int(m[1]), m[0])}", text)
        raise EngineError(f"MuJoCo cannot continue at {self.state.step * h:.3f} s: {text}")

    def add_contacts(self, report: Report) -> None:
        """Adds the contacts of the last step to a report's table."""
        data = self._data
        if count := data.ncon:
            contact = data.contact
            wanted = kernels.read_contacts(
                count, contact.geom, contact.pos, contact.frame, contact.dist,
                contact.efc_address, contact.dim, data.efc_force,
                self.model.geom_body, self.model.geom_element, report.contact_count,
                report.contacts,
            )  # fmt: skip
            report.contact_count = min(wanted, len(report.contacts))
            if wanted > len(report.contacts) and report is self.state.report:
                raise EngineError(
                    f"there are {wanted} contacts, but the report has only "
                    f"{len(report.contacts)} rows: contact sensors would miss some.",
                    hint="Use fewer or simpler colliding shapes.",
                )

    def _report(self) -> None:
        """Fills the rest of state and report after the step."""
        state, world, data = self.state, self.world, self._data
        report = state.report
        if self._foreign:
            self._foreign.remember()
        if self.actuators:
            efforts = self._exchange.leave(world.scene.step)
            kernels.add_actuator_efforts(self.model.v_map, efforts, report.effort)
        if self._rubbing:
            kernels.add_friction(
                data.ne, data.nf, data.efc_id, data.efc_force, self.model.v_map, report.effort
            )
        if self.prescribed:  # efforts of prescribed joints by inverse dynamics
            dofs, there = self._prescribed, self.model.dof_to[self._prescribed, 2]
            report.effort[dofs] += self._push[there] - self.model.heavy * data.qacc[there]
            report.effort[dofs] += world.armature[dofs] * self._wanted
            report.acceleration[dofs] = self._wanted
        if not self._alone:
            state.pose[self._bodies] = self._pose[self._bodies]
            state.twist[self._bodies] = self._twist[self._bodies]
        if self.reports_contacts:
            self.add_contacts(report)
        if len(self._loops):
            self.note_gap(loop_state(
                self._loops, *world.loop_arrays, state.pose, state.loop_q, state["loop_turns"],
            ))  # fmt: skip
        add_energies(*self._energies)
        if len(self._springs):
            report.energy[1] += spring_state(*self._spring_arrays)
        if self._tendon_data is not None:
            report.energy[1] += self._tendon_energy(self._tendon_data)

    def add_energy(self) -> None:  # noqa: D102
        super().add_energy()
        if self._tendon_data is not None:
            self._enter(self.world.scene.step, True)
            self._fresh = False
            self.state.report.energy[1] += self._tendon_energy(self._tendon_data)

    def _tendon_energy(self, after: Any) -> float:
        """Returns the energy of the springs of tendons [J].

        In MuJoCo's own data their lengths are those before the step.
        """
        mj = self._mj
        after.qpos[:] = self._qpos
        mujoco.mj_kinematics(mj, after)
        mujoco.mj_comPos(mj, after)
        mujoco.mj_tendon(mj, after)
        return kernels.tendon_energy(after.ten_length, mj.tendon_lengthspring, *self._tendon_laws)


def choose_integrator(
    world: World, owned: np.ndarray, params: MujocoParams
) -> Literal["discrete", "implicitfast"]:
    """Returns the integrator for a world that names none.

    Only "discrete" is stable for any spring, drive, loop and restitution, at any step. Free bodies
    without any of these, whose contacts cost "discrete" several times the time, get the other.
    """
    kinds = {j.type for j, b in zip(world.joints, world.joint_body, strict=True) if owned[b]}
    bound = (
        params.tendons, params.tendon_equalities, params.joint_equalities, world.actuators,
        own_springs(world, owned), owned_loops(world, owned),
        [shape for shape in world.shapes if shape.restitution > 0.0],
    )  # fmt: skip
    free = kinds <= {"free"} and not any(len(each) for each in bound)
    return "implicitfast" if free else "discrete"


def _hint(error: ValueError) -> str:
    """Returns the way out of a limit of MuJoCo's; empty if there is none."""
    if "depth limit" not in str(error):
        return ""
    return (
        "MuJoCo takes at most 1024 bodies one after the other in a chain. Run it with "
        "--engine impulse, or place the robot as several shorter parts."
    )


__all__ = ["Mujoco"]
