"""``linkwork fit``: finds a servo's parameters from a measured response, or lays one over a run."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkwork.cli.outputs import Overwrite, check_outputs

if TYPE_CHECKING:
    from linkwork.actuators.fit import Fit
    from linkwork.cli.curves import Curve
    from linkwork.cli.measured import Measured

#: What can be named in place of a file: the step of document 004.
SHIPPED = {"004": "step_004.csv"}


def fit(
    file: Annotated[
        str,
        typer.Argument(
            metavar="CSV", help="What was measured: time, angle, target. 004: the document's step."
        ),
    ],
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Ready data to start from, or a servo's file.")
    ] = "AX-12",
    free: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="What is to be found, with commas; speed and effort if absent."
        ),
    ] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="What is known, in SI. Repeatable."),
    ] = None,
    inertia: Annotated[
        float, typer.Option(metavar="KGM2", help="Of what the servo turned.")
    ] = 0.00232,
    load: Annotated[
        float, typer.Option(metavar="NM", help="Constant torque that pulled back.")
    ] = 0.0,
    angle: Annotated[str, typer.Option(metavar="COLUMN", help="What was measured.")] = "",
    target: Annotated[str, typer.Option(metavar="COLUMN", help="What was wanted.")] = "",
    unit: Annotated[
        str, typer.Option(metavar="deg|rad", help="Of angles whose heading says none.")
    ] = "",
    to: Annotated[
        float | None, typer.Option(metavar="DEGREES", help="The step, where no column says it.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="TOML", help="Write the servo, for drives to name.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="SVG", help="Write both curves as a picture.")
    ] = None,
    overwrite: Overwrite = False,
    over: Annotated[
        str, typer.Option(metavar="SCENE", help="Fit nothing: lay the log over a run of this.")
    ] = "",
) -> None:
    """Finds the parameters with which a servo's response is nearest to what was measured.

    Prints each number with its 95 % interval, the error left, and both curves. With --over the
    log's targets drive a scene instead, and what was measured is compared with what it does.

    Examples:
      $ linkwork fit 004 --free max_speed,max_acceleration,slope --set supply=9.6
      $ linkwork fit step.csv --model XM430-W350 --inertia 0.004 --out mine.toml
      $ linkwork fit log.csv --over cell.toml
    """
    from linkwork.cli.measured import ANGLES, read_measured

    if unit and unit not in ANGLES:
        raise typer.BadParameter(f"say one of {', '.join(ANGLES)}.", param_hint="--unit")
    if str(out) == "-":
        raise typer.BadParameter("name a file: the screen gets the table.", param_hint="--out")
    source = _find(file)
    check_outputs([out, picture], overwrite=overwrite, sources=[source, model, over])
    log = read_measured(source, unit)
    if over:
        from linkwork.cli.overlay import lay_over

        lay_over(log, over, picture)
        return
    if not inertia > 0.0:
        raise typer.BadParameter("it must be above 0.", param_hint="--inertia")
    from linkwork.cli.ready import getting_ready

    params = _start(model, set_ or [])
    wanted = log.target(target)
    measured = log.angle(angle)
    if wanted is None or to is not None:
        import numpy as np

        end = float(measured[-1]) if to is None else math.radians(to)
        wanted = np.full(len(measured), end)
    names = [name.strip() for name in free.split(",") if name.strip()] or _usual(params)
    with getting_ready():
        from linkwork.actuators.fit import fit_servo
    with _progress() as tell:
        found = fit_servo(
            log.time, measured, wanted, params, names, inertia=inertia, load=load, tell=tell
        )
    _tell(log, found, _curves(log, found, measured, wanted), picture)
    if out is not None:
        _write(out, log, model, found)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[float], object] | None]:
    """Shows on a terminal how far the fit is: long logs take minutes."""
    from linkwork.cli.screen import stderr

    out = stderr()
    if not out.is_terminal:
        yield None
        return
    with out.status("Fitting …") as status:
        yield lambda share: status.update(f"Fitting … {100.0 * share:.0f} %")


def _find(name: str) -> Path:
    if name in SHIPPED and not Path(name).exists():
        from linkwork.actuators.smart_models import FOLDER

        return FOLDER / SHIPPED[name]
    return Path(name)


def _usual(params: dict[str, Any]) -> list[str]:
    """What most steps tell: speed, effort, stiffness and friction."""
    held = "slope" if params.get("loop") == "compliance" else "kp"
    return ["free_speed", "stall_effort", held, "friction"]


def _start(model: str, given: list[str]) -> dict[str, Any]:
    from linkwork.actuators.smart_models import with_model
    from linkwork.actuators.smart_params import without_effect
    from linkwork.errors import FormatError
    from linkwork.parts import Spec
    from linkwork.units import split_unit

    word = "file" if model.endswith(".toml") else "model"
    params = with_model(Spec("actuator", "smart_servo", "servo", {word: model})).params
    params.pop(word)
    for each in given:
        key, _, value = each.partition("=")
        name, scale = split_unit(key)
        try:
            params[name] = float(value) * scale
        except ValueError:
            if name not in ("loop", "encoder"):
                raise FormatError(f"--set {each}: NAME=VALUE, a number, is expected.") from None
            params[name] = value
    idle = without_effect(params)
    for each in given:
        name = split_unit(each.partition("=")[0])[0]
        if name in idle:
            raise FormatError(f"--set {each}: {name} does nothing here: {idle[name]}.")
    return params


def _curves(log: Measured, found: Fit, measured: Any, wanted: Any) -> list[Curve]:
    from linkwork.cli.curves import Curve

    time = log.time - log.time[0]
    return [
        Curve("measured", time, measured * 180.0 / math.pi, dots=True),
        Curve("fitted", time, found.angle * 180.0 / math.pi),
        Curve("wanted", time, wanted * 180.0 / math.pi),
    ]


def _tell(log: Measured, found: Fit, curves: list[Curve], picture: Path | None) -> None:
    from linkwork.cli.curves import in_characters, write_svg
    from linkwork.cli.screen import stdout

    screen = stdout()
    rows = []
    for each in found.found:
        scale, unit = in_degrees(each.name)
        remark = "at the end of what is allowed" if each.at_bound else ""
        if math.isinf(each.deviation):
            remark = "the measurement does not tell it"
        rows.append((
            each.name, f"{each.value * scale:.5g}", f"± {each.deviation * scale:.2g}", unit, remark,
        ))  # fmt: skip
    screen.rows(("parameter", "found", "95 %", "unit", ""), rows)
    turn = 180.0 / math.pi
    screen.say(
        f"Error left: {found.rms * turn:.3g}° rms, {found.worst * turn:.3g}° at most, in "
        f"{len(log.time)} rows; {found.first_rms * turn:.3g}° rms before."
    )
    for line in in_characters(curves, "deg"):
        screen.say(line)
    if picture is not None:
        write_svg(picture, f"{log.file.name}: measured and fitted", curves, "°")


def in_degrees(name: str) -> tuple[float, str]:
    """Factor and unit for people of a parameter that is fitted."""
    turn = 180.0 / math.pi
    if name in ("free_speed", "max_speed"):
        return turn, "deg/s"
    if name == "max_acceleration":
        return turn, "deg/s²"
    if name == "backlash" or name.startswith(("slope", "margin")):
        return turn, "deg"
    units = {
        "stall_effort": "N m", "friction": "N m", "damping": "N m s/rad", "inertia": "kg m²",
        "delay": "s", "load": "N m", "kp": "1/rad", "ki": "1/(rad s)", "kd": "s/rad",
        "rotor_inertia": "kg m²", "supply": "V", "voltage": "V", "stall_current": "A",
        "cogging": "N m", "supply_resistance": "Ω", "speed_filter": "s",
    }  # fmt: skip
    return 1.0, units.get(name, "")


def _write(out: Path, log: Measured, model: str, found: Fit) -> None:
    """Writes the servo as a file that a drive can name."""
    from linkwork.actuators.smart_models import FORM
    from linkwork.errors import FormatError

    known = {
        each.name: f"# fitted, ± {each.deviation:.2g} (95 %)"
        for each in found.found
        if math.isfinite(each.deviation)
    }
    for pair in ("slope", "margin"):
        if pair in known:
            known |= {f"{pair}_{way}": known[pair] for way in ("cw", "ccw")}
    turn = 180.0 / math.pi
    lines = [
        f'format = "{FORM}"', f'name = "{out.stem}"', f'title = "Fitted to {log.file.name}"',
        "sources = [",
        f'  "linkwork fit {log.file.name}, from {model}, turning {found.inertia:g} kg m²: '
        f'{found.rms * turn:.3g} degrees rms, {found.worst * turn:.3g} at most.",',
        "]", "", "[parameters]",
    ]  # fmt: skip
    for name, value in found.params.items():
        said = f'"{value}"' if isinstance(value, str) else repr(value)
        lines.append(f"{name} = {said}  {known.get(name, '')}".rstrip())
    try:
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{out} cannot be written: {error.strerror}.") from None
