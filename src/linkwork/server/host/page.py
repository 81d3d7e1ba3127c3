"""Page: a recording as one HTML file that shows it in any browser, without a server."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from linkwork import __version__
from linkwork.errors import RecordingError
from linkwork.server import messages as m
from linkwork.server.host.describe import describe
from linkwork.server.host.mesh_store import MeshStore
from linkwork.server.host.open_recording import replay_view
from linkwork.server.host.packing import pack_bytes, pack_counts, pack_floats, scale_of
from linkwork.session.playback import Playback
from linkwork.session.recording import Recording, Segment
from linkwork.session.session import Session

#: The page as it was built, and where a recording is put into it.
TEMPLATE = Path(__file__).parent.parent / "static" / "recording.html"
PLACE, TITLE = "<!--recording-->", "<title>Recording</title>"
#: Largest page [byte]; pictures are left out until it fits, down to so many a second.
MOST, FEWEST = 64 * 2**20, 5.0
#: Most signals that a page holds.
MOST_SIGNALS = 400
_NO_UNDO = m.UndoState(False, False, False)

#: Names of the signals to keep, of a session.
Choice = Callable[[Session], Sequence[str]]


class World(msgspec.Struct, frozen=True):
    """One of the recording's worlds; ``web/src/player/film.ts`` reads it.

    Attributes:
        scene: As a server would tell of it; ``signals`` are those that are kept.
        times: Of the pictures [s], float64.
        moving: Bodies that move, in the order of ``poses``.
        still: First poses of all bodies, float32 nb×7.
        scale: What ``poses`` count in.
        poses: Of the moving bodies, a row for each picture.
        values: Of the signals, a row for each picture.
    """

    scene: m.Scene
    times: str
    moving: list[int]
    still: str
    scale: float
    poses: str
    values: str


class Film(msgspec.Struct, frozen=True):
    """What stands in a page."""

    version: str
    worlds: list[World]
    meshes: dict[str, str]
    charts: list[str]


@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes:
        size: Of the page [byte].
        pictures: How many it holds.
        every: Every how-manieth recorded picture that is; 1 if none was left out.
        signals: How many it holds.
        trouble: Why values differ from what was recorded, or are missing; empty if they do not.
    """

    size: int
    pictures: int
    every: int
    signals: int
    trouble: str


def write_page(
    recording: Recording, path: str | os.PathLike[str], *, signals: Choice | None = None,
    progress: Callable[[float], object] | None = None,
) -> Written:  # fmt: skip
    """Writes a recording as a page.

    Poses are those that were recorded; values of signals come from simulating again.

    Args:
        recording: What to show.
        path: The file, which is replaced if it exists.
        signals: Chooses signals; else those of the joints.
        progress: Called now and then with the fraction done.

    Raises:
        LinkworkError: If it cannot be read, is too long for a page, or the page cannot be written.
    """
    template = _template()
    film, trouble, rows = _film(recording, signals or joint_signals, progress)
    every, made = 1, film(1)
    while len(text := _embedded(template, recording, made)) > MOST:
        every *= 2
        pictures, made = rows / every, film(every)
        if pictures < FEWEST * recording.duration or pictures < 2:
            raise RecordingError(
                f"{recording.path.name} is too long for a page: {recording.duration:g} s with "
                f"{FEWEST:g} pictures a second are more than {MOST >> 20} MB.",
                hint="Record a shorter run, or share the .mcap file.",
            )
    try:
        Path(path).write_bytes(text)
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror}.") from None
    count = len({signal.name for world in made.worlds for signal in world.scene.signals})
    return Written(len(text), -(-rows // every), every, count, trouble)


def joint_signals(session: Session) -> list[str]:
    """What joints do and should do."""
    words = (".angle", ".position", ".target")
    return [s.name for s in session.signals if s.name.endswith(words)]


def _template() -> str:
    try:
        text = TEMPLATE.read_text(encoding="utf-8")
    except OSError:
        raise RecordingError(
            "the page for recordings has not been built.",
            hint="In Linkwork's source folder, make studio builds it.",
        ) from None
    return text


def _embedded(template: str, recording: Recording, film: Film) -> bytes:
    """The page with a recording in it; nothing of it can end the element that holds it."""
    data = m.encode(film).decode().replace("<", "\\u003c")
    holder = f'<script type="application/json" id="film">{data}</script>'
    title = f"<title>{html.escape(recording.path.stem)} – Linkwork</title>"
    return template.replace(TITLE, title, 1).replace(PLACE, holder, 1).encode()


def _film(
    recording: Recording, choose: Choice, progress: Callable[[float], object] | None
) -> tuple[Callable[[int], Film], str, int]:
    """Reads and simulates all of it; returns what packs every n-th picture."""
    meshes, taken = MeshStore(), []
    playback = Playback(recording)
    try:
        for segment in recording.segments:
            taken.append(_take(playback, segment, choose, meshes, progress))
    finally:
        playback.close()

    def film(every: int) -> Film:
        worlds = [each.pack(every) for each in taken]
        shapes = [s for w in worlds for e in w.scene.elements for s in e.shapes]
        found = {name for s in shapes for name in (s.mesh, s.texture) if name}
        packed = {name: pack_bytes(meshes.get(name)) for name in sorted(found)}
        first = [signal.name for signal in worlds[0].scene.signals if signal.direction == "output"]
        return Film(__version__, worlds, packed, first[:4])

    return film, playback.trouble, sum(len(each.times) for each in taken)


@dataclass
class _Taken:
    """One world as it was recorded and simulated."""

    scene: m.Scene
    times: np.ndarray
    poses: np.ndarray
    values: np.ndarray

    def pack(self, every: int) -> World:
        poses = self.poses[::every]
        moving = np.flatnonzero((poses != poses[:1]).any(axis=(0, 2)))
        table = poses[:, moving].reshape(len(poses), -1)
        scale = scale_of(np.nan_to_num(table))
        return World(
            self.scene, pack_bytes(self.times[::every].astype("<f8").tobytes()), moving.tolist(),
            pack_bytes(poses[0].astype("<f4").tobytes()), scale, pack_counts(table, scale),
            pack_floats(self.values[::every]),
        )  # fmt: skip


def _take(
    playback: Playback, segment: Segment, choose: Choice, meshes: MeshStore,
    progress: Callable[[float], object] | None,
) -> _Taken:  # fmt: skip
    recording = playback.recording
    playback.go(segment.first_step)
    session = playback.live
    known = set(choose(session))
    scene = describe(
        session, meshes, _NO_UNDO, editable=False, replay=replay_view(recording, live=False)
    )
    kept = [signal for signal in scene.signals if signal.name in known][:MOST_SIGNALS]
    addresses = [session.signals[signal.name].address for signal in kept]
    steps = sorted({segment.first_step, *segment.frames.steps.tolist()})
    steps = [step for step in steps if playback.segment_at(step) == segment.number]
    values = np.full((len(steps), len(kept)), np.nan)
    poses = np.empty((len(steps), len(scene.bodies), 7), np.float32)
    for row, step in enumerate(steps):
        poses[row] = playback.poses(step)
        if playback.go(step):
            values[row] = playback.live.state.data[addresses]
        if progress is not None and row % 60 == 0:
            progress(step / max(1, recording.last_step))
    times = segment.first_time + (np.array(steps) - segment.first_step) * segment.world.step
    scene = msgspec.structs.replace(_shareable(scene), version=segment.number + 1, signals=kept)
    return _Taken(scene, times, poses, values)


def _shareable(scene: m.Scene) -> m.Scene:
    """The scene without the paths of this machine: a page is passed on."""
    replace = msgspec.structs.replace
    replay = scene.replay
    return replace(
        scene,
        file="",
        elements=[replace(each, origin="") for each in scene.elements],
        joints=[replace(each, origin="") for each in scene.joints],
        agents=[replace(each, file=Path(each.file).name) for each in scene.agents],
        findings=[],
        replay=replay and replace(replay, path=Path(replay.path).name),
    )
