"""The robots of example-robot-data are read as Pinocchio reads them."""

from functools import cache
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.core.errors import FormatError, MeshError
from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.geometry import Inertia, Pose
from linkwork.geometry.inertia import combine
from linkwork.model.parts import Part

pinocchio: Any = import_module("pinocchio")  # its names are made at run time

ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
).joinpath("robots")

#: Files that Pinocchio rejects, with the reason.
REFUSED = {"ur_description/urdf/ur3.urdf": "an empty <robot>, without name and links"}
#: Files that load only with missing_meshes="skip", with the reason.
MESHES_ELSEWHERE = {
    "romeo_description/urdf/romeo_laas_small.urdf": "its meshes are in /usr/Romeo/naoqi-sdk-…, "
    "in a format (.mesh) of that kit",
}

FILES = sorted(str(path.relative_to(ROBOTS)) for path in ROBOTS.rglob("*.urdf"))
LOADED = [file for file in FILES if file not in REFUSED]


@cache
def read(file: str) -> tuple[Part, list[str]]:
    missing = "skip" if file in MESHES_ELSEWHERE else "error"
    return UrdfFormat(missing_meshes=missing).read_with_notes(ROBOTS / file)


def spelled(part: Part, name: str) -> str:
    """The name of a link or joint in the file that it came from."""
    aliases = {here: alias for alias, here in part.aliases.items()}
    return aliases.get(name, name).removeprefix("joint:")


class Bodies:
    """A part's links joined over fixed joints, computed link by link."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.parent = {joint.to: joint for joint in part.joints.values()}
        self.links: dict[str, list[str]] = {}
        for name in part.elements:
            self.links.setdefault(self.head(name)[0], []).append(name)

    def head(self, link: str) -> tuple[str, Pose]:
        """Returns the root link of the rigid body of ``link``, and the pose of ``link`` in it."""
        pose = Pose()
        while link in self.parent and self.parent[link].type == "fixed":
            joint = self.parent[link]
            pose, link = joint.at @ pose, joint.from_
        return link, pose

    def inertia(self, head: str) -> Inertia:
        return combine(
            self.part.elements[name].mass_properties().moved(self.head(name)[1])
            for name in self.links[head]
        )


def test_the_package_holds_the_robots() -> None:
    """The package has robots, and each named exception is one of them."""
    assert len(LOADED) >= 68
    assert {*REFUSED, *MESHES_ELSEWHERE} <= set(FILES)


@pytest.mark.parametrize("file", sorted(REFUSED))
def test_a_file_that_is_refused_here_is_refused_by_pinocchio(file: str) -> None:
    """Files rejected here are also rejected by Pinocchio."""
    with pytest.raises(ValueError, match="valid URDF"):
        pinocchio.buildModelFromUrdf(str(ROBOTS / file))
    with pytest.raises(FormatError, match="no links"):
        UrdfFormat().read(ROBOTS / file)


@pytest.mark.parametrize("file", sorted(MESHES_ELSEWHERE))
def test_a_robot_whose_meshes_are_elsewhere_says_so(file: str) -> None:
    """By default a missing mesh is an error with the path tried."""
    with pytest.raises(MeshError, match="Searched:\n  /usr/Romeo/"):
        UrdfFormat().read(ROBOTS / file)
    assert any(note.startswith("visual meshes that are missing") for note in read(file)[1])


@pytest.mark.parametrize("file", LOADED)
def test_a_robot_has_the_joints_that_pinocchio_finds(file: str) -> None:
    """Names, parents, poses, ranges, efforts and damping of all joints agree to 1e-9."""
    part, _ = read(file)
    model = pinocchio.buildModelFromUrdf(str(ROBOTS / file))
    bodies = Bodies(part)
    moving = {spelled(part, j.name): j for j in part.joints.values() if j.type != "fixed"}
    assert sorted(moving) == sorted(list(model.names)[1:])
    assert len(part.joints) == len(part.elements) - 1
    frames = {f.name for f in model.frames if f.type == pinocchio.BODY}
    assert {spelled(part, name) for name in part.elements} == frames - {"universe"}
    for name, joint in moving.items():
        index = model.getJointId(name)
        head, pose = bodies.head(joint.from_)
        parent = bodies.parent.get(head)
        assert model.names[model.parents[index]] == (
            spelled(part, parent.name) if parent else "universe"
        )
        place = pose @ joint.at
        np.testing.assert_allclose(place.xyz, model.jointPlacements[index].translation, atol=1e-9)
        np.testing.assert_allclose(place.matrix(), model.jointPlacements[index].rotation, atol=1e-9)
        theirs = model.joints[index]
        if joint.ranges[0] is not None:
            lower, upper = joint.ranges[0]
            assert lower == model.lowerPositionLimit[theirs.idx_q]
            assert upper == model.upperPositionLimit[theirs.idx_q]
        elif theirs.nq == 1 and model.lowerPositionLimit[theirs.idx_q] == 0.0:
            # a <limit> without range, which Bullet and Drake leave unlimited
            assert model.upperPositionLimit[theirs.idx_q] == 0.0
        elif theirs.nq == 1:  # huge limits mean none
            assert model.lowerPositionLimit[theirs.idx_q] <= -1e9
            assert model.upperPositionLimit[theirs.idx_q] >= 1e9
        assert joint.max_effort == limited(model.upperEffortLimit[theirs.idx_v])
        assert joint.max_speed == limited(model.upperVelocityLimit[theirs.idx_v])
        assert joint.damping == model.damping[theirs.idx_v]
        np.testing.assert_allclose(motion_axis(theirs), joint.axis, atol=1e-9)


def limited(value: float) -> float | None:
    """Returns a limit as read here: 0 and huge values mean none."""
    return value if 0.0 < value < 1e9 else None


def motion_axis(joint: Any) -> np.ndarray:
    """Returns the direction of a one-degree joint in its own frame, from its motion."""
    data = joint.createData()
    q = np.zeros(joint.nq + joint.idx_q)
    if joint.nq == 2:
        q[joint.idx_q] = 1.0
    joint.calc(data, q, np.ones(joint.nv + joint.idx_v))
    twist = data.v
    return twist.angular if np.abs(twist.angular).max() > 0.0 else twist.linear


@pytest.mark.parametrize("file", LOADED)
def test_a_robot_weighs_what_pinocchio_finds(file: str) -> None:
    """Mass, center of mass and inertia of each body agree; repairs change only the inertia."""
    part, notes = read(file)
    model = pinocchio.buildModelFromUrdf(str(ROBOTS / file))
    bodies = Bodies(part)
    mended = {name for name in part.elements if any(f"link {name!r}: " in note for note in notes)}
    for head, links in bodies.links.items():
        ours = bodies.inertia(head)
        joint = bodies.parent.get(head)
        theirs = model.inertias[model.getJointId(spelled(part, joint.name)) if joint else 0]
        assert ours.mass == pytest.approx(theirs.mass, rel=1e-12, abs=1e-12)
        if ours.mass > 0.0:
            np.testing.assert_allclose(ours.com, theirs.lever, atol=1e-9)
        if mended.isdisjoint(links):
            np.testing.assert_allclose(ours.matrix, theirs.inertia, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("file", LOADED)
def test_a_robot_written_and_read_again_is_the_same(file: str, tmp_path: Path) -> None:
    """Export and import keep names, poses, inertias, shapes and joints; Pinocchio agrees."""
    part, _ = read(file)
    path = tmp_path / "robot.urdf"
    notes = UrdfFormat().write(part, path)
    assert all("absolute path" in note or "engine words" in note for note in notes)
    again = UrdfFormat().read(path)
    assert (again.name, again.title, again.aliases) == (part.name, part.title, part.aliases)
    assert sorted(again.elements) == sorted(part.elements)
    assert sorted(again.joints) == sorted(part.joints)
    for name, element in part.elements.items():
        other = again.elements[name]
        assert [(s.kind, s.visible, s.collide, s.color, s.texture) for s in other.shapes] == [
            (s.kind, s.visible, s.collide, s.color, s.texture) for s in element.shapes
        ]
        for a, b in zip(element.shapes, other.shapes, strict=True):
            np.testing.assert_allclose(a.at.xyz, b.at.xyz, atol=1e-12)
            np.testing.assert_allclose(a.at.matrix(), b.at.matrix(), atol=1e-12)
        assert (other.friction, other.restitution) == (element.friction, element.restitution)
        a, b = element.mass_properties(), other.mass_properties()
        assert a.mass == b.mass
        if a.mass > 0.0:
            np.testing.assert_array_equal(a.com, b.com)
        np.testing.assert_array_equal(a.matrix, b.matrix)
    for name, joint in part.joints.items():
        other = again.joints[name]
        assert (other.type, other.from_, other.to) == (joint.type, joint.from_, joint.to)
        np.testing.assert_allclose(other.at.matrix(), joint.at.matrix(), atol=1e-12)
        if joint.type != "fixed":
            assert other.ranges == joint.ranges
            assert (other.max_effort, other.max_speed) == (joint.max_effort, joint.max_speed)
            assert (other.damping, other.friction) == (joint.damping, joint.friction)
    assert {(c.joint, c.of, c.ratio, c.offset) for c in again.couplings} == {
        (c.joint, c.of, c.ratio, c.offset) for c in part.couplings
    }
    one = pinocchio.buildModelFromUrdf(str(ROBOTS / file))
    two = pinocchio.buildModelFromUrdf(str(path))
    assert list(one.names) == list(two.names)
    for a, b in zip(one.jointPlacements, two.jointPlacements, strict=True):
        np.testing.assert_allclose(a.homogeneous, b.homogeneous, atol=1e-12)
