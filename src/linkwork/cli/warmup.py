"""``linkwork warmup``: compiles the kernels ahead of the first run."""

from __future__ import annotations

import time

from rich.console import Console


def warmup() -> None:
    """Compiles everything that runs need, so that the first one starts at once.

    The machine code is kept in a cache folder for this version, numba and CPU.
    """
    out = Console(highlight=False)
    with out.status("Compiling kernels …"):
        started = time.perf_counter()
        from linkwork.jit import cache_directory
        from linkwork.session.session import Session

        for scene in ("tripod/level", "gripper/follow"):
            with Session(scene, watch=False) as session:
                session.run(0.02)
    out.print(
        f"Ready in {time.perf_counter() - started:.1f} s. Kept in {cache_directory()}.",
        markup=False,
    )
