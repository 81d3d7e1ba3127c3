"""The studio as clients see it: a real server process, sockets, and no browser."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from linkwork.session.replay import replay
from linkwork.studio.protocol import MAX_IN_FLIGHT
from studio_fixture import CONTACTS, GHOST, POSES, TIMEOUT, TOKEN, Client, Studio, studio

ARM = "gripper/follow"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Studio]:
    with studio(ARM, tmp_path) as made:
        yield made


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Studio]:
    with studio(None, tmp_path) as made:
        yield made


def test_a_scene_of_the_gallery_opens_and_moves(empty: Studio) -> None:
    """The gallery lists it, opening describes it, and its poses change."""
    status, body = empty.get(f"/api/gallery?token={TOKEN}")
    assert status == 200
    assert "tripod/level" in [each["name"] for each in json.loads(body)["scenes"]]
    with empty.client() as client:
        assert not client.until("hello")["scene_open"]
        client.send("open", scene="tripod/level")
        scene = client.until("scene")
        first = client.poses().copy()
        assert len(first) == len(scene["bodies"])
        np.testing.assert_allclose(np.linalg.norm(first[:, 3:], axis=1), 1.0, atol=1e-5)
        client.until(POSES, lambda f: f[2] > 1.0)
        assert np.abs(client.poses() - first).max() > 1e-3
        client.send("close_scene")
        client.until("closed")
        client.send("open", scene="tripod/lever")
        assert "tripod/level" in client.until("refused")["text"]


def test_the_driver_sets_a_target_and_the_joint_goes_there(here: Studio) -> None:
    """An input of the scene's program is refused, taken over, set, and reached."""
    with here.client() as client:
        scene = client.until("scene")
        joint = next(j for j in scene["joints"] if j["drive"] == "servo")
        (dof,) = joint["dofs"]
        client.send("take", signal=dof["target_signal"])
        client.until("owners", lambda o: o["owners"].get(dof["target_signal"]) == "user")
        client.send("set", signal=dof["target_signal"], value=dof["hi"] + 1.0)
        assert client.until("refused")["key"] == dof["target_signal"]
        wanted = 0.25 * dof["hi"] + 0.75 * dof["lo"]
        client.send("set", signal=dof["target_signal"], value=wanted)
        now = client.until("status")["time"]
        client.until("status", lambda s: s["time"] > now + 2.0)
        assert client.value(dof["signal"]) == pytest.approx(wanted, abs=0.1)


def test_a_watcher_sees_the_same_and_cannot_drive(here: Studio) -> None:
    """Two clients get the same poses at the same time; only the driver may change anything."""
    with here.client() as driver, here.client() as watcher:
        assert driver.until("hello")["driver"] == "A"
        assert watcher.until("hello")["you"] == "B"
        watcher.send("pause")
        assert "A drives" in watcher.until("refused")["text"]
        driver.send("pause")
        paused = driver.until("status", lambda s: not s["running"])["time"]
        watcher.until("status", lambda s: not s["running"] and s["time"] == paused)
        driver.send("step", steps=5)
        later = paused + 5 * driver.last["scene"]["step"]
        for each in (driver, watcher):
            each.until("status", lambda s: s["time"] == pytest.approx(later))
        assert driver.frames[POSES][2] == pytest.approx(later)
        assert driver.frames[POSES] == watcher.frames[POSES]
        watcher.send("control_request")
        assert driver.until("people", lambda p: p["requester"])["requester"] == "B"
        driver.send("control_grant", to="B")
        watcher.until("people", lambda p: p["driver"] == "B")
        watcher.send("play")
        watcher.until("status", lambda s: s["running"])
        driver.send("pause")
        assert "B drives" in driver.until("refused")["text"]


def test_a_wrong_token_and_a_foreign_page_are_turned_away(here: Studio) -> None:
    """Sockets and addresses answer 403, and 403 only."""
    for path in ("/api/gallery", "/api/gallery?token=x", "/?token=x", "/api/mesh/0?token=x"):
        status, body = here.get(path)
        assert status == 403
        assert json.loads(body)["reason"] == "token"
    assert here.get(f"/api/gallery?token={TOKEN}", Origin="http://evil.example")[0] == 403
    assert here.get(f"/api/gallery?token={TOKEN}", Host="evil.example")[0] == 403
    for token, origin in (("x", None), (TOKEN, "http://evil.example")):
        with pytest.raises(InvalidStatus) as refused, here.client(token=token, origin=origin):
            pass
        assert refused.value.response.status_code == 403
    with here.client(origin=f"http://{here.address}") as client:
        client.until("hello")


def test_no_path_leads_out_of_the_folders(here: Studio) -> None:
    """Neither pictures nor static files nor scenes give anything else away."""
    for path in ("/../pyproject.toml", "/%2e%2e/app.py", "/api/picture/..%2f/x.png"):
        assert here.get(f"{path}?token={TOKEN}")[0] in (403, 404)
    with here.client() as client:
        client.send("open", scene="/etc/passwd")
        assert "not in a folder" in client.until("refused")["text"]


def test_another_protocol_is_told_to_reload(here: Studio) -> None:
    """A page of another version gets a message that says so, and no more."""
    with here.client(protocol=1) as client:
        assert client.until("refused")["reason"] == "reload"
        with pytest.raises(ConnectionClosed):
            client.read()


def test_garbage_is_answered_and_harms_nobody(here: Studio) -> None:
    """Broken JSON, unknown messages and binary garbage are refused; the run goes on."""
    with here.client() as client:
        client.until("hello")
        for garbage in ("", "{", '{"type": "explode"}', b"\x00\xff" * 100, "[" * 10_000):
            client.socket.send(garbage)
            client.until("refused", lambda r: "not a studio message" in r["text"])
        client.send("set", signal="no/such.signal", value=1)
        assert "no signal" in client.until("refused")["text"]
        client.send("inspect", name="nothing", kind="joint")
        assert client.until("refused")["what"] == "inspect"
        now = client.until("status")["time"]
        client.until("status", lambda s: s["time"] > now)


def rate(client: Client, seconds: float) -> float:
    """Pictures a second of simulated time."""
    start, before = client.until(POSES)[2], client.received
    end = client.until(POSES, lambda f: f[2] >= start + seconds)[2]
    return (client.received - before) / (end - start)


def test_a_stalled_client_gets_no_past_and_slows_nobody(here: Studio) -> None:
    """Who acknowledges nothing gets some pictures and no more; others get all of theirs."""
    with here.client() as stalled, here.client() as lively:
        stalled.acknowledges = False
        lively.until("hello")
        stalled.until(POSES)
        quick = rate(lively, 2.0)
        assert quick > 20.0
        while True:
            try:
                stalled.read(0.3)
            except TimeoutError:
                break
        assert stalled.received == MAX_IN_FLIGHT
        seen = stalled.frames[POSES][2]
        stalled.acknowledges = True
        stalled.send("ack", frame=MAX_IN_FLIGHT)
        assert stalled.until(POSES)[2] >= lively.frames[POSES][2] > seen + 1.5


def test_history_is_shown_and_gone_on_from(here: Studio) -> None:
    """Seeking shows the past without changing the present; playing goes on from what is shown."""
    with here.client() as client:
        client.until("status", lambda s: s["time"] > 1.5)
        client.send("pause")
        now = client.until("status", lambda s: not s["running"])["time"]
        client.send("seek", time=0.5)
        shown = client.until("status", lambda s: s["seeking"])
        assert shown["time"] == pytest.approx(0.5, abs=0.05)
        assert shown["history"][1] == pytest.approx(now)
        client.send("live")
        assert client.until("status", lambda s: not s["seeking"])["time"] == now
        client.send("step", steps=-1)
        back = client.until("status", lambda s: s["seeking"])["time"]
        assert now - 0.1 < back < now
        client.send("seek", time=0.5)
        client.send("play")
        client.until("status", lambda s: s["running"] and 0.5 <= s["time"] < now)


def test_a_joint_is_placed_within_its_range_while_paused(here: Studio) -> None:
    """A paused joint goes where it is put, and no further than it can."""
    with here.client() as client:
        joint = client.until("scene")["joints"][0]
        (dof,) = joint["dofs"]
        client.send("place", joint=joint["name"], dof=dof["name"], value=0.0)
        assert "paused" in client.until("refused")["text"]
        client.send("pause")
        wanted = 0.5 * (dof["lo"] + dof["hi"])
        client.send("place", joint=joint["name"], dof=dof["name"], value=wanted)
        assert client.value(dof["signal"]) == pytest.approx(wanted)
        client.send("place", joint=joint["name"], dof=dof["name"], value=dof["hi"] + 0.1)
        assert client.until("refused")["key"] == joint["name"]
        assert client.value(dof["signal"], 2) == pytest.approx(wanted)


def test_an_attribute_is_edited_refused_and_undone(here: Studio) -> None:
    """A good value makes a new version of the scene, a bad one names the reason, undo goes back."""
    with here.client() as client:
        element = client.until("scene")["elements"]
        scenery = next(e["name"] for e in element if "/" not in e["name"])
        client.send("inspect", name=scenery, kind="element")
        rows = {r["key"]: r for r in client.until("attributes")["rows"]}
        assert rows["friction"]["editable"]
        edit = {"name": scenery, "kind": "element", "key": "friction"}
        client.send("edit", **edit, value=-1)
        assert "0 or more" in client.until("refused")["text"]
        client.send("edit", **edit, value="0.25")
        assert client.until("undo")["can_undo"]
        assert client.until("scene")["version"] == 2
        client.send("inspect", name=scenery, kind="element")
        rows = {r["key"]: r for r in client.until("attributes")["rows"]}
        assert rows["friction"]["value"] == 0.25
        assert rows["friction"]["changed"]
        client.send("save")
        assert "belongs to a kit" in client.until("refused")["text"]
        client.send("undo")
        assert client.until("scene")["version"] == 3
        assert not client.until("undo")["dirty"]


def test_a_recording_of_a_driven_run_replays_bit_for_bit(here: Studio, tmp_path: Path) -> None:
    """Recorded from its midst, with hands on it and a step back in time, a run replays."""
    with here.client() as client:
        joint = client.until("scene")["joints"][0]
        client.until("status", lambda s: s["time"] > 0.3)
        client.send("record", on=True)
        client.until("status", lambda s: s["recording"])
        client.send("take", signal=joint["dofs"][0]["target_signal"])
        client.send("set", signal=joint["dofs"][0]["target_signal"], value=0.1)
        start = client.until("status")["time"]
        client.until("status", lambda s: s["time"] > start + 1.2)
        client.send("seek", time=start + 0.5)
        client.send("place", joint=joint["name"], dof="angle", value=0.2)
        client.send("play")
        client.until("status", lambda s: s["time"] > start + 1.5)
        client.send("record", on=False)
        client.until("status", lambda s: not s["recording"])
    (file,) = (tmp_path / "recordings").glob("*.mcap")
    result = replay(file)
    assert result.same, result.mismatch
    assert result.compared >= 2


def test_contacts_and_the_wanted_posture_are_shown_on_request(here: Studio) -> None:
    """They come with the pictures once asked for; at its target, ghost and robot agree."""
    with here.client() as client:
        bodies = len(client.until("scene")["bodies"])
        client.send("show", contacts=True, ghost=True)
        client.until(CONTACTS)
        assert client.until(GHOST)[1] == bodies


def test_the_session_outlives_its_server(here: Studio) -> None:
    """A killed server is started anew at its address; the run went on meanwhile."""
    with here.client() as client:
        before = client.until("status", lambda s: s["time"] > 0.2)["time"]
        version = client.last["scene"]["version"]
        os.kill(here.server.pid, signal.SIGKILL)
        with pytest.raises((ConnectionClosed, OSError)):
            client.until("nothing")
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            with here.client() as again:
                scene = again.until("scene")
                assert scene["version"] == version
                assert again.until("status")["time"] > before
                return
        except (OSError, InvalidHandshake, ConnectionClosed):
            time.sleep(0.1)
    raise AssertionError("the server did not come back")


ROBOT = b"""<robot name="flag"><link name="pole"/><link name="cloth"><inertial>
<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="revolute"><parent link="pole"/><child link="cloth"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_an_imported_robot_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot that the driver brings is kept and opens; a watcher's is refused, and no file too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    body = (
        b'--B\r\nContent-Disposition: form-data; name="files"; filename="flag.urdf"\r\n\r\n'
        + ROBOT
        + b"\r\n--B--\r\n"
    )
    with studio(None, tmp_path) as here, here.client() as client:
        where = f"/api/import?token={TOKEN}"
        key = {"x-linkwork-key": client.until("hello")["key"]}
        status, answer = here.get(where, b"x", **{"Content-Type": "text/plain"}, **key)
        assert status == 400
        assert "multipart" in json.loads(answer)["error"]
        form = "multipart/form-data; boundary=B"
        with here.client() as watcher:
            other = {"x-linkwork-key": watcher.until("hello")["key"]}
            for who in (other, {}, {"x-linkwork-key": "A"}):
                status, answer = here.get(where, body, **{"Content-Type": form}, **who)
                assert status == 403
                assert json.loads(answer)["error"] == "A drives. Ask to drive first."
        assert not (tmp_path / ".linkwork" / "imports").exists()
        status, answer = here.get(where, body, **{"Content-Type": form}, **key)
        assert status == 200
        client.send("open", scene=json.loads(answer)["scene"])
        scene = client.until("scene")
        assert [joint["name"] for joint in scene["joints"]] == ["flag/swing"]
        assert not scene["editable"]
