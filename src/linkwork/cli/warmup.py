"""``linkwork warmup``: compiles the kernels ahead of the first run."""

from __future__ import annotations

import time


def warmup() -> None:
    """Compiles everything that runs need, so that the first one starts at once.

    The machine code is kept in a folder for this version, numba and processor
    (under ~/.cache/linkwork, or where LINKWORK_CACHE says).

    Example:
      $ linkwork warmup
    """
    from linkwork.cli.ready import getting_ready
    from linkwork.cli.screen import stdout

    started = time.perf_counter()
    with getting_ready():
        import multiprocessing

        from linkwork.cli.stages import STAGES, compile_beside, compile_stages
        from linkwork.jit import cache_directory, kernels_kept

        before = kernels_kept()
        first, second, *others = STAGES
        compile_stages([first])
        # On two cores the wait is half as long; what both need is in the cache by now.
        beside = multiprocessing.get_context("spawn").Process(
            target=compile_beside, args=(others,), daemon=True
        )
        beside.start()
        compile_stages([second])
        beside.join()
        if beside.exitcode:
            compile_stages(others)  # what went wrong is raised here
        new = kernels_kept() - before
    done = f"{new} kernels compiled" if new else "All was compiled already"
    out = stdout()
    out.say(f"{done}; ready after {time.perf_counter() - started:.1f} s.")
    out.say(f"Kept in {cache_directory()}.")
