"""Actuators that MuJoCo computes itself: their transmission, law, and exchange with our state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.core.mujoco_library import mujoco
from linkwork.core.state import State
from linkwork.engines.mujoco.kernels import (
    DISCRETE,
    EXPLICIT,
    IMPLICIT,
    STAGES,
    enter_actuators,
    leave_actuators,
    meter_actuators,
    write_gains,
)
from linkwork.engines.mujoco.spec_builder import ModelBuilder

#: How MuJoCo's integrators use the forces of actuators.
_MODES = {
    int(mujoco.mjtIntegrator.mjINT_EULER): EXPLICIT,
    int(mujoco.mjtIntegrator.mjINT_RK4): STAGES,
    int(mujoco.mjtIntegrator.mjINT_IMPLICIT): IMPLICIT,
    int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST): IMPLICIT,
    int(mujoco.mjtIntegrator.mjINT_DISCRETE): DISCRETE,
}

#: Field of the state and index in it.
StateLocation = tuple[str, tuple[int, ...]]


@dataclass
class EngineActuator:
    """One actuator of the engine's model.

    Attributes:
        name: Its name in the model.
        attributes: Attributes of MuJoCo's actuator, except those of the transmission.
        transmit: Adds what the transmission needs to a model (a tendon, sites) and returns its
            attributes.
        dofs: Degrees of freedom of the joints that it acts on directly; empty for others.
        controls, activations, forces: Where the state holds them.
        used_control: Where the state holds the control within its range.
        power, energy: Where the state holds its mechanical power [W] and work [J].
        gains: Where the state holds its first three gain and bias parameters, if they may be
            changed while running.
    """

    name: str
    attributes: Mapping[str, Any]
    transmit: Callable[[ModelBuilder], Mapping[str, Any]]
    dofs: Sequence[int] = ()
    controls: Sequence[StateLocation] = ()
    activations: Sequence[StateLocation] = ()
    forces: Sequence[StateLocation] = ()
    used_control: StateLocation | None = None
    power: StateLocation | None = None
    energy: StateLocation | None = None
    gains: StateLocation | None = None


def add_actuators(build: ModelBuilder, actuators: Sequence[EngineActuator]) -> None:
    """Adds actuators to a model."""
    for actuator in actuators:
        made = build.spec.add_actuator(name=actuator.name)
        for word, value in {**actuator.attributes, **actuator.transmit(build)}.items():
            _set(made, word, value)


def _set(made: Any, word: str, value: Any) -> None:
    """Sets an attribute; of arrays, as many numbers as are given."""
    if isinstance(value, list | tuple) and word in ("gainprm", "biasprm", "dynprm", "gear"):
        array = np.array(getattr(made, word), float)
        array[: len(value)] = value
        value = array.tolist()
    setattr(made, word, list(value) if isinstance(value, tuple) else value)


def joint_transmission(
    weights: Mapping[int, float], name: str
) -> Callable[[ModelBuilder], Mapping[str, Any]]:
    """Returns the transmission to a weighted sum of single degrees of freedom.

    Args:
        weights: Weight of each degree of freedom.
        name: Name of the tendon that several of them need.
    """

    def transmit(build: ModelBuilder) -> Mapping[str, Any]:
        names = {v: joint for _, v, joint, size in build.coordinates if size == 1}
        if len(weights) == 1:
            ((dof, weight),) = weights.items()
            joint = mujoco.mjtTrn.mjTRN_JOINT
            return {"trntype": joint, "target": names[dof], "gear": [weight]}
        tendon = build.spec.add_tendon(name=name)
        for dof, weight in weights.items():
            tendon.wrap_joint(names[dof], weight)
        return {"trntype": mujoco.mjtTrn.mjTRN_TENDON, "target": name, "gear": [1.0]}

    return transmit


@dataclass
class ActuatorExchange:
    """Copies controls, activations, forces and gains between the state and MuJoCo's arrays.

    Attributes:
        mj: The MjModel.
        data: Its MjData.
        actuators: The actuators, by their names in the model.
        joints: MuJoCo's joint of each of our degrees of freedom.
    """

    mj: Any
    data: Any
    actuators: Sequence[EngineActuator]
    joints: np.ndarray
    _tables: tuple[np.ndarray, ...] = field(init=False)

    def bind(self, state: State) -> None:
        """Resolves the addresses in the state."""
        mj = self.mj
        control, activation, force = [], [], []
        meter, gains, limits, used = [], [], [], []
        for actuator in self.actuators:
            n = int(mj.actuator(actuator.name).id)
            for table, locations, first in (
                (control, actuator.controls, mj.actuator_ctrladr[n]),
                (activation, actuator.activations, mj.actuator_actadr[n]),
                (force, actuator.forces, mj.actuator_outadr[n]),
            ):
                table += [
                    (state.address(name, *index), int(first) + k)
                    for k, (name, index) in enumerate(locations)
                ]
            if actuator.power is not None and actuator.energy is not None:
                addresses = [
                    state.address(f, *index) for f, index in (actuator.power, actuator.energy)
                ]
                meter.append((*addresses, *self._activation_of(state, actuator, n)))
            if actuator.used_control is not None:
                name, index = actuator.used_control
                used.append((state.address(name, *index), int(mj.actuator_ctrladr[n])))
            if actuator.gains is not None:
                name, index = actuator.gains
                gains.append((state.address(name, *index), n))
            limits += [(dof, int(self.joints[dof]), n) for dof in actuator.dofs]
        self._tables = _pairs(control), _pairs(activation), _pairs(force)
        self._used = _pairs(used)
        self._meter = np.array(meter, np.int64).reshape(-1, 7)
        self._gains = _pairs(gains)
        self._limits = np.array(limits, np.int64).reshape(-1, 3)
        self._limited = mj.jnt_actfrclimited.astype(np.bool_).copy()
        self._ranges = mj.jnt_actfrcrange.copy()
        self._laws = mj.actuator_gainprm.copy(), mj.actuator_biasprm.copy()
        self._state = state
        self._dead = False
        self._bind_meter(state)

    def _activation_of(
        self, state: State, actuator: EngineActuator, n: int
    ) -> tuple[int, int, int, int, int]:
        """Returns an actuator's activation in the state, and its places in MuJoCo's arrays."""
        mj, kept, early = self.mj, -1, -1
        if actuator.activations:
            name, index = actuator.activations[-1]
            kept = state.address(name, *index)
        if mj.actuator_actearly[n] and mj.actuator_actadr[n] >= 0:
            early = int(mj.actuator_actadr[n] + mj.actuator_actnum[n]) - 1
        return kept, int(mj.actuator_outadr[n]), n, int(mj.actuator_ctrladr[n]), early

    def _bind_meter(self, state: State) -> None:
        mj, data = self.mj, self.data
        affine = (
            mj.actuator_gaintype == mujoco.mjtGain.mjGAIN_AFFINE,
            mj.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE,
        )
        endless = np.array([-np.inf, np.inf])
        forces, controls = mj.actuator_forcerange.copy(), mj.actuator_ctrlrange.copy()
        forces[mj.actuator_forcelimited == 0] = endless
        controls[mj.actuator_ctrllimited == 0] = endless
        self._start_speed = np.zeros(mj.nv)
        self._gravity_effort = np.zeros(mj.nv)
        self._by_actuators = mj.jnt_actgravcomp[mj.dof_jntid].astype(np.float64)
        self._effort = np.zeros(mj.nv)
        self._control_range = controls
        self._mode = _MODES[int(mj.opt.integrator)]
        self._step_arrays = (
            np.column_stack(affine).astype(np.float64), mj.actuator_gainprm, mj.actuator_biasprm,
            forces, data.ctrl, controls, data.act, data.actuator_force, data.actuator_velocity,
            data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind,
            self._start_speed, data.qvel, mj.dof_jntid, mj.jnt_actfrclimited, mj.jnt_actfrcrange,
            self._gravity_effort, np.zeros(mj.nv), np.zeros(mj.nv), self._effort,
        )  # fmt: skip

    def set_gains(self) -> None:
        """Writes changed gains into the model."""
        write_gains(self._state.data, self._gains, *self._laws)
        self.mj.actuator_gainprm[:], self.mj.actuator_biasprm[:] = self._laws

    def enter(self) -> None:
        """Writes controls and activations into MuJoCo's arrays."""
        controls, activations, _ = self._tables
        enter_actuators(self._state.data, controls, activations, self.data.ctrl, self.data.act)
        self._start_speed[:] = self.data.qvel
        self._apply_dead_drives()

    def _apply_dead_drives(self) -> None:
        """Removes the efforts on joints whose limits are both 0: a fault has set them.

        An actuator has no force if all its joints are dead.
        """
        drive, limits, mj = self._state.drive, self._limits, self.mj
        if not len(limits):
            return
        dofs = limits[:, 0]
        dead = (drive[3, dofs] == 0.0) & (drive[4, dofs] == 0.0)
        if not dead.any() and not self._dead:
            return
        self._dead = bool(dead.any())
        mj.jnt_actfrclimited[:], mj.jnt_actfrcrange[:] = self._limited, self._ranges
        mj.actuator_gainprm[:], mj.actuator_biasprm[:] = self._laws
        joints, idle = limits[dead, 1], np.setdiff1d(limits[dead, 2], limits[~dead, 2])
        mj.jnt_actfrclimited[joints], mj.jnt_actfrcrange[joints] = 1, 0.0
        mj.actuator_gainprm[idle], mj.actuator_biasprm[idle] = 0.0, 0.0

    def leave(self, h: float) -> np.ndarray:
        """Reads activations, forces and power after a step of ``h`` [s].

        Returns the efforts of the actuators on MuJoCo's degrees of freedom.
        """
        data, (_, activations, forces) = self.data, self._tables
        self._effort[:] = data.qfrc_actuator
        np.multiply(self._by_actuators, data.qfrc_gravcomp, out=self._gravity_effort)
        meter_actuators(self._state.data, self._meter, self._mode, h, *self._step_arrays)
        leave_actuators(
            self._state.data, activations, forces, self._used, data.act, data.actuator_force,
            data.ctrl, self._control_range,
        )  # fmt: skip
        return self._effort


def _pairs(rows: list[tuple[int, int]]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, 2)
