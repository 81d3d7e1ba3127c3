"""Recursive dynamics against Pinocchio and MuJoCo: the same robots, states and inertias.

    python benchmarks/dynamics.py [--quick] [--json]

Inverse dynamics (rnea), mass matrix (crba) and forward dynamics (aba), CPU time per state [µs].
Ours and Pinocchio's rnea and aba run in compiled loops on one thread; Pinocchio's crba and MuJoCo
have no such loop and are called once for each state from Python. MuJoCo has no algorithm of
articulated bodies: it factorises its mass matrix. Answers must agree to 1e-11 of the largest
number, accelerations by the efforts that they stand for.

Last the code that ``linkwork derive`` writes: forward dynamics of BARt-UH II on a floating base as
C, against Pinocchio's aba and MuJoCo's mj_forward, all three in compiled loops; how long the
derivation takes; and what a step of the engine lagrange (rk4, no contacts) takes with
``code = "generated"`` against ``"recursive"``.
"""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
from shared.derived_ends import Derived, MuJoCoBiped, PinocchioBiped
from shared.dynamics_ends import MuJoCo, Ours, Pinocchio
from shared.report import Row, compare, in_turn, options, show
from shared.step_ends import Stepping

CASES = (
    ("Panda", "panda_description/urdf/panda.urdf", False),
    ("Solo on a free base", "solo_description/robots/solo12.urdf", True),
    ("Talos on a free base", "talos_data/robots/talos_full_v2.urdf", True),
)
AGREE = 1e-11


def differs(ours: Ours, peer: Pinocchio | MuJoCo, count: int) -> float:
    """The largest difference of all answers, relative to the largest number among them."""
    efforts, masses, made = peer.answers(ours, count)
    pairs = [(ours.efforts[:count], efforts), (ours.masses[:count], masses)]
    weighed = [np.einsum("kij,kj->ki", masses, each) for each in (ours.made[:count], made)]
    worst = 0.0
    for mine, theirs in [*pairs, (weighed[0], weighed[1])]:
        worst = max(worst, float(np.abs(mine - theirs).max() / max(1.0, np.abs(theirs).max())))
    return worst


def case(name: str, file: str, free: bool, steps: int, rounds: int) -> tuple[list[Row], float]:
    """Rows of one robot, and by how much the answers differ."""
    ours = Ours(file, free=free, count=steps)
    peers: list[Pinocchio | MuJoCo] = [Pinocchio(ours, file), MuJoCo(ours)]
    rows = []
    for what in ("rnea", "crba", "aba"):
        calls = {"ours": getattr(ours, what)}
        calls |= {peer.name: getattr(peer, what) for peer in peers}
        for call in calls.values():
            call(steps)
        times = in_turn(calls, steps=steps, rounds=rounds)
        label = f"{name} ({ours.world.nv}), {what}"
        rows += [compare(times, label, "ours", peer.name, peer.name) for peer in peers]
    worst = max(differs(ours, peer, min(steps, 50)) for peer in peers)
    if worst > AGREE:
        raise SystemExit(f"{name}: answers differ by {worst:.2g}, more than {AGREE:g}.")
    return rows, worst


def derived(steps: int, rounds: int) -> tuple[list[Row], float, float]:
    """Rows of the derived code, by how much answers differ, and the time of deriving [s]."""
    ours = Derived(steps)
    peers: list[PinocchioBiped | MuJoCoBiped] = [PinocchioBiped(ours), MuJoCoBiped(ours)]
    calls = {"ours": ours.aba} | {peer.name: peer.aba for peer in peers}
    for call in calls.values():
        call(steps)
    times = in_turn(calls, steps=steps, rounds=rounds)
    label = f"BARt-UH II on a free base ({ours.world.nv}), derived C"
    rows = [compare(times, label, "ours", peer.name, peer.name) for peer in peers]
    size = float(np.abs(ours.a).max())
    worst = max(float(np.abs(each.answers() - ours.made).max()) / size for each in peers)
    worst = max(worst, float(np.abs(ours.made - ours.a).max()) / size)
    if worst > 100 * AGREE:
        raise SystemExit(f"derived C: answers differ by {worst:.2g}, more than {100 * AGREE:g}.")
    return rows, worst, ours.traced


def stepped(steps: int, rounds: int) -> tuple[Row, float]:
    """A step of the engine by generated and recursive code, and by how much they differ."""
    ends = {code: Stepping(code) for code in ("generated", "recursive")}
    for end in ends.values():
        end.steps(steps)
    times = in_turn({code: end.steps for code, end in ends.items()}, steps=steps, rounds=rounds)
    row = compare(
        times, "BARt-UH II, step of lagrange, generated C", "generated", "recursive", "recursive"
    )
    apart = np.abs(ends["generated"].answer() - ends["recursive"].answer()).max()
    if apart > AGREE:
        raise SystemExit(f"steps differ by {apart:.2g}, more than {AGREE:g}.")
    return row, float(apart)


def main() -> None:
    chosen = options(__doc__ or "")
    steps, rounds = (500, 5) if chosen.quick else (2000, 15)
    rows, worst = [], {}
    for name, file, free in CASES:
        found, worst[name] = case(name, file, free, steps, rounds)
        rows += found
    found, worst["derived C"], seconds = derived(steps, rounds)
    rows += found
    row, worst["steps of lagrange"] = stepped(steps, rounds)
    rows.append(row)
    if chosen.json:
        made = {"rows": [asdict(row) for row in rows], "differ": worst, "derived_in_s": seconds}
        print(json.dumps(made, indent=1))
        return
    show(rows, as_json=False)
    for name, value in worst.items():
        print(f"{name}: answers differ by {value:.1e} of the largest number")
    print(f"BARt-UH II derived in {seconds:.2f} s")


if __name__ == "__main__":
    main()
