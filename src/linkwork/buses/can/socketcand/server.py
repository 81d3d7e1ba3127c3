"""The socketcand server: one TCP port that opens one or several buses."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable

from linkwork.buses.can.client import PATIENCE
from linkwork.buses.can.frame import CanError
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.socketcand.connection import Connection

PORT = 29536
MOST_CLIENTS = 64


class Socketcand:
    """Serves buses by name.

    Args:
        hubs: The buses.
        patience: How long a client may lose frames without reading before it is dropped [s].
        most_clients: How many may be connected at once.

    Attributes:
        bad: Messages of all clients that follow no rule, also of clients that opened no bus.
    """

    def __init__(
        self,
        hubs: Iterable[Hub],
        *,
        patience: float = PATIENCE,
        most_clients: int = MOST_CLIENTS,
    ) -> None:
        self.hubs = {hub.name: hub for hub in hubs}
        self.patience = patience
        self.most_clients = most_clients
        self.bad = 0
        self.host, self.port = "", 0
        self._clients: set[Connection] = set()
        self._server: asyncio.Server | None = None

    async def start(
        self, host: str = "127.0.0.1", port: int = PORT, *, tls: ssl.SSLContext | None = None
    ) -> None:
        """Opens the port; 0 takes a free one, which :attr:`port` then tells."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: Connection(self), host, port, ssl=tls, reuse_address=True
            )
        except OSError as error:
            raise CanError(
                f"socketcand cannot listen on {host}:{port}: {error.strerror or error}.",
                hint="Give another port, or 0 for a free one.",
            ) from None
        self.host, self.port = self._server.sockets[0].getsockname()[:2]

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return len(self._clients)

    def admit(self, client: Connection) -> bool:
        """Takes a client in, if there is room."""
        if len(self._clients) >= self.most_clients:
            return False
        self._clients.add(client)
        return True

    def forget(self, client: Connection) -> None:
        """Removes a client that is gone."""
        self._clients.discard(client)

    async def stop(self) -> None:
        """Closes the port and all connections."""
        if self._server is not None:
            self._server.close()
            for client in list(self._clients):
                client.transport.abort()
            await self._server.wait_closed()
            self._server = None
