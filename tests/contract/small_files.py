"""Small files of formats that cannot say the sample part, and the parts that are meant by them."""

from __future__ import annotations

import math

from linkwork.parts import Box, Capsule, Element, Joint, Part
from linkwork.spatial import Pose
from mesh_files import box, gltf, gltf_document, text_stl

SIZE = (0.25, 0.125, 0.5)


def stl_file() -> bytes:
    """A box."""
    return text_stl(box(*SIZE))


def stl_part() -> Part:
    """The box, as heavy as water."""
    return Part("sample").add(Element("sample", (Box(size=SIZE),), density=1000.0))


def gltf_file() -> bytes:
    """Two boxes, one turned on top of the other; y is up."""
    document, body = gltf_document(box(*SIZE))
    half = 0.5**0.5
    document["nodes"] = [
        {"mesh": 0, "name": "lower", "children": [1]},
        {"mesh": 0, "name": "upper", "translation": [0, 1, 0], "rotation": [half, 0, 0, half]},
    ]
    return gltf(document, body)


def gltf_part() -> Part:
    """Both boxes; z is up."""
    x, y, z = SIZE
    upright = (x, z, y)
    return Part("sample").add(
        Element("sample"),
        Element("lower", (Box(size=upright),), on="sample", density=1000.0),
        Element("upper", (Box(size=(x, y, z)),), on="lower", at=Pose((0.0, 0.0, 1.0)), density=1e3),
    )


ROBOTIX = """\
# an arm of two joints
ROBOT = 1
{
  JOINT turn
  {
    AXIS = axis_z
    TYPE = 1
    QMIN = 90
    QMAX = -45
  }
  JOINT push { AXIS = axis_x TYPE = 2 QMIN = 0 QMAX = 0.5 }
}
"""


def robotix_part() -> Part:
    """The arm, as links without a scene graph are drawn."""
    rod = (Capsule(radius=0.025, length=0.15, at=Pose((0.0, 0.0, 0.1))),)
    part = Part("sample")
    for name in ("base", "turn_link", "push_link"):
        part.add(Element(name, rod, density=1000.0))
    up = Pose((0.0, 0.0, 0.2))
    stroke = (-math.pi / 4, math.pi / 2)
    return part.add(
        Joint("turn", "hinge", "base", "turn_link", at=up, range=stroke),
        Joint("push", "slider", "turn_link", "push_link", at=up, axis=(1, 0, 0), range=(0, 0.5)),
    )
