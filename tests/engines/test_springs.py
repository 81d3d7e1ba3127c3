"""Springs between anchors, and limits with restitution, on both dynamic engines."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.core.errors import EngineError, PartError, SceneError
from linkwork.geometry import Inertia, Pose
from linkwork.model.parts import Anchor, Box, Element, Joint, Part, Spring
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from mechanisms import bar, ground, scene_of

STIFFNESS, MASS, G = 50.0, 2.0, 9.81


def block(name: str = "block", mass: float = MASS, **more: Any) -> Element:
    return Element(name, (Box(size=(0.1, 0.1, 0.1), collide=False),), mass=mass, **more)


def hung(**spring: Any) -> Part:
    """Returns a block on a vertical slider, half a meter below the anchor of its spring."""
    given: dict[str, Any] = {"stiffness": STIFFNESS, "rest": 0.4} | spring
    return Part("scale").add(
        ground(), block(), Joint("lift", "slider", "ground", "block", at=Pose.of((0, 0, -0.5))),
        Anchor("hook", "ground"), Anchor("eye", "block"), Spring("coil", "hook", "eye", **given),
    )  # fmt: skip


@pytest.mark.capability(16)
@pytest.mark.parametrize(
    ("engine", "params", "near"),
    [
        ("impulse", {}, 2e-5), ("impulse", {"order": 4}, 1e-8),
        ("mujoco", {"integrator": "RK4"}, 1e-8),
    ],
)  # fmt: skip
def test_a_block_swings_on_its_spring_as_the_closed_form_says(
    engine: str, params: dict[str, Any], near: float
) -> None:
    """q(t) = q0 (1 − cos ωt) about the equilibrium; energy is kept."""
    middle = 0.1 - MASS * G / STIFFNESS
    rate = math.sqrt(STIFFNESS / MASS)
    with Session(scene_of(hung(), engine, **params)) as session:
        first = 0.0
        for _ in range(10):
            session.step(100)
            first = first or session.state.report.energy.sum()
            truth = middle * (1.0 - math.cos(rate * session.time))
            assert session["scale/lift.position"] == pytest.approx(truth, abs=near)
            assert session["scale/coil.length"] == pytest.approx(0.5 - truth, abs=near)
            pull = STIFFNESS * (0.1 - truth)
            assert session["scale/coil.force"] == pytest.approx(pull, abs=1e3 * near)
            assert session.state.report.energy.sum() == pytest.approx(first, abs=1e-4)


@pytest.mark.parametrize("engine", ["impulse", "mujoco"])
def test_a_stiff_spring_comes_to_rest_and_a_live_one_can_be_changed(engine: str) -> None:
    """A million times too stiff for the step, it still holds its block."""
    part = hung(stiffness=5e7, damping=100.0, rest=None)
    with Session(scene_of(part, engine)) as session:
        session.step(200)
        assert session["scale/lift.position"] == pytest.approx(0.0, abs=1e-4)
        session["scale/coil.stiffness"] = 100.0
        session["scale/coil.damping"] = 40.0
        session["scale/coil.rest"] = 0.3
        session.step(3000)
        there = 0.2 - MASS * G / 100.0
        assert session["scale/lift.position"] == pytest.approx(there, abs=1e-5)


def test_a_spring_without_rest_length_passes_through_zero() -> None:
    """A free block swings through the anchor to the other side."""
    part = Part("loose").add(
        ground(), block(), Joint("free", "free", "ground", "block", at=Pose.of((0.3, 0, 0))),
        Anchor("hook", "ground"), Anchor("eye", "block"),
        Spring("coil", "hook", "eye", stiffness=STIFFNESS, rest=0.0),
    )  # fmt: skip
    scene = Scene("space", gravity=(0, 0, 0), step=1e-3).place(part).engine("impulse", order=4)
    rate = math.sqrt(STIFFNESS / MASS)
    with Session(scene) as session:
        for _ in range(10):
            session.step(100)
            truth = 0.3 * math.cos(rate * session.time)
            assert session["loose/free.x"] == pytest.approx(truth, abs=1e-8)


def test_a_torsion_spring_is_as_the_spring_of_its_hinge() -> None:
    """Over several turns, a spring between anchors acts as one on the joint."""
    twisted = []
    for spring in (False, True):
        more: dict[str, Any] = {} if spring else {"stiffness": 0.4, "damping": 0.01, "rest": 0.5}
        part = Part("door").add(ground(), bar("leaf", 0.3, 0.5))
        part.add(
            Joint("pin", "hinge", "ground", "leaf", axis=(0, 1, 0), speed=25.0, **more),
            Anchor("frame", "ground"), Anchor("edge", "leaf"),
        )  # fmt: skip
        if spring:
            law = {"stiffness": 0.4, "damping": 0.01, "rest": 0.5, "axis": (0, 1, 0)}
            part.add(Spring("coil", "frame", "edge", "torsion", **law))
        with Session(scene_of(part)) as session:
            most = 0.0
            for _ in range(60):
                session.step(10)
                most = max(most, session["door/pin.angle"])
            assert most > math.pi  # more than half a turn
            if spring:
                assert session["door/coil.angle"] == pytest.approx(session["door/pin.angle"])
            twisted.append([session["door/pin.angle"], session.state.report.energy.sum()])
    np.testing.assert_allclose(twisted[0], twisted[1], atol=1e-9)


def test_a_torsion_spring_that_is_turned_aside_keeps_energy() -> None:
    """On a ball, against the gradient of k θ² / 2 with θ = 2 atan2(z, w)."""
    stiffness, inertia, step = 0.4, 0.2**2 / 6, 4e-3

    def rates(state: np.ndarray) -> np.ndarray:
        q, spin = state[:4], state[4:]

        def turn(by: np.ndarray) -> np.ndarray:
            return 0.5 * np.array([-q[1:] @ by, *(q[0] * by + np.cross(q[1:], by))])

        def energy(q: np.ndarray) -> float:
            return 0.5 * stiffness * (2.0 * math.atan2(q[3], q[0])) ** 2

        small = 1e-6 * np.eye(3)
        slope = [(energy(q + turn(e)) - energy(q - turn(e))) / 2e-6 for e in small]
        return np.array([*turn(spin), *(-np.array(slope) / inertia)])

    cube = Element("cube", (Box(size=(0.2, 0.2, 0.2), collide=False),), mass=1.0)
    part = Part("one").add(
        ground(), cube, Anchor("a", "ground"), Anchor("b", "cube"),
        Joint("tip", "ball", "ground", "cube", value=(0.6, 0.3, 0.8), speed=(1.0, -0.5, 0.3)),
        Spring("coil", "a", "b", "torsion", stiffness=stiffness, rest=0.0, axis=(0, 0, 1)),
    )  # fmt: skip
    scene = Scene("space", gravity=(0, 0, 0), step=step).place(part).engine("impulse", order=4)
    with Session(scene) as session:
        truth = np.array([*session.state.q, *session.state.v])
        session.step()
        first = session.state.report.energy.sum()
        session.step(99)
        for _ in range(400):
            k1 = rates(truth)
            k2 = rates(truth + 5e-4 * k1)
            k3 = rates(truth + 5e-4 * k2)
            k4 = rates(truth + 1e-3 * k3)
            truth += 1e-3 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        np.testing.assert_allclose([*session.state.q, *session.state.v], truth, atol=1e-6)
        angle = 2.0 * math.atan2(truth[3], truth[0])
        assert session["one/coil.angle"] == pytest.approx(angle, abs=1e-6)
        assert session["one/coil.torque"] == pytest.approx(stiffness * angle, abs=1e-6)
        assert session.state.report.energy.sum() == pytest.approx(first, abs=1e-8)


def test_what_engines_cannot_do_with_springs_is_told() -> None:
    part = hung(type="torsion")
    with pytest.raises(EngineError, match=r"coil: Mujoco has no torsion springs"):
        Session(scene_of(part, "mujoco"))
    with Session(scene_of(hung(), "kinematic")) as session:
        assert any("the spring has no effect" in str(f) for f in session.cycle.findings)


def test_springs_that_are_none_are_refused() -> None:
    with pytest.raises(PartError, match="stiffness must be 0 or more"):
        Spring("s", "a", "b", stiffness=-1.0)
    with pytest.raises(PartError, match=r"no type 'bent'. Available types: linear, torsion"):
        Spring("s", "a", "b", "bent")
    with pytest.raises(PartError, match="spring name 'lift' is taken by the joint"):
        hung().add(Spring("lift", "hook", "eye"))
    both = Part("one").add(block(), Anchor("a", "block"), Anchor("b", "block"))
    both.add(Spring("s", "a", "b"))
    with pytest.raises(SceneError, match="joins two anchors of one rigid body"):
        Session(Scene("bench").place(both, base="free"))


@pytest.mark.capability(16)
@pytest.mark.parametrize(
    ("engine", "height", "late"), [("impulse", 1e-5, 2e-3), ("mujoco", 0.03, 0.06)]
)
def test_a_stop_gives_back_its_part_of_the_speed(engine: str, height: float, late: float) -> None:
    """Each bounce is e² as high as the previous one, at the closed-form time."""
    bounce, drop = 0.8, 0.5
    part = Part("drop").add(
        ground(), block(),
        Joint("fall", "slider", "ground", "block", range=(-drop, 3.0), restitution=bounce),
    )  # fmt: skip
    with Session(scene_of(part, engine)) as session:
        tops, before = [], 0.0
        while len(tops) < 4:
            session.step()
            speed = session["drop/fall.speed"]
            if before > 0.0 >= speed:
                tops.append((session.time, session["drop/fall.position"] + drop))
            before = speed
        session.step(4000)
        resting = session["drop/fall.position"], session["drop/fall.speed"]
    when, high = math.sqrt(2 * drop / G), drop
    for number, (time, top) in enumerate(tops, start=1):
        high *= bounce**2
        up = math.sqrt(2 * high / G)
        assert top == pytest.approx(high, abs=height)
        assert time == pytest.approx(when + up, abs=number * late)
        when += 2 * up
    assert resting == pytest.approx((-drop, 0.0), abs=1e-2)


@pytest.mark.parametrize("thin", [1e-5, 2e-6])
def test_a_thin_wire_swings_about_itself_as_the_closed_form_says(thin: float) -> None:
    """q = cos ωt with ω² = k / I; inertias are unchanged, without a note."""
    much, rate = 0.5 * 1.0 / 12, 20.0
    wire = Inertia.of(0.5, (0.5, 0, 0), np.diag([thin * much, much, much]))
    part = Part("wire").add(ground(), Element("wire", (), mass=0.5, inertia=wire))
    stiffness = rate**2 * thin * much
    part.add(Joint("J", "hinge", "ground", "wire", axis=(1, 0, 0), value=1.0, stiffness=stiffness))
    with Session(scene_of(part, order=4)) as session:
        assert not any("inertia" in str(f) for f in session.cycle.findings)
        session.step(300)
        assert session["wire/J.angle"] == pytest.approx(math.cos(rate * 0.3), abs=1e-6)


def test_a_wire_that_is_too_thin_is_told() -> None:
    wire = Inertia.of(0.5, (0.5, 0, 0), np.diag([1e-9, 0.1, 0.1]))
    part = Part("wire").add(ground(), Element("wire", (), mass=0.5, inertia=wire))
    part.add(Joint("J", "hinge", "ground", "wire", axis=(0, 1, 0)))
    with Session(scene_of(part)) as session:
        reported = [str(f) for f in session.cycle.findings]
        assert any("1e-08 of the largest; Impulse uses 1e-06" in each for each in reported)


@pytest.mark.capability(14)
def test_a_rod_without_inertia_about_its_axis_swings_as_a_pendulum() -> None:
    """The smallest inertia may be 0; energy is kept."""
    thin = Inertia.of(0.5, (0.15, 0, 0), np.diag([0.0, 0.5 * 0.3**2 / 12, 0.5 * 0.3**2 / 12]))
    part = Part("rod").add(ground(), Element("rod", (), mass=0.5, inertia=thin))
    part.add(Joint("tip", "ball", "ground", "rod", speed=(30.0, 2.0, 1.0)))
    with Session(scene_of(part)) as session:
        session.step()
        first = session.state.report.energy.sum()
        session.step(1000)
        assert session.state.report.energy.sum() == pytest.approx(first, abs=2e-4)
        assert session.report().accounts[0].gap <= 1e-10


def test_springs_are_no_joints_whose_forces_are_shown() -> None:
    """The studio shows forces of joints and loops, not of springs."""
    with Session(scene_of(hung())) as session:
        session.step(10)
        rows = session.cycle.joint_forces()
        assert rows[:, 6].tolist() == [0.0]
