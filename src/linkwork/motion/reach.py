"""Interactive inverse kinematics: joints follow a dragged tool step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.dynamics.measures import KINDS as DYNAMIC
from linkwork.dynamics.measures import dynamic_manipulability
from linkwork.geometry.pose import Numbers, Pose, quat_multiply
from linkwork.kinematics import Damping, PositionTask, Solver, forward
from linkwork.kinematics.closed_motion import closed_motion
from linkwork.kinematics.kernels import FREE
from linkwork.kinematics.measures import ManipulabilityEllipsoid, closed_jacobian, manipulability
from linkwork.model.world import World
from linkwork.motion.avoidance import Avoidance
from linkwork.motion.reach_goals import DEFAULT_GOALS, ReachGoal, goal_task


def joints_to(world: World, frame: str) -> list[str]:
    """Returns the joints that carry an element or anchor, from the root on."""
    body, found = world.frame(frame)[0], list[str]()
    names = {int(b): name for b, name in zip(world.joint_body, world.joint_names, strict=True)}
    while body > 0:
        name = names.get(body)
        if name is not None and len(world.dofs(name)):
            found.append(name)
        body = int(world.parent[body])
    return found[::-1]


def connected_joints(world: World, body: int) -> set[str]:
    """Returns the joints of the island and of the placed part that a body belongs to."""
    island, part = int(world.island[body]), world.body_part[body]
    return {
        name
        for each, name in zip(world.joint_body.tolist(), world.joint_names, strict=True)
        if int(world.island[each]) == island >= 0 or (part and world.body_part[each] == part)
    }


def is_free(world: World, joint: str) -> bool:
    """Returns whether a joint does not constrain its body."""
    return int(world.kind[int(world.joint_body[world.joint(joint)])]) == FREE


def descendant_joints(world: World, first: str) -> list[str]:
    """Returns a joint and all that it carries."""
    root, found = int(world.joint_body[world.joint(first)]), list[str]()
    for body, name in zip(world.joint_body.tolist(), world.joint_names, strict=True):
        while body > 0 and body != root:
            body = int(world.parent[body])
        if body == root:
            found.append(name)
    return found


#: Maximum distance from the tool to the target of a step [m, rad], and maximum joint motion [rad or
#: m].
MAX_TARGET_DISTANCE, MAX_TARGET_ANGLE, SHORT_STEP = 0.05, 0.2, 0.05
#: Relative singular value below which steps are damped: larger than for single steps of programs,
#: since drag targets are often out of reach.
EDGE = 0.3
#: Factor of the next step length if the direction reverses (by the cosine), otherwise it grows: at
#: the edge of the workspace joints come to rest instead of oscillating.
REVERSAL_COSINE, SHRINK, GROW, MIN_STEP_SHARE = -0.2, 0.5, 1.2, 0.01
#: Share of a step, of its length and time, that is reserved for closing loops.
CLOSING = 0.1
#: Joint motion below which a step has converged [rad or m].
CONVERGED = 1e-6


class ReachSolver:
    """Moves joints so that a dragged tool, or a point on any link, follows without jumps.

    Each step has a target near the tool, is damped near singular postures, and moves no joint far:
    a target that jumps is approached on a continuous path.

    Args:
        world: The world.
        tip: Element or anchor that is the tool.
        goals: The goals, with their priorities.
        point: Tool point in that frame [m].
        q: Posture for the goals "posture", "center of mass" and "point"; the world's if absent.
        joints: Joints that may move; all that carry the tool and the hand if absent.
        first: Only this joint and what it carries.
        damping: Damping of singular postures; may be changed between steps.
        avoidance: Distances to keep, above every priority.

    Raises:
        LinkworkError: If a name is unknown, or no joint could move.
    """

    def __init__(
        self,
        world: World,
        tip: str,
        goals: Sequence[ReachGoal] = DEFAULT_GOALS,
        *,
        point: Numbers = (0.0, 0.0, 0.0),
        q: np.ndarray | None = None,
        joints: Sequence[str] | None = None,
        first: str = "",
        damping: Damping | None = None,
        avoidance: Avoidance | None = None,
    ) -> None:
        self.world, self.tip, self.point = world, tip, tuple(float(c) for c in point)
        self.first, self.damping, self.avoidance = first, damping or Damping(edge=EDGE), avoidance
        self._body, local = world.frame(tip)
        self._tool = local @ Pose.of(point)
        self.chain = joints_to(world, tip)
        looped = world.loop_body.reshape(-1, 2)[:, 0]
        self._loops = bool((world.island[looped] == world.island[self._body]).any())
        wanted = self._movable(joints, goals)
        here = world.q0 if q is None else q
        part = world.body_part[self._body]
        tasks = [goal_task(goal, n, tip, self.point, part) for n, goal in enumerate(goals)]
        self._kinds = [goal.kind for goal in goals]
        self.solver = Solver(world, tasks, q=here, joints=wanted)
        self._loops_alone: Solver | None = None
        if self._loops:
            still = PositionTask(tip, point=self.point, gain=0.0, priority=1)
            self._loops_alone = Solver(world, [still], q=here, joints=wanted)
        self.used = 0.0
        self._stride, self._last_step = 1.0, np.zeros(world.nv)
        self.target = self.place(here)
        self.hand: np.ndarray | None = None

    def _movable(self, joints: Sequence[str] | None, goals: Sequence[ReachGoal]) -> list[str]:
        """Returns the joints that may move: those that carry a goal's frame, or all connected ones.

        Free bodies stay, unless they are in loops or the chain begins with them.

        Raises:
            LinkworkError: If there are none.
        """
        world = self.world
        frames = [goal.frame for goal in goals if goal.frame]
        found = {*self.chain, *(joint for frame in frames for joint in joints_to(world, frame))}
        if self._loops or any(goal.kind == "center of mass" for goal in goals):
            found |= connected_joints(world, self._body)
        carriers = [name for name in world.joint_names if name in found]
        free = {name for name in carriers if is_free(world, name) and name != self.first}
        free = set() if self._loops else free
        inside = set(descendant_joints(world, self.first) if self.first else carriers) - free
        inside &= set(carriers if joints is None else joints)
        chosen = [joint for joint in carriers if joint in inside]
        if not chosen:
            raise LinkworkError(
                f"no joint that may move moves {self.tip!r}.",
                hint=f"It is carried by {', '.join(self.chain) or 'nothing that moves'}.",
            )
        return chosen

    @property
    def joints(self) -> list[str]:
        """Joints that may move."""
        return list(dict.fromkeys(name.partition(".")[0] for name in self.solver.movable))

    def place(self, q: np.ndarray) -> Pose:
        """Returns the pose of the tool at ``q``."""
        row = forward(self.world, q)[self._body]
        return Pose(tuple(row[:3]), tuple(row[3:])) @ self._tool  # type: ignore[arg-type]

    def set_target(self, target: Pose) -> None:
        """Sets the target of the tool."""
        self.target = target

    def pull(self, place: Numbers) -> None:
        """Sets the target of the hand's point [m]."""
        self.hand = np.array(place, float)

    def step(self, q: np.ndarray, dt: float, *, speeds: bool = True) -> np.ndarray:
        """Returns the posture after one short step toward the goals.

        Args:
            q: Coordinates.
            dt: Time step [s].
            speeds: Whether to apply the joints' velocity limits; not while dragging a paused robot.
        """
        solver = self.solver
        self._set_step_targets(q)
        part = 1.0 if self._loops_alone is None else 1.0 - CLOSING
        options: dict[str, Any] = {"damping": self.damping, "speeds": speeds}
        pushed = False
        if self.avoidance is not None:
            options["inequalities"] = self.avoidance.inequalities(q, dt, solver)
            pushed = bool((options["inequalities"][2] > 0.0).any())
        # active inequalities are not scaled with the step length
        short = SHORT_STEP * part * (1.0 if pushed else self._stride)
        step = solver.step(q, part * dt, stride=short, **options)
        if pushed:
            self._stride = 1.0
        elif not self._goes_on(step.v):
            self._stride = max(MIN_STEP_SHARE, SHRINK * self._stride)
            step = solver.step(q, part * dt, stride=SHORT_STEP * part * self._stride, **options)
        else:
            self._stride = min(1.0, GROW * self._stride)
        self.used = step.damping
        self._last_step = step.v
        if self._loops_alone is None:
            return step.q
        # a step along the loops' tangents opens them slightly
        return self._loops_alone.step(
            step.q, CLOSING * dt, stride=CLOSING * SHORT_STEP, damping=self.damping, speeds=speeds
        ).q

    def _set_step_targets(self, q: np.ndarray) -> None:
        """Sets targets of the tasks near their values at ``q``."""
        here, solver = self.place(q), self.solver
        for number, kind in enumerate(self._kinds):
            if kind == "position":
                solver.set_target(
                    _limit_position(here.xyz, self.target.xyz, MAX_TARGET_DISTANCE), number
                )
            elif kind == "orientation":
                solver.set_target(
                    Pose(here.xyz, _limit_rotation(here, self.target, MAX_TARGET_ANGLE)), number
                )
            elif kind == "hand" and self.hand is not None:
                solver.set_target(
                    _limit_position(self._held(q, number), self.hand, MAX_TARGET_DISTANCE), number
                )

    def _goes_on(self, v: np.ndarray) -> bool:
        """Returns whether a step does not reverse the one before."""
        along = float(v @ self._last_step)
        size = float(np.linalg.norm(v) * np.linalg.norm(self._last_step))
        return along >= REVERSAL_COSINE * size

    def _held(self, q: np.ndarray, number: int) -> np.ndarray:
        """Returns the point of a hand at ``q``."""
        task = self.solver.tasks[number]
        assert isinstance(task, PositionTask)
        body, local = self.world.frame(task.frame)
        row = forward(self.world, q)[body]
        pose = Pose(tuple(row[:3]), tuple(row[3:]))  # type: ignore[arg-type]
        return np.array((pose @ local).apply(task.point))

    def miss(self, q: np.ndarray) -> tuple[float, float]:
        """Returns the distance of the tool from its target [m, rad]."""
        here = self.place(q)
        return math.dist(here.xyz, self.target.xyz), _angle(here, self.target)

    def left(self, q: np.ndarray) -> float:
        """Returns the remaining distance of the hand, if there is one, or else of the tool [m]."""
        for number, kind in enumerate(self._kinds):
            if kind == "hand" and self.hand is not None:
                return math.dist(self._held(q, number), self.hand)
        far, turn = self.miss(q)
        return far + MAX_TARGET_DISTANCE / MAX_TARGET_ANGLE * turn

    @cached_property
    def counted(self) -> list[str]:
        """Returns the joints of the sub-chain that move the tool; in loops the drivers."""
        world, moving = self.world, set(self.joints)
        if not self._loops:
            return [joint for joint in self.chain if joint in moving]
        names = {int(b): name for b, name in zip(world.joint_body, world.joint_names, strict=True)}
        dofs = closed_motion(world, world.q0, [self._body]).dofs
        found = list(dict.fromkeys(names[int(world.dof_body[d])] for d in dofs))
        return [joint for joint in found if joint in moving] or self.joints

    @property
    def columns(self) -> list[str]:
        """Degrees of freedom of the columns of the tool's Jacobian."""
        world = self.world
        motion = closed_motion(world, world.q0, [self._body], self.counted)
        return [world.dof_name(int(dof)) for dof in motion.dofs]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Returns the tool's Jacobian (6×n) by ``columns``; NaN if they do not determine it."""
        options: dict[str, Any] = {"point": self.point, "joints": self.counted}
        try:
            return closed_jacobian(self.world, q, self.tip, **options)
        except LinkworkError:
            return np.full((6, len(self.columns)), np.nan)

    def ellipsoid(self, q: np.ndarray, kind: str = "velocity") -> ManipulabilityEllipsoid:
        """Returns the ellipsoid of the tool, by the joints of the sub-chain alone."""
        make = dynamic_manipulability if kind in DYNAMIC else manipulability
        return make(self.world, q, self.tip, kind=kind, point=self.point, joints=self.counted)


def _limit_position(here: Numbers, there: Numbers, ahead: float) -> np.ndarray:
    """Returns the goal, or a position on the straight line to it."""
    offset = np.subtract(there, here)
    far = float(np.linalg.norm(offset))
    return np.add(here, offset * min(1.0, ahead / far) if far > 0.0 else offset)


def _angle(here: Pose, there: Pose) -> float:
    w, x, y, z = _relative_rotation(here, there)
    return 2.0 * math.atan2(math.hypot(x, y, z), abs(w))


def _relative_rotation(here: Pose, there: Pose) -> tuple[float, float, float, float]:
    """Returns the rotation vector from one orientation to another, in world axes."""
    w, x, y, z = here.quat
    return quat_multiply(there.quat, (w, -x, -y, -z))


def _limit_rotation(here: Pose, there: Pose, ahead: float) -> tuple[float, float, float, float]:
    """Returns the orientation of the goal, or one on the shortest path to it."""
    if _angle(here, there) <= ahead:
        return there.quat
    w, x, y, z = _relative_rotation(here, there)
    size = math.copysign(math.hypot(x, y, z), w)
    half = ahead / 2.0
    part = math.sin(half) / size if size else 0.0
    return quat_multiply((math.cos(half), x * part, y * part, z * part), here.quat)
