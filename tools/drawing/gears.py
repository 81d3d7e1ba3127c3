"""Gears: a small gearbox as a drawing program would give it, a glTF file with named nodes."""

import math
from pathlib import Path

import linkwork as lw
from linkwork.geometry import Pose

#: Size of a tooth [m]: the pitch diameter of a wheel per tooth.
MODULE = 0.004


def write_gearbox(path: Path) -> None:
    """Writes a plate with two wheels that mesh, on their shafts."""
    part = lw.Part("gearbox")
    plate = lw.Box((0.20, 0.13, 0.012), at=Pose.of((0.014, 0.0, 0.006)))
    part.add(lw.Element("plate", (plate,), density=2700.0, color="#5c6670"))
    wheels = (("wheel", 24, -0.024, "#e0a64a"), ("pinion", 12, 0.048, "#3c8a97"))
    for name, teeth, x, color in wheels:
        mesh = path.with_name(f"{name}.stl")
        mesh.write_text(_wheel(teeth, 0.016, shift=0.5 if name == "pinion" else 0.0))
        shaft = lw.Cylinder(0.008, 0.046, at=Pose.of((0.0, 0.0, 0.006)), color="#d9dde2")
        shapes = (lw.Mesh(str(mesh)), shaft)
        at = Pose.of((x, 0.0, 0.022))
        part.add(lw.Element(name, shapes, on="plate", at=at, density=7800.0, color=color))
    lw.save(part, path)


def _wheel(teeth: int, width: float, *, shift: float) -> str:
    """A toothed wheel about z as STL text; ``shift`` turns it by a share of a tooth."""
    radii = [MODULE * (teeth / 2.0 + more) for more in (-1.15, 1.0, 1.0, -1.15)]
    shares = (-0.30, -0.13, 0.13, 0.30)
    rim = [
        (radius * math.cos(angle), radius * math.sin(angle))
        for tooth in range(teeth)
        for radius, share in zip(radii, shares, strict=True)
        for angle in [(tooth + share + shift) * math.tau / teeth]
    ]
    low, high = -width / 2.0, width / 2.0
    lines = ["solid wheel"]
    for here, there in zip(rim, [*rim[1:], rim[0]], strict=True):
        a, b, c, d = (*here, low), (*there, low), (*there, high), (*here, high)
        tops = [((0.0, 0.0, high), d, c), ((0.0, 0.0, low), b, a)]
        for face in [(a, b, c), (a, c, d), *tops]:
            lines += ["facet normal 0 0 0", "outer loop"]
            lines += [f"vertex {x:.6f} {y:.6f} {z:.6f}" for x, y, z in face]
            lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid wheel", ""])
