"""Live parameters, exact restore and failures of the Mujoco engine."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine_scenes import SIDE, G, arm, arm_inertia, block, cycle, four_bar, loose, move, servo
from linkwork.core.errors import EngineError, Origin
from linkwork.engines import mujoco as mujoco_engine
from linkwork.engines.mujoco.model import build_model
from linkwork.geometry import Inertia, Pose
from linkwork.model.parts import Box, Element, Joint, Part, Plane, Spec, Sphere
from linkwork.model.scene import Scene
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session

# Live parameters


def change(ours: Cycle, field: str, index: int, value: float) -> None:
    """Writes a live parameter, as the inbox does."""
    ours.state[f"param/{field}"][index] = value
    for part in ours.blocks:
        part.params_changed()


@pytest.mark.capability(9)
def test_doubled_mass_doubles_the_effort_that_holds_it() -> None:
    """The weight's moment follows the mass, live, in a session."""
    with Session(Scene("test").place(arm(drive=servo(kp=2000.0, kd=5.0)))) as session:
        session.step(500)
        held = session["arm/J.effort"]
        assert held == pytest.approx(-0.05 * G * 0.05, rel=1e-3)
        session["arm/link.mass"] = 0.1
        session.step(500)
        assert session["arm/J.effort"] == pytest.approx(2.0 * held, rel=1e-3)


def test_mass_scales_the_inertia() -> None:
    """Three times the mass has a third of the angular acceleration."""
    scene = Scene("test", gravity=(0.0, 0.0, 0.0)).place(arm())
    ours = cycle(scene.actuator("push", "effort", joint="arm/J"))
    change(ours, "mass", ours.world.body("arm/link"), 0.15)
    ours.state.target_effort[0] = 1e-3
    move(ours, 100)
    inertia = 3.0 * arm_inertia()
    assert ours.state.v[0] == pytest.approx(1e-3 / inertia * 100 * ours.h, rel=1e-9)
    kinetic = ours.state.report.energy[0]
    assert kinetic == pytest.approx(0.5 * inertia * ours.state.v[0] ** 2, rel=1e-9)


def test_gravity_changes_the_fall() -> None:
    """Lunar gravity, then upward gravity."""
    ours = cycle(Scene("test").place(loose("stone", Sphere(0.05)), base="free"))
    for k, g in ((2, -1.62), (0, 3.0)):
        before = ours.state.v[:3].copy()
        change(ours, "gravity", k, g)
        move(ours, 50)
        expected = ours.state["param/gravity"] * 50 * ours.h
        assert ours.state.v[:3] - before == pytest.approx(expected, rel=1e-9)


def test_friction_lets_a_standing_block_slide() -> None:
    """A block slides once its surface is smooth, and stops when it is rough again."""
    tilt = Pose.of(rpy=(0.0, 0.3, 0.0))
    scene = Scene("test").add(Element("ground", (Plane(),), at=tilt))
    sledge = loose("sledge", Box((0.2, 0.2, 0.04)))
    ours = cycle(scene.place(sledge, at=tilt @ Pose((0.0, 0.0, 0.02)), base="free"))
    element = ours.world.element_names.index("sledge/body")
    for friction, slides in ((0.8, False), (0.1, True), (0.8, False)):
        change(ours, "friction", element, friction)
        move(ours, 300)
        assert bool(np.linalg.norm(ours.state.v[:3]) > 0.5) is slides


def test_damping_and_joint_friction_brake() -> None:
    """v = v0 exp(−t d/I) by damping; friction stops the link."""
    ours = cycle(Scene("test", gravity=(0.0, 0.0, 0.0)).place(arm()))
    ours.state.v[0] = 5.0
    ours.refresh()
    change(ours, "damping", 0, 1e-4)
    move(ours, 500)
    assert ours.state.v[0] == pytest.approx(5.0 * math.exp(-1e-4 / arm_inertia()), rel=1e-2)
    assert ours.state.report.effort[0] == pytest.approx(-1e-4 * ours.state.v[0], rel=1e-6)
    change(ours, "joint_friction", 0, 0.01)
    move(ours, 100)
    assert abs(ours.state.v[0]) < 1e-9


def test_hand_pulls_a_body_by_a_spring() -> None:
    """A grabbed body hangs m g / k below the target."""
    ours = cycle(Scene("test").place(loose("stone", Sphere(0.05)), base="free"))
    body = ours.world.body("stone/body")
    stiffness = 500.0
    ours.state["param/grab"][0] = 1.0, body, 0.0, 0.0, 0.05, 0.2, 0.0, 1.0, stiffness, 40.0
    for part in ours.blocks:
        part.params_changed()
    move(ours, 3000)
    hangs = 1.0 - G / stiffness - 0.05
    assert ours.state.q[:3] == pytest.approx((0.2, 0.0, hangs), abs=1e-3)
    ours.state["param/grab"][0, 0] = 0.0
    for part in ours.blocks:
        part.params_changed()
    move(ours, 50)
    assert ours.state.v[2] == pytest.approx(-G * 50 * ours.h, abs=0.02)


# Restore


def lively() -> Cycle:
    """Returns falling boxes, an arm at its limit, a loop, a screw and a saturated drive."""
    scene = Scene("test").add(Element("ground", (Plane(),)))
    for n in range(3):
        at = Pose.of((0.01 * n, 0.0, 0.1 + 0.12 * n), rpy=(0.1, 0.2 * n, 0.0))
        body = loose(f"box{n}", Box((0.1, 0.08, 0.06)), 0.5, restitution=0.3 * (n == 1))
        scene.place(body, at=at, base="free")
    weak = servo(kp=20.0, kd=0.05, max_effort=0.05)
    reach = arm(range=(-0.5, 0.5), friction=1e-3, drive=weak)
    scene.place(reach, at=Pose((1.0, 0.0, 1.0)))
    bars = four_bar("hinge", (0.2, 0.5, 0.4, 0.45), 1.0).parts["bars"].part
    scene.place(bars, at=Pose((0.0, 2.0, 1.0)))
    nut = Part("press").add(
        Element("base", mass=1.0), block("nut", (0.1, 0.1, 0.02), 0.5),
        Joint("S", "screw", "base", "nut", pitch=0.05),
    )  # fmt: skip
    scene.place(nut, at=Pose((0.0, -2.0, 1.0)))
    lift = Part("lift").add(
        Element("base", mass=1.0), block("plate", (0.4, 0.4, 0.02), 1.0),
        Joint("Z", "slider", "base", "plate", max_speed=0.3),
    )  # fmt: skip
    scene.place(lift)
    scene.engine("kinematic", owns=["lift"]).engine("mujoco", prescribed=["bars/J1"])
    ours = cycle(scene)
    ours.state.target[ours.world.single_dof("lift/Z")] = 0.2
    ours.state.target[ours.world.single_dof("bars/J1")] = 2.0
    ours.state.target_speed[ours.world.single_dof("bars/J1")] = 1.5
    return ours


def test_restored_state_goes_on_bit_for_bit() -> None:
    """A copy taken during contacts, in this or another world of the scene, runs the same."""
    ours = lively()
    move(ours, 120)
    middle = ours.state.copy()
    move(ours, 150)
    end = ours.state.copy()
    assert len(ours.contacts()) > 3
    for other in (ours, lively()):
        other.restore(middle)
        move(other, 150)
        assert other.state.difference(end) == ""


def test_first_state_restores_changed_parameters_bit_for_bit() -> None:
    """Run, change mass, gravity, friction and damping, restore, run: the same numbers."""
    ours = lively()
    first = ours.state.copy()
    move(ours, 150)
    end = ours.state.copy()
    ours.state["param/mass"][1:] *= 1.7
    ours.state["param/friction"][:] *= 0.3
    ours.state["param/damping"][:] += 0.2
    ours.state["param/joint_friction"][:] += 0.1
    ours.state["param/gravity"][:] = 1.0, 0.0, -3.0
    ours.refresh()
    move(ours, 50)
    ours.restore(first)
    move(ours, 150)
    assert ours.state.difference(end) == ""


# Failure


def pulled_apart() -> Cycle:
    """Returns an arm that is grabbed with an extreme stiffness."""
    ours = cycle(Scene("test").place(arm()))
    body = ours.world.body("arm/link")
    ours.state["param/grab"][0] = 1.0, body, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0, 1e12, 0.0
    ours.refresh()
    return ours


def test_divergence_names_the_joint_and_changes_nothing() -> None:
    """The failed step leaves coordinates, poses and memory unchanged, without NaN."""
    probe, ours = pulled_apart(), pulled_apart()
    with pytest.raises(EngineError, match=r"diverged at .* s \(joint arm/J\)"):
        move(probe, 100)
    move(ours, probe.state.step)
    before = ours.state.copy()
    with pytest.raises(EngineError):
        ours.move()
    kept = ["q", "v", "pose", "twist", "engine/0-mujoco/warmstart", "engine/0-mujoco/saturation"]
    for field in kept:
        assert ours.state[field].tobytes() == before[field].tobytes()
    assert not np.isnan(ours.state.data).any()


def test_session_goes_on_after_a_divergence_is_mended(tmp_path: Path, monkeypatch) -> None:
    """Without the cause the session continues from before the failed step, without a log."""
    monkeypatch.chdir(tmp_path)
    with Session(Scene("test").place(arm())) as session:
        session.step(10)
        grab = session.state["param/grab"]
        body = session.world.body("arm/link")
        grab[0] = 1.0, body, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0, 1e12, 0.0
        session.cycle.refresh()
        with pytest.raises(EngineError, match="diverged"):
            session.step(100)
        grab[0, 0] = 0.0
        session.state.v[:] = 0.0
        session.cycle.refresh()
        session.step(100)
        assert np.isfinite(session.state.q).all()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:.*Check model")
def test_joints_that_do_the_same_are_an_error_that_names_one() -> None:
    """Two chained hinges on one axis are undetermined."""
    part = Part("part").add(
        Element("post", mass=1.0),
        block("link", (0.1, 0.1, 0.1), 1.0),
        Joint("J1", "hinge", "post", "J2", axis=SIDE),
        Joint("J2", "hinge", "J1", "link", axis=SIDE),
    )
    ours = cycle(Scene("test").place(part))
    before = ours.state.copy()
    with pytest.raises(EngineError, match=r"MuJoCo cannot continue at 0.000 s: .* joint part/J"):
        ours.move()
    assert ours.state.q.tobytes() == before.q.tobytes()


HERE = Origin("robot.toml", 7)


def test_moving_body_without_mass_is_refused_with_its_place() -> None:
    """The error names the element and its line."""
    part = Part("part").add(
        Element("post", mass=1.0),
        Element("ghost", (Box((0.1, 0.1, 0.1)),), origin=HERE),
        Joint("J", "hinge", "post", "ghost"),
    )
    with pytest.raises(EngineError, match=r"robot.toml:7: part/ghost: .*needs mass"):
        cycle(Scene("test").place(part))


def test_point_mass_is_a_pendulum() -> None:
    """A mass without shape hangs from its joint; check notes its assumed extent."""
    part = Part("part").add(
        Element("post", mass=1.0),
        Element("bob", mass=0.3),
        Joint("J", "hinge", "post", "bob", axis=SIDE, at_to=Pose((0.0, 0.0, 0.5)), value=0.1),
    )
    ours = cycle(Scene("test", step=0.001).place(part))
    period = 2.0 * math.pi * math.sqrt(0.5 / G) * (1.0 + 0.1**2 / 16.0)
    steps = round(period / ours.h)
    move(ours, steps)
    assert ours.state.q[0] == pytest.approx(0.1, abs=1e-3)
    assert [f.about for f in ours.findings if "gyration" in f.text] == ["part/bob"]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_flat_body_keeps_its_inertia(scale: float) -> None:
    """A skew lamina is at the limit of valid inertias; rounding must not change it."""
    turn = Pose.of(rpy=(0.3, 1.1, -0.4)).matrix()
    matrix = turn @ np.diag([1.0, 2.0, 3.0]) @ turn.T * scale
    plate = Element("plate", inertia=Inertia.of(scale, (0.0, 0.0, 0.0), (matrix + matrix.T) / 2.0))
    part = Part("part").add(
        Element("post", mass=1.0), plate, Joint("J", "hinge", "post", "plate", axis=SIDE)
    )
    scene = Scene("test", gravity=(0.0, 0.0, 0.0)).place(part)
    ours = cycle(scene.actuator("push", "effort", joint="part/J"))
    ours.state.target_effort[0] = scale
    move(ours, 10)
    assert ours.state.v[0] == pytest.approx(10 * ours.h * scale / matrix[1, 1], rel=1e-6)


def test_element_called_world_is_no_trouble() -> None:
    """The name of MuJoCo's world body is allowed."""
    scene = Scene("test").add(Element("world", (Plane(),)))
    scene.place(loose("ball", Sphere(0.05)), at=Pose((0.0, 0.0, 0.1)), base="free")
    ours = cycle(scene)
    move(ours, 300)
    assert ours.state.q[2] == pytest.approx(0.05, abs=1e-3)


def test_scene_without_anything_that_moves_runs() -> None:
    """An empty scene is valid."""
    ours = cycle(Scene("test").add(Element("ground", (Plane(),))))
    move(ours, 3)
    assert ours.state.step == 3


def test_stiff_joint_range_of_one_value_holds() -> None:
    """A range whose ends are equal holds the joint there."""
    ours = cycle(Scene("test").place(arm(range=(0.2, 0.2))))
    move(ours, 200)
    assert ours.state.q[0] == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"prescribed": ["arm/K"]}, "arm/K"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"loop_tim": 0.1}, "Did you mean 'loop_time'"),
        ({"owns": ["arms"]}, "arms"),
    ],
)
def test_wrong_parameters_are_refused_with_their_place(params: dict, words: str) -> None:
    """Each error names the parameter and its origin."""
    scene = Scene("test").place(arm())
    scene.engines = [Spec("engine", "mujoco", params=params, origin=HERE)]
    with pytest.raises(Exception, match=r"^robot.toml:7: ") as caught:
        cycle(scene)
    assert words in str(caught.value)


def test_what_mujoco_gives_up_is_an_error_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little memory gives an error with time and remedy, not a traceback."""
    whole = build_model
    scene = Scene("test").place(arm(drive=servo(kp=20.0, kd=1.0)))
    for memory in range(200, 1000, 50):

        def cramped(*given: Any, extras: Any, memory: int = memory, **more: Any) -> Any:
            less = [*extras, lambda build: setattr(build.spec, "memory", memory)]
            return whole(*given, extras=less, **more)

        monkeypatch.setattr(mujoco_engine, "build_model", cramped)
        try:
            ours = cycle(scene)
        except EngineError:  # too little even to compile it
            continue
        for _ in range(2):  # the same error again: its data were reset
            with pytest.raises(EngineError, match=r"MuJoCo failed at 0\.000 s: .*smaller step"):
                ours.move()
        break
    else:
        pytest.fail("no size of memory lets it compile and no more")
