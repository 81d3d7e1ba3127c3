"""Templates: the files that ``linkwork new`` writes."""

from __future__ import annotations

PART = """\
format = "linkwork/part 1"
name = "{name}"
title = "A link on a hinge"

[[element]]
name = "base"
shape = {{ cylinder = {{ radius = 0.05, length = 0.10 }}, at = {{ xyz = [0, 0, 0.05] }} }}
mass = 1.0

[[element]]
name = "link"
shape = {{ box = {{ size = [0.04, 0.04, 0.30] }}, at = {{ xyz = [0, 0, 0.15] }} }}
mass = 0.5

[[joint]]
name = "J1"
type = "hinge"               # hinge slider ball universal cylindrical screw planar rail fixed free
from = "base"
to = "link"
at = {{ xyz = [0, 0, 0.10] }}
axis = [0, 1, 0]
range_deg = [-90, 90]
max_speed_deg = 180
max_effort = 10
drive = {{ type = "servo", kp = 60, kd = 3 }}

[[anchor]]
name = "tip"                 # where another part fits: [[attach]] part = "…", to = "tip"
on = "link"
at = {{ xyz = [0, 0, 0.30] }}
"""

SCENE = """\
format = "linkwork/scene 1"
name = "{name}"
title = "{name} on the ground, driven by {name}.py"
step = 0.002

[[element]]
name = "ground"
shape = {{ plane = {{ size = [4, 4] }} }}

[[part]]
name = "robot"
part = "./{name}.toml"

[[agent]]
name = "program"
type = "program"
file = "{name}.py"
on = "robot"
period = 0.01
"""

PROGRAM = '''\
"""A control program: init() once, loop() every period, listeners when signals move."""

import math

from linkwork import Control


class Swing(Control):
    def init(self):
        self.joint("J1").on_change(self.moved, by=math.radians(10))

    def loop(self):
        self.joint("J1").target = 0.5 * math.sin(2 * math.pi * 0.5 * self.time)

    def moved(self, angle):
        self.say(f"J1 is at {math.degrees(angle):.0f} degrees.")
'''


def texts(kind: str, name: str) -> dict[str, str]:
    """Files by name: ``kind`` is "robot", "part" or "program"."""
    found: dict[str, str] = {}
    if kind != "program":
        found[f"{name}.toml"] = PART.format(name=name)
    if kind == "robot":
        found[f"{name}_scene.toml"] = SCENE.format(name=name)
    if kind != "part":
        found[f"{name}.py"] = PROGRAM
    return found
