"""Newton's Kamino beside ours, at the same steps: it is too slow here for curves of cost and error.

On a processor its kernels take a minute to compile, and a step some fifty milliseconds whatever the
mechanism, so it runs one second at two steps, and is asked for by itself.
"""

from __future__ import annotations

import numpy as np

from shared import loops_sections
from shared.linkages import CASES
from shared.loops_rivals import Far, Near
from shared.report import Row

WORDS = ("error of a centre of mass [m]", "largest gap [m]", "largest deviation of energy")


def beside_kamino(
    case: str, ours: Near, kamino: Far, truth: np.ndarray, counts: tuple[int, ...]
) -> list[Row]:
    """Error after a second, largest gap and energy deviation for each step, and CPU time of one.

    Its second solver ends where the first does: it is run at the first of ``counts`` only.
    """
    ours.load(case)
    if not kamino.load(case):
        nan = float("nan")
        return [Row(case, nan, nan, f"{kamino.name}: cannot build it", nan)]
    linkage, rows = CASES[case](), []
    scale = loops_sections.energy_scale(case, 1.0)

    def found(rival: Near | Far, setting: str, count: int) -> tuple[float, float, float]:
        trace = rival.trace(setting, 1.0 / count, 1.0)
        kept = loops_sections.kept(linkage, trace, 1.0, scale)
        error = float(np.abs(trace[-1].x - truth).max()) if kept.ended else float("inf")
        return error, kept.gap, kept.swing

    for count in counts:
        mine = found(ours, "default", count)
        for setting in kamino.settings if count == counts[0] else kamino.settings[:1]:
            theirs = found(kamino, setting, count)
            for what, own, other in zip(WORDS, mine, theirs, strict=True):
                title = f"{case}, 1 s in {count} steps, {what}"
                rows.append(Row(title, own, other, f"{kamino.name}, {setting}", other / own))
    for setting in kamino.settings:
        own, other = (
            1e3 * rival.run(name, counts[0])[0] / counts[0]
            for rival, name in ((ours, "default"), (kamino, setting))
        )
        title = f"{case}, a step [ms]"
        rows.append(Row(title, own, other, f"{kamino.name}, {setting}", other / own))
    return rows
