"""The kit of BARt-UH II: it stands on its own feet, which feel its weight."""

import pytest

from linkwork.session.session import Session


@pytest.mark.capability(79)
def test_it_stands_and_its_feet_carry_its_weight() -> None:
    """After a second it is where it began, half of 22 kg on each foot, spread over four corners."""
    with Session("bart_uh/upright", watch=False) as session:
        start = session["robot.z"]
        session.run(1.0)
        assert session["robot.z"] == pytest.approx(start, abs=0.01)
        for side in ("right", "left"):
            corners = [
                session[f"robot/{side}_tread.{end}_{edge}"]
                for end in ("front", "rear")
                for edge in ("left", "right")
            ]
            assert sum(corners) == pytest.approx(11.0 * 9.81, rel=0.02)
            assert min(corners) > 0.0
