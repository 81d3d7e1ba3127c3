"""Bodies and joints of a world as those of a MuJoCo model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.engines.mujoco.rebound import IMPEDANCE, rebound
from linkwork.engines.mujoco.ties import STIFF, TIE_STEPS, tie_screw
from linkwork.mujoco_library import mujoco
from linkwork.parts.joint import JOINT_TYPES
from linkwork.spatial.pose import Pose, Vec3, quat_from_axis
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
        native: Whether softness is MuJoCo's own where no word says otherwise.
        wanted: Names of shapes that must be there although they touch nothing by themselves.
        named: Geom of each shape that has a name, by the part's and its own.
        spec: The MjSpec.
        bodies: MuJoCo's body of each of ours.
        pieces: MuJoCo's body of an element that is fixed to one of ours, where it has its own.
        starts: Value at which a degree of freedom stands in the model's own posture.
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
    native: bool = False
    wanted: set[str] = field(default_factory=set)
    named: dict[str, str] = field(default_factory=dict)
    spec: Any = field(default_factory=mujoco.MjSpec)
    bodies: dict[int, Any] = field(default_factory=dict)
    pieces: dict[int, Any] = field(default_factory=dict)
    starts: dict[int, float] = field(default_factory=dict)
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


def _set_own_inertial(mj_body: Any, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
    """Gives a body its mass as it is, by its principal axes."""
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    moments[2] = min(moments[2], moments[0] + moments[1])  # rounding must not break a + b ≥ c
    mj_body.mass = mass
    mj_body.ipos = com.tolist()
    mj_body.explicitinertial = True
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(axes).ravel())
    mj_body.iquat = quat
    mj_body.inertia = moments.tolist()


def _set_words(mj_body: Any, elements: list[dict[str, Any]]) -> None:
    """What only this engine understands of a body: the first of its elements that says it."""
    for words in elements:
        if "gravcomp" in words:
            mj_body.gravcomp = words["gravcomp"]
            return


def _add_owned(build: Build, b: int) -> None:
    """Adds an owned body; massless links hand their joint on to the body they carry."""
    world = build.world
    if is_link(world, b):
        return
    parent = int(world.parent[b])
    x0 = _at_start(build, b)
    chain = [b]
    while is_link(world, parent):
        chain.append(parent)
        x0 = _at_start(build, parent) @ x0
        parent = int(world.parent[parent])
    carrier = build.bodies.get(parent, build.spec.worldbody)
    free = world.kind[b] == CODE["free"]
    mj_body = carrier.add_body(
        name=body_name(world, b),
        pos=[0, 0, 0] if free else list(x0.xyz),
        quat=[1, 0, 0, 0] if free else list(x0.quat),
    )
    build.bodies[b] = mj_body
    if build.native:
        _add_pieces(build, mj_body, b)
    else:
        _set_inertial(mj_body, world.mass[b], world.com[b], world.inertia[b])
        _set_words(mj_body, [world.element_words[n] for n in _elements(world, b)])
    here = Pose()  # pose of each chained link's frame, seen from this body at value 0
    joints = []
    for link in chain:
        joints.append((link, here))
        here = here @ _at_start(build, link).inverse()
    for link, frame in reversed(joints):
        _add_joint(build, mj_body, link, frame)


def _at_start(build: Build, b: int) -> Pose:
    """Pose of a body in its parent: at joint value 0, or where a model of MuJoCo's own starts.

    MuJoCo weighs its constraints by how heavy bodies are in the posture that it starts from.
    """
    world = build.world
    pose = Pose.of(world.x0[b, :3], quat=world.x0[b, 3:])
    kind = int(world.kind[b])
    if not build.native or kind not in (CODE["hinge"], CODE["slider"]):
        return pose
    joint = world.joints[int(np.flatnonzero(world.joint_body == b)[0])]
    value = build.starts[int(world.vadr[b])] = joint.values[0]
    x, y, z = (float(c) for c in world.axis[b])
    if kind == CODE["slider"]:
        return pose @ Pose((x * value, y * value, z * value))
    pivot = Pose.of(world.pivot[b])
    return pose @ pivot @ Pose(quat=quat_from_axis((x, y, z), value)) @ pivot.inverse()


def _elements(world: World, b: int) -> list[int]:
    return np.flatnonzero(world.element_body == b).tolist()


def _add_pieces(build: Build, mj_body: Any, b: int) -> None:
    """Gives each element of a body a body of its own, fixed to the first, as MuJoCo would."""
    world = build.world
    first, *others = _elements(world, b)
    build.pieces[first] = mj_body
    for number in others:
        row = world.element_pose[number]
        build.pieces[number] = mj_body.add_body(
            name=world.element_names[number], pos=row[:3].tolist(), quat=row[3:].tolist()
        )
    for number in (first, *others):
        own = world.element_inertia[number]
        _set_own_inertial(build.pieces[number], own.mass, own.com, own.matrix)
        _set_words(build.pieces[number], [world.element_words[number]])


def _add_joint(build: Build, mj_body: Any, b: int, frame: Pose) -> None:
    """Adds the joint of body ``b`` to ``mj_body``, in whose frame ``b`` stands at ``frame``."""
    world = build.world
    kind, number = int(world.kind[b]), int(np.flatnonzero(world.joint_body == b)[0])
    name = world.joint_names[number]
    pos = list(frame.apply(world.pivot[b]))
    q, v = int(world.qadr[b]), int(world.vadr[b])
    if kind == CODE["free"]:
        joint = mj_body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_FREE)
        _set_laws(build, joint, v, number)
        build.coordinates.append((q, v, name, 7))
        return
    if kind == CODE["ball"]:
        limits = world.joints[number].ranges[0]
        joint = mj_body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_BALL, pos=pos)
        if limits is not None:
            joint.range = [0.0, limits[1]]
        _set_laws(build, joint, v, number)
        build.coordinates.append((q, v, name, 4))
        return
    for k, (kind_of, axis) in enumerate(_primitives(world, b, frame)):
        primitive = name if k == 0 else f"{name}#{k}"
        joint = mj_body.add_joint(name=primitive, type=kind_of, pos=pos, axis=list(axis))
        joint.ref = build.starts.get(v + k, 0.0)
        lo, hi = float(world.dof_lo[v + k]), float(world.dof_hi[v + k])
        if (math.isfinite(lo) or math.isfinite(hi)) and v + k not in build.prescribed:
            joint.range = [max(lo, -1e6), min(max(hi, lo + 1e-9), 1e6)]
        _set_laws(build, joint, v + k, number)
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


def _set_laws(build: Build, joint: Any, v: int, number: int) -> None:
    world = build.world
    joint.damping[0] = world.damping[v]
    joint.frictionloss = world.friction[v]
    if not build.native:
        joint.solref_friction = [TIE_STEPS * world.scene.step, 1.0]
        joint.solimp_friction = list(STIFF)
        joint.solref_limit = [2.0 * world.scene.step, 1.0]
        joint.solimp_limit = list(STOP)
        if world.restitution[v] > 0.0:
            spring, damper, _ = rebound(world.restitution[v], world.scene.step)
            joint.solref_limit = [-spring, -max(damper, 1e-9)]
            joint.solimp_limit = list(IMPEDANCE)
    for word, value in world.joints[number].mujoco.items():
        if word in ("stiffness", "damping"):
            getattr(joint, word)[1:3] = value
        elif word == "gravity_by_drive":
            joint.actgravcomp = value
        elif word != "effort_range":  # which the drive keeps
            setattr(joint, word, list(value) if isinstance(value, tuple | list) else value)
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
