"""Arms of ``ik.py``: the same targets and starts for all, answers checked by Pinocchio."""

from __future__ import annotations

import json
import math
import time
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from linkwork.formats.urdf import UrdfFormat
from linkwork.kinematics import PoseTask, Solver, chain_kernels, srs_kernels
from linkwork.kinematics.srs import SrsArm
from linkwork.scene import Scene
from linkwork.spatial import Pose
from linkwork.world import World, compile_scene
from shared.child import Child
from shared.ik_ends import EXACT, FAR, TURNED

pinocchio: Any = import_module("pinocchio")  # its names are made at run time
ENDS = str(Path(__file__).resolve().parent / "ik_ends.py")
ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
).joinpath("robots")
SECONDS = 120.0  # CPU time after which a rival begins no further target


def ask(python: str, given: dict[str, Any], room: Path) -> dict[str, Any]:
    """What a rival in a process of its own says; it is ended where it hangs."""
    note = room / "word.json"
    note.write_text(json.dumps(given))
    child = Child(python, ENDS)
    try:
        return child.ask(str(note), seconds=3 * SECONDS)
    except RuntimeError as error:
        return {"error": str(error)}
    finally:
        child.close()


def bare(path: Path, out: Path) -> Path:
    """A URDF without pictures, which MuJoCo can read wherever it stands."""
    root = ElementTree.parse(path).getroot()
    for link in root.iter("link"):
        for what in ("visual", "collision"):
            for each in link.findall(what):
                link.remove(each)
        for each in link.iter("inertia"):  # some are impossible; masses and centres count here
            each.attrib = {"ixx": "1", "iyy": "1", "izz": "1", "ixy": "0", "ixz": "0", "iyz": "0"}
    for joint in root.iter("joint"):
        for each in joint.findall("safety_controller"):  # TRAC-IK takes its ends for 0
            joint.remove(each)
    compiler = '<mujoco><compiler fusestatic="false" balanceinertia="true" boundmass="1e-9" '
    root.append(ElementTree.fromstring(compiler + 'boundinertia="1e-9"/></mujoco>'))
    ElementTree.ElementTree(root).write(out)
    return out


class Arm:
    """One arm, its targets and its starts."""

    def __init__(self, name: str, urdf: Path, base: str, tip: str, count: int, room: Path) -> None:
        self.name, self.urdf, self.base, self.tip, self.room = name, urdf, base, tip, room
        part = UrdfFormat(missing_meshes="skip").read(urdf)
        self.world: World = compile_scene(Scene("s").place(part, name="r", base="fixed"))
        self.frame = f"r/{tip}"
        self.solver = Solver(self.world, [PoseTask(self.frame, near=EXACT, near_turn=EXACT)])
        self.model = pinocchio.buildModelFromUrdf(str(urdf))
        self.data = self.model.createData()
        self.id = self.model.getFrameId(tip)
        rng = np.random.default_rng(7)
        self.lo, self.hi = self.solver.columns.lo, self.solver.columns.hi
        self.n = len(self.lo)
        self.coordinates = self.solver.columns.coordinate[self.solver.columns.dof]
        self.targets = np.array([self.pose(rng.uniform(self.lo, self.hi)) for _ in range(count)])
        self.starts = rng.uniform(self.lo, self.hi, (count, self.n))

    def pose(self, q: np.ndarray) -> np.ndarray:
        """The tool's matrix, by Pinocchio."""
        whole = pinocchio.neutral(self.model)
        whole[: self.n] = q
        pinocchio.framesForwardKinematics(self.model, self.data, whole)
        return self.data.oMf[self.id].homogeneous.copy()

    def whole(self, values: np.ndarray) -> np.ndarray:
        """All coordinates of our world, the arm's joints at values."""
        made = self.world.q0.copy()
        made[self.coordinates] = values
        return made

    def success(self, q: np.ndarray) -> float:
        """Part of the answers that are where they should be."""
        good = 0
        for target, values in zip(self.targets, q, strict=False):
            if not np.isfinite(values).all():
                continue
            found = self.pose(values)
            far = float(np.linalg.norm(found[:3, 3] - target[:3, 3]))
            cosine = 0.5 * (np.trace(found[:3, :3].T @ target[:3, :3]) - 1.0)
            turned = math.acos(min(1.0, max(-1.0, cosine)))
            inside = (values >= self.lo - 1e-6).all() and (values <= self.hi + 1e-6).all()
            good += bool(far < FAR and turned < TURNED and inside)
        return good / len(q)

    def goals(self) -> np.ndarray:
        return np.array([np.concatenate([t[:3, :3].ravel(), t[:3, 3]]) for t in self.targets])

    def poses(self) -> list[Pose]:
        """The targets as a user of ours has them."""
        made = []
        for target in self.targets:
            x, y, z, w = pinocchio.Quaternion(target[:3, :3]).coeffs().tolist()
            made.append(Pose.of(target[:3, 3].tolist(), quat=(w, x, y, z)))
        return made

    def ours(self) -> tuple[np.ndarray, np.ndarray]:
        """Times [ns] and answers of ``aim`` and ``solve``, call by call, as a user has them."""
        solver, poses = self.solver, self.poses()
        q, times = self.starts.copy(), np.zeros(len(poses))
        solver.aim(poses[0])
        solver.solve(self.whole(q[0]))
        for k, pose in enumerate(poses):
            start = self.whole(q[k])
            began = time.process_time_ns()
            solver.aim(pose)
            answer = solver.solve(start)
            times[k] = time.process_time_ns() - began
            q[k] = answer.q[self.coordinates]
        return times, q

    def kernel(self) -> tuple[np.ndarray, np.ndarray]:
        """Times [ns] and answers of the compiled search alone, call by call."""
        chain, goals = self.solver._chain, self.goals()
        assert chain is not None
        settings = self.solver._search.settings(40, 100)
        seed, found = np.array([12345], np.uint64), np.zeros(6)
        q, times = self.starts.copy(), np.zeros(len(goals))
        arguments = (chain.easy, seed, settings, chain.scratch)
        chain_kernels.search_chain(chain.links, goals[0], *arguments, q[0].copy(), found)
        for k in range(len(goals)):
            row = q[k]
            began = time.process_time_ns()
            chain_kernels.search_chain(chain.links, goals[k], *arguments, row, found)
            times[k] = time.process_time_ns() - began
        return times, q

    def batch(self) -> tuple[float, np.ndarray]:
        """Time [ns] of a target in ``solve_many``, and the answers."""
        poses, start = self.poses(), np.array([self.whole(row) for row in self.starts])
        began = time.process_time_ns()
        answers = self.solver.solve_many(poses, q=start)
        return (time.process_time_ns() - began) / len(poses), answers.q[:, self.coordinates]

    def closed(self) -> dict[str, float]:
        """Closed form against the numeric search, each in one compiled loop."""
        arm = SrsArm(self.world, self.frame)
        goals, count = self.goals(), len(self.targets)
        q, found = np.zeros((count, 7)), np.zeros(count, np.int64)
        chain = self.solver._chain
        assert chain is not None
        settings, seed = self.solver._search.settings(40, 100), np.array([12345], np.uint64)
        results, values = np.zeros((count, 6)), self.starts.copy()
        poses = np.array([pose.array() for pose in self.poses()])
        calls = {
            "closed": lambda: srs_kernels.closed_form_many(
                arm._arm, goals, np.zeros(7), 128, True, np.zeros((3, 8)), q, found
            ),
            "numeric": lambda: chain_kernels.search_poses(
                chain.links,
                poses,
                chain.easy,
                seed,
                settings,
                settings,
                np.zeros(12),
                chain.scratch,
                values,
                results,
            ),
        }
        best = {}
        for name, call in calls.items():
            call()
            times = []
            for _ in range(5):
                values[:] = self.starts
                began = time.process_time_ns()
                call()
                times.append(time.process_time_ns() - began)
            best[name] = float(np.median(times)) / count / 1e3
        return {**best, "success": self.success(q), "ratio": best["numeric"] / best["closed"]}

    def rival(self, python: str, name: str, count: int) -> tuple[np.ndarray, np.ndarray] | str:
        """Times and answers of a rival as far as it came in time, or why there are none."""
        files = {key: str(self.room / f"{self.name}-{key}.npy") for key in ("targets", "starts")}
        np.save(files["targets"], self.targets[:count])
        np.save(files["starts"], self.starts[:count])
        out = {key: str(self.room / f"{self.name}-{name}-{key}.npy") for key in ("q", "times")}
        given_urdf = str(bare(self.urdf, self.room / f"{self.name}-bare.urdf"))
        given = {
            "kind": "arm", "rival": name, "urdf": given_urdf, "tip": self.tip,
            "base": self.base, "lo": self.lo.tolist(), "hi": self.hi.tolist(),
            "bare": given_urdf, "seconds": SECONDS, **files, **out,
        }  # fmt: skip
        said = ask(python, given, self.room)
        if "error" in said:
            return str(said["error"])
        done = int(said["done"])
        return np.load(out["times"])[:done], np.load(out["q"])[:done]


def row(
    name: str,
    robot: str,
    times: np.ndarray,
    success: float | None,
    ours: Any = None,
    kernel: Any = None,
) -> dict:
    """One line of the table; ratios are to ours, and to its kernel alone, on the same targets."""
    made = {
        "robot": robot, "solver": name, "targets": len(times), "success": success,
        "median": float(np.median(times)) / 1e3, "p99": float(np.percentile(times, 99)) / 1e3,
    }  # fmt: skip
    for what, all_of_them in (("", ours), ("kernel ", kernel)):
        if all_of_them is not None:
            own = all_of_them[: len(times)]
            made[f"{what}slower"] = float(np.median(times) / np.median(own))
            made[f"{what}p99 slower"] = float(np.percentile(times, 99) / np.percentile(own, 99))
    return made
