"""Mechanisms with loops: CPU time at equal error, ours and other engines in one run.

    python benchmarks/loops.py [--quick] [--json] [--newton]
        [--case "four-bar"] [--gallery] [--figure docs/pictures/loops.svg]

Every engine runs the same mechanisms (``shared/linkages.py``) for one simulated second, with ever
smaller steps and with several settings; so does ours, by impulses and by forces, with all orders
and two or three tolerances.
The error is the worst one of a centre of mass at the end, in any direction, against order 6 with
tiny steps. What an error costs is found between measured points, on straight lines in log-log, and
of the settings of each engine the cheapest counts. ``ratio`` is peer / ours: above one we are
faster. Engines take turns; times are CPU time and medians.

Ours and MuJoCo step in loops of compiled code, as do Exudyn, Bullet and Drake; of Pinocchio only
its own calls are counted. Other sections: gaps and energy over ten seconds, the cost of long
chains, the rate of look-aheads, small trees, and what a whole session costs around the engine.
``--gallery`` runs every mechanism of the kit for a minute and prints how far joints were open.

Exudyn, Bullet, Drake and Newton have an environment of their own: ``make bench-venv``. Newton's
Kamino is run by ``--newton`` alone, at two steps: on a processor its kernels take a minute to
compile and each step takes 0.06 s.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from shared import loops_ours, loops_sections
from shared.curves import Point, cost_at, sweep, worthy
from shared.linkages import CASES, chain
from shared.loops_figure import draw
from shared.loops_kamino import beside_kamino
from shared.loops_rivals import Far, Near, all_rivals, slow_rival
from shared.report import Row

LEVELS = (1e-3, 1e-4, 1e-5, 1e-6)
COUNTS = [round(1000 * 2 ** (n / 2)) for n in range(-10, 7)]
#: How settings begin that a rival does not have by itself: it stands twice in the table.
LENT = "our "
#: What is run over ten seconds, and with which settings: the default, and the best.
LONG = ("four-bar", "hexapod", "ring of 20")
BEST = {
    "MuJoCo": ("Euler, default", "RK4, stiff"),
    "Pinocchio": ("RK4", "RK4, Baumgarte"),
    "Exudyn": ("generalized alpha, default", "trapezoidal, tolerance 1e-10"),
    "Bullet": ("default", "1000 iterations"),
    "Drake": ("discrete, SAP",),
}
#: What gaps [m], drifts and deviations of energy (as parts of the largest kinetic one) are held to.
BARS = (1e-9, 1e-3, 1e-3)

Rivals = list[Near | Far]


def reference(engine: loops_ours.Engine) -> tuple[np.ndarray, float]:
    """Centres of mass after a second, and how far a coarser run is from them [m]."""
    fine, coarse = (engine.leap(6, 1.0 / n, 1e-13, n)[1] for n in (2000, 1000))
    assert fine is not None
    assert coarse is not None
    return fine, float(np.abs(fine - coarse).max())


def at_equal_error(
    case: str, ours: Near, rivals: Rivals, *, most: float, rounds: int, said: list[str]
) -> list[Row]:
    """One case: cost of each error, ours and theirs [ms]."""
    ours.load(case)
    truth, sure = reference(ours.engine)
    able = [rival for rival in rivals if rival.load(case)]
    points: dict[str, list[Point]] = {}
    for rival in (ours, *able):
        found = sweep(rival, truth, COUNTS, most)
        points[rival.name] = worthy(found)
        if rival is not ours and found:
            best = min(found, key=lambda p: p.error)
            if best.error < 1e-6:
                text = f"{rival.name} at its best ends {best.error:.0e} m from the reference"
                said.append(f"{case}: {text}, which is sure to {sure:.0e} m.")
    for _ in range(rounds):
        for each in points.values():
            for point in each:
                point.again()

    def why(rival: object) -> str:
        return "does not get there in the time it has" if rival in able else "cannot build it"

    rows = []
    for level in LEVELS:
        mine = cost_at(points[ours.name], level)
        for rival, lent in entrants(rivals):
            entered = [p for p in points.get(rival.name, []) if p.setting.startswith(LENT) == lent]
            theirs = cost_at(entered, level)
            name = f"{case}, error {level:.0e} m [ms]"
            by = f" ({mine[1]})" if mine else ""
            rows.append(
                Row(
                    name + by, 1e3 * mine[0] if mine else float("nan"),
                    1e3 * theirs[0] if theirs else float("nan"),
                    f"{rival.name}, {theirs[1]}" if theirs else f"{rival.name}: {why(rival)}",
                    theirs[0] / mine[0] if theirs and mine else float("nan"),
                )
            )  # fmt: skip
    return rows


def entrants(rivals: Rivals) -> list[tuple[Near | Far, bool]]:
    """Each rival as it is, and once more with what we lent it."""
    lent = [rival for rival in rivals if any(s.startswith(LENT) for s in rival.settings)]
    return [(rival, False) for rival in rivals] + [(rival, True) for rival in lent]


def over_seconds(
    case: str, ours: Near, rivals: Rivals, seconds: float
) -> tuple[list[Row], dict[str, loops_sections.Kept]]:
    """Gap and drift of a case at 1 ms, by default and at best."""
    linkage = CASES[case]()
    scale = loops_sections.energy_scale(case, min(seconds, 2.0))
    ours.load(case)
    runs = {
        name: loops_sections.kept(linkage, ours.trace(setting, 1e-3, seconds), seconds, scale)
        for name, setting in (("ours", "default"), ("ours, order 2", "order 2"))
    }
    for rival in rivals:
        if not rival.load(case):
            continue
        for setting in BEST.get(rival.name.partition(" ")[0], ()):
            trace = rival.trace(setting, 1e-3, seconds)
            name = f"{rival.name}, {setting}"
            runs[name] = loops_sections.kept(linkage, trace, seconds, scale)
    mine = runs["ours"]
    rows = []
    for what, bar in zip(("gap", "drift", "swing"), BARS, strict=True):
        own = float(getattr(mine, what))
        word = {"gap": "largest gap [m]", "swing": "largest deviation of energy"}.get(what, "drift")
        title = f"{case}, {seconds:.0f} s, {word}"
        rows.append(Row(title, own, bar, "bar", bar / own if own else float("inf")))
        for name, run in runs.items():
            if run is not mine:
                value = float(getattr(run, what)) if run.ended else float("inf")
                rows.append(Row(title, own, value, name, value / own))
    return rows, runs


def further(rounds: int, quick: bool) -> list[Row]:
    """Long chains, look-aheads, small trees, whole sessions."""
    counts = [2, 10, 50] if quick else [2, 5, 10, 20, 50, 100, 200, 400]
    rows = []
    for order, word in ((4, "default"), (2, "order 2")):
        costs = loops_sections.step_costs(counts, rounds, order)
        for count, (mine, theirs) in costs.items():
            name = f"chain of {count} hinges, a hinge and step of 1 ms, {word} [ns]"
            other = "MuJoCo, RK4 at the same step"
            rows.append(Row(name, 1e3 * mine / count, 1e3 * theirs / count, other, theirs / mine))
    for name, linkage in (
        ("chain of 200", chain(200, value=0.01)),
        ("ring of 20", CASES["ring of 20"]()),
    ):
        rate = loops_sections.look_rate(linkage, rounds) / 1e6
        title = f"joints looked ahead, solved and corrected, {name} [M/s]"
        rows.append(Row(title, rate, 5.0, "goal", rate / 5.0))
    whole, alone = loops_sections.session_cost("four-bar", rounds)
    rows.append(
        Row(
            "four-bar, a step of a whole session [µs]",
            whole,
            alone,
            "its engine alone",
            alone / whole,
        )
    )
    return rows


def against_kamino(case: str, ours: Near, *, quick: bool) -> list[Row]:
    """Newton's Kamino beside ours, or a row that says that it is not there."""
    kamino = slow_rival()
    if kamino is None:
        return []
    ours.load(case)
    truth, _sure = reference(ours.engine)
    try:
        return beside_kamino(case, ours, kamino, truth, (100,) if quick else (100, 1000))
    finally:
        kamino.close()


def gallery(seconds: float) -> list[Row]:
    """Widest gap of every mechanism of the kit, against what it is allowed."""
    rows = []
    for name, told in loops_sections.gallery_gaps(seconds).items():
        title = f"{name}, {seconds:.0f} s, widest gap [m or rad]"
        why = f"allowed; {told.exceeded} of {told.steps} steps exceeded, {told.halved} halved"
        rows.append(
            Row(title, told.gap, told.allowed[0], why, told.allowed[0] / (told.gap or 1e-16))
        )
    return rows


def show(rows: list[Row]) -> None:
    """Prints rows, those with the same name together."""

    def number(value: float) -> str:
        if not np.isfinite(value):
            return "–"
        return f"{value:.3g}" if 1e-2 < abs(value) < 1e4 else f"{value:.1e}"

    last = ""
    for row in rows:
        if row.name != last:
            print(f"{row.name:<72} ours {number(row.ours)}")
            last = row.name
        print(f"    {row.peer_name:<50} {number(row.peer):>9}   ratio {number(row.ratio)}")


def asked() -> argparse.Namespace:
    """Options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--newton", action="store_true", help="Newton's Kamino, only; slow")
    parser.add_argument("--case", choices=list(CASES), help="cost at equal error of one case only")
    parser.add_argument("--gallery", action="store_true", help="gaps of the kit's scenes, only")
    parser.add_argument("--figure", type=Path, help="draw gap and drift of the four-bar, only")
    return parser.parse_args()


def main() -> None:
    """Measures and prints."""
    args = asked()
    most, rounds, seconds = (0.06, 3, 1.0) if args.quick else (0.3, 3, 10.0)
    cases = ["four-bar", "ring of 20"] if args.quick else list(CASES)
    ours = Near(loops_ours)
    rows: list[Row] = []
    said: list[str] = []
    with contextlib.ExitStack() as stack:
        rivals = [] if args.gallery or args.newton else all_rivals()
        for rival in rivals:
            stack.callback(rival.close)
        if args.figure:
            rows, runs = over_seconds("four-bar", ours, rivals, 10.0)
            args.figure.write_text(draw(runs, BARS[:2]))
        elif args.newton:
            for case in [args.case] if args.case else LONG:
                rows += against_kamino(case, ours, quick=args.quick)
        elif args.gallery:
            rows = gallery(2.0 if args.quick else 60.0)
        elif args.case:
            rows = at_equal_error(args.case, ours, rivals, most=most, rounds=rounds, said=said)
        else:
            for case in cases:
                rows += at_equal_error(case, ours, rivals, most=most, rounds=rounds, said=said)
            for case in LONG[: 1 if args.quick else None]:
                rows += over_seconds(case, ours, rivals, seconds)[0]
            rows += further(rounds, args.quick)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
        return
    show(rows)
    for line in said:
        print(line)


if __name__ == "__main__":
    main()
