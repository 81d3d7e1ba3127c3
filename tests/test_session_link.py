"""Sessions and their peers: other threads and processes that watch and drive them."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linkwork.session.link import LinkClosed, PeerEnd, local_link, serve
from linkwork.session.messages import (
    Advance,
    Event,
    Hello,
    Message,
    Pause,
    Play,
    Reload,
    Reset,
    Set,
    Take,
    Watch,
    decode_event,
    decode_snapshot,
    encode,
)
from linkwork.session.session import Session
from linkwork.spatial import Pose
from session_scenes import bench, bench_files, box, program

# A control program on another machine: it knows the link and the messages, and nothing else.
REMOTE = """
import json, sys
from linkwork.session.link import connect
from linkwork.session.messages import *

peer = connect(sys.argv[1], sys.argv[2])
hello = None
events = []

def take():
    global hello
    peer.wait(5.0)
    for data in peer.events():
        event = decode_event(data)
        if isinstance(event, Hello):
            hello = event
        else:
            events.append(event)

while hello is None:
    take()
peer.send(b"nonsense")
peer.send(encode(Set("arm/J9.target", 0.1, "remote")))
peer.send(encode(Set("arm/J2.target", 99.0, "remote")))
peer.send(encode(Watch(["arm/J1.angle", "arm/J1.target", "no/such.signal"])))
peer.send(encode(Take("arm/J1.target", "remote")))
target, angles, steps = -0.6, [], []
peer.send(encode(Set("arm/J1.target", target, "remote")))
while not angles or abs(angles[-1] - target) > 0.12:
    take()
    data = peer.snapshot()
    if data is not None:
        snapshot = decode_snapshot(data)
        angles.append(snapshot.values.get("arm/J1.angle", 0.0))
        steps.append(snapshot.step)
        bodies = len(snapshot.pose) // 56
peer.send(encode(Set("world.gravity_x", 1.0, "remote")))
print(json.dumps({
    "signals": len(hello.signals), "joints": hello.joints, "bodies": [len(hello.bodies), bodies],
    "step": hello.step, "angle": angles[-1], "rising": steps == sorted(steps),
    "events": [[e.level, e.text] for e in events], "numba": "numba" in sys.modules,
}), flush=True)
sys.stdin.read()
peer.close()
"""


@pytest.mark.capability(160)
def test_a_program_on_the_other_end_of_the_network_drives_the_robot() -> None:
    """It takes a joint over, moves it, reads snapshots and events; mistakes are answered."""
    with serve("tcp:127.0.0.1:0") as end:
        scene = bench().agent("wave", "wave", joint="arm/J1", amplitude=0.2)
        with Session(scene, link=end) as session:
            session.after_step.append(
                lambda: session.stop() if session["world.gravity_x"] == 1.0 else None
            )
            remote = subprocess.Popen(
                [sys.executable, "-c", REMOTE, end.address, end.key],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            session.run(600.0, clock="real", speed=5.0)
            assert session["arm/J1.target"] == -0.6
            out, _ = remote.communicate(timeout=60)
            bodies = session.world.nb
    said = json.loads(out)
    assert said["joints"] == ["arm/J1", "arm/J2"]
    assert said["bodies"] == [bodies, bodies]
    assert said["step"] == 0.002
    assert said["angle"] == pytest.approx(-0.6, abs=0.13)
    assert said["rising"]
    assert not said["numba"]
    problems = [text for level, text in said["events"] if level == "error"]
    assert problems[0].startswith("this is no inbox message")
    assert any("no signal named 'arm/J9.target'" in text for text in problems)
    assert any("takes -1.5 to 1.5 rad, not 99" in text for text in problems)
    assert any("no signal named 'no/such.signal'" in text for text in problems)
    assert ["info", "remote took arm/J1.target from wave."] in said["events"]


KILLED = """
import sys
from linkwork.session.link import connect
from linkwork.session.messages import *

peer = connect(sys.argv[1], sys.argv[2])
peer.send(encode(Take("arm/J1.target", "remote")))
n = 0
while True:
    n = (n + 1) % 1000
    peer.send(encode(Set("arm/J1.target", n / 10000.0, "remote")))
    peer.wait(0.001)
    peer.events(), peer.snapshot()
"""


def test_a_peer_that_is_killed_leaves_the_session_running() -> None:
    """In the midst of sending: what it owned is released, and the agent of the scene goes on."""
    with serve() as end:
        scene = bench().agent("wave", "wave", joint="arm/J1", amplitude=0.5, frequency=2.0)
        with Session(scene, link=end) as session:
            remote = subprocess.Popen([sys.executable, "-c", KILLED, end.address, end.key])
            heard: list[float] = []

            def listen(target: float) -> None:
                heard.append(target)
                if session.signals.owners["arm/J1.target"] == "remote" and len(heard) % 5 == 0:
                    remote.send_signal(signal.SIGKILL)

            session.on_change("arm/J1.target", listen)

            def look() -> None:
                released = any("remote released" in e.text for e in session.outbox.events)
                if released and session["arm/J1.target"] > 0.45:
                    session.stop()

            session.after_step.append(look)
            session.run(600.0, clock="real", speed=2.0)
            assert session.signals.owners["arm/J1.target"] == "wave"
            remote.wait(10.0)
            assert remote.returncode == -signal.SIGKILL


# ---- in one process ------------------------------------------------------------------------


class Viewer:
    """A peer in this process, with everything that it was told."""

    def __init__(self, peer: PeerEnd) -> None:
        self.peer = peer
        self.hellos: list[Hello] = []
        self.events: list[Event] = []

    def send(self, *sent: Message) -> None:
        for message in sent:
            self.peer.send(encode(message))

    def take(self) -> None:
        for data in self.peer.events():
            event = decode_event(data)
            (self.hellos if isinstance(event, Hello) else self.events).append(event)  # type: ignore[arg-type]


def test_newcomers_are_greeted_and_told_of_each_new_world() -> None:
    """Names of bodies, joints and signals with units and ranges; again after an edit."""
    end, join = local_link()
    with Session(bench(), link=end) as session:
        viewer = Viewer(join())
        session.step()
        viewer.take()
        (hello,) = viewer.hellos
        assert (hello.version, hello.scene, hello.step) == (1, "bench", 0.002)
        assert hello.bodies == session.world.body_names
        signals = {name: rest for name, *rest in hello.signals}
        assert signals["arm/J1.target"] == ["rad", -1.5, 1.5, "input"]
        assert signals["arm/J1.angle"][3] == "output"
        session.swap(bench().place(box(), at=Pose((1.0, 0.0, 1.0)), base="free")).result(60)
        session.step()
        viewer.take()
        assert viewer.hellos[-1].version == 2
        assert "box.z" in {name for name, *_ in viewer.hellos[-1].signals}
        assert "the scene was edited; this is version 2." in [e.text for e in viewer.events]


def test_a_snapshot_is_a_copy_of_poses_and_watched_values() -> None:
    """The newest wins; it names the scene's version, the step and whether time runs."""
    end, join = local_link()
    with Session(bench(), link=end) as session:
        viewer = Viewer(join())
        other = Viewer(join())
        session.step()
        viewer.send(Watch(["arm/J1.angle"]))
        other.send(Watch(["arm/J2.target", "arm/J1.angle"]))
        session.step()
        session.outbox.publish(session, at_once=True)
        data = viewer.peer.snapshot()
        assert data is not None
        snapshot = decode_snapshot(data)
        assert (snapshot.version, snapshot.step, snapshot.running) == (1, 2, True)
        poses = np.frombuffer(snapshot.pose).reshape(-1, 7)
        assert (poses == session.state.pose).all()
        assert set(snapshot.values) == {"arm/J1.angle", "arm/J2.target"}
        assert snapshot.values["arm/J1.angle"] == session["arm/J1.angle"]
        viewer.send(Watch([]))
        other.peer.close()
        session.step()
        session.outbox.publish(session, at_once=True)
        data = viewer.peer.snapshot()
        assert data is not None
        assert decode_snapshot(data).values == {}


def test_what_a_peer_owned_is_released_when_the_last_of_its_name_has_left() -> None:
    """Two windows of one person: the joint stays taken until both are closed."""
    end, join = local_link()
    scene = bench().agent("wave", "wave", joint="arm/J1", amplitude=0.2)
    with Session(scene, link=end) as session:
        one, two = Viewer(join()), Viewer(join())
        one.send(Take("arm/J1.target"), Set("arm/J1.target", 0.9))
        two.send(Set("arm/J1.target", 0.8))
        session.step(2)
        one.peer.close()
        session.step(2)
        assert session["arm/J1.target"] == 0.8
        assert session.signals.owners["arm/J1.target"] == "user"
        two.peer.close()
        session.step(2)
        assert session.signals.owners["arm/J1.target"] == "wave"
        assert abs(session["arm/J1.target"]) < 0.2


def test_with_a_peer_a_failed_program_pauses_and_goes_on_when_mended(tmp_path: Path) -> None:
    """run() does not end: the peer is told, sends a new text, and time runs again by itself."""
    end, join = local_link()
    scene = program(bench(), "p", "def loop(self):\n    1 / (self.time < 0.05)")
    with Session(scene, link=end) as session:
        viewer = Viewer(join())
        told: list[Event] = []

        def progress(now: float) -> None:
            viewer.take()
            if not told and (found := [e for e in viewer.events if e.level == "error"]):
                told.extend(found)
                assert not session.running
                viewer.send(Reload("p", "class Control: pass"))

        session.run(0.1, progress=progress)
        assert session.time == pytest.approx(0.1)
        assert "ZeroDivisionError" in told[0].text
        assert told[0].step == 25


def test_a_mended_file_lets_the_session_go_on_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is saved while the session stands still; nobody presses a button."""
    file = bench_files(tmp_path)
    good = (tmp_path / "follow.py").read_text()
    (tmp_path / "follow.py").write_text(good.replace("-angle", "missing"))
    monkeypatch.setattr("linkwork.session.running.WATCH_PERIOD", 0.01)
    end, join = local_link()
    with Session(file, link=end) as session:
        viewer = Viewer(join())

        def progress(now: float) -> None:
            if not session.running:
                (tmp_path / "follow.py").write_text(good)

        session.run(0.1, progress=progress)
        viewer.take()
        texts = [event.text for event in viewer.events]
        assert any("name 'missing' is not defined" in text for text in texts)
        assert "follow is reloaded." in texts
        assert session.time == pytest.approx(0.1)


def test_a_pause_of_a_person_is_not_ended_by_a_reload() -> None:
    """Only what a failed program stopped goes on by itself."""
    end, join = local_link()
    scene = program(bench(), "p", "pass")
    with Session(scene, link=end) as session:
        viewer = Viewer(join())
        session.step()
        viewer.send(Pause(), Reload("p", "class Control: pass"))
        session.take_in()
        assert not session.running
        viewer.send(Play())
        session.take_in()
        assert session.running


def test_events_reach_peers_in_order_and_none_is_lost() -> None:
    """A thousand events while the peer looks away; snapshots in between are only the newest."""
    end, join = local_link()
    with Session(bench(), link=end) as session:
        viewer = Viewer(join())
        session.step()
        for n in range(1000):
            session.say(f"event {n}")
            if n % 100 == 0:
                session.step()
        viewer.take()
        assert [e.text for e in viewer.events] == [f"event {n}" for n in range(1000)]
        assert viewer.peer.snapshot() is not None
        assert viewer.peer.snapshot() is None


def test_closing_the_session_says_goodbye_to_its_peers() -> None:
    """The last events arrive, then the link has ended."""
    end, join = local_link()
    scene = program(bench(), "p", "def exit(self):\n    self.say('bye')")
    with Session(scene, link=end) as session:
        viewer = Viewer(join())
        session.step()
    viewer.take()
    assert viewer.events[-1].text == "bye"
    with pytest.raises(LinkClosed):
        viewer.take()


def test_steps_and_a_reset_by_message_while_paused() -> None:
    """A viewer pauses, steps ten times, resets: the session does just that."""
    end, join = local_link()
    with Session(bench(), link=end) as session:
        viewer = Viewer(join())
        session.step(5)
        viewer.send(Pause(), Advance(10), Reset(), Advance(3))
        counts: list[int] = []
        session.after_step.append(lambda: counts.append(session.state.step))
        session.after_step.append(lambda: session.stop() if len(counts) == 13 else None)
        session.run(60.0)
        assert counts == [*range(6, 16), 1, 2, 3]
        assert not session.running
