"""The Mujoco engine moves a world exactly as MuJoCo moves the same hand-written model."""

import math
from typing import Any

import mujoco as compiled_mujoco
import numpy as np
import pytest

from engine_scenes import cycle
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part, Plane, RailPiece
from linkwork.model.scene import Scene
from linkwork.session.cycle import Cycle

mujoco: Any = compiled_mujoco  # pyright cannot see the names of the compiled module

HEAD = """
<mujoco>
  <compiler angle="radian" eulerseq="XYZ"/>
  <option timestep="0.002" integrator="discrete" cone="elliptic" impratio="100"
    iterations="100" tolerance="1e-10"/>
  <default><geom solref="0.004 2" solimp="0 0.95 0.001" friction="0.8"/></default>
  <worldbody>
"""
TAIL = "</worldbody></mujoco>"

# A box that hangs off-center from a joint whose frame is skew in both bodies.
AT = Pose.of((0.1, 0.2, 0.3), rpy=(0.3, -0.2, 0.5))
SHIFT = (0.05, -0.02, 0.01)
HALF = math.sqrt(0.5)
TURNED = Pose.of(SHIFT, quat=(HALF, 0.0, HALF, 0.0))
ASKEW = '<frame quat="0.70710678118654757 0 -0.70710678118654757 0">'
BOX = '<geom type="box" size="0.05 0.03 0.15" pos="0.02 0.03 -0.15" mass="0.7" contype="0"/>'


def hanging(joints: str, *, turned: bool = True) -> str:
    """Returns MJCF of the box on ``joints``, whose frame is the MuJoCo body's."""
    frame = ASKEW if turned else "<frame>"
    return f"""
    <frame pos="0.1 0.2 0.3" euler="0.3 -0.2 0.5"><body name="box">
      {joints}
      {frame}<frame pos="-0.05 0.02 -0.01"><site name="box"/>{BOX}</frame></frame>
    </body></frame>"""


def box(name: str = "box", **more: Any) -> Element:
    shape = Box((0.1, 0.06, 0.3), at=Pose((0.02, 0.03, -0.15)), collide=False)
    return Element(name, (shape,), mass=0.7, **more)


def jointed(type_name: str, *, turned: bool = True, **joint: Any) -> Scene:
    at_to = TURNED if turned else Pose(SHIFT)
    part = Part("part").add(
        Element("post", mass=1.0),
        box(),
        Joint("J", type_name, "post", "box", at=AT, at_to=at_to, **joint),
    )
    return Scene("test").place(part)


def chain() -> Part:
    """Returns the box on a hinge, a slider and a ball in series, without elements between."""
    quarter = Pose.of((0.1, 0.2, 0.0), rpy=(0.0, 0.0, math.pi / 2.0))
    return Part("part").add(
        Element("post", mass=1.0),
        box(),
        Joint("J1", "hinge", "post", "J2", at=AT, axis=(1.0, 0.0, 0.0)),
        Joint("J2", "slider", "J1", "J3", at=quarter, axis=(1.0, 0.0, 0.0)),
        Joint("J3", "ball", "J2", "box", at_to=Pose(SHIFT)),
    )


def double_pendulum() -> Part:
    low = Pose((0.02, 0.03, -0.3))
    return Part("part").add(
        Element("post", mass=1.0),
        box("upper"),
        box(),
        Joint("J1", "hinge", "post", "upper", axis=(0.0, 1.0, 0.0)),
        Joint("J2", "hinge", "upper", "box", at=low, axis=(1.0, 0.0, 0.0)),
    )


ODD = (0.6, 0.0, 0.8)
LAWS = (
    'damping="0.1" armature="0.02" frictionloss="0.05" solreffriction="4e-5 1" '
    'solimpfriction="0.9999 0.9999 0.001 0.5 2" '
    'solreflimit="0.004 1" solimplimit="0.999 0.9999 0.001"'
)
OUR_LAWS: dict[str, Any] = {"damping": 0.1, "armature": 0.02, "friction": 0.05}

#: By joint: our scene, its MJCF, and the initial velocities.
JOINTS: dict[str, tuple[Scene, str, list[float]]] = {
    "hinge": (jointed("hinge", axis=ODD), hanging('<joint axis="0.6 0 0.8"/>'), [3.0]),
    "hinge with laws": (
        jointed("hinge", axis=ODD, range=(-0.4, 0.2), stiffness=2.0, rest=0.3, **OUR_LAWS),
        hanging(f'<joint axis="0.6 0 0.8" range="-0.4 0.2" stiffness="2" springref="0.3" {LAWS}/>'),
        [0.0],
    ),
    "slider with spring and damper": (
        jointed("slider", axis=ODD, stiffness=20.0, rest=0.3, **OUR_LAWS),
        hanging(f'<joint type="slide" axis="0.6 0 0.8" stiffness="20" springref="0.3" {LAWS}/>'),
        [0.5],
    ),
    "ball": (
        jointed("ball", turned=False, stiffness=0.5, range=((0.0, 0.6), None, None), **OUR_LAWS),
        hanging(f'<joint type="ball" stiffness="0.5" range="0 0.6" {LAWS}/>', turned=False),
        [1.0, -2.0, 3.0],
    ),
    "universal": (
        jointed("universal", axis=ODD, axis2=(0.0, 1.0, 0.0)),
        hanging('<joint axis="0.6 0 0.8"/><joint axis="0 1 0"/>'),
        [1.0, -2.0],
    ),
    "cylindrical": (
        jointed("cylindrical", axis=ODD),
        hanging('<joint type="slide" axis="0.6 0 0.8"/><joint axis="0.6 0 0.8"/>'),
        [1.0, -2.0],
    ),
    "planar": (
        jointed("planar"),
        hanging(
            '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
            '<joint axis="0 0 1"/>'
        ),
        [1.0, -2.0, 3.0],
    ),
    "straight rail": (
        jointed("rail", rail=(RailPiece(0.2), RailPiece(0.3))),
        hanging(
            '<joint type="slide" axis="1 0 0" range="0 0.5" solreflimit="0.004 1" '
            'solimplimit="0.999 0.9999 0.001"/>'
        ),
        [0.4],
    ),
    "chain of joints": (
        Scene("test").place(chain()),
        """<frame pos="0.1 0.2 0.3" euler="0.3 -0.2 0.5">
        <frame pos="0.1 0.2 0" euler="0 0 1.5707963267948966"><body name="box">
          <joint axis="0 -1 0" pos="-0.2 0.1 0"/><joint type="slide" axis="1 0 0"/>
          <joint type="ball"/>
          <frame pos="-0.05 0.02 -0.01"><site name="box"/>"""
        + BOX
        + "</frame></body></frame></frame>",
        [1.0, 0.3, 2.0, -1.0, 0.5],
    ),
    "double pendulum": (
        Scene("test").place(double_pendulum()),
        f"""<body><joint axis="0 1 0"/>{BOX}<body name="box" pos="0.02 0.03 -0.3">
        <joint axis="1 0 0"/>{BOX}<site name="box"/></body></body>""",
        [5.0, -3.0],
    ),
    "free with spin": (
        Scene("test").place(Part("part").add(box()), at=AT, base="free"),
        f"""<body name="box" pos="0.1 0.2 0.3" euler="0.3 -0.2 0.5"><freejoint/>
        <site name="box"/>{BOX}</body>""",
        [1.0, 2.0, 3.0, 4.0, 5.0, -6.0],
    ),
    "tumbling on the floor": (
        Scene("test")
        .place(
            Part("part").add(Element("box", (Box((0.1, 0.06, 0.3)),), mass=0.7)),
            at=Pose((0.0, 0.0, 0.4)),
            base="free",
        )
        .add(Element("floor", (Plane(),))),
        """<geom type="plane" size="5 5 1"/>
        <body name="box" pos="0 0 0.4"><freejoint/><site name="box"/>
        <geom type="box" size="0.05 0.03 0.15" mass="0.7"/></body>""",
        [0.5, 0.0, 0.0, 1.0, 2.0, 0.0],
    ),
}


class Twins:
    """Our cycle and plain MuJoCo side by side, with the same initial state."""

    def __init__(self, scene: Scene, mjcf: str, speeds: list[float]) -> None:
        self.ours: Cycle = cycle(scene)
        chosen = "implicitfast" if "<freejoint" in mjcf else "discrete"
        head = HEAD.replace("discrete", chosen)
        self.model = mujoco.MjModel.from_xml_string(head + mjcf + TAIL)
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = self.ours.state.q
        self.data.qvel[:] = self.ours.state.v[:] = speeds
        self.ours.refresh()

    def step(self) -> None:
        self.ours.move()
        mujoco.mj_step(self.model, self.data)


@pytest.mark.parametrize("name", JOINTS)
def test_joints_move_as_in_plain_mujoco(name: str) -> None:
    """q and v agree with a hand-written model to 1e-9 over 300 steps."""
    twins = Twins(*JOINTS[name])
    start, moved = twins.ours.state.q.copy(), 0.0
    for _ in range(300):
        twins.step()
        moved = max(moved, np.abs(twins.ours.state.q - start).max())
        assert np.abs(twins.ours.state.q - twins.data.qpos).max() < 1e-9
        assert np.abs(twins.ours.state.v - twins.data.qvel).max() < 1e-9
    assert moved > 0.01


@pytest.mark.parametrize("name", JOINTS)
def test_poses_and_twists_are_those_of_the_coordinates(name: str) -> None:
    """After a step, pose and twist are those of its end, not of its start."""
    twins = Twins(*JOINTS[name])
    model, data, world = twins.model, twins.data, twins.ours.world
    body, there = world.body("part/box"), model.body("box").id
    for _ in range(60):
        twins.step()
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        pose, twist = twins.ours.state.pose[body], twins.ours.state.twist[body]
        assert pose[:3] == pytest.approx(data.site("box").xpos, abs=1e-9)
        rotation = Pose.of(quat=pose[3:]).matrix()
        assert rotation == pytest.approx(data.site("box").xmat.reshape(3, 3), abs=1e-9)
        expected = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, there, expected, 0)
        assert twist[3:] == pytest.approx(expected[:3], abs=1e-9)
        assert twist[:3] == pytest.approx(expected[3:], abs=1e-9)


@pytest.mark.parametrize("name", ["double pendulum", "slider with spring and damper", "ball"])
def test_energy_is_mujocos(name: str) -> None:
    """Kinetic energy (with rotors) and potential energy (with springs) agree with MuJoCo's."""
    twins = Twins(*JOINTS[name])
    for _ in range(100):
        twins.step()
    mujoco.mj_forward(twins.model, twins.data)
    mujoco.mj_energyPos(twins.model, twins.data)
    mujoco.mj_energyVel(twins.model, twins.data)
    kinetic, potential = twins.ours.state.report.energy
    assert kinetic == pytest.approx(twins.data.energy[1], rel=1e-9)
    assert potential == pytest.approx(twins.data.energy[0], rel=1e-9)


def test_acceleration_is_the_change_of_speed() -> None:
    """The reported acceleration is Δv/h, also where MuJoCo's refers to another instant."""
    ours = cycle(JOINTS["hinge with laws"][0])
    for _ in range(20):
        before = ours.state.v.copy()
        ours.move()
        expected = (ours.state.v - before) / ours.h
        assert ours.state.report.acceleration == pytest.approx(expected, rel=1e-12)


@pytest.mark.capability(86, 9)
def test_floating_base_swings_back_when_its_limb_swings() -> None:
    """Torso and limb in free fall keep their total momentum."""
    torso = Element("torso", (Box((0.3, 0.2, 0.5), collide=False),), mass=5.0)
    limb = Element("limb", (Box((0.05, 0.05, 0.4), at=Pose((0.0, 0.0, -0.2)), collide=False),),
                   mass=1.5)  # fmt: skip
    part = Part("robot").add(
        torso, limb, Joint("hip", "hinge", "torso", "limb", at=Pose((0.1, 0.0, -0.2)),
                           axis=(0.0, 1.0, 0.0)),
    )  # fmt: skip
    scene = Scene("test", step=0.0005, gravity=(0.0, 0.0, 0.0)).place(part, base="free")
    ours = cycle(scene)
    ours.state.v[6] = 4.0
    ours.refresh()
    spin = _spin(ours)
    linear = _momentum(ours)
    for _ in range(400):
        ours.move()
    assert abs(ours.state.v[4]) > 0.1  # the torso turns
    assert _momentum(ours) == pytest.approx(linear, abs=2e-3)
    assert _spin(ours) == pytest.approx(spin, rel=5e-3, abs=1e-6)


def _momentum(ours: Cycle) -> np.ndarray:
    return (ours.world.mass[:, None] * ours.state.twist[:, :3]).sum(axis=0)


def _spin(ours: Cycle) -> np.ndarray:
    """Returns the angular momentum about the common center of mass."""
    world, state = ours.world, ours.state
    mass = world.mass
    turns = [Pose.of(row[:3], quat=row[3:]) for row in state.pose]
    coms = np.array([t.apply(world.com[b]) for b, t in enumerate(turns)])
    center = (mass[:, None] * coms).sum(axis=0) / mass.sum()
    total = np.zeros(3)
    for b, turn in enumerate(turns):
        rotation = turn.matrix()
        total += rotation @ world.inertia[b] @ rotation.T @ state.twist[b, 3:]
        total += np.cross(coms[b] - center, mass[b] * state.twist[b, :3])
    return total


@pytest.mark.capability(9)
def test_initial_velocity_and_spin_are_what_the_element_says() -> None:
    """A free body starts with its element's velocity and spin, and flies a parabola."""
    body = Element("body", (Box((0.1, 0.2, 0.3)),), mass=1.0, velocity=(1.0, 2.0, 3.0),
                   spin=(0.0, 0.0, 5.0))  # fmt: skip
    at = Pose.of((0.0, 0.0, 1.0), rpy=(0.0, 0.0, 0.7))
    ours = cycle(Scene("test", step=0.001).place(Part("part").add(body), at=at, base="free"))
    assert ours.state.twist[1] == pytest.approx([1.0, 2.0, 3.0, 0.0, 0.0, 5.0])
    for _ in range(300):
        ours.move()
    t = 0.3
    expected = (1.0 * t, 2.0 * t, 1.0 + 3.0 * t - 0.5 * 9.81 * t**2)
    assert ours.state.q[:3] == pytest.approx(expected, abs=9.81 * t * 0.001)
    half = (0.7 + 5.0 * t) / 2.0
    assert ours.state.q[3:] == pytest.approx((math.cos(half), 0.0, 0.0, math.sin(half)), abs=1e-9)
