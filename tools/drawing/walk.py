"""Charts of BARt-UH II's walk for the documentation: those of ``linkwork charts``."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from linkwork.cli.chart_report import draw_charts

#: Name of a picture of the documentation, and the chart that it is.
WALK = {
    "walk-moments": "robot-hip-x-emulated-moment",
    "walk-speeds": "robot-hip-x-speed",
    "walk-tracking": "robot-knee-tracking",
}


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="linkwork-walk-"))
    draw_charts("bart_uh/walk", folder, duration=None, joints=[], values=[], overwrite=True)
    return folder


def walk_chart(name: str) -> Callable[[Path], None]:
    """What writes one of the charts."""

    def write(path: Path) -> None:
        shutil.copyfile(_folder() / f"{WALK[name]}.svg", path)
        print(path.name)

    return write
