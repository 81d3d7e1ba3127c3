"""Recursive dynamics of every joint type agrees with d'Alembert's principle."""

import math

import numpy as np
import pytest

from linkwork.core.errors import LinkworkError
from linkwork.dynamics import Load, aba, accelerations, bias, crba, drift, holding_efforts, rnea
from linkwork.geometry import Pose
from linkwork.geometry.pose import Pose as AnyPose
from linkwork.kinematics import forward, integrate, jacobian, velocities
from linkwork.model.parts import Box, Element, Joint, Part, RailPiece
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

KINDS = ["hinge", "slider", "ball", "universal", "cylindrical", "screw", "planar", "rail"]


def chain(*, base: str) -> World:
    """Returns all joint types in series, each skew, and a side branch."""
    part = Part("p").add(Element("e0", (Box(size=(0.2, 0.1, 0.3)),), mass=2.0))
    for n, kind in enumerate([*KINDS, "hinge"]):
        at = Pose.of((0.2, -0.1, 0.15), rpy=(0.3, -0.4, 0.2))
        shape = Box(size=(0.1, 0.15, 0.2), at=Pose((0.05, 0.02, -0.03)))
        part.add(Element(f"e{n + 1}", (shape,), mass=1.0 + 0.1 * n))
        part.add(
            Joint(
                f"j{n}",
                kind,
                "e3" if n == len(KINDS) else f"e{n}",
                f"e{n + 1}",
                at=at,
                at_to=Pose.of((-0.1, 0.05, 0.02), rpy=(0.1, 0.5, -0.2)),
                axis=(1.0, 2.0, -2.0),
                axis2=(2.0, 1.0, 2.0),
                pitch=0.2 if kind == "screw" else 0.0,
                rail=(RailPiece(2.0, turn=1.1, climb=0.4),) if kind == "rail" else (),
                armature=0.3 if kind == "hinge" else 0.0,
            )
        )
    return compile_scene(Scene("s").place(part, name="p", base=base, at=AnyPose((0.3, 0.4, 1.0))))


def state(world: World, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns coordinates, velocities and accelerations."""
    rng = np.random.default_rng(seed)
    q = integrate(world, world.q0, rng.uniform(0.1, 0.8, world.nv), 1.0)
    return q, *rng.uniform(-1, 1, (2, world.nv))


def turned(world: World, pose: np.ndarray, body: int) -> np.ndarray:
    """Returns the inertia of a body about its center of mass, world axes."""
    turn = AnyPose((0, 0, 0), tuple(pose[body, 3:])).matrix()[:3, :3]
    return turn @ world.inertia[body] @ turn.T


def by_hand(world: World, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """d'Alembert: returns Σ Jᵀ (m (a − g); I α + ω × I ω) over bodies, with numpy."""
    pose = forward(world, q)
    twist, acceleration = velocities(world, q, v, pose), accelerations(world, q, v, a)
    made = world.armature * a
    for b in range(1, world.nb):
        own = turned(world, pose, b)
        spin = twist[b, 3:]
        force = world.mass[b] * (acceleration[b, :3] - world.scene.gravity)
        moment = own @ acceleration[b, 3:] + np.cross(spin, own @ spin)
        whole = jacobian(world, q, world.body_names[b], point=in_frame(world, b))
        made = made + whole.T @ np.concatenate([force, moment])
    return made


def in_frame(world: World, body: int) -> np.ndarray:
    """Returns the center of mass of a body in the frame of its name."""
    local = world.frame(world.body_names[body])[1]
    return np.array(local.inverse().apply(world.com[body]))


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_accelerations_are_the_rates_of_velocities(base: str) -> None:
    """For every joint type, against central differences along the motion."""
    world = chain(base=base)
    q, v, a = state(world, 1)
    h = 1e-5
    sides = []
    for sign in (-1.0, 1.0):
        # q moves by h v + h² a / 2 in the middle of the step
        there = integrate(world, q, v + 0.5 * sign * h * a, sign * h)
        sides.append(velocities(world, there, v + sign * h * a, forward(world, there)))
    expected = (sides[1] - sides[0]) / (2.0 * h)
    np.testing.assert_allclose(accelerations(world, q, v, a), expected, atol=1e-7)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_efforts_follow_dalembert(base: str) -> None:
    """Newton–Euler gives the work of all forces and moments along each degree of freedom."""
    world = chain(base=base)
    for seed in range(3):
        q, v, a = state(world, seed)
        np.testing.assert_allclose(rnea(world, q, v, a), by_hand(world, q, v, a), atol=1e-11)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_forward_and_inverse_dynamics_agree(base: str) -> None:
    """rnea = M a + bias, and aba inverts it."""
    world = chain(base=base)
    q, v, a = state(world, 4)
    effort = rnea(world, q, v, a)
    mass = crba(world, q)
    np.testing.assert_allclose(mass, mass.T, atol=0.0)
    np.testing.assert_allclose(mass @ a + bias(world, q, v), effort, atol=1e-11)
    np.testing.assert_allclose(aba(world, q, v, effort), a, atol=1e-10)


def test_the_drift_of_a_point_is_what_its_jacobian_changes_by() -> None:
    """J̇ v against the difference of J along the motion."""
    world = chain(base="free")
    q, v, _ = state(world, 2)
    h = 1e-6
    point = (0.1, -0.2, 0.05)
    sides = [jacobian(world, integrate(world, q, v, s), "p/e8", point=point) @ v for s in (-h, h)]
    np.testing.assert_allclose(
        drift(world, q, v, "p/e8", point=point), (sides[1] - sides[0]) / (2 * h), atol=1e-7
    )


def pendulum() -> World:
    """A rod of 0.5 m with its mass of 2 kg at the end, hanging from a hinge about y."""
    part = Part("p").add(
        Element("stand", mass=1.0),
        Element("bob", (Box(size=(0.01, 0.01, 0.01), at=Pose((0.0, 0.0, -0.5))),), mass=2.0),
        Joint("hinge", "hinge", "stand", "bob", axis=(0.0, 1.0, 0.0)),
    )
    return compile_scene(Scene("s").place(part, name="p", base="fixed"))


@pytest.mark.capability(146)
def test_a_held_pendulum_needs_its_lever() -> None:
    """τ = m g l sin q against gravity, and −l F cos q against a push at its end."""
    world = pendulum()
    q = np.array([0.7])
    lever = 2.0 * 9.81 * 0.5 * math.sin(0.7)
    assert holding_efforts(world, q) == pytest.approx([lever], rel=1e-12)
    push = Load("p/bob", force=(3.0, 0.0, 0.0), point=(0.0, 0.0, -0.5))
    expected = lever + 3.0 * 0.5 * math.cos(0.7)
    assert holding_efforts(world, q, loads=[push]) == pytest.approx([expected], rel=1e-12)


def test_a_joint_without_mass_is_named() -> None:
    """An undefined acceleration is an error that names the joint."""
    part = Part("p").add(
        Element("stand", mass=1.0), Element("arrow", mass=0.0),
        Joint("hinge", "hinge", "stand", "arrow"),
    )  # fmt: skip
    world = compile_scene(Scene("s").place(part, name="p", base="fixed"))
    with pytest.raises(LinkworkError, match="p/hinge"):
        aba(world, np.zeros(1), np.zeros(1), np.zeros(1))
    with pytest.raises(LinkworkError, match="v must have 1 numbers"):
        rnea(world, np.zeros(1), np.zeros(2), np.zeros(1))


@pytest.mark.capability(146)
@pytest.mark.parametrize(
    "loads", [Load("arm/link"), ["arm/link"], [("arm/link", (0, 0, 1))], "arm/link", 3, {"a": 1}]
)
def test_a_wrong_load_is_told_what_is_taken(loads: object) -> None:
    """The message shows what was given and how to write a load."""
    part = Part("arm").add(
        Element("base", mass=1.0), Element("link", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Joint("J", "hinge", "base", "link"),
    )  # fmt: skip
    world = compile_scene(Scene("s").place(part))
    with pytest.raises(LinkworkError, match=r"Load.*, not .*Write loads=\[Load\("):
        holding_efforts(world, world.q0, loads=loads)  # type: ignore[arg-type]
