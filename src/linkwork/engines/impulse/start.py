"""The start of a mechanism: closed, with values and speeds as they were said, within all ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwork.engines.impulse.body_kernels import L, V
from linkwork.engines.impulse.build import Builder
from linkwork.engines.impulse.holding import (
    SAME,
    Holder,
    out_of_range,
    said_dofs,
    single_dofs,
)
from linkwork.engines.impulse.joint_columns import COUPLING, KIND
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.impulse.params import ImpulseParams
from linkwork.errors import EngineError
from linkwork.units import in_words
from linkwork.world import Finding, World

#: Values that were said and are off by more than this [rad or m] are told one by one; others only
#: as what was moved most.
_MUCH = 0.02


@dataclass
class Start:
    """Closes a mechanism from where it was put.

    Attributes:
        world, builder, params, made: The mechanism.
        dofs: The degrees of freedom that the engine moves.
        qaddr: Coordinate of each degree of freedom.
        prescribed: Those that follow targets whatever it takes.
        q, v: Coordinates and speeds as they were said.
        first: Whether a run begins, and not only goes on after an edit.
    """

    world: World
    builder: Builder
    params: ImpulseParams
    made: Mechanism
    dofs: np.ndarray
    qaddr: np.ndarray
    prescribed: list[int]
    q: np.ndarray
    v: np.ndarray
    first: bool

    def close(
        self, plain: Callable[[], None], read: Callable[[], tuple[np.ndarray, np.ndarray]]
    ) -> None:
        """Closes all joints; what was said stays, if it can.

        Args:
            plain: Closes all joints by least mass times way squared, and takes away speeds that
                open them.
            read: Coordinates and speeds as bodies stand.

        Raises:
            EngineError: If a joint stays beyond its range.
        """
        world, made = self.world, self.made
        singles = single_dofs(world, self.dofs)
        tied = bool((made.loops >= 0).any() or (made.whole[:, KIND] == COUPLING).any())
        mine = set(singles.tolist())
        self._tiers = said_dofs(
            world, mine, set(self.builder.driven) & mine, self.prescribed, self.first
        )
        self._speeds = {int(d): float(self.v[d]) for d in singles if self.first and self.v[d]}
        self._ends = out_of_range(world, singles, self.q[self.qaddr[singles]])
        here, number = made.bodies.copy(), made.number.copy()
        plain()
        q, v = read()
        self._ends |= out_of_range(world, singles, q[self.qaddr[singles]])
        changed = bool(self._ends) or (tied and not self._kept(q))
        if changed:
            self._place(here, number, singles, tied)
            q, v = read()
        if tied and not self._goes(v):
            made.bodies[:, V : L + 3] = here[:, V : L + 3]
            self._move(q)
            changed = True
        if changed:
            plain()

    def _goes(self, v: np.ndarray) -> bool:
        return all(abs(v[d] - s) <= SAME * max(1.0, abs(s)) for d, s in self._speeds.items())

    def _kept(self, q: np.ndarray) -> bool:
        dofs = self._tiers[0] if self._tiers else ()
        return all(abs(q[self.qaddr[d]] - self.q[self.qaddr[d]]) <= SAME for d in dofs)

    def _place(self, here: np.ndarray, number: np.ndarray, singles: np.ndarray, tied: bool) -> None:
        """Puts bodies where joints are closed and as much as can be is as it was said."""
        world, made = self.world, self.made
        closed = made.bodies.copy(), made.number.copy()
        made.bodies[:], made.number[:] = here, number
        everything = [] if tied else [set(singles.tolist())]
        for tier in [*everything, *self._tiers, *([set()] if self._ends else [])]:
            ends, shaken = dict(self._ends), False
            for _ in range(4):
                values = {d: float(self.q[self.qaddr[d]]) for d in tier} | ends
                holder = Holder(world, self.builder, self.params, made, sorted(values))
                q = self.q.copy()
                if shaken:
                    holder.shake()
                if not holder.place(values, self.qaddr, q):
                    if shaken:
                        break
                    shaken = True
                    continue
                more = out_of_range(world, singles, q[self.qaddr[singles]])
                if not more:
                    holder.give(made)
                    return
                ends |= more
        made.bodies[:], made.number[:] = closed
        for dof, end in self._ends.items():
            self._refuse(dof, end)

    def _refuse(self, dof: int, end: float) -> None:
        world = self.world
        unit = "rad" if world.dof_is_angle(dof) else "m"
        place, lo, hi = (
            in_words(float(x), unit)
            for x in (self.q[self.qaddr[dof]], world.dof_lo[dof], world.dof_hi[dof])
        )
        number = int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])
        raise EngineError(
            f"{world.dof_name(dof)} stands at {place}, beyond its range {lo} to {hi}, and with it "
            f"at {in_words(end, unit)} the joints around it cannot be closed.",
            origin=world.joints[number].origin,
            hint="Give it a value within its range, and the others values that go with it.",
        )

    def _move(self, q: np.ndarray) -> None:
        """Gives bodies the speeds that were said, if joints can stay closed with them."""
        made, speeds = self.made, self._speeds
        still = {d: 0.0 for d in self.prescribed if d not in speeds}
        for wanted in (speeds | still, speeds):
            holder = Holder(self.world, self.builder, self.params, made, sorted(wanted))
            if holder.move(wanted, self.qaddr, q.copy()):
                holder.give(made)
                return

    def notes(self, q: np.ndarray, v: np.ndarray) -> list[Finding]:
        """What is not as it was said: ``q`` and ``v`` are where a run starts."""
        found: list[Finding] = []
        named: set[int] = set().union(*self._tiers[1:])
        for dof in sorted(named.union(self._ends, *self._tiers[:1])):
            now, said = float(q[self.qaddr[dof]]), float(self.q[self.qaddr[dof]])
            least = 1e-6 if dof in named or dof in self._ends else _MUCH
            if abs(now - said) > least:
                why = "as its range ends there" if dof in self._ends else "to close all joints"
                found.append(self._note(dof, now, said, "", why))
        for dof, said in self._speeds.items():
            if abs(v[dof] - said) > 1e-6 * max(1.0, abs(said)):
                why = "as joints would open otherwise"
                found.append(self._note(dof, float(v[dof]), said, "/s", why))
        return found

    def _note(self, dof: int, now: float, said: float, per: str, why: str) -> Finding:
        world = self.world
        unit = ("rad" if world.dof_is_angle(dof) else "m") + per
        number = int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])
        text = f"starts at {in_words(now, unit)} instead of {in_words(said, unit)}, {why}."
        return Finding("note", world.dof_name(dof), text, world.joints[number].origin)
