"""Movements in Lima's XML: supported fields are restored, others are noted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork as lw
from command_line import linkwork
from linkwork.core.errors import FormatError, NameNotFound
from linkwork.formats import read_movements
from linkwork.model.parts import Box
from linkwork.model.scene import Movement, TimedPosture
from linkwork.model.scene.motion_limits import MotionLimits, MotorLosses


def robot() -> lw.Part:
    """Returns a trunk with a hinge, a universal joint and a slider."""
    made = lw.Part("r")
    made.add(*(lw.Element(name, (Box((0.1, 0.1, 0.1)),), mass=1.0) for name in "abcd"))
    made.add(
        lw.Joint("knee", "hinge", "a", "b", axis=(0.0, 1.0, 0.0)),
        lw.Joint("hip", "universal", "a", "c"),
        lw.Joint("lift", "slider", "a", "d"),
    )
    return made


_values = st.floats(-3.0, 3.0)
_names = st.sampled_from(["knee", "hip.angle1", "hip.angle2", "lift"])


@st.composite
def movements(draw: st.DrawFn) -> Movement:
    """Draws any movement that the XML supports."""
    planner = draw(st.sampled_from(["", "acceleration", "cruise"]))
    times = sorted(draw(st.sets(st.integers(0, 5000), min_size=1, max_size=4)))
    postures = []
    for time in times:
        joints = draw(st.dictionaries(_names, _values, min_size=1))
        speeds = {name: draw(_values) for name in joints} if planner else {}
        own = draw(st.sampled_from(["", "speed"])) if planner else ""
        postures.append(TimedPosture(time / 1000, joints, speeds=speeds, planner=own))
    made = Movement(
        draw(st.sampled_from(["kick", "Get_up-2"])), tuple(postures), planner=planner,
        interpolation="linear" if planner else draw(st.sampled_from(["linear", "smooth", "hold"])),
        labels=draw(st.sampled_from([{}, {"en": "Kick"}, {"pt": "Chutar", "en": "Other"}])),
    )  # fmt: skip
    turning = [joint for joint in made.joints() if joint != "lift"]
    if planner and turning == made.joints():
        made = replace(
            made, limits=dict.fromkeys(turning, MotionLimits(speed=2.0, acceleration=7.3))
        )
    return made


@pytest.mark.capability(157, 171)
@given(made=movements())
def test_what_the_xml_can_say_comes_back(
    made: Movement, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """TOML to XML to TOML gives the same movement, bit-exact."""
    folder = tmp_path_factory.mktemp("xml")
    lw.save(made, folder / "m.toml")
    reported = lw.save(
        lw.load_movement(folder / "m.toml"), folder / "m.humanoid.xml", robot=robot()
    )
    assert not any("movement" in note or "largest" in note for note in reported)
    lw.save(lw.load_movement(folder / "m.humanoid.xml"), folder / "back.toml")
    back = lw.load_movement(folder / "back.toml")
    assert back.name == made.name
    assert (back.interpolation, back.planner, back.labels) == (
        made.interpolation, made.planner, made.labels,
    )  # fmt: skip
    assert len(back.postures) == len(made.postures)
    for one, other in zip(back.postures, made.postures, strict=True):
        assert (one.time, one.planner) == (other.time, other.planner)
        assert one.joints == pytest.approx(other.joints, rel=1e-15, abs=0.0)
        assert one.speeds == pytest.approx(other.speeds, rel=1e-15, abs=0.0)
    assert {*back.limits} == {*made.limits}
    for joint, limits in made.limits.items():
        assert back.limits[joint].speed == pytest.approx(limits.speed, rel=1e-15)
        assert back.limits[joint].acceleration == pytest.approx(limits.acceleration, rel=1e-15)


@pytest.mark.capability(157, 171)
def test_the_greeting_goes_through_the_command_line(tmp_path: Path) -> None:
    """`linkwork convert` writes the kit's movement with its robot, and back to TOML."""
    there, back = tmp_path / "greet.humanoid.xml", tmp_path / "back.toml"
    refused = linkwork("convert", "bioloid/greet", there)
    assert refused.code == 1
    assert "--robot" in refused.err
    assert not there.exists()
    done = linkwork("convert", "bioloid/greet", there, "--robot", "bioloid/humanoid")
    assert done.code == 0, done.err
    assert "titles of movements, left out: greet" in done.out
    assert linkwork("check", there).code == 0
    assert linkwork("convert", there, back).code == 0
    kept = replace(lw.load_movement("bioloid/greet"), title="")
    assert lw.load_movement(tmp_path / "back.greet.toml") == kept
    needless = linkwork(
        "convert", "bioloid/greet", tmp_path / "g.toml", "--robot", "bioloid/humanoid"
    )
    assert needless.code == 1
    again = tmp_path / "again.humanoid.xml"  # a robot's file includes its movements
    assert linkwork("convert", there, again).code == 0
    assert lw.load_movement(again) == kept


@pytest.mark.capability(171)
def test_a_movement_goes_into_a_robots_file_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    """Comments, other movements and the encoding stay; a movement of its name is replaced."""
    path = tmp_path / "robot.xml"
    kick = Movement.of("kick", [(0.0, {"knee": 0.0}), (1.0, {"knee": 0.5})])
    wave = Movement.of("wave", [(0.0, {"lift": 0.1})], labels={"pt": "Acenar à mão"})
    lw.save(robot(), tmp_path / "robot.humanoid.xml")
    text = (tmp_path / "robot.humanoid.xml").read_text()
    head = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- mão: <movement>no</movement> -->'
    path.write_text(text.replace('<?xml version="1.0"?>', head), encoding="latin-1")
    assert lw.save(kick, path) == []
    assert lw.save(wave, path) == []
    assert lw.save(Movement.of("kick", [(0.5, {"knee": 0.25})]), path) == []
    found = {each.name: each for each in read_movements(path)}
    assert list(found) == ["kick", "wave"]
    assert [p.joints for p in found["kick"].postures] == [{"knee": 0.25}]
    assert found["wave"].labels == wave.labels
    assert "<!-- mão: <movement>no</movement> -->" in path.read_text(encoding="latin-1")
    assert (
        lw.load_part(path).joints["hip"]
        == lw.load_part(tmp_path / "robot.humanoid.xml").joints["hip"]
    )


def test_what_the_xml_cannot_say_of_a_movement_is_listed(tmp_path: Path) -> None:
    """Title, losses, and limits that differ between joints are noted."""
    made = Movement.of(
        "m", [(0.0, {"knee": 0.0, "lift": 0.0}), (1.0, {"knee": 0.5, "lift": 0.1})],
        title="A title", planner="energy", losses={"knee": MotorLosses(inertia=0.1)},
        limits={"knee": MotionLimits(speed=1.0, jerk=3.0), "lift": MotionLimits(speed=2.0)},
    )  # fmt: skip
    notes = lw.save(made, tmp_path / "m.humanoid.xml", robot=robot())
    for what in (
        "titles of movements, left out: m.",
        "losses of movements, left out: m.",
        "largest speed that is not the same for all joints, left out: m.",
        "largest jerk that is not the same for all joints, left out: m.",
    ):
        assert what in notes
    assert lw.load_movement(tmp_path / "m.humanoid.xml").limits == {}


def test_mistakes_are_told(tmp_path: Path) -> None:
    """No robot, a missing joint, a format without movements, a robot for a part."""
    kick = Movement.of("kick", [(0.0, {"kne": 0.0})])
    with pytest.raises(FormatError, match="stores a movement with its robot"):
        lw.save(kick, tmp_path / "m.humanoid.xml")
    with pytest.raises(NameNotFound, match="knee"):
        lw.save(kick, tmp_path / "m.humanoid.xml", robot=robot())
    assert not (tmp_path / "m.humanoid.xml").exists()
    with pytest.raises(FormatError, match=r"use \.toml or \.humanoid\.xml"):
        lw.save(kick, tmp_path / "m.urdf")
    with pytest.raises(FormatError, match="for movements"):
        lw.save(robot(), tmp_path / "m.toml", robot=robot())
