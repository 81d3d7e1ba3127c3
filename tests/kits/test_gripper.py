"""The gripper arm of Rocon, figure 2: its second finger follows the first by a listener."""

import math
from pathlib import Path

import numpy as np
import pytest

from linkwork import Session, load_part, load_scene


@pytest.mark.capability(51, 52)
def test_the_second_finger_follows_the_first() -> None:
    """J3 is wanted where J2 is after each step, and is there within three degrees."""
    with Session("gripper/follow") as session:
        behind: list[float] = []
        apart: list[float] = []
        swing: list[float] = []

        def look() -> None:
            behind.append(session["arm/J3.target"] - session["arm/J2.angle"])
            apart.append(session["arm/J3.angle"] - session["arm/J2.angle"])
            swing.append(session["arm/J2.angle"])

        session.run(1.0)
        session.after_step.append(look)
        session.run(4.0)
    assert not np.any(behind)
    assert np.degrees(np.abs(apart)).max() < 3.0
    assert np.degrees([min(swing), max(swing)]) == pytest.approx([10.0, 40.0], abs=3.0)


@pytest.mark.capability(51)
def test_the_program_is_loaded_at_run_time_and_reloaded_when_its_file_changes(
    tmp_path: Path,
) -> None:
    """Saved anew while the session runs, it goes on with the new text: J3 opens half as far."""
    source = Path(load_scene("gripper/follow").origin.file).parent
    for file in source.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    program = tmp_path / "follow.py"
    with Session(tmp_path / "follow.toml") as session:
        session.run(0.5)
        assert session["arm/J3.target"] == session["arm/J2.angle"]
        program.write_text(program.read_text().replace("= angle", "= 0.5 * angle"))
        session.run(0.5)
        assert session["arm/J3.target"] == 0.5 * session["arm/J2.angle"]
        assert "follow is reloaded." in [event.text for event in session.outbox.events]


def test_without_its_program_the_second_finger_stays() -> None:
    """It is the listener that moves J3, not a coupling."""
    scene = load_scene("gripper/follow")
    scene.agents = [spec for spec in scene.agents if spec.type != "program"]
    with Session(scene) as session:
        session.run(2.0)
        assert math.degrees(session["arm/J2.angle"]) > 15.0
        assert math.degrees(session["arm/J3.angle"]) == pytest.approx(10.0, abs=2.0)


def test_the_arm_is_the_one_of_the_figure() -> None:
    """Five elements, of which two are one rigid body, and three joints (Rocon, figure 2)."""
    part = load_part("gripper/arm")
    assert list(part.elements) == ["E1", "E2", "E3", "E4", "E5"]
    assert {name: (j.from_, j.to) for name, j in part.joints.items()} == {
        "J1": ("E2", "E3"),
        "J2": ("E3", "E4"),
        "J3": ("E3", "E5"),
    }
    with Session("gripper/follow") as session:
        world = session.world
        assert world.body("arm/E1") == world.body("arm/E2")
        assert len({world.body(f"arm/E{n}") for n in range(1, 6)}) == 4
