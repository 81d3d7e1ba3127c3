"""Kinematic: joints follow their targets within range and velocity limits, without forces."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np

from linkwork.core.state import State
from linkwork.engines import Engine
from linkwork.engines.common import coordinate_of_dof, owned_loops
from linkwork.engines.common.kernels import (
    apply_couplings,
    follow_speeds,
    follow_targets,
    loop_state,
)
from linkwork.kinematics.kernels import BALL, FREE, forward_poses, forward_twists
from linkwork.model.blocks import read_params
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World


class KinematicParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Kinematic``.

    Attributes:
        owns: Parts that it moves; all remaining ones if absent.
    """

    owns: list[str] | None = None


class Kinematic(Engine):
    """Moves joints to their targets without forces (kinematic visualization, Schwanen 2002).

    Each step a joint moves by at most target_speed·h toward its target, or by target_speed·h if a
    motor drives it; velocity and acceleration are difference quotients. If an agent plans both and
    the joint arrives, they are the agent's. Bodies of other engines see the motion as that of an
    infinite mass.
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
        self._loops = owned_loops(world, owned)

    def check(self) -> list[Finding]:
        """Notes loops that are not closed, and ball and free joints that do not move."""
        found = [*super().check(), *self.ineffective_drives(self.prescribed)]
        for n in self._loops:
            text = "Kinematic does not close loops; the open gap is reported."
            found.append(
                Finding("approximated", self.world.loop_names[n], text, self.world.loop_origins[n])
            )
        for n in np.flatnonzero(self.owned[self.world.spring_body].any(axis=1)):
            text = "Kinematic has no forces: the spring has no effect."
            where = self.world.spring_origins[n]
            found.append(Finding("approximated", self.world.spring_names[n], text, where))
        found += [
            Finding("approximated", name, "as a follower it may leave its own range.")
            for name in self._mimics_out_of_range()
        ]
        for b in self._bodies:
            if self.world.kind[b] in (BALL, FREE):
                name = self.world.body_names[b]
                text = "Kinematic does not move ball and free joints."
                found.append(Finding("note", name, text, self.world.body_origins[b]))
        return found

    def _mimics_out_of_range(self) -> list[str]:
        """Returns followers whose leader's range exceeds their own."""
        world, found = self.world, []
        for (follows, leads), (ratio, offset) in zip(*self._coupling, strict=True):
            ends = sorted(
                ratio * end + offset for end in (world.dof_lo[leads], world.dof_hi[leads])
            )
            if ends[0] < world.dof_lo[follows] or ends[1] > world.dof_hi[follows]:
                found.append(world.dof_name(int(follows)))
        return found

    def prepare(self, driven: list[int]) -> None:
        """Separates joints that follow a target from those with a motor's velocity."""
        self._speed_driven = self.speed_driven(self.prescribed)
        turning = set(self._speed_driven.tolist())
        self._position_driven = np.array([d for d in self.prescribed if d not in turning], np.int64)

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._q_next = np.zeros_like(state.q)
        self._v_next = np.zeros_like(state.v)
        self._pose = np.zeros_like(state.pose)
        self._twist = np.zeros_like(state.twist)
        self._change = np.zeros_like(state.v)

    def _apply_planned_motion(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Sets joints that reach an agent's target to its planned velocity; returns them."""
        lead, dofs, world = self.state.lead, self._position_driven, self.world
        planned = dofs[lead[0, dofs] > 0.0] if lead[0].any() else dofs[:0]
        if len(planned):
            targets = np.clip(
                self.state.target[planned], world.dof_lo[planned], world.dof_hi[planned]
            )
            planned = planned[
                np.abs(q[self._qaddr[planned]] - targets) <= 1e-12 * (1.0 + np.abs(targets))
            ]
            q[self._qaddr[planned]] = np.clip(
                self.state.target[planned], world.dof_lo[planned], world.dof_hi[planned]
            )
            v[planned] = lead[1, planned]
        return planned

    def _follow_mimic(self, acceleration: np.ndarray, planned: np.ndarray) -> None:
        """Sets the accelerations of followers of planned joints."""
        known = set(planned.tolist())
        for (follows, leads), (ratio, _) in zip(*self._coupling, strict=True):
            if leads in known:
                acceleration[follows] = ratio * acceleration[leads]
                known.add(follows)

    def advance(self, h: float) -> None:  # noqa: D102
        state, world = self.state, self.world
        q, v = self._q_next, self._v_next
        q[:] = state.q
        v[:] = state.v
        v[self._still] = 0.0
        follow_targets(
            self._position_driven, self._qaddr, state.q, state.target, state.target_speed,
            world.dof_lo, world.dof_hi, h, q, v,
        )  # fmt: skip
        if len(self._speed_driven):
            follow_speeds(
                self._speed_driven, self._qaddr, state.q, state.target_speed, world.dof_speed,
                world.dof_lo, world.dof_hi, h, q, v,
            )  # fmt: skip
        change = self._change
        change[:] = 0.0
        led = self._apply_planned_motion(q, v)
        apply_couplings(*self._coupling, self._qaddr, q, v)
        forward_poses(*world.tree, q, self._pose)
        forward_twists(*world.tree, world.com, q, v, self._pose, self._twist)
        mine = self._mine
        change[mine] = (v[mine] - state.v[mine]) / h
        change[led] = state.lead[2, led]
        self._follow_mimic(change, led)
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
