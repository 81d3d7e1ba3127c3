"""Packed tasks: names resolved to indices, poses in body frames, weights by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np

from linkwork.core.errors import LinkworkError, not_found
from linkwork.geometry.pose import Numbers, Pose, quat_between
from linkwork.kinematics import memory_layout_kernels as k
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.tasks import (
    AlignTask,
    CenterOfMassTask,
    CouplingTask,
    DistanceTask,
    LookAtTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Task,
)
from linkwork.model.world import World

_POSITION, _ORIENTATION, _GOAL_AXES = 1, 2, 4
_SIDES = {"exactly": 0, "at least": 1, "at most": -1}


@dataclass
class PackedTask:
    """One task in kernel form, see ``memory_layout_kernels``."""

    kind: int
    rows: int
    level: int = 0
    body: int = 0
    other: int = -1
    mask: int = 0
    side: int = 0
    params: np.ndarray = field(default_factory=lambda: np.zeros(k.TASK_REALS))
    table: np.ndarray | None = None
    bodies: list[int] = field(default_factory=list)
    title: str = ""
    whole: bool = False  # concerns the whole robot without naming joints
    named: set[int] = field(default_factory=set)  # degrees of freedom that it names


def weights_of(value: Any, task: Task, label: str = "weight") -> np.ndarray:
    """Returns three weights from one or three numbers."""
    made = np.broadcast_to(np.asarray(value, float), (3,)) if np.size(value) in (1, 3) else None
    if made is None or not (np.isfinite(made).all() and (made >= 0.0).all()):
        raise LinkworkError(
            f"task {task.title!r}: {label} must be one number or three, 0 or above, not {value!r}."
        )
    return made


def _start(task: Task, kind: int, rows: int) -> PackedTask:
    if not (0.0 <= task.gain <= 1.0 and task.lm_damping >= 0.0):
        raise LinkworkError(
            f"task {task.title!r}: gain must be within 0 and 1 and lm_damping 0 or above, not "
            f"{task.gain:g} and {task.lm_damping:g}."
        )
    if not (task.tolerance >= 0.0 and task.angle_tolerance >= 0.0):
        raise LinkworkError(
            f"task {task.title!r}: tolerance and angle_tolerance must be 0 or above, not "
            f"{task.tolerance:g} and {task.angle_tolerance:g}."
        )
    if not isinstance(task.priority, int | np.integer) or task.priority < 0:
        raise LinkworkError(
            f"task {task.title!r}: a priority is a whole number, 0 (first) or above, not "
            f"{task.priority!r}."
        )
    made = PackedTask(kind, rows, int(task.priority), title=task.title)
    made.params[k.GAIN], made.params[k.LM] = task.gain, task.lm_damping
    made.params[k.POSITION_TOLERANCE], made.params[k.ANGLE_TOLERANCE] = (
        task.tolerance,
        task.angle_tolerance,
    )
    return made


def _locate_frame(world: World, pose: np.ndarray, name: str) -> tuple[int, Pose, Pose]:
    """Returns the body of a frame, its pose in the body, and its pose in the world."""
    body, local = world.frame(name)
    here = Pose(tuple(pose[body, :3]), tuple(pose[body, 3:]))
    return body, local, here @ local


def _relative(world: World, made: PackedTask, pose: np.ndarray, name: str) -> Pose:
    """Sets the reference frame of a target; returns its pose in the world."""
    if not name:
        return Pose()
    made.other, local, here = _locate_frame(world, pose, name)
    made.params[k.LOCAL_OTHER : k.LOCAL_OTHER + 7] = local.array()
    return here


def pack_task(task: Task, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    """Packs a task for the kernels; ``pose`` and ``q`` provide omitted targets.

    Raises:
        LinkworkError: If it names missing things, or has numbers that are not finite.
    """
    made = _pack(task, world, pose, q)
    numbers = np.delete(
        made.params, [k.POSITION_TOLERANCE, k.ANGLE_TOLERANCE]
    )  # these may be infinite
    if not np.isfinite(numbers).all() or not (made.table is None or np.isfinite(made.table).all()):
        raise LinkworkError(
            f"task {task.title!r} must be made of finite numbers: target, points, values, weights."
        )
    return made


@singledispatch
def _pack(task: Task, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    known = sorted(each.__name__ for each in Task.__subclasses__())
    raise LinkworkError(
        f"{type(task).__name__} is not a task that can be solved.",
        hint=f"Those that can: {', '.join(known)}.",
    )


@_pack.register
def _(task: PoseTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    position = weights_of(task.position, task, "position")
    orientation = weights_of(task.orientation, task, "orientation")
    if task.error not in ("split", "twist"):
        raise not_found("error measure", task.error, ["split", "twist"])
    mask = _POSITION * bool(position.any()) + _ORIENTATION * bool(orientation.any())
    if mask == 0:
        raise LinkworkError(f"task {task.title!r} has no weight above 0.")
    even = len(set(position)) == 1 and len(set(orientation)) == 1
    twist = task.error == "twist"
    rows = 6 if twist else 3 * bool(mask & 1) + 3 * bool(mask & 2)
    made = _start(task, k.TWIST if twist else k.POSE, rows)
    made.mask = mask | (0 if even else _GOAL_AXES)
    body, local, _ = _locate_frame(world, pose, task.frame)
    local = local @ Pose.of(task.point)
    made.body = body
    made.params[:7] = local.array()
    root = _relative(world, made, pose, task.relative_to)
    here = Pose(tuple(pose[body, :3]), tuple(pose[body, 3:])) @ local
    if task.target is not None and not isinstance(task.target, Pose):
        raise LinkworkError(
            f"task {task.title!r}: the target must be a Pose, not {task.target!r}.",
            hint="Pose.of((x, y, z)) makes one; a PositionTask takes a position only.",
        )
    target = root.inverse() @ here if task.target is None else task.target
    made.params[k.TARGET : k.TARGET + 7] = target.array()
    made.params[k.WEIGHT : k.WEIGHT + 6] = np.concatenate([position, orientation])
    return made


@_pack.register
def _(task: PositionTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    target = None if task.target is None else Pose.of(task.target)
    same = PoseTask(
        task.frame, target, task.point, task.weight, 0.0, task.relative_to, **_common(task)
    )
    return _pack(same, world, pose, q)


@_pack.register
def _(task: OrientationTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    same = PoseTask(
        task.frame, task.target, position=0.0, orientation=task.weight,
        relative_to=task.relative_to, **_common(task),
    )  # fmt: skip
    return _pack(same, world, pose, q)


def _common(task: Task) -> dict[str, Any]:
    names = ("priority", "gain", "lm_damping", "tolerance", "angle_tolerance")
    return {name: getattr(task, name) for name in names} | {"name": task.title}


def _rotation_x_to(axis: Numbers) -> Pose:
    """Returns a rotation whose x axis is ``axis``."""
    return Pose((0.0, 0.0, 0.0), quat_between((1.0, 0.0, 0.0), axis))


@_pack.register
def _(task: AlignTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    made = _start(task, k.ALIGN, 3)
    made.body, local, _ = _locate_frame(world, pose, task.frame)
    made.params[:7] = (local @ _rotation_x_to(task.axis)).array()
    _relative(world, made, pose, task.relative_to)
    made.params[k.TARGET : k.TARGET + 7] = _rotation_x_to(task.direction).array()
    made.params[k.WEIGHT + 3 : k.WEIGHT + 6] = weights_of(float(task.weight), task)
    return made


@_pack.register
def _(task: LookAtTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    made = _start(task, k.LOOK, 3)
    made.body, local, _ = _locate_frame(world, pose, task.frame)
    made.params[:7] = (local @ _rotation_x_to(task.axis)).array()
    _relative(world, made, pose, task.at)
    made.params[k.TARGET : k.TARGET + 7] = Pose.of(task.target).array()
    made.params[k.WEIGHT + 3 : k.WEIGHT + 6] = weights_of(float(task.weight), task)
    return made


@_pack.register
def _(task: CenterOfMassTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    made = _start(task, k.CENTER_OF_MASS, 3)
    parts = sorted({part for part in world.body_part if part})
    if task.part and task.part not in parts:
        raise not_found("part", task.part, parts)
    counted = [
        b for b in range(1, world.nb)
        if (world.body_part[b] == task.part if task.part else not world.is_static(b))
    ]  # fmt: skip
    mass = np.zeros(world.nb)
    mass[counted] = world.mass[counted]
    if not mass.sum() > 0.0:
        raise LinkworkError(f"task {task.title!r}: nothing that moves has a mass.")
    made.table, made.whole = mass, not task.part
    carriers: set[int] = set()
    for b in counted:
        while b > 0:
            carriers.add(b)
            b = int(world.parent[b])
    made.bodies = sorted(carriers)
    made.params[k.WEIGHT : k.WEIGHT + 3] = weights_of(task.weight, task)
    here = center_of_mass(world, pose, mass)
    made.params[k.TARGET : k.TARGET + 3] = here if task.target is None else Pose.of(task.target).xyz
    return made


def center_of_mass(world: World, pose: np.ndarray, mass: np.ndarray | None = None) -> np.ndarray:
    """Returns the center of mass [m] of the bodies at ``pose``, with their or given masses."""
    weight = world.mass if mass is None else mass
    made = np.zeros(3)
    for b in np.flatnonzero(weight):
        here = Pose(tuple(pose[b, :3]), tuple(pose[b, 3:]))
        made += weight[b] * np.array(here.apply(world.com[b]))
    return made / weight.sum()


@_pack.register
def _(task: PostureTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    made = _start(task, k.POSTURE, 0)
    wanted, weight = q.copy(), np.zeros(world.nv)
    names = task.target if task.target is not None else {}
    for name, value in names.items():
        dof = world.single_dof(name)
        wanted[_coordinate(world, dof, name)] = value
        weight[dof] = task.weight
        made.named.add(dof)
    if not names:
        made.whole = True
        weight[:] = task.weight
        free = world.kind[world.dof_body] == FREE if world.nv else np.zeros(0, bool)
        weight[free] = 0.0
    for name, value in task.weights.items():
        weight[list(world.dofs(name))] = value
        made.named.update(world.dofs(name))
    if not (np.isfinite(weight).all() and (weight >= 0.0).all()):
        raise LinkworkError(f"task {task.title!r}: weights must be 0 or above.")
    made.table = np.concatenate([wanted, weight])
    made.params[k.WEIGHT] = task.weight
    return made


def _coordinate(world: World, dof: int, name: str) -> int:
    body = int(world.dof_body[dof])
    turn = dof - int(world.vadr[body])
    if world.kind[body] == BALL or (world.kind[body] == FREE and turn >= 3):
        raise LinkworkError(f"{name!r} has no value of its own: its joint turns freely.")
    return int(world.qadr[body]) + turn


@_pack.register
def _(task: CouplingTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    made = _start(task, k.COUPLING, 1)
    made.table = np.zeros(world.nv)
    for name, ratio in task.ratios.items():
        dof = world.single_dof(name)
        _coordinate(world, dof, name)
        made.table[dof] = ratio
        made.named.add(dof)
    if not made.table.any():
        raise LinkworkError(f"task {task.title!r} names no joint with a ratio.")
    made.params[k.SCALAR] = task.offset
    made.params[k.WEIGHT] = weights_of(float(task.weight), task)[0]
    return made


@_pack.register
def _(task: DistanceTask, world: World, pose: np.ndarray, q: np.ndarray) -> PackedTask:
    if task.keep not in _SIDES:
        raise not_found("way to keep a distance", task.keep, list(_SIDES))
    made = _start(task, k.DISTANCE, 1)
    made.body, local, _ = _locate_frame(world, pose, task.frame)
    made.params[:7] = (local @ Pose.of(task.point)).array()
    _relative(world, made, pose, task.other)
    made.params[k.TARGET : k.TARGET + 7] = Pose.of(task.other_point).array()
    if not task.distance >= 0.0:
        raise LinkworkError(
            f"task {task.title!r}: a distance is 0 m or above, not {task.distance:g}."
        )
    made.params[k.SCALAR] = task.distance
    made.params[k.WEIGHT] = weights_of(float(task.weight), task)[0]
    made.side = _SIDES[task.keep]
    return made
