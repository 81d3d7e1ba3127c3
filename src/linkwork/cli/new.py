"""``linkwork new``: starts a robot, a part or a control program of your own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Kind(StrEnum):
    """What can be started."""

    robot = "robot"
    part = "part"
    program = "program"


def new(
    kind: Annotated[
        Kind, typer.Argument(help="robot (part, scene and program), part, or program.")
    ],
    name: Annotated[str, typer.Argument(help="Its name.")],
    folder: Annotated[
        Path | None, typer.Option("--in", metavar="FOLDER", help="Where to; here if not given.")
    ] = None,
    kit: Annotated[str, typer.Option(metavar="KIT", help="Put it into this kit of your own.")] = "",
) -> None:
    """Starts a robot of your own: files that run at once, to be changed.

    A robot is three files: the part, a scene with it, and the program that drives it.

    Examples:
      $ linkwork new robot swing
      $ linkwork new part finger --kit mine
      $ linkwork new program dance
    """
    import shlex

    from linkwork.cli import templates
    from linkwork.cli.screen import stdout
    from linkwork.errors import FormatError
    from linkwork.parts.kit import own_kit
    from linkwork.parts.names import check_name

    if kit and folder is not None:
        raise typer.BadParameter("a kit has its own folder.", param_hint="--in")
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
