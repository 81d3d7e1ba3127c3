"""Closed-form inverse kinematics of S-R-S arms: shoulder, elbow, wrist, seven hinges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.pose import Pose
from linkwork.kinematics import closed_form_kernels as k
from linkwork.kinematics.chain import goal_row, intersection, joint_count_text
from linkwork.kinematics.forward import forward, shaped
from linkwork.kinematics.kernels import HINGE
from linkwork.model.world import World

_EXACT = 1e-9


class SrsArm:
    """An arm of seven hinges whose axes 1–3 intersect in the shoulder and 5–7 in the wrist.

    Examples are KUKA's LWR and iiwa, Mitsubishi's PA-10 and Amtec's LWA. The elbow can rotate about
    the line from shoulder to wrist without moving the tool: that angle is chosen so that all joints
    are in their ranges, nearest to a posture or the first one found.

    Args:
        world: The world.
        tool: Element or anchor at the arm's end.

    Raises:
        LinkworkError: If the arm has another geometry; the message names the difference.
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
            raise self._refusal(f"{joint_count_text(len(path))} it, where seven hinges are needed")
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
        """Returns axes and points of all joints, and the tool's pose, in the world."""
        world, pose = self.world, forward(self.world, q)
        axes, points = np.zeros((7, 3)), np.zeros((7, 3))
        for n, b in enumerate(self._path):
            here = Pose(tuple(pose[b, :3]), tuple(pose[b, 3:]))
            axes[n], points[n] = here.rotate(world.axis[b]), here.apply(world.pivot[b])
        row = pose[self.body]
        return axes, points, Pose(tuple(row[:3]), tuple(row[3:])) @ self.local

    def _zero(self, q: np.ndarray, first: int) -> None:
        """Rotates the middle one of three joints until the outer two are parallel."""
        axes, _, _ = self._axes(q)
        a, b, c = axes[first : first + 3]
        if abs(a @ b) > _EXACT or abs(b @ c) > _EXACT:
            raise self._refusal(f"axes {first + 1} to {first + 3} are not perpendicular")
        q[self.coordinates[first + 1]] += np.arctan2(b @ np.cross(c, a), c @ a)

    def _numbers(self, dofs: list[int]) -> np.ndarray:
        world = self.world
        q = world.q0.copy()
        q[self.coordinates] = 0.0
        self._zero(q, 0)
        self._zero(q, 4)
        axes, points, tool = self._axes(q)
        shoulder = intersection(axes[:3], points[:3], "shoulder", self._refusal)
        wrist = intersection(axes[4:], points[4:], "wrist", self._refusal)
        base = np.array([np.cross(axes[1], axes[0]), axes[1], axes[0]])  # rows: x, y, z
        hand = np.array([np.cross(axes[5], axes[4]), axes[5], axes[4]]).T
        turn = tool.matrix()[:3, :3]
        arm = np.zeros(k.NUMBERS)
        arm[k.SHOULDER : k.SHOULDER + 3] = shoulder
        arm[k.AXES : k.AXES + 9] = base.ravel()
        arm[k.WRIST : k.WRIST + 3] = tool.inverse().apply(wrist)
        arm[k.LAST : k.LAST + 9] = (turn.T @ hand).ravel()
        # the elbow rotates the wrist about its axis through c
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
        arm[k.LOWEST : k.LOWEST + 7] = world.dof_lo[dofs]
        arm[k.HIGHEST : k.HIGHEST + 7] = world.dof_hi[dofs]
        for place, joint in enumerate((1, 5)):  # range of a middle joint about its zero
            zero = arm[k.ZEROS + joint]
            wide = max(abs(arm[k.LOWEST + joint] + zero), abs(arm[k.HIGHEST + joint] + zero))
            arm[k.COSINES + place] = np.cos(wide) - 1e-9 if wide < np.pi else -2.0
        return arm

    def solve(
        self, target: Pose, *, seed: np.ndarray | None = None, turns: int = 128
    ) -> np.ndarray | None:
        """Returns coordinates of the world with the tool at ``target``; None if there are none.

        Args:
            target: Pose of the tool in the world.
            seed: Coordinates to stay close to; the first posture found if absent.
            turns: Number of elbow angles to try.
        """
        q = self.world.q0.copy() if seed is None else shaped("seed", seed, (self.world.nq,)).copy()
        if not np.isfinite(q).all():
            raise LinkworkError("seed holds numbers that are not finite.")
        _check_turns(turns)
        made, close = np.zeros(7), np.ascontiguousarray(q[self.coordinates])
        room = np.zeros((k.SCRATCH, 8))
        if k.srs_angles(self._arm, goal_row(target), close, turns, seed is None, room, made) != 1:
            return None
        q[self.coordinates] = made
        return q

    def solve_many(
        self, targets: Sequence[Pose], *, turns: int = 128
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns joint values (n×7) for many targets in a compiled loop, and which are reached."""
        _check_turns(turns)
        goals = np.array([goal_row(target) for target in targets]).reshape(-1, 12)
        q, found = np.zeros((len(goals), 7)), np.zeros(len(goals), np.int64)
        room = np.zeros((k.SCRATCH, 8))
        k.srs_angles_many(self._arm, goals, np.zeros(7), turns, True, room, q, found)
        return q, found == 1


def _check_turns(turns: int) -> None:
    if turns < 1:
        raise LinkworkError(f"turns must be 1 or above, not {turns}.")
