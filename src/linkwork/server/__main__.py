"""The server's process: reads its settings, joins the session, serves until the session ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys

import msgspec
import uvicorn

from linkwork import __version__
from linkwork.errors import LinkworkError
from linkwork.server.access import Access
from linkwork.server.app import make_app
from linkwork.server.hub import Hub
from linkwork.server.lines import serve_lines
from linkwork.server.process import Ready, Settings
from linkwork.server.recent import Recents
from linkwork.server.shelf import Shelf
from linkwork.session.link import PeerEnd, connect


def main() -> int:
    """Serves; returns the exit code."""
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=Settings)
    try:
        peer = connect(settings.link, settings.key)
        listening = _listen(settings.host, settings.port, "--port")
        lines = _listen(settings.host, settings.lines, "--tcp") if settings.lines >= 0 else None
    except LinkworkError as error:
        _say(Ready(error=str(error)))
        return 1
    _say(Ready(listening.getsockname()[1], lines.getsockname()[1] if lines is not None else -1))
    with peer:
        asyncio.run(_serve(settings, listening, lines, peer))
    return 0


async def _serve(
    settings: Settings, listening: socket.socket, lines: socket.socket | None, peer: PeerEnd
) -> None:
    def ended() -> None:
        server.should_exit = True

    port = listening.getsockname()[1]
    hub = Hub(peer, __version__, ended, settings.address and f"{settings.address}:{port}/")
    access = Access(settings.token, settings.host)
    config = uvicorn.Config(
        make_app(hub, access, Recents(), Shelf(settings.recordings), __version__),
        log_level="warning", access_log=False, ws="websockets-sansio", ws_max_size=2**20,
        ws_per_message_deflate=False, ws_ping_interval=20.0, ws_ping_timeout=60.0,
        timeout_graceful_shutdown=1,
        ssl_certfile=settings.certificate or None, ssl_keyfile=settings.certificate_key or None,
    )  # fmt: skip
    server = uvicorn.Server(config)
    async with contextlib.AsyncExitStack() as stack:
        if lines is not None:
            files = settings.certificate, settings.certificate_key
            await stack.enter_async_context(serve_lines(lines, hub, access, *files))
        await server.serve(sockets=[listening])


def _listen(host: str, port: int, option: str) -> socket.socket:
    """A socket that listens where it was told.

    Raises:
        LinkworkError: If it cannot.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, proto, _, address = found[0]
        made = socket.socket(family, kind, proto)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except OSError as error:
        hint = f"Choose another with {option}." if port else ""
        raise LinkworkError(
            f"the studio cannot listen on {host}:{port}: {error.strerror}.", hint=hint
        ) from None
    return made


def _say(ready: Ready) -> None:
    with contextlib.suppress(BrokenPipeError):  # who started this has gone meanwhile
        os.write(1, msgspec.json.encode(ready) + b"\n")


if __name__ == "__main__":
    sys.exit(main())
