"""``linkwork posture``: reads the posture of a real machine back over a bus."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from linkwork.scene import Movement
    from linkwork.session.session import Session


def posture(
    what: Annotated[str, typer.Argument(metavar="SCENE", help="A scene, or a kit's name for it.")],
    bus: Annotated[
        str, typer.Option(metavar="NAME", help="The machine's bus; the only one if left out.")
    ] = "",
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add the posture to this movement, or begin it."),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="When in the movement; a second after its end."),
    ] = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to wait for the machine.")
    ] = 10.0,
) -> None:
    """Reads where the joints of a machine are, by the ports that the scene says.

    Nothing is commanded and simulated time stands still: only what the machine reports is taken.

    Examples:
      $ linkwork posture cell.toml
      $ linkwork posture cell.toml --bus can0 --to wave.toml --at 1.5
    """
    from linkwork.cli.given import load_with_notes, scene_to_run
    from linkwork.cli.ready import getting_ready
    from linkwork.cli.run import check_number
    from linkwork.cli.screen import count, stderr, stdout
    from linkwork.errors import FormatError
    from linkwork.formats import load_movement, save

    check_number("--wait", wait)
    if at is not None and to is None:
        raise FormatError("--at is for --to FILE.")
    if to is not None and to.suffix != ".toml":
        raise FormatError(f"{to} must end in .toml.")
    old = load_movement(to) if to is not None and to.exists() else None
    thing, _ = load_with_notes(what)
    scene, _ = scene_to_run(thing, what, free=False)
    with getting_ready():
        from linkwork.session.reading import beyond
        from linkwork.session.session import Session

        session = Session(scene, watch=False)
    with session:
        found = _read(session, bus, wait)
        world = session.world
        turning = {name for name in found if world.dof_is_angle(world.single_dof(name))}
    out = stdout()
    out.rows(("joint", "value"), [(n, _words(v, n in turning)) for n, v in found.items()])
    for words in beyond(world, found):
        stderr().say(words, lead="warning:", level="warning")
    if to is None:
        return
    made = _with(old, to.stem, found, turning, at)
    save(made, to)
    out.say(f"Wrote {count(len(made.postures), 'posture')} to {to}.")


def _read(session: Session, bus: str, wait: float) -> dict[str, float]:
    """What the machine says as soon as it says all; simulated time stands still meanwhile."""
    from linkwork.errors import SessionError
    from linkwork.session.messages import Pause
    from linkwork.session.reading import machine_buses

    known = machine_buses(session.cycle)
    if bus not in known and (bus or len(known) != 1):
        return session.read_posture(bus)  # which says what is wrong
    end, found, last = time.monotonic() + wait, dict[str, float](), None

    def look(_: float) -> None:
        nonlocal found, last
        try:
            found = session.read_posture(bus)
        except SessionError as error:
            last = error
            if time.monotonic() < end:
                return
        session.stop()

    session.send(Pause())
    session.run(clock="real", progress=look)
    if not found:
        raise last or SessionError("the machine says nothing.")
    return found


def _words(value: float, turns: bool) -> str:
    from linkwork.units import degrees

    text = f"{degrees(value):.4g}°" if turns else f"{value:.6g} m"
    return text.replace("-", "−")


def _with(
    old: Movement | None, name: str, found: dict[str, float], turning: set[str], at: float | None
) -> Movement:
    """A movement with one posture more; names are within the part where there is one."""
    from dataclasses import replace

    from linkwork.parts.names import plain
    from linkwork.scene import Movement, TimedPosture
    from linkwork.units import SUFFIXES

    turn = SUFFIXES["_deg"]
    scopes = {joint.partition("/")[0] if "/" in joint else "" for joint in found}
    begin = f"{scopes.pop()}/" if len(scopes) == 1 and "" not in scopes else ""
    values = {
        joint.removeprefix(begin): round(v / turn, 4) * turn if joint in turning else round(v, 6)
        for joint, v in found.items()
    }
    angles = frozenset(joint.removeprefix(begin) for joint in turning)
    if old is None:
        first = TimedPosture(at or 0.0, values)
        return Movement(plain(name), (first,), "smooth", angles=angles)
    posture = TimedPosture(old.duration + 1.0 if at is None else at, values)
    postures = tuple(sorted((*old.postures, posture), key=lambda each: each.time))
    return replace(old, postures=postures, angles=old.angles | angles)
