"""CPU time of mechanisms with loops at equal error, and how well they keep gaps and energy.

    python benchmarks/loops.py [--quick] [--json [FILE]] [--newton]
        [--case "four-bar"] [--gallery] [--figure docs/pictures/loops.svg]

Every engine runs the same mechanisms (``shared/linkages.py``) for one simulated second, with
smaller and smaller steps and with several settings; ours runs with impulses and with forces, all
orders, and two or three tolerances. The error is the largest error of a center of mass at the end,
in any direction, against a reference of order 6 with very small steps. The CPU time at an error is
interpolated between measured points (log-log), and the cheapest setting of each engine counts; the
note of a row names our setting. Engines take turns; times are medians of CPU time.

Ours, MuJoCo, Exudyn, Bullet and Drake step in loops of compiled code; of Pinocchio only its own
calls are counted, not the Python code between them. Pinocchio has no time integrator: its rows are
with Runge-Kutta, and the rows "with our integrator" compare the dynamics alone.

Further rows: largest gap of a joint, drift and largest deviation of energy (as parts of the largest
kinetic energy) at steps of 1 ms; CPU time per hinge and step of long chains; joints that the
impulse solver predicts, solves and corrects per second; and a step of a whole session, whose peer
is the engine alone. ``--gallery`` runs every mechanism of the kit for a minute instead.

Exudyn, Bullet, Drake and Newton have their own environment: ``make bench-venv``. Newton's solver
Kamino runs only with ``--newton``, with two time steps: on a CPU its kernels take a minute to
compile and each step takes 0.06 s.
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

import numpy as np
from shared import loops_ours, loops_sections
from shared.curves import Point, cost_at, sweep, useful
from shared.linkages import CASES, chain
from shared.loops_figure import draw
from shared.loops_kamino import CANNOT_BUILD, DIVERGED, beside_kamino
from shared.loops_peers import Far, Near, all_peers, slow_peer
from shared.rows import Benchmark, Row, power

LEVELS = (1e-3, 1e-4, 1e-5, 1e-6)
COUNTS = [round(1000 * 2 ** (n / 2)) for n in range(-10, 7)]
#: Prefix of settings that use our integrator in a peer; they have rows of their own.
BORROWED = "our "
#: Mechanisms of the long runs, and the settings of each peer there: its default and its best.
LONG = ("four-bar", "hexapod", "ring of 20")
BEST = {
    "MuJoCo": ("Euler, default", "RK4, stiff"),
    "Pinocchio": ("RK4", "RK4, Baumgarte"),
    "Exudyn": ("generalized alpha, default", "trapezoidal, tolerance 1e-10"),
    "Bullet": ("default", "1000 iterations"),
    "Drake": ("discrete, SAP",),
}
#: Name, unit and target of each figure of a long run, by attribute of ``Kept``.
KEPT = {
    "gap": ("largest gap", "m", 1e-9),
    "drift": ("drift of energy", "1", 1e-3),
    "swing": ("largest deviation of energy", "1", 1e-3),
}
#: Target for joints that are predicted, solved and corrected [1/s].
PREDICTIONS = 5e6

Peers = list[Near | Far]


def reference(engine: loops_ours.Engine) -> tuple[np.ndarray, float]:
    """Centers of mass after one second [m], and their distance from those of a coarser run [m]."""
    fine, coarse = (engine.advance(6, 1.0 / n, 1e-13, n)[1] for n in (2000, 1000))
    assert fine is not None
    assert coarse is not None
    return fine, float(np.abs(fine - coarse).max())


def at_equal_error(
    case: str, ours: Near, peers: Peers, *, most: float, rounds: int, notes: list[str]
) -> list[Row]:
    """Rows of one mechanism: CPU time of ours and of each peer at each error."""
    ours.load(case)
    truth, accuracy = reference(ours.engine)
    able = [peer for peer in peers if peer.load(case)]
    points: dict[str, list[Point]] = {}
    for peer in (ours, *able):
        found = sweep(peer, truth, COUNTS, most)
        points[peer.name] = useful(found)
        if peer is not ours and found:
            best = min(found, key=lambda p: p.error)
            if best.error < 1e-6:
                notes.append(
                    f"{case}: the smallest error of {peer.name} is {power(best.error)} m; the "
                    f"reference is accurate to {power(accuracy)} m."
                )
    for _ in range(rounds):
        for each in points.values():
            for point in each:
                point.again()
    rows = []
    for borrowed in (False, True):
        entered = [
            peer for peer in peers
            if not borrowed or any(s.startswith(BORROWED) for s in peer.settings)
        ]  # fmt: skip
        for level in LEVELS:
            name = f"{case}, CPU time at an error of {power(level)} m"
            name += ", with our integrator" if borrowed else ""
            mine = cost_at(points[ours.name], level)
            for peer in entered:
                own = [
                    p for p in points.get(peer.name, [])
                    if p.setting.startswith(BORROWED) == borrowed
                ]  # fmt: skip
                why = "does not reach it in the time limit" if peer in able else CANNOT_BUILD
                rows.append(cost_row(name, mine, peer.name, cost_at(own, level), why))
    return rows


def cost_row(
    name: str, ours: tuple[float, str] | None, peer: str, theirs: tuple[float, str] | None, why: str
) -> Row:
    """A row of CPU times [ms], from times [s] and settings; ``why`` the peer has no time."""
    notes = [f"ours: {ours[1] if ours else 'does not reach it in the time limit'}"]
    if theirs is None:
        notes.insert(0, why)
    return Row(
        name, "ms", 1e3 * ours[0] if ours else None, 1e3 * theirs[0] if theirs else None,
        f"{peer}, {theirs[1]}" if theirs else peer, note="; ".join(notes),
    )  # fmt: skip


def over_seconds(
    case: str, ours: Near, peers: Peers, seconds: float
) -> tuple[list[Row], dict[str, loops_sections.Kept]]:
    """Rows of gap and energy of a mechanism at 1 ms, and the runs by name."""
    linkage = CASES[case]()
    scale = loops_sections.energy_scale(case, min(seconds, 2.0))
    ours.load(case)
    runs = {
        name: loops_sections.kept(linkage, ours.trace(setting, 1e-3, seconds), seconds, scale)
        for name, setting in (("ours", "default"), ("ours, order 2", "order 2"))
    }
    for peer in peers:
        if not peer.load(case):
            continue
        for setting in BEST.get(peer.name.partition(" ")[0], ()):
            trace = peer.trace(setting, 1e-3, seconds)
            name = f"{peer.name}, {setting}"
            runs[name] = loops_sections.kept(linkage, trace, seconds, scale)
    rows = []
    for what, (word, unit, _target) in KEPT.items():
        title = f"{case}, {seconds:.0f} s, {word}"
        own, second = (float(getattr(runs[name], what)) for name in ("ours", "ours, order 2"))
        for name, run in runs.items():
            if name.startswith("ours"):
                continue
            value = float(getattr(run, what)) if run.ended else None
            note = "" if run.ended else DIVERGED
            rows.append(Row(title, unit, own, value, name, note=note))
        rows.append(Row(f"{title}, order 2", unit, second, own, "Linkwork, default (order 4)"))
    return rows, runs


def targets() -> str:
    """The targets of the long runs, as one sentence."""
    texts = [f"{word} {power(bar)} {unit}".removesuffix(" 1") for word, unit, bar in KEPT.values()]
    return f"Targets: {', '.join(texts)}."


def further(rounds: int, quick: bool) -> list[Row]:
    """Rows of long chains, predictions and whole sessions."""
    counts = [2, 10, 50] if quick else [2, 5, 10, 20, 50, 100, 200, 400]
    rows = []
    for order, word in ((4, "default"), (2, "order 2")):
        costs = loops_sections.step_costs(counts, rounds, order)
        for count, (mine, theirs) in costs.items():
            name = f"chain of {count} hinges, a step of 1 ms per hinge, {word}"
            figures = 1e3 * mine / count, 1e3 * theirs / count
            rows.append(Row(name, "ns", *figures, "MuJoCo, RK4 with the same step"))
    for name, linkage in (
        ("chain of 200", chain(200, value=0.01)),
        ("ring of 20", CASES["ring of 20"]()),
    ):
        rate = loops_sections.prediction_rate(linkage, rounds)
        title = f"{name}, joints predicted, solved and corrected"
        note = f"target: {power(PREDICTIONS)}/s"
        rows.append(Row(title, "1/s", rate, better="higher", note=note))
    whole, alone = loops_sections.session_cost("four-bar", rounds)
    title = "four-bar, a step of a whole session"
    rows.append(Row(title, "µs", whole, alone, "Linkwork, engine alone"))
    return rows


def against_kamino(case: str, ours: Near, *, quick: bool) -> list[Row]:
    """Rows of Newton's Kamino; none if it is not installed."""
    kamino = slow_peer()
    if kamino is None:
        return []
    ours.load(case)
    truth, _accuracy = reference(ours.engine)
    try:
        return beside_kamino(case, ours, kamino, truth, (100,) if quick else (100, 1000))
    finally:
        kamino.close()


def gallery(seconds: float) -> list[Row]:
    """Rows of the largest gap of every mechanism of the kit."""
    rows = []
    for name, account in loops_sections.gallery_gaps(seconds).items():
        note = (
            f"allowed: {power(account.allowed[0])}; {account.exceeded} of {account.steps} steps "
            f"exceeded it, {account.halved} were halved"
        )
        title = f"{name}, {seconds:.0f} s, largest gap"
        rows.append(Row(title, "m or rad", float(account.gap), note=note))
    return rows


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that only this benchmark has."""
    parser.add_argument("--newton", action="store_true", help="Newton's Kamino only; slow")
    parser.add_argument("--case", choices=list(CASES), help="CPU time at equal error of one case")
    parser.add_argument("--gallery", action="store_true", help="gaps of the kit's mechanisms only")
    parser.add_argument("--figure", type=Path, help="draw gap and energy of the four-bar, only")


def main() -> None:
    """Measures and publishes."""
    bench = Benchmark(__file__, __doc__)
    add_options(bench.parser)
    args = bench.parse()
    most, rounds, seconds = (0.06, 3, 1.0) if args.quick else (0.3, 3, 10.0)
    cases = ["four-bar", "ring of 20"] if args.quick else list(CASES)
    ours = Near(loops_ours)
    rows: list[Row] = []
    notes: list[str] = []
    with contextlib.ExitStack() as stack:
        peers, missing = ([], []) if args.gallery or args.newton else all_peers()
        for peer in peers:
            stack.callback(peer.close)
        if args.figure:
            rows, runs = over_seconds("four-bar", ours, peers, 10.0)
            args.figure.write_text(draw(runs, (KEPT["gap"][2], KEPT["drift"][2])))
            notes.append(targets())
        elif args.newton:
            for case in [args.case] if args.case else LONG:
                rows += against_kamino(case, ours, quick=args.quick)
            missing = [] if rows else ["Newton"]
        elif args.gallery:
            rows = gallery(2.0 if args.quick else 60.0)
        elif args.case:
            rows = at_equal_error(args.case, ours, peers, most=most, rounds=rounds, notes=notes)
        else:
            for case in cases:
                bench.log(case)
                rows += at_equal_error(case, ours, peers, most=most, rounds=rounds, notes=notes)
            for case in LONG[: 1 if args.quick else None]:
                bench.log(f"{case}, {seconds:.0f} s")
                rows += over_seconds(case, ours, peers, seconds)[0]
            bench.log("chains, predictions, sessions")
            rows += further(rounds, args.quick)
            notes.append(targets())
    if missing:
        notes.append(f"Not installed: {', '.join(missing)} (make bench-venv).")
    bench.publish(rows, notes=notes)


if __name__ == "__main__":
    main()
