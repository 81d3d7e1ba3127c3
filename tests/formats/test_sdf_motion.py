"""What an SDF says about motion is read, or listed with what will move differently."""

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.formats.conversion_notes import NoteLines
from linkwork.formats.robots.sdf import SdfFormat
from linkwork.geometry import Pose
from linkwork.model.parts import Part
from linkwork.model.scene import Scene

BALL = "<geometry><sphere><radius>0.1</radius></sphere></geometry>"
JOINT = '<joint name="{0}{1}" type="ball"><parent>{0}</parent><child>{1}</child></joint>'


def link(name: str, inside: str = "", collision: str = "") -> str:
    solid = f'<collision name="c">{BALL}{collision}</collision>'
    return f'<link name="{name}"><inertial><mass>2</mass></inertial>{inside}{solid}</link>'


@pytest.fixture
def read(tmp_path: Path):
    def reader(*inside: str) -> tuple[Part, NoteLines]:
        path = tmp_path / "m.sdf"
        text = "\n".join(inside)
        path.write_text(f'<sdf version="1.9"><model name="m">\n{text}</model></sdf>')
        part, notes = SdfFormat().read_with_notes(path)
        assert isinstance(part, Part)
        assert isinstance(notes, NoteLines)
        return part, notes

    return reader


@pytest.mark.parametrize(
    ("inside", "effect"),
    [
        ("<kinematic>true</kinematic>", "forces move these links"),
        ("<enable_wind>1</enable_wind>", "no wind acts on these links"),
        ("<velocity_decay><linear>0.1</linear></velocity_decay>", "without this damping"),
        ('<plugin filename="gz-sim-thruster-system" name="t"/>', "thruster (2)"),
    ],
)
def test_what_is_left_out_names_its_effect(read, inside: str, effect: str) -> None:
    """Elements that change the motion are differences."""
    _, notes = read(link("a", inside))
    (note,) = notes.of("motion")
    assert effect in note


@pytest.mark.parametrize(
    "inside",
    [
        "<kinematic>false</kinematic>",
        "<velocity_decay><linear>0</linear><angular>0.0</angular></velocity_decay>",
        '<sensor name="s" type="imu"/>',
        '<plugin filename="libgz-sim-joint-state-publisher-system.so" name="t"/>',
    ],
)
def test_what_moves_nothing_is_no_difference(read, inside: str) -> None:
    """Default values, sensors and plugins that observe are listed at most."""
    _, notes = read(link("a", inside))
    assert notes.of("motion") == []


@pytest.mark.parametrize(
    ("surface", "effects"),
    [
        ("<friction><ode><mu>0.5</mu><mu2>0.5</mu2><slip1>0</slip1></ode></friction>", []),
        ("<friction><ode><mu>0.5</mu><mu2>0.7</mu2></ode></friction>", ["in all directions"]),
        ("<friction><ode><mu>0.5</mu><slip2>0.7</slip2></ode></friction>", ["wheels slip"]),
        ("<friction><ode><mu>0.5</mu></ode><torsional><coefficient>1</coefficient></torsional>"
         "</friction>", ["turn on the spot"]),
        ("<contact><ode><kp>1e6</kp><kd>1</kd></ode></contact>", ["as stiff", "damped"]),
        ("<contact><collide_bitmask>0x02</collide_bitmask></contact>", ["with all others"]),
        ("<contact><collide_bitmask>65535</collide_bitmask></contact>", []),
        ("<contact><collide_without_contact>false</collide_without_contact></contact>", []),
    ],
)  # fmt: skip
def test_surfaces_are_read_or_listed(read, surface: str, effects: list[str]) -> None:
    """Slip, friction that differs by direction and contact stiffness are listed by name."""
    part, notes = read(link("a", collision=f"<surface>{surface}</surface>"))
    assert len(notes.of("motion")) == len(effects)
    assert all(any(each in note for note in notes.of("motion")) for each in effects)
    if "friction" in surface:
        assert part.elements["a"].friction == 0.5


def test_a_link_without_gravity_stays(read) -> None:
    """It floats where it was put while its neighbor falls ½ g t²."""
    part, notes = read(link("a", "<gravity>false</gravity>"))
    assert notes == ["links without gravity, with mujoco only: a."]
    other, _ = read(link("a"))
    scene = Scene("s").place(part, name="up", base="free")
    scene.place(other, name="down", base="free", at=Pose.of((1.0, 0.0, 0.0))).engine("mujoco")
    with lw.Session(scene) as session:
        session.run(0.5)
        bodies = [session.world.body_names.index(f"{name}/a") for name in ("up", "down")]
        heights = session.state.pose[bodies, 2]
    np.testing.assert_allclose(heights, (0.0, -0.5 * 9.81 * 0.25), atol=5e-3)


def test_links_of_one_model_do_not_collide_unless_it_says_so(read) -> None:
    """SDF's default; <self_collide> of the model counts for all, of a link it is listed."""
    two = link("a") + link("b") + JOINT.format("a", "b")
    assert read(two)[0].self_collision == "none"
    part, notes = read("<self_collide>true</self_collide>", two)
    assert (part.self_collision, list(notes)) == ("all", [])
    flag = "<self_collide>1</self_collide>"
    part, notes = read(link("a", flag), link("b"), JOINT.format("a", "b"))
    assert part.self_collision == "all"
    assert "all of their links collide" in notes.of("motion")[0]


def test_nested_models_without_a_joint_collide(read) -> None:
    """Gazebo tests models against each other unless a joint makes them one."""
    inner = "".join(f'<model name="{n}">{link("l")}</model>' for n in "ab")
    assert read(inner)[0].self_collision == "separate"
    joined = '<joint name="j" type="ball"><parent>a::l</parent><child>b::l</child></joint>'
    assert read(inner, joined)[0].self_collision == "none"


def test_self_collision_is_written(tmp_path: Path, read) -> None:
    """A part whose elements collide has <self_collide>; without, they would pass in Gazebo."""
    for flag, rule in (("<self_collide>true</self_collide>", "all"), ("", "none")):
        part, _ = read(flag, link("a"), link("b"), JOINT.format("a", "b"))
        lw.save(part, tmp_path / "out.sdf")
        again = lw.load_part(tmp_path / "out.sdf")
        assert again.self_collision == part.self_collision == rule


def test_computed_inertia_is_that_of_the_collisions(read) -> None:
    """Each collision has its density or the link's; visuals have no mass; <mass> scales."""
    box = "<geometry><box><size>1 2 3</size></box></geometry>"
    shapes = (
        f'<visual name="v"><pose>9 0 0 0 0 0</pose>{box}</visual>'
        f'<collision name="one"><density>10</density>{box}</collision>'
        f'<collision name="two"><pose>0 0 3 0 0 0</pose>{box}</collision>'
    )
    head = '<link name="a"><inertial auto="true">{}<density>20</density></inertial>'
    part, notes = read(f"{head.format('')}{shapes}</link>")
    found = part.elements["a"].mass_properties()
    assert found.mass == pytest.approx(60.0 + 120.0)
    np.testing.assert_allclose(found.com, (0, 0, 2.0), atol=1e-12)
    own = 180.0 / 12.0 * (1.0 + 4.0)
    np.testing.assert_allclose(found.matrix[2, 2], own)
    assert notes == []
    part, _ = read(f"{head.format('<mass>18</mass>')}{shapes}</link>")
    scaled = part.elements["a"].mass_properties()
    np.testing.assert_allclose(scaled.matrix, found.matrix / 10.0, atol=1e-12)


def test_lines_of_included_files_name_the_file(tmp_path: Path) -> None:
    """A line number alone would mean the outer file."""
    moved = link("a", "<kinematic>1</kinematic>")
    text = f'<sdf version="1.9"><model name="i">\n{moved}</model></sdf>'
    (tmp_path / "inner.sdf").write_text(text)
    path = tmp_path / "w.sdf"
    path.write_text(
        '<sdf version="1.9"><world name="w"><include><uri>inner.sdf</uri></include></world></sdf>'
    )
    _, notes = SdfFormat().read_with_notes(path)
    assert any("inner.sdf:2" in note for note in notes)
