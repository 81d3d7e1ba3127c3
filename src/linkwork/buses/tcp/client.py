"""PartClient: the controller's end, for a part that is hardware or another simulation."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from linkwork.buses.tcp.lines import (
    GREETING,
    MOST,
    Item,
    commands_line,
    decoded,
    parse_item,
    parse_sensors,
)
from linkwork.errors import FormatError, LinkworkError

#: How long a part may take to answer [s]; pauses between tries [s].
ANSWER, FIRST_PAUSE, LAST_PAUSE = 10.0, 0.2, 5.0
#: Bytes that may wait for the part before commands are left out.
SKIP_AT = 64 * 1024
#: Commands and sensors of one part, at most.
MOST_ITEMS = 10_000


@dataclass
class Told:
    """What a client tells its owner; values by the names of the part's own items."""

    joined: Callable[[list[Item]], object]
    left: Callable[[str], object]
    sensors: Callable[[dict[str, float]], object]
    count: Callable[[str], object]
    log: Callable[[str, str, str], object]


class PartClient:
    """Keeps a connection to a part, and comes back when it breaks.

    Args:
        host, port: Where the part is.
        token: What it wants to know.
        tls: For an encrypted connection.
        told: Called with what arrives.
    """

    def __init__(
        self, host: str, port: int, *, token: str, tls: ssl.SSLContext | None, told: Told
    ) -> None:
        self._host, self._port, self._token, self._tls = host, port, token, tls
        self._told = told
        self._writer: asyncio.StreamWriter | None = None
        self._commands: list[str] = []
        self._sensors: list[str] = []

    async def run(self) -> None:
        """Connects, and connects again, until cancelled."""
        pause = FIRST_PAUSE
        while True:
            reason = "it closed the connection"
            try:
                reader, writer = await asyncio.open_connection(
                    self._host, self._port, limit=MOST, ssl=self._tls
                )
                try:
                    items = await asyncio.wait_for(self._join(reader, writer), ANSWER)
                    self._writer, pause = writer, FIRST_PAUSE
                    self._told.joined(items)
                    await self._listen(reader)
                finally:
                    self._writer = None
                    writer.close()
            except (OSError, LinkworkError, TimeoutError) as error:
                reason = str(error) or "it does not answer"
            self._told.left(reason)
            await asyncio.sleep(pause)
            pause = min(2.0 * pause, LAST_PAUSE)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[Item]:
        greeting = await _line(reader)
        if greeting != GREETING:
            raise FormatError(f"it says {greeting[:60]!r} instead of {GREETING!r}.")
        writer.write(f"join {self._token}".rstrip().encode() + b"\n")
        items: list[Item] = []
        while (line := await _line(reader)) != "ready":
            word = line.partition(" ")[0]
            if word == "error":
                raise LinkworkError(f"it refuses: {line[6:]}")
            if word in ("command", "sensor"):
                items.append(parse_item(line))
            elif word != "period":
                raise FormatError(f"it says {line[:60]!r} before it is ready.")
            if len(items) > MOST_ITEMS:
                raise FormatError(f"it has more than {MOST_ITEMS} commands and sensors.")
        self._commands = [item.name for item in items if item.role == "command"]
        self._sensors = [item.name for item in items if item.role == "sensor"]
        return items

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while True:
            line = await _line(reader)
            self._told.log("in", "", line)
            if line.startswith("s "):
                values = parse_sensors(line, len(self._sensors))
                self._told.count("lines_in")
                self._told.sensors(dict(zip(self._sensors, values, strict=True)))
            elif line.startswith("error"):
                self._told.count("bad_lines")

    def command(self, values: dict[str, float]) -> None:
        """Sends commands by the part's own names; what it does not have is left out."""
        writer = self._writer
        if writer is None or writer.transport.get_write_buffer_size() > SKIP_AT:
            self._told.count("skipped")
            return
        line = commands_line([values.get(name) for name in self._commands])
        with contextlib.suppress(OSError):
            writer.write(f"{line}\n".encode())
            self._told.count("lines_out")
            self._told.log("out", "", line)


async def _line(reader: asyncio.StreamReader) -> str:
    try:
        data = await reader.readline()
    except ValueError:
        raise FormatError(f"a line is too long: {MOST} bytes at most.") from None
    if not data.endswith(b"\n"):
        raise LinkworkError("it closed the connection.")
    return decoded(data)
