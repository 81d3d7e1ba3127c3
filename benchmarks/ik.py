"""Inverse kinematics against the rivals: the same targets and starts, one run.

    python benchmarks/ik.py [--quick] [--json]

Arms (iiwa 14 and Panda): targets are where random postures within the ranges take the tool. All
solvers aim at 1e-6 m and rad; an answer counts if Pinocchio finds the tool within 1 mm and 0.1° of
its target and all joints within their ranges. Times are CPU time of one call [µs] from Python:
``aim`` and ``solve`` of ours as a user calls them, the compiled search behind them by itself
("kernel"), and a target's share of ``solve_many`` ("batch").

Humanoid (Romeo with a free base, 39 degrees of freedom): feet, wrists and centre of mass, ranges
as limits. One step of the quadratic program, with forward kinematics and integration, from next to
the target (following) and from anywhere (several limits active), the quickest of three calls; and
whole postures, to 0.9 mm and 0.09° for both.

The rivals need other versions than we do, so they have an environment of their own:
``make bench-venv``. Each runs in a process of its own, begins no target after two minutes and is
ended after six, so that a row may have fewer targets than ours. mink and pink get 200 of an arm's.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from shared.iiwa import TIP, write_iiwa
from shared.ik_arms import ROBOTS, Arm, row
from shared.ik_ends import RIVALS
from shared.ik_romeo import romeo
from shared.report import options

HERE = Path(__file__).resolve().parent
SLOW = ("mink", "pink")


def arm_rows(arm: Arm, python: str, *, quick: bool) -> list[dict]:
    """One arm, ours and all rivals."""
    times, q = arm.ours()
    kernel, bare = arm.kernel()
    mean, many = arm.batch()
    rows = [
        row("Linkwork", arm.name, times, arm.success(q)),
        row("Linkwork, kernel", arm.name, kernel, arm.success(bare)),
        {
            "robot": arm.name, "solver": "Linkwork, batch", "targets": len(times),
            "mean": mean / 1e3,
            "success": arm.success(many),
        },
    ]  # fmt: skip
    for name in RIVALS if python else ():
        some = (30 if quick else 200) if name in SLOW else len(times)
        found = arm.rival(python, name, some)
        if isinstance(found, str):
            print(f"{name} on {arm.name}: {found}", file=sys.stderr)
            continue
        rows.append(row(name, arm.name, found[0], arm.success(found[1]), times, kernel))
    return rows


def closed_row(arm: Arm) -> dict:
    """The closed form against the search."""
    found = arm.closed()
    return {"robot": f"{arm.name}, closed form", "solver": "Linkwork", **found}


def show_rows(rows: list[dict]) -> None:
    for each in rows:
        line = f"{each['robot']:<22}{each['solver']:<18}"
        if "closed" in each:
            print(
                f"{line}{each['success'] * 100:6.1f} %   mean {each['closed']:.2f} µs, the search "
                f"{each['numeric']:.2f} µs, both in compiled loops: {each['ratio']:.1f}×"
            )
            continue
        if "mean" in each:
            print(f"{line}{each['success'] * 100:6.1f} %   mean {each['mean']:.2f} µs a target")
            continue
        success = "        " if each["success"] is None else f"{each['success'] * 100:6.1f} %"
        line += f"{success} of {each['targets']:>6}"
        line += f"   median {each['median']:9.2f} µs   p99 {each['p99']:10.2f} µs"
        if "slower" in each:
            line += f"   {each['slower']:6.1f}× and {each['p99 slower']:6.1f}× ours"
        if "kernel slower" in each:
            line += (
                f", {each['kernel slower']:.1f}× and {each['kernel p99 slower']:.1f}× its kernel"
            )
        if "differs by" in each:
            line += f", differs by {each['differs by']:.1e}"
        print(line, flush=True)


def main() -> None:
    chosen = options("Inverse kinematics against the rivals")
    count = 1000 if chosen.quick else 10_000
    python = os.environ.get("LINKWORK_BENCH_PYTHON") or str(
        HERE.parent / ".venv-bench" / "bin" / "python"
    )
    if not Path(python).exists():
        print("The rivals are not there: make bench-venv", file=sys.stderr)
        python = ""
    rows: list[dict] = []
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        iiwa, panda = write_iiwa(room / "iiwa.urdf"), ROBOTS / "panda_description/urdf/panda.urdf"
        for name, urdf, base, tip in (
            ("iiwa", iiwa, "base", TIP), ("panda", panda, "panda_link0", "panda_link8"),
        ):  # fmt: skip
            arm = Arm(name, urdf, base, tip, count, room)
            mine = arm_rows(arm, python, quick=chosen.quick)
            if name == "iiwa":
                mine.append(closed_row(arm))
            if not chosen.json:
                show_rows(mine)
            rows += mine
        ticks, whole = (100, 100) if chosen.quick else (500, 1000)
        mine = romeo(python, ticks, whole, room)
        if not chosen.json:
            show_rows(mine)
        rows += mine
    if chosen.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
