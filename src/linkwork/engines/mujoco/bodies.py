"""Bodies and joints of a world as those of a MuJoCo model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.engines.mujoco.ties import STIFF, TIE_STEPS, tie_screw
from linkwork.engines.mujoco_library import mujoco
from linkwork.parts.joint import JOINT_TYPES
from linkwork.spatial.pose import Pose, Vec3
from linkwork.world import World

CODE = {name: kind.code for name, kind in JOINT_TYPES.items()}
HINGE, SLIDE = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE

#: Impedance of joints' stops. A motor of 3 N m presses a 50 g link into its stop by 0.02 degrees;
#: MuJoCo's own softness is made for limbs and lets it through by 20.
STOP = (0.999, 0.9999, 0.001, 0.5, 2.0)

#: Radius of gyration that a point mass gets, because MuJoCo has none [m].
SMALLEST_GYRATION = 1e-4


@dataclass
class Build:
    """A MuJoCo model in the making.

    Attributes:
        world: What it stands for.
        owned: Mask over bodies of those that the engine moves.
        felt: Mask over bodies of those that may touch them.
        prescribed: Degrees of freedom that follow their targets as infinite masses.
        driven: Degrees of freedom that have an actuator.
        heavy: Mass [kg] and inertia [kg m²] that stand for infinity.
        spec: The MjSpec.
        bodies: MuJoCo's body of each of ours.
        foreign: Bodies that others move.
        coordinates: Our first coordinate and degree of freedom of each MuJoCo joint, its name
            and how many coordinates it has.
        slides: Slide joints that stand for screws: our degree of freedom, name, m/rad.
        geoms: Name, body, element and restitution of each geom.
    """

    world: World
    owned: np.ndarray
    felt: np.ndarray
    prescribed: set[int]
    driven: set[int]
    heavy: float
    spec: Any = field(default_factory=mujoco.MjSpec)
    bodies: dict[int, Any] = field(default_factory=dict)
    foreign: list[int] = field(default_factory=list)
    coordinates: list[tuple[int, int, str, int]] = field(default_factory=list)
    slides: list[tuple[int, str, float]] = field(default_factory=list)
    geoms: list[tuple[str, int, int, float]] = field(default_factory=list)


def add_bodies(build: Build) -> None:
    """Adds every body: owned ones with joints, scenery, and what others move."""
    world = build.world
    touching = {s.body for s in world.shapes if s.shape.collide}
    for b in range(1, world.nb):
        if build.owned[b]:
            _add_owned(build, b)
        elif world.is_static(b):
            parent = build.bodies.get(int(world.parent[b]), build.spec.worldbody)
            build.bodies[b] = parent.add_body(
                name=body_name(world, b),
                pos=world.x0[b, :3].tolist(),
                quat=world.x0[b, 3:].tolist(),
            )
        elif build.felt[b] and b in touching:
            _add_foreign(build, b)


def body_name(world: World, b: int) -> str:
    """Name of a body in the MuJoCo model, where "world" is taken."""
    name = world.body_names[b]
    return f"{name}#" if name == "world" else name


def is_link(world: World, b: int) -> bool:
    """Whether a body is the massless link between two chained joints."""
    return bool(world.kind[b]) and world.mass[b] == 0.0 and not (world.element_body == b).any()


def is_point(world: World, b: int) -> bool:
    """Whether a body has mass but (nearly) no extent."""
    least = float(np.linalg.eigvalsh(world.inertia[b])[0])
    return world.mass[b] > 0.0 and least < world.mass[b] * SMALLEST_GYRATION**2


def _set_inertial(mj_body: Any, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
    """Gives a body its mass, made just physical enough for MuJoCo.

    Flat bodies lie on the edge of what is physical (a + b = c); rounding must not push them over.
    """
    a, b, c = np.linalg.eigvalsh(inertia)
    lift = max(c - a - b + 1e-13 * (1.0 + c), mass * SMALLEST_GYRATION**2 - a, 0.0)
    m = inertia + lift * np.eye(3)
    mj_body.mass = mass
    mj_body.ipos = com.tolist()
    mj_body.explicitinertial = True
    mj_body.fullinertia = [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]


def _add_owned(build: Build, b: int) -> None:
    """Adds an owned body; massless links hand their joint on to the body they carry."""
    world = build.world
    if is_link(world, b):
        return
    parent = int(world.parent[b])
    x0 = _at_zero(world, b)
    chain = [b]
    while is_link(world, parent):
        chain.append(parent)
        x0 = _at_zero(world, parent) @ x0
        parent = int(world.parent[parent])
    carrier = build.bodies.get(parent, build.spec.worldbody)
    free = world.kind[b] == CODE["free"]
    mj_body = carrier.add_body(
        name=body_name(world, b),
        pos=[0, 0, 0] if free else list(x0.xyz),
        quat=[1, 0, 0, 0] if free else list(x0.quat),
    )
    build.bodies[b] = mj_body
    _set_inertial(mj_body, world.mass[b], world.com[b], world.inertia[b])
    here = Pose()  # pose of each chained link's frame, seen from this body at value 0
    joints = []
    for link in chain:
        joints.append((link, here))
        here = here @ _at_zero(world, link).inverse()
    for link, frame in reversed(joints):
        _add_joint(build, mj_body, link, frame)


def _at_zero(world: World, b: int) -> Pose:
    return Pose.of(world.x0[b, :3], quat=world.x0[b, 3:])


def _add_joint(build: Build, mj_body: Any, b: int, frame: Pose) -> None:
    """Adds the joint of body ``b`` to ``mj_body``, in whose frame ``b`` stands at ``frame``."""
    world = build.world
    kind, number = int(world.kind[b]), int(np.flatnonzero(world.joint_body == b)[0])
    name = world.joint_names[number]
    pos = list(frame.apply(world.pivot[b]))
    q, v = int(world.qadr[b]), int(world.vadr[b])
    if kind == CODE["free"]:
        joint = mj_body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_FREE)
        _set_laws(build, joint, v)
        build.coordinates.append((q, v, name, 7))
        return
    if kind == CODE["ball"]:
        limits = world.joints[number].ranges[0]
        joint = mj_body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_BALL, pos=pos)
        if limits is not None:
            joint.range = [0.0, limits[1]]
        _set_laws(build, joint, v)
        build.coordinates.append((q, v, name, 4))
        return
    for k, (kind_of, axis) in enumerate(_primitives(world, b, frame)):
        primitive = name if k == 0 else f"{name}#{k}"
        joint = mj_body.add_joint(name=primitive, type=kind_of, pos=pos, axis=list(axis))
        lo, hi = float(world.dof_lo[v + k]), float(world.dof_hi[v + k])
        if (math.isfinite(lo) or math.isfinite(hi)) and v + k not in build.prescribed:
            joint.range = [max(lo, -1e6), min(max(hi, lo + 1e-9), 1e6)]
        _set_laws(build, joint, v + k)
        build.coordinates.append((q + k, v + k, primitive, 1))
    if kind == CODE["screw"]:
        slide, pitch = f"{name}#slide", float(world.pitch[b])
        mj_body.add_joint(name=slide, type=SLIDE, pos=pos, axis=list(frame.rotate(world.axis[b])))
        tie_screw(build.spec, name, slide, pitch)
        build.slides.append((v, slide, pitch))


def _primitives(world: World, b: int, frame: Pose) -> list[tuple[Any, Vec3]]:
    """The hinges and slides that make up a joint, in MuJoCo's order."""
    kind = int(world.kind[b])
    axis, second = frame.rotate(world.axis[b]), frame.rotate(world.axis2[b])
    if kind in (CODE["hinge"], CODE["screw"]):
        return [(HINGE, axis)]
    if kind == CODE["slider"]:
        return [(SLIDE, axis)]
    if kind == CODE["rail"]:
        return [(SLIDE, second)]
    if kind == CODE["universal"]:
        return [(HINGE, axis), (HINGE, second)]
    if kind == CODE["cylindrical"]:
        return [(SLIDE, axis), (HINGE, axis)]
    across = frame.rotate(np.cross(world.axis[b], world.axis2[b]))
    return [(SLIDE, second), (SLIDE, across), (HINGE, axis)]


def _set_laws(build: Build, joint: Any, v: int) -> None:
    world = build.world
    joint.damping[0] = world.damping[v]
    joint.frictionloss = world.friction[v]
    joint.solref_friction = [TIE_STEPS * world.scene.step, 1.0]
    joint.solimp_friction = list(STIFF)
    joint.solref_limit = [2.0 * world.scene.step, 1.0]
    joint.solimp_limit = list(STOP)
    joint.stiffness[0] = world.stiffness[v]
    # the spring of a driven joint is written anew each step, with its actuator's
    joint.springref = 0.0 if v in build.driven else world.rest[v]
    joint.armature = build.heavy if v in build.prescribed else world.armature[v]


def _add_foreign(build: Build, b: int) -> None:
    """A body that others move: an infinite mass with pose and velocity, without weight."""
    name = body_name(build.world, b)
    mj_body = build.spec.worldbody.add_body(name=name, gravcomp=1.0)
    mj_body.add_joint(name=f"{name}#foreign", type=mujoco.mjtJoint.mjJNT_FREE)
    _set_inertial(mj_body, build.heavy, np.zeros(3), np.eye(3) * build.heavy)
    build.bodies[b] = mj_body
    build.foreign.append(b)
