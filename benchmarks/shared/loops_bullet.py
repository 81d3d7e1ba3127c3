"""Linkages in Bullet: an articulated body with its loops as point-to-point constraints."""

from __future__ import annotations

import importlib
import os
import tempfile
import time
from typing import Any

import numpy as np

from shared.linkages import GRAVITY, GROUND, Linkage, Motion

bullet: Any = importlib.import_module("pybullet")

NAME = "Bullet"
#: Iterations of the solver, and the part of a gap that a step corrects (None: the default).
SETTINGS = {"default": (50, None), "200 iterations": (200, 0.8), "1000 iterations": (1000, 0.8)}
#: Of the link between the two hinges of a universal joint: Bullet requires a positive mass.
SMALL_INERTIA = (
    '<mass value="1e-7"/><inertia ixx="1e-10" iyy="1e-10" izz="1e-10" ixy="0" ixz="0" iyz="0"/>'
)
#: Bullet reads the inertia of the file only for links that have a shape.
SHAPE = '<collision><geometry><sphere radius="0.001"/></geometry></collision>'


def angles(turn: np.ndarray) -> str:
    """Roll, pitch and yaw of a rotation."""
    pitch = np.arctan2(-turn[2, 0], np.hypot(turn[0, 0], turn[1, 0]))
    if abs(np.cos(pitch)) < 1e-9:
        return text([0.0, pitch, np.arctan2(-turn[0, 1], turn[1, 1])])
    return text([np.arctan2(turn[2, 1], turn[2, 2]), pitch, np.arctan2(turn[1, 0], turn[0, 0])])


def text(values: Any) -> str:
    return " ".join(f"{float(value):.17g}" for value in values)


class Engine:
    """A linkage in Bullet."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        bullet.connect(bullet.DIRECT)
        #: Principal axes of each body, in its own frame.
        self._axes = []
        for body in linkage.bodies:
            axes = np.linalg.eigh(body.inertia)[1]
            self._axes.append(axes * np.sign(np.linalg.det(axes)))

    def _urdf(self) -> str:
        lines = [
            f'<robot name="linkage"><link name="ground"><inertial>{SMALL_INERTIA}</inertial></link>'
        ]

        def joint(kind: str, name: str, a: str, b: str, at: np.ndarray, axis: np.ndarray) -> str:
            return (
                f'<joint name="{name}" type="{kind}"><parent link="{a}"/><child link="{b}"/>'
                f'<origin xyz="{text(at)}"/><axis xyz="{text(axis)}"/></joint>'
            )

        for n, (pin, body) in enumerate(zip(self.linkage.tree, self.linkage.bodies, strict=True)):
            axes = self._axes[n]
            i = np.diag(axes.T @ body.inertia @ axes)
            lines.append(
                f'<link name="b{n}"><inertial><mass value="{body.mass}"/>'
                f'<origin xyz="{text(body.center - pin.point)}" rpy="{angles(axes)}"/>'
                f'<inertia ixx="{i[0]:.17g}" iyy="{i[1]:.17g}" izz="{i[2]:.17g}" ixy="0" ixz="0" '
                f'iyz="0"/></inertial>{SHAPE}</link>'
            )
            above = self.linkage.tree[pin.a].point if pin.a >= 0 else np.zeros(3)
            name = f"b{pin.a}" if pin.a >= 0 else "ground"
            at = pin.point - above
            if pin.kind == "universal":
                lines.append(
                    f'<link name="u{n}"><inertial>{SMALL_INERTIA}</inertial>{SHAPE}</link>'
                )
                lines.append(joint("continuous", f"i{n}", name, f"u{n}", at, pin.axis))
                name, at = f"u{n}", np.zeros(3)
            kind = "spherical" if pin.kind == "ball" else "continuous"
            axis = pin.axis2 if pin.kind == "universal" else pin.axis
            lines.append(joint(kind, f"j{n}", name, f"b{n}", at, axis))
        return "\n".join(lines).replace("><", ">\n<") + "\n</robot>"

    def begin(self, setting: str, h: float, at_once: int) -> None:
        """Builds it again: a reset would keep the impulses of the last run."""
        iterations, erp = SETTINGS[setting]
        bullet.resetSimulation()
        bullet.setGravity(*GRAVITY)
        more = {} if erp is None else {"erp": erp, "contactERP": erp, "globalCFM": 0.0}
        bullet.setPhysicsEngineParameter(
            fixedTimeStep=h * at_once, numSubSteps=at_once if at_once > 1 else 0,
            numSolverIterations=iterations, **more,
        )  # fmt: skip
        with tempfile.NamedTemporaryFile("w", suffix=".urdf", delete=False) as file:
            file.write(self._urdf())
        self._robot = bullet.loadURDF(
            file.name, useFixedBase=True, flags=bullet.URDF_USE_INERTIA_FROM_FILE
        )
        os.unlink(file.name)
        robot = self._robot
        self._links = {}
        bullet.changeDynamics(robot, -1, linearDamping=0, angularDamping=0)
        for n in range(bullet.getNumJoints(robot)):
            about = bullet.getJointInfo(robot, n)
            self._links[about[12].decode()] = n
            bullet.changeDynamics(
                robot, n, linearDamping=0, angularDamping=0, jointDamping=0,
                maxJointVelocity=1e9,
            )  # fmt: skip
            if about[2] == bullet.JOINT_SPHERICAL:
                rate = self.linkage.tree[int(about[1].decode()[1:])].rate
                bullet.setJointMotorControlMultiDof(
                    robot, n, bullet.POSITION_CONTROL, targetPosition=[0, 0, 0, 1], force=[0, 0, 0]
                )
                bullet.resetJointStateMultiDof(robot, n, [0, 0, 0, 1], rate.tolist())
            else:
                bullet.setJointMotorControl2(robot, n, bullet.VELOCITY_CONTROL, force=0)
        for pin in self.linkage.loops:
            constraint = bullet.createConstraint(
                robot, self._link(pin.b), robot if pin.a >= 0 else -1, self._link(pin.a),
                bullet.JOINT_POINT2POINT, [0, 0, 0], self._at(pin.b, pin.point),
                self._at(pin.a, pin.point),
            )  # fmt: skip
            bullet.changeConstraint(constraint, maxForce=1e9)

    def _link(self, body: int) -> int:
        return self._links[f"b{body}"] if body != GROUND else -1

    def _at(self, body: int, point: np.ndarray) -> list[float]:
        if body == GROUND:
            return point.tolist()
        return (self._axes[body].T @ (point - self.linkage.center(body))).tolist()

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """One second from the start, with as many steps in one call as Bullet allows."""
        at_once = next(n for n in (50, 31, 25, 10, 1) if count % n == 0)
        self.begin(setting, 1.0 / count, at_once)
        started = time.process_time()
        for _ in range(count // at_once):
            bullet.stepSimulation()
        spent = time.process_time() - started
        return spent, self._motion().x

    def _motion(self) -> Motion:
        x, turn, v, w = [], [], [], []
        for n, axes in enumerate(self._axes):
            state = bullet.getLinkState(self._robot, self._link(n), 1, 1)
            x.append(state[0])
            turn.append(np.reshape(bullet.getMatrixFromQuaternion(state[1]), (3, 3)) @ axes.T)
            v.append(state[6])
            w.append(state[7])
        return Motion(*(np.array(each) for each in (x, turn, v, w)))

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Poses and velocities of the bodies, every 10 ms."""
        per = round(0.01 / h)
        self.begin(setting, h, per)
        found = []
        for _ in range(round(seconds / 0.01)):
            bullet.stepSimulation()
            found.append(self._motion())
        return found
