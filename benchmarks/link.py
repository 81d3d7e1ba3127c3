"""Cost of the link between a session and another process, beside other ways to connect the two.

    python benchmarks/link.py [--quick] [--json [FILE]]

Link and peers take turns in one run; each has one process at its far end. Times are elapsed times,
medians over rounds. A session calls ``publish`` with a snapshot, ``emit`` with events and
``receive`` for requests; the peers do the same with pyzmq (PUB/SUB and DEALER/DEALER sockets),
multiprocessing.connection (one stream) and multiprocessing.shared_memory (snapshots only). The
share of a session is the part of its time that it spends in these calls at 2000 steps/s, with 60
snapshots/s and 20 events/s.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import connection, shared_memory
from typing import Any, Protocol

from shared.rows import Benchmark, Row

from linkwork.link import LinkClosed, connect, serve

#: The far end echoes events that begin with e, counts those that begin with c, and answers q with
#: the count.
SMALL = b"e" + bytes(99)
COUNTED = b"c" + bytes(99)
SNAPSHOT = bytes(20_000)


def zmq_or_none() -> Any:
    """pyzmq, or None if it is not installed."""
    with contextlib.suppress(ImportError):
        import zmq

        return zmq
    return None


class Connection(Protocol):
    """One way to connect two processes: the session's side; ``FAR_ENDS`` has the other side."""

    def publish(self, snapshot: bytes) -> None: ...
    def emit(self, event: bytes) -> None: ...
    def emit_all(self, events: list[bytes]) -> None: ...
    def receive(self) -> list[Any]: ...
    def wait(self) -> None: ...
    def close(self) -> None: ...


def far_end(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, "--far-end", kind, *arguments])


class Link:
    """Ours."""

    def __init__(self) -> None:
        self.end = serve()
        self.child = far_end("link", self.end.address, self.end.key)
        self.wait()
        self.end.receive()

    def publish(self, snapshot: bytes) -> None:
        self.end.publish(snapshot)

    def emit(self, event: bytes) -> None:
        self.end.emit(event)

    def emit_all(self, events: list[bytes]) -> None:
        self.end.emit(*events)

    def receive(self) -> list[Any]:
        return self.end.receive()

    def wait(self) -> None:
        while not self.end.wait(10.0):
            pass

    def close(self) -> None:
        self.end.close()
        self.child.wait()

    @staticmethod
    def answer(address: str, key: str) -> None:
        count = 0
        with connect(address, key) as peer, contextlib.suppress(LinkClosed):
            while True:
                for event in peer.events(10.0):
                    count += event[:1] == b"c"
                    if event[:1] == b"e":
                        peer.send(event)
                    elif event[:1] == b"q":
                        peer.send(b"%d" % count)
                        count = 0
                peer.snapshot()


class Zmq:
    """pyzmq: PUB/SUB with CONFLATE for snapshots, DEALER/DEALER without a limit for events."""

    def __init__(self) -> None:
        zmq = zmq_or_none()
        self.folder = tempfile.TemporaryDirectory()
        self.again, self.later = zmq.Again, zmq.NOBLOCK
        self.context = zmq.Context()
        self.pub, self.dealer = self.context.socket(zmq.PUB), self.context.socket(zmq.DEALER)
        self.pub.setsockopt(zmq.CONFLATE, 1)
        self.dealer.setsockopt(zmq.SNDHWM, 0)
        self.pub.bind(f"ipc://{self.folder.name}/pub")
        self.dealer.bind(f"ipc://{self.folder.name}/dealer")
        self.child = far_end("zmq", self.folder.name)
        self.emit(SMALL)
        self.wait()
        self.receive()

    def publish(self, snapshot: bytes) -> None:
        self.pub.send(snapshot)

    def emit(self, event: bytes) -> None:
        self.dealer.send(event)

    def emit_all(self, events: list[bytes]) -> None:
        for event in events:
            self.dealer.send(event)

    def receive(self) -> list[bytes]:
        found = []
        try:
            while True:
                found.append(self.dealer.recv(self.later))
        except self.again:
            return found

    def wait(self) -> None:
        self.dealer.poll()

    def close(self) -> None:
        self.dealer.send(b"x")
        self.child.wait()
        self.context.destroy(0)
        self.folder.cleanup()

    @staticmethod
    def answer(folder: str) -> None:
        zmq = zmq_or_none()
        context = zmq.Context()
        sub, dealer = context.socket(zmq.SUB), context.socket(zmq.DEALER)
        sub.setsockopt(zmq.CONFLATE, 1)
        sub.setsockopt(zmq.SUBSCRIBE, b"")
        dealer.setsockopt(zmq.RCVHWM, 0)
        sub.connect(f"ipc://{folder}/pub")
        dealer.connect(f"ipc://{folder}/dealer")
        poller = zmq.Poller()
        poller.register(sub, zmq.POLLIN)
        poller.register(dealer, zmq.POLLIN)
        count = 0
        event = b""
        while event[:1] != b"x":
            ready = dict(poller.poll())
            if sub in ready:
                sub.recv()
            with contextlib.suppress(zmq.Again):
                while dealer in ready and event[:1] != b"x":
                    event = dealer.recv(zmq.NOBLOCK)
                    count += event[:1] == b"c"
                    if event[:1] == b"e":
                        dealer.send(event)
                    elif event[:1] == b"q":
                        dealer.send(b"%d" % count)
                        count = 0
        context.destroy(0)


class Pipe:
    """multiprocessing.connection: one stream, which blocks when the reader is slow."""

    def __init__(self) -> None:
        key = secrets.token_hex(16)
        with connection.Listener(authkey=key.encode()) as listener:
            self.child = far_end("pipe", str(listener.address), key)
            self.end = listener.accept()

    def publish(self, snapshot: bytes) -> None:
        self.end.send_bytes(snapshot)

    def emit(self, event: bytes) -> None:
        self.end.send_bytes(event)

    def emit_all(self, events: list[bytes]) -> None:
        for event in events:
            self.end.send_bytes(event)

    def receive(self) -> list[bytes]:
        found = []
        while self.end.poll():
            found.append(self.end.recv_bytes())
        return found

    def wait(self) -> None:
        self.end.poll(None)

    def close(self) -> None:
        self.end.close()
        self.child.wait()

    @staticmethod
    def answer(address: str, key: str) -> None:
        count = 0
        end = connection.Client(address, authkey=key.encode())
        with end, contextlib.suppress(EOFError):
            while True:
                event = end.recv_bytes()
                count += event[:1] == b"c"
                if event[:1] == b"e":
                    end.send_bytes(event)
                elif event[:1] == b"q":
                    end.send_bytes(b"%d" % count)
                    count = 0


class SharedMemory:
    """multiprocessing.shared_memory with a seqlock, and a byte on a socket to wake the reader."""

    def __init__(self) -> None:
        self.memory = shared_memory.SharedMemory(create=True, size=len(SNAPSHOT) + 8)
        self.view = memoryview(self.memory.buf or b"")
        self.count = self.view[:8].cast("Q")
        self.block = self.view[8 : 8 + len(SNAPSHOT)]
        self.wakeup, other = socket.socketpair()
        with other:
            arguments = [sys.executable, __file__, "--far-end", "shared", str(other.fileno())]
            self.child = subprocess.Popen(arguments, pass_fds=[other.fileno()])

    def publish(self, snapshot: bytes) -> None:
        self.count[0] += 1
        self.block[:] = snapshot
        self.count[0] += 1
        self.wakeup.send(b"\0")

    def close(self) -> None:
        self.wakeup.close()
        self.child.wait()
        self.block.release()
        self.count.release()
        self.view.release()
        self.memory.close()
        self.memory.unlink()

    @staticmethod
    def answer(descriptor: str) -> None:
        with socket.socket(fileno=int(descriptor)) as wakeup:
            while wakeup.recv(4096):
                pass


FAR_ENDS: dict[str, Callable[..., None]] = {
    "link": Link.answer,
    "zmq": Zmq.answer,
    "pipe": Pipe.answer,
    "shared": SharedMemory.answer,
}


def round_trip(link: Connection, seconds: float) -> float:
    """Median time from sending 100 bytes to receiving them back [µs]."""
    times = []
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        link.emit(SMALL)
        link.wait()
        link.receive()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def publish(link: Connection, seconds: float) -> float:
    """Median time that the session's thread spends in ``publish`` of 20 kB [µs]."""
    times = []
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        link.publish(SNAPSHOT)
        times.append(time.perf_counter() - start)
        time.sleep(0.002)
    return statistics.median(times) * 1e6


def deliver(link: Connection, seconds: float, together: int) -> float:
    """Time per event of 100 bytes until the far end has received all events [µs]."""
    rounds = int(seconds * 50_000) // together
    events = [COUNTED] * together
    expect_count(link)
    start = time.perf_counter()
    for _ in range(rounds):
        if together == 1:
            link.emit(COUNTED)
        else:
            link.emit_all(events)
    count = expect_count(link)
    if count != rounds * together:
        raise RuntimeError(f"{count} of {rounds * together} events arrived")
    return (time.perf_counter() - start) / count * 1e6


def expect_count(link: Connection) -> int:
    """Waits until the far end has read everything; returns the number of events."""
    link.emit(b"q")
    link.wait()
    (answer,) = link.receive()
    return int(answer[1] if isinstance(answer, tuple) else answer)


def single(link: Connection, seconds: float) -> float:
    """Events emitted one by one [µs]."""
    return deliver(link, seconds, 1)


def together(link: Connection, seconds: float) -> float:
    """Events emitted twenty at a time, as a session emits those of a step [µs]."""
    return deliver(link, seconds, 20)


def own_receive(link: Connection) -> Callable[[], list[Any]]:
    """The ``receive`` that a session calls, without the wrapper of this file."""
    return link.end.receive if isinstance(link, Link) else link.receive


def nothing(link: Connection, seconds: float) -> float:
    """Time of a ``receive`` without anything to receive [µs]."""
    number = int(seconds * 20_000)
    receive = own_receive(link)
    start = time.perf_counter()
    for _ in range(number):
        receive()
    return (time.perf_counter() - start) / number * 1e6


class NoLink:
    """Does nothing: measures the loop itself."""

    def publish(self, snapshot: bytes) -> None: ...
    def emit(self, event: bytes) -> None: ...
    def emit_all(self, events: list[bytes]) -> None: ...
    def wait(self) -> None: ...
    def close(self) -> None: ...

    def receive(self) -> list[Any]:
        return []


def share(link: Connection, seconds: float) -> float:
    """Part of a session's time that the link takes [%]: 2000 steps, 60 snapshots, 20 events/s."""
    return spent_in(link, seconds) - spent_in(NoLink(), seconds)


def spent_in(link: Connection, seconds: float) -> float:
    """Part of the time that the calls take, with the loop itself [%]."""
    spent = 0.0
    receive = own_receive(link)
    begin = time.perf_counter()
    for step in range(int(seconds * 2000)):
        start = time.perf_counter()
        receive()
        if step % 33 == 0:
            link.publish(SNAPSHOT)
        if step % 100 == 0:
            link.emit(COUNTED)
        spent += time.perf_counter() - start
        time.sleep(max(0.0, begin + (step + 1) / 2000 - time.perf_counter()))
    return spent / (time.perf_counter() - begin) * 100


#: Name and unit of each row, the function that measures it, and the peers that can do the same.
ROWS: list[tuple[str, str, Callable[[Any, float], float], list[type]]] = [
    ("round trip of 100 bytes", "µs", round_trip, [Zmq, Pipe]),
    ("publish() of 20 kB", "µs", publish, [Zmq, Pipe, SharedMemory]),
    ("an event of 100 bytes, emitted alone", "µs", single, [Zmq, Pipe]),
    ("an event of 100 bytes, 20 emitted together", "µs", together, [Zmq, Pipe]),
    ("receive() without anything to receive", "µs", nothing, [Zmq, Pipe]),
    ("share of a session's time", "%", share, [Zmq, Pipe]),
]
NAMES = {
    Zmq: "pyzmq",
    Pipe: "multiprocessing.connection",
    SharedMemory: "multiprocessing.shared_memory",
}


def measure(quick: bool) -> list[Row]:
    """All rows."""
    rounds, seconds = (3, 0.1) if quick else (7, 0.3)
    kinds = [kind for kind in NAMES if kind is not Zmq or zmq_or_none() is not None]
    rows = []
    with contextlib.ExitStack() as stack:
        ours = Link()
        stack.callback(ours.close)
        peers: dict[type, Any] = {}
        for kind in kinds:
            peers[kind] = kind()
            stack.callback(peers[kind].close)
        for name, unit, cost, able in ROWS:
            costs: dict[type, list[float]] = {kind: [] for kind in able if kind in peers}
            mine: list[float] = []
            for _ in range(rounds):
                mine.append(cost(ours, seconds))
                for kind, found in costs.items():
                    found.append(cost(peers[kind], seconds))
            for kind in able:
                figure = statistics.median(costs[kind]) if kind in costs else None
                note = "" if kind in costs else "not installed"
                row = Row(name, unit, statistics.median(mine), figure, NAMES[kind], note=note)
                rows.append(row)
    return rows


def main() -> None:
    bench = Benchmark(__file__, __doc__)
    bench.parser.add_argument("--far-end", nargs="+", help=argparse.SUPPRESS)
    options = bench.parse()
    if options.far_end:
        FAR_ENDS[options.far_end[0]](*options.far_end[1:])
        return
    bench.publish(measure(options.quick))


if __name__ == "__main__":
    main()
