"""``linkwork step``: a joint's response to a step of its target, in numbers and as a curve."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.output_files import Overwrite, check_outputs
from linkwork.core.atomic import whole_file


def step(
    what: Annotated[str, typer.Argument(metavar="SCENE", help="A scene or part, or a kit's name.")],
    joint: Annotated[str, typer.Option(metavar="NAME", help="The joint whose target steps.")],
    by: Annotated[
        float, typer.Option(metavar="DEGREES", help="Size of the step; in mm for a slider.")
    ] = 50.0,
    seconds: Annotated[float, typer.Option("--for", metavar="SECONDS", help="How long.")] = 1.0,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SIGNAL=VALUE", help="Set a gain or limit. Repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write time, target and angle.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(metavar="SVG", help="Write the curve.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Steps the target of one joint and prints the response: rise, overshoot, settling, energy.

    Examples:
      $ linkwork step gripper/arm --joint arm/J2 --by 20
      $ linkwork step cell.toml --joint arm/elbow --set arm/elbow.kp=8 --csv step.csv
    """
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.curves import Curve, in_characters, write_svg
    from linkwork.cli.run import check_number
    from linkwork.cli.run_session import set_signal
    from linkwork.cli.scene_argument import load_showing_notes, scene_to_run
    from linkwork.cli.screen import show_withheld, stdout
    from linkwork.studies import step_response

    check_number("--for", seconds)
    check_outputs([out, picture], overwrite=overwrite, sources=[what])
    thing, _ = load_showing_notes(what)
    scene, _ = scene_to_run(thing, what, free=False)
    with show_compiling():
        from linkwork.project.trust import is_trusted
        from linkwork.session.session import Session

        session = Session(scene, watch=False, programs=is_trusted)
    show_withheld(session)
    with session:
        for text in set_ or []:
            set_signal(session, text)
        angle = session.world.dof_is_angle(session.world.single_dof(joint))
        scale = math.pi / 180.0 if angle else 1e-3
        found = step_response(session, joint, by * scale, seconds)
    unit = "deg" if angle else "mm"
    screen = stdout()
    settled = f"{found.settling:.4g} s" if found.settling is not None else "not within the time"
    rise = f"{found.rise:.4g} s" if found.rise is not None else "does not get there"
    rows = [
        ("rise, 10 to 90 %", rise),
        ("settled within 2 %", settled),
        ("overshoot", f"{100.0 * found.overshoot:.3g} %"),
        ("error at the end", f"{found.error / scale:.4g} {unit}"),
        ("highest speed", f"{found.fastest / scale:.4g} {unit}/s"),
        ("largest effort", f"{found.effort:.4g} {'N m' if angle else 'N'}"),
    ]
    if found.energy is not None:
        rows.append(("energy", f"{found.energy:.4g} J"))
    screen.rows(("", ""), rows)
    curves = [
        Curve("actual", found.time, found.actual / scale),
        Curve("wanted", found.time, found.wanted / scale),
    ]
    for line in in_characters(curves, unit):
        screen.print_line(line)
    if picture is not None:
        write_svg(picture, f"{joint}: a step of {by:g} {unit}", curves, f" {unit}")
    if out is not None:
        word = "rad" if angle else "m"
        lines = [f"time [s],{joint}.target [{word}],{joint}.{'angle' if angle else 'position'} "
                 f"[{word}]"]  # fmt: skip
        rows_ = zip(found.time, found.wanted, found.actual, strict=True)
        lines += [f"{t:.9g},{w!r},{a!r}" for t, w, a in ((float(x) for x in row) for row in rows_)]
        with whole_file(out) as part:
            part.write_text("\n".join(lines) + "\n", encoding="utf-8")
