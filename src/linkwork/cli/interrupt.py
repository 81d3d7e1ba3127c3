"""Ctrl-C while a session runs: the step is finished, files are closed, the summary is shown."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.session.session import Session


class Interrupt:
    """Whether a signal ended a run.

    Attributes:
        number: The signal, or 0.
    """

    def __init__(self) -> None:
        self.number = 0

    @property
    def code(self) -> int:
        """Exit code by the shells' custom: 128 and the signal."""
        return 128 + self.number


@contextlib.contextmanager
def stop_on_signal(session: Session) -> Iterator[Interrupt]:
    """Ctrl-C or a request to end (SIGTERM) ends the run after the present step.

    A second Ctrl-C ends the program at once, also where a control program hangs.
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
