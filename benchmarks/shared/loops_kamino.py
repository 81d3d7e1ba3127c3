"""Newton's Kamino beside ours at the same time steps; on a CPU it is too slow for more.

On a CPU its kernels take a minute to compile and a step takes about 50 ms for every mechanism, so
it runs one second with two time steps, on request only.
"""

from __future__ import annotations

import numpy as np

from shared import loops_sections
from shared.linkages import CASES
from shared.loops_peers import Far, Near
from shared.rows import Row

#: Name and unit of each figure of a run.
FIGURES = (
    ("error of a center of mass", "m"),
    ("largest gap", "m"),
    ("largest deviation of energy", "1"),
)

#: Why a figure of a peer is missing.
CANNOT_BUILD = "cannot build this mechanism"
DIVERGED = "did not run to the end"


def beside_kamino(
    case: str, ours: Near, kamino: Far, truth: np.ndarray, counts: tuple[int, ...]
) -> list[Row]:
    """Error after one second, largest gap and energy deviation, and CPU time of a step.

    Its two solvers give the same motion: the second one runs with the first of ``counts`` only.
    """
    ours.load(case)
    if not kamino.load(case):
        return [Row(case, "m", None, None, kamino.name, note=CANNOT_BUILD)]
    linkage, rows = CASES[case](), []
    scale = loops_sections.energy_scale(case, 1.0)

    def found(peer: Near | Far, setting: str, count: int) -> list[float | None]:
        trace = peer.trace(setting, 1.0 / count, 1.0)
        kept = loops_sections.kept(linkage, trace, 1.0, scale)
        if not kept.ended:
            return [None, None, None]
        return [float(np.abs(trace[-1].x - truth).max()), kept.gap, kept.swing]

    for count in counts:
        mine = found(ours, "default", count)
        for setting in kamino.settings if count == counts[0] else kamino.settings[:1]:
            theirs = found(kamino, setting, count)
            for (what, unit), own, other in zip(FIGURES, mine, theirs, strict=True):
                title = f"{case}, 1 s in {count} steps, {what}"
                note = "" if other is not None else DIVERGED
                rows.append(Row(title, unit, own, other, f"{kamino.name}, {setting}", note=note))
    for setting in kamino.settings:
        own, other = (
            1e3 * peer.run(name, counts[0])[0] / counts[0]
            for peer, name in ((ours, "default"), (kamino, setting))
        )
        rows.append(Row(f"{case}, a step", "ms", own, other, f"{kamino.name}, {setting}"))
    return rows
