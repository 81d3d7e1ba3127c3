"""What badly behaved clients do, each to the CAN bus or to the TCP part of a cell."""

import contextlib
import math
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator

import can

from bad_client_rig import PATIENCE, Cell, answered, pour, raw, until
from part_rig import Controller

#: Garbage that is poured in [MB], after a little to warm up; LINKWORK_GARBAGE_MB asks for another.
GARBAGE = int(os.environ.get("LINKWORK_GARBAGE_MB", "100"))
#: What brings a client into the conversation: to the CAN bus, to the part.
ENTRANCE = {"can": b"< open can0 >< rawmode >", "part": b"join\n"}
#: What counts what a client misses that does not read.
MISSED = {"can": "can0.missed", "part": "part.skipped"}
#: A question whose answers soon fill what waits for a client that does not read.
QUESTION = b"ping " + b"x" * 60_000 + b"\n"

CLIENT = """
import socket, sys, threading, time
port, entrance, questions, question, answer = sys.argv[1:]
door = socket.socket()
door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
door.connect(("127.0.0.1", int(port)))
door.sendall(entrance.encode())
def ask():
    for _ in range(int(questions)):
        door.sendall(b"ping " + b"x" * 60_000 + b"\\n")
    asked.set()
asked = threading.Event()
threading.Thread(target=ask, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
def last():
    asked.wait()
    while True:  # an answer may be among what is missed
        door.sendall(question.encode())
        time.sleep(0.1)
threading.Thread(target=last, daemon=True).start()
heard = b""
try:
    while answer.encode() not in heard:
        data = door.recv(65536)
        if not data:
            raise ConnectionError
        heard = heard[-100:] + data
    print("goes on", flush=True)
except ConnectionError:
    print("was sent away", flush=True)
time.sleep(600)
"""


def port(cell: Cell, door: str) -> int:
    return cell.can if door == "can" else cell.part


@contextlib.contextmanager
def process(cell: Cell, door: str, questions: int = 0) -> Iterator[subprocess.Popen[str]]:
    """A client in a process of its own, which does not read before it is told to."""
    words = {"can": ("< echo >", "< echo >"), "part": ("ping end\n", "pong end")}[door]
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(port(cell, door)), ENTRANCE[door].decode(),
         str(questions), *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
        yield client
    finally:
        client.kill()
        client.communicate()


def missed(cell: Cell, door: str) -> float:
    """How much clients have missed."""
    return cell.tells(MISSED[door]).values[MISSED[door]]


def overflow(cell: Cell, door: str, before: float) -> None:
    """Goes on until somebody has missed something, because he does not read."""
    if door == "part":  # he has asked so much that the answers alone are too many
        until(lambda: missed(cell, door) > before, "it misses values")
        return
    with raw(cell.can) as other:
        other.sendall(ENTRANCE[door])

        def floods() -> bool:
            other.sendall(b"< send 700 8 11 22 33 44 55 66 77 88 >" * 4000 + b"< echo >")
            answered(other, b"< echo >")
            return missed(cell, door) > before

        until(floods, "it misses frames")


def killed(cell: Cell, door: str) -> None:
    with process(cell, door) as client:
        client.kill()
        client.wait()


def paused(cell: Cell, door: str) -> None:
    """Stopped, and misses something; it goes on, if the bus's patience has lasted so long."""
    before = missed(cell, door)
    with process(cell, door, questions=6 if door == "part" else 0) as client:
        if door == "part":
            overflow(cell, door, before)
        client.send_signal(signal.SIGSTOP)
        if door == "can":
            overflow(cell, door, before)
        cell.serves()
        client.send_signal(signal.SIGCONT)
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write("\n")
        client.stdin.flush()
        assert client.stdout.readline() in ("goes on\n", "was sent away\n")


@contextlib.contextmanager
def deaf(cell: Cell, door: str) -> Iterator[None]:
    """A client that never reads, and has missed something."""
    with raw(port(cell, door), window=16384) as client:
        client.sendall(ENTRANCE[door])
        client.setblocking(False)

        rest = bytearray()

        def asks() -> None:
            rest.extend(b"" if rest else QUESTION)
            with contextlib.suppress(BlockingIOError):
                del rest[: client.send(rest)]

        before = missed(cell, door)
        if door == "part":
            until(lambda: bool(asks() or missed(cell, door) > before), "it misses values")
        else:
            overflow(cell, door, before)
        yield


def never_reading(cell: Cell, door: str) -> None:
    with deaf(cell, door):
        pass


def flooding(cell: Cell, door: str) -> None:
    """20 000 messages, as fast as they are taken."""
    with raw(port(cell, door)) as client:
        client.sendall(ENTRANCE[door])
        if door == "can":
            client.sendall(b"< send 700 2 11 22 >" * 20_000 + b"< echo >")
            answered(client, b"< echo >")  # all of it has been carried
        else:
            for _ in range(20):
                client.sendall(b"ping x\n" * 1000)
                answered(client, b"pong", 1000)


def garbage(cell: Cell, door: str, megabytes: int = GARBAGE) -> None:
    left = float(megabytes)
    while left > 0.0:  # one that never reads what it is told is dropped after a while: the next one
        with raw(port(cell, door)) as client:
            client.sendall(ENTRANCE[door])
            left -= pour(client, bytes(range(256)), left)


def half_a_message(cell: Cell, door: str) -> None:
    for text in {"can": (b"< open can0", b"< send 11 2 1"), "part": (b"jo", b"join\nc 0.")}[door]:
        with raw(port(cell, door)) as client:
            client.sendall(text)


def wrong_lengths(cell: Cell, door: str) -> None:
    with raw(port(cell, door)) as client:
        client.sendall(ENTRANCE[door])
        if door == "can":
            client.sendall(b"< send 11 9 1 2 3 4 5 6 7 8 9 >< send 11 2 1 >< send 11 0 >")
        else:
            client.sendall(b"c 1 2 3 4\nc\nc  \n")
        answered(client, b"error", 2 if door == "can" else 3)


def not_numbers(cell: Cell, door: str) -> None:
    with raw(port(cell, door)) as client:
        client.sendall(ENTRANCE[door])
        if door == "can":
            client.sendall(b"< send nan 2 zz 1 >< send -1 1 1 >< send 11 2 nan inf >")
        else:
            client.sendall(b"c nan\nc inf\nc 1e400\n")
        answered(client, b"error", 3)


def no_finite_numbers(cell: Cell, door: str) -> None:
    """Well formed, but NaN or infinite: bits of an IEEE number, or words of the part's lines."""
    with raw(port(cell, door)) as client:
        client.sendall(ENTRANCE[door])
        if door == "can":
            for value in (math.nan, math.inf, -math.inf):
                words = struct.pack("<f", value).hex(" ").encode()
                client.sendall(b"< send 12 4 " + words + b" >")
            client.sendall(b"< echo >")
            answered(client, b"< echo >")
        else:
            client.sendall(b"c nan\nc -inf\nc inf\n")
            answered(client, b"error", 3)


def two_masters(cell: Cell, door: str) -> None:
    if door == "can":  # both send the joint's identifier
        with cell.bus() as one, cell.bus() as two:
            for bus in (one, two) * 20:
                bus.send(can.Message(arbitration_id=0x11, data=[0, 2], is_extended_id=False))
            for bus in (one, two):  # each hears the other
                heard = 0
                while heard < 20:
                    message = bus.recv(PATIENCE)
                    assert message, "the other master is not heard"
                    heard += message.arbitration_id == 0x11
    else:
        first, second = Controller(cell.part), Controller(cell.part)
        first.say("c 0.3")
        until(lambda: abs(first.angles()[0] - 0.3) < 0.02, "the first commands")
        second.say("c 0.1")
        assert "commands this part" in second.until("error")
        first.close()
        second.close()


def duplicate_ids(cell: Cell, door: str) -> None:
    """The joint's own identifier, sent by another; on the part, one that joins again and again."""
    with raw(port(cell, door)) as client:
        client.sendall(ENTRANCE[door])
        if door == "can":
            client.sendall(b"< send 111 2 FF 0F >" * 20 + b"< echo >")
            answered(client, b"< echo >")
        else:
            client.sendall(b"join\n" * 20)
            answered(client, b"error", 20)


Misdeed = Callable[[Cell, str], None]
