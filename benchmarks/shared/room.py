"""A walled room of 22 shapes with a camera on a cart, for benchmarks."""

from __future__ import annotations

import numpy as np

from linkwork import Box, Cylinder, Element, Part, Plane, Pose, Scene, Sphere


def furnished_room(*, width: int = 320, height: int = 240) -> Scene:
    """Floor, four walls, sixteen things and a ball that carries the eye."""
    scene = Scene("room").add(Element("floor", (Plane(),), color="#8a9a86"))
    for name, x, y, size in (
        ("east", 3.0, 0.0, (0.1, 6.1, 1.0)), ("west", -3.0, 0.0, (0.1, 6.1, 1.0)),
        ("north", 0.0, 3.0, (6.1, 0.1, 1.0)), ("south", 0.0, -3.0, (6.1, 0.1, 1.0)),
    ):  # fmt: skip
        scene.add(Element(name, (Box(size),), at=Pose((x, y, 0.5)), color="#d9cfc0"))
    rng = np.random.default_rng(1)
    kinds = (Box((0.3, 0.3, 0.4)), Cylinder(0.15, 0.4), Sphere(0.2))
    for n in range(16):
        x, y = rng.uniform(-2.6, 2.6, 2)
        x += np.sign(x) * max(0.0, 0.5 - abs(x))  # not where the camera is
        scene.add(Element(f"thing{n}", (kinds[n % 3],), at=Pose((x, y, 0.2)), color="#47729c"))
    cart = Part("cart").add(Element("body", (Sphere(0.1),), mass=1.0))
    scene.place(cart, at=Pose((0.0, 0.0, 0.3)))
    return scene.sensor("eye", "camera", on="cart/body", width=width, height=height, opening=1.0)
