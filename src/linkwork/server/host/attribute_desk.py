"""AttributeDesk: attributes of a thing in the scene, of its file and of the running one."""

from __future__ import annotations

import numpy as np

from linkwork.errors import SessionError
from linkwork.server import messages as m
from linkwork.server.host.door import Door, Tell
from linkwork.server.host.editor import Editor
from linkwork.session import messages as inbox
from linkwork.session.cycle import PERSON
from linkwork.session.session import Session


class AttributeDesk:
    """Tells clients the attributes of things, and sets those of the running scene.

    Args:
        session: The session.
        editor: Its files.
        door: The way into the session.
        tell: Tells clients something.
    """

    def __init__(self, session: Session, editor: Editor, door: Door, tell: Tell) -> None:
        self._session, self._editor, self._door, self._tell = session, editor, door, tell

    def inspect(self, client: str, kind: str, name: str) -> None:
        """Tells a client the attributes of a thing.

        Raises:
            LinkworkError: If there is no such thing.
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
                    m.Row(f"{m.LIVE}{word}", shown, signal.unit, lo, hi, None,
                          "", True, False, help="Of the running scene; no file keeps it.")
                )  # fmt: skip
        convert = editor.project is None and bool(editor.file)
        placement = editor.placement(kind, name)
        self._tell(client, m.Attributes(name, kind, rows, note, convert, placement))

    def set_live(self, message: m.Edit) -> None:
        """Sets a value of the running scene.

        Raises:
            SessionError: If it is no number, or is refused.
        """
        try:
            value = float(message.value)
        except ValueError:
            raise SessionError(f"{message.key} takes a number, not {message.value!r}.") from None
        word = message.key.removeprefix(m.LIVE)
        signal = f"{_base(message.kind, message.name)}.{word}"
        self._door.apply(inbox.Set(signal, value, PERSON))


def _base(kind: str, name: str) -> str:
    """What signals of a thing begin with."""
    return "world" if kind == "scene" else name
