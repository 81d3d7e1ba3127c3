"""A walled room with objects and a camera, for tests of images."""

import numpy as np

from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Box, Element, Joint, Part, Plane, Spec, Sphere
from linkwork.model.scene import Light, Scene

#: Half the inner edges of the room, its height, its ball and the camera position [m].
A, B, HIGH = 3.0, 2.0, 1.5
BALL, RADIUS = np.array([1.8, 0.3, 0.4]), 0.25
EYE = Pose((-1.0, 0.2, 0.617))
#: One sun from straight above, and its strength.
SUN = Light("noon", "sun", (0.0, 0.0, 5.0), (0.0, 0.0, 0.0), strength=0.5)


def room(**camera: object) -> Scene:
    """Returns the room; the camera is called ``eye`` and is on a cart that J moves along x."""
    scene = Scene("room", step=0.01, lights=[SUN])
    scene.add(Element("floor", (Plane(),), color="#808080"))
    long, wide = (0.2, 2 * B + 0.4, HIGH), (2 * A, 0.2, HIGH)
    for name, x, y, size, color in (
        ("east", A + 0.1, 0.0, long, "#c83c28"), ("west", -A - 0.1, 0.0, long, "#3cc828"),
        ("north", 0.0, B + 0.1, wide, "#283cc8"), ("south", 0.0, -B - 0.1, wide, "#c8c828"),
    ):  # fmt: skip
        scene.add(Element(name, (Box(size),), at=Pose((x, y, HIGH / 2)), color=color))
    scene.add(Element("ball", (Sphere(RADIUS),), at=Pose(tuple(BALL)), color="#ffffff"))
    cart = Part("cart").add(
        Element("rail", (Box((0.1, 0.1, 0.1), visible=False, collide=False),)),
        Element("body", (Box((0.3, 0.2, 0.1)),), mass=1.0),
        Anchor("lens", "body"),
    )
    drive = Spec("actuator", "servo")
    cart.add(Joint("J", "slider", "rail", "body", axis=(1, 0, 0), range=(-1.5, 1.5), drive=drive))
    scene.place(cart, at=EYE)
    scene.engine("kinematic")
    params = {"on": "cart/lens", "width": 64, "height": 48, "opening": 1.1, **camera}
    return scene.sensor("eye", "camera", **params)


def rays(width: int, height: int, opening: float) -> np.ndarray:
    """Returns directions of the pixels, 1 along the optical axis, height×width×3: x, left, up."""
    scale = 2.0 * np.tan(opening / 2.0) / height
    left = (width / 2.0 - 0.5 - np.arange(width)) * scale
    up = (height / 2.0 - 0.5 - np.arange(height)) * scale
    x, y, z = np.broadcast_arrays(1.0, left[None, :], up[:, None])
    return np.stack([x, y, z], axis=2)


def truth(width: int, height: int, opening: float, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns analytic depth and visible names, for a camera at ``at`` that looks along x."""
    way = rays(width, height, opening)
    names = np.array(["east", "north", "south", "floor", "ball", ""])
    found = np.full((6, height, width), np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        for n, (axis, edge) in enumerate([(0, A), (1, B), (1, -B), (2, 0.0)]):
            depth = (edge - at[axis]) / way[..., axis]
            z = at[2] + depth * way[..., 2]
            inside = (depth > 0.0) & ((z <= HIGH) | (axis == 2))
            found[n] = np.where(inside, depth, np.inf)
        half, gap = way @ (BALL - at), (BALL - at) @ (BALL - at) - RADIUS**2
        square = (way**2).sum(axis=2)
        root = half**2 - square * gap
        found[4] = np.where(root > 0.0, (half - np.sqrt(np.maximum(root, 0.0))) / square, np.inf)
    nearest = found.argmin(axis=0)
    depth = found.min(axis=0)
    return depth, names[np.where(np.isfinite(depth), nearest, 5)]
