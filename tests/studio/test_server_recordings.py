"""Recordings in the studio: a real server process, sockets, and no browser."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from linkwork.session import messages as inbox
from linkwork.session.playback import Playback
from linkwork.session.recording import Recording
from linkwork.session.session import Session
from recorded_run import without_checksums
from studio_fixture import POSES, SIGNALS, TOKEN, Client, Studio, studio

ARM = "gripper/follow"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of 2 s with a mark in it."""
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    with Session(ARM, record=path) as session:
        session.run(0.7)
        session.log("here it grips", level="mark", source="mark")
        session.send(inbox.TakeSignal("arm/J1.target"))
        session.send(inbox.SetSignal("arm/J1.target", 0.4))
        session.run(1.3)
    return path


@pytest.fixture
def shown(run: Path, tmp_path: Path) -> Iterator[Studio]:
    with studio(str(run), tmp_path) as made:
        yield made


def seek(client: Client, when: float) -> None:
    """Shows an instant."""
    client.send("seek", time=when)
    client.until(POSES, lambda f: f[2] == pytest.approx(when))


def value(frame: tuple[int, int, float, bytes]) -> float:
    """The first value of a frame of signals."""
    return float(np.frombuffer(frame[3], "<f8")[0])


def test_a_recording_opens_with_its_length_and_marks(shown: Studio, run: Path) -> None:
    """The scene says that it is a recording, how long it is and what was marked."""
    with shown.client() as client:
        replay = client.until("scene")["replay"]
        assert replay["path"] == str(run)
        assert replay["duration"] == pytest.approx(2.0)
        assert [(mark["text"], mark["level"]) for mark in replay["marks"]] == [
            ("here it grips", "mark")
        ]
        assert replay["marks"][0]["time"] == pytest.approx(0.7)
        status = client.until("status")
        assert not status["running"]
        assert status["history"] == pytest.approx([0.0, 2.0])


def test_what_is_shown_is_what_was_recorded(shown: Studio, run: Path) -> None:
    """At each time that is sought the poses and values are those of the recording."""
    with shown.client() as client, Recording.open(run) as recording:
        client.until("scene")
        playback = Playback(recording)
        client.send("watch", number=1, signals=["arm/J2.angle"])
        last = recording.last_step
        for step in (last - 1, last // 4, last // 4 + 1, 64, last // 2, last * 5 // 6):
            assert playback.go(step)
            seek(client, step * recording.header.world.step)
            while SIGNALS not in client.frames or np.isnan(value(client.frames[SIGNALS])):
                client.until(SIGNALS)
            assert value(client.frames[SIGNALS]) == playback.live["arm/J2.angle"]
            data = client.frames[POSES][3]
            np.testing.assert_array_equal(
                np.frombuffer(data, "<f4").reshape(-1, 7),
                playback.live.state.pose.astype(np.float32),
            )
        playback.close()


def test_it_plays_to_its_end_and_steps_both_ways(shown: Studio) -> None:
    """Playing passes time at the speed chosen and stops at the end; steps go on and back."""
    with shown.client() as client:
        h = client.until("scene")["step"]
        client.send("speed", value=4.0)
        client.send("play")
        client.until("status", lambda s: s["running"])
        client.until("status", lambda s: not s["running"] and s["time"] == pytest.approx(2.0))
        client.send("step", steps=-3)
        client.until("status", lambda s: s["time"] == pytest.approx(2.0 - 3 * h))
        client.send("step", steps=2)
        client.until("status", lambda s: s["time"] == pytest.approx(2.0 - h))
        client.send("reset")
        client.until("status", lambda s: s["time"] == 0.0)


def test_nothing_can_be_driven_in_a_recording(shown: Studio) -> None:
    """What would change it is refused, and the answer says what to do."""
    with shown.client() as client:
        client.until("scene")
        for type, fields in (
            ("set", {"signal": "arm/J1.target", "value": 0.1}),
            ("take", {"signal": "arm/J1.target"}),
            ("edit", {"name": "arm/J1", "kind": "joint", "key": "hi_deg", "value": 10.0}),
            ("record", {"on": True}),
            ("mark", {}),
        ):
            client.send(type, **fields)
            refused = client.until("refused")
            assert refused["what"] == type
            assert "Go on from here" in refused["text"]
        client.send("live")
        assert "no scene behind" in client.until("refused")["text"]


def test_going_on_runs_live_from_the_instant_shown(shown: Studio, run: Path) -> None:
    """The scene runs on from the recorded state, with what a person had taken still taken."""
    with shown.client() as client:
        client.until("scene")
        client.send("pause")
        seek(client, 1.5)
        client.send("continue_recording")
        scene = client.until("scene", lambda s: s["replay"] is None)
        assert scene["name"] == "follow"
        client.until("status", lambda s: s["running"] and 1.5 <= s["time"] < 10.0)
        client.send("set", signal="arm/J1.target", value=0.1)
        now = client.until("status")["time"]
        client.until("status", lambda s: s["time"] > now + 1.5)
        assert client.value("arm/J1.angle") == pytest.approx(0.1, abs=0.02)


def test_recorded_in_the_studio_listed_opened_and_back(tmp_path: Path) -> None:
    """A recording with a mark is made, listed and opened; the scene waits behind it meanwhile."""
    with studio(ARM, tmp_path) as here, here.client() as client:
        client.until("scene")
        client.send("mark", text="too early")
        assert "Start one with Record" in client.until("refused")["text"]
        client.send("record", on=True)
        path = client.until("status", lambda s: s["recording"])["recording"]
        client.send("mark", text="first </script>")
        client.send("mark")
        begun = client.until("event", lambda e: e["level"] == "mark" and e["text"] == "mark 2")
        now = client.until("status")["time"]
        client.until("status", lambda s: s["time"] > now + 0.5)
        client.send("record", on=False)
        client.until("gallery_changed")
        (card,) = json.loads(here.get(f"/api/gallery?token={TOKEN}")[1])["recordings"]
        assert card["path"] == path
        assert card["scene"] == "follow"
        assert card["duration"] > 0.4
        assert card["size"] == Path(path).stat().st_size
        assert card["problem"] == ""
        client.send("open", scene=path)
        replay = client.until("scene", lambda s: s["replay"])["replay"]
        assert replay["live"]
        marks = [each["text"] for each in replay["marks"] if each["level"] == "mark"]
        assert marks == ["first </script>", "mark 2"]
        client.send("live")
        client.until("scene", lambda s: s["replay"] is None)
        status = client.until("status", lambda s: s["mode"] == "real" and not s["running"])
        assert status["step"] >= begun["step"]
        client.send("play")
        client.until("status", lambda s: s["running"] and s["time"] > status["time"])


def test_damaged_recordings_open_as_far_as_they_are_whole(run: Path, tmp_path: Path) -> None:
    """A recording that was cut off opens with what is left of it; garbage is refused."""
    library = tmp_path / "recordings"
    library.mkdir()
    data = run.read_bytes()
    with Recording.open(run) as whole:
        length = whole.duration
    (library / "cut.mcap").write_bytes(data[: len(data) * 2 // 3])
    (library / "garbage.mcap").write_bytes(b"no recording at all")
    with studio(None, tmp_path) as here, here.client() as client:
        client.until("hello")
        cards = json.loads(here.get(f"/api/gallery?token={TOKEN}")[1])["recordings"]
        assert all(card["problem"] for card in cards)
        client.send("open", scene=str(library / "garbage.mcap"))
        refused = client.until("refused")
        assert "garbage.mcap" in refused["text"]
        assert "Traceback" not in refused["text"]
        client.send("open", scene=str(library / "cut.mcap"))
        replay = client.until("scene")["replay"]
        assert "left out" in replay["problem"]
        assert 0.0 < replay["duration"] < length
        seek(client, round(replay["duration"] - 0.1, 3))


def test_a_page_is_made_of_a_recording(run: Path, tmp_path: Path) -> None:
    """The studio gives a recording of its folder as one page, and nothing of other folders."""
    library = tmp_path / "recordings"
    library.mkdir()
    (library / "run.mcap").write_bytes(run.read_bytes())
    (library / "garbage.mcap").write_bytes(b"no recording")
    with studio(None, tmp_path) as here, here.client() as driver:
        key = {"x-linkwork-key": driver.until("hello")["key"]}

        def page(path: Path) -> tuple[int, bytes]:
            return here.get(f"/api/recording.html?token={TOKEN}&path={path}", **key)

        status, body = page(library / "run.mcap")
        assert status == 200
        assert b'id="film"' in body
        status, body = page(library / "garbage.mcap")
        assert status == 400
        assert "recording" in json.loads(body)["error"]
        assert "Traceback" not in json.loads(body)["error"]
        for other in (run, Path("/etc/passwd"), library / ".." / ".." / "x.mcap"):
            assert page(other)[0] == 400
        damaged = bytearray(run.read_bytes())
        with Recording.open(run) as recording:
            damaged[recording._index.series["frame"].starts[30]] ^= 1
        (library / "damaged.mcap").write_bytes(damaged)
        status, body = page(library / "damaged.mcap")
        assert (status, b'id="film"' in body) == (200, True)
        assert b"is lost" in body
        address = f"/api/recording.html?token={TOKEN}&path={library / 'run.mcap'}"
        assert here.get(address)[0] == 403, "a watcher has no such key"


def test_a_recording_that_is_dropped_opens(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording that a browser brings is kept in the user's folder and can be opened."""
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="brought.mcap"\r\n\r\n'
    body = head + run.read_bytes() + b"\r\n--x--\r\n"
    monkeypatch.setenv("HOME", str(tmp_path))
    with studio(None, tmp_path) as here, here.client() as client:
        status, answer = here.get(
            f"/api/import?token={TOKEN}",
            body,
            **{
                "Content-Type": "multipart/form-data; boundary=x",
                "x-linkwork-key": client.until("hello")["key"],
            },
        )
        assert status == 200
        client.send("open", scene=json.loads(answer)["scene"])
        assert client.until("scene")["replay"]["name"] == "brought"


def test_a_recording_of_before_is_not_checked_and_says_so(run: Path, tmp_path: Path) -> None:
    """The studio shows what is damaged, and what could not be checked."""
    path = tmp_path / "old.mcap"
    path.write_bytes(without_checksums(run.read_bytes()))
    with studio(str(path), tmp_path) as here, here.client() as client:
        assert "not checked" in client.until("scene")["replay"]["problem"]
