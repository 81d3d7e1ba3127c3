"""Closed-form inverse kinematics of S-R-S arms: shoulder, elbow, wrist, seven hinges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics import srs_kernels as k
from linkwork.kinematics.chain import carriers, goal_of, meeting_point
from linkwork.kinematics.forward import forward, shaped
from linkwork.kinematics.kernels import HINGE
from linkwork.spatial.pose import Pose
from linkwork.world import World

_EXACT = 1e-9


class SrsArm:
    """An arm of seven hinges whose axes 1–3 meet in the shoulder and 5–7 in the wrist.

    KUKA's LWR and iiwa, Mitsubishi's PA-10 and Amtec's LWA are built so. The elbow may turn about
    the line from shoulder to wrist without the tool's moving: that turn is chosen so that all
    joints are in their ranges, next to a posture, or simply the first that will do.

    Args:
        world: The world.
        tool: Element or anchor at the arm's end.

    Raises:
        LinkworkError: The arm is not built like that; the message says why.
    """

    def __init__(self, world: World, tool: str) -> None:
        self.world = world
        self.body, self.local = world.frame(tool)
        self.tool = tool
        path = []
        at = self.body
        while at > 0:
            if world.kind[at] != 0:
                path.append(at)
            at = int(world.parent[at])
        self._path = path[::-1]
        kinds = {int(world.kind[b]) for b in path}
        if len(path) != 7 or kinds != {HINGE}:
            raise self._refusal(f"{carriers(len(path))} it, where seven hinges are needed")
        dofs = [int(world.vadr[b]) for b in self._path]
        self.coordinates = world.qadr[self._path]
        if set(dofs) & set(world.coupling_dof.ravel().tolist()):
            raise self._refusal("some of its joints follow others")
        self._arm = self._numbers(dofs)

    def _refusal(self, why: str) -> LinkworkError:
        return LinkworkError(
            f"{self.tool!r} is not the tool of an S-R-S arm: {why}.",
            hint="Solve it numerically, with Solver and PoseTask.",
        )

    def _axes(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, Pose]:
        """Axes and points of all joints, and the tool's pose, in the world."""
        world, pose = self.world, forward(self.world, q)
        axes, points = np.zeros((7, 3)), np.zeros((7, 3))
        for n, b in enumerate(self._path):
            here = Pose(tuple(pose[b, :3]), tuple(pose[b, 3:]))
            axes[n], points[n] = here.rotate(world.axis[b]), here.apply(world.pivot[b])
        row = pose[self.body]
        return axes, points, Pose(tuple(row[:3]), tuple(row[3:])) @ self.local

    def _meet(self, axes: np.ndarray, points: np.ndarray, where: str) -> np.ndarray:
        """The point where three lines meet."""
        found, gap = meeting_point(axes, points)
        if gap > _EXACT:
            raise self._refusal(f"the axes of its {where} miss each other by {gap:.3g} m")
        return found

    def _zero(self, q: np.ndarray, first: int) -> None:
        """Turns the middle one of three joints until the outer two lie on each other."""
        axes, _, _ = self._axes(q)
        a, b, c = axes[first : first + 3]
        if abs(a @ b) > _EXACT or abs(b @ c) > _EXACT:
            raise self._refusal(f"axes {first + 1} to {first + 3} are not at right angles")
        q[self.coordinates[first + 1]] += np.arctan2(b @ np.cross(c, a), c @ a)

    def _numbers(self, dofs: list[int]) -> np.ndarray:
        world = self.world
        q = world.q0.copy()
        q[self.coordinates] = 0.0
        self._zero(q, 0)
        self._zero(q, 4)
        axes, points, tool = self._axes(q)
        shoulder = self._meet(axes[:3], points[:3], "shoulder")
        wrist = self._meet(axes[4:], points[4:], "wrist")
        base = np.array([np.cross(axes[1], axes[0]), axes[1], axes[0]])  # rows: x, y, z
        hand = np.array([np.cross(axes[5], axes[4]), axes[5], axes[4]]).T
        turn = tool.matrix()[:3, :3]
        arm = np.zeros(k.NUMBERS)
        arm[k.SHOULDER : k.SHOULDER + 3] = shoulder
        arm[k.AXES : k.AXES + 9] = base.ravel()
        arm[k.WRIST : k.WRIST + 3] = tool.inverse().apply(wrist)
        arm[k.LAST : k.LAST + 9] = (turn.T @ hand).ravel()
        # the elbow turns the wrist about its axis through c
        axis, c = base @ axes[3], base @ (points[3] - shoulder)
        arm_vector = base @ (wrist - shoulder) - c
        along = (arm_vector @ axis) * axis
        across = arm_vector - along
        side = np.cross(axis, across)
        still = c + along
        arm[k.ELBOW : k.ELBOW + 9] = np.concatenate([still, across, side])
        cosine, sine = 2.0 * still @ across, 2.0 * still @ side
        size = float(np.hypot(cosine, sine))
        if size < 1e-9:
            raise self._refusal("its elbow does not change the distance of its wrist")
        arm[k.ELBOW + 9] = still @ still + across @ across
        arm[k.ELBOW + 10], arm[k.ELBOW + 11] = size, np.arctan2(sine, cosine)
        arm[k.ELBOW + 12], arm[k.ELBOW + 13] = cosine / size, sine / size
        wrist_basis = base @ hand
        keep = np.outer(axis, axis) @ wrist_basis
        arm[k.EVEN : k.EVEN + 9] = (wrist_basis - keep).ravel()
        arm[k.SINE : k.SINE + 9] = np.cross(axis, wrist_basis.T).T.ravel()
        arm[k.STILL : k.STILL + 9] = keep.ravel()
        arm[k.ZEROS : k.ZEROS + 7] = -q[self.coordinates]
        arm[k.LEAST : k.LEAST + 7] = world.dof_lo[dofs]
        arm[k.MOST : k.MOST + 7] = world.dof_hi[dofs]
        for place, joint in enumerate((1, 5)):  # how far from its zero a middle joint may be
            zero = arm[k.ZEROS + joint]
            wide = max(abs(arm[k.LEAST + joint] + zero), abs(arm[k.MOST + joint] + zero))
            arm[k.COSINES + place] = np.cos(wide) - 1e-9 if wide < np.pi else -2.0
        return arm

    def solve(
        self, target: Pose, *, near: np.ndarray | None = None, turns: int = 128
    ) -> np.ndarray | None:
        """Coordinates of the world whose tool stands at ``target``; None if no posture does.

        Args:
            target: Pose of the tool in the world.
            near: Coordinates to stay close to; the first posture that fits if absent.
            turns: How many turns of the elbow are tried.
        """
        q = self.world.q0.copy() if near is None else shaped("near", near, (self.world.nq,)).copy()
        if not np.isfinite(q).all():
            raise LinkworkError("near holds numbers that are not finite.")
        _check_turns(turns)
        made, close = np.zeros(7), np.ascontiguousarray(q[self.coordinates])
        room = np.zeros((k.SCRATCH, 8))
        if k.closed_form(self._arm, goal_of(target), close, turns, near is None, room, made) != 1:
            return None
        q[self.coordinates] = made
        return q

    def solve_many(
        self, targets: Sequence[Pose], *, turns: int = 128
    ) -> tuple[np.ndarray, np.ndarray]:
        """Joint values (n×7) for many targets in a compiled loop, and which have any."""
        _check_turns(turns)
        goals = np.array([goal_of(target) for target in targets]).reshape(-1, 12)
        q, found = np.zeros((len(goals), 7)), np.zeros(len(goals), np.int64)
        room = np.zeros((k.SCRATCH, 8))
        k.closed_form_many(self._arm, goals, np.zeros(7), turns, True, room, q, found)
        return q, found == 1


def _check_turns(turns: int) -> None:
    if turns < 1:
        raise LinkworkError(f"turns must be 1 or above, not {turns}.")
