"""slcan on a TCP port: each connection is an adapter of its own."""

from __future__ import annotations

import asyncio
import ssl

from linkwork.buses.can.client import PATIENCE, TcpClient
from linkwork.buses.can.frame import CanError
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.slcan.adapter import SlcanAdapter
from linkwork.buses.can.slcan.lines import Lines

MOST_CLIENTS = 64


class _Connection(TcpClient):
    """One client; a full line is the only thing that ends a command here, for TCP loses nothing."""

    def __init__(self, server: SlcanTcp) -> None:
        super().__init__(patience=server.patience)
        self._server = server
        self._lines: Lines | None = None

    def opened(self) -> None:
        """Plugs an adapter in, if there is room."""
        if not self._server.admit(self):
            self.write(b"\a")
            self.end()
            return
        adapter = SlcanAdapter(self._server.hub, f"slcan {self.peer}", self.write)
        self.node = adapter.node
        self._lines = Lines(adapter)
        self._server.hub.tell(f"{self.node.name} is connected to bus {self._server.hub.name}.")

    def closed(self) -> None:
        """Unplugs it."""
        self._server.forget(self)

    def consume(self, buffer: bytearray) -> bool:
        """Carries out whole commands."""
        return self._lines is None or self._lines.consume(buffer)


class SlcanTcp:
    """Serves one bus.

    Args:
        hub: The bus.
        patience: How long a client may lose frames without reading before it is dropped [s].
        most_clients: How many may be connected at once.
    """

    def __init__(
        self, hub: Hub, *, patience: float = PATIENCE, most_clients: int = MOST_CLIENTS
    ) -> None:
        self.hub = hub
        self.patience = patience
        self.most_clients = most_clients
        self.host, self.port = "", 0
        self._clients: set[TcpClient] = set()
        self._server: asyncio.Server | None = None

    async def start(
        self, host: str = "127.0.0.1", port: int = 0, *, tls: ssl.SSLContext | None = None
    ) -> None:
        """Opens the port; 0 takes a free one, which :attr:`port` then tells."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: _Connection(self), host, port, ssl=tls, reuse_address=True
            )
        except OSError as error:
            raise CanError(
                f"slcan cannot listen on {host}:{port}: {error.strerror or error}.",
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
