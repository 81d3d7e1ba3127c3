"""Project: documents edited together, with one undo history."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from linkwork.core.errors import SceneError
from linkwork.core.registry import FORMATS
from linkwork.model.parts import Part
from linkwork.model.scene import Scene
from linkwork.project.document import Check, Document, DocumentSnapshot
from linkwork.project.edits import Edit, Ids, Patch
from linkwork.project.stable_ids import full_ids

#: Maximum number of undo steps, and how many of the newest keep what they have read; a step before
#: keeps the changed characters only and reads the files again.
MAX_UNDO_STEPS, READY_UNDO_STEPS = 500, 20


_numbers = itertools.count(1)


def next_step_number() -> int:
    """A number greater than that of every earlier step, so that histories can be interleaved."""
    return next(_numbers)


@dataclass(frozen=True)
class ProjectSnapshot:
    """Snapshot of all files of a project."""

    content: Part | Scene
    kept: dict[str, DocumentSnapshot]


@dataclass(frozen=True)
class UndoStep:
    """One entry of the history, of one or several files.

    Attributes:
        what: Description: "mass of arm/tube".
        edits: The change of each changed file, by its real path.
        before: Snapshot before it; None of an old step.
        after: Snapshot after it; None of an old step.
        number: Increases from step to step, across histories.
    """

    what: str
    edits: dict[str, Edit]
    before: ProjectSnapshot | None
    after: ProjectSnapshot | None
    number: int = field(default_factory=next_step_number)


class Project:
    """A main file and the part files it names, with one history for all of them.

    Files see each other's unsaved changes: a scene is read with the texts being edited, and an
    edit of any file is refused if it would break the whole.

    Attributes:
        main: The file that was opened.
        content: The part or scene of all files together.
        documents: Files that were opened, by real path.
        history: Steps that can be undone, oldest first.
        future: Steps that can be redone, the next one last.
    """

    def __init__(self, main: Document, *, check: Check | None = None) -> None:
        """Returns a project of a document.

        Args:
            main: The document.
            check: Further check, for example by compiling the scene.
        """
        self.main = main
        self.content = main.content
        self.documents: dict[str, Document] = {os.path.realpath(main.path): main}
        self.history: list[UndoStep] = []
        self.future: list[UndoStep] = []
        self._check = check
        self._inside = False
        self._first: dict[str, DocumentSnapshot] = {}
        self._first[os.path.realpath(main.path)] = main.keep()
        main.read, main.keeps_history = self._read, False

    def document(self, file: str) -> Document:
        """Returns the document of a part file that belongs to the project.

        Raises:
            LinkworkError: If it cannot be read.
        """
        real = os.path.realpath(file)
        if real not in self.documents:
            self.add(Document.open(file))
        return self.documents[real]

    def add(self, document: Document) -> None:
        """Adds a document."""
        document.read, document.keeps_history = self._read, False
        real = os.path.realpath(document.path)
        self.documents[real], self._first[real] = document, document.keep()

    def create(self, text: str, path: str) -> Document:
        """Adds a text whose file does not exist yet; for use inside a step.

        Raises:
            LinkworkError: If the text is not a part or scene.
        """
        document = Document(text, path, read=self._read)
        self.add(document)
        return document

    @property
    def files(self) -> list[str]:
        """Real paths of the files of the content, the main one first."""
        found = {os.path.realpath(self.main.path): None}

        def visit(content: Part | Scene) -> None:
            inner = content.attachments if isinstance(content, Part) else content.parts
            for holder in inner.values():
                if holder.part.origin.file:
                    found[os.path.realpath(holder.part.origin.file)] = None
                visit(holder.part)

        visit(self.content)
        return list(found)

    @property
    def changed(self) -> list[Document]:
        """Documents that have unsaved changes, the main one last."""
        made = [self.documents[f] for f in self.files if f in self.documents]
        return [document for document in reversed(made) if document.changed]

    @property
    def ids(self) -> dict[str, str]:
        """Stable ids by full name, across files."""

        def known(part: Part) -> Ids | None:
            document = self.documents.get(os.path.realpath(part.origin.file))
            return document.own_ids if document is not None and part.origin.file else None

        return full_ids(self.content, self.main.own_ids, known)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Makes one history entry of all edits inside; if one is refused, none is applied.

        Each text must be valid at once, the whole at the end.

        Args:
            what: Description in the menu.
        """
        before, known = self._standing(), set(self.documents)
        self._inside = True
        try:
            yield
            self._whole({})
        except BaseException:
            for real in set(self.documents) - known:
                del self.documents[real]
            self._stand(before)
            raise
        finally:
            self._inside = False
        after = self._standing()
        edits = self._edits(what, before, after)
        self.history = [*self.history, UndoStep(what, edits, before, after)][-MAX_UNDO_STEPS:]
        self.future.clear()
        if len(self.history) > READY_UNDO_STEPS:
            old = self.history[-READY_UNDO_STEPS - 1]
            self.history[-READY_UNDO_STEPS - 1] = replace(old, before=None, after=None)

    def undo(self) -> UndoStep:
        """Undoes the last step in all its files, byte-exact.

        Raises:
            SceneError: If there is nothing to undo.
        """
        if not self.history:
            raise SceneError("there is nothing to undo.")
        step = self.history[-1]
        if step.before is not None:
            self._stand(step.before)
        else:
            self._turn({real: edit.inverse() for real, edit in step.edits.items()})
        self.future.append(self.history.pop())
        return step

    def redo(self) -> UndoStep:
        """Redoes the edit that was undone last.

        Raises:
            SceneError: If there is nothing to redo.
        """
        if not self.future:
            raise SceneError("there is nothing to redo.")
        step = self.future[-1]
        if step.after is not None:
            self._stand(step.after)
        else:
            self._turn(step.edits)
        self.history.append(self.future.pop())
        return step

    def _standing(self) -> ProjectSnapshot:
        return ProjectSnapshot(self.content, {real: d.keep() for real, d in self.documents.items()})

    def _edits(self, what: str, before: ProjectSnapshot, after: ProjectSnapshot) -> dict[str, Edit]:
        """The changes of the files between two snapshots."""
        made: dict[str, Edit] = {}
        for real, (text, _, ids) in after.kept.items():
            old, _, old_ids = before.kept.get(real) or self._first[real]
            if (text, ids) != (old, old_ids):
                made[real] = Edit(what, Patch.between(old, text), old_ids, ids)
        return made

    def _turn(self, edits: dict[str, Edit]) -> None:
        """Applies edits of an old step, and reads the files again.

        Raises:
            LinkworkError: If they cannot be read, for example because another file of the scene is
                gone; nothing is changed then.
        """
        texts = {real: edit.patch.apply(self.documents[real].text) for real, edit in edits.items()}
        before = self._standing()
        try:
            self._inside = True
            for real, text in texts.items():
                document = self.documents[real]
                content = self._read(text, document.path)
                document.restore((text, content, edits[real].after))
            self._whole({})
        except BaseException:
            self._stand(before)
            raise
        finally:
            self._inside = False

    def _stand(self, standing: ProjectSnapshot) -> None:
        self.content = standing.content
        for real, document in self.documents.items():
            # Files that were not open yet are unchanged.
            document.restore(standing.kept.get(real) or self._first[real])

    def _read(self, text: str, path: str) -> Part | Scene:
        """Reads the text of one file and, outside a step, the whole."""
        here = os.path.realpath(path)
        if not self._inside:
            self._whole({here: text})
        return FORMATS.get("toml")().parse(text, path, texts=self._texts({here: text}))

    def _texts(self, trial: dict[str, str]) -> dict[str, str]:
        return {real: document.text for real, document in self.documents.items()} | trial

    def _whole(self, trial: dict[str, str]) -> None:
        """Reads and checks everything, with some texts replaced."""
        texts, main = self._texts(trial), self.main
        text = texts[os.path.realpath(main.path)]
        whole = FORMATS.get("toml")().parse(text, main.path, texts=texts)
        if self._check is not None:
            self._check(whole)
        self.content = whole
