"""Stages: what ``linkwork warmup`` compiles, in the order in which it is wanted."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.jit import cache_directory, source_hash

if TYPE_CHECKING:
    from linkwork.scene import Scene


def scenes() -> None:
    """What every scene needs, with all sensors and actuators."""
    from linkwork.cli.one_of_each import one_of_each, shipped

    _run([one_of_each(), *shipped()])


def impulse() -> None:
    """The engine of this name, by each of its methods."""
    from linkwork.cli.one_of_each import exact

    _run(exact())


def lagrange() -> None:
    """The engine of this name."""
    from linkwork.cli.one_of_each import tree

    _run([tree()])


def reach() -> None:
    """Inverse kinematics and dynamics, and the studio's tools."""
    import numpy as np

    from linkwork.actuators.response import respond_to
    from linkwork.cli.solve_of_each import drag_a_tool, solve_of_each

    drag_a_tool()
    solve_of_each()
    respond_to(np.ones(2), {}, inertia=0.01)


#: In their order; the others stand on what the first has compiled.
STAGES: dict[str, Callable[[], None]] = {
    each.__name__: each for each in (scenes, impulse, lagrange, reach)
}


def mark(stage: str) -> Path:
    """The file that says that a stage was compiled for this version and processor."""
    return cache_directory() / f"warm-{source_hash()}-{stage}"


def compile_stages(names: Iterable[str]) -> None:
    """Compiles stages one after the other, and marks each."""
    for name in names:
        STAGES[name]()
        mark(name).parent.mkdir(parents=True, exist_ok=True)
        mark(name).touch()


def compile_beside(names: Iterable[str]) -> None:
    """The same in a process of its own, which ends without a word on Ctrl-C."""
    with contextlib.suppress(KeyboardInterrupt):
        compile_stages(names)


def is_warm(scene: Scene | None) -> bool:
    """Whether all is compiled that a scene needs to run; None needs everything."""
    wanted = set(STAGES)
    if scene is not None:
        wanted &= {"scenes", *(engine.type for engine in scene.engines)}
    return all(mark(stage).exists() for stage in wanted)


def has_run(scene: Scene) -> bool:
    """Whether one with the same engines, sensors and actuators has run here before."""
    return _alike(scene).exists()


def note_run(scene: Scene) -> None:
    """Remembers it."""
    _alike(scene).parent.mkdir(parents=True, exist_ok=True)
    _alike(scene).touch()


def _alike(scene: Scene) -> Path:
    """The file that says that a scene of the same kernels has run."""
    engines = {f"{engine.type} {sorted(engine.params.items())}" for engine in scene.engines}
    others = {spec.type for spec in (*scene.sensors, *scene.actuators)}
    words = " ".join(sorted(engines | others))
    return mark(f"run-{hashlib.sha256(words.encode()).hexdigest()[:16]}")


def _run(scenes: Iterable[Scene]) -> None:
    from linkwork.kinematics import jacobian
    from linkwork.session.session import Session

    for scene in scenes:
        with Session(scene, watch=False, buses=False) as session:
            session.step(2)
            jacobian(session.world, session.state.q, session.world.element_names[-1])
