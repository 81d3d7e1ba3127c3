"""The arms of the kits: lengths, limits and speeds as published, and their scenes."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.session.session import Session

#: Base to shoulder, to elbow, to wrist, to flange [m] (RoboTiX thesis, as corrected).
LENGTHS = {
    "kuka/arm": (0.3105, 0.400, 0.390, 0.078),
    "mitsubishi/arm": (0.317, 0.450, 0.480, 0.070),
    "amtec/arm": (0.250, 0.408, 0.3165, 0.1927),
}
#: To both sides [degrees].
LIMITS = {
    "kuka/arm": (170, 120, 170, 120, 170, 120, 170),
    "mitsubishi/arm": (177, 90, 174, 137, 255, 165, 255),
    "amtec/arm": (180, 113, 180, 113, 180, 113, 180),
}
SCENES = ("kuka/table", "mitsubishi/table")
each_arm = pytest.mark.parametrize("name", LENGTHS)


def turn(axis: str, angle: float) -> np.ndarray:
    """Rotation about z or y as a homogeneous matrix."""
    c, s = math.cos(angle), math.sin(angle)
    made = np.eye(4)
    made[:3, :3] = (
        [[c, -s, 0], [s, c, 0], [0, 0, 1]] if axis == "z" else [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    )
    return made


def up(length: float) -> np.ndarray:
    made = np.eye(4)
    made[2, 3] = length
    return made


def closed(lengths: tuple[float, ...], q: np.ndarray) -> np.ndarray:
    """The flange of a shoulder, elbow and wrist: 3, 1 and 3 turns."""
    bs, se, ew, wf = lengths
    shoulder = up(bs) @ turn("z", q[0]) @ turn("y", q[1]) @ turn("z", q[2])
    elbow = up(se) @ turn("y", q[3])
    wrist = up(ew) @ turn("z", q[4]) @ turn("y", q[5]) @ turn("z", q[6])
    return shoulder @ elbow @ wrist @ up(wf)


@each_arm
@pytest.mark.capability(109)
def test_the_flange_is_where_the_closed_product_puts_it(name: str) -> None:
    """At 100 random postures within the limits, to 1e-12."""
    world = lw.compile_scene(lw.Scene("s").place(lw.load_part(name), name="arm"))
    body, local = world.frame("arm/flange")
    limits = np.radians(LIMITS[name])
    random = np.random.default_rng(7)
    for q in random.uniform(-limits, limits, (100, 7)):
        pose = lw.forward(world, q)[body].tolist()
        flange = lw.Pose.of(pose[:3], quat=pose[3:]) @ local
        found = np.eye(4)
        found[:3, :3], found[:3, 3] = flange.matrix(), flange.xyz
        np.testing.assert_allclose(found, closed(LENGTHS[name], q), atol=1e-12)


@each_arm
def test_limits_are_those_published(name: str) -> None:
    """Seven hinges, each with a servo, the same way to both sides."""
    joints = list(lw.load_part(name).joints.values())
    assert [j.name for j in joints] == [f"J{k}" for k in range(1, 8)]
    for joint, limit in zip(joints, LIMITS[name], strict=True):
        assert joint.type == "hinge"
        assert joint.ranges == ((-math.radians(limit), math.radians(limit)),)
        assert joint.drive is not None
        assert joint.drive.type == "servo"


def test_speeds_and_masses_are_those_published() -> None:
    """The LWR's speeds as in the RoboTiX thesis; both arms weigh what their data sheets say."""
    kuka, pa10 = lw.load_part("kuka/arm"), lw.load_part("mitsubishi/arm")
    speeds = [math.degrees(j.max_speed or 0.0) for j in kuka.joints.values()]
    assert speeds == pytest.approx([110, 110, 128, 128, 204, 184, 184])
    assert sum(e.mass or 0.0 for e in kuka.elements.values()) == pytest.approx(16.0)
    assert sum(e.mass or 0.0 for e in pa10.elements.values()) == pytest.approx(40.0)


@pytest.mark.parametrize("name", SCENES)
def test_the_arm_follows_its_movement_on_the_table(name: str) -> None:
    """A round of 9 s: within 4° of what is wanted, within every limit, never near the board."""
    with Session(name, watch=False) as session:
        assert not session.cycle.findings
        world = session.world
        body, local = world.frame("arm/flange")
        session.run(1.0)
        for _ in range(80):
            session.run(0.1)
            for k in range(1, 8):
                lag = session[f"arm/J{k}.target"] - session[f"arm/J{k}.angle"]
                assert abs(lag) < math.radians(4.0)
                joint = session.signals[f"arm/J{k}.angle"]
                assert joint.lo < session[joint.name] < joint.hi
            row = session.state.pose[body].tolist()
            flange = lw.Pose.of(row[:3], quat=row[3:]) @ local
            assert flange.xyz[2] > 0.74 + 0.1


@pytest.mark.parametrize("name", ["kuka/arm", "mitsubishi/arm"])
def test_drives_hold_the_stretched_arm(name: str) -> None:
    """Stretched out sideways no drive is at its limit, and the flange sags by less than 2 cm."""
    scene = lw.Scene("s").place(lw.load_part(name), name="arm")
    scene.postures["out"] = {f"arm/J{k}": 0.0 for k in range(1, 8)} | {"arm/J2": math.pi / 2 - 0.01}
    scene.start = "out"
    with Session(scene, watch=False) as session:
        session.run(2.0)
        reach = sum(LENGTHS[name][1:])
        sag = 0.0
        for k in range(1, 8):
            assert abs(session[f"arm/J{k}.effort"]) < 0.9 * session[f"arm/J{k}.max_effort"]
            if k in (2, 4, 6):
                sag += abs(session[f"arm/J{k}.target"] - session[f"arm/J{k}.angle"]) * reach
        assert sag < 0.02
