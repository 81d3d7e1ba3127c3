"""Trust: which Python code of files may run.

Opening a file never runs code. Code of the package, of installed kits and of the user's kits is
trusted; other code runs only after the user has decided so, by content or by folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from linkwork.core.atomic import USER_FOLDER, locked, write_private
from linkwork.core.errors import FormatError, LinkworkError, Origin, os_error_text
from linkwork.core.program_folder import (
    FolderTooLarge,
    importable_files,
    read_modules,
    read_program,
)
from linkwork.model.parts import Spec, find_kits
from linkwork.model.scene import Scene

#: Names another file for the decisions.
VARIABLE = "LINKWORK_TRUST"
#: Shortest beginning of a hash that names a decision.
SHORTEST_HASH = 6
#: Kinds of decisions in the file: lists of paths, and names by digest.
_BY_PATH, _BY_DIGEST = ("folders", "files"), ("content", "recorded")


@dataclass(frozen=True)
class ProgramCode:
    """A control program that a scene or recording brings.

    Attributes:
        agent: The agent that runs it.
        file: Its path; empty for a text without a file.
        text: Its text.
        modules: Digests of the files beside it that it can import, by path; None if they are too
            many to be read.
    """

    agent: str
    file: str
    text: str
    modules: tuple[tuple[str, str], ...] | None = ()

    @property
    def digests(self) -> list[str]:
        """Digests of the program and of everything that it can import from its folder."""
        return [digest(self.text.encode()), *(found for _, found in self.modules or ())]

    @property
    def key(self) -> str:
        """Identifies the program together with everything that it can import."""
        return digest(" ".join(self.digests).encode())


def digest(data: bytes) -> str:
    """Identifies a content: SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def program_code(agent: str, file: str | Path | None, text: str) -> ProgramCode:
    """Describes a program and what it can import from the folder of its file."""
    if not file:
        return ProgramCode(agent, "", text)
    path = Path(file)
    return ProgramCode(agent, str(path), text, _modules(path))


def programs_of(scene: Scene) -> list[ProgramCode]:
    """Returns the control programs that a scene brings, without those that cannot be read."""
    found = []
    for spec in scene.agents:
        if spec.type == "program" and (code := _code_of(spec)) is not None:
            found.append(code)
    return found


def _code_of(spec: Spec) -> ProgramCode | None:
    file, text = spec.params.get("file"), spec.params.get("source")
    path = None
    if isinstance(file, str) and file:
        origin = spec.origin.file if spec.origin else ""
        path = Path(origin).parent / file if origin else Path(file)
    if not isinstance(text, str):
        try:
            text = read_program(path) if path else None
        except (OSError, ValueError):
            text = None
    return program_code(spec.name, path, text) if isinstance(text, str) else None


def _modules(program: Path) -> tuple[tuple[str, str], ...] | None:
    """Digests of the modules that a program can import from its folder; None if too many."""
    found = read_modules(program)
    return None if found is None else tuple((str(p), digest(blob)) for p, blob in found.items())


@cache
def _known_folders() -> tuple[Path, ...]:
    """Folders of the package's kits, of installed kits and of the user's kits."""
    return tuple(kit.folder.resolve() for kit in find_kits().values())


@cache
def _known_digests() -> frozenset[str]:
    """Digests of the programs of all kits, which recordings of their scenes contain."""
    found = set[str]()
    for folder in _known_folders():
        with contextlib.suppress(OSError, FolderTooLarge):
            for path in importable_files(folder):
                if path.suffix == ".py" and path.is_file():
                    found.add(digest(path.read_bytes()))
    return frozenset(found)


@dataclass(frozen=True)
class TrustEntry:
    """A decision of the user.

    Attributes:
        kind: "content", "file" or "folder"; "recorded" for a text that ran in a recorded session,
            which a replay may run, but no scene.
        key: The digest, or the path.
        name: Name of the file when it was trusted.
    """

    kind: str
    key: str
    name: str = ""


class TrustWarning(UserWarning):
    """The list of trusted programs is not believed: nothing is trusted by it."""


class TrustStore:
    """The user's decisions, kept in a file that only the user can read.

    A list that cannot be read, or that other users can write, trusts nothing: programs that need a
    decision do not run, with a :class:`TrustWarning`, and no decision is added to it.

    Args:
        path: The file; that of the environment variable ``LINKWORK_TRUST``, else
            ``~/.linkwork/trust.json``, if None.
    """

    def __init__(self, path: Path | None = None) -> None:
        given = os.environ.get(VARIABLE)
        self.path = path or (Path(given) if given else USER_FOLDER.expanduser() / "trust.json")

    def entries(self) -> list[TrustEntry]:
        """Returns all decisions: folders, files, contents, recorded texts.

        Raises:
            FormatError: If the file is damaged, or others can write it.
        """
        data = self._read()
        paths = [TrustEntry("folder", each) for each in data["folders"]]
        paths += [TrustEntry("file", each) for each in data["files"]]
        return paths + [
            TrustEntry(kind, key, name) for kind in _BY_DIGEST for key, name in data[kind].items()
        ]

    def untrusted(
        self, codes: Iterable[ProgramCode], *, recorded: bool = False
    ) -> list[ProgramCode]:
        """Returns the programs that may not run.

        Args:
            codes: The programs.
            recorded: Whether they are those of a recording that is to be replayed.
        """
        codes = list(codes)
        if not codes:
            return []
        data = self._believed()
        if recorded:
            data["content"] |= data["recorded"]
        return [each for each in codes if not _is_trusted(each, data)]

    def trust_content(self, codes: Iterable[ProgramCode]) -> None:
        """Trusts programs as they are now, with the modules beside them.

        Raises:
            LinkworkError: If a program's folder holds too much to be read.
        """
        with self._changed() as data:
            for each in codes:
                if each.modules is None:
                    raise LinkworkError(
                        f"the folder of {each.file} holds too many modules to be trusted by "
                        "content.",
                        hint="Trust the folder, or put the program into a folder of its own.",
                    )
                name = str(Path(each.file).resolve()) if each.file else each.agent
                data["content"][digest(each.text.encode())] = name
                for file, found in each.modules:
                    data["content"][found] = file if each.file else Path(file).name

    def trust_recorded(self, codes: Iterable[ProgramCode]) -> None:
        """Lets replays run the programs of a recorded session, with the modules beside them."""
        codes = [replace(code, file="", modules=code.modules or ()) for code in codes]
        if not self.untrusted(codes, recorded=True):
            return
        with self._changed() as data:
            data["recorded"] |= {found: each.agent for each in codes for found in each.digests}

    def trust_folder(self, folder: str | Path) -> None:
        """Trusts everything in a folder, now and later.

        Raises:
            LinkworkError: If it is not a folder.
        """
        path = Path(folder).resolve()
        if not path.is_dir():
            raise LinkworkError(f"there is no folder {path}.")
        self._add("folders", str(path))

    def trust_file(self, file: str | Path) -> None:
        """Trusts a program that was made here, also when it is changed later."""
        self._add("files", str(Path(file).resolve()))

    def _add(self, kind: str, path: str) -> None:
        with self._changed() as data:
            if path not in data[kind]:
                data[kind].append(path)

    def revoke(self, key: str, codes: Iterable[ProgramCode] = ()) -> list[TrustEntry]:
        """Removes decisions: about a folder, a file, programs, or by the beginning of a digest.

        Args:
            key: A path, the name of an agent, or at least :data:`SHORTEST_HASH` digits.
            codes: Programs that the file of that name brings; with what they can import.

        Returns:
            The removed ones.
        """
        names, digests = {key, str(Path(key).resolve())}, set[str]()
        for code in codes:
            files = [code.file, *(name for name, _ in code.modules or ())]
            names.update(str(Path(each).resolve()) for each in files if each)
            digests.update(code.digests)
        begins = key if len(key) >= SHORTEST_HASH else None
        with self._changed() as data:
            gone = [
                each
                for each in self.entries()
                if (each.name if each.kind in _BY_DIGEST else each.key) in names
                or each.key in digests
                or (each.kind in _BY_DIGEST and begins and each.key.startswith(begins))
            ]
            keys = {each.key for each in gone}
            for kind in _BY_PATH:
                data[kind] = [each for each in data[kind] if each not in keys]
            for kind in _BY_DIGEST:
                data[kind] = {k: v for k, v in data[kind].items() if k not in keys}
        return gone

    @contextlib.contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        """The decisions, to be changed while no other process changes them; then written."""
        try:
            with locked(self.path):
                data = self._read()
                yield data
                write_private(self.path, json.dumps(data, indent=1).encode())
        except OSError as error:
            raise LinkworkError(
                f"the decision cannot be kept in {self.path}: {os_error_text(error)}."
            ) from None

    def _believed(self) -> dict[str, Any]:
        """The decisions; none, with a warning, if the list cannot be believed."""
        try:
            return self._read()
        except FormatError as error:
            warnings.warn(str(error), TrustWarning, stacklevel=2)
            return _no_decisions()

    def _check_private(self) -> None:
        """Refuses a list that other users can write, on systems with modes of files."""
        if not hasattr(os, "geteuid"):
            return
        folder = self.path.parent
        for path, mode in ((self.path, 600), (folder, 700)):
            found = path.stat()
            if found.st_uid not in (os.geteuid(), 0):
                raise self._not_believed(
                    f"{path} belongs to another user", f"{VARIABLE} names a list of your own."
                )
            shared = found.st_mode & stat.S_ISVTX and path == folder  # others cannot replace files
            if found.st_mode & 0o022 and not shared:
                raise self._not_believed(
                    f"other users can write to {path}",
                    f"Check its entries, then: chmod {mode} {path}",
                )

    def _not_believed(self, why: str, hint: str) -> FormatError:
        return FormatError(
            f"the list of trusted programs is not believed: {why}; nothing is trusted by it.",
            origin=Origin(str(self.path)),
            hint=hint,
        )

    def _read(self) -> dict[str, Any]:
        try:
            self._check_private()
            data = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return _no_decisions()
        except (OSError, ValueError) as error:
            raise self._damaged(str(error)) from None
        try:
            paths = {kind: [str(each) for each in data[kind]] for kind in _BY_PATH}
            digests = {
                kind: {str(key): str(name) for key, name in data.get(kind, {}).items()}
                for kind in _BY_DIGEST
            }
            return paths | digests
        except (KeyError, TypeError, AttributeError):
            raise self._damaged("it holds no lists of folders, files and contents") from None

    def _damaged(self, why: str) -> FormatError:
        return FormatError(
            f"the list of trusted programs cannot be read: {why}.",
            origin=Origin(str(self.path)),
            hint="Repair or delete the file; nothing is trusted by it until then.",
        )


def _no_decisions() -> dict[str, Any]:
    return {kind: [] for kind in _BY_PATH} | {kind: {} for kind in _BY_DIGEST}


def keep_decision(codes: Iterable[ProgramCode], how: str) -> None:
    """Keeps the decision of a user.

    Args:
        codes: The programs.
        how: "once" keeps nothing, "content" trusts them as they are, "folder" their folders.

    Raises:
        LinkworkError: If there is no folder, or the decision cannot be kept.
    """
    codes, store = list(codes), TrustStore()
    if how == "content":
        store.trust_content(codes)
    elif how == "folder":
        if not all(code.file for code in codes):
            raise LinkworkError(
                "a program without a file has no folder.", hint="Trust it once, or its content."
            )
        for folder in {Path(code.file).resolve().parent for code in codes}:
            store.trust_folder(folder)


def named_code(scene: Scene) -> list[str]:
    """Names the programs of a scene that run because the user named its file, not by trust."""
    codes = TrustStore().untrusted(programs_of(scene))
    return list(dict.fromkeys(code.file or code.agent for code in codes))


def is_trusted(code: ProgramCode) -> bool:
    """Whether a program may run without asking: a policy for sessions."""
    return not TrustStore().untrusted([code])


def _is_trusted(code: ProgramCode, data: dict[str, Any]) -> bool:
    content, files = data["content"], set(data["files"])
    path = Path(code.file).resolve() if code.file else None
    if path is not None and not _holds(path, code.text):
        path = None  # a scene can give a text together with the path of a trusted file
    if path is not None:
        folders = (*_known_folders(), *map(Path, data["folders"]))
        if any(path.is_relative_to(each) for each in folders):
            return True
    if code.modules is None:
        return False
    known = _known_digests()
    beside = all(
        found in content or found in known or name in files for name, found in code.modules
    )
    own = digest(code.text.encode())
    return beside and (own in content or own in known or (path is not None and str(path) in files))


def _holds(path: Path, text: str) -> bool:
    """Whether a file holds a text."""
    try:
        return read_program(path) == text
    except (OSError, ValueError):
        return False
