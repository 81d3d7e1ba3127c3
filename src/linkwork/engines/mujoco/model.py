"""World to MjSpec: which MuJoCo model stands for the bodies an engine owns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from linkwork.engines.mujoco_geoms import add_shape
from linkwork.parts.joint import JOINT_TYPES
from linkwork.spatial.pose import Pose, Vec3
from linkwork.world import World

CODE = {name: kind.code for name, kind in JOINT_TYPES.items()}
HINGE, SLIDE = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE

#: Inertia of bodies and joints that others move, relative to the heaviest of our own.
PRESCRIBED_INERTIA = 1e6


@dataclass
class Model:
    """A compiled MuJoCo model and how its numbers map to ours.

    Attributes:
        mj: The MjModel.
        q_from, q_to: Our coordinates and MuJoCo's.
        v_from, v_to: Our degrees of freedom and MuJoCo's.
        foreign: Bodies that others move; ``foreign_q``, ``foreign_v`` their free joints.
        geom_body, geom_element: Our body and element of each geom.
        slides: Slide joints that stand for screws: (our dof, MuJoCo's q, MuJoCo's v, m/rad).
        body_to: MuJoCo's body of each of our owned bodies, −1 where merged.
        heavy: Mass [kg] and inertia [kg m²] that stand for infinity.
    """

    mj: Any
    q_from: np.ndarray
    q_to: np.ndarray
    v_from: np.ndarray
    v_to: np.ndarray
    foreign: np.ndarray
    foreign_q: np.ndarray
    foreign_v: np.ndarray
    geom_body: np.ndarray
    geom_element: np.ndarray
    slides: list[tuple[int, int, int, float]]
    body_to: np.ndarray
    heavy: float


@dataclass
class Options:
    """What the scene may say of the solver; see :class:`engine.MujocoParams`."""

    iterations: int = 100
    tolerance: float = 1e-10
    impratio: float = 10.0
    contact_time: float = 0.0
    loop_time: float = 0.0


@dataclass
class _Build:
    """Working memory of :func:`build_model`."""

    world: World
    owned: np.ndarray
    spec: Any = field(default_factory=mujoco.MjSpec)
    bodies: dict[int, Any] = field(default_factory=dict)
    frames: dict[int, Pose] = field(default_factory=dict)
    coordinates: list[tuple[int, int, str, int]] = field(default_factory=list)
    screws: list[tuple[int, str, float]] = field(default_factory=list)
    geoms: list[tuple[str, int, int]] = field(default_factory=list)


def build_model(
    world: World, owned: np.ndarray, prescribed: list[int], driven: list[int], options: Options
) -> Model:
    """Builds the MuJoCo model of the owned bodies, with all others as scenery or moving masses.

    Args:
        world: The world.
        owned: Mask over bodies.
        prescribed: Degrees of freedom that follow their targets as infinite masses.
        driven: Degrees of freedom that get an actuator, in this order.
        options: Solver options.
    """
    build = _Build(world, owned)
    _set_options(build, options)
    heavy = PRESCRIBED_INERTIA * max(1e-3, float(world.mass[owned].sum()))
    foreign = [b for b in range(1, world.nb) if not owned[b] and not world.is_static(b)]
    for b in range(1, world.nb):
        if owned[b]:
            _add_body(build, b, set(prescribed), heavy)
        elif world.is_static(b):
            parent = build.bodies.get(int(world.parent[b]), build.spec.worldbody)
            _add_static(build, b, parent)
        else:
            _add_foreign(build, b, heavy)
    _add_shapes(build, options)
    _add_exclusions(build)
    _add_loops(build, options)
    _add_couplings(build, options)
    for dof in driven:
        _add_drive(build, dof)
    mj = build.spec.compile()
    model = _map(build, mj, np.array(foreign, np.int64), heavy)
    _set_mean_inertia(mj, model, prescribed)
    return model


def _set_options(build: _Build, options: Options) -> None:
    spec, scene = build.spec, build.world.scene
    spec.compiler.autolimits = True
    spec.compiler.degree = False
    spec.compiler.fusestatic = False
    spec.compiler.balanceinertia = True
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.option.timestep = scene.step
    spec.option.gravity = list(scene.gravity)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = options.impratio
    spec.option.iterations = options.iterations
    spec.option.tolerance = options.tolerance
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)


def _set_inertial(mj_body: Any, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:  # noqa: ANN401
    mj_body.mass = mass
    mj_body.ipos = com.tolist()
    mj_body.explicitinertial = True
    m = inertia
    mj_body.fullinertia = [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]


def is_link(world: World, b: int) -> bool:
    """Whether a body is the massless link between two chained joints."""
    return bool(world.kind[b]) and world.mass[b] == 0.0 and not (world.element_body == b).any()


def _add_body(build: _Build, b: int, prescribed: set[int], heavy: float) -> None:
    """Adds an owned body; massless links hand their joint on to the body they carry."""
    world = build.world
    parent = int(world.parent[b])
    x0 = Pose.of(world.x0[b, :3], quat=world.x0[b, 3:])
    chain = [b]
    while is_link(world, parent):
        chain.append(parent)
        x0 = Pose.of(world.x0[parent, :3], quat=world.x0[parent, 3:]) @ x0
        parent = int(world.parent[parent])
    build.frames[b] = Pose()
    if is_link(world, b):
        return
    carrier = build.bodies.get(parent, build.spec.worldbody)
    free = world.kind[b] == CODE["free"]
    mj_body = carrier.add_body(
        name=world.body_names[b],
        pos=[0, 0, 0] if free else list(x0.xyz),
        quat=[1, 0, 0, 0] if free else list(x0.quat),
    )
    build.bodies[b] = mj_body
    _set_inertial(mj_body, world.mass[b], world.com[b], world.inertia[b])
    here = Pose()  # pose of each chained link's frame, seen from this body at value 0
    joints = []
    for link in chain:
        joints.append((link, here))
        step = Pose.of(world.x0[link, :3], quat=world.x0[link, 3:])
        here = here @ step.inverse()
    for link, frame in reversed(joints):
        _add_joints(build, mj_body, link, frame, prescribed, heavy)


def _add_joints(
    build: _Build, mj_body: Any, b: int, frame: Pose, prescribed: set[int], heavy: float  # noqa: ANN401
) -> None:
    """Adds the joint of body ``b`` to ``mj_body``, in whose frame ``b`` stands at ``frame``."""
    world = build.world
    kind = int(world.kind[b])
    name = world.joint_names[int(np.flatnonzero(world.joint_body == b)[0])]
    pos = list(frame.apply(world.pivot[b]))
    axis = frame.rotate(world.axis[b])
    q, v = int(world.qadr[b]), int(world.vadr[b])
    if kind == CODE["free"]:
        mj_body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_FREE)
        build.coordinates.append((q, v, name, 7))
        return
    if kind == CODE["ball"]:
        limits = world.joints[int(np.flatnonzero(world.joint_body == b)[0])].ranges[0]
        joint = mj_body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_BALL, pos=pos)
        if limits is not None:
            joint.range = [0.0, limits[1]]
        _set_laws(world, joint, v, prescribed, heavy)
        build.coordinates.append((q, v, name, 4))
        return
    for k, (kind_of, direction) in enumerate(_primitives(world, b, kind, frame, axis)):
        primitive = name if k == 0 else f"{name}#{k}"
        joint = mj_body.add_joint(name=primitive, type=kind_of, pos=pos, axis=list(direction))
        lo, hi = world.dof_lo[v + k], world.dof_hi[v + k]
        if math.isfinite(lo) or math.isfinite(hi):
            joint.range = [max(lo, -1e6), min(hi, 1e6)]
        _set_laws(world, joint, v + k, prescribed, heavy)
        build.coordinates.append((q + k, v + k, primitive, 1))
    if kind == CODE["screw"]:
        mj_body.add_joint(name=f"{name}#slide", type=SLIDE, pos=pos, axis=list(axis))
        equality = build.spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT, name1=f"{name}#slide", name2=name
        )
        equality.data[:5] = [0.0, world.pitch[b], 0.0, 0.0, 0.0]
        equality.solref = [2.0 * world.scene.step, 1.0]
        equality.solimp = list(STIFF)
        build.screws.append((v, f"{name}#slide", float(world.pitch[b])))


def _primitives(
    world: World, b: int, kind: int, frame: Pose, axis: Vec3
) -> list[tuple[Any, Vec3]]:
    """The hinges and slides that make up a joint, in MuJoCo's order."""
    if kind in (CODE["hinge"], CODE["screw"]):
        return [(HINGE, axis)]
    if kind == CODE["slider"]:
        return [(SLIDE, axis)]
    if kind == CODE["rail"]:
        return [(SLIDE, frame.rotate(world.axis2[b]))]
    if kind == CODE["universal"]:
        return [(HINGE, axis), (HINGE, frame.rotate(world.axis2[b]))]
    if kind == CODE["cylindrical"]:
        return [(SLIDE, axis), (HINGE, axis)]
    return [
        (SLIDE, frame.rotate(world.axis2[b])),
        (SLIDE, frame.rotate(np.cross(world.axis[b], world.axis2[b]))),
        (HINGE, axis),
    ]


def _set_laws(world: World, joint: Any, v: int, prescribed: set[int], heavy: float) -> None:  # noqa: ANN401
    joint.damping[0] = world.damping[v]
    joint.frictionloss = world.friction[v]
    joint.stiffness[0] = world.stiffness[v]
    joint.springref = world.rest[v]
    joint.armature = heavy if v in prescribed else world.armature[v]


def _add_static(build: _Build, b: int, parent: Any) -> None:  # noqa: ANN401
    x0 = build.world.x0[b]
    build.bodies[b] = parent.add_body(
        name=build.world.body_names[b], pos=x0[:3].tolist(), quat=x0[3:].tolist()
    )


def _add_foreign(build: _Build, b: int, heavy: float) -> None:
    """A body that others move: an infinite mass with pose and velocity, without weight."""
    name = build.world.body_names[b]
    mj_body = build.spec.worldbody.add_body(name=name, gravcomp=1.0)
    mj_body.add_joint(name=f"{name}#foreign", type=mujoco.mjtJoint.mjJNT_FREE)
    _set_inertial(mj_body, heavy, np.zeros(3), np.eye(3) * heavy)
    build.bodies[b] = mj_body


#: Impedance of loops and couplings: as hard as it stays stable (measured on four-bar and ring).
STIFF = (0.99, 0.999, 0.001, 0.5, 2.0)


def restitution_damping(restitution: float) -> float:
    """Damping ratio of a contact spring that gives back the fraction ``restitution`` of speed."""
    if restitution <= 0.0:
        return 1.0
    log = math.log(min(restitution, 0.999))
    return -log / math.sqrt(math.pi**2 + log**2)


def _add_shapes(build: _Build, options: Options) -> None:
    world = build.world
    time = options.contact_time or max(0.02, 2.0 * world.scene.step)
    for number, piece in enumerate(world.shapes):
        if not piece.shape.collide or piece.body == 0 or piece.body not in build.bodies:
            continue
        name = f"{world.element_names[piece.element]}#{number}"
        moving = not world.is_static(piece.body)
        add_shape(
            build.spec, build.bodies[piece.body], piece, name, moving=moving,
            friction=[piece.friction, 0.005, 0.0001],
            solref=[time, restitution_damping(piece.restitution)],
            condim=3,
        )  # fmt: skip
        build.geoms.append((name, piece.body, piece.element))


def _add_exclusions(build: _Build) -> None:
    world, collide = build.world, build.world.scene.collide
    named = build.bodies
    pairs: set[tuple[int, int]] = set() if collide.joined else set(world.joined)
    for pair in collide.never:
        for a in bodies_called(world, pair[0]):
            pairs |= {(min(a, b), max(a, b)) for b in bodies_called(world, pair[1]) if a != b}
    for pair in collide.always:
        for a in bodies_called(world, pair[0]):
            pairs -= {(min(a, b), max(a, b)) for b in bodies_called(world, pair[1])}
    for a, b in sorted(pairs):
        if a in named and b in named:
            build.spec.add_exclude(bodyname1=world.body_names[a], bodyname2=world.body_names[b])


def bodies_called(world: World, name: str) -> list[int]:
    """Bodies of an element, a placed part or a collision group."""
    grouped = {s.body for s in world.shapes if s.group == name}
    if grouped:
        return sorted(grouped)
    placed = [b for b, part in enumerate(world.body_part) if part == name]
    return placed or [world.body(name, origin=world.scene.collide.origin)]


def _add_loops(build: _Build, options: Options) -> None:
    world = build.world
    time = options.loop_time or 2.0 * world.scene.step
    for n, name in enumerate(world.loop_names):
        kind = int(world.loop_kind[n])
        if not build.owned[world.loop_body[n]].any():
            continue
        offsets = [0.0]
        if kind == CODE["hinge"]:
            offsets = [-_loop_arm(world, n), _loop_arm(world, n)]
        for k, offset in enumerate(offsets):
            sites = [_loop_site(build, n, end, k, offset) for end in (0, 1)]
            kind_of = mujoco.mjtEq.mjEQ_WELD if kind == CODE["fixed"] else mujoco.mjtEq.mjEQ_CONNECT
            equality = build.spec.add_equality(
                name=f"{name}#{k}", type=kind_of, objtype=mujoco.mjtObj.mjOBJ_SITE,
                name1=sites[0], name2=sites[1],
            )  # fmt: skip
            equality.solref = [time, 1.0]
            equality.solimp = list(STIFF)


def _loop_arm(world: World, n: int) -> float:
    """How far apart the two points of a hinge's axis are put [m]."""
    reach = [np.linalg.norm(world.loop_pose[n, end, :3]) for end in (0, 1)]
    return 0.5 * max(0.01, float(max(reach)))


def _loop_site(build: _Build, n: int, end: int, k: int, offset: float) -> str:
    world = build.world
    pose = Pose.of(world.loop_pose[n, end, :3], quat=world.loop_pose[n, end, 3:])
    axis = world.loop_axis[n]
    pose = pose @ Pose((offset * axis[0], offset * axis[1], offset * axis[2]))
    name = f"{world.loop_names[n]}#{k}{'ab'[end]}"
    body = build.bodies[int(world.loop_body[n, end])]
    body.add_site(name=name, pos=list(pose.xyz), quat=list(pose.quat))
    return name


def _add_couplings(build: _Build, options: Options) -> None:
    world = build.world
    names = {v: name for _, v, name, size in build.coordinates if size == 1}
    for (follows, leads), (ratio, offset) in zip(
        world.coupling_dof.tolist(), world.coupling_law.tolist(), strict=True
    ):
        if follows not in names or leads not in names:
            continue
        equality = build.spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT, name1=names[follows], name2=names[leads]
        )
        equality.data[:5] = [offset, ratio, 0.0, 0.0, 0.0]
        equality.solref = [options.loop_time or 2.0 * world.scene.step, 1.0]
        equality.solimp = list(STIFF)


def _add_drive(build: _Build, dof: int) -> None:
    name = next(n for _, v, n, size in build.coordinates if v == dof and size == 1)
    build.spec.add_actuator(
        name=f"{name}#drive", target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED, biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        forcelimited=1, forcerange=[-1.0, 1.0],
    )  # fmt: skip


def _map(build: _Build, mj: Any, foreign: np.ndarray, heavy: float) -> Model:  # noqa: ANN401
    world = build.world
    q_from, q_to, v_from, v_to = [], [], [], []
    for q, v, name, size in build.coordinates:
        joint = mj.joint(name)
        dofs = {7: 6, 4: 3, 1: 1}[size]
        q_from += range(q, q + size)
        q_to += range(int(joint.qposadr[0]), int(joint.qposadr[0]) + size)
        v_from += range(v, v + dofs)
        v_to += range(int(joint.dofadr[0]), int(joint.dofadr[0]) + dofs)
    frees = [mj.joint(f"{world.body_names[b]}#foreign") for b in foreign]
    geom_body, geom_element = np.zeros(mj.ngeom, np.int64), np.zeros(mj.ngeom, np.int64)
    for name, body, element in build.geoms:
        number = mj.geom(name).id
        geom_body[number], geom_element[number] = body, element
    body_to = np.full(world.nb, -1, np.int64)
    for b, mj_body in build.bodies.items():
        body_to[b] = mj_body.id
    slides = []
    for dof, name, pitch in build.screws:
        joint = mj.joint(name)
        slides.append((dof, int(joint.qposadr[0]), int(joint.dofadr[0]), pitch))
    return Model(
        mj,
        np.array(q_from, np.int64), np.array(q_to, np.int64),
        np.array(v_from, np.int64), np.array(v_to, np.int64),
        foreign,
        np.array([int(j.qposadr[0]) for j in frees], np.int64),
        np.array([int(j.dofadr[0]) for j in frees], np.int64),
        geom_body, geom_element, slides, body_to, heavy,
    )  # fmt: skip


def _set_mean_inertia(mj: Any, model: Model, prescribed: list[int]) -> None:  # noqa: ANN401
    """MuJoCo scales its solver's tolerance by the mean inertia: infinite masses must not count."""
    heavy = {int(t) for f, t in zip(model.v_from, model.v_to, strict=True) if f in set(prescribed)}
    for v in model.foreign_v:
        heavy |= set(range(int(v), int(v) + 6))
    if not heavy or len(heavy) >= mj.nv:
        return
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    full = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, full)
    light = [i for i in range(mj.nv) if i not in heavy]
    mj.stat.meaninertia = float(np.mean(np.diag(full)[light]))
