"""HTML page: a recording in one file that plays in any browser."""

from __future__ import annotations

import base64
import html
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from linkwork import __version__
from linkwork.core.atomic import whole_file
from linkwork.core.errors import RecordingError
from linkwork.session.playback import Playback
from linkwork.session.recorder import joint_signals
from linkwork.session.recording import Recording, Segment
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.describe import describe
from linkwork.studio.host.mesh_store import MeshStore
from linkwork.studio.host.open_recording import replay_view

#: Resolution of poses [m] and quaternions; coarser if something is far away.
RESOLUTION = 1e-6
#: Bound of the integers, so that differences fit into 32 bits.
_LARGEST = 2.0**29


def pack_bytes(data: bytes) -> str:
    """Bytes, deflated, as base64 text."""
    return base64.b64encode(zlib.compress(data, 9)).decode()


def scale_of(table: np.ndarray) -> float:
    """The unit of a table's integers."""
    largest = float(np.abs(table).max(initial=0.0))
    return max(RESOLUTION, largest / _LARGEST)


def pack_counts(table: np.ndarray, scale: float) -> str:
    """A table (rows along time) rounded to whole multiples of ``scale``."""
    counts = np.rint(np.nan_to_num(table, posinf=0.0, neginf=0.0) / scale).astype(np.int64)
    steps = np.diff(counts, axis=0, prepend=np.zeros((1, counts.shape[1]), np.int64))
    # Zigzag encoding: small differences of either sign become small unsigned integers.
    folded = ((steps << 1) ^ (steps >> 63)).astype("<u4")
    return pack_bytes(_planes(folded.T.tobytes()))


def pack_floats(table: np.ndarray) -> str:
    """A table (rows along time) as float32."""
    return pack_bytes(_planes(table.T.astype("<f4").tobytes()))


def _planes(data: bytes) -> bytes:
    """Byte planes: the first byte of each number, then the second of each, and so on."""
    return np.frombuffer(data, np.uint8).reshape(-1, 4).T.tobytes()


#: The built page, and the marks that the recording and its title replace.
TEMPLATE = Path(__file__).parent.parent / "static" / "recording.html"
DATA_MARK, TITLE_MARK = "<!--recording-->", "<title>Recording</title>"
#: Largest page [byte]; snapshots are dropped until it fits, down to this rate [1/s].
MAX_PAGE_BYTES, MIN_SNAPSHOT_RATE = 64 * 2**20, 5.0
#: Maximum number of signals in a page.
MAX_SIGNALS = 400
_NO_UNDO = m.UndoState(False, False, False)

#: Chooses the signals of a session to keep, by name.
Choice = Callable[[Session], Sequence[str]]


class PageSegment(msgspec.Struct, frozen=True):
    """One of the recording's worlds; ``web/src/player/film.ts`` reads it.

    Attributes:
        scene: As a server would send it, with only the kept ``signals``.
        times: Times of the snapshots [s], float64.
        moving: Bodies that move, in the order of ``poses``.
        still: First poses of all bodies, float32 nb×7.
        scale: Unit of ``poses``.
        poses: Poses of the moving bodies, one row per snapshot.
        values: Signal values, one row per snapshot.
    """

    scene: m.SceneMessage
    times: str
    moving: list[int]
    still: str
    scale: float
    poses: str
    values: str


class PageData(msgspec.Struct, frozen=True):
    """The content of a page."""

    version: str
    worlds: list[PageSegment]
    meshes: dict[str, str]
    charts: list[str]


@dataclass(frozen=True)
class PageReport:
    """The result of :func:`write_page`.

    Attributes:
        size: Size of the page [byte].
        pictures: Number of snapshots.
        every: Stride: every n-th recorded snapshot is kept.
        signals: Number of signals.
        problem: Why values differ from the recorded ones or are missing; empty if they do not.
    """

    size: int
    pictures: int
    every: int
    signals: int
    problem: str


def write_page(
    recording: Recording, path: str | os.PathLike[str], *, signals: Choice | None = None,
    progress: Callable[[float], object] | None = None,
) -> PageReport:  # fmt: skip
    """Writes a recording as a page.

    Shows the recorded poses and values of the joints and runs nothing, unless ``signals`` chooses
    others: those come from simulating again.

    Args:
        recording: The recording.
        path: The file; overwritten if it exists.
        signals: Chooses signals and simulates again; the recorded ones if None.
        progress: Called regularly with the fraction done.

    Raises:
        LinkworkError: If the recording cannot be read or is too long for a page, or the page cannot
            be written.
    """
    template = _template()
    film, problem, rows = _film(recording, signals, progress)
    every, made = 1, film(1)
    while len(text := _embedded(template, recording, made)) > MAX_PAGE_BYTES:
        every *= 2
        pictures, made = rows / every, film(every)
        if pictures < MIN_SNAPSHOT_RATE * recording.duration or pictures < 2:
            raise RecordingError(
                f"{recording.path.name} is too long for a page: {recording.duration:g} s with "
                f"{MIN_SNAPSHOT_RATE:g} snapshots/s are more than {MAX_PAGE_BYTES >> 20} MB.",
                hint="Record a shorter run, or share the .mcap file.",
            )
    try:
        with whole_file(path) as part:
            part.write_bytes(text)
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror}.") from None
    count = len({signal.name for world in made.worlds for signal in world.scene.signals})
    return PageReport(len(text), -(-rows // every), every, count, problem)


def _template() -> str:
    try:
        text = TEMPLATE.read_text(encoding="utf-8")
    except OSError:
        raise RecordingError(
            "the page for recordings has not been built.",
            hint="In Linkwork's source folder, make studio builds it.",
        ) from None
    return text


def _embedded(template: str, recording: Recording, film: PageData) -> bytes:
    """The page with a recording in it; the data cannot close the element that holds it."""
    data = m.encode(film).decode().replace("<", "\\u003c")
    holder = f'<script type="application/json" id="film">{data}</script>'
    title = f"<title>{html.escape(recording.path.stem)} – Linkwork</title>"
    return template.replace(TITLE_MARK, title, 1).replace(DATA_MARK, holder, 1).encode()


def _film(
    recording: Recording, choose: Choice | None, progress: Callable[[float], object] | None
) -> tuple[Callable[[int], PageData], str, int]:
    """Reads the recording; returns a function that packs every n-th snapshot."""
    meshes, taken = MeshStore(), []
    playback = Playback(recording, simulate=choose is not None)
    try:
        for segment in recording.segments:
            taken.append(_sample(playback, segment, choose, meshes, progress))
    finally:
        playback.close()

    def film(every: int) -> PageData:
        worlds = [each.pack(every) for each in taken]
        shapes = [s for w in worlds for e in w.scene.elements for s in e.shapes]
        found = {name for s in shapes for name in (s.mesh, s.texture) if name}
        packed = {name: pack_bytes(meshes.get(name)) for name in sorted(found)}
        first = [signal.name for signal in worlds[0].scene.signals if signal.direction == "output"]
        return PageData(__version__, worlds, packed, first[:4])

    return film, playback.problem, sum(len(each.times) for each in taken)


@dataclass
class _SampledSegment:
    """One recorded and simulated world."""

    scene: m.SceneMessage
    times: np.ndarray
    poses: np.ndarray
    values: np.ndarray

    def pack(self, every: int) -> PageSegment:
        poses = self.poses[::every]
        moving = np.flatnonzero((poses != poses[:1]).any(axis=(0, 2)))
        table = poses[:, moving].reshape(len(poses), -1)
        scale = scale_of(np.nan_to_num(table))
        return PageSegment(
            self.scene, pack_bytes(self.times[::every].astype("<f8").tobytes()), moving.tolist(),
            pack_bytes(poses[0].astype("<f4").tobytes()), scale, pack_counts(table, scale),
            pack_floats(self.values[::every]),
        )  # fmt: skip


def _sample(
    playback: Playback, segment: Segment, choose: Choice | None, meshes: MeshStore,
    progress: Callable[[float], object] | None,
) -> _SampledSegment:  # fmt: skip
    recording = playback.recording
    playback.go(segment.first_step)
    session = playback.live
    known = {s.name for s in joint_signals(session.signals)} if not choose else set(choose(session))
    scene = describe(
        session, meshes, _NO_UNDO, editable=False, untrusted=[],
        replay=replay_view(recording, live=False),
    )  # fmt: skip
    kept = [signal for signal in scene.signals if signal.name in known][:MAX_SIGNALS]
    addresses = [session.signals[signal.name].address for signal in kept]
    steps = sorted({segment.first_step, *segment.frames.steps.tolist()})
    steps = [step for step in steps if playback.segment_at(step) == segment.number]
    values = np.full((len(steps), len(kept)), np.nan)
    recorded = {column.name: n for n, column in enumerate(segment.world.signals)}
    stored, row_of, columns = segment.signals, dict[int, int](), list[int]()
    if choose is None and all(signal.name in recorded for signal in kept):
        row_of = {step: row for row, step in enumerate(stored.steps.tolist())}
        columns = [recorded[signal.name] for signal in kept]
    poses = np.empty((len(steps), len(scene.bodies), 7), np.float32)
    for row, step in enumerate(steps):
        poses[row] = playback.poses(step)
        if step in row_of:
            values[row] = stored[row_of[step]][columns]
        elif playback.go(step):
            values[row] = playback.live.state.data[addresses]
        if progress is not None and row % 60 == 0:
            progress(step / max(1, recording.last_step))
    times = segment.first_time + (np.array(steps) - segment.first_step) * segment.world.step
    scene = msgspec.structs.replace(_shareable(scene), version=segment.number + 1, signals=kept)
    return _SampledSegment(scene, times, poses, values)


def _shareable(scene: m.SceneMessage) -> m.SceneMessage:
    """The scene without the paths of this machine, since pages are shared."""
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
