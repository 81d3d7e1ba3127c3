"""SnapshotBuilder: snapshots of a running session for viewers, sixty times a second."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from linkwork.components.sensors.camera import Camera
from linkwork.core.state import State
from linkwork.kinematics.kernels import BALL, FREE, forward_poses
from linkwork.model.world import World
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session
from linkwork.studio.protocol import (
    CONTACTS,
    FORCES,
    GHOST,
    IMAGE,
    IMAGE_HEAD,
    IMAGE_STEP,
    NEAR,
    REACH,
    Status,
    encode,
)
from linkwork.studio.protocol.link_messages import Snapshot, ViewRequest
from linkwork.studio.protocol.link_messages import encode as pack

#: Frame rate of cameras while the session runs [1/s], and maximum image width [pixel].
RATE, MAX_WIDTH = 10.0, 480


class CameraImages:
    """Builds image blocks, and caches the last one of each camera.

    Args:
        cycle: The running cycle.
    """

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle
        self._blocks: dict[int, bytes] = {}
        self._made: dict[int, float] = {}
        self._count = 0

    def block(self, number: int, state: State, *, running: bool) -> bytes:
        """The image of the sensor ``number`` in a state; empty if it is not a camera."""
        sensors = self._cycle.world.sensors
        if number >= len(sensors):
            return b""
        now, last = time.perf_counter(), self._blocks.get(number, b"")
        if last and running and now - self._made[number] < 1.0 / RATE:
            return last
        camera, row = self._cycle.sensor(sensors[number].name)
        if not isinstance(camera, Camera):
            return b""
        self._made[number] = now
        color = camera.render(row, state).color
        stride = -(-color.shape[1] // MAX_WIDTH)
        small = np.ascontiguousarray(color[::stride, ::stride])
        body = small.tobytes()
        if last[IMAGE_HEAD.size :] != body:
            self._count += 1
            height, width, _ = small.shape
            last = self._blocks[number] = IMAGE_HEAD.pack(width, height, self._count) + body
        return last


#: Status rate [1/s], and averaging time of the real-time factor [s].
STATUS_RATE, RTF_SPAN = 10.0, 1.0


class SnapshotBuilder:
    """Builds snapshots of a session.

    Args:
        cycle: The running cycle.

    Attributes:
        view: The blocks that viewers requested.
        reach: Builds the blocks about a dragged tool, by kind.
        base: Offset of the scene versions that browsers see.
    """

    def __init__(self, cycle: Cycle, view: ViewRequest, *, base: int = 0) -> None:
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
        self._cameras = CameraImages(cycle)
        self.set_view(view)

    def set_view(self, view: ViewRequest) -> None:
        """Sets the blocks that viewers requested."""
        self.view = view
        signals = self._cycle.signals
        known = [signals[n].address if n in signals else -1 for n in view.signals]
        self._addresses = np.array(known, np.int64)

    def build(
        self, session: Session, past: State | None, recording: str | None,
        span: tuple[float, float] | None,
    ) -> bytes:  # fmt: skip
        """A snapshot of the present, or of the displayed past."""
        state = past or session.state
        now = time.perf_counter()
        if now - self._made >= 1.0 / STATUS_RATE:
            self._made = now
            self._status = encode(self._stand(session, state, past is not None, recording, span))
        values = np.where(self._addresses >= 0, state.data[self._addresses], np.nan)
        picture = Snapshot(
            self._base + session.version, state.step * self._cycle.h,
            state.pose.astype("<f4").tobytes(), self.view.number, values.tobytes(),
            self._blocks(state, past is not None, running=session.running and past is None),
            self._status,
        )  # fmt: skip
        return pack(picture)

    def build_recorded(
        self, version: int, when: float, state: State | None, poses: np.ndarray, status: Status,
        *, contacts: bool,
    ) -> bytes:  # fmt: skip
        """A snapshot of an instant of a recording.

        Args:
            version: Scene version.
            when: Time of the recording [s].
            state: The state then; None while only poses are known.
            poses: The recorded poses, nb×7.
            status: State of the run.
            contacts: Whether the engines' contacts belong to the state.
        """
        values, blocks = np.full(len(self._addresses), np.nan), {}
        if state is not None:
            known = self._addresses >= 0
            values[known] = state.data[self._addresses[known]]
            poses = state.pose
            blocks = self._blocks(state, not contacts)
        picture = Snapshot(
            version, when, poses.astype("<f4").tobytes(), self.view.number, values.tobytes(),
            blocks, encode(status),
        )  # fmt: skip
        return pack(picture)

    def _blocks(self, state: State, is_past: bool, *, running: bool = False) -> dict[int, bytes]:
        """The requested blocks besides poses and signals, by kind."""
        asked = self.view.blocks
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

    def refresh_status(self) -> None:
        """Includes a new status in the next snapshot."""
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
            hidden=hidden_elements(state),
        )

    def _measure(self, session: Session) -> None:
        """Measures the real-time factor."""
        now, simulated = time.perf_counter(), session.time
        if not session.running:
            self._marks, self._rtf = None, 0.0
        elif self._marks is None or simulated < self._marks[1]:
            self._marks = now, simulated
        elif now - self._marks[0] >= RTF_SPAN:
            self._rtf = round((simulated - self._marks[1]) / (now - self._marks[0]), 3)
            self._marks = now, simulated

    def _contacts(self) -> bytes:
        """Contact points, normal forces, and the body on which each force acts.

        Of two bodies, that is the one integrated by an engine; if both are, the second.
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
        """Poses of the bodies with every driven joint at its target."""
        q = state.q.copy()
        q[self._coordinates] = state.target[self._dofs]
        forward_poses(*self._cycle.world.tree, q, self._ghost)
        return self._ghost.astype("<f4").tobytes()


def hidden_elements(state: State) -> list[int]:
    """Elements that are not drawn."""
    return np.flatnonzero(state["param/visible"] == 0.0).tolist()


def widest_loop(world: World, state: State) -> str:
    """Name of the loop with the largest gap; empty if there is none."""
    gap = state.report.gap
    return world.loop_names[int(gap[1])] if gap[0] > 0.0 else ""
