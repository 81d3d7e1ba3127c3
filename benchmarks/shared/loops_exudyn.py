"""Linkages in Exudyn: rigid bodies with joints as constraints, integrated implicitly."""

from __future__ import annotations

import importlib
import time
from typing import Any

import numpy as np

from shared.linkages import GRAVITY, Linkage, Motion, Pin

exudyn: Any = importlib.import_module("exudyn")
basics: Any = importlib.import_module("exudyn.utilities")

NAME = f"Exudyn {exudyn.__version__}"
#: Spectral radius, relative tolerance of Newton's method, and whether its Jacobian is kept.
SETTINGS = {
    "generalized alpha, default": (None, 1e-8, False),
    "trapezoidal": (1.0, 1e-8, True),
    "trapezoidal, tolerance 1e-10": (1.0, 1e-10, True),
}


def frame(axis: np.ndarray, axis2: np.ndarray | None = None) -> np.ndarray:
    """Axes of a joint: z along ``axis``, x along ``axis2``."""
    z = axis / np.linalg.norm(axis)
    x = axis2 if axis2 is not None else np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - z * (x @ z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


class Engine:
    """A linkage in Exudyn."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage

    def _build(self, traced: bool) -> None:
        linkage = self.linkage
        self._container = exudyn.SystemContainer()
        mbs = self.mbs = self._container.AddSystem()
        start = linkage.start()
        ground = mbs.CreateGround()
        self._bodies, self._sensors = [], []
        for n, body in enumerate(linkage.bodies):
            inertia = basics.RigidBodyInertia(
                mass=body.mass, inertiaTensor=body.inertia, com=np.zeros(3)
            )
            made = mbs.CreateRigidBody(
                inertia=inertia, referencePosition=body.center.tolist(),
                initialVelocity=start.v[n].tolist(), initialAngularVelocity=start.w[n].tolist(),
                gravity=GRAVITY.tolist(), nodeType=exudyn.NodeType.RotationEulerParameters,
            )  # fmt: skip
            self._bodies.append(made)
        # A planar loop constrains only what is still free in its plane, to avoid redundancy.
        for pin in linkage.tree:
            self._join(pin, ground, loop=False)
        for pin in linkage.loops:
            self._join(pin, ground, loop=True)
        if traced:
            kinds = exudyn.OutputVariableType
            for body in self._bodies:
                for kind in (kinds.Position, kinds.RotationMatrix, kinds.Velocity,
                             kinds.AngularVelocity):  # fmt: skip
                    item = basics.SensorBody(
                        bodyNumber=body, outputVariableType=kind, storeInternal=True
                    )
                    self._sensors.append(mbs.AddSensor(item))
        mbs.Assemble()

    def _join(self, pin: Pin, ground: int, *, loop: bool) -> None:
        axes = {"ball": [1, 1, 1, 0, 0, 0], "hinge": [1, 1, 1, 1, 1, 0],
                "universal": [1, 1, 1, 0, 1, 0]}[pin.kind]  # fmt: skip
        if loop and pin.kind == "hinge":
            axes = [1, 1, 0, 0, 0, 0]
        turn = frame(pin.axis2, pin.axis) if pin.kind == "universal" else frame(pin.axis)
        bodies = [self._bodies[pin.a] if pin.a >= 0 else ground, self._bodies[pin.b]]
        self.mbs.CreateGenericJoint(
            bodyNumbers=bodies, position=pin.point.tolist(), rotationMatrixAxes=turn,
            constrainedAxes=axes, useGlobalFrame=True, show=False,
        )  # fmt: skip

    def _options(self, setting: str, count: int, seconds: float) -> Any:
        radius, tolerance, kept = SETTINGS[setting]
        made = exudyn.SimulationSettings()
        made.timeIntegration.numberOfSteps = count
        made.timeIntegration.endTime = seconds
        made.timeIntegration.verboseMode = 0
        made.timeIntegration.newton.relativeTolerance = tolerance
        made.timeIntegration.newton.useModifiedNewton = kept
        if radius is not None:
            made.timeIntegration.generalizedAlpha.spectralRadius = radius
        if len(self.linkage.bodies) > 10:
            made.linearSolverType = exudyn.LinearSolverType.EigenSparse
        made.solutionSettings.writeSolutionToFile = False
        made.solutionSettings.sensorsWritePeriod = 0.01
        made.displayComputationTime = False
        made.displayStatistics = False
        return made

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """One second from the start."""
        self._build(traced=False)
        options = self._options(setting, count, 1.0)
        options.timeIntegration.adaptiveStep = False  # fixed steps are compared
        started = time.process_time()
        fine = self._solve(options)
        spent = time.process_time() - started
        return spent, self._motion().x if fine else None

    def _solve(self, options: Any) -> bool:
        try:
            return bool(self.mbs.SolveDynamic(options, storeSolver=False, showHints=False))
        except (ValueError, RuntimeError):
            return False

    def _motion(self) -> Motion:
        kinds = exudyn.OutputVariableType

        def of(kind: Any) -> np.ndarray:
            return np.array(
                [self.mbs.GetObjectOutputBody(b, kind, [0, 0, 0]) for b in self._bodies]
            )

        turn = of(kinds.RotationMatrix).reshape(-1, 3, 3)
        return Motion(of(kinds.Position), turn, of(kinds.Velocity), of(kinds.AngularVelocity))

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Poses and velocities of the bodies, every 10 ms, until it fails."""
        self._build(traced=True)
        self._solve(self._options(setting, round(seconds / h), seconds))
        kept = [self.mbs.GetSensorStoredData(sensor)[:, 1:] for sensor in self._sensors]
        x, turn, v, w = (np.stack(kept[n::4], axis=1) for n in range(4))
        return [
            Motion(a, b.reshape(-1, 3, 3), c, d) for a, b, c, d in zip(x, turn, v, w, strict=True)
        ]
