"""SocketcandServer: one TCP port, announced by a beacon, that serves CAN buses."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from linkwork.buses.can.frame import CanError, CanFrame
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.socketcand.bcm import BcmMode
from linkwork.buses.can.socketcand.modes import (
    ConnectionMode,
    ControlMode,
    IsoTpMode,
    RawMode,
    StatisticsReport,
)
from linkwork.buses.can.socketcand.text import SEND, next_element, quick_frame, whole
from linkwork.buses.can.tcp_server import CLIENT_TIMEOUT, MAX_CLIENTS, TcpClient, TcpServer
from linkwork.core.mistakes import ascii_float

ELEMENTS_PER_TURN = 256  # commands per turn of the event loop


class SocketcandConnection(TcpClient):
    """A client: greeted, then without a bus, then in one of the modes."""

    def __init__(self, server: SocketcandServer) -> None:
        super().__init__(timeout=server.timeout)
        self._server = server
        self._mode: ConnectionMode | None = None
        self._statistics: StatisticsReport | None = None
        self._listen_only = self._echo = False

    def opened(self) -> None:
        """Greets the client, or rejects it if there are too many."""
        if not self._server.admit(self):
            self.write(b"< error too many clients >")
            self.end()
            return
        self.write(b"< hi >")

    def closed(self) -> None:
        """Ends everything that runs for it."""
        self._server.forget(self)
        if self._mode is not None:
            self._mode.close()
        if self._statistics is not None:
            self._statistics.close()

    def foreign_protocol(self) -> None:
        """Counts and answers a browser."""
        self._bad("sent a browser's request.")
        for hub in self._server.hubs.values():
            hub.emit(f"socketcand {self.peer} sent a browser's request, and was disconnected.")

    def consume(self, buffer: bytearray) -> bool:
        """Executes all complete elements in the buffer."""
        place, done = 0, 0
        while not self._ending:
            node = self.node
            if done >= ELEMENTS_PER_TURN or (node is not None and len(node.outbox) >= node.most):
                break
            done += 1
            if type(self._mode) is RawMode and node is not None:
                found = SEND.match(buffer, place)
                if found is not None and (frame := quick_frame(found)) is not None:
                    place = found.end()
                    node.send(frame)
                    continue
            words, onward = next_element(buffer, place)
            if words is None:
                if buffer[place:onward].strip():
                    self._bad("sent text outside of angle brackets.")
                del buffer[:onward]
                return True
            place = onward
            self._element(words)
        del buffer[:place]
        return False

    def _element(self, words: list[str]) -> None:
        if not words:
            self._refuse("unknown command")
            return
        try:
            known = self._nobus(words) if self._mode is None else self._busy(words)
        except CanError as error:
            self._refuse(str(error).replace("<", " ").replace(">", " "))
            return
        if not known:
            self._refuse("unknown command")

    def _refuse(self, why: str) -> None:
        self._bad(f"sent a command that is refused ({why[:80]}).")
        self.write(f"< error {why} >".encode("ascii", "replace"))

    def _bad(self, what: str) -> None:
        if self.node is not None:
            self.node.bad(what)
        else:
            self._server.bad += 1

    def _nobus(self, words: list[str]) -> bool:
        """Commands before a bus is open: open it, or configure it."""
        if words == ["echo"]:
            self.write(b"< echo >")
            return True
        if words[0] == "open" and len(words) == 2:
            hub = self._allowed(words[1])
            if hub is not None:
                self._open(hub)
            return True
        if len(words) < 2 or words[1] not in ("B", "C"):
            return False
        hub = self._allowed(words[0])
        if hub is None:
            return True
        if words[1] == "B":
            self._bit_timing(hub, words[2:])
        else:
            self._control_mode(words[2:])
        self.write(b"< ok >")
        return True

    def _allowed(self, name: str) -> CanHub | None:
        hub = self._server.hubs.get(name)
        if hub is None:
            self._bad("requested an unknown bus.")
            self.write(b"< error could not open bus >")
            self.end()
        return hub

    def _open(self, hub: CanHub) -> None:
        self.node = hub.attach(
            f"socketcand {self.peer}",
            self._on_frame,
            listen_only=self._listen_only,
            echo=self._echo,
        )
        self._statistics = StatisticsReport(self.node, self.write)
        self._mode = BcmMode(self.node, self.write)
        self.node.accept = self._wants
        hub.emit(f"{self.node.name} opened bus {hub.name}.")
        self.write(b"< ok >")

    def _bit_timing(self, hub: CanHub, words: list[str]) -> None:
        if len(words) != 8:
            raise CanError("bit timing: 8 values expected")
        try:
            ascii_float(words[1])  # the sample point, 0.875 or 875
        except ValueError:
            raise CanError(f"bit timing: {words[1]!r} is not a sample point") from None
        bitrate = whole(words[0], 10**8)
        for word in words[2:]:
            whole(word, 10**9)
        if bitrate != hub.bitrate:
            hub.emit(
                f"socketcand {self.peer} asked for {bitrate} bit/s; bus {hub.name} stays at "
                f"{hub.bitrate} bit/s, which its scene sets."
            )

    def _control_mode(self, words: list[str]) -> None:
        if len(words) != 3 or any(word not in ("0", "1") for word in words):
            raise CanError("control mode: three values 0 or 1 expected")
        self._listen_only, self._echo = words[0] == "1", words[1] == "1"

    def _busy(self, words: list[str]) -> bool:
        """Commands with an open bus: change the mode, echo, or those of the mode."""
        node, mode, statistics = self.node, self._mode, self._statistics
        if node is None or mode is None or statistics is None:
            return False
        name = words[0]
        if len(words) == 1 and name in ("rawmode", "bcmmode", "isotpmode", "controlmode"):
            mode.close()
            if name == "rawmode":
                self._mode = RawMode(node, self.write)
            elif name == "bcmmode":
                self._mode = BcmMode(node, self.write)
            elif name == "isotpmode":
                self._mode = IsoTpMode(node, self.write)
            else:
                self._mode = ControlMode(node, self.write, statistics)
            self.write(b"< ok >")
            return True
        if words == ["echo"]:
            self.write(b"< echo >")
            return True
        if name == "fdsend":
            raise CanError("this bus carries CAN 2.0, not CAN FD")
        return mode.command(name, words[1:])

    def _wants(self, frame: CanFrame) -> bool:
        return self._mode is not None and self._mode.wants(frame)

    def _on_frame(self, frame: CanFrame) -> bool | None:
        return self._mode.on_frame(frame) if self._mode is not None else None


DEFAULT_PORT = 29536


class SocketcandServer(TcpServer):
    """Serves buses by name.

    Args:
        hubs: The buses.
        timeout: Time for which a client may lose frames without reading before it is dropped [s].
        most_clients: Maximum number of connected clients.

    Attributes:
        bad: Number of invalid messages of clients without an open bus; those of others are counted
            on the bus.
    """

    protocol = "socketcand"
    usual_port = DEFAULT_PORT

    def __init__(
        self,
        hubs: Iterable[CanHub],
        *,
        timeout: float = CLIENT_TIMEOUT,
        most_clients: int = MAX_CLIENTS,
    ) -> None:
        super().__init__(timeout=timeout, most_clients=most_clients)
        self.hubs = {hub.name: hub for hub in hubs}
        self.bad = 0

    def client(self) -> TcpClient:
        """A protocol object for each connection."""
        return SocketcandConnection(self)


PORT = 42000
INTERVAL = 3.0  # the longest interval that the protocol allows [s]


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
        description: Description in the announcement.
    """
    url_tags = "".join(f"<URL>can://{escape(host)}:{port}</URL>" for host, port in urls)
    names = "".join(f"<Bus name={quoteattr(bus)}/>" for bus in buses)
    return (
        f'<CANBeacon name={quoteattr(name)} type="SocketCAN" '
        f"description={quoteattr(description)}>{url_tags}{names}</CANBeacon>"
    )


def beacon_for(server: SocketcandServer, *, name: str = "") -> Beacon:
    """The beacon of a server, for the network that it listens on.

    Args:
        server: A started server.
        name: Name of the device; the machine's if empty.
    """
    host = server.host
    if host in ("0.0.0.0", "::"):
        host = _own_address()
    # All of 127.x is one network; elsewhere routers do not forward a limited broadcast.
    address = "127.255.255.255" if host.startswith("127.") else "255.255.255.255"
    text = beacon_text([(host, server.port)], server.hubs, name=name or socket.gethostname())
    return Beacon(text, address=address)


def _own_address() -> str:
    """The address of this machine on the network; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address reserved for documentation
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


class Beacon:
    """Sends the beacon until it is stopped.

    Args:
        text: See :func:`beacon_text`.
        address: The broadcast address of the subnet that the server listens on.
        port: UDP port.
        interval: Period [s].
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
        """Stops sending."""
        if self._timer is not None:
            self._timer.cancel()
        self._socket.close()
