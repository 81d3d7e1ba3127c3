"""Warm-up stages: the order in which kernels are compiled."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.core.jit import cache_directory, kernels_kept, source_hash

if TYPE_CHECKING:
    from linkwork.model.scene import Scene


def scenes() -> None:
    """Kernels of every scene, with all sensors and actuators."""
    from linkwork.cli.warmup_cases import one_of_each, shipped_scenes

    _run([one_of_each(), *shipped_scenes()])


def impulse() -> None:
    """The engine ``impulse``, with each of its methods."""
    from linkwork.cli.warmup_cases import impulse_scenes

    _run(impulse_scenes())


def lagrange() -> None:
    """The engine ``lagrange``."""
    from linkwork.cli.warmup_cases import lagrange_scenes

    _run([lagrange_scenes()])


def reach() -> None:
    """Inverse kinematics and dynamics, and the studio's tools."""
    import numpy as np

    from linkwork.cli.warmup_cases import warm_up_drag, warm_up_solvers
    from linkwork.components.actuators.fit_trial import simulate_response

    warm_up_drag()
    warm_up_solvers()
    simulate_response(np.ones(2), {}, inertia=0.01)


#: Stages in order; later ones use kernels of the first.
STAGES: dict[str, Callable[[], None]] = {
    each.__name__: each for each in (scenes, impulse, lagrange, reach)
}


def stage_marker(stage: str) -> Path:
    """The file that marks a stage as compiled for this version and processor."""
    return cache_directory() / f"warm-{source_hash()}-{stage}"


def compile_stages(names: Iterable[str]) -> None:
    """Compiles stages one after the other, and marks each as done."""
    for name in names:
        STAGES[name]()
        stage_marker(name).parent.mkdir(parents=True, exist_ok=True)
        stage_marker(name).touch()


@contextlib.contextmanager
def begin_stages(names: Iterable[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Runs :func:`compile_stages` in a process of its own, while the block runs.

    It ends silently on Ctrl-C, and with this process.
    """
    # Not multiprocessing: its processes look for modules in the current folder.
    code = f"from linkwork.cli import warmup_stages as w; w.compile_in_process({[*names]!r})"
    process = subprocess.Popen([sys.executable, "-P", "-c", code], stdin=subprocess.DEVNULL)
    try:
        yield process
        process.wait()
    finally:
        process.kill()
        process.wait()


def compile_in_process(names: Iterable[str]) -> None:
    """Compiles stages; ends silently on Ctrl-C."""
    with contextlib.suppress(KeyboardInterrupt):
        compile_stages(names)


def is_warm(scene: Scene | None) -> bool:
    """Whether all kernels for a scene are compiled; None requires all kernels."""
    wanted = set(STAGES)
    if scene is not None:
        wanted &= {"scenes", *(engine.type for engine in scene.engines)}
    return all(stage_marker(stage).exists() for stage in wanted)


def has_run(scene: Scene) -> bool:
    """Whether a scene with the same engines, sensors and actuators has run here before."""
    return _kernel_key(scene).exists()


def mark_run(scene: Scene) -> None:
    """Marks that the scene has run."""
    _kernel_key(scene).parent.mkdir(parents=True, exist_ok=True)
    _kernel_key(scene).touch()


def _kernel_key(scene: Scene) -> Path:
    """The file that marks a scene with the same kernels as run."""
    engines = {f"{engine.type} {sorted(engine.params.items())}" for engine in scene.engines}
    others = {spec.type for spec in (*scene.sensors, *scene.actuators)}
    words = " ".join(sorted(engines | others))
    return stage_marker(f"run-{hashlib.sha256(words.encode()).hexdigest()[:16]}")


def _run(scenes: Iterable[Scene]) -> None:
    from linkwork.kinematics import jacobian
    from linkwork.session.session import Session

    for scene in scenes:
        with Session(scene, watch=False, buses=False) as session:
            session.step(2)
            jacobian(session.world, session.state.q, session.world.element_names[-1])


#: Messages at the beginning and at the end.
BEGUN = (
    "Kernels compile in the background, once for this version and processor: a minute or two. "
    "The studio can be used meanwhile; a scene opens when its kernels are done."
)
DONE = "Kernels are compiled: scenes open at once from now on."
FAILED = "Kernels could not be compiled in the background; scenes compile what they need."
#: The command that compiles them.
COMMAND = (sys.executable, "-P", "-m", "linkwork", "warmup")
#: Minimum number of kernels in the cache; fewer count as none.
_MIN_KERNELS = 40


def is_cold() -> bool:
    """Whether this version was never used here: almost nothing is compiled."""
    return not is_warm(None) and kernels_kept() < _MIN_KERNELS


class WarmupProcess:
    """``linkwork warmup`` in the background, if this version was never used.

    Attributes:
        begun: Whether its end has not been reported yet.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.begun = is_cold()
        if self.begun:
            self._process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def done(self) -> bool:
        """Whether it has ended; if it failed, scenes compile their own kernels."""
        return self._process is None or self._process.poll() is not None

    def allows(self, scene: Scene | None) -> bool:
        """Whether a scene can open at once; None if the scene is unknown."""
        return self.done or is_warm(scene)

    def pending_message(self) -> str:
        """The message to print, once, when it has ended."""
        if not self.begun or not self.done:
            return ""
        self.begun = False
        return FAILED if self._process is None or self._process.returncode else DONE

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):  # also ends its second process
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:  # Windows has no process groups of this kind
                    self._process.kill()
            self._process.wait()
