"""The socketcand server: one TCP port that opens one or several buses."""

from __future__ import annotations

from collections.abc import Iterable

from linkwork.buses.can.client import PATIENCE, TcpClient
from linkwork.buses.can.door import MOST_CLIENTS, TcpDoor
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.socketcand.connection import Connection

PORT = 29536


class Socketcand(TcpDoor):
    """Serves buses by name.

    Args:
        hubs: The buses.
        patience: How long a client may lose frames without reading before it is dropped [s].
        most_clients: How many may be connected at once.

    Attributes:
        bad: Messages that follow no rule, of clients that have opened no bus; those of others are
            counted on the bus.
    """

    protocol = "socketcand"
    usual_port = PORT

    def __init__(
        self,
        hubs: Iterable[Hub],
        *,
        patience: float = PATIENCE,
        most_clients: int = MOST_CLIENTS,
    ) -> None:
        super().__init__(patience=patience, most_clients=most_clients)
        self.hubs = {hub.name: hub for hub in hubs}
        self.bad = 0

    def client(self) -> TcpClient:
        """One end for each connection."""
        return Connection(self)
