"""Linkages in MuJoCo: its own step in its own loop; every run begins at the start."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from linkwork.core.mujoco_library import mujoco
from shared.linkages import GRAVITY, GROUND, Linkage, Motion


@dataclass(frozen=True)
class Setting:
    """Integrator, time constant of loops in steps (None: the default), solver tolerance."""

    integrator: str
    stiff: float | None = None
    tolerance: float = 1e-8


NAME = f"MuJoCo {mujoco.__version__}"
#: Default settings, and the stiffest that are still useful.
SETTINGS = {
    "Euler, default": Setting("Euler"),
    "RK4, default": Setting("RK4"),
    "Euler, stiff": Setting("Euler", 2.0, 1e-12),
    "RK4, stiff": Setting("RK4", 2.0),
    "RK4, stiff, tolerance 1e-12": Setting("RK4", 2.0, 1e-12),
    "RK4, stiffer": Setting("RK4", 1.0, 1e-12),
}


def xml_of(linkage: Linkage) -> str:
    """The linkage as MJCF: a tree with its loops as ``connect``."""
    below: dict[int, list[int]] = {}
    for pin in linkage.tree:
        below.setdefault(pin.a, []).append(pin.b)

    def text(values: np.ndarray) -> str:
        return " ".join(f"{value:.17g}" for value in values)

    lines: list[str] = []
    todo: list[int | None] = [*reversed(below[GROUND])]
    while todo:
        n = todo.pop()
        if n is None:
            lines.append("</body>")
            continue
        body, pin = linkage.bodies[n], linkage.tree[n]
        i = body.inertia
        six = np.array([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
        at = text(pin.point - body.center)
        lines.append(f'<body name="b{n}" pos="{text(body.center - linkage.center(pin.a))}">')
        lines.append(f'<inertial pos="0 0 0" mass="{body.mass}" fullinertia="{text(six)}"/>')
        if pin.kind == "ball":
            lines.append(f'<joint type="ball" pos="{at}"/>')
        else:
            axes = [pin.axis] if pin.kind == "hinge" else [pin.axis, pin.axis2]
            lines += [f'<joint pos="{at}" axis="{text(axis)}"/>' for axis in axes]
        todo += [None, *reversed(below.get(n, []))]
    connects = [
        f'<connect body1="b{pin.b}" {f"body2={chr(34)}b{pin.a}{chr(34)} " if pin.a >= 0 else ""}'
        f'anchor="{text(pin.point - linkage.center(pin.b))}"/>'
        for pin in linkage.loops
    ]
    return (
        f'<mujoco><option gravity="{text(GRAVITY)}"/><worldbody>{"".join(lines)}</worldbody>'
        f"<equality>{''.join(connects)}</equality></mujoco>"
    )


class Engine:
    """A linkage in MuJoCo."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self.model = mujoco.MjModel.from_xml_string(xml_of(linkage))
        flags = mujoco.mjtDisableBit
        self.model.opt.disableflags = int(flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT)
        self.data = mujoco.MjData(self.model)
        self._solref, self._solimp = self.model.eq_solref.copy(), self.model.eq_solimp.copy()
        self._speeds = np.zeros(self.model.nv)
        names = [f"b{n}" for n in range(len(linkage.bodies))]
        kind = mujoco.mjtObj.mjOBJ_BODY
        self._ids = [mujoco.mj_name2id(self.model, kind, name) for name in names]
        for n, at in enumerate(self._ids):
            if linkage.tree[n].kind == "ball":
                first = self.model.body_dofadr[at]
                self._speeds[first : first + 3] = linkage.tree[n].rate

    def begin(self, setting: str, h: float) -> None:
        """Applies a setting and sets the start."""
        model, asked = self.model, SETTINGS[setting]
        model.opt.timestep = h
        model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{asked.integrator.upper()}")
        model.opt.tolerance = asked.tolerance
        model.eq_solref[:], model.eq_solimp[:] = self._solref, self._solimp
        flags = model.opt.disableflags & ~int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)
        if asked.stiff is not None:
            model.eq_solref[:] = asked.stiff * h, 1.0
            model.eq_solimp[:, :2] = 0.9999
            flags |= int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)
        model.opt.disableflags = flags
        mujoco.mj_resetData(model, self.data)
        self.data.qvel[:] = self._speeds

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """One second from the start; None if it diverged."""
        self.begin(setting, 1.0 / count)
        spent = self.spend(count)
        return spent, None if self._warned() else self.motion().x

    def spend(self, count: int) -> float:
        """CPU time of ``count`` steps [s]."""
        started = time.process_time()
        mujoco.mj_step(self.model, self.data, count)
        return time.process_time() - started

    def _warned(self) -> bool:
        return any(warning.number for warning in self.data.warning)

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Poses and velocities of the bodies, every 10 ms, until it diverges."""
        self.begin(setting, h)
        found = []
        for _ in range(round(seconds / 0.01)):
            mujoco.mj_step(self.model, self.data, round(0.01 / h))
            if self._warned():
                break
            found.append(self.motion())
        return found

    def motion(self) -> Motion:
        """Poses and velocities of the bodies; keeps the warm start of the solver."""
        data = self.data
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_comVel(self.model, data)
        twist = np.zeros((len(self._ids), 6))
        kind = mujoco.mjtObj.mjOBJ_XBODY
        for n, at in enumerate(self._ids):
            mujoco.mj_objectVelocity(self.model, data, kind, at, twist[n], 0)
        turn = data.xmat[self._ids].reshape(-1, 3, 3).copy()
        return Motion(data.xpos[self._ids].copy(), turn, twist[:, 3:], twist[:, :3])
