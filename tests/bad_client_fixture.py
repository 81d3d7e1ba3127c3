"""A run with a CAN bus and a TCP part for misbehaving clients, and their tools."""

import contextlib
import json
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import can

from command_line import start
from linkwork import connect
from part_fixture import Controller

TIMEOUT = 30.0

SCENE = """
format = "linkwork/scene 1"
name = "cell"
step = 0.002

[[part]]
name = "arm"
part = "gripper/arm"

[[bus]]
name = "can0"
type = "can"
socketcand = 0
period = 0.01

[[bus]]
name = "part"
type = "tcp"
port = 0
period = 0.01

[[port]]
name = "J1"
bus = "can0"
commands = [{ signal = "arm/J1.target", can_id = 0x11, bits = 12 }]
sensors = [{ signal = "arm/J1.angle", can_id = 0x111, bits = 12, send = "period" }]

[[port]]
name = "J3"
bus = "can0"
commands = [{ signal = "arm/J3.target", can_id = 0x12 }]

[[port]]
name = "J2"
bus = "part"
commands = [{ signal = "arm/J2.target" }]
sensors = [{ signal = "arm/J2.angle" }]
"""


@dataclass(frozen=True)
class Told:
    """Reports of the session to a joined program."""

    step: int
    time: float
    running: bool
    lateness: float
    values: dict[str, float]


def _command(process: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


class Cell:
    """A run with two buses, from the clients' side."""

    def __init__(self, folder: Path) -> None:
        (folder / "cell.toml").write_text(SCENE)
        self.link = folder / "link.json"
        self.run = start(
            "run", "cell.toml", "--clock", "real", "--link", str(self.link), cwd=folder
        )
        self.can = self.part = 0
        assert self.run.stdout is not None
        while not (self.can and self.part):
            line = self.run.stdout.readline()
            assert line, "the run ended"
            if found := re.search(r"socketcand on .*:(\d+)", line):
                self.can = int(found[1])
            if found := re.search(r"TCP part on .*:(\d+)", line):
                self.part = int(found[1])

    def processes(self) -> list[int]:
        """Returns the session and its buses, without the server for other programs."""
        children = Path(f"/proc/{self.run.pid}/task/{self.run.pid}/children").read_text()
        buses = [n for n in children.split() if b"linkwork.buses" in _command(n)]
        return [self.run.pid, *map(int, buses)]

    def memory(self) -> list[float]:
        """Returns the memory of each process [MB]."""
        pages = [int(Path(f"/proc/{p}/statm").read_text().split()[1]) for p in self.processes()]
        return [n * os.sysconf("SC_PAGE_SIZE") / 2**20 for n in pages]

    def read_status(self, *counters: str) -> Told:
        """Returns the status of the session, with some counters."""
        until(self.link.exists, "the link is there")
        with connect(**json.loads(self.link.read_text())) as remote:
            remote.watch(*counters)
            remote.wait(lambda: remote.status is not None)
            status = remote.status
            assert status is not None
            values = {name: remote[name] for name in counters}
            return Told(status.step, remote.time, status.running, status.lateness, values)

    def serves(self) -> None:
        """Checks that a valid client of each bus is served, while time advances."""
        controller = Controller(self.part)
        before = int(controller.until("s ").split(" ")[1])
        for angle in (0.2, 0.4):
            controller.send_text(f"c {angle}")
            until(lambda a=angle: abs(controller.angles()[0] - a) < 0.02, "J2 moves")
        assert int(controller.until("s ").split(" ")[1]) > before
        controller.close()
        with self.bus() as bus:
            for code in (500, 1500):
                bus.send(can.Message(arbitration_id=0x11, data=code.to_bytes(2, "little"),
                                     is_extended_id=False))  # fmt: skip
                until(lambda c=code: abs(self.angle(bus) - c) < 120, "J1 moves")

    def angle(self, bus: can.BusABC) -> int:
        message = bus.recv(TIMEOUT)
        assert message is not None, "the bus is silent"
        return int.from_bytes(message.data, "little") if message.arbitration_id == 0x111 else -1000

    @contextlib.contextmanager
    def bus(self) -> Iterator[can.BusABC]:
        bus = can.Bus(interface="socketcand", host="127.0.0.1", port=self.can, channel="can0")
        try:
            yield bus
        finally:
            bus.shutdown()

    def close(self) -> None:
        self.run.send_signal(signal.SIGINT)
        try:
            self.run.communicate(timeout=TIMEOUT)
        finally:
            self.run.kill()


def until(reached: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + TIMEOUT
    while not reached():
        assert time.monotonic() < end, f"not within {TIMEOUT:g} s: {what}"


def raw(port: int, window: int = 0) -> socket.socket:
    """Returns a connection; the window is the receive buffer of an unread client [bytes]."""
    endpoint = socket.socket()
    if window:
        endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    endpoint.settimeout(TIMEOUT)
    endpoint.connect(("127.0.0.1", port))
    return endpoint


def pour(endpoint: socket.socket, data: bytes, megabytes: float) -> float:
    """Sends data until enough or until the other end closes; returns the amount [MB]."""
    piece, sent = data * max(1, 65536 // len(data)), 0
    with contextlib.suppress(OSError):
        while sent < megabytes * 2**20:
            endpoint.sendall(piece)
            sent += len(piece)
    return sent / 2**20


def answered(endpoint: socket.socket, word: bytes, times: int = 1) -> None:
    """Reads until a word has arrived a number of times; earlier input is then processed."""
    endpoint.settimeout(TIMEOUT)
    received = b""
    while times > 0:
        data = endpoint.recv(65536)
        assert data, f"closed before {word!r} came"
        received += data
        times -= received.count(word)
        received = (
            received[received.rfind(word) + len(word) :]
            if word in received
            else received[-len(word) :]
        )
