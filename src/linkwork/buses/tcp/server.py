"""PartServer: serves a TCP part to controllers."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import ssl
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from linkwork.buses.tcp.lines import (
    GREETING,
    MAX_LINE,
    LineItem,
    next_line,
    parse_commands,
    sensors_line,
)
from linkwork.core.errors import FormatError, LinkworkError, os_error_text

#: Maximum number of controllers, and of connections that have not joined yet.
MAX_CLIENTS, MAX_WAITING = 16, 16
#: Timeout for joining [s]; delay of the answer to a wrong token [s].
JOIN_TIME, WRONG_TOKEN_DELAY = 10.0, 1.0
#: Maximum number of bytes that wait for a controller before it misses values, and before it is
#: disconnected.
SKIP_BYTES, DROP_BYTES = 64 * 1024, 256 * 1024
#: Number of lines of one controller before others are served.
LINES_PER_TURN = 32
#: Number of consecutive invalid lines after which a client is disconnected.
MAX_WRONG_LINES = 1000
#: Maximum number of commands ahead of the values they answer, in lock-step.
MAX_LINES_AHEAD = 16


@dataclass(eq=False)
class PartServerClient:
    """A connected controller."""

    name: str
    writer: asyncio.StreamWriter
    ahead: deque[list[float | None]] = field(default_factory=deque)
    skipped: int = 0
    wrong: int = 0

    def send(self, line: str) -> None:
        """Sends a line."""
        self.writer.write(f"{line}\n".encode())

    @property
    def waiting(self) -> int:
        """Number of bytes that it has not read yet."""
        return self.writer.transport.get_write_buffer_size()


@dataclass
class PartServerEvents:
    """Callbacks of a server."""

    commands: Callable[[list[float | None]], object]
    joined: Callable[[], object]
    left: Callable[[], object]
    count: Callable[[str], object]
    log: Callable[[str, str, str], object]


class PartServer:
    """Serves one part.

    Args:
        items: Commands and sensors, in the order of their values.
        period: Control period [s].
        lockstep: Whether every line of sensors is answered by one of commands.
        token: Token of the controllers; empty for none.
        events: Callbacks.
    """

    def __init__(
        self,
        items: list[LineItem],
        period: float,
        *,
        lockstep: bool,
        token: str,
        events: PartServerEvents,
    ) -> None:
        self._token, self._events, self._lockstep = token, events, lockstep
        self._clients: list[PartServerClient] = []
        self._waiting: dict[
            PartServerClient, None
        ] = {}  # connections that have not joined, the oldest first
        self._driver: PartServerClient | None = None
        self._last = ""
        self._open = False  # whether the last line of sensors is unanswered
        self._server: asyncio.Server | None = None
        self.describe(items, period)

    def describe(self, items: list[LineItem], period: float) -> None:
        """Sets the items of the part; connected clients must join again."""
        self._items, self._period = items, period
        self._commands = sum(item.role == "command" for item in items)
        self._last, self._open = "", False
        for client in self._clients:
            client.send("error the part has changed; join again.")
            client.writer.close()

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> int:
        """Opens the port and returns its number.

        Raises:
            LinkworkError: If the port is taken or the host is not ours.
        """
        try:
            self._server = await asyncio.start_server(
                self._serve, host, port, limit=MAX_LINE, ssl=tls,
                ssl_handshake_timeout=JOIN_TIME if tls is not None else None,
            )  # fmt: skip
        except OSError as error:
            raise LinkworkError(
                f"the TCP part cannot listen on {host}:{port}: {os_error_text(error)}.",
                hint="Another program may have the port; choose another, or 0 for a free one.",
            ) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Closes the port and disconnects all clients."""
        if self._server is not None:
            self._server.close()
        for client in (*self._clients, *self._waiting):
            client.writer.transport.abort()

    @property
    def driven(self) -> bool:
        """Whether a client commands the part."""
        return self._driver is not None

    # ---- out -----------------------------------------------------------------------------

    def show(self, step: int, time: float, values: list[float], *, asks: bool) -> None:
        """Sends the sensors; with ``asks`` the scene waits for commands.

        In lock-step each line is a request: one that requests nothing would be answered as well,
        and every later answer would be a turn too early.
        """
        if self._lockstep and not asks:
            return
        self._last = sensors_line(step, time, values)
        self._open = asks
        for client in self._clients:
            if client.writer.is_closing():
                continue
            if client.waiting > DROP_BYTES:
                self._events.count("dropped")
                client.writer.transport.abort()
            elif client.waiting > SKIP_BYTES and not self._lockstep:
                client.skipped += 1
                self._events.count("skipped")
            else:
                client.send(self._last)
                if not self._lockstep:
                    self._events.count("lines_out")
        self._events.log("out", "", self._last)
        driver = self._driver
        if self._open and driver is not None and driver.ahead:
            self._answer(driver.ahead.popleft())

    def _answer(self, values: list[float | None]) -> None:
        # Counted with the turn: the time of a line, and its other receivers, depend on the pace.
        self._open = False
        self._events.count("lines_out")
        self._events.count("lines_in")
        self._events.commands(values)

    # ---- in ------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Old values in the system's buffers would be useless.
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SKIP_BYTES)
        peer = writer.get_extra_info("peername")
        client = PartServerClient(f"{peer[0]}:{peer[1]}" if peer else "?", writer)
        self._make_room()
        self._waiting[client] = None
        try:
            if await self._join(reader, client):
                await self._listen(reader, client)
        except (OSError, asyncio.IncompleteReadError):
            pass  # it has disconnected
        finally:
            self._waiting.pop(client, None)
            if client in self._clients:
                self._clients.remove(client)
                if self._driver is client:
                    self._driver = None
                self._events.left()
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await asyncio.wait_for(writer.wait_closed(), JOIN_TIME)

    def _make_room(self) -> None:
        """Disconnects the client that has waited longest to join: a controller joins at once."""
        while len(self._waiting) >= MAX_WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            self._events.count("rejections")
            oldest.writer.transport.abort()

    def _reject(self, client: PartServerClient, why: str) -> bool:
        if client in self._waiting:
            self._events.count("rejections")
            client.send(f"error {why}")
        return False

    async def _join(self, reader: asyncio.StreamReader, client: PartServerClient) -> bool:
        full = f"{MAX_CLIENTS} controllers are connected; no more are accepted."
        if len(self._clients) >= MAX_CLIENTS:
            return self._reject(client, full)
        client.send(GREETING)
        try:
            line = await asyncio.wait_for(next_line(reader), JOIN_TIME)
        except (TimeoutError, FormatError, OSError, asyncio.IncompleteReadError):
            line = ""  # a disconnected one has not joined either
        word, _, token = line.partition(" ")
        if word != "join" or not secrets.compare_digest(token.encode(), self._token.encode()):
            await asyncio.sleep(WRONG_TOKEN_DELAY if word == "join" else 0.0)
            return self._reject(client, self._refusal(word, token))
        if len(self._clients) >= MAX_CLIENTS:  # others were faster
            return self._reject(client, full)
        if client not in self._waiting:
            return False  # it was disconnected at the same moment
        del self._waiting[client]
        for item in self._items:
            client.send(item.line())
        client.send(f"period {self._period!r} {'lockstep' if self._lockstep else 'real'}")
        client.send("ready")
        if self._last and (self._open or not self._lockstep):
            client.send(self._last)
        self._clients.append(client)
        self._events.joined()
        return True

    def _refusal(self, word: str, token: str) -> str:
        if word != "join":
            return f"the first line must be: join{' and the token' if self._token else ''}."
        if not self._token:
            return "this part has no token: the first line must be join alone."
        return "the token is wrong." if token else "this part has a token: join and the token."

    async def _listen(self, reader: asyncio.StreamReader, client: PartServerClient) -> None:
        lines = 0
        while not client.writer.is_closing() and client.wrong < MAX_WRONG_LINES:
            lines += 1
            client.wrong += 1  # until it is valid
            if lines % LINES_PER_TURN == 0:
                await asyncio.sleep(0)  # lines already received must not block others
            try:
                line = await next_line(reader)
            except FormatError as error:
                self._reject_line(client, str(error))
            else:
                if not line or line == "bye":
                    return
                if not (self._lockstep and line.startswith("c ")):
                    self._events.count("lines_in")
                self._events.log("in", client.name, line)
                self._take(client, line)
            if client.waiting > SKIP_BYTES:  # it sends requests without reading the answers
                try:
                    await asyncio.wait_for(client.writer.drain(), JOIN_TIME)
                except TimeoutError:
                    self._events.count("dropped")
                    return

    def _take(self, client: PartServerClient, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "ping":
            client.wrong = 0
            client.send(f"pong {rest}".rstrip())
        elif word == "c":
            self._command(client, line)
        else:
            self._reject_line(client, f"there is no line {word[:20]!r}; there are c, ping and bye.")

    def _command(self, client: PartServerClient, line: str) -> None:
        driver = self._driver
        if driver is not None and driver is not client:
            self._reject_line(client, f"{driver.name} commands this part; you may only watch.")
            return
        try:
            values = parse_commands(line, self._commands)
        except FormatError as error:
            self._reject_line(client, str(error))
            return
        self._driver = client
        client.wrong = 0
        if not self._lockstep:
            self._events.commands(values)
        elif self._open:
            self._answer(values)
        elif len(client.ahead) < MAX_LINES_AHEAD:
            client.ahead.append(values)
        else:
            self._reject_line(
                client, f"more than {MAX_LINES_AHEAD} commands ahead of the values they answer."
            )

    def _reject_line(self, client: PartServerClient, why: str) -> None:
        self._events.count("bad_lines")
        client.send(f"error {why}")
