"""Linkages in Pinocchio: its constraint dynamics with two time integrators.

Pinocchio has no time integrator. Its users take a Runge-Kutta method. The Adams method is that of
our ``method = "forces"``, so that these settings compare the dynamics alone. Only Pinocchio's own
calls, which compute accelerations, are timed, not the sums between them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio

from linkwork.engines.impulse.adams import adams_weights
from shared.linkages import GRAVITY, Linkage, Motion

pin: Any = pinocchio
State = tuple[np.ndarray, np.ndarray]

NAME = f"Pinocchio {pin.__version__}"
#: Proximal parameter, Baumgarte rate [1/s] and order of the Adams method (0: Runge-Kutta).
SETTINGS = {
    "RK4": (1e-8, 0.0, 0),
    "RK4, Baumgarte": (1e-8, 50.0, 0),
    "our Adams 4": (1e-8, 0.0, 4),
    "our Adams 5": (1e-8, 0.0, 5),
    "our Adams 6": (1e-8, 0.0, 6),
}


class Engine:
    """A linkage in Pinocchio. Joints must be added depth first: results are wrong otherwise."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        model = self.model = pin.Model()
        model.gravity.linear = GRAVITY
        for pinned, body in zip(linkage.tree, linkage.bodies, strict=True):
            above = linkage.tree[pinned.a].point if pinned.a >= 0 else np.zeros(3)
            made = {
                "ball": pin.JointModelSpherical,
                "hinge": lambda at=pinned: pin.JointModelRevoluteUnaligned(at.axis),
                "universal": lambda at=pinned: pin.JointModelUniversal(at.axis, at.axis2),
            }[pinned.kind]()
            place = pin.SE3(np.eye(3), pinned.point - above)
            joint = model.addJoint(pinned.a + 1, made, place, f"j{pinned.b}")
            inertia = pin.Inertia(body.mass, body.center - pinned.point, body.inertia)
            model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        self.data = model.createData()
        self._v0 = np.zeros(model.nv)
        for pinned in linkage.tree:
            if pinned.kind == "ball":
                first = model.idx_vs[pinned.b + 1]
                self._v0[first : first + 3] = pinned.rate
        self._tau = np.zeros(model.nv)
        joints = range(1, model.njoints)
        balls = [n for n in joints if model.nqs[n] == 4]
        self._ball_q = np.array([model.idx_qs[n] for n in balls], np.int64)
        self._ball_v = np.array([model.idx_vs[n] for n in balls], np.int64)
        rest = [n for n in joints if model.nqs[n] != 4]
        self._plain_q = np.array(
            [model.idx_qs[n] + k for n in rest for k in range(model.nqs[n])], int
        )
        self._plain_v = np.array(
            [model.idx_vs[n] + k for n in rest for k in range(model.nvs[n])], int
        )

    def _constrain(self, setting: str) -> None:
        proximal, rate, _ = SETTINGS[setting]
        self._constraints = pin.StdVec_RigidConstraintModel()
        for pinned in self.linkage.loops:
            ends = []
            for body in (pinned.a, pinned.b):
                origin = self.linkage.tree[body].point if body >= 0 else np.zeros(3)
                ends += [body + 1, pin.SE3(np.eye(3), pinned.point - origin)]
            constraint = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, self.model, *ends, pin.ReferenceFrame.LOCAL
            )
            gains = constraint.m_baumgarte_parameters
            gains.Kp, gains.Kd = rate * rate, 2.0 * rate
            constraint.setBaumgarteCorrectorParameters(gains)
            self._constraints.append(constraint)
        self._constraint_data = pin.StdVec_RigidConstraintData()
        for constraint in self._constraints:
            self._constraint_data.append(constraint.createData())
        pin.initConstraintDynamics(self.model, self.data, self._constraints, self._constraint_data)
        self._settings = pin.ProximalSettings(1e-14, proximal, 10)

    def _accelerate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if not self.linkage.loops:
            return pin.aba(self.model, self.data, q, v, self._tau)
        return pin.constraintDynamics(
            self.model,
            self.data,
            q,
            v,
            self._tau,
            self._constraints,
            self._constraint_data,
            self._settings,
        )

    def _cost(self) -> float:
        """CPU time of one call [s]."""
        q, v = pin.neutral(self.model), self._v0
        spent = []
        for _ in range(3):
            started = time.process_time()
            for _ in range(20):
                self._accelerate(q, v)
            spent.append((time.process_time() - started) / 20)
        return statistics.median(spent)

    def _rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Time derivatives of the coordinates; those of ball joints are quaternions (xyzw)."""
        out = np.empty_like(q)
        out[self._plain_q] = v[self._plain_v]
        x, y, z, w = (q[self._ball_q + k] for k in range(4))
        a, b, c = (0.5 * v[self._ball_v + k] for k in range(3))
        out[self._ball_q] = w * a + y * c - z * b
        out[self._ball_q + 1] = w * b + z * a - x * c
        out[self._ball_q + 2] = w * c + x * b - y * a
        out[self._ball_q + 3] = -x * a - y * b - z * c
        return out

    def _step(self, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        def go(part: float, rate: np.ndarray) -> np.ndarray:
            return pin.normalize(self.model, q + part * rate)

        a1, r1 = self._accelerate(q, v), self._rates(q, v)
        q2, v2 = go(0.5 * h, r1), v + 0.5 * h * a1
        a2, r2 = self._accelerate(q2, v2), self._rates(q2, v2)
        q3, v3 = go(0.5 * h, r2), v + 0.5 * h * a2
        a3, r3 = self._accelerate(q3, v3), self._rates(q3, v3)
        q4, v4 = go(h, r3), v + h * a3
        a4, r4 = self._accelerate(q4, v4), self._rates(q4, v4)
        return (
            go(h / 6.0, r1 + 2.0 * r2 + 2.0 * r3 + r4),
            v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4),
        )

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """One second from the start."""
        self._constrain(setting)
        one = self._cost()
        calls, (q, v) = 0, (pin.neutral(self.model), self._v0.copy())
        for used, at in self._steps(setting, 1.0 / count, count):
            calls += used
            q, v = at
        return calls * one, self._motion(q, v).x if np.isfinite(q).all() else None

    def _steps(self, setting: str, h: float, count: int) -> Iterator[tuple[int, State]]:
        """Number of calls of each step, and the state after it."""
        order = SETTINGS[setting][2]
        q, v = pin.neutral(self.model), self._v0.copy()
        if order:
            yield from self._adams(order, q, v, h, count)
            return
        for _ in range(count):
            q, v = self._step(q, v, h)
            yield 4, (q, v)

    def _adams(
        self, order: int, q: np.ndarray, v: np.ndarray, h: float, count: int
    ) -> Iterator[tuple[int, State]]:
        """Predicted, evaluated and corrected once; the first steps are Runge-Kutta steps."""
        weights, room, nq = adams_weights(order), order - 1, len(q)
        last: list[np.ndarray] = []

        def rate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.concatenate([self._rates(q, v), self._accelerate(q, v)])

        def split(x: np.ndarray) -> State:
            return pin.normalize(self.model, x[:nq]), x[nq:]

        for _ in range(count):
            if len(last) < room:
                last.insert(0, rate(q, v))
                if len(last) < room:
                    q, v = self._step(q, v, h)
                    yield 4, (q, v)
                    continue
            x = np.concatenate([q, v])
            slope = sum(w * f for w, f in zip(weights[0], last, strict=False))
            next_rate = sum(w * f for w, f in zip(weights[1], last, strict=False))
            found = rate(*split(x + h * slope))
            q, v = split(x + h * (slope + weights[1, room] * (found - next_rate)))
            last = [found, *last[:-1]]
            yield 1, (q, v)

    def _motion(self, q: np.ndarray, v: np.ndarray) -> Motion:
        pin.forwardKinematics(self.model, self.data, q, v)
        n = len(self.linkage.bodies)
        x, speed, turn, w = (
            np.zeros((n, 3)),
            np.zeros((n, 3)),
            np.zeros((n, 3, 3)),
            np.zeros((n, 3)),
        )
        for pinned, body in zip(self.linkage.tree, self.linkage.bodies, strict=True):
            place, twist = self.data.oMi[pinned.b + 1], self.data.v[pinned.b + 1]
            turn[pinned.b] = place.rotation
            arm = body.center - pinned.point
            x[pinned.b] = place.translation + place.rotation @ arm
            w[pinned.b] = place.rotation @ twist.angular
            speed[pinned.b] = place.rotation @ (twist.linear + np.cross(twist.angular, arm))
        return Motion(x, turn, speed, w)

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Poses and velocities of the bodies, every 10 ms."""
        self._constrain(setting)
        steps = enumerate(self._steps(setting, h, round(seconds / h)), start=1)
        return [self._motion(*at) for n, (_, at) in steps if n % round(0.01 / h) == 0]
