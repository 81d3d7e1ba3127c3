"""WorkspaceSampler: the cloud of positions that a tool can reach."""

from __future__ import annotations

import threading
import time

import numpy as np

from linkwork.core.errors import LinkworkError, SessionError
from linkwork.kinematics.workspace import workspace_parts
from linkwork.model.world import World
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.mesh_store import MeshStore
from linkwork.studio.host.session_inbox import SendMessage

#: Number of postures per batch; the scene runs on between batches.
_CHUNK = 1000
#: Maximum rate of progress messages [1/s].
_RATE = 10.0
_NOTHING = m.WorkspaceCloudState("", 0, 0, "")


class _Job:
    """A cloud computed in its own thread."""

    def __init__(self, world: World, setup: m.ReachSetup, count: int, q: np.ndarray) -> None:
        self.tip, self.count, self.done = setup.tip, count, 0
        self.points: np.ndarray | None = None
        self.error: LinkworkError | None = None
        self._cancelled = threading.Event()
        work = world, setup, q
        threading.Thread(target=self._work, args=work, name="linkwork-cloud", daemon=True).start()

    def _work(self, world: World, setup: m.ReachSetup, q: np.ndarray) -> None:
        parts = []
        try:
            for part in workspace_parts(
                world, setup.tip, self.count, point=setup.point, first=setup.first, q=q,
                chunk=_CHUNK,
            ):  # fmt: skip
                if self._cancelled.is_set():
                    return
                parts.append(part)
                self.done += len(part)
                time.sleep(0.0)
        except LinkworkError as error:
            self.error = error
            return
        self.points = np.concatenate(parts)

    def give_up(self) -> None:
        """Stops after the current batch."""
        self._cancelled.set()


class WorkspaceSampler:
    """Computes clouds, sends their progress, keeps the last one.

    Args:
        session: The session.
        meshes: Stores the data that browsers request.
        send: Sends a message to clients.

    Attributes:
        state_message: Progress of the cloud, as last sent to clients.
    """

    def __init__(self, session: Session, meshes: MeshStore, send: SendMessage) -> None:
        self._session, self._meshes, self._send = session, meshes, send
        self._job: _Job | None = None
        self._due = 0.0
        self.state_message = _NOTHING

    def begin(self, setup: m.ReachSetup | None, count: int) -> None:
        """Starts a cloud that replaces the present one; a count of 0 removes it.

        Raises:
            SessionError: If no tool is chosen.
        """
        if setup is None and count:
            raise SessionError("no tool is chosen.", hint="Choose one under Reach.")
        self.stop()
        if setup is not None and count:
            world, q = self._session.world, self._session.state.q.copy()
            self._job = _Job(world, setup, count, q)
            self._publish(m.WorkspaceCloudState(setup.tip, 0, count, ""))

    def stop(self) -> None:
        """Discards the cloud, finished or not."""
        job, self._job = self._job, None
        if job is not None:
            job.give_up()
        if self.state_message is not _NOTHING:
            self._meshes.drop(self.state_message.hash)
            self._publish(_NOTHING)

    def poll(self) -> None:
        """Sends the progress of the cloud."""
        job, now = self._job, time.perf_counter()
        if job is None:
            return
        if job.error is not None:
            self.stop()
            self._session.log_error(job.error, source="workspace")
        elif job.points is not None:
            self._job = None
            known = self._meshes.keep(job.points.astype("<f4").tobytes())
            self._publish(m.WorkspaceCloudState(job.tip, job.count, job.count, known))
        elif now >= self._due and job.done != self.state_message.done:
            self._due = now + 1.0 / _RATE
            self._publish(m.WorkspaceCloudState(job.tip, job.done, job.count, ""))

    def _publish(self, cloud: m.WorkspaceCloudState) -> None:
        self.state_message = cloud
        self._send("", cloud)
