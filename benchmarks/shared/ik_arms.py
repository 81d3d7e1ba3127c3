"""Arms of ``ik.py``: the same targets and starts for all solvers, answers checked by Pinocchio."""

from __future__ import annotations

import contextlib
import json
import math
import time
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.geometry import Pose
from linkwork.kinematics import PoseTask, Solver, chain_kernels, closed_form_kernels
from linkwork.kinematics.srs import SrsArm
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from shared.child import Child, reason
from shared.ik_peers import EXACT, FAR, PEERS, TURNED
from shared.rows import Row

pinocchio: Any = import_module("pinocchio")  # its names are made at run time
PROCESS = str(Path(__file__).resolve().parent / "ik_peers.py")
ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
).joinpath("robots")
#: CPU time after which a peer begins no further target [s].
SECONDS = 120.0
NOT_INSTALLED = "not installed: make bench-venv"

Solved = tuple[np.ndarray, np.ndarray]


def ask(python: Path | None, given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Reply of a peer in its own process, or ``{"error": why}``; it is killed if it hangs."""
    if python is None:
        return {"error": NOT_INSTALLED}
    request = folder / "request.json"
    request.write_text(json.dumps(given))
    try:
        child = Child(str(python), PROCESS)
    except RuntimeError as error:
        return {"error": reason(error)}
    try:
        return child.ask(str(request), seconds=3 * SECONDS)
    except (RuntimeError, OSError) as error:
        return {"error": reason(error)}
    finally:
        child.close()


def peer_versions(python: Path | None) -> str:
    """Names and versions of the peers, as one sentence."""
    found: dict[str, str] = {}
    if python is not None:
        with contextlib.suppress(RuntimeError):
            child = Child(str(python), PROCESS)
            found = child.first
            child.close()
    names = [f"{name} {found.get(name, f'({NOT_INSTALLED})')}" for name in PEERS]
    return f"Peers: {', '.join(names)}."


def bare(path: Path, out: Path) -> Path:
    """A URDF without meshes, which MuJoCo can read from any folder."""
    root = ElementTree.parse(path).getroot()
    for link in root.iter("link"):
        for what in ("visual", "collision"):
            for each in link.findall(what):
                link.remove(each)
        for each in link.iter(
            "inertia"
        ):  # some are impossible; only masses and centers matter here
            each.attrib = {"ixx": "1", "iyy": "1", "izz": "1", "ixy": "0", "ixz": "0", "iyz": "0"}
    for joint in root.iter("joint"):
        for each in joint.findall("safety_controller"):  # TRAC-IK reads missing limits as 0
            joint.remove(each)
    compiler = '<mujoco><compiler fusestatic="false" balanceinertia="true" boundmass="1e-9" '
    root.append(ElementTree.fromstring(compiler + 'boundinertia="1e-9"/></mujoco>'))
    ElementTree.ElementTree(root).write(out)
    return out


class Arm:
    """One arm, its targets and its starts."""

    def __init__(
        self, name: str, urdf: Path, base: str, tip: str, count: int, folder: Path
    ) -> None:
        self.name, self.urdf, self.base, self.tip, self.folder = name, urdf, base, tip, folder
        part = UrdfFormat(missing_meshes="skip").read(urdf)
        self.world: World = compile_scene(Scene("s").place(part, name="r", base="fixed"))
        self.frame = f"r/{tip}"
        self.solver = Solver(
            self.world, [PoseTask(self.frame, tolerance=EXACT, angle_tolerance=EXACT)]
        )
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
        """All coordinates of our world, with the arm's joints at ``values``."""
        made = self.world.q0.copy()
        made[self.coordinates] = values
        return made

    def success(self, q: np.ndarray) -> float:
        """Part of the answers that reach their target within the ranges."""
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
        """The targets as a user of Linkwork has them."""
        made = []
        for target in self.targets:
            x, y, z, w = pinocchio.Quaternion(target[:3, :3]).coeffs().tolist()
            made.append(Pose.of(target[:3, 3].tolist(), quat=(w, x, y, z)))
        return made

    def ours(self) -> Solved:
        """Times [ns] and answers of ``set_target`` and ``solve``, one call per target."""
        solver, poses = self.solver, self.poses()
        q, times = self.starts.copy(), np.zeros(len(poses))
        solver.set_target(poses[0])
        solver.solve(self.whole(q[0]))
        for k, pose in enumerate(poses):
            start = self.whole(q[k])
            began = time.process_time_ns()
            solver.set_target(pose)
            answer = solver.solve(start)
            times[k] = time.process_time_ns() - began
            q[k] = answer.q[self.coordinates]
        return times, q

    def kernel(self) -> Solved:
        """Times [ns] and answers of the compiled search alone, one call per target."""
        chain, goals = self.solver._chain, self.goals()
        assert chain is not None
        settings = self.solver._search.settings(40, 100)
        seed, found = np.array([12345], np.uint64), np.zeros(6)
        q, times = self.starts.copy(), np.zeros(len(goals))
        arguments = (chain.inverse_metric, seed, settings, chain.scratch)
        chain_kernels.search_chain(chain.links, goals[0], *arguments, q[0].copy(), found)
        for k in range(len(goals)):
            row = q[k]
            began = time.process_time_ns()
            chain_kernels.search_chain(chain.links, goals[k], *arguments, row, found)
            times[k] = time.process_time_ns() - began
        return times, q

    def batch(self) -> tuple[float, np.ndarray]:
        """Time per target of ``solve_many`` [ns], and the answers."""
        poses, start = self.poses(), np.array([self.whole(row) for row in self.starts])
        began = time.process_time_ns()
        answers = self.solver.solve_many(poses, q=start)
        return (time.process_time_ns() - began) / len(poses), answers.q[:, self.coordinates]

    def closed(self) -> Row:
        """Closed form beside the numeric search, each in one compiled loop."""
        arm = SrsArm(self.world, self.frame)
        goals, count = self.goals(), len(self.targets)
        q, found = np.zeros((count, 7)), np.zeros(count, np.int64)
        chain = self.solver._chain
        assert chain is not None
        settings, seed = self.solver._search.settings(40, 100), np.array([12345], np.uint64)
        results, values = np.zeros((count, 6)), self.starts.copy()
        poses = np.array([pose.array() for pose in self.poses()])
        calls = {
            "closed": lambda: closed_form_kernels.srs_angles_many(
                arm._arm, goals, np.zeros(7), 128, True, np.zeros((3, 8)), q, found
            ),
            "numeric": lambda: chain_kernels.search_poses(
                chain.links,
                poses,
                chain.inverse_metric,
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
        return Row(
            f"{self.name}, closed form, mean", "µs", best["closed"], best["numeric"],
            "Linkwork, numeric search",
            note=f"both in compiled loops, {100 * self.success(q):.1f} % of the targets reached",
        )  # fmt: skip

    def peer(self, python: Path | None, name: str, count: int) -> Solved | str:
        """Times [ns] and answers of a peer, as many as it had time for, or why there are none."""
        files = {key: str(self.folder / f"{self.name}-{key}.npy") for key in ("targets", "starts")}
        np.save(files["targets"], self.targets[:count])
        np.save(files["starts"], self.starts[:count])
        out = {key: str(self.folder / f"{self.name}-{name}-{key}.npy") for key in ("q", "times")}
        given_urdf = str(bare(self.urdf, self.folder / f"{self.name}-bare.urdf"))
        given = {
            "kind": "arm", "peer": name, "urdf": given_urdf, "tip": self.tip,
            "base": self.base, "lo": self.lo.tolist(), "hi": self.hi.tolist(),
            "bare": given_urdf, "seconds": SECONDS, **files, **out,
        }  # fmt: skip
        reply = ask(python, given, self.folder)
        if "error" in reply:
            return str(reply["error"])
        done = int(reply["done"])
        if not done:
            return f"no target was tried within {SECONDS:g} s"
        return np.load(out["times"])[:done], np.load(out["q"])[:done]


def time_rows(name: str, ours: np.ndarray, peers: dict[str, np.ndarray | str]) -> list[Row]:
    """Rows of the median and the 99th percentile of times [µs].

    Args:
        name: What the times are of.
        ours: Our times [ns].
        peers: Times of each peer, of as many targets as it had time for [ns], or why there are
            none. Ours of the same targets stand beside them.
    """
    rows = []
    for word, part in (("median", 50), ("99th percentile", 99)):
        for peer, times in peers.items():
            title = f"{name}, {word}"
            if isinstance(times, str):
                rows.append(Row(title, "µs", micros(ours, part), None, peer, note=times))
                continue
            fewer = f"of the first {len(times)} targets" if len(times) < len(ours) else ""
            figures = micros(ours[: len(times)], part), micros(times, part)
            rows.append(Row(title, "µs", *figures, peer, note=fewer))
    return rows


def kernel_row(name: str, kernel: np.ndarray, called: np.ndarray) -> Row:
    """Median time of a compiled function alone, beside the call from Python around it [ns]."""
    peer = "Linkwork, called from Python"
    return Row(f"{name}, median", "µs", micros(kernel, 50), micros(called, 50), peer)


def micros(times: np.ndarray, part: float) -> float:
    """A percentile of times [ns], in µs."""
    return float(np.percentile(times, part)) / 1e3
