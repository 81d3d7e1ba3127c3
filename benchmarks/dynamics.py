"""CPU time of recursive and derived dynamics beside Pinocchio and MuJoCo, with the same inertias.

    python benchmarks/dynamics.py [--quick] [--json [FILE]]

Inverse dynamics (rnea), mass matrix (crba) and forward dynamics (aba) of three robots, CPU time per
state; the number of degrees of freedom is in parentheses. Ours and Pinocchio's rnea and aba run in
compiled loops on one thread; Pinocchio's crba and MuJoCo have no such loop and are called from
Python once per state. MuJoCo has no articulated-body algorithm: it factorizes its mass matrix. The
run fails unless all results agree to 1e-11 of the largest number (accelerations: the efforts that
cause them).

"Derived C" is the code that ``linkwork derive`` writes: forward dynamics of BARt-UH II on a free
base, beside Pinocchio's aba and MuJoCo's mj_forward, all three in compiled loops. The last rows are
the time that the derivation takes, and a step of the engine ``lagrange`` (rk4, no contacts) with
``code = "generated"``; the peer of that step is the same step with ``code = "recursive"``.
"""

from __future__ import annotations

import numpy as np
from shared.child import reason
from shared.derived_peers import Derived, MuJoCoBiped, PinocchioBiped
from shared.dynamics_peers import MuJoCo, Ours, Pinocchio
from shared.lagrange_steps import Stepping
from shared.rows import Benchmark, Row, power
from shared.timing import Times, compare, in_turn

from linkwork import LinkworkError

CASES = (
    ("Panda", "panda_description/urdf/panda.urdf", False),
    ("Solo on a free base", "solo_description/robots/solo12.urdf", True),
    ("Talos on a free base", "talos_data/robots/talos_full_v2.urdf", True),
)
AGREE = 1e-11


class Results:
    """Rows and notes so far."""

    def __init__(self, steps: int, rounds: int) -> None:
        self.steps, self.rounds = steps, rounds
        self.rows: list[Row] = []
        self.notes: list[str] = []

    def time(self, calls: dict) -> Times:
        """Runs each call once, then all in turn."""
        for call in calls.values():
            call(self.steps)
        return in_turn(calls, steps=self.steps, rounds=self.rounds)

    def agree(self, what: str, difference: float, limit: float) -> None:
        """Notes by how much results differ; fails if it is too much."""
        if difference > limit:
            raise SystemExit(f"{what}: results differ by {difference:.2g}, more than {limit:g}.")
        self.notes.append(f"{what}: results agree to {power(difference)} of the largest number.")


def difference(ours: Ours, peer: Pinocchio | MuJoCo, count: int) -> float:
    """The largest difference of all results, relative to the largest number among them."""
    efforts, masses, made = peer.answers(ours, count)
    pairs = [(ours.efforts[:count], efforts), (ours.masses[:count], masses)]
    weighed = [np.einsum("kij,kj->ki", masses, each) for each in (ours.made[:count], made)]
    worst = 0.0
    for mine, theirs in [*pairs, (weighed[0], weighed[1])]:
        worst = max(worst, float(np.abs(mine - theirs).max() / max(1.0, np.abs(theirs).max())))
    return worst


def recursive(name: str, file: str, free: bool, results: Results) -> None:
    """Adds the rows of one robot."""
    ours = Ours(file, free=free, count=results.steps)
    peers: list[Pinocchio | MuJoCo] = []
    missing = ""
    try:
        peers.append(Pinocchio(ours, file))
    except ImportError as error:
        missing = reason(error)
    peers.append(MuJoCo(ours))
    for what in ("rnea", "crba", "aba"):
        calls = {"ours": getattr(ours, what)}
        calls |= {peer.name: getattr(peer, what) for peer in peers}
        times = results.time(calls)
        label = f"{name} ({ours.world.nv}), {what}"
        for peer in peers:
            full = peer.name if what in peer.looped else f"{peer.name}, one call per state"
            results.rows.append(compare(times, label, "ours", peer.name, full))
        if missing:
            mine = results.rows[-1].ours
            results.rows.append(Row(label, "µs", mine, None, Pinocchio.name, note=missing))
    worst = max(difference(ours, peer, min(results.steps, 50)) for peer in peers)
    results.agree(name, worst, AGREE)


def derived(results: Results) -> None:
    """Adds the rows of the derived code."""
    try:
        ours = Derived(results.steps)
    except LinkworkError as error:
        results.rows.append(Row("BARt-UH II, derived C", "µs", None, note=reason(error)))
        return
    peers: list[PinocchioBiped | MuJoCoBiped] = [MuJoCoBiped(ours)]
    try:
        peers.insert(0, PinocchioBiped(ours))
    except ImportError as error:
        results.notes.append(f"BARt-UH II: {reason(error)}.")
    times = results.time({"ours": ours.aba} | {peer.name: peer.aba for peer in peers})
    label = f"BARt-UH II on a free base ({ours.world.nv}), aba, derived C"
    results.rows += [compare(times, label, "ours", peer.name, peer.name) for peer in peers]
    size = float(np.abs(ours.a).max())
    worst = max(float(np.abs(each.answers() - ours.made).max()) / size for each in peers)
    worst = max(worst, float(np.abs(ours.made - ours.a).max()) / size)
    results.agree("Derived C", worst, 100 * AGREE)
    results.rows.append(Row("BARt-UH II, derivation of all equations", "s", ours.traced))


def stepped(results: Results) -> None:
    """Adds the row of a step of the engine."""
    name = "BARt-UH II, step of lagrange, generated C"
    peer = "Linkwork, recursive code"
    try:
        codes = {code: Stepping(code) for code in ("generated", "recursive")}
    except RuntimeError as error:
        results.rows.append(Row(name, "µs", None, None, peer, note=reason(error)))
        return
    times = results.time({code: each.steps for code, each in codes.items()})
    results.rows.append(compare(times, name, "generated", "recursive", peer))
    apart = np.abs(codes["generated"].answer() - codes["recursive"].answer()).max()
    results.agree("Steps of lagrange", float(apart), AGREE)


def main() -> None:
    bench = Benchmark(__file__, __doc__)
    steps, rounds = (500, 5) if bench.parse().quick else (2000, 15)
    results = Results(steps, rounds)
    for name, file, free in CASES:
        bench.log(name)
        recursive(name, file, free, results)
    bench.log("BARt-UH II")
    derived(results)
    stepped(results)
    bench.publish(results.rows, notes=results.notes)


if __name__ == "__main__":
    main()
