"""Linkages on the impulse engine: its step in a compiled loop, and whole sessions."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numba
import numpy as np

from linkwork.engines.impulse import Impulse
from linkwork.engines.impulse.adams import TreeCoordinates, adams_weights
from linkwork.engines.impulse.adams_kernels import adams_step
from linkwork.engines.impulse.body_kernels import X
from linkwork.engines.impulse.constraint_kernels import DONE, ITERATIONS
from linkwork.engines.impulse.force_kernels import STATE_COLUMNS
from linkwork.engines.impulse.step_kernels import extrapolated_step
from linkwork.engines.impulse.tree_projection_kernels import write_bodies
from linkwork.geometry import Inertia, Pose
from linkwork.model.parts import Anchor, Box, Element, Joint, Loop, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from shared.linkages import Linkage, Motion

NAME = "ours"
#: Default tolerances of a joint: gap [m or rad] and speed of the gap [m/s or rad/s].
GAP, SPEED_GAP = 1e-10, 1e-9


@dataclass(frozen=True)
class Setting:
    """Order, method and tolerances.

    Attributes:
        part: Allowed gap as a multiple of the squared step; 0 to use ``gap``.
        prediction_tolerance: Allowed error of the predicted forces; no peer checks that.
    """

    order: int
    method: str = "impulses"
    part: float = 0.0
    gap: float = GAP
    speed_gap: float = SPEED_GAP
    prediction_tolerance: float = 1e-4


SETTINGS = (
    {"default": Setting(4)}
    | {
        f"order {order}{', loose' if part else ''}": Setting(order, part=part)
        for order in (2, 4, 6)
        for part in (0.0, 1e-4 if order == 2 else 1e-5)
        if order != 4 or part
    }
    | {"order 2, looser": Setting(2, gap=1e-6, speed_gap=1e-4)}
    | {
        f"forces, order {order}, {word}": Setting(
            order, "forces", 0.0, gap, speed_gap, prediction_tolerance
        )
        for order in (4, 5, 6)
        for word, gap, speed_gap, prediction_tolerance in (
            ("tight", GAP, SPEED_GAP, 1e-4),
            ("loose", 1e-6, 1e-4, 1e-3),
            ("looser", 1e-5, 1e-3, 1e-2),
        )
    }
)


def part_of(linkage: Linkage) -> Part:
    """The linkage as a Part."""
    part = Part("linkage").add(Element("ground", (Box((0.1, 0.1, 0.1), collide=False),), mass=1.0))

    def name(body: int) -> str:
        return f"body{body}" if body >= 0 else "ground"

    def place(body: int, point: np.ndarray) -> Pose:
        return Pose.of(point - linkage.center(body))

    for n, body in enumerate(linkage.bodies):
        part.add(Element(name(n), inertia=Inertia.of(body.mass, matrix=body.inertia)))
    for pin in linkage.tree:
        speed = tuple(pin.rate) if pin.kind == "ball" else None
        part.add(
            Joint(
                f"J{pin.b}", pin.kind, name(pin.a), name(pin.b), at=place(pin.a, pin.point),
                at_to=place(pin.b, pin.point), axis=tuple(pin.axis), axis2=tuple(pin.axis2),
                speed=speed,
            )
        )  # fmt: skip
    for n, pin in enumerate(linkage.loops):
        part.add(
            Anchor(f"a{n}", name(pin.a), place(pin.a, pin.point)),
            Anchor(f"b{n}", name(pin.b), place(pin.b, pin.point)),
            Loop(f"L{n}", f"a{n}", f"b{n}", pin.kind, axis=tuple(pin.axis)),
        )
    return part


def session_of(linkage: Linkage, h: float = 1e-3, **params: object) -> Session:
    """A session that runs the linkage on the impulse engine."""
    return Session(Scene("loops", step=h).place(part_of(linkage)).engine("impulse", **params))


def motion_of(session: Session) -> Motion:
    """Poses and velocities of a session's bodies."""
    names = session.world.body_names
    own = sorted(n for n, name in enumerate(names) if name.rpartition("/")[2].startswith("body"))
    pose, twist = session.state.pose[own], session.state.twist[own]
    w, xyz = pose[:, 3], pose[:, 4:7]
    turn = np.zeros((len(pose), 3, 3))
    for n, (s, v) in enumerate(zip(w, xyz, strict=True)):
        hat = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        turn[n] = np.eye(3) + 2 * s * hat + 2 * hat @ hat
    return Motion(pose[:, :3].copy(), turn, twist[:, :3].copy(), twist[:, 3:].copy())


@numba.njit
def _steps(
    count, mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, past, known,
    mean, start, store, h, order, gap, most, stats,
):  # fmt: skip
    for n in range(count):
        done = extrapolated_step(
            mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, past, known,
            mean, start, store, h, order, gap, most, 0.0, False, n > 0, stats,
        )  # fmt: skip
        if done != DONE:
            return n
    return count


@numba.njit
def _carries(
    count, mechanism, pattern, workspace, scratch, tree, tree_work, wrench, memory, known,
    weights, work, rates, q, v, h, gap, speed_gap, prediction_tolerance, most, stats,
):  # fmt: skip
    for n in range(count):
        done, _opening = adams_step(
            mechanism, pattern, workspace, scratch, tree, tree_work, wrench, memory, known,
            weights, work, rates, q, v, h, gap, speed_gap, prediction_tolerance, most, stats,
        )  # fmt: skip
        if done != DONE:
            return n
    return count


class Engine:
    """Steps of the engine alone, in one compiled loop; every run begins at the start."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self.session = session_of(linkage)
        engine = self.session.cycle.engines[0]
        assert isinstance(engine, Impulse)
        self.engine = engine
        engine._read_bodies()
        self._bodies = engine.mechanism.bodies.copy()
        self.tree = TreeCoordinates(
            engine.world, engine.mechanism, engine._builder.poses, wanted=True
        )
        self.iterations = 0.0

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """One second from the start; None if a step failed."""
        asked = SETTINGS[setting]
        if asked.method == "forces":
            return self._carry(asked, 1.0 / count, count)
        return self.advance(asked.order, 1.0 / count, asked.part / count**2 or asked.gap, count)

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Poses and velocities of a whole session's bodies, every 10 ms."""
        given = {} if setting == "default" else {"order": SETTINGS[setting].order}
        session = session_of(self.linkage, h, **given)
        found = []
        for _ in range(round(seconds / 0.01)):
            session.step(round(0.01 / h))
            found.append(motion_of(session))
        return found

    def advance(
        self, order: int, h: float, gap: float, count: int
    ) -> tuple[float, np.ndarray | None]:
        """CPU time [s] of ``count`` steps of ``h``, and the centers of mass after them [m]."""
        own, made = self.engine.stepper, self.engine.mechanism
        self._begin()
        arguments = (
            own.mechanism_arrays, own.pattern, own.workspace, own.scratch, made.row_ints,
            made.row_reals, own.drive, own.wrench, own.history, own.history_length, own.mean,
            own.start, own.store, h, order, gap, 50, own.stats,
        )  # fmt: skip
        started = time.process_time()
        done = _steps(count, *arguments)
        return self._end(time.process_time() - started, count, done)

    def _carry(self, asked: Setting, h: float, count: int) -> tuple[float, np.ndarray | None]:
        own, tree = self.engine.stepper, self.tree
        self._begin()
        if tree.used:
            tree.q[:], tree.v[:] = self.session.state.q, self.session.state.v
        size = len(tree.q) + len(tree.v) or STATE_COLUMNS * (len(self._bodies) - 1)
        memory, work = np.zeros((asked.order - 1, size)), np.zeros((8, size))
        arguments = (
            own.mechanism_arrays, own.pattern, own.workspace, own.scratch, tree.arrays,
            tree.tree_workspace, own.wrench, memory, own.history_length,
            adams_weights(asked.order), work, own.rates, tree.q, tree.v, h, asked.gap,
            asked.speed_gap,
            asked.prediction_tolerance, 50, own.stats,
        )  # fmt: skip
        started = time.process_time()
        done = _carries(count, *arguments)
        spent = time.process_time() - started
        if tree.used:
            write_bodies(own.mechanism_arrays, tree.arrays, tree.tree_workspace, tree.q, tree.v)
        return self._end(spent, count, done)

    def _begin(self) -> None:
        own = self.engine.stepper
        self.engine.mechanism.bodies[:] = self._bodies
        own.history[:] = 0.0
        own.clear_workspace()
        own.stats[:] = 0.0

    def _end(self, spent: float, count: int, done: int) -> tuple[float, np.ndarray | None]:
        self.iterations = self.engine.stepper.stats[ITERATIONS] / max(1, count)
        bodies = self.engine.mechanism.bodies
        return spent, bodies[:-1, X : X + 3].copy() if done == count else None
