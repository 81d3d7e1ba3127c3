"""Who reads is never dropped for not reading, be it late; who does not read is, and no sooner."""

import os
import socket
import sys
import time
from collections.abc import Callable

import pytest

from hand_clock import HandClock, by_hand
from linkwork.buses.can.frame import data_frame
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.node import Node
from linkwork.buses.can.slcan import SlcanPty
from linkwork.buses.can.socketcand import Socketcand

PATIENCE = 10.0  # by the hand clock
SLOW_MACHINE = 30.0


async def until(loop: HandClock, reached: Callable[[], bool], each: float = 0.0) -> None:
    """Goes on until something is so; the system needs real time to carry bytes."""
    end = time.monotonic() + SLOW_MACHINE
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        await loop.forward(each)
        time.sleep(0.001)


async def overfill(loop: HandClock, source: Node, reader: Node) -> None:
    """Sends until the reader loses frames."""
    before = reader.count.lost

    def lost() -> bool:
        for _ in range(100):
            source.send(data_frame(5, b"12345678"))
        return reader.count.lost > before

    await until(loop, lost)


def test_a_tcp_client_is_dropped_only_after_its_whole_patience() -> None:
    """It lagged twice, and read all between: only the second time, by itself, ends it."""

    async def test(loop: HandClock) -> None:
        hub = Hub()
        door = Socketcand([hub], patience=PATIENCE)
        await door.start(port=0)
        source = hub.attach("source")
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        client.connect(("127.0.0.1", door.port))
        client.setblocking(False)
        client.sendall(b"< open can0 >< rawmode >")
        await until(loop, lambda: len(hub.nodes) == 2)
        (reader,) = [node for node in hub.nodes.values() if node is not source]
        await loop.forward(0.2)
        await overfill(loop, source, reader)
        await loop.forward(0.9 * PATIENCE)

        read = bytearray()

        def served() -> bool:
            """Reads, until a mark arrives: by then nothing waits for the client."""
            try:
                read.extend(client.recv(65536))
            except BlockingIOError:
                if not read.endswith(b" >"):
                    return False
                source.send(data_frame(0x7FF))
            return b"< frame 7FF " in read

        await until(loop, served)
        await overfill(loop, source, reader)
        await loop.forward(0.2 * PATIENCE)
        assert door.clients == 1, "dropped for a lag that it has made up for"

        await until(loop, lambda: door.clients == 0, each=PATIENCE)
        assert any("did not read for 10 s" in event.text for event in hub.events)
        client.close()
        await door.stop()

    by_hand(test)


def terminal(hub: Hub) -> tuple[SlcanPty, int]:
    door = SlcanPty(hub, patience=PATIENCE)
    return door, os.open(door.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


def taken(line: int) -> bytes:
    try:
        return os.read(line, 65536)
    except BlockingIOError:
        return b""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals on Windows")
def test_a_terminal_is_closed_only_after_its_whole_patience() -> None:
    """As on TCP: what was made up for is not held against it."""

    async def test(loop: HandClock) -> None:
        hub = Hub()
        door, line = terminal(hub)
        source, reader = hub.attach("source"), door.adapter.node
        os.write(line, b"O\r")
        await until(loop, lambda: door.adapter.open)
        await overfill(loop, source, reader)
        await loop.forward(0.9 * PATIENCE)

        read = bytearray()

        def served() -> bool:
            data = taken(line)
            read.extend(data)
            if not data:
                source.send(data_frame(0x7FF))
            return b"t7FF" in read

        await until(loop, served)
        await overfill(loop, source, reader)
        await loop.forward(0.2 * PATIENCE)
        assert door.adapter.open, "closed for a lag that it has made up for"

        await until(loop, lambda: not door.adapter.open, each=PATIENCE)
        os.close(line)
        door.stop()
        hub.close()

    by_hand(test)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals on Windows")
@pytest.mark.parametrize("rubbish", [b"t12", b"x" * 100], ids=["half", "overlong"])
def test_what_a_client_leaves_unfinished_does_not_spoil_the_next(rubbish: bytes) -> None:
    """Half a command, be it too long to be kept, is forgotten after a second."""

    async def test(loop: HandClock) -> None:
        hub = Hub()
        door, line = terminal(hub)
        os.write(line, rubbish)
        await until(loop, lambda: door.adapter.node.count.bad == 1, each=0.1)
        os.write(line, b"V\r")
        read = bytearray()
        await until(loop, lambda: bool(read.extend(taken(line)) or read.endswith(b"\r")))
        assert read == b"V1013\r"
        os.close(line)
        door.stop()

    by_hand(test)
