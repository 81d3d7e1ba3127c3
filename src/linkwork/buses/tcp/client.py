"""PartClient: the controller's end of a TCP part."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from linkwork.buses.tcp.lines import (
    GREETING,
    MAX_LINE,
    LineItem,
    commands_line,
    decoded,
    parse_item,
    parse_sensors,
)
from linkwork.core.errors import FormatError, LinkworkError

#: Timeout for a part's answer [s]; pauses between attempts [s].
ANSWER, FIRST_PAUSE, LAST_PAUSE = 10.0, 0.2, 5.0
#: Maximum number of bytes that wait for the part; with more, commands are dropped.
SKIP_BYTES = 64 * 1024
#: Maximum number of commands and sensors of one part.
MAX_ITEMS = 10_000


@dataclass
class PartClientEvents:
    """Callbacks of a client; values by the part's own names."""

    joined: Callable[[list[LineItem]], object]
    left: Callable[[str], object]
    sensors: Callable[[dict[str, float]], object]
    count: Callable[[str], object]
    log: Callable[[str, str, str], object]


class PartClient:
    """Maintains a connection to a part, and reconnects when it breaks.

    Args:
        host, port: Where the part is.
        token: Its token.
        tls: TLS context of an encrypted connection, or None.
        events: Callbacks.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        token: str,
        tls: ssl.SSLContext | None,
        events: PartClientEvents,
    ) -> None:
        self._host, self._port, self._token, self._tls = host, port, token, tls
        self._events = events
        self._writer: asyncio.StreamWriter | None = None
        self._commands: list[str] = []
        self._sensors: list[str] = []

    async def run(self) -> None:
        """Connects, and reconnects, until canceled."""
        pause = FIRST_PAUSE
        while True:
            reason = "it closed the connection"
            try:
                reader, writer = await asyncio.open_connection(
                    self._host, self._port, limit=MAX_LINE, ssl=self._tls
                )
                try:
                    items = await asyncio.wait_for(self._join(reader, writer), ANSWER)
                    self._writer, pause = writer, FIRST_PAUSE
                    self._events.joined(items)
                    await self._listen(reader)
                finally:
                    self._writer = None
                    writer.close()
            except (OSError, LinkworkError, TimeoutError) as error:
                reason = str(error) or "it does not answer"
            self._events.left(reason)
            await asyncio.sleep(pause)
            pause = min(2.0 * pause, LAST_PAUSE)

    async def _join(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> list[LineItem]:
        greeting = await _line(reader)
        if greeting != GREETING:
            raise FormatError(f"it sends {greeting[:60]!r} instead of {GREETING!r}.")
        writer.write(f"join {self._token}".rstrip().encode() + b"\n")
        items: list[LineItem] = []
        while (line := await _line(reader)) != "ready":
            word = line.partition(" ")[0]
            if word == "error":
                raise LinkworkError(f"it refuses: {line[6:]}")
            if word in ("command", "sensor"):
                items.append(parse_item(line))
            elif word != "period":
                raise FormatError(f"it sends {line[:60]!r} before it is ready.")
            if len(items) > MAX_ITEMS:
                raise FormatError(f"it has more than {MAX_ITEMS} commands and sensors.")
        self._commands = [item.name for item in items if item.role == "command"]
        self._sensors = [item.name for item in items if item.role == "sensor"]
        return items

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while True:
            line = await _line(reader)
            self._events.log("in", "", line)
            if line.startswith("s "):
                values = parse_sensors(line, len(self._sensors))
                self._events.count("lines_in")
                self._events.sensors(dict(zip(self._sensors, values, strict=True)))
            elif line.startswith("error"):
                self._events.count("bad_lines")

    def command(self, values: dict[str, float]) -> None:
        """Sends commands by the part's own names; unknown ones are left out."""
        writer = self._writer
        if writer is None or writer.transport.get_write_buffer_size() > SKIP_BYTES:
            self._events.count("skipped")
            return
        line = commands_line([values.get(name) for name in self._commands])
        with contextlib.suppress(OSError):
            writer.write(f"{line}\n".encode())
            self._events.count("lines_out")
            self._events.log("out", "", line)


async def _line(reader: asyncio.StreamReader) -> str:
    try:
        data = await reader.readline()
    except ValueError:
        raise FormatError(f"a line is too long: {MAX_LINE} bytes at most.") from None
    if not data.endswith(b"\n"):
        raise LinkworkError("it closed the connection.")
    return decoded(data)
