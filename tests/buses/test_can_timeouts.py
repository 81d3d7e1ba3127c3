"""Who reads is never dropped for not reading, be it late; who does not read is, and no sooner."""

import os
import socket
import sys
import time
from collections.abc import Callable

import pytest

from linkwork.buses.can.frame import data_frame
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.node import CanNode
from linkwork.buses.can.slcan import SlcanPty
from linkwork.buses.can.socketcand import SocketcandServer
from manual_clock import HandClock, by_hand

TIMEOUT = 10.0  # by the hand clock
SLOW_MACHINE = 30.0


async def until(loop: HandClock, reached: Callable[[], bool], each: float = 0.0) -> None:
    """Goes on until something is so; the system needs real time to carry bytes."""
    end = time.monotonic() + SLOW_MACHINE
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        await loop.forward(each)
        time.sleep(0.001)


async def overfill(loop: HandClock, source: CanNode, reader: CanNode) -> None:
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
        hub = CanHub()
        endpoint = SocketcandServer([hub], timeout=TIMEOUT)
        await endpoint.start(port=0)
        source = hub.attach("source")
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        client.connect(("127.0.0.1", endpoint.port))
        client.setblocking(False)
        client.sendall(b"< open can0 >< rawmode >")
        await until(loop, lambda: len(hub.nodes) == 2)
        (reader,) = [node for node in hub.nodes.values() if node is not source]
        await loop.forward(0.2)
        await overfill(loop, source, reader)
        await loop.forward(0.9 * TIMEOUT)

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
        await loop.forward(0.2 * TIMEOUT)
        assert endpoint.clients == 1, "dropped for a lag that it has made up for"

        await until(loop, lambda: endpoint.clients == 0, each=TIMEOUT)
        assert any("did not read for 10 s" in event.text for event in hub.events)
        client.close()
        await endpoint.stop()

    by_hand(test)


def terminal(hub: CanHub) -> tuple[SlcanPty, int]:
    endpoint = SlcanPty(hub, timeout=TIMEOUT)
    return endpoint, os.open(endpoint.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


def taken(line: int) -> bytes:
    try:
        return os.read(line, 65536)
    except BlockingIOError:
        return b""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals on Windows")
def test_a_terminal_is_closed_only_after_its_whole_patience() -> None:
    """As on TCP: what was made up for is not held against it."""

    async def test(loop: HandClock) -> None:
        hub = CanHub()
        endpoint, line = terminal(hub)
        source, reader = hub.attach("source"), endpoint.adapter.node
        os.write(line, b"O\r")
        await until(loop, lambda: endpoint.adapter.open)
        await overfill(loop, source, reader)
        await loop.forward(0.9 * TIMEOUT)

        read = bytearray()

        def served() -> bool:
            data = taken(line)
            read.extend(data)
            if not data:
                source.send(data_frame(0x7FF))
            return b"t7FF" in read

        await until(loop, served)
        await overfill(loop, source, reader)
        await loop.forward(0.2 * TIMEOUT)
        assert endpoint.adapter.open, "closed for a lag that it has made up for"

        await until(loop, lambda: not endpoint.adapter.open, each=TIMEOUT)
        os.close(line)
        endpoint.stop()
        hub.close()

    by_hand(test)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals on Windows")
@pytest.mark.parametrize("rubbish", [b"t12", b"x" * 100], ids=["half", "overlong"])
def test_what_a_client_leaves_unfinished_does_not_spoil_the_next(rubbish: bytes) -> None:
    """Half a command, be it too long to be kept, is forgotten after a second."""

    async def test(loop: HandClock) -> None:
        hub = CanHub()
        endpoint, line = terminal(hub)
        os.write(line, rubbish)
        await until(loop, lambda: endpoint.adapter.node.count.bad == 1, each=0.1)
        os.write(line, b"V\r")
        read = bytearray()
        await until(loop, lambda: bool(read.extend(taken(line)) or read.endswith(b"\r")))
        assert read == b"V1013\r"
        os.close(line)
        endpoint.stop()

    by_hand(test)
