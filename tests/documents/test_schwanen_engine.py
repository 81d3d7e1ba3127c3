"""Schwanen 2002: motion of BARt-UH II: integrator, energy, ground contact."""

import math
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.lagrange import rk4
from linkwork.session.session import Session


def runge_kutta(printed: bool, steps: int) -> float:
    """Returns the error after one period of ẍ = −x; as printed (4.22) k2 is at q + k1."""
    h = 2.0 * math.pi / steps
    x = np.array([1.0, 0.0])

    def rate(at: np.ndarray) -> np.ndarray:
        return np.array([at[1], -at[0]])

    for _ in range(steps):
        k1 = h * rate(x)
        k2 = h * rate(x + (k1 if printed else k1 / 2.0))
        k3 = h * rate(x + k2 / 2.0)
        k4 = h * rate(x + k3)
        x = x + (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
    return float(np.abs(x - [1.0, 0.0]).max())


@pytest.mark.capability(70)
def test_the_runge_kutta_method_is_of_order_four_unlike_the_printed_one() -> None:
    """With k2 at q + k1/2 half the step divides errors by 16; as printed by 2."""
    right = runge_kutta(False, 50) / runge_kutta(False, 100)
    assert math.log2(right) == pytest.approx(4.0, abs=0.1)
    wrong = runge_kutta(True, 200) / runge_kutta(True, 400)
    assert math.log2(wrong) == pytest.approx(1.0, abs=0.2)
    a, b = rk4()
    assert a[1].tolist() == [0.5, 0.0, 0.0, 0.0]
    assert b.sum() == pytest.approx(1.0)


def undriven() -> lw.Part:
    """Returns the robot without drives and ranges."""
    part = lw.load_part("bart_uh/biped")
    for name, joint in part.joints.items():
        part.joints[name] = replace(joint, drive=None, range=None)
    return part


def test_the_undamped_swinging_leg_keeps_its_energy() -> None:
    """Torso fixed, legs released from bent hips and knees: to 1e-6 J over 10 s, by default."""
    scene = lw.Scene("swing", step=0.002).place(undriven(), name="robot").engine("lagrange")
    scene.postures["bent"] = {"robot/right_hip_x": 0.5, "robot/right_knee": -0.6}
    scene.start = "bent"
    with Session(scene, watch=False) as session:
        session.step()
        first = session.state.report.energy.sum()
        kinetic = 0.0
        for _ in range(500):
            session.step(10)
            kinetic = max(kinetic, session.state.report.energy[0])
            assert abs(session.state.report.energy.sum() - first) < 1e-6
        assert kinetic > 1.0


@pytest.mark.capability(78, 79, 86)
def test_it_stands_on_four_springs_under_each_foot() -> None:
    """Floating, held by its drives: each foot's sensors read half of its weight."""
    scene = lw.load_scene("bart_uh/upright")
    corners = [f"robot/{s}_{a}_{b}" for s in ("right", "left")
               for a in ("front", "rear") for b in ("left", "right")]  # fmt: skip
    scene.engines.clear()
    scene.engine("lagrange", contacts=corners)
    with Session(scene, watch=False) as session:
        start = session["robot.z"]
        session.run(1.0)
        assert session["robot.z"] == pytest.approx(start, abs=0.01)
        for side in ("right", "left"):
            assert session[f"robot/{side}_tread.force"] == pytest.approx(11.0 * 9.81, rel=0.02)
            assert session[f"robot/{side}_tread.front_left"] > 0.0
