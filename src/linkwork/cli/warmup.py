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
    from linkwork.cli.warming import mark

    started = time.perf_counter()
    with getting_ready() as compiling:
        import numpy as np

        from linkwork.actuators.response import respond_to
        from linkwork.cli.one_of_each import one_of_each
        from linkwork.cli.solve_of_each import solve_of_each
        from linkwork.jit import cache_directory
        from linkwork.kinematics import jacobian
        from linkwork.motion import Reach
        from linkwork.session.session import Session

        for scene in one_of_each():
            with Session(scene, watch=False, buses=False) as session:
                session.step(2)
                world, q = session.world, session.state.q
                jacobian(world, q, world.element_names[-1])
                if "arm/tip" in world.anchors:
                    reach = Reach(world, "arm/tip", q=q)
                    reach.step(q, 0.01)
                    reach.ellipsoid(q, "dynamic")
        solve_of_each()
        respond_to(np.ones(2), {}, inertia=0.01)
    mark().parent.mkdir(parents=True, exist_ok=True)
    mark().touch()
    done = f"{compiling.count} kernels compiled" if compiling.count else "All was compiled already"
    out = stdout()
    out.say(f"{done}; ready after {time.perf_counter() - started:.1f} s.")
    out.say(f"Kept in {cache_directory()}.")
