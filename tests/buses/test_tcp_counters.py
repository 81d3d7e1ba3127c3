"""The part's counters tell of those who do not read and those who are not let in."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from linkwork.buses.messages import ActiveFault
from linkwork.buses.port import BusPlan, Port, PortSignal
from linkwork.buses.tcp import TcpBus, server

#: Sensors of the part: a line of their values has some kilobytes.
SENSORS = 400


class Link:
    """The session's end, which is not asked here."""

    def send(self, message: msgspec.Struct) -> bool:
        return isinstance(message, msgspec.Struct)


def served(
    test: Callable[[TcpBus, int], Coroutine[None, None, None]],
    *,
    lockstep: bool = False,
    **params: Any,
) -> None:
    """Runs a test with the adapter of a part, as the bus's process has it."""

    async def run() -> None:
        sensors = [PortSignal(f"s{n}", "sensor") for n in range(SENSORS)]
        ports = (Port("J", "p", "", (PortSignal("t", "command"), *sensors)),)
        params["port"] = 0
        plan = BusPlan("p", "tcp", params, lockstep=lockstep, period=0.01, ports=ports)
        part = TcpBus(plan, Link())
        (endpoint,) = await part.start()
        try:
            await test(part, int(endpoint.split(":")[1].split(",")[0]))
        finally:
            await part.close()

    asyncio.run(run())


async def until(reached: Callable[[], object]) -> None:
    for _ in range(6000):
        if reached():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come")


async def joined(part: TcpBus, port: int) -> socket.socket:
    """A controller that has joined, and reads only when it is told to."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(line, ("127.0.0.1", port))
    await loop.sock_sendall(line, b"join\n")
    await until(lambda: part.clients)
    return line


async def show(part: TcpBus, reached: Callable[[], object]) -> int:
    """Gives out values until something is so; says in which step."""
    for step in range(1, 20_000):
        part.arrived(step, 0.01 * step, step if part.plan.lockstep else 0, [0.1 * step] * SENSORS)
        await asyncio.sleep(0.0)
        if reached():
            return step
    raise AssertionError("it did not happen")


def test_who_does_not_read_misses_values_and_they_are_counted() -> None:
    """He stays, nothing piles up, and when he reads he is told the newest again."""

    async def test(part: TcpBus, port: int) -> None:
        line = await joined(part, port)
        step = await show(part, lambda: part.status()["skipped"] >= 10)
        assert part.status()["lines_out"] == step - 10
        assert (part.clients, part.status()["dropped"]) == (1, 0)
        clients = part._server._clients if part._server is not None else []
        text = bytearray()

        async def read() -> None:
            while data := await asyncio.get_running_loop().sock_recv(line, 65536):
                text.extend(data)

        reading = asyncio.create_task(read())
        await until(lambda: not clients[0].waiting)
        part.arrived(step + 1, 0.0, 0, [0.5] * SENSORS)
        await until(lambda: f"\ns {step + 1} ".encode() in text)
        assert part.status()["skipped"] == 10
        assert text.count(b"\ns ") == part.status()["lines_out"] == step - 9
        reading.cancel()
        line.close()

    served(test)


def test_in_lock_step_nobody_misses_values_and_who_does_not_read_is_sent_away() -> None:
    """Each line may be the one that is to be answered."""

    async def test(part: TcpBus, port: int) -> None:
        line = await joined(part, port)
        await show(part, lambda: part.status()["dropped"])
        await until(lambda: part.clients == 0)
        assert (part.status()["dropped"], part.status()["skipped"]) == (1, 0)
        line.close()

    served(test, lockstep=True)


def test_who_asks_and_asks_and_reads_no_answer_is_sent_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """He has the time in which one may join to take what waits for him."""
    monkeypatch.setattr(server, "JOIN_TIME", 0.2)

    async def test(part: TcpBus, port: int) -> None:
        line = await joined(part, port)
        asking = asyncio.create_task(ask(line))
        await until(lambda: part.clients == 0)
        assert part.status()["dropped"] == 1
        asking.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await asking
        line.close()

    async def ask(line: socket.socket) -> None:
        while True:
            await asyncio.get_running_loop().sock_sendall(line, b"ping " + b"x" * 4000 + b"\n")

    served(test)


def test_who_is_not_let_in_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong token, or a first line that is no word of the protocol."""
    monkeypatch.setattr(server, "WRONG_TOKEN_DELAY", 0.0)

    async def test(part: TcpBus, port: int) -> None:
        for number, first in enumerate((b"join sesame\n", b"GET / HTTP/1.1\n", b"\xff\n"), 1):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(first)
            assert b"\nerror " in await reader.read()
            assert part.status()["rejections"] == number
            writer.close()
        assert part.clients == 0

    served(test, token="open")


def test_faults_tell_how_often_they_struck() -> None:
    """In words, with number and name, until they are ended; the studio's cards count by it."""

    async def test(adapter: TcpBus, port: int) -> None:
        adapter.order("fault", {"kind": "drop", "name": "gap", "node": "controller", "times": 2})
        for _ in range(3):
            adapter._commanded([0.5])
        text = "drop, of the controller, 2 times"
        assert adapter.active_faults() == [ActiveFault(1, "gap", text, 2, "drop")]
        adapter.order("clear", {"name": "gap"})
        assert not adapter.active_faults()

    served(test)
