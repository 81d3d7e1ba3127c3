"""Getting ready: says so while modules load and kernels compile, which can take a while."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from linkwork.cli.screen import stderr

if TYPE_CHECKING:
    from linkwork.scene import Scene

LOADING = "Getting ready …"
COMPILING = "Compiling kernels, once for this version and processor: a minute or two …"
DERIVING = "Compiling the derived C of a robot, once for this robot and compiler …"


class Compiling:
    """Counts the kernels that numba compiles, and holds Ctrl-C back until one is done.

    An interrupt inside the compiler would be printed by it and then forgotten.

    Args:
        tell: Told the number of each kernel as it is begun.

    Attributes:
        count: Kernels compiled so far; those found in the cache do not count.
    """

    def __init__(self, tell: Callable[[int], object]) -> None:
        self.count = 0
        self._tell = tell
        self._depth = 0
        self._cancelled = False

    def begun(self) -> None:
        """Called when numba begins to compile a kernel."""
        self.count += 1
        self._tell(self.count)
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
def getting_ready() -> Iterator[Compiling]:
    """Shows on stderr what is waited for: a spinner on a terminal, else one line if it is long."""
    out = stderr()
    with contextlib.ExitStack() as stack:
        if out.is_terminal:
            status = stack.enter_context(out.status(LOADING))
            tell = lambda count: status.update(f"{COMPILING} {count}")  # noqa: E731
            derive = lambda: status.update(DERIVING)  # noqa: E731
        else:
            tell = lambda count: out.say(COMPILING) if count == 1 else None  # noqa: E731
            derive = lambda: out.say(DERIVING)  # noqa: E731
        stack.enter_context(hearing(derive))
        yield stack.enter_context(listening(tell))


@contextlib.contextmanager
def hearing(derive: Callable[[], object]) -> Iterator[None]:
    """Tells of each C file that is compiled meanwhile."""
    from numba.core import event

    from linkwork.dynamics.symbolic.compiled import DERIVED

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:
            derive()

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener(DERIVED, Listener()):
        yield


@contextlib.contextmanager
def listening(tell: Callable[[int], object]) -> Iterator[Compiling]:
    """Tells the number of each kernel that is compiled meanwhile, and keeps Ctrl-C out of it."""
    from numba.core import event

    compiling = Compiling(tell)

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:
            compiling.begun()

        def on_end(self, event: object) -> None:
            compiling.done()

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, compiling.interrupt)
    try:
        with event.install_listener("numba:compile", Listener()):
            yield compiling
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


def compile_ahead(scene: Scene) -> None:
    """Does a step with a copy of the scene, so that the run itself need not wait for kernels.

    Agents are left out: what a user's program does is done once.
    """
    from linkwork.cli.stages import note_run
    from linkwork.session.session import Session

    with Session(replace(scene, agents=[]), watch=False, buses=False) as session:
        session.step(2)
    note_run(scene)
