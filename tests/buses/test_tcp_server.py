"""The TCP part's door: who comes in, who waits, who commands."""

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable

from linkwork.buses.tcp.lines import LineItem
from linkwork.buses.tcp.server import MAX_CLIENTS, MAX_WAITING, PartServer, PartServerEvents
from manual_clock import HandClock, by_hand


class Endpoint:
    """A part's server, and what it tells its owner."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.commands: list[list[float | None]] = []
        received = PartServerEvents(
            self.commands.append,
            lambda: self.count.update(["joined"]),
            lambda: self.count.update(["left"]),
            lambda name: self.count.update([name]),
            lambda *line: None,
        )
        items = [LineItem("command", "J", "rad", -1.0, 1.0)]
        self.server = PartServer(items, 0.01, lockstep=False, token="key", events=received)

    async def enter(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection that has been greeted, or sent away."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        await reader.readline()
        return reader, writer

    async def run(self, test: Callable[[], Awaitable[None]]) -> None:
        self.port = await self.server.start("127.0.0.1", 0, None)
        await test()
        await self.server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            await task


async def logged(reader: asyncio.StreamReader, word: str) -> str:
    """The next line that begins with a word, or what came last."""
    line = ""
    while data := await reader.readline():
        line = data.decode().strip()
        if line.startswith(word):
            break
    return line


def test_no_more_join_than_are_let_in() -> None:
    """Those who were greeted while there was room are counted again when they join."""

    async def test(loop: HandClock) -> None:
        endpoint = Endpoint()

        async def crowd() -> None:
            early = [await endpoint.enter() for _ in range(10)]
            for reader, writer in early:
                writer.write(b"join key\n")
                assert await logged(reader, "ready") == "ready"
            late = [await endpoint.enter() for _ in range(MAX_WAITING)]
            for _, writer in late:
                writer.write(b"join key\n")
            answers = [await logged(reader, "ready") for reader, _ in late]
            assert answers.count("ready") == MAX_CLIENTS - 10
            assert sum("no more are accepted" in each for each in answers) == 10
            assert endpoint.count["joined"] == MAX_CLIENTS
            assert endpoint.count["rejections"] == 10
            for _, writer in (*early, *late):
                writer.close()

        await endpoint.run(crowd)

    by_hand(test)


def test_who_does_not_join_does_not_fill_the_house() -> None:
    """Of 200 that only connect the newest few are kept; who knows the token comes in."""

    async def test(loop: HandClock) -> None:
        endpoint = Endpoint()

        async def crowd() -> None:
            idle = [await endpoint.enter() for _ in range(200)]
            assert endpoint.count["rejections"] == 200 - MAX_WAITING
            reader, writer = await endpoint.enter()
            writer.write(b"join key\n")
            assert await logged(reader, "ready") == "ready"
            for _, each in (*idle, (reader, writer)):
                each.close()

        await endpoint.run(crowd)

    by_hand(test)


def test_who_breaks_off_has_not_joined_either() -> None:
    """A connection that is reset counts as one that is closed; both came in vain."""

    async def test(loop: HandClock) -> None:
        endpoint = Endpoint()

        async def two() -> None:
            _, closes = await endpoint.enter()
            closes.write(b"jo")
            closes.close()
            _, breaks = await endpoint.enter()
            at_once = struct.pack("ii", 1, 0)
            breaks.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            breaks.write(b"jo")
            breaks.transport.abort()
            for _ in range(200):  # before the door is shut and sends everyone away
                await asyncio.sleep(0)

        await endpoint.run(two)
        assert endpoint.count == {"rejections": 2}

    by_hand(test)


def test_rubbish_makes_nobody_the_driver() -> None:
    """The first whole command does."""

    async def test(loop: HandClock) -> None:
        endpoint = Endpoint()

        async def two() -> None:
            (one, one_says), (two, two_says) = [await endpoint.enter() for _ in range(2)]
            for writer in (one_says, two_says):
                writer.write(b"join key\n")
            one_says.write(b"c rubbish\n")
            assert "is not a number" in await logged(one, "error")
            two_says.write(b"c 0.5\nping x\n")
            assert await logged(two, "pong") == "pong x"
            assert endpoint.commands == [[0.5]]
            one_says.write(b"c 0.1\n")
            assert "commands this part" in await logged(one, "error")
            one_says.close()
            two_says.close()

        await endpoint.run(two)

    by_hand(test)


def test_a_line_that_is_too_long_is_left_out() -> None:
    """It is told and counted, nothing of it is a command, and the next line is."""

    async def test(loop: HandClock) -> None:
        endpoint = Endpoint()

        async def one() -> None:
            reader, writer = await endpoint.enter()
            writer.write(b"join key\n" + b"c 0.1 " * 40_000 + b"\nc 0.5\nping x\n")
            assert "too long" in await logged(reader, "error")
            assert await logged(reader, "pong") == "pong x"
            assert endpoint.commands == [[0.5]]
            assert endpoint.count["bad_lines"] == 1
            writer.close()

        await endpoint.run(one)

    by_hand(test)
