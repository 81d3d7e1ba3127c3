"""RecordingDesk: begins and ends recordings of a running scene, and sets marks in them."""

from __future__ import annotations

import time
from pathlib import Path

from linkwork.errors import SessionError
from linkwork.server import messages as m
from linkwork.server.host.door import Tell
from linkwork.session.session import Session


class RecordingDesk:
    """Records a session into a folder.

    Args:
        session: The session.
        tell: Tells clients something.
        folder: Folder for recordings; made when needed.

    Attributes:
        file: The recording that is being written, or None.
    """

    def __init__(self, session: Session, tell: Tell, folder: Path) -> None:
        self._session, self._tell, self._folder = session, tell, folder
        self.file: str | None = None
        self._marks = 0

    def begin(self) -> None:
        """Begins a recording.

        Raises:
            SessionError: If its folder cannot be made.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SessionError(f"{self._folder} cannot be made: {error.strerror}.") from None
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = self._folder / f"{self._session.world.scene.name}-{stamp}.mcap"
        self._session.record(path)
        self.file, self._marks = str(path), 0

    def end(self) -> None:
        """Ends the recording and says where it is."""
        self._session.end_recording()
        if self.file is not None:
            self._session.say(f"recorded to {self.file}.", source="recording")
            self._tell("", m.GalleryChanged())
        self.file = None

    def mark(self, text: str) -> None:
        """Sets a mark; it has a number if there is no text.

        Raises:
            SessionError: If nothing is recorded.
        """
        if self.file is None:
            raise SessionError("marks go into a recording.", hint="Start one with Record.")
        self._marks += 1
        self._session.say(text.strip() or f"mark {self._marks}", level="mark", source="mark")
