"""Compilation: structure, initial state, names and origins of a world."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork
from linkwork.core.errors import NameNotFound, Origin, PartError
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.model.parts import Anchor, Box, Coupling, Element, Joint, Loop, Part, RailPiece
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from linkwork.session.cycle import Cycle

HERE = Origin("f.toml", 12)


def only(part: Part, **place: Any) -> World:
    return compile_scene(Scene("s").place(part, **place))


@pytest.mark.capability(42, 90)
def test_elements_of_a_chain_stand_where_their_transforms_lead() -> None:
    """Elements on elements form one body; each inherits all transforms."""
    world = linkwork.compile_scene(linkwork.load_scene("gripper/follow"))
    body, pose = world.frame("arm/E2")
    assert body == world.body("arm/E1")
    assert pose == Pose((0.0, 0.0, 0.08))
    assert world.mass[body] == pytest.approx(6.0)
    np.testing.assert_allclose(world.com[body], [0, 0, (4 * 0.04 + 2 * 0.19) / 6])


@pytest.mark.capability(90)
def test_transforms_are_inherited_through_parts_joints_and_anchors() -> None:
    """Moving the placement moves everything; rotating a joint moves its subtree."""
    hand = Part("hand").add(Element("palm", mass=0.1), Anchor("tip", "palm", at=Pose((0.1, 0, 0))))
    arm = Part("arm").add(
        Element("base", mass=1.0),
        Element("link", mass=1.0),
        Joint("turn", "hinge", "base", "link", at=Pose((0, 0, 0.5))),
        Anchor("flange", "link", at=Pose.of((1, 0, 0), rpy=(0, 0, math.pi / 2))),
    )
    arm.attach("flange", hand)
    place = Pose.of((5, 0, 0), rpy=(0, 0, math.pi / 2))
    world = only(arm, at=place)
    body, tip = world.frame("arm/hand/tip")
    for angle in (0.0, math.pi / 2):
        pose = forward(world, np.array([angle]))[body]
        found = (Pose.of(pose[:3], quat=pose[3:]) @ tip).xyz
        # in the arm: 1 along the rotated link, then 0.1 across it
        c, s = math.cos(angle), math.sin(angle)
        expected = place.apply((c - 0.1 * s, s + 0.1 * c, 0.5))
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.capability(43)
def test_joints_in_a_chain_make_a_joint_of_several_freedoms() -> None:
    """The kit's table has roll and pitch, each with its range, about one point."""
    part = linkwork.load_part("tripod/table")
    world = only(part)
    assert world.joint_names == ["table/roll", "table/pitch"]
    assert (world.nq, world.nv, world.nb) == (2, 2, 4)
    np.testing.assert_allclose(np.degrees([world.dof_lo, world.dof_hi]), [[-15] * 2, [15] * 2])
    assert world.joined == [(1, 3)]  # stand and plate, with only joints between
    roll, pitch = 0.2, -0.1
    pose = forward(world, np.array([roll, pitch]))[world.body("table/plate")]
    rx = Pose.of((0, 0, 0.3), rpy=(roll, 0, 0))
    expected = rx @ Pose.of(rpy=(0, pitch, 0))
    np.testing.assert_allclose(pose, expected.array(), atol=1e-12)


def chain(*kinds: str) -> Part:
    """Two elements with joints in a chain between them."""
    part = Part("p").add(Element("a", mass=1.0), Element("b", mass=1.0))
    names = [f"j{n}" for n in range(len(kinds))]
    for n, kind in enumerate(kinds):
        before, after = ["a", *names][n], [*names, "b"][n + 1]
        part.add(Joint(names[n], kind, before, after, at=Pose((0, 0, 0.1)), axis=(0, n % 2, 1)))
    return part


@pytest.mark.capability(43)
def test_long_chains_of_joints_keep_their_order() -> None:
    """Hinge, slider, weld and hinge between two elements, whatever the elements are called."""
    part = chain("hinge", "slider", "fixed", "hinge")
    part.add(Element("j0-link", on="a", mass=1.0))
    world = only(part)
    assert world.joint_names == ["p/j0", "p/j1", "p/j3"]
    assert "p/j0-link" in world.element_names
    q = np.array([0.3, 0.2, -0.4])
    expected = Pose()
    for n, (kind, value) in enumerate([("t", 0.3), ("s", 0.2), ("-", 0), ("t", -0.4)]):
        axis = np.array([0, n % 2, 1]) / math.sqrt(1 + n % 2)
        expected = expected @ Pose((0, 0, 0.1))
        if kind == "t":
            half = axis * math.sin(value / 2)
            expected = expected @ Pose.of(quat=(math.cos(value / 2), *half))
        elif kind == "s":
            expected = expected @ Pose.of(axis * value)
    pose = forward(world, q)[world.body("p/b")]
    np.testing.assert_allclose(pose, expected.array(), atol=1e-12)


def test_bodies_come_after_their_parents_and_static_ones_have_no_island() -> None:
    """Topological order; islands are connected by joints, loops and couplings."""
    swing = Part("swing").add(
        Element("post", mass=1.0),
        Element("seat", mass=1.0),
        Joint("j", "hinge", "post", "seat"),
        Anchor("rim", "seat"),
    )
    scene = Scene("s").add(Element("floor"))
    for name in ("one", "two", "three", "four"):
        scene.place(swing, name=name, base="free" if name == "four" else "fixed")
    scene.loops["link"] = Loop("link", "one/rim", "two/rim")
    world = compile_scene(scene)
    assert all(world.parent[b] < b for b in range(1, world.nb))
    island = {name: int(world.island[world.body(name)]) for name in world.element_names}
    assert {island[n] for n in ("floor", "one/post", "two/post", "three/post")} == {-1}
    assert island["one/seat"] == island["two/seat"]
    assert len({island["one/seat"], island["three/seat"], island["four/post"]}) == 3
    assert island["four/seat"] == island["four/post"]
    scene.couplings.append(Coupling("three/j", "one/j"))
    world = compile_scene(scene)
    assert world.island[world.body("three/seat")] == world.island[world.body("one/seat")]
    assert world.is_static(world.body("floor"))
    assert not world.is_static(world.body("four/post"))


@pytest.mark.capability(86)
def test_a_free_part_starts_where_and_as_fast_as_it_is_told() -> None:
    """Its pose and velocity are initial values; its inertia is that of the whole torso."""
    place = Pose.of((1, 2, 3), rpy=(0.1, 0.2, 0.3))
    torso = Element(
        "torso", (Box(size=(0.2, 0.3, 0.5)),), mass=10.0, velocity=(1, 0, 0), spin=(0, 0, 2)
    )
    part = Part("p").add(torso, Element("head", on="torso", at=Pose((0, 0, 0.4)), mass=2.0))
    world = only(part, at=place, base="free")
    np.testing.assert_allclose(world.q0, place.array())
    np.testing.assert_allclose(world.v0[:3], [1, 0, 0])
    np.testing.assert_allclose(place.rotate(world.v0[3:]), [0, 0, 2], atol=1e-12)
    assert world.mass[1] == 12.0
    np.testing.assert_allclose(world.com[1], [0, 0, 2 * 0.4 / 12])
    dofs = [world.dof_name(i) for i in range(6)]
    assert dofs == ["p.x", "p.y", "p.z", "p.rx", "p.ry", "p.rz"]
    assert [world.dof_is_angle(i) for i in range(6)] == [False] * 3 + [True] * 3


def test_a_part_stands_on_an_anchor_of_another() -> None:
    """Its mount is at the anchor, moved by ``at`` in the anchor's frame; fixed, it is one body."""
    table = Part("table").add(
        Element("top", (Box(size=(1, 1, 0.1)),), mass=5.0),
        Anchor("middle", "top", at=Pose((0, 0, 0.05)), fits="plug"),
    )
    lamp = Part("lamp").add(
        Element("pole", mass=1.0), Anchor("mount", "pole", at=Pose((0, 0, -0.2)), fits="plug")
    )
    scene = Scene("s").place(table, at=Pose((0, 0, 1)))
    scene.place(lamp, on="table/middle", at=Pose((0.1, 0, 0)))
    scene.place(lamp, name="loose", base="free", on="table/middle", at=Pose((-0.1, 0, 0)))
    world = compile_scene(scene)
    assert world.body("lamp/pole") == world.body("table/top")
    np.testing.assert_allclose(world.frame("lamp/pole")[1].xyz, [0.1, 0, 0.25])
    np.testing.assert_allclose(world.q0[:3], [-0.1, 0, 1.25])
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no part named 'desk'"):
        scene.place(lamp, name="l3", on="desk/middle", origin=HERE)
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no anchor named 'edge'"):
        scene.place(lamp, name="l3", on="table/edge", origin=HERE)
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no anchor named 'foot'"):
        scene.place(lamp, name="l3", by="foot", origin=HERE)
    sock = Part("sock").add(Element("e"), Anchor("mount", "e", fits="bulb"))
    with pytest.raises(PartError, match=r"^f\.toml:12: .*\(fits 'bulb'\) does not fit 'middle'"):
        scene.place(sock, on="table/middle", origin=HERE)


def test_names_are_scoped_and_found() -> None:
    """Elements, anchors, joints and degrees of freedom have full names; others get a hint."""
    finger = Part("finger").add(
        Element("bone", mass=0.1),
        Element("tip", mass=0.1),
        Joint("knuckle", "universal", "bone", "tip", axis=(1, 0, 0)),
        Anchor("nail", "tip", at=Pose((0, 0, 0.1))),
    )
    hand = Part("hand").add(Element("palm", mass=1.0))
    for side in ("left", "right"):
        hand.add(Anchor(side, "palm")).attach(side, finger, name=f"{side}_finger")
    hand.add(Anchor("wrist", "palm"))
    world = only(hand, name="h")
    assert world.joint_names == ["h/left_finger/knuckle", "h/right_finger/knuckle"]
    assert world.dofs("h/right_finger/knuckle") == range(2, 4)
    assert world.dofs("h/right_finger/knuckle.angle2") == range(3, 4)
    assert world.single_dof("h/left_finger/knuckle.angle1") == 0
    assert world.dof_name(3) == "h/right_finger/knuckle.angle2"
    assert world.frame("h/left_finger/nail") == (world.body("h/left_finger/tip"), Pose((0, 0, 0.1)))
    assert world.frame("world") == (0, Pose())
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: .*'h/lef/nail'"):
        world.frame("h/lef/nail", origin=HERE)
    with pytest.raises(NameNotFound, match=r"no joint named 'h/knuckle'. Available joints|Did you"):
        world.joint("h/knuckle", origin=HERE)
    with pytest.raises(NameNotFound, match=r"has 2 degrees of freedom. Name one: .*knuckle.angle1"):
        world.single_dof("h/left_finger/knuckle", origin=HERE)
    with pytest.raises(NameNotFound, match=r"no degree of freedom named 'angle'"):
        world.dofs("h/left_finger/knuckle.angle", origin=HERE)


def test_imported_names_lead_to_the_same_things() -> None:
    """Aliases keep the names of another format, including dots and spaces."""
    part = chain("hinge")
    part.aliases = {"link 1": "b", "joint.1": "j0"}
    world = only(part)
    assert world.body("p/link 1") == world.body("p/b")
    assert world.joint("p/joint.1") == world.joint("p/j0")
    assert world.dofs("p/joint.1") == world.dofs("p/joint.1.angle") == world.dofs("p/j0.angle")


def test_origins_reach_the_world() -> None:
    """Bodies, elements and loops keep the line that defines them."""
    part = Part("p").add(
        Element("a", mass=1.0, origin=Origin("f.toml", 3)),
        Element("b", mass=1.0, origin=Origin("f.toml", 8)),
        Joint("j", "hinge", "a", "b", origin=Origin("f.toml", 14)),
        Anchor("x", "a"),
        Anchor("y", "b"),
    )
    part.close("x", "y", name="ring", origin=Origin("f.toml", 20))
    world = only(part)
    assert [str(o) for o in world.body_origins[1:]] == ["f.toml:3", "f.toml:8"]
    assert [str(o) for o in world.element_origins] == ["f.toml:3", "f.toml:8"]
    assert (world.loop_names, str(world.loop_origins[0])) == (["p/ring"], "f.toml:20")


def test_limits_and_laws_belong_to_each_freedom() -> None:
    """Range, speed, effort, damping, friction, spring and armature are those of the joint."""
    joint = Joint(
        "j", "cylindrical", "a", "b", range=((-0.1, 0.2), None), max_speed=3.0, max_effort=4.0,
        damping=0.5, friction=0.6, stiffness=7.0, rest=0.1, armature=0.01,
    )  # fmt: skip
    world = only(Part("p").add(Element("a"), Element("b"), joint))
    assert world.dof_lo.tolist() == [-0.1, -math.inf]
    assert world.dof_hi.tolist() == [0.2, math.inf]
    for array, value in (
        (world.dof_speed, 3.0), (world.dof_effort, 4.0), (world.damping, 0.5),
        (world.friction, 0.6), (world.stiffness, 7.0), (world.rest, 0.1), (world.armature, 0.01),
    ):  # fmt: skip
        assert array.tolist() == [value, value]
    free = only(Part("p").add(Element("a"), Element("b"), Joint("j", "hinge", "a", "b")))
    assert (free.dof_speed[0], free.dof_effort[0]) == (math.inf, math.inf)


def test_postures_set_joints_by_name() -> None:
    """A posture names joints or degrees of freedom; a session begins in the start posture."""
    part = Part("p").add(
        Element("a"),
        Element("b"),
        Element("c"),
        Joint("turn", "hinge", "a", "b", value=0.3),
        Joint("slide", "planar", "b", "c"),
    )
    scene = Scene("s", origin=HERE, postures={"up": {"p/turn": 1.0, "p/slide.y": 0.2}, "rest": {}})
    scene.place(part)
    world = compile_scene(scene)
    assert world.q0.tolist() == [0.3, 0, 0, 0]
    assert world.postures["up"].tolist() == [1.0, 0, 0.2, 0]
    assert world.postures["rest"].tolist() == [0.3, 0, 0, 0]
    scene.start = "up"
    assert compile_scene(scene).q0.tolist() == [1.0, 0, 0.2, 0]
    scene.start = "down"
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no posture named 'down'. .*up"):
        compile_scene(scene)
    scene.start, scene.postures = "", {"odd": {"p/tur": 1.0}}
    with pytest.raises(NameNotFound, match=r"no joint named 'p/tur'. Did you mean 'p/turn'"):
        compile_scene(scene)


def gears(*couplings: Coupling, **values: float) -> Scene:
    part = Part("p").add(Element("a"))
    for name in ("j1", "j2", "j3"):
        part.add(Element(f"to_{name}"))
        part.add(Joint(name, "hinge", "a", f"to_{name}", value=values.get(name, 0.0)))
    part.couplings = list(couplings)
    return Scene("s", postures={"bent": {"p/j1": 1.0}}).place(part)


def test_coupled_joints_start_where_their_leaders_want_them() -> None:
    """Including followers of followers, in any order, and in postures."""
    last, first = Coupling("j3", "j2", 2.0, 0.1), Coupling("j2", "j1", -1.0)
    world = compile_scene(gears(last, first, j1=0.5, j2=99.0))
    assert world.coupling_dof.tolist() == [[1, 0], [2, 1]]
    np.testing.assert_allclose(world.coupling_law, [[-1.0, 0.0], [2.0, 0.1]])
    np.testing.assert_allclose(world.q0, [0.5, -0.5, -0.9])
    np.testing.assert_allclose(world.postures["bent"], [1.0, -1.0, -1.9])


FOUR_BAR = """
format = "linkwork/part 1"
name = "bars"

element = [
  { name = "ground", mass = 1 },
  { name = "left", mass = 0.2, shape = { capsule = { radius = 0.01, length = 0.2 }, at = { xyz = [0, 0, 0.1] }, collide = false } },
  { name = "right", mass = 0.2, shape = { capsule = { radius = 0.01, length = 0.2 }, at = { xyz = [0, 0, 0.1] }, collide = false } },
  { name = "coupler", mass = 0.2, shape = { box = { size = [0.2, 0.02, 0.02] }, at = { xyz = [0.1, 0, 0] }, collide = false } },
  { name = "arm", mass = 0.2, shape = { capsule = { radius = 0.01, length = 0.2 }, at = { xyz = [0, 0, 0.1] }, collide = false } },
]
joint = [
  { name = "crank", type = "hinge", from = "ground", to = "left", axis = [0, 1, 0], value_deg = 20 },
  { name = "knee", type = "hinge", from = "left", to = "coupler", at = { xyz = [0, 0, 0.2] }, axis = [0, 1, 0], value_deg = -20 },
  { name = "rocker", type = "hinge", from = "ground", to = "right", at = { xyz = [0.2, 0, 0] }, axis = [0, 1, 0], value_deg = 20 },
  { name = "elbow", type = "hinge", from = "coupler", to = "arm", at = { xyz = [0.1, 0, 0] }, axis = [0, 1, 0] },
]
anchor = [
  { name = "end", on = "coupler", at = { xyz = [0.2, 0, 0] } },
  { name = "top", on = "right", at = { xyz = [0, 0, 0.2] } },
]
loop = [{ name = "ring", a = "end", b = "top", joint = "hinge", axis = [0, 1, 0] }]
"""  # noqa: E501 - a row for each piece


@pytest.mark.capability(15)
def test_open_and_closed_chains_mix_in_one_part(tmp_path: Path) -> None:
    """A four-bar linkage in a file, with an open arm on its coupler, falls as a parallelogram."""
    file = tmp_path / "bars.toml"
    file.write_text(FOUR_BAR)
    world = only(linkwork.load_part(file))
    assert (world.nv, world.loop_names) == (4, ["bars/ring"])
    assert set(world.island[world.island >= 0].tolist()) == {0}
    assert (world.body("bars/coupler"), world.body("bars/right")) in world.joined
    crank, rocker = world.single_dof("bars/crank"), world.single_dof("bars/rocker")
    cycle = Cycle(world)
    worst = apart = fallen = 0.0
    for _ in range(250):
        cycle.move()
        q = cycle.state.q
        worst = max(worst, float(cycle.state.report.gap[0]))
        apart = max(apart, abs(float(q[crank] - q[rocker])))
        fallen = max(fallen, float(q[crank]))
    cycle.close()
    assert worst < 1e-4
    assert apart < 1e-3
    assert fallen > math.radians(60)


def test_bodies_that_touch_by_construction_are_joined() -> None:
    """Neighbors over joints, loops and anchors; no others."""
    part = Part("p").add(Element("a"), Element("b"), Element("c"))
    part.add(Joint("j1", "hinge", "a", "b"), Joint("j2", "hinge", "b", "c"))
    part.add(Anchor("x", "c"), Anchor("y", "a"))
    assert only(part).joined == [(1, 2), (2, 3)]
    part.close("x", "y")
    assert only(part).joined == [(1, 2), (1, 3), (2, 3)]


def test_rails_keep_their_pieces_in_the_world() -> None:
    """Each rail refers to its own segments."""
    part = Part("p").add(Element("a"), Element("b"), Element("c"))
    part.add(Joint("j", "rail", "a", "b", rail=(RailPiece(1.0), RailPiece(2.0, turn=0.5))))
    part.add(Joint("k", "rail", "b", "c", rail=(RailPiece(3.0, climb=0.25),)))
    world = only(part)
    assert world.rail.tolist() == [[1, 0, 0], [2, 0.5, 0], [3, 0, 0.25]]
    assert (world.rail_first[2:].tolist(), world.rail_count[2:].tolist()) == ([0, 2], [2, 1])
