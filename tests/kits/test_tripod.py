"""The tripod of Rocon, section 4, keeps its tray level; its recording replays bit for bit."""

import math
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from linkwork import Document, Pose, Session, load_scene
from linkwork.model.parts import Box, Element, Part
from linkwork.session.recording import Recording

DURATION = 60.0
SETTLED = 3.0  # [s]
RAMP = 5.0  # in which the floor comes to its full tilt [s]
SCENE = load_scene("tripod/level")


class Logbook:
    """Tilts of the tray and of the floor after each step [deg]."""

    def __init__(self, session: Session) -> None:
        self.rows: list[tuple[float, ...]] = []
        names = (
            "tripod/platform/tilt.x", "tripod/platform/tilt.y", "table/roll.angle",
            "table/pitch.angle",
        )  # fmt: skip

        def write() -> None:
            tilts = [math.degrees(session[name]) for name in names]
            self.rows.append((session.time, *tilts))

        session.after_step.append(write)

    def after(self, time: float) -> np.ndarray:
        rows = np.array(self.rows)
        return rows[rows[:, 0] > time]


@pytest.fixture(scope="module")
def minute(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Logbook]:
    """One minute of the kit's scene, recorded."""
    path = tmp_path_factory.mktemp("tripod") / "minute.mcap"
    with Session("tripod/level", record=path) as session:
        logbook = Logbook(session)
        session.run(DURATION)
    return path, logbook


@pytest.mark.capability(59, 161)
def test_the_tray_stays_level_while_the_floor_tilts(minute: tuple[Path, Logbook]) -> None:
    """Within half a degree for a minute on a floor that tilts by ten at 0.2 Hz.

    Engine, reference motions and program run at their own rates: 2 ms, 2 ms and 10 ms.
    """
    rows = minute[1].after(SETTLED)
    assert len(rows) == round((DURATION - SETTLED) / 0.002)
    assert np.abs(rows[:, 1:3]).max() < 0.5
    rows = minute[1].after(RAMP)
    for floor, phase in ((rows[:, 3], 0.0), (rows[:, 4], 90.0)):
        wanted = 10.0 * np.sin(2.0 * np.pi * 0.2 * rows[:, 0] + math.radians(phase))
        assert np.abs(floor - wanted).max() < 0.05


@pytest.mark.capability(60)
def test_the_program_sets_six_servos_and_without_it_the_tray_tilts() -> None:
    """It owns the targets of six joints and no more; left out, the tray goes with the floor."""
    with Session("tripod/level") as session:
        session.run(0.1)
        owned = {name for name, owner in session.signals.owners.items() if owner == "level"}
    legs = [f"tripod/leg{n}/{joint}.target" for n in (1, 2, 3) for joint in ("hip", "knee")]
    assert owned == set(legs)
    scene = load_scene("tripod/level")
    scene.agents = [spec for spec in scene.agents if spec.type != "program"]
    with Session(scene) as session:
        logbook = Logbook(session)
        session.run(RAMP + 2.5)
    assert np.abs(logbook.after(SETTLED)[:, 1:3]).max() > 8.0


class Servo:
    """A servo of the other tripod: where it is told to be."""

    target = 0.0


class OtherTripod:
    """Stands in for hardware: legs and an inclinometer, without any part of Linkwork.

    The tray tilts by what the floor does, less what the plane through the three feet does.
    """

    step = 0.01

    def __init__(self) -> None:
        self.servos = {f"leg{n}/{j}": Servo() for n in (1, 2, 3) for j in ("hip", "knee")}
        self.tilt = SimpleNamespace(x=0.0, y=0.0)

    def joint(self, name: str) -> Servo:
        return self.servos[name]

    def sensor(self, name: str) -> SimpleNamespace:
        assert name == "platform/tilt"
        return self.tilt

    def stand(self, floor_x: float, floor_y: float) -> None:
        feet = []
        for n, azimuth in ((1, 0.0), (2, 120.0), (3, 240.0)):
            hip, knee = (self.servos[f"leg{n}/{j}"].target for j in ("hip", "knee"))
            out = 0.14 + 0.12 * (math.sin(hip) + math.sin(hip + knee))
            down = 0.12 * (math.cos(hip) + math.cos(hip + knee))
            turn = math.radians(azimuth)
            feet.append((out * math.cos(turn), out * math.sin(turn), 1.0, -down))
        a, b, _ = np.linalg.solve(np.array(feet)[:, :3], np.array(feet)[:, 3])
        self.tilt.x, self.tilt.y = floor_x - math.atan(b), floor_y + math.atan(a)


class OtherMemory:
    """What the other host remembers for a program."""

    def __call__(self, name: str, initial: float) -> None:
        setattr(self, name, initial)


@pytest.mark.capability(60)
def test_the_same_file_levels_a_tripod_that_is_not_simulated_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kit's program, unchanged, on a host that gives it six servos and two tilt angles."""
    host = ModuleType("linkwork")
    vars(host)["Control"] = type("Control", (OtherTripod,), {"memory": OtherMemory()})
    monkeypatch.setitem(sys.modules, "linkwork", host)
    file = Path(SCENE.origin.file).with_name("level.py")
    program = runpy.run_path(str(file))["Level"]()
    program.init()
    worst = 0.0
    for step in range(1000):
        turn = 2.0 * math.pi * 0.2 * step * 0.01
        floor = math.radians(10.0) * min(1.0, step / 200)
        program.stand(floor * math.sin(turn), floor * math.cos(turn))
        program.loop()
        if step > 300:
            worst = max(worst, abs(program.tilt.x), abs(program.tilt.y))
    assert math.degrees(worst) < 0.5


@pytest.mark.capability(156)
def test_the_recorded_minute_replays_bit_for_bit_in_a_new_process(
    minute: tuple[Path, Logbook],
) -> None:
    """``linkwork replay --verify`` simulates it again and finds every bit the same."""
    command = [sys.executable, "-m", "linkwork", "replay", str(minute[0]), "--verify"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Bit-identical: 30000 steps; 60 hashes, 60 keyframes, 3750 snapshots" in done.stdout
    with Recording.open(minute[0]) as recording:
        assert recording.complete
        assert recording.duration == pytest.approx(DURATION)


def test_the_tray_stays_level_through_an_edit_and_a_reload() -> None:
    """A part is added and the program is loaded anew: the integrals are kept in its memory."""
    with Session("tripod/level") as session:
        logbook = Logbook(session)
        session.run(5.0)
        scene = load_scene("tripod/level")
        cup = Part("cup").add(Element("cup", (Box((0.05, 0.05, 0.05)),), mass=0.05))
        scene.place(cup, at=Pose((1.0, 0.0, 1.0)), base="free")
        session.swap(scene).result(timeout=60)
        session.run(2.0)
        assert session.version == 2
    assert np.abs(logbook.after(SETTLED)[:, 1:3]).max() < 0.5


def test_a_load_on_the_tray_is_levelled_too() -> None:
    """A weight off the middle tilts the tray for a moment; the integral takes it out."""
    scene = load_scene("tripod/level")
    weight = Part("weight").add(
        Element("block", (Box((0.04, 0.04, 0.02)),), mass=0.2, friction=1.2)
    )
    scene.place(weight, at=Pose((0.05, 0.02, 0.545)), base="free")
    with Session(scene) as session:
        logbook = Logbook(session)
        session.run(6.0)
        assert session["weight.z"] > 0.45
    assert np.abs(logbook.after(4.0)[:, 1:3]).max() < 0.6


def test_a_floor_of_another_file_is_levelled_too(tmp_path: Path) -> None:
    """The scene is the user's to change: another frequency needs no other program."""
    source = Path(SCENE.origin.file)
    for file in source.parent.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    document = Document.open(tmp_path / source.name)
    for agent in ("roll", "pitch"):
        document.set_value(("agent", agent, "frequency"), 0.3)
    document.save()
    with Session(document.path) as session:
        logbook = Logbook(session)
        session.run(RAMP + 4.0)
    assert np.abs(logbook.after(SETTLED)[:, 1:3]).max() < 0.8
