"""Small files of formats that cannot hold the sample part, and the parts in them."""

from __future__ import annotations

import math

from linkwork.geometry import Pose
from linkwork.model.parts import Box, Capsule, Element, Joint, Part, Sphere
from mesh_files import box, gltf, gltf_document, text_stl
from step_files import assembly

SIZE = (0.25, 0.125, 0.5)


def stl_file() -> bytes:
    """Writes a box."""
    return text_stl(box(*SIZE))


def stl_part() -> Part:
    """Returns the box, with the density of water."""
    return Part("sample").add(Element("sample", (Box(size=SIZE),), density=1000.0))


def gltf_file() -> bytes:
    """Writes two boxes, one rotated on top of the other; y is up."""
    document, body = gltf_document(box(*SIZE))
    half = 0.5**0.5
    document["nodes"] = [
        {"mesh": 0, "name": "lower", "children": [1]},
        {"mesh": 0, "name": "upper", "translation": [0, 1, 0], "rotation": [half, 0, 0, half]},
    ]
    return gltf(document, body)


def gltf_part() -> Part:
    """Returns both boxes; z is up."""
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
    """Returns the arm, as links without a scene graph are drawn."""
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


HUMANOID = """\
<robot>
  <kind value='humanoid'/>
  <solids>
    <cuboid>
      <ID value='6'/>
      <pos x='0' y='0' z='0.25'/>
      <size x='0.082' y='0.102' z='0.137'/>
      <mass value='0.635'/>
      <desc Pt='Tronco'/>
      <desc Eng='Trunk'/>
    </cuboid>
    <cuboid>
      <ID value='7'/>
      <pos x='0' y='0.03' z='0.1'/>
      <size x='0.04' y='0.04' z='0.1'/>
      <mass value='0.2'/>
      <desc Eng='Thigh'/>
    </cuboid>
    <cuboid>
      <ID value='17'/>
      <pos x='0' y='0.03' z='0'/>
      <size x='0.04' y='0.04' z='0.1'/>
      <mass value='0.15'/>
      <desc Eng='Shank'/>
    </cuboid>
  </solids>
  <articulations>
    <joint>
      <ID value='1'/>
      <pos x='0' y='0.03' z='0.16'/>
      <axis x='1' y='0' z='0'/>
      <axis2 x='0' y='1' z='0'/>
      <connect B1='6' B2='7'/>
      <limits Min='-30' Max='45'/>
      <limits2 Min='-60' Max='90'/>
      <type value='Universal'/>
      <desc Eng='Hip'/>
    </joint>
    <joint>
      <ID value='0'/>
      <pos x='0' y='0.03' z='0.05'/>
      <axis x='0' y='1' z='0'/>
      <connect B1='7' B2='17'/>
      <limits Min='-98' Max='32'/>
      <type value='Hinge'/>
      <torque Max='1.5'/>
      <speed Max='281'/>
      <desc Pt='Joelho Esq'/>
      <desc Eng='Left Knee'/>
    </joint>
  </articulations>
</robot>
"""


def humanoid_part() -> Part:
    """Returns trunk, thigh and shank of one leg."""
    rad = math.radians
    return Part("sample").add(
        Element("trunk", (Box(size=(0.082, 0.102, 0.137)),), mass=0.635),
        Element("thigh", (Box(size=(0.04, 0.04, 0.1)),), mass=0.2),
        Element("shank", (Box(size=(0.04, 0.04, 0.1)),), mass=0.15),
        Joint(
            "hip", "universal", "trunk", "thigh", at=Pose((0.0, 0.03, -0.09)),
            at_to=Pose((0.0, 0.0, 0.06)), axis=(1, 0, 0), axis2=(0, 1, 0),
            range=((rad(-30), rad(45)), (rad(-60), rad(90))),
        ),
        Joint(
            "left_knee", "hinge", "thigh", "shank", at=Pose((0.0, 0.0, -0.05)),
            at_to=Pose((0.0, 0.0, 0.05)), axis=(0, 1, 0), range=(rad(-98), rad(32)),
            max_effort=1.5, max_speed=rad(281),
        ),
    )  # fmt: skip


MJCF = """<mujoco model="sample">
  <compiler angle="radian"/>
  <default><geom density="500"/></default>
  <worldbody>
    <body name="base" pos="0 0 0.5">
      <geom type="box" size="0.1 0.05 0.025"/>
      <body name="arm" pos="0.1 0 0" quat="0.6 0 0.8 0">
        <joint name="turn" axis="0 1 0" range="-1.25 0.75" damping="0.125"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/>
        <body name="slide" pos="0 0 0.3">
          <joint name="push" type="slide" axis="1 0 0" range="0 0.5"/>
          <geom size="0.03" pos="0.1 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def mjcf_part() -> Part:
    """Returns its part."""
    turned = Pose.of((0.1, 0.0, 0.0), quat=(0.6, 0.0, 0.8, 0.0))
    arm = Capsule(radius=0.02, length=0.3, at=Pose.of((0.0, 0.0, 0.15)))
    ball = Sphere(radius=0.03, at=Pose.of((0.1, 0.0, 0.0)))
    return Part("sample").add(
        Element("base", (Box(size=(0.2, 0.1, 0.05)),), density=500.0),
        Element("arm", (arm,), density=500.0),
        Element("slide", (ball,), density=500.0),
        Joint(
            "turn", "hinge", "base", "arm", at=turned, axis=(0.0, 1.0, 0.0), range=(-1.25, 0.75),
            damping=0.125,
        ),
        Joint(
            "push", "slider", "arm", "slide", at=Pose.of((0.0, 0.0, 0.3)), axis=(1.0, 0.0, 0.0),
            range=(0.0, 0.5),
        ),
    )  # fmt: skip


def step_file() -> str:
    """Writes two boxes of an assembly, in millimeters."""
    size = tuple(1000 * c for c in SIZE)
    return assembly("pair", {"low": (size, (0, 0, 0)), "top": (size, (0, 0, 1000))})


def step_part() -> Part:
    """Returns both boxes, in meters."""
    part = Part("sample").add(Element("sample"))
    for name, height in (("low", 0.0), ("top", 1.0)):
        at = Pose((0.0, 0.0, height))
        part.add(Element(name, (Box(size=SIZE),), on="sample", at=at, density=1000.0))
    return part
