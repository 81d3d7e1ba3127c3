"""Linkages in Newton's solver Kamino on the CPU, in single precision."""

from __future__ import annotations

import importlib
import time
from typing import Any

import numpy as np

from shared.linkages import GRAVITY, Linkage, Motion, Pin

wp: Any = importlib.import_module("warp")
newton: Any = importlib.import_module("newton")

wp.config.quiet = True
NAME = f"Newton {newton.__version__}"
SETTINGS = {"PADMM, default": "padmm", "DVI": "dvi"}


class Engine:
    """A linkage in Newton."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=GRAVITY.tolist())
        kamino = newton.solvers.SolverKamino
        kamino.register_custom_attributes(builder)
        builder.begin_world()
        for body in linkage.bodies:
            builder.add_link(
                xform=wp.transform(wp.vec3(*body.center), wp.quat_identity()), mass=body.mass,
                com=wp.vec3(0.0, 0.0, 0.0), inertia=wp.mat33(*body.inertia.flatten()),
                lock_inertia=True,
            )  # fmt: skip
        joints = [self._join(builder, pin) for pin in linkage.tree]
        for pin in linkage.loops:
            self._join(builder, pin)
        builder.add_articulation(joints)
        builder.end_world()
        with wp.ScopedDevice("cpu"):
            self._model = builder.finalize(skip_validation_joints=True)

    def _join(self, builder: Any, pin: Pin) -> int:
        def place(body: int) -> Any:
            return wp.transform(
                wp.vec3(*(pin.point - self.linkage.center(body))), wp.quat_identity()
            )

        free = newton.JointTargetMode.NONE
        ends = {"parent_xform": place(pin.a), "child_xform": place(pin.b)}
        if pin.kind == "ball":
            return builder.add_joint_ball(pin.a, pin.b, actuator_mode=free, **ends)
        if pin.kind == "hinge":
            axis = wp.vec3(*pin.axis)
            return builder.add_joint_revolute(
                pin.a, pin.b, axis=axis, actuator_mode=free, armature=0.0, friction=0.0, **ends
            )
        made = newton.ModelBuilder.JointDofConfig
        axes = [made(axis=wp.vec3(*axis), actuator_mode=free, armature=0.0)
                for axis in (pin.axis, pin.axis2)]  # fmt: skip
        return builder.add_joint_d6(pin.a, pin.b, angular_axes=axes, **ends)

    def begin(self, setting: str) -> None:
        """Creates the solver and sets the start."""
        kamino = newton.solvers.SolverKamino
        config = kamino.Config(dynamics_solver=SETTINGS[setting])
        self._solver = kamino(model=self._model, config=config)
        self._states = [self._model.state(), self._model.state()]
        start = self.linkage.start()
        for state in self._states:
            pose = np.concatenate([start.x, np.tile([0, 0, 0, 1.0], (len(start.x), 1))], axis=1)
            state.body_q.assign(pose.astype(np.float32))
            state.body_qd.assign(np.concatenate([start.v, start.w], axis=1).astype(np.float32))
        self._control = self._model.control()

    def _go(self, count: int, h: float) -> None:
        for _ in range(count):
            a, b = self._states
            a.clear_forces()
            self._solver.step(a, b, self._control, None, h)
            self._states = [b, a]

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """One second from the start."""
        with wp.ScopedDevice("cpu"):
            self.begin(setting)
            self._go(2, 1.0 / count)
            self.begin(setting)
            started = time.process_time()
            self._go(count, 1.0 / count)
            spent = time.process_time() - started
            return spent, self._motion().x

    def _motion(self) -> Motion:
        pose, twist = self._states[0].body_q.numpy(), self._states[0].body_qd.numpy()
        pose, twist = pose.astype(float), twist.astype(float)
        turn = np.zeros((len(pose), 3, 3))
        for n, (x, y, z, w) in enumerate(pose[:, 3:]):
            hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            turn[n] = np.eye(3) + 2 * w * hat + 2 * hat @ hat
        return Motion(pose[:, :3], turn, twist[:, :3], twist[:, 3:])

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Poses and velocities of the bodies, every 10 ms."""
        found = []
        with wp.ScopedDevice("cpu"):
            self.begin(setting)
            for _ in range(round(seconds / 0.01)):
                self._go(round(0.01 / h), h)
                found.append(self._motion())
        return found
