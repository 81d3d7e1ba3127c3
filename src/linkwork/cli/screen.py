"""What people see: colours and live displays on a terminal, plain text where output is piped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from linkwork.errors import listing

if TYPE_CHECKING:
    from linkwork.session.messages import Event
    from linkwork.session.recording import Event as RecordedEvent
    from linkwork.world import Finding

_STYLES = {"error": "red", "warning": "yellow", "soft": "yellow"}
#: As many findings of the same text are listed one by one, more of them together.
_ALIKE = 3
#: Width of output that nobody sees on a screen: nothing is cut.
_ENDLESS = 10_000


class Screen(Console):
    """A console that leaves a broken pipe to the caller, and cuts nothing that is piped."""

    def __init__(self, *, errors: bool = False) -> None:
        super().__init__(stderr=errors, highlight=False, markup=False, emoji=False)
        if not self.is_terminal:
            self.width = _ENDLESS

    def on_broken_pipe(self) -> None:
        """Raises the error again."""
        self.quiet = True
        raise BrokenPipeError

    def say(self, text: str, *, lead: str = "", level: str = "") -> None:
        """Prints a line that the terminal wraps, with a coloured word before it."""
        # In one piece: a live display would wipe out half a line.
        line = Text().append(f"{lead} ", _STYLES.get(level, "dim")) if lead else Text()
        self.print(line.append(text), soft_wrap=True)

    def rows(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Prints a table in columns; on a terminal long cells are folded."""
        table = Table(box=None, pad_edge=False)
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for row in rows:
            table.add_row(*row)
        self.print(table)


def stdout() -> Screen:
    """Where results go."""
    return Screen()


def stderr() -> Screen:
    """Where errors and progress go."""
    return Screen(errors=True)


def count(number: int, one: str, many: str = "") -> str:
    """A number of things, in words.

    >>> count(2, "joint")
    '2 joints'
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def say_error(text: str) -> None:
    """Prints an error."""
    stderr().say(text, lead="error:", level="error")


def show_findings(out: Screen, findings: Iterable[Finding]) -> None:
    """Lists what engines do only softly, and what else they remark."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.level, finding.text), []).append(finding)
    for (level, text), alike in groups.items():
        if len(alike) <= _ALIKE:
            for finding in alike:
                out.say(str(finding), lead=f"{level}:", level=level)
        else:
            out.say(f"{listing(f.about for f in alike)}: {text}", lead=f"{level}:", level=level)


def show_event(out: Screen, event: Event | RecordedEvent, *, when: str = "") -> None:
    """Prints what a session, an agent or a program says, after ``when``."""
    lead, text = event.source, event.text
    if event.level in ("error", "warning"):
        # A bus, an agent or a fault says "it"; what failed by itself names what it is about.
        named = lead and lead != "inbox" and not lead.endswith("Error")
        lead, text = event.level, f"{lead}: {text}" if named else text
    out.say(text, lead=f"{when}{lead}:" if lead else when, level=event.level)
