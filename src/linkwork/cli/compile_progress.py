"""Compile progress: a line on the screen while modules load or kernels compile."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from linkwork.cli.screen import stderr

if TYPE_CHECKING:
    from linkwork.model.scene import Scene


LOADING = "Getting ready …"
COMPILING = "Compiling kernels, once for this version and processor: a minute or two …"
DERIVING = "Compiling the derived C of a robot, once for this robot and compiler …"


class CompileMonitor:
    """Counts the kernels that numba compiles, and defers Ctrl-C until one is done.

    The compiler would print and then ignore an interrupt.

    Args:
        on_progress: Called with the number of each kernel when its compilation begins.

    Attributes:
        count: Number of kernels compiled so far, without those found in the cache.
    """

    def __init__(self, on_progress: Callable[[int], object]) -> None:
        self.count = 0
        self._on_progress = on_progress
        self._depth = 0
        self._cancelled = False

    def begun(self) -> None:
        """Called when numba begins to compile a kernel."""
        self.count += 1
        self._on_progress(self.count)
        self._depth += 1

    def done(self) -> None:
        """Called when numba has compiled it."""
        self._depth -= 1
        if self._cancelled:
            raise KeyboardInterrupt

    def interrupt(self, number: int, frame: object) -> None:
        """Handles Ctrl-C."""
        self._cancelled = True
        if not self._depth:
            raise KeyboardInterrupt


@contextlib.contextmanager
def show_compiling() -> Iterator[CompileMonitor]:
    """Shows a spinner on stderr while waiting; without a terminal, one line if it takes long."""
    out = stderr()
    with contextlib.ExitStack() as stack:
        if out.is_terminal:
            status = stack.enter_context(out.status(LOADING))
            on_progress = lambda count: status.update(f"{COMPILING} {count}")  # noqa: E731
            derive = lambda: status.update(DERIVING)  # noqa: E731
        else:
            on_progress = lambda count: out.print_line(COMPILING) if count == 1 else None  # noqa: E731
            derive = lambda: out.print_line(DERIVING)  # noqa: E731
        stack.enter_context(show_deriving(derive))
        yield stack.enter_context(monitor_compiling(on_progress))


@contextlib.contextmanager
def show_deriving(derive: Callable[[], object]) -> Iterator[None]:
    """Calls ``derive`` for each C file that is compiled."""
    from numba.core import event

    from linkwork.dynamics.symbolic.compiled import GENERATED_BY

    class _DeriveListener(event.Listener):
        def on_start(self, event: object) -> None:
            derive()

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener(GENERATED_BY, _DeriveListener()):
        yield


@contextlib.contextmanager
def monitor_compiling(on_progress: Callable[[int], object]) -> Iterator[CompileMonitor]:
    """Reports the number of each compiled kernel; defers Ctrl-C meanwhile."""
    from numba.core import event

    compiling = CompileMonitor(on_progress)

    class _CompileListener(event.Listener):
        def on_start(self, event: object) -> None:
            compiling.begun()

        def on_end(self, event: object) -> None:
            compiling.done()

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, compiling.interrupt)
    try:
        with event.install_listener("numba:compile", _CompileListener()):
            yield compiling
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


def compile_in_background(scene: Scene) -> None:
    """Executes a step with a copy of the scene, so that the run need not wait for kernels.

    Agents are left out, since a user's program must not run twice.
    """
    from linkwork.cli.warmup_stages import mark_run
    from linkwork.session.session import Session

    with Session(replace(scene, agents=[]), watch=False, buses=False) as session:
        session.step(2)
    mark_run(scene)
