"""Joint by joint: stops, friction and drives act as they do when all joints are solved at once."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.parts import Joint, Part, Spec
from linkwork.session.session import Session
from linkwork.spatial import Pose
from mechanisms import bar, ground, scene_of

G = 9.81


def block(**more: Any) -> Part:
    """A body of 0.5 kg that slides up and down."""
    part = Part("lift").add(ground(), bar("block", 0.3, 0.5))
    return part.add(Joint("J", "slider", "ground", "block", axis=(0, 0, 1), **more))


def arm(**more: Any) -> Part:
    """Two bars on hinges, the first of which has something acting along it."""
    part = Part("arm").add(ground(), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3, deep=0.05))
    return part.add(
        Joint("J", "hinge", "ground", "one", axis=(0, 1, 0), speed=2.0, **more),
        Joint("K", "hinge", "one", "two", at=Pose.of((0.3, 0, 0)), axis=(0.6, 0.8, 0), value=0.4),
    )


@pytest.mark.capability(12)
@pytest.mark.parametrize("most", [1, 50])
def test_a_block_falls_on_its_stop_and_stays_there(most: int) -> None:
    """It falls by g t²/2 with nothing to correct, and is at its stop from then on, never below."""
    with Session(scene_of(block(range=(-0.5, 3.0)), solver="anytime", most=most)) as session:
        session.step(300)
        assert session["lift/J.position"] == pytest.approx(-0.5 * G * 0.3**2, abs=1e-9)
        for _ in range(500):
            session.step()
            assert session["lift/J.position"] >= -0.5 - 1e-9
        assert session["lift/J.position"] == pytest.approx(-0.5, abs=1e-9)
        assert session["lift/J.speed"] == pytest.approx(0.0, abs=1e-9)


def test_a_block_that_bounces_comes_back_as_high_as_its_restitution_says() -> None:
    """Half of the speed is a quarter of the height."""
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
    """What is left of the weight moves the block; where nothing is left it stays."""
    with Session(scene_of(block(friction=friction), solver="anytime")) as session:
        session.step(300)
        left = max(0.5 * G - friction, 0.0) / 0.5
        assert session["lift/J.position"] == pytest.approx(-0.5 * left * 0.3**2, abs=1e-6)


@pytest.mark.parametrize("most", [1, 50])
def test_a_stop_is_not_passed_by_an_arm(most: int) -> None:
    """With a second bar behind it that kicks, and however short the time to correct."""
    with Session(scene_of(arm(range=(-0.3, 0.5)), solver="anytime", most=most)) as session:
        places = []
        for _ in range(600):
            session.step()
            places.append(session.state.q[0])
        (account,) = session.report().accounts
    assert max(places) > 0.499
    past = max(places) - 0.5  # what K leaves after J's last turn, which is told
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
    """Dampers, friction and servos, at their limits too."""
    anytime = {"solver": "anytime", "gap": 1e-8, "speed_gap": 1e-6, "most": 500}
    with (
        Session(scene_of(arm(**more), **anytime)) as ours,
        Session(scene_of(arm(**more), "mujoco", step=2.5e-5)) as theirs,
    ):
        ours.step(250)
        theirs.step(10_000)
        np.testing.assert_allclose(ours.state.q, theirs.state.q, atol=1e-3)
