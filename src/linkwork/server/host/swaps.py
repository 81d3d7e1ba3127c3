"""Swaps: changes of the files that the session has not gone over to yet."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from linkwork.errors import LinkworkError, SessionError
from linkwork.server import messages as m
from linkwork.server.host.attribute_desk import AttributeDesk
from linkwork.server.host.door import Tell
from linkwork.server.host.editor import Editor
from linkwork.session import messages as inbox
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session


@dataclass(frozen=True)
class _Swap:
    """A change of the files.

    Attributes:
        compiled: Done when compiled.
        client: Who asked for it.
        what: Type of the message that did.
        take_back: Makes the files as they were before, where the session cannot use them.
        key: What an answer refers to.
        thing: Kind and name of what was edited, where its attributes are shown.
    """

    compiled: Future[Cycle]
    client: str
    what: str
    take_back: Callable[[], object]
    key: str = ""
    thing: tuple[str, str] | None = None


class Swaps:
    """Lets a session go over to its changed files; what it cannot use is taken back.

    Args:
        session: The session.
        editor: Its files.
        attributes: Shows attributes again after an edit that was taken back.
        tell: Tells clients something.
        tell_undo: Tells every client what can be undone now.
    """

    def __init__(
        self,
        session: Session,
        editor: Editor,
        attributes: AttributeDesk,
        tell: Tell,
        tell_undo: Callable[[], object],
    ) -> None:
        self._session, self._editor, self._attributes = session, editor, attributes
        self._tell, self._tell_undo = tell, tell_undo
        self._open: list[_Swap] = []
        self._unusable = ""  # why the last edit that was refused could not be used

    def begin(
        self, client: str, what: str, take_back: Callable[[], object], key: str = "",
        thing: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Lets the session go over to what the files say now; the rest as in :class:`_Swap`."""
        compiled = self._session.swap(self._editor.scene, ids=self._editor.ids)
        self._open.append(_Swap(compiled, client, what, take_back, key, thing))
        self._tell_undo()

    def forget(self) -> None:
        """What they said is in a new file, which has no history yet."""
        self._open.clear()

    def explain(self, event: inbox.Event) -> bool:
        """Whether an error is that of a change whose asker is told of it as refused."""
        done = [swap.compiled for swap in self._open if swap.compiled.done()]
        reasons = [str(each.exception()) for each in done if each.exception() is not None]
        return any(why and why in event.text for why in (*reasons, self._unusable))

    def look_after(self) -> None:
        """Looks at those that are compiled, and takes back what cannot be used."""
        while self._open and self._open[0].compiled.done():
            self._finish()

    def _finish(self) -> None:
        """Looks at the oldest swap; where it failed, all that was built on it goes with it."""
        failed = self._open[0]
        error = failed.compiled.exception()
        if error is None:
            del self._open[0]
            return
        swaps, self._open, self._unusable = self._open, [], str(error)
        for swap in reversed(swaps):
            swap.take_back()
        self._refuse(failed, error)
        for swap in swaps[1:]:
            gone = "it was built on a change that cannot be used, and went with it."
            self._refuse(swap, SessionError(gone))
        if len(swaps) > 1:  # one of the later ones may be in use by now
            self.begin("", "edit", lambda: None)
        self._tell_undo()

    def _refuse(self, swap: _Swap, error: BaseException) -> None:
        """Tells who asked why it is not in use; first what is, for its panel showed the other."""
        text = str(error)
        if swap.thing is not None:
            with contextlib.suppress(LinkworkError):  # its name may have been taken back too
                self._attributes.inspect(swap.client, *swap.thing)
            if isinstance(error, LinkworkError):  # the panel shows where; the words are enough
                text = f"{error.message} {error.hint}".strip()
        self._tell(swap.client, m.Refused(swap.what, text, swap.key))
