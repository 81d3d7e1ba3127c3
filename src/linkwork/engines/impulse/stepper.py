"""How steps are taken: by impulses or by forces, and what is done with those that do not close."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np

from linkwork.engines.impulse import phase_kernels as phases
from linkwork.engines.impulse.account_kernels import opening
from linkwork.engines.impulse.adams import adams_weights, not_joints_alone
from linkwork.engines.impulse.adams_kernels import carry
from linkwork.engines.impulse.anytime_kernels import leap_anytime
from linkwork.engines.impulse.body_kernels import L, Q, V, X
from linkwork.engines.impulse.circle import circle_through
from linkwork.engines.impulse.energy_kernels import strays
from linkwork.engines.impulse.force_kernels import RATE_COLUMNS, STATE_COLUMNS, accelerate
from linkwork.engines.impulse.joint_columns import ARCS
from linkwork.engines.impulse.landing_kernels import project_speeds
from linkwork.engines.impulse.mechanism import Mechanism, make_desk, make_scratch
from linkwork.engines.impulse.params import LEAST_GAP, ImpulseParams
from linkwork.engines.impulse.reasons import advice, size_of
from linkwork.engines.impulse.row_kernels import DRIVE, LENT, Q0, SLIP, STOP, WAY
from linkwork.engines.impulse.step_kernels import keep, step
from linkwork.engines.impulse.tree import Tree
from linkwork.engines.impulse.tree_hold_kernels import give_bodies
from linkwork.errors import EngineError, Origin, listing
from linkwork.world import World

#: Pieces of a step, where it must be taken in pieces, that are the finest before the run gives up.
_FINEST = 1024
#: How often speeds that open joints are taken away after a step.
_SLOWER = 6
#: What is allowed of a single row: three of them make a distance.
ROWS_OF = 0.57
#: The part of its energy that a step of joints alone may change it by; more with order 2, whose
#: energy swings.
_STRAY, _STRAY_SWINGING = 2e-4, 4e-3
#: Columns of a body that make its state.
KEPT = np.r_[X : X + 3, Q : Q + 4, V : V + 3, L : L + 3]
#: Columns of a soft row that the next step goes on from.
REMEMBERED = np.array([Q0, DRIVE, SLIP, STOP, LENT])


class Stepper:
    """Takes steps of a mechanism, with the arrays that this needs.

    Attributes:
        mechanism, pattern, desk, scratch: What the kernels share, see ``phase_kernels``.
        tree: Coordinates of joints, which steps by forces take where that is cheaper.
        account: What the last step found and took.
        piece: The time over which impulses were summed last [s]; 0 before any step.
        pulled: Whether a hand pulls at bodies.
    """

    def __init__(
        self, world: World, made: Mechanism, params: ImpulseParams, poses: np.ndarray
    ) -> None:  # fmt: skip
        self.made, self.params = made, params
        pattern = made.pattern
        self.pattern = (
            pattern.columns, pattern.row_of, pattern.updates, pattern.update_of, pattern.pairs
        )  # fmt: skip
        self.mechanism = (made.bodies, made.whole, made.number, made.rail)
        self.desk, self.scratch = make_desk(made), make_scratch()
        self.account = np.zeros(phases.ACCOUNT_COLUMNS)
        self.mean = np.zeros((len(made.bodies), 12))
        self.start = made.soft.copy()
        self.store = (
            *(self.desk[k].copy() for k in (0, 2, 3, 5, 9)), made.number[:, ARCS].copy()
        )  # fmt: skip
        self.piece, self.pulled = 0.0, False
        self._by_forces = params.method == "forces"
        whole = self._by_forces or params.solver == "anytime"
        self._pieces_of = 1 if whole else params.order // 2
        self._row_gap = ROWS_OF * params.gap
        if not self._by_forces:
            least = (1e-4 if params.order == 2 else 1e-5) * world.scene.step**2
            self._row_gap = min(self._row_gap, max(least, 0.5 * LEAST_GAP))
        self._stray = 0.0
        if not not_joints_alone(made):
            self._stray = _STRAY_SWINGING if params.order == 2 else _STRAY
        self._rooms = params.order - 1 if self._by_forces else 0
        alone = self._by_forces and not not_joints_alone(made)
        self.tree = Tree(world, made, poses, wanted=alone)
        bodies, joints = len(made.own), len(self.tree.q) + len(self.tree.v)
        self.weights = adams_weights(params.order)
        self.work = np.zeros((8, joints or STATE_COLUMNS * bodies))
        self.rates = np.zeros((bodies + 1, RATE_COLUMNS))
        self._changes, self._unread = np.zeros(STATE_COLUMNS * bodies), self.account.copy()

    def check(self, origin: Origin | None) -> None:
        """Refuses settings that do not go together, and what forces cannot carry."""
        params, wrong = self.params, ""
        if self._by_forces and params.order == 2:
            wrong = 'method = "forces" has the orders 4, 5 and 6'
        elif self._by_forces and params.solver == "anytime":
            wrong = 'solver = "anytime" knows impulses only, not method = "forces"'
        elif params.solver == "anytime" and params.on_gap == "stop":
            wrong = 'on_gap = "stop" is for solver = "direct"; "anytime" has a result at any time'
        elif params.order == 5 and not self._by_forces:
            wrong = 'order = 5 is for method = "forces"; impulses have the orders 2, 4 and 6'
        if wrong:
            raise EngineError(f"{wrong}.", origin=origin)
        if self._by_forces and (names := not_joints_alone(self.made)):
            raise EngineError(
                f'method = "forces" carries joints alone: along {listing(names, most=4)} something '
                "acts (a drive, a spring, friction, a stop), or it is a rail, curve or coupling.",
                origin=origin,
                hint='Leave "method" away: impulses carry all of them.',
            )

    def slots(self) -> dict[str, tuple[int, ...]]:
        """What steps remember of those before."""
        joints, bodies = len(self.made.whole), len(self.made.own)
        return {
            "past": (3, 4, joints, 6),
            "int:known": (3,),
            "rates": (self._rooms, self.work.shape[1]),
            "pulled": (bodies + 1 if self._by_forces else 0, 6),
        }

    def bind(
        self, memory: dict[str, np.ndarray], kept: np.ndarray, arcs: np.ndarray,
        pieces: np.ndarray, drive: np.ndarray, wrench: np.ndarray,
    ) -> None:  # fmt: skip
        """Takes over the memory, where steps start (``kept``, …), and what acts in them."""
        self.past, self.known = memory["past"], memory["int:known"]
        self._memory, self._pulled = memory["rates"], memory["pulled"]
        self._kept, self._arcs, self._pieces = kept, arcs, pieces
        self.drive, self.wrench = drive, wrench
        memory_of = (self.past[: self._pieces_of], self.known, self._memory, self._pulled)
        self._remembered = [(each, each.copy()) for each in memory_of if each.size]

    def wipe(self) -> None:
        """Nothing is left of a step that was lost, whose errors and impulses are no numbers."""
        for each in self.desk[6:9]:
            each[:] = 0.0
        self.known[:] = 0

    def forget(self) -> None:
        """What was before has nothing to do with what comes."""
        self.known[:] = 0

    def reset(self) -> None:
        """As at the start of a run."""
        self.past[:] = 0.0
        self._memory[:] = 0.0
        self._pulled[:] = 0.0
        self.known[:] = 0
        self.piece = 0.0

    def weigh(self, mass: np.ndarray) -> None:
        """Takes masses of the world's bodies [kg] over, as far as bodies themselves do not."""
        self.tree.weigh(mass)

    def enter(self, q: np.ndarray, v: np.ndarray) -> None:
        """Takes over where joints stand and how they move."""
        if self.tree.used:
            self.tree.q[:], self.tree.v[:] = q, v

    def impulses(self) -> np.ndarray:
        """What held each joint along its rows, summed over :attr:`piece`; J is on the desk."""
        if self.tree.used and self.piece:
            accelerate(
                self.mechanism, self.pattern, self.desk, self.scratch, self.wrench, self.rates,
                self._changes, self._unread,
            )  # fmt: skip
            np.multiply(self.desk[6], self.piece, out=self.desk[7])
        return self.desk[7]

    def take(self, h: float, fresh: bool, now: float) -> tuple[float, int]:
        """Takes a step, in pieces if it must: how fast joints open then, and how many it took.

        Raises:
            EngineError: If it cannot be taken; what is remembered is as before.
        """
        self.account[:] = 0.0
        for each, kept in self._remembered:
            np.copyto(kept, each)
        self._from = self.tree.q.copy(), self.tree.v.copy()
        done = self._step(h, fresh)
        speed = self._slow_down(h) if done == phases.DONE else math.inf
        self.piece = h / self._pieces_of
        if speed < math.inf:
            return speed, 1
        return self._halve(h, now, done)

    def _step(self, h: float, fresh: bool, *, share: float = 1.0) -> int:
        """A step, or a share of one, which may change the energy by that share of what one may."""
        made, params = self.made, self.params
        # what a hand does is not known; the finest piece must do
        stray = 0.0 if share * _FINEST <= 1.0 or self.pulled else share * self._stray
        self.account[phases.EVENTS], self._strayed = 0.0, False
        if self._by_forces:
            if not np.array_equal(self._pulled, self.wrench):  # no smooth way from there to here
                self._pulled[:] = self.wrench
                self.known[:] = 0
            tree = self.tree
            keep(made.bodies)
            done, self._opening = carry(
                self.mechanism, self.pattern, self.desk, self.scratch, tree.arrays, tree.room,
                self.wrench, self._memory, self.known, self.weights, self.work, self.rates, tree.q,
                tree.v, h, self._row_gap, ROWS_OF * params.speed_gap, params.foretold, params.most,
                self.account,
            )  # fmt: skip
            if tree.used and done == phases.DONE:
                give_bodies(self.mechanism, tree.arrays, tree.room, tree.q, tree.v)
            if done == phases.DONE and stray and strays(made.bodies, self.wrench, h, stray):
                self.known[:], self._strayed = 0, True
                return phases.COARSE
            return done
        if params.solver == "anytime":
            return leap_anytime(
                self.mechanism, self.pattern, self.desk, self.scratch, made.soft_whole,
                made.soft, self.drive, self.wrench, h, ROWS_OF * params.gap,
                ROWS_OF * params.speed_gap, params.most, self.account,
            )  # fmt: skip
        return step(
            self.mechanism, self.pattern, self.desk, self.scratch, made.soft_whole, made.soft,
            self.drive, self.wrench, self.past, self.known, self.mean, self.start, self.store,
            h, params.order, self._row_gap, params.most, stray, fresh,
            self.account,
        )  # fmt: skip

    def project_speeds(self, h: float) -> None:
        """Takes away speeds that open joints."""
        project_speeds(
            self.mechanism, self.pattern, self.desk, self.made.soft_whole, self.made.soft, h, False
        )

    def _slow_down(self, h: float) -> float:
        """The speed with which joints open at most; where it is too much, it is taken away."""
        made, params = self.made, self.params
        if self.tree.used:
            return self._opening
        speed = opening(made.bodies, made.whole, self.desk[0])
        for _ in range(_SLOWER):
            if not params.speed_gap < speed < math.inf or params.solver == "anytime":
                break
            self.project_speeds(h / self._pieces_of)
            speed = opening(made.bodies, made.whole, self.desk[0])
        return speed

    def _halve(self, h: float, now: float, done: int) -> tuple[float, int]:
        """Takes a step that did not close in pieces, or stops; returns as :meth:`take`.

        A piece that does not close is halved, and after two of a size the next is twice as long.
        """
        made = self.made
        if self.params.on_gap == "stop":
            self._give_up(h, now, done)
        made.bodies[:-1, KEPT] = self._kept
        made.number[:, ARCS] = self._arcs
        made.soft[:, REMEMBERED] = self._pieces[made.rooms]
        made.soft[:, WAY] = 0.0
        self.tree.q[:], self.tree.v[:] = self._from
        at, size, count, speed, fresh = 0, _FINEST // 2, 0, math.inf, False
        here = self._mark()
        while at < _FINEST:
            if not fresh:
                self._return(here)
                self.wipe()
            piece = h * size / _FINEST
            done = self._step(piece, fresh, share=size / _FINEST)
            speed = self._slow_down(piece) if done == phases.DONE else math.inf
            fresh = speed < math.inf
            if not fresh and size == 1:
                self._give_up(h, now, done)
            if not fresh:
                size //= 2
                continue
            self.piece = piece / self._pieces_of
            at, count = at + size, count + 1
            here = self._mark()
            if size < _FINEST // 2 and at % (2 * size) == 0:
                size *= 2
                self.known[:] = 0
        self.known[:] = 0
        return speed, count

    def _mark(self) -> tuple[np.ndarray, ...]:
        """Where everything is."""
        made, tree = self.made, self.tree
        return (
            made.bodies[:-1, KEPT], made.number.copy(), made.soft.copy(), tree.q.copy(),
            tree.v.copy(),
        )  # fmt: skip

    def _return(self, there: tuple[np.ndarray, ...]) -> None:
        """Puts everything back where it was."""
        made, tree = self.made, self.tree
        made.bodies[:-1, KEPT], made.number[:], made.soft[:], tree.q[:], tree.v[:] = there
        phases.refresh(made.bodies)

    def _give_up(self, h: float, now: float, done: int) -> NoReturn:
        """Ends the run and says why: which joint does not close, or what else was wrong."""
        account = self.account
        for each, kept in self._remembered:
            np.copyto(each, kept)
        joint = int(account[phases.WHERE])
        name, *others = circle_through(self.made, joint)
        pieces = 1 if self.params.on_gap == "stop" else _FINEST
        tried = f", in pieces of {1e3 * h / pieces:.2g} ms too" if pieces > 1 else ""
        if done == phases.COARSE and (self._strayed or not self._by_forces):
            raise EngineError(
                f"steps of {1e3 * h:.3g} ms are too long at {now:.3f} s: one changes the energy by "
                f"more than {self._stray:.1g} of it, and nothing acts.",
                hint='Use a smaller step, or on_gap = "halve", which takes such steps in pieces.',
            )
        if done == phases.COARSE:
            raise EngineError(
                f'steps of {1e3 * h:.3g} ms are too long for method = "forces" at {now:.3f} s: '
                f"they foretell places that are wrong by {account[phases.FORETOLD]:.3g}{tried}.",
                hint='Use a smaller step, allow more with "foretold", or leave "method" away: '
                "impulses bear longer ones.",
            )
        if done == phases.UNSETTLED:
            raise EngineError(
                f"{name} does not settle at {now:.3f} s: its stop, its friction or the limit of "
                f"its drive takes hold and lets go again and again{tried}.",
                hint="Use a smaller step, or look for stops that contradict each other.",
            )
        loop = f" in a loop with {listing(others, most=6)}" if others else ""
        gap = np.nan_to_num(account[phases.GAP], nan=np.inf)
        wrong = f"it is open by {size_of(self.made, joint, self.desk[6])}"
        if gap <= self.params.gap:
            wrong = "what holds it pulls without bound"
        raise EngineError(
            f"{name}{loop} cannot be closed at {now:.3f} s: {wrong} "
            f"after {self.params.most} iterations{tried}.",
            hint=advice(self.made, [name, *others], self.desk[4], self.desk[9]),
        )
