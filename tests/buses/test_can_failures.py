"""Clients that die, stall, flood or talk nonsense: the bus goes on, counts, and serves the next."""

import contextlib
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from can_fixture import BusProcess, Line, opened, wait_for

GARBAGE_MB = int(os.environ.get("LINKWORK_GARBAGE_MB", "20"))
FLAT_MB = 5.0
SEND = b"< send 124 8 11 22 33 44 55 66 77 88 >"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


@pytest.fixture(scope="module")
def bus() -> Iterator[BusProcess]:
    """A bus that has seen traffic and a client that did not read: its buffers are warm."""
    with BusProcess("--pty", "--answer", "--timeout", "0.5") as process:
        with opened(process), opened(process) as sender:
            sender.send_text(SEND * 20_000)
            sender.send_text(b"< echo >")
            sender.until("< echo >")
        wait_for(lambda: process.stats()["clients"] == 0, "the warm-up to end")
        honest(process)
        yield process


def honest(bus: BusProcess) -> None:
    """The next client is served: its frame is answered."""
    with opened(bus) as line:
        line.send_text("< send 200 3 1 2 3 >")
        line.until("< frame 201 ")
        assert line.until(">").endswith(" 010203 >")
    wait_for(lambda: bus.stats()["clients"] == 0, "everybody to be gone")


@pytest.fixture
def flat(bus: BusProcess) -> Iterator[BusProcess]:
    """Memory is where it was, and the next client is served, when the test is over."""
    before = bus.memory()
    yield bus
    honest(bus)
    assert bus.process.poll() is None
    wait_for(lambda: bus.memory() - before < FLAT_MB, f"memory to fall to {before} MB")


CLIENT = """
import socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
s.sendall(b"< open can0 >< rawmode >")
print("ready", flush=True)
if sys.argv[3] == "flood":
    while True:
        s.sendall(b"< send 125 8 1 2 3 4 5 6 7 8 >" * 1000)
while s.recv(65536):
    pass
print("dropped", flush=True)
"""


def client(bus: BusProcess, what: str) -> subprocess.Popen[str]:
    """A client in a process of its own, which reads or floods."""
    host, port = bus.socketcand
    process = subprocess.Popen(
        [sys.executable, "-c", CLIENT, host, str(port), what], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout
    process.stdout.close()


def test_a_killed_client_is_forgotten(flat: BusProcess) -> None:
    """In mid-sentence, while it floods."""
    victim = client(flat, "flood")
    wait_for(lambda: flat.stats()["frames"] > 1000, "its frames")
    end(victim)
    wait_for(lambda: flat.stats()["clients"] == 0, "it to be gone")
    assert not any("socketcand" in name for name in flat.stats()["nodes"])


def test_a_connection_that_is_reset_is_forgotten(flat: BusProcess) -> None:
    """TCP's hard end, with data under way in both directions."""
    for _ in range(50):
        line = opened(flat)
        line.send_text(SEND * 50 + b"< send 1")
        line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.socket.close()
    wait_for(lambda: flat.stats()["clients"] == 0, "them to be gone")


def test_a_client_that_pauses_goes_on_where_it_was(flat: BusProcess) -> None:
    """Stopped for a while on a calm bus: it hears all when it wakes."""
    sleeper = client(flat, "read")
    try:
        with opened(flat) as other:
            wait_for(lambda: flat.stats()["clients"] == 2, "both")
            os.kill(sleeper.pid, signal.SIGSTOP)
            other.send_text(SEND * 1000 + b"< echo >")
            other.until("< echo >")
            wait_for(
                lambda: all(
                    node["received"] >= 1000 and not node["lost"]
                    for name, node in flat.stats()["nodes"].items()
                    if "socketcand" in name and other.name not in name
                ),
                "the frames to wait for it",
            )
            os.kill(sleeper.pid, signal.SIGCONT)
            other.send_text("< send 200 0 >")
            other.until("< frame 201")
            assert flat.stats()["clients"] == 2
    finally:
        end(sleeper)


def drain(line: Line, frames: list[int], end: bytes) -> None:
    """Reads as fast as it can until a text comes, and counts the frames."""
    tail = line.text
    while end not in tail:
        data = line.socket.recv(1 << 20)
        frames.extend([1] * data.count(b">"))
        tail = tail[-len(end) :] + data


def test_a_client_that_never_reads_loses_is_counted_and_dropped(flat: BusProcess) -> None:
    """It costs others nothing: each of their frames arrives meanwhile."""
    with (
        opened(flat, window=65536) as deaf,
        opened(flat) as sender,
        opened(flat) as listener,
    ):
        frames: list[int] = []
        sent = 0
        received = threading.Thread(
            target=drain, args=(listener, frames, b"< frame 7FF"), daemon=True
        )
        received.start()
        while not (counts := flat.node(deaf.name))["lost"]:
            sender.send_text(SEND * 100)
            sent += 100  # in step with the listener: how fast a test reads is not what is tested
            wait_for(lambda: len(frames) >= sent, "the listener")  # noqa: B023
        assert counts["received"] > 1000
        # The system may find room for a little more; so others go on meanwhile.
        wait_for(lambda: sender.send_text(SEND * 5) or not flat.has(deaf.name), "it to be dropped")
        assert any(
            deaf.name in event and "was dropped" in event for event in flat.stats()["events"]
        )
        sender.send_text("< send 7FF 0 >")
        received.join(30.0)
        assert not received.is_alive()
        assert flat.node(listener.name)["lost"] == 0


def test_floods_do_not_keep_others_from_being_answered(flat: BusProcess) -> None:
    """Three clients send as fast as they can and do not read; a fourth gets its answers."""
    flooders = [client(flat, "flood") for _ in range(3)]
    try:
        with opened(flat, "bcmmode") as line:
            line.send_text("< subscribe 0 0 301 >")
            for number in range(50):
                line.send_text(f"< send 300 1 {number:x} >")
                line.until("< frame 301 ")
                assert line.until(">").endswith(f" {number:02X} >")
            assert flat.node(line.name)["sent"] == 50
    finally:
        for flooder in flooders:
            end(flooder)
    wait_for(lambda: flat.stats()["clients"] == 0, "all to be gone")


def garbage(kind: str, size: int) -> bytes:
    chance = random.Random(kind)
    if kind == "random":
        return chance.randbytes(size)
    words = {
        "words": [b"< send ", b"123 ", b"nan ", b"8 ", b"< ", b"> ", b"1e999 ", b"open ", b"\0"],
        "brackets": [b"<", b">", b"<<", b">>", b"< >"],
        "lines": [b"t123", b"8", b"\r", b"T", b"nan", b"\a", b"\r\r", b"zzzz"],
        "letters": [b"a", b"bc"],
    }[kind]
    return b"".join(chance.choices(words, k=size // 3))


@pytest.mark.parametrize("kind", ["random", "words", "brackets", "letters"])
@pytest.mark.parametrize("state", ["nobus", "raw"])
def test_garbage_for_socketcand_is_counted_and_harmless(
    flat: BusProcess, kind: str, state: str
) -> None:
    """Megabytes of it, from a client that does not read the answers."""
    piece = garbage(kind, 1 << 20)
    bad = flat.stats()["bad"]
    with Line(flat.socketcand) if state == "nobus" else opened(flat) as line:
        try:
            for _ in range(max(1, GARBAGE_MB // 8)):
                line.send_text(piece)
        except ConnectionError:
            pass  # dropped in the middle of it, for it did not read
        # Before it closes: with answers unread that is a reset, which takes unread garbage along.
        wait_for(lambda: flat.stats()["bad"] > bad, "it to be counted")
    wait_for(lambda: flat.stats()["clients"] == 0, "it to be gone")


@pytest.mark.parametrize("kind", ["random", "letters"])
def test_all_of_a_heap_of_garbage_is_gone_through(flat: BusProcess, kind: str) -> None:
    """LINKWORK_GARBAGE_MB megabytes to the last byte; then the same client is understood again."""
    piece = garbage(kind, 1 << 20)
    with opened(flat) as line:
        received = threading.Thread(target=line.until, args=("< echo >",), daemon=True)
        received.start()
        for _ in range(GARBAGE_MB):
            line.send_text(piece)
        line.send_text(">< echo >")
        received.join(120.0)
        assert not received.is_alive()
        assert flat.node(line.name)["bad"] > 0


@pytest.mark.parametrize("kind", ["random", "lines", "letters"])
def test_garbage_for_slcan_is_harmless(flat: BusProcess, kind: str) -> None:
    """Also with the channel open."""
    piece = garbage(kind, 1 << 20)
    with Line(flat.slcan) as line:
        line.send_text("O\r")
        try:
            for _ in range(max(1, GARBAGE_MB // 8)):
                line.send_text(piece)
        except ConnectionError:
            pass
    wait_for(lambda: not flat.has("slcan 127"), "it to be gone")
    with Line(flat.slcan) as line:
        line.send_text("V\r")
        assert line.until("\r") == "V1013\r"
    wait_for(lambda: not flat.has("slcan 127"), "everybody to be gone")


def test_garbage_on_the_terminal_is_harmless(flat: BusProcess) -> None:
    """The next client finds an adapter that answers."""
    file = os.open(flat.pty, os.O_RDWR | os.O_NOCTTY)
    piece = garbage("lines", 1 << 18)
    place = 0
    while place < len(piece):
        place += os.write(file, piece[place : place + 1024])
        os.set_blocking(file, False)
        with contextlib.suppress(BlockingIOError):
            os.read(file, 65536)
        os.set_blocking(file, True)
    os.write(file, b"\r\rV\r")
    answer = b""
    while not answer.endswith(b"V1013\r"):
        answer = (answer + os.read(file, 65536))[-100:]
    os.write(file, b"C\r")
    os.close(file)
    assert flat.node(flat.pty)["bad"] > 100


def test_half_messages_leave_nothing_behind(flat: BusProcess) -> None:
    """Two hundred clients that end in the middle of a word."""
    chance = random.Random(3)
    whole = b"< open can0 >< rawmode >" + SEND
    before = flat.node("answering")["received"]
    for _ in range(200):
        with Line(flat.socketcand) as line:
            line.until("< hi >")
            line.send_text(whole[: chance.randrange(len(whole))])
    wait_for(lambda: flat.stats()["clients"] == 0, "them to be gone")
    assert flat.node("answering")["received"] == before


@pytest.mark.parametrize(
    "wrong",
    [
        "< send 123 9 1 2 3 4 5 6 7 8 9 >",
        "< send 123 8 1 2 3 >",
        "< send 123 1 nan >",
        "< send nan 1 1 >",
        "< send 123 1 inf >",
        "< send 123 1 -1 >",
        "< send 123 1 100 >",
        "< send 99999999999999999999 0 >",
    ],
)
def test_wrong_lengths_and_no_numbers_never_become_frames(flat: BusProcess, wrong: str) -> None:
    """A hundred of each are a hundred on the counter, and none on the bus."""
    before = flat.stats()
    with opened(flat) as line:
        line.send_text(wrong * 100 + "< echo >")
        line.until("< echo >")
        assert flat.node(line.name)["bad"] == 100
        assert flat.stats()["frames"] == before["frames"]
    wait_for(lambda: not flat.has(line.name), "it to be forgotten")
    assert flat.stats()["bad"] == before["bad"] + 100  # not what it did


def test_two_masters_and_duplicate_identifiers_are_both_heard(flat: BusProcess) -> None:
    """Two clients send the same identifier: the bus carries both, and tells them apart."""
    conflicts = flat.stats()["conflicts"]
    with opened(flat) as one, opened(flat) as two, opened(flat) as listener:
        one.send_text(b"< send 401 1 1 >" * 500 + b"< send 403 0 >")
        two.send_text(b"< send 401 1 2 >" * 500 + b"< send 403 0 >")
        text = listener.until("< frame 403") + listener.until("< frame 403")
        assert text.count(" 01 >") == text.count(" 02 >") == 500
        stats = flat.stats()
        nodes = stats["nodes"]
        assert stats["conflicts"] - conflicts == 501
        assert any("both send 401" in event for event in stats["events"])
        assert [
            (each["sent"], each["received"])
            for name, each in nodes.items()
            if one.name in name or two.name in name
        ] == [(501, 501), (501, 501)]


def test_many_clients_come_and_go(flat: BusProcess) -> None:
    """Nothing is left of five hundred connections."""
    for _ in range(500):
        with Line(flat.socketcand) as line:
            line.until("< hi >")
            line.send_text(b"< open can0 >< rawmode >< send 1 0 >")
    wait_for(lambda: flat.stats()["clients"] == 0, "them to be gone")
    assert len(flat.stats()["nodes"]) == 2
