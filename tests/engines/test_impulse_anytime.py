"""Sequential solver: limits, friction and drives act as with the direct solver."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.geometry import Pose
from linkwork.model.parts import Joint, Part, Spec
from linkwork.session.session import Session
from mechanisms import bar, ground, scene_of

G = 9.81


def block(**more: Any) -> Part:
    """Returns a body of 0.5 kg that slides vertically."""
    part = Part("lift").add(ground(), bar("block", 0.3, 0.5))
    return part.add(Joint("J", "slider", "ground", "block", axis=(0, 0, 1), **more))


def arm(**more: Any) -> Part:
    """Returns two bars on hinges, the first with a force law."""
    part = Part("arm").add(ground(), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3, deep=0.05))
    return part.add(
        Joint("J", "hinge", "ground", "one", axis=(0, 1, 0), speed=2.0, **more),
        Joint("K", "hinge", "one", "two", at=Pose.of((0.3, 0, 0)), axis=(0.6, 0.8, 0), value=0.4),
    )


@pytest.mark.capability(12)
@pytest.mark.parametrize("most", [1, 50])
def test_a_block_falls_on_its_stop_and_stays_there(most: int) -> None:
    """It falls by g t²/2 without corrections, reaches its limit and never passes it."""
    with Session(
        scene_of(block(range=(-0.5, 3.0)), solver="anytime", max_iterations=most)
    ) as session:
        session.step(300)
        assert session["lift/J.position"] == pytest.approx(-0.5 * G * 0.3**2, abs=1e-9)
        for _ in range(500):
            session.step()
            assert session["lift/J.position"] >= -0.5 - 1e-9
        assert session["lift/J.position"] == pytest.approx(-0.5, abs=1e-9)
        assert session["lift/J.speed"] == pytest.approx(0.0, abs=1e-9)


def test_a_block_that_bounces_comes_back_as_high_as_its_restitution_says() -> None:
    """Half of the velocity is a quarter of the height."""
    part = block(range=(-0.5, 3.0), restitution=0.5)
    with Session(scene_of(part, solver="anytime", step=2e-4)) as session:
        down = round(math.sqrt(2 * 0.5 / G) / 2e-4)
        session.step(down + 5)
        highest = -0.5
        for _ in range(down):
            session.step()
            highest = max(highest, session["lift/J.position"])
        assert highest == pytest.approx(-0.5 + 0.25 * 0.5, abs=1e-3)


@pytest.mark.parametrize("friction", [1.0, 10.0])
def test_friction_slows_a_fall_or_holds(friction: float) -> None:
    """The remaining weight accelerates the block; if none remains it stays."""
    with Session(scene_of(block(friction=friction), solver="anytime")) as session:
        session.step(300)
        left = max(0.5 * G - friction, 0.0) / 0.5
        assert session["lift/J.position"] == pytest.approx(-0.5 * left * 0.3**2, abs=1e-6)


@pytest.mark.parametrize("most", [1, 50])
def test_a_stop_is_not_passed_by_an_arm(most: int) -> None:
    """With a second bar behind it, and with any number of sweeps."""
    with Session(
        scene_of(arm(range=(-0.3, 0.5)), solver="anytime", max_iterations=most)
    ) as session:
        positions = []
        for _ in range(600):
            session.step()
            positions.append(session.state.q[0])
        (account,) = session.report().accounts
    assert max(positions) > 0.499
    past = max(positions) - 0.5  # what K leaves after J's last turn, which is told
    assert past <= min(account.gap + 1e-12, 2e-3)


@pytest.mark.parametrize(
    "more",
    [
        {"damping": 0.05}, {"friction": 0.1},
        {"drive": Spec("actuator", "servo", params={"kp": 8.0, "kd": 0.1})},
        {"drive": Spec("actuator", "servo", params={"kp": 50.0, "kd": 1.0}), "max_effort": 0.2},
    ],
)  # fmt: skip
def test_what_acts_on_a_joint_acts_as_in_mujoco(more: dict[str, Any]) -> None:
    """Dampers, friction and servos, also at their limits."""
    anytime = {"solver": "anytime", "gap": 1e-8, "speed_gap": 1e-6, "max_iterations": 500}
    with (
        Session(scene_of(arm(**more), **anytime)) as ours,
        Session(scene_of(arm(**more), "mujoco", step=2.5e-5)) as theirs,
    ):
        ours.step(250)
        theirs.step(10_000)
        np.testing.assert_allclose(ours.state.q, theirs.state.q, atol=1e-3)
