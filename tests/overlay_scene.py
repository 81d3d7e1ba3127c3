"""A scene file with a joint of every type, a ray, a textured box and a viewpoint, for the views."""

import math
from pathlib import Path

import numpy as np

import linkwork as lw
from drawing.png import write_png
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part, Plane, Sphere
from linkwork.model.parts.joint import JOINT_TYPES, RailPiece
from linkwork.model.scene import Scene, Viewpoint

#: Joints of the bench, by type; each carries a link called ``<type>_link``.
TYPES = [name for name in JOINT_TYPES if name not in ("fixed", "free")]
#: Range of the ray [m], and its distance to the sign.
REACH, MET = 2.0, 0.45


def bench() -> Part:
    """Returns links in series, each on a joint of another type."""
    part = Part("bench").add(Element("base", (Box((0.1, 1.8, 0.04)),), mass=5.0))
    for number, kind in enumerate(TYPES):
        link = Element(f"{kind}_link", (Box((0.05, 0.05, 0.2), at=Pose((0, 0, 0.1))),), mass=0.2)
        more = {"range": (-1.0, 1.5)} if kind in ("hinge", "screw") else {}
        if kind == "slider":
            more = {"range": (-0.1, 0.2)}
        if kind == "rail":
            more = {"rail": (RailPiece(0.2, turn=math.pi / 2), RailPiece(0.1))}
        at = Pose((0.0, 0.2 * (number - len(TYPES) / 2), 0.1))
        part.add(link, Joint(kind, kind, "base", link.name, at=at, pitch=0.01, **more))  # type: ignore[arg-type]
    return part


def write_scene(folder: Path) -> str:
    """Writes the scene and its image; returns its path."""
    image = np.zeros((8, 8, 3), np.uint8)
    image[:, :4] = (255, 0, 0)
    image[:, 4:] = (0, 0, 255)
    write_png(folder / "halves.png", image)
    scene = Scene("overlays")
    scene.add(Element("ground", (Plane(),)))
    sign = Box((0.1, 0.1, 0.1), texture=str(folder / "halves.png"))
    scene.add(Element("sign", (sign,), at=Pose((0.5, 0.0, 0.1))))
    scene.place(bench(), at=Pose((0.0, 0.0, 0.1)))
    ball = Part("ball").add(Element("ball", (Sphere(radius=0.05),), mass=0.1))
    scene.place(ball, at=Pose((1.0, 0.5, 0.05)), base="free")
    scene.sensor("eye", "ray", on="bench/base", range=REACH, direction=(1, 0, 0))
    scene.engine("kinematic", owns=["bench"])
    scene.engine("mujoco")
    scene.viewpoints.append(Viewpoint("door", (2.0, -1.0, 1.0), (0.1, 0.0, 0.2), 0.6))
    path = folder / "overlays.toml"
    lw.save(scene, path)
    return str(path)
