"""A lidar reads analytic distances in a room of boxes."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from linkwork.core.errors import FormatError
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Part, Plane, Spec, Sphere
from linkwork.model.scene import Scene
from linkwork.session.session import Session

#: Half the room's inner edges, and the post in it: place and half its edges [m].
A, B = 2.0, 1.5
POST, HALF = np.array([1.1, 0.4]), np.array([0.2, 0.1])


def room(*specs: Spec, eye: Pose | None = None) -> Scene:
    """A walled room with a square post, and a lidar on a body that is free to be placed."""
    scene = Scene("room", gravity=(0.0, 0.0, 0.0), step=0.01).add(Element("floor", (Plane(),)))
    long, wide = (0.1, 2 * B + 0.2, 1.0), (2 * A, 0.1, 1.0)
    for name, x, y, size in (
        ("east", A + 0.05, 0.0, long), ("north", 0.0, B + 0.05, wide),
        ("west", -A - 0.05, 0.0, long), ("south", 0.0, -B - 0.05, wide),
    ):  # fmt: skip
        scene.add(Element(name, (Box(size),), at=Pose((x, y, 0.5))))
    scene.add(Element("post", (Box((*(2 * HALF), 1.0)),), at=Pose((*POST, 0.5))))
    robot = Part("robot").add(Element("head", (Sphere(0.05),), mass=1.0))
    scene.place(robot, at=eye or Pose((0.0, 0.0, 0.3)), base="free")
    scene.sensors.extend(specs)
    return scene


def lidar(**params: object) -> Spec:
    return Spec("sensor", "lidar", "scan", {"on": "robot/head", "range": 8.0, **params})


def truth(at: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Distances to walls and post, by the slab method."""
    way = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    with np.errstate(divide="ignore"):
        walls = np.where(way > 0, np.array([A, B]) - at, np.array([A, B]) + at) / np.abs(way)
        low, high = (POST - HALF - at) / way, (POST + HALF - at) / way
    enter, leave = np.minimum(low, high).max(axis=1), np.maximum(low, high).min(axis=1)
    post = np.where((enter > 0) & (enter < leave), enter, np.inf)
    return np.minimum(walls.min(axis=1), post)


@pytest.mark.parametrize("turned", [0.0, 0.8])
def test_distances_in_a_room_are_the_analytic_ones(turned: float) -> None:
    """All around, from a frame that stands turned, each distance agrees to 1e-9."""
    eye = Pose.of((-0.6, 0.25, 0.3), rpy=(0.0, 0.0, turned))
    with Session(room(lidar(count=360), eye=eye)) as session:
        angles, ranges = (session.array("scan", name) for name in ("angles", "ranges"))
        assert angles[0] == -math.pi
        assert np.diff(angles) == pytest.approx(2 * math.pi / 360)
        wanted = truth(np.array([-0.6, 0.25]), angles + turned)
        np.testing.assert_allclose(ranges, wanted, atol=1e-9)
        assert session["scan.nearest"] == ranges.min()
        assert session["scan.bearing"] == angles[ranges.argmin()]
        assert session["scan.r17"] == ranges[17]


def test_a_fan_that_is_open_has_a_ray_at_each_end() -> None:
    """Of 5 rays over 90° the first looks 45° right, the last 45° left, the third ahead."""
    with Session(room(lidar(count=5, opening=math.pi / 2))) as session:
        angles = session.array("scan", "angles")
        assert angles == pytest.approx(np.radians([-45.0, -22.5, 0.0, 22.5, 45.0]))
        np.testing.assert_allclose(
            session.array("scan", "ranges"), truth(np.zeros(2), angles), atol=1e-9
        )


def test_too_far_reads_the_range_and_too_near_reads_nothing() -> None:
    """Beyond ``range`` the reading is the range; nearer than ``min_range`` it is 0."""
    with Session(room(lidar(range=1.8, min_range=1.6, count=4))) as session:
        # straight back, right, ahead, left of the middle
        assert session.array("scan", "ranges") == pytest.approx([1.8, 0.0, 1.8, 0.0])


def test_noise_is_white_among_rays_and_readings() -> None:
    """Deviation as told, no correlation of neighbours, the same in another run."""
    runs = []
    for _ in range(2):
        with Session(room(lidar(count=61, opening=0.5, noise=0.05))) as session:
            rows = []
            for _ in range(300):
                session.step()
                rows.append(session.array("scan", "ranges"))
            runs.append(np.array(rows))
    assert np.array_equal(*runs)
    rest = runs[0] - runs[0].mean(axis=0)
    assert rest.std() == pytest.approx(0.05, rel=0.03)
    assert abs(np.corrcoef(rest[:, :-1].ravel(), rest[:, 1:].ravel())[0, 1]) < 0.03
    assert abs(np.corrcoef(rest[:-1].ravel(), rest[1:].ravel())[0, 1]) < 0.03


def test_many_rays_are_an_array_and_no_signals() -> None:
    """1000 rays are there as an array; as signals only the nearest and its bearing."""
    with Session(room(lidar(count=1000))) as session:
        assert session.array("scan", "ranges").shape == (1000,)
        names = [s.name for s in session.signals if s.name.startswith("scan.")]
        assert names == ["scan.nearest", "scan.bearing"]


def test_a_lidar_between_two_periods_holds_its_reading() -> None:
    """Moved away meanwhile, it reads what it read, until the next period."""
    with Session(room(lidar(count=3, opening=0.2, period=0.05))) as session:
        session.step()
        first = session.array("scan", "ranges")
        session.state.q[0] += 0.5
        session.cycle.refresh()
        session.step(4)
        assert np.array_equal(session.array("scan", "ranges"), first)
        session.step()
        assert session.array("scan", "ranges")[1] == pytest.approx(A - 0.5, abs=1e-9)


PROGRAM = """
from linkwork import Control

class Look(Control):
    def loop(self):
        scan = self.sensor("scan")
        ahead = scan.ranges[abs(scan.angles) < 0.1]
        self.log(f"{len(ahead)} rays ahead, {ahead.min():.3f} m, {scan.nearest:.3f} m")
"""


def test_a_program_has_the_distances_as_an_array(tmp_path: Path) -> None:
    """``self.sensor("scan").ranges`` is a numpy array beside the plain readings."""
    (tmp_path / "look.py").write_text(PROGRAM)
    scene = room(lidar(count=91, opening=math.pi)).agent(
        "look", "program", file=str(tmp_path / "look.py")
    )
    with Session(scene, watch=False) as session:
        session.step()
        assert session.outbox.events[-1].text == "5 rays ahead, 2.000 m, 0.958 m"


def test_a_fan_must_have_room() -> None:
    """A lower end above the upper one is refused."""
    with pytest.raises(FormatError, match=r"min_range 9 m is not below the range 8 m"):
        Session(room(lidar(min_range=9.0)))


def test_what_is_hidden_stops_only_what_looks_for_things_that_collide() -> None:
    """An element whose ``visible`` is 0 is out of sight for lidars and rays, and is there still."""
    touch, look = lidar(count=1), lidar(count=1, sees="visible")
    params = {"on": "robot/head", "range": 8.0, "sees": "visible"}
    scene = room(replace(touch, name="touch"), replace(look, name="look"))
    scene.sensors.append(Spec("sensor", "ray", "ray", params))
    with Session(scene) as session:
        assert session["look.nearest"] == pytest.approx(A)  # from the start
        for visible, seen in ((1.0, A), (0.0, 8.0), (1.0, A)):
            session["east.visible"] = visible
            session.step(2)
            assert session["touch.nearest"] == pytest.approx(A)
            assert session["look.nearest"] == pytest.approx(seen)
            assert session["ray.distance"] == pytest.approx(seen)
