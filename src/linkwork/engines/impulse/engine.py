"""The impulse engine between our state and our state."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from linkwork.blocks import SignalSpec, read_params
from linkwork.engines.account import Account
from linkwork.engines.engine import Engine
from linkwork.engines.impulse import account_kernels as keeping
from linkwork.engines.impulse import phase_kernels as phases
from linkwork.engines.impulse.account_kernels import keep_account
from linkwork.engines.impulse.adams import not_joints_alone
from linkwork.engines.impulse.bearing import bearing_signals
from linkwork.engines.impulse.bearing_kernels import BEARING_COLUMNS, give_bearings
from linkwork.engines.impulse.build import Builder
from linkwork.engines.impulse.circle import circle_through
from linkwork.engines.impulse.closing_kernels import close
from linkwork.engines.impulse.coordinate_kernels import (
    give_coordinates,
    give_poses,
    give_quaternions,
    take_poses,
)
from linkwork.engines.impulse.findings import notes_of_closing, notes_of_joints, shortcomings
from linkwork.engines.impulse.forces import joint_forces, joint_values
from linkwork.engines.impulse.joint_columns import ARCS
from linkwork.engines.impulse.landing_kernels import give_efforts
from linkwork.engines.impulse.mobility import mobilities
from linkwork.engines.impulse.params import ImpulseParams
from linkwork.engines.impulse.places import place_on
from linkwork.engines.impulse.reasons import origin_of, size_of
from linkwork.engines.impulse.row_kernels import (  # fmt: skip
    DAMP,
    DOF,
    JOINT,
    KEEPS,
    NEVER,
    PRESCRIBED,
    RATE,
    REST,
    ROW,
    RUB,
    STIFF,
    WAY,
)
from linkwork.engines.impulse.start import Start
from linkwork.engines.impulse.stepper import KEPT, REMEMBERED, Stepper
from linkwork.engines.impulse.ways import far_moved
from linkwork.engines.kernels import follow_speeds, follow_targets, grab_forces, loop_state
from linkwork.engines.kinematic import coordinate_of_dof, joint_springs, own_loops
from linkwork.engines.mobility import Mobility
from linkwork.engines.mujoco.kernels import add_energies
from linkwork.engines.spring_kernels import spring_state
from linkwork.errors import EngineError, listing
from linkwork.kinematics.kernels import BALL, forward_poses
from linkwork.parts import Spec
from linkwork.state import State
from linkwork.world import Finding, World

#: Where in the pieces it stands what a row was lent.
_LENT = len(REMEMBERED) - 1


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
        found = super().check() + shortcomings(self.world, self.owned)
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
        self._lay_out()
        self.stepper.check(self.spec.origin)

    def _lay_out(self) -> None:
        self.made = self._builder.build()
        self.stepper = Stepper(self.world, self.made, self.params, self._builder.poses)
        self._ready = np.zeros(0)

    def slots(self) -> dict[str, tuple[int, ...]]:
        """The bodies as they are kept here, what was written to the state, and the last phases.

        Pieces have a row for each degree of freedom, then for each row of a spring; mass and acting
        are of the last step.
        """
        bodies, joints = len(self.made.own), len(self.made.whole)
        return {
            "bodies": (bodies, 13),
            "written": (bodies, 13),
            **self.stepper.slots(),
            "arcs": (joints, 3),
            "pieces": (self.world.nv + len(self.made.springs), len(REMEMBERED)),
            "mass": (bodies,),
            "acting": (self.world.nv,),
            "account": (keeping.KEPT_COLUMNS,),
            "bearings": (joints, BEARING_COLUMNS),
        }

    def signals(self) -> list[SignalSpec]:
        """``<joint>.force``, ``_x``, ``_y``, ``_z`` and ``<joint>.moment``."""
        return [*super().signals(), *bearing_signals(self.made, self.field("bearings"))]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._kept, self._written = self.slot("bodies"), self.slot("written")
        self._arcs, self._pieces = self.slot("arcs"), self.slot("pieces")
        self._told, self._bearings = self.slot("account"), self.slot("bearings")
        self._wrench = np.zeros((len(self.made.own) + 1, 6))
        self._q_next, self._v_next = state.q.copy(), state.v.copy()
        self._by_speed = self.by_speed(self.prescribed)
        turning = set(self._by_speed.tolist())
        self._by_target = np.array([d for d in self.prescribed if d not in turning], np.int64)
        fields = [
            state.layout.fields[self.field(slot.removeprefix("int:"))] for slot in self.slots()
        ]
        self._memory = state.data[fields[0].offset : fields[-1].offset + fields[-1].size]
        self._noted: np.ndarray | None = None
        self._grabs = np.zeros((self.world.nb, 6))
        self._each_dof = np.arange(self.world.nv)
        self._pulling = False
        world, report = self.world, state.report
        kind, body, _pose, axis, pieces, track = world.loop_arrays
        self._loop_arrays = kind, body, self._builder.loop_pose, axis, pieces, track
        self._springs = np.unique(self.made.springs[:, 1])
        self._spring_arrays = (
            self._springs, *world.spring_arrays, state["param/spring"], state.pose, state.twist,
            world.com, report.spring,
        )  # fmt: skip
        self._drive = np.zeros((5, world.nv + 1))  # the last is that of springs, which have none
        self._drive[3, -1], self._drive[4, -1] = -np.inf, np.inf
        self._bind_rows()
        self._energies = (
            self.made.own, state.pose, state.twist, state["param/mass"], world.mass, world.com,
            world.inertia, state["param/gravity"], self._dofs, self._qaddr, state.q, state.v,
            joint_springs(world), world.armature, report.energy,
        )  # fmt: skip

    def _bind_rows(self) -> None:
        """Binds what depends on which degrees of freedom have rows along which something acts."""
        rows = np.flatnonzero(self.made.soft_whole[:, KEEPS] == PRESCRIBED)
        self._prescribed_rows = np.column_stack([rows, self.made.soft_whole[rows, DOF]])
        bodies = np.unique(self.world.dof_body[self.made.soft_whole[: self.made.laws, DOF]])
        self._balls = bodies[self.world.kind[bodies] == BALL]
        memory = {name: self.slot(name.rpartition(":")[2]) for name in self.stepper.slots()}
        self.stepper.bind(
            memory, self._kept, self._arcs, self._pieces, self._drive, self._wrench
        )  # fmt: skip
        self._changed = True

    def _note(self) -> None:
        """Remembers all that is kept before it is made to fit what others changed."""
        if self._noted is None:
            self._noted = self._memory.copy()

    def reset(self) -> None:  # noqa: D102
        self.stepper.reset()
        self._written[:] = np.nan
        self._pieces[:] = 0.0
        self._told[:] = 0.0
        self._bearings[:] = 0.0
        self.slot("mass")[:] = self.state["param/mass"][self.made.own]
        self.slot("acting")[:] = 0.0
        self._ready = np.zeros(0)

    def carry(self, before: Engine, dofs: list[tuple[int, int]]) -> None:  # noqa: D102
        if isinstance(before, Impulse):
            for there, here in dofs:
                self._pieces[here, _LENT] += before._pieces[there, _LENT]

    def assemble(self) -> list[Finding]:
        """Closes joints and loops that the scene leaves slightly open, and says by how much."""
        made = self.made
        if not len(made.whole):
            return []
        self._enter()
        before = made.bodies[:-1, KEPT].copy()
        self.stepper.account[:] = 0.0
        start = Start(
            self.world, self._builder, self.params, made, self._dofs, self._qaddr,
            self.prescribed, self.state.q.copy(), self.state.v.copy(), self.state.step == 0,
        )  # fmt: skip
        start.close(self._close, self._read)
        moved, turned = far_moved(before, made.bodies[:-1, KEPT])
        self._leave(1.0, 0.0)
        self._after_closing()
        return [
            *notes_of_closing(self.world, made, moved, turned, self.spec.origin),
            *start.notes(self.state.q, self.state.v),
            *notes_of_joints(
                self.world, made, self._builder.facing, int(self.stepper.account[phases.REDUNDANT])
            ),
        ]

    def _read(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds as bodies stand, but for those of balls and free bodies."""
        q, v = self.state.q.copy(), self.state.v.copy()
        made, stepper = self.made, self.stepper
        give_coordinates(
            stepper.mechanism, stepper.scratch, made.tree, made.soft_whole[:0], made.soft[:0], 0.0,
            q, v,
        )  # fmt: skip
        return q, v

    def _close(self) -> None:
        """Brings bodies together that were put apart, and takes away speeds that open joints."""
        made, stepper, account = self.made, self.stepper, self.stepper.account
        diagonal = stepper.desk[5]
        diagonal[made.soft_whole[:, JOINT], made.soft_whole[:, ROW]] = NEVER  # as they move
        found = close(
            stepper.mechanism, stepper.pattern, stepper.desk, stepper.scratch, made.soft_whole,
            made.soft, 1e-13, 50, account,
        )  # fmt: skip
        if found != phases.DONE and not account[phases.GAP] <= self.params.gap:
            joint = int(account[phases.WHERE])
            name, *others = circle_through(made, joint)
            do = "does" if len(others) == 1 else "do"
            around = f", whatever {listing(others, most=20)} {do}" if others else ""
            raise EngineError(
                f"{name} cannot be closed: it stays open by "
                f"{size_of(made, joint, stepper.desk[6])}{around}.",
                origin=origin_of(self.world, made, [name, *others]) or self.spec.origin,
                hint="These joints make a loop and contradict each other, or it is drawn too far "
                "open.",
            )
        stepper.project_speeds(1.0)

    def _after_closing(self) -> None:
        self.state.report.energy[:] = 0.0
        self.state.report.acceleration[self._dofs] = 0.0

    def params_changed(self) -> None:
        """Takes masses, friction, damping and gravity over.

        Joints are laid out anew where damping or friction is set that had none, or is none again.
        """
        state = self.state
        acting = (state["param/damping"] != 0.0) | (state["param/joint_friction"] != 0.0)
        acting &= self._builder.loose
        if not np.array_equal(acting, self._builder.acting):
            self._builder.acting[:] = acting
            self._lay_out()
            self._bind_rows()
        made, mass = self.made, state["param/mass"]
        self._builder.weigh(made.bodies, mass)
        share = mass[made.own] / self.world.mass[made.own]
        made.mount[:, 7:10] = self._builder.mount[:, 7:10] * share[:, None]
        self.stepper.weigh(mass)
        self._wrench[:-1, :3] = mass[made.own, None] * state["param/gravity"]
        self._wrench[:-1, 3:] = 0.0
        if laws := made.laws:
            dofs = made.soft_whole[:laws, DOF]
            made.soft[:laws, DAMP] = state["param/damping"][dofs]
            made.soft[:laws, RUB] = state["param/joint_friction"][dofs]
        rows, springs = made.springs.T
        law = state["param/spring"][springs]
        made.soft[rows, STIFF], made.soft[rows, REST], made.soft[rows, DAMP] = law.T
        self._pulling = self.stepper.pulled = bool(state["param/grab"][:, 0].any())
        self._ready = np.zeros(0)
        self._changed = True

    def _heed_changes(self) -> None:
        """Makes what is kept of the last step fit masses and rows that are others since.

        Bodies go on as fast as they were, so that angular momenta grow with the masses.
        """
        state, made = self.state, self.made
        self.stepper.check(self.spec.origin)
        before, mass = self.slot("mass"), state["param/mass"][made.own]
        acted, acting = self.slot("acting"), self._builder.acting
        if not np.array_equal(before, mass):
            self._note()
            self._kept[:, -3:] *= (mass / before)[:, None]
            before[:] = mass
            self.stepper.forget()
        if not np.array_equal(acted, acting):
            self._note()
            for dof in np.flatnonzero(acted != acting):
                self._pieces[dof] = 0.0
                self._pieces[dof, 0] = state.q[self._qaddr[dof]]
            acted[:] = acting
            self.stepper.forget()
        self._changed = False

    def _enter(self) -> bool:
        """Takes the bodies from the state; true if rows and K of them are on the desk."""
        if self._changed:
            self._heed_changes()
        state, made = self.state, self.made
        own, bodies = made.own, made.bodies
        now = np.concatenate([state.pose[own], state.twist[own]], axis=1)
        if not np.array_equal(now, self._written):
            self._note()
            take_poses(own, made.mount, state.pose, state.twist, bodies)
            self._kept[:] = bodies[:-1, KEPT]
            self.stepper.forget()
            self._take_arcs()
            self._pieces[:, 1:_LENT] = 0.0
            if not np.isnan(self._written).any():  # somebody moved what was lent a speed
                self._pieces[:, _LENT] = 0.0
            self._pieces[: self.world.nv, 0] = state.q[self._qaddr]
            self._pieces[self.world.nv :, 0] = state.report.spring[made.springs[:, 1], 0]
            self._ready = np.zeros(0)
        made.number[:, ARCS] = self._arcs
        if len(made.soft):
            made.soft[:, REMEMBERED] = self._pieces[made.rooms]
            made.soft[:, WAY] = 0.0
        if self._ready.shape == self._kept.shape and np.array_equal(self._ready, self._kept):
            return True
        take_poses(own, made.mount, state.pose, state.twist, bodies)
        bodies[:-1, KEPT] = self._kept
        phases.refresh(bodies)
        return False

    def _take_arcs(self) -> None:
        """Arc lengths and angles of screws, from the coordinates."""
        self._arcs[:] = self.made.number[:, ARCS]
        for n, a, _ in self.made.tree:
            self._arcs[n, 0] = self.state.q[a]
        for n, end, a in self.made.coupled:
            self._arcs[n, 1 + end] = self.state.q[a]
        for n, loop in self.made.curves:
            self._arcs[n, 0] = place_on(self.world, int(loop), self.state.pose)

    def advance(self, h: float) -> None:  # noqa: D102
        self._noted = None
        fresh = self._enter()
        if self._pulling:
            self._pull()
        self._drive[:, :-1] = self.state.drive
        if self.prescribed:
            self._prescribe(h)
        self._ready = np.zeros(0)
        self.stepper.enter(self.state.q, self.state.v)
        try:
            speed, pieces = self.stepper.take(h, fresh, self.state.step * h)
        except EngineError:
            if self._noted is not None:
                self._memory[:], self._changed = self._noted, True
            raise
        keep_account(
            self.stepper.account, speed, pieces, self.params.gap, self.params.speed_gap,
            self.state.step + 1, self._told,
        )  # fmt: skip
        self._leave(h, h)

    def joint_forces(self) -> np.ndarray:  # noqa: D102
        if not self.stepper.piece or not np.array_equal(self._ready, self._kept):
            return super().joint_forces()  # no step led here
        impulses, piece = self.stepper.impulses(), self.stepper.piece
        return joint_forces(self.world, self.made, self.stepper.desk[0], impulses, piece)

    def mobilities(self) -> list[Mobility]:  # noqa: D102
        return mobilities(self.made, self.stepper.desk[0])

    def account(self) -> Account | None:
        """How well joints were held since the start."""
        told = self._told
        return Account(
            engine=self.type,
            steps=int(told[keeping.STEPS]),
            gap=float(told[keeping.WIDEST]),
            joint=self.made.names[int(told[keeping.JOINT])] if self.made.names else "",
            step=int(told[keeping.STEP]),
            speed_gap=float(told[keeping.FASTEST]),
            allowed=(self.params.gap, self.params.speed_gap),
            iterations=int(told[keeping.ALL_ITERATIONS]),
            halved=int(told[keeping.HALVED]),
            pieces=int(told[keeping.PIECES]),
            exceeded=int(told[keeping.EXCEEDED]),
            alone=self.params.solver == "anytime",
            rough=math.sqrt(told[keeping.ROUGHNESS] / (told[keeping.MOVED] or 1.0)),
            smooth=not not_joints_alone(self.made),
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
        at = self._qaddr[dofs]
        self.made.soft[rows, RATE] = (self._q_next[at] - state.q[at]) / h

    def _leave(self, h: float, passed: float) -> None:
        """Writes state and report of a step ``h``, the time ``passed`` after the state there is."""
        state, made, world = self.state, self.made, self.world
        bodies = made.bodies
        give_poses(made.own, made.mount, bodies, state.pose, state.twist)
        before = state.v[self._dofs].copy()
        laws = made.laws
        rows, soft = made.soft_whole[:laws], made.soft[:laws]
        give_coordinates(
            self.stepper.mechanism, self.stepper.scratch, made.tree, rows, soft, passed, state.q,
            state.v,
        )  # fmt: skip
        if len(made.turning):
            give_quaternions(
                made.turning, world.tree[0], world.tree[1], state.pose, state.twist, world.com,
                state.q, state.v,
            )  # fmt: skip
        state.report.acceleration[self._dofs] = (state.v[self._dofs] - before) / h
        state.report.effort[self._dofs] = 0.0
        if laws:
            piece = self.stepper.piece or h
            give_efforts(
                self.stepper.desk, rows, soft, self._drive, self._each_dof,
                joint_values(world, self._qaddr, state.q, self._balls), state.v, piece,
                state.report.effort,
            )  # fmt: skip
        if self.stepper.piece:
            give_bearings(
                bodies, made.whole, made.number, self.stepper.desk[0], self.stepper.impulses(),
                self.stepper.piece, self._bearings,
            )  # fmt: skip
        self._kept[:] = bodies[:-1, KEPT]
        own = made.own
        self._written[:, :7], self._written[:, 7:] = state.pose[own], state.twist[own]
        self._arcs[:] = made.number[:, ARCS]
        if len(made.soft):
            now = made.soft[:, REMEMBERED]
            now[:, 0] += made.soft[:, WAY]
            self._pieces[made.rooms] = now
        self._ready = self._kept.copy()
        if len(self._loops):
            self.note_gap(loop_state(
                self._loops, *self._loop_arrays, state.pose, state.loop_q, state["loop_turns"],
            ))  # fmt: skip
        add_energies(*self._energies)
        if len(self._springs):
            state.report.energy[1] += spring_state(*self._spring_arrays)
