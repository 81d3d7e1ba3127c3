"""Exit codes and signals of commands."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

from linkwork.core.errors import DAMAGED_EXIT_CODE

if TYPE_CHECKING:
    from linkwork.session.session import Session


#: Invalid input: a file, a name, a value in it. (2, a wrong command line, is the parser's own.)
MISTAKE = 1
#: A replay differs from its recording.
DIFFERENT = 3
#: A run failed after it had begun: an engine or a program failed.
FAILED = 4
#: A recording is damaged.
DAMAGED = DAMAGED_EXIT_CODE
#: Ctrl-C before the work was done.
CANCELLED = 130

TABLE = (
    "Exit codes: 0 done, 1 invalid input, 2 wrong command line, 3 replay differs, "
    "4 run failed, 5 recording damaged, 130 interrupted."
)


class Interrupt:
    """Whether a signal ended a run.

    Attributes:
        number: The signal, or 0.
    """

    def __init__(self) -> None:
        self.number = 0

    @property
    def code(self) -> int:
        """Exit code by the shells' convention: 128 plus the signal."""
        return 128 + self.number


@contextlib.contextmanager
def stop_on_signal(session: Session) -> Iterator[Interrupt]:
    """Ctrl-C or SIGTERM ends the run after the present step.

    A second Ctrl-C ends the program at once, even if a control program hangs.
    """
    interrupt = Interrupt()

    def stop(number: int, frame: object) -> None:
        interrupt.number = number
        session.stop()
        signal.signal(number, before.get(number) or signal.SIG_DFL)

    before = {int(n): signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    wanted = [n for n, handler in before.items() if handler is not signal.SIG_IGN]
    for number in wanted:
        signal.signal(number, stop)
    try:
        yield interrupt
    finally:
        for number in wanted:
            signal.signal(number, before[number] or signal.SIG_DFL)
