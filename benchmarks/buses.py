"""Round trip and throughput of a CAN bus over socketcand and slcan, beside python-can.

    python benchmarks/buses.py [--quick] [--json [FILE]]

The bus runs in its own process, as in a session, with a node that answers each frame. A round trip
is the elapsed time from a request to its answer in an unmodified python-can client. The peer is
python-can's virtual bus, which stays in one process and needs no wire format. "Beside a session"
means that ``linkwork run`` steps an arm at 500 Hz in real time on the same machine. "Bus of a
session" is the bus of that session itself: the request is a remote frame, the answer a joint's
angle. The last row is the rate that the session held during the run.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import can
from shared.rows import Benchmark, Row

REQUEST, ANSWER = 0x120, 0x121
VIRTUAL = "python-can, virtual bus in one process"

RATE = 500.0
SCENE = f"""
format = "linkwork/scene 1"
name = "bench"
step = {1 / RATE}

[[part]]
name = "robot"
part = "amtec/robot"

[[bus]]
name = "can0"
type = "can"
bitrate = 1_000_000
socketcand = 0
period = 0.01

[[port]]
name = "J1"
commands = [{{ signal = "robot/arm/J1.target", can_id = 0x11, bits = 12 }}]
sensors = [{{ signal = "robot/arm/J1.angle", can_id = 0x111, bits = 12, send = "request" }}]
"""


class Socketcand:
    """Clients of a bus that serves socketcand."""

    def __init__(self, host: str, port: int) -> None:
        self.at = (host, port)

    def client(self) -> can.BusABC:
        """A python-can client."""
        host, port = self.at
        return can.Bus(interface="socketcand", host=host, port=port, channel="can0", tcp_tune=True)

    def plain(self) -> socket.socket:
        """A client without a library, in raw mode."""
        line = socket.create_connection(self.at)
        assert line.recv(256) == b"< hi >"
        for command in (b"< open can0 >", b"< rawmode >"):
            line.sendall(command)
            assert line.recv(256) == b"< ok >"
        return line


class SessionBus(Socketcand):
    """The bus of a session that runs in its own process, in real time."""

    def __init__(self, stack: ExitStack) -> None:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        (folder / "bench.toml").write_text(SCENE)
        run = [sys.executable, "-m", "linkwork", "run", "bench.toml", "--clock", "real"]
        self.process = stack.enter_context(
            subprocess.Popen(run, cwd=folder, stdout=subprocess.PIPE, text=True)
        )
        stack.callback(self.process.terminate)
        assert self.process.stdout
        for line in self.process.stdout:
            if found := re.search(r"socketcand on (\S+):(\d+)", line):
                super().__init__(found[1], int(found[2]))
                return
        raise SystemExit("The session ended before it served its bus.")

    def stop(self) -> float:
        """Ends the session; returns its steps per second of real time."""
        self.process.send_signal(signal.SIGINT)
        printed = self.process.communicate(timeout=60.0)[0]
        found = re.search(r"([0-9.]+) s simulated in ([0-9.]+) s", printed)
        if found is None:
            raise SystemExit(f"The session printed no summary:\n{printed}")
        return float(found[1]) * RATE / float(found[2])


class PlainBus(Socketcand):
    """A bus without a session, in its own process."""

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
        self.ports = json.loads(self.process.stdout.readline())
        super().__init__(*self.ports["socketcand"])

    def slcan(self, where: str) -> can.BusABC:
        """A python-can client of slcan over "TCP" or a "terminal"."""
        tcp = "socket://{}:{}".format(*self.ports["slcan"])
        place = tcp if where == "TCP" else self.ports["pty"]
        return can.Bus(interface="slcan", channel=place, sleep_after_open=0)


WRITE = can.Message(arbitration_id=REQUEST, data=bytes(8), is_extended_id=False)
ASK = can.Message(arbitration_id=0x111, is_remote_frame=True, dlc=2, is_extended_id=False)


def round_trips(
    client: can.BusABC, count: int, request: can.Message = WRITE, answer: int = ANSWER
) -> float:
    """Median time from request to answer [µs]."""
    times = []
    for _ in range(count):
        started = time.perf_counter()
        client.send(request)
        while (got := client.recv(10.0)) is not None and got.arbitration_id != answer:
            pass
        assert got is not None
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6


def throughput(bus: Socketcand, count: int) -> float:
    """Frames per second from one plain client over the bus to another."""
    with bus.plain() as sender, bus.plain() as listener:
        time.sleep(0.1)  # until raw mode is on
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
    if seen < count:
        raise SystemExit(f"{count - seen} of {count} frames were lost.")
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
    """Frames per second through python-can's virtual bus."""
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


def main() -> None:
    bench = Benchmark(__file__, __doc__)
    args = bench.parse()
    trips, frames, rounds = (500, 10_000, 3) if args.quick else (3000, 60_000, 7)
    rows: list[Row] = []

    def median(measure: Callable[[], float]) -> float:
        return statistics.median(measure() for _ in range(rounds))

    def add_trip(name: str, client: can.BusABC, *asked: Any) -> None:
        found = median(lambda: round_trips(client, trips, *asked))
        rows.append(Row(f"round trip, {name}", "µs", found, trip_peer, VIRTUAL))

    def add_rate(name: str, bus: Socketcand) -> None:
        found = median(lambda: throughput(bus, frames))
        rows.append(Row(f"throughput, {name}", "frames/s", found, rate_peer, VIRTUAL, "higher"))

    with ExitStack() as stack:
        bus = PlainBus(stack)
        virtual = virtual_pair(stack)
        trip_peer = median(lambda: round_trips(virtual, trips))
        rate_peer = median(lambda: virtual_throughput(frames // 4))
        clients: dict[str, Callable[[], can.BusABC]] = {
            "socketcand": bus.client,
            "slcan over TCP": lambda: bus.slcan("TCP"),
            "slcan over a pseudo terminal": lambda: bus.slcan("terminal"),
        }
        for name, connect in clients.items():
            with connect() as client:
                add_trip(name, client)
        add_rate("socketcand", bus)
        session = SessionBus(stack)
        with bus.client() as client:
            add_trip("socketcand beside a session", client)
        with session.client() as client:
            add_trip("socketcand, bus of a session", client, ASK, 0x111)
        add_rate("socketcand, bus of a session", session)
        held = session.stop()
        note = f"real time is {RATE:g} steps/s"
        rows.append(Row("rate of that session", "steps/s", held, better="higher", note=note))
    bench.publish(rows)


if __name__ == "__main__":
    main()
