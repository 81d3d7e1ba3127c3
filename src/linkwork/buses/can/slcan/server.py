"""slcan on a TCP port: each connection is an adapter of its own."""

from __future__ import annotations

from linkwork.buses.can.client import PATIENCE, TcpClient
from linkwork.buses.can.door import MOST_CLIENTS, TcpDoor
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.slcan.adapter import SlcanAdapter
from linkwork.buses.can.slcan.lines import Lines


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

    def stranger(self) -> None:
        """A browser is counted and told."""
        if self.node is not None:
            self.node.bad("spoke as a browser does, and was sent away.")

    def consume(self, buffer: bytearray) -> bool:
        """Carries out whole commands."""
        return self._lines is None or self._lines.consume(buffer)


class SlcanTcp(TcpDoor):
    """Serves one bus.

    Args:
        hub: The bus.
        patience: See :class:`TcpDoor` [s].
        most_clients: How many may be connected at once.
    """

    protocol = "slcan"

    def __init__(
        self, hub: Hub, *, patience: float = PATIENCE, most_clients: int = MOST_CLIENTS
    ) -> None:
        super().__init__(patience=patience, most_clients=most_clients)
        self.hub = hub

    def client(self) -> TcpClient:
        """An adapter for each connection."""
        return _Connection(self)
