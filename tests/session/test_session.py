"""A session: signals, owners, listeners, programs, periods, plug-ins and how it fails and ends."""

import math
import signal as os_signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from linkwork.components.agents import Agent
from linkwork.components.sensors import Sensor
from linkwork.core.errors import (
    EngineError,
    LinkworkError,
    NameNotFound,
    ProgramError,
    SceneError,
    SessionError,
    SignalError,
)
from linkwork.core.registry import AGENTS, ENGINES, SENSORS, Registry
from linkwork.core.state import State
from linkwork.engines import Engine
from linkwork.engines.kinematic import Kinematic
from linkwork.formats import load_part
from linkwork.geometry import Pose
from linkwork.model.blocks import SignalSpec
from linkwork.model.parts import Box, Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.model.world import World
from linkwork.session import messages
from linkwork.session.listeners import SignalListeners
from linkwork.session.recording import Recording
from linkwork.session.replay import replay
from linkwork.session.session import Session
from session_scenes import H, arm, bench, bench_files, box, program


def texts(session: Session, level: str) -> list[str]:
    return [event.text for event in session.outbox.events if event.level == level]


# ---- signals -------------------------------------------------------------------------------


def test_signals_are_read_and_set_by_name() -> None:
    """``session[name]`` reads; setting an input moves the joint there from the next step on."""
    with Session(bench()) as session:
        session["arm/J1.target"] = 0.3
        assert session["arm/J1.target"] == 0.0
        session.step()
        assert session["arm/J1.target"] == 0.3
        session.run(2.0)
        assert session["arm/J1.angle"] == pytest.approx(0.3, abs=0.1)
        assert session["angle.angle"] == pytest.approx(session["arm/J1.angle"], abs=1e-4)
        assert session.time == pytest.approx(2.002)


@pytest.mark.parametrize(
    ("name", "value", "expected_text"),
    [
        ("arm/J1.target", 2.0, "takes -1.5 to 1.5 rad, not 2"),
        ("arm/J1.target", math.nan, "finite numbers, not nan"),
        ("arm/J1.target", math.inf, "finite numbers, not inf"),
        ("arm/J1.target", 10**400, "finite numbers"),
        ("arm/J1.target", "up", "finite numbers, not 'up'"),
        ("arm/J1.angle", 0.1, "is measured; it cannot be set"),
        ("arm/J12.target", 0.1, "Did you mean 'arm/J2.target'?"),
        ("upper.mass", 0.1, "Did you mean 'arm/upper.mass'?"),
        ("arm/upper.mass", -1.0, "takes 1e-09 to 1e+09 kg"),
        ("world.gravity_z", 1e9, "takes -10000 to 10000"),
    ],
)
def test_what_a_signal_cannot_be_is_refused_at_once(
    name: str, value: float, expected_text: str
) -> None:
    """Out of range, not a number, measured or unknown: an error says what is allowed."""
    with Session(bench()) as session:
        before = session.state.hash()
        with pytest.raises(LinkworkError) as error:
            session[name] = value
        assert expected_text in str(error.value)
        session.process_inbox()
        assert session.state.hash() == before


def test_numpy_numbers_are_numbers() -> None:
    """A target may be computed with NumPy."""
    with Session(bench()) as session:
        session["arm/J1.target"] = np.linspace(0.0, 1.0, 5)[1]
        session.send(messages.SetSignal("arm/J2.target", np.float64(0.5)))
        session.step()
        assert (session["arm/J1.target"], session["arm/J2.target"]) == (0.25, 0.5)


def test_sensors_show_a_reading_before_the_first_step() -> None:
    """A program's init() and a viewer see where things stand, not 0."""
    scene = bench()
    scene.postures["up"] = {"arm/J1": -0.7}
    scene.start = "up"
    with Session(scene) as session:
        assert session["angle.angle"] == pytest.approx(-0.7)


# ---- owners --------------------------------------------------------------------------------


def waving() -> Scene:
    return bench().agent("wave", "wave", joint="arm/J1", amplitude=0.5, frequency=1.0)


def test_an_input_has_one_owner_and_taking_it_over_is_explicit_and_shown() -> None:
    """While somebody has taken a joint the agent's writes do nothing; released, it goes on."""
    with Session(waving()) as session:
        session.step()
        with pytest.raises(SignalError, match=r"owned by 'wave', not by 'user'\. Take it over"):
            session["arm/J1.target"] = 0.2
        session.take("arm/J1.target")
        session["arm/J1.target"] = 0.2
        session.step(50)
        assert session["arm/J1.target"] == 0.2
        assert "user took arm/J1.target from wave." in texts(session, "info")
        session.send(messages.SetSignal("arm/J1.target", 0.1, "other"))
        session.step()
        assert "owned by 'user', not by 'other'" in texts(session, "error")[-1]
        session.release()
        session.step()
        assert "user released arm/J1.target." in texts(session, "info")
        wave = 0.5 * math.sin(2.0 * math.pi * (session.state.step - 1) * H)
        assert session["arm/J1.target"] == pytest.approx(wave)
        assert session.signals.owners["arm/J1.target"] == "wave"


def test_what_a_person_set_first_stays_when_an_agent_comes_later(tmp_path: Path) -> None:
    """The run goes on, people are told once, and given back it is the agent's; so in a replay."""
    later = "def loop(self):\n    if self.time > 0.01:\n        self.joint('arm/J1').target = 0.7"
    file = tmp_path / "run.mcap"
    with Session(program(bench(), "p", later), record=file) as session:
        session["arm/J1.target"] = 0.2
        session.step(20)
        assert session["arm/J1.target"] == 0.2
        assert texts(session, "error") == []
        assert texts(session, "warning") == [
            "p tries to set arm/J1.target, which user has set before: it keeps that value until it "
            "is released."
        ]
        session["arm/J1.target"] = 0.3
        session.step()
        assert session["arm/J1.target"] == 0.3
        session.release()
        session.step()
        assert session["arm/J1.target"] == 0.7
        assert session.signals.owners["arm/J1.target"] == "p"
        with pytest.raises(SignalError, match="owned by 'p'"):
            session["arm/J1.target"] = 0.2
        session.reset()
        session.step()
        assert session.signals.owners == {}
    assert replay(file).same


def test_a_program_may_begin_again_while_somebody_has_its_joint() -> None:
    """A reload and an edit go through although init() sets a joint that a person holds."""
    text = "def init(self):\n    self.joint('arm/J1').target = 0.7"
    with Session(program(bench(), "p", text)) as session:
        session.take("arm/J1.target")
        session["arm/J1.target"] = 0.2
        session.step()
        source = session.cycle.agents[0].spec.params["source"]
        session.send(messages.ReloadProgram("p", source))
        session.step()
        session.swap(program(bench(), "p", text)).result(timeout=60)
        session.step()
        assert (session["arm/J1.target"], session.version, session.running) == (0.2, 2, True)
        assert texts(session, "error") == []


def test_two_agents_on_one_input_are_an_error() -> None:
    """Nobody took the joint over: the scene is wrong, and the message names both."""
    scene = waving().agent("other", "wave", joint="arm/J1")
    with Session(scene) as session, pytest.raises(SignalError, match=r"'wave', not by 'other'"):
        session.step()


def test_a_failed_step_gives_nobody_an_input() -> None:
    """The agent that wrote first does not own the input after a step that did not happen."""
    scene = program(waving(), "bad", "def loop(self):\n    1 / 0")
    with Session(scene) as session:
        with pytest.raises(ProgramError):
            session.step()
        assert session.signals.owners == {}
        session["arm/J1.target"] = 0.2


def test_a_failed_step_leaves_no_listener_behind() -> None:
    """Listeners that were added in a step that did not happen are gone, and so is their memory."""
    text = "def loop(self):\n    self.joint('arm/J1').on_change(print)\n    1 / (self.time < 0.01)"
    with Session(program(waving(), "bad", text)) as session:
        session.step(5)
        before = session.state.hash()
        for _ in range(3):
            with pytest.raises(ProgramError):
                session.step()
            assert session.state.hash() == before


def test_agents_need_names_of_their_own() -> None:
    """Two agents of one name, or one called as people are, would own each other's signals."""
    scene = waving()
    scene.agents.append(Spec("agent", "wave", "wave", {"joint": "arm/J2"}))
    with pytest.raises(SceneError, match="two agents are named 'wave'"):
        Session(scene)
    with pytest.raises(SceneError, match="cannot be named 'user'"):
        Session(bench().agent("user", "wave", joint="arm/J2"))


def test_two_actuators_of_different_types_on_one_joint_are_both_named() -> None:
    """A servo on the joint and a motor in the scene: the message names the two."""
    scene = bench().actuator("extra", "motor", joint="arm/J1")
    with pytest.raises(SceneError, match=r"two actuators: .*motor 'extra'.* and servo 'arm/J1'"):
        Session(scene)


# ---- listeners -----------------------------------------------------------------------------


def kinematic() -> Scene:
    scene = Scene("three", step=H)
    for n, name in enumerate("abc"):
        scene.place(arm(name), at=Pose((0.0, float(n), 0.2)))
    return scene.engine("kinematic")


@pytest.mark.capability(52)
def test_a_listener_sets_another_that_sets_another_one_step_each() -> None:
    """What a listener sets moves in the next step, and so on down the chain."""
    text = """
def init(self):
    self.joint("a/J1").on_change(self.second)
    self.joint("b/J1").on_change(self.third)
def second(self, angle):
    self.joint("b/J1").value = angle
def third(self, angle):
    self.joint("c/J1").value = angle
"""
    with Session(program(kinematic(), "chain", text)) as session:
        session["a/J1.target"] = 0.005
        seen = []
        for _ in range(4):
            session.step()
            seen.append([session[f"{name}/J1.angle"] for name in "abc"])
        assert seen == [
            [0.005, 0.0, 0.0],
            [0.005, 0.005, 0.0],
            [0.005, 0.005, 0.005],
            [0.005, 0.005, 0.005],
        ]


def test_writes_of_listeners_are_applied_in_the_order_of_the_listeners() -> None:
    """Two listeners of one program set one joint: the one that was added later wins, always."""
    text = """
def init(self):
    self.joint("a/J1").on_change(lambda angle: self.set(0.001))
    self.joint("a/J1").on_change(lambda angle: self.set(0.002))
def set(self, value):
    self.joint("b/J1").value = value
"""
    with Session(program(kinematic(), "two", text)) as session:
        session["a/J1.target"] = 0.005
        session.step(2)
        assert session["b/J1.angle"] == 0.002


def test_a_script_listens_with_a_threshold_and_sets_through_the_inbox() -> None:
    """``on_change(by=…)`` calls when the value has moved far enough since the last call."""
    with Session(kinematic()) as session:
        seen: list[float] = []

        def follow(angle: float) -> None:
            seen.append(angle)
            session["b/J1.target"] = angle

        session.on_change("a/J1.angle", follow, by=0.02)
        session["a/J1.target"] = 0.1
        session.step(40)
        assert seen == pytest.approx([0.024, 0.048, 0.072, 0.096])
        assert session["b/J1.target"] == seen[-1]
        session.forget("user")
        session.send(messages.SetSignal("a/J1.target", 0.0))
        session.step(40)
        assert len(seen) == 4


def test_a_thousand_listeners_are_each_called_once_a_step() -> None:
    """Many listeners on one joint: all hear of each move, none hears of another joint's."""
    with Session(kinematic()) as session:
        counts = np.zeros(1000, int)

        def listen(n: int) -> None:
            def count(value: float) -> None:
                counts[n] += 1

            session.on_change("a/J1.angle" if n % 2 else "b/J1.angle", count)

        for n in range(1000):
            listen(n)
        session["a/J1.target"] = 0.5
        session.step(20)
        assert (counts[1::2] == 20).all()
        assert (counts[0::2] == 0).all()


def test_agents_have_room_for_many_listeners_but_not_for_ever_more() -> None:
    """A program that listens anew in each step is stopped with an error that says so."""
    text = "def loop(self):\n    self.joint('a/J1').on_change(print)"
    with Session(program(kinematic(), "greedy", text)) as session:
        with pytest.raises(LinkworkError, match=rf"{SignalListeners.capacity} listeners"):
            session.step(SignalListeners.capacity + 1)
        assert session.state.step == SignalListeners.capacity


@pytest.mark.parametrize("by", [-1.0, math.nan, "far"])
def test_a_listener_needs_a_function_and_a_threshold(by: float) -> None:
    """What cannot be called or compared is refused when it is handed in."""
    with Session(kinematic()) as session:
        with pytest.raises(SignalError, match="by must be 0 or more"):
            session.on_change("a/J1.angle", print, by=by)
        with pytest.raises(SignalError, match="needs a function"):
            session.on_change("a/J1.angle", 3)  # type: ignore[arg-type]
        with pytest.raises(NameNotFound):
            session.on_change("a/J9.angle", print)


def test_a_scripts_listener_that_fails_stops_the_script_and_loses_no_step() -> None:
    """The step stands; a listener that was not reached hears of the move after the next one."""
    with Session(kinematic()) as session:
        seen: list[float] = []

        def fail(angle: float) -> None:
            raise ZeroDivisionError

        session.on_change("a/J1.angle", fail)
        session.on_change("a/J1.angle", seen.append)
        session["a/J1.target"] = 0.005
        with pytest.raises(ZeroDivisionError):
            session.step()
        assert (session.state.step, session["a/J1.angle"], seen) == (1, 0.005, [])
        session.step()
        assert seen == [0.005]


# ---- the cycle -----------------------------------------------------------------------------

RATES = """
[[agent]]
name = "{name}"
type = "program"
file = "count.py"
period = {period}
"""


@pytest.mark.capability(161)
def test_layers_of_control_run_at_their_own_periods(tmp_path: Path) -> None:
    """Planner, controller and reflex in one file: 100, 10 and 2 ms; a period between is refused."""
    file = bench_files(tmp_path)
    text = file.read_text()
    (tmp_path / "count.py").write_text(
        "from linkwork import Control\n"
        "class Count(Control):\n"
        "    def loop(self):\n"
        "        self.memory.calls = self.memory('calls') + 1\n"
    )
    layers = {"planner": 0.1, "controller": 0.01, "reflex": 0.002}
    file.write_text(text + "".join(RATES.format(name=n, period=p) for n, p in layers.items()))
    with Session(file) as session:
        session.run(1.0)
        calls = {n: session.state[f"agent/{n}/memory"][0] for n in layers}
        assert calls == {"planner": 10, "controller": 100, "reflex": 500}
    file.write_text(text + RATES.format(name="odd", period=0.003))
    with pytest.raises(SceneError, match=r"scene.toml:\d+: .*not a whole multiple of the step"):
        Session(file)


@pytest.mark.capability(158)
def test_several_robots_and_obstacles_share_one_world(tmp_path: Path) -> None:
    """Two arms of one file move on their own; the one whose way is barred stops at the box."""
    file = bench_files(tmp_path)
    file.write_text(
        file.read_text().partition("[[sensor]]")[0]
        + '[[part]]\nname = "right"\npart = "./arm.toml"\nat = { xyz = [0, 1, 0.2] }\n'
        + '[[element]]\nname = "obstacle"\n'
        + "shape = { box = { size = [0.4, 0.4, 0.3] } }\nat = { xyz = [0.5, 1, 0.15] }\n"
    )
    with Session(file) as session:
        for robot in ("arm", "right"):
            session[f"{robot}/J1.target"] = 0.8
        session.run(2.0)
        assert session["arm/J1.angle"] == pytest.approx(0.8, abs=0.1)
        assert 0.1 < session["right/J1.angle"] < 0.5


@pytest.mark.capability(5)
@pytest.mark.parametrize("engine", ["kinematic", "mujoco"])
def test_the_engine_is_one_line_of_the_file(tmp_path: Path, engine: str) -> None:
    """The same robot and program under another engine: same names, same goal."""
    file = bench_files(tmp_path)
    file.write_text(file.read_text() + f'[[engine]]\ntype = "{engine}"\n')
    with Session(file) as session:
        session.run(1.0)
        assert session["arm/J1.angle"] == pytest.approx(session["arm/J1.target"], abs=0.15)
        assert session["arm/J2.target"] == pytest.approx(-session["arm/J1.angle"], abs=0.05)
        assert type(session.cycle.engines[0]).type == engine


@pytest.mark.capability(30)
def test_gains_masses_and_gravity_are_read_and_changed_while_it_runs() -> None:
    """A servo sags by load/kp: with another gain, mass and gravity by another angle, live."""
    scene = bench()
    scene.actuators.clear()
    with Session(scene) as session:
        session["arm/J2.kp"] = 1e4

        def sag(kp: float, upper: float, gravity: float) -> float:
            angle = 0.0
            for _ in range(50):  # a load of links that reach out by cos
                load = gravity * (0.1 * upper + 0.3 * 0.2) * math.cos(angle)
                angle = load / kp
            return angle

        for kp, upper, gravity in [(40.0, 0.4, 9.81), (10.0, 0.4, 9.81), (20.0, 0.8, 3.7)]:
            session["arm/J1.kp"], session["arm/upper.mass"] = kp, upper
            session["world.gravity_z"] = -gravity
            session.run(5.0)
            assert session["arm/J1.kp"] == kp
            assert session["arm/J1.angle"] == pytest.approx(sag(kp, upper, gravity), rel=2e-3)
            assert session["arm/J1.effort"] == pytest.approx(-kp * session["arm/J1.angle"])


def test_a_joint_whose_imported_name_has_a_dot_is_found_by_it(tmp_path: Path) -> None:
    """A URDF may call a joint shoulder.pitch: postures, actuators and programs know it so."""
    (tmp_path / "robot.urdf").write_text("""\
<robot name="r">
  <link name="base"/>
  <link name="arm.link"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder.pitch" type="revolute"><parent link="base"/><child link="arm.link"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="3"/></joint>
</robot>""")
    scene = Scene("dots", step=H)
    scene.place(load_part(tmp_path / "robot.urdf"), name="r")
    scene.actuator("m", "servo", joint="r/shoulder.pitch", kp=20.0)
    scene.postures["out"] = {"r/shoulder.pitch": 0.5}
    program(scene, "p", "def init(self):\n    self.joint('shoulder.pitch').target = 0.25")
    with Session(scene) as session:
        name = next(s.name for s in session.signals if s.name.endswith(".target"))
        session.step()
        assert session[name] == 0.25
        session.send(messages.ApplyPosture("out"))
        session.process_inbox()
        assert session[name] == 0.5


def test_an_empty_scene_runs() -> None:
    """Nothing moves, time passes."""
    with Session(Scene("empty")) as session:
        session.run(0.1)
        assert session.time == pytest.approx(0.1)


# ---- what fails ----------------------------------------------------------------------------

FAULTY = """
def init(self):
    self.memory("n", 0)
def loop(self):
    self.memory.n += 1
    if self.memory.n > 5:
        self.joint("J1").target = 1 / (self.memory.n - 6)
"""


@pytest.mark.parametrize("engine", ["kinematic", "mujoco"])
def test_a_program_that_fails_pauses_and_loses_nothing(engine: str) -> None:
    """The step did not happen: every bit is as before, and the message names the line."""
    with Session(program(bench().engine(engine), "faulty", FAULTY)) as session:
        session.step(5)
        before = session.state.hash()
        for _ in range(2):
            with pytest.raises(ProgramError, match=r"ZeroDivisionError: .*1 / \(self.memory.n"):
                session.step()
            assert (session.state.hash(), session.running) == (before, False)
        assert "<faulty>:8" in texts(session, "error")[0]
        mended = session.cycle.agents[0].spec.params["source"].replace("- 6", "+ 6")
        session.send(messages.ReloadProgram("faulty", mended))
        session.step(5)
        assert session.state.step == 10
        assert session.running


def test_a_program_that_is_mended_in_its_file_goes_on(tmp_path: Path) -> None:
    """run() says what is wrong; after the file is saved again, run() goes on from the same step."""
    file = bench_files(tmp_path)
    good = (tmp_path / "follow.py").read_text()
    bad = good.replace("-angle", "-angle if self.time < 0.1 else missing")
    (tmp_path / "follow.py").write_text(bad)
    with Session(file) as session:
        with pytest.raises(ProgramError, match=r"follow.py:11: .*name 'missing' is not defined"):
            session.run(1.0)
        assert session.time == pytest.approx(0.098)
        calls = session.state["agent/follow/memory"][0]
        (tmp_path / "follow.py").write_text(good)
        session.run(0.1)
        assert session.time == pytest.approx(0.198)
        assert session.state["agent/follow/memory"][0] == calls + 50
        assert "follow is reloaded." in texts(session, "info")


def test_a_program_that_cannot_start_is_told_before_the_session_begins() -> None:
    """Whoever makes the session gets the error, and programs that had begun are ended."""
    scene = program(bench(), "first", "def exit(self):\n    print('ended')")
    program(scene, "second", "def init(self):\n    self.joint('J7')")
    with pytest.raises(ProgramError, match="no joint named 'J7'"):
        Session(scene)


def test_a_diverging_engine_stops_before_the_state_is_spoilt() -> None:
    """What MuJoCo makes of an absurd torque never reaches the state; a smaller one goes on."""
    spinner = Part("spinner").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("link", (Box((0.2, 0.1, 0.1)),), mass=0.1),
        Joint("J", "hinge", "post", "link", at=Pose((0.0, 0.0, 0.2))),
    )
    scene = Scene("spin").place(spinner).actuator("motor", "effort", joint="spinner/J")
    with Session(scene) as session:
        session.step(10)
        before = session.state.q.copy()
        session["spinner/J.target_effort"] = 1e300
        with pytest.raises(EngineError, match=r"diverged at 0\.020 s \(joint spinner/J\)"):
            session.step(50)
        assert (session.state.q == before).all()
        assert not session.running
        session["spinner/J.target_effort"] = 0.001
        session.step(10)
        assert 0.0 < session["spinner/J.angle"] < 1.0


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests run in the background and would ignore it."""
    before = os_signal.signal(os_signal.SIGINT, os_signal.default_int_handler)
    yield
    os_signal.signal(os_signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_in_the_midst_of_a_step_takes_it_back() -> None:
    """Ctrl-C inside a program: the state is as before the step, and the session goes on."""
    text = "def loop(self):\n    self.memory.n = self.memory('n') + 1\n    self.poke()\n"
    text += "def poke(self):\n    import signal\n    if self.memory.n == 4:\n"
    text += "        signal.raise_signal(signal.SIGINT)"
    with Session(program(bench(), "poke", text)) as session:
        session.step(3)
        before = session.state.hash()
        with pytest.raises(KeyboardInterrupt):
            session.step()
        assert session.state.hash() == before
        assert session.state.step == 3
        session.state["agent/poke/memory"][0] = 10
        session.step()
        assert session.state.step == 4


# ---- how it ends ---------------------------------------------------------------------------


def test_a_session_closes_once_and_then_refuses_to_run(tmp_path: Path) -> None:
    """close() may come again, from a with statement too; what runs after it is an error."""
    ends: list[str] = []
    scene = program(bench(), "p", "def exit(self):\n    self.log('bye')")
    with Session(scene, record=tmp_path / "run.mcap") as session:
        session.at_close.append(lambda: ends.append("closed"))
        session.step()
        session.close()
        session.close()
    assert ends == ["closed"]
    assert texts(session, "info") == ["bye"]
    for call in (session.step, session.run):
        with pytest.raises(SessionError, match="is closed"):
            call()


def test_everything_is_closed_even_if_something_fails_in_closing(tmp_path: Path) -> None:
    """A caller's mistake in at_close reaches the caller; the recording is whole all the same."""
    session = Session(bench(), record=tmp_path / "run.mcap")
    session.at_close.append(lambda: 1 / 0)
    session.step()
    with pytest.raises(ZeroDivisionError):
        session.close()
    with Recording.open(tmp_path / "run.mcap") as recording:
        assert recording.complete


def test_a_recording_that_cannot_be_made_ends_the_session(tmp_path: Path) -> None:
    """The error names the file, and the program that had begun was ended."""
    (tmp_path / "there.mcap").write_bytes(b"x")
    with pytest.raises(LinkworkError, match=r"there.mcap: there is a file of that name"):
        Session(bench(), record=tmp_path / "there.mcap")


@pytest.mark.parametrize("duration", [-1.0, math.nan, math.inf])
def test_a_run_needs_a_duration_that_ends(duration: float) -> None:
    """Negative, endless or no number of seconds is refused; None means until stopped."""
    with Session(bench()) as session, pytest.raises(SessionError, match="0 s or more"):
        session.run(duration)


@pytest.mark.parametrize("steps", [-1, 1.5, "2", None])
def test_steps_are_whole_numbers_and_never_back(steps: Any) -> None:
    """Nothing is passed over in silence, by whichever way it comes."""
    with Session(bench()) as session:
        with pytest.raises(SessionError, match="integer of 0 or more"):
            session.step(steps)
        assert not session.apply(messages.AdvanceSteps(steps))
        assert "integer of 0 or more" in session.outbox.events[-1].text
        assert (session.state.step, session.clock.granted) == (0, 0)


def test_stop_from_another_thread_and_from_a_signal_handler() -> None:
    """run() returns after the present step, and can be called again."""
    with Session(bench()) as session:
        timer = threading.Timer(0.05, session.stop)
        timer.start()
        session.run()
        timer.join()
        before = os_signal.signal(os_signal.SIGUSR1, lambda number, frame: session.stop())
        try:
            steps = session.state.step

            def wake() -> None:
                if session.state.step == steps + 7:
                    os_signal.raise_signal(os_signal.SIGUSR1)

            session.after_step.append(wake)
            session.run()
            assert session.state.step == steps + 7
        finally:
            os_signal.signal(os_signal.SIGUSR1, before)
        session.run(0.01)
        assert session.state.step == steps + 12


def test_stop_before_run_ends_it_before_its_first_step() -> None:
    """A thread that stops early is not overlooked, and only the next run ends."""
    with Session(bench()) as session:
        session.stop()
        session.run()
        assert session.state.step == 0
        session.run(0.01)
        assert session.state.step == 5


# ---- plug-ins ------------------------------------------------------------------------------

LOG: list[str] = []


class Odometer(Sensor):
    """Counts the steps in which it was read."""

    type: ClassVar[str] = "odometer"

    def slots(self) -> dict[str, tuple[int, ...]]:
        return {"reading": (len(self.specs),)}

    def signals(self) -> list[SignalSpec]:
        return [
            SignalSpec(f"{spec.name}.steps", self.field("reading"), (n,))
            for n, spec in enumerate(self.specs)
        ]

    def read(self, step: int, *, now: bool = False) -> None:
        if not now:
            LOG.append("sense")
            self.slot("reading")[:] += 1


class Nudge(Agent):
    """Sets a joint to a hundredth of what an odometer says."""

    type: ClassVar[str] = "nudge"

    def decide(self, step: int) -> None:
        LOG.append("decide")
        steps = self.context.signals.value(self.spec.params["reads"])
        self.context.write(self.spec.params["sets"], steps / 1000.0, self.spec.name)


class Thermal(Kinematic):
    """A kinematic engine that adds a temperature to each body it moves."""

    type: ClassVar[str] = "thermal"

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, Spec("engine", "kinematic"), name, owned)

    def slots(self) -> dict[str, tuple[int, ...]]:
        return {**super().slots(), "heat": (self.world.nb,)}

    def signals(self) -> list[SignalSpec]:
        return [
            SignalSpec(f"{name}.temperature", self.field("heat"), (b,), "K", direction="param")
            for b, name in enumerate(self.world.body_names)
            if self.owned[b]
        ]

    def bind(self, state: State) -> None:
        super().bind(state)
        self._heat = self.slot("heat")

    def reset(self) -> None:
        self._heat[:] = 293.0

    def advance(self, h: float) -> None:
        LOG.append("move")
        super().advance(h)
        self._heat += 0.1 * np.abs(self.state.twist[:, 3:]).sum(axis=1) * h


@pytest.fixture
def plugged() -> Iterator[None]:
    """Registers the plug-ins as a user's program does, for one test."""
    here: list[tuple[Registry, type]] = [(SENSORS, Odometer), (AGENTS, Nudge), (ENGINES, Thermal)]
    for registry, thing in here:
        registry.register(thing.type, thing)
    LOG.clear()
    yield
    for registry, thing in here:
        del registry._loaded[thing.type]


def plugged_scene() -> Scene:
    scene = bench().engine("thermal").sensor("odo", "odometer")
    return scene.agent("nudge", "nudge", reads="odo.steps", sets="arm/J1.target")


@pytest.mark.capability(1, 2, 3)
def test_a_registered_sensor_agent_and_engine_run_in_the_documented_order(plugged: None) -> None:
    """Sense, decide, move: a scene names the plug-ins by type like those of the package."""
    with Session(plugged_scene()) as session:
        session.after_step.append(lambda: LOG.append("give out"))
        session.step(3)
        assert LOG == ["sense", "decide", "move", "give out"] * 3
        assert session["odo.steps"] == 3
        assert session["arm/J1.angle"] == pytest.approx(0.003)


@pytest.mark.capability(6)
def test_an_engine_adds_attributes_to_what_it_moves(plugged: None) -> None:
    """A temperature for each body: a signal like any other, kept, copied and restored."""
    with Session(plugged_scene()) as session:
        session.step(200)
        warm = session["arm/upper.temperature"]
        assert 293.0 < warm < 294.0
        kept = session.state.copy()
        session["arm/upper.temperature"] = 350.0
        session.step()
        assert session["arm/upper.temperature"] == pytest.approx(350.0, abs=1.0)
        session.cycle.restore(kept)
        assert session["arm/upper.temperature"] == warm
        assert isinstance(session.cycle.engines[0], Engine)


def test_a_plug_in_that_is_not_there_is_named_with_what_is() -> None:
    """The message lists the types that exist."""
    with pytest.raises(NameNotFound, match=r"no sensor type named 'smell'.*encoder"):
        Session(bench().sensor("nose", "smell"))
    with pytest.raises(NameNotFound, match=r"Did you mean 'kinematic'"):
        Session(bench().place(box(), at=Pose((1.0, 0.0, 1.0))).engine("kinematics"))
