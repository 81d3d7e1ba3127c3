"""CPU time of inverse kinematics beside other solvers, with the same targets and starts.

    python benchmarks/ik.py [--quick] [--json [FILE]]

Arms (iiwa 14 and Panda): the targets are tool poses of random postures within the joint ranges. All
solvers have a tolerance of 1e-6 m and rad. A target counts as reached if Pinocchio finds the tool
within 1 mm and 0.1° of it and all joints within their ranges. Times are those of one call from
Python, of ours ``set_target`` and ``solve`` ("one target"). The compiled function inside them
("compiled search alone") and ``solve_many`` divided by the number of targets ("a target of a
batch") have the call from Python as their peer.

Humanoid (Romeo with a free base, 39 degrees of freedom): tasks for feet, wrists and center of mass,
with the joint ranges as limits. One step of the quadratic program, with forward kinematics and
integration, is measured from a posture next to the target and from a random posture, where several
limits are active; the fastest of three calls counts. Whole postures are solved to 0.9 mm and 0.09°
by both.

The peers need other versions of packages than Linkwork and have their own environment: ``make
bench-venv``. Each runs in its own process, begins no target after two minutes and is killed after
six, so that a row may cover fewer targets. mink and pink get 200 targets of an arm (30 with
``--quick``).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from shared.child import bench_python
from shared.iiwa import TIP, write_iiwa
from shared.ik_arms import ROBOTS, Arm, kernel_row, peer_versions, time_rows
from shared.ik_peers import PEERS
from shared.ik_romeo import romeo
from shared.rows import Benchmark, Row

SLOW = ("mink", "pink")


def arm_rows(arm: Arm, python: Path | None, *, quick: bool) -> list[Row]:
    """Rows of one arm: ours beside all peers."""
    times, q = arm.ours()
    kernel, _ = arm.kernel()
    mean, many = arm.batch()
    few = 30 if quick else 200
    solved = {name: arm.peer(python, name, few if name in SLOW else len(times)) for name in PEERS}
    spent = {name: each if isinstance(each, str) else each[0] for name, each in solved.items()}
    rows = time_rows(f"{arm.name}, one target", times, spent)
    rows.append(kernel_row(f"{arm.name}, compiled search alone", kernel, times))
    rows.append(
        Row(
            f"{arm.name}, a target of a batch, mean", "µs", mean / 1e3, float(times.mean()) / 1e3,
            "Linkwork, one call per target",
            note=f"{100 * arm.success(many):.1f} % of the targets reached",
        )
    )  # fmt: skip
    name = f"{arm.name}, targets reached"
    for peer, each in solved.items():
        if isinstance(each, str):
            rows.append(Row(name, "%", 100 * arm.success(q), None, peer, "higher", each))
            continue
        share = 100 * arm.success(q[: len(each[1])]), 100 * arm.success(each[1])
        fewer = f"of the first {len(each[1])} targets" if len(each[1]) < len(q) else ""
        rows.append(Row(name, "%", *share, peer, "higher", fewer))
    return rows


def main() -> None:
    bench = Benchmark(__file__, __doc__)
    quick = bench.parse().quick
    count = 1000 if quick else 10_000
    python = bench_python()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        iiwa = write_iiwa(folder / "iiwa.urdf")
        panda = ROBOTS / "panda_description/urdf/panda.urdf"
        for label, urdf, base, tip in (
            ("iiwa 14", iiwa, "base", TIP), ("Panda", panda, "panda_link0", "panda_link8"),
        ):  # fmt: skip
            bench.log(label)
            arm = Arm(label, urdf, base, tip, count, folder)
            rows += arm_rows(arm, python, quick=quick)
            if urdf is iiwa:
                rows.append(arm.closed())
        bench.log("Romeo")
        ticks, postures = (100, 100) if quick else (500, 1000)
        rows += romeo(python, ticks, postures, folder)
    bench.publish(rows, notes=[peer_versions(python)])


if __name__ == "__main__":
    main()
