"""The charts of ``linkwork charts``: three runs of one scene, and the curves of each."""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from linkwork.cli.compile_progress import show_compiling
from linkwork.cli.curves import Curve, write_svg
from linkwork.cli.output_files import StateTables, check_outputs, free_name
from linkwork.cli.run_session import set_signal
from linkwork.cli.scene_argument import load_showing_notes, scene_to_run
from linkwork.cli.screen import show_withheld
from linkwork.components.agents.walker import Walker
from linkwork.core.atomic import whole_file
from linkwork.core.errors import FormatError, not_found, os_error_text
from linkwork.core.value_types import split_unit
from linkwork.model.scene import MODES, Scene
from linkwork.project.trust import is_trusted
from linkwork.session.session import Session

#: Points of a curve per second.
RATE = 250.0
_SIDE = re.compile(r"(^|_)(right|left)(_|$)")


@dataclass(frozen=True)
class JointFigures:
    """The values of a joint in the printed table."""

    name: str
    effort: str
    error: str


@dataclass
class ChartReport:
    """The result: values by joint, and the number of charts."""

    rows: list[JointFigures] = field(default_factory=list)
    count: int = 0


@dataclass
class _Run:
    """Signals over time of one run."""

    time: np.ndarray
    values: dict[str, np.ndarray]


def draw_charts(
    what: str,
    folder: Path,
    *,
    duration: float | None,
    joints: list[str],
    values: list[str],
    overwrite: bool,
) -> ChartReport:
    """Runs a scene in each mode and writes charts, tables and a page that shows them.

    Raises:
        LinkworkError: If it cannot be run in a mode, or a file cannot be written.
    """
    thing, _ = load_showing_notes(what)
    scene, _ = scene_to_run(thing, what, free=False)
    if (folder / "index.html").exists():
        check_outputs([folder / "index.html"], overwrite=overwrite)
    runs: dict[str, _Run] = {}
    names: list[str] = []
    bodies: list[str] = []
    for mode in MODES:
        with show_compiling():
            session = Session(
                replace(scene, mode=mode), watch=False, buses=False, programs=is_trusted
            )
        if mode == MODES[0]:
            show_withheld(session)
        with session:
            _set(session, values)
            names = _chosen(session, joints)
            bodies = [spec.name for spec in session.world.sensors if spec.type == "motion"]
            tables = StateTables(session, folder / mode, RATE, overwrite=overwrite)
            try:
                runs[mode] = _run(session, duration or _time_of(session), tables)
            finally:
                tables.close()
    made = ChartReport()
    page: list[str] = []
    for group, members in _groups(names).items():
        made.rows += [_figures(runs, name) for name in members]
        _draw_joints(folder, group, members, runs, page)
    for name in bodies:
        _draw_body(folder, name, runs["kinematic"], page)
    made.count = len(page)
    _write_page(folder, scene, page)
    return made


def _set(session: Session, values: list[str]) -> None:
    """Sets signals before a run, given as SIGNAL=VALUE."""
    for text in values:
        set_signal(session, text)


def _time_of(session: Session) -> float:
    """Duration of the longest walk plus some rest; else 5 s."""
    ends = [agent.end + 0.2 for agent in session.cycle.agents if isinstance(agent, Walker)]
    return max(ends, default=5.0)


def _chosen(session: Session, patterns: list[str]) -> list[str]:
    """Joints with one value and a target."""
    known = [
        name for n, name in enumerate(session.world.joint_names)
        if session.world.joints[n].kind.nv == 1 and f"{name}.target" in session.signals
    ]  # fmt: skip
    if not patterns:
        driven = [name for name in known if f"{name}.kp" in session.signals]
        return driven or known
    found = [name for name in known if any(fnmatchcase(name, p) for p in patterns)]
    if not found:
        raise not_found("joint", patterns[0], known)
    return found


def _run(session: Session, duration: float, tables: StateTables) -> _Run:
    signals = [s for s in session.signals if s.direction == "output" or s.name.endswith(".target")]
    addresses = np.array([s.address for s in signals])
    every = max(1, round(1.0 / (RATE * session.cycle.h)))
    time, rows = [session.time], [session.state.data[addresses].copy()]
    for _ in range(max(1, round(duration / session.cycle.h))):
        session.step()
        tables.after_step()
        if session.state.step % every == 0:
            time.append(session.time)
            rows.append(session.state.data[addresses].copy())
    table = np.array(rows)
    return _Run(np.array(time), {s.name: table[:, n] for n, s in enumerate(signals)})


def _groups(names: list[str]) -> dict[str, list[str]]:
    """Groups joints that differ only in their side; they are drawn together."""
    made: dict[str, list[str]] = {}
    for name in names:
        scope, _, last = name.rpartition("/")
        key = _SIDE.sub(lambda m: "_" if m[1] and m[3] else "", last)
        made.setdefault(f"{scope}/{key}" if scope else key, []).append(name)
    return made


def _value(run: _Run, joint: str) -> tuple[np.ndarray, bool]:
    """A joint's value over time, and whether it is an angle."""
    angle = f"{joint}.angle" in run.values
    return run.values[f"{joint}.angle" if angle else f"{joint}.position"], angle


def _draw_joints(
    folder: Path, group: str, members: list[str], runs: dict[str, _Run], page: list[str]
) -> None:
    angle = _value(runs["kinematic"], members[0])[1]
    scale, unit = (180.0 / math.pi, "°") if angle else (1e3, " mm")
    effort = " N m" if angle else " N"
    short = {name: name.rpartition("/")[2] for name in members}
    moved, emulated, real = (runs[mode] for mode in MODES)
    for word, per in (("", ""), ("speed", "/s"), ("acceleration", "/s²")):
        curves = []
        for name in members:
            found = _value(moved, name)[0] if not word else moved.values[f"{name}.{word}"]
            curves.append(Curve(short[name], moved.time, scale * found))
        title = f"{group}: {word or 'position'}"
        _svg(folder, f"{group} {word or 'position'}", title, curves, f"{unit}{per}", page)
    for title, run in (("moment, emulated", emulated), ("moment of the drives, simulated", real)):
        curves = [Curve(short[n], run.time[1:], run.values[f"{n}.effort"][1:]) for n in members]
        word = title.partition(",")[0].replace(" of the drives", " of drives")
        name = f"{group} {'emulated' if run is emulated else 'simulated'} {word.split()[0]}"
        _svg(folder, name, f"{group}: {title}", curves, effort, page)
    curves = []
    for name in members[:2]:
        curves.append(Curve(f"{short[name]} actual", real.time, scale * _value(real, name)[0]))
        wanted = scale * real.values[f"{name}.target"]
        curves.append(Curve(f"{short[name]} wanted", real.time, wanted))
    _svg(folder, f"{group} tracking", f"{group}: wanted and actual", curves, unit, page)


def _draw_body(folder: Path, sensor: str, run: _Run, page: list[str]) -> None:
    for word, behind, unit in (("place", "", " m"), ("speed", "_speed", " m/s")):
        curves = [Curve(c, run.time, run.values[f"{sensor}.{c}{behind}"]) for c in "xyz"]
        _svg(folder, f"{sensor} {word}", f"{sensor}: {word}", curves, unit, page)
    factor = 1.0 / split_unit("angle_deg")[1]
    curves = [
        Curve(c, run.time, factor * run.values[f"{sensor}.{c}"]) for c in ("phi", "psi", "theta")
    ]
    _svg(folder, f"{sensor} turn", f"{sensor}: turn", curves, "°", page)


def _svg(
    folder: Path, name: str, title: str, curves: list[Curve], unit: str, page: list[str]
) -> None:
    stem = re.sub(r"[^A-Za-z0-9]+", "-", name.lower()).strip("-")
    file = free_name(stem, ".svg", [Path(each) for each in page])
    write_svg(folder / file, title, curves, unit)
    page.append(file)


def _figures(runs: dict[str, _Run], joint: str) -> JointFigures:
    angle = _value(runs["kinematic"], joint)[1]
    effort = float(np.abs(runs["emulation"].values[f"{joint}.effort"][1:]).max())
    real = runs["simulation"]
    off = float(np.abs(real.values[f"{joint}.target"] - _value(real, joint)[0]).max())
    scale, unit = (180.0 / math.pi, "°") if angle else (1e3, " mm")
    return JointFigures(
        joint, f"{effort:.3f} {'N m' if angle else 'N'}", f"{scale * off:.3f}{unit}"
    )


def _write_page(folder: Path, scene: Scene, files: list[str]) -> None:
    title = html.escape(scene.title or scene.name)
    figures = "\n".join(f'<img src="{file}" alt="{file[:-4]}" width="960">' for file in files)
    text = (
        f'<!doctype html><meta charset="utf-8"><title>{title}</title>\n'
        f'<body style="font-family: system-ui, sans-serif"><h1>{title}</h1>\n{figures}\n'
    )
    try:
        with whole_file(folder / "index.html") as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{folder} cannot be written: {os_error_text(error)}.") from None
