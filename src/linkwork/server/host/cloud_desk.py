"""CloudDesk: the cloud of places that a tool reaches, made while the scene runs on."""

from __future__ import annotations

import threading
import time

import numpy as np

from linkwork.errors import LinkworkError, SessionError
from linkwork.kinematics.workspace import workspace_parts
from linkwork.server import messages as m
from linkwork.server.host.door import Tell
from linkwork.server.host.mesh_store import MeshStore
from linkwork.session.session import Session
from linkwork.world import World

#: Postures at a time; between two times the scene runs on.
_CHUNK = 1000
#: Progress is told so often at most [1/s].
_RATE = 10.0
_NOTHING = m.Cloud("", 0, 0, "")


class _Job:
    """A cloud in the making, by a thread of its own."""

    def __init__(self, world: World, setup: m.ReachSetup, count: int, q: np.ndarray) -> None:
        self.tip, self.count, self.done = setup.tip, count, 0
        self.places: np.ndarray | None = None
        self.problem = ""
        self._given_up = threading.Event()
        work = world, setup, q
        threading.Thread(target=self._work, args=work, name="linkwork-cloud", daemon=True).start()

    def _work(self, world: World, setup: m.ReachSetup, q: np.ndarray) -> None:
        parts = []
        try:
            for part in workspace_parts(
                world, setup.tip, self.count, point=setup.point, first=setup.first, q=q,
                chunk=_CHUNK,
            ):  # fmt: skip
                if self._given_up.is_set():
                    return
                parts.append(part)
                self.done += len(part)
                time.sleep(0.0)
        except LinkworkError as error:
            self.problem = str(error)
            return
        self.places = np.concatenate(parts)

    def give_up(self) -> None:
        """Ends it with the present piece."""
        self._given_up.set()


class CloudDesk:
    """Makes clouds, tells how far they are, and keeps the last one for who asks.

    Args:
        session: The session.
        meshes: Keeps what browsers ask for.
        tell: Tells clients something.

    Attributes:
        told: How far the cloud is, as clients were told.
    """

    def __init__(self, session: Session, meshes: MeshStore, tell: Tell) -> None:
        self._session, self._meshes, self._tell = session, meshes, tell
        self._job: _Job | None = None
        self._due = 0.0
        self.told = _NOTHING

    def begin(self, setup: m.ReachSetup | None, count: int) -> None:
        """Begins a cloud in place of the one there is; with a count of 0 there is none.

        Raises:
            SessionError: If no tool is chosen.
        """
        if setup is None and count:
            raise SessionError("no tool is chosen.", hint="Choose one under Reach.")
        self.stop()
        if setup is not None and count:
            world, q = self._session.world, self._session.state.q.copy()
            self._job = _Job(world, setup, count, q)
            self._say(m.Cloud(setup.tip, 0, count, ""))

    def stop(self) -> None:
        """Gives the cloud up, be it made or in the making."""
        job, self._job = self._job, None
        if job is not None:
            job.give_up()
        if self.told is not _NOTHING:
            self._meshes.drop(self.told.hash)
            self._say(_NOTHING)

    def look_after(self) -> None:
        """Tells how far the cloud in the making is."""
        job, now = self._job, time.perf_counter()
        if job is None:
            return
        if job.problem:
            self.stop()
            self._session.say(job.problem, level="error", source="workspace")
        elif job.places is not None:
            self._job = None
            known = self._meshes.keep(job.places.astype("<f4").tobytes())
            self._say(m.Cloud(job.tip, job.count, job.count, known))
        elif now >= self._due and job.done != self.told.done:
            self._due = now + 1.0 / _RATE
            self._say(m.Cloud(job.tip, job.done, job.count, ""))

    def _say(self, cloud: m.Cloud) -> None:
        self.told = cloud
        self._tell("", cloud)
