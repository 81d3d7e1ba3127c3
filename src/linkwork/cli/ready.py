"""Getting ready: says so while modules load and kernels compile, which can take a while."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linkwork.cli.screen import Screen, stderr

if TYPE_CHECKING:
    from linkwork.scene import Scene

LOADING = "Getting ready …"
COMPILING = "Compiling kernels, once for this version and processor: about a minute …"


class Compiling:
    """Counts the kernels that numba compiles, and tells someone of each (a numba ``Listener``).

    Attributes:
        count: Kernels compiled so far; those found in the cache do not count.
    """

    def __init__(self, tell: Callable[[int], object]) -> None:
        self.count = 0
        self._tell = tell

    def notify(self, event: Any) -> None:
        """Called by numba when a compilation starts and ends."""
        if event.is_start:
            self.count += 1
            self._tell(self.count)


@contextlib.contextmanager
def getting_ready() -> Iterator[Compiling]:
    """Shows on stderr what is waited for: a spinner on a terminal, else one line if it is long."""
    out = stderr()
    if out.is_terminal:
        with out.status(LOADING) as status:
            with _listening(lambda count: status.update(f"{COMPILING} {count}")) as compiling:
                yield compiling
    else:
        with _listening(lambda count: count == 1 and out.line(COMPILING)) as compiling:
            yield compiling


@contextlib.contextmanager
def _listening(tell: Callable[[int], object]) -> Iterator[Compiling]:
    from numba.core import event

    compiling = Compiling(tell)
    with event.install_listener("numba:compile", compiling):
        yield compiling


def compile_ahead(scene: Scene) -> None:
    """Does one step with a copy of the scene, so that the run itself need not wait for kernels.

    Agents are left out: what a user's program does is done once.
    """
    from linkwork.session.session import Session

    with Session(replace(scene, agents=[]), watch=False) as session:
        session.step()


def warn_if_cold(out: Screen, compiling: Compiling) -> None:
    """Says after a long start how the next one is short."""
    if compiling.count:
        out.line(f"{compiling.count} kernels compiled and kept; the next start is quick.")
