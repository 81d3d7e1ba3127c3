"""Recorded programs: which ones a recording brings, and which of them ran."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from linkwork.components.agents.program import Program
from linkwork.core.errors import LinkworkError
from linkwork.model.scene.archive import unpack
from linkwork.project.trust import ProgramCode, digest, programs_of
from linkwork.session.messages import (
    Message,
    ReloadProgram,
    StartPrograms,
    SwapScene,
    decode_recorded,
)
from linkwork.session.recorder import join_archive
from linkwork.session.recording import Recording
from linkwork.session.recording.mcap_format import check_file_name
from linkwork.session.session import Session


class RecordedPrograms:
    """Decides for a replay which programs run: those that ran when it was recorded.

    The recording's file can change after its programs were found and trusted, so each one is
    compared again when it starts.

    Args:
        codes: The programs that may run.
        withheld: Those that did not at first.
    """

    def __init__(self, codes: Iterable[ProgramCode], withheld: Collection[str] = ()) -> None:
        self._digests = {found for code in codes for found in code.digests}
        self.withheld = set(withheld)

    def __call__(self, code: ProgramCode) -> bool:
        """Whether a program ran."""
        known = code.modules is not None and self._digests.issuperset(code.digests)
        return known and code.agent not in self.withheld

    def take(self, message: Message) -> None:
        """Notes a message that changes which programs run, before it is applied."""
        if isinstance(message, StartPrograms):
            self.withheld.difference_update(message.agents)
        elif isinstance(message, SwapScene):
            self.withheld = set(message.withheld)

    def write_modules(self, message: Message, session: Session, *folders: Path) -> None:
        """Writes the modules that a recorded message brings beside its program.

        Args:
            message: The message, before it is applied.
            session: The replaying session.
            folders: Folders of the replay. A recording can name any path; nothing is written
                elsewhere.
        """
        if not isinstance(message, ReloadProgram) or not message.modules:
            return
        owned = [each.resolve() for each in (*folders, *session.folders)]
        for agent in session.cycle.agents:
            if not isinstance(agent, Program) or agent.owner != message.agent or not agent.path:
                continue
            top = agent.path.resolve().parent
            for name, blob in message.modules.items():
                path = (top / check_file_name(name)).resolve()
                if any(path.is_relative_to(each) and path != each for each in owned):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(blob)


def recorded_programs(recording: Recording, folder: Path) -> list[ProgramCode]:
    """Returns every program that a replay of a recording would run.

    Args:
        recording: The recording.
        folder: Folder for the files of its scenes.

    Raises:
        LinkworkError: If a scene or message of it cannot be read.
    """
    found: dict[str, ProgramCode] = {}
    for segment in recording.segments:
        place = folder / f"segment-{segment.number}"
        place.mkdir(parents=True, exist_ok=True)
        for code in programs_of(unpack(join_archive(segment.files), place)):
            found.setdefault(f"{code.agent} {code.digests}", code)
    for _, data in recording.inbox:
        try:
            message = decode_recorded(data)
        except LinkworkError:
            continue  # a replay reports it
        texts, modules = dict[str, str](), ()
        if isinstance(message, ReloadProgram):
            texts = {message.agent: message.source}
            modules = tuple((name, digest(blob)) for name, blob in message.modules.items())
        elif isinstance(message, SwapScene):
            texts = message.sources
        for agent, text in texts.items():
            code = ProgramCode(agent, "", text, modules)
            found.setdefault(f"{agent} {code.digests}", code)
    return list(found.values())
