"""What badly behaved clients do to a running session: nothing.

Each one meets a real ``linkwork run`` with a CAN bus and a TCP part, each in its process. The
session goes on, memory stays flat, counters tell, and the next honest client is served.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import can
import pytest

from command_line import start
from part_rig import Controller

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads memory from /proc")

PATIENCE = 30.0
#: Garbage that is poured in [MB], after a little to warm up; LINKWORK_GARBAGE_MB asks for another.
GARBAGE = int(os.environ.get("LINKWORK_GARBAGE_MB", "100"))
WARM_UP = 5
#: How much a process may grow [MB].
GROWTH = 5.0

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
name = "J2"
bus = "part"
commands = [{ signal = "arm/J2.target" }]
sensors = [{ signal = "arm/J2.angle" }]
"""


class Cell:
    """A run with two buses, as its clients see it."""

    def __init__(self, folder: Path) -> None:
        (folder / "cell.toml").write_text(SCENE)
        self.run = start("run", "cell.toml", "--clock", "real", cwd=folder)
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


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    cell = Cell(tmp_path_factory.mktemp("cell"))
    try:
        cell.serves()  # warmed up
        yield cell
    finally:
        cell.close()


def until(reached: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, f"not within {PATIENCE:g} s: {what}"


def raw(port: int) -> socket.socket:
    door = socket.create_connection(("127.0.0.1", port), PATIENCE)
    door.settimeout(2.0)
    return door


def pour(door: socket.socket, data: bytes, megabytes: float) -> float:
    """Sends data until it is enough or the other end has had enough; gives how much [MB]."""
    piece, sent = data * max(1, 65536 // len(data)), 0
    with contextlib.suppress(OSError):
        while sent < megabytes * 2**20:
            door.sendall(piece)
            sent += len(piece)
    return sent / 2**20


CLIENT = """
import socket, sys, time
door = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
door.sendall(sys.argv[2].encode().decode("unicode_escape").encode("latin-1"))
print("ready", flush=True)
time.sleep(600)
"""
#: What brings a client into the conversation: to the CAN bus, to the part.
ENTRANCE = {"can": "< open can0 >< rawmode >", "part": "join\\n"}


def connected(cell: Cell, door: str) -> subprocess.Popen[str]:
    """A client in a process of its own, which never reads."""
    port = cell.can if door == "can" else cell.part
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(port), ENTRANCE[door]],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert client.stdout is not None
    assert client.stdout.readline() == "ready\n"
    return client


def killed(cell: Cell, door: str) -> None:
    client = connected(cell, door)
    client.kill()
    client.wait()


def paused(cell: Cell, door: str) -> None:
    client = connected(cell, door)
    client.send_signal(signal.SIGSTOP)
    cell.serves()
    client.kill()
    client.wait()


def never_reading(cell: Cell, door: str) -> None:
    client = connected(cell, door)
    cell.serves()
    client.kill()
    client.wait()


def flooding(cell: Cell, door: str) -> None:
    with raw(cell.can if door == "can" else cell.part) as client:
        if door == "can":
            client.sendall(b"< open can0 >< rawmode >")
            pour(client, b"< send 700 2 11 22 >", 2)
        else:
            client.sendall(b"join\n")
            pour(client, b"ping x\n", 2)


def garbage(cell: Cell, door: str, megabytes: int = GARBAGE) -> None:
    left = float(megabytes)
    while left > 0.0:  # one that never reads what it is told is dropped after a while: the next one
        with raw(cell.can if door == "can" else cell.part) as client:
            client.settimeout(PATIENCE)  # a slow machine takes all of it too
            client.sendall(ENTRANCE[door].encode().decode("unicode_escape").encode())
            left -= pour(client, bytes(range(256)), left)


def half_a_message(cell: Cell, door: str) -> None:
    for text in {"can": (b"< open can0", b"< send 11 2 1"), "part": (b"jo", b"join\nc 0.")}[door]:
        with raw(cell.can if door == "can" else cell.part) as client:
            client.sendall(text)


def wrong_lengths(cell: Cell, door: str) -> None:
    with raw(cell.can if door == "can" else cell.part) as client:
        if door == "can":
            client.sendall(b"< open can0 >< rawmode >< send 11 9 1 2 3 4 5 6 7 8 9 >< send 11 2 1 >"
                           b"< send 11 0 >")  # fmt: skip
        else:
            client.sendall(b"join\nc 1 2 3 4\nc\nc  \n")
        with contextlib.suppress(OSError):
            client.recv(65536)


def not_numbers(cell: Cell, door: str) -> None:
    with raw(cell.can if door == "can" else cell.part) as client:
        if door == "can":
            client.sendall(b"< open can0 >< rawmode >< send nan 2 zz 1 >< send -1 1 1 >")
        else:
            client.sendall(b"join\nc nan\nc inf\nc 1e400\n")
        with contextlib.suppress(OSError):
            client.recv(65536)


def two_masters(cell: Cell, door: str) -> None:
    if door == "can":  # both send the joint's identifier
        with cell.bus() as one, cell.bus() as two:
            for bus in (one, two) * 20:
                bus.send(can.Message(arbitration_id=0x11, data=[0, 2], is_extended_id=False))
    else:
        first, second = Controller(cell.part), Controller(cell.part)
        first.say("c 0.3")
        until(lambda: abs(first.angles()[0] - 0.3) < 0.02, "the first commands")
        second.say("c 0.1")
        assert "commands this part" in second.until("error")
        first.close()
        second.close()


MISDEEDS = [
    killed, paused, never_reading, flooding, garbage, half_a_message, wrong_lengths, not_numbers,
    two_masters,
]  # fmt: skip


@pytest.mark.parametrize("door", ["can", "part"])
@pytest.mark.parametrize("misdeed", MISDEEDS, ids=lambda each: each.__name__)
def test_a_bad_client_harms_nobody(
    cell: Cell, misdeed: Callable[[Cell, str], None], door: str
) -> None:
    """After it, and twice of it, honest clients are served and no process has grown."""
    if misdeed is garbage:
        garbage(cell, door, WARM_UP)
    else:
        misdeed(cell, door)
    cell.serves()
    before, processes = cell.memory(), cell.processes()
    misdeed(cell, door)
    cell.serves()
    assert cell.processes() == processes, "a bus had to be started anew"
    grown = [now - then for now, then in zip(cell.memory(), before, strict=True)]
    assert max(grown) < GROWTH, f"grown by {grown} MB"


def test_a_bus_that_is_killed_comes_back(cell: Cell) -> None:
    """The session goes on and says so; the bus is served again."""
    session, *buses = cell.processes()
    for bus in buses:
        os.kill(bus, signal.SIGKILL)
    assert cell.run.stdout is not None
    found: dict[str, int] = {}
    while len(found) < 2:
        line = cell.run.stdout.readline()
        assert line, "the run ended"
        if match := re.search(r"socketcand on .*:(\d+)", line):
            found["can"] = int(match[1])
        if match := re.search(r"TCP part on .*:(\d+)", line):
            found["part"] = int(match[1])
    cell.can, cell.part = found["can"], found["part"]
    assert cell.processes()[0] == session
    cell.serves()
