"""Forward dynamics of BARt-UH II in compiled loops: derived C, Pinocchio's ABA and MuJoCo."""

from __future__ import annotations

import ctypes
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np

import linkwork as lw
from linkwork.core.errors import Origin
from linkwork.core.mujoco_library import mujoco
from linkwork.dynamics import rnea
from linkwork.dynamics.symbolic import CompiledDynamics, SymbolicModel
from linkwork.engines.mujoco.model import build_model
from linkwork.engines.mujoco.params import MujocoParams
from linkwork.geometry import Pose
from linkwork.kinematics.kernels import FREE
from linkwork.model.world import compile_scene


class Derived:
    """Random states of the biped with a floating base, and the derived C function in a loop."""

    def __init__(self, count: int) -> None:
        part = lw.load_part("bart_uh/biped")
        self.world = compile_scene(lw.Scene("bart").place(part, name="robot", base="free"))
        world, rng = self.world, np.random.default_rng(4)
        started = time.process_time()
        model = SymbolicModel(world)
        for each in ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics"):
            getattr(model, each)
        self.traced = time.process_time() - started
        self.code = CompiledDynamics(model, "bart", use="c")
        self.q = rng.uniform(-1.5, 1.5, (count, world.nq))
        self.q[:, 3:7] /= np.linalg.norm(self.q[:, 3:7], axis=1)[:, None]
        self.v, self.a = rng.uniform(-1, 1, (2, count, world.nv))
        self.efforts = np.array(
            [rnea(world, q, v, a) for q, v, a in zip(self.q, self.v, self.a, strict=True)]
        )
        self.made = np.zeros((count, world.nv))
        function = self.code.functions["forward_dynamics"]

        @numba.njit
        def loop(q: Any, v: Any, f: Any, a: Any, steps: int) -> None:
            for k in range(steps):
                function(q[k].ctypes, v[k].ctypes, f[k].ctypes, a[k].ctypes)

        self._loop = loop

    def aba(self, steps: int) -> None:
        self._loop(self.q, self.v, self.efforts, self.made, steps)


class PinocchioBiped:
    """The same robot in Pinocchio; ABA in Pinocchio's own loop, on one thread.

    Raises:
        ImportError: Pinocchio is not installed.
    """

    name = "Pinocchio"

    def __init__(self, ours: Derived) -> None:
        pinocchio: Any = import_module("pinocchio")
        self._library = pinocchio
        world, count = ours.world, len(ours.q)
        model, numbers = pinocchio.Model(), {0: 0}
        for b in range(1, world.nb):
            free = int(world.kind[b]) == FREE
            letter = "XYZ"[int(np.argmax(world.axis[b]))]
            kind = pinocchio.JointModelFreeFlyer if free else None
            kind = kind or getattr(pinocchio, f"JointModelR{letter}")
            place = pinocchio.SE3.Identity()
            if not free:
                place = pinocchio.SE3(np.eye(3), world.x0[b, :3])
            numbers[b] = model.addJoint(numbers[int(world.parent[b])], kind(), place, f"j{b}")
            own = pinocchio.Inertia(world.mass[b], world.com[b], world.inertia[b])
            model.appendBodyToJoint(numbers[b], own, pinocchio.SE3.Identity())
        model.armature = world.armature.copy()
        self.pool = pinocchio.ModelPool(model, 1)
        q = ours.q
        self.q = np.asfortranarray(np.column_stack([q[:, :3], q[:, 4:7], q[:, 3], q[:, 7:]]).T)
        self.turns = np.array([Pose((0, 0, 0), tuple(row[3:7])).matrix()[:3, :3] for row in q])
        self.v, self.efforts = (
            np.asfortranarray(self._turned(each).T) for each in (ours.v, ours.efforts)
        )
        self.spin = np.zeros((count, world.nv))
        self.spin[:, :3] = -np.cross(ours.v[:, 3:6], self.v[:3].T)
        self.made = np.zeros_like(self.v)

    def _turned(self, rows: np.ndarray) -> np.ndarray:
        made = rows.copy()
        made[:, :3] = np.einsum("kji,kj->ki", self.turns, rows[:, :3])
        return made

    def aba(self, steps: int) -> None:
        s = slice(steps)
        self.made[:, s] = self._library.abaInParallel(
            1, self.pool, self.q[:, s], self.v[:, s], self.efforts[:, s]
        )

    def answers(self) -> np.ndarray:
        made = self.made.T - self.spin
        made[:, :3] = np.einsum("kij,kj->ki", self.turns, made[:, :3])
        return made


class MuJoCoBiped:
    """The same robot in MuJoCo, its C function called from a compiled loop, contacts off."""

    name = "MuJoCo"

    def __init__(self, ours: Derived) -> None:
        world, count = ours.world, len(ours.q)
        every = np.arange(world.nb) > 0
        built = build_model(world, every, every, [], [], MujocoParams(), origin=Origin())
        model = built.mj
        for word in ("CONSTRAINT", "SPRING", "DAMPER", "ACTUATION", "SENSOR"):
            model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}"))
        data = mujoco.MjData(model)
        self._kept = model, data
        self.v_map = built.v_map
        self.q = np.zeros((count, model.nq))
        self.q[:, built.q_map[:, 1]] = ours.q[:, built.q_map[:, 0]]
        self.v, self.efforts, self.made = np.zeros((3, count, model.nv))
        for made, value in ((self.v, ours.v), (self.efforts, ours.efforts)):
            made[:, self.v_map[:, 1]] = value[:, self.v_map[:, 0]]
        (library,) = Path(mujoco.__file__).parent.glob("libmujoco.so*")
        forward = ctypes.CDLL(str(library)).mj_forward
        forward.argtypes, forward.restype = [ctypes.c_void_p, ctypes.c_void_p], None
        here, there = model._address, data._address
        qpos, qvel, push, qacc = data.qpos, data.qvel, data.qfrc_applied, data.qacc

        @numba.njit
        def loop(
            q: Any, v: Any, f: Any, a: Any, qpos: Any, qvel: Any, push: Any, qacc: Any, steps: int
        ) -> None:
            for k in range(steps):
                qpos[:], qvel[:], push[:] = q[k], v[k], f[k]
                forward(here, there)
                a[k] = qacc

        self._loop, self._arrays = loop, (qpos, qvel, push, qacc)

    def aba(self, steps: int) -> None:
        self._loop(self.q, self.v, self.efforts, self.made, *self._arrays, steps)

    def answers(self) -> np.ndarray:
        made = np.zeros_like(self.made)
        made[:, self.v_map[:, 0]] = self.made[:, self.v_map[:, 1]]
        return made
