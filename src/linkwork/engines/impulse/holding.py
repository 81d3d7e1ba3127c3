"""What stays as it was said when a mechanism is closed at the start, and what could not."""

from __future__ import annotations

import numpy as np

from linkwork.engines.impulse import phase_kernels as phases
from linkwork.engines.impulse.account_kernels import opening
from linkwork.engines.impulse.body_kernels import Q
from linkwork.engines.impulse.build import Builder
from linkwork.engines.impulse.closing_kernels import close
from linkwork.engines.impulse.coordinate_kernels import give_coordinates
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.impulse.params import ImpulseParams
from linkwork.engines.impulse.row_kernels import DOF, JOINT, NEVER, RATE, ROW, TARGET
from linkwork.engines.impulse.stepper import KEPT, Stepper
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.world import World

#: How far a value or a speed may be from what was said and still be the same.
SAME = 1e-9
#: Half the angle by which bodies are turned out of line [rad].
_SHAKE = 0.05


def out_of_range(world: World, dofs: np.ndarray, values: np.ndarray) -> dict[int, float]:
    """Degrees of freedom whose values [rad or m] are beyond their range, and the nearer end."""
    ends = np.clip(values, world.dof_lo[dofs], world.dof_hi[dofs])
    beyond = np.abs(values - ends) > SAME
    return dict(zip(dofs[beyond].tolist(), ends[beyond].tolist(), strict=True))


def single_dofs(world: World, dofs: np.ndarray) -> np.ndarray:
    """Those degrees of freedom that have a coordinate of their own."""
    return dofs[~np.isin(world.kind[world.dof_body[dofs]], (BALL, FREE))]


def said_dofs(
    world: World, mine: set[int], driven: set[int], prescribed: list[int], first: bool
) -> list[set[int]]:
    """Which joints are to stay where they are, as many as can be: ever fewer of them.

    At the start those with a value, a drive, or a place in the posture; then those with a drive or
    a place in the posture; those of the posture; and those that follow targets whatever it takes.
    """
    named, valued = set(), set()
    if first:
        posture = world.scene.postures.get(world.scene.start or "", {})
        named = {world.single_dof(name) for name in posture} & mine
        for joint, b in zip(world.joints, world.joint_body.tolist(), strict=True):
            valued |= {int(world.vadr[b]) + n for n, value in enumerate(joint.values) if value}
    must = set(prescribed) & mine
    tiers: list[set[int]] = []
    for tier in (valued & mine | driven | named | must, driven | named | must, named | must, must):
        if tier and tier not in tiers:
            tiers.append(tier)
    return tiers


class Holder:
    """A copy of a mechanism in which some joints are held while the others close."""

    def __init__(
        self, world: World, builder: Builder, params: ImpulseParams, made: Mechanism,
        dofs: list[int],
    ) -> None:  # fmt: skip
        owned = np.zeros(world.nb, bool)
        owned[made.own] = True
        again = Builder(world, owned, builder.poses, dofs, sorted(builder.driven))
        self.world, self.gap = world, params.gap
        self.made = again.build()
        self.stepper = Stepper(world, self.made, params, builder.poses)
        self.made.bodies[:] = made.bodies
        self.made.number[:] = made.number
        laws = self.made.laws
        self._dofs = self.made.soft_whole[:laws, DOF]
        self._at = self.made.soft_whole[:, JOINT], self.made.soft_whole[:, ROW]

    def shake(self) -> None:
        """Turns every body a little, each in its own way, out of line with others."""
        bodies = self.made.bodies
        n = np.arange(1.0, len(bodies))
        half = _SHAKE * np.column_stack([np.sin(n), np.cos(2.0 * n), np.sin(3.0 * n + 1.0)])
        w, xyz = bodies[:-1, Q].copy(), bodies[:-1, Q + 1 : Q + 4].copy()
        bodies[:-1, Q] = w - np.sum(half * xyz, axis=1)
        bodies[:-1, Q + 1 : Q + 4] = xyz + w[:, None] * half + np.cross(half, xyz)
        bodies[:-1, Q : Q + 4] /= np.linalg.norm(bodies[:-1, Q : Q + 4], axis=1)[:, None]
        phases.refresh(bodies)

    def place(self, values: dict[int, float], qaddr: np.ndarray, q: np.ndarray) -> bool:
        """Closes all joints, those of ``values`` where they say; true if that can be.

        ``q`` are the coordinates then.
        """
        made, stepper = self.made, self.stepper
        diagonal = stepper.desk[5]
        diagonal[self._at] = NEVER
        for n, dof in enumerate(self._dofs.tolist()):
            if dof in values:
                diagonal[made.soft_whole[n, JOINT], made.soft_whole[n, ROW]] = 0.0
                made.soft[n, TARGET] = values[dof]
        stepper.account[:] = 0.0
        done = close(
            stepper.mechanism, stepper.pattern, stepper.desk, stepper.scratch, made.soft_whole,
            made.soft, 1e-13, 50, stepper.account,
        )  # fmt: skip
        now, speeds = q.copy(), np.zeros(self.world.nv)
        self._read(now, speeds)
        held = all(abs(now[qaddr[dof]] - value) <= SAME for dof, value in values.items())
        q[:] = now
        return held and (done == phases.DONE or bool(stepper.account[phases.GAP] <= self.gap))

    def move(self, speeds: dict[int, float], qaddr: np.ndarray, q: np.ndarray) -> bool:
        """Takes away speeds that open joints, and leaves some joints the speeds that they have."""
        made, stepper = self.made, self.stepper
        here = {dof: float(q[qaddr[dof]]) for dof in speeds}
        if not self.place(here, qaddr, q):
            return False
        for n, dof in enumerate(self._dofs.tolist()):
            made.soft[n, RATE] = speeds.get(dof, 0.0)
        for _ in range(3):
            stepper.project_speeds(1.0)
        found = np.zeros(self.world.nv)
        self._read(q.copy(), found)
        scale = max(1.0, *(abs(speed) for speed in speeds.values()))
        kept = all(abs(found[dof] - speed) <= SAME * scale for dof, speed in speeds.items())
        return kept and opening(made.bodies, made.whole, stepper.desk[0]) <= SAME * scale

    def _read(self, q: np.ndarray, v: np.ndarray) -> None:
        """Fills in coordinates, near those that are there, and speeds."""
        made, stepper = self.made, self.stepper
        give_coordinates(
            stepper.mechanism, stepper.scratch, made.tree, made.soft_whole[:0], made.soft[:0], 0.0,
            q, v,
        )  # fmt: skip

    def give(self, made: Mechanism) -> None:
        """Puts the bodies of the mechanism itself where they are here."""
        made.bodies[:-1, KEPT] = self.made.bodies[:-1, KEPT]
        made.number[:] = self.made.number
        phases.refresh(made.bodies)
