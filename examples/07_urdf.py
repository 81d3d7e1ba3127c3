"""A robot from URDF: read it, give it drives, put it into a scene, and write it back.

python examples/07_urdf.py
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork.model.parts import Spec

LINK = """
  <link name="{name}">
    <inertial>
      <origin xyz="0 0 {half}"/> <mass value="0.8"/>
      <inertia ixx="0.006" iyy="0.006" izz="0.0006" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual>
      <origin xyz="0 0 {half}"/>
      <geometry> <cylinder radius="0.025" length="0.28"/> </geometry>
      <material name="{name}"> <color rgba="{color} 1"/> </material>
    </visual>
    <collision>
      <origin xyz="0 0 {half}"/>
      <geometry> <cylinder radius="0.025" length="0.28"/> </geometry>
    </collision>
  </link>
"""
JOINT = """
  <joint name="{name}" type="revolute">
    <parent link="{parent}"/> <child link="{child}"/>
    <origin xyz="0 0 {height}"/> <axis xyz="0 1 0"/>
    <limit lower="-2.2" upper="2.2" effort="15" velocity="2"/>
  </joint>
"""
URDF = (
    '<robot name="two_links">'
    + LINK.format(name="stand", half=0.14, color="0.36 0.40 0.45")
    + LINK.format(name="upper_arm", half=0.14, color="0.85 0.87 0.90")
    + LINK.format(name="fore arm", half=0.14, color="0.88 0.65 0.29")
    + JOINT.format(name="shoulder", parent="stand", child="upper_arm", height=0.28)
    + JOINT.format(name="elbow", parent="upper_arm", child="fore arm", height=0.28)
    + "</robot>"
)


def robot(file: Path = Path("two_links.urdf")) -> lw.Part:
    """The robot with a servo on each joint: URDF knows limits, but no drives."""
    file.write_text(URDF, encoding="utf-8")
    part = lw.load_part(file)
    for name, joint in part.joints.items():
        drive = Spec("actuator", "servo", params={"kp": 150.0, "kd": 8.0})
        part.joints[name] = replace(joint, drive=drive)
    return part


def scene(part: lw.Part) -> lw.Scene:
    made = lw.Scene("bench").place(part, name="arm")
    return made.add(lw.Element("ground", (lw.Plane((4.0, 4.0)),)))


def main() -> None:
    part = robot()
    print(f"{part.name}: elements {list(part.elements)}, joints {list(part.joints)}")
    print(f"renamed, for names hold no blanks: {part.aliases}")

    # Where the fore arm stands, and how it moves with the joints, at any posture.
    world = lw.compile_scene(scene(part))
    posture = np.array([0.5, 1.0])
    pose = lw.forward(world, posture)[world.body("arm/fore_arm")]
    speeds = lw.jacobian(world, posture, "arm/fore_arm") @ (1.0, 0.0)
    print(f"fore arm at {np.round(pose[:3], 4)} m")
    print(f"1 rad/s in the shoulder moves it at {np.round(speeds[:3], 4)} m/s")

    with lw.Session(scene(part)) as session:
        session["arm/shoulder.target"], session["arm/elbow.target"] = posture
        session.run(2.0)
        print(f"shoulder at {session['arm/shoulder.angle']:.3f} rad of {posture[0]} wanted")

    # Back to URDF: what the format cannot say is listed.
    for note in lw.save(part, "again.urdf"):
        print(note)


if __name__ == "__main__":
    main()
