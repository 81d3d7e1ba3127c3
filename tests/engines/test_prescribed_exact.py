"""Prescribed motion is followed exactly, from t = 0; limits that it exceeds are reported."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from engine_scenes import SIDE, arm, bar, servo
from linkwork.geometry import Pose
from linkwork.model.parts import Coupling, Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.session.replay import replay
from linkwork.session.session import Session

#: Schwanen 2002 eq. 5.1: the knee's angle, velocity and acceleration over time.
EQ_5_1 = "3*pi/4 * sin(2*pi*t)"
KNEE, SPEED = "robot/right_knee", 1.5 * math.pi**2


def knee(t: float) -> tuple[float, float, float]:
    wave = 2.0 * math.pi * t
    return (
        0.75 * math.pi * math.sin(wave), SPEED * math.cos(wave),
        -2.0 * math.pi * SPEED * math.sin(wave),
    )  # fmt: skip


def biped(engine: str = "kinematic", step: float = 0.0005, **params: object) -> Scene:
    """Returns the kit's robot as shipped, hung up with straight legs, with eq. 5.1 on its knee."""
    scene = Scene("test", step=step).place(
        lw.load_part("bart_uh/biped"), name="robot", at=Pose((0.0, 0.0, 0.9))
    )
    scene.engine(engine, **params).sensor("foot", "motion", on="robot/right_foot")
    return scene.agent("sine", "formula", formulas={KNEE: EQ_5_1})


@pytest.mark.capability(71, 77)
@pytest.mark.parametrize("engine", ["kinematic", "emulation"])
def test_schwanens_values_come_out_on_the_kits_robot(engine: str) -> None:
    """Eq. 5.2 with its figures, although eq. 5.1 is faster than the knee's max_speed."""
    times, rows = [], []
    with Session(biped(engine), watch=False) as session:
        for _ in range(2001):
            times.append(session.time)
            rows.append([session[f"foot.{c}"] for c in ("x", "y", "z", "y_speed")])
            angle, speed, change = knee(session.time)
            assert session[f"{KNEE}.angle"] == pytest.approx(angle, abs=1e-12)
            assert session[f"{KNEE}.speed"] == pytest.approx(speed, abs=1e-12)
            assert session[f"{KNEE}.acceleration"] == pytest.approx(change, abs=1e-10)
            session.step()
    t, (x, y, z, y_speed) = np.array(times), np.array(rows).T
    q4 = 0.75 * np.pi * np.sin(2.0 * np.pi * t)
    np.testing.assert_allclose(x, 0.1, atol=1e-12)
    np.testing.assert_allclose(y, 0.4 * np.sin(q4), atol=1e-12)
    np.testing.assert_allclose(z, 0.45 - 0.4 * np.cos(q4), atol=1e-12)
    assert z[0] == pytest.approx(0.05, abs=1e-12)
    assert y_speed[0] == pytest.approx(5.922, abs=5e-4)
    assert t[np.argmax(y)] == pytest.approx(0.1161, abs=5e-4)
    assert y.max() == pytest.approx(0.4, abs=1e-5)
    assert y[np.searchsorted(t, 0.25)] == pytest.approx(0.2828, abs=5e-5)
    assert z.max() == pytest.approx(0.7328, abs=5e-5)


@pytest.mark.capability(71, 77)
def test_a_limit_that_is_exceeded_is_reported_with_joint_time_and_size() -> None:
    """1.5 π² rad/s is 128°/s above 720°/s, at t = 0 first."""
    with Session(biped(), watch=False) as session:
        (event,) = [e for e in session.outbox.events if e.level == "warning"]
        assert event.text == (
            f"{KNEE}: the prescribed motion exceeds its max_speed of 720°/s by 128.2°/s at "
            '0.000 s. It is followed exactly; limits = "respect" keeps within.'
        )
        session.run(0.5)
        assert len([e for e in session.outbox.events if e.level == "warning"]) == 1
        (found,) = session.report().limits
        assert (found.joint, found.limit, found.respected) == (KNEE, "max_speed", False)
        assert found.size == pytest.approx(SPEED - math.radians(720.0), abs=1e-9)
        assert found.allowed == pytest.approx(math.radians(720.0))
        assert found.first == 0.0
        assert found.time in (0.0, 0.5)
        assert f"{KNEE} exceeds its max_speed of 720°/s by 128.2°/s at" in str(session.report())


@pytest.mark.capability(71)
def test_without_a_limit_in_the_way_nothing_is_reported() -> None:
    """Eq. 5.1 at a quarter of the speed stays below max_speed."""
    scene = biped()
    scene.agents.clear()
    scene.agent("sine", "formula", formulas={KNEE: "3*pi/4 * sin(2*pi*t/4)"})
    with Session(scene, watch=False) as session:
        session.run(1.0)
        assert session[f"{KNEE}.angle"] == pytest.approx(0.75 * math.pi, abs=1e-12)
        assert session.report().limits == ()
        assert not [e for e in session.outbox.events if e.level == "warning"]


@pytest.mark.capability(71)
def test_limits_are_respected_on_request_with_the_deviation() -> None:
    """The knee moves at 720°/s at most; the report has its largest deviation."""
    worst, fastest = 0.0, math.radians(720.0)
    with Session(biped(limits="respect"), watch=False) as session:
        for _ in range(1000):
            session.step()
            assert abs(session[f"{KNEE}.speed"]) <= fastest * (1.0 + 1e-12)
            worst = max(worst, abs(knee(session.time)[0] - session[f"{KNEE}.angle"]))
        (found,) = session.report().limits
        assert (found.joint, found.limit, found.respected) == (KNEE, "max_speed", True)
        assert found.size == pytest.approx(worst, rel=1e-9)
        # v exceeds 720°/s until cos 2πt = 720°/s / v; the area above it is the deviation
        late = math.acos(fastest / SPEED) / (2.0 * math.pi)
        assert worst > 0.9 * (knee(late)[0] - fastest * late)
        assert "is kept within its max_speed of 720°/s: " in str(session.report())


@pytest.mark.capability(71)
@pytest.mark.parametrize("limits", ["report", "respect"])
def test_a_range_is_left_or_kept(limits: str) -> None:
    """A formula of 1 rad on a joint of 0.3 rad: followed and reported, or held at the end."""
    scene = (
        Scene("test", step=0.01).place(arm(range=(-0.3, 0.3))).engine("kinematic", limits=limits)
    )
    scene.agent("sine", "formula", formulas={"arm/J": "sin(t)"})
    with Session(scene, watch=False) as session:
        session.run(1.57)
        (found,) = session.report().limits
        assert (found.joint, found.limit) == ("arm/J", "range")
        assert found.size == pytest.approx(math.sin(1.57) - 0.3, abs=1e-9)
        assert found.time == pytest.approx(1.57)
        assert found.first == pytest.approx(0.31)  # sin 0.31 > 0.3 > sin 0.30
        wanted = math.sin(1.57) if limits == "report" else 0.3
        assert session["arm/J.angle"] == pytest.approx(wanted, abs=1e-12)
        if limits == "report":
            assert session["arm/J.target"] == session["arm/J.angle"]


@pytest.mark.capability(71)
def test_the_acceleration_limit_of_a_servo_is_one_of_them() -> None:
    """A sine of 2 rad at 1 Hz needs 79 rad/s²; the servo's profile has 50."""
    drive = Spec("drive", "smart_servo", params={"model": "AX-12", "max_acceleration": 50.0})
    scene = Scene("test", step=0.001).place(arm(drive=drive)).engine("kinematic")
    scene.agent("sine", "formula", formulas={"arm/J": "2*sin(2*pi*t)"})
    with Session(scene, watch=False) as session:
        session.run(0.5)
        found = {each.limit: each for each in session.report().limits}
        most = 2.0 * (2.0 * math.pi) ** 2
        assert found["max_acceleration"].size == pytest.approx(most - 50.0, rel=1e-6)
        assert found["max_acceleration"].time == pytest.approx(0.25, abs=1e-3)
        assert session["arm/J.angle"] == pytest.approx(0.0, abs=1e-12)


def test_a_respected_acceleration_is_not_exceeded_and_catches_up() -> None:
    """A jump of 1 rad with 4 rad/s² takes at least √(2·1/4)… the joint arrives and stays."""
    drive = Spec("drive", "smart_servo", params={"model": "AX-12", "max_acceleration": 4.0})
    scene = Scene("test", step=0.001).place(arm(drive=drive))
    scene.engine("kinematic", limits="respect")
    scene.agent("jump", "formula", formulas={"arm/J": "1 + 0*t"}, start=0.1)
    with Session(scene, watch=False) as session:
        speeds = []
        for _ in range(2500):
            session.step()
            speeds.append(session["arm/J.speed"])
        changes = np.abs(np.diff(speeds)) / 0.001
        assert changes.max() < 4.0 * (1.0 + 1e-6)
        assert session["arm/J.angle"] == pytest.approx(1.0, abs=1e-9)
        (found,) = session.report().limits
        assert found.limit == "max_acceleration"


@pytest.mark.capability(72)
def test_emulation_reports_an_effort_beyond_the_drive() -> None:
    """The moment that a pendulum needs is m g l cos q + I q̈, the joint has less."""
    scene = Scene("test", step=0.001, gravity=(0.0, 0.0, 0.0)).engine("emulation")
    part = Part("p").add(
        Element("post", mass=1.0), bar("rod", 0.3, 2.0),
        Joint("J", "hinge", "post", "rod", axis=SIDE, max_effort=0.3),
    )  # fmt: skip
    scene.place(part).agent("sine", "formula", formulas={"p/J": "0.5*sin(4*t)"})
    with Session(scene, watch=False) as session:
        world = session.world
        body = world.body("p/rod")
        about = world.inertia[body][1, 1] + world.mass[body] * world.com[body][0] ** 2
        session.run(0.5)
        (found,) = session.report().limits
        assert (found.joint, found.limit) == ("p/J", "max_effort")
        assert found.size == pytest.approx(about * 8.0 - 0.3, rel=1e-4)
        assert found.time == pytest.approx(math.pi / 8.0, abs=1e-3)


@pytest.mark.capability(71, 72)
def test_a_table_is_followed_from_the_first_instant(tmp_path: Path) -> None:
    """Rows of t³ in [0.5, 1.5] are met exactly; before the first step, too."""
    rows = "\n".join(f"{0.1 * n},{0.3 + 0.02 * n * n}" for n in range(11))
    (tmp_path / "t.csv").write_text(f"time,arm/J\n{rows}\n")
    scene = Scene("test", step=0.01).place(arm(max_speed=0.1)).engine("emulation")
    scene.agent("play", "table", file=str(tmp_path / "t.csv"))
    with Session(scene, watch=False) as session:
        assert session["arm/J.angle"] == session["arm/J.target"] == 0.3
        assert session["arm/J.speed"] != 0.0
        for n in range(1, 11):
            session.step(10)
            assert session["arm/J.angle"] == pytest.approx(0.3 + 0.02 * n * n, abs=1e-12)
        session.reset()
        session.process_inbox()
        assert (session.time, session["arm/J.angle"]) == (0.0, 0.3)


MOVE = """format = "linkwork/movement 1"
name = "m"
{how}
[[posture]]
time = 0
joints = {{ J = 0.2 }}

[[posture]]
time = 1
joints = {{ J = 1.0 }}

[[posture]]
time = 2
joints = {{ J = 0.5 }}
"""


@pytest.mark.capability(71, 72)
@pytest.mark.parametrize("speed", [1.0, 2.0])
@pytest.mark.parametrize(
    "how", ['interpolation = "linear"', 'interpolation = "smooth"', 'planner = "acceleration"']
)
def test_a_movement_is_followed_with_its_derivatives(
    how: str, speed: float, tmp_path: Path
) -> None:
    """Position, velocity and acceleration are those of the track at the same time."""
    (tmp_path / "m.toml").write_text(MOVE.format(how=how))
    scene = Scene("test", step=0.01).place(arm(max_speed=2.0)).engine("kinematic")
    scene.agent("play", "movement", file=str(tmp_path / "m.toml"), on="arm", speed=speed)
    with Session(scene, watch=False) as session:
        assert session["arm/J.angle"] == pytest.approx(0.2, abs=1e-12)
        rows = []
        for _ in range(int(90 / speed)):
            session.step()
            names = ("angle", "speed", "acceleration")
            rows.append([session[f"arm/J.{name}"] for name in names])
            s = speed * session.time
            assert session["play.time"] == pytest.approx(s, abs=1e-9)
            if "linear" in how:
                assert rows[-1] == pytest.approx([0.2 + 0.8 * s, 0.8 * speed, 0.0], abs=1e-9)
            if "smooth" in how:  # 3s² − 2s³ with zero slope at the reversal
                wanted = [
                    0.2 + 0.8 * (3 * s**2 - 2 * s**3), speed * 0.8 * (6 * s - 6 * s**2),
                    speed**2 * 0.8 * (6 - 12 * s),
                ]  # fmt: skip
                assert rows[-1] == pytest.approx(wanted, abs=1e-9)
        q, v, _ = np.array(rows).T
        np.testing.assert_allclose(np.gradient(q, 0.01)[2:-2], v[2:-2], atol=0.02 * speed**2)


def test_a_ramp_has_its_derivatives_too(tmp_path: Path) -> None:
    """q = first + s (m − first) with s = t / ramp."""
    (tmp_path / "m.toml").write_text(MOVE.format(how='interpolation = "linear"'))
    scene = Scene("test", step=0.01).place(arm()).engine("kinematic")
    scene.agent("play", "movement", file=str(tmp_path / "m.toml"), on="arm", ramp=0.5)
    with Session(scene, watch=False) as session:
        assert session["arm/J.angle"] == 0.0
        for _ in range(40):
            session.step()
            t = session.time
            assert session["arm/J.angle"] == pytest.approx(2 * t * (0.2 + 0.8 * t), abs=1e-12)
            assert session["arm/J.speed"] == pytest.approx(0.4 + 3.2 * t, abs=1e-12)
            assert session["arm/J.acceleration"] == pytest.approx(3.2, abs=1e-9)


def test_followers_are_measured_against_their_own_limits() -> None:
    """A follower at twice the speed exceeds its own max_speed."""
    part = Part("gears").add(
        Element("post", mass=1.0), bar("a", 0.2, 0.5), bar("b", 0.2, 0.3),
        Joint("Ja", "hinge", "post", "a", axis=SIDE),
        Joint("Jb", "hinge", "post", "b", axis=SIDE, max_speed=1.5),
        Coupling("Jb", "Ja", ratio=2.0),
    )  # fmt: skip
    scene = Scene("test", step=0.01).place(part).engine("kinematic")
    scene.agent("turn", "formula", formulas={"gears/Ja": "t"})
    with Session(scene, watch=False) as session:
        session.run(0.2)
        (found,) = session.report().limits
        assert (found.joint, found.limit) == ("gears/Jb", "max_speed")
        assert found.size == pytest.approx(0.5, abs=1e-9)


def test_targets_set_by_hand_are_goals_within_the_limits() -> None:
    """A joint moves to a user's target at max_speed at most, as documented: no finding."""
    scene = Scene("test", step=0.01).place(arm(max_speed=1.0, drive=servo())).engine("kinematic")
    with Session(scene, watch=False) as session:
        session["arm/J.target"] = 0.5
        session.run(0.2)
        assert session["arm/J.angle"] == pytest.approx(0.2)
        assert session.report().limits == ()


def test_a_jump_of_the_prescription_is_a_speed(tmp_path: Path) -> None:
    """A formula that starts at 0.1 s with 1 rad: 1 rad in a step of 10 ms is 100 rad/s."""
    scene = Scene("test", step=0.01).place(arm(max_speed=2.0)).engine("kinematic")
    scene.agent("jump", "formula", formulas={"arm/J": "1 + 0*t"}, start=0.1)
    with Session(scene, watch=False) as session:
        session.run(0.2)
        (found,) = session.report().limits
        assert (found.limit, found.time) == ("max_speed", pytest.approx(0.1))
        assert found.size == pytest.approx(98.0, rel=1e-6)
        assert session["arm/J.angle"] == 1.0


@pytest.mark.capability(71)
def test_the_command_line_tells_it_and_a_replay_agrees(tmp_path: Path) -> None:
    """On the kit's robot: the message when it happens, the largest excess at the end."""
    file, run = tmp_path / "knee.toml", tmp_path / "run.mcap"
    file.write_text(
        'format = "linkwork/scene 1"\nname = "knee"\nstep = 0.002\n'
        '[[part]]\nname = "robot"\npart = "bart_uh/biped"\nat = { xyz = [0, 0, 0.9] }\n'
        '[[engine]]\ntype = "kinematic"\n'
        f'[[agent]]\nname = "sine"\ntype = "formula"\nstart = 0.1\n'
        f'formulas = {{ "{KNEE}" = "{EQ_5_1}" }}\n'
    )
    done = linkwork("run", str(file), "--for", "0.4", "--record", str(run))
    assert done.code == 0, done.err
    text = " ".join((done.out + done.err).split())
    assert f"{KNEE}: the prescribed motion exceeds its max_speed of 720°/s by 128.2°/s" in text
    assert f"{KNEE} exceeds its max_speed of 720°/s by 128.2°/s at 0.100 s" in text
    result = replay(run)
    assert result.same, result.mismatch


def test_wrong_limits_are_refused() -> None:
    """The message lists the choices."""
    with pytest.raises(lw.LinkworkError, match=r"report.*respect"):
        Session(biped(limits="ignore"), watch=False)


def stone(engine: str = "kinematic", **params: object) -> Scene:
    """Returns a free box, at 1 m."""
    part = Part("stone").add(Element("body", (lw.Box((0.1, 0.2, 0.3)),), mass=2.0))
    scene = Scene("test", step=0.001).place(part, base="free", at=Pose((0.0, 0.0, 1.0)))
    return scene.engine(engine, **params)


def free_joint(session: Session) -> str:
    """Returns the name of the stone's free joint."""
    (name,) = session.world.joint_names
    return name


@pytest.mark.capability(71, 72)
@pytest.mark.parametrize("engine", ["kinematic", "emulation"])
def test_a_table_drives_a_free_body(engine: str, tmp_path: Path) -> None:
    """Its rows are met, from t = 0; a turn about one axis has the derivative as angular speed."""
    scene = stone(engine)
    with Session(scene, watch=False) as session:
        name = free_joint(session)
    rows = "\n".join(f"{0.1 * n},{0.05 * n * n},{90 + 9 * n}" for n in range(11))
    (tmp_path / "t.csv").write_text(f"time,{name}.x,{name}.rz [deg]\n{rows}\n")
    scene.agent("play", "table", file=str(tmp_path / "t.csv"))
    with Session(scene, watch=False) as session:
        for n in range(11):
            assert session[f"{name}.x"] == pytest.approx(0.05 * n * n, abs=1e-12)
            assert session[f"{name}.z"] == 1.0
            assert session[f"{name}.rz"] == pytest.approx(math.radians(90 + 9 * n), abs=1e-12)
            if n < 10:
                assert session[f"{name}.rz_speed"] == pytest.approx(math.radians(90.0), abs=1e-9)
                session.step(100)
        pose = session.state.pose[session.world.body("stone/body")]
        assert Pose.of(quat=pose[3:]).rotate((1.0, 0.0, 0.0)) == pytest.approx((-1.0, 0.0, 0.0))


@pytest.mark.capability(71)
def test_a_free_body_turns_along_a_formula_with_its_derivatives() -> None:
    """Angular velocity and acceleration in body axes against differences of the rotation."""
    with Session(stone(), watch=False) as session:
        name = free_joint(session)
    turns = {"rx": "0.7*sin(3*t)", "ry": "0.4*cos(2*t)", "rz": "1.1*t"}
    scene = stone().agent("turn", "formula", formulas={f"{name}.{k}": v for k, v in turns.items()})
    with Session(scene, watch=False) as session:
        body, h, rows = session.world.body("stone/body"), session.cycle.h, []
        session.step(300)
        for _ in range(3):
            session.step()
            w, x, y, z = session.state.pose[body, 3:]
            speed = [session[f"{name}.{k}_speed"] for k in turns]
            change = [session[f"{name}.{k}_acceleration"] for k in turns]
            rows.append((np.array([w, x, y, z]), np.array(speed), np.array(change)))
            t = session.time
            wanted = 0.7 * math.sin(3 * t), 0.4 * math.cos(2 * t), 1.1 * t
            assert [session[f"{name}.{k}"] for k in turns] == pytest.approx(wanted, abs=1e-12)
        (before, _, _), (here, spin, change), (after, later, _) = rows
        rate = (after - before) / (2.0 * h)
        w, v = here[0], here[1:]
        expected = 2.0 * (w * rate[1:] - rate[0] * v - np.cross(v, rate[1:]))
        np.testing.assert_allclose(spin, expected, atol=1e-5)
        np.testing.assert_allclose(change, (later - rows[0][1]) / (2.0 * h), atol=1e-5)
        world_spin = session.state.twist[body, 3:]
        turned = Pose.of(quat=after).rotate(tuple(later))
        np.testing.assert_allclose(world_spin, turned, atol=1e-12)


def test_a_free_body_goes_where_its_target_is_set_and_otherwise_stays() -> None:
    """Each coordinate has a target; the others keep their value."""
    with Session(stone(), watch=False) as session:
        name = free_joint(session)
        session[f"{name}.y.target"] = 0.5
        session.step()
        assert (session[f"{name}.y"], session[f"{name}.y_speed"]) == (0.5, pytest.approx(500.0))
        session[f"{name}.rx.target"] = 0.3
        session.step(2)
        assert session[f"{name}.rx"] == pytest.approx(0.3, abs=1e-12)
        assert session[f"{name}.rx_speed"] == session[f"{name}.y_speed"] == 0.0
        assert (session[f"{name}.y"], session[f"{name}.z"]) == (0.5, 1.0)


def test_a_body_that_fell_stays_where_the_mode_changes() -> None:
    """The kinematic engine takes it over where the dynamic one left it."""
    scene = dataclasses.replace(stone("mujoco"), mode="simulation")
    with Session(scene, watch=False) as session:
        name = free_joint(session)
        session.run(0.2)
        height = session[f"{name}.z"]
        assert height < 0.9
        session.mode = "kinematic"
        session.run(0.1)
        assert session[f"{name}.z"] == height


@pytest.mark.parametrize("engine", ["kinematic", "emulation"])
def test_a_respected_speed_holds_at_the_first_instant(engine: str) -> None:
    """At t = 0 as later; what the joint misses is put down to the limit that binds."""
    part = lw.Part("arm").add(
        lw.Element("base", (lw.Box(size=(0.1, 0.1, 0.1), collide=False),), mass=1.0),
        lw.Element("rod", (lw.Box(size=(0.3, 0.05, 0.05), collide=False),), mass=0.5),
        lw.Joint("J", "hinge", "base", "rod", axis=(0, 1, 0), max_speed=2.0, range=(-0.2, 0.9)),
    )
    scene = lw.Scene("bench", step=2e-3).place(part).engine(engine, limits="respect")
    scene.agent("swing", "formula", formulas={"arm/J": "0.4 + 0.8*sin(5*t)"})
    with Session(scene, watch=False) as session:
        assert session["arm/J.speed"] == 2.0
        assert session["arm/J.angle"] == pytest.approx(0.4, abs=1e-12)
        for _ in range(300):
            session.step()
            assert abs(session["arm/J.speed"]) <= 2.0 + 1e-9
            assert -0.2 - 1e-12 <= session["arm/J.angle"] <= 0.9 + 1e-12
        found = {each.limit: each for each in session.report().limits}
    assert found["range"].allowed == 0.9  # the lower end is never reached
    assert found["max_speed"].size > 0.1
