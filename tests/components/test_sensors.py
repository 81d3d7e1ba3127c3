"""Sensors read what the state and the report say, with resolution, noise and period."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from block_fixture import Rig
from linkwork.core.errors import FormatError, LinkworkError, NameNotFound, Origin, SceneError
from linkwork.geometry import Pose
from linkwork.model.parts import (
    Anchor,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Element,
    Joint,
    Mesh,
    Part,
    Plane,
    Shape,
    Spec,
    Sphere,
)
from linkwork.model.scene import Scene
from linkwork.session.session import Session

HERE = Origin("robot.toml", 7)


def arm(**joint: object) -> Part:
    """A post that carries a link on the joint J about z, with an eye at the link's tip."""
    settings = {"type": "hinge", "axis": (0.0, 0.0, 1.0), **joint}
    return Part("arm").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("link", (Box((0.2, 0.04, 0.04)),), mass=1.0),
        Joint("J", from_="post", to="link", **settings),  # type: ignore[arg-type]
        Anchor("eye", "link", Pose((0.5, 0.0, 0.0))),
    )


def scene_of(part: Part, *specs: Spec, **settings: object) -> Scene:
    scene = Scene("test", **settings)  # type: ignore[arg-type]
    scene.place(part)
    scene.sensors.extend(specs)
    return scene


def encoder(**params: object) -> Spec:
    return Spec("sensor", "encoder", "e", {"joint": "arm/J", **params}, HERE)


# Encoder


def test_encoder_reads_angle_and_speed() -> None:
    """Without resolution, noise and offset the reading is the state's number itself."""
    rig = Rig(scene_of(arm(), encoder()))
    rig.state.q[0], rig.state.v[0] = 7.123456789 * math.pi, -0.3
    assert rig.read() == {"e.angle": 7.123456789 * math.pi, "e.speed": -0.3}
    assert rig.signals["e.angle"].unit == "rad"
    assert rig.signals["e.speed"].unit == "rad/s"


def test_encoder_of_a_slider_reads_a_position() -> None:
    """A length is called position and counted in metres."""
    rig = Rig(scene_of(arm(type="slider", range=(0.0, 2.0)), encoder(offset=0.25)))
    rig.state.q[0] = 1.5
    assert rig.read() == {"e.position": 1.75, "e.speed": 0.0}
    signal = rig.signals["e.position"]
    assert (signal.unit, signal.lo, signal.hi) == ("m", 0.25, 2.25)


def test_encoders_pick_degrees_of_freedom_of_a_joint_that_has_several() -> None:
    """``joint.dof`` names one; position and angle of a cylindrical joint are read apart."""
    part = arm(type="cylindrical")
    specs = [
        Spec("sensor", "encoder", "turn", {"joint": "arm/J.angle"}),
        Spec("sensor", "encoder", "way", {"joint": "arm/J.position"}),
    ]
    rig = Rig(scene_of(part, *specs))
    rig.state.q[:], rig.state.v[:] = (0.4, 0.7), (1.4, 1.7)
    assert rig.read() == {
        "turn.angle": 0.7, "turn.speed": 1.7, "way.position": 0.4, "way.speed": 1.4,
    }  # fmt: skip


def test_sensor_of_a_part_names_joints_of_its_part() -> None:
    """Names in a part's own sensors are those of the part, wherever it is placed."""
    part = arm()
    part.sensors.append(Spec("sensor", "encoder", "e", {"joint": "J"}))
    scene = Scene("test").place(part, name="left").place(part, name="right")
    rig = Rig(scene)
    rig.state.q[:] = 0.25, 0.5
    assert rig.read() == {
        "left/e.angle": 0.25, "left/e.speed": 0.0, "right/e.angle": 0.5, "right/e.speed": 0.0,
    }  # fmt: skip


@given(st.floats(-1.5, 2.5), st.integers(1, 16))
def test_bits_give_the_nearest_of_all_codes_over_the_range(q: float, bits: int) -> None:
    """The reading is the closest of 2^bits values from lowest to highest, both included."""
    lo, hi = -1.0, 2.0
    rig = Rig(scene_of(arm(range=(lo, hi)), encoder(bits=bits)))
    rig.state.q[0] = q
    reading = rig.read()["e.angle"]
    codes = np.linspace(lo, hi, 2**bits)
    assert np.abs(codes - reading).min() < 1e-12
    assert abs(reading - q) <= np.abs(codes - q).min() + 1e-12


def test_resolution_rounds_to_whole_steps_from_zero() -> None:
    """A resolution counts from 0 and goes on beyond the range."""
    rig = Rig(scene_of(arm(range=(-1.0, 1.0)), encoder(resolution=0.25, offset=10.0)))
    for q, reading in [(0.3, 10.25), (-0.13, 9.75), (0.12, 10.0), (1.4, 11.5), (0.375, 10.5)]:
        rig.state.q[0] = q
        assert rig.read()["e.angle"] == reading


def test_bits_of_an_endless_joint_divide_the_turn_and_count_turns() -> None:
    """12 bits on an endless hinge are 4096 steps a turn; three turns read as three turns."""
    rig = Rig(scene_of(arm(), encoder(bits=12)))
    one = 2.0 * math.pi / 4096
    rig.state.q[0] = 6.0 * math.pi + 5.4 * one
    assert rig.read()["e.angle"] == (3 * 4096 + 5) * one


# Noise


def noisy(seed: int = 1, name: str = "e", **params: object) -> Rig:
    spec = Spec("sensor", "encoder", name, {"joint": "arm/J", "noise": 0.01, **params})
    return Rig(scene_of(arm(), spec, seed=seed))


def series(rig: Rig, signal: str, steps: int) -> np.ndarray:
    return np.array([rig.read(step)[signal] for step in range(steps)])


def test_noise_is_normal_with_the_wanted_deviation() -> None:
    """Mean, deviation, skew, kurtosis and the correlation of neighbours are of white noise."""
    n = 20_000
    rig = noisy(speed_noise=2.0)
    angle = np.empty(n)
    speed = np.empty(n)
    reading = rig.state["sensor/encoder/reading"]
    for step in range(n):
        rig.block.read(step)
        angle[step], speed[step] = reading[0]
    for found, deviation in ((angle, 0.01), (speed, 2.0)):
        unit = found / deviation
        assert abs(unit.mean()) < 5.0 / math.sqrt(n)
        assert abs(unit.std() - 1.0) < 5.0 / math.sqrt(2 * n)
        assert abs((unit**3).mean()) < 5.0 * math.sqrt(15.0 / n)
        assert abs((unit**4).mean() - 3.0) < 5.0 * math.sqrt(96.0 / n)
        assert abs((unit[1:] * unit[:-1]).mean()) < 5.0 / math.sqrt(n)
    assert abs((angle / 0.01 * speed / 2.0).mean()) < 5.0 / math.sqrt(n)


def test_noise_depends_on_seed_name_and_step_alone() -> None:
    """The same step reads the same again in any order; another seed or sensor reads otherwise."""
    first = series(noisy(), "e.angle", 50)
    again = noisy()
    backwards = [again.read(step)["e.angle"] for step in reversed(range(50))]
    assert np.array_equal(first, backwards[::-1])
    assert not np.any(first == series(noisy(seed=2), "e.angle", 50))
    assert not np.any(first == series(noisy(name="f"), "f.angle", 50))


def test_noise_of_a_sensor_does_not_change_when_another_is_added() -> None:
    """A second noisy encoder leaves the first one's readings as they were, and has its own."""
    specs = [
        Spec("sensor", "encoder", name, {"joint": "arm/J", "noise": 0.01}) for name in ("d", "e")
    ]
    rig = Rig(scene_of(arm(), *specs))
    assert np.array_equal(series(rig, "e.angle", 20), series(noisy(), "e.angle", 20))
    assert rig.values()["d.angle"] != rig.values()["e.angle"]


def test_noise_comes_before_the_code() -> None:
    """A quantised noisy reading is one of the codes."""
    rig = noisy(resolution=0.004)
    steps = series(rig, "e.angle", 200) / 0.004
    assert np.abs(steps - np.round(steps)).max() < 1e-9
    assert len(np.unique(np.round(steps))) > 3


# Period


def test_a_reading_is_held_between_periods() -> None:
    """With a period of three steps, steps 0, 3 and 6 are read."""
    rig = Rig(scene_of(arm(), encoder(period=0.006), step=0.002))
    seen = []
    for step in range(8):
        rig.state.q[0] = float(step)
        seen.append(rig.read(step)["e.angle"])
    assert seen == [0.0, 0.0, 0.0, 3.0, 3.0, 3.0, 6.0, 6.0]


def test_a_reading_can_be_taken_out_of_turn() -> None:
    """``now`` reads whatever the period, for sensors that a live edit brings in."""
    rig = Rig(scene_of(arm(), encoder(period=0.006), step=0.002))
    rig.state.q[0] = 0.5
    rig.block.read(1)
    assert rig.values()["e.angle"] == 0.0
    rig.block.read(1, now=True)
    assert rig.values()["e.angle"] == 0.5


# Effort


def test_effort_reads_the_report() -> None:
    """A torque on a hinge, a force on a slider."""
    for kind, unit in (("hinge", "N m"), ("slider", "N")):
        spec = Spec("sensor", "effort", "load", {"joint": "arm/J"})
        rig = Rig(scene_of(arm(type=kind), spec))
        rig.state.report.effort[0] = -3.5
        assert rig.read() == {"load.effort": -3.5}
        assert rig.signals["load.effort"].unit == unit


# Inclinometer


def tilted(pose: Pose, on: str = "plate/body", gravity: object = (0.0, 0.0, -9.81)) -> Rig:
    part = Part("plate").add(
        Element("body", (Box((1.0, 1.0, 0.1)),), mass=1.0),
        Anchor("spot", "body", Pose.of(rpy=(0.0, 0.0, math.pi / 2.0))),
    )
    scene = Scene("test", gravity=gravity)  # type: ignore[arg-type]
    scene.place(part, at=pose, base="free")
    return Rig(scene.sensor("tilt", "inclinometer", on=on))


@pytest.mark.parametrize("angle", [0.0, 0.2, -1.3, 3.0])
def test_inclinometer_reads_turns_about_its_own_axes_with_their_sign(angle: float) -> None:
    """A turn by +a about x reads x = +a, one about y reads y = +a, one about z nothing."""
    for axis, expected in enumerate([(angle, 0.0), (0.0, angle), (0.0, 0.0)]):
        rpy = [0.0, 0.0, 0.0]
        rpy[axis] = angle
        found = tilted(Pose.of((1.0, 2.0, 3.0), rpy=rpy)).read()
        # Upside down about one axis the other one's tilt is upside down too: atan2(0, −1) = ±π.
        over = abs(angle) > math.pi / 2.0 and axis < 2
        for name, value in zip(("tilt.x", "tilt.y"), expected, strict=True):
            if over and value == 0.0:
                assert abs(found[name]) == pytest.approx(math.pi, abs=1e-12)
            else:
                assert found[name] == pytest.approx(value, abs=1e-12)


def test_inclinometer_does_not_feel_the_heading() -> None:
    """Tilt about the frame's own x after any turn about the vertical."""
    for yaw in (0.4, 2.0, -3.0):
        found = tilted(Pose.of(rpy=(0.0, 0.0, yaw)) @ Pose.of(rpy=(0.3, 0.0, 0.0))).read()
        assert found == pytest.approx({"tilt.x": 0.3, "tilt.y": 0.0}, abs=1e-12)


def test_inclinometer_on_an_anchor_reads_in_the_anchors_axes() -> None:
    """An anchor turned by 90° about z feels a tilt about the body's x as one about its −y."""
    found = tilted(Pose.of(rpy=(0.25, 0.0, 0.0)), on="plate/spot").read()
    assert found == pytest.approx({"tilt.x": 0.0, "tilt.y": -0.25}, abs=1e-12)


def test_inclinometer_follows_gravity() -> None:
    """Up is against gravity as it is now, and the world's z where there is none."""
    rig = tilted(Pose(), gravity=(0.0, 0.0, 0.0))
    assert rig.read() == {"tilt.x": 0.0, "tilt.y": 0.0}
    # The ground tilted by 0.1 about x is gravity tilted by −0.1 in the frame's axes.
    rig.state["param/gravity"][:] = 0.0, -9.0 * math.sin(0.1), -9.0 * math.cos(0.1)
    assert rig.read() == pytest.approx({"tilt.x": 0.1, "tilt.y": 0.0}, abs=1e-12)


def test_inclinometer_noise_is_its_own_on_each_axis() -> None:
    """Both tilts are noisy, and not by the same number."""
    part = Part("plate").add(Element("body", (Box((1.0, 1.0, 0.1)),), mass=1.0))
    scene = Scene("test").place(part).sensor("t", "inclinometer", on="plate/body", noise=0.1)
    found = Rig(scene).read(5)
    assert found["t.x"] != 0.0 != found["t.y"]
    assert found["t.x"] != found["t.y"]


# Contact


def touch(**params: object) -> Rig:
    """A foot of two elements on one body, beside a box, on the floor."""
    foot = Part("foot").add(
        Element("heel", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("toe", (Box((0.1, 0.1, 0.1)),), on="heel", mass=1.0),
        Anchor("tip", "toe"),
    )
    scene = Scene("test").add(Element("floor", (Plane(),)), Element("box", (Sphere(1.0),)))
    scene.place(foot, base="free")
    scene.sensors.append(Spec("sensor", "contact", "c", params, HERE))
    return Rig(scene)


def contact(rig: Rig, a: str, b: str, force: float, depth: float = 1e-4) -> None:
    row = rig.state.report.contacts[rig.state.report.contact_count]
    rig.state.report.contact_count += 1
    elements = [rig.world.element_names.index(name) for name in (a, b)]
    row[0:2] = rig.world.element_body[elements]
    row[2:4] = elements
    row[10], row[11] = depth, force


def test_contact_adds_up_the_normal_forces_on_its_element() -> None:
    """Contacts count on whichever side the element stands; those of others do not."""
    rig = touch(on="foot/toe")
    assert rig.read() == {"c.force": 0.0, "c.touching": 0.0}
    contact(rig, "floor", "foot/toe", 3.0)
    contact(rig, "foot/toe", "box", 4.0)
    contact(rig, "foot/heel", "floor", 50.0)
    contact(rig, "box", "floor", 60.0)
    assert rig.read() == {"c.force": 7.0, "c.touching": 1.0}
    rig.state.report.contact_count = 1
    assert rig.read() == {"c.force": 3.0, "c.touching": 1.0}


def test_contact_can_ask_for_one_partner() -> None:
    """``with`` keeps only the contacts with that element."""
    rig = touch(on="foot/toe", **{"with": "box"})
    contact(rig, "floor", "foot/toe", 3.0)
    contact(rig, "foot/heel", "box", 5.0)
    assert rig.read() == {"c.force": 0.0, "c.touching": 0.0}
    contact(rig, "box", "foot/toe", 4.0)
    assert rig.read() == {"c.force": 4.0, "c.touching": 1.0}


def test_contact_of_a_whole_body_feels_all_its_elements() -> None:
    """Heel and toe are one rigid body, and feel as one."""
    rig = touch(on="foot/toe", whole_body=True)
    contact(rig, "floor", "foot/toe", 3.0)
    contact(rig, "foot/heel", "floor", 5.0)
    assert rig.read() == {"c.force": 8.0, "c.touching": 1.0}


def test_a_near_miss_does_not_touch() -> None:
    """A contact that neither overlaps nor presses is listed early, and not felt."""
    rig = touch(on="foot/toe")
    contact(rig, "floor", "foot/toe", 0.0, depth=-1e-3)
    assert rig.read()["c.touching"] == 0.0
    contact(rig, "floor", "foot/toe", 0.0, depth=1e-3)
    assert rig.read()["c.touching"] == 1.0


# Ray


def look(shape: Shape, at: Pose, **params: object) -> float:
    """Reading of a ray on the tip of the arm that looks at a shape standing in the world."""
    scene = Scene("test").add(Element("thing", (shape,), at=at, mass=1.0)).place(arm())
    scene.sensors.append(Spec("sensor", "ray", "r", {"on": "arm/eye", "range": 10.0, **params}))
    return Rig(scene).read()["r.distance"]


SHAPES = {
    "box": (Box((1.0, 2.0, 3.0)), 0.5),
    "sphere": (Sphere(0.7), 0.7),
    "cylinder": (Cylinder(0.4, 2.0), 0.4),
    "capsule": (Capsule(0.3, 1.0), 0.3),
    # half way up, a cone is half as wide; it touches as a cone of 32 corners, one of them on x
    "cone": (Cone(0.8, 1.0), 0.4),
}


@pytest.mark.parametrize("name", SHAPES)
def test_ray_reads_the_distance_to_the_surface(name: str) -> None:
    """From the anchor at x = 0.5 to a shape's near side at 3 − its half width."""
    shape, half = SHAPES[name]
    assert look(shape, Pose((3.0, 0.0, 0.0))) == pytest.approx(2.5 - half, abs=1e-6)


def test_ray_meets_a_sphere_off_center_where_geometry_says() -> None:
    """Distance to a sphere of radius r, b beside its centre: d − √(r² − b²)."""
    found = look(Sphere(0.5), Pose((3.0, 0.3, 0.0)))
    assert found == pytest.approx(2.5 - math.sqrt(0.5**2 - 0.3**2), abs=1e-12)


def test_ray_meets_a_slanted_plane_without_end() -> None:
    """A plane is seen far beyond the piece that is drawn, at h / cos of the angle."""
    slope = Pose.of((0.5, 0.0, -2.0), rpy=(0.0, math.radians(80.0), 0.0))
    found = look(Plane((1.0, 1.0)), slope, direction=(0.0, 0.0, -3.0), range=100.0)
    assert found == pytest.approx(2.0, abs=1e-9)
    drop = math.radians(1.0)  # a shallow look down at flat ground, 115 m away
    look_down = (math.cos(drop), 0.0, -math.sin(drop))
    found = look(Plane((1.0, 1.0)), Pose((0.0, 0.0, -2.0)), direction=look_down, range=200.0)
    assert found == pytest.approx(2.0 / math.sin(drop), rel=1e-9)


def test_ray_reads_its_range_when_nothing_is_near() -> None:
    """Nothing ahead, or only something farther away, reads as the range."""
    assert look(Sphere(0.5), Pose((-3.0, 0.0, 0.0))) == 10.0
    assert look(Sphere(0.5), Pose((3.0, 0.0, 0.0)), range=1.5) == 1.5
    assert look(Sphere(0.5), Pose((3.0, 0.0, 0.0)), range=2.5) == pytest.approx(2.0)


def test_ray_passes_through_its_own_body_only() -> None:
    """An eye inside its own box sees the wall; another body's shape in front hides the wall."""
    scene = Scene("test").add(Element("wall", (Box((0.2, 4.0, 4.0)),), at=Pose((2.1, 0.0, 0.0))))
    cube = Part("cube").add(Element("skin", (Box((0.4, 0.4, 0.4)),), mass=1.0))
    scene.place(cube, base="free").sensor("r", "ray", on="cube/skin", range=5.0)
    assert Rig(scene).read()["r.distance"] == pytest.approx(2.0)
    scene.place(cube, name="other", at=Pose((1.5, 0.0, 0.0)))
    assert Rig(scene).read()["r.distance"] == pytest.approx(1.3)


@given(st.floats(-0.4, 0.4))
def test_ray_turns_with_its_joint(angle: float) -> None:
    """A hinge at the origin swings the ray past a wall at x = 3: distance 3/cos a − 0.5."""
    scene = Scene("test").add(Element("wall", (Box((2.0, 9.0, 9.0)),), at=Pose((4.0, 0.0, 0.0))))
    scene.place(arm()).sensor("r", "ray", on="arm/eye", range=10.0)
    rig = Rig(scene)
    rig.pose([angle])
    assert rig.read()["r.distance"] == pytest.approx(3.0 / math.cos(angle) - 0.5, abs=1e-9)


def test_ray_sees_bodies_where_they_are_now() -> None:
    """A free ball in front comes nearer between two readings."""
    ball = Part("ball").add(Element("skin", (Sphere(0.5),), mass=1.0))
    scene = Scene("test").place(arm()).place(ball, base="free", at=Pose((4.0, 0.0, 0.0)))
    rig = Rig(scene.sensor("r", "ray", on="arm/eye", range=10.0))
    assert rig.read(0)["r.distance"] == pytest.approx(3.0)
    rig.state.pose[rig.world.body("ball/skin"), 0] = 2.0
    assert rig.read(1)["r.distance"] == pytest.approx(1.0)


def test_ray_sees_a_mesh_by_its_hull(tmp_path: Path) -> None:
    """A tetrahedron whose base lies in the plane x = 0 is met at its base."""
    corners = np.array([(0, 1, -1), (0, -1, -1), (0, 0, 2), (1, 0, 0)], float)
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    file = tmp_path / "tetra.obj"
    file.write_text("\n".join(lines))
    found = look(Mesh(str(file), scale=(2.0, 2.0, 2.0)), Pose((3.0, 0.0, 0.0)))
    assert found == pytest.approx(2.5, abs=1e-6)


def test_ray_sees_what_collides_or_what_is_drawn() -> None:
    """A curtain that is only drawn stops a ray that sees the visible, not one that collides."""
    scene = Scene("test").add(
        Element("curtain", (Box((0.2, 2.0, 2.0), collide=False),), at=Pose((2.1, 0.0, 0.0))),
        Element("glass", (Box((0.2, 2.0, 2.0), visible=False),), at=Pose((3.1, 0.0, 0.0))),
        Element("wall", (Box((0.2, 2.0, 2.0)),), at=Pose((4.1, 0.0, 0.0))),
    )
    scene.place(arm())
    scene.sensor("a", "ray", on="arm/eye", range=10.0)
    scene.sensor("b", "ray", on="arm/eye", range=10.0, sees="visible")
    assert Rig(scene).read() == pytest.approx({"a.distance": 2.5, "b.distance": 1.5})


def test_ray_noise_and_period_hold_for_distances() -> None:
    """Noise keeps within 0 and the range and spares a miss; between periods nothing moves."""
    scene = Scene("test", step=0.01).add(Element("wall", (Sphere(1.0),), at=Pose((2.0, 0.0, 0.0))))
    scene.place(arm())
    scene.sensor("hit", "ray", on="arm/eye", range=0.6, noise=0.3, period=0.02)
    scene.sensor("miss", "ray", on="arm/eye", range=3.0, noise=0.3, direction=(-1, 0, 1))
    rig = Rig(scene)
    read = [rig.read(step) for step in range(60)]
    hits = np.array([r["hit.distance"] for r in read])
    assert all(r["miss.distance"] == 3.0 for r in read)
    assert hits.min() == 0.0
    assert hits.max() == 0.6
    assert np.array_equal(hits[::2], hits[1::2])
    assert len(np.unique(hits)) > 10


# Mistakes

HINGE = {"joint": "arm/J"}
MISTAKES = [
    ("encoder", {}, FormatError, "needs 'joint'"),
    ("encoder", {"joint": "arm/K"}, NameNotFound, "there is no joint named 'arm/K'"),
    ("encoder", {**HINGE, "noize": 1.0}, FormatError, "Did you mean 'noise'?"),
    ("encoder", {**HINGE, "noise": -1.0}, FormatError, "noise must be a number from 0 to"),
    ("encoder", {**HINGE, "noise": math.nan}, FormatError, "noise must be a finite number"),
    ("encoder", {**HINGE, "offset": math.inf}, FormatError, "offset must be a finite number"),
    ("encoder", {**HINGE, "bits": 0}, FormatError, "bits must be a whole number from 1 to"),
    ("encoder", {**HINGE, "bits": 4, "resolution": 0.1}, FormatError, "both bits and resolution"),
    ("encoder", {**HINGE, "period": 0.003}, SceneError, "not a whole multiple of the step"),
    ("encoder", {"joint": "arm/S", "bits": 8}, SceneError, "has no range to spread 8 bits over"),
    ("encoder", {"joint": "arm/B"}, NameNotFound, "Name one: arm/B.rx"),
    ("encoder", {"joint": "arm/B.rx"}, SceneError, "has no angle of its own"),
    ("effort", {"joint": 3}, FormatError, 'joint must be text in quotes ("…"), not 3'),
    ("inclinometer", {"on": "arm/limb"}, NameNotFound, "Did you mean 'arm/link'?"),
    ("contact", {"on": "arm/eye"}, NameNotFound, "there is no element named 'arm/eye'"),
    ("contact", {"on": "arm/link", "with": "flor"}, NameNotFound, "named 'flor'"),
    ("ray", {"on": "arm/eye"}, FormatError, "needs 'range'"),
    ("ray", {"on": "arm/eye", "range": 0.0}, FormatError, "range must be a number above 0"),
    ("ray", {"on": "arm/eye", "range": 1.0, "direction": [0, 0, 0]}, FormatError, "no length"),
    (
        "ray",
        {"on": "arm/eye", "range": 1.0, "direction": [1, 0]},
        FormatError,
        "an array of 3",
    ),
    (
        "ray",
        {"on": "arm/eye", "range": 1.0, "sees": "all"},
        FormatError,
        "one of colliding, visible",
    ),
    ("ray", {"on": "nowhere", "range": 1.0}, NameNotFound, "there is no element named 'nowhere'"),
]


def mixed_arm() -> Part:
    part = arm()
    part.add(
        Element("sled", (Sphere(0.1),), mass=1.0),
        Joint("S", "slider", "post", "sled"),
        Element("head", (Sphere(0.1),), mass=1.0),
        Joint("B", "ball", "post", "head"),
    )
    return part


@pytest.mark.parametrize(("type_name", "params", "error", "expected_text"), MISTAKES)
def test_a_mistake_is_told_with_its_place(
    type_name: str, params: dict, error: type[LinkworkError], expected_text: str
) -> None:
    """The message names file and line, what was found and what is allowed."""
    spec = Spec("sensor", type_name, "s", params, HERE)
    with pytest.raises(error) as caught:
        Rig(scene_of(mixed_arm(), spec))
    assert str(caught.value).startswith("robot.toml:7: ")
    assert expected_text in str(caught.value)


def test_a_sensor_cannot_take_a_joints_name() -> None:
    """The joint's own signals have that name already."""
    spec = Spec("sensor", "encoder", "arm/J", {"joint": "arm/J"}, HERE)
    with pytest.raises(SceneError, match=r"robot.toml:7: .*name of a joint.*'arm/J_encoder'"):
        Rig(scene_of(arm(), spec))


# In a session


@pytest.mark.capability(22)
def test_ray_measures_the_way_to_a_wall_while_its_arm_swings() -> None:
    """A servo swings an arm; each reading is 3/cos(angle) − 0.5 of the angle it was taken at."""
    scene = Scene("test").add(Element("wall", (Box((2.0, 9.0, 9.0)),), at=Pose((4.0, 0.0, 0.0))))
    scene.place(arm(max_speed=2.0)).actuator("drive", "servo", joint="arm/J")
    scene.sensor("r", "ray", on="arm/eye", range=10.0).engine("mujoco")
    with Session(scene) as session:
        session["arm/J.target"] = 0.6
        readings = []
        for _ in range(400):
            angle = session["arm/J.angle"]
            session.step()
            readings.append(session["r.distance"])
            assert readings[-1] == pytest.approx(3.0 / math.cos(angle) - 0.5, abs=1e-9)
        assert readings[-1] == pytest.approx(3.0 / math.cos(0.6) - 0.5, abs=1e-3)


def test_contact_under_a_resting_box_feels_its_weight() -> None:
    """A box of 2 kg at rest presses with m g on the floor, and the floor on it."""
    box = Part("box").add(Element("skin", (Box((0.2, 0.2, 0.2)),), mass=2.0))
    scene = Scene("test").add(Element("floor", (Plane(),)))
    scene.place(box, base="free", at=Pose((0.0, 0.0, 0.1)))
    scene.sensor("up", "contact", on="box/skin").sensor("down", "contact", on="floor")
    scene.engine("mujoco")
    with Session(scene) as session:
        session.step(1000)
        for name in ("up", "down"):
            assert session[f"{name}.force"] == pytest.approx(2.0 * 9.81, rel=1e-3)
            assert session[f"{name}.touching"] == 1.0


def test_effort_of_a_held_arm_is_its_weight_times_its_lever() -> None:
    """A 1 kg link whose centre is 0.3 m from a level hinge takes m g l, against gravity."""
    part = Part("arm").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("link", (Sphere(0.05, at=Pose((0.3, 0.0, 0.0))),), mass=1.0),
        Joint("J", "hinge", "post", "link", axis=(0.0, 1.0, 0.0)),
    )
    scene = Scene("test").place(part).actuator("drive", "servo", joint="arm/J", kp=500.0, kd=20.0)
    scene.sensor("load", "effort", joint="arm/J").sensor("tilt", "inclinometer", on="arm/link")
    scene.engine("mujoco")
    with Session(scene) as session:
        session.step(2000)
        angle = session["arm/J.angle"]
        assert session["load.effort"] == pytest.approx(-9.81 * 0.3 * math.cos(angle), rel=1e-6)
        assert session["tilt.y"] == pytest.approx(angle, abs=1e-9)
