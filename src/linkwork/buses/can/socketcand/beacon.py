"""The discovery beacon: a UDP broadcast that says which buses are served, and where."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from linkwork.buses.can.socketcand.server import Socketcand

PORT = 42000
INTERVAL = 3.0  # the protocol allows no longer one [s]


def beacon_text(
    urls: Iterable[tuple[str, int]],
    buses: Iterable[str],
    *,
    name: str,
    description: str = "Linkwork, a virtual test bench",
) -> str:
    """The beacon's XML.

    Args:
        urls: Host and port of each server.
        buses: Names of the buses.
        name: Name of the device, such as the machine's.
        description: Shown to people.
    """
    places = "".join(f"<URL>can://{escape(host)}:{port}</URL>" for host, port in urls)
    names = "".join(f"<Bus name={quoteattr(bus)}/>" for bus in buses)
    return (
        f'<CANBeacon name={quoteattr(name)} type="SocketCAN" '
        f"description={quoteattr(description)}>{places}{names}</CANBeacon>"
    )


def beacon_for(server: Socketcand, *, name: str = "") -> Beacon:
    """The beacon of a server, for the network that it listens on.

    Args:
        server: It has been started.
        name: Name of the device; the machine's where empty.
    """
    host = server.host
    if host in ("0.0.0.0", "::"):
        host = _own_address()
    # The whole of 127.x is one network; elsewhere routers keep a limited broadcast inside.
    address = "127.255.255.255" if host.startswith("127.") else "255.255.255.255"
    text = beacon_text([(host, server.port)], server.hubs, name=name or socket.gethostname())
    return Beacon(text, address=address)


def _own_address() -> str:
    """The address by which this machine would reach others; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that is kept for examples
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


class Beacon:
    """Sends the beacon until it is stopped.

    Args:
        text: See :func:`beacon_text`.
        address: Where to: the broadcast address of the subnet that the server listens on.
        port: UDP port.
        interval: Time between two [s].
    """

    def __init__(
        self,
        text: str,
        *,
        address: str = "127.255.255.255",
        port: int = PORT,
        interval: float = INTERVAL,
    ) -> None:
        self._text = text.encode()
        self._target = (address, port)
        self._interval = min(interval, INTERVAL)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        self._socket.setblocking(False)
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Sends the first one at once."""
        # A network that is down now may be up at the next one.
        with contextlib.suppress(OSError):
            self._socket.sendto(self._text, self._target)
        self._timer = asyncio.get_running_loop().call_later(self._interval, self.start)

    def stop(self) -> None:
        """Sends no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._socket.close()
