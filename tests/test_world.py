"""Compiling: rigid chains weigh what MuJoCo finds, names and origins last, mistakes are named."""

import math
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork
from linkwork.errors import EngineError, LinkworkError, NameNotFound, Origin, PartError, SceneError
from linkwork.kinematics import forward
from linkwork.parts import (
    Anchor,
    Box,
    Capsule,
    Cone,
    Coupling,
    Cylinder,
    Element,
    Joint,
    Loop,
    Part,
    RailPiece,
    Shape,
    Sphere,
)
from linkwork.scene import Scene
from linkwork.scene.scene import Placement
from linkwork.session.cycle import Cycle
from linkwork.spatial import Inertia, Pose
from linkwork.world import World, compile_scene

mujoco: Any = import_module("mujoco")  # its names are made at run time

HERE = Origin("f.toml", 12)


def only(part: Part, **place: Any) -> World:
    return compile_scene(Scene("s").place(part, **place))


# --- rigid compounds against MuJoCo's compiler


class Compound:
    """A rigid body built twice: as elements of a part, and as nested bodies in an MjSpec.

    MuJoCo's compiler fuses bodies without joints, so poses and inertias are combined there by
    its own arithmetic. Cones and explicit inertias, which it lacks as geoms, enter as inertials.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.spec = mujoco.MjSpec()
        self.spec.compiler.fusestatic = True
        self.part = Part("p")
        self.bodies = {"root": self.spec.worldbody.add_body(name="root")}
        self.bodies["root"].add_freejoint()
        self.part.add(self.element("root", self.bodies["root"]))

    def pose(self) -> Pose:
        return Pose.of(self.rng.uniform(-1, 1, 3), rpy=self.rng.uniform(-3, 3, 3))

    def inside(self, carrier: Any, pose: Pose) -> Any:
        """A body in another's frame."""
        return carrier.add_body(pos=list(pose.xyz), quat=list(pose.quat))

    def back(self, carrier: Any, pose: Pose) -> Any:
        """A body where the inverse of a pose leads, by MuJoCo's inverse."""
        place, quat = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(place, quat, np.array(pose.xyz), np.array(pose.quat))
        return carrier.add_body(pos=place, quat=quat)

    def element(self, name: str, body: Any, **words: Any) -> Element:
        """An element of one to three shapes that share its mass by volume, or an inertia."""
        if name != "root" and self.rng.random() < 0.2:
            inertia = self.inertia()
            self.inertial(body, inertia)
            return Element(name, inertia=inertia, **words)
        shapes = [self.shape() for _ in range(self.rng.integers(1, 4))]
        mass = float(self.rng.uniform(0.1, 3.0))
        total = sum(shape.volume() for shape in shapes)
        for shape in shapes:
            self.geom(body, shape, mass * shape.volume() / total)
        return Element(name, tuple(shapes), mass=mass, **words)

    def shape(self) -> Shape:
        a, b, c = (float(x) for x in self.rng.uniform(0.05, 0.5, 3))
        at = self.pose()
        kinds = [
            Box(size=(a, b, c), at=at),
            Cylinder(radius=a, length=b, at=at),
            Capsule(radius=a, length=b, at=at),
            Sphere(radius=a, at=at),
            Cone(radius=a, length=b, top_radius=c, at=at),
        ]
        return kinds[self.rng.integers(len(kinds))]

    def inertia(self) -> Inertia:
        masses, places = self.rng.uniform(0.1, 1.0, 6), self.rng.uniform(-0.5, 0.5, (6, 3))
        com = masses @ places / masses.sum()
        matrix = np.zeros((3, 3))
        for mass, place in zip(masses, places - com, strict=True):
            matrix += mass * (place @ place * np.eye(3) - np.outer(place, place))
        return Inertia.of(masses.sum(), com, matrix)

    def inertial(self, body: Any, inertia: Inertia) -> None:
        m = inertia.matrix
        inner = body.add_body(mass=inertia.mass, ipos=inertia.com.tolist(), explicitinertial=True)
        inner.fullinertia = [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]

    def geom(self, body: Any, shape: Shape, mass: float) -> None:
        types = mujoco.mjtGeom
        place = {"pos": list(shape.at.xyz), "quat": list(shape.at.quat), "mass": mass}
        match shape:
            case Box(size=size):
                body.add_geom(type=types.mjGEOM_BOX, size=[c / 2 for c in size], **place)
            case Cylinder(radius=r, length=length):
                body.add_geom(type=types.mjGEOM_CYLINDER, size=[r, length / 2, 0], **place)
            case Capsule(radius=r, length=length):
                body.add_geom(type=types.mjGEOM_CAPSULE, size=[r, length / 2, 0], **place)
            case Sphere(radius=r):
                body.add_geom(type=types.mjGEOM_SPHERE, size=[r, 0, 0], **place)
            case Cone():
                self.inertial(self.inside(body, shape.at), cone_inertia(shape, mass))

    def grow(self) -> None:
        """Adds elements by each kind of rigid connection in turn."""
        self.on("a", "root")
        self.on("b", "a")
        self.weld("c", "b")
        self.on("d", "c")
        self.snap("tool", "d")
        self.weld("e", "root")

    def on(self, name: str, carrier: str) -> None:
        at = self.pose()
        self.bodies[name] = self.inside(self.bodies[carrier], at)
        self.part.add(self.element(name, self.bodies[name], on=carrier, at=at))

    def weld(self, name: str, carrier: str) -> None:
        at, at_to = self.pose(), self.pose()
        self.bodies[name] = self.back(self.inside(self.bodies[carrier], at), at_to)
        self.part.add(self.element(name, self.bodies[name]))
        self.part.add(Joint(f"weld_{name}", "fixed", carrier, name, at=at, at_to=at_to))

    def snap(self, name: str, carrier: str) -> None:
        """A part on an anchor, turned, held by a mount on an element on its root."""
        flange, mount, step = self.pose(), self.pose(), self.pose()
        turn = float(self.rng.uniform(-3, 3))
        tool = Part(name)
        at = self.inside(self.bodies[carrier], flange)
        at = at.add_body(quat=[math.cos(turn / 2), 0, 0, math.sin(turn / 2)])
        root = self.back(self.back(at, mount), step)
        tool.add(
            self.element("grip", root),
            self.element("jaw", self.inside(root, step), on="grip", at=step),
            Anchor("mount", "jaw", at=mount),
        )
        self.part.add(Anchor(f"on_{carrier}", carrier, at=flange))
        self.part.attach(f"on_{carrier}", tool, turn=turn)


def cone_inertia(cone: Cone, mass: float) -> Inertia:
    """A frustum by the textbook: two full cones, the small one taken away."""
    low, high = cone.radius, cone.top_radius
    if high > low:
        turned = cone_inertia(Cone(radius=high, length=cone.length, top_radius=low), mass)
        return turned.moved(Pose.of(rpy=(math.pi, 0, 0)))
    full = cone.length * low / (low - high)
    parts = []
    for radius, height, sign in ((low, full, 1.0), (high, full - cone.length, -1.0)):
        volume = math.pi * radius**2 * height / 3.0
        centre = full - 0.75 * height  # above the base: the tip is shared
        across = 3.0 / 80.0 * (4.0 * radius**2 + height**2)
        parts.append((sign * volume, centre, across, 0.3 * radius**2))
    total = sum(volume for volume, *_ in parts)
    middle = sum(volume * centre for volume, centre, *_ in parts) / total
    across = sum(v * (a + (c - middle) ** 2) for v, c, a, _ in parts) / total * mass
    along = sum(v * a for v, _, _, a in parts) / total * mass
    return Inertia.of(mass, (0, 0, middle - cone.length / 2), np.diag([across, across, along]))


@pytest.mark.capability(42)
@pytest.mark.parametrize("seed", range(25))
def test_rigid_chains_weigh_what_mujoco_finds(seed: int) -> None:
    """Mass, centre and inertia of element chains, welds and snapped parts agree to 1e-9."""
    compound = Compound(seed)
    compound.grow()
    world = only(compound.part, base="free")
    assert (world.nb, world.joint_names) == (2, ["p"])
    model = compound.spec.compile()
    assert model.nbody == 2
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[1])
    turn = turn.reshape(3, 3)
    inertia = turn @ np.diag(model.body_inertia[1]) @ turn.T
    assert world.mass[1] == pytest.approx(model.body_mass[1], rel=1e-12)
    np.testing.assert_allclose(world.com[1], model.body_ipos[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(world.inertia[1], inertia, rtol=0, atol=1e-9)


@pytest.mark.capability(42, 90)
def test_elements_of_a_chain_stand_where_their_transforms_lead() -> None:
    """A scene's file of elements on elements is one body; each inherits all transforms."""
    world = linkwork.compile_scene(linkwork.load_scene("gripper/follow"))
    body, pose = world.frame("arm/E2")
    assert body == world.body("arm/E1")
    assert pose == Pose((0.0, 0.0, 0.08))
    assert world.mass[body] == pytest.approx(6.0)
    np.testing.assert_allclose(world.com[body], [0, 0, (4 * 0.04 + 2 * 0.19) / 6])


@pytest.mark.capability(90)
def test_transforms_are_inherited_through_parts_joints_and_anchors() -> None:
    """Moving the placement moves everything; turning a joint moves all it carries."""
    hand = Part("hand").add(
        Element("palm", mass=0.1), Anchor("tip", "palm", at=Pose((0.1, 0, 0)))
    )
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
        # in the arm: out by 1 along the turned link, then 0.1 across it
        c, s = math.cos(angle), math.sin(angle)
        expected = place.apply((c - 0.1 * s, s + 0.1 * c, 0.5))
        np.testing.assert_allclose(found, expected, atol=1e-12)


# --- structure


@pytest.mark.capability(43)
def test_joints_in_a_chain_make_a_joint_of_several_freedoms() -> None:
    """The kit's table: roll and pitch, each with its range, about one point."""
    part = linkwork.load_part("tripod/table")
    world = only(part)
    assert world.joint_names == ["table/roll", "table/pitch"]
    assert (world.nq, world.nv, world.nb) == (2, 2, 4)
    np.testing.assert_allclose(np.degrees([world.dof_lo, world.dof_hi]), [[-15] * 2, [15] * 2])
    assert world.joined == [(1, 3)]  # stand and plate, with nothing but joints between
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
    """Topological order; islands are what joints, loops and couplings connect."""
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
    """Its pose and motion in the world are the start; its inertia is that of the whole torso."""
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
    """Mount on anchor, moved by ``at`` in the anchor's frame; fixed it becomes one body."""
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
    """Elements, anchors, joints and freedoms by full name; the message helps with others."""
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
    """Aliases keep the names of another format, dots and spaces included."""
    part = chain("hinge")
    part.aliases = {"link 1": "b", "joint.1": "j0"}
    world = only(part)
    assert world.body("p/link 1") == world.body("p/b")
    assert world.joint("p/joint.1") == world.joint("p/j0")
    assert world.dofs("p/joint.1") == world.dofs("p/joint.1.angle") == world.dofs("p/j0.angle")


def test_origins_reach_the_world() -> None:
    """Bodies, elements and loops remember the line that made them."""
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
    """Range, speed, effort, damping, friction, spring and armature as the joint says."""
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
    """A posture names joints or their freedoms; the start posture is where a session begins."""
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
    """Followers of followers too, in whatever order they are said; postures as well."""
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
    """Neighbours over joints, loops and anchors; not those further apart."""
    part = Part("p").add(Element("a"), Element("b"), Element("c"))
    part.add(Joint("j1", "hinge", "a", "b"), Joint("j2", "hinge", "b", "c"))
    part.add(Anchor("x", "c"), Anchor("y", "a"))
    assert only(part).joined == [(1, 2), (2, 3)]
    part.close("x", "y")
    assert only(part).joined == [(1, 2), (1, 3), (2, 3)]


# --- mistakes


def two(*joints: Joint, **more: Any) -> Part:
    """Elements a and b, and joints."""
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
        r"part 'p' has a cycle: nothing is its root",
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
        r"joint 'k' of part 'p' hangs on itself in a circle of joints",
    ),
    (
        two(hinge("j", "a", "k"), hinge("k", "a", "b")),
        PartError,
        r"joints 'j' and 'k' of part 'p' make no chain.*'to' of the first",
    ),
    (
        two(hinge("j", "a", "b"), hinge("k", "j", "c"), also=[Element("c", on="a")]),
        PartError,
        r"joints 'k' and 'j' of part 'p' make no chain",
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
        r"'p/c' is free but stands on the moving 'p/b'.*ball or planar",
    ),
]


@pytest.mark.parametrize(("part", "error", "words"), BROKEN, ids=[words for *_, words in BROKEN])
def test_a_part_that_is_no_tree_is_refused_with_its_line(
    part: Part, error: type[LinkworkError], words: str
) -> None:
    """File and line first, then what is wrong and what exists."""
    with pytest.raises(error, match=r"^f\.toml:12: .*" + words):
        only(part)


@pytest.mark.parametrize(
    ("couplings", "words"),
    [
        ([("j2", "j1"), ("j1", "j2")], "joint 'p/j1' follows itself in a circle"),
        ([("j1", "j1")], "joint 'p/j1' follows itself in a circle"),
        ([("j1", "j2"), ("j2", "j3"), ("j3", "j1")], "joint 'p/j3' follows itself in a circle"),
        ([("j1", "j2"), ("j1", "j3")], "joint 'p/j1' follows two joints: 'p/j3' and 'p/j2'"),
        ([("j1", "j9")], "there is no joint named 'p/j9'. Did you mean"),
    ],
)
def test_couplings_that_cannot_be_followed_are_refused(
    couplings: list[tuple[str, str]], words: str
) -> None:
    """Circles, two leaders and unknown joints, with file and line."""
    made = [Coupling(joint, of, origin=HERE) for joint, of in couplings]
    with pytest.raises(LinkworkError, match=r"^f\.toml:12: " + words):
        compile_scene(gears(*made))


def test_a_ball_is_no_leader_and_no_part_of_a_posture() -> None:
    """A ball's rotation is one quaternion; no number of it can be set alone."""
    part = two(Joint("j", "ball", "a", "b"))
    part.add(Coupling("j.rx", "j.ry", origin=HERE))
    with pytest.raises(SceneError, match=r"^f\.toml:12: a coupling names 'p/j.rx', which has no"):
        only(part)
    scene = Scene("s", postures={"up": {"p/j.rx": 0.1}}, origin=HERE)
    with pytest.raises(SceneError, match=r"^f\.toml:12: posture 'up' names 'p/j.rx'"):
        compile_scene(scene.place(two(Joint("j", "ball", "a", "b"))))


def test_loops_of_a_scene_need_anchors_that_exist() -> None:
    """The message lists them by their full names."""
    scene = Scene("s").place(Part("p").add(Element("a"), Anchor("x", "a")))
    scene.loops["ring"] = Loop("ring", "p/x", "p/z", origin=HERE)
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no anchor named 'p/z'.*'p/x'"):
        compile_scene(scene)


def test_scenery_stands_on_scenery() -> None:
    """Elements fixed to the world may carry each other, but not in a circle."""
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
    """Placed parts and scenery share one space of names; sensors and the like have their own."""
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
    """What would make nonsense of every step is refused before the first."""
    for step in (0.0, -1.0, 2.0, math.nan):
        with pytest.raises(SceneError, match=r"^f\.toml:12: step must be more than 0 and at most"):
            compile_scene(Scene("s", step=step, origin=HERE))
    with pytest.raises(SceneError, match=r"^f\.toml:12: gravity must be three finite numbers"):
        compile_scene(Scene("s", gravity=(0, 0, math.nan), origin=HERE))


def test_a_moving_body_needs_mass_to_be_moved_by_forces() -> None:
    """The Mujoco engine's check refuses it before the run, naming the element's line."""
    part = Part("p").add(
        Element("a", mass=1.0),
        Element("b", (Sphere(radius=0.1),), origin=HERE),
        Joint("j", "hinge", "a", "b"),
    )
    with pytest.raises(EngineError, match=r"^f\.toml:12: p/b: a moving body needs mass"):
        Cycle(only(part))
    Cycle(compile_scene(Scene("s").place(part).engine("kinematic"))).close()


def test_rails_keep_their_pieces_in_the_world() -> None:
    """Each rail finds its own pieces among all."""
    part = Part("p").add(Element("a"), Element("b"), Element("c"))
    part.add(Joint("j", "rail", "a", "b", rail=(RailPiece(1.0), RailPiece(2.0, turn=0.5))))
    part.add(Joint("k", "rail", "b", "c", rail=(RailPiece(3.0, climb=0.25),)))
    world = only(part)
    assert world.rail.tolist() == [[1, 0, 0], [2, 0.5, 0], [3, 0, 0.25]]
    assert (world.rail_first[2:].tolist(), world.rail_count[2:].tolist()) == ([0, 2], [2, 1])
