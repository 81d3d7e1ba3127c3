"""Thousands of broken inputs for the CAN servers and the DBC reader: counted, never fatal."""

import asyncio
import random

import pytest

from buses.test_can_dbc import RICH
from effort import cases
from linkwork.buses.can import CanHub
from linkwork.buses.can.dbc import parse_dbc
from linkwork.buses.can.frame_codec import decode
from linkwork.buses.can.slcan.adapter import SlcanAdapter
from linkwork.buses.can.slcan.server import CommandBuffer
from linkwork.buses.can.socketcand import SocketcandServer
from linkwork.buses.can.socketcand.server import SocketcandConnection
from linkwork.core.errors import LinkworkError

COMMANDS = [
    b"< open can0 >",
    b"< rawmode >",
    b"< bcmmode >",
    b"< controlmode >",
    b"< isotpmode >",
    b"< echo >",
    b"< send 123 2 11 22 >",
    b"< send 1ABCDEF0 8 0 1 2 3 4 5 6 7 >",
    b"< add 0 10000 123 1 1 >",
    b"< update 123 1 2 >",
    b"< delete 123 >",
    b"< filter 0 0 123 1 FF >",
    b"< muxfilter 0 0 123 2 FF 00 00 00 00 00 00 00 33 FF FF FF FF FF FF FF >",
    b"< subscribe 0 0 123 >",
    b"< unsubscribe 123 >",
    b"< statistics 1000 >",
    b"< isotpconf 123 124 0 0 0 >",
    b"< sendpdu 00112233445566778899 >",
    b"< can0 B 1 2 3 4 5 6 7 8 >",
]
LINES = [
    *(b"S6", b"s031C", b"O", b"L", b"C", b"t1232AABB", b"T123456780", b"r1234", b"R123456788"),
    *(b"F", b"P", b"A", b"X0", b"X1", b"Z1", b"W0", b"M00000000", b"mFFFFFFFF", b"U1", b"Q1"),
    *(b"V", b"v", b"N", b""),
]


def corrupted(chance: random.Random, whole: bytes) -> bytes:
    """Returns the bytes with some changed, removed, duplicated or inserted."""
    text = bytearray(whole)
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(text) + 1)
        way = chance.randrange(4)
        if way == 0 and place < len(text):
            text[place] = chance.choice(b'<> 0aF-.xM\r\n\x00\xff"')
        elif way == 1:
            del text[place : place + chance.randrange(4)]
        elif way == 2:
            text[place:place] = text[place : place + chance.randrange(8)]
        else:
            text[place:place] = chance.randbytes(chance.randrange(6))
    return bytes(text)


class Pipe(asyncio.Transport):
    """A transport that stores what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True


@pytest.mark.parametrize("seed", range(4))
def test_socketcand_survives_anything(seed: int) -> None:
    """2 500 corrupted streams each; then the same server still serves a valid client."""

    async def run() -> None:
        chance = random.Random(seed)
        hub = CanHub()
        server = SocketcandServer([hub])
        hub.attach("listener", inbox=10)
        for _ in range(2500):
            client = SocketcandConnection(server)
            client.connection_made(Pipe())
            stream = b"< open can0 >" if chance.random() < 0.8 else b""
            stream += b"".join(
                corrupted(chance, chance.choice(COMMANDS)) for _ in range(chance.randrange(1, 12))
            )
            while stream and not client.transport.is_closing():
                size = chance.randrange(1, 40)
                client.data_received(stream[:size])
                stream = stream[size:]
            if chance.random() < 0.1:
                await asyncio.sleep(0)
            client.connection_lost(None)
        await asyncio.sleep(0)
        assert server.clients == 0
        assert list(hub.nodes) == ["listener"]
        honest = SocketcandConnection(server)
        pipe = Pipe()
        honest.connection_made(pipe)
        honest.data_received(b"< open can0 >< rawmode >< echo >")
        await asyncio.sleep(0)
        assert pipe.written == b"< hi >< ok >< ok >< echo >"
        honest.connection_lost(None)
        hub.close()

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(4))
def test_slcan_survives_anything(seed: int) -> None:
    """Each command gets exactly one answer, however corrupted; a CR resets the line."""

    async def run() -> None:
        chance = random.Random(seed)
        hub = CanHub()
        for _ in range(cases(1000)):
            written = bytearray()

            def write(text: bytes, written: bytearray = written) -> bool:
                written.extend(text)
                return True

            adapter = SlcanAdapter(hub, "slcan", write)
            lines, buffer = CommandBuffer(adapter), bytearray()
            commands = [
                corrupted(chance, chance.choice(LINES)).replace(b"\r", b"")
                for _ in range(chance.randrange(1, 20))
            ]
            for command in commands:
                buffer += command + b"\r"
                assert lines.consume(buffer)
            answers = written.count(b"\r") + written.count(b"\a")
            assert answers >= len(commands)
            del written[:]
            buffer += b"V\r"
            lines.consume(buffer)
            assert written == b"V1013\r"
            adapter.node.detach()
            if chance.random() < 0.1:
                await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not hub.nodes
        hub.close()

    asyncio.run(run())


def test_garbage_is_gone_through_once() -> None:
    """Many brackets take linear, not quadratic time."""

    async def run() -> None:
        server = SocketcandServer([CanHub()])
        for piece in (b"<", b">", b"< ", b"<>", b"a", b"< send 1"):
            client = SocketcandConnection(server)
            client.connection_made(Pipe())
            heap = piece * (300_000 // len(piece))
            for n in range(0, len(heap), 65536):
                client.data_received(heap[n : n + 65536])
                for _ in range(400):  # it takes turns with others
                    if not client._held:
                        break
                    await asyncio.sleep(0)
            assert len(client._input) <= 16 * 1024 + 1
            client.connection_lost(None)

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(4))
def test_the_dbc_reader_survives_anything(seed: int) -> None:
    """300 corrupted files each: an error with its file, or messages that decode any data."""
    chance = random.Random(seed)
    read = placeless = 0
    for _ in range(300):
        text = corrupted(chance, RICH.encode())
        for _ in range(chance.randrange(2)):
            text = corrupted(chance, text)
        try:
            database = parse_dbc(text.decode("cp1252", "replace"))
        except LinkworkError as error:
            placeless += error.origin is None
            continue
        read += 1
        for message in database:
            decode(message, chance.randbytes(message.length))
    assert read > 15
    assert not placeless
