"""Romeo of ``ik.py``: 39 degrees of freedom on a free base, solved by Linkwork and mink."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.geometry import Pose
from linkwork.kinematics import CenterOfMassTask, PoseTask, Solver, differential_kernels
from linkwork.kinematics import memory_layout_kernels as layout
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from shared.ik_arms import ROBOTS, SECONDS, ask, bare, kernel_row, time_rows
from shared.ik_peers import FAR, TURNED
from shared.rows import Row, power

pinocchio: Any = import_module("pinocchio")  # its names are made at run time
URDF = ROBOTS / "romeo_description/urdf/romeo_laas_small.urdf"
FRAMES = ["l_sole", "r_sole", "l_wrist", "r_wrist"]
DAMPING = 1e-4


class Romeo:
    """Targets of feet, wrists and center of mass that some posture reaches."""

    def __init__(self, count: int) -> None:
        part = UrdfFormat(missing_meshes="skip").read(URDF)
        self.world: World = compile_scene(Scene("s").place(part, name="r", base="free"))
        tolerances: Any = {"tolerance": 0.9 * FAR, "angle_tolerance": 0.9 * TURNED}
        tasks = [PoseTask(f"r/{name}", error="twist", **tolerances) for name in FRAMES]
        self.solver = Solver(self.world, [*tasks, CenterOfMassTask(part="r", **tolerances)])
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
        targets = [self.forward(q) for q in self.postures]
        self.poses, self.coms = (np.array(each) for each in zip(*targets, strict=True))
        far = [self.somewhere(0.6) for _ in range(count)]
        close = [self.beside(q) for q in self.postures]
        self.starts = {
            "from a random posture": np.array(far),
            "next to the target": np.array(close),
        }

    def somewhere(self, wide: float) -> np.ndarray:
        """A posture between home and a random one; ``wide`` is 0 for home, 1 for the random one."""
        q = self.home.copy()
        q[7:] += wide * (self.rng.uniform(self.lo, self.hi) - q[7:])
        q[:3] += self.rng.uniform(-0.1, 0.1, 3)
        return q

    def beside(self, q: np.ndarray) -> np.ndarray:
        """A posture whose joints differ by at most 0.01 rad, as in one step of a motion."""
        made = q.copy()
        made[7:] = np.clip(q[7:] + self.rng.uniform(-0.01, 0.01, len(self.lo)), self.lo, self.hi)
        return made

    def forward(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses of the frames and the center of mass, by Pinocchio."""
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
        """Part of the postures that reach their targets within the ranges."""
        good = 0
        for k, q in enumerate(answers):
            if not np.isfinite(q).all():
                continue
            there, com = self.forward(q)
            far = np.linalg.norm(there[:, :3] - self.poses[k, :, :3], axis=1).max()
            dots = np.abs(np.einsum("ij,ij->i", there[:, 3:], self.poses[k, :, 3:]))
            turned = 2.0 * math.acos(min(1.0, float(dots.min())))
            inside = (q[7:] >= self.lo - 1e-6).all() and (q[7:] <= self.hi + 1e-6).all()
            near = float(np.linalg.norm(com - self.coms[k])) < FAR
            good += bool(far < FAR and turned < TURNED and near and inside)
        return good / len(answers)

    def set_target(self, k: int) -> None:
        for task in range(4):
            place = self.poses[k, task]
            self.solver.set_target(Pose.of(place[:3], quat=place[3:]), task)
        self.solver.set_target(self.coms[k], 4)

    def ticks(self, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Times [ns] and velocities of one ``step`` from each start; the fastest of three calls."""
        times, made = np.full(len(starts), np.inf), np.zeros((len(starts), self.world.nv))
        step_once = self.solver.step
        for k, start in enumerate(starts):
            self.set_target(k)
            for _ in range(3):
                began = time.process_time_ns()
                step = step_once(start, 1.0, damping=DAMPING, speeds=False)
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
        settings = np.zeros(layout.SETTINGS)
        for place, value in (
            (layout.STEP, 1.0),
            (layout.RANGE_GAIN, 1.0),
            (layout.DAMPING_VALUE, DAMPING),
            (layout.LIMITED, differential_kernels.RANGES),
            (layout.STRIDE, np.inf),
        ):
            settings[place] = value
        arrays = problem.ints, problem.reals, problem.work, settings
        for k, start in enumerate(starts):
            self.set_target(k)
            for _ in range(3):
                q = start.copy()
                began = time.process_time_ns()
                differential_kernels.step(*arrays, q, v)
                times[k] = min(times[k], time.process_time_ns() - began)
        return times

    def whole(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Times [ns] and answers of ``solve`` from the home posture."""
        times, answers = np.zeros(count), np.zeros((count, self.world.nq))
        self.set_target(0)
        self.solver.solve(self.home)
        for k in range(count):
            self.set_target(k)
            began = time.process_time_ns()
            answer = self.solver.solve(self.home)
            times[k] = time.process_time_ns() - began
            answers[k] = answer.q
        return times, answers


def romeo(python: Path | None, ticks: int, postures: int, folder: Path) -> list[Row]:
    """Rows of single steps and whole postures, ours beside mink."""
    robot = Romeo(max(ticks, postures))
    long, answers = robot.whole(postures)
    steps = {name: robot.ticks(starts[:ticks]) for name, starts in robot.starts.items()}
    kernels = {name: robot.tick_kernels(starts[:ticks]) for name, starts in robot.starts.items()}
    keys = ("poses", "coms", "far", "close", "ticks", "answers")
    files = {key: str(folder / f"romeo-{key}.npy") for key in keys}
    far, close = (starts[:ticks] for starts in robot.starts.values())
    for key, value in zip(keys, (robot.poses, robot.coms, far, close), strict=False):
        np.save(files[key], value)
    given = {
        "kind": "humanoid", "bare": str(bare(URDF, folder / "romeo.urdf")), "frames": FRAMES,
        "joints": robot.joints, "damping": DAMPING, "whole": postures, "lo": robot.lo.tolist(),
        "hi": robot.hi.tolist(), "home": robot.home.tolist(), "seconds": SECONDS, **files,
    }  # fmt: skip
    peer_answer = ask(python, given, folder)
    failed = peer_answer.get("error")
    rows: list[Row] = []
    for n, (name, (times, ours)) in enumerate(steps.items()):
        theirs: dict[str, np.ndarray | str] = {"mink": failed or np.array(peer_answer["tick"][n])}
        made = time_rows(f"Romeo, one step {name}", times, theirs)
        if not failed:
            apart = float(np.abs(np.load(files["ticks"])[n] - ours).max())
            made = [replace(row, note=f"velocities agree to {power(apart)}") for row in made]
        rows += made
        rows.append(kernel_row(f"Romeo, compiled step alone {name}", kernels[name], times))
    rows += time_rows(
        "Romeo, whole posture", long, {"mink": failed or np.array(peer_answer["whole"])}
    )
    share, reached = 100 * robot.success(answers), "Romeo, postures reached"
    if failed:
        return [*rows, Row(reached, "%", share, None, "mink", "higher", failed)]
    found = np.load(files["answers"])[: int(peer_answer["done"])]
    return [*rows, Row(reached, "%", share, 100 * robot.success(found), "mink", "higher")]
