"""What a report says of steps that are too long for the motion."""

import re

import numpy as np
import pytest

from linkwork.parts import Joint, Part, Spec
from linkwork.scene import Scene
from linkwork.session.session import Session
from mechanisms import bar, centres, chain, four_bar, ground, scene_of


def told(step: float, order: int, count: int) -> tuple[str, np.ndarray]:
    """The hint after 1 s of a chain, and where its bars are after every tenth."""
    with Session(scene_of(chain(count), step=step, order=order)) as session:
        places = []
        for _ in range(10):
            session.step(round(0.1 / step))
            places.append(centres(session))
        (account,) = session.report().accounts
        hint = account.hint(step)
        assert (hint in account.lines(step)) == bool(hint)
        return hint, np.array(places)


@pytest.mark.capability(11)
@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.parametrize("count", [2, 6])
def test_a_coarse_step_is_told_and_the_one_to_try_is_better(order: int, count: int) -> None:
    """In steps of 50 ms a chain is wrong by tenths of a millimetre and more; by far less then."""
    _, truth = told(5e-4, 6, count)
    hint, places = told(0.05, order, count)
    assert "Steps of 50 ms are coarse for this motion" in hint
    (better,) = re.findall(r"try ([\d.]+) ms", hint)
    assert 5.0 <= float(better) < 50.0
    again, finer = told(1e-3 * float(better), order, count)
    assert again == ""
    assert np.abs(places - truth).max() > 1e-4
    assert np.abs(finer - truth).max() < 0.25 * np.abs(places - truth).max()


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_nothing_is_said_of_steps_that_are_fine(step: float) -> None:
    hint, _ = told(step, 4, 6)
    assert hint == ""


def test_a_servo_that_settles_is_no_coarse_motion() -> None:
    """Without gravity, too: what is left of its motion is rounding, and the jump is over soon."""
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
        assert f"{account.halved} of 40 had to be taken in pieces: try" in account.hint(0.05)
