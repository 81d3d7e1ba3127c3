"""Loops of every kind on the impulse engine: points on planes and curves, screws, rails."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.errors import EngineError, FormatError, LinkworkError, PartError
from linkwork.geometry import Pose
from linkwork.kinematics.curve_kernels import nearest_global
from linkwork.model.parts import (
    Anchor,
    Arc,
    Box,
    Coupling,
    Element,
    Joint,
    Loop,
    Part,
    Polyline,
    Spec,
    Spline,
)
from linkwork.model.parts.curve import PIECE_ROWS
from linkwork.model.parts.joint import RailPiece
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from mechanisms import bar, four_bar, ground, scene_of

G = 9.81


def bead(joint: str, at: tuple[float, float, float], **loop: Any) -> Part:
    """Returns a free block whose center is constrained; the first anchor's y is up."""
    block = Element("bead", (Box(size=(0.02, 0.02, 0.02), collide=False),), mass=0.5)
    return Part("wire").add(
        ground(), block, Joint("free", "free", "ground", "bead", at=Pose.of(at)),
        Anchor("path", "ground", Pose.of((0, 0, 0), rpy=(math.pi / 2, 0, 0))),
        Anchor("hole", "bead"), Loop("hold", "path", "hole", joint, **loop),
    )  # fmt: skip


def place(session: Session) -> np.ndarray:
    return session.state.pose[session.world.body("wire/bead"), :3]


@pytest.mark.capability(16)
def test_a_point_slides_down_a_plane() -> None:
    """½ g sin α t² along the slope, and no other motion."""
    slope = math.radians(30.0)
    normal = (math.sin(slope), math.cos(slope), 0.0)  # y of the anchor is up
    with Session(scene_of(bead("point_on_plane", (0, 0, 0), axis=normal))) as session:
        session.step(500)
        way = 0.5 * G * math.sin(slope) * session.time**2
        there = (way * math.cos(slope), 0.0, -way * math.sin(slope))
        np.testing.assert_allclose(place(session), there, atol=1e-10)
        assert session.report().gap <= 1e-10


@pytest.mark.capability(16)
def test_a_bead_on_a_circle_is_a_pendulum() -> None:
    """Against r φ'' = −g cos φ, integrated independently, also over the top."""
    radius = 0.2
    for start in (0.0, 14.0):
        angle, speed, h = 0.0, start, 1e-5
        for _ in range(50_000):  # leap-frog
            speed -= 0.5 * h * G / radius * math.cos(angle)
            angle += h * speed
            speed -= 0.5 * h * G / radius * math.cos(angle)
        part = bead("point_on_curve", (radius, 0, 0), curve=Arc(radius))
        part.elements["bead"] = Element(
            "bead", part.elements["bead"].shapes, mass=0.5, velocity=(0, 0, radius * start)
        )
        with Session(scene_of(part, order=4)) as session:
            session.step(500)
            there = (radius * math.cos(angle), 0.0, radius * math.sin(angle))
            np.testing.assert_allclose(place(session), there, atol=2e-7)
            assert session.report().drift < 1e-7 * (1 + start**2)


POINTS = ((-0.3, 0.3, 0.0), (-0.2, 0.1, 0.05), (0.0, 0.0, 0.0), (0.2, 0.1, -0.05), (0.3, 0.3, 0.0))


@pytest.mark.capability(16)
@pytest.mark.parametrize("curve", [Spline(POINTS), Polyline(POINTS), Polyline(POINTS, radius=0.1)])
def test_a_bead_on_a_curve_keeps_to_it_and_keeps_its_energy(curve: Any) -> None:
    """Along a bent wire in space, within the tolerance."""
    start = (0.2, 0.05, 0.1)
    with Session(scene_of(bead("point_on_curve", start, curve=curve))) as session:
        table, lowest = curve.table(), 1.0
        for _ in range(100):
            session.step(10)
            x, y, z = place(session)
            out = np.zeros(9)
            nearest_global(table, 0, len(table) // PIECE_ROWS, x, z, -y, out)
            assert np.linalg.norm(out[:3] - (x, z, -y)) <= 1e-10
            lowest = min(lowest, z)
        assert lowest < 0.03  # it passed the bottom
        report = session.report()
        assert report.gap <= 1e-10
        assert report.drift <= 1e-3 * 0.5 * G * 0.1


def test_a_spline_goes_through_its_points_smoothly() -> None:
    """Value, slope and curvature by arc length are continuous at every point."""
    for closed in (False, True):
        table = Spline(POINTS, closed).table().reshape(-1, PIECE_ROWS, 3)
        ends = []
        for piece in table:
            c0, c1, c2, c3 = piece[1:5]
            ends.append(
                ((c0, c1, 2 * c2), (c0 + c1 + c2 + c3, c1 + 2 * c2 + 3 * c3, 2 * c2 + 6 * c3))
            )
        for n, point in enumerate(POINTS[: len(table)]):
            np.testing.assert_allclose(ends[n][0][0], point, atol=1e-12)
        for (_, one), (two, _) in zip(ends, ends[1:] + (ends[:1] if closed else []), strict=False):
            np.testing.assert_allclose(one[0], two[0], atol=1e-12)
            variants = [end[1] / np.linalg.norm(end[1]) for end in (one, two)]
            np.testing.assert_allclose(variants[0], variants[1], atol=1e-12)
            bends = [np.cross(e[1], e[2]) / np.linalg.norm(e[1]) ** 3 for e in (one, two)]
            np.testing.assert_allclose(bends[0], bends[1], atol=1e-9)


def test_curves_that_are_none_are_refused() -> None:
    with pytest.raises(PartError, match="needs 2 points"):
        Spline(((0.0, 0.0, 0.0),))
    with pytest.raises(PartError, match="turns by 180° at point 2"):
        Polyline(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    with pytest.raises(PartError, match=r"no room for a radius of 2 m.*At most 0\.5 m"):
        Polyline(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0)), radius=2.0)
    with pytest.raises(PartError, match="needs its curve"):
        Loop("l", "a", "b", "point_on_curve")
    with pytest.raises(PartError, match="has no curve"):
        Loop("l", "a", "b", "ball", curve=Arc(0.1))


@pytest.mark.capability(15, 16)
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("screw", {"pitch": 0.05}),
        ("rail", {"rail": (RailPiece(0.7, turn=0.8, climb=-0.5),)}),
        ("hinge", {}), ("slider", {}), ("cylindrical", {}), ("planar", {}),
        ("universal", {"axis2": (0, 0, 1)}), ("ball", {}),
    ],
)  # fmt: skip
def test_a_loop_moves_as_the_joint_of_the_tree_does(kind: str, more: dict[str, Any]) -> None:
    """A free body closed to the ground by a loop, against the same body on that joint."""
    at = Pose.of((0, 0, 0), rpy=(0.2, 0.3, 0.1))
    axis = (0.0, 1.0, 0.0)
    tree = Part("one").add(ground(), bar("bar", 0.3, 0.5, wide=0.05))
    tree.add(Joint("J", kind, "ground", "bar", at=at, axis=axis, **more))
    loop = Part("one").add(ground(), bar("bar", 0.3, 0.5, wide=0.05))
    loop.add(
        Joint("free", "free", "ground", "bar", at=at), Anchor("a", "ground", at),
        Anchor("b", "bar"), Loop("L", "a", "b", kind, axis=axis, **more),
    )  # fmt: skip
    poses = []
    for part in (tree, loop):
        with Session(scene_of(part, order=4)) as session:
            session.step(300)
            poses.append(session.state.pose[-1])
            assert session.report().accounts[0].gap <= 1e-10
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-8)


def test_mujoco_says_which_loops_it_cannot_close() -> None:
    with pytest.raises(EngineError, match=r"closes loops by ball, hinge, fixed only; let Impulse"):
        Session(scene_of(bead("point_on_plane", (0, 0, 0)), "mujoco"))


@pytest.mark.capability(16)
def test_a_rack_falls_as_slowly_as_its_pinion_lets_it() -> None:
    """a = m g / (m + I / r²) for a rack of mass m and a wheel of inertia I and radius r."""
    radius, mass, inertia = 0.04, 0.6, 1.2 * (0.1**2 + 0.1**2) / 12
    wheel = Element("wheel", (Box(size=(0.1, 0.02, 0.1), collide=False),), mass=1.2)
    part = Part("rack").add(ground(), wheel, bar("bar", 0.3, mass))
    part.add(
        Joint("pinion", "hinge", "ground", "wheel", axis=(0, 1, 0)),
        Joint("slide", "slider", "ground", "bar", axis=(0, 0, 1)),
        Coupling("slide", "pinion", ratio=radius),
    )
    with Session(scene_of(part)) as session:
        session.step(500)
        down = 0.5 * mass * G / (mass + inertia / radius**2) * session.time**2
        assert session["rack/slide.position"] == pytest.approx(-down, abs=1e-9)
        assert session["rack/pinion.angle"] == pytest.approx(-down / radius, abs=1e-8)


@pytest.mark.capability(11, 17)
def test_a_run_reports_gaps_speeds_energy_and_what_it_took() -> None:
    """The direct solver keeps Dmax and Vmax; a capped one reports its excess."""
    with Session(scene_of(four_bar(), gap=1e-7, speed_gap=1e-8)) as session:
        session.step(300)
        report = session.report()
        (account,) = report.accounts
        assert (report.steps, account.steps) == (300, 300)
        assert report.gap <= 1e-7
        assert account.gap <= 1e-7
        assert account.speed_gap <= 1e-8
        assert account.iterations > 0
        assert (account.halved, account.exceeded) == (0, 0)
        assert report.loop == "four_bar/C"
        assert 0.0 < report.time <= 0.3
        assert 0.0 < report.drift < 1e-2
        assert account.joint.startswith("four_bar/")
        session.reset()
        session.step()
        assert session.report().steps == 1
    limits = {"gap": 1e-6, "speed_gap": 1e-4, "max_iterations": 2}
    with Session(scene_of(four_bar(), step=0.02, solver="anytime", **limits)) as session:
        session.step(300)
        (account,) = session.report().accounts
        assert 0 < account.exceeded <= 300
        assert max(account.gap / 1e-6, account.speed_gap / 1e-4) > 1.0
        assert any("open by more than 1e-06" in line for line in account.lines(0.02))


@pytest.mark.capability(15)
def test_loops_of_mjcf_and_sdf_files_run_exactly(tmp_path: Path) -> None:
    """``connect``, ``weld`` and a second parent of a link hold to the tolerance."""
    (tmp_path / "tied.xml").write_text(
        """<mujoco><worldbody>
        <body name="x" pos="0 0 1"><joint name="h1" axis="0 1 0"/>
          <geom type="box" pos="0.15 0 0" size="0.15 0.02 0.02"/></body>
        <body name="y" pos="0 0 1.4"><joint name="h2" axis="0 1 0"/>
          <geom type="box" pos="0.15 0 0" size="0.15 0.02 0.02"/></body>
        <body name="c" pos="0.3 0 1"><freejoint/>
          <geom type="box" pos="0 0 0.2" size="0.02 0.02 0.2"/></body>
        <body name="z" pos="0.3 0 1.5"><freejoint/><geom type="box" size="0.05 0.02 0.05"/></body>
        </worldbody><equality><connect body1="c" body2="x" anchor="0 0 0"/>
          <connect body1="c" body2="y" anchor="0 0 0.4"/><weld body1="z" body2="c"/></equality>
        </mujoco>"""
    )
    joint = (
        '<joint name="{0}" type="revolute"><parent>{1}</parent><child>{2}</child>'
        '<pose>{3} 0 0 0 0 0</pose><axis><xyz expressed_in="__model__">0 1 0</xyz></axis></joint>'
    )
    link = (
        '<link name="{0}"><pose>{1}</pose><inertial><pose>{2} 0 0 0 0 0</pose><mass>0.5</mass>'
        "<inertia><ixx>1e-4</ixx><iyy>4e-3</iyy><izz>4e-3</izz></inertia></inertial></link>"
    )
    links = link.format("a", "0 0 0 0 0 0", 0) + link.format("b", "0 0 0.2 0 0 0", 0.15)
    links += link.format("c", "0.3 0 0.2 0 1.0 0", 0.1) + link.format("d", "0.3 0 0.2 0 1.0 0", 0.1)
    joints = joint.format("w", "a", "b", 0) + joint.format("u", "b", "c", 0)
    joints += joint.format("v", "a", "d", 0.2) + joint.format("t", "c", "d", 0.2)
    (tmp_path / "tied.sdf").write_text(
        f'<sdf version="1.9"><model name="m">{links}{joints}</model></sdf>'
    )
    for file, count in (("tied.xml", 3), ("tied.sdf", 1)):
        thing = lw.load(tmp_path / file)
        scene = thing if isinstance(thing, Scene) else Scene("bench").place(thing)
        scene.engines.clear()
        scene.step = 1e-3
        scene.engine("impulse")
        with Session(scene) as session:
            assert len(session.world.loop_names) == count
            before = session.state.pose.copy()
            session.step(300)
            assert np.abs(session.state.pose - before).max() > 0.01, file
            assert session.report().gap <= 1e-9, file


TEXT = """\
format = "linkwork/part 1"
name = "press"
[[element]]
name = "base"
[[element]]
name = "ram"
mass = 1
[[joint]]
name = "lift"
type = "slider"
from = "base"
to = "ram"
range_mm = [-5, 5]
restitution = 0.5
[[anchor]]
name = "a"
on = "base"
[[anchor]]
name = "b"
on = "ram"
[[loop]]
a = "a"
b = "b"
joint = "point_on_curve"
curve = { CURVE }
[[spring]]
name = "coil"
a = "a"
b = "b"
type = "torsion"
stiffness = 2
REST
"""


def test_the_new_words_come_back_from_files_and_mistakes_name_their_line(tmp_path: Path) -> None:
    """Curves, springs and restitution survive a round trip."""
    file = tmp_path / "press.toml"
    for curve in (
        "arc = { radius_mm = 20, start_deg = 10, end_deg = 90 }",
        "polyline = [[0, 0, 0], [1, 0, 0], [1, 1, 0]], radius = 0.1",
        "spline_mm = [[0, 0, 0], [1, 0, 0], [1, 1, 0]], closed = true",
    ):
        file.write_text(TEXT.replace("CURVE", curve).replace("REST", "rest_deg = 30"))
        part = lw.load(file)
        assert isinstance(part, Part)
        assert part.joints["lift"].restitution == 0.5
        assert part.springs["coil"].rest == pytest.approx(math.radians(30))
        lw.save(part, tmp_path / "copy.toml")
        assert lw.load(tmp_path / "copy.toml") == part
    for curve, rest, line, text in (
        ("arc = { radius = 0 }", "", 25, "needs a radius above 0"),
        ("spline = [[0, 0, 0]]", "", 25, "needs 2 points"),
        ("arc = { radius = 1 }, closed = true", "", 25, "has no meaning for 'arc'"),
        ("arc = { radius = 1 }", "rest_mm = 3", 32, "is an angle"),
        ("arc = { radius = 1 }", 'axs = "x"', 32, "Did you mean 'axis'"),
    ):
        file.write_text(TEXT.replace("CURVE", curve).replace("REST", rest))
        with pytest.raises(LinkworkError, match=text) as caught:
            lw.load(file)
        assert caught.value.origin is not None
        assert caught.value.origin.line == line
        assert isinstance(caught.value, FormatError | PartError)


def test_a_curve_in_a_files_words_is_refused_in_python() -> None:
    """A table of a file is an object in Python, and the message names it."""
    with pytest.raises(PartError, match="an Arc, a Polyline or a Spline"):
        Loop("bore", "a", "b", "point_on_curve", curve={"arc": {"radius": 0.1}})  # type: ignore[arg-type]


def test_a_spec_without_its_kind_is_refused() -> None:
    """Its type alone is not enough."""
    with pytest.raises(LinkworkError, match="kind and type"):
        lw.Joint("J", "hinge", "a", "b", drive=Spec("servo", {"kp": 5.0}))  # type: ignore[arg-type]
