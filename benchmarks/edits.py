"""Memory and time of live edits: a value is changed and undone in the studio, again and again.

    python benchmarks/edits.py [--quick] [--json [FILE]]

The host of the studio runs a robot with a control program, and a client changes the mass of an
element twice, then undoes one change: each compiles the scene in the background and replaces the
running world. After the first 200 the history of undo steps, the log and the memory of the
allocator are filled; what the process grows by later is what edits leak. The requirement is 5 MB
for 10 000 edits and undos.

Memory is the resident memory after a garbage collection and ``malloc_trim``. The time of an edit is
that from the client's request to the description of the new world.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from shared.rows import Benchmark, Row

from linkwork.cli.studio_server import LIMITS, loader
from linkwork.link import PeerEnd, connect, serve
from linkwork.model.parts import kit_part
from linkwork.studio import protocol as m
from linkwork.studio.host.host import Host
from linkwork.studio.protocol import link_messages
from linkwork.studio.web.gallery import Recents

#: Edits before the first measurement, and the largest growth that is allowed after them [MB].
FIRST, MAX_GROWTH = 200, 5.0
#: Timeout for an answer [s].
TIMEOUT = 60.0


class _Kind(msgspec.Struct):
    """The fields of a message that a client needs here."""

    type: str
    text: str = ""


class Client:
    """A client that edits one value.

    Args:
        peer: The server's end of the link.
    """

    def __init__(self, peer: PeerEnd) -> None:
        self._peer = peer
        self._count = 0

    def ask(self, message: m.FromClient) -> float:
        """Sends a request, waits for the new scene, and returns the time that it took [s]."""
        since = time.perf_counter()
        self._peer.send(link_messages.encode(link_messages.ClientRequest("A", message)))
        self.scene()
        return time.perf_counter() - since

    def scene(self) -> None:
        """Waits for the description of a scene."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            for data in self._peer.events(0.1):
                found = link_messages.decode_from_host(data)
                if isinstance(found, link_messages.Broadcast):
                    message = msgspec.json.decode(found.text, type=_Kind)
                    if message.type == "scene":
                        return
                    if message.type == "refused":
                        sys.exit(f"the edit was refused: {message.text}")
        sys.exit(f"no scene within {TIMEOUT:g} s")

    def edit(self) -> float:
        """Changes the value; every third time undoes a change."""
        self._count += 1
        if self._count % 3 == 0:
            return self.ask(m.Undo())
        return self.ask(m.EditAttribute("arm/E1", "element", "mass", 1.0 + 1e-4 * self._count))


@contextlib.contextmanager
def editing() -> Iterator[Client]:
    """A host in this process on a copy of a scene of the kits."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        place = Path(folder)
        scene = Path(os.fspath(kit_part("gripper/follow")))
        shutil.copytree(scene.parent, place / "kit")
        file = str(place / "kit" / scene.name)
        link = stack.enter_context(serve(limits=LIMITS))
        peer = stack.enter_context(connect(link.address, link.key))
        recents = Recents(place / "recent.json")
        host = Host(link, loader(file, recents, place), recents=recents, recordings=place)
        host.prepare(file)
        thread = threading.Thread(target=host.run, daemon=True)
        thread.start()
        client = Client(peer)
        client.scene()
        try:
            yield client
        finally:
            host.stop()
            thread.join()


def resident() -> float:
    """Resident memory of this process [MB]."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    bench = Benchmark(__file__, __doc__)
    options = bench.parse()
    if not sys.platform.startswith("linux"):
        sys.exit("the benchmark reads the memory of a process from /proc, which only Linux has.")
    total = 1000 if options.quick else 10_000
    with editing() as client:
        for _ in range(FIRST):
            client.edit()
        before, times = resident(), []
        for number in range(FIRST, total):
            times.append(client.edit())
            if number % 1000 == 0:
                bench.log(f"{number} edits: {resident() - before:+.2f} MB")
        growth = resident() - before
    bench.publish(
        [
            Row(
                f"growth of memory over {total - FIRST} edits and undos", "MB", round(growth, 2),
                MAX_GROWTH, "largest growth allowed",
                note="below the resolution of the measurement" if growth <= 0.0 else "",
            ),
            Row("an edit, median", "ms", statistics.median(times) * 1e3),
            Row("an edit, 99th percentile", "ms", statistics.quantiles(times, n=100)[-1] * 1e3),
        ]
    )  # fmt: skip
    if growth > MAX_GROWTH:
        sys.exit(f"memory grew by {growth:.1f} MB; at most {MAX_GROWTH:g} MB are allowed.")


if __name__ == "__main__":
    main()
