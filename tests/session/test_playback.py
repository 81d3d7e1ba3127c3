"""Playback: a recording shows at each step what the session was like when it was recorded."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from linkwork.core.errors import LinkworkError
from linkwork.session import messages as m
from linkwork.session.playback import Playback
from linkwork.session.recorder import SCENE_FILE
from linkwork.session.recording import Recording, RecordingWriter
from linkwork.session.session import Session
from recorded_run import without_checksums


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, bytes]]:
    """A run of 2.5 s in which a person takes a joint over, and its states by step."""
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    states: dict[int, bytes] = {}
    with Session("gripper/follow", record=path) as session:
        steps = round(2.5 / session.cycle.h)
        for step in range(steps):
            states[step] = session.state.save()
            if step == steps // 3:
                session.send(m.TakeSignal("arm/J2.target"))
                session.send(m.SetSignal("arm/J2.target", 0.3))
            if step == steps * 2 // 3:
                session.send(m.ReleaseSignals())
            session.step()
        states[steps] = session.state.save()
    return path, states


def test_every_step_is_as_it_was_recorded(run: tuple[Path, dict[int, bytes]]) -> None:
    """Forwards, backwards and by leaps, the state is the recorded one, bit for bit."""
    path, states = run
    with Recording.open(path) as recording:
        playback = Playback(recording)
        last = recording.last_step
        for step in (0, 1, last, last // 2, last // 2 - 1, last // 2 + 7, 3, last * 5 // 6, last):
            assert playback.go(step)
            assert playback.live.state.save() == states[step]
        assert playback.problem == ""
        playback.close()


def test_poses_are_there_at_once_and_values_when_simulated(
    run: tuple[Path, dict[int, bytes]],
) -> None:
    """With no time to simulate the recorded poses are shown; further calls bring the state."""
    path, states = run
    with Recording.open(path) as recording:
        playback = Playback(recording)
        steps = recording.frames.steps
        step = int(steps[len(steps) // 2])
        assert not playback.go(step, budget=0.0)
        np.testing.assert_array_equal(playback.poses(step), recording.frames[len(steps) // 2])
        np.testing.assert_array_equal(playback.poses(step + 1), recording.frames[len(steps) // 2])
        for _ in range(step):
            if playback.go(step, budget=0.0):
                break
        assert playback.live.state.save() == states[step]
        playback.close()


def test_worlds_that_were_edited_live_are_each_shown(tmp_path: Path) -> None:
    """A recording with an edit in it shows the world before it and the one after."""
    from linkwork.formats import load_scene

    path = tmp_path / "edited.mcap"
    states: dict[int, bytes] = {}
    with Session("gripper/follow", record=path) as session:
        session.run(0.5)
        edited = load_scene("gripper/follow")
        edited.gravity = (0.0, 0.0, -1.62)
        session.swap(edited).result()
        first = session.state.step
        for step in range(first, first + 200):
            session.step()
            states[step + 1] = session.state.save()
    with Recording.open(path) as recording:
        assert len(recording.segments) == 2
        playback = Playback(recording)
        for step in (first + 150, first // 2, first + 30):
            assert playback.go(step)
            assert playback.segment == int(step > first)
            if step in states:
                assert playback.live.state.save() == states[step]
        playback.close()


def test_damage_is_told_and_harms_nothing(
    run: tuple[Path, dict[int, bytes]], tmp_path: Path
) -> None:
    """Bytes changed anywhere in the file: it is refused, or shows what it can and says so."""
    data = run[0].read_bytes()
    rng = np.random.default_rng(8)
    shown, reported = 0, list[str]()
    for number in range(24):
        broken = bytearray(data)
        for place in rng.integers(len(data) // 4, len(data), 4):
            broken[place] = rng.integers(256)
        path = tmp_path / f"{number}.mcap"
        path.write_bytes(broken)
        try:
            with Recording.open(path) as recording:
                playback = Playback(recording)
                for step in (recording.last_step, recording.last_step // 2):
                    playback.go(step)
                    assert playback.poses(step).shape == (len(playback.live.world.body_names), 7)
                playback.close()
                shown += 1
        except LinkworkError as error:
            reported.append(str(error))
    assert shown > 5
    assert all("mcap" in text or "recorded" in text for text in reported)


def test_a_state_that_is_none_is_not_simulated(
    run: tuple[Path, dict[int, bytes]], tmp_path: Path
) -> None:
    """Where a whole state is damaged only the poses are shown, until the next one."""
    path, states = run
    with Recording.open(path) as recording:
        keyframe = int(recording.keyframes.steps[0])
        last = recording.last_step
    old = without_checksums(path.read_bytes())
    damaged = old.replace(states[keyframe][8:-8], b"\xff" * (len(states[0]) - 16), 1)
    copy = tmp_path / "copy.mcap"
    copy.write_bytes(damaged)
    with Recording.open(copy) as recording:
        playback = Playback(recording)
        assert not playback.go(keyframe + 5)
        assert "damaged" in playback.problem
        assert playback.go(keyframe - 5)
        assert playback.go(last)
        playback.close()


def test_values_behind_lost_messages_are_not_shown(
    run: tuple[Path, dict[int, bytes]], tmp_path: Path
) -> None:
    """Without the message that a person sent, a simulation would show wrong values as recorded."""
    path, states = run
    data = bytearray(path.read_bytes())
    with Recording.open(path) as recording:
        number = next(n for n, (_, raw) in enumerate(recording.inbox) if b"set" in raw)
        step = int(recording.inbox.steps[number])
        data[recording._index.series["inbox"].starts[number] + 3] ^= 1
    damaged = tmp_path / "damaged.mcap"
    damaged.write_bytes(data)
    with Recording.open(damaged) as recording:
        playback = Playback(recording)
        keyframes = [0, *recording.keyframes.steps.tolist()]
        before, after = (
            max(k for k in keyframes if k <= step),
            min(k for k in keyframes if k > step),
        )
        assert not playback.go(step + 40)
        assert "damaged" in playback.problem
        for good in (before, before + 20, after, after + 20):
            assert playback.go(good)
            assert playback.live.state.save() == states[good]
        playback.close()


def test_old_names_in_a_recorded_scene_are_noted(tmp_path: Path) -> None:
    """A recording of an earlier version: the new name of a key, once for all its worlds."""
    path, old = tmp_path / "run.mcap", tmp_path / "old.mcap"
    with Session("gripper/follow", record=path) as session:
        session.run(0.1)
    with Recording.open(path) as recording:
        files = dict(recording.files)
        scene = msgspec.msgpack.decode(files[SCENE_FILE])
        agent = next(a for a in scene["scene"]["agents"] if a["type"] == "program")
        agent["params"]["patience"] = 3.0
        files[SCENE_FILE] = msgspec.msgpack.encode(scene)
        with RecordingWriter(old, recording.header, files) as recorder:
            recorder.first(recording.first_state)
            recorder.keyframe(50, recording.first_state)
    with Recording.open(old) as recording:
        playback = Playback(recording)
        playback.go(50)
        assert playback.notes == ["agent 'follow': 'patience' is now called 'call_timeout'."]
        playback.close()
