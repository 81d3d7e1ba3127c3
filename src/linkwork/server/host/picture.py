"""Painter: what viewers see of a running session, sixty times a second."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from linkwork.kinematics.kernels import BALL, FREE, forward_poses
from linkwork.server.host.camera_pictures import CameraPictures
from linkwork.server.messages import (
    CONTACTS,
    FORCES,
    GHOST,
    IMAGE,
    IMAGE_STEP,
    NEAR,
    REACH,
    Status,
    encode,
)
from linkwork.server.relay import Look, Picture
from linkwork.server.relay import encode as pack
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session
from linkwork.state import State
from linkwork.world import World

#: The status is made this often [1/s], and the real-time factor measured over so long [s].
STATUS_RATE, RTF_SPAN = 10.0, 1.0


class Painter:
    """Makes pictures of a session.

    Args:
        cycle: What runs.

    Attributes:
        look: What the viewers want to see.
        reach: Makes the blocks about a tool that is dragged, by kind.
        base: Browsers count the session's versions from here.
    """

    def __init__(self, cycle: Cycle, look: Look, *, base: int = 0) -> None:
        self._cycle, self._base = cycle, base
        self.reach: Callable[[int, State], bytes] = lambda kind, state: b""
        self._status, self._made = b"", 0.0
        self._marks: tuple[float, float] | None = None
        self._rtf = 0.0
        world = cycle.world
        wanted = [
            d
            for d in range(world.nv)
            if world.kind[int(world.dof_body[d])] not in (BALL, FREE)
            and f"{world.dof_name(d)}.target" in cycle.signals
        ]
        self._dofs = np.array(wanted, np.int64)
        body = world.dof_body[self._dofs]
        self._coordinates = world.qadr[body] + self._dofs - world.vadr[body]
        self._ghost = np.zeros((world.nb, 7))
        self._cameras = CameraPictures(cycle)
        self.see(look)

    def see(self, look: Look) -> None:
        """Takes over what the viewers want to see."""
        self.look = look
        signals = self._cycle.signals
        known = [signals[n].address if n in signals else -1 for n in look.signals]
        self._addresses = np.array(known, np.int64)

    def paint(
        self, session: Session, past: State | None, recording: str | None,
        span: tuple[float, float] | None,
    ) -> bytes:  # fmt: skip
        """A picture of the present, or of the past that is looked at."""
        state = past or session.state
        now = time.perf_counter()
        if now - self._made >= 1.0 / STATUS_RATE:
            self._made = now
            self._status = encode(self._stand(session, state, past is not None, recording, span))
        values = np.where(self._addresses >= 0, state.data[self._addresses], np.nan)
        picture = Picture(
            self._base + session.version, state.step * self._cycle.h,
            state.pose.astype("<f4").tobytes(), self.look.number, values.tobytes(),
            self._blocks(state, past is not None, running=session.running and past is None),
            self._status,
        )  # fmt: skip
        return pack(picture)

    def paint_recorded(
        self, version: int, when: float, state: State | None, poses: np.ndarray, status: Status,
        *, contacts: bool,
    ) -> bytes:  # fmt: skip
        """A picture of an instant of a recording.

        Args:
            version: Scene version.
            when: Time of the recording [s].
            state: The state then; None while only the poses are known.
            poses: As they were recorded, nb×7.
            status: How the run stands.
            contacts: Whether the engines' contacts are those of the state.
        """
        values, blocks = np.full(len(self._addresses), np.nan), {}
        if state is not None:
            known = self._addresses >= 0
            values[known] = state.data[self._addresses[known]]
            poses = state.pose
            blocks = self._blocks(state, not contacts)
        picture = Picture(
            version, when, poses.astype("<f4").tobytes(), self.look.number, values.tobytes(),
            blocks, encode(status),
        )  # fmt: skip
        return pack(picture)

    def _blocks(self, state: State, is_past: bool, *, running: bool = False) -> dict[int, bytes]:
        """What the viewers asked for besides poses and signals, by kind."""
        asked = self.look.blocks
        blocks: dict[int, bytes] = {}
        if CONTACTS in asked:
            blocks[CONTACTS] = b"" if is_past else self._contacts()
        if FORCES in asked:
            forces = self._cycle.joint_forces() if not is_past else np.zeros((0, 7))
            blocks[FORCES] = forces.astype("<f4").tobytes()
        if GHOST in asked:
            blocks[GHOST] = self._wanted(state)
        for kind in (REACH, NEAR):
            if kind in asked:
                blocks[kind] = self.reach(kind, state)
        for kind in asked:
            number, kind_only = divmod(kind, IMAGE_STEP)
            if kind_only == IMAGE:
                blocks[kind] = self._cameras.block(number, state, running=running)
        return blocks

    def hurry(self) -> None:
        """Lets the next picture carry a new status."""
        self._made = 0.0

    def _stand(
        self, session: Session, state: State, seeking: bool, recording: str | None,
        span: tuple[float, float] | None,
    ) -> Status:  # fmt: skip
        clock, simulated = session.clock, state.step * self._cycle.h
        self._measure(session)
        return Status(
            time=simulated,
            running=session.running,
            speed=clock.speed if clock.mode != "fast" else 0.0,
            mode=clock.mode,
            lateness=round(clock.lateness, 4),
            rtf=self._rtf,
            gap=float(state.report.gap[0]),
            gap_at=widest_loop(self._cycle.world, state),
            energy=float(state.report.energy.sum()),
            step=state.step,
            recording=recording,
            history=span,
            seeking=seeking,
            version=self._base + session.version,
            unseen=unseen(state),
        )

    def _measure(self, session: Session) -> None:
        """Measures simulated per real time."""
        now, simulated = time.perf_counter(), session.time
        if not session.running:
            self._marks, self._rtf = None, 0.0
        elif self._marks is None or simulated < self._marks[1]:
            self._marks = now, simulated
        elif now - self._marks[0] >= RTF_SPAN:
            self._rtf = round((simulated - self._marks[1]) / (now - self._marks[0]), 3)
            self._marks = now, simulated

    def _contacts(self) -> bytes:
        """Points, normal forces on the body that they push, and that body.

        Of two bodies it is the one that forces move; of two such, the second.
        """
        rows = self._cycle.contacts()
        engines = [e for e in self._cycle.engines if not e.kinematic] or self._cycle.engines
        pushed = np.any([e.owned for e in engines], axis=0)
        bodies = rows[:, :2].astype(int)
        second = pushed[bodies[:, 1]] if len(rows) else np.zeros(0, bool)
        table = np.empty((len(rows), 7), "<f4")
        table[:, :3] = rows[:, 4:7]
        table[:, 3:6] = rows[:, 7:10] * rows[:, 11:12] * np.where(second, 1.0, -1.0)[:, None]
        table[:, 6] = np.where(second, bodies[:, 1], bodies[:, 0])
        return table.tobytes()

    def _wanted(self, state: State) -> bytes:
        """Poses of the bodies if every joint were where it is wanted."""
        q = state.q.copy()
        q[self._coordinates] = state.target[self._dofs]
        forward_poses(*self._cycle.world.tree, q, self._ghost)
        return self._ghost.astype("<f4").tobytes()


def unseen(state: State) -> list[int]:
    """Elements that are not to be drawn."""
    return np.flatnonzero(state["param/visible"] == 0.0).tolist()


def widest_loop(world: World, state: State) -> str:
    """Name of the loop that is open furthest; empty where none is."""
    gap = state.report.gap
    return world.loop_names[int(gap[1])] if gap[0] > 0.0 else ""
