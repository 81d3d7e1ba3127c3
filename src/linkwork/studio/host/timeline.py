"""Timeline: single steps, history and recording of a running scene."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from linkwork.core.atomic import is_private, make_folder
from linkwork.core.errors import SessionError, os_error_text
from linkwork.core.state import State
from linkwork.session import messages as inbox
from linkwork.session.history import History
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.session_inbox import SendMessage, SessionInbox


class Timeline:
    """The history of a session and the displayed instant.

    Args:
        session: The session.
        session_inbox: The inbox of the session.

    Attributes:
        past: The displayed earlier state, or None for the present.
    """

    def __init__(self, session: Session, session_inbox: SessionInbox) -> None:
        self._session, self._session_inbox = session, session_inbox
        self.enter()

    def enter(self) -> None:
        """Starts with a world: the first or an edited one."""
        self.past: State | None = None
        self.begin()

    def begin(self) -> None:
        """Begins a history with the present state."""
        session = self._session
        self._history = History(session.cycle.h, session.state.data.size)
        self.keep_now()

    def keep(self) -> None:
        """Stores the state if the next one is due."""
        self._history.keep(self._session.state)

    def keep_now(self) -> None:
        """Stores the state in any case."""
        self._history.keep(self._session.state, at_once=True)

    @property
    def span(self) -> tuple[float, float] | None:
        """The range of stored times [s], None if none is stored."""
        return self._history.span

    @property
    def shown(self) -> State:
        """The displayed state."""
        return self.past or self._session.state

    def step(self, steps: int) -> None:
        """Pauses and advances by a number of steps, or goes back if negative."""
        self._stop()
        if steps > 0:
            self._session_inbox.apply(inbox.AdvanceSteps(steps))
        elif steps < 0:
            self.seek((self.shown.step + steps) * self._session.cycle.h)

    def seek(self, when: float) -> None:
        """Pauses and displays the state at a time [s]."""
        self._stop()
        now = self._session.state
        if self.past is None:
            self.keep_now()  # to return to the present
        kept = self._history.at(when)
        if kept is not None:
            state = State(now.layout, np.frombuffer(kept).copy())
            self.past = state if state.step != now.step else None

    def _stop(self) -> None:
        if self._session.running:
            self._session_inbox.apply(inbox.PauseClock())

    def return_to_present(self) -> None:
        """Makes the displayed past the present; later states are discarded."""
        past, self.past = self.past, None
        if past is not None:
            self._session_inbox.apply(inbox.RestoreState(past.save()))
            self._history.forget_after(past.step)


class RecordingHandler:
    """Records a session into a folder.

    Args:
        session: The session.
        send: Sends a message to clients.
        folder: Folder for recordings; created when needed.

    Attributes:
        file: The recording being written, or None.
    """

    def __init__(self, session: Session, send: SendMessage, folder: Path) -> None:
        self._session, self._send, self._folder = session, send, folder
        self.file: str | None = None
        self._marks = 0

    def begin(self) -> None:
        """Starts a recording.

        Raises:
            SessionError: If its folder cannot be made.
        """
        try:
            make_folder(self._folder)
        except OSError as error:
            raise SessionError(f"{self._folder} cannot be made: {os_error_text(error)}.") from None
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = self._folder / f"{self._session.world.scene.name}-{stamp}.mcap"
        self._session.record(path)
        if is_private(path):
            path.chmod(0o600)
        self.file, self._marks = str(path), 0

    def end(self) -> None:
        """Stops the recording and reports its file."""
        self._session.end_recording()
        if self.file is not None:
            self._session.log(f"recorded to {self.file}.", source="recording")
            self._send("", m.GalleryChanged())
        self.file = None

    def mark(self, text: str) -> None:
        """Adds a mark; numbered if there is no text.

        Raises:
            SessionError: If no recording is running.
        """
        if self.file is None:
            raise SessionError("no recording is running.", hint="Start one with Record.")
        self._marks += 1
        self._session.log(text.strip() or f"mark {self._marks}", level="mark", source="mark")
