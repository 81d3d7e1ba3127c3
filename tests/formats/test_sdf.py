"""SDF files are read according to their version: frames, axes, loops, includes, worlds."""

import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from export_fixture import placed, stands
from linkwork.core.errors import LinkworkError
from linkwork.formats.robots.sdf import SdfFormat
from linkwork.geometry import Pose
from linkwork.geometry.pose import quat_from_axis
from linkwork.model.parts import (
    Capsule,
    Coupling,
    Cylinder,
    Element,
    Ellipsoid,
    Joint,
    Mesh,
    Part,
)
from linkwork.model.scene import Light, Scene
from mesh_files import box, collada, obj, text_stl, written


def read(folder: Path, inside: str, *, version: str = "1.9", name: str = "m") -> Part:
    path = folder / f"{name}.sdf"
    path.write_text(f'<sdf version="{version}">\n{inside}\n</sdf>')
    thing = SdfFormat().read(path)
    assert isinstance(thing, Part)
    return thing


def where(part: Part, element: str) -> np.ndarray:
    world = placed(part)
    return stands(world, np.zeros(world.nq))[element]


def matrix(pose: Pose) -> np.ndarray:
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = pose.matrix(), pose.xyz
    return found


HINGE = '<joint name="j" type="revolute"><parent>a</parent><child>b</child>{}</joint>'
TWO = '<link name="a"/><link name="b">{}</link>'


@pytest.mark.capability(33)
def test_poses_stand_in_the_frames_they_name(tmp_path: Path) -> None:
    """A pose relative to a frame, which is relative to a joint, which is relative to its child."""
    part = read(
        tmp_path,
        '<model name="m"><link name="a"><pose>1 0 0 0 0 0</pose></link>'
        '<link name="b"><pose relative_to="f">0 0 1 0 0 0.5</pose></link>'
        '<frame name="f" attached_to="a"><pose degrees="true">0 2 0 0 90 0</pose></frame>'
        + HINGE.format("<pose>0.1 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>")
        + "</model>",
    )
    f = Pose.of((0, 2, 0), rpy=(0, math.pi / 2, 0))
    expected = f @ Pose.of((0, 0, 1), rpy=(0, 0, 0.5))
    np.testing.assert_allclose(where(part, "b"), matrix(expected), atol=1e-12)
    joint = part.joints["j"]
    np.testing.assert_allclose(joint.at_to.xyz, (0.1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(part.anchors["f"].at.matrix(), f.matrix(), atol=1e-12)
    quat = '<pose rotation_format="quat_xyzw">0 0 0 0 0 1 0</pose>'
    turned = read(tmp_path, f'<model name="m">{TWO.format(quat)}{HINGE.format("")}</model>')
    np.testing.assert_allclose(where(turned, "b")[:3, :3], np.diag([-1, -1, 1]), atol=1e-12)


@pytest.mark.parametrize(
    ("version", "axis", "expected"),
    [
        ("1.4", "<xyz>1 0 0</xyz>", (0, -1, 0)),
        ("1.5", "<xyz>1 0 0</xyz>", (1, 0, 0)),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", (0, -1, 0)),
        ("1.7", '<xyz expressed_in="__model__">1 0 0</xyz>', (0, -1, 0)),
        ("1.12", '<xyz expressed_in="a">0 1 0</xyz>', (1, 0, 0)),
    ],
)
def test_an_axis_is_in_the_frame_of_its_version(
    tmp_path: Path, version: str, axis: str, expected: tuple[float, ...]
) -> None:
    """The model's frame until 1.4, the joint's from 1.5, or a named one."""
    link = TWO.format("<pose>0 0 1 0 0 1.5707963267948966</pose>")
    joint = HINGE.format(f"<axis>{axis}</axis>")
    part = read(tmp_path, f'<model name="m">{link}{joint}</model>', version=version)
    np.testing.assert_allclose(part.joints["j"].axis, expected, atol=1e-9)


def test_joints_keep_limits_losses_and_springs(tmp_path: Path) -> None:
    """−1 and huge numbers mean no limit; continuous joints have no range."""
    axis = (
        "<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>5</effort>"
        "<velocity>3</velocity></limit><dynamics><damping>0.1</damping><friction>0.2</friction>"
        "<spring_stiffness>4</spring_stiffness><spring_reference>0.5</spring_reference></dynamics>"
        "</axis>"
    )
    joint = read(tmp_path, f'<model name="m">{TWO.format("")}{HINGE.format(axis)}</model>').joints[
        "j"
    ]
    assert (joint.ranges, joint.max_effort, joint.max_speed) == (((-1.0, 2.0),), 5.0, 3.0)
    assert (joint.damping, joint.friction, joint.stiffness, joint.rest) == (0.1, 0.2, 4.0, 0.5)
    free = (
        "<axis><xyz>0 1 0</xyz><limit><lower>-1e16</lower><upper>inf</upper><effort>-1</effort>"
        "</limit></axis>"
    )
    joint = read(tmp_path, f'<model name="m">{TWO.format("")}{HINGE.format(free)}</model>').joints[
        "j"
    ]
    assert (joint.ranges, joint.max_effort) == ((None,), None)


@pytest.mark.parametrize(("second", "types"), [("1 0 0", ["universal"]), ("1 1 0", ["hinge"] * 2)])
def test_a_joint_with_two_axes(tmp_path: Path, second: str, types: list[str]) -> None:
    """Perpendicular axes make a universal joint, others two hinges in series."""
    joint = (
        '<joint name="j" type="revolute2"><parent>a</parent><child>b</child>'
        f"<axis><xyz>0 1 0</xyz></axis><axis2><xyz>{second}</xyz></axis2></joint>"
    )
    part = read(tmp_path, f'<model name="m">{TWO.format("")}{joint}</model>')
    assert [each.type for each in part.joints.values()] == types
    world = placed(part)
    found = stands(world, np.array([0.3, 0.4]))["b"]
    turn = tuple(float(c) for c in second.split())
    expected = Pose(quat=quat_from_axis((0, 1, 0), 0.3)) @ Pose(quat=quat_from_axis(turn, 0.4))
    np.testing.assert_allclose(found, matrix(expected), atol=1e-12)


def test_a_screw_advances_as_its_version_says(tmp_path: Path) -> None:
    """The newer key is meters per turn, the older −2π over it."""
    for word, version in (("screw_thread_pitch>0.02</screw_", "1.10"),
                          (f"thread_pitch>{-2 * math.pi / 0.02}</", "1.5")):  # fmt: skip
        joint = (
            '<joint name="j" type="screw"><parent>a</parent><child>b</child>'
            f"<{word}thread_pitch><axis><xyz>0 0 1</xyz></axis></joint>"
        )
        part = read(tmp_path, f'<model name="m">{TWO.format("")}{joint}</model>', version=version)
        assert part.joints["j"].pitch == pytest.approx(0.02)


def test_masses_stand_where_the_file_says(tmp_path: Path) -> None:
    """An inertial has a pose; a link without one has SDF's 1 kg, with a note."""
    inertial = (
        "<inertial><pose>0 0 1 0 0 1.5707963267948966</pose><mass>2</mass><inertia><ixx>1</ixx>"
        "<iyy>2</iyy><izz>2.5</izz></inertia></inertial>"
    )
    path = tmp_path / "m.sdf"
    path.write_text(
        f'<sdf version="1.6"><model name="m">{TWO.format(inertial)}{HINGE.format("")}</model></sdf>'
    )
    part, notes = SdfFormat().read_with_notes(path)
    assert isinstance(part, Part)
    own = part.elements["b"].mass_properties()
    assert own.mass == 2.0
    np.testing.assert_allclose(own.com, (0, 0, 1))
    np.testing.assert_allclose(own.matrix, np.diag([2, 1, 2.5]), atol=1e-12)
    assert part.elements["a"].mass == 1.0
    assert notes == ["links without <inertial>, given SDF's 1 kg and 1 kg m²: a."]


def test_shapes_colors_and_surfaces(tmp_path: Path) -> None:
    """A visual and an equal collision are one shape; surface values belong to the element."""
    cylinder = "<geometry><cylinder><radius>0.1</radius><length>0.2</length></cylinder></geometry>"
    inside = (
        f'<visual name="v">{cylinder}<material><diffuse>1 0 0 1</diffuse></material>'
        "<transparency>0.5</transparency></visual>"
        f'<collision name="c">{cylinder}<surface><friction><ode><mu>0.3</mu></ode></friction>'
        "<bounce><restitution_coefficient>0.2</restitution_coefficient></bounce></surface></collision>"
        '<visual name="w"><pose>1 0 0 0 0 0</pose><geometry><ellipsoid><radii>1 2 3</radii>'
        '</ellipsoid></geometry></visual><collision name="d"><geometry><capsule>'
        "<radius>0.1</radius><length>0.3</length></capsule></geometry></collision>"
    )
    element = read(tmp_path, f'<model name="m"><link name="l">{inside}</link></model>').elements[
        "l"
    ]
    first, second, third = element.shapes
    assert (first, first.color) == (Cylinder(0.1, 0.2, color="#ff000080"), "#ff000080")
    assert isinstance(second, Ellipsoid)
    assert not second.collide
    assert isinstance(third, Capsule)
    assert not third.visible
    assert (element.friction, element.restitution) == (0.3, 0.2)


def test_two_parents_make_a_loop_or_a_joint_from_the_other_side(tmp_path: Path) -> None:
    """A third bar without a parent gets the reversed joint; a static one closes a loop."""
    joint = (
        '<joint name="{0}" type="revolute"><parent>{1}</parent><child>{2}</child>'
        "<axis><xyz>0 1 0</xyz></axis></joint>"
    )
    links = '<link name="a"/><link name="b"/><link name="c"><pose>0 0 1 0 0 0</pose></link>'
    loose = joint.format("j1", "a", "c") + joint.format("j2", "b", "c")
    part = read(tmp_path, f'<model name="m">{links}{loose}</model>')
    assert (part.joints["j2"].from_, part.joints["j2"].to) == ("c", "b")
    assert part.joints["j2"].axis == (0.0, -1.0, 0.0)
    closed = joint.format("j0", "a", "b") + loose
    part = read(tmp_path, f'<model name="m">{links}{closed}</model>')
    loop = part.loops["j2"]
    assert (part.anchors[loop.a].on, part.anchors[loop.b].on) == ("b", "c")
    np.testing.assert_allclose(part.anchors[loop.a].at.xyz, (0, 0, 1))


def test_joints_to_the_world_and_loose_pieces(tmp_path: Path) -> None:
    """A fixed one sets the part's base; others, and free links, get a new root element."""
    to_world = '<joint name="w" type="{}"><parent>world</parent><child>a</child></joint>'
    two = TWO.format("<pose>0 1 0 0 0 0</pose>")
    fixed = read(
        tmp_path, f'<model name="m">{two}{HINGE.format("")}{to_world.format("fixed")}</model>'
    )
    assert fixed.root() == "a"
    moved = read(
        tmp_path, f'<model name="m">{two}{HINGE.format("")}{to_world.format("revolute")}</model>'
    )
    assert (moved.root(), moved.joints["w"].from_, moved.joints["w"].type) == (
        "world", "world", "hinge",
    )  # fmt: skip
    loose = read(tmp_path, f'<model name="m">{two}</model>')
    assert {j.type for j in loose.joints.values()} == {"free"}
    world = placed(loose)
    assert stands(world, world.q0)["b"][:3, 3].tolist() == [0.0, 1.0, 0.0]


def test_nested_models_and_includes(tmp_path: Path) -> None:
    """A model in a folder beside the file, placed by one of its frames, keeps its names."""
    folder = tmp_path / "hand"
    folder.mkdir()
    (folder / "model.config").write_text("<model><sdf>hand.sdf</sdf></model>")
    (folder / "hand.sdf").write_text(
        '<sdf version="1.9"><model name="hand"><link name="palm"><pose>0 0 0.1 0 0 0</pose></link>'
        '<frame name="grip"><pose>0 0 0.3 0 0 0</pose></frame></model></sdf>'
    )
    part = read(
        tmp_path,
        '<model name="m"><link name="a"/><model name="in"><pose>1 0 0 0 0 0</pose><link name="a"/>'
        "</model><include><uri>model://hand</uri><name>tool</name><pose>0 5 0 0 0 0</pose>"
        "<placement_frame>grip</placement_frame></include>"
        '<joint name="j" type="fixed"><parent>a</parent><child>in::a</child></joint>'
        '<joint name="k" type="fixed"><parent>a</parent><child>tool</child></joint></model>',
    )
    assert part.aliases == {"in::a": "in_a", "tool::palm": "tool_palm"}
    np.testing.assert_allclose(where(part, "in_a")[:3, 3], (1, 0, 0))
    np.testing.assert_allclose(where(part, "tool_palm")[:3, 3], (0, 5, -0.2), atol=1e-12)
    with pytest.raises(LinkworkError, match=r"m\.sdf:2: model 'model://foot' not found"):
        read(
            tmp_path,
            '<model name="m"><link name="a"/><include><uri>model://foot</uri></include></model>',
        )


def test_a_world_is_a_scene(tmp_path: Path) -> None:
    """Static single links are scenery, free models free; gravity, step and light are kept."""
    path = tmp_path / "w.world"
    path.write_text("""<sdf version="1.7"><world name="yard">
      <gravity>0 0 -1.6</gravity><physics type="ode"><max_step_size>0.001</max_step_size></physics>
      <light name="sun" type="directional"><pose>0 0 10 0 0 0</pose>
        <direction>0 1 -1</direction></light>
      <model name="ground"><static>true</static><link name="l"><collision name="c"><geometry>
        <plane><normal>0 0 1</normal><size>8 9</size></plane></geometry></collision></link></model>
      <model name="cart"><pose>1 2 3 0 0 0</pose><link name="body"/></model>
      <frame name="spot"><pose>0 0 5 0 0 0</pose></frame>
      <model name="crane"><pose relative_to="spot">1 0 0 0 0 0</pose><link name="mast"/>
        <link name="jib"/><joint name="w" type="fixed"><parent>world</parent><child>mast</child>
        </joint>
        <joint name="slew" type="revolute"><parent>mast</parent><child>jib</child></joint></model>
      <plugin name="p" filename="f"/></world></sdf>""")
    scene, notes = SdfFormat().read_with_notes(path)
    assert isinstance(scene, Scene)
    assert (scene.name, scene.gravity, scene.step) == ("yard", (0.0, 0.0, -1.6), 0.001)
    assert list(scene.scenery) == ["ground"]
    cart, crane = scene.parts["cart"], scene.parts["crane"]
    assert (cart.base, cart.at.xyz, crane.base, crane.at.xyz) == (
        "free", (1.0, 2.0, 3.0), "fixed", (1.0, 0.0, 5.0),
    )  # fmt: skip
    assert scene.lights[0].look_at == (0.0, 1.0, 9.0)
    assert any(note.startswith("plugins, left out; ") and "f (13)" in note for note in notes)
    assert lw.compile_scene(scene).nv == 7


def test_the_look_of_a_world_comes_back_and_initial_motion_is_listed(tmp_path: Path) -> None:
    """Background and shadows are kept; speeds, which SDF lacks, are noted."""
    part = Part("p").add(Element("a", mass=1.0), Element("b", mass=1.0, spin=(0.0, 0.0, 1.0)))
    part.add(Joint("j", "hinge", "a", "b", speed=2.0))
    scene = Scene("s", background="#336699", lights=[Light("sun", shadows=False)])
    notes = lw.save(scene.place(part), tmp_path / "s.sdf")
    assert notes == [
        "initial motion of elements, left out: p/b.",
        "initial speeds of joints, left out: p/j.",
    ]
    made, notes = SdfFormat().read_with_notes(tmp_path / "s.sdf")
    assert isinstance(made, Scene)
    assert (made.background, made.lights[0].shadows) == ("#336699", False)
    assert notes == ["fixed joints to the world, read as the part's fixed base: a_fixed."]


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("", "no <model> and no <world>"),
        ('<model name="m"/>', "has no links"),
        ('<model name="m"><link name="a"/><link name="a"/></model>', "'a' of a <link> is taken"),
        ('<model name="m"><link name="a"><pose relative_to="b"/></link></model>',
         "no frame named 'b'"),
        ('<model name="m"><link name="a"><pose>1 2</pose></link></model>',
         "'1 2', which is not 6 numbers"),
        ('<model name="m"><link name="a"><pose relative_to="f"/></link><frame name="f"><pose '
         'relative_to="a"/></frame></model>', "refer to each other in a cycle"),
        ('<model name="m"><frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'
         '<link name="a"/></model>', "each other"),
        ('<model name="m" canonical_link="f"><link name="a"/><frame name="f"/></model>',
         "the frames f → __model__ → f are attached to each other"),
        ('<model name="m"><link name="a"/><model name="n"><pose relative_to="n::b"/>'
         '<link name="b"/></model></model>', "n → n::b → n refer to each other in a cycle"),
        (f'<model name="m">{TWO.format("")}<joint name="j" type="revolut"><parent>a</parent>'
         "<child>b</child></joint></model>", "no joint type 'revolut'. Did you mean 'revolute'"),
        (f'<model name="m">{TWO.format("")}<joint name="j" type="ball"><parent>a</parent>'
         "<child>a</child></joint></model>", "joins the link 'a' to itself"),
        ('<model name="m"><link name="a"><inertial><mass>-1</mass></inertial></link></model>',
         "negative"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(tmp_path: Path, inside: str, message: str) -> None:
    """The error names the file, the line and the problem."""
    with pytest.raises(LinkworkError) as caught:
        read(tmp_path, inside)
    assert message in str(caught.value)
    assert str(tmp_path / "m.sdf") in str(caught.value)


def test_entities_are_refused(tmp_path: Path) -> None:
    """Documents with expanding or external entities are rejected."""
    path = tmp_path / "bomb.sdf"
    path.write_text(
        '<!DOCTYPE sdf [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><sdf version="1.9">&b;</sdf>'
    )
    with pytest.raises(LinkworkError, match="entities and outside references are refused"):
        SdfFormat().read(path)


def test_shapes_masses_and_lights_stand_in_the_frames_they_name(tmp_path: Path) -> None:
    """Poses in named frames are converted to the link's or the world's frame."""
    thing = "<geometry><sphere><radius>0.1</radius></sphere></geometry>"
    there = '<pose relative_to="f">0 0 1 0 0 0</pose>'
    part = read(
        tmp_path,
        '<model name="m"><frame name="f"><pose>5 5 5 0 0 0</pose></frame><link name="a">'
        f'<pose>1 0 0 0 0 1.5707963267948966</pose><collision name="c">{there}{thing}</collision>'
        f'<visual name="v">{there}{thing}</visual><inertial>{there}<mass>2</mass></inertial>'
        "</link></model>",
    )
    element = part.elements["a"]
    assert len(element.shapes) == 1
    np.testing.assert_allclose(element.shapes[0].at.xyz, (5, -4, 6), atol=1e-12)
    assert element.inertia is not None
    np.testing.assert_allclose(element.inertia.com, (5, -4, 6), atol=1e-12)
    path = tmp_path / "w.sdf"
    path.write_text(
        '<sdf version="1.9"><world name="w"><model name="m"><pose>3 0 0 0 0 0</pose>'
        '<link name="a"/></model><light name="l" type="point"><pose relative_to="m">0 0 2 0 0 0'
        "</pose></light></world></sdf>"
    )
    scene = SdfFormat().read(path)
    assert isinstance(scene, Scene)
    assert scene.lights[0].xyz == (3.0, 0.0, 2.0)
    with pytest.raises(LinkworkError, match="no frame named 'g'"):
        read(
            tmp_path,
            '<model name="m"><link name="a"><visual name="v"><pose relative_to="g"/>'
            f"{thing}</visual></link></model>",
        )


def test_joints_of_static_models_are_fixed(tmp_path: Path) -> None:
    """Including those of nested static models and includes, with notes."""
    path = tmp_path / "m.sdf"
    axis = HINGE.format("<axis><xyz>0 0 1</xyz></axis>")
    path.write_text(
        f'<sdf version="1.9"><model name="m"><static>true</static>{TWO.format("")}{axis}'
        "</model></sdf>"
    )
    part, notes = SdfFormat().read_with_notes(path)
    assert isinstance(part, Part)
    assert (part.root(), part.joints["j"].type) == ("a", "fixed")
    assert "joints of static models, held fixed: j." in notes
    outer = tmp_path / "outer.sdf"
    outer.write_text(
        '<sdf version="1.9"><model name="o"><link name="cart"/>'
        f'<model name="in"><static>true</static>{TWO.format("")}{axis}</model>'
        "<include><uri>m.sdf</uri><name>wakes</name><static>false</static></include>"
        '<joint name="arm" type="revolute"><parent>cart</parent><child>in::a</child></joint>'
        "</model></sdf>"
    )
    part, notes = SdfFormat().read_with_notes(outer)
    assert isinstance(part, Part)
    assert {name: joint.type for name, joint in part.joints.items()} == {
        "in_j": "fixed", "wakes_j": "hinge", "arm": "hinge",
        "in_a_fixed": "fixed", "wakes_a_free": "free",
    }  # fmt: skip
    assert (part.joints["arm"].from_, part.joints["arm"].to) == ("in_a", "cart")
    assert "joints of static models, held fixed: in::j." in notes


PAIR = (
    '<joint name="{0}" type="universal"><parent>{1}</parent><child>{2}</child><axis>'
    "<xyz>0 1 0</xyz>{4}</axis><axis2><xyz>{3}</xyz>{5}</axis2></joint>"
)


def test_axes_of_a_universal_joint_that_differ_are_told(tmp_path: Path) -> None:
    """Both initial values are kept; limits and losses are those of the first axis."""
    damping = "<dynamics><damping>{}</damping></dynamics>"
    first, second = damping.format(1), damping.format(2)
    value = "<initial_position>{}</initial_position>"
    for laws, reported in (((first, second), True), ((first, first), False)):
        axes = (laws[0] + value.format(0.2), laws[1] + value.format(0.3))
        path = tmp_path / "m.sdf"
        joint = PAIR.format("j", "a", "b", "1 0 0", *axes)
        path.write_text(f'<sdf version="1.9"><model name="m">{TWO.format("")}{joint}</model></sdf>')
        part, notes = SdfFormat().read_with_notes(path)
        assert isinstance(part, Part)
        assert (part.joints["j"].values, part.joints["j"].damping) == ((0.2, 0.3), 1.0)
        assert any("whose axes differ" in note and "j" in note for note in notes) == reported


def test_mimics_follow_the_axis_they_name(tmp_path: Path) -> None:
    """Second axes lead and follow, as an angle of a universal joint or as the second hinge."""
    follow = '<mimic joint="{}" axis="axis2"><multiplier>2</multiplier></mimic>'
    links = "".join(f'<link name="{name}"/>' for name in "abcd")
    square = PAIR.format("u", "a", "b", "1 0 0", "", "")
    skew = PAIR.format("s", "b", "c", "1 1 0", "", follow.format("u"))
    hinge = HINGE.format(f"<axis><xyz>0 0 1</xyz>{follow.format('s')}</axis>")
    last = hinge.replace("<parent>a", "<parent>c").replace("<child>b", "<child>d")
    text = f'<model name="m">{links}{square}{skew}{last}</model>'
    part = read(tmp_path, text, version="1.11")
    assert [(c.joint, c.of, c.ratio) for c in part.couplings] == [
        ("s_2", "u.angle2", 2.0),
        ("j", "s_2", 2.0),
    ]
    assert lw.save(part, tmp_path / "back.sdf") == []
    back = SdfFormat().read(tmp_path / "back.sdf")
    assert isinstance(back, Part)
    assert back.couplings == part.couplings
    assert placed(back).coupling_dof.tolist() == [[3, 1], [4, 3]]


def test_couplings_that_sdf_cannot_say_are_told_with_the_reason(tmp_path: Path) -> None:
    """The angle of a cylindrical joint leads as a hinge; a ball has no axis."""
    part = Part("p").add(*(Element(name, mass=1.0) for name in "abcd"))
    part.add(Joint("cy", "cylindrical", "a", "b"), Joint("j", "hinge", "b", "c"))
    part.add(Joint("ball", "ball", "c", "d"), Coupling("j", "cy.angle", 2.0))
    notes = lw.save(part, tmp_path / "p.sdf")
    assert notes == ["cylindrical joints, written as a slider and a hinge each: cy."]
    back = SdfFormat().read(tmp_path / "p.sdf")
    assert isinstance(back, Part)
    assert back.couplings == [Coupling("j", "cy_angle", 2.0)]
    part.couplings[:] = [Coupling("ball.rx", "j"), Coupling("j", "ball.rx")]
    reported = lw.save(part, tmp_path / "p.sdf")[-1]
    assert reported.startswith("couplings of joints that are not single axes of the file")
    assert reported.endswith("left out: ball.rx, j.")
    scene = Scene("s").place(_hinged("p")).place(_hinged("q"))
    scene.couplings.append(Coupling("p/j", "q/j"))
    assert "couplings between models, left out: p/j." in lw.save(scene, tmp_path / "s.sdf")


def _hinged(name: str) -> Part:
    part = Part(name).add(Element("a", mass=1.0), Element("b", mass=1.0))
    return part.add(Joint("j", "hinge", "a", "b"))


def test_meshes_are_written_as_obj_unless_they_hold_colors(tmp_path: Path) -> None:
    """Drake rejects STL collisions; the triangles are exactly the same."""
    (tmp_path / "from").mkdir()
    written(tmp_path / "from", "a.stl", text_stl(box(0.1, 0.2, 0.3)))
    written(tmp_path / "from", "b.obj", obj(box(0.3, 0.2, 0.1)))
    written(tmp_path / "from", "c.dae", collada(box(0.2, 0.2, 0.2)))
    part = Part("p")
    for name, seen in (("a.stl", True), ("b.obj", True), ("c.dae", True), ("c.dae", False)):
        shape = Mesh(str(tmp_path / "from" / name), visible=seen, scale=(1.0, 2.0, 1.0))
        part.add(Element(f"e{len(part.elements)}", (shape,), on="e0" if part.elements else ""))
    (tmp_path / "to").mkdir()
    lw.save(part, tmp_path / "to" / "p.sdf")
    back = lw.load_part(tmp_path / "to" / "p.sdf")
    shapes = [next(iter(element.shapes)) for element in back.elements.values()]
    found = [Path(shape.file).suffix for shape in shapes if isinstance(shape, Mesh)]
    assert found == [".obj", ".obj", ".dae", ".obj"]
    for one, other in zip(part.elements.values(), shapes, strict=True):
        (shape,) = one.shapes
        assert isinstance(shape, Mesh)
        assert isinstance(other, Mesh)
        assert (other.scale, other.visible) == (shape.scale, shape.visible)
        np.testing.assert_array_equal(other.triangles().triangles, shape.triangles().triangles)
