"""The impulse engine between our state and our state."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linkwork.blocks import read_params
from linkwork.engines.engine import Engine
from linkwork.engines.impulse import phase_kernels as phases
from linkwork.engines.impulse.anytime_kernels import leap_anytime
from linkwork.engines.impulse.body_kernels import L, Q, V, X
from linkwork.engines.impulse.build import Builder, make_desk, make_scratch
from linkwork.engines.impulse.closing_kernels import close
from linkwork.engines.impulse.coordinate_kernels import (
    give_coordinates,
    give_poses,
    give_quaternions,
    take_poses,
)
from linkwork.engines.impulse.joint_kernels import TURNS, S
from linkwork.engines.impulse.params import ImpulseParams
from linkwork.engines.impulse.row_kernels import (  # fmt: skip
    DAMP,
    DOF,
    DRIVE,
    JOINT,
    KEEPS,
    NEVER,
    PRESCRIBED,
    Q0,
    ROW,
    RUB,
    SLIP,
    STOP,
    TARGET,
    WAY,
)
from linkwork.engines.impulse.step_kernels import step
from linkwork.engines.kernels import follow_speeds, follow_targets, grab_forces, loop_state
from linkwork.engines.kinematic import coordinate_of_dof, own_loops
from linkwork.engines.mujoco.kernels import add_energies
from linkwork.errors import EngineError, listing
from linkwork.kinematics.kernels import RAIL, SCREW, forward_poses
from linkwork.parts import Spec
from linkwork.state import State
from linkwork.world import Finding, World

#: How often a step is halved before the run gives up.
MOST_HALVES = 6
_KEPT = np.r_[X : X + 3, Q : Q + 4, V : V + 3, L : L + 3]


class Impulse(Engine):
    """Joints and loops held by impulses, to a stated tolerance, by default.

    Before each step impulses are found after which, once the bodies have flown freely for the
    step, every joint is closed; after it, others that leave no joint a speed that would open it.
    """

    type: ClassVar[str] = "impulse"

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, spec, name, owned)
        self.params = read_params(spec, ImpulseParams)
        self.prescribed = [world.single_dof(j, origin=spec.origin) for j in self.params.prescribed]
        self._loops = own_loops(world, owned)
        self._dofs = self.owned_dofs
        self._qaddr = coordinate_of_dof(world)

    def check(self) -> list[Finding]:
        """What cannot be done, or is not done, with this world."""
        world, found = self.world, super().check()
        for b in np.flatnonzero(self.owned):
            if not (world.mass[b] > 0.0 and np.trace(world.inertia[b]) > 0.0):
                text = "Impulse needs a mass and an extent of every body that moves."
                found.append(Finding("error", world.body_names[b], text, world.body_origins[b]))
        for n in self._loops:
            if world.loop_kind[n] in (SCREW, RAIL):
                text = "Impulse closes no loop by a screw or a rail: they belong into the tree."
                found.append(Finding("error", world.loop_names[n], text, world.loop_origins[n]))
        for (follows, _), words in zip(world.coupling_dof, world.coupling_words, strict=True):
            if self.owned[world.dof_body[follows]] and words.get("polycoef"):
                text = "of its coupling Impulse follows the ratio and the offset only."
                found.append(Finding("soft", world.dof_name(int(follows)), text))
        if touching := self._touchable(self.owned):
            text = "Impulse knows no contacts: it passes through everything. Mujoco knows them."
            found.append(Finding("soft", listing(touching, most=4), text, self.spec.origin))
        return found

    def prepare(self, driven: list[int]) -> None:
        """Builds the arrays of the mechanism."""
        world = self.world
        poses = np.zeros((world.nb, 7))
        forward_poses(*world.tree, world.q0, poses)
        mine = [d for d in driven if self.owned[world.dof_body[d]]]
        self._builder = Builder(world, self.owned, poses, self.prescribed, mine)
        self.made = self._builder.build()
        self._desk, self._scratch = make_desk(self.made), make_scratch()
        pattern = self.made.pattern
        self._pattern = (
            pattern.columns, pattern.row_of, pattern.updates, pattern.update_of, pattern.pairs
        )  # fmt: skip
        self._mechanism = (self.made.bodies, self.made.whole, self.made.number, self.made.rail)
        self._mean = np.zeros((len(self.made.bodies), 12))
        self._account = np.zeros(phases.ACCOUNT_COLUMNS)
        self._ready = np.zeros(0)

    def slots(self) -> dict[str, tuple[int, ...]]:
        """The bodies as they are kept here, what was written to the state, and the last phases."""
        bodies, joints = len(self.made.own), len(self.made.whole)
        return {
            "bodies": (bodies, 13),
            "written": (bodies, 13),
            "past": (3, 3, joints, 6),
            "int:known": (3,),
            "arcs": (joints, 2),
            "pieces": (len(self.made.soft), 5),
        }

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._kept, self._written = self.slot("bodies"), self.slot("written")
        self._past, self._known = self.slot("past"), self.slot("known")
        self._arcs, self._pieces = self.slot("arcs"), self.slot("pieces")
        self._wrench = np.zeros((len(self.made.own) + 1, 6))
        self._q_next, self._v_next = state.q.copy(), state.v.copy()
        self._by_speed = self.by_speed(self.prescribed)
        turning = set(self._by_speed.tolist())
        self._by_target = np.array([d for d in self.prescribed if d not in turning], np.int64)
        rows = np.flatnonzero(self.made.soft_whole[:, KEEPS] == PRESCRIBED)
        self._prescribed_rows = np.column_stack([rows, self.made.soft_whole[rows, DOF]])
        self._grabs = np.zeros((self.world.nb, 6))
        self._pulling = False
        world, report = self.world, state.report
        laws = np.column_stack(
            [world.stiffness, world.rest, -np.ones(world.nv), np.zeros(world.nv)]
        )
        self._energies = (
            self.made.own, state.pose, state.twist, state["param/mass"], world.mass, world.com,
            world.inertia, state["param/gravity"], self._dofs, self._qaddr, state.q, state.v,
            np.ascontiguousarray(laws), world.armature, report.energy,
        )  # fmt: skip

    def reset(self) -> None:  # noqa: D102
        self._past[:] = 0.0
        self._known[:] = 0
        self._written[:] = np.nan
        self._pieces[:] = 0.0
        self._ready = np.zeros(0)

    def assemble(self) -> list[Finding]:
        """Closes joints and loops that the scene leaves slightly open, and says by how much."""
        _state, made = self.state, self.made
        if not len(made.whole):
            return []
        self._enter()
        before = made.bodies[:-1, X : X + 3].copy()
        self._account[:] = 0.0
        self._close(0.0)
        moved = np.linalg.norm(made.bodies[:-1, X : X + 3] - before, axis=1)
        self._leave(1.0)
        self._after_closing()
        found = []
        if (most := float(moved.max(initial=0.0))) > 1e-9:
            name = self.world.body_names[made.own[int(moved.argmax())]]
            text = f"was moved by {1e3 * most:.3g} mm, more than others, to close all joints."
            found.append(Finding("note", name, text, self.spec.origin))
        if lost := int(self._account[phases.REDUNDANT]):
            text = (
                f"{lost} of the ways in which joints hold it are held by others too; forces that "
                "they share cannot be told apart."
            )
            names = [n for n, loop in zip(made.names, made.loops, strict=True) if loop >= 0]
            found.append(Finding("note", listing(names or made.names, most=4), text))
        return found

    def _close(self, time: float) -> None:
        """Brings bodies together that were put apart, and takes away speeds that open joints."""
        made, diagonal = self.made, self._desk[5]
        diagonal[made.soft_whole[:, JOINT], made.soft_whole[:, ROW]] = NEVER  # as they move
        found = close(
            self._mechanism, self._pattern, self._desk, self._scratch, 1e-13, 50, self._account
        )
        if found != phases.DONE and not self._account[phases.GAP] <= self.params.gap:
            name = made.names[int(self._account[phases.WHERE])]
            raise EngineError(
                f"{name} cannot be closed: it stays open by {self._account[phases.GAP]:.3g} "
                "(m or rad), whatever the others do.",
                origin=self.spec.origin,
                hint="Joints of a loop contradict each other, or it is drawn too far open.",
            )
        phases.project_speeds(
            self._mechanism, self._pattern, self._desk, made.soft_whole, made.soft, 1.0
        )

    def _after_closing(self) -> None:
        self.state.report.energy[:] = 0.0
        self.state.report.acceleration[self._dofs] = 0.0

    def params_changed(self) -> None:
        """Takes masses, friction, damping and gravity over."""
        state, made = self.state, self.made
        mass = state["param/mass"]
        self._builder.weigh(made.bodies, mass)
        share = mass[made.own] / self.world.mass[made.own]
        made.mount[:, 7:10] = self._builder.mount[:, 7:10] * share[:, None]
        self._wrench[:-1, :3] = mass[made.own, None] * state["param/gravity"]
        self._wrench[:-1, 3:] = 0.0
        if len(made.soft):
            dofs = made.soft_whole[:, 2]
            made.soft[:, DAMP] = state["param/damping"][dofs]
            made.soft[:, RUB] = state["param/joint_friction"][dofs]
        self._pulling = bool(state["param/grab"][:, 0].any())
        self._ready = np.zeros(0)

    def _enter(self) -> bool:
        """Takes the bodies from the state; true if rows and K of them are on the desk."""
        state, made = self.state, self.made
        own, bodies = made.own, made.bodies
        now = np.concatenate([state.pose[own], state.twist[own]], axis=1)
        if not np.array_equal(now, self._written):
            take_poses(own, made.mount, state.pose, state.twist, bodies)
            self._kept[:] = bodies[:-1, _KEPT]
            self._known[:] = 0
            self._take_arcs()
            self._pieces[:] = 0.0
            if len(made.soft):
                self._pieces[:, 0] = state.q[made.soft_whole[:, 3]]
            self._ready = np.zeros(0)
        if self._ready.shape == self._kept.shape and np.array_equal(self._ready, self._kept):
            return True
        take_poses(own, made.mount, state.pose, state.twist, bodies)
        bodies[:-1, _KEPT] = self._kept
        phases.refresh(bodies)
        made.number[:, S : TURNS + 1] = self._arcs
        if len(made.soft):
            made.soft[:, [Q0, DRIVE, SLIP, STOP]] = self._pieces[:, :4]
            made.soft[:, WAY] = 0.0
        return False

    def _take_arcs(self) -> None:
        """Arc lengths and angles of screws, from the coordinates."""
        self._arcs[:] = self.made.number[:, S : TURNS + 1]
        for n, a, _ in self.made.tree:
            self._arcs[n, 0] = self.state.q[a]
        for n, a in self.made.coupled:
            self._arcs[n, 1] = self.state.q[a]

    def advance(self, h: float) -> None:  # noqa: D102
        fresh = self._enter()
        if self._pulling:
            self._pull()
        _state, _made = self.state, self.made
        self._account[:] = 0.0
        if self.prescribed:
            self._prescribe(h)
        done = self._step(h, fresh)
        if done != phases.DONE:
            self._halve(h, done)
        self._leave(h)

    def _step(self, h: float, fresh: bool) -> int:
        made, params = self.made, self.params
        if params.solver == "anytime":
            return leap_anytime(
                self._mechanism, self._pattern, self._desk, self._scratch, made.soft_whole,
                made.soft, self.state.drive, self._wrench, h, params.gap, params.speed_gap,
                params.most, self._account,
            )  # fmt: skip
        gap = min(params.gap, (1e-4 if params.order == 2 else 1e-5) * self.world.scene.step**2)
        return step(
            self._mechanism, self._pattern, self._desk, self._scratch, made.soft_whole, made.soft,
            self.state.drive, self._wrench, self._past, self._known, self._mean, h, params.order,
            gap, params.most, fresh, self._account,
        )  # fmt: skip

    def _halve(self, h: float, done: int) -> None:
        """Takes a step that did not close in pieces, or stops."""
        made = self.made
        if self.params.on_gap == "stop":
            self._give_up(h)
        for halves in range(1, MOST_HALVES + 1):
            made.bodies[:-1, _KEPT] = self._kept
            phases.refresh(made.bodies)
            self._known[:] = 0
            made.number[:, S : TURNS + 1] = self._arcs
            made.soft[:, [Q0, DRIVE, SLIP, STOP]] = self._pieces[:, :4]
            made.soft[:, WAY] = 0.0
            for part in range(2**halves):
                done = self._step(h / 2**halves, part > 0)
                if done != phases.DONE:
                    break
            if done == phases.DONE:
                self._known[:] = 0
                return
        self._give_up(h)

    def _give_up(self, h: float) -> None:
        account = self._account
        name = self.made.names[int(account[phases.WHERE])]
        self._ready = np.zeros(0)
        raise EngineError(
            f"{name} cannot be closed at {self.state.step * h:.3f} s: it is open by "
            f"{account[phases.GAP]:.3g} after {self.params.most} iterations.",
            hint="Use a smaller step, or look for joints that contradict each other.",
        )

    def _pull(self) -> None:
        state, own = self.state, self.made.own
        self._grabs[:] = 0.0
        grab_forces(
            state["param/grab"], state.pose, state.twist, self.world.com, self.owned, self._grabs
        )
        mass = state["param/mass"]
        self._wrench[:-1, :3] = mass[own, None] * state["param/gravity"] + self._grabs[own, :3]
        self._wrench[:-1, 3:] = self._grabs[own, 3:]

    def _prescribe(self, h: float) -> None:
        """Says where prescribed joints must be after the step."""
        state, world = self.state, self.world
        limits = world.dof_lo, world.dof_hi, h, self._q_next, self._v_next
        follow_targets(
            self._by_target, self._qaddr, state.q, state.target, state.target_speed, *limits
        )
        follow_speeds(
            self._by_speed, self._qaddr, state.q, state.target_speed, world.dof_speed, *limits
        )
        rows, dofs = self._prescribed_rows.T
        self.made.soft[rows, TARGET] = self._q_next[self._qaddr[dofs]]

    def _leave(self, h: float) -> None:
        """Writes state and report."""
        state, made, world = self.state, self.made, self.world
        bodies = made.bodies
        give_poses(made.own, made.mount, bodies, state.pose, state.twist)
        before = state.v[self._dofs].copy()
        give_coordinates(self._mechanism, self._scratch, made.tree, state.q, state.v)
        if len(made.turning):
            give_quaternions(
                made.turning, world.tree[0], world.tree[1], state.pose, state.twist, world.com,
                state.q, state.v,
            )  # fmt: skip
        state.report.acceleration[self._dofs] = (state.v[self._dofs] - before) / h
        state.report.effort[self._dofs] = 0.0
        if len(made.soft):
            phases.give_efforts(
                self._desk, made.soft_whole, made.soft, state.drive, self._qaddr, state.q, state.v,
                h / (self.params.order // 2), state.report.effort,
            )  # fmt: skip
        self._kept[:] = bodies[:-1, _KEPT]
        own = made.own
        self._written[:, :7], self._written[:, 7:] = state.pose[own], state.twist[own]
        self._arcs[:] = made.number[:, S : TURNS + 1]
        if len(made.soft):
            self._pieces[:, 0] = made.soft[:, Q0] + made.soft[:, WAY]
            self._pieces[:, 1:4] = made.soft[:, [DRIVE, SLIP, STOP]]
        self._ready = self._kept.copy()
        if len(self._loops):
            gap = loop_state(
                self._loops, world.loop_kind, world.loop_body, world.loop_pose, world.loop_axis,
                state.pose, state.loop_q, state["loop_turns"],
            )  # fmt: skip
            state.report.gap[0] = max(state.report.gap[0], gap)
        add_energies(*self._energies)
