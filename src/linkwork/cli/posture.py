"""``linkwork posture``: reads the posture of a real machine over a bus."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.cli.run import Allow

if TYPE_CHECKING:
    from linkwork.model.scene import Movement
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
        typer.Option(
            metavar="SECONDS", help="Time in the movement; one second after its end if absent."
        ),
    ] = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="Timeout for the machine.")] = 10.0,
    allow: Allow = None,
) -> None:
    """Reads the joint positions of a machine through the ports of a scene.

    Nothing is commanded and simulated time does not advance: only reported values are read.

    Examples:
      $ linkwork posture cell.toml
      $ linkwork posture cell.toml --bus can0 --to wave.toml --at 1.5
    """
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.run import check_number
    from linkwork.cli.scene_argument import load_showing_notes, scene_to_run
    from linkwork.cli.screen import count, show_withheld, stderr, stdout
    from linkwork.core.errors import FormatError
    from linkwork.formats import load_movement, save

    check_number("--wait", wait)
    if at is not None and to is None:
        raise FormatError("--at is for --to FILE.")
    if to is not None and to.suffix != ".toml":
        raise FormatError(f"{to} must end in .toml.")
    old = load_movement(to) if to is not None and to.exists() else None
    thing, _ = load_showing_notes(what)
    scene, _ = scene_to_run(thing, what, free=False)
    with show_compiling():
        from linkwork.project.trust import is_trusted
        from linkwork.session.postures import out_of_range
        from linkwork.session.session import Session

        session = Session(scene, watch=False, allow=allow or [], programs=is_trusted)
    show_withheld(session)
    with session:
        found = _read(session, bus, wait)
        world = session.world
        turning = {name for name in found if world.dof_is_angle(world.single_dof(name))}
    out = stdout()
    out.rows(("joint", "value"), [(n, _words(v, n in turning)) for n, v in found.items()])
    for words in out_of_range(world, found):
        stderr().print_line(words, lead="warning:", level="warning")
    if to is None:
        return
    made = _with(old, to.stem, found, turning, at)
    save(made, to)
    out.print_line(f"Wrote {count(len(made.postures), 'posture')} to {to}.")


def _read(session: Session, bus: str, wait: float) -> dict[str, float]:
    """Waits until the machine has reported all values; simulated time does not advance."""
    from linkwork.core.errors import SessionError
    from linkwork.session.messages import PauseClock
    from linkwork.session.postures import machine_buses

    known = machine_buses(session.cycle)
    if bus not in known and (bus or len(known) != 1):
        return session.read_posture(bus)  # which reports what is wrong
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

    session.send(PauseClock())
    session.run(clock="real", progress=look)
    if not found:
        raise last or SessionError("the machine does not answer.")
    return found


def _words(value: float, turns: bool) -> str:
    from linkwork.core.value_types import degrees

    text = f"{degrees(value):.4g}°" if turns else f"{value:.6g} m"
    return text.replace("-", "−")


def _with(
    old: Movement | None, name: str, found: dict[str, float], turning: set[str], at: float | None
) -> Movement:
    """A movement with one more posture; joints are named within the part if there is one."""
    from dataclasses import replace

    from linkwork.core.value_types import SUFFIXES
    from linkwork.model.parts.spec import plain_name
    from linkwork.model.scene import Movement, TimedPosture

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
        return Movement(plain_name(name), (first,), "smooth", angles=angles)
    posture = TimedPosture(old.duration + 1.0 if at is None else at, values)
    postures = tuple(sorted((*old.postures, posture), key=lambda each: each.time))
    return replace(old, postures=postures, angles=old.angles | angles)
