"""The peers of ``ik.py`` in a process of ``.venv-bench``: each solves the targets of a request.

A request is the path of a JSON file that says what to solve; arrays are exchanged as .npy files. On
an arm every solver has the default tolerance of ours: 1e-6 m and rad, within the joint ranges. Each
applies it in its own way, which the docstring of its function describes.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from shared.child import reason, serve

#: Largest errors of an answer that counts [m, rad], and the tolerance of every solver on an arm.
FAR, TURNED = 1e-3, math.radians(0.1)
EXACT = 1e-6
Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]


def robotics_toolbox(given: dict[str, Any]) -> Solve:
    """Its compiled Levenberg–Marquardt with Chan's damping, the fastest of its methods.

    It stops when ½ ‖e‖² of all six errors is below its tolerance.
    """
    rtb = importlib.import_module("roboticstoolbox")
    ets = rtb.Robot.URDF(given["urdf"]).ets(end=given["tip"])

    def solve(target: np.ndarray, start: np.ndarray) -> np.ndarray:
        how = {"ilimit": 40, "slimit": 100, "tol": 0.5 * EXACT**2, "k": 0.1, "method": "chan"}
        return ets.ik_LM(target, q0=start, **how).q

    return solve


def optik(given: dict[str, Any]) -> Solve:
    """Mode "speed", on one thread; it stops when ‖log e‖² is below its tolerance."""
    module = importlib.import_module("optik")
    robot = module.Robot.from_urdf_file(given["urdf"], given["base"], given["tip"])
    robot.set_parallelism(1)
    config = module.SolverConfig(solution_mode="speed", max_time=1.0, tol_f=EXACT**2)

    def solve(target: np.ndarray, start: np.ndarray) -> np.ndarray:
        found = robot.ik(config, target, start)
        return np.full(len(start), np.nan) if found is None else np.asarray(found[0])

    return solve


def trac_ik(given: dict[str, Any]) -> Solve:
    """Mode "speed"; it stops when each of the six errors is below its tolerance."""
    module = importlib.import_module("trac_ik")
    solver = module.TracIK(
        base_link_name=given["base"], tip_link_name=given["tip"], urdf_path=given["urdf"],
        timeout=0.5, epsilon=EXACT, solver_type="Speed",
    )  # fmt: skip

    def solve(target: np.ndarray, start: np.ndarray) -> np.ndarray:
        found = solver.ik(target[:3, 3], target[:3, :3], seed_jnt_values=start)
        return np.full(len(start), np.nan) if found is None else np.asarray(found)

    return solve


def _is_there(error: np.ndarray, far: float = EXACT, turned: float = EXACT) -> bool:
    return float(np.linalg.norm(error[:3])) <= far and float(np.linalg.norm(error[3:])) <= turned


def mink(given: dict[str, Any]) -> Solve:
    """Steps of its quadratic program with the ranges as limits; a random restart after 60 steps."""
    mj, module = importlib.import_module("mujoco"), importlib.import_module("mink")
    model = mj.MjModel.from_xml_string(Path(given["bare"]).read_text())
    configuration = module.Configuration(model)
    task = module.FrameTask(given["tip"], "body", 1.0, 1.0, lm_damping=1e-3)
    limits = [module.ConfigurationLimit(model)]
    lo, hi, n = np.array(given["lo"]), np.array(given["hi"]), len(given["lo"])
    rng = np.random.default_rng(0)
    whole = np.zeros(model.nq)

    def solve(target: np.ndarray, start: np.ndarray) -> np.ndarray:
        task.set_target(module.SE3.from_matrix(target))
        for attempt in range(50):
            whole[:n] = start if attempt == 0 else rng.uniform(lo, hi)
            configuration.update(whole)
            for _ in range(60):
                if _is_there(task.compute_error(configuration)):
                    return configuration.q[:n].copy()
                v = module.solve_ik(configuration, [task], 1.0, "daqp", 1e-6, limits=limits)
                configuration.integrate_inplace(v, 1.0)
        return configuration.q[:n].copy()

    return solve


def pink(given: dict[str, Any]) -> Solve:
    """The same as mink's, with pink."""
    pin, module = importlib.import_module("pinocchio"), importlib.import_module("pink")
    model = pin.buildModelFromUrdf(given["urdf"])
    data = model.createData()
    configuration = module.Configuration(model, data, pin.neutral(model))
    task = module.FrameTask(given["tip"], position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)
    lo, hi, n = np.array(given["lo"]), np.array(given["hi"]), len(given["lo"])
    rng = np.random.default_rng(0)
    whole = pin.neutral(model)

    def solve(target: np.ndarray, start: np.ndarray) -> np.ndarray:
        task.set_target(pin.SE3(target[:3, :3], target[:3, 3]))
        for attempt in range(50):
            whole[:n] = start if attempt == 0 else rng.uniform(lo, hi)
            configuration.update(whole)
            for _ in range(60):
                if _is_there(task.compute_error(configuration)):
                    return configuration.q[:n].copy()
                v = module.solve_ik(
                    configuration, [task], 1.0, "daqp", 1e-6, safety_break=False,
                    limits=[configuration.model.configuration_limit],
                )  # fmt: skip
                configuration.integrate_inplace(v, 1.0)
        return configuration.q[:n].copy()

    return solve


PEERS: dict[str, tuple[str, Callable[[dict[str, Any]], Solve]]] = {
    "Robotics Toolbox": ("roboticstoolbox-python", robotics_toolbox),
    "optik": ("optik-py", optik),
    "TRAC-IK": ("pytracik", trac_ik),
    "mink": ("mink", mink),
    "pink": ("pin-pink", pink),
}


def arm(given: dict[str, Any]) -> dict[str, Any]:
    """Writes times [ns] and answers of one peer to the files that the request names."""
    solve = PEERS[given["peer"]][1](given)
    targets, starts = np.load(given["targets"]), np.load(given["starts"])
    q, times = np.zeros_like(starts), np.zeros(len(starts))
    solve(targets[0], starts[0])
    last, done = time.process_time() + given["seconds"], 0
    for k in range(len(starts)):
        if time.process_time() > last:
            break
        began = time.process_time_ns()
        q[k] = solve(targets[k], starts[k])
        times[k] = time.process_time_ns() - began
        done = k + 1
    np.save(given["q"], q)
    np.save(given["times"], times)
    return {"done": done}


class Humanoid:
    """mink on a humanoid: feet, wrists and center of mass."""

    def __init__(self, given: dict[str, Any]) -> None:
        mj, self.mink = importlib.import_module("mujoco"), importlib.import_module("mink")
        spec = mj.MjSpec.from_string(Path(given["bare"]).read_text())
        spec.worldbody.first_body().add_freejoint()
        model = spec.compile()
        self.model, self.configuration = model, self.mink.Configuration(model)
        self.frames = [
            self.mink.FrameTask(name, "body", 1.0, 1.0, lm_damping=0.0) for name in given["frames"]
        ]
        self.com = self.mink.ComTask(1.0)
        self.limits = [self.mink.ConfigurationLimit(model, gain=1.0)]
        joints = [model.joint(name) for name in given["joints"]]
        self.qadr = np.array([joint.qposadr[0] for joint in joints])
        self.vadr = np.array([joint.dofadr[0] for joint in joints])

    def theirs(self, q: np.ndarray) -> np.ndarray:
        """Coordinates in MuJoCo's order from base pose and joints."""
        made = np.zeros(self.model.nq)
        made[:7], made[self.qadr] = q[:7], q[7:]
        return made

    def set_target(self, poses: np.ndarray, com: np.ndarray) -> None:
        for task, pose in zip(self.frames, poses, strict=True):
            task.set_target(self.mink.SE3(wxyz_xyz=np.concatenate([pose[3:], pose[:3]])))
        self.com.set_target(com)

    def step(self, damping: float) -> np.ndarray:
        tasks = [*self.frames, self.com]
        return self.mink.solve_ik(
            self.configuration, tasks, 1.0, "daqp", damping, limits=self.limits
        )

    def there(self) -> bool:
        far = [task.compute_error(self.configuration) for task in self.frames]
        near = float(np.linalg.norm(self.com.compute_error(self.configuration))) < 0.9 * FAR
        return near and all(_is_there(each, 0.9 * FAR, 0.9 * TURNED) for each in far)


def humanoid(given: dict[str, Any]) -> dict[str, Any]:
    """Single steps from the given postures, and whole postures from the home posture."""
    robot = Humanoid(given)
    poses, coms = np.load(given["poses"]), np.load(given["coms"])
    ticks = [_steps(robot, poses, coms, np.load(given[key]), given) for key in ("far", "close")]
    np.save(given["ticks"], np.array([made for _, made in ticks]))
    times, answers = _postures(robot, poses, coms, given)
    np.save(given["answers"], answers)
    return {
        "tick": [times.tolist() for times, _ in ticks], "whole": times, "done": len(times),
    }  # fmt: skip


def _steps(
    robot: Humanoid, poses: np.ndarray, coms: np.ndarray, starts: np.ndarray, given: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Times [ns] and velocities of one step from each start; the fastest of three calls."""
    made, times = np.zeros((len(starts), robot.model.nv)), np.zeros(len(starts))
    for k in range(len(starts)):
        robot.set_target(poses[k], coms[k])
        times[k], v = np.inf, made[k]
        for _ in range(3):
            robot.configuration.update(robot.theirs(starts[k]))
            began = time.process_time_ns()
            v = robot.step(given["damping"])
            robot.configuration.integrate_inplace(v, 1.0)  # with forward kinematics, as ours
            times[k] = min(times[k], time.process_time_ns() - began)
        made[k, :6], made[k, 6:] = v[:6], v[robot.vadr]
    return times, made


def _postures(
    robot: Humanoid, poses: np.ndarray, coms: np.ndarray, given: dict[str, Any]
) -> tuple[list[int], np.ndarray]:
    """Times [ns] and postures until the time is used up; ten starts of sixty steps each."""
    rng = np.random.default_rng(1)
    lo, hi, home = np.array(given["lo"]), np.array(given["hi"]), np.array(given["home"])
    times: list[int] = []
    answers: list[np.ndarray] = []
    last = time.process_time() + given["seconds"]
    for k in range(given["whole"]):
        if time.process_time() > last:
            break
        robot.set_target(poses[k], coms[k])
        began = time.process_time_ns()
        ok = False
        for attempt in range(10):
            q = home.copy()
            if attempt:
                q[7:] = home[7:] + 0.3 * (rng.uniform(lo, hi) - home[7:])
            robot.configuration.update(robot.theirs(q))
            for _ in range(60):
                if robot.there():
                    ok = True
                    break
                robot.configuration.integrate_inplace(robot.step(given["damping"]), 1.0)
            if ok:
                break
        times.append(time.process_time_ns() - began)
        found = robot.configuration.q
        answers.append(np.concatenate([found[:7], found[robot.qadr]]))
    return times, np.array(answers)


def versions() -> dict[str, str]:
    """Versions of the peers that are installed."""
    found = {}
    for name, (package, _) in PEERS.items():
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(package)
    return found


def reply(request: str) -> object:
    """Solves what the file of a request describes."""
    given = json.loads(Path(request).read_text())
    try:
        return humanoid(given) if given["kind"] == "humanoid" else arm(given)
    except Exception as error:
        return {"error": reason(error)}


if __name__ == "__main__":
    serve(versions(), reply)
