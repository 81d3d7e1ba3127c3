"""Scene edits: attribute edits and world swaps of the running session."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError, SessionError
from linkwork.session import messages as inbox
from linkwork.session.cycle import USER
from linkwork.session.live_edit import LiveEdit
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.editor import Editor
from linkwork.studio.host.session_inbox import SendMessage, SessionInbox


class AttributeEditor:
    """Sends the attributes of objects to clients, and sets those of the running scene.

    Args:
        session: The session.
        editor: Its files.
        session_inbox: The inbox of the session.
        send: Sends a message to clients.
    """

    def __init__(
        self, session: Session, editor: Editor, session_inbox: SessionInbox, send: SendMessage
    ) -> None:
        self._session, self._editor, self._session_inbox, self._send = (
            session,
            editor,
            session_inbox,
            send,
        )

    def inspect(self, client: str, kind: str, name: str) -> None:
        """Sends the attributes of an object to a client.

        Raises:
            LinkworkError: If there is no such object.
        """
        session, editor = self._session, self._editor
        rows, note = editor.rows(session.world, kind, name)
        base = _base(kind, name)
        for signal in session.signals:
            thing, _, word = signal.name.rpartition(".")
            if thing == base and signal.direction == "param":
                lo, hi = (v if np.isfinite(v) else None for v in (signal.lo, signal.hi))
                value = session[signal.name]
                shown = value if np.isfinite(value) else ""  # no limit
                rows.append(
                    m.AttributeRow(f"{m.LIVE}{word}", shown, signal.unit, lo, hi, None,
                          "", True, False, help="Of the running scene; not saved in a file.")
                )  # fmt: skip
        convert = editor.project is None and bool(editor.file)
        placement = editor.placement(kind, name)
        self._send(client, m.Attributes(name, kind, rows, note, convert, placement))

    def set_live(self, message: m.EditAttribute) -> None:
        """Sets a value of the running scene.

        Raises:
            SessionError: If the value is not a number, or is refused.
        """
        try:
            value = float(message.value)
        except ValueError:
            raise SessionError(f"{message.key} takes a number, not {message.value!r}.") from None
        word = message.key.removeprefix(m.LIVE)
        signal = f"{_base(message.kind, message.name)}.{word}"
        self._session_inbox.apply(inbox.SetSignal(signal, value, USER))


def _base(kind: str, name: str) -> str:
    """Prefix of an object's signals."""
    return "world" if kind == "scene" else name


@dataclass(frozen=True)
class _Swap:
    """A change of the files.

    Attributes:
        edit: The edit of the session, done when the scene is compiled.
        client: The requesting client.
        what: Type of the requesting message.
        take_back: Restores the files if the session cannot use the change.
        key: The key for an answer.
        thing: Kind and name of the edited object, if its attributes are shown.
    """

    edit: LiveEdit
    client: str
    what: str
    take_back: Callable[[], object]
    key: str = ""
    thing: tuple[str, str] | None = None


class SceneSwaps:
    """Swaps a session's world after edits of its files, and reverts edits it cannot use.

    Args:
        session: The session.
        editor: Its files.
        attributes: Sends attributes again after a reverted edit.
        send: Sends a message to clients.
        send_undo: Sends the undo state to every client.
    """

    def __init__(
        self,
        session: Session,
        editor: Editor,
        attributes: AttributeEditor,
        send: SendMessage,
        send_undo: Callable[[], object],
    ) -> None:
        self._session, self._editor, self._attributes = session, editor, attributes
        self._send, self._send_undo = send, send_undo
        self._open: list[_Swap] = []
        self._refused: set[int] = set()  # numbers of refused edits whose events may still follow

    def begin(
        self, client: str, what: str, take_back: Callable[[], object], key: str = "",
        thing: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Starts a swap to the present content of the files; arguments as in :class:`_Swap`."""
        edit = self._session.swap(self._editor.scene, ids=self._editor.ids)
        self._open.append(_Swap(edit, client, what, take_back, key, thing))
        self._send_undo()

    def forget(self) -> None:
        """Drops pending swaps: their edits are in a new file without history."""
        self._open.clear()

    def explain(self, event: inbox.SessionEvent) -> bool:
        """Whether an event is the error of a change whose requester gets a refusal."""
        if event.edit in self._refused:
            self._refused.remove(event.edit)
            return True
        return any(swap.edit.number == event.edit and _failed(swap) for swap in self._open)

    def poll(self) -> None:
        """Handles compiled swaps, and reverts those that cannot be used."""
        while self._open and self._open[0].edit.done():
            self._finish()

    def _finish(self) -> None:
        """Handles the oldest swap; if it failed, all later ones are reverted with it."""
        failed = self._open[0]
        error = failed.edit.exception()
        if error is None:
            del self._open[0]
            return
        swaps, self._open = self._open, []
        self._refused.update(swap.edit.number for swap in swaps)
        for swap in reversed(swaps):
            swap.take_back()
        self._refuse(failed, error)
        for swap in swaps[1:]:
            gone = "it was based on a change that cannot be used, and was reverted with it."
            self._refuse(swap, SessionError(gone))
        if len(swaps) > 1:  # a later one may be in use by now
            self.begin("", "edit", lambda: None)
        self._send_undo()

    def _refuse(self, swap: _Swap, error: BaseException) -> None:
        """Sends the attributes in use, then the refusal, to the requesting client."""
        text, record = str(error), None
        if isinstance(error, LinkworkError):
            record = error.to_record()
        if swap.thing is not None:
            with contextlib.suppress(LinkworkError):  # its name may have been reverted, too
                self._attributes.inspect(swap.client, *swap.thing)
            if isinstance(error, LinkworkError):  # the panel shows the origin; the text suffices
                text = f"{error.message} {error.hint}".strip()
        self._send(swap.client, m.Refused(swap.what, text, swap.key, error=record))


def _failed(swap: _Swap) -> bool:
    """Whether the scene of a change has been compiled and cannot be used."""
    return swap.edit.done() and swap.edit.exception() is not None
