"""Overlay: a log of a real machine laid over a run that is given the same targets."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork.cli.curves import Curve, in_characters, write_svg
from linkwork.cli.screen import stderr, stdout
from linkwork.errors import FormatError

if TYPE_CHECKING:
    from linkwork.cli.measured import Measured
    from linkwork.session.session import Session


def lay_over(log: Measured, scene: str, picture: Path | None) -> None:
    """Runs a scene with the log's targets, and shows how far each measured signal is off.

    Columns that are inputs of the scene are set, held from row to row; columns that are outputs
    are compared at the times of the rows.

    Raises:
        FormatError: If no column is a signal of the scene.
    """
    from linkwork.cli.given import load_with_notes, scene_to_run
    from linkwork.cli.ready import getting_ready

    thing, _ = load_with_notes(scene)
    ready, _ = scene_to_run(thing, scene, free=False)
    with getting_ready():
        from linkwork.session.session import Session

        session = Session(ready, watch=False)
        told, compared = _sort(log, session)
        values = {n: log.of_unit(n, session.signals[n].unit) for n in (*told, *compared)}
        log = replace(log, columns=values)
        if told and ready.agents:
            session.close()
            stderr().say("the scene's agents are left out: the log says what is wanted.")
            ready.agents.clear()
            session = Session(ready, watch=False)
    with session:
        made = _run(log, session, told, compared)
        units = {name: session.signals[name].unit for name in compared}
    screen = stdout()
    rows, first = [], None
    for name in compared:
        turn = 180.0 / math.pi if units[name].startswith("rad") else 1.0
        unit = units[name].replace("rad", "deg")
        off = (made[name] - log.columns[name]) * turn
        rows.append(
            (name, f"{np.sqrt(np.mean(off**2)):.4g}", f"{np.abs(off).max():.4g}",
             f"{off.mean():+.3g}", unit)
        )  # fmt: skip
        if first is None:
            time = log.time - log.time[0]
            first = name, unit, [
                Curve("measured", time, log.columns[name] * turn, dots=True),
                Curve("simulated", time, made[name] * turn),
                Curve("error", time, off),
            ]  # fmt: skip
    screen.rows(("signal", "rms", "at most", "mean", "unit"), rows)
    if first is None:
        return
    name, unit, curves = first
    screen.say(name)
    for line in in_characters(curves, unit):
        screen.say(line)
    if picture is not None:
        write_svg(picture, name, curves, f" {unit}")


def _sort(log: Measured, session: Session) -> tuple[list[str], list[str]]:
    """Columns that are told to the scene, and columns that are compared with it."""
    known = [name for name in log.columns if name in session.signals]
    told = [name for name in known if session.signals[name].direction == "input"]
    compared = [name for name in known if session.signals[name].direction == "output"]
    if not compared:
        raise FormatError(
            "no column is an output of the scene, such as "
            f"{next((s.name for s in session.signals if s.direction == 'output'), 'arm/J.angle')}; "
            f"there are {', '.join(log.columns)}.",
            origin=log.origin,
            hint="Name the columns as the scene names its signals: arm/J1.angle [deg].",
        )
    return told, compared


def _run(
    log: Measured, session: Session, told: list[str], compared: list[str]
) -> dict[str, np.ndarray]:
    """Values of the compared signals at the times of the rows."""
    made = {name: np.zeros(len(log.time)) for name in compared}
    for row, time in enumerate(log.time - log.time[0]):
        while session.time < time - 0.5 * session.cycle.h:
            session.step()
        for name in compared:
            made[name][row] = session[name]
        for name in told:
            session[name] = float(log.columns[name][row])
    return made
