"""What badly behaved clients do to a running session: nothing.

Each one meets a real ``linkwork run`` with a CAN bus and a TCP part, each in its process. The
session goes on, memory stays flat, counters tell, and the next honest client is served.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import can
import pytest

from bad_client_rig import PATIENCE, Cell, answered, pour, raw, until
from part_rig import Controller

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads memory from /proc")

#: Garbage that is poured in [MB], after a little to warm up; LINKWORK_GARBAGE_MB asks for another.
GARBAGE = int(os.environ.get("LINKWORK_GARBAGE_MB", "100"))
WARM_UP = 5
#: How far the session may lag behind real time [s].
LATE = 0.1
#: How much a process may grow [MB].
GROWTH = 5.0


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    cell = Cell(tmp_path_factory.mktemp("cell"))
    try:
        cell.serves()  # warmed up
        yield cell
    finally:
        cell.close()


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
            client.settimeout(PATIENCE)
            pour(client, b"< send 700 2 11 22 >", 1)
            client.sendall(b"< echo >")
            answered(client, b"< echo >")  # all of it has been carried
        else:
            client.sendall(b"join\n" + b"ping x\n" * 100)
            answered(client, b"pong", 100)
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
        answered(client, b"error", 2 if door == "can" else 3)


def not_numbers(cell: Cell, door: str) -> None:
    with raw(cell.can if door == "can" else cell.part) as client:
        if door == "can":
            client.sendall(b"< open can0 >< rawmode >< send nan 2 zz 1 >< send -1 1 1 >")
        else:
            client.sendall(b"join\nc nan\nc inf\nc 1e400\n")
        answered(client, b"error", 2 if door == "can" else 3)


def two_masters(cell: Cell, door: str) -> None:
    if door == "can":  # both send the joint's identifier
        with cell.bus() as one, cell.bus() as two:
            for bus in (one, two) * 20:
                bus.send(can.Message(arbitration_id=0x11, data=[0, 2], is_extended_id=False))
            for bus in (one, two):  # each hears the other
                while (message := bus.recv(PATIENCE)) and message.arbitration_id != 0x11:
                    pass
                assert message, "the other master is not heard"
    else:
        first, second = Controller(cell.part), Controller(cell.part)
        first.say("c 0.3")
        until(lambda: abs(first.angles()[0] - 0.3) < 0.02, "the first commands")
        second.say("c 0.1")
        assert "commands this part" in second.until("error")
        first.close()
        second.close()


#: What is counted of each, at least: by the CAN bus, by the part.
COUNTED: dict[
    Callable[[Cell, str], None], tuple[tuple[str, int] | None, tuple[str, int] | None]
] = {
    flooding: (("can0.frames", 50_000), ("part.lines_in", 100)),
    garbage: (("can0.bad", 4 * GARBAGE), ("part.bad_lines", 4 * GARBAGE)),
    wrong_lengths: (("can0.bad", 2), ("part.bad_lines", 3)),
    not_numbers: (("can0.bad", 2), ("part.bad_lines", 3)),
    two_masters: (("can0.conflicts", 1), ("part.bad_lines", 1)),
}
COUNTERS = sorted({each[0] for pair in COUNTED.values() for each in pair if each})

MISDEEDS = [
    killed, paused, never_reading, flooding, garbage, half_a_message, wrong_lengths, not_numbers,
    two_masters,
]  # fmt: skip


@pytest.mark.parametrize("door", ["can", "part"])
@pytest.mark.parametrize("misdeed", MISDEEDS, ids=lambda each: each.__name__)
def test_a_bad_client_harms_nobody(
    cell: Cell, misdeed: Callable[[Cell, str], None], door: str
) -> None:
    """After it, and twice of it, honest clients are served and no process has grown.

    It is counted where it breaks a rule, and the session goes at its rate.
    """
    if misdeed is garbage:
        garbage(cell, door, WARM_UP)
    else:
        misdeed(cell, door)
    cell.serves()
    before, processes, counted = cell.memory(), cell.processes(), cell.tells(COUNTERS)[0]
    misdeed(cell, door)
    cell.serves()
    if rule := COUNTED.get(misdeed, (None, None))[door == "part"]:
        name, least = rule
        until(
            lambda: cell.tells(COUNTERS)[0][name] >= counted[name] + least, f"{least} more {name}"
        )
    until(lambda: cell.tells(COUNTERS)[1] < LATE, "the session is in time")
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
