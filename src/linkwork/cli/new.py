"""``linkwork new``: starts a part, a scene or a control program of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from linkwork.errors import FormatError, suggestion
from linkwork.parts.names import plain

_PART = """\
format = "linkwork/part 1"
name = "{name}"

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
name = "tip"                 # where another part fits
on = "link"
at = {{ xyz = [0, 0, 0.30] }}
"""
_SCENE = """\
format = "linkwork/scene 1"
name = "{name}"
step = 0.002

[[element]]
name = "ground"
shape = {{ plane = {{ size = [4, 4] }} }}

[[part]]
name = "robot"
part = "./{part}"

[[agent]]
name = "program"
type = "program"
file = "{program}"
on = "robot"
period = 0.01
"""
_PROGRAM = '''\
"""A control program: init() once, loop() every period, listeners when signals move."""

import math

from linkwork import Control


class Swing(Control):
    def init(self):
        self.joint("J1").on_change(self.moved, by=math.radians(10))

    def loop(self):
        self.joint("J1").target = 0.5 * math.sin(2 * math.pi * 0.5 * self.time)

    def moved(self, angle):
        self.say(f"J1 is at {{math.degrees(angle):.0f}} degrees.")
'''
KINDS = ("robot", "part", "program")


def new(
    kind: Annotated[
        str, typer.Argument(help="robot (part, scene and program), part, or program.")
    ],
    name: Annotated[str, typer.Argument(help="Its name.")],
    folder: Annotated[Path, typer.Option("--in", help="Folder to write into.")] = Path(),
) -> None:
    """Starts a robot of your own: files that run at once, to be changed.

    Example: linkwork new robot swing, then linkwork run swing_scene.toml --clock real
    """
    if kind not in KINDS:
        raise FormatError(f"there is no kind {kind!r}.", hint=suggestion(kind, KINDS, kind="kinds"))
    stem = plain(name)
    part, scene, program = f"{stem}.toml", f"{stem}_scene.toml", f"{stem}.py"
    texts = {part: _PART.format(name=stem)}
    if kind == "robot":
        texts[scene] = _SCENE.format(name=stem, part=part, program=program)
    if kind == "program":
        texts = {}
    if kind != "part":
        texts[program] = _PROGRAM.format()
    folder.mkdir(parents=True, exist_ok=True)
    for file in texts:
        if (folder / file).exists():
            raise FormatError(f"{folder / file} exists; nothing was written.")
    out = Console(highlight=False)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
        out.print(f"Wrote {folder / file}", markup=False)
    if kind == "robot":
        out.print(f"Run it: linkwork run {folder / scene} --clock real --watch 'robot/*'")
