"""Movements as tables: on the screen or as CSV files."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.cli.screen import count, stdout
from linkwork.core.atomic import whole_file
from linkwork.core.errors import FormatError, os_error_text
from linkwork.core.value_types import degrees, format_value
from linkwork.model.scene.motion_limits import UNLIMITED

if TYPE_CHECKING:
    from linkwork.cli.screen import Screen
    from linkwork.model.parts import Part
    from linkwork.model.scene import Movement
    from linkwork.model.scene.motion_limits import MotionLimits
    from linkwork.motion.profiles import Profile, Waypoint
    from linkwork.motion.profiles.worked_example import PlannerComparison


def movements_of(file: str) -> tuple[list[Movement], bool]:
    """The movements of a file, and whether it contains nothing else."""
    from linkwork.formats import find_file, format_for, read_movements

    path = find_file(file)
    found = read_movements(path)
    return found, bool(found) and ".toml" in format_for(path).suffixes


def show_movement(out: Screen, title: str, movement: Movement, part: Part | None = None) -> None:
    """Lists the joints of a movement, and those that leave the part's ranges."""
    rows: list[tuple[str, str, str]] = []
    beyond: list[str] = []
    from linkwork.motion.profiles.movement_profiles import movement_profiles

    for joint, course in movement_profiles(movement, _speeds(part)).items():
        low, high = course.extent()
        turns = joint in movement.angles
        stops = sum(joint in posture.joints for posture in movement.postures)
        rows.append((joint, str(stops), _span(low, high, turns)))
        allowed = _range(part, joint)
        if allowed is not None and (low < allowed[0] - 1e-9 or high > allowed[1] + 1e-9):
            beyond.append(f"{joint} ({_span(*allowed, turns)})")
    out.rows(("joint", "postures", "range"), rows)
    if beyond:
        out.print_line(
            f"the movement {movement.name!r} leaves the ranges of: {', '.join(beyond)}.",
            lead="note:",
        )
    counts = count(len(movement.postures), "posture"), count(len(rows), "joint")
    out.print_line(
        f"{title}: {counts[0]} of {counts[1]} in {movement.duration:g} s, "
        f"{interpolation_text(movement)}. An agent of type 'movement' can play it."
    )


def interpolation_text(movement: Movement) -> str:
    """The interpolation between postures, as text."""
    if not movement.planner:
        return movement.interpolation
    least = movement.planner in ("acceleration", "speed", "energy")
    return f"least {movement.planner}" if least else f"planner {movement.planner!r}"


def _speeds(part: Part | None) -> dict[str, MotionLimits]:
    """The largest speeds of a part's joints."""
    from linkwork.model.scene.motion_limits import MotionLimits

    joints = part.joints.values() if part is not None else ()
    return {each.name: MotionLimits(speed=each.max_speed) for each in joints if each.max_speed}


def _span(low: float, high: float, turns: bool) -> str:
    """A range as text."""
    shown = (f"{degrees(value):.4g}°" if turns else f"{value:.4g}" for value in (low, high))
    return " … ".join(shown).replace("-", "−")


def _range(part: Part | None, dof_name: str) -> tuple[float, float] | None:
    """The range of a joint's degree of freedom, if the part limits it."""
    name, _, dof = dof_name.partition(".")
    joint = part.joints.get(name) if part is not None else None
    if joint is None or (dof and dof not in joint.kind.dofs):
        return None
    return joint.ranges[joint.kind.dofs.index(dof) if dof else 0]


def limits_of(robot: str, movement: Movement) -> tuple[dict[str, MotionLimits], dict[str, str]]:
    """Limits by joint of a movement, and their units, "rad" or "m".

    Raises:
        LinkworkError: If the robot cannot be read, or lacks a joint.
    """
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.scene_argument import load_showing_notes, scene_to_run

    thing, _ = load_showing_notes(robot)
    with show_compiling():
        from linkwork.components.agents.lookup import AmbiguousName, find_dof
        from linkwork.components.agents.servo_limits import servo_limits
        from linkwork.model.world import compile_scene

        scene, _ = scene_to_run(thing, robot, free=False)
        world = compile_scene(scene)
    found: dict[str, MotionLimits] = {}
    units: dict[str, str] = {}
    for joint in movement.joints():
        try:
            dof = find_dof(world, joint, origin=movement.origin)
        except AmbiguousName as error:
            error.hint = f"Give a part, or a scene with one of them, as --robot, not {robot}."
            raise
        found[joint] = servo_limits(world, dof)
        units[joint] = "rad" if world.dof_is_angle(dof) else "m"
    return found, units


def show_limits(
    screen: Screen, limits: Mapping[str, MotionLimits], units: Mapping[str, str]
) -> None:
    """Prints the limits and where they come from."""
    rows = []
    for joint, each in limits.items():
        cells = []
        pairs = zip(each.numbers[:2], each.whose[:2], ("/s", "/s²"), strict=True)
        for value, whose, per in pairs:
            text = format_value(value, units[joint] + per) if math.isfinite(value) else "any"
            cells += [text, whose if math.isfinite(value) else ""]
        rows.append((joint, *cells))
    screen.rows(("joint", "speed at most", "by", "acceleration at most", "by"), rows)


_TRUE = ("tm [s]", "ωm [°/s]", "ω max [°/s]", "a max [°/s²]", "∫P dt [mJ]", "∫|P| dt [mJ]",
         "drawn [mJ]")  # fmt: skip


def show_table_1() -> None:
    """Prints Lima's Table 1: printed and true values."""
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
    out.print_line(
        "Printed: Lima et al., Table 1. Its energies [mJ] let the second segment start at ω2, "
        "not ωm. True: ∫P dt does not depend on tm, so the printed saving of 13 % is an error."
    )
    out.print_line(
        f"Drawn: from a supply that gets nothing back, with {SERVO.copper:g} W/(N m)² copper loss, "
        f"{SERVO.viscous:g} N m s and {SERVO.coulomb:g} N m friction; 'energy' counts inertia "
        "alone, 'energy with losses' all of it."
    )


def show_comparison(start: Waypoint, end: Waypoint, limits: MotionLimits) -> None:
    """Compares the planners on one segment.

    Raises:
        OutOfReach: If none of them finds a trajectory.
    """
    from linkwork.motion.profiles import segment
    from linkwork.motion.profiles.worked_example import compare

    segment(start, end, "acceleration", limits)  # raises the reason, if there is one
    stdout().rows(
        ("planner", *_TRUE), [(row.planner, *_figures(row)) for row in compare(start, end, limits)]
    )


def _figures(row: PlannerComparison) -> tuple[str, ...]:
    angles = (f"{math.degrees(x):.5g}" for x in (row.middle, row.speed, row.acceleration))
    energies = [f"{1e3 * x:.4f}" for x in (row.work, row.effort)]
    cells = (f"{row.switch:.5g}", *angles, *energies, f"{1e3 * row.drawn:.5g}")
    return tuple(cell.replace("-", "−") for cell in cells)


def plan_file(
    file: str,
    name: str,
    planner: str,
    limits: MotionLimits,
    *,
    robot: str,
    soonest: bool,
    out: Path | None,
    rate: float,
) -> None:
    """Plans a movement; prints the demands on each joint, and writes the trajectories as CSV.

    Raises:
        OutOfReach: If limits do not allow it.
        LinkworkError: If the movement cannot be read, has no planner, or limits of angles are given
            and the type of a joint is unknown.
    """
    from dataclasses import replace

    from linkwork.formats import load_movement
    from linkwork.motion.profiles.movement_profiles import plan_movement, time_optimal

    movement = load_movement(file, name)
    if planner:
        postures = tuple(replace(each, planner="") for each in movement.postures)
        movement = replace(movement, planner=planner, interpolation="linear", postures=postures)
    allowed, units = _turning(movement, limits), {}
    if robot:
        own, units = limits_of(robot, movement)
        allowed = {joint: each.within(allowed.get(joint, UNLIMITED)) for joint, each in own.items()}
    if soonest:
        movement = time_optimal(movement, allowed)
    trajectories = plan_movement(movement, allowed, units)
    rows = 0
    if out is not None:
        rows = _write(trajectories, movement, out, rate)
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
        [_peaks(joint, profile, _unit(movement, joint)) for joint, profile in trajectories.items()],
    )
    counts = count(len(movement.postures), "posture"), count(len(trajectories), "joint")
    written = f" {count(rows, 'row')} written to {out}." if out is not None else ""
    screen.print_line(
        f"{movement.name}: {counts[0]} of {counts[1]} in {movement.duration:.6g} s, "
        f"{interpolation_text(movement)}.{written}"
    )


def _unit(movement: Movement, joint: str) -> str:
    """Unit of a joint, "rad" or "m"; empty if the file does not define it."""
    return "rad" if joint in movement.angles else "m" if joint in movement.lengths else ""


def _turning(movement: Movement, limits: MotionLimits) -> dict[str, MotionLimits]:
    """Limits of angles, for the rotary joints."""
    inferred = [joint for joint in movement.joints() if not _unit(movement, joint)]
    if inferred and any(map(math.isfinite, (limits.speed, limits.acceleration, limits.jerk))):
        raise FormatError(
            f"the file does not say whether {inferred[0]!r} is a hinge or a slider, so "
            "--max-…-deg may not apply.",
            origin=movement.origin,
            hint="Give it in joints_deg or joints_mm, or its limits in the file: max_speed.",
        )
    return {joint: limits for joint in movement.joints() if joint in movement.angles}


def _peaks(joint: str, profile: Profile, kind: str) -> tuple[str, ...]:
    """Peak values of a trajectory."""
    factor, unit = {"rad": (180.0 / math.pi, "°"), "m": (1.0, " m")}.get(kind, (1.0, ""))
    low, high = (f"{factor * x:.4g}{unit}".replace("-", "−") for x in profile.extent())
    figures = (profile.peak_speed, profile.peak_acceleration, profile.peak_jerk)
    shown = (
        f"{factor * x:.4g}{unit}{per}" for x, per in zip(figures, ("/s", "/s²", "/s³"), strict=True)
    )
    speed, acceleration, jerk = shown
    smooth = profile.peak_jerk > 0.0
    return joint, low, high, speed, acceleration, jerk if smooth else "jumps"


def _write(trajectories: dict[str, Profile], movement: Movement, out: Path, rate: float) -> int:
    """Times and, of each joint, position, speed and acceleration, all digits, SI units.

    If the file does not define whether a joint turns or slides, both units are named.
    """
    import numpy as np

    end = movement.duration
    many = int(np.floor(end * rate * (1.0 + 1e-12)))
    times = np.arange(many + 1) / rate
    if times[-1] < end - 1e-9 / rate:
        times = np.append(times, end)
    heads, columns = ["time [s]"], [times]
    for joint, profile in trajectories.items():
        units = [_unit(movement, joint)] if _unit(movement, joint) else ["rad", "m"]
        for what, per, values in zip(
            ("target", "speed", "acceleration"),
            ("", "/s", "/s²"),
            profile.states(times),
            strict=True,
        ):
            named = " or ".join(f"{unit}{per}" for unit in units)
            heads.append(f"{joint}.{what} [{named}]")
            columns.append(values)
    rows = [heads, *([repr(float(cell)) for cell in row] for row in zip(*columns, strict=True))]
    if str(out) == "-":
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return len(times)
    try:
        with whole_file(out) as part, part.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except OSError as error:
        raise FormatError(f"{out} cannot be written: {os_error_text(error)}.") from None
    return len(times)
