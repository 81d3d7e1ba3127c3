"""What the link between a session and its peers costs, beside other ways to do the same.

    python benchmarks/link.py [--quick] [--json]

Each row compares one cost (lower is better) in one run, the candidates taking turns, with one
other process at the far end. ``ratio`` is ours / peer. pyzmq is optional.
"""

from __future__ import annotations

import argparse
import contextlib
import json
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

from linkwork.session.link import LinkClosed, connect, serve

SMALL = b"e" + bytes(99)  # the far end sends back what begins with e, and a count for a q
COUNTED = b"c" + bytes(99)
SNAPSHOT = bytes(20_000)


def zmq_or_none() -> Any:
    with contextlib.suppress(ImportError):
        import zmq

        return zmq
    return None


class Rival(Protocol):
    """One way to join two processes, from the session's side; see ``FAR_ENDS`` for the other."""

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
    """pyzmq: PUB/SUB with CONFLATE for snapshots, DEALER/DEALER without limit for the rest."""

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
    """multiprocessing.connection: one stream for all, which blocks when the reader is slow."""

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
    """shared_memory between two counters (a seqlock), and a byte to wake the reader."""

    def __init__(self) -> None:
        self.memory = shared_memory.SharedMemory(create=True, size=len(SNAPSHOT) + 8)
        self.whole = memoryview(self.memory.buf or b"")
        self.count = self.whole[:8].cast("Q")
        self.block = self.whole[8 : 8 + len(SNAPSHOT)]
        self.note, other = socket.socketpair()
        with other:
            arguments = [sys.executable, __file__, "--far-end", "shared", str(other.fileno())]
            self.child = subprocess.Popen(arguments, pass_fds=[other.fileno()])

    def publish(self, snapshot: bytes) -> None:
        self.count[0] += 1
        self.block[:] = snapshot
        self.count[0] += 1
        self.note.send(b"\0")

    def close(self) -> None:
        self.note.close()
        self.child.wait()
        self.block.release()
        self.count.release()
        self.whole.release()
        self.memory.close()
        self.memory.unlink()

    @staticmethod
    def answer(descriptor: str) -> None:
        with socket.socket(fileno=int(descriptor)) as note:
            while note.recv(4096):
                pass


FAR_ENDS: dict[str, Callable[..., None]] = {
    "link": Link.answer,
    "zmq": Zmq.answer,
    "pipe": Pipe.answer,
    "shared": SharedMemory.answer,
}


def round_trip(rival: Rival, seconds: float) -> float:
    """Median time from sending 100 bytes to having them back [µs]."""
    times = []
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        rival.emit(SMALL)
        rival.wait()
        rival.receive()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def publish(rival: Rival, seconds: float) -> float:
    """Median time the session's thread spends on handing over a snapshot of 20 kB [µs]."""
    times = []
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        rival.publish(SNAPSHOT)
        times.append(time.perf_counter() - start)
        time.sleep(0.002)
    return statistics.median(times) * 1e6


def deliver(rival: Rival, seconds: float, together: int) -> float:
    """Time per event of 100 bytes until the far end has them all [µs]."""
    rounds = int(seconds * 50_000) // together
    events = [COUNTED] * together
    expect_count(rival)
    start = time.perf_counter()
    for _ in range(rounds):
        if together == 1:
            rival.emit(COUNTED)
        else:
            rival.emit_all(events)
    count = expect_count(rival)
    if count != rounds * together:
        raise RuntimeError(f"{count} of {rounds * together} events arrived")
    return (time.perf_counter() - start) / count * 1e6


def expect_count(rival: Rival) -> int:
    """Waits until the far end has read everything, and says how many events that were."""
    rival.emit(b"q")
    rival.wait()
    (answer,) = rival.receive()
    return int(answer[1] if isinstance(answer, tuple) else answer)


def single(rival: Rival, seconds: float) -> float:
    """Events handed over one by one."""
    return deliver(rival, seconds, 1)


def together(rival: Rival, seconds: float) -> float:
    """Events handed over as a session does, those of a step in one call."""
    return deliver(rival, seconds, 20)


def own_receive(rival: Rival) -> Callable[[], list[Any]]:
    """What a session would call, without this file's wrapping."""
    return rival.end.receive if isinstance(rival, Link) else rival.receive


def nothing(rival: Rival, seconds: float) -> float:
    """Time of a ``receive`` that finds nothing [µs]."""
    number = int(seconds * 20_000)
    receive = own_receive(rival)
    start = time.perf_counter()
    for _ in range(number):
        receive()
    return (time.perf_counter() - start) / number * 1e6


class Nobody:
    """Does nothing, as a session without a link: what the loop itself takes."""

    def publish(self, snapshot: bytes) -> None: ...
    def emit(self, event: bytes) -> None: ...
    def emit_all(self, events: list[bytes]) -> None: ...
    def wait(self) -> None: ...
    def close(self) -> None: ...

    def receive(self) -> list[Any]:
        return []


def share(rival: Rival, seconds: float) -> float:
    """Part of a session's time that the link takes: 2 kHz, 60 snapshots and 20 events/s [%]."""
    return spent_in(rival, seconds) - spent_in(Nobody(), seconds)


def spent_in(rival: Rival, seconds: float) -> float:
    spent = 0.0
    receive = own_receive(rival)
    begin = time.perf_counter()
    for step in range(int(seconds * 2000)):
        start = time.perf_counter()
        receive()
        if step % 33 == 0:
            rival.publish(SNAPSHOT)
        if step % 100 == 0:
            rival.emit(COUNTED)
        spent += time.perf_counter() - start
        time.sleep(max(0.0, begin + (step + 1) / 2000 - time.perf_counter()))
    return spent / (time.perf_counter() - begin) * 100


ROWS: list[tuple[str, Callable[[Any, float], float], list[type]]] = [
    ("round trip of 100 bytes [µs]", round_trip, [Zmq, Pipe]),
    ("publish() of 20 kB [µs]", publish, [Zmq, Pipe, SharedMemory]),
    ("an event of 100 bytes, emitted alone [µs]", single, [Zmq, Pipe]),
    ("an event of 100 bytes, 20 emitted together [µs]", together, [Zmq, Pipe]),
    ("receive() of nothing [µs]", nothing, [Zmq, Pipe]),
    ("share of a 2 kHz session, 60 snapshots/s [%]", share, [Zmq, Pipe]),
]
NAMES = {
    Zmq: "pyzmq",
    Pipe: "multiprocessing.connection",
    SharedMemory: "multiprocessing.shared_memory",
}


def measure(quick: bool) -> list[dict[str, Any]]:
    rounds, seconds = (3, 0.1) if quick else (7, 0.3)
    kinds = [kind for kind in NAMES if kind is not Zmq or zmq_or_none() is not None]
    with contextlib.ExitStack() as stack:
        ours = Link()
        stack.callback(ours.close)
        rivals: dict[type, Any] = {}
        for kind in kinds:
            rivals[kind] = kind()
            stack.callback(rivals[kind].close)
        rows = []
        for name, cost, peers in ROWS:
            shown = [kind for kind in peers if kind in rivals]
            costs: dict[type, list[float]] = {kind: [] for kind in (Link, *shown)}
            for _ in range(rounds):
                costs[Link].append(cost(ours, seconds))
                for kind in shown:
                    costs[kind].append(cost(rivals[kind], seconds))
            mine = statistics.median(costs[Link])
            for kind in peers:
                theirs = statistics.median(costs[kind]) if kind in shown else None
                rows.append(
                    {
                        "name": name,
                        "ours": mine,
                        "peer": theirs,
                        "peer_name": NAMES[kind] + ("" if theirs else " (not installed)"),
                        "ratio": mine / theirs if theirs else None,
                    }
                )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few seconds, rough figures")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--far-end", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.far_end:
        FAR_ENDS[options.far_end[0]](*options.far_end[1:])
        return
    rows = measure(options.quick)
    if options.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for row in rows:
        figures = "not installed"
        if row["peer"] is not None:
            figures = f"{row['peer']:10.2f}   ratio {row['ratio']:.3f}"
        print(f"{row['name']:47} ours {row['ours']:8.2f}   {row['peer_name']:30} {figures}")


if __name__ == "__main__":
    main()
