"""Springs and dampers of ball joints: motion, energy and efforts, against MuJoCo and formulas."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from mechanisms import ground

STIFFNESS, DAMPING = 0.2, 0.003
TURN = (0.5, -0.3, 0.4)
WAYS: dict[str, Any] = {"impulse": {"order": 4}, "mujoco": {"integrator": "RK4"}}


def swinging(**more: Any) -> Part:
    """Returns a block on a ball joint whose frames are rotated in both bodies."""
    shape = Box(size=(0.1, 0.15, 0.2), at=Pose.of((0.02, 0.03, 0.05)), collide=False)
    given: dict[str, Any] = {"stiffness": STIFFNESS, "value": TURN} | more
    at, at_to = Pose.of((0, 0, 1), rpy=(0.3, 0.1, 0.2)), Pose.of((0, 0, 0.1), rpy=(0.4, -0.5, 0.6))
    return Part("one").add(
        ground(), Element("block", (shape,), mass=0.4),
        Joint("tip", "ball", "ground", "block", at=at, at_to=at_to, axis=(0, 1, 0), **given),
    )  # fmt: skip


def scene(part: Part, engine: str, **params: Any) -> Scene:
    return Scene("space", gravity=(0, 0, -1.0), step=1e-3).place(part).engine(engine, **params)


def turn_of(session: Session) -> np.ndarray:
    """Returns the rotation vector of the joint, from its quaternion [rad]."""
    w, *xyz = session.state.q[:4]
    size = float(np.linalg.norm(xyz))
    return np.array(xyz) * (2.0 * math.atan2(size, w) / size)


def test_a_slack_spring_holds_nothing() -> None:
    """At its rest position it has no energy and no effort."""
    part = swinging(value=None)
    with Session(Scene("space", gravity=(0, 0, 0)).place(part).engine("impulse")) as session:
        session.step()
        np.testing.assert_allclose(session.state.report.energy, 0.0, atol=1e-20)
        np.testing.assert_allclose(session.state.report.effort, 0.0, atol=1e-15)


def test_a_ball_swings_on_its_spring_as_in_mujoco() -> None:
    """Path, energy and efforts: k r² / 2, −k r by the spring, −d ω by the damper."""
    part, reported = swinging(damping=DAMPING), []
    for engine, params in WAYS.items():
        with Session(scene(part, engine, **params)) as session:
            session.step(300)
            report = session.state.report
            r, v = turn_of(session), session.state.v
            np.testing.assert_allclose(report.effort, -STIFFNESS * r - DAMPING * v, atol=1e-6)
            reported.append([*session.state.q, *v, *report.energy, *report.effort])
    np.testing.assert_allclose(reported[0], reported[1], atol=1e-6)


def test_the_energy_of_a_ball_on_its_spring_is_kept() -> None:
    with Session(scene(swinging(), "impulse", order=4)) as session:
        session.step()
        first = session.state.report.energy.sum()
        kinetic = []
        for _ in range(20):
            session.step(100)
            kinetic.append(session.state.report.energy[0])
            assert session.state.report.energy.sum() == pytest.approx(first, abs=1e-8)
        assert max(kinetic) > 1e-3


def test_dampers_of_a_ball_act_about_the_axes_of_its_body() -> None:
    """One damper per axis, set at run time, as in MuJoCo."""
    ends = []
    for engine, params in WAYS.items():
        with Session(scene(swinging(), engine, **params)) as session:
            for axis, damping in (("rx", 0.0), ("ry", 0.004), ("rz", 0.02)):
                session[f"one/tip.{axis}_damping"] = damping
            session.step(300)
            ends.append([*session.state.q, *session.state.v])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize("engine", ["impulse", "mujoco"])
def test_a_rest_that_a_ball_does_not_have_is_told(engine: str) -> None:
    with Session(scene(swinging(rest=0.3), engine)) as session:
        assert any("rest is ignored" in str(f) for f in session.cycle.findings)
