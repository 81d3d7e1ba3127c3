"""Live: one client's socket, from its greeting to its end."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from linkwork.server import messages as m
from linkwork.server.hub import Hub
from linkwork.server.stream import Stream

#: Code with which a socket of another protocol is closed, and one that did not take its texts.
RELOAD, TOO_SLOW = 4000, 1013
#: How long the end of a connection may take to be said [s].
_FAREWELL = 2.0


class LiveSocket:
    """A socket as ASGI has it.

    Starlette's has more to it, which sixty pictures a second to each client pay for.

    Args:
        scope: Of the connection.
        receive: Waits for what the client sends.
        send: Sends to the client.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
        self._receive, self._send = receive, send

    async def accept(self) -> None:
        """Lets the client in."""
        await self._receive()  # that it wants to connect
        await self._send({"type": "websocket.accept"})

    async def send_text(self, data: str) -> None:
        """Sends a text frame."""
        await self._send({"type": "websocket.send", "text": data})

    async def send_bytes(self, data: bytes) -> None:
        """Sends a binary frame."""
        await self._send({"type": "websocket.send", "bytes": data})

    async def read(self) -> str | bytes | None:
        """What the client sends next; None when it is gone."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            return None
        text = message.get("text")
        return text if text is not None else message.get("bytes") or b""

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Ends the connection."""
        await self._send({"type": "websocket.close", "code": code, "reason": reason})


async def live(socket: LiveSocket, hub: Hub) -> None:
    """Serves one client until it goes."""
    await socket.accept()
    asked = socket.asked
    if asked.get("protocol") != str(m.PROTOCOL):
        text = "this page is of another version of Linkwork. Reload it."
        await socket.send_text(m.encode(m.Refused("hello", text, "reload")).decode())
        await socket.close(RELOAD, "reload")
        return
    stream = Stream(socket)
    name = hub.join(stream, asked.get("was", ""), watched="watched" in asked)
    await attend(socket, hub, stream, name)


class Attended(Protocol):
    """A socket that is read until its client goes."""

    async def read(self) -> str | bytes | None:
        """What the client sends next; None when it is gone."""
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Ends the connection."""
        ...


async def attend(socket: Attended, hub: Hub, stream: Stream, name: str) -> None:
    """Reads from and writes to a client that was let in, until it goes or is given up."""
    reader = asyncio.ensure_future(_read(socket, hub, name))
    writer = asyncio.ensure_future(stream.run())
    # A client that does not read leaves the writer inside a send: that one never ends by itself.
    tasks = [reader, writer, asyncio.ensure_future(stream.given_up.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        hub.leave(name)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(Exception):  # it is gone, or never was there to hear it
            code = TOO_SLOW if stream.given_up.is_set() else 1000
            await asyncio.wait_for(socket.close(code), _FAREWELL)


async def _read(socket: Attended, hub: Hub, name: str) -> None:
    while (data := await socket.read()) is not None:
        hub.take(name, data)


async def turn_away(scope: Scope, receive: Receive, send: Send, reason: str) -> None:
    """Refuses a socket before it is opened: the browser sees 403."""
    await receive()
    if "websocket.http.response" in scope.get("extensions", {}):
        body = m.encode(m.Problem(reason))
        head = [(b"content-type", b"application/json")]
        await send({"type": "websocket.http.response.start", "status": 403, "headers": head})
        await send({"type": "websocket.http.response.body", "body": body})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": reason})
