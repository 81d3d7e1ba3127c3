"""Parts: mass properties, attachment, and messages about mistakes."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.core.errors import LinkworkError, NameNotFound, Origin, PartError
from linkwork.geometry import Inertia, Pose
from linkwork.geometry.meshes import mass_properties
from linkwork.geometry.meshes.mesh import TriangleMesh
from linkwork.model.parts import (
    Anchor,
    Box,
    Capsule,
    Cone,
    Coupling,
    Cylinder,
    Element,
    Joint,
    Loop,
    Mesh,
    Part,
    Plane,
    RailPiece,
    Shape,
    Sphere,
)
from linkwork.model.parts.spec import check_name, plain_name
from mesh_files import binary_stl, mesh_of, written
from mesh_files import box as box_mesh

HERE = Origin("f.toml", 12)
THERE = Origin("f.toml", 7)


def revolved(profile: list[tuple[float, float]], sides: int) -> TriangleMesh:
    """Returns the surface of revolution of a profile (radius, height) about z."""
    angles = np.arange(sides) * 2.0 * math.pi / sides
    rings = [
        np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(sides, z)])
        for r, z in profile
    ]
    low, high = (0.0, 0.0, profile[0][1]), (0.0, 0.0, profile[-1][1])
    vertices = np.vstack([*rings, low, high])
    faces = []
    for ring in range(len(profile) - 1):
        for k in range(sides):
            a, b = ring * sides + k, ring * sides + (k + 1) % sides
            faces += [(a, b, b + sides), (a, b + sides, a + sides)]
    last = (len(profile) - 1) * sides
    for k in range(sides):
        faces.append((len(vertices) - 2, (k + 1) % sides, k))
        faces.append((len(vertices) - 1, last + k, last + (k + 1) % sides))
    return mesh_of(vertices, faces)


def ball_cap(radius: float, lift: float, *, upper: bool) -> list[tuple[float, float]]:
    bow = np.linspace(0.0, math.pi / 2, 60)[1:]
    points = [(radius * math.sin(t), lift + radius * math.cos(t)) for t in bow]
    low = [(r, -z) for r, z in points]
    return points[::-1] if upper else low


ROUND = [
    (Cylinder(radius=0.3, length=0.7), [(0.3, -0.35), (0.3, 0.35)]),
    (Cone(radius=0.3, length=0.7, top_radius=0.1), [(0.3, -0.35), (0.1, 0.35)]),
    (Cone(radius=0.1, length=0.7, top_radius=0.4), [(0.1, -0.35), (0.4, 0.35)]),
    (Cone(radius=0.3, length=0.7), [(0.3, -0.35), (1e-9, 0.35)]),
    (Sphere(radius=0.4), [*ball_cap(0.4, 0, upper=False), *ball_cap(0.4, 0, upper=True)[1:]]),
    (
        Capsule(radius=0.2, length=0.5),
        [*ball_cap(0.2, 0.25, upper=False), *ball_cap(0.2, 0.25, upper=True)],
    ),
]


@pytest.mark.parametrize(("shape", "profile"), ROUND, ids=lambda v: getattr(v, "kind", ""))
def test_round_shapes_weigh_what_ever_finer_meshes_weigh(
    shape: Shape, profile: list[tuple[float, float]]
) -> None:
    """Volume, center and inertia are the limit of those of ever finer meshes."""
    fine = mass_properties(revolved(profile, 720), density=1.0)
    assert shape.volume() == pytest.approx(fine.mass, rel=5e-4)
    made = shape.inertia(2.0)
    assert made.mass == 2.0
    np.testing.assert_allclose(made.com, fine.com, atol=1e-4)
    np.testing.assert_allclose(made.matrix, fine.inertia * 2.0 / fine.mass, rtol=5e-4, atol=1e-6)


def test_cones_have_their_closed_forms() -> None:
    """A full cone: V = π r² h/3, center at h/4 above the base, I = 3/10 m r², 3/80 m (4r² + h²)."""
    r, h, m = 0.3, 0.7, 2.0
    cone = Cone(radius=r, length=h)
    assert cone.volume() == pytest.approx(math.pi * r * r * h / 3, rel=1e-14)
    made = cone.inertia(m)
    np.testing.assert_allclose(made.com, [0, 0, -h / 2 + h / 4], atol=1e-15)
    across = 3 / 80 * m * (4 * r * r + h * h)
    np.testing.assert_allclose(made.matrix, np.diag([across, across, 0.3 * m * r * r]), rtol=1e-13)
    straight, cylinder = Cone(radius=r, length=h, top_radius=r), Cylinder(radius=r, length=h)
    assert straight.volume() == pytest.approx(cylinder.volume(), rel=1e-14)
    np.testing.assert_allclose(straight.inertia(m).matrix, cylinder.inertia(m).matrix, rtol=1e-13)


def test_a_mesh_weighs_what_the_box_it_shows_weighs(tmp_path: Any) -> None:
    """A box as triangles has its volume and inertia, also scaled, mirrored and moved."""
    path = written(tmp_path, "box.stl", binary_stl(box_mesh(1.0, 1.0, 1.0)))
    place = Pose.of((0.1, 0.15, 0.2), rpy=(0.5, 0.6, 0.7))
    mesh = Mesh(file=str(path), scale=(-0.2, 0.3, 0.4), at=place)
    box = Box(size=(0.2, 0.3, 0.4), at=place)
    assert mesh.volume() == pytest.approx(box.volume(), rel=1e-6)
    whole = Element("e", (mesh,), mass=1.5).mass_properties()
    expected = Element("e", (box,), mass=1.5).mass_properties()
    np.testing.assert_allclose(whole.com, expected.com, atol=1e-7)
    np.testing.assert_allclose(whole.matrix, expected.matrix, atol=1e-7)


def test_mass_is_spread_over_shapes_by_volume() -> None:
    """Boxes of 1 and 3 liters share 8 kg as 2 and 6; a density gives the same."""
    small = Box(size=(0.1, 0.1, 0.1), at=Pose((1.0, 0, 0)))
    large = Box(size=(0.3, 0.1, 0.1), at=Pose((-1.0, 0, 0)))
    by_mass = Element("e", (small, large), mass=8.0).mass_properties()
    np.testing.assert_allclose(by_mass.com, [-0.5, 0, 0])
    by_density = Element("e", (small, large), density=2000.0).mass_properties()
    assert by_density.mass == pytest.approx(8.0)
    np.testing.assert_allclose(by_density.matrix, by_mass.matrix)


def test_mass_without_volume_is_a_point_and_no_mass_is_none() -> None:
    """A plane has no volume; an element without mass or density has zero mass."""
    assert Element("e", (Plane(),), mass=2.0).mass_properties() == Inertia.of(2.0)
    assert Element("e", mass=2.0).mass_properties() == Inertia.of(2.0)
    assert Element("e", (Sphere(radius=1.0),)).mass_properties().mass == 0.0


def test_an_explicit_inertia_wins() -> None:
    """It sets the mass; shapes and density are ignored."""
    inertia = Inertia.of(3.0, (0, 0, 1), np.diag([1, 2, 2]))
    element = Element("e", (Sphere(radius=1.0),), density=1e6, inertia=inertia)
    assert element.mass_properties() is inertia
    assert (element.mass, element.density) == (3.0, None)


def test_one_shape_needs_no_tuple() -> None:
    """Element("e", shapes=Box(…)) is Element("e", shapes=(Box(…),))."""
    box = Box(size=(1, 1, 1))
    made: Any = box
    assert Element("e", made).shapes == (box,)


# --- mistakes in single objects

MISTAKES = [
    (lambda: Element("a b", origin=HERE), "element name 'a b' is not allowed.*letters, digits"),
    (lambda: Element("", origin=HERE), "element name '' is not allowed"),
    (lambda: Element("e", mass=-1.0, origin=HERE), "'e': mass must be 0 or more, not -1"),
    (lambda: Element("e", mass=math.nan, origin=HERE), "mass must be 0 or more, not nan"),
    (lambda: Element("e", density=math.inf, origin=HERE), "density must be 0 or more, not inf"),
    (lambda: Element("e", friction=-0.1, origin=HERE), "friction must be 0 or more"),
    (lambda: Element("e", restitution=1.1, origin=HERE), "restitution must be from 0 to 1"),
    (lambda: Element("e", color="red", origin=HERE), "color 'red' is not of the form #rrggbb"),
    (
        lambda: Element("e", (Sphere(radius=1.0, color="#12"),), origin=HERE),
        "color '#12' is not of the form",
    ),
    (
        lambda: Element("e", inertia=Inertia.of(1.0, matrix=np.diag([1, 1, 3])), origin=HERE),
        "'e': inertia is not physical: no real body has principal inertias 1, 1, 3",
    ),
    (
        lambda: Joint("j", "hing", "a", "b", origin=HERE),
        "'j': there is no joint type 'hing'. Did you mean 'hinge'",
    ),
    (lambda: Joint("j", "wheel", "a", "b", origin=HERE), "Available types: ball, .*universal"),
    (lambda: Joint("j", "hinge", "a", "b", axis=(0, 0, 0), origin=HERE), "'j': axis: .*all zero"),
    (
        lambda: Joint("j", "universal", "a", "b", axis=(0, 1, 1), origin=HERE),
        "'j': axis and axis2 of a universal joint must be at right angles",
    ),
    (lambda: Joint("j", "screw", "a", "b", origin=HERE), "a screw needs its pitch"),
    (lambda: Joint("j", "rail", "a", "b", origin=HERE), "a rail needs its segments"),
    (
        lambda: Joint("j", "rail", "a", "b", rail=(RailPiece(0.0),), origin=HERE),
        "needs a length above 0",
    ),
    (
        lambda: Joint("j", "rail", "a", "b", rail=(RailPiece(1.0, math.nan),), origin=HERE),
        "turn and climb .* must be finite",
    ),
    (
        lambda: Joint("j", "hinge", "a", "b", damping=-1, origin=HERE),
        "damping must be a number, 0 or more, not -1",
    ),
    (lambda: Joint("j", "hinge", "a", "b", rest=math.inf, origin=HERE), "rest must be a finite"),
    (
        lambda: Joint("j", "hinge", "a", "b", max_effort=0, origin=HERE),
        "max_effort must be a number above 0",
    ),
    (
        lambda: Joint("j", "hinge", "a", "b", range=(1.0, -1.0), origin=HERE),
        r"range must be \[lowest, highest\], not \[1, -1\]",
    ),
    (
        lambda: Joint("j", "universal", "a", "b", range=((0.0, 1.0),), origin=HERE),
        "range needs 2 pairs for a universal joint, not 1",
    ),
    (
        lambda: Joint("j", "planar", "a", "b", value=(1.0,), origin=HERE),
        "value needs 3 finite numbers for a planar joint",
    ),
    (lambda: Anchor("a", "e", turns=-1, origin=HERE), "'a': turns must be 0 or more, not -1"),
    (
        lambda: Loop("l", "a", "b", "free", origin=HERE),
        "loop 'l' cannot be closed by a joint of type 'free'. Types: fixed, hinge",
    ),
    (lambda: Loop("l", "a", "b", axis=(0, 0, 0), origin=HERE), "loop 'l': axis: .*all zero"),
    (lambda: Loop("l/m", "a", "b", origin=HERE), "loop name 'l/m' is not allowed"),
    (lambda: Coupling("j", "k", math.nan, origin=HERE), "coupling of 'j': ratio must be a finite"),
]


@pytest.mark.parametrize(("make", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_a_mistake_in_a_piece_is_named_with_its_place(make: Any, words: str) -> None:
    """The message begins with file and line, and names the object and the allowed values."""
    with pytest.raises(PartError, match=r"^f\.toml:12: .*" + words):
        make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Box(size=(1, 0, 1)), "a box's y must be positive, not 0"),
        (lambda: Sphere(radius=-1.0), "a sphere's radius must be positive"),
        (lambda: Cylinder(radius=1.0, length=math.inf), "a cylinder's length must be positive"),
        (lambda: Capsule(radius=math.nan, length=1.0), "a capsule's radius must be positive"),
        (lambda: Cone(radius=1.0, length=1.0, top_radius=-1.0), "top_radius must be 0 or more"),
        (lambda: Mesh(file="x.stl", scale=(1, 0, 1)), "scale must be three numbers but 0"),
    ],
)
def test_a_shape_without_size_is_refused(make: Any, words: str) -> None:
    """Lengths must be positive and finite; the file's reader adds the origin."""
    with pytest.raises(PartError, match=words):
        make()


# --- joints


def test_ranges_and_values_belong_to_each_degree_of_freedom() -> None:
    """One pair limits the first degree of freedom; the default is the value nearest to 0."""
    hinge = Joint("j", "hinge", "a", "b", range=(0.5, 1.0))
    assert (hinge.ranges, hinge.values) == (((0.5, 1.0),), (0.5,))
    universal = Joint("j", "universal", "a", "b", range=((-2.0, -1.0), None), axis=(1, 0, 0))
    assert (universal.ranges, universal.values) == (((-2.0, -1.0), None), (-1.0, 0.0))
    rail = Joint("j", "rail", "a", "b", rail=(RailPiece(1.0), RailPiece(2.0, turn=1.0)))
    assert rail.ranges == ((0.0, 3.0),)
    planar = Joint("j", "planar", "a", "b", value=(1.0, 2.0, 3.0))
    assert planar.values == (1.0, 2.0, 3.0)
    assert Joint("j", "slider", "a", "b", value=1).values == (1.0,)


def test_axes_are_scaled_to_length_one() -> None:
    """An axis may have any length."""
    joint = Joint("j", "universal", "a", "b", axis=(0, 0, 5), axis2=(0, -3, 0))
    assert (joint.axis, joint.axis2) == ((0, 0, 1), (0, -1, 0))


@pytest.mark.parametrize(
    "axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, 1, 0), (1, 2, 3), (3, 1, 9)]
)
def test_a_plane_has_its_own_x(axis: tuple[float, float, float]) -> None:
    """The plane's x has length one and is in the plane; for ±z it is the frame's x."""
    normal, x = Joint("j", "planar", "a", "b", axis=axis).directions
    assert np.dot(normal, x) == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(x) == pytest.approx(1.0)
    if abs(normal[2]) == 1.0:
        assert x == (1.0, 0.0, 0.0)


# --- assembling


def plate(name: str = "plate", **anchors: Any) -> Part:
    """A part of one element with anchors: name=keywords of Anchor."""
    part = Part(name).add(Element("body", (Box(size=(1, 1, 0.1)),), mass=1.0))
    for anchor, words in anchors.items():
        part.add(Anchor(anchor, "body", **words))
    return part


def test_names_are_taken_once() -> None:
    """Elements, joints and attached parts share one namespace, elements and anchors too."""
    part = Part("p").add(Element("a", origin=THERE), Anchor("top", "a", origin=THERE))
    with pytest.raises(PartError, match=r"^f\.toml:12: joint name 'a' is taken by the element at"):
        part.add(Joint("a", "hinge", "a", "b", origin=HERE))
    with pytest.raises(PartError, match=r"element name 'a' is taken by the element at f\.toml:7"):
        part.add(Element("a", origin=HERE))
    with pytest.raises(PartError, match=r"part name 'a' is taken by the element"):
        part.attach("top", plate(), name="a", origin=HERE)
    with pytest.raises(PartError, match=r"anchor name 'top' is taken by the anchor at f\.toml:7"):
        part.add(Anchor("top", "a", origin=HERE))
    with pytest.raises(PartError, match=r"anchor name 'a' is taken by the element at f\.toml:7"):
        part.add(Anchor("a", "a", origin=HERE))
    with pytest.raises(PartError, match=r"element name 'top' is taken by the anchor at f\.toml:7"):
        part.add(Element("top", origin=HERE))
    part.attach("top", plate(), name="b")
    with pytest.raises(PartError, match=r"element name 'b' is taken by the attachment"):
        part.add(Element("b", origin=HERE))
    part.add(Anchor("side", "a")).close("top", "side", name="loop")
    with pytest.raises(PartError, match=r"^f\.toml:12: loop name 'loop' is taken by the loop"):
        part.close("top", "side", name="loop", origin=HERE)


@pytest.mark.parametrize("name", ["a", "A-b_9", "0"])
def test_plain_names_are_letters_digits_and_two_signs(name: str) -> None:
    """Valid names are returned unchanged, and importers keep them."""
    assert check_name(name, "element") == name
    assert plain_name(name) == name


@pytest.mark.parametrize("name", ["a/b", "a.b", "é", "a\n", " ", "a b"])
def test_other_names_are_refused_and_made_plain_by_importers(name: str) -> None:
    """The nearest valid name differs from all taken ones."""
    with pytest.raises(PartError, match="not allowed"):
        check_name(name, "element")
    made = plain_name(name)
    assert check_name(made, "element") == made
    assert plain_name(name, {made}) == f"{made}_2"
    assert plain_name(name, {made, f"{made}_2"}) == f"{made}_3"


def test_an_unknown_anchor_lists_what_exists() -> None:
    """Including the anchors of attached parts, by scope."""
    part = plate(top={}).attach("top", plate("lid", handle={}))
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no anchor named 'roof'. .*lid/"):
        part.attach("roof", plate(), name="other", origin=HERE)
    with pytest.raises(NameNotFound, match=r"no anchor named 'tip'. Available anchors: handle"):
        plate(top={}).attach("top", plate("lid", handle={}), by="tip", origin=HERE)
    with pytest.raises(NameNotFound, match=r"named 'hndle'. Did you mean 'handle'"):
        part.find_anchor("lid/hndle")
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no anchor named 'floor'"):
        part.close("top", "floor", origin=HERE)


def test_anchors_that_do_not_fit_list_those_that_do() -> None:
    """Tags must agree; an empty tag fits anything."""
    carrier = plate(top={"fits": "flange50"}, free={})
    lid = plate("lid", mount={"fits": "bolt"}, other={"fits": "flange50"}, any={})
    words = r"'mount' of 'lid' \(fits 'bolt'\) does not fit 'top' of 'plate' \(fits 'flange50'\)"
    with pytest.raises(PartError, match=rf"^f\.toml:12: .*{words}.* that fit: other, any\."):
        carrier.attach("top", lid, origin=HERE)
    with pytest.raises(PartError, match=r"Anchors of 'lid' that fit: none"):
        carrier.attach("top", plate("lid", mount={"fits": "bolt"}), origin=HERE)
    carrier.attach("top", lid, by="other").attach("free", lid, name="lid2")
    assert list(carrier.attachments) == ["lid", "lid2"]


def test_an_anchor_joins_two_parts_and_no_more() -> None:
    """An occupied anchor accepts no other part, also inside attached parts."""
    part = plate(top={}).attach("top", plate("lid", mount={}, knob={}))
    words = r"anchor 'top' of 'plate' already carries 'lid'"
    with pytest.raises(PartError, match=rf"^f\.toml:12: {words}"):
        part.attach("top", plate("other"), origin=HERE)
    with pytest.raises(PartError, match=r"anchor 'lid/mount' of 'plate' already holds 'lid'"):
        part.attach("lid/mount", plate("other"), origin=HERE)
    lid = part.attachments["lid"].part
    lid.attach("knob", plate("cap", tip={}))
    with pytest.raises(PartError, match=r"anchor 'knob' of 'lid' already carries 'cap'"):
        part.attach("lid/knob", plate("other"), origin=HERE)
    part.attach("lid/cap/tip", plate("flag"))
    with pytest.raises(PartError, match=r"anchor 'knob' of 'lid' already carries 'cap'"):
        plate("desk", top={}).attach("top", lid, by="knob", origin=HERE)


def test_only_allowed_turns_are_taken() -> None:
    """Four turns are 0, 90, 180 and 270°; both anchors restrict them; 0 turns means any."""
    lid = plate("lid")
    carrier = plate(top={"turns": 4}, any={})
    words = r"anchor 'top' does not allow a turn of 45°. Allowed: 0°, 90°, 180°, 270°"
    with pytest.raises(PartError, match=rf"^f\.toml:12: {words}"):
        carrier.attach("top", lid, turn=math.radians(45), origin=HERE)
    keyed = plate("keyed", mount={"turns": 2})
    with pytest.raises(PartError, match=r"anchor 'mount' does not allow a turn of 90°. Allowed: 0"):
        carrier.attach("top", keyed, turn=math.radians(90), origin=HERE)
    with pytest.raises(PartError, match="finite angle, not nan"):
        carrier.attach("any", lid, turn=math.nan, origin=HERE)
    carrier.attach("top", lid, turn=math.radians(-270))
    carrier.attach("any", lid, name="lid2", turn=0.123)


def test_a_part_cannot_contain_itself() -> None:
    """Neither directly nor through another."""
    one, two = plate("one", top={}), plate("two", top={})
    with pytest.raises(PartError, match=r"^f\.toml:12: part 'one' cannot be attached to 'one'"):
        one.attach("top", one, name="again", origin=HERE)
    one.attach("top", two)
    three = plate("three", top={}).attach("top", one)
    with pytest.raises(PartError, match=r"'three' cannot be attached to 'two': it contains it"):
        two.attach("top", three, origin=HERE)


def test_a_part_is_one_tree() -> None:
    """Two roots, no root and no elements are errors with their origin."""
    part = Part("p", origin=Origin("f.toml")).add(Element("a"), Element("b", origin=HERE))
    with pytest.raises(PartError, match=r"^f\.toml:12: part 'p' falls apart: 'a' and 'b' have no"):
        part.root()
    ring = Part("p").add(Element("a", on="b", origin=HERE), Element("b", on="a"))
    with pytest.raises(PartError, match=r"^f\.toml:12: part 'p' has a cycle"):
        ring.root()
    with pytest.raises(PartError, match=r"^f\.toml: part 'p' has no elements"):
        Part("p", origin=Origin("f.toml")).root()


def test_anchor_poses_follow_rigid_connections() -> None:
    """Through elements on elements, fixed joints and attached parts, but not a hinge."""
    step = Pose.of((0.1, 0.2, 0.3), rpy=(0.3, -0.4, 0.5))
    part = Part("p").add(
        Element("a"),
        Element("b", on="a", at=step),
        Element("c"),
        Element("d"),
        Joint("weld", "fixed", "b", "c", at=step, at_to=Pose((0, 0, 1.0))),
        Joint("turn", "hinge", "a", "d"),
        Anchor("flange", "c", at=step),
        Anchor("far", "d", origin=HERE),
        Anchor("lost", "x", origin=HERE),
    )
    flange = step @ step @ Pose((0, 0, -1.0)) @ step
    np.testing.assert_allclose(part.anchor_pose("flange").array(), flange.array(), atol=1e-12)
    inner = plate("inner", mount={"at": step}, tip={"at": Pose((0, 0, 2.0))})
    part.attach("flange", inner, turn=0.7)
    turn = Pose.of(rpy=(0, 0, 0.7))
    tip = flange @ turn @ step.inverse() @ Pose((0, 0, 2.0))
    np.testing.assert_allclose(part.anchor_pose("inner/tip").array(), tip.array(), atol=1e-12)
    assert part.anchor_pose("").is_identity()
    with pytest.raises(PartError, match=r"^f\.toml:12: anchor 'far' of 'p' moves relative to"):
        part.anchor_pose("far")
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no element named 'x'"):
        part.anchor_pose("lost")


def test_loops_get_free_names() -> None:
    """A loop without name gets the next free number."""
    part = plate(a={}, b={}).close("a", "b", name="loop2").close("a", "b").close("a", "b")
    assert list(part.loops) == ["loop2", "loop3", "loop4"]


def test_every_mistake_is_a_linkwork_error() -> None:
    """All errors that a user's file can cause share one base class."""
    assert issubclass(PartError, LinkworkError)
    assert issubclass(NameNotFound, LinkworkError)


@pytest.mark.parametrize("size", [(1, 1), 1.0, "big", (1, "a", 2), None, [1, 2, 3, 4]])
def test_a_size_that_is_no_size_is_told(size: Any) -> None:
    """Too few, too many or no numbers are rejected with a message."""
    with pytest.raises(PartError, match=r"a box's size must be three numbers, not "):
        Box(size)


def test_a_size_may_be_an_array() -> None:
    """An array is stored as plain numbers."""
    size: Any = np.array([1.0, 2.0, 3.0])
    assert Box(size) == Box((1.0, 2.0, 3.0))
    assert hash(Box(size)) == hash(Box((1.0, 2.0, 3.0)))
