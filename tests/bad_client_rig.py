"""A run with a CAN bus and a TCP part for clients that behave badly, and what they need."""

import contextlib
import json
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import can

from command_line import start
from linkwork.session.link import connect
from linkwork.session.messages import Snapshot, Watch, decode_snapshot, encode
from part_rig import Controller

PATIENCE = 30.0

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


class Cell:
    """A run with two buses, as its clients see it."""

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
        """The session and its buses."""
        children = Path(f"/proc/{self.run.pid}/task/{self.run.pid}/children").read_text()
        return [self.run.pid, *map(int, children.split())]

    def memory(self) -> list[float]:
        """What each process holds [MB]."""
        pages = [int(Path(f"/proc/{p}/statm").read_text().split()[1]) for p in self.processes()]
        return [n * os.sysconf("SC_PAGE_SIZE") / 2**20 for n in pages]

    def tells(self, *counters: str) -> Snapshot:
        """How things stand, with the values of some counters."""
        until(self.link.exists, "the link is there")
        with connect(**json.loads(self.link.read_text())) as peer:
            peer.send(encode(Watch([*counters])))
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                peer.wait(1.0)
                peer.events()
                data = peer.snapshot()
                snapshot = decode_snapshot(data) if data else None
                if snapshot is not None and {*counters} <= snapshot.values.keys():
                    return snapshot
        raise AssertionError("the session does not tell its counters")

    def serves(self) -> None:
        """An honest client of each bus is served, while time goes on."""
        controller = Controller(self.part)
        before = int(controller.until("s ").split(" ")[1])
        for angle in (0.2, 0.4):
            controller.say(f"c {angle}")
            until(lambda a=angle: abs(controller.angles()[0] - a) < 0.02, "J2 moves")
        assert int(controller.until("s ").split(" ")[1]) > before
        controller.close()
        with self.bus() as bus:
            for code in (500, 1500):
                bus.send(can.Message(arbitration_id=0x11, data=code.to_bytes(2, "little"),
                                     is_extended_id=False))  # fmt: skip
                until(lambda c=code: abs(self.angle(bus) - c) < 120, "J1 moves")

    def angle(self, bus: can.BusABC) -> int:
        message = bus.recv(PATIENCE)
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
            self.run.communicate(timeout=PATIENCE)
        finally:
            self.run.kill()


def until(reached: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, f"not within {PATIENCE:g} s: {what}"


def raw(port: int, window: int = 0) -> socket.socket:
    """A connection; the window is what the system takes for a client that does not read [byte]."""
    door = socket.socket()
    if window:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    door.settimeout(PATIENCE)
    door.connect(("127.0.0.1", port))
    return door


def pour(door: socket.socket, data: bytes, megabytes: float) -> float:
    """Sends data until it is enough or the other end has had enough; gives how much [MB]."""
    piece, sent = data * max(1, 65536 // len(data)), 0
    with contextlib.suppress(OSError):
        while sent < megabytes * 2**20:
            door.sendall(piece)
            sent += len(piece)
    return sent / 2**20


def answered(door: socket.socket, word: bytes, times: int = 1) -> None:
    """Reads until a word has come so often; what was said before it has been gone through then."""
    door.settimeout(PATIENCE)
    heard = b""
    while times > 0:
        data = door.recv(65536)
        assert data, f"closed before {word!r} came"
        heard += data
        times -= heard.count(word)
        heard = heard[heard.rfind(word) + len(word) :] if word in heard else heard[-len(word) :]
