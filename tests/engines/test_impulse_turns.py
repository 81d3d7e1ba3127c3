"""Full turns are counted, for any number of turns per step and any coupling."""

from typing import Any

import numpy as np
import pytest

from linkwork.geometry import Pose
from linkwork.kinematics.kernels import forward_poses
from linkwork.model.parts import Box, Coupling, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from mechanisms import bar, ground


def block(name: str) -> Element:
    return Element(name, (Box(size=(0.1, 0.1, 0.1), collide=False),), mass=1.0)


def in_space(part: Part, step: float, **params: Any) -> Session:
    scene = Scene("space", gravity=(0, 0, 0), step=step).place(part).engine("impulse", **params)
    return Session(scene)


WHEELS: dict[str, dict[str, Any]] = {
    "hinge": {"speed": 1.0},
    "hinge with a rotor": {"speed": 1.0, "armature": 0.01},
    "cylindrical": {"speed": (0.0, 1.0)},
    "planar": {"speed": (0.0, 0.0, 1.0)},
    "screw": {"speed": 1.0, "pitch": 0.001},
}


@pytest.mark.parametrize("params", [{"order": 2}, {"order": 4}, {"order": 6}])
@pytest.mark.parametrize("kind", WHEELS)
@pytest.mark.parametrize("speed", [250.0, 314.15926, 400.0, -1000.0])
def test_a_wheel_may_turn_more_than_once_in_a_step(
    kind: str, speed: float, params: dict[str, Any]
) -> None:
    """Its angle is velocity times time, up to 10 rad per step, including half turns."""
    more = dict(WHEELS[kind])
    more["speed"] = tuple(speed * np.atleast_1d(more["speed"]).astype(float))
    part = Part("wheel").add(ground(), block("disc"))
    part.add(Joint("J", kind.split()[0], "ground", "disc", axis=(0, 0, 1), **more))
    with in_space(part, 0.01, **params) as session:
        session.step(50)
        assert session.state.q[-1] == pytest.approx(0.5 * speed, rel=1e-9)
        assert session.state.v[-1] == pytest.approx(speed, rel=1e-9)
        assert session.report().accounts[0].exceeded == 0
        if kind == "screw":
            z = session.state.pose[session.world.body("wheel/disc"), 2]
            assert z == pytest.approx(0.001 * 0.5 * speed / (2 * np.pi), rel=1e-9)


def test_gears_may_turn_more_than_once_in_a_step() -> None:
    """A follower three times as fast as a wheel with half a turn per step."""
    part = Part("gears").add(ground(), block("one"), block("two"))
    part.add(
        Joint("A", "hinge", "ground", "one", axis=(0, 0, 1), speed=310.0),
        Joint("B", "hinge", "ground", "two", at=Pose.of((0.3, 0, 0)), axis=(0, 0, 1), speed=-930.0),
        Coupling("B", "A", ratio=-3.0),
    )
    with in_space(part, 0.01) as session:
        session.step(50)
        np.testing.assert_allclose(session.state.q, [155.0, -465.0], rtol=1e-9)


#: A joint of several coordinates, and joints that follow two of them.
COUPLED: dict[str, dict[str, Any]] = {
    "cylindrical": {
        "speed": (0.5, 20.0), "position": ("slider", "J.position"), "angle": ("hinge", "J.angle"),
    },
    "universal": {
        "speed": (20.0, 19.0), "axis2": (1, 0, 0),
        "first": ("hinge", "J.angle1"), "second": ("hinge", "J.angle2"),
    },
    "planar": {
        "speed": (0.3, 0.2, 20.0), "way": ("slider", "J.x"), "angle": ("hinge", "J.angle"),
    },
}  # fmt: skip


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("kind", COUPLED)
def test_two_coordinates_of_one_joint_may_be_coupled(kind: str, order: int) -> None:
    """Both followers obey their laws for many turns, bodies match the coordinates."""
    more = dict(COUPLED[kind])
    ends = {name: more.pop(name) for name in list(more) if name not in ("speed", "axis2")}
    part = Part("rig").add(ground(), bar("nut", 0.1, 0.5, wide=0.1, deep=0.08))
    part.add(Joint("J", kind, "ground", "nut", axis=(0, 0, 1), **more))
    for n, (name, (follower, leader)) in enumerate(ends.items()):
        at = Pose.of((0.4 * (n + 1), 0, 0))
        part.add(block(name), Joint(f"F{n}", follower, "ground", name, at=at, axis=(0, 0, 1)))
        part.add(Coupling(f"F{n}", leader, ratio=2.0 - n))
    with in_space(part, 1e-3, order=order) as session:
        state, world = session.state, session.world
        dofs = {world.dof_name(d): d for d in range(world.nv)}
        followers = [dofs[f"rig/F{n}"] for n in range(2)]
        leading = [dofs[f"rig/{leader}"] for _, leader in ends.values()]
        session.step()
        first = state.report.energy[0]
        before = state.q.copy()
        poses = state.pose.copy()
        for _ in range(1000):
            session.step()
            # continuous: the displacement of a step is that of its mean velocity
            assert np.abs(state.q - before).max() < 0.05
            before[:] = state.q
            for n in range(2):
                gap = state.q[followers[n]] - (2.0 - n) * state.q[leading[n]]
                assert abs(gap) < 1e-9
        forward_poses(*world.tree, state.q, poses)
        np.testing.assert_allclose(poses, state.pose, atol=1e-8)
        assert np.abs(state.q).max() > 4.0
        assert state.report.energy[0] == pytest.approx(first, rel=1e-2)
