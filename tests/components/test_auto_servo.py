"""Auto servos: gains by inertia and weight, and which joints get them."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.components.actuators.auto_servo import resolve_auto_servos
from linkwork.components.actuators.servo_rule import JointLoad, servo_gains
from linkwork.core.errors import SceneError
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Coupling, Cylinder, Element, Joint, Part, Plane, Spec, Sphere
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.model.world.undriven import undriven_joints, with_auto_servos
from linkwork.session.session import Session

MASS, LENGTH, G = 2.0, 0.4, 9.81
EVERY = {"*": Spec("actuator", "auto_servo", params={"undriven": True})}


def rod(name: str, mass: float = MASS) -> Element:
    """A rod along x whose end is the element's origin."""
    at = Pose.of((LENGTH / 2, 0.0, 0.0))
    return Element(name, (Box(size=(LENGTH, 0.02, 0.02), at=at, collide=False),), mass=mass)


def arm(**second: object) -> Part:
    """A fixed base and two horizontal rods; the second joint has ``second`` as attributes."""
    part = Part("arm").add(Element("base", (Box(size=(0.1, 0.1, 0.1), collide=False),), mass=1.0))
    part.add(rod("upper"), Joint("J1", "hinge", "base", "upper", axis=(0.0, 1.0, 0.0)))
    end = Pose.of((LENGTH, 0.0, 0.0))
    kind = str(second.pop("type", "hinge"))
    joint = Joint("J2", kind, "upper", "lower", at=end, axis=(0.0, 1.0, 0.0), **second)  # type: ignore[arg-type]
    return part.add(rod("lower"), joint)


def drives_of(session: Session) -> dict[str, Spec | None]:
    """Drives by joint."""
    world = session.world
    return {n: j.drive for n, j in zip(world.joint_names, world.joints, strict=True)}


def test_gains_follow_the_rule() -> None:
    """kp is the larger of I ω² and L/s, kd is critical, and a long step lowers ω."""
    heavy = servo_gains(
        JointLoad(1.0, 30.0, 0.0), angle=True, step=0.002, bandwidth=5.0, damping_ratio=1.0,
        sag=math.radians(0.5),
    )  # fmt: skip
    assert heavy.kp == pytest.approx(30.0 / math.radians(0.5))
    assert heavy.kd == pytest.approx(2.0 * math.sqrt(heavy.kp))
    light = servo_gains(
        JointLoad(2.0, 0.0, 0.0), angle=True, step=0.02, bandwidth=5.0, damping_ratio=0.5, sag=1.0
    )
    assert light.kp == pytest.approx(2.0 * 5.0**2)  # 0.1/h = 5 rad/s
    assert light.kd == pytest.approx(2.0 * 5.0)


@pytest.mark.parametrize("engine", ["mujoco", "impulse"])
def test_it_holds_its_posture_within_the_sag(engine: str) -> None:
    """Two horizontal rods stay within half a degree, with the effort that statics demands."""
    scene = Scene("hold").place(arm(), drives=EVERY).engine(engine)
    with Session(scene) as session:
        worst, angles = 0.0, list[float]()
        for _ in range(1000):
            session.step()
            angles = [session["arm/J1.angle"], session["arm/J2.angle"]]
            worst = max(worst, *map(abs, angles))
        assert worst < math.radians(0.6)
        lower = MASS * G * LENGTH / 2
        upper = lower + 3 * lower  # its own rod, and the other at 3/2 of its length
        assert abs(session["arm/J2.effort"]) == pytest.approx(lower, rel=1e-3)
        assert abs(session["arm/J1.effort"]) == pytest.approx(upper, rel=1e-3)
        assert angles == pytest.approx([math.radians(0.5)] * 2, rel=0.02)


def test_a_weak_joint_is_named() -> None:
    """A limit below the gravity load is a note with both numbers."""
    with Session(Scene("weak").place(arm(max_effort=1.0), drives=EVERY)) as session:
        texts = [str(f) for f in session.cycle.findings]
    assert any("arm/J2: its servo can hold 1 of the 3.92 N m" in text for text in texts), texts


@pytest.mark.parametrize(
    "attributes", [{"stiffness": 5.0}, {"type": "ball"}, {"drive": Spec("actuator", "effort")}]
)
def test_springs_balls_and_driven_joints_are_left(attributes: dict[str, object]) -> None:
    """A joint with a spring, several degrees of freedom or a drive keeps what it has."""
    with Session(Scene("left").place(arm(**attributes), drives=EVERY)) as session:
        drives = drives_of(session)
    assert drives["arm/J1"] is not None
    assert drives["arm/J1"].type == "servo"
    assert drives["arm/J2"] == attributes.get("drive")


def test_followers_are_carried_by_their_leader() -> None:
    """A follower gets no servo; its leader has the inertia and the weight of both."""
    part = replace(arm(), couplings=[Coupling("J2", "J1", ratio=1.0)])
    with (
        Session(Scene("mimic").place(part, drives=EVERY)) as coupled,
        Session(Scene("free").place(arm(), drives=EVERY)) as free,
    ):
        drives = drives_of(coupled)
        assert drives["arm/J2"] is None
        # J2 turns with J1: its own weight counts twice at the leader
        more = (MASS * G * LENGTH / 2) / math.radians(0.5)
        assert coupled["arm/J1.kp"] == pytest.approx(free["arm/J1.kp"] + more, rel=1e-6)


def test_a_wheel_gets_a_motor_and_a_free_car_stands() -> None:
    """An endless, balanced hinge gets a motor, whose gain follows from the mass of the car."""
    part = Part("car").add(Element("body", (Box(size=(0.4, 0.2, 0.05)),), mass=8.0))
    for n, (x, y) in enumerate([(-0.15, -0.14), (-0.15, 0.14), (0.15, -0.14), (0.15, 0.14)]):
        turned = Pose.of(rpy=(math.pi / 2, 0.0, 0.0))
        part.add(
            Element(f"wheel{n}", (Cylinder(radius=0.06, length=0.03, at=turned),), mass=0.5),
            Joint(f"W{n}", "hinge", "body", f"wheel{n}", at=Pose.of((x, y, 0.0)), axis=(0, 1, 0)),
        )
    scene = Scene("drive").add(Element("ground", (Plane(),)))
    scene.place(part, at=Pose.of((0.0, 0.0, 0.06)), base="free", drives=EVERY)
    with Session(scene) as session:
        drive = drives_of(session)["car/W0"]
        assert drive is not None
        assert drive.type == "motor"
        omega = 2.0 * math.pi * 5.0
        assert session["car/W0.gain"] == pytest.approx(2.0 * (10.0 / 4) * 0.06**2 * omega, rel=0.01)
        session.run(1.0, clock="fast")
        assert abs(session["car.x"]) < 1e-3
        for n in range(4):
            session[f"car/W{n}.target_speed"] = 5.0
        session.run(1.0, clock="fast")
        assert session["car.x"] == pytest.approx(5.0 * 0.06, rel=0.1)


def test_a_massless_link_has_gains_and_is_named() -> None:
    """A joint that moves no mass gets the gains of the least inertia, and a note says so."""
    part = arm()
    part.add(
        Element("tip", (Sphere(radius=0.01, collide=False),), mass=0.0),
        Joint("J3", "hinge", "lower", "tip", axis=(1.0, 0.0, 0.0)),
    )
    world = compile_scene(Scene("massless").place(part, drives=EVERY))
    notes = resolve_auto_servos(world)
    drive = world.joints[world.joint("arm/J3")].drive
    assert drive is not None
    assert drive.params["kp"] == pytest.approx(1e-4 * (2 * math.pi * 5) ** 2)
    assert any(note.about == "arm/J3" and "nothing that has mass" in note.text for note in notes)


def test_of_a_loop_only_independent_joints_are_driven() -> None:
    """Of the four bars' hinges the first is driven; the others follow by the loop."""
    scene = lw.load_scene("mechanisms/four_bar")
    for name, placed in scene.parts.items():
        joints = {n: replace(joint, drive=None) for n, joint in placed.part.joints.items()}
        scene.parts[name] = replace(placed, part=replace(placed.part, joints=joints))
    scene.agents.clear()
    scene = with_auto_servos(scene)
    with Session(scene) as session:
        driven = [name for name, drive in drives_of(session).items() if drive is not None]
        start = session.state.q.copy()
        session.run(1.0, clock="fast")
        assert len(driven) == 1
        assert np.abs(session.state.q - start).max() < math.radians(1.0)


def test_the_rule_is_a_line_of_a_scene(tmp_path: Path) -> None:
    """A file's pattern with undriven reaches a URDF's joints; without, the error names it."""
    (tmp_path / "one.urdf").write_text(
        "<robot name='one'><link name='a'/><link name='b'><inertial><origin xyz='0.3 0 0'/>"
        "<mass value='1'/><inertia ixx='.01' iyy='.01' izz='.01' ixy='0' ixz='0' iyz='0'/>"
        "</inertial></link><joint name='J' type='continuous'><parent link='a'/><child link='b'/>"
        "<axis xyz='0 1 0'/></joint></robot>"
    )
    text = (
        'format = "linkwork/scene 1"\nname = "s"\n\n[[part]]\nname = "one"\n'
        'part = "./one.urdf"\n\n[part.drives]\n"*" = {{ type = "auto_servo"{} }}\n'
    )
    file = tmp_path / "s.toml"
    file.write_text(text.format(", undriven = true"))
    scene = lw.load_scene(str(file))
    assert undriven_joints(scene) == {}
    with Session(scene) as session:
        session.run(1.0, clock="fast")
        assert abs(session["one/J.angle"]) < math.radians(0.6)
    file.write_text(text.format(""))
    with pytest.raises(SceneError, match="undriven = true"):
        Session(lw.load_scene(str(file)))


@pytest.mark.parametrize(("step", "sag"), [(0.001, 0.6), (0.005, 6.0)])
def test_light_joints_are_stable_with_runge_kutta(tmp_path: Path, step: float, sag: float) -> None:
    """RK4 evaluates servos at the start of the step: with a long one, a link of 2 g sags more."""
    model = tmp_path / "light.xml"
    model.write_text(
        f'<mujoco><option timestep="{step}" integrator="RK4"/><worldbody><body>'
        '<joint name="a" axis="0 1 0"/><geom type="box" size=".05 .005 .005" pos=".05 0 0" '
        'mass="0.2"/><body pos=".1 0 0"><joint name="b" axis="0 1 0"/><geom type="box" '
        'size=".01 .004 .004" pos=".01 0 0" mass="0.002"/></body></body></worldbody></mujoco>'
    )
    scene = lw.load_scene(model)
    (placed,) = scene.parts.values()
    placed.drives.update(EVERY)
    with Session(scene) as session:
        session.run(2.0)
        for joint in ("a", "b"):
            assert abs(session[f"light/{joint}.angle"]) < np.radians(sag)
            assert abs(session[f"light/{joint}.speed"]) < 1e-3


def test_the_last_link_of_an_arm_is_no_wheel() -> None:
    """An endless, balanced flange behind three joints gets a servo; on the base it is a wheel."""
    for joints, kind in ((3, "servo"), (0, "motor")):
        part = Part("arm").add(Element("base", mass=1.0))
        before = "base"
        for n in range(joints):
            part.add(
                Element(f"link{n}", (Box((0.1, 0.1, 0.3)),), mass=1.0),
                Joint(f"J{n}", "hinge", before, f"link{n}", axis=(0.0, 1.0, 0.0), range=(-1, 1)),
            )
            before = f"link{n}"
        part.add(
            Element("flange", (Cylinder(0.05, 0.02),), mass=0.2),
            Joint("end", "hinge", before, "flange", at=Pose.of((0.0, 0.0, 0.2))),
        )
        drives = EVERY
        world = compile_scene(Scene("bench").place(part, name="arm", drives=drives))
        resolve_auto_servos(world)
        (drive,) = [j.drive for j in world.joints if j.name == "end"]
        assert drive is not None
        assert drive.type == kind
