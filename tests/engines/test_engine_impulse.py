"""The impulse engine: all joint types, joint forces, loops, unsupported features."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from linkwork.core.errors import EngineError
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Coupling, Joint, Loop, Part, Spec
from linkwork.model.parts.joint import RailPiece
from linkwork.model.scene import Scene
from linkwork.session.messages import GrabElement
from linkwork.session.session import Session
from mechanisms import bar, centers, chain, four_bar, ground, scene_of

STARTS = {
    "hinge": {"speed": 2.0},
    "slider": {"speed": 0.3},
    "ball": {"speed": (2.0, -1.0, 3.0)},
    "universal": {"speed": (2.0, 1.5), "axis2": (0.0, 0.0, 1.0)},
    "cylindrical": {"speed": (0.3, 2.0)},
    "planar": {"speed": (0.2, 0.3, 2.0)},
}


def arm(kind: str, **more: Any) -> Part:
    """Returns a bar on a joint of some kind, and another on a hinge behind it."""
    part = Part("arm").add(ground(), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3, deep=0.05))
    given: dict[str, Any] = {**STARTS.get(kind, {}), **more}
    at = Pose.of((0, 0, 0), rpy=(0.2, 0.3, 0.1))
    return part.add(
        Joint("J", kind, "ground", "one", at=at, axis=(0, 1, 0), **given),
        Joint("K", "hinge", "one", "two", at=Pose.of((0.3, 0, 0)), axis=(0.6, 0.8, 0), value=0.4),
    )


def run(scene: Scene, seconds: float) -> Session:
    session = Session(scene)
    session.step(round(seconds / scene.step))
    return session


@pytest.mark.parametrize("kind", STARTS)
def test_every_joint_moves_as_in_mujoco(kind: str) -> None:
    """Coordinates and velocities after 1/3 s, against MuJoCo's Runge-Kutta."""
    with (
        run(scene_of(arm(kind), order=6, step=2e-3), 0.3) as ours,
        run(scene_of(arm(kind), "mujoco", integrator="RK4", step=2.5e-4), 0.3) as theirs,
    ):
        np.testing.assert_allclose(ours.state.pose, theirs.state.pose, atol=2e-7)
        np.testing.assert_allclose(ours.state.q, theirs.state.q, atol=2e-7)
        np.testing.assert_allclose(ours.state.v, theirs.state.v, atol=2e-6)
        energies = [each.state.report.energy.sum() for each in (ours, theirs)]
        assert energies[0] == pytest.approx(energies[1], abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("screw", {"pitch": 0.05, "speed": 3.0}),
        ("rail", {"rail": (RailPiece(0.7, turn=0.8, climb=0.5),), "speed": 0.8,
                  "value": 0.1}),
    ],
)  # fmt: skip
def test_screws_and_bent_rails_are_exact(kind: str, more: dict[str, Any]) -> None:
    """The body's pose follows its coordinate to rounding, and energy is kept."""
    with Session(scene_of(arm(kind, **more), order=4)) as session:
        session.step()
        first = session.state.report.energy.sum()
        session.step(400)
        assert session.state.report.energy.sum() == pytest.approx(first, abs=1e-6)
        there = session.state.pose.copy()
        session.cycle.refresh()  # sets the bodies from the coordinates
        np.testing.assert_allclose(session.state.pose, there, atol=1e-9)


@pytest.mark.parametrize(
    "more",
    [
        {"damping": 0.05}, {"stiffness": 2.0, "rest": 0.3}, {"armature": 0.02}, {"friction": 0.1},
        {"drive": Spec("actuator", "servo", params={"kp": 8.0, "kd": 0.1})},
        {"drive": Spec("actuator", "servo", params={"kp": 50.0, "kd": 1.0}), "max_effort": 0.2},
        {"armature": 0.01, "damping": 0.02, "stiffness": 1.0},
    ],
)  # fmt: skip
def test_what_acts_on_a_joint_acts_as_in_mujoco(more: dict[str, Any]) -> None:
    """Springs, dampers, rotors, friction and servos, also at their limits."""
    with (
        run(scene_of(arm("hinge", **more)), 0.25) as ours,
        run(scene_of(arm("hinge", **more), "mujoco", step=2.5e-5), 0.25) as theirs,
    ):
        np.testing.assert_allclose(ours.state.q, theirs.state.q, atol=4e-4)


@pytest.mark.parametrize(
    "params",
    [{"order": 2}, {"order": 4}, {"order": 6}, {"solver": "anytime", "max_iterations": 500}],
)
@pytest.mark.parametrize(("kp", "kd"), [(4000.0, 40.0), (60.0, 4.0)])
def test_a_weight_that_servos_hold_is_at_rest(params: dict[str, Any], kp: float, kd: float) -> None:
    """The effort equals the weight's moment, and no velocity of half a step remains."""
    part = Part("held").add(ground(), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3))
    servo = Spec("actuator", "servo", params={"kp": kp, "kd": kd})
    part.add(
        Joint("J", "hinge", "ground", "one", axis=(0, 1, 0), drive=servo),
        Joint("K", "hinge", "one", "two", at=Pose.of((0.3, 0, 0)), axis=(0, 1, 0), drive=servo),
    )
    with run(scene_of(part, **params), 2.0) as session:
        q = session.state.q
        outer = 0.3 * 9.81 * 0.1 * math.cos(q[0] + q[1])
        inner = outer + 9.81 * (0.5 * 0.15 + 0.3 * 0.3) * math.cos(q[0])
        np.testing.assert_allclose(session.state.report.effort, [-inner, -outer], rtol=1e-5)
        np.testing.assert_allclose(-kp * q, [-inner, -outer], rtol=1e-5)
        np.testing.assert_allclose(session.state.v, 0.0, atol=2e-7)
        np.testing.assert_allclose(session.state.twist, 0.0, atol=2e-7)


def test_a_stiff_damper_takes_a_speed_away_at_once() -> None:
    """v decreases as fast as damper and step allow, and never reverses."""
    servo = Spec("actuator", "servo", params={"kp": 0.0, "kd": 50.0})
    part = Part("wheel").add(ground(), bar("one", 0.3, 0.5))
    part.add(Joint("J", "hinge", "ground", "one", axis=(0, 0, 1), speed=3.0, drive=servo))
    with Session(scene_of(part, order=2)) as session:
        inertia = 0.5 * (0.3**2 / 3.0 + 0.04**2 / 12.0)
        left = 3.0
        for _ in range(5):
            session.step()
            left /= 1.0 + 1e-3 * 50.0 / inertia  # backward Euler's
            assert session.state.v[0] == pytest.approx(left, rel=0.05, abs=1e-6)


@pytest.mark.parametrize("order", [2, 4, 6])
def test_rotors_keep_the_order(order: int) -> None:
    """A rotor on the first hinge of two, against MuJoCo's Runge-Kutta with small steps."""
    rotor = arm("hinge", armature=0.02)
    with run(scene_of(rotor, "mujoco", integrator="RK4", step=2.5e-4), 0.2) as theirs:
        truth = theirs.state.q.copy()
    step, errors = 0.02 if order == 6 else 8e-3, []
    for h in (step, step / 2):
        with run(scene_of(rotor, order=order, step=h), 0.2) as ours:
            errors.append(np.linalg.norm(ours.state.q - truth))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3), errors


def test_a_stop_is_never_passed() -> None:
    """A joint reaches its limit and stays; it is never beyond it after any step."""
    with Session(scene_of(arm("hinge", range=(-0.3, 0.5)))) as session:
        positions = []
        for _ in range(1500):
            session.step()
            positions.append(session.state.q[0])
    assert max(positions) > 0.4999
    assert max(positions) <= 0.5 + 1e-9
    assert min(positions) >= -0.3 - 1e-9


def test_gears_hold_exactly_over_many_turns() -> None:
    """A follower obeys its law over many turns, and energy is kept."""
    part = Part("gears").add(ground(), bar("one", 0.1, 0.5), bar("two", 0.2, 0.4))
    part.add(
        Joint("A", "hinge", "ground", "one", axis=(0, 0, 1), speed=20.0),
        Joint("B", "hinge", "ground", "two", at=Pose.of((0.3, 0, 0)), axis=(0, 0, 1), speed=-40.0),
        Coupling("B", "A", ratio=-2.0),
    )
    with Session(scene_of(part)) as session:
        session.step()
        first = session.state.report.energy[0]
        for _ in range(50):
            session.step(100)
            a, b = session.state.q
            assert b == pytest.approx(-2.0 * a, abs=1e-9)
        assert abs(session.state.q[0]) > 10 * math.pi
        assert session.state.report.energy[0] == pytest.approx(first, rel=1e-6)


def test_a_prescribed_joint_is_where_it_is_told() -> None:
    """With any effort; other bodies react to it."""
    reported = arm("hinge", speed=0.0, max_speed=2.0)
    with Session(scene_of(reported, prescribed=["arm/J"])) as session:
        session["arm/J.target"] = 0.4
        session.step(1000)
        assert session["arm/J.angle"] == pytest.approx(0.4, abs=1e-9)
        assert session["arm/J.effort"] != 0.0


@pytest.mark.parametrize("order", [2, 4, 6])
def test_a_prescribed_joint_goes_evenly(order: int) -> None:
    """Its position and velocity are exact after every step, with any substeps."""
    reported = arm("hinge", speed=0.0, max_speed=2.0)
    with Session(scene_of(reported, prescribed=["arm/J"], order=order)) as session:
        session["arm/J.target"] = 0.4
        for n in range(1, 100):
            session.step()
            assert session["arm/J.angle"] == pytest.approx(2e-3 * n, abs=1e-9)
            assert session["arm/J.speed"] == pytest.approx(2.0, abs=1e-6)


def test_a_loop_drawn_open_is_closed_and_told() -> None:
    """The report names the body with the largest displacement."""
    with Session(scene_of(four_bar(open_by=0.02))) as session:
        assert session.state.report.gap[0] < 1e-12
        notes = [str(f) for f in session.cycle.findings]
        assert any("to close all joints" in note for note in notes), notes
        assert any("are redundant" in note for note in notes), notes


def test_a_body_that_is_turned_to_close_a_loop_is_told() -> None:
    """Its center stays: only its attitude changes, which is reported."""
    angle = math.radians(25.0)
    cube = ground("cube")
    part = Part("one").add(ground(), cube, Joint("J", "free", "ground", "cube"))
    part.add(Anchor("a", "ground", Pose.of((0, 0, 0), rpy=(angle, 0, 0))), Anchor("b", "cube"))
    part.add(Loop("L", "a", "b", "fixed"))
    with Session(scene_of(part)) as session:
        notes = [str(f) for f in session.cycle.findings]
        assert any("cube: was turned by 25°" in note for note in notes), notes
        assert not any("was moved" in note for note in notes), notes


def test_joints_that_contradict_each_other_are_refused_by_name() -> None:
    """A hinge rotated out of the plane of the others cannot close."""
    named = r"four_bar/[A-D] cannot be closed.*(four_bar/[A-D], ){2}four_bar/[A-D]"
    with pytest.raises(EngineError, match=named):
        Session(scene_of(four_bar(turned=0.3)))


def test_what_has_no_mass_is_refused() -> None:
    part = Part("thing").add(ground(), bar("one", 0.1, 0.0))
    part.add(Joint("J", "hinge", "ground", "one"))
    with pytest.raises(EngineError, match="needs a mass"):
        Session(scene_of(part))


def test_bodies_that_should_touch_are_named() -> None:
    """The engine has no contacts, which is reported before the run."""
    with Session(scene_of(chain(2))) as session:
        assert not any("pass through" in str(f) for f in session.cycle.findings)
    cube = ground("cube")
    hard = replace(cube, shapes=tuple(replace(shape, collide=True) for shape in cube.shapes))
    scene = scene_of(chain(2)).place(Part("solid").add(hard), base="free")
    with Session(scene) as session:
        assert any("pass through" in str(f) for f in session.cycle.findings)


@pytest.mark.capability(11)
def test_a_step_that_cannot_be_closed_is_halved_or_stops() -> None:
    """At extreme velocity and step it continues in halves, or gives the reason."""
    wild = arm("hinge", speed=40.0)
    with Session(scene_of(wild, step=0.02, max_iterations=4)) as session:
        session.step(5)
        assert np.isfinite(session.state.pose).all()
        apart = centers(session)[1] - centers(session)[0]
        assert np.linalg.norm(apart) < 0.3
    with (
        pytest.raises(EngineError, match="cannot be closed"),
        Session(scene_of(wild, step=0.02, max_iterations=1, on_gap="stop")) as session,
    ):
        session.step(5)


@pytest.mark.capability(99)
def test_a_door_that_is_pulled_by_hand_keeps_to_its_hinge() -> None:
    """The pulled door only rotates, to the tolerance."""
    part = Part("door").add(ground("frame"), bar("leaf", 0.8, 5.0, deep=1.8))
    part.add(Joint("pin", "hinge", "frame", "leaf", axis=(0, 0, 1), damping=0.5))
    with Session(scene_of(part)) as session:
        session.send(
            GrabElement(
                "door/leaf", (0.0, 0.9, 0.3), (0.8, 0.0, 0.0), stiffness=200.0, damping=20.0
            )
        )
        session.step(2000)
        assert session["door/pin.angle"] == pytest.approx(math.pi / 2, abs=0.05)
        (account,) = session.report().accounts
        assert account.gap <= 1e-10
