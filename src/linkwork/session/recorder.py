"""Recorder: writes a running session to a recording."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from linkwork.components.agents.movement_player import MovementPlayer
from linkwork.components.agents.program import Program
from linkwork.core.errors import ErrorRecord, LinkworkError, RecordingError
from linkwork.core.jit import cpu_features
from linkwork.core.program_folder import recordable_modules, why_not_recorded
from linkwork.core.signals import Signal, Signals
from linkwork.model.scene import Scene
from linkwork.model.scene.archive import pack
from linkwork.project.trust import TrustStore, program_code, programs_of
from linkwork.session.cycle import Cycle
from linkwork.session.messages import Message, ReloadProgram, StartPrograms, SwapScene, encode
from linkwork.session.recording import Header, RecordedWorld, RecordingWriter, SignalColumn

#: Name of the archived scene among the recorded files, and the folder of its files.
SCENE_FILE = "scene.archive"
_FILES_FOLDER = "files/"
#: Rate of poses for viewing [1/s].
FRAME_RATE = 60.0


def recorded_world(cycle: Cycle, archive: bytes) -> RecordedWorld:
    """Returns the description of a world for a recording."""
    return RecordedWorld(
        scene=cycle.world.scene.name,
        world_hash=hashlib.sha256(archive).hexdigest()[:16],
        step=cycle.h,
        layout=tuple(cycle.state.layout.fields.values()),
        signals=tuple(SignalColumn(each.name, each.unit) for each in joint_signals(cycle.signals)),
    )


def joint_signals(signals: Signals) -> list[Signal]:
    """The states and targets of the joints, which are recorded with each frame."""
    words = (".angle", ".position", ".target")
    return [signal for signal in signals if signal.name.endswith(words)]


def split_archive(archive: bytes) -> dict[str, bytes]:
    """Splits an archive into files, so that a recording keeps a mesh once for many edits."""
    content = msgspec.msgpack.decode(archive)
    files = {f"{_FILES_FOLDER}{place}": blob for place, blob in content.pop("files").items()}
    return {SCENE_FILE: msgspec.msgpack.encode(content), **files}


def join_archive(files: Mapping[str, bytes]) -> bytes:
    """Joins the archive that :func:`split_archive` split.

    Raises:
        RecordingError: If the recording does not hold it.
    """
    if SCENE_FILE not in files:
        raise RecordingError("the recording holds no scene; it cannot be replayed.")
    try:
        content = msgspec.msgpack.decode(files[SCENE_FILE])
        content["files"] = {
            name.removeprefix(_FILES_FOLDER): files[name]
            for name in files
            if name.startswith(_FILES_FOLDER)
        }
    except (msgspec.MsgspecError, TypeError) as error:
        raise RecordingError(f"the recorded scene cannot be read: {error}.") from None
    return msgspec.msgpack.encode(content)


def unsaved_sources(cycle: Cycle, files: Mapping[str, bytes]) -> dict[str, str]:
    """Returns texts of running programs and movements that differ from the archived scene.

    Args:
        cycle: The running cycle.
        files: The scene, as :func:`split_archive` makes it.
    """
    found: dict[str, str] = {}
    for program in cycle.agents:
        if not isinstance(program, Program | MovementPlayer):
            continue
        given = program.spec.params.get("source")
        archived = {given}
        if given is None and program.path is not None:
            ending = f"/{program.path.name}"
            archived = {
                blob.decode(errors="replace") for n, blob in files.items() if n.endswith(ending)
            }
        if archived != {program.source}:
            found[program.spec.name] = program.source
    return found


def programs_in(cycle: Cycle) -> dict[str, Program]:
    """The control programs of a cycle by name."""
    return {each.owner: each for each in cycle.agents if isinstance(each, Program)}


def trust_running(cycle: Cycle, withheld: Collection[str]) -> None:
    """Lets replays here run the programs that run now."""
    programs = programs_in(cycle).values()
    trust_programs({each: each.source for each in programs if each.owner not in withheld})


def trust_programs(texts: Mapping[Program, str]) -> None:
    """Lets replays here run the texts of programs that run in a recorded session."""
    codes = [program_code(each.owner, each.path, text) for each, text in texts.items()]
    with contextlib.suppress(LinkworkError):  # then a replay asks
        TrustStore().trust_recorded(codes)


def unrecorded_modules(scene: Scene) -> list[str]:
    """Says which modules beside programs a recording of a scene does not hold."""
    reasons = [why_not_recorded(Path(code.file)) for code in programs_of(scene) if code.file]
    return [
        f"{why}. A replay cannot import what is missing." for why in dict.fromkeys(reasons) if why
    ]


def pack_running_scene(cycle: Cycle) -> bytes:
    """Packs the scene with the running texts, not with the present ones of their files."""
    scene = cycle.world.scene
    archive = pack(scene)
    texts = unsaved_sources(cycle, split_archive(archive))
    if not texts:
        return archive
    agents = [
        replace(spec, params={**spec.params, "source": texts[spec.name]})
        if spec.name in texts
        else spec
        for spec in scene.agents
    ]
    return pack(replace(scene, agents=agents))


class Recorder:
    """Writes a session's inbox, keyframes, hashes and poses.

    A keyframe and a hash are written every simulated second. Steps in a recording count from its
    start and never go back, even if the session is reset.

    Args:
        path: The file.
        cycle: The running cycle.
        warn: Called once if the recording fails.
        withheld: Programs that do not run.
    """

    def __init__(
        self,
        path: Path,
        cycle: Cycle,
        warn: Callable[[str], object],
        withheld: Collection[str] = (),
        *,
        overwrite: bool = False,
    ) -> None:
        self._warn: Callable[[str], object] | None = warn
        archive = pack_running_scene(cycle)
        header = Header.of_run(
            recorded_world(cycle, archive),
            seed=cycle.world.scene.seed,
            cpu=cpu_features(),
            command=" ".join(sys.argv),
            codes=cycle.codes,
            withheld=withheld,
        )
        self.writer = RecordingWriter(path, header, split_archive(archive), overwrite=overwrite)
        for text in unrecorded_modules(cycle.world.scene):
            warn(text)
        trust_running(cycle, withheld)
        self.writer.first(cycle.state.data)
        self._enter(cycle, 0)

    @property
    def steps(self) -> int:
        """Steps since the start of the recording."""
        return self._base + self.cycle.state.step

    @steps.setter
    def steps(self, steps: int) -> None:
        self._base = steps - self.cycle.state.step

    def _enter(self, cycle: Cycle, steps: int) -> None:
        self.cycle = cycle
        self._modules = {
            name: recordable_modules(program.path)
            for name, program in programs_in(cycle).items()
            if program.path is not None
        }
        self.steps = steps
        self._frame = np.zeros((cycle.world.nb, 7), np.float32)
        self._addresses = np.array([s.address for s in joint_signals(cycle.signals)], np.int64)
        self._frame_every = max(1, round(1.0 / (FRAME_RATE * cycle.h)))
        self._second = max(1, round(1.0 / cycle.h))

    def message(self, message: Message) -> None:
        """Keeps an inbox message that was applied before the next step."""
        programs = programs_in(self.cycle)
        if isinstance(message, ReloadProgram):
            changed = self._changed_modules(programs.get(message.agent))
            message = msgspec.structs.replace(message, modules=changed)
            trust_programs(
                {p: message.source for p in programs.values() if p.owner == message.agent}
            )
        elif isinstance(message, StartPrograms):
            running = [each for each in programs.values() if each.owner in message.agents]
            trust_programs({each: each.source for each in running})
        self.writer.inbox(self.steps, encode(message))

    def _changed_modules(self, program: Program | None) -> dict[str, bytes]:
        """Modules beside a program that are not recorded yet as they are now."""
        if program is None or program.path is None:
            return {}
        found = recordable_modules(program.path)
        known = self._modules.get(program.owner, {})
        self._modules[program.owner] = {**known, **found}
        return {name: blob for name, blob in found.items() if known.get(name) != blob}

    def segment(
        self, cycle: Cycle, archive: bytes, steps: int, withheld: Collection[str] = ()
    ) -> None:
        """Starts a new segment after the scene was edited.

        Args:
            cycle: The new cycle.
            archive: Its scene.
            steps: Steps since the start of the recording.
            withheld: Programs that do not run.
        """
        files = split_archive(archive)  # the message need not contain them
        sources = unsaved_sources(cycle, files)
        swap = SwapScene(b"", cycle.world.ids, sources, list(withheld))
        self.writer.inbox(steps, encode(swap))
        trust_running(cycle, withheld)
        self._enter(cycle, steps)
        self.writer.segment(
            steps, world=recorded_world(cycle, archive), state=cycle.state.data, files=files
        )

    def after_step(self) -> None:
        """Called after each step."""
        steps = self._base + self.cycle.state.step
        if steps % self._frame_every == 0:
            self._frame[:] = self.cycle.state.pose
            self.writer.frame(steps, self._frame)
            if len(self._addresses):
                self.writer.signals(steps, self.cycle.state.data[self._addresses])
        if steps % self._second == 0:
            self.writer.keyframe(steps, self.cycle.state.data)
            self.writer.hash(steps, self.cycle.state.hash())
            self._warn_if_failed()

    def _warn_if_failed(self) -> None:
        """Warns, once, if the disk is full or broken."""
        failed, warn = self.writer.failed, self._warn
        if failed is not None and warn is not None:
            self._warn = None
            warn(str(failed))

    def event(
        self, level: str, text: str, source: str, error: ErrorRecord | None, *, simulated: bool
    ) -> None:
        """Records a log entry."""
        self.writer.event(
            self.steps, level, text, source or "session", simulated=simulated, error=error
        )

    @property
    def failed(self) -> RecordingError | None:
        """Why nothing more is recorded, or None."""
        return self.writer.failed

    def flush(self) -> None:
        """Hands everything recorded so far to the operating system."""
        self.writer.flush()
        self._warn_if_failed()

    def last_hash(self) -> None:
        """Writes the hash of the last step, if it has none."""
        if self.steps % self._second:
            self.writer.hash(self.steps, self.cycle.state.hash())

    def close(self) -> None:
        """Closes the file."""
        self.writer.close()
        self._warn_if_failed()
