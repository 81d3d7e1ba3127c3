"""Describe: the description of a running world for browsers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from linkwork.components.agents.program import Program
from linkwork.components.sensors.camera import Camera
from linkwork.components.sensors.range_sensors import MAX_SIGNALS, Beam, Lidar, Ray
from linkwork.core.errors import Origin, SessionError
from linkwork.core.signals import Signal
from linkwork.geometry.pose import Pose
from linkwork.kinematics.kernels import forward_poses
from linkwork.model.parts import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Terrain,
)
from linkwork.model.world import World
from linkwork.model.world.undriven import undriven_joints
from linkwork.model.world.world import TYPE_NAMES
from linkwork.project.trust import ProgramCode, program_code
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.bus_monitor import describe_buses
from linkwork.studio.host.mesh_store import MeshStore

#: Inputs of drives, by drive type.
_DRIVES = {"servo": "target", "motor": "target_speed", "effort": "target_effort"}
#: Number of points with which a rail is drawn.
RAIL_POINTS = 65


def describe(
    session: Session, meshes: MeshStore, undo: m.UndoState, *, editable: bool,
    replay: m.ReplayView | None = None, base: int = 0, opened: int = 0,
    untrusted: list[ProgramCode] | None = None,
) -> m.SceneMessage:  # fmt: skip
    """Describes the running scene.

    Args:
        session: The session.
        meshes: Stores the meshes that the description names.
        undo: The undo state.
        editable: Whether attributes can be edited in a file.
        replay: The recording that contains this world, or None.
        base: Offset of the scene versions that browsers see.
        opened: Serial number, different for each opened scene or recording.
        untrusted: Programs that nobody has trusted; those that the session withholds if None.
    """
    cycle, world = session.cycle, session.world
    scene = world.scene
    return m.SceneMessage(
        version=base + session.version,
        name=scene.name,
        title=scene.title,
        file=scene.origin.file,
        step=scene.step,
        gravity=[float(c) for c in scene.gravity],
        engines=[engine.type for engine in cycle.engines],
        dirty=undo.dirty,
        can_undo=undo.can_undo,
        can_redo=undo.can_redo,
        editable=editable,
        bodies=_bodies(world),
        elements=_elements(world, meshes),
        joints=[_joint(cycle, number) for number in range(len(world.joints))],
        anchors=_anchors(world),
        loops=[
            m.LoopView(name, int(a), int(b), TYPE_NAMES[int(kind)])
            for name, (a, b), kind in zip(
                world.loop_names, world.loop_body, world.loop_kind, strict=True
            )
        ],
        sensors=_sensors(cycle),
        agents=[
            m.AgentView(spec.name, spec.type, str(spec.params.get("file", "")))
            for spec in world.agents
        ],
        signals=[_signal(signal) for signal in cycle.signals],
        viewpoints=[
            m.ViewpointView(v.name, list(v.xyz), list(v.look_at), v.opening)
            for v in scene.viewpoints
        ],
        lights=[
            m.LightView(
                x.name, x.kind, list(x.xyz), list(x.look_at), x.color, x.strength, x.shadows
            )
            for x in scene.lights
        ],
        background=scene.background,
        postures=list(world.postures),
        findings=[
            m.FindingView(f.level, f.about, f.text, _where(f.origin))  # type: ignore[arg-type]
            for f in cycle.findings
        ],
        replay=replay,
        buses=describe_buses(cycle),
        opened=opened,
        mode=scene.mode,
        untrusted=[
            view_of(code, replaces=replay is None and code.agent not in session.withheld)
            for code in (withheld_programs(session) if untrusted is None else untrusted)
        ],
        undriven=_undriven_imports(cycle) if replay is None else [],
    )


def _undriven_imports(cycle: Cycle) -> list[str]:
    """Joints of imported robots that a servo could move, and that move freely.

    A part in TOML may mean its joints to be passive; other formats often have no drives.
    """
    world = cycle.world
    scene = world.scene
    prescribed = {dof for engine in cycle.engines for dof in engine.prescribed}
    found: list[str] = []
    for scope, joints in undriven_joints(scene).items():
        file = scene.parts[scope].part.origin.file
        if file and not file.endswith(".toml"):
            names = [f"{scope}/{joint}" for joint in joints]
            found += [name for name in names if not prescribed & {*world.dofs(name)}]
    return found


def withheld_programs(session: Session) -> list[ProgramCode]:
    """The programs of a session that do not run, because nobody has trusted them."""
    return [
        program_code(agent.owner, agent.path, agent.source)
        for agent in session.cycle.agents
        if isinstance(agent, Program) and agent.owner in session.withheld
    ]


def shown_programs(codes: list[ProgramCode], keys: list[str]) -> list[ProgramCode]:
    """The programs that a driver was shown, out of those that do not run.

    Raises:
        SessionError: If one of them has changed since.
    """
    present = {code.key: code for code in codes}
    if not keys or not present.keys() >= set(keys):
        raise SessionError(
            "the programs, or the files beside them, have changed since they were shown.",
            hint="Look at them again.",
        )
    return [present[key] for key in dict.fromkeys(keys)]


def view_of(code: ProgramCode, *, replaces: bool = False) -> m.UntrustedProgram:
    """An untrusted program as browsers show it; one may replace a trusted one that runs."""
    folder = str(Path(code.file).resolve().parent) if code.file else ""
    modules = [Path(name).name for name, _ in code.modules or ()]
    return m.UntrustedProgram(code.key, code.agent, code.file, code.text, folder, modules, replaces)


def _where(origin: Origin) -> str:
    return str(origin) if origin.file else ""


def _limit(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _numbers(values: np.ndarray) -> list[float]:
    return [float(v) for v in values]


def _bodies(world: World) -> list[m.Body]:
    made = []
    for b in range(world.nb):
        i = world.inertia[b]
        six = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
        made.append(
            m.Body(
                world.body_names[b], world.body_part[b], world.is_static(b),
                float(world.mass[b]), _numbers(world.com[b]), [float(v) for v in six],
            )
        )  # fmt: skip
    return made


def _label(name: str, labels: dict[str, str]) -> str:
    return labels.get("en") or next(iter(labels.values()), "") or name.rpartition("/")[2]


def _part_of(name: str) -> str:
    return name.rpartition("/")[0]


def _elements(world: World, meshes: MeshStore) -> list[m.ElementView]:
    shapes: dict[int, list[m.ShapeView]] = {}
    for piece in world.shapes:
        shape = piece.shape
        mesh = meshes.add(shape) if isinstance(shape, Mesh | Ellipsoid | Terrain) else None
        view = m.ShapeView(
            "mesh" if mesh else shape.kind,  # type: ignore[arg-type]
            _size(shape), _numbers(piece.pose.array()), shape.color or piece.color,
            shape.visible, shape.collide, mesh, meshes.add_image(shape.texture),
            shape.texture_repeat,
        )  # fmt: skip
        shapes.setdefault(piece.element, []).append(view)
    return [
        m.ElementView(
            name, name.rpartition("/")[2], _part_of(name), int(world.element_body[n]),
            _numbers(world.element_pose[n]), _where(world.element_origins[n]), shapes.get(n, []),
        )
        for n, name in enumerate(world.element_names)
    ]  # fmt: skip


def _size(shape: Shape) -> list[float]:
    match shape:
        case Box() | Plane():
            return [float(c) for c in shape.size]
        case Cone():
            return [shape.radius, shape.length, shape.top_radius]
        case Cylinder() | Capsule():
            return [shape.radius, shape.length]
        case Sphere():
            return [shape.radius]
    return []


def _joint(cycle: Cycle, number: int) -> m.JointView:
    world = cycle.world
    joint, name, body = world.joints[number], world.joint_names[number], int(
        world.joint_body[number]
    )  # fmt: skip
    first = int(world.vadr[body])
    input_fields = {field for a in cycle.actuators for n, d in enumerate(a.dofs)
            if int(world.dof_body[d]) == body for field in a.inputs_of(n)}  # fmt: skip
    drive = next((word for word, field in _DRIVES.items() if field in input_fields), "none")
    if drive == "none" and any(
        int(world.dof_body[d]) == body for engine in cycle.engines for d in engine.prescribed
    ):
        drive = "kinematic"
    return m.JointView(
        name, _label(name, joint.labels), _part_of(name), joint.type, body,
        int(world.parent[body]), _numbers(world.x0[body]), _numbers(world.pivot[body]),
        _numbers(world.axis[body]), _numbers(world.axis2[body]), float(world.pitch[body]),
        _where(joint.origin), drive,  # type: ignore[arg-type]
        [_dof(cycle, name, joint.kind.nv == 1, dof, first + k)
         for k, dof in enumerate(joint.kind.dofs)],
        _path(world, body) if joint.type == "rail" else [],
    )  # fmt: skip


def _path(world: World, body: int) -> list[float]:
    """Path of a body's pivot along its rail, in the frame of its parent [m]."""
    dof, parent = int(world.vadr[body]), int(world.parent[body])
    length = sum(piece.length for piece in world.joints[_joint_of(world, body)].rail)
    lo, hi = (float(a[dof]) for a in (world.dof_lo, world.dof_hi))
    ends = lo if math.isfinite(lo) else 0.0, hi if math.isfinite(hi) else length
    q, pose = world.q0.copy(), np.zeros((world.nb, 7))
    found: list[float] = []
    for value in np.linspace(*ends, RAIL_POINTS):
        q[int(world.qadr[body])] = value
        forward_poses(*world.tree, q, pose)
        at = Pose.of(pose[parent, :3], quat=pose[parent, 3:]).inverse() @ Pose.of(
            pose[body, :3], quat=pose[body, 3:]
        )
        found.extend(at.apply(tuple(world.pivot[body])))
    return found


def _joint_of(world: World, body: int) -> int:
    return int(np.flatnonzero(world.joint_body == body)[0])


def _dof(cycle: Cycle, joint: str, single: bool, dof: str, row: int) -> m.Dof:
    world, signals = cycle.world, cycle.signals
    prefix = f"{joint}." if single else f"{joint}.{dof}_"

    def known(name: str) -> str | None:
        return name if name in signals else None

    return m.Dof(
        dof, "rad" if world.dof_is_angle(row) else "m",
        _limit(world.dof_lo[row]), _limit(world.dof_hi[row]),
        f"{joint}.{dof}", known(f"{world.dof_name(row)}.target"),
        known(f"{prefix}speed"), known(f"{prefix}effort"),
    )  # fmt: skip


def _anchors(world: World) -> list[m.AnchorView]:
    made = []
    for name, (body, pose) in world.anchors.items():
        anchor = _anchor_of(world, name)
        on = f"{_part_of(name)}/{anchor[0]}" if anchor[0] else ""
        made.append(m.AnchorView(name, on, body, _array(pose), anchor[1]))
    return made


def _anchor_of(world: World, name: str) -> tuple[str, str]:
    """The element that carries an anchor, and the anchor's tag."""
    scope, _, rest = name.partition("/")
    placement = world.scene.parts.get(scope)
    if placement is None:
        return "", ""
    anchor = placement.part.find_anchor(rest)
    return anchor.on, anchor.fits


def _array(pose: Pose) -> list[float]:
    return _numbers(pose.array())


def _sensors(cycle: Cycle) -> list[m.SensorView]:
    rays = {
        beam.name: beam for block in cycle.sensors if isinstance(block, Ray)
        for beam in block.beams()
    }  # fmt: skip
    return [
        m.SensorView(
            spec.name, spec.type, str(spec.params.get("on", spec.params.get("joint", ""))),
            [s.name for s in cycle.signals if s.name.rpartition(".")[0] == spec.name],
            _ray(rays.get(spec.name)), _fan(cycle, spec.name), _camera(cycle, spec.name),
        )
        for spec in cycle.world.sensors
    ]  # fmt: skip


def _ray(beam: Beam | None) -> m.RayView | None:
    if beam is None:
        return None
    return m.RayView(
        beam.body, list(beam.start), list(beam.direction), beam.range, f"{beam.name}.distance"
    )


def _fan(cycle: Cycle, name: str) -> m.FanView | None:
    block, number = cycle.sensor(name)
    if not isinstance(block, Lidar) or len(block.fans[number].angles) > MAX_SIGNALS:
        return None
    fan = block.fans[number]
    signals = [f"{name}.r{k}" for k in range(len(fan.angles))]
    return m.FanView(fan.body, _array(fan.frame), _numbers(fan.angles), fan.range, signals)


def _camera(cycle: Cycle, name: str) -> m.CameraView | None:
    block, number = cycle.sensor(name)
    if not isinstance(block, Camera):
        return None
    lens, (body, frame) = block.lens(number), block.frames[number]
    return m.CameraView(body, _array(frame), lens.opening, lens.width / lens.height, lens.far)


def _signal(signal: Signal) -> m.SignalView:
    return m.SignalView(
        signal.name, signal.unit, _limit(signal.lo), _limit(signal.hi),
        signal.direction,  # type: ignore[arg-type]
    )  # fmt: skip
