"""What the CAN doors cost: frames a second and request to answer, beside python-can's own bus.

The bus runs in a process of its own, as in a session, with a node that answers each frame. The
request-answer times are those of an unmodified python-can client; its virtual bus, in one process
and without any wire format, is the peer. One row has a process beside it that works at 500 Hz, as a
session does.

    python benchmarks/buses.py [--quick] [--json]
"""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import can
from shared.report import Row, options, show

REQUEST, ANSWER = 0x120, 0x121

BESIDE = """
import time
due = time.perf_counter()
while True:
    due += 1 / 500
    end = time.perf_counter() + 0.0008  # what a step of a session costs
    while time.perf_counter() < end:
        pass
    time.sleep(max(0.0, due - time.perf_counter()))
"""


class Bus:
    """The bus's process and its doors."""

    def __init__(self, stack: ExitStack) -> None:
        self.process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "linkwork.buses.can", "--pty", "--answer"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        stack.callback(self.process.terminate)
        assert self.process.stdout
        self.doors = json.loads(self.process.stdout.readline())

    def socketcand(self) -> can.BusABC:
        host, port = self.doors["socketcand"]
        return can.Bus(interface="socketcand", host=host, port=port, channel="can0", tcp_tune=True)

    def slcan(self, where: str) -> can.BusABC:
        tcp = "socket://{}:{}".format(*self.doors["slcan"])
        place = tcp if where == "TCP" else self.doors["pty"]
        return can.Bus(interface="slcan", channel=place, sleep_after_open=0)

    def plain(self) -> socket.socket:
        """A socketcand client without any library, in raw mode."""
        line = socket.create_connection(tuple(self.doors["socketcand"]))
        assert line.recv(256) == b"< hi >"
        for word in (b"< open can0 >", b"< rawmode >"):
            line.sendall(word)
            assert line.recv(256) == b"< ok >"
        return line


def round_trips(client: can.BusABC, count: int) -> float:
    """Median of request to answer [µs]."""
    request = can.Message(arbitration_id=REQUEST, data=bytes(8), is_extended_id=False)
    times = []
    for _ in range(count):
        started = time.perf_counter()
        client.send(request)
        while (got := client.recv(10.0)) is not None and got.arbitration_id != ANSWER:
            pass
        assert got is not None
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6


def throughput(bus: Bus, count: int) -> float:
    """Frames a second from one plain client through the hub to another."""
    with bus.plain() as sender, bus.plain() as listener:
        time.sleep(0.1)  # the first moment of raw mode
        flood = b"< send 125 8 11 22 33 44 55 66 77 88 >" * count + b"< send 7FF 0 >"
        started = time.perf_counter()
        thread = threading.Thread(target=sender.sendall, args=(flood,))
        thread.start()
        seen, tail = 0, b""
        while b"< frame 7FF" not in tail:
            data = listener.recv(1 << 18)
            seen += (tail[-12:] + data).count(b"< frame 125 ")
            tail = (tail + data)[-64:]
        elapsed = time.perf_counter() - started
        thread.join()
    assert seen >= count, f"{count - seen} frames were lost"
    return count / elapsed


def virtual_pair(stack: ExitStack) -> can.BusABC:
    """python-can's virtual bus with a notifier that answers, in this process."""
    client = stack.enter_context(can.Bus(interface="virtual", channel="bench"))
    node = stack.enter_context(can.Bus(interface="virtual", channel="bench"))
    reply = can.Message(arbitration_id=ANSWER, data=bytes(8), is_extended_id=False)
    notifier = can.Notifier(node, [lambda message: node.send(reply)])
    stack.callback(notifier.stop)
    return client


def virtual_throughput(count: int) -> float:
    """Frames a second through python-can's virtual bus."""
    with (
        can.Bus(interface="virtual", channel="flood") as sender,
        can.Bus(interface="virtual", channel="flood") as listener,
    ):
        message = can.Message(arbitration_id=0x125, data=bytes(8), is_extended_id=False)
        started = time.perf_counter()

        def send() -> None:
            for _ in range(count):
                sender.send(message)

        thread = threading.Thread(target=send)
        thread.start()
        for _ in range(count):
            assert listener.recv(10.0)
        elapsed = time.perf_counter() - started
        thread.join()
    return count / elapsed


def best(measure: Callable[[], float], rounds: int) -> list[float]:
    return [measure() for _ in range(rounds)]


def main() -> None:
    args = options(__doc__ or "")
    trips, frames, rounds = (500, 10_000, 3) if args.quick else (3000, 60_000, 7)
    with ExitStack() as stack:
        bus = Bus(stack)
        virtual = virtual_pair(stack)
        peer = statistics.median(best(lambda: round_trips(virtual, trips), rounds))
        rows = []
        doors: dict[str, Callable[[], can.BusABC]] = {
            "socketcand": bus.socketcand,
            "slcan on TCP": lambda: bus.slcan("TCP"),
            "slcan on a terminal": lambda: bus.slcan("terminal"),
        }
        for name, door in doors.items():
            with door() as client:
                ours = statistics.median(best(lambda c=client: round_trips(c, trips), rounds))
            rows.append(Row(f"request to answer, {name} [µs]", ours, peer, "virtual", ours / peer))
        with bus.socketcand() as client, subprocess.Popen([sys.executable, "-c", BESIDE]) as load:
            ours = statistics.median(best(lambda: round_trips(client, trips), rounds))
            load.terminate()
        name = "request to answer, socketcand, 500 Hz beside [µs]"
        rows.append(Row(name, ours, peer, "virtual", ours / peer))
        ours = statistics.median(best(lambda: throughput(bus, frames), rounds))
        peer = statistics.median(best(lambda: virtual_throughput(frames // 4), rounds))
        rows.append(Row("socketcand [frames/s]", ours, peer, "virtual", ours / peer))
    show(rows, as_json=args.json, unit="")


if __name__ == "__main__":
    main()
