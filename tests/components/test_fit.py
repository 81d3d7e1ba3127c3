"""``linkwork fit`` finds what made a measurement; ``linkwork step`` says how a joint follows."""

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from effort import FULL
from linkwork.cli.measured_log import read_measured_log
from linkwork.components.actuators.fit import Fit, fit_servo
from linkwork.components.actuators.fit_trial import simulate_response
from linkwork.components.actuators.smart_params import servo_models
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from linkwork.studies import step_response

TRUE: dict[str, Any] = {
    "voltage": 12.0, "stall_effort": 1.2, "stall_current": 1.5, "free_speed": 5.0, "kp": 4.0,
    "friction": 0.08, "gear": 200.0, "rotor_inertia": 1e-7,
}  # fmt: skip
START = {**TRUE, "stall_effort": 0.8, "free_speed": 3.5, "kp": 8.0, "friction": 0.03}
FREE = ["stall_effort", "free_speed", "kp", "friction"]


def measured(
    seed: int, noise: float = 0.001, load: float = 0.0, **more: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time, noisy angle and target of a servo that goes forth and back."""
    time = np.arange(0.0, 1.6, 0.01)
    target = np.where(time < 0.5, 1.0, np.where(time < 1.0, 0.2, 0.5))
    made = simulate_response(np.repeat(target, 10), {**TRUE, **more}, inertia=0.005, load=load)
    angle = np.interp(time, np.append(0.0, made.time), np.append(0.0, made.angle))
    return time, angle + np.random.default_rng(seed).normal(0.0, noise, len(time)), target


@cache
def fitted(seed: int) -> Fit:
    return fit_servo(*measured(seed), START, FREE, inertia=0.005)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_known_parameters_are_found_from_noisy_data(seed: int) -> None:
    """Each of four numbers is found within 5 %, and the error left is the noise."""
    found = fitted(seed)
    for each in found.found:
        assert each.value == pytest.approx(TRUE[each.name], rel=0.05), each.name
        assert not each.at_bound
    assert found.rms == pytest.approx(0.001, rel=0.15)
    assert found.rms < 0.1 * found.first_rms


def test_intervals_are_as_wide_as_the_fits_scatter() -> None:
    """Of 95 % intervals from independent noise nearly all hold the truth, and none is endless."""
    inside = total = 0
    for seed in range(1, 8 if FULL else 4):
        for each in fitted(seed).found:
            inside += abs(each.value - TRUE[each.name]) <= each.deviation
            total += 1
            assert 0.0 < each.deviation < 0.3 * each.value
    assert inside >= 0.75 * total


def test_intervals_of_the_usual_numbers_of_an_ax_12_hold_the_truth() -> None:
    """Steps of its encoder, margins and play make valleys; the intervals are as wide as these."""
    base = servo_models()["AX-12"].params
    free = ["free_speed", "stall_effort", "slope", "friction"]
    time = np.arange(0.0, 1.6, 0.02)
    target = np.where(time < 0.5, 1.0, np.where(time < 1.0, 0.2, 0.5))
    made = simulate_response(np.repeat(target, 20), base, inertia=0.00232)
    true = np.interp(time, np.append(0.0, made.time), np.append(0.0, made.angle))
    start = base | {"free_speed": 4.0, "stall_effort": 1.0, "slope_cw": 0.3, "slope_ccw": 0.3}
    missed = []
    for seed in range(3 if FULL else 1):
        noise = np.random.default_rng(seed).normal(0.0, 0.002, len(time))
        fit = fit_servo(time, true + noise, target, start, free, inertia=0.00232)
        assert fit.rms <= np.sqrt(np.mean(noise**2))  # the true numbers are no better: no valley
        for each in fit.found:
            known = base["slope_cw" if each.name == "slope" else each.name]
            if abs(each.value - known) > each.deviation:
                missed.append((seed, each, known))
    assert len(missed) <= 1, missed  # of 4 each


def test_a_delay_and_an_inertia_can_be_found_too() -> None:
    """What belongs to the test and not to the servo is fitted the same way."""
    time, angle, target = measured(5, noise=5e-4)
    late = np.interp(time - 0.015, time, angle)
    found = fit_servo(time, late, target, TRUE, ["delay", "inertia"], inertia=0.003)
    values = {each.name: each.value for each in found.found}
    assert values["delay"] == pytest.approx(0.015, abs=1.5e-3)
    assert values["inertia"] == pytest.approx(0.005, rel=0.05)


@pytest.mark.parametrize(
    ("name", "true", "known"),
    [
        ("backlash", 0.03, {}), ("cogging", 0.1, {"cogging_cycles": 20.0}), ("damping", 0.05, {}),
        ("supply_resistance", 1.5, {}), ("speed_filter", 0.02, {"kd": 0.2}),
        ("rotor_inertia", 2e-7, {}),
    ],
)  # fmt: skip
def test_what_starts_at_0_is_found(name: str, true: float, known: dict[str, float]) -> None:
    """A servo's number that the model to start from does not have."""
    log = measured(6, 5e-4, **{name: true}, **known)
    (found,) = fit_servo(*log, {**TRUE, **known, name: 0.0}, [name], inertia=0.005).found
    assert found.value == pytest.approx(true, rel=0.08)
    assert not found.at_bound
    assert 0.0 < found.deviation < 0.1 * true


@pytest.mark.parametrize("true", [0.2, -0.2])
@pytest.mark.parametrize("start", [0.0, -0.1])
def test_a_load_of_either_sign_is_found_from_anywhere(true: float, start: float) -> None:
    """It is fitted as it is, not by its logarithm, and nothing turns its sign before."""
    log = measured(7, 5e-4, load=true)
    found = fit_servo(*log, TRUE, ["load"], inertia=0.005, load=start)
    assert found.found[0].value == pytest.approx(true, rel=0.02)
    assert found.first_rms > 10 * found.rms


def write_log(file: Path, seed: int = 1) -> Path:
    time, angle, target = measured(seed)
    turn = 180.0 / math.pi
    rows = [f"{t:.4f},{a * turn:.5f},{w * turn:.5f}"
            for t, a, w in zip(time, angle, target, strict=True)]  # fmt: skip
    file.write_text("\n".join(["# a remark", "time [s],angle [deg],target [deg]", *rows]) + "\n")
    return file


@pytest.mark.capability(162)
def test_the_command_writes_a_servo_that_a_drive_can_name(tmp_path: Path) -> None:
    """Numbers with intervals and both curves on the screen, a picture, and a file that runs."""
    log = write_log(tmp_path / "step.csv")
    start = tmp_path / "start.toml"
    lines = [f"{name} = {value}" for name, value in START.items()]
    start.write_text('format = "linkwork/servo 1"\n[parameters]\n' + "\n".join(lines) + "\n")
    out, picture = tmp_path / "mine.toml", tmp_path / "both.svg"
    found = linkwork("fit", log, "--model", start, "--inertia", 0.005, "--out", out,
                     "--picture", picture)  # fmt: skip
    assert found.code == 0, found.err
    assert "± " in found.out
    assert "o measured   · fitted   + wanted" in found.out
    svg = picture.read_text()
    assert svg.count("<circle") == 160
    assert svg.count("<polyline") == 2
    table = tomllib.loads(out.read_text())
    assert table["parameters"]["stall_effort"] == pytest.approx(1.2, rel=0.05)
    assert "fitted, ±" in out.read_text()
    part = Part("arm").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("link", (Box((0.2, 0.05, 0.05)),), mass=0.5),
        Joint("J", "hinge", "post", "link", at=Pose((0.0, 0.0, 0.2))),
    )
    scene = Scene("test").place(part).engine("mujoco")
    scene.actuator("J", "smart_servo", joint="arm/J", file=str(out))
    with Session(scene, record=tmp_path / "run.mcap") as session:
        assert session["arm/J.kp"] == pytest.approx(4.0, rel=0.05)
        session["arm/J.target"] = 0.5
        session.step(100)
    out.unlink()  # the recording holds it
    again = linkwork("replay", tmp_path / "run.mcap", "--verify")
    assert again.code == 0, again.err


@pytest.mark.capability(40)
def test_a_log_of_a_real_arm_is_laid_over_a_simulated_one(tmp_path: Path) -> None:
    """The log's targets drive the scene; the error of each measured signal is the one put in."""
    scene = lw.load_scene("gripper/follow")
    scene.agents = []
    file = tmp_path / "log.csv"
    with Session(scene, watch=False) as session:
        rows = []
        for _ in range(40):
            session["arm/J2.target"] = 0.3
            values = [session.time, 0.3, session["arm/J2.angle"] + 0.01]
            rows.append(",".join(map(repr, values)))
            session.step(10)
    file.write_text("time [s],arm/J2.target [rad],arm/J2.angle [rad]\n" + "\n".join(rows) + "\n")
    picture = tmp_path / "over.svg"
    found = linkwork("fit", file, "--over", "gripper/follow", "--picture", picture)
    assert found.code == 0, found.err
    assert "agents are left out" in found.err
    line = next(line for line in found.out.splitlines() if line.startswith("arm/J2.angle "))
    assert float(line.split()[1]) == pytest.approx(math.degrees(0.01), rel=0.01)
    assert "error" in picture.read_text()


def test_step_response_is_measured_as_its_definition_says() -> None:
    """A first-order servo with time constant T rises in T ln 9 and settles in T ln 50."""
    part = Part("arm").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("link", (Box((0.01, 0.01, 0.01)),), mass=1e-4),
        Joint("J", "hinge", "post", "link", at=Pose((0.0, 0.0, 0.2)), damping=1.0),
    )
    scene = Scene("test", step=1e-3).place(part).engine("impulse")
    with Session(scene.actuator("J", "servo", joint="arm/J", kp=20.0, kd=0.0)) as session:
        found = step_response(session, "arm/J", 0.4, 1.0)
    assert found.rise == pytest.approx(math.log(9.0) / 20.0, rel=0.02)
    assert found.settling == pytest.approx(math.log(50.0) / 20.0, rel=0.02)
    assert found.overshoot == 0.0
    assert found.error == pytest.approx(0.0, abs=1e-6)
    assert found.energy is None


ARM = """
format = "linkwork/part 1"
name = "arm"

[[element]]
name = "post"
mass = 1
shape = { box = { size = [0.1, 0.1, 0.1] } }

[[element]]
name = "link"
mass = 0.5
shape = { box = { size = [0.2, 0.05, 0.05] } }

[[joint]]
name = "J"
type = "hinge"
from = "post"
to = "link"
at = { xyz = [0, 0, 0.2] }
drive = { type = "smart_servo", model = "XM430-W350" }
"""


@pytest.mark.capability(75)
def test_the_step_command_shows_what_a_gain_does(tmp_path: Path) -> None:
    """A softer gain leaves the joint slower; the energy of a smart servo is told."""
    (tmp_path / "arm.toml").write_text(ARM)
    times = []
    for kp in (8, 1):
        found = linkwork("step", tmp_path / "arm.toml", "--joint", "arm/J", "--by", 30,
                         "--set", f"arm/J.kp={kp}", "--overwrite",
                         "--csv", tmp_path / "step.csv")  # fmt: skip
        assert found.code == 0, found.err
        logged = {line[:18].strip(): line[18:].split() for line in found.out.splitlines()}
        times.append(float(logged["rise, 10 to 90 %"][0]))
        assert float(logged["energy"][0]) > 0.0
        assert "o actual   · wanted" in found.out
    assert times[1] > 1.5 * times[0]
    (tmp_path / "arm.toml").write_text(f"{ARM}range_deg = [-90, 60]\n")
    found = linkwork("step", tmp_path / "arm.toml", "--joint", "arm/J", "--set", "arm/J.punch=0.1")
    assert "no signal named 'arm/J.punch'. Its servo has none: loop is pid" in found.err
    found = linkwork("step", tmp_path / "arm.toml", "--joint", "arm/J", "--by", 500)
    assert "a step from 0° by 500° leaves the range of 'arm/J', -90° to 60°" in found.err
    log = read_measured_log(tmp_path / "step.csv")
    assert log.target() == pytest.approx(math.radians(30.0))


BAD_LOGS = [
    ("time;angle\n0;1\n0.1;1\n0.2;1\n", "Separate columns by commas."),
    ("time,angle\n0,1\n", "at least two rows"),
    ("when,angle\n0,1\n1,2\n", "no column is called time"),
    ("time,x\n0,1\n1,2\n2,3\n3,4\n4,5\n5,6\n", "no column is called angle"),
    ("time,angle\n0,1\n1,up\n", "bad.csv:3: 2 numbers are expected here"),
    ("time,angle\n0,1\n1,2\n1,3\n", "bad.csv:4: the time does not rise here"),
    ("time,angle [deg]\n0,1\n1,2\n2,3\n", "too few"),
    ("time,angle\n0,1\n1,2\n2,3\n", "bad.csv:1: column 'angle' does not say its unit, and it must"),
    ("time,angle\n0,1\n1,2\n2,3\n", "be in deg or rad. Write it into the heading: angle [deg], or"),
    ("# x\ntime,angle [mm]\n0,1\n1,2\n2,3\n", "bad.csv:2: column 'angle' is in m, and it must"),
    ("time,angle [turns]\n0,1\n1,2\n2,3\n", "column 'angle' is in turns, and it must be in deg"),
    ("time [us],angle [deg]\n0,1\n1,2\n2,3\n", "bad.csv:1: column 'time' is in us, and it must be"),
    ("time [deg],angle [deg]\n0,1\n1,2\n2,3\n", "column 'time' is in rad, and it must be in s or"),
    (
        "t_s,angle_deg,angle_rad\n0,1,1\n1,2,1\n2,3,1\n",
        "bad.csv:1: 'angle_deg' and 'angle_rad' are both called 'angle'. Give one another name.",
    ),
    ("time,angle_deg,target\n0,1,1\n1,2,1\n2,3,1\n", "column 'target' does not say its unit"),
]


def test_units_of_a_log_are_said_in_one_of_three_ways(tmp_path: Path) -> None:
    """In brackets, as the name's end, or for all by --unit: the same numbers come of them."""
    rows = [f"{20 * n},50,{min(50, 4 * n)}" for n in range(30)]
    answers = []
    for number, (heading, words) in enumerate((
        ("time [ms],target [deg],angle [deg]", ()),
        ("time_ms,target_deg,angle_deg", ()),
        ("t [ms],target,angle", ("--unit", "deg")),
    )):  # fmt: skip
        file = tmp_path / f"{number}.csv"
        file.write_text("\n".join([heading, *rows]) + "\n")
        found = linkwork("fit", file, "--free", "max_speed", *words)
        assert found.code == 0, found.err
        answers.append(found.out)
    assert answers[0] == answers[1] == answers[2]
    assert "deg/s" in answers[0]
    log = read_measured_log(tmp_path / "2.csv", "rad")
    assert log.angle()[-1] == 50.0
    assert linkwork("fit", tmp_path / "0.csv", "--unit", "turn").code == 2


def test_a_column_is_named_as_it_is_written(tmp_path: Path) -> None:
    """--angle takes the heading's own word, with the unit in it or without."""
    file = tmp_path / "log.csv"
    file.write_text("time,up_deg,down [deg]\n0,1,3\n1,2,4\n2,3,5\n")
    log = read_measured_log(file)
    assert log.angle("up_deg") == pytest.approx(np.radians([1, 2, 3]))
    assert (log.angle("up") == log.angle("up_deg")).all()
    assert log.angle("down [deg]") == pytest.approx(np.radians([3, 4, 5]))


def test_a_unit_of_angles_is_not_for_other_columns(tmp_path: Path) -> None:
    """--unit deg turns what is compared with an angle, and leaves a number without unit alone."""
    file = tmp_path / "log.csv"
    file.write_text("time,angle,duty\n0,90,0.5\n1,90,0.5\n2,90,0.5\n")
    log = read_measured_log(file, "deg")
    assert log.of_unit("angle", "rad") == pytest.approx(math.pi / 2)
    assert log.of_unit("duty", "") == pytest.approx(0.5)
    with pytest.raises(LinkworkError, match="'duty' does not say its unit"):
        log.of_unit("duty", "N m")


def test_a_log_that_is_laid_over_says_its_units_too(tmp_path: Path) -> None:
    """A column in another unit than its signal, or in none, is refused."""
    file = tmp_path / "log.csv"
    for heading, expected_text in (
        ("time,arm/J2.target,arm/J2.angle [deg]", "'arm/J2.target' does not say its unit"),
        ("time,arm/J2.target_deg,arm/J2.angle [mm]", "'arm/J2.angle' is in m"),
    ):
        file.write_text(f"{heading}\n0,1,1\n0.1,1,1\n0.2,1,1\n")
        found = linkwork("fit", file, "--over", "gripper/follow")
        assert found.code == 1
        assert expected_text in found.err


@pytest.mark.parametrize(("text", "expected_text"), BAD_LOGS)
def test_a_log_that_cannot_be_used_is_told(tmp_path: Path, text: str, expected_text: str) -> None:
    """The message names the line and what is expected."""
    file = tmp_path / "bad.csv"
    file.write_text(text)
    found = linkwork("fit", file)
    assert found.code == 1
    assert expected_text in found.err


def test_what_cannot_be_fitted_is_told(tmp_path: Path) -> None:
    """Names are checked, and a missing file is a clear line."""
    log = write_log(tmp_path / "step.csv")
    for words, expected_text in [
        (("--free", "speed"), "there is no fitted parameter named 'speed'"),
        (("--free", "loop"), "loop"),
        (("--free", "ambient"), "named 'ambient'. Available fitted parameters: "),
        (("--free", "kd"), "kd has no effect here: loop is compliance, which uses margin_cw"),
        (
            ("--free", "kd", "--set", "kd=-1", "--model", "XM430-W350"),
            "kd is fitted from 0 or more, not from -1",
        ),
        (("--free", "gear", "--set", "gear=0"), "gear is fitted from a value above 0"),
        (("--set", "stall_effort=60"), "more than it takes. (stall_effort + friction)"),
        (("--set", "kp"), "NAME=VALUE"),
        (("--set", "kp=3"), "--set kp=3: kp has no effect here: loop is compliance"),
        (("--angle", "J"), "there is no column named 'J'"),
        (("--over", "gripper/arm"), "no column is an output of the scene"),
    ]:
        found = linkwork("fit", log, *words)
        assert found.code == 1
        assert expected_text in found.err
    with pytest.raises(LinkworkError):
        read_measured_log(tmp_path / "none.csv")
