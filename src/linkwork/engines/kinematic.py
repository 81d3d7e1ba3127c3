"""Kinematic: joints follow prescribed motions exactly, and their targets, without forces."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
import numpy as np

from linkwork.core.state import State
from linkwork.engines import Engine
from linkwork.engines.common import coordinate_of_dof, owned_coordinates, owned_loops
from linkwork.engines.common.kernels import (
    apply_couplings,
    follow_free,
    follow_prescribed,
    follow_speeds,
    follow_targets,
    follow_within,
    loop_state,
    note_exceeded,
)
from linkwork.engines.limit_report import LimitFinding, limit_findings
from linkwork.kinematics.kernels import BALL, FREE, forward_poses, forward_twists
from linkwork.model.blocks import read_params
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World


class KinematicParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Kinematic``.

    Attributes:
        owns: Parts that it moves; all remaining ones if absent.
        limits: "report" follows prescribed motions (formula, table, movement, walk) exactly and
            reports the limits that they exceed; "respect" keeps joints within range, max_speed and
            max_acceleration, and reports by how much they deviate.
    """

    owns: list[str] | None = None
    limits: Literal["report", "respect"] = "report"


class Kinematic(Engine):
    """Moves joints without forces (kinematic visualization, Schwanen 2002).

    A joint whose motion an agent prescribes (position, velocity and acceleration at the end of the
    step) has that motion exactly, from t = 0. Limits that it exceeds are reported. A target without
    a prescribed motion is a goal: each step the joint moves by at most target_speed·h toward it, or
    by target_speed·h if a motor drives it; velocity and acceleration are then difference quotients.
    Bodies of other engines see the motion as that of an infinite mass.
    """

    type: ClassVar[str] = "kinematic"
    kinematic: ClassVar[bool] = True

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, spec, name, owned)
        self.respects_limits = read_params(spec, KinematicParams).limits == "respect"
        kinds = world.kind[world.dof_body] if world.nv else np.zeros(0, np.int64)
        dofs = self.owned_dofs
        followers = set(world.coupling_dof[:, 0].tolist())
        single = [int(d) for d in dofs if kinds[d] not in (BALL, FREE) and d not in followers]
        self._free = np.array([b for b in np.flatnonzero(owned) if world.kind[b] == FREE], np.int64)
        self._single = single
        self.prescribed = single + [int(world.vadr[b]) + k for b in self._free for k in range(6)]
        self._measured = np.array([d for d in dofs if kinds[d] not in (BALL, FREE)], np.int64)
        self._still = np.array([d for d in dofs if kinds[d] == BALL], np.int64)
        mine = [n for n, (f, _) in enumerate(world.coupling_dof.tolist()) if f in set(dofs)]
        self._coupling = world.coupling_dof[mine], world.coupling_law[mine]
        self._bodies = np.flatnonzero(owned)
        self._mine = dofs
        self._qaddr, self._coordinates = coordinate_of_dof(world), owned_coordinates(world, owned)
        self._loops = owned_loops(world, owned)

    def check(self) -> list[Finding]:
        """Notes loops that are not closed, and ball joints that do not move."""
        found = [*super().check(), *self.ineffective_drives(self._single)]
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
            if self.world.kind[b] == BALL:
                name = self.world.body_names[b]
                text = "Kinematic does not move ball joints."
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
        self._speed_driven = self.speed_driven(self._single)
        turning = set(self._speed_driven.tolist())
        self._position_driven = np.array([d for d in self._single if d not in turning], np.int64)
        self._followed = frozenset(d for d in self.prescribed if d not in turning)

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Limits that the motion exceeds, see ``note_limit``; the last targets of free bodies."""
        return {"limits": (self.world.nv, 4, 4), "free_targets": (len(self._free), 6)}

    def reset(self) -> None:
        """Keeps free bodies where they are until a target is set."""
        for n, b in enumerate(self._free.tolist()):
            first = int(self.world.vadr[b])
            self.slot("free_targets")[n] = self.state.target[first : first + 6]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._q_next = np.zeros_like(state.q)
        self._v_next = np.zeros_like(state.v)
        self._pose = np.zeros_like(state.pose)
        self._twist = np.zeros_like(state.twist)
        self._change = np.zeros_like(state.v)

    def follows_exactly(self, dof: int) -> bool:  # noqa: D102
        return dof in self._followed

    def limits(self) -> list[LimitFinding]:  # noqa: D102
        return self._limit_findings()

    def _limit_findings(self, since: int = -1) -> list[LimitFinding]:
        table, h = self.slot("limits"), self.world.scene.step
        return limit_findings(
            self.world, table, h, respected=self.respects_limits, since=since,
        )  # fmt: skip

    def note(self, new: int, step: int, *, effort: bool = False) -> None:
        """Adds a notice for each limit of motion, or of effort, that is new at this step."""
        if new:
            found = self._limit_findings(step)
            self.notices += [f.notice() for f in found if (f.limit == "max_effort") == effort]

    def place_start(self) -> bool:
        """Moves joints to their prescribed motions at t = 0."""
        led = any(self.state.lead[0, dof] > 0.0 for dof in self._followed)
        if led:
            self._move(0.0, 0)
        return led

    def _follow_mimic(self, acceleration: np.ndarray, planned: np.ndarray) -> None:
        """Sets the accelerations of followers of planned joints."""
        known = set(planned.tolist())
        for (follows, leads), (ratio, _) in zip(*self._coupling, strict=True):
            if leads in known:
                acceleration[follows] = ratio * acceleration[leads]
                known.add(follows)

    def advance(self, h: float) -> None:  # noqa: D102
        self._move(h, self.state.step + 1)

    def _follow(self, h: float, step: int) -> None:
        """Computes the next coordinates, velocities and accelerations of driven joints.

        ``h`` is 0 at the start, where prescribed joints are placed.
        """
        state, world = self.state, self.world
        q, v, change = self._q_next, self._v_next, self._change
        lead, dofs = state.lead, self._position_driven
        if h > 0.0:
            v[self._still] = 0.0
            follow_targets(
                dofs, self._qaddr, state.q, state.target, state.target_speed,
                world.dof_lo, world.dof_hi, h, q, v,
            )  # fmt: skip
            if len(self._speed_driven):
                follow_speeds(
                    self._speed_driven, self._qaddr, state.q, state.target_speed,
                    world.dof_speed, world.dof_lo, world.dof_hi, h, q, v,
                )  # fmt: skip
        apply_couplings(*self._coupling, self._qaddr, q, v)
        change[:] = (v - state.v) / h if h > 0.0 else 0.0
        if len(self._free):
            follow_free(
                self._free, world.qadr, world.vadr, state.q, state.v, lead, state.target,
                self.slot("free_targets"), h, q, v, change,
            )  # fmt: skip
        if not lead[0].any():
            return
        if self.respects_limits and h > 0.0:
            new = follow_within(
                dofs, self._qaddr, state.q, state.v, lead, world.dof_speed, state.target_speed,
                self.max_acceleration, world.dof_lo, world.dof_hi, h, step, q, v, change,
                self.slot("limits"),
            )  # fmt: skip
            self.note(new, step)
        else:
            follow_prescribed(dofs, self._qaddr, lead, state.target, q, v, change)
            if self.respects_limits:
                self._start_within(dofs[lead[0, dofs] > 0.0], q, v, change)
        apply_couplings(*self._coupling, self._qaddr, q, v)
        self._follow_mimic(change, dofs[lead[0, dofs] > 0.0])

    def _start_within(
        self, dofs: np.ndarray, q: np.ndarray, v: np.ndarray, change: np.ndarray
    ) -> None:  # fmt: skip
        """Keeps the start of prescribed motions within range, velocity and acceleration limits."""
        world, at = self.world, self._qaddr[dofs]
        goal = np.clip(q[at], world.dof_lo[dofs], world.dof_hi[dofs])
        top = np.minimum(world.dof_speed[dofs], self.state.target_speed[dofs])
        speed = np.where(goal == q[at], np.clip(v[dofs], -top, top), 0.0)
        hard = self.max_acceleration[dofs]
        change[dofs] = np.where(speed == v[dofs], np.clip(change[dofs], -hard, hard), 0.0)
        q[at], v[dofs] = goal, speed

    def _move(self, h: float, step: int) -> None:
        """Moves joints and bodies, and fills the report; ``h`` is 0 at the start."""
        state, world, mine = self.state, self.world, self._mine
        q, v, change = self._q_next, self._v_next, self._change
        q[:] = state.q
        v[:] = state.v
        self._follow(h, step)
        if not self.respects_limits:
            new = note_exceeded(
                self._measured, self._qaddr, q, v, change, state.q, state.lead, world.dof_speed,
                state.target_speed, self.max_acceleration, world.dof_lo, world.dof_hi, h, step,
                self.slot("limits"),
            )  # fmt: skip
            self.note(new, step)
        forward_poses(*world.tree, q, self._pose)
        forward_twists(*world.tree, world.com, q, v, self._pose, self._twist)
        state.report.acceleration[mine] = change[mine]
        state.report.effort[mine] = 0.0
        state.q[self._coordinates] = q[self._coordinates]
        state.v[mine] = v[mine]
        state.pose[self._bodies] = self._pose[self._bodies]
        state.twist[self._bodies] = self._twist[self._bodies]
        if len(self._loops):
            self.note_gap(loop_state(
                self._loops, *world.loop_arrays, state.pose, state.loop_q, state["loop_turns"],
            ))  # fmt: skip
