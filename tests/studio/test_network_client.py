"""Control over the network: the Python client, and lines of JSON over plain TCP."""

import contextlib
import json
import math
import socket
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import linkwork as lw
from linkwork.core.errors import LinkworkError, NameNotFound, SessionError, SignalError
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.client import RemoteSession
from linkwork.studio.protocol.client_connection import StudioConnection
from studio_fixture import TIMEOUT, TOKEN, Studio, studio

J1 = "arm/J1.target"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """One studio for the whole file: each test begins with a scene of its own."""
    with studio("gripper/follow", tmp_path_factory.mktemp("studio")) as made:
        yield made


@contextlib.contextmanager
def remote(made: Studio, *, drives: bool = True) -> Iterator[RemoteSession]:
    with lw.connect(f"http://{made.address}/?token={TOKEN}", timeout=TIMEOUT) as client:
        if drives:
            client.drive()  # whoever was here before may be just about to leave
        yield client


class Lines:
    """A client of thirty lines: a socket and JSON, nothing of ours."""

    def __init__(self, made: Studio, first: object) -> None:
        self.socket = socket.create_connection(("127.0.0.1", made.server.lines), TIMEOUT)
        self.file = self.socket.makefile("r", encoding="utf-8", newline="\n")
        self.send_text(first)

    def send_text(self, message: object) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self.socket.sendall(text.encode() + b"\n")

    def until(self, type: str, **wanted: object) -> dict[str, Any]:
        for line in self.file:
            found = json.loads(line)
            if found["type"] == type and all(found[k] == v for k, v in wanted.items()):
                return found
        raise AssertionError(f"the studio went without {type}")

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def join(made: Studio, **more: object) -> Lines:
    return Lines(made, {"type": "join", "token": TOKEN, **more})


@pytest.mark.capability(160)
def test_a_remote_session_is_a_session(shared: Studio) -> None:
    """The same steps give the same angle as in a session of this process, to the last bit."""
    with Session("bioloid/look", watch=False) as here:
        here.run(1.5)
        wanted = here["robot/neck.angle"]
    with remote(shared) as there:
        there.open("bioloid/look")
        there.pause()
        there.reset()
        there.run(1.5)
        assert there.time == pytest.approx(1.5)
        assert there["robot/neck.angle"] == wanted
        there.seek(1.0)
        there.wait(lambda: there.time < 1.2)
        assert there["robot/neck.angle"] != wanted
        with pytest.raises(SessionError, match="1 or more"):
            there.step(0)
        assert math.hypot(*there.pose("robot/head")[3:]) == pytest.approx(1.0, abs=1e-6)
        assert there.signals["robot/neck.angle"].unit == "rad"


def test_inputs_are_taken_set_and_given_back(shared: Studio) -> None:
    """Who owns an input is told; taken over, it is set and followed; released, it goes back."""
    with remote(shared) as there:
        there.open("gripper/follow")
        there.pause()
        there.step(50)  # the program has decided by then, and owns what it writes
        with pytest.raises(SignalError, match="owned by 'lift'"):
            there[J1] = 0.1
        there.take(J1)
        there[J1] = 0.1
        there.run(1.0)
        assert there[J1] == 0.1
        assert there["arm/J1.angle"] == pytest.approx(0.1, abs=0.02)
        there.release()
        assert any("took" in each.text for each in there.events)


def test_time_runs_while_somebody_waits(shared: Studio) -> None:
    """play, wait for a condition, pause; the speed is set."""
    with remote(shared) as there:
        there.open("gripper/follow")
        there.speed(0.0)
        there.play()
        there.wait(lambda: there.time > 1.0)
        there.pause()
        stood = there.time
        assert stood > 1.0
        with pytest.raises(SessionError, match="in vain"):
            there.wait(lambda: there.time > stood, timeout=0.2)
        with (
            pytest.warns(DeprecationWarning, match="'patience' is now called 'timeout'"),
            pytest.raises(SessionError, match="in vain"),
        ):
            there.wait(lambda: there.time > stood, patience=0.2)
        with pytest.raises(SessionError, match=r"not \{'type': 'play'\}"):
            there.send({"type": "play"})  # type: ignore[arg-type]
        there.send(m.Seek(0.0))
        with pytest.raises(SessionError, match="no recording is running"):
            there.mark("here")


def test_what_the_studio_refuses_is_raised(shared: Studio) -> None:
    """Unknown scenes, postures and names, with what exists; nothing has changed."""
    with remote(shared) as there:
        there.open("gripper/follow")
        before = there.scene
        with pytest.raises(SessionError, match="no kit named 'nowhere'"):
            there.open("nowhere/nothing")
        with pytest.raises(SessionError, match="no posture named 'x'"):
            there.posture("x")
        with pytest.raises(NameNotFound, match="no signal named 'arm/J9'"):
            there["arm/J9"]
        with pytest.raises(NameNotFound, match="no body named"):
            there.pose("nobody")
        assert there.scene is before


def test_what_is_no_number_is_refused_at_the_line_that_says_it(shared: Studio) -> None:
    """Not finite, of another type, out of bounds: an error, and nothing is done."""
    endless: Any = "1"
    with remote(shared) as there:
        there.open("gripper/follow")
        there.pause()
        there.take(J1)
        there[J1] = 0.1
        before = there.time
        for value in (math.nan, math.inf, -math.inf, endless, None, [0.1]):
            with pytest.raises(SignalError, match="takes finite numbers, not"):
                there[J1] = value  # type: ignore[assignment]
        for seconds in (-1, math.nan, math.inf, endless, None):
            with pytest.raises(SessionError, match="runs for 0 s or more, not for"):
                there.run(seconds)  # type: ignore[arg-type]
        for steps in (0, -3, 1.5, endless):
            with pytest.raises(SessionError, match="integer of 1 or more"):
                there.step(steps)  # type: ignore[arg-type]
        for speed in (-1.0, math.nan, 1e9, endless):
            with pytest.raises(LinkworkError, match=r"a speed is a number from 0 to 1000, not"):
                there.speed(speed)
        with pytest.raises(LinkworkError, match=r"a time is a number from .* not nan"):
            there.seek(math.nan)
        for message in (m.Override("bus/x", math.nan), m.AddPosture(time=math.inf)):
            with pytest.raises(LinkworkError, match=r"a finite number is expected, not"):
                there.send(message)
        there.run(0.0)
        assert (there.time, there[J1]) == (before, 0.1)


def test_numbers_of_numpy_are_numbers(shared: Studio) -> None:
    """Steps, times and speeds out of arrays."""
    with remote(shared) as there:
        there.open("gripper/follow")
        there.pause()
        before = there.time
        there.step(np.int64(3))  # type: ignore[arg-type]
        assert there.time > before
        there.speed(np.float32(2.0))  # type: ignore[arg-type]
        there.seek(np.float32(0.0))  # type: ignore[arg-type]
        assert there.time == 0.0
        with pytest.raises(LinkworkError, match="cannot be sent in a message"):
            there.mark(object())  # type: ignore[arg-type]


def test_a_line_that_is_no_message_is_refused_by_its_type(shared: Studio) -> None:
    """A number that JSON cannot say, or a wrong field, comes back with the type that it had."""
    lines = join(shared)
    try:
        for text, what, why in (
            (f'{{"type": "set", "signal": "{J1}", "value": NaN}}', "", "malformed"),
            (f'{{"type": "set", "signal": "{J1}", "value": null}}', "set", "$.value"),
            (f'{{"type": "set", "signal": "{J1}", "value": 1e999}}', "set", ""),
            ('{"type": "speed", "value": -1}', "speed", ">= 0.0"),
            ('{"type": "step", "steps": 1.5}', "step", "Expected `int`"),
            ('{"type": "nothing"}', "nothing", "Invalid value 'nothing'"),
        ):
            lines.send_text(text)
            assert why in lines.until("refused", what=what)["text"]
    finally:
        lines.close()


def test_one_drives_and_hands_over(shared: Studio) -> None:
    """A second client looks on; it drives when the first hands over."""
    with remote(shared) as first, remote(shared, drives=False) as second:
        assert first.driver == first.name
        with pytest.raises(SessionError, match=f"{first.name} drives"):
            second.play()
        asking = threading.Thread(target=second.drive)
        asking.start()
        first.wait(lambda: first.people.requester == second.name)
        first.send(m.ControlGrant(second.name))
        asking.join(TIMEOUT)
        assert second.driver == second.name
        second.pause()


def test_nobody_and_strangers_are_told(shared: Studio) -> None:
    """A wrong token, a closed port and a studio that ends are errors in plain words."""
    with pytest.raises(SessionError, match="address that linkwork studio prints"):
        lw.connect(shared.address, token="wrong-token")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with pytest.raises(LinkworkError, match="no studio accepts the connection"):
            lw.connect(f"127.0.0.1:{closed.getsockname()[1]}", timeout=2.0)


def test_a_studio_that_ends_is_told(tmp_path: Path) -> None:
    """What is asked for afterwards raises; nothing hangs."""
    with studio(None, tmp_path) as made:
        there = lw.connect(made.address, token=TOKEN)
        with pytest.raises(SessionError, match="no scene is open"):
            there["x"]
        with pytest.raises(SessionError, match="no scene is open"):
            there.play()
    with pytest.raises(SessionError, match="connection to the studio lost"):
        there.wait(lambda: False)
    there.close()


SCENE = """
format = "linkwork/scene 1"
name = "boxes"

[[element]]
name = "low"
mass = 1
shape = { box = { size = [0.1, 0.1, 0.1] } }
"""


def test_an_edit_is_in_use_or_raised_when_it_returns(tmp_path: Path) -> None:
    """What compiling refuses is raised at its line, also where the answer is about attributes."""
    (tmp_path / "boxes.toml").write_text(SCENE)
    with studio(str(tmp_path / "boxes.toml"), tmp_path) as made, remote(made) as there:
        there.wait(lambda: there.scene is not None)
        assert there.scene is not None
        before = there.scene.version
        there.send(m.EditAttribute("", "scene", "step", 0.004))
        assert there.scene.version > before
        assert there.scene.step == 0.004
        before = there.scene.version
        with pytest.raises(SessionError, match="no engine type named 'nothing'"):
            there.send(m.EditAttribute("", "scene", "engine", '[{ type = "nothing" }]'))
        assert there.scene.version == before
        with pytest.raises(SessionError, match="kind of thing"):
            there.send(m.Inspect("low", "nonsense"))
        there.send(m.Inspect("low", "element"))
        there.step(2)


class Told(StudioConnection):
    """A wire whose other end is the test: it says nothing until told."""

    def __init__(self, *answers: m.FromServer) -> None:
        self.timeout, self.news, self.sent = 0.2, threading.Condition(), []
        self.answers = list(answers)
        self.scene, self.events = None, deque()
        self._asked, self._refused = set(), deque()
        self._marks, self._answered, self._pictures, self._end = 0, 0, 0, ""

    def _put(self, message: m.FromClient) -> None:
        self.sent.append(message)
        for answer in self.answers if isinstance(message, m.Inspect) else []:
            self._text(m.encode(answer).decode())


def test_only_the_marks_own_answer_counts() -> None:
    """Attributes of another thing, such as follow an edit, are no answer."""
    with pytest.raises(SessionError, match="waited for an answer in vain"):
        Told(m.Attributes("", "scene", [])).ask(m.Play())
    Told(m.Attributes("?1", "scene", [])).ask(m.Play())


def test_what_is_refused_later_is_raised_by_the_next_line() -> None:
    """It is not forgotten, and that line does nothing; what others asked is no matter of ours."""
    wire = Told(m.Attributes("?1", "scene", []))
    wire.ask(m.Undo())
    wire._text(m.encode(m.Refused("undo", "it cannot be used.")).decode())
    with pytest.raises(SessionError, match=r"undo, requested before, .*: it cannot be used\."):
        wire.send(m.Play())
    assert [type(each) for each in wire.sent] == [m.Undo, m.Inspect]
    wire._text(m.encode(m.Refused("play_movement", "no.")).decode())
    wire.send(m.Play())
    assert isinstance(wire.sent[-1], m.Play)


def test_types_that_are_not_known_are_skipped() -> None:
    """A newer studio may say new things; a known one that is spoilt is still an error."""
    wire = Told()
    wire._text('{"type": "weather", "rain": true}')
    wire._text('{"type": "event", "step": 1, "level": "info", "text": "x", "source": "", "new": 1}')
    assert wire.events[-1].text == "x"
    with pytest.raises(msgspec.ValidationError):
        wire._text('{"type": "event", "step": "one"}')


# ---- lines over TCP ------------------------------------------------------------------------


@pytest.mark.capability(160)
def test_lines_drive_a_session(shared: Studio) -> None:
    """Join, open, take, set, step and read values, with a socket and JSON alone."""
    client = join(shared, poses=True)
    hello = client.until("hello")
    assert hello["protocol"] == m.PROTOCOL
    before = client.until("scene")["opened"]
    client.send_text({"type": "control_request"})
    client.until("people", driver=hello["you"])
    client.send_text({"type": "open", "scene": "gripper/follow"})
    scene = client.until("scene")
    assert (scene["name"], scene["opened"] == before) == ("follow", False)
    client.send_text({"type": "pause"})
    client.send_text({"type": "take", "signal": J1})
    client.send_text({"type": "set", "signal": J1, "value": 0.1})
    client.send_text({"type": "watch", "number": 7, "signals": [J1, "arm/J1.angle", "nothing"]})
    client.send_text({"type": "step", "steps": 500})
    while True:
        seen = client.until("snapshot", number=7, version=scene["version"])
        if seen["signals"][0] == 0.1 and seen["time"] > 0.9:
            break
    assert seen["signals"][1] == pytest.approx(0.1, abs=0.02)
    assert seen["signals"][2] is None
    assert len(seen["poses"]) == len(scene["bodies"])
    client.send_text({"type": "set", "signal": J1, "value": 1e9})
    assert client.until("refused")["what"] == "set"
    client.close()


def test_lines_and_websocket_are_people_of_one_studio(shared: Studio) -> None:
    """A client of lines looks on while one of the other kind drives, and sees what it does."""
    with remote(shared) as there:
        there.open("gripper/follow")
        there.pause()
        client = join(shared)
        assert client.until("hello")["driver"] == there.name
        client.send_text({"type": "play"})
        assert "drives" in client.until("refused")["text"]
        client.send_text({"type": "watch", "number": 1, "signals": ["arm/J1.angle"]})
        there.run(0.5)
        while client.until("snapshot", number=1)["time"] < 0.4:
            pass
        client.close()


@pytest.mark.parametrize(
    ("first", "expected_text"),
    [
        ({"type": "join", "token": "wrong"}, "token is wrong"),
        ({"type": "join", "token": TOKEN, "protocol": 1}, "speaks protocol"),
        ({"type": "play"}, "first line must be"),
        ("GET / HTTP/1.1", "first line must be"),
        ("[" * 5000, "first line must be"),
    ],
)
def test_strangers_are_turned_away(shared: Studio, first: object, expected_text: str) -> None:
    """Who does not join with the token is told why, and the connection ends."""
    client = Lines(shared, first)
    assert expected_text in client.until("refused", what="join")["text"]
    assert client.file.read() == ""
    client.close()


def test_garbage_changes_nothing(shared: Studio) -> None:
    """What is no message is refused, a line without end closes the connection, others go on."""
    client = join(shared)
    client.until("hello")
    client.send_text("no json")
    assert "not a studio message" in client.until("refused")["text"]
    client.send_text({"type": "watch"})
    client.until("refused")
    client.send_text("")
    client.send_text({"type": "inspect", "name": "", "kind": "scene"})
    client.until("attributes")
    with contextlib.suppress(OSError):
        client.socket.sendall(b"x" * (2**20 + 2**17))
        client.socket.shutdown(socket.SHUT_WR)
    with contextlib.suppress(OSError, AssertionError):
        while True:
            client.until("nothing of the kind")
    client.close()
    again = join(shared)
    again.until("hello")
    again.close()
