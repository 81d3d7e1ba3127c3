"""Romeo of ``ik.py``: 39 degrees of freedom on a free base, ours and mink's."""

from __future__ import annotations

import math
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.formats.urdf import UrdfFormat
from linkwork.kinematics import CentreOfMassTask, PoseTask, Solver, tick_kernels
from linkwork.scene import Scene
from linkwork.spatial import Pose
from linkwork.world import World, compile_scene
from shared.ik_arms import ROBOTS, SECONDS, ask, bare, row
from shared.ik_ends import FAR, TURNED

pinocchio: Any = import_module("pinocchio")  # its names are made at run time
URDF = ROBOTS / "romeo_description/urdf/romeo_laas_small.urdf"
FRAMES = ["l_sole", "r_sole", "l_wrist", "r_wrist"]
DAMPING = 1e-4


class Romeo:
    """Feet, wrists and centre of mass shall be where some posture takes them."""

    def __init__(self, count: int) -> None:
        part = UrdfFormat(missing_meshes="skip").read(URDF)
        self.world: World = compile_scene(Scene("s").place(part, name="r", base="free"))
        near: Any = {"near": 0.9 * FAR, "near_turn": 0.9 * TURNED}
        tasks = [PoseTask(f"r/{name}", error="twist", **near) for name in FRAMES]
        self.solver = Solver(self.world, [*tasks, CentreOfMassTask(part="r", **near)])
        columns = self.solver.columns
        single = columns.coordinate[columns.dof] >= 7
        self.lo, self.hi = columns.lo[single], columns.hi[single]
        aliases = {here: alias for alias, here in part.aliases.items()}
        names = [self.world.dof_name(int(d)).removeprefix("r/") for d in columns.dof[single]]
        self.joints = [aliases.get(name, name).removeprefix("joint:") for name in names]
        self.model = pinocchio.buildModelFromUrdf(str(URDF), pinocchio.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.home = self.world.q0.copy()
        self.home[7:] = np.clip(self.home[7:], self.lo, self.hi)
        self.rng = np.random.default_rng(3)
        self.postures = np.array([self.somewhere(0.6) for _ in range(count)])
        stands = [self.stands(q) for q in self.postures]
        self.poses, self.coms = np.array([s[0] for s in stands]), np.array([s[1] for s in stands])
        far = [self.somewhere(0.6) for _ in range(count)]
        close = [self.beside(q) for q in self.postures]
        self.starts = {"limits active": np.array(far), "following": np.array(close)}

    def somewhere(self, wide: float) -> np.ndarray:
        """A posture a part of the way from home to a random one."""
        q = self.home.copy()
        q[7:] += wide * (self.rng.uniform(self.lo, self.hi) - q[7:])
        q[:3] += self.rng.uniform(-0.1, 0.1, 3)
        return q

    def beside(self, q: np.ndarray) -> np.ndarray:
        """A posture a hundredth of a radian away, as one step of a motion is."""
        made = q.copy()
        made[7:] = np.clip(q[7:] + self.rng.uniform(-0.01, 0.01, len(self.lo)), self.lo, self.hi)
        return made

    def stands(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses of the frames and the centre of mass, by Pinocchio."""
        theirs = pinocchio.neutral(self.model)
        theirs[:3], theirs[3:6], theirs[6] = q[:3], q[4:7], q[3]
        for name, value in zip(self.joints, q[7:], strict=True):
            theirs[self.model.joints[self.model.getJointId(name)].idx_q] = value
        pinocchio.framesForwardKinematics(self.model, self.data, theirs)
        rows = []
        for name in FRAMES:
            place = self.data.oMf[self.model.getFrameId(name)]
            x, y, z, w = pinocchio.Quaternion(place.rotation).coeffs()
            rows.append([*place.translation, w, x, y, z])
        return np.array(rows), pinocchio.centerOfMass(self.model, self.data, theirs).copy()

    def success(self, answers: np.ndarray) -> float:
        """Part of the postures that are where they should be, within the ranges."""
        good = 0
        for k, q in enumerate(answers):
            if not np.isfinite(q).all():
                continue
            there, com = self.stands(q)
            far = np.linalg.norm(there[:, :3] - self.poses[k, :, :3], axis=1).max()
            dots = np.abs(np.einsum("ij,ij->i", there[:, 3:], self.poses[k, :, 3:]))
            turned = 2.0 * math.acos(min(1.0, float(dots.min())))
            inside = (q[7:] >= self.lo - 1e-6).all() and (q[7:] <= self.hi + 1e-6).all()
            near = float(np.linalg.norm(com - self.coms[k])) < FAR
            good += bool(far < FAR and turned < TURNED and near and inside)
        return good / len(answers)

    def aim(self, k: int) -> None:
        for task in range(4):
            place = self.poses[k, task]
            self.solver.aim(Pose.of(place[:3], quat=place[3:]), task)
        self.solver.aim(self.coms[k], 4)

    def ticks(self, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Times [ns] and velocities of one ``tick`` each, the quickest of three, as mink's."""
        times, made = np.full(len(starts), np.inf), np.zeros((len(starts), self.world.nv))
        tick = self.solver.tick
        for k, start in enumerate(starts):
            self.aim(k)
            for _ in range(3):
                began = time.process_time_ns()
                step = tick(start, 1.0, damping=DAMPING, speeds=False)
                times[k] = min(times[k], time.process_time_ns() - began)
                made[k] = step.v
        return times, made

    def tick_kernels(self, starts: np.ndarray) -> np.ndarray:
        """Times [ns] of the compiled step alone."""
        problem, v, times = (
            self.solver._problem,
            np.zeros(self.world.nv),
            np.full(len(starts), np.inf),
        )
        settings = np.zeros(tick_kernels.SETTINGS)
        for place, value in (
            (tick_kernels.STEP, 1.0), (tick_kernels.RANGE_GAIN, 1.0), (tick_kernels.DAMP, DAMPING),
            (tick_kernels.LIMITED, tick_kernels.RANGES), (tick_kernels.STRIDE, np.inf),
        ):  # fmt: skip
            settings[place] = value
        arrays = problem.ints, problem.reals, problem.work, settings
        for k, start in enumerate(starts):
            self.aim(k)
            for _ in range(3):
                q = start.copy()
                began = time.process_time_ns()
                tick_kernels.tick(*arrays, q, v)
                times[k] = min(times[k], time.process_time_ns() - began)
        return times

    def whole(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Times [ns] of ``solve`` and postures from home."""
        times, answers = np.zeros(count), np.zeros((count, self.world.nq))
        self.aim(0)
        self.solver.solve(self.home)
        for k in range(count):
            self.aim(k)
            began = time.process_time_ns()
            answer = self.solver.solve(self.home)
            times[k] = time.process_time_ns() - began
            answers[k] = answer.q
        return times, answers


def romeo(python: str, ticks: int, whole: int, room: Path) -> list[dict]:
    """One exact step and whole postures, ours and mink's."""
    robot = Romeo(max(ticks, whole))
    long, answers = robot.whole(whole)
    made = {name: robot.ticks(starts[:ticks]) for name, starts in robot.starts.items()}
    bare_steps = {name: robot.tick_kernels(starts[:ticks]) for name, starts in robot.starts.items()}
    rows = [row("Linkwork", f"Romeo, {name}", times, None) for name, (times, _) in made.items()]
    for name, times in bare_steps.items():
        rows.append(row("Linkwork, kernel", f"Romeo, {name}", times, None))
    rows.append(row("Linkwork", "Romeo, whole posture", long, robot.success(answers)))
    if not python:
        return rows
    keys = ("poses", "coms", "far", "close", "ticks", "answers")
    files = {key: str(room / f"romeo-{key}.npy") for key in keys}
    far, close = (starts[:ticks] for starts in robot.starts.values())
    for key, value in zip(keys, (robot.poses, robot.coms, far, close), strict=False):
        np.save(files[key], value)
    given = {
        "kind": "humanoid", "bare": str(bare(URDF, room / "romeo.urdf")), "frames": FRAMES,
        "joints": robot.joints, "damping": DAMPING, "whole": whole, "lo": robot.lo.tolist(),
        "hi": robot.hi.tolist(), "home": robot.home.tolist(), "seconds": SECONDS, **files,
    }  # fmt: skip
    said = ask(python, given, room)
    if "error" in said:
        print(f"mink on Romeo: {said['error']}")
        return rows
    theirs, found = np.load(files["ticks"]), np.load(files["answers"])[: int(said["done"])]
    for n, (name, (times, ours)) in enumerate(made.items()):
        theirs_took = np.array(said["tick"][n])
        rows.append(row("mink", f"Romeo, {name}", theirs_took, None, times, bare_steps[name]))
        rows[-1]["differs by"] = float(np.abs(theirs[n] - ours).max())
    times = np.array(said["whole"])
    rows.append(row("mink", "Romeo, whole posture", times, robot.success(found), long))
    return rows
