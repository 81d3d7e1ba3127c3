"""Bodies and joints of a MuJoCo model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.core.errors import Origin
from linkwork.core.mujoco_library import MIN_GYRATION_RADIUS, mujoco
from linkwork.engines.common.geoms import MeshAssets
from linkwork.engines.mujoco.equality import MIN_TIME_STEPS, STIFF, couple_screw
from linkwork.engines.mujoco.restitution import IMPEDANCE, contact_for_restitution
from linkwork.geometry.pose import Pose, Vec3, quat_from_axis
from linkwork.model.parts.joint import JOINT_TYPES
from linkwork.model.world import World

CODE = {name: kind.code for name, kind in JOINT_TYPES.items()}
HINGE, SLIDE = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE

#: Impedance of joint limits. A motor of 3 N m presses a 50 g link into its limit by 0.02 degrees;
#: with MuJoCo's default, made for limbs, by 20.
LIMIT_IMPEDANCE = (0.999, 0.9999, 0.001, 0.5, 2.0)


@dataclass
class ModelBuilder:
    """A MuJoCo model being built.

    Attributes:
        world: The world.
        owned: Mask over bodies of the engine.
        collidable: Mask over bodies that may collide with them.
        prescribed: Degrees of freedom that follow their targets as infinite masses.
        driven: Degrees of freedom that have an actuator.
        heavy: Mass [kg] and inertia [kg m²] of infinite masses.
        native: Whether softness is MuJoCo's own by default.
        integrator: Time integrator.
        wanted: Names of shapes that are required although they do not collide.
        named: Geom of each named shape, by the scoped name.
        spec: The MjSpec.
        bodies: MuJoCo's body of each of ours.
        element_bodies: MuJoCo's body of an element that is fixed to one of ours, if it has its own.
        starts: Value of a degree of freedom in the model's own posture.
        foreign: Bodies of other engines.
        coordinates: Our first coordinate and degree of freedom of each MuJoCo joint, its name and
            its number of coordinates.
        slides: Slide joints of screws: our degree of freedom, name, m/rad.
        geoms: Name, body, element and restitution of each geom.
        meshes: Mesh assets of a native model.
    """

    world: World
    owned: np.ndarray
    collidable: np.ndarray
    prescribed: set[int]
    driven: set[int]
    heavy: float
    native: bool = False
    integrator: str = "discrete"
    wanted: set[str] = field(default_factory=set)
    named: dict[str, str] = field(default_factory=dict)
    spec: Any = field(default_factory=mujoco.MjSpec)
    bodies: dict[int, Any] = field(default_factory=dict)
    element_bodies: dict[int, Any] = field(default_factory=dict)
    starts: dict[int, float] = field(default_factory=dict)
    foreign: list[int] = field(default_factory=list)
    coordinates: list[tuple[int, int, str, int]] = field(default_factory=list)
    slides: list[tuple[int, str, float]] = field(default_factory=list)
    geoms: list[tuple[str, int, int, float]] = field(default_factory=list)
    meshes: MeshAssets = field(default_factory=MeshAssets)


def add_bodies(build: ModelBuilder) -> None:
    """Adds every body: owned ones with joints, scenery, and foreign ones."""
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
            if build.native:
                _add_element_bodies(build, build.bodies[b], b)
        elif build.collidable[b] and b in touching:
            _add_foreign(build, b)


def body_name(world: World, b: int) -> str:
    """Returns the name of a body in the MuJoCo model, where "world" is reserved."""
    name = world.body_names[b]
    return f"{name}#" if name == "world" else name


def carrying_body(build: ModelBuilder, name: str, origin: Origin) -> tuple[Any, Pose]:
    """Returns MuJoCo's body that carries an element or anchor, and its pose in that body."""
    world = build.world
    body, pose = world.frame(name, origin=origin)
    element = world.element_of(name)
    if element in build.element_bodies:
        row = world.element_pose[element]
        return build.element_bodies[element], Pose.of(row[:3], quat=row[3:]).inverse() @ pose
    return build.bodies.get(body, build.spec.worldbody), pose


def is_link(world: World, b: int) -> bool:
    """Returns whether a body is the massless link between two chained joints."""
    return bool(world.kind[b]) and world.mass[b] == 0.0 and not (world.element_body == b).any()


def is_point(world: World, b: int) -> bool:
    """Returns whether a body has mass but (nearly) no inertia."""
    least = float(np.linalg.eigvalsh(world.inertia[b])[0])
    return world.mass[b] > 0.0 and least < world.mass[b] * MIN_GYRATION_RADIUS**2


def _set_inertial(mj_body: Any, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
    """Sets the mass of a body, made physically valid for MuJoCo.

    Flat bodies are on the edge of validity (a + b = c), which rounding must not cross.
    """
    a, b, c = np.linalg.eigvalsh(inertia)
    increase = max(c - a - b + 1e-13 * (1.0 + c), mass * MIN_GYRATION_RADIUS**2 - a, 0.0)
    m = inertia + increase * np.eye(3)
    mj_body.mass = mass
    mj_body.ipos = com.tolist()
    mj_body.explicitinertial = True
    mj_body.fullinertia = [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]


def _set_own_inertial(
    mj_body: Any,
    mass: float,
    com: np.ndarray,
    inertia: np.ndarray,
    given: tuple[float, ...] | None,
) -> None:
    """Sets the mass of a body unchanged, by the given or MuJoCo's choice of its principal axes."""
    moments, axes, quat = np.zeros(3), np.zeros(9), np.zeros(4)
    if given is None:
        mujoco.mju_eig3(moments, axes, quat, np.ascontiguousarray(inertia).ravel())
    else:
        quat[:] = given
        mujoco.mju_quat2Mat(axes, quat)
        turn = axes.reshape(3, 3)
        moments[:] = np.diag(turn.T @ inertia @ turn)
    most = int(moments.argmax())
    moments[most] = min(moments[most], moments.sum() - moments[most])  # a ≤ b + c, if rounded
    mj_body.mass = mass
    mj_body.ipos = com.tolist()
    mj_body.explicitinertial = True
    mj_body.iquat = quat
    mj_body.inertia = moments.tolist()


def _set_native_attributes(mj_body: Any, elements: list[dict[str, Any]]) -> None:
    """Sets MuJoCo attributes of a body, from the first of its elements that has them."""
    for words in elements:
        if "ipos" in words:
            mj_body.ipos = list(words["ipos"])
        if "gravcomp" in words:
            mj_body.gravcomp = words["gravcomp"]
            return


def _add_owned(build: ModelBuilder, b: int) -> None:
    """Adds an owned body; massless links pass their joint on to the body they carry."""
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
    if build.native and world.kind[b] == CODE["free"]:  # whose coordinates are absolute
        first = int(world.qadr[b])
        row = world.authored_q[first : first + 7]
        x0 = Pose.of(row[:3], quat=row[3:])
    absolute = world.kind[b] == CODE["free"] and not build.native
    mj_body = carrier.add_body(
        name=body_name(world, b),
        pos=[0, 0, 0] if absolute else list(x0.xyz),
        quat=[1, 0, 0, 0] if absolute else list(x0.quat),
    )
    build.bodies[b] = mj_body
    if build.native:
        _add_element_bodies(build, mj_body, b)
    else:
        _set_inertial(mj_body, world.mass[b], world.com[b], world.inertia[b])
        _set_native_attributes(mj_body, [world.element_words[n] for n in _elements(world, b)])
    here = Pose()  # pose of each chained link's frame relative to this body at value 0
    joints = []
    for link in chain:
        joints.append((link, here))
        here = here @ _at_start(build, link).inverse()
    for link, frame in reversed(joints):
        _add_joint(build, mj_body, link, frame)


def _at_start(build: ModelBuilder, b: int) -> Pose:
    """Returns the pose of a body in its parent: at joint value 0, or where a native model starts.

    MuJoCo weights its constraints by the inertia in the initial posture.
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


def _add_element_bodies(build: ModelBuilder, mj_body: Any, b: int) -> None:
    """Gives each element of a body a body of its own, fixed to the first, as MuJoCo does.

    Exclusions of contacts concern these.
    """
    world = build.world
    if not (elements := _elements(world, b)):
        return
    first, *others = elements
    build.element_bodies[first] = mj_body
    for number in others:
        row = world.element_pose[number]
        build.element_bodies[number] = mj_body.add_body(
            name=world.element_names[number], pos=row[:3].tolist(), quat=row[3:].tolist()
        )
    for number in (first, *others):
        own = world.element_inertia[number]
        words, mj_element = world.element_words[number], build.element_bodies[number]
        if build.owned[b]:
            _set_own_inertial(mj_element, own.mass, own.com, own.matrix, words.get("iquat"))
        _set_native_attributes(mj_element, [words])


def _add_joint(build: ModelBuilder, mj_body: Any, b: int, frame: Pose) -> None:
    """Adds the joint of body ``b`` to ``mj_body``, in whose frame ``b`` is at ``frame``."""
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
        couple_screw(build.spec, name, slide, pitch)
        build.slides.append((v, slide, pitch))


def _primitives(world: World, b: int, frame: Pose) -> list[tuple[Any, Vec3]]:
    """Returns the hinges and slides of a joint, in MuJoCo's order."""
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


def _set_laws(build: ModelBuilder, joint: Any, v: int, number: int) -> None:
    world = build.world
    joint.damping[0] = world.damping[v]
    joint.frictionloss = world.friction[v]
    if not build.native:
        joint.solref_friction = [MIN_TIME_STEPS * world.scene.step, 1.0]
        joint.solimp_friction = list(STIFF)
        joint.solref_limit = [2.0 * world.scene.step, 1.0]
        joint.solimp_limit = list(LIMIT_IMPEDANCE)
        if world.restitution[v] > 0.0:
            spring, damper, _ = contact_for_restitution(
                world.restitution[v], world.scene.step, build.integrator
            )
            joint.solref_limit = [-spring, -max(damper, 1e-9)]
            joint.solimp_limit = list(IMPEDANCE)
    if math.isfinite(world.dof_effort[v]):
        _limit_actuators(joint, -float(world.dof_effort[v]), float(world.dof_effort[v]))
    for word, value in world.joints[number].mujoco.items():
        if word in ("stiffness", "damping"):
            getattr(joint, word)[1:3] = value
        elif word == "gravity_by_drive":
            joint.actgravcomp = value
        elif word == "effort_range":
            _limit_actuators(joint, float(value[0]), float(value[1]))
        else:
            setattr(joint, word, list(value) if isinstance(value, tuple | list) else value)
    joint.stiffness[0] = world.stiffness[v]
    # the spring of a driven joint is written each step, together with its actuator's
    joint.springref = 0.0 if v in build.driven else world.rest[v]
    joint.armature = build.heavy if v in build.prescribed else world.armature[v]


def _limit_actuators(joint: Any, lowest: float, highest: float) -> None:
    """Limits the total effort of MuJoCo's actuators on a joint."""
    joint.actfrcrange = [lowest, highest]
    joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE


def _add_foreign(build: ModelBuilder, b: int) -> None:
    """Adds a body of another engine: an infinite mass with pose and velocity, without weight."""
    name = body_name(build.world, b)
    mj_body = build.spec.worldbody.add_body(name=name, gravcomp=1.0)
    mj_body.add_joint(name=f"{name}#foreign", type=mujoco.mjtJoint.mjJNT_FREE)
    _set_inertial(mj_body, build.heavy, np.zeros(3), np.eye(3) * build.heavy)
    build.bodies[b] = mj_body
    build.foreign.append(b)
