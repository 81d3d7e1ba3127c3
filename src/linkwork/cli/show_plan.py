"""Plans on the screen and in CSV files, for ``linkwork plan``."""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.cli.screen import count, stdout
from linkwork.cli.show_movement import manner
from linkwork.errors import FormatError
from linkwork.scene.planning import UNLIMITED

if TYPE_CHECKING:
    from linkwork.motion.profiles import Limits, Profile, Reference
    from linkwork.motion.profiles.worked_example import Comparison
    from linkwork.scene import Movement

_TRUE = ("tm [s]", "ωm [°/s]", "ω max [°/s]", "a max [°/s²]", "∫P dt [mJ]", "∫|P| dt [mJ]",
         "drawn [mJ]")  # fmt: skip


def show_table_1() -> None:
    """Document 004's Table 1: what is printed, and what is true."""
    from linkwork.motion.profiles.worked_example import SERVO, TABLE_1, compare

    out = stdout()
    heads = ("planner", *(f"printed {name}" for name in ("tm", "ωm", "a max", "E")), *_TRUE)
    rows = []
    for each in compare():
        page = TABLE_1.get(each.planner)
        printed = (page.switch, page.middle, page.acceleration, page.energy) if page else ()
        cells = [f"{value:g}" for value in printed] or ["", "", "", ""]
        cells[3:] = [f"{printed[3]:.4f}"] if printed else [""]
        rows.append((each.planner, *cells, *_figures(each)))
    out.rows(heads, rows)
    out.say(
        "Printed: 004 Table 1, with energies in mJ that take the second piece to begin at ω2 in "
        "place of ωm. True: ∫P dt does not depend on tm; the saving of 13 % is that slip."
    )
    out.say(
        f"Drawn: from a supply that gets nothing back, with {SERVO.copper:g} W/(N m)² copper loss, "
        f"{SERVO.viscous:g} N m s and {SERVO.coulomb:g} N m friction; 'energy' counts inertia "
        "alone, 'energy with losses' all of it."
    )


def show_comparison(start: Reference, end: Reference, limits: Limits) -> None:
    """The planners on one way.

    Raises:
        OutOfReach: If none of them finds one.
    """
    from linkwork.motion.profiles import segment
    from linkwork.motion.profiles.worked_example import compare

    segment(start, end, "acceleration", limits)  # says what is wrong, if anything is
    stdout().rows(
        ("planner", *_TRUE), [(row.planner, *_figures(row)) for row in compare(start, end, limits)]
    )


def _figures(row: Comparison) -> tuple[str, ...]:
    angles = (f"{math.degrees(x):.5g}" for x in (row.middle, row.speed, row.acceleration))
    energies = [f"{1e3 * x:.4f}" for x in (row.work, row.effort)]
    cells = (f"{row.switch:.5g}", *angles, *energies, f"{1e3 * row.drawn:.5g}")
    return tuple(cell.replace("-", "−") for cell in cells)


def plan_file(
    file: str,
    name: str,
    planner: str,
    limits: Limits,
    *,
    robot: str,
    soonest: bool,
    out: Path | None,
    rate: float,
) -> None:
    """Plans a movement; shows what it asks of each joint, and writes the ways as CSV.

    Raises:
        OutOfReach: If limits do not allow it.
        LinkworkError: If the movement cannot be read, has no planner, or does not say of a joint
            whether it turns, where limits of angles are given.
    """
    from dataclasses import replace

    from linkwork.cli.robot_limits import limits_of, show_limits
    from linkwork.formats import load_movement
    from linkwork.motion.profiles.movements import as_soon_as_possible, plan_movement

    movement = load_movement(file, name)
    if planner:
        postures = tuple(replace(each, planner="") for each in movement.postures)
        movement = replace(movement, planner=planner, interpolation="linear", postures=postures)
    allowed, units = _turning(movement, limits), {}
    if robot:
        own, units = limits_of(robot, movement)
        allowed = {joint: each.within(allowed.get(joint, UNLIMITED)) for joint, each in own.items()}
    if soonest:
        movement = as_soon_as_possible(movement, allowed)
    ways = plan_movement(movement, allowed, units)
    rows = 0
    if out is not None:
        rows = _write(ways, movement, out, rate)
        if str(out) == "-":
            return
    screen = stdout()
    if robot:
        stated = {
            joint: replace(each, whose=("the movement",) * 3)
            for joint, each in movement.limits.items()
        }
        binding = {
            joint: each.within(stated.get(joint, UNLIMITED)) for joint, each in allowed.items()
        }
        show_limits(screen, binding, units)
    screen.rows(
        ("joint", "least", "most", "speed", "acceleration", "jerk"),
        [_peaks(joint, way, _unit(movement, joint)) for joint, way in ways.items()],
    )
    counts = count(len(movement.postures), "posture"), count(len(ways), "joint")
    written = f" {count(rows, 'row')} written to {out}." if out is not None else ""
    screen.say(
        f"{movement.name}: {counts[0]} of {counts[1]} in {movement.duration:.6g} s, "
        f"{manner(movement)}.{written}"
    )


def _unit(movement: Movement, joint: str) -> str:
    """Of a joint, "rad" or "m"; empty where the file does not say."""
    return "rad" if joint in movement.angles else "m" if joint in movement.lengths else ""


def _turning(movement: Movement, limits: Limits) -> dict[str, Limits]:
    """Limits of angles, for the joints that turn."""
    unsaid = [joint for joint in movement.joints() if not _unit(movement, joint)]
    if unsaid and any(map(math.isfinite, (limits.speed, limits.acceleration, limits.jerk))):
        raise FormatError(
            f"the file does not say whether {unsaid[0]!r} turns or slides, so that --max-…-deg may "
            "not be for it.",
            origin=movement.origin,
            hint="Give it in joints_deg or joints_mm, or its limits in the file: max_speed.",
        )
    return {joint: limits for joint in movement.joints() if joint in movement.angles}


def _peaks(joint: str, way: Profile, kind: str) -> tuple[str, ...]:
    """What a way asks of its joint, at most."""
    factor, unit = {"rad": (180.0 / math.pi, "°"), "m": (1.0, " m")}.get(kind, (1.0, ""))
    low, high = (f"{factor * x:.4g}{unit}".replace("-", "−") for x in way.extent())
    figures = (way.peak_speed, way.peak_acceleration, way.peak_jerk)
    shown = (
        f"{factor * x:.4g}{unit}{per}" for x, per in zip(figures, ("/s", "/s²", "/s³"), strict=True)
    )
    speed, acceleration, jerk = shown
    smooth = way.peak_jerk > 0.0
    return joint, low, high, speed, acceleration, jerk if smooth else "jumps"


def _write(ways: dict[str, Profile], movement: Movement, out: Path, rate: float) -> int:
    """Times and, of each joint, position, speed and acceleration, all digits, SI units.

    Where the file does not say whether a joint turns or slides, both units are named.
    """
    import numpy as np

    end = movement.duration
    many = int(np.floor(end * rate * (1.0 + 1e-12)))
    times = np.arange(many + 1) / rate
    if times[-1] < end - 1e-9 / rate:
        times = np.append(times, end)
    heads, columns = ["time [s]"], [times]
    for joint, way in ways.items():
        units = [_unit(movement, joint)] if _unit(movement, joint) else ["rad", "m"]
        for what, per, values in zip(
            ("target", "speed", "acceleration"), ("", "/s", "/s²"), way.states(times), strict=True
        ):
            named = " or ".join(f"{unit}{per}" for unit in units)
            heads.append(f"{joint}.{what} [{named}]")
            columns.append(values)
    rows = [heads, *([repr(float(cell)) for cell in row] for row in zip(*columns, strict=True))]
    if str(out) == "-":
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return len(times)
    try:
        with out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except OSError as error:
        raise FormatError(f"{out} cannot be written: {error.strerror}.") from None
    return len(times)
