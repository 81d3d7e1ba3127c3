"""PartServer: the door that controllers come through; one commands, others look on."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import ssl
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from linkwork.buses.tcp.lines import GREETING, MOST, Item, parse_commands, sensors_line
from linkwork.buses.tcp.reading import next_line
from linkwork.errors import FormatError, LinkworkError

#: Controllers at a time, and connections that have not joined yet.
MOST_CLIENTS, MOST_WAITING = 16, 16
#: How long one may take to join [s]; a wrong token is answered this late [s].
JOIN_TIME, SULK = 10.0, 1.0
#: Bytes that may wait for a controller before it misses values, and before it is sent away.
SKIP_AT, DROP_AT = 64 * 1024, 256 * 1024
#: Lines of one controller before others have their turn.
TURN = 32
#: Wrong lines in a row, after which their sender is taken for no controller and sent away.
MOST_WRONG = 1000
#: Commands that one may send ahead of the values they answer, in lock-step.
AHEAD = 16


@dataclass(eq=False)
class Client:
    """A controller that has come in."""

    name: str
    writer: asyncio.StreamWriter
    ahead: deque[list[float | None]] = field(default_factory=deque)
    skipped: int = 0
    wrong: int = 0

    def say(self, line: str) -> None:
        """Sends a line."""
        self.writer.write(f"{line}\n".encode())

    @property
    def waiting(self) -> int:
        """Bytes that it has not taken yet."""
        return self.writer.transport.get_write_buffer_size()


@dataclass
class Heard:
    """What a server tells its owner."""

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
        token: What a controller must know; empty for nothing.
        heard: Called with what arrives.
    """

    def __init__(
        self, items: list[Item], period: float, *, lockstep: bool, token: str, heard: Heard
    ) -> None:
        self._token, self._heard, self._lockstep = token, heard, lockstep
        self._clients: list[Client] = []
        self._waiting: dict[Client, None] = {}  # those that have not joined, the oldest first
        self._driver: Client | None = None
        self._last = ""
        self._open = False  # whether the last line of sensors waits for its answer
        self._server: asyncio.Server | None = None
        self.describe(items, period)

    def describe(self, items: list[Item], period: float) -> None:
        """Takes over what the part consists of; who is connected must join anew."""
        self._items, self._period = items, period
        self._commands = sum(item.role == "command" for item in items)
        self._last, self._open = "", False
        for client in self._clients:
            client.say("error the part has changed; join again.")
            client.writer.close()

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> int:
        """Opens the door; returns its port.

        Raises:
            LinkworkError: If the port is taken or the host is not ours.
        """
        try:
            self._server = await asyncio.start_server(
                self._serve, host, port, limit=MOST, ssl=tls,
                ssl_handshake_timeout=JOIN_TIME if tls is not None else None,
            )  # fmt: skip
        except OSError as error:
            raise LinkworkError(
                f"the TCP part cannot listen on {host}:{port}: {error.strerror or error}.",
                hint="Another program may have the port; choose another, or 0 for a free one.",
            ) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Shuts the door and sends everyone away."""
        if self._server is not None:
            self._server.close()
        for client in (*self._clients, *self._waiting):
            client.writer.transport.abort()

    @property
    def driven(self) -> bool:
        """Whether somebody commands the part, rather than only looks on."""
        return self._driver is not None

    # ---- out -----------------------------------------------------------------------------

    def show(self, step: int, time: float, values: list[float], *, asks: bool) -> None:
        """Sends the sensors; with ``asks`` the scene waits for commands.

        In lock-step each line is a question: one that asks nothing would be answered all the same,
        and every later answer would be a turn too early.
        """
        if self._lockstep and not asks:
            return
        self._last = sensors_line(step, time, values)
        self._open = asks
        for client in self._clients:
            if client.writer.is_closing():
                continue
            if client.waiting > DROP_AT:
                self._heard.count("dropped")
                client.writer.transport.abort()
            elif client.waiting > SKIP_AT and not self._lockstep:
                client.skipped += 1
                self._heard.count("skipped")
            else:
                client.say(self._last)
                if not self._lockstep:
                    self._heard.count("lines_out")
        self._heard.log("out", "", self._last)
        driver = self._driver
        if self._open and driver is not None and driver.ahead:
            self._answer(driver.ahead.popleft())

    def _answer(self, values: list[float | None]) -> None:
        # Counted with the turn: when a line came, or who else heard one, is a matter of pace.
        self._open = False
        self._heard.count("lines_out")
        self._heard.count("lines_in")
        self._heard.commands(values)

    # ---- in ------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Old values in the system's memory would serve nobody.
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SKIP_AT)
        peer = writer.get_extra_info("peername")
        client = Client(f"{peer[0]}:{peer[1]}" if peer else "?", writer)
        self._make_room()
        self._waiting[client] = None
        try:
            if await self._join(reader, client):
                await self._listen(reader, client)
        except (OSError, asyncio.IncompleteReadError):
            pass  # it is gone
        finally:
            self._waiting.pop(client, None)
            if client in self._clients:
                self._clients.remove(client)
                if self._driver is client:
                    self._driver = None
                self._heard.left()
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await asyncio.wait_for(writer.wait_closed(), JOIN_TIME)

    def _make_room(self) -> None:
        """Sends away who has waited longest: a controller joins at once, and finds room."""
        while len(self._waiting) >= MOST_WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            self._heard.count("turned_away")
            oldest.writer.transport.abort()

    def _turn_away(self, client: Client, why: str) -> bool:
        if client in self._waiting:
            self._heard.count("turned_away")
            client.say(f"error {why}")
        return False

    async def _join(self, reader: asyncio.StreamReader, client: Client) -> bool:
        full = f"{MOST_CLIENTS} controllers are connected; no more are let in."
        if len(self._clients) >= MOST_CLIENTS:
            return self._turn_away(client, full)
        client.say(GREETING)
        try:
            line = await asyncio.wait_for(next_line(reader), JOIN_TIME)
        except (TimeoutError, FormatError, OSError, asyncio.IncompleteReadError):
            line = ""  # one that is gone has not joined either, however it went
        word, _, token = line.partition(" ")
        if word != "join" or not secrets.compare_digest(token.encode(), self._token.encode()):
            await asyncio.sleep(SULK if word == "join" else 0.0)
            return self._turn_away(client, self._refusal(word, token))
        if len(self._clients) >= MOST_CLIENTS:  # others were quicker
            return self._turn_away(client, full)
        if client not in self._waiting:
            return False  # it was sent away in the same moment
        del self._waiting[client]
        for item in self._items:
            client.say(item.line())
        client.say(f"period {self._period!r} {'lockstep' if self._lockstep else 'real'}")
        client.say("ready")
        if self._last and (self._open or not self._lockstep):
            client.say(self._last)
        self._clients.append(client)
        self._heard.joined()
        return True

    def _refusal(self, word: str, token: str) -> str:
        if word != "join":
            return f"the first line must be: join{' and the token' if self._token else ''}."
        if not self._token:
            return "this part has no token: the first line must be join alone."
        return "the token is wrong." if token else "this part has a token: join and the token."

    async def _listen(self, reader: asyncio.StreamReader, client: Client) -> None:
        lines = 0
        while not client.writer.is_closing() and client.wrong < MOST_WRONG:
            lines += 1
            client.wrong += 1  # until it has been understood
            if lines % TURN == 0:
                await asyncio.sleep(0)  # lines that are here already do not let others in
            try:
                line = await next_line(reader)
            except FormatError as error:
                self._bad(client, str(error))
            else:
                if not line or line == "bye":
                    return
                if not (self._lockstep and line.startswith("c ")):
                    self._heard.count("lines_in")
                self._heard.log("in", client.name, line)
                self._take(client, line)
            if client.waiting > SKIP_AT:  # it asks and asks, and reads no answer
                try:
                    await asyncio.wait_for(client.writer.drain(), JOIN_TIME)
                except TimeoutError:
                    self._heard.count("dropped")
                    return

    def _take(self, client: Client, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "ping":
            client.wrong = 0
            client.say(f"pong {rest}".rstrip())
        elif word == "c":
            self._command(client, line)
        else:
            self._bad(client, f"there is no line {word[:20]!r}; there are c, ping and bye.")

    def _command(self, client: Client, line: str) -> None:
        driver = self._driver
        if driver is not None and driver is not client:
            self._bad(client, f"{driver.name} commands this part; you look on.")
            return
        try:
            values = parse_commands(line, self._commands)
        except FormatError as error:
            self._bad(client, str(error))
            return
        self._driver = client
        client.wrong = 0
        if not self._lockstep:
            self._heard.commands(values)
        elif self._open:
            self._answer(values)
        elif len(client.ahead) < AHEAD:
            client.ahead.append(values)
        else:
            self._bad(client, f"more than {AHEAD} commands ahead of the values they answer.")

    def _bad(self, client: Client, why: str) -> None:
        self._heard.count("bad_lines")
        client.say(f"error {why}")
