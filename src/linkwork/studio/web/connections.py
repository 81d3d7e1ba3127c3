"""Connections: limits for clients that have not shown the token yet, and plain log lines."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import uvicorn

from linkwork.core.errors import os_error_text

#: Time limit for a request's headers or a client's first line, and for the TLS handshake [s].
FIRST_BYTES_TIMEOUT = 5.0
#: Time that a connection may stay open between two requests [s].
KEEP_ALIVE = 5.0
#: Time limit for an answer to a client without the token [s]; it may read slowly.
ANSWER_TIMEOUT = 30.0
#: Maximum number of connections that have not shown the token.
MAX_STRANGERS = 64
#: Connections accepted at once, and pause after the system could not accept one [s].
_ACCEPTED_AT_ONCE, _ACCEPT_PAUSE = 64, 0.2
#: Period of checking the time limits [s].
_CHECK_PERIOD = 0.5

logger = logging.getLogger("linkwork.studio")


@dataclass
class _Connection:
    """One accepted connection.

    Attributes:
        deadline: Monotonic time at which it is closed, unless it is admitted and busy [s].
        requests: Number of requests being answered.
        admitted: Whether it has shown the token.
        task: Creates the transport; with TLS it waits for the handshake.
    """

    deadline: float
    requests: int = 0
    admitted: bool = False
    transport: asyncio.Transport | None = None
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def close(self) -> None:
        """Closes it at once."""
        if self.transport is not None:
            self.transport.abort()
        elif self.task is not None:
            self.task.cancel()

    @property
    def closed(self) -> bool:
        """Whether it is closed or closing."""
        if self.transport is not None:
            return self.transport.is_closing()
        return self.task is not None and self.task.done()


class ConnectionGuard:
    """Accepts the connections of one listening socket and limits those without the token.

    A connection has :data:`FIRST_BYTES_TIMEOUT` for its first request. At most
    :data:`MAX_STRANGERS` connections that have not shown the token are open: another one closes
    the oldest idle one of the address that has most. A connection is identified by the client's
    address and port, as the ASGI scope names it.

    Args:
        listening: The listening socket.
        limit: Maximum number of connections without the token.
    """

    def __init__(self, listening: socket.socket, *, limit: int = MAX_STRANGERS) -> None:
        self._listening, self._limit = listening, limit
        self._open: dict[tuple[str, int], _Connection] = {}
        self._checking: asyncio.Task[None] | None = None
        self._closed = False

    def start(
        self, protocol: Callable[[], asyncio.BaseProtocol], tls: ssl.SSLContext | None = None
    ) -> None:
        """Starts to accept connections in the running event loop."""
        self._listening.setblocking(False)
        self._protocol, self._tls = protocol, tls
        self._checking = asyncio.create_task(self._check())
        self._listen()

    def begin(self, client: tuple[str, int] | None) -> None:
        """Records that a request of a client is complete and is being answered."""
        found = self._open.get(client) if client is not None else None
        if found is not None:
            found.requests += 1
            found.deadline = time.monotonic() + ANSWER_TIMEOUT

    def admit(self, client: tuple[str, int] | None) -> None:
        """Records that a client has shown the token."""
        found = self._open.get(client) if client is not None else None
        if found is not None:
            found.admitted = True

    def end(self, client: tuple[str, int] | None) -> None:
        """Records that a request is answered; the next one has the time limit again."""
        found = self._open.get(client) if client is not None else None
        if found is not None:
            found.requests -= 1
            found.deadline = time.monotonic() + KEEP_ALIVE + FIRST_BYTES_TIMEOUT

    def close(self) -> None:
        """Stops accepting; connections that are being answered stay open."""
        self._closed = True
        if self._checking is not None:
            self._checking.cancel()
            asyncio.get_running_loop().remove_reader(self._listening)
        self._listening.close()
        for each in self._open.values():
            if not each.requests:
                each.close()

    async def wait_closed(self) -> None:
        """Returns at once: the server waits for its connections itself."""

    def _listen(self) -> None:
        if not self._closed:
            asyncio.get_running_loop().add_reader(self._listening, self._accept)

    def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                made, client = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no more descriptors
                logger.warning("no connection can be accepted: %s.", os_error_text(error))
                loop.remove_reader(self._listening)
                loop.call_later(_ACCEPT_PAUSE, self._listen)
                return
            made.setblocking(False)
            self._make_room()
            each = _Connection(time.monotonic() + FIRST_BYTES_TIMEOUT)
            self._open[str(client[0]), int(client[1])] = each
            each.task = loop.create_task(self._connect(each, made))

    async def _connect(self, each: _Connection, made: socket.socket) -> None:
        timeout = FIRST_BYTES_TIMEOUT if self._tls is not None else None
        try:
            each.transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol, made, ssl=self._tls, ssl_handshake_timeout=timeout
            )
        except (OSError, asyncio.CancelledError):  # left, or no TLS within the time limit
            made.close()

    def _make_room(self) -> None:
        """Closes connections without the token until one more fits."""
        for client in [client for client, each in self._open.items() if each.closed]:
            del self._open[client]
        strangers = [client for client, each in self._open.items() if not each.admitted]
        while len(strangers) >= self._limit:
            most = Counter(host for host, _ in strangers).most_common(1)[0][0]
            # In the order of acceptance, idle ones first.
            mine = sorted(
                (client for client in strangers if client[0] == most),
                key=lambda client: self._open[client].requests > 0,
            )
            strangers.remove(mine[0])
            self._open.pop(mine[0]).close()

    async def _check(self) -> None:
        """Closes connections whose time is over, again and again."""
        while True:
            await asyncio.sleep(_CHECK_PERIOD)
            now = time.monotonic()
            for client, each in list(self._open.items()):
                late = now > each.deadline and not (each.admitted and each.requests)
                if late:
                    each.close()
                if late or each.closed:
                    del self._open[client]


class GuardedServer(uvicorn.Server):
    """An HTTP server whose connections a :class:`ConnectionGuard` accepts."""

    def __init__(self, config: uvicorn.Config, guard: ConnectionGuard) -> None:
        super().__init__(config)
        self._guard = guard

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts the application, then accepts connections."""
        await super().startup(sockets=[])

        def protocol() -> asyncio.BaseProtocol:
            kind = cast("Callable[..., asyncio.BaseProtocol]", self.config.http_protocol_class)
            return kind(
                config=self.config, server_state=self.server_state, app_state=self.lifespan.state
            )

        self._guard.start(protocol, self.config.ssl)
        self.servers = [self._guard]  # type: ignore[list-item]


class RefusalLog:
    """Logs refused requests: one line each, and one a second at most."""

    def __init__(self) -> None:
        self._last = -1.0
        self._more = 0

    def add(self, client: tuple[str, int] | None, what: str, reason: str) -> None:
        """Logs a refusal."""
        now = time.monotonic()
        if now - self._last < 1.0:
            self._more += 1
            return
        more = f" ({self._more} more before)" if self._more else ""
        self._last, self._more = now, 0
        place = client[0] if client is not None else "an unknown address"
        logger.warning("refused %s from %s: %s%s", what, place, reason, more)


class _PlainLines(logging.Filter):
    """Turns messages of the server's libraries about bad clients into one line each."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Returns whether to log a record; removes the traceback of a client's mistake."""
        if str(record.msg).startswith("ASGI callable returned without completing handshake"):
            return False  # a refused socket, which is logged where it is refused
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not _is_ours(error):
            record.msg, record.args = f"{record.getMessage().strip()}: {error}", ()
            record.exc_info = None
        return True


def _is_ours(error: BaseException) -> bool:
    """Whether an error is a mistake of the program, whose traceback is needed."""
    from websockets.exceptions import WebSocketException

    return not isinstance(error, OSError | EOFError | WebSocketException | UnicodeError)


def log_plainly() -> None:
    """Sets up the log of the server's process: lines on standard error, as the terminal shows."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("note: studio server: %(message)s"))
    handler.addFilter(_PlainLines())
    for name in ("uvicorn", "linkwork.studio", "asyncio", "websockets"):
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(logging.WARNING)
