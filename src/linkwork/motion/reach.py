"""Reach: inverse kinematics that is dragged along live, step by short step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.dynamics.measures import KINDS as DYNAMIC
from linkwork.dynamics.measures import dynamic_manipulability
from linkwork.errors import LinkworkError
from linkwork.kinematics import Damping, PositionTask, Solver, forward
from linkwork.kinematics.closed import closed_motion
from linkwork.kinematics.measures import Ellipsoid, closed_jacobian, manipulability
from linkwork.motion.aims import USUAL, Aim, task_of
from linkwork.motion.avoidance import Avoidance
from linkwork.motion.chains import behind, chain_of, hanging_together, is_free
from linkwork.spatial.pose import Numbers, Pose, quat_multiply
from linkwork.world import World

#: How far ahead of the tool a step aims at most [m, rad], and how far a joint goes [rad or m].
AHEAD, TURN_AHEAD, SHORT = 0.05, 0.2, 0.05
#: Singular values below this part of the Jacobian's size are damped: earlier than for a program's
#: single steps, since what is dragged is often out of reach.
EDGE = 0.3
#: A step that turns back (by the cosine) is this much shorter than the one before, else longer: at
#: the edge of what can be reached, joints come to rest instead of going to and fro.
TURNS_BACK, SHORTER, LONGER, LEAST = -0.2, 0.5, 1.2, 0.01
#: Part of a step, of its stride and of its time, that is left for closing loops.
CLOSING = 0.1
#: A step that moves no joint further has arrived [rad or m].
STILL = 1e-6


class Reach:
    """Joints that follow a dragged tool, or a hand on any link, without jumps.

    Each step aims a little ahead of where the tool is, damped where the arm is singular, and moves
    no joint far: also a target that leaps is approached on a way that can be seen.

    Args:
        world: The world.
        tip: Element or anchor that is the tool.
        aims: What is wanted, and what comes first.
        point: Tool point in that frame [m].
        q: Posture that "posture", "centre of mass" and "point" keep to; the world's if absent.
        joints: Joints that may move; all that carry the tool and the hand if absent.
        first: Only this joint and what it carries.
        damping: Of singular postures; may be changed between steps.
        keep: Distances to keep, before every priority.

    Raises:
        LinkworkError: If something named is not there, or nothing could move.
    """

    def __init__(
        self,
        world: World,
        tip: str,
        aims: Sequence[Aim] = USUAL,
        *,
        point: Numbers = (0.0, 0.0, 0.0),
        q: np.ndarray | None = None,
        joints: Sequence[str] | None = None,
        first: str = "",
        damping: Damping | None = None,
        keep: Avoidance | None = None,
    ) -> None:
        self.world, self.tip, self.point = world, tip, tuple(float(c) for c in point)
        self.first, self.damping, self.keep = first, damping or Damping(edge=EDGE), keep
        self._body, local = world.frame(tip)
        self._tool = local @ Pose.of(point)
        self.chain = chain_of(world, tip)
        looped = world.loop_body.reshape(-1, 2)[:, 0]
        self._loops = bool((world.island[looped] == world.island[self._body]).any())
        wanted = self._movable(joints, aims)
        here = world.q0 if q is None else q
        part = world.body_part[self._body]
        tasks = [task_of(aim, n, tip, self.point, part) for n, aim in enumerate(aims)]
        self._kinds = [aim.kind for aim in aims]
        self.solver = Solver(world, tasks, q=here, joints=wanted)
        self._loops_alone: Solver | None = None
        if self._loops:
            still = PositionTask(tip, point=self.point, gain=0.0, priority=1)
            self._loops_alone = Solver(world, [still], q=here, joints=wanted)
        self.used = 0.0
        self._stride, self._way = 1.0, np.zeros(world.nv)
        self.target = self.place(here)
        self.hand: np.ndarray | None = None

    def _movable(self, joints: Sequence[str] | None, aims: Sequence[Aim]) -> list[str]:
        """The joints that may move: those that carry something wanted, or all that hang together.

        Free bodies stay where they are, unless loops hold them or the chain is to begin with them.

        Raises:
            LinkworkError: If there are none.
        """
        world = self.world
        frames = [aim.frame for aim in aims if aim.frame]
        found = {*self.chain, *(joint for frame in frames for joint in chain_of(world, frame))}
        if self._loops or any(aim.kind == "centre of mass" for aim in aims):
            found |= hanging_together(world, self._body)
        carriers = [name for name in world.joint_names if name in found]
        free = {name for name in carriers if is_free(world, name) and name != self.first}
        free = set() if self._loops else free
        inside = set(behind(world, self.first) if self.first else carriers) - free
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
        """Where the tool is at ``q``."""
        row = forward(self.world, q)[self._body]
        return Pose(tuple(row[:3]), tuple(row[3:])) @ self._tool  # type: ignore[arg-type]

    def aim(self, target: Pose) -> None:
        """Wants the tool there."""
        self.target = target

    def pull(self, place: Numbers) -> None:
        """Wants the hand's point there [m]."""
        self.hand = np.array(place, float)

    def step(self, q: np.ndarray, dt: float, *, speeds: bool = True) -> np.ndarray:
        """The posture after one short step towards what is wanted.

        Args:
            q: Coordinates.
            dt: Length of the step [s].
            speeds: Whether the joints' greatest speeds count; not for a hand on a paused robot.
        """
        solver = self.solver
        self._aim(q)
        part = 1.0 if self._loops_alone is None else 1.0 - CLOSING
        how: dict[str, Any] = {"damping": self.damping, "speeds": speeds}
        pushed = False
        if self.keep is not None:
            how["fences"] = self.keep.fences(q, dt, solver)
            pushed = bool((how["fences"][2] > 0.0).any())
        # what a fence asks for is as urgent as ever, however short the steps have become
        short = SHORT * part * (1.0 if pushed else self._stride)
        step = solver.tick(q, part * dt, stride=short, **how)
        if pushed:
            self._stride = 1.0
        elif not self._goes_on(step.v):
            self._stride = max(LEAST, SHORTER * self._stride)
            step = solver.tick(q, part * dt, stride=SHORT * part * self._stride, **how)
        else:
            self._stride = min(1.0, LONGER * self._stride)
        self.used = step.damping
        self._way = step.v
        if self._loops_alone is None:
            return step.q
        # a step along the loops' tangents leaves them open a little
        return self._loops_alone.tick(
            step.q, CLOSING * dt, stride=CLOSING * SHORT, damping=self.damping, speeds=speeds
        ).q

    def _aim(self, q: np.ndarray) -> None:
        """Gives the tasks targets a little ahead of where they are at ``q``."""
        here, solver = self.place(q), self.solver
        for number, kind in enumerate(self._kinds):
            if kind == "position":
                solver.aim(_nearer(here.xyz, self.target.xyz, AHEAD), number)
            elif kind == "orientation":
                solver.aim(Pose(here.xyz, _turned(here, self.target, TURN_AHEAD)), number)
            elif kind == "hand" and self.hand is not None:
                solver.aim(_nearer(self._held(q, number), self.hand, AHEAD), number)

    def _goes_on(self, v: np.ndarray) -> bool:
        """Whether a step does not turn back from the one before."""
        along, size = float(v @ self._way), float(np.linalg.norm(v) * np.linalg.norm(self._way))
        return along >= TURNS_BACK * size

    def _held(self, q: np.ndarray, number: int) -> np.ndarray:
        """Where the point of a hand is at ``q``."""
        task = self.solver.tasks[number]
        assert isinstance(task, PositionTask)
        body, local = self.world.frame(task.frame)
        row = forward(self.world, q)[body]
        pose = Pose(tuple(row[:3]), tuple(row[3:]))  # type: ignore[arg-type]
        return np.array((pose @ local).apply(task.point))

    def miss(self, q: np.ndarray) -> tuple[float, float]:
        """How far the tool is from its target [m, rad]."""
        here = self.place(q)
        return math.dist(here.xyz, self.target.xyz), _angle(here, self.target)

    def left(self, q: np.ndarray) -> float:
        """What is left to do: of the hand's way where there is one, else of the tool's [m]."""
        for number, kind in enumerate(self._kinds):
            if kind == "hand" and self.hand is not None:
                return math.dist(self._held(q, number), self.hand)
        far, turn = self.miss(q)
        return far + AHEAD / TURN_AHEAD * turn

    @cached_property
    def counted(self) -> list[str]:
        """Joints of the sub-chain that move the tool; of those in loops the drivers."""
        world, moving = self.world, set(self.joints)
        if not self._loops:
            return [joint for joint in self.chain if joint in moving]
        names = {int(b): name for b, name in zip(world.joint_body, world.joint_names, strict=True)}
        dofs = closed_motion(world, world.q0, [self._body]).dofs
        found = list(dict.fromkeys(names[int(world.dof_body[d])] for d in dofs))
        return [joint for joint in found if joint in moving] or self.joints

    @property
    def columns(self) -> list[str]:
        """Degrees of freedom that the tool's Jacobian has columns of."""
        world = self.world
        motion = closed_motion(world, world.q0, [self._body], self.counted)
        return [world.dof_name(int(dof)) for dof in motion.dofs]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """That of the tool (6×n), by ``columns``; not numbers where those do not settle it."""
        how: dict[str, Any] = {"point": self.point, "joints": self.counted}
        try:
            return closed_jacobian(self.world, q, self.tip, **how)
        except LinkworkError:
            return np.full((6, len(self.columns)), np.nan)

    def ellipsoid(self, q: np.ndarray, kind: str = "velocity") -> Ellipsoid:
        """The ellipsoid of the tool, by the joints of the sub-chain alone."""
        make = dynamic_manipulability if kind in DYNAMIC else manipulability
        return make(self.world, q, self.tip, kind=kind, point=self.point, joints=self.counted)


def _nearer(here: Numbers, there: Numbers, ahead: float) -> np.ndarray:
    """The goal, or a place on the straight way to it."""
    way = np.subtract(there, here)
    far = float(np.linalg.norm(way))
    return np.add(here, way * min(1.0, ahead / far) if far > 0.0 else way)


def _angle(here: Pose, there: Pose) -> float:
    w, x, y, z = _between(here, there)
    return 2.0 * math.atan2(math.hypot(x, y, z), abs(w))


def _between(here: Pose, there: Pose) -> tuple[float, float, float, float]:
    """The turn from one orientation to another, in world axes."""
    w, x, y, z = here.quat
    return quat_multiply(there.quat, (w, -x, -y, -z))


def _turned(here: Pose, there: Pose, ahead: float) -> tuple[float, float, float, float]:
    """The orientation of the goal, or one on the shortest way to it."""
    if _angle(here, there) <= ahead:
        return there.quat
    w, x, y, z = _between(here, there)
    size = math.copysign(math.hypot(x, y, z), w)
    half = ahead / 2.0
    part = math.sin(half) / size if size else 0.0
    return quat_multiply((math.cos(half), x * part, y * part, z * part), here.quat)
