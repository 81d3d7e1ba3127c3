"""An IMU reads specific force and angular velocity at its place, with the errors of a real one."""

import math

import numpy as np
import pytest

from block_fixture import Rig
from linkwork.core.errors import FormatError
from linkwork.core.mujoco_library import mujoco
from linkwork.geometry import Pose
from linkwork.kinematics.kernels import forward_twists, integrate_coordinates
from linkwork.model.parts import Anchor, Box, Element, Joint, Part, Plane, Spec, Sphere
from linkwork.model.parts.joint import JOINT_TYPES, RailPiece
from linkwork.model.scene import Scene
from linkwork.session.session import Session

G = 9.81
#: Where the sensor sits on the link, and how it is turned.
EYE = Pose.of((0.5, -0.2, 0.1), rpy=(0.3, -0.7, 1.1))


def imu(on: str = "arm/eye", **params: object) -> Spec:
    return Spec("sensor", "imu", "imu", {"on": on, **params})


def arm(eye: Pose = EYE, **joint: object) -> Part:
    """A link on one joint, with a sensor's frame off its centre of mass."""
    settings = {"type": "hinge", "axis": (0.0, 0.0, 1.0), **joint}
    return Part("arm").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("link", (Box((0.2, 0.04, 0.04), at=Pose((0.07, 0.0, 0.0))),), mass=1.0),
        Joint("J", from_="post", to="link", **settings),  # type: ignore[arg-type]
        Anchor("eye", "link", eye),
    )


def scene_of(part: Part, *specs: Spec, base: str = "fixed", **settings: object) -> Scene:
    scene = Scene("test", **settings)  # type: ignore[arg-type]
    scene.place(part, base=base)
    scene.sensors.extend(specs)
    return scene


def eye_of(rig: Rig) -> Pose:
    """Where the sensor is in the world."""
    body, eye = rig.world.anchors["arm/eye"]
    return Pose.of(rig.state.pose[body, :3], quat=rig.state.pose[body, 3:]) @ eye


def put(rig: Rig, q: np.ndarray, v: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Sets coordinates, speeds and accelerations; the six readings."""
    world, state = rig.world, rig.state
    rig.pose(q)
    state.v[:] = v
    state.report.acceleration[:] = change
    forward_twists(*world.tree, world.com, state.q, state.v, state.pose, state.twist)
    return np.array(list(rig.read().values()))


@pytest.mark.capability(175)
@pytest.mark.parametrize("engine", ["kinematic", "mujoco"])
def test_what_stands_still_reads_g_upwards(engine: str) -> None:
    """At rest the accelerometer reads 9.81 m/s² against gravity in its own axes, the gyro 0."""
    scene = scene_of(arm(), imu()).engine(engine)
    scene.gravity = (0.0, 0.0, -G)
    with Session(scene) as session:
        up = np.array(EYE.inverse().rotate((0.0, 0.0, G)))
        for _ in range(3):
            read = [session[f"imu.{axis}"] for axis in ("ax", "ay", "az", "gx", "gy", "gz")]
            assert read == pytest.approx([*up, 0.0, 0.0, 0.0], abs=1e-9)
            session.step()


def test_what_falls_reads_nothing() -> None:
    """A body in free fall feels no force, and its spin is read."""
    ball = Part("ball").add(Element("ball", (Sphere(0.1),), mass=2.0, spin=(0.0, 0.0, 3.0)))
    with Session(scene_of(ball, imu("ball/ball"), base="free").engine("mujoco")) as session:
        session.step(5)
        read = [session[f"imu.{axis}"] for axis in ("ax", "ay", "az", "gx", "gy", "gz")]
    assert read == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 3.0], abs=1e-9)


@pytest.mark.parametrize("engine", ["kinematic", "mujoco"])
def test_circular_motion_reads_the_centripetal_acceleration(engine: str) -> None:
    """On a link that turns at ω, an IMU at the distance r reads ω²r towards the axis."""
    omega, r = 4.0, 0.5
    part = arm(Pose((r, 0.0, 0.0)), drive=Spec("actuator", "motor"), damping=0.0)
    scene = scene_of(part, imu()).engine(engine, **PRESCRIBED[engine])
    with Session(scene) as session:
        session["arm/J.target_speed"] = omega
        session.step(30)
        read = [session[f"imu.{axis}"] for axis in ("ax", "ay", "az", "gx", "gy", "gz")]
    assert read == pytest.approx([-omega * omega * r, 0.0, G, 0.0, 0.0, omega], abs=1e-8)


PRESCRIBED: dict[str, dict[str, object]] = {"kinematic": {}, "mujoco": {"prescribed": ["arm/J"]}}


@pytest.mark.parametrize("q", [0.0, 0.4, -1.2, 2.5])
def test_a_pendulum_feels_only_its_rod(q: float) -> None:
    """At the bob of a plain pendulum the reading is along the rod: ω²l + g cos q."""
    length, omega = 0.8, 1.7
    eye = Pose((0.0, 0.0, -length))
    rig = Rig(scene_of(arm(eye, axis=(0.0, 1.0, 0.0)), imu()))
    change = -G / length * math.sin(q)
    read = put(rig, np.array([q]), np.array([omega]), np.array([change]))
    rod = omega**2 * length + G * math.cos(q)
    assert read == pytest.approx([0.0, 0.0, rod, 0.0, omega, 0.0], abs=1e-9)


CHAIN = """
<mujoco><option gravity="0 0 -9.81"/><worldbody><body pos="0 0 1"><freejoint/>
  <geom type="box" size=".1 .1 .1" mass="2"/>
  <body pos=".1 .2 .3"><joint type="hinge" axis="0 1 0"/>
    <geom type="box" size=".2 .02 .03" mass="1"/>
    <body pos=".2 0 0"><joint type="ball"/><geom type="sphere" size=".1" mass=".5"/>
      <body pos="0 .1 0"><joint type="slide" axis="0 0 1"/>
        <geom type="sphere" size=".05" mass=".7"/>
        <site name="s" pos=".3 -.1 .2" quat=".8 .2 -.4 .4"/>
</body></body></body></body></worldbody>
<sensor><accelerometer site="s"/><gyro site="s"/></sensor></mujoco>
"""


def test_mujoco_reads_the_same_on_the_same_model() -> None:
    """A free base, a hinge, a ball and a slider: MuJoCo's accelerometer and gyro agree to 1e-7."""
    theirs = mujoco.MjModel.from_xml_string(CHAIN)
    data = mujoco.MjData(theirs)
    turn = theirs.site_quat[0]
    part = Part("arm").add(
        Element("base", (Box((0.2, 0.2, 0.2)),), mass=2.0),
        Element("a", (Box((0.4, 0.04, 0.06)),), mass=1.0),
        Element("b", (Sphere(0.1),), mass=0.5),
        Element("c", (Sphere(0.05),), mass=0.7),
        Joint("J1", "hinge", "base", "a", at=Pose((0.1, 0.2, 0.3)), axis=(0.0, 1.0, 0.0)),
        Joint("J2", "ball", "a", "b", at=Pose((0.2, 0.0, 0.0))),
        Joint("J3", "slider", "b", "c", at=Pose((0.0, 0.1, 0.0)), axis=(0.0, 0.0, 1.0)),
        Anchor("eye", "c", Pose.of((0.3, -0.1, 0.2), quat=tuple(turn))),
    )
    rig = Rig(scene_of(part, imu(), base="free"))
    rng = np.random.default_rng(5)
    for _ in range(25):
        data.qpos[:] = rng.normal(size=theirs.nq)
        for at in (3, 8):
            data.qpos[at : at + 4] /= np.linalg.norm(data.qpos[at : at + 4])
        data.qvel[:] = 2.0 * rng.normal(size=theirs.nv)
        data.qfrc_applied[:] = 5.0 * rng.normal(size=theirs.nv)
        mujoco.mj_forward(theirs, data)
        read = put(rig, data.qpos, data.qvel, data.qacc)
        np.testing.assert_allclose(read, data.sensordata, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", [k for k in JOINT_TYPES if k != "fixed"])
def test_accelerations_are_those_of_the_place_on_every_joint(kind: str) -> None:
    """The reading is the second derivative of where the sensor is, less gravity."""
    rail = (RailPiece(2.0, turn=1.0, climb=0.7),) if kind == "rail" else ()
    axes = {"axis": (0.0, 0.6, 0.8), "axis2": (1.0, 0.0, 0.0)}
    rig = Rig(scene_of(arm(EYE, type=kind, pitch=0.3, rail=rail, **axes), imu()))
    world, rng = rig.world, np.random.default_rng(3)
    q, v = world.q0.copy(), rng.normal(size=world.nv)
    if kind == "rail":
        q[:] = 0.8
    change, dt = rng.normal(size=world.nv), 1e-3

    def place(time: float) -> np.ndarray:
        moved = np.empty_like(q)
        step = v * time + 0.5 * change * time * time
        integrate_coordinates(world.kind, world.qadr, world.vadr, q, step, 1.0, moved)
        rig.pose(moved)
        return np.array(eye_of(rig).xyz)

    far, near, here = place(2 * dt) + place(-2 * dt), place(dt) + place(-dt), place(0.0)
    second = (-far + 16.0 * near - 30.0 * here) / (12.0 * dt * dt)
    read = put(rig, q, v, change)
    force = eye_of(rig).inverse().rotate(second + np.array([0.0, 0.0, G]))
    np.testing.assert_allclose(read[:3], force, atol=2e-5)


def test_errors_are_as_they_are_told() -> None:
    """Bias and noise by standard deviation or by density, the same in each run with a seed."""
    spec = imu(noise_density=0.02, gyro_noise=0.3, bias=(1.0, 2.0, 3.0), gyro_bias=(0.1, 0.2, 0.3))
    runs = []
    for _ in range(2):
        rig = Rig(scene_of(arm(Pose()), spec, step=0.004))
        runs.append(np.array([list(rig.read(step).values()) for step in range(4000)]))
    assert np.array_equal(runs[0], runs[1])
    mean, deviation = runs[0].mean(axis=0), runs[0].std(axis=0)
    sigma = 0.02 / math.sqrt(0.004)
    wanted = [1.0, 2.0, 3.0 + G, 0.1, 0.2, 0.3]
    np.testing.assert_allclose(mean, wanted, atol=5.0 * 0.32 / math.sqrt(4000))
    np.testing.assert_allclose(deviation, [sigma] * 3 + [0.3] * 3, rtol=0.06)
    mixed = np.corrcoef(runs[0].T)
    assert np.abs(mixed - np.eye(6)).max() < 0.08


def test_a_bias_walks_with_the_root_of_time() -> None:
    """After T seconds the walk has the deviation walk·√T, whatever the period."""
    for step, period in ((0.002, 0.002), (0.002, 0.01)):
        scene = scene_of(arm(Pose()), step=step)
        for n in range(60):
            scene.sensor(f"imu{n}", "imu", on="arm/eye", gyro_bias_walk=0.5, period=period)
        rig = Rig(scene)
        for count in range(501):
            rig.block.read(count)
        walked = rig.state["sensor/imu/walk"]
        assert not walked[:, :3].any()
        assert walked[:, 3:].std() == pytest.approx(0.5 * math.sqrt(500 * step), rel=0.15)
        assert [rig.values()["imu0.gx"]] == [walked[0, 3]]


def test_readings_stop_at_the_range() -> None:
    """What is beyond the range reads the range, on each axis by itself."""
    rig = Rig(scene_of(arm(Pose()), imu(range=5.0, gyro_range=1.0)))
    read = put(rig, np.zeros(1), np.array([-3.0]), np.zeros(1))
    assert read == pytest.approx([0.0, 0.0, 5.0, 0.0, 0.0, -1.0], abs=1e-9)


def test_noise_is_said_once() -> None:
    """A deviation and a density of the same noise are refused."""
    with pytest.raises(FormatError, match="both gyro_noise and gyro_noise_density"):
        Rig(scene_of(arm(), imu(gyro_noise=0.1, gyro_noise_density=0.1)))


def test_a_landing_is_felt() -> None:
    """On the ground the reading comes back to g, between the two it is more than that."""
    ball = Part("ball").add(Element("ball", (Sphere(0.1),), mass=2.0))
    scene = Scene("test").add(Element("ground", (Plane(),)))
    scene.place(ball, at=Pose((0.0, 0.0, 0.2)), base="free")
    scene.sensors.append(imu("ball/ball"))
    with Session(scene) as session:
        felt = []
        for _ in range(600):
            session.step()
            felt.append(session["imu.az"])
    assert max(felt) > 2.0 * G
    assert felt[-1] == pytest.approx(G, abs=0.02)
