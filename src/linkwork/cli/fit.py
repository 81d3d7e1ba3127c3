"""``linkwork fit``: fits a servo's parameters to a measured response, or compares it with a run."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkwork.cli.output_files import Overwrite, check_outputs
from linkwork.core.atomic import whole_file

if TYPE_CHECKING:
    from linkwork.cli.curves import Curve
    from linkwork.cli.measured_log import MeasuredLog
    from linkwork.components.actuators.fit import Fit

#: Names accepted in place of a file: the step of Lima et al., figure 7; "004" was its old name.
SHIPPED = {"lima": "lima_step.csv", "004": "lima_step.csv"}


def fit(
    file: Annotated[
        str,
        typer.Argument(
            metavar="CSV",
            help="Measured log: time, angle, target. lima: the step of Lima et al.",
        ),
    ],
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Servo model to start from, or a servo's file.")
    ] = "AX-12",
    free: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Parameters to fit, separated by commas; speed and effort if absent.",
        ),
    ] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A known parameter, in SI. Repeatable."),
    ] = None,
    inertia: Annotated[float, typer.Option(metavar="KGM2", help="Inertia of the load.")] = 0.00232,
    load: Annotated[
        float, typer.Option(metavar="NM", help="Constant load torque against the motion.")
    ] = 0.0,
    angle: Annotated[str, typer.Option(metavar="COLUMN", help="What was measured.")] = "",
    target: Annotated[str, typer.Option(metavar="COLUMN", help="What was wanted.")] = "",
    unit: Annotated[
        str, typer.Option(metavar="deg|rad", help="Unit of angles without a unit in the heading.")
    ] = "",
    to: Annotated[
        float | None,
        typer.Option(metavar="DEGREES", help="Target angle, if there is no column for it."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="TOML", help="Write the servo to a file that drives can name."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="SVG", help="Write both curves as SVG.")
    ] = None,
    overwrite: Overwrite = False,
    over: Annotated[
        str,
        typer.Option(metavar="SCENE", help="Do not fit: compare the log with a run of this scene."),
    ] = "",
) -> None:
    """Finds the servo parameters whose response is closest to the measured one.

    Prints each parameter with its 95 % interval, the remaining error, and both curves. With --over
    the log's targets drive a scene instead, and the measured values are compared with its signals.

    Examples:
      $ linkwork fit lima --free max_speed,max_acceleration,slope --set supply=9.6
      $ linkwork fit step.csv --model XM430-W350 --inertia 0.004 --out mine.toml
      $ linkwork fit log.csv --over cell.toml
    """
    from linkwork.cli.measured_log import ANGLES, read_measured_log

    if unit and unit not in ANGLES:
        raise typer.BadParameter(f"give one of {', '.join(ANGLES)}.", param_hint="--unit")
    if str(out) == "-":
        raise typer.BadParameter("name a file: the screen gets the table.", param_hint="--out")
    source = _find(file)
    check_outputs([out, picture], overwrite=overwrite, sources=[source, model, over])
    log = read_measured_log(source, unit)
    if over:
        from linkwork.cli.measured_log import overlay_log

        overlay_log(log, over, picture)
        return
    if not inertia > 0.0:
        raise typer.BadParameter("it must be above 0.", param_hint="--inertia")
    from linkwork.cli.compile_progress import show_compiling

    params = _start(model, set_ or [])
    wanted = log.target(target)
    measured = log.angle(angle)
    if wanted is None or to is not None:
        import numpy as np

        end = float(measured[-1]) if to is None else math.radians(to)
        wanted = np.full(len(measured), end)
    names = [name.strip() for name in free.split(",") if name.strip()] or _default_params(params)
    with show_compiling():
        from linkwork.components.actuators.fit import fit_servo
    with _progress() as progress:
        found = fit_servo(
            log.time, measured, wanted, params, names, inertia=inertia, load=load, progress=progress
        )
    _print_result(log, found, _curves(log, found, measured, wanted), picture)
    if out is not None:
        _write(out, log, model, found)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[float], object] | None]:
    """Shows the progress of the fit on a terminal: long logs take minutes."""
    from linkwork.cli.screen import stderr

    out = stderr()
    if not out.is_terminal:
        yield None
        return
    with out.status("Fitting …") as status:
        yield lambda share: status.update(f"Fitting … {100.0 * share:.0f} %")


def _find(name: str) -> Path:
    if name in SHIPPED and not Path(name).exists():
        from linkwork.components.actuators.smart_params import FOLDER

        return FOLDER / SHIPPED[name]
    return Path(name)


def _default_params(params: dict[str, Any]) -> list[str]:
    """Parameters that most steps determine: speed, effort, stiffness and friction."""
    held = "slope" if params.get("loop") == "compliance" else "kp"
    return ["free_speed", "stall_effort", held, "friction"]


def _start(model: str, given: list[str]) -> dict[str, Any]:
    from linkwork.components.actuators.smart_params import unused_params, with_model
    from linkwork.core.errors import FormatError
    from linkwork.core.value_types import split_unit
    from linkwork.model.parts import Spec

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
    idle = unused_params(params)
    for each in given:
        name = split_unit(each.partition("=")[0])[0]
        if name in idle:
            raise FormatError(f"--set {each}: {name} has no effect here: {idle[name]}.")
    return params


def _curves(log: MeasuredLog, found: Fit, measured: Any, wanted: Any) -> list[Curve]:
    from linkwork.cli.curves import Curve

    time = log.time - log.time[0]
    return [
        Curve("measured", time, measured * 180.0 / math.pi, dots=True),
        Curve("fitted", time, found.angle * 180.0 / math.pi),
        Curve("wanted", time, wanted * 180.0 / math.pi),
    ]


def _print_result(log: MeasuredLog, found: Fit, curves: list[Curve], picture: Path | None) -> None:
    from linkwork.cli.curves import in_characters, write_svg
    from linkwork.cli.screen import stdout

    screen = stdout()
    rows = []
    for each in found.found:
        scale, unit = in_degrees(each.name)
        remark = "at the limit of its range" if each.at_bound else ""
        if math.isinf(each.deviation):
            remark = "not determined by the measurement"
        rows.append((
            each.name, f"{each.value * scale:.5g}", f"± {each.deviation * scale:.2g}", unit, remark,
        ))  # fmt: skip
    screen.rows(("parameter", "found", "95 %", "unit", ""), rows)
    turn = 180.0 / math.pi
    screen.print_line(
        f"Error left: {found.rms * turn:.3g}° rms, {found.worst * turn:.3g}° at most, in "
        f"{len(log.time)} rows; {found.first_rms * turn:.3g}° rms before."
    )
    for line in in_characters(curves, "deg"):
        screen.print_line(line)
    if picture is not None:
        write_svg(picture, f"{log.file.name}: measured and fitted", curves, "°")


def in_degrees(name: str) -> tuple[float, str]:
    """Factor and display unit of a fitted parameter."""
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


def _write(out: Path, log: MeasuredLog, model: str, found: Fit) -> None:
    """Writes the servo as a file that a drive can name."""
    from linkwork.components.actuators.smart_params import FORM
    from linkwork.core.errors import FormatError, os_error_text

    known = {
        each.name: f"# fitted, ± {each.deviation:.2g} (95 %)"
        for each in found.found
        if math.isfinite(each.deviation)
    }
    for pair in ("slope", "margin"):
        if pair in known:
            known |= {f"{pair}_{side}": known[pair] for side in ("cw", "ccw")}
    turn = 180.0 / math.pi
    lines = [
        f'format = "{FORM}"', f'name = "{out.stem}"', f'title = "Fitted to {log.file.name}"',
        "sources = [",
        f'  "linkwork fit {log.file.name}, from {model}, turning {found.inertia:g} kg m²: '
        f'{found.rms * turn:.3g} degrees rms, {found.worst * turn:.3g} at most.",',
        "]", "", "[parameters]",
    ]  # fmt: skip
    for name, value in found.params.items():
        literal = f'"{value}"' if isinstance(value, str) else repr(value)
        lines.append(f"{name} = {literal}  {known.get(name, '')}".rstrip())
    try:
        with whole_file(out) as part:
            part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{out} cannot be written: {os_error_text(error)}.") from None
