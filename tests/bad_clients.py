"""Behavior of bad clients, each on the CAN bus or on the TCP part of a cell."""

import contextlib
import math
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator

import can

from bad_client_fixture import TIMEOUT, Cell, answered, pour, raw, until
from part_fixture import Controller

#: Amount of garbage sent after a warm-up [MB]; LINKWORK_GARBAGE_MB overrides it.
GARBAGE = int(os.environ.get("LINKWORK_GARBAGE_MB", "100"))
#: Messages that open a session: to the CAN bus, to the part.
ENTRANCE = {"can": b"< open can0 >< rawmode >", "part": b"join\n"}
#: Counters of messages that a client which does not read misses.
MISSED = {"can": "can0.missed", "part": "part.skipped"}
#: A request whose answers soon fill the queue of a client that does not read.
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


def port(cell: Cell, endpoint: str) -> int:
    return cell.can if endpoint == "can" else cell.part


@contextlib.contextmanager
def process(cell: Cell, endpoint: str, questions: int = 0) -> Iterator[subprocess.Popen[str]]:
    """Starts a client in its own process, which reads only on command."""
    words = {"can": ("< echo >", "< echo >"), "part": ("ping end\n", "pong end")}[endpoint]
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(port(cell, endpoint)), ENTRANCE[endpoint].decode(),
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


def missed(cell: Cell, endpoint: str) -> float:
    """Returns the number of missed messages."""
    return cell.read_status(MISSED[endpoint]).values[MISSED[endpoint]]


def overflow(cell: Cell, endpoint: str, before: float) -> None:
    """Continues until a client that does not read has missed messages."""
    if endpoint == "part":  # he has asked so much that the answers alone are too many
        until(lambda: missed(cell, endpoint) > before, "it misses values")
        return
    with raw(cell.can) as other:
        other.sendall(ENTRANCE[endpoint])

        def floods() -> bool:
            other.sendall(b"< send 700 8 11 22 33 44 55 66 77 88 >" * 4000 + b"< echo >")
            answered(other, b"< echo >")
            return missed(cell, endpoint) > before

        until(floods, "it misses frames")


def killed(cell: Cell, endpoint: str) -> None:
    with process(cell, endpoint) as client:
        client.kill()
        client.wait()


def paused(cell: Cell, endpoint: str) -> None:
    """Stops a client until it misses messages; it continues if the bus's timeout permits."""
    before = missed(cell, endpoint)
    with process(cell, endpoint, questions=6 if endpoint == "part" else 0) as client:
        if endpoint == "part":
            overflow(cell, endpoint, before)
        client.send_signal(signal.SIGSTOP)
        if endpoint == "can":
            overflow(cell, endpoint, before)
        cell.serves()
        client.send_signal(signal.SIGCONT)
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write("\n")
        client.stdin.flush()
        assert client.stdout.readline() in ("goes on\n", "was sent away\n")


@contextlib.contextmanager
def deaf(cell: Cell, endpoint: str) -> Iterator[None]:
    """Runs a client that never reads and has missed messages."""
    with raw(port(cell, endpoint), window=16384) as client:
        client.sendall(ENTRANCE[endpoint])
        client.setblocking(False)

        rest = bytearray()

        def asks() -> None:
            rest.extend(b"" if rest else QUESTION)
            with contextlib.suppress(BlockingIOError):
                del rest[: client.send(rest)]

        before = missed(cell, endpoint)
        if endpoint == "part":
            until(lambda: bool(asks() or missed(cell, endpoint) > before), "it misses values")
        else:
            overflow(cell, endpoint, before)
        yield


def never_reading(cell: Cell, endpoint: str) -> None:
    with deaf(cell, endpoint):
        pass


def flooding(cell: Cell, endpoint: str) -> None:
    """Sends 20 000 messages as fast as they are accepted."""
    with raw(port(cell, endpoint)) as client:
        client.sendall(ENTRANCE[endpoint])
        if endpoint == "can":
            client.sendall(b"< send 700 2 11 22 >" * 20_000 + b"< echo >")
            answered(client, b"< echo >")  # all of it has been carried
        else:
            for _ in range(20):
                client.sendall(b"ping x\n" * 1000)
                answered(client, b"pong", 1000)


def garbage(cell: Cell, endpoint: str, megabytes: int = GARBAGE) -> None:
    left = float(megabytes)
    while left > 0.0:  # one that never reads what it is told is dropped after a while: the next one
        with raw(port(cell, endpoint)) as client:
            client.sendall(ENTRANCE[endpoint])
            left -= pour(client, bytes(range(256)), left)


def half_a_message(cell: Cell, endpoint: str) -> None:
    for text in {"can": (b"< open can0", b"< send 11 2 1"), "part": (b"jo", b"join\nc 0.")}[
        endpoint
    ]:
        with raw(port(cell, endpoint)) as client:
            client.sendall(text)


def wrong_lengths(cell: Cell, endpoint: str) -> None:
    with raw(port(cell, endpoint)) as client:
        client.sendall(ENTRANCE[endpoint])
        if endpoint == "can":
            client.sendall(b"< send 11 9 1 2 3 4 5 6 7 8 9 >< send 11 2 1 >< send 11 0 >")
        else:
            client.sendall(b"c 1 2 3 4\nc\nc  \n")
        answered(client, b"error", 2 if endpoint == "can" else 3)


def not_numbers(cell: Cell, endpoint: str) -> None:
    with raw(port(cell, endpoint)) as client:
        client.sendall(ENTRANCE[endpoint])
        if endpoint == "can":
            client.sendall(b"< send nan 2 zz 1 >< send -1 1 1 >< send 11 2 nan inf >")
        else:
            client.sendall(b"c nan\nc inf\nc 1e400\n")
        answered(client, b"error", 3)


def no_finite_numbers(cell: Cell, endpoint: str) -> None:
    """Sends well-formed NaN or infinity: IEEE bits, or words of the part's lines."""
    with raw(port(cell, endpoint)) as client:
        client.sendall(ENTRANCE[endpoint])
        if endpoint == "can":
            for value in (math.nan, math.inf, -math.inf):
                words = struct.pack("<f", value).hex(" ").encode()
                client.sendall(b"< send 12 4 " + words + b" >")
            client.sendall(b"< echo >")
            answered(client, b"< echo >")
        else:
            client.sendall(b"c nan\nc -inf\nc inf\n")
            answered(client, b"error", 3)


def two_masters(cell: Cell, endpoint: str) -> None:
    if endpoint == "can":  # both send the joint's identifier
        with cell.bus() as one, cell.bus() as two:
            for bus in (one, two) * 20:
                bus.send(can.Message(arbitration_id=0x11, data=[0, 2], is_extended_id=False))
            for bus in (one, two):  # each receives the other
                received = 0
                while received < 20:
                    message = bus.recv(TIMEOUT)
                    assert message, "the other master is not heard"
                    received += message.arbitration_id == 0x11
    else:
        first, second = Controller(cell.part), Controller(cell.part)
        first.send_text("c 0.3")
        until(lambda: abs(first.angles()[0] - 0.3) < 0.02, "the first commands")
        second.send_text("c 0.1")
        assert "commands this part" in second.until("error")
        first.close()
        second.close()


def duplicate_ids(cell: Cell, endpoint: str) -> None:
    """Sends the joint's own identifier from another client; on the part, joins repeatedly."""
    with raw(port(cell, endpoint)) as client:
        client.sendall(ENTRANCE[endpoint])
        if endpoint == "can":
            client.sendall(b"< send 111 2 FF 0F >" * 20 + b"< echo >")
            answered(client, b"< echo >")
        else:
            client.sendall(b"join\n" * 20)
            answered(client, b"error", 20)


Misdeed = Callable[[Cell, str], None]
