"""Linkages in Drake: trees in continuous time, loops in discrete time."""

from __future__ import annotations

import importlib
import time
from typing import Any

import numpy as np

from shared.linkages import GRAVITY, Linkage, Motion, Pin

tree: Any = importlib.import_module("pydrake.multibody.tree")
plants: Any = importlib.import_module("pydrake.multibody.plant")
maths: Any = importlib.import_module("pydrake.math")
analysis: Any = importlib.import_module("pydrake.systems.analysis")

NAME = "Drake"
SETTINGS = {"discrete, SAP": "", "Runge-Kutta 3": "runge_kutta3", "Runge-Kutta 5": "runge_kutta5"}


class Engine:
    """A linkage in Drake."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage

    def _build(self, setting: str, h: float) -> None:
        scheme = SETTINGS[setting]
        plant = self._plant = plants.MultibodyPlant(time_step=0.0 if scheme else h)
        if not scheme:
            plant.set_discrete_contact_approximation(plants.DiscreteContactApproximation.kSap)
        plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
        self._bodies = []
        for n, body in enumerate(self.linkage.bodies):
            i = body.inertia / body.mass
            unit = tree.UnitInertia(i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
            made = plant.AddRigidBody(f"b{n}", tree.SpatialInertia(body.mass, np.zeros(3), unit))
            self._bodies.append(made)
        joints = [self._join(pin) for pin in self.linkage.tree]
        for pin in self.linkage.loops:
            plant.AddBallConstraint(
                body_A=self._body(pin.a), p_AP=pin.point - self.linkage.center(pin.a),
                body_B=self._body(pin.b), p_BQ=pin.point - self.linkage.center(pin.b),
            )  # fmt: skip
        plant.Finalize()
        self._simulator = analysis.Simulator(plant)
        self._context = self._simulator.get_mutable_context()
        for joint, pin in zip(joints, self.linkage.tree, strict=True):
            if pin.kind == "ball":
                joint.set_angular_velocity(self._context, pin.rate)
        if scheme:
            made = analysis.ResetIntegratorFromFlags(self._simulator, scheme, h)
            made.set_fixed_step_mode(True)
        self._simulator.Initialize()

    def _body(self, n: int) -> Any:
        return self._bodies[n] if n >= 0 else self._plant.world_body()

    def _join(self, pin: Pin) -> Any:
        turn = np.eye(3)
        if pin.kind == "universal":
            turn = np.column_stack([pin.axis, pin.axis2, np.cross(pin.axis, pin.axis2)])
        frames = []
        for side, body in (("a", pin.a), ("b", pin.b)):
            place = maths.RigidTransform(
                maths.RotationMatrix.ProjectToRotationMatrix(turn),
                pin.point - self.linkage.center(body),
            )
            frame = tree.FixedOffsetFrame(
                f"{side} of j{pin.b}", self._body(body).body_frame(), place
            )
            frames.append(self._plant.AddFrame(frame))
        name = f"j{pin.b}"
        if pin.kind == "ball":
            return self._plant.AddJoint(tree.BallRpyJoint(name, *frames))
        if pin.kind == "universal":
            return self._plant.AddJoint(tree.UniversalJoint(name, *frames))
        return self._plant.AddJoint(tree.RevoluteJoint(name, *frames, pin.axis))

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """One second from the start; None for loops in continuous time, which Drake lacks."""
        if SETTINGS[setting] and self.linkage.loops:
            return 0.0, None
        self._build(setting, 1.0 / count)
        started = time.process_time()
        self._simulator.AdvanceTo(1.0)
        spent = time.process_time() - started
        return spent, self._motion().x

    def _motion(self) -> Motion:
        x, turn, v, w = [], [], [], []
        for body in self._bodies:
            pose = self._plant.EvalBodyPoseInWorld(self._context, body)
            speed = self._plant.EvalBodySpatialVelocityInWorld(self._context, body)
            x.append(pose.translation())
            turn.append(pose.rotation().matrix())
            v.append(speed.translational())
            w.append(speed.rotational())
        return Motion(*(np.array(each) for each in (x, turn, v, w)))

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Poses and velocities of the bodies, every 10 ms."""
        self._build(setting, h)
        found = []
        for n in range(1, round(seconds / 0.01) + 1):
            self._simulator.AdvanceTo(0.01 * n)
            found.append(self._motion())
        return found
