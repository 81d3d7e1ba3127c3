"""The source files inside a recording, each content once."""

from __future__ import annotations

import hashlib
import time as wall
from collections.abc import Mapping

from linkwork.errors import RecordingError
from linkwork.session.recording import container
from linkwork.session.recording.journal import Journal


def check_file_name(name: str) -> str:
    """The name, if a file of that name stays inside the folder it is written to.

    Raises:
        RecordingError: It is absolute, climbs out or is no name.
    """
    if len(name) > 1000 or "\0" in name or "\\" in name or {"", ".", ".."} & {*name.split("/")}:
        raise RecordingError(
            f"{name[:200]!r} cannot be the name of a recorded file.",
            hint="Names are relative to one folder and stay in it, as 'parts/arm.toml' does.",
        )
    return name


def check_files(files: Mapping[str, bytes]) -> None:
    """Refuses files that have no place in a recording.

    Raises:
        RecordingError: A name leaves the folder, or a file is too large.
    """
    for name, data in files.items():
        check_file_name(name)
        if len(data) > container.LARGEST // 2:
            raise RecordingError(
                f"the file {name!r} has {len(data)} bytes; "
                f"a recording takes files of at most {container.LARGEST // 2}."
            )


class Attachments:
    """Writes source files into a recording and numbers them.

    Args:
        journal: The recording's file.
        summary: Where each is listed for the end of the file.
    """

    def __init__(self, journal: Journal, summary: container.Summary) -> None:
        self._journal = journal
        self._summary = summary
        self._numbers: dict[bytes, int] = {}

    def add(self, files: Mapping[str, bytes], time: int) -> dict[str, int]:
        """Writes those files that are not in the recording yet.

        Args:
            files: Bytes by name.
            time: Simulated time [ns].

        Returns:
            Number of the attachment, from 0, by name.
        """
        return {name: self._number(name, data, time) for name, data in files.items()}

    def _number(self, name: str, data: bytes, time: int) -> int:
        digest = hashlib.blake2b(data, digest_size=32).digest()
        known = self._numbers.get(digest)
        if known is not None:
            return known
        created = wall.time_ns()
        record = container.attachment_record(name, data, time=time, created=created)
        place = container.Attachment(
            name=name,
            offset=self._journal.position,
            length=len(record),
            start=self._journal.position + len(record) - 4 - len(data),
            size=len(data),
            time=time,
            created=created,
        )
        self._journal.append(record)
        self._summary.attachments.append(place)
        number = self._numbers[digest] = len(self._numbers)
        return number
