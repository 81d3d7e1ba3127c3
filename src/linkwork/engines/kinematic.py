"""Kinematic: joints go where their targets say, within range and speed; no forces."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np

from linkwork.blocks import read_params
from linkwork.engines.engine import Engine
from linkwork.engines.kernels import couple, follow_speeds, follow_targets, loop_state
from linkwork.kinematics.kernels import BALL, FREE, forward_poses, forward_twists
from linkwork.parts import Spec
from linkwork.state import State
from linkwork.world import Finding, World


class KinematicParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Kinematic``: which parts it owns (all that are left if absent)."""

    owns: list[str] | None = None


class Kinematic(Engine):
    """Moves joints to their targets: 002's kinematic visualisation, and scenery that moves.

    Each step a joint moves by at most target_speed·h towards its target, or by target_speed·h
    where a motor drives it; its velocity is what it moved by, divided by h, and its acceleration
    what that changed by. Where an agent knows both and the joint arrives, they are the agent's.
    Bodies of other engines feel the motion as that of an infinite mass.
    """

    type: ClassVar[str] = "kinematic"
    kinematic: ClassVar[bool] = True

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, spec, name, owned)
        read_params(spec, KinematicParams)
        kinds = world.kind[world.dof_body] if world.nv else np.zeros(0, np.int64)
        dofs = self.owned_dofs
        followers = set(world.coupling_dof[:, 0].tolist())
        single = [int(d) for d in dofs if kinds[d] not in (BALL, FREE) and d not in followers]
        self.prescribed = single
        self._still = np.array([d for d in dofs if kinds[d] in (BALL, FREE)], np.int64)
        mine = [n for n, (f, _) in enumerate(world.coupling_dof.tolist()) if f in set(dofs)]
        self._coupling = world.coupling_dof[mine], world.coupling_law[mine]
        self._bodies = np.flatnonzero(owned)
        self._mine = dofs
        self._qaddr = coordinate_of_dof(world)
        self._loops = own_loops(world, owned)

    def check(self) -> list[Finding]:
        """Loops are not closed, and balls and free bodies stay where they are."""
        found = [*super().check(), *self.idle_drives(self.prescribed)]
        for n in self._loops:
            text = "Kinematic does not close loops; the open gap is reported."
            found.append(
                Finding("soft", self.world.loop_names[n], text, self.world.loop_origins[n])
            )
        for n in np.flatnonzero(self.owned[self.world.spring_body].any(axis=1)):
            text = "Kinematic knows no forces: the spring pulls at nothing."
            where = self.world.spring_origins[n]
            found.append(Finding("soft", self.world.spring_names[n], text, where))
        found += [
            Finding("soft", name, "as a follower it may leave its own range; nothing stops it.")
            for name in self._overdriven()
        ]
        for b in self._bodies:
            if self.world.kind[b] in (BALL, FREE):
                name = self.world.body_names[b]
                text = "Kinematic leaves ball and free joints where they are."
                found.append(Finding("note", name, text, self.world.body_origins[b]))
        return found

    def _overdriven(self) -> list[str]:
        """Followers whose leader's range takes them beyond their own."""
        world, found = self.world, []
        for (follows, leads), (ratio, offset) in zip(*self._coupling, strict=True):
            ends = sorted(
                ratio * end + offset for end in (world.dof_lo[leads], world.dof_hi[leads])
            )
            if ends[0] < world.dof_lo[follows] or ends[1] > world.dof_hi[follows]:
                found.append(world.dof_name(int(follows)))
        return found

    def prepare(self, driven: list[int]) -> None:
        """Sorts the joints by what moves them: a target, or a motor's speed."""
        self._by_speed = self.by_speed(self.prescribed)
        turning = set(self._by_speed.tolist())
        self._by_target = np.array([d for d in self.prescribed if d not in turning], np.int64)

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._q_next = np.zeros_like(state.q)
        self._v_next = np.zeros_like(state.v)
        self._pose = np.zeros_like(state.pose)
        self._twist = np.zeros_like(state.twist)
        self._change = np.zeros_like(state.v)

    def _lead(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joints that arrive where an agent wants them, at the speed it knows; that is set."""
        lead, mine, world = self.state.lead, self._by_target, self.world
        known = mine[lead[0, mine] > 0.0] if lead[0].any() else mine[:0]
        if len(known):
            wanted = np.clip(self.state.target[known], world.dof_lo[known], world.dof_hi[known])
            known = known[np.abs(q[self._qaddr[known]] - wanted) <= 1e-12 * (1.0 + np.abs(wanted))]
            q[self._qaddr[known]] = np.clip(
                self.state.target[known], world.dof_lo[known], world.dof_hi[known]
            )
            v[known] = lead[1, known]
        return known

    def _follow(self, change: np.ndarray, led: np.ndarray) -> None:
        """Followers of led joints accelerate as exactly as those."""
        known = set(led.tolist())
        for (follows, leads), (ratio, _) in zip(*self._coupling, strict=True):
            if leads in known:
                change[follows] = ratio * change[leads]
                known.add(follows)

    def advance(self, h: float) -> None:  # noqa: D102
        state, world = self.state, self.world
        q, v = self._q_next, self._v_next
        q[:] = state.q
        v[:] = state.v
        v[self._still] = 0.0
        follow_targets(
            self._by_target, self._qaddr, state.q, state.target, state.target_speed,
            world.dof_lo, world.dof_hi, h, q, v,
        )  # fmt: skip
        if len(self._by_speed):
            follow_speeds(
                self._by_speed, self._qaddr, state.q, state.target_speed, world.dof_speed,
                world.dof_lo, world.dof_hi, h, q, v,
            )  # fmt: skip
        change = self._change
        change[:] = 0.0
        led = self._lead(q, v)
        couple(*self._coupling, self._qaddr, q, v)
        forward_poses(*world.tree, q, self._pose)
        forward_twists(*world.tree, world.com, q, v, self._pose, self._twist)
        mine = self._mine
        change[mine] = (v[mine] - state.v[mine]) / h
        change[led] = state.lead[2, led]
        self._follow(change, led)
        state.report.acceleration[mine] = change[mine]
        state.report.effort[mine] = 0.0
        state.q[self._qaddr[mine]] = q[self._qaddr[mine]]
        state.v[mine] = v[mine]
        state.pose[self._bodies] = self._pose[self._bodies]
        state.twist[self._bodies] = self._twist[self._bodies]
        if len(self._loops):
            self.note_gap(loop_state(
                self._loops, *world.loop_arrays, state.pose, state.loop_q, state["loop_turns"],
            ))  # fmt: skip


def own_loops(world: World, owned: np.ndarray) -> np.ndarray:
    """Numbers of the loops that close on an owned body."""
    return np.flatnonzero(owned[world.loop_body].any(axis=1))


def coordinate_of_dof(world: World) -> np.ndarray:
    """The coordinate that belongs to each degree of freedom (a quaternion's first for balls)."""
    address = np.zeros(world.nv, np.int64)
    for b in range(1, world.nb):
        first, count = int(world.vadr[b]), 0
        for i in range(first, world.nv):
            if world.dof_body[i] != b:
                break
            count += 1
        for k in range(count):
            turning = world.kind[b] == BALL or (world.kind[b] == FREE and k >= 3)
            offset = (3 if world.kind[b] == FREE else 0) if turning else k
            address[first + k] = world.qadr[b] + offset
    return address


def joint_springs(world: World) -> np.ndarray:
    """Springs of joints by degree of freedom (nv×4).

    Stiffness, rest, first number of a ball's quaternion in ``q`` or −1, and which of its axes.
    """
    laws = np.column_stack([world.stiffness, world.rest, -np.ones(world.nv), np.zeros(world.nv)])
    for dof, b in enumerate(world.dof_body.tolist()):
        if world.kind[b] == BALL:
            laws[dof, 2:] = world.qadr[b], dof - world.vadr[b]
    return np.ascontiguousarray(laws)
