"""Draws the pictures of the documentation and the kits, without a graphics card.

python tools/pictures.py [name …]
"""

from __future__ import annotations

import atexit
import math
import runpy
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from drawing.chart import Line, write_chart
from drawing.gears import write_gearbox
from drawing.page_files import page_file
from drawing.png import write_png
from drawing.render import render
from drawing.servos import write_energy, write_step
from drawing.surfaces import Model
from drawing.view import Camera, Look
from drawing.walk import WALK, walk_chart
from linkwork.devices import load_devices
from linkwork.geometry import Pose
from linkwork.model.parts import find_kits
from linkwork.motion.profiles import segment
from linkwork.motion.profiles.worked_example import END, LIMITS, START
from linkwork.session.session import Session

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
KITS = ROOT / "src" / "linkwork" / "kits"
SIZE, PART_SIZE = (960, 600), (480, 360)

#: Scenes of the kit of mechanisms: when and from where each is shown.
MECHANISMS = {
    "double_pendulum": (1.9, Camera((0.55, -1.55, 1.45), (0.0, 0.0, 0.48), 0.54)),
    "four_bar": (4.0, Camera((0.35, -1.05, 0.85), (0.14, 0.0, 0.26), 0.48)),
    "slider_crank": (3.1, Camera((0.38, -0.85, 0.45), (0.12, 0.0, 0.12), 0.46)),
    "jansen": (3.0, Camera((0.45, -1.25, 0.95), (0.0, 0.0, 0.25), 0.50)),
    "watt": (0.35, Camera((0.35, -1.25, 1.00), (0.0, 0.0, 0.29), 0.48)),
    "peaucellier": (6.5, Camera((0.45, -1.05, 0.85), (0.17, 0.0, 0.25), 0.50)),
    "pantograph": (5.2, Camera((0.20, -0.80, 0.80), (0.30, -0.02, 0.0), 0.56)),
    "universal_shaft": (3.1, Camera((0.30, -0.95, 0.50), (0.13, 0.0, 0.14), 0.44)),
    "screw_jack": (5.5, Camera((0.50, -0.95, 0.70), (0.0, 0.0, 0.22), 0.54)),
    "hexapod": (6.9, Camera((0.60, -1.00, 0.75), (0.0, 0.0, 0.20), 0.50)),
    "agile_eye": (4.4, Camera((0.50, -0.80, 0.72), (0.0, 0.0, 0.20), 0.50)),
    "delta": (3.4, Camera((-0.25, -1.40, 1.05), (0.0, 0.0, 0.34), 0.54)),
    "ring": (0.55, Camera((0.45, -1.45, 1.25), (0.0, 0.0, 0.38), 0.54)),
    "chain": (0.45, Camera((0.8, -2.9, 3.1), (0.0, 0.0, 1.05), 0.62)),
}

#: Scenes of the gallery, and which picture of the documentation shows them.
SCENES = {
    "amtec/bench": "amtec",
    "amtec/tcp": "amtec",
    "bart_uh/agile_hips": "agile_hips",
    "bart_uh/feet": "feet",
    "bart_uh/upright": "bart",
    "bart_uh/walk": "walk",
    "bioloid/fixed": "greet",
    "bioloid/look": "look",
    "bioloid/smart": "greet",
    "bioloid/stand": "humanoid",
    "furniture/room": "room",
    "gripper/follow": "gripper",
    "kuka/table": "kuka",
    "mitsubishi/table": "mitsubishi",
    "tripod/can": "tripod",
    "tripod/level": "tripod",
    "tripod/twin": "twin",
    "vehicles/crawl": "crawl",
    "vehicles/eight": "eight",
    "vehicles/explore": "explore",
    "vehicles/together": "together",
}
SCENE_SIZE = (480, 372)

#: The charts: of the tripod's tilt, of a stick, of planned speeds and of a neck.
CHART, STICK, SPEEDS, NECK = "level", "devices", "planners", "neck"
#: The step of Lima et al. with the servo fitted to it, and what an arm's servos consume.
SERVO, ENERGY = "servo-step", "servo-energy"
#: What a camera sees.
EYE = "camera"

#: Parts whose z points down.
HANGING = ("tripod/leg",)

#: A world with the poses of its bodies.
Shown = tuple[lw.World, np.ndarray]


@dataclass(frozen=True)
class Figure:
    """One picture: what is shown, from where and in which light."""

    show: Callable[[], Shown | list[Shown]]
    camera: Camera
    look: Look = field(default_factory=Look)

    def draw(self, path: Path, size: tuple[int, int]) -> None:
        shown = self.show()
        model = Model.of(shown if isinstance(shown, list) else [shown])
        write_png(path, render(model, self.camera, self.look, *size))
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


def after(scene: str | lw.Scene, seconds: float, **values: float) -> Shown:
    """A scene after some time of running."""
    with Session(scene, watch=False) as session:
        for signal, value in values.items():
            session[signal] = value
        session.run(seconds)
        return session.world, session.state.pose.copy()


def example(number: str) -> dict[str, Any]:
    """What an example defines."""
    (path,) = (ROOT / "examples").glob(f"{number}_*.py")
    return runpy.run_path(str(path))


def twin() -> Shown:
    scene = lw.load_scene("tripod/twin")
    scene.agents = [agent for agent in scene.agents if agent.name != "level"]
    return after(scene, 5.0)


def lookout() -> list[Shown]:
    """The head, with the ray of its eye as a thin line."""
    scene = example("05")["scene"]()
    with Session(scene, watch=False) as session:
        session.run(0.56)
        world, pose = session.world, session.state.pose.copy()
        reach = session["eye.distance"]
    body, frame = world.frame("head/pupil")
    row = pose[body].tolist()
    at = Pose.of(row[:3], quat=row[3:]) @ frame
    middle = at @ Pose.of((reach / 2.0, 0.0, 0.0), rpy=(0.0, math.pi / 2.0, 0.0))
    ray = lw.Element("ray", (lw.Capsule(0.0025, reach, at=middle),), color="#007586")
    return [(world, pose), still(lw.Scene("ray").add(ray))]


def still(scene: lw.Scene) -> Shown:
    """A scene as it is before it runs."""
    world = lw.compile_scene(scene)
    return world, lw.forward(world, world.q0)


def arm() -> Shown:
    made = example("07")
    with tempfile.TemporaryDirectory() as folder:
        part = made["robot"](Path(folder) / "robot.urdf")
    return after(made["scene"](part), 2.0, **{"arm/shoulder.target": 0.5, "arm/elbow.target": 1.0})


def crane() -> Shown:
    made = example("10")
    with tempfile.TemporaryDirectory() as folder:
        document = lw.Document.open(made["write"](Path(folder)))
        document.add("part", {"name": "load", "part": "./load.toml", "on": "crane/hook"})
        assert isinstance(document.content, lw.Scene)
        return after(document.content, 2.3)


def spider() -> Shown:
    """The MuJoCo model of docs/mjcf.md, a leg lifted."""
    with tempfile.TemporaryDirectory() as folder:
        scene = lw.load_scene(page_file("mjcf.md", "spider.xml", Path(folder)))
    values = {"lift0.control": -0.5, "swing0.control": 0.5, "swing1.control": -0.3}
    return after(scene, 1.0, **values)


def gearbox() -> Shown:
    """A glTF assembly, read as a part."""
    folder = Path(tempfile.mkdtemp())  # its triangles are read until the picture is drawn
    atexit.register(shutil.rmtree, folder)
    write_gearbox(folder / "gearbox.glb")
    return still(lw.Scene("desk").place(lw.load_part(folder / "gearbox.glb")))


DOCS: dict[str, Figure] = {
    "tripod": Figure(
        lambda: after("tripod/level", 5.0), Camera((0.42, -1.55, 0.80), (0.0, 0.0, 0.27), 0.50)
    ),
    "gripper": Figure(
        lambda: after("gripper/follow", 2.5), Camera((0.98, -0.80, 0.80), (0.20, 0.0, 0.20), 0.50)
    ),
    "twin": Figure(twin, Camera((0.75, -2.30, 1.00), (0.42, 0.0, 0.28), 0.48), Look(reach=1.5)),
    "lamp": Figure(
        lambda: after(
            example("02")["scene"](), 1.5, **{"lamp/lift.target": 0.5, "lamp/reach.target": 1.2}
        ),
        Camera((0.62, -1.15, 0.62), (0.15, 0.0, 0.22), 0.52),
    ),
    "servos": Figure(
        lambda: after(
            example("21")["scene"](), 1.5, **{"arm/shoulder.target": 0.7, "arm/elbow.target": 0.8}
        ),
        Camera((0.45, -0.85, 0.45), (0.10, 0.0, 0.15), 0.46),
    ),
    "lookout": Figure(
        lookout, Camera((-0.72, -0.80, 0.85), (0.40, -0.08, 0.14), 0.60), Look(reach=1.2)
    ),
    "dominoes": Figure(
        lambda: after(example("06")["scene"](), 0.52),
        Camera((0.95, -0.55, 0.52), (0.22, 0.16, 0.04), 0.55),
    ),
    "urdf": Figure(arm, Camera((0.55, -1.45, 0.80), (0.17, 0.0, 0.32), 0.55)),
    "balance": Figure(
        lambda: after(example("08")["scene"](), 0.1),
        Camera((0.55, -1.75, 0.95), (0.0, 0.0, 0.38), 0.55),
    ),
    "ride": Figure(
        lambda: after(example("09")["scene"](), 3.0),
        Camera((0.55, -1.20, 0.75), (0.06, 0.0, 0.18), 0.52),
    ),
    "amtec": Figure(
        lambda: after("amtec/bench", 0.5), Camera((1.75, -2.05, 1.75), (0.22, 0.0, 0.62), 0.50)
    ),
    "kuka": Figure(
        lambda: after("kuka/table", 2.6), Camera((1.75, -2.45, 2.30), (-0.05, 0.0, 0.66), 0.60)
    ),
    "mitsubishi": Figure(
        lambda: after("mitsubishi/table", 2.6),
        Camera((1.75, -2.45, 2.45), (-0.05, 0.0, 0.70), 0.62),
    ),
    "bart": Figure(
        lambda: after("bart_uh/upright", 1.0),
        Camera((1.55, 2.10, 1.35), (0.0, 0.0, 0.47), 0.50),
        Look(reach=2.0),
    ),
    "walk": Figure(
        lambda: after("bart_uh/walk", 2.15),
        Camera((2.3, 1.9, 1.25), (0.0, 0.42, 0.58), 0.52),
        Look(reach=2.0),
    ),
    "feet": Figure(
        lambda: after("bart_uh/feet", 1.4),
        Camera((1.7, 1.5, 0.9), (0.0, 0.05, 0.55), 0.56),
        Look(reach=2.0),
    ),
    "agile_hips": Figure(
        lambda: after("bart_uh/agile_hips", 2.9),
        Camera((1.35, 1.90, 0.80), (0.0, 0.0, 0.56), 0.52),
        Look(reach=2.0),
    ),
    "computers": Figure(
        lambda: still(example("23")["robot"]()),
        Camera((1.35, 1.90, 0.95), (0.0, 0.0, 0.56), 0.52),
        Look(reach=2.0),
    ),
    "humanoid": Figure(
        lambda: after("bioloid/stand", 1.0),
        Camera((0.72, -0.56, 0.66), (0.0, 0.0, 0.18), 0.50),
        Look(lamp=(0.9, -1.6, 2.6)),
    ),
    "greet": Figure(
        lambda: after("bioloid/fixed", 3.4),
        Camera((0.78, -0.60, 0.76), (-0.02, 0.0, 0.245), 0.56),
        Look(lamp=(0.9, -1.6, 2.6)),
    ),
    "look": Figure(
        lambda: after("bioloid/look", 4.7),
        Camera((0.52, -0.30, 0.60), (-0.01, 0.0, 0.33), 0.52),
        Look(lamp=(0.9, -1.6, 2.6)),
    ),
    "room": Figure(
        lambda: after("furniture/room", 1.0),
        Camera((-0.9, -6.4, 3.9), (0.0, 0.1, 0.80), 0.60),
        Look(reach=4.0, grid=0.0),
    ),
    "eight": Figure(
        lambda: after("vehicles/eight", 5.3),
        Camera((1.10, -2.15, 1.20), (0.0, -0.06, 0.02), 0.56),
        Look(reach=2.0),
    ),
    "explore": Figure(
        lambda: after("vehicles/explore", 23.0),
        Camera((1.7, -4.7, 4.4), (-0.06, -0.06, 0.0), 0.60),
        Look(grid=0.0),
    ),
    "crawl": Figure(
        lambda: after("vehicles/crawl", 4.35),
        Camera((0.85, -0.80, 0.48), (0.26, 0.0, 0.06), 0.50),
        Look(reach=1.0),
    ),
    "together": Figure(
        lambda: after("vehicles/together", 12.3),
        Camera((0.42, -1.95, 0.95), (-0.20, 0.20, 0.0), 0.60),
        Look(reach=2.0),
    ),
    "mjcf": Figure(spider, Camera((0.33, -1.04, 0.58), (0.02, 0.0, 0.08), 0.50)),
    "imports": Figure(
        gearbox,
        Camera((0.137, -0.263, 0.232), (0.014, -0.008, 0.012), 0.50),
        Look(lamp=(-0.4, -0.5, 0.8), lamp_radius=0.12, grid=0.0),
    ),
    "crane": Figure(crane, Camera((0.95, -1.15, 0.85), (0.10, 0.05, 0.28), 0.52)),
}


def level_chart(path: Path) -> None:
    """Tilts of the tripod's floor and tray about y over half a minute."""
    scene = lw.load_scene("tripod/level")
    scene.sensor("floor", "inclinometer", on="table/plate")
    floor, tray = [0.0], [0.0]
    with Session(scene, watch=False) as session:
        for _ in range(300):
            session.run(0.1)
            floor.append(math.degrees(session["floor.y"]))
            tray.append(math.degrees(session["tripod/platform/tilt.y"]))
    lines = [Line("floor", "#a54d06", floor), Line("tray", "#1a1e23", tray)]
    write_chart(path, "Tilt about y, °", lines, 30.0, -12.0, 12.0)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


def stick_chart(path: Path) -> None:
    """A stick that swings and trembles, and what docs/devices.md makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        mapping = load_devices(page_file("devices.md", "desk.toml", Path(folder)))
    stick, target = [], []
    for n in range(301):
        t = n / 50.0
        swing = math.sin(math.tau * (t - 1.0) / 4.0) if 1.0 <= t < 5.0 else 0.0
        stick.append(0.95 * swing + 0.04 * math.sin(9.0 * t) + 0.02 * math.sin(23.0 * t))
        target.append(math.degrees(mapping.apply({"pad": {"axis0": stick[-1]}})["arm/J1.target"]))
    lines = [
        Line("axis0 of the pad, full is 90", "#a54d06", [90.0 * each for each in stick]),
        Line("arm/J1.target", "#1a1e23", target),
    ]
    write_chart(path, "A stick and the target that it gives, °", lines, 6.0, -100.0, 100.0)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


def speed_chart(path: Path) -> None:
    """The speeds of Lima's worked example by each planner."""
    moments = np.linspace(START.time, END.time, 401)
    colors = {"acceleration": "#a54d06", "speed": "#007586", "energy": "#1a1e23"}
    lines = []
    for planner, color in colors.items():
        speeds = segment(START, END, planner, LIMITS).states(moments)[1]
        lines.append(Line(f"least {planner}", color, np.degrees(speeds).tolist()))
    title = "From 0° at 20°/s to 27° at 30°/s: speed, °/s"
    write_chart(path, title, lines, 1.0, 18.0, 34.0, ticks=4, first=START.time)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


def neck_chart(path: Path) -> None:
    """The humanoid's neck and its reference, as in figure 17 of Lima et al."""
    target, angle = [], []
    with Session("bioloid/look", watch=False) as session:
        for _ in range(301):
            session.step()
            target.append(math.degrees(session["robot/neck.target"]))
            angle.append(math.degrees(session["robot/neck.angle"]))
            session.run(0.018)
    lines = [Line("reference", "#a54d06", target), Line("neck", "#1a1e23", angle)]
    write_chart(path, "Neck through 0, 45, 90, −45, −90°, least acceleration", lines, 6.0, -100.0,
                100.0)  # fmt: skip
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


def camera_picture(path: Path) -> None:
    """What the eye of example 13 sees: color, and beside it depth, from near to far."""
    with tempfile.TemporaryDirectory() as folder:
        scene = example("13")["scene"](Path(folder))
        scene.sensors[0].params.update(width=476, height=360)
        with Session(scene, watch=False) as session:
            session.run(3.3)
            image, depth = session.image("eye"), session.image("eye", "depth")
    seen = np.isfinite(depth)
    low, high = depth[seen].min(), depth[seen].max()
    share = np.where(seen, (depth.clip(low, high) - low) / (high - low), 1.0)[..., None]
    near, far = np.array([255.0, 236.0, 190.0]), np.array([24.0, 40.0, 84.0])
    shades = np.where(seen[..., None], near + (far - near) * share, 0.0)
    gap = np.full((len(image), 8, 3), 255, np.uint8)
    write_png(path, np.hstack([image, gap, np.rint(shades).astype(np.uint8)]))
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


def _mechanism(name: str) -> Figure:
    seconds, camera = MECHANISMS[name]
    return Figure(lambda: after(f"mechanisms/{name}", seconds), camera)


DOCS["mechanisms"] = replace(_mechanism("hexapod"), look=Look(grid=0.0))
SHOWN = {name: DOCS[picture] for name, picture in SCENES.items()}
SHOWN |= {f"mechanisms/{name}": _mechanism(name) for name in MECHANISMS}


def part_picture(name: str) -> Figure:
    """A part of a kit by itself, as large as the picture allows, on the ground."""
    at = Pose.of(rpy=(math.pi, 0.0, 0.0)) if name in HANGING else Pose()
    world, pose = still(lw.Scene("part").place(lw.load_part(name), at=at))
    corners = _corners(Model.of([(world, pose)]))
    low, high = corners.min(axis=0), corners.max(axis=0)
    center = (low + high) / 2.0
    size = float(np.linalg.norm(high - low))
    away = size * 2.15 * np.array([0.55, -0.70, 0.46]) / math.sqrt(0.55**2 + 0.70**2 + 0.46**2)
    eye, target = (tuple(map(float, v)) for v in (center + away, center))
    look = Look(
        lamp=tuple(size * 2.2 * c for c in (-0.40, -0.48, 0.80)),  # type: ignore[arg-type]
        lamp_radius=0.28 * size, ground=float(low[2]), grid=0.0, rays=6,
    )  # fmt: skip
    return Figure(lambda: (world, pose), Camera(eye, target, 0.52), look)  # type: ignore[arg-type]


def _corners(model: Model) -> np.ndarray:
    """Points that together span all shapes, from MuJoCo's bounding boxes (n×3) [m]."""
    signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
    found = []
    for geom, (_, at, turn, _) in enumerate(model.shapes):
        box = model.mj.geom_aabb[geom]
        if model.mj.geom_dataid[geom] >= 0:  # a mesh has a frame of its own
            at, turn = model.data.geom_xpos[geom], model.data.geom_xmat[geom].reshape(3, 3)
        found.append(at + (box[:3] + signs * box[3:]) @ turn.T)
    return np.concatenate(found)


CHARTS = {
    CHART: level_chart, STICK: stick_chart, SPEEDS: speed_chart, NECK: neck_chart,
    SERVO: write_step, ENERGY: write_energy,
} | {name: walk_chart(name) for name in WALK}  # fmt: skip


def main(names: list[str]) -> int:
    parts = {
        name: kit for kit in find_kits().values() if kit.source == "package" for name in kit.parts()
    }
    known = [*DOCS, *CHARTS, EYE, *parts, *SHOWN]
    for name in names:
        if name not in known:
            print(f"There is no picture {name!r}; there are {', '.join(known)}.", file=sys.stderr)
            return 1
    PICTURES.mkdir(exist_ok=True)
    for name in names or known:
        if name in CHARTS:
            CHARTS[name](PICTURES / f"{name}.svg")
        elif name == EYE:
            camera_picture(PICTURES / f"{EYE}.png")
        elif name in DOCS:
            DOCS[name].draw(PICTURES / f"{name}.png", SIZE)
        elif name in SHOWN:
            SHOWN[name].draw(KITS / f"{name}.png", SCENE_SIZE)
        else:
            part_picture(name).draw(KITS / f"{name}.png", PART_SIZE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
