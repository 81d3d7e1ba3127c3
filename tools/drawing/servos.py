"""The pictures of the page about servos: a fitted step, and energy per joint."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from linkwork.cli.curves import Curve, write_svg
from linkwork.cli.measured_log import read_measured_log
from linkwork.components.actuators.fit import fit_servo
from linkwork.components.actuators.smart_params import FOLDER, servo_models
from linkwork.formats import load_scene
from linkwork.model.parts import Spec
from linkwork.session.session import Session

TURN = 180.0 / math.pi


def write_step(path: Path) -> None:
    """Lima et al., figure 7: the reference and the fitted servo."""
    log = read_measured_log(FOLDER / "lima_step.csv")
    base = servo_models()["AX-12"].params | {"supply": 9.6}
    free = ["max_speed", "max_acceleration", "slope"]
    target = log.target()
    assert target is not None
    found = fit_servo(log.time, log.angle(), target, base, free, inertia=0.00232)
    curves = [
        Curve("stated", log.time, log.angle() * TURN, dots=True),
        Curve("fitted AX-12", log.time, found.angle * TURN),
        Curve("wanted", log.time, target * TURN),
    ]
    write_svg(path, f"Lima et al., figure 7: {found.rms * TURN:.2f}° rms", curves, "°")


def write_energy(path: Path) -> None:
    """What the servos of the humanoid take while it greets, as bars by joint."""
    scene = load_scene("bioloid/fixed")
    for placement in scene.parts.values():
        for joint in placement.part.joints.values():
            if joint.drive is not None:
                drive = Spec("actuator", "smart_servo", "", {"model": "AX-12", "supply": 9.6})
                object.__setattr__(joint, "drive", drive)
    with Session(scene, watch=False) as session:
        session.run(7.0)
        names = [s.name.removesuffix(".energy") for s in session.signals
                 if s.name.endswith(".energy") and "/" in s.name]  # fmt: skip
        meters = ("energy_gross", "heat", "work_gross")
        rows = {n: [session[f"{n}.{meter}"] for meter in meters] for n in names}
        total = session["robot.energy_gross"]
    _bars(path, rows, f"The humanoid greets for 7 s with AX-12 servos: {total:.1f} J")


def _bars(path: Path, rows: dict[str, list[float]], title: str) -> None:
    colors = ("#c3d3e2", "#b45309", "#0b7a57")
    names = ("from the supply", "heat of the windings", "work on the joints")
    height, left, wide = 22, 210, 640
    most = max(max(values) for values in rows.values())
    made = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {70 + height * len(rows)}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="960" height="{70 + height * len(rows)}" fill="#fafbfc"/>',
        f'<text x="24" y="26" fill="#1a1e23" font-weight="600">{title}</text>',
    ]
    for n, (color, name) in enumerate(zip(colors, names, strict=True)):
        x = left + 190 * n
        made.append(f'<rect x="{x}" y="38" width="12" height="12" fill="{color}"/>')
        made.append(f'<text x="{x + 18}" y="49" fill="#4a545f">{name}</text>')
    for n, (name, values) in enumerate(rows.items()):
        y = 60 + height * n
        made.append(f'<text x="{left - 10}" y="{y + 14}" fill="#1a1e23" text-anchor="end">'
                    f"{name.partition('/')[2]}</text>")  # fmt: skip
        for k, (value, color) in enumerate(zip(values, colors, strict=True)):
            width = float(np.clip(value / most, 0.0, 1.0)) * wide
            y0, high = (y + 2, 18) if k == 0 else (y + 4 + 7 * (k - 1), 6)
            made.append(f'<rect x="{left}" y="{y0}" width="{width:.1f}" height="{high}" '
                        f'fill="{color}"/>')  # fmt: skip
        made.append(f'<text x="{left + values[0] / most * wide + 8:.1f}" y="{y + 15}" '
                    f'fill="#4a545f">{values[0]:.2f} J</text>')  # fmt: skip
    path.write_text("\n".join([*made, "</svg>"]) + "\n", encoding="utf-8")
