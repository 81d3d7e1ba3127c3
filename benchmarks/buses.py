"""What the CAN doors cost: frames a second and request to answer, beside python-can's own bus.

The bus runs in a process of its own, as in a session, with a node that answers each frame. The
request-answer times are those of an unmodified python-can client; its virtual bus, in one process
and without any wire format, is the peer. Rows with a session have a real one beside them,
``linkwork run`` of an arm at 500 Hz in real time; those "of a session" are taken on its own bus,
where the request is a remote frame and the answer a joint's angle. The last row is the rate that
the session held meanwhile.

    python benchmarks/buses.py [--quick] [--json]
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

import can
from shared.report import Row, options, show

REQUEST, ANSWER = 0x120, 0x121

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


class Doors:
    """Clients of a bus's socketcand door."""

    def __init__(self, host: str, port: int) -> None:
        self.at = (host, port)

    def socketcand(self) -> can.BusABC:
        host, port = self.at
        return can.Bus(interface="socketcand", host=host, port=port, channel="can0", tcp_tune=True)

    def plain(self) -> socket.socket:
        """A client without any library, in raw mode."""
        line = socket.create_connection(self.at)
        assert line.recv(256) == b"< hi >"
        for word in (b"< open can0 >", b"< rawmode >"):
            line.sendall(word)
            assert line.recv(256) == b"< ok >"
        return line


class Running(Doors):
    """A session in its own process, in real time, that serves the bus."""

    def __init__(self, stack: ExitStack) -> None:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        (folder / "bench.toml").write_text(SCENE)
        run = [sys.executable, "-m", "linkwork.cli", "run", "bench.toml", "--clock", "real"]
        self.process = stack.enter_context(
            subprocess.Popen(run, cwd=folder, stdout=subprocess.PIPE, text=True)
        )
        stack.callback(self.process.terminate)
        assert self.process.stdout
        for line in self.process.stdout:
            if found := re.search(r"socketcand on (\S+):(\d+)", line):
                super().__init__(found[1], int(found[2]))
                return
        raise SystemExit("the session ended before its bus was there.")

    def stop(self) -> float:
        """Ends it; gives the steps that it made a second of real time."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=60.0)[0]
        found = re.search(r"([0-9.]+) s simulated in ([0-9.]+) s", said)
        if found is None:
            raise SystemExit(f"the session did not say how it went:\n{said}")
        return float(found[1]) * RATE / float(found[2])


class Bus(Doors):
    """A bus's process and its doors."""

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
        super().__init__(*self.doors["socketcand"])

    def slcan(self, where: str) -> can.BusABC:
        tcp = "socket://{}:{}".format(*self.doors["slcan"])
        place = tcp if where == "TCP" else self.doors["pty"]
        return can.Bus(interface="slcan", channel=place, sleep_after_open=0)


WRITE = can.Message(arbitration_id=REQUEST, data=bytes(8), is_extended_id=False)
ASK = can.Message(arbitration_id=0x111, is_remote_frame=True, dlc=2, is_extended_id=False)


def round_trips(
    client: can.BusABC, count: int, request: can.Message = WRITE, answer: int = ANSWER
) -> float:
    """Median of request to answer [µs]."""
    times = []
    for _ in range(count):
        started = time.perf_counter()
        client.send(request)
        while (got := client.recv(10.0)) is not None and got.arbitration_id != answer:
            pass
        assert got is not None
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6


def throughput(bus: Doors, count: int) -> float:
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
        frame_peer = statistics.median(best(lambda: virtual_throughput(frames // 4), rounds))
        ours = statistics.median(best(lambda: throughput(bus, frames), rounds))
        rows.append(Row("socketcand [frames/s]", ours, frame_peer, "virtual", ours / frame_peer))
        session = Running(stack)
        with bus.socketcand() as client:
            ours = statistics.median(best(lambda: round_trips(client, trips), rounds))
        name = f"request to answer, socketcand, a session at {RATE:g} Hz beside [µs]"
        rows.append(Row(name, ours, peer, "virtual", ours / peer))
        with session.socketcand() as client:
            ours = statistics.median(best(lambda: round_trips(client, trips, ASK, 0x111), rounds))
        name = f"request to answer, socketcand of a session at {RATE:g} Hz [µs]"
        rows.append(Row(name, ours, peer, "virtual", ours / peer))
        ours = statistics.median(best(lambda: throughput(session, frames), rounds))
        name = f"socketcand of a session at {RATE:g} Hz [frames/s]"
        rows.append(Row(name, ours, frame_peer, "virtual", ours / frame_peer))
        held = session.stop()
        rows.append(Row("steps of that session [1/s]", held, RATE, "wanted", held / RATE))
    show(rows, as_json=args.json, unit="")


if __name__ == "__main__":
    main()
