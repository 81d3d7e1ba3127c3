"""The Lagrange engine: orders of its methods, energy, ground contact, compliant drives."""

import math
from dataclasses import replace

import numpy as np
import pytest

from linkwork.core.errors import LinkworkError
from linkwork.dynamics import aba
from linkwork.formats import load_scene
from linkwork.geometry import Pose
from linkwork.kinematics import integrate
from linkwork.model.parts import Anchor, Box, Element, Joint, Part, Plane, Spec
from linkwork.model.scene import Scene
from linkwork.model.world import World
from linkwork.session.session import Session


def swing(**more: object) -> Part:
    """Returns a bar on a hinge, initially level."""
    bar = Box(size=(0.4, 0.04, 0.04), at=Pose((0.2, 0.0, 0.0)), collide=False)
    part = Part("swing").add(Element("stand", (), mass=1.0))
    part.add(Element("bar", (bar,), mass=0.5))
    hinge = Joint("hinge", "hinge", "stand", "bar", axis=(0.0, 1.0, 0.0))
    return part.add(replace(hinge, **more))  # type: ignore[arg-type]


def arm() -> Part:
    """Returns a bar on a ball joint with another on a hinge: quaternions and Coriolis forces."""
    part = Part("arm").add(Element("stand", (), mass=1.0))
    for n, (kind, at) in enumerate((("ball", 0.0), ("hinge", 0.4))):
        bar = Box(size=(0.4, 0.06, 0.04), at=Pose((0.2, 0.0, 0.0)), collide=False)
        part.add(Element(f"e{n}", (bar,), mass=0.5))
        before = "stand" if n == 0 else "e0"
        speed = (3.0, -2.0, 1.0) if kind == "ball" else 4.0
        place = Pose((at, 0.0, 0.0))
        part.add(Joint(f"j{n}", kind, before, f"e{n}", at=place, axis=(0.0, 1.0, 0.0), speed=speed))
    return part


def after(part: Part, seconds: float, step: float, **params: object) -> tuple[World, np.ndarray]:
    """Returns the coordinates after some time."""
    scene = Scene("s", step=step).place(part).engine("lagrange", **params)
    with Session(scene, watch=False) as session:
        session.run(seconds)
        return session.world, np.concatenate([session.state.q, session.state.v])


def by_aba(world: World, seconds: float, count: int) -> np.ndarray:
    """Returns the same motion by Gragg's extrapolated midpoint rule with small steps."""

    def run(steps: int) -> np.ndarray:
        q, v, h, none = world.q0.copy(), world.v0.copy(), seconds / steps, np.zeros(world.nv)
        for _ in range(steps):
            half = v + 0.5 * h * aba(world, q, v, none)
            middle = integrate(world, q, v, 0.5 * h)
            v = v + h * aba(world, middle, half, none)
            q = integrate(world, q, half, h)
        return np.concatenate([q, v])

    return (4.0 * run(2 * count) - run(count)) / 3.0


@pytest.mark.capability(70)
@pytest.mark.parametrize(
    ("integrator", "order", "steps"), [("heun", 2, 40), ("rk4", 4, 20), ("rk8", 8, 5)]
)
def test_each_method_has_its_order(integrator: str, order: int, steps: int) -> None:
    """Halving the step divides errors by 2 to the order, also for quaternions."""
    _, truth = after(arm(), 0.4, 0.001, integrator="rk8")
    errors = [
        float(np.abs(after(arm(), 0.4, 0.4 / n, integrator=integrator)[1] - truth).max())
        for n in (steps, 2 * steps)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.6)


def test_motion_is_that_of_articulated_bodies() -> None:
    """Cholesky along the tree and Featherstone's recursion give the same motion."""
    world, made = after(arm(), 0.2, 0.001)
    np.testing.assert_allclose(made, by_aba(world, 0.2, 400), atol=2e-6)


def test_a_free_body_keeps_its_angular_momentum_and_energy() -> None:
    """Tumbling about the middle axis, where the motion is unstable."""
    box = Element(
        "box", (Box(size=(0.1, 0.2, 0.3), collide=False),), mass=1.0, spin=(0.1, 6.0, 0.1)
    )
    scene = Scene("s", step=0.002, gravity=(0, 0, 0)).place(Part("p").add(box), base="free")
    with Session(scene.engine("lagrange"), watch=False) as session:
        turn = session.world.inertia[1]

        def momentum() -> np.ndarray:
            row = session.state.pose[1]
            axes = Pose.of(row[:3].tolist(), quat=row[3:].tolist()).matrix()[:3, :3]
            return axes @ turn @ axes.T @ session.state.twist[1, 3:]

        session.step()
        first, energy = momentum(), session.state.report.energy.sum()
        session.run(5.0)
        np.testing.assert_allclose(momentum(), first, atol=1e-9)
        assert session.state.report.energy.sum() == pytest.approx(energy, rel=1e-9)


def crate(spot: float, *, tilt: float = 0.0) -> Scene:
    """Returns a box with four contact points on a plane, optionally tilted about y."""
    part = Part("crate").add(Element("box", (Box(size=(0.2, 0.2, 0.1)),), mass=2.0, friction=0.0))
    names = []
    for n, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        part.add(Anchor(f"p{n}", "box", Pose((0.1 * x, 0.1 * y, -0.05))))
        names.append(f"crate/p{n}")
    scene = Scene("s", step=0.001)
    plane = Plane(at=Pose.of(rpy=(0.0, tilt, 0.0)))
    scene.add(Element("ground", (plane,), friction=0.5))
    at = Pose.of(rpy=(0.0, tilt, 0.0)) @ Pose((0.0, 0.0, 0.05 + spot))
    scene.place(part, at=at, base="free")
    scene.sensor("touch", "contact", on="crate/box", whole_body=True)
    return scene.engine("lagrange", contacts=names)


@pytest.mark.capability(78)
def test_contact_points_carry_the_weight_and_never_pull() -> None:
    """Dropped from 5 cm it bounces and comes to rest on four springs (Schwanen 2002 eq. 4.7)."""
    with Session(crate(0.05), watch=False) as session:
        seen = []
        for _ in range(1500):
            session.step()
            count = session.state.report.contact_count
            seen += session.state.report.contacts[:count, 11].tolist()
        assert min(seen) >= 0.0
        assert session["touch.force"] == pytest.approx(2.0 * 9.81, rel=1e-3)
        depth = 2.0 * 9.81 / (4 * 50_000.0)
        assert session.state.pose[-1, 2] == pytest.approx(0.05 - depth, abs=1e-6)


@pytest.mark.parametrize("tilt", [0.3, 0.7])
def test_points_grip_up_to_the_angle_of_friction_and_slide_beyond(tilt: float) -> None:
    """µ = 0.5: at 0.3 rad it sticks, at 0.7 rad it slides by Coulomb's law."""
    with Session(crate(-0.0001, tilt=tilt), watch=False) as session:
        session.run(0.4)
        speed, place = np.linalg.norm(session.state.v[:3]), session.state.q[:3].copy()
        session.run(0.2)
        if math.tan(tilt) < 0.5:
            assert np.linalg.norm(session.state.q[:3] - place) < 1e-6
        else:
            gained = np.linalg.norm(session.state.v[:3]) - speed
            pull = 9.81 * (math.sin(tilt) - 0.5 * math.cos(tilt))
            assert gained / 0.2 == pytest.approx(pull, rel=1e-3)


@pytest.mark.capability(88)
def test_a_compliant_drive_yields_and_its_rotor_swings() -> None:
    """At rest the deflection is load over stiffness; pushed, it oscillates on its spring."""
    drive = Spec("actuator", "servo", params={"kp": 1e5, "kd": 200.0})
    scene = Scene("s", step=0.001).place(swing(armature=0.01, drive=drive))
    scene.engine("lagrange", compliance={"swing/hinge": 40.0}, compliance_damping=1.0)
    with Session(scene, watch=False) as session:
        session.run(3.0)
        sag = session["swing/hinge.angle"]
        weight = 0.5 * 9.81 * 0.2 * math.cos(sag)
        assert sag == pytest.approx(weight / 40.0 + weight / 1e5, rel=1e-4)
    part = swing(armature=0.01, drive=drive, speed=1.0)
    free = Scene("s", step=0.001, gravity=(0, 0, 0)).place(part)
    free.engine("lagrange", compliance={"swing/hinge": 40.0}, compliance_damping=0.0)
    with Session(free, watch=False) as session:
        angles = []
        for _ in range(1000):
            session.step()
            angles.append(session["swing/hinge.angle"])
    inertia = 0.5 * (0.4**2 / 3.0 + 0.04**2 / 12.0)
    up = [n for n in range(999) if angles[n] < 0.0 <= angles[n + 1]]
    period = 1e-3 * (up[-1] - up[0]) / (len(up) - 1)
    assert period == pytest.approx(2.0 * math.pi * math.sqrt(inertia / 40.0), rel=5e-3)
    assert max(angles[500:]) == pytest.approx(max(angles[:200]), rel=0.02)  # it is not damped


def test_an_actuators_own_rotor_may_turn_on_the_spring() -> None:
    """A smart servo has a rotor: the joint needs no armature of its own."""
    drive = Spec("actuator", "smart_servo", params={"rotor_inertia": 1e-6, "gear": 200.0})
    scene = Scene("s", step=0.001).place(swing(drive=drive))
    scene.engine("lagrange", compliance={"swing/hinge": 200.0})
    with Session(scene, watch=False) as session:
        session.run(0.2)
        assert session["swing/hinge.angle"] > 0.0


def test_ends_of_a_range_hold() -> None:
    """A bar that falls on its limit stays near it, and stops bouncing."""
    scene = Scene("s", step=0.002).place(swing(range=(-0.5, 0.5))).engine("lagrange")
    with Session(scene, watch=False) as session:
        highest = 0.0
        for _ in range(1500):
            session.step()
            highest = max(highest, session["swing/hinge.angle"])
        assert highest < 0.53
        assert session["swing/hinge.angle"] == pytest.approx(0.5, abs=0.01)
        assert abs(session["swing/hinge.speed"]) < 1e-6


def test_stiff_drives_are_taken_in_pieces_or_refused() -> None:
    """A servo a hundred times too stiff for the step is stable; extreme ones are errors."""
    drive = Spec("actuator", "servo", params={"kp": 1e5, "kd": 1e3})
    with Session(
        Scene("s", step=0.002).place(swing(drive=drive)).engine("lagrange"), watch=False
    ) as session:
        session.run(0.2)
        assert abs(session["swing/hinge.angle"]) < 1e-3
    absurd = Spec("actuator", "servo", params={"kp": 1e12, "kd": 1e9})
    scene = Scene("s", step=0.002).place(swing(drive=absurd)).engine("lagrange")
    with Session(scene, watch=False) as session, pytest.raises(LinkworkError, match="so stiff"):
        session.run(0.1)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"contacts": ["swing/nose"]}, "nose"),
        ({"contacts": ["swing/stand"]}, "does not move"),
        ({"compliance": {"swing/hinge": 10.0}}, "no armature"),
        ({"compliance": {"swing/elbow": 10.0}}, "elbow"),
        ({"compliance": {"swing/hinge": 0}}, "compliance.swing/hinge must be a number above 0"),
        ({"integrator": "rk5"}, "rk5"),
        ({"code": "fast"}, "one of generated, recursive"),
    ],
)
def test_mistakes_are_named(params: dict[str, object], match: str) -> None:
    """Unknown points and joints, rotors without inertia, unknown methods."""
    scene = Scene("s").place(swing()).engine("lagrange", **params)
    with pytest.raises(LinkworkError, match=match):
        Session(scene, watch=False)


def test_what_needs_other_engines_is_refused() -> None:
    """A loop is rejected, not approximated, and the message names other engines."""
    scene = load_scene("mechanisms/four_bar")
    scene.engines.clear()
    scene.engine("lagrange")
    with pytest.raises(LinkworkError, match="Lagrange does not support loops"):
        Session(scene, watch=False)
