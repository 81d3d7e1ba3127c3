"""Tape: what of a running session goes into its recording, and when."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from linkwork.agents.movement import MovementPlayer
from linkwork.agents.program import Program
from linkwork.errors import RecordingError
from linkwork.jit import cpu_features
from linkwork.scene.archive import pack
from linkwork.session.cycle import Cycle
from linkwork.session.messages import Message, Swap, encode
from linkwork.session.recording import Header, Outline, Recorder

#: Name of the archived scene among the recorded files, and the folder of what it needs.
SCENE_FILE = "scene.archive"
_FOLDER = "files/"
#: Poses are kept this often for viewing [1/s].
FRAME_RATE = 60.0


def outline(cycle: Cycle, archive: bytes) -> Outline:
    """What a reader must know of the world."""
    return Outline(
        scene=cycle.world.scene.name,
        world_hash=hashlib.sha256(archive).hexdigest()[:16],
        step=cycle.h,
        layout=tuple(cycle.state.layout.fields.values()),
    )


def split(archive: bytes) -> dict[str, bytes]:
    """An archive as files: a recording keeps a mesh once, however often its scene is edited."""
    content = msgspec.msgpack.decode(archive)
    files = {f"{_FOLDER}{place}": blob for place, blob in content.pop("files").items()}
    return {SCENE_FILE: msgspec.msgpack.encode(content), **files}


def join(files: Mapping[str, bytes]) -> bytes:
    """The archive that :func:`split` took apart.

    Raises:
        RecordingError: If the recording does not hold it.
    """
    if SCENE_FILE not in files:
        raise RecordingError("the recording holds no scene; it cannot be replayed.")
    try:
        content = msgspec.msgpack.decode(files[SCENE_FILE])
        content["files"] = {
            name.removeprefix(_FOLDER): files[name] for name in files if name.startswith(_FOLDER)
        }
    except (msgspec.MsgspecError, TypeError) as error:
        raise RecordingError(f"the recorded scene cannot be read: {error}.") from None
    return msgspec.msgpack.encode(content)


def unsaid(cycle: Cycle, files: Mapping[str, bytes]) -> dict[str, str]:
    """Texts of the programs and movements that run, where the archived scene says another.

    Args:
        cycle: What runs.
        files: The scene, as :func:`split` makes it.
    """
    found: dict[str, str] = {}
    for program in cycle.agents:
        if not isinstance(program, Program | MovementPlayer):
            continue
        given = program.spec.params.get("source")
        said = {given}
        if given is None and program.path is not None:
            ending = f"/{program.path.name}"
            said = {
                blob.decode(errors="replace") for n, blob in files.items() if n.endswith(ending)
            }
        if said != {program.source}:
            found[program.spec.name] = program.source
    return found


def archived(cycle: Cycle) -> bytes:
    """The scene with the texts that run, not with what their files say by now."""
    scene = cycle.world.scene
    archive = pack(scene)
    texts = unsaid(cycle, split(archive))
    if not texts:
        return archive
    agents = [
        replace(spec, params={**spec.params, "source": texts[spec.name]})
        if spec.name in texts
        else spec
        for spec in scene.agents
    ]
    return pack(replace(scene, agents=agents))


class Tape:
    """Writes a session's inbox, keyframes, hashes and poses.

    A keyframe and a hash are written every simulated second. Steps in a recording count from its
    start and never go back, also where the session is reset.

    Args:
        path: The file.
        cycle: What runs.
        warn: Told once if the recording cannot go on.
    """

    def __init__(
        self, path: Path, cycle: Cycle, warn: Callable[[str], object], *, overwrite: bool = False
    ) -> None:
        self._warn: Callable[[str], object] | None = warn
        archive = archived(cycle)
        header = Header.of_run(
            outline(cycle, archive),
            seed=cycle.world.scene.seed,
            cpu=cpu_features(),
            command=" ".join(sys.argv),
            codes=cycle.codes,
        )
        self.recorder = Recorder(path, header, split(archive), overwrite=overwrite)
        self.recorder.first(cycle.state.data)
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
        self.steps = steps
        self._frame = np.zeros((cycle.world.nb, 7), np.float32)
        self._frame_every = max(1, round(1.0 / (FRAME_RATE * cycle.h)))
        self._second = max(1, round(1.0 / cycle.h))

    def message(self, message: Message) -> None:
        """Keeps an inbox message that was applied before the next step."""
        self.recorder.inbox(self.steps, encode(message))

    def segment(self, cycle: Cycle, archive: bytes, steps: int) -> None:
        """Starts a new segment after the scene was edited.

        Args:
            cycle: What runs now.
            archive: Its scene.
            steps: Steps since the start of the recording.
        """
        files = split(archive)  # what the message needs not hold
        self.recorder.inbox(steps, encode(Swap(b"", cycle.world.ids, unsaid(cycle, files))))
        self._enter(cycle, steps)
        self.recorder.segment(
            steps, world=outline(cycle, archive), state=cycle.state.data, files=files
        )

    def after(self) -> None:
        """Called after each step."""
        steps = self._base + self.cycle.state.step
        if steps % self._frame_every == 0:
            self._frame[:] = self.cycle.state.pose
            self.recorder.frame(steps, self._frame)
        if steps % self._second == 0:
            self.recorder.keyframe(steps, self.cycle.state.data)
            self.recorder.hash(steps, self.cycle.state.hash())
            self._look()

    def _look(self) -> None:
        """Warns, once, if the disk is full or broken."""
        failed, warn = self.recorder.failed, self._warn
        if failed is not None and warn is not None:
            self._warn = None
            warn(str(failed))

    def event(self, level: str, text: str, source: str) -> None:
        """Keeps a message to people."""
        self.recorder.event(self.steps, level, text, source or "session")

    def flush(self) -> None:
        """Hands everything recorded so far to the operating system."""
        self.recorder.flush()
        self._look()

    def last_hash(self) -> None:
        """Writes the hash of the last step, if it has none."""
        if self.steps % self._second:
            self.recorder.hash(self.steps, self.cycle.state.hash())

    def close(self) -> None:
        """Closes the file."""
        self.recorder.close()
        self._look()
