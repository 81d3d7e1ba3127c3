"""Compilation: invalid scenes are rejected with file, line and existing names."""

import math
from pathlib import Path
from typing import Any, cast

import pytest

import linkwork as lw
from linkwork.core.errors import (
    EngineError,
    LinkworkError,
    NameNotFound,
    Origin,
    PartError,
    SceneError,
)
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.model.parts import Anchor, Coupling, Element, Joint, Loop, Part, Sphere
from linkwork.model.scene import CollisionRules, Light, Placement, Scene
from linkwork.model.world import World, compile_scene
from linkwork.session.cycle import Cycle

HERE = Origin("f.toml", 12)


def only(part: Part, **place: Any) -> World:
    return compile_scene(Scene("s").place(part, **place))


def gears(*couplings: Coupling) -> Scene:
    part = Part("p").add(Element("a"))
    for name in ("j1", "j2", "j3"):
        part.add(Element(f"to_{name}"))
        part.add(Joint(name, "hinge", "a", f"to_{name}"))
    part.couplings = list(couplings)
    return Scene(
        "s",
    ).place(part)


def two(*joints: Joint, **more: Any) -> Part:
    """Returns elements a and b, and joints."""
    part = Part("p", origin=Origin("f.toml")).add(
        Element("a", mass=1.0, origin=HERE), Element("b", mass=1.0, origin=HERE), *joints
    )
    return part.add(*more.get("also", ()))


def hinge(name: str, from_: str, to: str) -> Joint:
    return Joint(name, "hinge", from_, to, origin=HERE)


BROKEN: list[tuple[Part, type[LinkworkError], str]] = [
    (
        two(hinge("j", "a", "b"), hinge("k", "a", "b")),
        PartError,
        r"element 'p/b' has two parents: 'p/j' and joint 'p/k'.*close a loop",
    ),
    (
        Part("p").add(
            Element("a"), Element("b", on="a"), Joint("j", "hinge", "a", "b", origin=HERE)
        ),
        PartError,
        r"element 'p/b' has two parents: 'p/a' and joint 'p/j'",
    ),
    (two(hinge("j", "a", "c")), PartError, r"part 'p' falls apart: 'a' and 'b'"),
    (
        two(hinge("j", "a", "b"), hinge("k", "a", "c")),
        NameNotFound,
        r"there is no element named 'c'. Available elements: a, b",
    ),
    (two(hinge("j", "c", "b")), NameNotFound, r"there is no element named 'c'.* a, b"),
    (
        Part("p").add(Element("a"), Element("lid", on="bse", origin=HERE)),
        NameNotFound,
        r"there is no element named 'bse'",
    ),
    (
        Part("p").add(Element("a"), Anchor("x", "aa", origin=HERE)),
        NameNotFound,
        r"there is no element named 'aa'. .*\ba\b",
    ),
    (two(), PartError, r"part 'p' falls apart: 'a' and 'b' have no parent"),
    (
        two(hinge("j", "b", "a"), hinge("k", "a", "b")),
        PartError,
        r"part 'p' has a cycle and no root",
    ),
    (
        two(hinge("j", "b", "a"), hinge("k", "a", "b"), also=[Element("c")]),
        PartError,
        r"element 'a' of part 'p' carries itself in a cycle",
    ),
    (
        Part("p").add(Element("a"), Element("b", on="c", origin=HERE), Element("c", on="b")),
        PartError,
        r"element 'b' of part 'p' carries itself in a cycle",
    ),
    (
        two(hinge("j", "a", "b"), hinge("k", "l", "l"), hinge("l", "k", "k")),
        PartError,
        r"joint 'k' of part 'p' is part of a cycle of joints",
    ),
    (
        two(hinge("j", "a", "k"), hinge("k", "a", "b")),
        PartError,
        r"joints 'j' and 'k' of part 'p' are not a chain.*'to' of the first",
    ),
    (
        two(hinge("j", "a", "b"), hinge("k", "j", "c"), also=[Element("c", on="a")]),
        PartError,
        r"joints 'k' and 'j' of part 'p' are not a chain",
    ),
    (
        Part("p")
        .add(Element("a"), Anchor("x", "a"), Anchor("y", "a"))
        .close("x", "y", origin=HERE),
        SceneError,
        r"loop 'p/loop1' joins two anchors of one rigid body: 'p/x', 'p/y'",
    ),
    (
        two(
            hinge("j", "a", "b"),
            Joint("k", "free", "b", "c"),
            also=[Element("c", origin=HERE)],
        ),
        SceneError,
        r"'p/c' is free but placed on the moving 'p/b'.*ball or planar",
    ),
]


@pytest.mark.parametrize(("part", "error", "words"), BROKEN, ids=[words for *_, words in BROKEN])
def test_a_part_that_is_no_tree_is_refused_with_its_line(
    part: Part, error: type[LinkworkError], words: str
) -> None:
    """The message has file and line, then the problem and the existing names."""
    with pytest.raises(error, match=r"^f\.toml:12: .*" + words):
        only(part)


@pytest.mark.parametrize(
    ("couplings", "words"),
    [
        ([("j2", "j1"), ("j1", "j2")], "joint 'p/j1' follows itself in a cycle"),
        ([("j1", "j1")], "joint 'p/j1' follows itself in a cycle"),
        ([("j1", "j2"), ("j2", "j3"), ("j3", "j1")], "joint 'p/j3' follows itself in a cycle"),
        ([("j1", "j2"), ("j1", "j3")], "joint 'p/j1' follows two joints: 'p/j3' and 'p/j2'"),
        ([("j1", "j9")], "there is no joint named 'p/j9'. Did you mean"),
    ],
)
def test_couplings_that_cannot_be_followed_are_refused(
    couplings: list[tuple[str, str]], words: str
) -> None:
    """Cycles, two leaders and unknown joints, with file and line."""
    made = [Coupling(joint, of, origin=HERE) for joint, of in couplings]
    with pytest.raises(LinkworkError, match=r"^f\.toml:12: " + words):
        compile_scene(gears(*made))


def test_a_ball_is_no_leader() -> None:
    """A ball's rotation is one quaternion; no component can be followed alone."""
    part = two(Joint("j", "ball", "a", "b"))
    part.add(Coupling("j.rx", "j.ry", origin=HERE))
    with pytest.raises(SceneError, match=r"^f\.toml:12: a coupling names 'p/j.rx', which has no"):
        only(part)


def test_a_posture_turns_a_ball_by_a_rotation_vector() -> None:
    """Named components are set; the others keep their initial values."""
    scene = Scene("s", postures={"up": {"p/j.rx": 0.6, "p/j.rz": 0.8}}, origin=HERE)
    world = compile_scene(scene.place(two(Joint("j", "ball", "a", "b"))))
    half = math.sin(0.5)
    assert world.postures["up"] == pytest.approx([math.cos(0.5), 0.6 * half, 0.0, 0.8 * half])


def test_loops_of_a_scene_need_anchors_that_exist() -> None:
    """The message lists the anchors by full name."""
    scene = Scene("s").place(Part("p").add(Element("a"), Anchor("x", "a")))
    scene.loops["ring"] = Loop("ring", "p/x", "p/z", origin=HERE)
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no anchor named 'p/z'.*'p/x'"):
        compile_scene(scene)


def test_scenery_stands_on_scenery() -> None:
    """Elements fixed to the world may be fixed to each other, but not in a cycle."""
    scene = Scene("s").add(
        Element("table", at=Pose((1, 0, 0))), Element("cup", on="table", at=Pose((0, 0, 1)))
    )
    world = compile_scene(scene)
    body, pose = world.frame("cup")
    at = forward(world, world.q0)[body]
    assert (Pose.of(at[:3], quat=at[3:]) @ pose).xyz == (1, 0, 1)
    ring = Scene("s").add(Element("a", on="b", origin=HERE), Element("b", on="a"))
    with pytest.raises(SceneError, match=r"^f\.toml:12: element 'a' carries itself in a cycle"):
        compile_scene(ring)
    lost = Scene("s").add(Element("a", on="b", origin=HERE))
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no element named 'b'"):
        compile_scene(lost)


def test_names_in_a_scene_are_taken_once() -> None:
    """Placed parts and scenery share one namespace; sensors and others have their own."""
    part = Part("p").add(Element("a"))
    scene = Scene("s").place(part).sensor("tilt", "inclinometer")
    with pytest.raises(SceneError, match=r"^f\.toml:12: part name 'p' is taken"):
        scene.place(part, origin=HERE)
    with pytest.raises(SceneError, match=r"^f\.toml:12: element name 'p' is taken"):
        scene.add(Element("p", origin=HERE))
    with pytest.raises(SceneError, match=r"sensor name 'tilt' is taken"):
        scene.sensor("tilt", "encoder")
    with pytest.raises(SceneError, match=r"^f\.toml:12: part 'p': base must be fixed or free"):
        Placement("p", part, base="loose", origin=HERE)


def test_a_scene_needs_a_step_and_a_finite_gravity() -> None:
    """Invalid values are rejected before the first step."""
    for step in (0.0, -1.0, 2.0, math.nan):
        with pytest.raises(SceneError, match=r"^f\.toml:12: step must be more than 0 and at most"):
            compile_scene(Scene("s", step=step, origin=HERE))
    with pytest.raises(SceneError, match=r"^f\.toml:12: gravity must be three finite numbers"):
        compile_scene(Scene("s", gravity=(0, 0, math.nan), origin=HERE))
    wrong: Any
    for wrong in (-3.7, "down", (0, 0), ("a", "b", "c"), None):
        with pytest.raises(SceneError, match=r"gravity must be three finite numbers, not"):
            compile_scene(Scene("s", gravity=wrong))
    wrong = "quick"
    with pytest.raises(SceneError, match=r"step must be more than 0 .* not 'quick'"):
        compile_scene(Scene("s", step=wrong))


def test_lights_are_lights() -> None:
    """An unknown kind is rejected on creation, a wrong type on compilation."""
    with pytest.raises(SceneError, match=r"light 'q': kind must be sun or lamp, not 'son'"):
        Light("q", kind="son")
    scene, wrong = Scene("s"), cast("Any", "sun")
    scene.lights.append(wrong)
    with pytest.raises(SceneError, match=r"lights holds 'sun', which is no Light"):
        compile_scene(scene)


def test_a_collision_group_that_is_none_is_told_with_those_that_are() -> None:
    """The message suggests the nearest name, and lists all groups and parts."""
    ball = (Sphere(0.1),)
    scene = Scene("s").add(Element("a", ball, group="sinking"), Element("shelf", ball))
    scene.place(Part("p").add(Element("b", ball)))
    scene.collide = CollisionRules((("sinkin", "shelf"),), origin=HERE)
    with pytest.raises(NameNotFound) as caught:
        compile_scene(scene)
    assert str(caught.value) == (
        "f.toml:12: collide: there is no group, part or element named 'sinkin'. "
        "Did you mean 'sinking'? Groups: sinking; parts: p."
    )
    for right in (("sinking", "shelf"), ("p", "p/b"), ("a", "p")):
        scene.collide = CollisionRules((right,))
        compile_scene(scene)


def test_a_posture_out_of_range_is_told_in_its_line_and_in_degrees(tmp_path: Path) -> None:
    """The message has the unit and the line of the file."""
    lw.save(
        Part("p").add(
            Element("a", mass=1.0), Element("b", mass=1.0),
            Joint("j", "hinge", "a", "b", range=(-1.0, math.radians(90))),
        ),
        tmp_path / "p.toml",
    )  # fmt: skip
    path = tmp_path / "s.toml"
    head = 'format = "linkwork/scene 1"\nname = "s"\n[[part]]\nname = "p"\npart = "./p.toml"\n'
    path.write_text(f'{head}[[posture]]\nname = "up"\njoints_deg = {{ "p/j" = 120 }}\n')
    with pytest.raises(SceneError, match=rf"^{path}:6: posture 'up' puts 'p/j' at 120°.*90°\.$"):
        compile_scene(lw.load_scene(path))
    path.write_text(f'{head}[[posture]]\nname = "up"\njoints_deg = {{ "p/k" = 120 }}\n')
    with pytest.raises(NameNotFound, match=rf"^{path}:6: "):
        compile_scene(lw.load_scene(path))


def test_a_moving_body_needs_mass_to_be_moved_by_forces() -> None:
    """The Mujoco engine rejects it before the run, naming the element's line."""
    part = Part("p").add(
        Element("a", mass=1.0),
        Element("b", (Sphere(radius=0.1),), origin=HERE),
        Joint("j", "hinge", "a", "b"),
    )
    with pytest.raises(EngineError, match=r"^f\.toml:12: p/b: a moving body needs mass"):
        Cycle(only(part))
    Cycle(compile_scene(Scene("s").place(part).engine("kinematic"))).close()
