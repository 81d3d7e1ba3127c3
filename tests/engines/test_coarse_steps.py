"""Hints about steps that are too long for the motion."""

import re

import numpy as np
import pytest

from linkwork.model.parts import Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from mechanisms import bar, centers, chain, four_bar, ground, scene_of


def reported(step: float, order: int, count: int) -> tuple[str, np.ndarray]:
    """Returns the hint after 1 s of a chain, and the poses of its bars every 0.1 s."""
    with Session(scene_of(chain(count), step=step, order=order)) as session:
        positions = []
        for _ in range(10):
            session.step(round(0.1 / step))
            positions.append(centers(session))
        (account,) = session.report().accounts
        hint = account.hint(step)
        assert (hint in account.lines(step)) == bool(hint)
        return hint, np.array(positions)


@pytest.mark.capability(11)
@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.parametrize("count", [2, 6])
def test_a_coarse_step_is_told_and_the_one_to_try_is_better(order: int, count: int) -> None:
    """With 50 ms steps a chain is wrong by 0.1 mm and more; by far less with the hinted step."""
    _, truth = reported(5e-4, 6, count)
    hint, positions = reported(0.05, order, count)
    assert "Steps of 50 ms are coarse for this motion" in hint
    (better,) = re.findall(r"Try ([\d.]+) ms", hint)
    assert 5.0 <= float(better) < 50.0
    again, finer = reported(1e-3 * float(better), order, count)
    assert again == ""
    assert np.abs(positions - truth).max() > 1e-4
    assert np.abs(finer - truth).max() < 0.25 * np.abs(positions - truth).max()


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_nothing_is_said_of_steps_that_are_fine(step: float) -> None:
    hint, _ = reported(step, 4, 6)
    assert hint == ""


def test_a_servo_that_settles_is_no_coarse_motion() -> None:
    """Also without gravity: the remaining motion is rounding, and the jump is short."""
    servo = Spec("actuator", "servo", params={"kp": 100.0, "kd": 2.0})
    part = Part("arm").add(ground(), bar("rod", 0.3, 0.5))
    part.add(Joint("J", "hinge", "ground", "rod", axis=(0, 0, 1), drive=servo))
    scene = Scene("still", gravity=(0, 0, 0)).place(part).engine("impulse")
    with Session(scene) as session:
        session["arm/J.target"] = 0.2
        session.step(3000)
        (account,) = session.report().accounts
        assert account.hint(1e-3) == ""


def test_many_steps_in_pieces_are_told_by_order_2_too() -> None:
    with Session(scene_of(four_bar(), step=0.05, order=2)) as session:
        session.step(40)
        (account,) = session.report().accounts
        assert account.rough == 0.0
        assert account.halved > 2
        assert f"{account.halved} of 40 were subdivided. Try" in account.hint(0.05)
