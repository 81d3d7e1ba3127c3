"""``linkwork new``: creates a robot, a part or a control program."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from linkwork.cli.import_wizard import WizardAnswers


class TemplateKind(StrEnum):
    """Kinds of templates."""

    robot = "robot"
    part = "part"
    program = "program"


def new(
    kind: Annotated[
        TemplateKind | None,
        typer.Argument(
            help="robot (part, scene and program), part, or program.", show_default=False
        ),
    ] = None,
    name: Annotated[str, typer.Argument(help="Its name.", show_default=False)] = "",
    folder: Annotated[
        Path | None,
        typer.Option("--in", metavar="FOLDER", help="Folder; the current one if not given."),
    ] = None,
    kit: Annotated[str, typer.Option(metavar="KIT", help="Put it into this kit of your own.")] = "",
    model: Annotated[
        str, typer.Option("--from", metavar="FILE", help="Make a part of this model.")
    ] = "",
    unit: Annotated[str, typer.Option(help="With --from: m, cm, mm or inch.")] = "",
    up: Annotated[
        str, typer.Option(help="With --from: the file's axis that is up, x, y or z.")
    ] = "",
    density: Annotated[
        float | None, typer.Option(help="With --from: density, in kg/m³.", show_default=False)
    ] = None,
    mass: Annotated[
        float | None, typer.Option(help="With --from: total mass, in kg.", show_default=False)
    ] = None,
    base: Annotated[str, typer.Option(help="With --from: the base element.")] = "",
    mount: Annotated[
        str, typer.Option(help="With --from: the anchor to attach it by; bottom, top, x,y,z, none.")
    ] = "",
    flange: Annotated[str, typer.Option(help="With --from: the anchor for other parts.")] = "",
    range_: Annotated[
        list[str] | None,
        typer.Option(
            "--range", metavar="JOINT=LO,HI", help="With --from: range of a joint, in degrees or m."
        ),
    ] = None,
    part: Annotated[str, typer.Option(help="With --from: name of a part of a scene.")] = "",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="With --from: accept all defaults without asking.")
    ] = False,
) -> None:
    """Creates a robot of your own: files that run at once, to be changed.

    A robot is three files: the part, a scene with it, and the program that drives it. From a model
    (STL, OBJ, glTF, STEP, URDF, MJCF, SDF …) comes a part with anchors; data missing in the model's
    file is asked for, unless given as an option.

    Examples:
      $ linkwork new robot swing
      $ linkwork new part finger --kit mine
      $ linkwork new program dance
      $ linkwork new --from bracket.stl --unit mm --density 2700 --yes
    """
    import shlex

    from linkwork.cli.screen import stdout
    from linkwork.model.parts.kit import user_kit
    from linkwork.model.parts.spec import check_name

    if kit and folder is not None:
        raise typer.BadParameter("a kit has its own folder.", param_hint="--in")
    if model:
        from linkwork.cli.import_wizard import WizardAnswers

        if kind not in (None, TemplateKind.part):
            raise typer.BadParameter("a model becomes a part.", param_hint="--from")
        answers = WizardAnswers(
            unit, up, density, mass, base, mount, flange, _ranges(range_ or []), part, yes
        )
        _from_model(model, name, user_kit(kit) if kit else folder or Path(), kit, answers)
        return
    if kind is None or not name:
        raise typer.BadParameter("give robot, part or program and a name, or --from a model.")
    check_name(name, kind.value)
    if kit:
        folder = user_kit(kit)
    folder = folder or Path()
    texts = template_texts(kind.value, name)
    out = stdout()
    for file in _write_new(texts, folder):
        out.print_line(f"Wrote {file}")
    at = f"{kit}/{name}" if kit else str(folder / f"{name}.toml")
    if kind is TemplateKind.robot:
        at = f"{kit}/{name}_scene" if kit else str(folder / f"{name}_scene.toml")
        out.print_line(f"Run it: linkwork run {shlex.quote(at)}")
    elif kind is TemplateKind.part:
        named = at if kit else f"./{name}.toml"
        out.print_line(f'Use it: linkwork run {shlex.quote(at)}, or part = "{named}" in a file.')
    else:
        program = shlex.quote(str(folder / f"{name}.py"))
        out.print_line(f"Use it: linkwork run gripper/arm --program {program}")


def _write_new(texts: dict[str, str], folder: Path) -> list[Path]:
    """Writes files that do not exist yet; programs among them are trusted.

    Raises:
        FormatError: If one exists, or they cannot be trusted; nothing was written then.
    """
    from linkwork.core.atomic import make_folder, replace_file
    from linkwork.core.errors import FormatError
    from linkwork.project.trust import TrustStore

    for file in texts:
        if (folder / file).exists():
            raise FormatError(f"{folder / file} exists; nothing was written.")
    store = TrustStore()
    store.entries()  # refuses a list that cannot take the new programs, before anything is written
    make_folder(folder)
    for file, text in texts.items():
        replace_file(str(folder / file), text.encode())
        if file.endswith(".py"):
            store.trust_file(folder / file)
    return [folder / file for file in texts]


def _ranges(words: list[str]) -> dict[str, tuple[float, float]]:
    """Ranges from ``JOINT=LO,HI``."""
    found: dict[str, tuple[float, float]] = {}
    for word in words:
        name, _, pair = word.partition("=")
        try:
            lo, hi = (float(number) for number in pair.split(","))
        except ValueError:
            raise typer.BadParameter(
                f"{word!r} is not of the form J1=-90,90.", param_hint="--range"
            ) from None
        if not lo < hi:
            raise typer.BadParameter(f"{word!r}: the lower end comes first.", param_hint="--range")
        found[name] = (lo, hi)
    return found


def _from_model(model: str, name: str, folder: Path, kit: str, answers: WizardAnswers) -> None:
    """Writes a part made from a model, with copies of its meshes beside it."""
    import math
    import shlex

    from linkwork.cli.import_wizard import import_model
    from linkwork.cli.screen import stdout
    from linkwork.core.atomic import make_folder
    from linkwork.core.errors import FormatError
    from linkwork.formats import save
    from linkwork.formats.import_options import ANCHOR_POSITIONS, UNITS, with_copied_meshes
    from linkwork.model.parts.spec import check_name, plain_name

    for given, allowed, option in (
        (answers.unit, tuple(UNITS), "--unit"),
        (answers.up, ("x", "y", "z"), "--up"),
    ):
        if given and given not in allowed:
            raise typer.BadParameter(f"give one of {', '.join(allowed)}.", param_hint=option)
    for given, option in ((answers.mount, "--mount"), (answers.flange, "--flange")):
        if given and given not in ANCHOR_POSITIONS and given.count(",") != 2:
            raise typer.BadParameter(
                f"give one of {', '.join(ANCHOR_POSITIONS)}, or x,y,z.", param_hint=option
            )
    if answers.density is not None and answers.mass is not None:
        raise typer.BadParameter("give --density or --mass, not both.", param_hint="--mass")
    for given, option in ((answers.density, "--density"), (answers.mass, "--mass")):
        if given is not None and not 0.0 < given < math.inf:
            raise typer.BadParameter("give a number above 0.", param_hint=option)
    name = check_name(name, "part") if name else plain_name(Path(model).name.partition(".")[0])
    target = folder / f"{name}.toml"
    if target.exists():
        raise FormatError(f"{target} exists; nothing was written.")
    out = stdout()
    made = import_model(model, answers, out)
    make_folder(folder)
    made = with_copied_meshes(made, folder, name)
    made.name = name
    for note in save(made, target):
        out.print_line(note, lead="note:")
    mass = sum(element.mass_properties().mass for element in made.elements.values())
    anchors = ", ".join(made.anchors) or "none"
    count = len(made.elements)
    elements = "1 element" if count == 1 else f"{count} elements"
    out.print_line(f"Wrote {target}: {elements}, {mass:.4g} kg, anchors {anchors}.")
    at = f"{kit}/{name}" if kit else str(target)
    out.print_line(f"Use it: linkwork run {shlex.quote(at)}")


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
        self.log(f"J1 is at {math.degrees(angle):.0f} degrees.")
'''


def template_texts(kind: str, name: str) -> dict[str, str]:
    """Files by name: ``kind`` is "robot", "part" or "program"."""
    found: dict[str, str] = {}
    if kind != "program":
        found[f"{name}.toml"] = PART.format(name=name)
    if kind == "robot":
        found[f"{name}_scene.toml"] = SCENE.format(name=name)
    if kind != "part":
        found[f"{name}.py"] = PROGRAM
    return found
