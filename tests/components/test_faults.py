"""Faults: each strikes what it should and nothing else, and a run with faults can be repeated."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from linkwork.core.errors import LinkworkError
from linkwork.formats import load_scene
from linkwork.formats.toml.write import write_file
from linkwork.geometry import Pose
from linkwork.model.parts import Capsule, Element, Part
from linkwork.model.scene import Scene
from linkwork.model.scene.archive import pack, unpack
from linkwork.session.messages import RestoreState, SetFault
from linkwork.session.replay import replay
from linkwork.session.session import Session
from session_scenes import bench, program


def moving() -> Scene:
    """The arm's bench, its first joint swaying, with an encoder on it."""
    return bench().agent("sway", "wave", joint="arm/J1", amplitude=0.4, frequency=1.0)


def opened(scene: Scene, **options: object) -> Session:
    return Session(scene, watch=False, buses=False, **options)  # type: ignore[arg-type]


def trace(session: Session, signal: str, steps: int) -> list[float]:
    """A signal after each of so many steps."""
    values = []
    for _ in range(steps):
        session.step()
        values.append(session[signal])
    return values


def reported(session: Session) -> list[str]:
    return [event.text for event in session.outbox.events]


# ---- readings ----------------------------------------------------------------------------------


@pytest.mark.capability(130)
def test_a_reading_of_the_end_of_the_step_is_false_for_everybody_too(tmp_path: Path) -> None:
    """A state table's height is off for chart, port and program, from first to last step."""
    scene = moving().sensor("hand", "motion", on="arm/lower")
    scene.bus("loop0", "loop").port("eye", sensors=[{"signal": "hand.z"}])
    program(scene, "look", """
def init(self):
    self.memory('seen', 0.0)
def loop(self):
    self.memory.seen = self.signal('hand.z').value
""")  # fmt: skip
    with opened(scene) as healthy:
        scene.fault("high", "offset", signal="hand.z", by=3.0, at=0.02, lasts=0.05)
        with opened(scene, record=tmp_path / "high.mcap") as session:
            for number in range(60):
                healthy.step()
                session.step()
                wrong = 3.0 if 10 <= number < 35 else 0.0
                for name in ("hand.z", "loop0/eye.z"):
                    assert session[name] - healthy[name] == pytest.approx(wrong), number
                seen, true = (s.state["agent/look/memory"].max() for s in (session, healthy))
                assert seen - true == pytest.approx(wrong), number
                assert session["hand.x"] == healthy["hand.x"]
    assert replay(tmp_path / "high.mcap").same


@pytest.mark.capability(130)
def test_a_stuck_sensor_keeps_its_value_for_everybody() -> None:
    """Program, port and chart see the value of the beginning; the joint itself moves on as ever."""
    scene = moving()
    scene.bus("loop0", "loop").port("eye", sensors=[{"signal": "angle.angle"}])
    program(scene, "look", """
def init(self):
    self.memory('seen', 0.0)
def loop(self):
    self.memory.seen = self.signal('angle.angle').value
""")  # fmt: skip
    with opened(scene) as healthy, opened(scene) as session:
        for each in (healthy, session):
            each.step(50)
        session.send(SetFault("blind", kind="stuck", args={"sensor": "angle", "lasts": 0.1}))
        for each in (healthy, session):
            each.step()
        kept = session["angle.angle"]
        assert kept == healthy["angle.angle"]
        for _ in range(49):
            for each in (healthy, session):
                each.step()
            assert session["angle.angle"] == kept
            assert session["loop0/eye.angle"] == kept
            assert session["arm/J1.angle"] == healthy["arm/J1.angle"]
            assert session["angle.speed"] != healthy["angle.speed"]
        assert abs(healthy["angle.angle"] - kept) > 0.05
        assert session.state["agent/look/memory"].max() == pytest.approx(kept)
        for each in (healthy, session):
            each.step()
        assert session["angle.angle"] == healthy["angle.angle"]


def test_a_rule_strikes_at_its_time_and_for_as_long_as_it_lasts() -> None:
    """From ``at`` to ``at + lasts`` the reading stands still, and people are told of both ends."""
    scene = moving().fault("blind", "stuck", sensor="angle", at=0.1, lasts=0.05)
    with opened(scene) as session:
        active = trace(session, "blind.active", 100)
    assert [n for n, on in enumerate(active) if on] == list(range(50, 75))
    assert reported(session) == ["fault blind begins: stuck angle.", "fault blind is over."]


def test_an_offset_is_added_once_to_each_reading() -> None:
    """Also where a sensor holds its reading between its periods, and two faults on one add up."""
    scene = moving().sensor("slow", "encoder", joint="arm/J1", period=0.02)
    scene.fault("off", "offset", signal="slow.angle", by=0.1, at=0.05)
    scene.fault("more", "offset", sensor="slow", by=0.01, at=0.1, lasts=0.05)
    with opened(scene) as session, opened(moving().sensor(
        "slow", "encoder", joint="arm/J1", period=0.02
    )) as healthy:  # fmt: skip
        for number in range(100):
            session.step()
            healthy.step()
            off = 0.1 * (number >= 25) + 0.01 * (50 <= number < 75)
            assert session["slow.angle"] == pytest.approx(healthy["slow.angle"] + off, abs=1e-12)


def test_noise_is_the_same_with_the_same_seed() -> None:
    """A noisy reading strays from the true one, the same way each time; another seed, another."""

    def run(seed: int) -> list[float]:
        scene = moving().fault("n", "noise", sensor="angle", deviation=0.01, at=0.0, seed=seed)
        with opened(scene) as session:
            read = trace(session, "angle.angle", 50)
            return read

    with opened(moving()) as session:
        true = trace(session, "angle.angle", 50)
    errors = [a - b for a, b in zip(run(7), true, strict=True)]
    assert 0.005 < (sum(e * e for e in errors) / 50) ** 0.5 < 0.02
    assert run(7) == run(7) != run(8)


def test_a_ports_own_signal_can_be_struck() -> None:
    """The wire's value is stuck while the joint and its encoder tell the truth."""
    scene = moving()
    scene.bus("loop0", "loop").port("J1", sensors=[{"signal": "arm/J1.angle", "bits": 12}])
    scene.fault("wire", "stuck", signal="loop0/J1.angle", at=0.1, value=0.25)
    with opened(scene) as session:
        session.step(80)
        assert session["loop0/J1.angle"] == 0.25
        assert session["angle.angle"] == pytest.approx(session["arm/J1.angle"], abs=0.01)
        session.send(SetFault("wire", on=False))
        session.step()
        assert session["loop0/J1.angle"] == pytest.approx(session["arm/J1.angle"], abs=0.001)


# ---- drives ------------------------------------------------------------------------------------


@pytest.mark.capability(130)
def test_a_dead_drive_is_limp_while_its_target_moves() -> None:
    """No effort, so the link falls; its target goes on, the other joint holds."""
    scene = bench().agent("sway", "wave", joint="arm/J2", amplitude=0.4, frequency=1.0)
    scene.fault("limp", "dead", joint="arm/J2", at=0.1, lasts=0.3)
    with opened(scene) as session:
        session.step(50)
        held = session["arm/J2.angle"]
        session.step(140)
        damping = 0.01 * session["arm/J2.speed"]
        assert session["arm/J2.effort"] == pytest.approx(-damping, abs=0.01)
        assert session["arm/J2.angle"] - held > 0.5
        assert session["arm/J2.target"] != 0.0
        assert abs(session["arm/J1.effort"]) > 0.3
        session.step(300)
        assert session["arm/J2.angle"] == pytest.approx(session["arm/J2.target"], abs=0.1)


def test_a_dead_drive_of_a_kinematic_joint_stands_still() -> None:
    """Where there is no effort, the joint stops; the target and its speed are as they were."""
    scene = moving().engine("kinematic").fault("limp", "dead", joint="arm/J1", at=0.1, lasts=0.1)
    with opened(scene) as session:
        session.step(50)
        stood, speed = session["arm/J1.angle"], session["arm/J1.target_speed"]
        values = trace(session, "arm/J1.angle", 50)
        assert set(values) == {stood}
        assert session["arm/J1.target_speed"] == speed
        session.step(20)
        assert session["arm/J1.angle"] != stood


# ---- people ------------------------------------------------------------------------------------


def visited(**params: object) -> Scene:
    """The arm's bench, and somebody who waits 3 m away."""
    person = Part("visitor").add(Element("person", (Capsule(0.2, 1.3),), mass=75.0))
    scene = moving().place(person, at=Pose((3.0, 0.0, 0.9)), base="free")
    scene.engine("mujoco").engine("kinematic", owns=["visitor"])
    return scene.fault("guest", "person", part="visitor", to=[1.0, 0.0], radius=1.5, **params)


@pytest.mark.capability(130)
def test_a_person_walks_in_and_a_program_stops_the_arm() -> None:
    """The person goes in at walking speed, the signals tell, the program reacts; then it leaves."""
    scene = visited(at=0.2, lasts=2.0, speed=2.0)
    program(scene, "guard", """
def init(self):
    self.memory('stopped', 0.0)
def loop(self):
    if self.signal('guest.inside').value:
        self.memory.stopped = 1.0
        self.joint('J2').target = 0.5
""", on="arm")  # fmt: skip
    with opened(scene) as session:
        assert session["guest.distance"] == pytest.approx(3.0)
        assert session["visitor/person.visible"] == 0.0
        session.step(100)
        assert session["visitor.x"] == pytest.approx(3.0)
        session.step(250)  # half a second on the way
        assert session["visitor.x"] == pytest.approx(2.0, abs=0.01)
        assert session["guest.distance"] == pytest.approx(2.0, abs=0.01)
        assert session["visitor/person.visible"] == 1.0
        assert not session["guest.inside"]
        session.step(300)
        assert session["guest.inside"] == 1.0
        assert session["visitor.x"] == pytest.approx(1.0)
        assert session["arm/J2.target"] == 0.5
        session.step(1200)
        assert session["visitor.x"] == pytest.approx(3.0)
        assert session["visitor/person.visible"] == 0.0
        assert not session["guest.inside"]


def test_a_person_is_a_body_that_others_meet() -> None:
    """A box in the way is pushed by the person, who gives way to nothing."""
    scene = visited(at=0.0, speed=1.0)
    box = Part("box").add(Element("cube", (Capsule(0.1, 0.4),), mass=2.0))
    scene.place(box, at=Pose((2.0, 0.0, 0.5)), base="free")
    with opened(scene) as session:
        session.step(1000)
        assert session["visitor.x"] == pytest.approx(1.0)
        assert session["box.x"] < 1.5


# ---- chance ------------------------------------------------------------------------------------


def test_chance_is_the_same_with_the_same_seed() -> None:
    """Beginnings by chance come as often as said, at the same steps for a seed, else at others."""

    def run(seed: int) -> list[float]:
        scene = moving().fault("tic", "stuck", sensor="angle", chance=10.0, lasts=0.004, seed=seed)
        with opened(scene) as session:
            return trace(session, "tic.active", 2000)

    first = run(7)
    begins = sum(b > a for a, b in itertools.pairwise(first))
    assert 20 < begins < 60  # 4 s, 10 a second
    assert first == run(7)
    assert first != run(8)


# ---- by hand, and again --------------------------------------------------------------------------


def test_a_scenes_fault_waits_for_a_person() -> None:
    """Without a time it begins when told, ends when told, and says so; so does one with a rule."""
    scene = moving().fault("blind", "stuck", sensor="angle")
    scene.fault("later", "dead", joint="arm/J2", at=0.5)
    with opened(scene) as session:
        session.step(10)
        assert not session["blind.active"]
        session.send(SetFault("blind"))
        session.send(SetFault("later", on=False))
        session.step(10)
        assert session["blind.active"]
        session.send(SetFault(on=False))
        session.step(300)
        assert not session["blind.active"]
        assert not session["later.active"]
        session.reset()
        session.step(300)
        assert session["later.active"]


def test_what_cannot_be_injected_is_refused_with_a_reason() -> None:
    """An unknown name, type, target or parameter changes nothing and is answered."""
    with opened(moving().fault("blind", "stuck", sensor="angle")) as session:
        for message, word in (
            (SetFault("nobody"), "Available"),
            (SetFault(), "needs a name"),
            (SetFault(kind="stuk"), "stuck"),
            (SetFault(kind="stuck", args={"sensor": "nose"}), "angle"),
            (SetFault(kind="stuck"), "one of sensor and signal"),
            (SetFault(kind="stuck", args={"sensor": "angle", "lasts": -1.0}), "lasts"),
            (SetFault(kind="stuck", args={"signal": "arm/J1.angle"}), "measured signal"),
            (SetFault(kind="dead", args={"joint": "arm/J9"}), "arm/J2"),
            (SetFault(kind="drop"), "needs a bus"),
            (SetFault("blind", kind="stuck", args={"sensor": "angle"}), "another name"),
            (SetFault("a b", kind="stuck", args={"sensor": "angle"}), "letters"),
        ):
            session.send(message)
            session.process_inbox()
            assert word in reported(session)[-1], message
        assert len(session.cycle.faults) == 1


def test_at_most_eight_are_injected_at_once() -> None:
    """The ninth is refused until one is over; an ended one makes room."""
    with opened(moving()) as session:
        for number in range(9):
            args = {"sensor": "angle", "by": 0.01}
            session.send(SetFault(f"f{number}", kind="offset", args=args))
        session.step()
        assert "8 faults" in reported(session)[-1]
        assert session["angle.angle"] == pytest.approx(session.state.q[0] + 0.08, abs=0.02)
        session.send(SetFault("f3", on=False))
        session.send(SetFault("f9", kind="offset", args={"sensor": "angle", "by": 0.5}))
        session.step()
        assert session.cycle.faults.find("f9") is not None
        assert session.cycle.faults.find("f3") is None


def hectic() -> Scene:
    scene = visited(at=0.1, lasts=0.3, speed=3.0)
    scene.fault("blind", "stuck", sensor="angle", chance=4.0, lasts=0.05)
    scene.fault("shaky", "noise", sensor="angle", deviation=0.01, at=0.2)
    return scene.fault("limp", "dead", joint="arm/J2", at=0.3, lasts=0.1)


def test_a_run_with_faults_replays_bit_for_bit(tmp_path: Path) -> None:
    """Rules, chance and what people injected come out the same when simulated again."""
    file = tmp_path / "run.mcap"
    with opened(hectic(), record=file) as session:
        session.step(100)
        session.send(SetFault(kind="offset", args={"sensor": "angle", "by": 0.1, "lasts": 0.2}))
        session.step(50)
        session.send(SetFault("shaky", on=False))
        session.send(SetFault("twitch", kind="dead", args={"joint": "arm/J1", "chance": 5.0,
                                                       "lasts": 0.01}))  # fmt: skip
        session.step(150)
        session.reset()
        session.step(100)
    result = replay(file)
    assert result.same, result.mismatch
    assert result.steps == 400


def test_a_recording_may_begin_while_faults_are_at_work(tmp_path: Path) -> None:
    """What was injected before the recording began is in it."""
    file = tmp_path / "run.mcap"
    with opened(moving()) as session:
        session.send(
            SetFault("off", kind="offset", args={"sensor": "angle", "by": 0.1, "lasts": 0.3})
        )
        session.step(100)
        session.record(file)
        session.step(100)
    result = replay(file)
    assert result.same, result.mismatch


def test_going_back_in_time_takes_faults_along() -> None:
    """Before its beginning a fault is not there; going on from there it comes again by its rule."""
    with opened(hectic()) as session:
        session.step(40)
        before = session.state.save()
        session.send(SetFault("off", kind="offset", args={"sensor": "angle", "by": 0.5}))
        session.step(20)
        during = session.state.copy()
        session.send(RestoreState(before))
        session.step(20)
        assert abs(session["angle.angle"] - session["arm/J1.angle"]) < 0.2
        session.cycle.restore(during)
        session.step()
        assert session["angle.angle"] - session["arm/J1.angle"] > 0.3


def test_an_edit_keeps_what_was_injected() -> None:
    """The scene gets a part while a fault is at work; the fault goes on, and ends at its time."""
    scene = moving()
    edited = moving().place(Part("late").add(Element("cube", (Capsule(0.1, 0.1),), mass=1.0)),
                            at=Pose((2.0, 0.0, 1.0)), base="free")  # fmt: skip
    with opened(scene) as session:
        session.send(
            SetFault("off", kind="offset", args={"sensor": "angle", "by": 0.5, "lasts": 0.2})
        )
        session.step(50)
        session.swap(edited).result(timeout=60)
        session.step()
        assert session.version == 2
        assert session["angle.angle"] - session["arm/J1.angle"] > 0.4
        session.step(60)
        assert abs(session["angle.angle"] - session["arm/J1.angle"]) < 0.1


# ---- files -------------------------------------------------------------------------------------

FAULTS = """
[[fault]]
name = "blind"
type = "stuck"
sensor = "angle"
at_ms = 300
lasts = 2

[[fault]]
name = "hiccup"
type = "noise"
sensor = "angle"
deviation_deg = 2
chance = 0.1
seed = 7
"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the bench with further text."""
    write_file(moving(), tmp_path / "bench.toml")
    path = tmp_path / "bench.toml"
    text = path.read_text()

    def write(more: str) -> Path:
        path.write_text(text + more)
        return path

    return write


def test_faults_stand_in_the_scenes_file(tmp_path: Path, file: Callable[[str], Path]) -> None:
    """Read, written, packed and read again they are the same, in SI."""
    scene = load_scene(file(FAULTS))
    blind, hiccup = scene.faults
    assert blind.params == {"sensor": "angle", "at": 0.3, "lasts": 2.0}
    assert hiccup.params["deviation"] == pytest.approx(0.034906585)
    write_file(scene, tmp_path / "again.toml")
    assert load_scene(tmp_path / "again.toml").faults == scene.faults
    assert unpack(pack(scene), tmp_path / "files").faults == scene.faults


@pytest.mark.parametrize(
    ("text", "line", "logged"),
    [
        ('name = "f"\ntype = "stuk"', 2, "stuck"),
        ('name = "f"\ntype = "stuck"\nsensor = "nose"', 2, "angle"),
        ('name = "f"\ntype = "stuck"\nsensor = "angle"\nat = -1', 6, "at"),
        ('name = "f"\ntype = "stuck"\nsensor = "angle"\nlast = 1', 6, "lasts"),
        ('name = "f"\ntype = "stuck"\nsignal = "arm/J1.angle"', 2, "angle.angle"),
        ('name = "f"\ntype = "dead"\njoint = "arm/J3"', 2, "arm/J2"),
        ('name = "f"\ntype = "drop"', 2, "needs a bus"),
        ('name = "f"\ntype = "person"\npart = "arm"\nto = [0, 0]', 2, "kinematic"),
        ('name = "angle"\ntype = "stuck"\nsensor = "angle"', 2, "another object"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    file: Callable[[str], Path], text: str, line: int, logged: str
) -> None:
    """File and line, what is wrong, and what there is."""
    path = file("")
    before = path.read_text().count("\n")
    file(f"\n[[fault]]\n{text}\n")
    with pytest.raises(LinkworkError, match=logged) as caught:
        opened(load_scene(path))
    assert str(caught.value).startswith(f"{path}:{before + line}:")


def test_a_bus_without_such_faults_says_so() -> None:
    """A wire fault on a bus that has no wire names what the bus knows."""
    scene = moving().bus("loop0", "loop").port("J1", sensors=["arm/J1.angle"])
    with pytest.raises(LinkworkError, match=r"loop0.*has no fault 'drop'.*none"):
        opened(scene.fault("lost", "drop", bus="loop0"))


def test_an_edit_that_takes_away_what_was_struck_ends_the_fault() -> None:
    """The sensor is gone after the edit; the fault too, and people are told."""
    edited = moving()
    edited.sensors.clear()
    with opened(moving()) as session:
        session.send(SetFault("off", kind="offset", args={"sensor": "angle", "by": 0.5}))
        session.step(10)
        session.swap(edited).result(timeout=60)
        session.step(10)
        assert session.version == 2
        assert "fault off has ended: its target no longer exists." in reported(session)
        assert not len(session.cycle.faults)


def test_people_are_told_once_of_what_comes_and_goes() -> None:
    """A fault that begins again and again by chance does not flood the messages."""
    scene = moving().fault("tic", "stuck", sensor="angle", chance=200.0, lasts=0.002)
    with opened(scene) as session:
        session.step(500)
        (tic,) = session.cycle.faults
        assert tic.count > 50
    assert reported(session) == [
        "fault tic begins: stuck angle, again and again by chance.", "fault tic is over.",
    ]  # fmt: skip
