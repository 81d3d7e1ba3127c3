"""CPU time of the MuJoCo engine's step and of loading, beside MuJoCo itself, by size.

    python benchmarks/scale.py [--quick] [--json [FILE]]

A step is ``engine.advance`` beside a bare ``mj_step`` of the same compiled model, with the same
integrator and from the same state: boxes that have come to rest on a floor, and hanging chains of
hinges. The advance also reads poses, velocities, efforts and energies of all bodies, which the bare
step leaves in MuJoCo's own arrays. The run fails unless both have the same number of contacts.

Loading is from the file to the first step, beside ``MjModel.from_xml_path``, in processes of their
own: the models of dm_control, gymnasium-robotics and metaworld with their meshes, and boxes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from shared.child import Child, serve
from shared.rows import Benchmark, Row
from shared.timing import Times, compare, in_turn

from linkwork.core.mujoco_library import mujoco
from linkwork.engines.mujoco import Mujoco
from linkwork.formats import load_scene
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Capsule, Element, Joint, Part, Plane
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle

BOXES, QUICK_BOXES = (10, 100, 1000, 2000, 3000), (10, 100, 1000)
CHAINS, QUICK_CHAINS = (10, 100, 500, 1000), (10, 100, 500)
#: Steps until the boxes rest.
SETTLING = 300
#: Model files of packages; ``make test`` fetches them.
MODELS = Path(sys.prefix) / "models"
BARE = "bare mj_step, same model"
FROM_XML = "MjModel.from_xml_path"


def boxes(count: int) -> Scene:
    """Boxes beside each other on a floor."""
    scene, row = Scene("boxes", step=0.002).engine("mujoco"), int(np.ceil(np.sqrt(count)))
    scene.add(Element("floor", (Plane(),)))
    box = Part("box").add(Element("box", (Box((0.2, 0.2, 0.2)),), density=500.0))
    for n in range(count):
        at = Pose.of((0.3 * (n % row), 0.3 * (n // row), 0.1))
        scene.place(box, name=f"box{n}", at=at, base="free")
    return scene


def chain(count: int) -> Scene:
    """A chain of hinges, horizontal at the start, whose pieces do not collide."""
    part = Part("chain").add(Element("base"))
    turned = Pose.of((0.05, 0.0, 0.0), rpy=(0.0, np.pi / 2, 0.0))
    piece = Capsule(0.02, 0.1, at=turned, collide=False)
    for n in range(count):
        part.add(Element(f"link{n}", (piece,), density=1000.0))
        part.add(
            Joint(
                f"hinge{n}", "hinge", f"link{n - 1}" if n else "base", f"link{n}",
                at=Pose.of((0.1 * (n > 0), 0.0, 0.0)), axis=(0.0, 1.0, 0.0), damping=0.05,
            )
        )  # fmt: skip
    return Scene("chain", step=0.002).engine("mujoco").place(part, name="chain")


class SteppedTwice:
    """A scene's engine and a bare MuJoCo of the same model, from the same state."""

    def __init__(self, scene: Scene, settling: int) -> None:
        self.cycle = Cycle(compile_scene(scene))
        for _ in range(settling):
            self.cycle.move()
        engine = self.cycle.engines[0]
        assert isinstance(engine, Mujoco)
        self.engine, self.model = engine, engine.model.mj
        self.data = mujoco.MjData(self.model)
        state, (q_map, v_map) = self.cycle.state, (engine.model.q_map, engine.model.v_map)
        self.data.qpos[q_map[:, 1]] = state.q[q_map[:, 0]]
        self.data.qvel[v_map[:, 1]] = state.v[v_map[:, 0]]

    def ours(self, steps: int) -> None:
        advance, h = self.engine.advance, self.cycle.world.scene.step
        for _ in range(steps):
            advance(h)

    def bare(self, steps: int) -> None:
        model, data, step = self.model, self.data, mujoco.mj_step
        for _ in range(steps):
            step(model, data)

    def contacts(self) -> int:
        """The number of contacts, of both.

        Raises:
            SystemExit: If they differ.
        """
        mine, other = len(self.cycle.contacts()), int(self.data.ncon)
        if mine != other:
            raise SystemExit(f"{mine} contacts here, {other} in the bare loop: do not compare.")
        return mine


def step_rows(bench: Benchmark, quick: bool) -> Iterator[Row]:
    """Rows of steps."""
    cases = [
        *((f"{n} boxes at rest", boxes, n, SETTLING) for n in (QUICK_BOXES if quick else BOXES)),
        *((f"chain of {n} hinges", chain, n, 10) for n in (QUICK_CHAINS if quick else CHAINS)),
    ]
    for name, build, count, settling in cases:
        bench.log(name)
        pair = SteppedTwice(build(count), settling)
        steps = max(1, 600 // count)
        calls = {"ours": pair.ours, "bare": pair.bare}
        times: Times = in_turn(calls, steps=steps, rounds=11 if quick else 31)
        note = f"{pair.contacts()} contacts" if build is boxes else ""
        yield compare(times, f"step, {name}", "ours", "bare", BARE, note=note)


def models() -> list[Path]:
    """Files of the packages that MuJoCo compiles and that have joints."""
    found = []
    for path in sorted(MODELS.rglob("*.xml")):
        if "<mujoco" not in path.read_text(errors="replace"):
            continue
        try:
            model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            continue
        if model.nv:
            found.append(path)
    return found


def load_here(path: Path) -> None:
    """Loads a model up to where its first step begins."""
    Cycle(compile_scene(load_scene(path))).close()


def load_in_mujoco(path: Path) -> None:
    """Loads a model as MuJoCo's users do."""
    mujoco.MjData(mujoco.MjModel.from_xml_path(str(path)))


def measure(who: str, first: Path) -> None:
    """In a child process: replies to each line of paths with the CPU time of loading them [s]."""
    load = load_here if who == "ours" else load_in_mujoco
    load(first)  # loads the kernels and the library

    def reply(request: str) -> float:
        started = time.process_time()
        for name in request.split("\t"):
            load(Path(name))
        return time.process_time() - started

    serve("ready", reply)


def load_rows(bench: Benchmark, quick: bool) -> Iterator[Row]:
    """Rows of loading."""
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first.xml"
        first.write_text(_boxes_as_mjcf(3))
        cases: list[tuple[str, list[Path]]] = []
        for count in (100, 1000):
            path = Path(folder) / f"boxes{count}.xml"
            path.write_text(_boxes_as_mjcf(count))
            cases.append((f"load, {count} boxes", [path]))
        found = models()
        chosen = found[::6] if quick else found
        if chosen:
            cases.append((f"load, {len(chosen)} models of three packages", chosen))
        for name, paths in cases:
            bench.log(name)
            seconds = {}
            for who in ("ours", "MuJoCo"):
                child = Child(sys.executable, __file__, "--child", who, str(first))
                try:
                    seconds[who] = float(child.ask("\t".join(map(str, paths))))
                finally:
                    child.close()
            yield Row(name, "s", seconds["ours"], seconds["MuJoCo"], FROM_XML)
        if not found:
            yield Row("load, models of three packages", "s", None, note="not fetched: make test")


def _boxes_as_mjcf(count: int) -> str:
    row = int(np.ceil(np.sqrt(count)))
    bodies = "".join(
        f'<body name="b{n}" pos="{0.3 * (n % row)} {0.3 * (n // row)} 0.1"><freejoint/>'
        '<geom type="box" size=".1 .1 .1" density="500"/></body>'
        for n in range(count)
    )
    floor = '<geom type="plane" size="50 50 1"/>'
    return f"<mujoco><worldbody>{floor}{bodies}</worldbody></mujoco>"


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        measure(sys.argv[2], Path(sys.argv[3]))
        return
    bench = Benchmark(__file__, __doc__)
    quick = bench.parse().quick
    bench.publish([*step_rows(bench, quick), *load_rows(bench, quick)])


if __name__ == "__main__":
    main()
