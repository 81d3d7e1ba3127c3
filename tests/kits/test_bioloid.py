"""The humanoid of Lima et al.: what the paper says of it, and that it stands and moves."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Capsule, Cylinder
from linkwork.session.session import Session


@pytest.fixture(scope="module")
def robot() -> lw.Part:
    return lw.load_part("bioloid/humanoid")


def extent(world: lw.World, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest corner of the boxes around all shapes [m]."""
    poses = lw.forward(world, q)
    corners = []
    for piece in world.shapes:
        shape = piece.shape
        if isinstance(shape, Box):
            half = np.array(shape.size) / 2.0
        else:
            assert isinstance(shape, Cylinder | Capsule)
            half = np.array([shape.radius, shape.radius, shape.length / 2.0])
        row = poses[piece.body].tolist()
        at = Pose.of(row[:3], quat=row[3:]) @ piece.pose
        signs = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
        corners.append(np.array(at.xyz) + (signs * half) @ at.matrix().T)
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)


@pytest.mark.capability(159)
def test_nineteen_servos_two_kilograms_thirty_eight_centimeters(robot: lw.Part) -> None:
    """6 servos a leg, 3 an arm, 1 in the head; about 2 kg; 38 cm (Lima et al. section 2.1)."""
    joints = robot.joints
    assert len(joints) == 19
    assert all(j.drive is not None and j.drive.type == "servo" for j in joints.values())
    for side in ("left", "right"):
        legs = [n for n in joints if n.startswith(side) and ("hip" in n or "knee" in n)]
        ankles = [n for n in joints if n.startswith(f"{side}_ankle")]
        arms = [n for n in joints if n.startswith(side) and ("shoulder" in n or "elbow" in n)]
        assert (len(legs), len(ankles), len(arms)) == (4, 2, 3)
    world = lw.compile_scene(lw.Scene("s").place(robot, name="robot"))
    assert world.mass.sum() == pytest.approx(2.0, abs=0.1)
    low, high = extent(world, world.q0)
    assert high[2] - low[2] == pytest.approx(0.38, abs=0.01)


@pytest.mark.capability(159)
def test_trunk_and_knee_are_those_of_the_document(robot: lw.Part) -> None:
    """Trunk 0.635 kg, 82×102×137 mm; left knee −98…32°, 180 mm below, 30 mm to the left."""
    trunk = robot.elements["trunk"]
    assert trunk.mass == 0.635
    box = trunk.shapes[0]
    assert isinstance(box, Box)
    assert box.size == (0.082, 0.102, 0.137)
    knee = robot.joints["left_knee"]
    assert knee.ranges == ((math.radians(-98), math.radians(32)),)
    assert knee.max_speed == pytest.approx(math.radians(281))
    world = lw.compile_scene(lw.Scene("s").place(robot, name="robot"))
    shin = lw.forward(world, world.q0)[world.body("robot/left_shin"), :3]
    np.testing.assert_allclose(shin, [0.001, 0.030, -0.180], atol=1e-9)


def test_its_words_are_in_two_languages(robot: lw.Part) -> None:
    """Each joint has an English and a Portuguese label, as in the document's file."""
    assert robot.joints["left_knee"].labels == {"en": "left knee", "pt": "joelho esquerdo"}
    assert all(set(j.labels) == {"en", "pt"} for j in robot.joints.values())


def test_the_same_values_on_both_sides_mirror(robot: lw.Part) -> None:
    """With equal joint values left and right, the body is its own mirror image."""
    world = lw.compile_scene(lw.Scene("s").place(robot, name="robot"))
    values = {"shoulder_pitch": 0.7, "shoulder_roll": 0.5, "elbow": -0.6, "hip_yaw": 0.2,
              "hip_roll": 0.3, "hip_pitch": 0.4, "knee": -0.8, "ankle_pitch": 0.3,
              "ankle_roll": -0.2}  # fmt: skip
    q = world.q0.copy()
    for name, value in values.items():
        for side in ("left", "right"):
            q[world.single_dof(f"robot/{side}_{name}")] = value
    poses = lw.forward(world, q)
    for piece in ("foot", "forearm", "shin"):
        left, right = (poses[world.body(f"robot/{side}_{piece}"), :3] for side in ("left", "right"))
        np.testing.assert_allclose(left, right * [1, -1, 1], atol=1e-12)
    assert poses[world.body("robot/left_shin"), 0] > 0.02  # the thigh went forwards
    assert poses[world.body("robot/left_forearm"), 1] > 0.1  # the arm to the side


@pytest.mark.capability(159)
def test_it_stands_under_its_servos() -> None:
    """Ten seconds on the floor: it does not fall, sink or creep, and no servo gives all it has."""
    with Session("bioloid/stand", watch=False) as session:
        for _ in range(20):
            session.run(0.5)
            assert session["robot.z"] == pytest.approx(0.2765, abs=0.002)
            assert math.hypot(session["robot.x"], session["robot.y"]) < 0.003
            assert abs(session["robot.rx"]) < math.radians(1)
            assert abs(session["robot.ry"]) < math.radians(1)
        efforts = [abs(session[s.name]) for s in session.signals if s.name.endswith(".effort")]
        assert len(efforts) >= 19
        assert max(efforts) < 0.75


@pytest.mark.capability(159, 171)
def test_held_at_its_trunk_it_plays_a_movement() -> None:
    """All thirteen joints of the file follow it within 4° over one round."""
    movement = lw.load_movement("bioloid/greet")
    with Session("bioloid/fixed", watch=False) as session:
        for _ in range(70):
            session.run(0.1)
            for joint in movement.joints():
                lag = session[f"robot/{joint}.target"] - session[f"robot/{joint}.angle"]
                assert abs(lag) < math.radians(4)
        assert session["greet.time"] == pytest.approx(0.0, abs=0.01)


def test_limp_it_falls() -> None:
    """It stands because of its servos, not because it is held."""
    with Session("bioloid/stand", watch=False) as session:
        session.run(0.2)
        for signal in [s.name for s in session.signals if s.name.endswith(".max_effort")]:
            session[signal] = 0.0
        session.run(1.5)
        assert session["robot.z"] < 0.2


def test_its_soles_feel_its_weight() -> None:
    """Standing still, the corners of both feet together press with m·g, half of it on each foot."""
    with Session("bioloid/stand", watch=False) as session:
        session.run(2.0)
        weight = 9.81 * session.world.mass.sum()
        left, right = (session[f"robot/{side}_tread.force"] for side in ("left", "right"))
        assert left + right == pytest.approx(weight, rel=0.01)
        assert left == pytest.approx(right, rel=0.05)
