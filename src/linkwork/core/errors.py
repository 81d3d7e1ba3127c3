"""Errors that a user's file, message or call can cause."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """The location in a user's file where an object is defined.

    Attributes:
        file: Path as the user gave it; empty for objects made in Python.
        line: 1-based line, 0 where unknown.
    """

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if not self.file:
            return "Python code"
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An error as data, for messages between processes.

    Attributes:
        kind: Name of its class.
        text: What was found and why it cannot be used.
        file: File that caused it; empty if none did.
        line: 1-based line, 0 where unknown.
        hint: What to do, or what exists.
    """

    kind: str = "LinkworkError"
    text: str = ""
    file: str = ""
    line: int = 0
    hint: str = ""


class LinkworkError(Exception):
    """Base of every error that a user's file, message or call can cause.

    Args:
        message: What was found and why it cannot be used.
        origin: Where the object is defined.
        hint: What to do, or what exists.
    """

    def __init__(self, message: str, *, origin: Origin | None = None, hint: str = "") -> None:
        self.message = message
        self.origin = origin
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f"{self.origin}: " if self.origin is not None and self.origin.file else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{where}{self.message}{hint}"

    def at(self, origin: Origin | None) -> LinkworkError:
        """Sets the error's origin if it has none yet, and returns the error."""
        if self.origin is None or not self.origin.file:
            self.origin = origin
            self.args = (str(self),)
        return self

    def during(self, who: str = "", time: float | None = None) -> LinkworkError:
        """Adds who made the error and the simulated time [s], where its text lacks them.

        Args:
            who: For example ``formula 'swing'``; empty to add none.
            time: When; None to add none.
        """
        name = who.rpartition(" ")[2]
        if who and name not in self.message:
            self.message = f"{who}: {self.message}"
        if time is not None and f"at {time:.3f} s" not in self.message:
            self.message = f"{self.message.rstrip('.')} (at {time:.3f} s)."
        self.args = (str(self),)
        return self

    def to_record(self) -> ErrorRecord:
        """Returns the error as data."""
        origin = self.origin or Origin()
        return ErrorRecord(type(self).__name__, self.message, origin.file, origin.line, self.hint)

    @staticmethod
    def from_record(record: ErrorRecord) -> LinkworkError:
        """Builds an error from data; an unknown kind becomes a LinkworkError."""
        kind = next((c for c in _subclasses(LinkworkError) if c.__name__ == record.kind), None)
        origin = Origin(record.file, record.line) if record.file else None
        return (kind or LinkworkError)(record.text, origin=origin, hint=record.hint)


def _subclasses(kind: type[LinkworkError]) -> Iterator[type[LinkworkError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


class FormatError(LinkworkError):
    """A file or message that does not follow its format."""


class MeshError(LinkworkError):
    """A mesh file that is missing, broken or unusable."""


class MeshNotFound(MeshError):
    """A mesh file that does not exist; the hint lists the searched folders."""


class PartError(LinkworkError):
    """A part that cannot be built or attached."""


class SceneError(LinkworkError):
    """A scene that is inconsistent."""


class NameNotFound(LinkworkError):
    """A name that refers to nothing."""


class SignalError(LinkworkError):
    """A signal that cannot be read, set or taken."""


class EngineError(LinkworkError):
    """An engine that cannot run its world, or that diverged."""


class SessionError(LinkworkError):
    """A session that cannot do what was requested."""


class ProgramError(LinkworkError):
    """A control program that failed; the session is paused and its state is kept."""


class RecordingError(LinkworkError):
    """A recording that cannot be read, or that does not replay."""


#: Exit code of commands that read a damaged recording.
DAMAGED_EXIT_CODE = 5


class DamagedRecording(RecordingError):
    """Bytes of a recording were changed or lost."""


def listing(names: Iterable[str], *, most: int = 12) -> str:
    """Returns names for an error message, sorted and truncated to ``most``."""
    ordered = sorted(names)
    if not ordered:
        return "none"
    shown = ", ".join(ordered[:most])
    return f"{shown}, … ({len(ordered) - most} more)" if len(ordered) > most else shown


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """Returns the existing name that was probably meant, or None."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Returns a hint with the name that was probably meant; empty if none is similar."""
    close = closest_name(name, names) if isinstance(name, str) else None
    return f"Did you mean {close!r}?" if close is not None else ""


def suggestion(name: str, names: Iterable[str], *, kind: str = "names") -> str:
    """Returns a hint: the name that was probably meant, else the existing ones."""
    names = list(names)
    return did_you_mean(name, names) or f"Available {kind}: {listing(names)}."


def os_error_text(error: Exception) -> str:
    """Returns why a file or socket operation failed: "No such file or directory"."""
    return getattr(error, "strerror", None) or str(error)


def not_found(
    kind: str, name: str, names: Iterable[str], *, origin: Origin | None = None
) -> NameNotFound:
    """Returns an error for a name that does not exist, with a hint."""
    names = list(names)
    return NameNotFound(
        f"there is no {kind} named {name!r}.",
        origin=origin,
        hint=suggestion(name, names, kind=f"{kind}es" if kind.endswith("s") else f"{kind}s"),
    )
