"""One robot of ``dynamics.py`` in Linkwork, Pinocchio and MuJoCo, with the same inertias."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.core.errors import Origin
from linkwork.core.mujoco_library import mujoco
from linkwork.dynamics.recursive import DynamicsArrays
from linkwork.engines.mujoco.model import build_model
from linkwork.engines.mujoco.params import MujocoParams
from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from shared.dynamics_kernels import aba_many, crba_many, rnea_many

ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
).joinpath("robots")


class Ours:
    """Random states, and Linkwork's results in compiled loops."""

    def __init__(self, file: str, *, free: bool, count: int) -> None:
        self.part = UrdfFormat(missing_meshes="skip").read(ROBOTS / file)
        base = "free" if free else "fixed"
        self.world: World = compile_scene(Scene("s").place(self.part, name="r", base=base))
        self.free, world, rng = free, self.world, np.random.default_rng(4)
        self.q = np.tile(world.q0, (count, 1))
        self.q[:, 7 if free else 0 :] = rng.uniform(-1.5, 1.5, (count, world.nq - 7 * free))
        if free:
            self.q[:, :3] = rng.uniform(-1, 1, (count, 3))
            turn = rng.normal(size=(count, 4))
            self.q[:, 3:7] = turn / np.linalg.norm(turn, axis=1)[:, None]
        self.v, self.a = rng.uniform(-1, 1, (2, count, world.nv))
        arrays = DynamicsArrays(world)
        self.gravity = np.array(world.scene.gravity, float)
        self._fixed = world.tree, arrays.order, arrays.inert, world.armature
        self._work = arrays.work
        nb, nv = world.nb, world.nv
        self._composite, self._bodies, self._hold = (
            np.zeros((nb, 10)), np.zeros((nb, 6, 6)), np.zeros((nv, 8))
        )  # fmt: skip
        self.efforts, self.made = np.zeros((2, count, nv))
        self.masses = np.zeros((count, nv, nv))
        self.rnea(count)

    def rnea(self, steps: int) -> None:
        s = slice(steps)
        rnea_many(
            *self._fixed, self.gravity, self.q[s], self.v[s], self.a[s], self._work, self.efforts[s]
        )

    def crba(self, steps: int) -> None:
        s = slice(steps)
        crba_many(*self._fixed, self.q[s], self._work, self._composite, self.masses[s])

    def aba(self, steps: int) -> None:
        s = slice(steps)
        aba_many(
            *self._fixed, self.gravity, self.q[s], self.v[s], self.efforts[s], self._work,
            self._bodies, self._hold, self.made[s],
        )  # fmt: skip


class Pinocchio:
    """The same in Pinocchio; rnea and aba in its own compiled loop, on one thread.

    Raises:
        ImportError: Pinocchio is not installed.
    """

    name = "Pinocchio"
    #: Algorithms that it runs over many states in one call.
    looped = ("rnea", "aba")

    def __init__(self, ours: Ours, file: str) -> None:
        pinocchio: Any = import_module("pinocchio")
        self._library = pinocchio
        root = [pinocchio.JointModelFreeFlyer()] if ours.free else []
        self.model = pinocchio.buildModelFromUrdf(str(ROBOTS / file), *root)
        self.data = self.model.createData()
        self._share_inertias(ours)
        world, count = ours.world, len(ours.q)
        self.q = np.tile(pinocchio.neutral(self.model)[:, None], (1, count))
        self.change = np.zeros((count, self.model.nv, world.nv))
        for joint, body in zip(world.joints, world.joint_body, strict=True):
            at, d = int(world.qadr[body]), int(world.vadr[body])
            if joint.type == "free":
                self.q[:3], self.q[3:6], self.q[6] = ours.q[:, :3].T, ours.q[:, 4:7].T, ours.q[:, 3]
                for k in range(count):
                    turn = Pose((0, 0, 0), tuple(ours.q[k, 3:7])).matrix()[:3, :3]
                    self.change[k, :3, :3], self.change[k, 3:6, 3:6] = turn.T, np.eye(3)
                continue
            theirs = self.model.joints[self.model.getJointId(self._spelled(ours, joint.name))]
            value = ours.q[:, at]
            self.q[theirs.idx_q : theirs.idx_q + theirs.nq] = (
                value if theirs.nq == 1 else [np.cos(value), np.sin(value)]
            )
            self.change[:, theirs.idx_v, d] = 1.0
        self.v = np.einsum("kij,kj->ik", self.change, ours.v)
        self.a = np.einsum("kij,kj->ik", self.change, ours.a)
        self.spin = np.zeros_like(self.v)
        if ours.free:  # its base velocity is in the axes of the base
            self.spin[:3] = -np.cross(ours.v[:, 3:6], self.v[:3].T).T
            self.a += self.spin
        self.pool = pinocchio.ModelPool(self.model, 1)
        self.efforts, self.made = np.zeros_like(self.v), np.zeros_like(self.v)
        self.masses = np.zeros_like(ours.masses)
        self.rnea(count)

    @staticmethod
    def _spelled(ours: Ours, name: str) -> str:
        aliases = {here: alias for alias, here in ours.part.aliases.items()}
        return aliases.get(name, name).removeprefix("joint:")

    def _share_inertias(self, ours: Ours) -> None:
        """Sets our inertias: some in the files are impossible, and our reader repairs them."""
        pinocchio = self._library
        world, model, data = ours.world, self.model, self.data
        straight = world.q0.copy()
        straight[7 * ours.free :] = 0.0
        pose = forward(world, straight)
        pinocchio.forwardKinematics(model, data, pinocchio.neutral(model))
        for joint, body in zip(world.joints, world.joint_body, strict=True):
            number = model.getJointId(self._spelled(ours, joint.name))
            number = 1 if joint.type == "free" else number
            turn = Pose((0, 0, 0), tuple(pose[body, 3:])).matrix()[:3, :3]
            place = data.oMi[number].actInv(pinocchio.SE3(turn, pose[body, :3]))
            own = pinocchio.Inertia(world.mass[body], world.com[body], world.inertia[body])
            model.inertias[number] = place.act(own)

    def rnea(self, steps: int) -> None:
        s = slice(steps)
        given = self.q[:, s], self.v[:, s], self.a[:, s]
        self.efforts[:, s] = self._library.rneaInParallel(1, self.pool, *given)

    def aba(self, steps: int) -> None:
        s = slice(steps)
        given = self.q[:, s], self.v[:, s], self.efforts[:, s]
        self.made[:, s] = self._library.abaInParallel(1, self.pool, *given)

    def crba(self, steps: int) -> None:
        model, data, q, crba = self.model, self.data, self.q, self._library.crba
        for k in range(steps):
            crba(model, data, q[:, k])

    def answers(self, ours: Ours, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Efforts, mass matrices and accelerations of the first ``count`` states, in our order."""
        change = self.change[:count]
        efforts = np.einsum("kij,ik->kj", change, self.efforts[:, :count])
        masses = np.zeros((count, *ours.masses.shape[1:]))
        for k in range(count):
            upper = np.triu(self._library.crba(self.model, self.data, self.q[:, k]))
            masses[k] = change[k].T @ (upper + np.triu(upper, 1).T) @ change[k]
        return efforts, masses, np.einsum("kij,ik->kj", change, (self.made - self.spin)[:, :count])


class MuJoCo:
    """The same in MuJoCo: one call for each state, with everything but the dynamics disabled."""

    name = "MuJoCo"
    looped = ()

    def __init__(self, ours: Ours) -> None:
        world = ours.world
        every = np.array([b > 0 and not world.is_static(b) for b in range(world.nb)])
        built = build_model(world, every, every, [], [], MujocoParams(), origin=Origin())
        self.model = built.mj
        for word in ("CONSTRAINT", "SPRING", "DAMPER", "ACTUATION", "SENSOR"):
            flag = getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}")
            self.model.opt.disableflags |= int(flag)
        self.data = mujoco.MjData(self.model)
        self.v_map, count = built.v_map, len(ours.q)
        self.q = np.zeros((count, self.model.nq))
        self.q[:, built.q_map[:, 1]] = ours.q[:, built.q_map[:, 0]]
        self.v, self.a, self.given = np.zeros((3, count, self.model.nv))
        for made, value in ((self.v, ours.v), (self.a, ours.a), (self.given, ours.efforts)):
            made[:, self.v_map[:, 1]] = value[:, self.v_map[:, 0]]

    def rnea(self, steps: int) -> None:
        model, data = self.model, self.data
        for k in range(steps):
            data.qpos, data.qvel, data.qacc = self.q[k], self.v[k], self.a[k]
            mujoco.mj_inverse(model, data)

    def crba(self, steps: int) -> None:
        model, data = self.model, self.data
        for k in range(steps):
            data.qpos = self.q[k]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_crb(model, data)

    def aba(self, steps: int) -> None:
        model, data = self.model, self.data
        for k in range(steps):
            data.qpos, data.qvel, data.qfrc_applied = self.q[k], self.v[k], self.given[k]
            mujoco.mj_forward(model, data)

    def answers(self, ours: Ours, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Efforts, mass matrices and accelerations of the first ``count`` states, in our order."""
        to, at = self.v_map[:, 0], self.v_map[:, 1]
        nv = ours.world.nv
        efforts, made, masses = (
            np.zeros((count, nv)), np.zeros((count, nv)), np.zeros((count, nv, nv))
        )  # fmt: skip
        whole = np.zeros((self.model.nv, self.model.nv))
        for k in range(count):
            data = self.data
            data.qpos, data.qvel, data.qacc = self.q[k], self.v[k], self.a[k]
            mujoco.mj_inverse(self.model, data)
            efforts[k, to] = data.qfrc_inverse[at]
            data.qfrc_applied = self.given[k]
            mujoco.mj_forward(self.model, data)
            made[k, to] = data.qacc[at]
            mujoco.mj_fullM(self.model, data, whole)
            masses[k][np.ix_(to, to)] = whole[np.ix_(at, at)]
        return efforts, masses, made
