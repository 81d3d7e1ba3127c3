"""The inbox: what each message does, and that a refused one does nothing and is answered."""

import math
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from linkwork.core.errors import FormatError
from linkwork.geometry import Pose
from linkwork.model.scene import Scene
from linkwork.model.scene.archive import pack
from linkwork.session import messages
from linkwork.session.messages import (
    AdvanceSteps,
    ApplyPosture,
    BusCommand,
    BusHealth,
    BusInputs,
    ControllerLost,
    GrabElement,
    Message,
    OverrideSignal,
    PauseClock,
    PlaceJoint,
    PlaceJoints,
    ReleaseGrab,
    ReleaseSignals,
    ReloadProgram,
    ResetState,
    RestoreState,
    SetFault,
    SetSignal,
    StartClock,
    SwapScene,
    TakeSignal,
    decode,
    encode,
)
from linkwork.session.recording import Recording
from linkwork.session.session import Session
from session_scenes import H, bench, box, program

COUNTS = """
def init(self):
    self.memory("n", 0)
    self.joint("arm/J2").target = 0.1
def loop(self):
    self.memory.n += 1
"""


def scene() -> Scene:
    made = bench().place(box(), at=Pose((1.0, 0.0, 1.0)), base="free")
    made.postures["up"] = {"arm/J1": -0.9, "arm/J2": 0.4}
    return program(made, "count", COUNTS)


MESSAGES: list[Message] = [
    SetSignal("arm/J1.target", 0.5),
    TakeSignal("arm/J1.target"),
    ReleaseSignals(),
    ApplyPosture("up"),
    ResetState(),
    PlaceJoint("arm/J1", "", 0.4),
    PlaceJoints({"arm/J1": [0.4], "arm/J2": [-0.2]}),
    RestoreState(b"state"),
    GrabElement("box/cube", (1.0, 0.0, 1.5)),
    ReleaseGrab(),
    ReloadProgram("count", "x = 1"),
    messages.StartPrograms(["count"]),
    StartClock(),
    StartClock(2.0),
    PauseClock(),
    AdvanceSteps(3),
    SwapScene(b"archive", {"a": "b"}),
    messages.SetMode("emulation"),
    BusInputs("can0", {"J1.target": 0.5}, turn=True),
    BusHealth("can0", 1, 2, {"frames": 3.0}),
    ControllerLost("can0", "its controller has left"),
    OverrideSignal("can0/J1.target", 0.5),
    BusCommand("can0", "drop", {"chance": 0.5, "on": True}),
    SetFault("blind", kind="stuck", args={"sensor": "tilt", "lasts": 2.0, "ids": [1, 2]}),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_messages_cross_as_bytes(message: Message) -> None:
    """MessagePack and JSON carry every message."""
    assert decode(encode(message)) == message
    assert decode(msgspec.json.encode(message)) == message


@pytest.mark.parametrize(
    ("data", "expected_text"),
    [
        (b"", "truncated"),
        (b"hello", "this is not an inbox message"),
        (b"{", "truncated"),
        (b'{"type":"fly"}', "Invalid value 'fly'"),
        (b'{"type":"tried"}', "Invalid value 'tried'"),
        (b'{"type":"set","signal":"x"}', "missing required field `value`"),
        (b'{"type":"set","signal":"x","value":"1"}', "Expected `float`, got `str`"),
        (b'{"type":"set","signal":"x","value":1,"extra":2}', "unknown field `extra`"),
        (b'{"type":"drop","slot":4}', "`int` <= 3"),
        (b'{"type":"grab","element":"x","target":[1,2]}', "length 3"),
        (b'{"type":"advance","steps":0}', "`int` >= 1"),
        (b'{"type":"set","signal":"' + b"x" * 600 + b'","value":1}', "length <= 512"),
    ],
)
def test_what_is_no_message_is_refused_with_a_reason(data: bytes, expected_text: str) -> None:
    """Garbage, unknown types, missing, wrong and unknown fields: the error names them."""
    with pytest.raises(FormatError) as error:
        decode(data)
    assert expected_text in str(error.value)


@pytest.mark.parametrize(
    "message",
    [
        SetSignal("arm/J1.target", "high"),  # type: ignore[arg-type]
        SetSignal(3, 0.5),  # type: ignore[arg-type]
        SetSignal("arm/J1.target", 10**400),
        ReleaseGrab(9),
        GrabElement("box/cube", (math.nan, 0.0, 0.0)),
        GrabElement("box/cube", (1e9, 0.0, 0.0)),
        AdvanceSteps(-1),
        SwapScene("scene"),  # type: ignore[arg-type]
        "reset",
    ],
)
def test_a_scripts_own_message_is_checked_as_one_from_outside(message: Message) -> None:
    """What msgspec would not let in from a peer is refused when a script sends it."""
    with Session(bench()) as session, pytest.raises(FormatError, match="is not an inbox message"):
        session.send(message)


@pytest.mark.parametrize(
    ("message", "expected_text"),
    [
        (SetSignal("arm/J1.target", 9.0), "takes -1.5 to 1.5 rad, not 9"),
        (SetSignal("arm/J1.target", math.nan), "finite numbers"),
        (SetSignal("arm/J1.angle", 0.0), "is measured"),
        (SetSignal("arm/J2.target", 0.0), "owned by 'count'"),
        (SetSignal("nothing", 0.0), "no signal named 'nothing'"),
        (TakeSignal("arm/J1.angle"), "is not an input"),
        (TakeSignal("arm/J9.target"), "no signal named"),
        (GrabElement("arm/post", (0.0, 0.0, 0.0)), "does not move"),
        (GrabElement("nobody", (0.0, 0.0, 0.0)), "no element named 'nobody'"),
        (ApplyPosture("down"), "no posture named 'down'"),
        (PlaceJoint("arm/J1", "", 2.0), "has the range -1.5 to 1.5 rad, not 2"),
        (PlaceJoint("arm/J1", "x", 0.0), "no degree of freedom named 'x'"),
        (PlaceJoints({"arm/J1": [0.1], "arm/J2": [9.0]}), "'arm/J2' has the range"),
        (PlaceJoints({"arm/J1": [0.1, 0.2]}), "takes 1 finite coordinates"),
        (PlaceJoints({"box": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]}), "quaternion of length one"),
        (RestoreState(b"short"), "numbers, not 0.625"),
        (ReloadProgram("pilot", ""), "no program named 'pilot'"),
        (SwapScene(b"no archive"), "not a scene archive"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Message) else "",
)
def test_a_refused_message_changes_nothing_and_is_answered(
    tmp_path: Path, message: Message, expected_text: str
) -> None:
    """Every bit of the state stays, the error is an event, and the recording leaves it out."""
    path = tmp_path / "run.mcap"
    with Session(scene(), record=path) as session:
        session.step(3)
        before = session.state.hash()
        owners = dict(session.signals.owners)
        session.send(message)
        session.process_inbox()
        assert (session.state.hash(), session.signals.owners) == (before, owners)
        event = session.outbox.events[-1]
        assert (event.level, event.failed, event.step) == ("error", "message", 3)
        assert expected_text in event.text
        session.step()
    with Recording.open(path) as recording:
        assert len(recording.inbox) == 0
        assert recording.events[-1].text == event.text


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("x = (", "SyntaxError"),
        ("x = 1", "defines no class that extends Control"),
        (
            "from linkwork import Control\nclass P(Control):\n    def init(self):\n        1/0",
            "1/0",
        ),
    ],
)
def test_a_faulty_reload_leaves_the_old_program_running(text: str, expected_text: str) -> None:
    """The message says what is wrong; memory and calls go on."""
    with Session(scene()) as session:
        session.step(3)
        session.send(ReloadProgram("count", text))
        session.step(2)
        assert expected_text in session.outbox.events[-1].text
        assert session.state["agent/count/memory"][0] == 5
        assert session.running


def test_what_the_init_of_a_reloaded_program_sets_is_set_before_the_next_step() -> None:
    """The new program owns and sets its joint at once."""
    with Session(scene()) as session:
        session.step(3)
        source = session.cycle.agents[0].spec.params["source"].replace("0.1", "0.7")
        session.apply(ReloadProgram("count", source))
        assert session["arm/J2.target"] == 0.7
        assert session.signals.owners["arm/J2.target"] == "count"


def test_a_hand_pulls_a_body_to_a_place_until_it_lets_go() -> None:
    """The box hangs below the hand by m g / k, and falls when it is dropped."""
    with Session(scene()) as session:
        session.send(GrabElement("box/cube", (1.2, 0.3, 1.5), stiffness=100.0, damping=10.0))
        session.run(3.0)
        body = session.world.body("box/cube")
        hanging = [1.2, 0.3, 1.5 - 0.3 * 9.81 / 100.0]
        assert session.state.pose[body, :3] == pytest.approx(hanging, abs=2e-3)
        session.send(ReleaseGrab())
        session.run(0.2)
        fallen = hanging[2] - 0.5 * 9.81 * 0.2**2
        assert session.state.pose[body, 2] == pytest.approx(fallen, abs=5e-3)


def test_a_hand_without_a_stiffness_pulls_as_strongly_as_the_body_is_heavy() -> None:
    """A light and a heavy box follow the hand alike, critically damped."""
    variants = []
    for mass in (0.05, 50.0):
        made = Scene("hand", gravity=(0.0, 0.0, 0.0)).place(box(mass=mass), base="free")
        with Session(made) as session:
            session.send(GrabElement("box/cube", (1.0, 0.0, 0.0)))
            session.run(0.1)
            variants.append(session["box.x"])
    t = 0.1 * 15.0
    assert variants == pytest.approx([1.0 - (1.0 + t) * math.exp(-t)] * 2, rel=2e-2)


def test_a_posture_is_taken_at_rest() -> None:
    """Joints stand where the posture says, wanted there too, and do not jerk afterwards."""
    with Session(scene()) as session:
        session["arm/J1.target"] = 1.0
        session.step(100)
        session.send(ApplyPosture("up"))
        session.process_inbox()
        assert session["arm/J1.angle"] == session["arm/J1.target"] == -0.9
        assert session["arm/J2.angle"] == 0.4
        assert (session.state.v[session.world.dofs("arm/J1")] == 0.0).all()
        session.step(50)
        assert session["arm/J1.angle"] == pytest.approx(-0.9, abs=0.05)


def test_a_joint_is_placed_at_rest() -> None:
    """One degree of freedom moves, wanted there too; the others stay."""
    with Session(scene()) as session:
        session["arm/J1.target"] = 1.0
        session.step(50)
        session.apply(PlaceJoint("arm/J1", "angle", -0.5))
        session.apply(PlaceJoint("box", "x", 0.7))
        assert session["arm/J1.angle"] == session["arm/J1.target"] == -0.5
        assert (session["arm/J1.speed"], session["box.x"]) == (0.0, 0.7)
        session.step(50)
        assert session["arm/J1.angle"] == pytest.approx(-0.5, abs=0.05)


def test_a_chain_is_arranged_at_rest_or_not_at_all() -> None:
    """Several joints move at once, wanted there too; one that cannot keeps all where they are."""
    with Session(scene()) as session:
        session["arm/J1.target"] = 1.0
        session.step(50)
        turned = [0.6, 0.0, 0.8, 0.0]
        joints = {"arm/J1": [-0.5], "arm/J2": [0.3], "box": [0.7, 0.1, 1.2, *turned]}
        assert session.apply(PlaceJoints(joints))
        assert session["arm/J1.angle"] == session["arm/J1.target"] == -0.5
        assert (session["arm/J2.angle"], session["box.x"], session["arm/J1.speed"]) == (0.3, 0.7, 0)
        assert not session.apply(PlaceJoints({"arm/J1": [0.2], "arm/J2": [9.0]}))
        assert session["arm/J1.angle"] == -0.5


def test_a_state_of_the_past_is_restored_bit_for_bit() -> None:
    """The run goes on from there as it did before."""
    with Session(scene()) as session:
        session["arm/J1.target"] = 1.0
        session.step(50)
        past = session.state.save()
        session.step(50)
        then = session.state.hash()
        session.send(RestoreState(past))
        session.step(50)
        assert session.state.hash() == then


def test_what_cannot_have_been_a_state_is_not_restored() -> None:
    """Numbers that are none, and counts that would lead kernels astray, are refused."""
    with Session(scene()) as session:
        session.step(3)
        before = session.state.hash()
        for name, value in [("q", math.nan), ("clock", -1), ("report/contact_count", 10**9)]:
            state = session.state.copy()
            state[name][0] = value
            session.send(RestoreState(state.save()))
        state = session.state.copy()
        state["param/grab"][0, :2] = 1.0, 1e6
        session.send(RestoreState(state.save()))
        session.process_inbox()
        texts = [event.text for event in session.outbox.events if event.level == "error"]
        assert len(texts) == 4
        assert all(text.startswith("this is not a state of the session") for text in texts)
        assert session.state.hash() == before


def test_reset_goes_back_to_the_first_state_and_starts_programs_anew() -> None:
    """Every bit is that of a new session, whatever was set, pulled, taken or reloaded."""
    with Session(scene()) as session:
        first = session.state.hash()
        session["arm/J1.kp"] = 5.0
        session["arm/J1.target"] = 1.0
        session.take("arm/J2.target")
        session.send(GrabElement("box/cube", (0.0, 0.0, 2.0)))
        session.step(70)
        assert session.state["agent/count/memory"][0] == 70
        session.reset()
        session.process_inbox()
        assert session.state.hash() == first
        assert session.signals.owners == {"arm/J2.target": "count"}
        session.step(10)
        with Session(scene()) as other:
            other.step(10)
            assert session.state.same(other.state)


def test_a_program_that_cannot_begin_again_after_a_reset_pauses_the_session(tmp_path: Path) -> None:
    """The state is the first one, the message says why, and a mended program goes on."""
    file = tmp_path / "needed"
    file.touch()
    with Session(program(bench(), "late", f"def init(self):\n    open({str(file)!r})")) as session:
        first = session.state.hash()
        session.step(5)
        file.unlink()
        session.reset()
        session.process_inbox()
        assert (session.state.hash(), session.running) == (first, False)
        assert "FileNotFoundError" in session.outbox.events[-2].text
        source = session.cycle.agents[0].spec.params["source"]
        session.send(ReloadProgram("late", source.replace("open(", "str(")))
        session.step(3)
        assert session.state.step == 3
        assert session.running


def test_pause_play_and_advance_by_message() -> None:
    """While paused, Advance does so many steps; Pause takes back what is left of them."""
    with Session(scene()) as session:
        send: Callable[[Message], None] = session.send
        send(PauseClock())
        send(AdvanceSteps(4))
        stops: list[int] = []

        def after() -> None:
            stops.append(session.state.step)
            if session.state.step == 4:
                send(StartClock())
            if session.state.step == 9:
                session.stop()

        session.after_step.append(after)
        session.run()
        assert stops == list(range(1, 10))
        session.after_step.clear()
        send(PauseClock())
        send(AdvanceSteps(1_000_000))
        session.after_step.append(lambda: send(PauseClock()) if session.state.step == 12 else None)
        session.after_step.append(lambda: session.stop() if session.state.step > 12 else None)
        session.run(progress=lambda now: session.stop() if session.state.step >= 12 else None)
        assert session.state.step == 12
        assert not session.running


def test_a_scene_can_be_swapped_by_message() -> None:
    """An archive from a peer takes the place of the scene; what shares a name keeps its state."""
    with Session(scene()) as session:
        session["arm/J1.target"] = 0.5
        session.step(200)
        angle = session["arm/J1.angle"]
        other = scene().place(box("more"), at=Pose((1.5, 0.0, 1.0)), base="free")
        session.send(SwapScene(pack(other)))
        session.process_inbox()
        assert (session.version, session.state.step) == (2, 200)
        assert session["arm/J1.angle"] == angle
        assert session["more.z"] == 1.0
        session.step(10)


def test_a_swap_whose_scene_cannot_be_used_is_answered() -> None:
    """Garbage that looks like an archive never becomes a traceback."""
    content = msgspec.msgpack.decode(pack(scene()))
    content["scene"]["parts"] = {"arm": 3}
    content["scene"]["step"] = "soon"
    with Session(scene()) as session:
        session.send(SwapScene(msgspec.msgpack.encode(content)))
        session.step()
        assert session.version == 1
        assert session.outbox.events[-1].level == "error"


def test_a_message_may_come_from_any_thread() -> None:
    """Thousands of messages from four threads are all applied, in the order of each thread."""
    with Session(bench().engine("kinematic")) as session:

        def work(number: int) -> None:
            for n in range(500):
                session.send(SetSignal("world.gravity_x", number + n / 1000.0))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        seen: list[float] = []
        session.on_change("world.gravity_x", seen.append)
        while any(thread.is_alive() for thread in threads):
            session.step()
        session.step()
        for number in range(4):
            mine = [value for value in seen if number <= value < number + 1]
            assert mine == sorted(mine)
        assert math.modf(session["world.gravity_x"])[0] == pytest.approx(0.499)
        assert np.isfinite(session.state.data[: session.world.nq]).all()
        assert session.cycle.h == H


def test_the_union_of_messages_is_complete() -> None:
    """Every kind of message can be decoded, but for the one that only recordings hold."""
    kinds = {kind.__name__ for kind in Message.__subclasses__()} - {"FailedStep"}
    assert {type(message).__name__ for message in MESSAGES} == kinds
    assert messages.decode_recorded(encode(messages.FailedStep())) == messages.FailedStep()


def test_messages_of_earlier_recordings_are_read() -> None:
    """The number of clients was called partners; it is read, and written under its new name."""
    rest = {"type": "health", "bus": "can0", "restarts": 1, "counters": {}}
    found = messages.decode_recorded(msgspec.msgpack.encode({**rest, "partners": 2}))
    assert found == messages.BusHealth("can0", 2, 1)
    assert messages.decode(msgspec.json.encode({**rest, "partners": 2})) == found
    assert msgspec.msgpack.decode(encode(found)) == {**rest, "clients": 2}
    assert messages.decode_recorded(encode(found)) == found
