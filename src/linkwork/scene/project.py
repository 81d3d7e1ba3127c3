"""Project: a scene or part with the files that it brings along, edited as one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from linkwork.errors import SceneError
from linkwork.parts import Part
from linkwork.registry import FORMATS
from linkwork.scene.document import Check, Document, Kept
from linkwork.scene.edits import Ids
from linkwork.scene.ids import full_ids
from linkwork.scene.scene import Scene

#: How many steps can be undone.
MOST_STEPS = 500


_numbers = itertools.count(1)


def next_number() -> int:
    """A number greater than that of every step before, so that histories are undone in turn."""
    return next(_numbers)


@dataclass(frozen=True)
class Standing:
    """How all files of a project stood at a moment."""

    content: Part | Scene
    kept: dict[str, Kept]


@dataclass(frozen=True)
class Step:
    """One entry of the history; it may have touched several files.

    Attributes:
        what: What was done, for people: "mass of arm/tube".
        before: How the files stood before it.
        after: And after it.
        number: Grows from step to step, of this history and of others.
    """

    what: str
    before: Standing
    after: Standing
    number: int = field(default_factory=next_number)


class Project:
    """A main file and the part files it names, with one history for all of them.

    What is not saved in one file is seen by the others: a scene is always read with the texts
    as they are edited, and an edit of any file is refused if the whole would break.

    Attributes:
        main: The file that was opened.
        content: What it makes, together with the others.
        documents: Files that were looked at or edited, by real path.
        history: Steps that can be undone, oldest first.
        future: Steps that can be redone, the next one last.
    """

    def __init__(self, main: Document, *, check: Check | None = None) -> None:
        """Makes a project of a document.

        Args:
            main: The document.
            check: Looks further than the format does, for example by compiling the scene.
        """
        self.main = main
        self.content = main.content
        self.documents: dict[str, Document] = {os.path.realpath(main.path): main}
        self.history: list[Step] = []
        self.future: list[Step] = []
        self._check = check
        self._inside = False
        self._first: dict[str, Kept] = {}
        self._first[os.path.realpath(main.path)] = main.keep()
        main.read = self._read

    def document(self, file: str) -> Document:
        """The document of a part file that belongs to the project.

        Raises:
            LinkworkError: If it cannot be read.
        """
        real = os.path.realpath(file)
        if real not in self.documents:
            self.add(Document.open(file))
        return self.documents[real]

    def add(self, document: Document) -> None:
        """Takes a document in."""
        document.read = self._read
        real = os.path.realpath(document.path)
        self.documents[real], self._first[real] = document, document.keep()

    def create(self, text: str, path: str) -> Document:
        """Takes in a text whose file does not exist yet; for use inside a step.

        Raises:
            LinkworkError: If the text is not a part or scene.
        """
        document = Document(text, path, read=self._read)
        self.add(document)
        return document

    @property
    def files(self) -> list[str]:
        """Real paths of the files that make the content, the main one first."""
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
        """Documents that have something to save, the main one last."""
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
        """Makes one entry of the history of all edits inside; if they are refused, none happened.

        Each text must be right by itself at once, the whole when all is done.

        Args:
            what: What it is called in the menu.
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
        self.history = [*self.history, Step(what, before, self._standing())][-MOST_STEPS:]
        self.future.clear()

    def undo(self) -> Step:
        """Takes the last step back, in all files that it touched, byte for byte.

        Raises:
            SceneError: If there is nothing to undo.
        """
        if not self.history:
            raise SceneError("there is nothing to undo.")
        step = self.history.pop()
        self.future.append(step)
        self._stand(step.before)
        return step

    def redo(self) -> Step:
        """Does again what was undone last.

        Raises:
            SceneError: If there is nothing to redo.
        """
        if not self.future:
            raise SceneError("there is nothing to redo.")
        step = self.future.pop()
        self.history.append(step)
        self._stand(step.after)
        return step

    def _standing(self) -> Standing:
        return Standing(self.content, {real: d.keep() for real, d in self.documents.items()})

    def _stand(self, standing: Standing) -> None:
        self.content = standing.content
        for real, document in self.documents.items():
            # What was not looked at yet was as it came.
            document.restore(standing.kept.get(real) or self._first[real])

    def _read(self, text: str, path: str) -> Part | Scene:
        """Reads the text of one file and, where no step is under way, with it the whole."""
        here = os.path.realpath(path)
        if not self._inside:
            self._whole({here: text})
        return FORMATS.get("toml")().parse(text, path, texts=self._texts({here: text}))

    def _texts(self, trial: dict[str, str]) -> dict[str, str]:
        return {real: document.text for real, document in self.documents.items()} | trial

    def _whole(self, trial: dict[str, str]) -> None:
        """Reads and checks everything, with some texts on trial."""
        texts, main = self._texts(trial), self.main
        text = texts[os.path.realpath(main.path)]
        whole = FORMATS.get("toml")().parse(text, main.path, texts=texts)
        if self._check is not None:
            self._check(whole)
        self.content = whole
