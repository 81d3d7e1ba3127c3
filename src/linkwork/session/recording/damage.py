"""Damage of a recording: where it is, when, and what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwork.core.errors import RecordingError
from linkwork.session.recording.mcap_format import DamagedFile
from linkwork.session.recording.messages import decode

#: Damages that a message lists one by one.
MAX_LISTED = 4


@dataclass(slots=True)
class Damage:
    """A damaged part of a recording.

    Attributes:
        start, end: Its bytes.
        text: What is lost.
        after: Time of the last intact message before it [s]; None if there is none.
        before: Time of the first intact message after it [s]; None if there is none.
        inputs: Whether messages of the inbox may be lost with it, without which a simulation from
            a state before it differs.
    """

    start: int
    end: int
    text: str
    after: float | None = None
    before: float | None = None
    inputs: bool = True

    def __str__(self) -> str:
        if self.after is not None and self.before is not None:
            when = f", between {self.after:.3f} s and {self.before:.3f} s"
        elif self.after is not None:
            when = f", after {self.after:.3f} s"
        else:
            when = ", before the first message"
        if self.start == self.end:
            return f"byte {self.start}{when}: {self.text}"
        return f"bytes {self.start} to {self.end}{when}: {self.text}"


def list_damage(found: Sequence[Damage], most: int = MAX_LISTED) -> list[str]:
    """Describes damage, the first ones one by one and the others by their number.

    Args:
        found: The damaged parts.
        most: Number of parts that are described.
    """
    listed = [str(each) for each in found[:most]]
    if len(found) > most:
        listed.append(f"and {len(found) - most} more damaged parts")
    return listed


def read_missing(content: bytes) -> list[Damage]:
    """Reads what a repaired copy lacks of its original.

    Raises:
        DamagedFile: It is not such a list.
    """
    try:
        return decode(content, list[Damage], "list of missing parts")
    except RecordingError as error:
        raise DamagedFile(error.message.rstrip(".")) from None
