"""``linkwork new``: starts a robot, a part or a control program of your own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from linkwork.cli.adopt import Answers


class Kind(StrEnum):
    """What can be started."""

    robot = "robot"
    part = "part"
    program = "program"


def new(
    kind: Annotated[
        Kind | None,
        typer.Argument(
            help="robot (part, scene and program), part, or program.", show_default=False
        ),
    ] = None,
    name: Annotated[str, typer.Argument(help="Its name.", show_default=False)] = "",
    folder: Annotated[
        Path | None, typer.Option("--in", metavar="FOLDER", help="Where to; here if not given.")
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
        float | None, typer.Option(help="With --from: in kg/m³.", show_default=False)
    ] = None,
    mass: Annotated[
        float | None, typer.Option(help="With --from: of all together, in kg.", show_default=False)
    ] = None,
    base: Annotated[str, typer.Option(help="With --from: the element that is the base.")] = "",
    mount: Annotated[
        str, typer.Option(help="With --from: the anchor to attach it by; bottom, top, x,y,z, none.")
    ] = "",
    flange: Annotated[str, typer.Option(help="With --from: the anchor where others fit.")] = "",
    range_: Annotated[
        list[str] | None,
        typer.Option(
            "--range", metavar="JOINT=LO,HI", help="With --from: a range, in degrees or m."
        ),
    ] = None,
    part: Annotated[str, typer.Option(help="With --from: which part of a scene.")] = "",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="With --from: ask nothing, take what is offered.")
    ] = False,
) -> None:
    """Starts a robot of your own: files that run at once, to be changed.

    A robot is three files: the part, a scene with it, and the program that drives it. From a
    model (STL, OBJ, glTF, STEP, URDF, MJCF, SDF …) comes a part with anchors; what the model's
    file does not say is asked for, unless an option says it.

    Examples:
      $ linkwork new robot swing
      $ linkwork new part finger --kit mine
      $ linkwork new program dance
      $ linkwork new --from bracket.stl --unit mm --density 2700 --yes
    """
    import shlex

    from linkwork.cli import templates
    from linkwork.cli.screen import stdout
    from linkwork.errors import FormatError
    from linkwork.parts.kit import own_kit
    from linkwork.parts.names import check_name

    if kit and folder is not None:
        raise typer.BadParameter("a kit has its own folder.", param_hint="--in")
    if model:
        from linkwork.cli.adopt import Answers

        if kind not in (None, Kind.part):
            raise typer.BadParameter("a model becomes a part.", param_hint="--from")
        answers = Answers(
            unit, up, density, mass, base, mount, flange, _ranges(range_ or []), part, yes
        )
        _from_model(model, name, own_kit(kit) if kit else folder or Path(), kit, answers)
        return
    if kind is None or not name:
        raise typer.BadParameter("say robot, part or program and a name, or --from a model.")
    check_name(name, kind.value)
    if kit:
        folder = own_kit(kit)
    folder = folder or Path()
    texts = templates.texts(kind.value, name)
    for file in texts:
        if (folder / file).exists():
            raise FormatError(f"{folder / file} exists; nothing was written.")
    out = stdout()
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
        out.say(f"Wrote {folder / file}")
    at = f"{kit}/{name}" if kit else str(folder / f"{name}.toml")
    if kind is Kind.robot:
        at = f"{kit}/{name}_scene" if kit else str(folder / f"{name}_scene.toml")
        out.say(f"Run it: linkwork run {shlex.quote(at)}")
    elif kind is Kind.part:
        named = at if kit else f"./{name}.toml"
        out.say(f'Use it: linkwork run {shlex.quote(at)}, or part = "{named}" in a file.')
    else:
        program = shlex.quote(str(folder / f"{name}.py"))
        out.say(f"Use it: linkwork run gripper/arm --program {program}")


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


def _from_model(model: str, name: str, folder: Path, kit: str, answers: Answers) -> None:
    """Writes a part made from a model, with copies of its meshes beside it."""
    import math
    import shlex

    from linkwork.cli.adopt import adopt
    from linkwork.cli.screen import stdout
    from linkwork.errors import FormatError
    from linkwork.formats import save
    from linkwork.formats.prepare import PLACES, UNITS, gathered
    from linkwork.parts.names import check_name, plain

    for given, allowed, option in (
        (answers.unit, tuple(UNITS), "--unit"),
        (answers.up, ("x", "y", "z"), "--up"),
    ):
        if given and given not in allowed:
            raise typer.BadParameter(f"say one of {', '.join(allowed)}.", param_hint=option)
    for given, option in ((answers.mount, "--mount"), (answers.flange, "--flange")):
        if given and given not in PLACES and given.count(",") != 2:
            raise typer.BadParameter(
                f"say one of {', '.join(PLACES)}, or x,y,z.", param_hint=option
            )
    if answers.density is not None and answers.mass is not None:
        raise typer.BadParameter("say --density or --mass, not both.", param_hint="--mass")
    for given, option in ((answers.density, "--density"), (answers.mass, "--mass")):
        if given is not None and not 0.0 < given < math.inf:
            raise typer.BadParameter("say a number above 0.", param_hint=option)
    name = check_name(name, "part") if name else plain(Path(model).name.partition(".")[0])
    target = folder / f"{name}.toml"
    if target.exists():
        raise FormatError(f"{target} exists; nothing was written.")
    out = stdout()
    made = adopt(model, answers, out)
    folder.mkdir(parents=True, exist_ok=True)
    made = gathered(made, folder, name)
    made.name = name
    for note in save(made, target):
        out.say(note, lead="note:")
    mass = sum(element.mass_properties().mass for element in made.elements.values())
    anchors = ", ".join(made.anchors) or "none"
    count = len(made.elements)
    elements = "1 element" if count == 1 else f"{count} elements"
    out.say(f"Wrote {target}: {elements}, {mass:.4g} kg, anchors {anchors}.")
    at = f"{kit}/{name}" if kit else str(target)
    out.say(f"Use it: linkwork run {shlex.quote(at)}")
