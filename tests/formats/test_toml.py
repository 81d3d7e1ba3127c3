"""Linkwork's TOML files: content, error messages, exact round trips."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from command_line import linkwork
from linkwork.core.errors import FormatError, LinkworkError, MeshError, Origin
from linkwork.core.forms import Section
from linkwork.engines.impulse.stepper import ImpulseParams
from linkwork.formats import load, load_part, load_scene, save
from linkwork.formats.toml import TomlFormat
from linkwork.formats.toml.scene_keys import PART
from linkwork.geometry import Pose
from linkwork.model.blocks import read_params
from linkwork.model.parts import Anchor, Box, Cylinder, Element, Joint, Part, Sphere, find_kits
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from mesh_files import box, text_stl, written
from strategies import parts, scenes

UPPER_ARM = """\
format = "linkwork/part 1"
name = "upper_arm"

[[element]]
name = "tube"
shape = { cylinder = { radius = 0.03, length = 0.40 } }
mass = 1.2
color = "#d8dde6"

[[element]]
name = "housing"
shape = { box = { size_mm = [60, 60, 80] } }
mass_g = 400

[[joint]]
name = "elbow"
type = "hinge"              # hinge slider ball universal cylindrical screw planar rail fixed free
from = "tube"
to = "housing"
at = { xyz = [0, 0, 0.20], rpy_deg = [0, 90, 0] }
axis = [0, 1, 0]
range_deg = [-120, 120]
max_speed_deg = 180
max_effort = 12
bus = { can_id = 4, bits = 10 }
drive = { type = "servo", kp = 40, slack_deg = 0.5 }

[[anchor]]
name = "flange"
on = "housing"
at = { xyz = [0, 0, 0.05] }
fits = "flange50"
"""


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def parse(text: str) -> Part | Scene:
    return TomlFormat().parse(text, "x.toml")


def complaint(text: str) -> str:
    with pytest.raises(LinkworkError) as caught:
        parse(text)
    return str(caught.value)


@pytest.mark.capability(7)
def test_a_file_says_what_python_says(tmp_path: Path) -> None:
    """The same part in TOML and in Python is equal."""
    logged = (
        Part("upper_arm")
        .add(
            Element("tube", (Cylinder(radius=0.03, length=0.40),), mass=1.2, color="#d8dde6"),
            Element("housing", (Box(size=(0.06, 0.06, 0.08)),), mass=0.4),
        )
        .add(Anchor("flange", "housing", Pose.of((0, 0, 0.05)), "flange50"))
    )
    read = load_part(put(tmp_path, "upper_arm.toml", UPPER_ARM))
    assert read.elements == logged.elements
    assert read.anchors == logged.anchors
    elbow = read.joints["elbow"]
    assert elbow.ranges[0] == pytest.approx((-2 * math.pi / 3, 2 * math.pi / 3))
    assert elbow.max_speed == pytest.approx(math.pi)
    assert elbow.at.rotate((0, 0, 1)) == pytest.approx((1, 0, 0))
    assert elbow.bus == {"can_id": 4, "bits": 10}
    assert elbow.drive is not None
    assert elbow.drive.type == "servo"
    assert elbow.drive.params == {"kp": 40, "slack": pytest.approx(math.radians(0.5))}


def test_everything_knows_its_file_and_line(tmp_path: Path) -> None:
    """Elements, joints, anchors and drives have the line that defines them."""
    path = put(tmp_path, "upper_arm.toml", UPPER_ARM)
    part = load_part(path)
    assert part.elements["housing"].origin == Origin(str(path), 10)
    assert part.joints["elbow"].origin == Origin(str(path), 15)
    assert part.joints["elbow"].drive.origin == Origin(str(path), 26)  # type: ignore[union-attr]
    assert part.anchors["flange"].origin == Origin(str(path), 28)


@pytest.mark.capability(41)
def test_parts_are_trees_that_hold_parts(tmp_path: Path) -> None:
    """A file attaches another's part at an anchor; its names have their own scope."""
    put(tmp_path, "arm.toml", UPPER_ARM)
    hand = """\
format = "linkwork/part 1"
name = "hand"
[[element]]
name = "palm"
shape = { box = { size = [0.1, 0.1, 0.02] } }
mass = 0.3
[[anchor]]
name = "mount"
on = "palm"
fits = "flange50"
"""
    put(tmp_path, "hands/hand.toml", hand)
    robot = """
[[element]]
name = "stand"
[[anchor]]
name = "top"
on = "stand"
at = { xyz = [0, 0, 1] }
[[attach]]
part = "./arm.toml"
to = "top"
name = "arm"
[[attach]]
part = "./hands/hand.toml"
to = "arm/flange"
turn_deg = 90
"""
    head = 'format = "linkwork/part 1"\nname = "robot"\n'
    part = load_part(put(tmp_path, "robot.toml", head + robot))
    assert part.attachments["hand"].part.name == "hand"
    assert part.attachments["hand"].turn == pytest.approx(math.pi / 2)
    world = compile_scene(Scene("s").place(part))
    assert {"robot/arm/elbow"} <= set(world.joint_names)


@pytest.mark.capability(42)
def test_a_chain_of_elements_in_a_file_is_one_rigid_body(tmp_path: Path) -> None:
    """Three primitives fixed to each other have the sum of their masses."""
    text = """\
format = "linkwork/part 1"
name = "club"
[[element]]
name = "grip"
shape = { cylinder = { radius = 0.02, length = 0.2 } }
mass = 0.2
[[element]]
name = "shaft"
on = "grip"
at = { xyz = [0, 0, 0.4] }
shape = { capsule = { radius = 0.01, length = 0.6 } }
mass = 0.3
[[element]]
name = "head"
on = "shaft"
at = { xyz = [0, 0, 0.4] }
shape = { sphere = { radius = 0.05 } }
mass = 0.5
"""
    part = load_part(put(tmp_path, "club.toml", text))
    world = compile_scene(Scene("s").place(part, base="free"))
    assert world.nb == 2  # the world and the club
    assert world.mass[1] == pytest.approx(1.0)
    assert world.com[1] == pytest.approx([0, 0, 0.3 * 0.4 + 0.5 * 0.8])


@pytest.mark.capability(46)
def test_a_user_adds_parts_to_a_kit_of_his_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder in LINKWORK_KITS is a kit; its parts load and attach by name."""
    put(tmp_path, "kits/mine/upper_arm.toml", UPPER_ARM)
    robot = """\
format = "linkwork/part 1"
name = "robot"
[[element]]
name = "stand"
[[anchor]]
name = "top"
on = "stand"
[[attach]]
part = "mine/upper_arm"
to = "top"
"""
    put(tmp_path, "kits/mine/robot.toml", robot)
    monkeypatch.setenv("LINKWORK_KITS", str(tmp_path / "kits"))
    assert find_kits()["mine"].parts() == ["mine/robot", "mine/upper_arm"]
    part = load_part("mine/robot")
    assert "elbow" in part.attachments["upper_arm"].part.joints
    with pytest.raises(LinkworkError, match=r"Did you mean 'mine/upper_arm'\?"):
        load_part("mine/upper_arn")
    save(part, tmp_path / "elsewhere.toml")
    assert 'part = "mine/upper_arm"' in (tmp_path / "elsewhere.toml").read_text()


SCENE = """\
format = "linkwork/scene 1"
name = "bench"
title = "Two arms"
gravity = [0, 0, -1.62]
step_ms = 1
seed = 7
start = "home"

[[part]]
name = "left"
part = "./arm.toml"
at = { xyz_mm = [100, 0, 0] }

[[part]]
name = "right"
part = "./arm.toml"
base = "free"

[[element]]
name = "floor"
shape = { plane = {} }

[[light]]
name = "sun"
strength = 0.7

[[viewpoint]]
name = "front"
xyz = [2, 0, 1]
opening_deg = 45

[[posture]]
name = "home"
joints_deg = { "left/elbow" = 30 }
joints = { "right/elbow" = 0.5, "right.x" = 1.0 }

[[coupling]]
joint = "right/elbow"
of = "left/elbow"
ratio = -1
offset_deg = 10

[[engine]]
type = "mujoco"

[[sensor]]
name = "eye"
type = "ray"
on = "left/flange"
at = { rpy_deg = [0, 0, 90] }
range_mm = 500

[[actuator]]
name = "pull"
type = "effort"
joint = "left/elbow"

[[agent]]
name = "control"
type = "program"
file = "control.py"
period_ms = 10

[collide]
never = [["left", "right"]]
joined = true
"""


@pytest.mark.capability(7)
def test_a_scene_file_says_all_of_a_scene(tmp_path: Path) -> None:
    """Placements, scenery, postures, specs in SI units, lights, views and collisions are read."""
    put(tmp_path, "arm.toml", UPPER_ARM)
    path = put(tmp_path, "bench.toml", SCENE)
    scene = load_scene(path)
    assert (scene.gravity, scene.step, scene.seed) == ((0, 0, -1.62), 0.001, 7)
    assert scene.parts["left"].at == Pose.of((0.1, 0, 0))
    assert scene.parts["left"].part is scene.parts["right"].part
    assert scene.parts["right"].base == "free"
    assert scene.postures["home"] == {
        "left/elbow": pytest.approx(math.pi / 6), "right/elbow": 0.5, "right.x": 1.0,
    }  # fmt: skip
    assert scene.couplings[0].offset == pytest.approx(math.radians(10))
    (eye,) = scene.sensors
    assert eye.params["range"] == 0.5
    assert eye.params["on"] == "left/flange"
    assert eye.params["at"].rotate((1, 0, 0)) == pytest.approx((0, 1, 0))
    assert eye.origin.line == SCENE[: SCENE.index("[[sensor]]")].count("\n") + 1
    (control,) = scene.agents
    assert control.params == {"file": str(tmp_path / "control.py"), "period": 0.01}
    assert scene.collide.never == (("left", "right"),)
    assert scene.collide.joined
    assert scene.viewpoints[0].opening == pytest.approx(math.pi / 4)
    save(scene, tmp_path / "again.toml")
    assert load_scene(tmp_path / "again.toml") == scene
    assert 'file = "control.py"' in (tmp_path / "again.toml").read_text()


@pytest.mark.parametrize(
    ("name", "suffixes"),
    [(kit.name, kit.parts() + kit.scenes()) for kit in find_kits().values()],
)
def test_every_kit_reads_and_writes_back_the_same(name: str, suffixes: list[str]) -> None:
    """The package's kits survive a round trip."""
    for each in suffixes:
        thing = load(each)
        assert (
            TomlFormat().parse(TomlFormat().text(thing, thing.origin.file), thing.origin.file)
            == thing
        )


ROUND_TRIP = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]


@settings(max_examples=30, suppress_health_check=ROUND_TRIP)
@given(part=parts())
def test_a_part_reads_back_the_same_to_the_last_bit(tmp_path: Path, part: Part) -> None:
    """read(write(part)) == part in every field; attached parts go to files beside it."""
    save(part, tmp_path / "robot.toml")
    assert load(tmp_path / "robot.toml") == part


@settings(max_examples=15, suppress_health_check=ROUND_TRIP)
@given(scene=scenes())
def test_a_scene_reads_back_the_same_to_the_last_bit(tmp_path: Path, scene: Scene) -> None:
    """read(write(scene)) == scene in every field; parts made in Python go to files beside it."""
    save(scene, tmp_path / "bench.toml")
    assert load(tmp_path / "bench.toml") == scene


def test_a_part_changed_in_python_does_not_change_its_file(tmp_path: Path) -> None:
    """A part that differs from its file is written to another file beside it."""
    put(tmp_path, "arm.toml", UPPER_ARM)
    put(tmp_path, "bench.toml", SCENE)
    scene = load_scene(tmp_path / "bench.toml")
    scene.parts["left"].part.add(Element("extra", on="tube"))
    save(scene, tmp_path / "other.toml")
    assert (tmp_path / "arm.toml").read_text() == UPPER_ARM
    assert load_scene(tmp_path / "other.toml") == scene
    assert 'part = "./other.upper_arm.toml"' in (tmp_path / "other.toml").read_text()


HEAD = 'format = "linkwork/part 1"\nname = "p"\n'
TUBE = '[[element]]\nname = "tube"\n'
ROD = '[[element]]\nname = "rod"\n'
JOINT = '[[joint]]\nname = "j"\nfrom = "tube"\nto = "rod"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name = 3 3", 1, ["not TOML"]),
        ('name = "p"\nformat = "linkwork/part 1"\nx = [1,\n', 3, ["not TOML"]),
        ('name = "p"\n', 1, ["has no format key", 'format = "linkwork/part 1"']),
        ('format = "linkwork/prat 1"', 1, ["Did you mean 'linkwork/part 1'?"]),
        ('format = "linkwork/part 1"', 1, ["needs 'name'"]),
        (HEAD + "title = 3", 3, ["title must be text", "not 3"]),
        (HEAD + "[[elemnet]]", 3, ["the file has no key 'elemnet'", "Did you mean 'element'?"]),
        (HEAD + '[element]\nname = "a"', 3, ["array of tables", "[[element]]"]),
        (HEAD + TUBE + "mas = 3", 5, ["element 'tube' has no key 'mas'", "Did you mean 'mass'?"]),
        (HEAD + TUBE + 'mass = "3"', 5, ["mass must be a number", '"3"']),
        (HEAD + TUBE + "mass = true", 5, ["mass must be a number", "true"]),
        (HEAD + TUBE + "mass = nan", 5, ["finite", "nan"]),
        (HEAD + TUBE + "mass = -1", 5, ["0 or more", "-1"]),
        (HEAD + TUBE + "mass = 1" + "0" * 400, 5, ["finite", "more than 20 digits"]),
        (HEAD + TUBE + "mass = 1\nmass_g = 3", 6, ["mass_g and mass are both given"]),
        (HEAD + TUBE + "mass_mm = 1", 5, ["no such unit", "mass or mass_g"]),
        (HEAD + TUBE + "com = [0, 0, 1]", 5, ["needs 'inertia' and 'mass'"]),
        (HEAD + TUBE + "mass = 1\ninertia = [1, 1]", 6, ["3 or 6 numbers", "an array of 2"]),
        (HEAD + TUBE + "mass = 1\ninertia = [1, 1, 5]", 3, ["not physical"]),
        (HEAD + TUBE + 'color = "red"', 5, ["#rrggbb", '"red"']),
        (HEAD + TUBE + "at = [0, 0, 1]", 5, ["at must be a table", "rpy_deg"]),
        (HEAD + TUBE + "at = { xyz = [0, 0] }", 5, ["at.xyz must be an array of 3", "of 2"]),
        (HEAD + TUBE + 'at = { xyz = [0, 0, "a"] }', 5, ["at.xyz must be a number"]),
        (HEAD + TUBE + "at = { quat = [0, 0, 0, 0] }", 5, ["must not be zero"]),
        (HEAD + TUBE + "at = { rpy = [0, 0, 0], quat = [1, 0, 0, 0] }", 5, ["both given"]),
        (HEAD + TUBE + "shape = { bxo = {} }", 5, ["Did you mean 'box'?"]),
        (HEAD + TUBE + "shape = {}", 5, ["holds none", "box, cylinder"]),
        (HEAD + TUBE + "shape = { box = {} }", 5, ["shape.box needs 'size'"]),
        (
            HEAD + TUBE + "shape = { box = { size = [1, 1, 0] } }",
            5,
            ["element 'tube': a box's z must be positive"],
        ),
        (
            HEAD + TUBE + "shape = { sphere = { radius = 1 }, plane = {} }",
            5,
            ["holds sphere and plane"],
        ),
        (HEAD + TUBE + "shape = { plane = {} }\nshapes = []", 6, ["both given"]),
        (HEAD + TUBE + 'on = "stand"', 5, ["no element named 'stand'", "tube"]),
        (
            HEAD + TUBE + 'on = "rod"\n' + ROD + 'on = "tube"',
            5,
            ["has a cycle", "tube → rod → tube"],
        ),
        (HEAD + TUBE + TUBE, 5, ["'tube' is taken", "x.toml:3"]),
        (HEAD + '[[element]]\nname = "a/b"', 4, ["letters, digits"]),
        (HEAD + "[[element]]\nmass = 1", 3, ["element 1 needs 'name'"]),
        (HEAD + TUBE + ROD + JOINT + 'type = "hingee"', 11, ["Did you mean 'hinge'?"]),
        (HEAD + TUBE + ROD + JOINT, 7, ["joint 'j' needs 'type'"]),
        (HEAD + TUBE + JOINT + 'type = "hinge"', 8, ["joint 'j'", "no element named 'rod'"]),
        (
            HEAD + TUBE + ROD + JOINT + 'type = "slider"\nrange_deg = [0, 1]',
            12,
            ["the position of a slider joint is a length", "range_mm"],
        ),
        (
            HEAD + TUBE + ROD + JOINT + 'type = "hinge"\nmax_speed_mm = 1',
            12,
            ["the angle of a hinge joint is an angle", "max_speed_deg"],
        ),
        (
            HEAD + TUBE + ROD + JOINT + 'type = "planar"\nranges_deg = [[0, 1], [], []]',
            12,
            ["the x of a planar joint is a length", "angle_deg"],
        ),
        (
            HEAD + TUBE + ROD + JOINT + 'type = "planar"\nranges = { y_deg = [0, 1] }',
            12,
            ["y is a length"],
        ),
        (
            HEAD + TUBE + ROD + JOINT + 'type = "planar"\nvalue = { z = 1 }',
            12,
            ["not a degree of freedom of a planar joint", "angle, x, y"],
        ),
        (
            HEAD + TUBE + ROD + JOINT + 'type = "planar"\nranges = [[0, 1]]',
            12,
            ["3 pairs", "not 1"],
        ),
        (HEAD + TUBE + ROD + JOINT + 'type = "hinge"\nrange = [1, 0]', 7, ["[lowest, highest]"]),
        (HEAD + TUBE + ROD + JOINT + 'type = "hinge"\naxis = [0, 0, 0]', 7, ["direction"]),
        (HEAD + TUBE + ROD + JOINT + 'type = "screw"', 7, ["pitch"]),
        (HEAD + TUBE + ROD + JOINT + 'type = "hinge"\nlabels = { en = 3 }', 12, ["labels.en"]),
        (HEAD + TUBE + ROD + JOINT + 'type = "hinge"\ndrive = { kp = 3 }', 12, ["drive needs"]),
        (
            HEAD + TUBE + ROD + JOINT + 'type = "hinge"\n'
            'drive = { type = "servo", kp = 3, kp_deg = 3 }',
            12,
            ["drive.kp_deg gives 'kp' a second time"],
        ),
        (
            HEAD + "[[sensor]]\nname = 's'\ntype = 't'\nstep_deg_deg = 1",
            6,
            ["sensor 's': step_deg_deg has two units"],
        ),
        (
            HEAD + TUBE + ROD + JOINT + 'type = "hinge"\nbus = { t = 1979-05-27 }',
            12,
            ["bus.t", "a date"],
        ),
        (HEAD + TUBE + '[[anchor]]\nname = "a"\non = "tub"', 7, ["Did you mean 'tube'?"]),
        (HEAD + TUBE + '[[attach]]\npart = "./no.toml"\nto = "a"', 6, ["no file './no.toml'"]),
        (HEAD + TUBE + '[[attach]]\npart = "no/no"\nto = "a"', 6, ["no kit named 'no'"]),
        (
            HEAD + TUBE + '[[attach]]\npart = "./a\\u0000b"\nto = "a"',
            6,
            ["path of a file", "\\u0000"],
        ),
        (HEAD + TUBE + '[[loop]]\na = "x"\nb = "y"', 5, ["no anchor named 'x'"]),
        (
            HEAD + TUBE + '[[coupling]]\njoint = "x"\nof = "y"',
            6,
            ["no joint named 'x'"],
        ),
        (HEAD + TUBE + "[[sensor]]\nname = 's'", 5, ["sensor 's' needs 'type'"]),
        (HEAD + 2 * "[[sensor]]\nname = 's'\ntype = 't'\n", 6, ["sensor 's'", "x.toml:3"]),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, words: list[str]) -> None:
    """The message names file and line, the value found and the allowed ones."""
    message = complaint(text)
    assert message.startswith(f"x.toml:{line}: ")
    for each in words:
        assert each in message


SCENE_HEAD = 'format = "linkwork/scene 1"\nname = "s"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("gravity = -9.81", 3, ["gravity must be an array of 3 numbers", "-9.81"]),
        ("step_ms = 0", 3, ["more than 0"]),
        ("seed = -1", 3, ["0 or more", "-1"]),
        ("seed = 1.5", 3, ["whole number", "1.5"]),
        ('start = "home"', 3, ["no posture named 'home'"]),
        ('[[part]]\npart = "./x"\nbase = "loose"', 5, ["one of fixed, free", '"loose"']),
        ('[[element]]\nname = "a"\non = "b"', 5, ["no element named 'b'"]),
        ('[[light]]\nname = "a"\nkind = "moon"', 5, ["sun, lamp"]),
        ('[[light]]\nname = "a"\n[[light]]\nname = "a"', 5, ["has the name of another"]),
        ('[[posture]]\nname = "a"', 3, ["needs 'joints'"]),
        ('[[posture]]\nname = "a"\njoints = { x = "b" }', 5, ["joints.x must be a number"]),
        (
            '[[posture]]\nname = "a"\njoints = { x = 1 }\njoints_deg = { x = 1 }',
            6,
            ["is given twice"],
        ),
        ('[collide]\nnever = [["a"]]', 4, ["never must be a pair of names"]),
        ("[collide]\njoined = 1", 4, ["true or false"]),
        ("[[collide]]\njoined = true", 3, ["collide must be a table"]),
        ("[[engine]]", 3, ["engine 1 needs 'type'"]),
    ],
)
def test_a_mistake_in_a_scene_is_told_with_its_line(text: str, line: int, words: list[str]) -> None:
    """Scenes are checked as parts are."""
    message = complaint(SCENE_HEAD + text)
    assert message.startswith(f"x.toml:{line}: ")
    for each in words:
        assert each in message


def test_a_posture_in_degrees_of_a_slider_is_refused(tmp_path: Path) -> None:
    """Degrees are for rotational joints."""
    slide = HEAD + TUBE + ROD + JOINT + 'type = "slider"\n'
    put(tmp_path, "slide.toml", slide)
    text = SCENE_HEAD + '[[part]]\npart = "./slide.toml"\n[[posture]]\nname = "a"\n'
    path = put(tmp_path, "s.toml", text + 'joints_deg = { "p/j" = 3 }')
    with pytest.raises(FormatError, match=r"s.toml:7: .*p/j is a length"):
        load(path)


def test_values_by_freedom(tmp_path: Path) -> None:
    """Joints with several degrees of freedom take a table with units in the keys, or an array."""
    joint = HEAD + TUBE + ROD + JOINT
    planar = parse(
        joint + 'type = "planar"\nranges = { x_mm = [-10, 10], angle_deg = [0, 90] }\n'
        "value = { angle_deg = 45 }"
    )
    assert isinstance(planar, Part)
    assert planar.joints["j"].ranges == ((-0.01, 0.01), None, pytest.approx((0, math.pi / 2)))
    assert planar.joints["j"].values == pytest.approx((0, 0, math.pi / 4))
    universal = parse(
        joint + 'type = "universal"\naxis = [1, 0, 0]\nranges_deg = [[-30, 30], []]\n'
        "value_deg = [10, 20]"
    )
    assert isinstance(universal, Part)
    assert universal.joints["j"].ranges == (pytest.approx((-math.pi / 6, math.pi / 6)), None)
    assert universal.joints["j"].values == pytest.approx((math.pi / 18, math.pi / 9))


def test_a_part_that_holds_itself_is_named(tmp_path: Path) -> None:
    """Files that attach each other in a cycle give one message, not a recursion."""
    text = HEAD + TUBE + '[[anchor]]\nname = "a"\non = "tube"\n[[attach]]\npart = "{}"\nto = "a"\n'
    put(tmp_path, "a.toml", text.format("./b.toml"))
    put(tmp_path, "b.toml", text.format("./a.toml"))
    with pytest.raises(FormatError, match=r"b.toml:9: .*would include itself: .*a.toml → .*b.toml"):
        load(tmp_path / "a.toml")


def test_parts_that_multiply_are_stopped(tmp_path: Path) -> None:
    """Thirty files that each attach the next one twice do not become a billion parts."""
    for number in range(30):
        text = HEAD + TUBE
        for name in "ab":
            text += f'[[anchor]]\nname = "{name}"\non = "tube"\n[[attach]]\nname = "{name}"\n'
            text += f'to = "{name}"\npart = "./p{number + 1}.toml"\n'
        put(tmp_path, f"p{number}.toml", text)
    put(tmp_path, "p30.toml", HEAD + TUBE)
    with pytest.raises(FormatError, match="more than 5000 parts"):
        load(tmp_path / "p0.toml")


def test_a_missing_mesh_lists_every_place_tried(tmp_path: Path) -> None:
    """Both the file's folder and its meshes folder are named."""
    text = HEAD + TUBE + 'shape = { mesh = { file = "tube.stl" } }\n'
    with pytest.raises(MeshError) as caught:
        load(put(tmp_path, "p.toml", text))
    assert str(caught.value).startswith(f"{tmp_path}/p.toml:5: element 'tube': ")
    assert f"Tried: {tmp_path}/tube.stl, {tmp_path}/meshes/tube.stl." in str(caught.value)


def test_a_mesh_is_found_from_the_folder_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not from the working directory; it is written as a relative path."""
    put(tmp_path, "lib/meshes/tube.stl", "solid tube\nendsolid\n")
    text = HEAD + TUBE + 'shape = { mesh = { file = "tube.stl", scale = [0.001, 1, 1] } }\n'
    put(tmp_path, "lib/p.toml", text)
    monkeypatch.chdir(tmp_path)
    part = load_part("lib/p.toml")
    (mesh,) = part.elements["tube"].shapes
    assert mesh.file == str(tmp_path / "lib/meshes/tube.stl")  # type: ignore[attr-defined]
    save(part, "q.toml")
    assert 'file = "lib/meshes/tube.stl"' in Path("q.toml").read_text()
    assert load_part("q.toml") == part


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"#" * 1_000_001, ["1.0 MB"]),
        (b"x = " + b"[" * 5000, ["nest deeper than 32"]),
        (b"x" + b".x" * 5000 + b" = 1", ["nest deeper than 32"]),
        (b"a = 1\nb = \xff", [":2:", "0xff", "UTF-8"]),
        (b"x = 1" + b"0" * 5000, ["not TOML"]),
    ],
    ids=["large", "arrays", "dotted", "bytes", "digits"],
)
def test_absurd_files_are_refused(tmp_path: Path, raw: bytes, words: list[str]) -> None:
    """Size, nesting and encoding have limits with a message."""
    path = tmp_path / "x.toml"
    path.write_bytes(raw)
    with pytest.raises(FormatError) as caught:
        load(path)
    for each in words:
        assert each in str(caught.value)


def test_a_byte_order_mark_and_windows_line_breaks_are_read(tmp_path: Path) -> None:
    """Editors on Windows write both."""
    path = tmp_path / "arm.toml"
    path.write_bytes(b"\xef\xbb\xbf" + UPPER_ARM.replace("\n", "\r\n").encode())
    assert load_part(path).anchors["flange"].origin.line == 28


def test_what_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    """Unknown suffixes, missing files, folders, and parts instead of scenes."""
    put(tmp_path, "arm.toml", UPPER_ARM)
    with pytest.raises(FormatError, match=r"'.igs' is not known. Known: .*\.toml.* toml"):
        load(put(tmp_path, "arm.igs", ""))
    with pytest.raises(FormatError, match=r"Did you mean 'arm.toml'\?"):
        load(tmp_path / "ram.toml")
    with pytest.raises(FormatError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(FormatError, match="is a part, not a scene"):
        load_scene(tmp_path / "arm.toml")
    with pytest.raises(FormatError, match="cannot be written"):
        save(Part("p"), tmp_path / "no" / "p.toml")
    with pytest.raises(FormatError, match=r"'\.igs' is not known"):
        save(Part("p"), tmp_path / "p.igs")


def test_what_a_file_cannot_say_is_refused_when_writing(tmp_path: Path) -> None:
    """A parameter that would read back in another unit, and values that TOML lacks."""
    for params, words in (
        ({"speed_deg": 3.0}, "in another unit"),
        ({"name": "x"}, "cannot be called 'name'"),
        ({"what": None}, "cannot hold None"),
        ({"what": math.inf}, "cannot hold inf"),
        ({"what": "\ud800"}, "cannot be written as UTF-8"),
    ):
        scene = Scene("s").sensor("eye", "ray")
        scene.sensors[0].params.update(params)
        with pytest.raises(FormatError, match=words):
            save(scene, tmp_path / "s.toml")
    assert not (tmp_path / "s.toml").exists()


def test_writing_keeps_the_mode_and_follows_links(tmp_path: Path) -> None:
    """The file behind a link is replaced in one step, with its permissions."""
    real = put(tmp_path, "real.toml", "")
    real.chmod(0o640)
    (tmp_path / "link.toml").symlink_to(real)
    save(Part("p").add(Element("e", (Sphere(radius=1.0),))), tmp_path / "link.toml")
    assert (tmp_path / "link.toml").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert load_part(real).elements["e"].shapes == (Sphere(radius=1.0),)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.toml", "real.toml"]


def test_formats_are_light() -> None:
    """Reading a file imports neither the compiler nor the physics."""
    code = "import sys, linkwork.formats.toml, linkwork.project.document; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "llvmlite", "mujoco"} & set(run.stdout.split())


def test_a_joint_between_joints_is_a_chain() -> None:
    """A joint may lead to the next joint instead of an element."""
    text = HEAD + TUBE + ROD + '[[joint]]\nname = "a"\ntype = "hinge"\nfrom = "tube"\nto = "b"\n'
    text += '[[joint]]\nname = "b"\ntype = "hinge"\nfrom = "a"\nto = "rod"\n'
    part = parse(text)
    assert isinstance(part, Part)
    assert part.joints["a"] == Joint("a", "hinge", "tube", "b")


DOCS = Path(__file__).resolve().parents[2] / "docs" / "files.md"


@pytest.mark.parametrize("number", range(3))
def test_the_files_of_the_docs_read(number: int) -> None:
    """Files copied from the page are valid."""
    blocks = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    thing = parse(blocks[number])
    compile_scene(thing if isinstance(thing, Scene) else Scene("s").place(thing))


def test_the_programs_of_the_docs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(block, {})
    assert "range_deg = [-30, 60]" in (tmp_path / "my_arm.toml").read_text()
    assert "shoulder" not in (tmp_path / "my_arm.toml").read_text()


def test_the_docs_name_every_key() -> None:
    """The page's table lists all keys."""
    page = DOCS.read_text(encoding="utf-8")
    for word in ("element", "joint", "anchor", "attach", "loop", "coupling", "spring"):
        (row,) = re.findall(rf"^\| `\[\[{word}\]\]` .*$", page, re.MULTILINE)
        section = PART.keys[word].kind
        assert isinstance(section, Section)
        reported = {re.sub(r"_deg$", "", key) for key in re.findall(r"`(\w+)`", row)}
        assert reported == set(section.table.keys), word


def test_what_is_assumed_of_a_mesh_in_a_scene_is_noted(tmp_path: Path) -> None:
    """Unit and density of a drawing in a scene are noted as for the drawing alone."""
    written(tmp_path, "mm.stl", text_stl(box(120.0, 30.0, 40.0)))
    path = tmp_path / "s.toml"
    head = 'format = "linkwork/scene 1"\nname = "s"\n[[part]]\nname = "p"\n'
    path.write_text(f'{head}part = "./mm.stl"\n')
    _, notes = TomlFormat().read_with_notes(path)
    assert any("mm.stl" in note and "millimeters" in note for note in notes)
    assert any("mm.stl" in note and "1000 kg/m³" in note for note in notes)
    done = linkwork("check", path)
    assert all(f"note: {note}" in done.out for note in notes)


def test_a_scene_in_a_parts_place_is_told_with_the_way_out(tmp_path: Path) -> None:
    """A MuJoCo model is a scene: the message gives a remedy."""
    (tmp_path / "arm.xml").write_text(
        '<mujoco model="arm"><worldbody><body name="a"><geom size="0.1"/></body></worldbody>'
        "</mujoco>"
    )
    path = tmp_path / "s.toml"
    head = 'format = "linkwork/scene 1"\nname = "s"\n[[part]]\nname = "p"\n'
    path.write_text(f'{head}part = "./arm.xml"\n')
    with pytest.raises(FormatError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:5: part 'p': {tmp_path}/arm.xml is a scene")
    assert f"linkwork convert {tmp_path}/arm.xml arm.toml" in str(caught.value)
    assert "--part arm" in str(caught.value)


def test_a_renamed_key_is_read_with_a_note(tmp_path: Path) -> None:
    """Files of earlier versions keep their meaning; the note names file, line and new name."""
    file = tmp_path / "old.toml"
    file.write_text(
        'format = "linkwork/scene 1"\nname = "old"\n'
        '[[engine]]\ntype = "impulse"\nmost = 7\nforetold = 0.25\n'
        '[[bus]]\nname = "line"\ntype = "loop"\npatience_ms = 200\non_loss = "limp"\n',
        encoding="utf-8",
    )
    scene, notes = TomlFormat().read_with_notes(file)
    assert isinstance(scene, Scene)
    assert scene.engines[0].params == {"max_iterations": 7, "prediction_tolerance": 0.25}
    assert scene.engines[0].lines["max_iterations"] == 5
    bus = scene.buses[0].params
    assert (bus["turn_timeout"], bus["on_loss"]) == (0.2, "torque_off")
    assert notes == [
        f"{file}:5: engine 1: 'most' is now called 'max_iterations'.",
        f"{file}:6: engine 1: 'foretold' is now called 'prediction_tolerance'.",
        f"{file}:10: bus 'line': 'patience' is now called 'turn_timeout'.",
        f'{file}:11: bus \'line\': on_loss = "limp" is now called "torque_off".',
    ]
    assert "max_iterations = 7" in TomlFormat().text(scene)


def test_a_renamed_key_given_in_python_warns() -> None:
    """A program of an earlier version runs, with a warning."""
    with pytest.warns(DeprecationWarning, match="'most' is now called 'max_iterations'"):
        scene = Scene("s").engine("impulse", most=7)
    assert scene.engines[0].params == {"max_iterations": 7}
    with pytest.warns(DeprecationWarning, match="'patience' is now called 'call_timeout'"):
        scene.agent("a", "program", source="", patience=1.0)


def test_both_names_of_a_renamed_key_are_refused() -> None:
    """The old name beside the new one is an unknown key."""
    scene = Scene("s").engine("impulse", most=7, max_iterations=8)
    with pytest.raises(FormatError, match="has no key 'most'"):
        read_params(scene.engines[0], ImpulseParams)
