"""TcpDoor: a port that clients of one protocol come in by."""

from __future__ import annotations

import asyncio
import ssl
from typing import ClassVar

from linkwork.buses.can.client import PATIENCE, TcpClient
from linkwork.buses.can.frame import CanError

MOST_CLIENTS = 64


class TcpDoor:
    """Base of the doors on TCP; a protocol sets ``protocol`` and makes its clients.

    Args:
        patience: How long a client may lose frames without reading before it is dropped [s].
        most_clients: How many may be connected at once.

    Attributes:
        host, port: Where it listens, once it does.
    """

    protocol: ClassVar[str] = ""
    usual_port: ClassVar[int] = 0

    def __init__(self, *, patience: float = PATIENCE, most_clients: int = MOST_CLIENTS) -> None:
        self.patience = patience
        self.most_clients = most_clients
        self.host, self.port = "", 0
        self._clients: set[TcpClient] = set()
        self._server: asyncio.Server | None = None

    def client(self) -> TcpClient:
        """Makes the protocol's end of a new connection."""
        raise NotImplementedError

    async def start(
        self, host: str = "127.0.0.1", port: int | None = None, *, tls: ssl.SSLContext | None = None
    ) -> None:
        """Opens the port; 0 takes a free one, which :attr:`port` then tells.

        Raises:
            CanError: If it cannot listen there.
        """
        port = self.usual_port if port is None else port
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                self.client, host, port, ssl=tls, reuse_address=True
            )
        except OSError as error:
            raise CanError(
                f"{self.protocol} cannot listen on {host}:{port}: {error.strerror or error}.",
                hint="Give another port, or 0 for a free one.",
            ) from None
        self.host, self.port = self._server.sockets[0].getsockname()[:2]

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return len(self._clients)

    def admit(self, client: TcpClient) -> bool:
        """Takes a client in, if there is room."""
        if len(self._clients) >= self.most_clients:
            return False
        self._clients.add(client)
        return True

    def forget(self, client: TcpClient) -> None:
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
