"""Tape: what of a running session goes into its recording, and when."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np

from linkwork.jit import cpu_features
from linkwork.scene.archive import pack
from linkwork.session.cycle import Cycle
from linkwork.session.messages import Message, encode
from linkwork.session.recording import Header, Outline, Recorder

#: Name of the archived scene among the recorded files.
SCENE_FILE = "scene.archive"
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


class Tape:
    """Writes a session's inbox, keyframes, hashes and poses.

    A keyframe and a hash are written every simulated second. Steps in a recording count from its
    start and never go back, also where the session is reset.

    Attributes:
        steps: Steps since the start of the recording.
    """

    def __init__(self, path: Path, cycle: Cycle) -> None:
        self.cycle = cycle
        self.steps = 0
        scene = cycle.world.scene
        archive = pack(scene)
        header = Header.of_run(
            outline(cycle, archive), seed=scene.seed, cpu=cpu_features(), command=" ".join(sys.argv)
        )
        self.recorder = Recorder(path, header, {SCENE_FILE: archive})
        self.recorder.first(cycle.state.data)
        self._frame = np.zeros((cycle.world.nb, 7), np.float32)
        self._set_rates()

    def _set_rates(self) -> None:
        h = self.cycle.h
        self._frame_every = max(1, round(1.0 / (FRAME_RATE * h)))
        self._second = max(1, round(1.0 / h))

    def message(self, message: Message) -> None:
        """Keeps an inbox message that was applied before the next step."""
        self.recorder.inbox(self.steps, encode(message))

    def segment(self, cycle: Cycle) -> None:
        """Starts a new segment after the scene was edited."""
        self.cycle = cycle
        self._frame = np.zeros((cycle.world.nb, 7), np.float32)
        self._set_rates()
        archive = pack(cycle.world.scene)
        self.recorder.segment(
            self.steps, world=outline(cycle, archive), state=cycle.state.data,
            files={SCENE_FILE: archive},
        )  # fmt: skip

    def after(self) -> None:
        """Called after each step."""
        self.steps += 1
        if self.steps % self._frame_every == 0:
            self._frame[:] = self.cycle.state.pose
            self.recorder.frame(self.steps, self._frame)
        if self.steps % self._second == 0:
            self.recorder.keyframe(self.steps, self.cycle.state.data)
            self.recorder.hash(self.steps, self.cycle.state.hash())

    def event(self, level: str, text: str, source: str) -> None:
        """Keeps a message to people."""
        self.recorder.event(self.steps, level, text, source or "session")

    def close(self) -> None:
        """Writes the last hash and closes the file."""
        if self.steps % self._second:
            self.recorder.hash(self.steps, self.cycle.state.hash())
        self.recorder.close()
