"""The server's process: reads its settings, connects to the session, serves until it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys

import msgspec
import uvicorn

from linkwork import __version__
from linkwork.core.errors import LinkworkError, os_error_text
from linkwork.link import PeerEnd, connect
from linkwork.studio.web.access import Access
from linkwork.studio.web.app import SECURITY_HEADERS, make_app
from linkwork.studio.web.client_sockets import serve_lines
from linkwork.studio.web.connections import (
    KEEP_ALIVE,
    ConnectionGuard,
    GuardedServer,
    log_plainly,
)
from linkwork.studio.web.gallery import Recents, RecordingLibrary
from linkwork.studio.web.hub import Hub
from linkwork.studio.web.process import ServerReady, ServerSettings


def main() -> int:
    """Serves; returns the exit code."""
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=ServerSettings)
    try:
        peer = connect(settings.link, settings.key)
        listening = _listen(settings.host, settings.port, "--port")
        lines = _listen(settings.host, settings.lines, "--tcp") if settings.lines >= 0 else None
    except LinkworkError as error:
        _print(ServerReady(error=error.to_record()))
        return 1
    _print(
        ServerReady(listening.getsockname()[1], lines.getsockname()[1] if lines is not None else -1)
    )
    with peer:
        asyncio.run(_serve(settings, listening, lines, peer))
    return 0


async def _serve(
    settings: ServerSettings, listening: socket.socket, lines: socket.socket | None, peer: PeerEnd
) -> None:
    def ended() -> None:
        server.should_exit = True

    port = listening.getsockname()[1]
    hub = Hub(peer, __version__, ended, settings.address and f"{settings.address}:{port}/")
    access, guard = Access(settings.token, settings.host), ConnectionGuard(listening)
    library = RecordingLibrary(settings.recordings)
    log_plainly()
    config = uvicorn.Config(
        make_app(hub, access, guard, Recents(), library, __version__),
        log_config=None, access_log=False, ws="websockets-sansio", ws_max_size=2**20,
        ws_per_message_deflate=False, ws_ping_interval=20.0, ws_ping_timeout=60.0,
        timeout_graceful_shutdown=1, timeout_keep_alive=round(KEEP_ALIVE),
        # The guard knows connections by their real address.
        proxy_headers=False, server_header=False, headers=SECURITY_HEADERS, http="h11",
        ssl_certfile=settings.certificate or None, ssl_keyfile=settings.certificate_key or None,
    )  # fmt: skip
    server = GuardedServer(config, guard)
    async with contextlib.AsyncExitStack() as stack:
        if lines is not None:
            files = settings.certificate, settings.certificate_key
            await stack.enter_async_context(serve_lines(lines, hub, access, *files))
        await server.serve()


def _listen(host: str, port: int, option: str) -> socket.socket:
    """A socket that listens at the configured address.

    Raises:
        LinkworkError: If it cannot listen there.
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
            f"the studio cannot listen on {host}:{port}: {os_error_text(error)}.", hint=hint
        ) from None
    return made


def _print(ready: ServerReady) -> None:
    with contextlib.suppress(BrokenPipeError):  # the parent process has ended meanwhile
        os.write(1, msgspec.json.encode(ready) + b"\n")


if __name__ == "__main__":
    sys.exit(main())
