"""A recorded run for the tests of recordings, and access to its bytes without our reader."""

import io
import struct
from contextlib import suppress
from pathlib import Path

import mcap.exceptions
import mcap.records
import mcap.stream_reader
import numpy as np

from linkwork.core.errors import RecordingError
from linkwork.core.state import Layout
from linkwork.session.recording import (
    Header,
    RecordedWorld,
    Recording,
    RecordingWriter,
    SignalColumn,
    mcap_format,
)
from linkwork.session.recording.checksums import CHECK

STEP = 0.002
FILES = {
    "scene.toml": b'format = "linkwork/scene 1"\n',
    "parts/arm.toml": "name = 'Ärmchen'\n".encode(),
    "meshes/hand.stl": bytes(range(256)) * 8,
    "empty.txt": b"",
}


def layout_of(joints: int, bodies: int) -> Layout:
    layout = Layout()
    layout.add("clock", 1, integer=True)
    layout.add("q", joints)
    layout.add("pose", bodies, 7)
    layout.add("turns", joints, integer=True)
    return layout


def outline(joints: int = 3, bodies: int = 2, *, step: float = STEP) -> RecordedWorld:
    return RecordedWorld(
        scene="scene.toml",
        world_hash="c0ffee",
        step=step,
        layout=tuple(layout_of(joints, bodies).fields.values()),
        signals=(SignalColumn("arm/J1.angle", "rad"), SignalColumn("arm/J2.angle", "rad")),
    )


def header(world: RecordedWorld | None = None) -> Header:
    return Header.of_run(
        world or outline(), seed=2**64 - 1, cpu="x86_64 avx2", command="linkwork run scene.toml"
    )


HERE = header()


def numbers(step: int, world: RecordedWorld) -> np.ndarray:
    """Returns a state unique to its step, with a NaN whose bits matter."""
    data = np.random.default_rng(step).normal(size=world.state_bytes // 8)
    data.view(np.int64)[0] = step
    data.view(np.uint64)[1] = 0x7FF8_0000_0000_0000 + step
    return data


def poses(step: int, bodies: int) -> np.ndarray:
    return np.random.default_rng(step + 10**6).normal(size=(bodies, 7)).astype(np.float32)


def record_run(path: Path, *, close: bool = True) -> RecordingWriter:
    """Records a run of 2.4 s whose scene is edited at step 700."""
    small, large = outline(), outline(joints=4, bodies=3)
    recorder = RecordingWriter(path, header(small), FILES)
    recorder.first(numbers(0, small))
    world = small
    for step in range(1, 1201):
        if step == 700:
            recorder.event(step, "info", "a part was added", "studio")
            world = large
            edited = FILES | {"scene.toml": b"# edited\n"}
            recorder.segment(step, world, numbers(step, world), edited)
        if step % 50 == 0:
            recorder.inbox(step, b"set arm/J1 %d" % step)
        if step % 16 == 0:
            recorder.frame(step, poses(step, 3 if world is large else 2))
        if step % 20 == 0:
            recorder.signals(step, [step * 0.1, -step])
        if step % 500 == 0:
            recorder.hash(step, f"{step:032x}")
            recorder.keyframe(step, numbers(step, world))
    recorder.event(1200, "warning", "das Ende: ∎ \ud800", "control.py")
    if close:
        recorder.close()
    return recorder


def record_ends(data: bytes) -> list[int]:
    """Returns the end of each record, by traversing the bytes of an undamaged file."""
    ends, place = [], 8
    while place < len(data) - 8:
        (length,) = struct.unpack_from("<Q", data, place + 1)
        place += 9 + length
        ends.append(place)
    return ends


def without_checksums(data: bytes) -> bytes:
    """The recording as format 1 had it: no checksum records, and not closed."""
    fragments, place = [data[:8]], 8
    for end in record_ends(data):
        if data[place] == mcap_format.DATA_END:
            break
        if data[place] < CHECK:  # types from there on are our own
            fragments.append(data[place:end])
        place = end
    return b"".join(fragments).replace(b"\xa6format\x02", b"\xa6format\x01")


def what_stands_before(data: bytes, cut: int) -> dict[str, list[tuple[int, bytes]]]:
    """Returns complete messages before a cut, by topic, by MCAP's own reader."""
    found: dict[str, list[tuple[int, bytes]]] = {}
    topics: dict[int, str] = {}
    whole = max((end for end in record_ends(data) if end <= cut), default=8)
    stream = mcap.stream_reader.StreamReader(io.BytesIO(data[:whole]))
    with suppress(mcap.exceptions.EndOfFile):
        for each in stream.records:
            if isinstance(each, mcap.records.Channel):
                topics[each.id] = each.topic
            elif isinstance(each, mcap.records.Message):
                found.setdefault(topics[each.channel_id], []).append((each.sequence, each.data))
    return found


def consume(run: Recording) -> None:
    """Reads everything; each property may fail, but only with its own error."""
    parts = [
        lambda: list(run.inbox),
        lambda: run.hashes,
        lambda: run.events,
        lambda: run.duration,
        lambda: [run.frames.times, list(run.frames)],
        lambda: list(run.keyframes),
        run.check,
        lambda: [run.header.differences(HERE), run.layout, run.first_state],
        *(lambda each=each: dict(each.files) for each in run.segments),
        *(lambda each=each: [each.signals.stacked(), each.hashes] for each in run.segments),
        *(
            lambda each=each: [each.block(name, each.first_state) for name in each.layout]
            for each in run.segments
        ),
    ]
    for part in parts:
        with suppress(RecordingError):
            part()
