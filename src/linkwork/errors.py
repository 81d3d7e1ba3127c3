"""One family of errors: each names the thing, where it came from and what would be allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """The place in a user's file that made a thing.

    Attributes:
        file: Path as the user gave it; empty for things made in Python.
        line: 1-based line, 0 where unknown.
    """

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if not self.file:
            return "Python code"
        return f"{self.file}:{self.line}" if self.line else self.file


class LinkworkError(Exception):
    """Base of every error that a user's file, message or call can cause.

    Args:
        message: What was found and why it cannot be used.
        origin: Where the thing came from.
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
        """Gives the error a place if it has none yet, and returns it."""
        if self.origin is None or not self.origin.file:
            self.origin = origin
            self.args = (str(self),)
        return self


class FormatError(LinkworkError):
    """A file or message that does not follow its format."""


class MeshError(LinkworkError):
    """A mesh file that is missing, broken or unusable."""


class MeshNotFound(MeshError):
    """A mesh that is not where the file that names it looks; the hint lists the places."""


class PartError(LinkworkError):
    """A part that cannot be built or attached as asked."""


class SceneError(LinkworkError):
    """A scene whose pieces do not fit together."""


class NameNotFound(LinkworkError):
    """A name that refers to nothing."""


class SignalError(LinkworkError):
    """A signal that cannot be read, set or taken."""


class EngineError(LinkworkError):
    """An engine that cannot run the world it was given, or that diverged."""


class SessionError(LinkworkError):
    """A session that cannot go on as asked."""


class ProgramError(LinkworkError):
    """A control program that failed; the session is paused, nothing is lost."""


class RecordingError(LinkworkError):
    """A recording that cannot be read, or that does not replay."""


def listing(names: Iterable[str], *, most: int = 12) -> str:
    """Writes names for an error message, sorted and cut to ``most``."""
    ordered = sorted(names)
    if not ordered:
        return "none"
    shown = ", ".join(ordered[:most])
    return f"{shown}, … ({len(ordered) - most} more)" if len(ordered) > most else shown


def suggestion(name: str, names: Iterable[str], *, kind: str = "names") -> str:
    """Says which existing name was probably meant, else what exists."""
    names = list(names)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Available {kind}: {listing(names)}."


def not_found(
    kind: str, name: str, names: Iterable[str], *, origin: Origin | None = None
) -> NameNotFound:
    """An error for a name that refers to nothing, listing what exists."""
    names = list(names)
    return NameNotFound(
        f"there is no {kind} named {name!r}.",
        origin=origin,
        hint=suggestion(name, names, kind=f"{kind}es" if kind.endswith("s") else f"{kind}s"),
    )
