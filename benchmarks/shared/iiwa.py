"""The KUKA LBR iiwa 14 R820 as a URDF of its kinematics, which all peers can load.

Lengths and ranges are those of KUKA's data sheet: 0.36, 0.42, 0.40 and 0.126 m from the base to
shoulder, elbow, wrist and flange; ±170°, ±120° in turn, ±175° at the last joint.
"""

from __future__ import annotations

import math
from pathlib import Path

TIP = "flange"
_HEIGHTS = [0.36, 0.0, 0.42, 0.0, 0.40, 0.0, 0.0]
_AXES = ["0 0 1", "0 1 0", "0 0 1", "0 -1 0", "0 0 1", "0 1 0", "0 0 1"]
_RANGES = [170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 175.0]


def write_iiwa(path: Path) -> Path:
    """Writes the file and returns its path."""
    inertial = (
        '<inertial><mass value="1"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    lines = ['<robot name="iiwa14">', f'<link name="base">{inertial}</link>']
    parent = "base"
    for n, (height, axis, turn) in enumerate(zip(_HEIGHTS, _AXES, _RANGES, strict=True), 1):
        most = math.radians(turn)
        lines += [
            f'<link name="link{n}">{inertial}</link>',
            f'<joint name="A{n}" type="revolute"><parent link="{parent}"/><child link="link{n}"/>',
            f'<origin xyz="0 0 {height}" rpy="0 0 0"/><axis xyz="{axis}"/>',
            f'<limit lower="{-most!r}" upper="{most!r}" effort="200" velocity="2"/></joint>',
        ]
        parent = f"link{n}"
    lines += [
        f'<link name="{TIP}">{inertial}</link>',
        f'<joint name="flange_joint" type="fixed"><parent link="{parent}"/><child link="{TIP}"/>',
        '<origin xyz="0 0 0.126" rpy="0 0 0"/></joint>',
        "</robot>",
    ]
    path.write_text("\n".join(lines))
    return path
