"""Movements on the screen, for ``linkwork check``: joints, how often named, how far they go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.cli.screen import count
from linkwork.units import degrees

if TYPE_CHECKING:
    from linkwork.cli.screen import Screen
    from linkwork.parts import Part
    from linkwork.scene import Movement
    from linkwork.scene.planning import Limits


def movements_of(file: str) -> tuple[list[Movement], bool]:
    """The movements of a file, and whether it holds nothing else."""
    from linkwork.formats import find_file, format_for, read_movements

    path = find_file(file)
    found = read_movements(path)
    return found, bool(found) and ".toml" in format_for(path).suffixes


def show_movement(out: Screen, title: str, movement: Movement, part: Part | None = None) -> None:
    """Lists the joints of a movement, and which of them it takes beyond the part's ranges."""
    rows: list[tuple[str, str, str]] = []
    beyond: list[str] = []
    from linkwork.motion.profiles.movements import courses

    for joint, course in courses(movement, _speeds(part)).items():
        low, high = course.extent()
        turns = joint in movement.angles
        stops = sum(joint in posture.joints for posture in movement.postures)
        rows.append((joint, str(stops), _span(low, high, turns)))
        allowed = _range(part, joint)
        if allowed is not None and (low < allowed[0] - 1e-9 or high > allowed[1] + 1e-9):
            beyond.append(f"{joint} ({_span(*allowed, turns)})")
    out.rows(("joint", "postures", "range"), rows)
    if beyond:
        out.say(
            f"the movement {movement.name!r} leaves the ranges of: {', '.join(beyond)}.",
            lead="note:",
        )
    counts = count(len(movement.postures), "posture"), count(len(rows), "joint")
    out.say(
        f"{title}: {counts[0]} of {counts[1]} in {movement.duration:g} s, "
        f"{manner(movement)}. An agent of type 'movement' can play it."
    )


def manner(movement: Movement) -> str:
    """How it goes from posture to posture."""
    if not movement.planner:
        return movement.interpolation
    least = movement.planner in ("acceleration", "speed", "energy")
    return f"least {movement.planner}" if least else f"planner {movement.planner!r}"


def _speeds(part: Part | None) -> dict[str, Limits]:
    """The largest speeds of a part's joints."""
    from linkwork.scene.planning import Limits

    joints = part.joints.values() if part is not None else ()
    return {each.name: Limits(speed=each.max_speed) for each in joints if each.max_speed}


def _span(low: float, high: float, turns: bool) -> str:
    """A range as people read it."""
    shown = (f"{degrees(value):.4g}°" if turns else f"{value:.4g}" for value in (low, high))
    return " … ".join(shown).replace("-", "−")


def _range(part: Part | None, freedom: str) -> tuple[float, float] | None:
    """The range of a joint's freedom, where the part limits it."""
    name, _, dof = freedom.partition(".")
    joint = part.joints.get(name) if part is not None else None
    if joint is None or (dof and dof not in joint.kind.dofs):
        return None
    return joint.ranges[joint.kind.dofs.index(dof) if dof else 0]
