"""One connection of socketcand: its mode, and the commands that every mode understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.buses.can.client import TcpClient
from linkwork.buses.can.frame import CanError, Frame
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.socketcand.bcm import Bcm
from linkwork.buses.can.socketcand.control import Control, Statistics
from linkwork.buses.can.socketcand.isotp import IsoTpMode
from linkwork.buses.can.socketcand.mode import Mode
from linkwork.buses.can.socketcand.raw import Raw
from linkwork.buses.can.socketcand.text import SEND, next_element, quick_frame, whole

if TYPE_CHECKING:
    from linkwork.buses.can.socketcand.server import Socketcand

TURN = 256  # commands in one turn of the event loop


class Connection(TcpClient):
    """A client: greeted, then without a bus, then in one of the modes."""

    def __init__(self, server: Socketcand) -> None:
        super().__init__(patience=server.patience)
        self._server = server
        self._mode: Mode | None = None
        self._statistics: Statistics | None = None
        self._listen_only = self._echo = False

    def opened(self) -> None:
        """Greets, or turns away where there are too many."""
        if not self._server.admit(self):
            self.write(b"< error too many clients >")
            self.end()
            return
        self.write(b"< hi >")

    def closed(self) -> None:
        """Ends all that ran for it."""
        self._server.forget(self)
        if self._mode is not None:
            self._mode.close()
        if self._statistics is not None:
            self._statistics.close()

    def stranger(self) -> None:
        """A browser is counted and told."""
        self._bad("spoke as a browser does.")
        for hub in self._server.hubs.values():
            hub.tell(f"socketcand {self.peer} spoke as a browser does, and was sent away.")

    def consume(self, buffer: bytearray) -> bool:
        """Carries out all whole elements that are there."""
        place, done = 0, 0
        while not self._ending:
            node = self.node
            if done >= TURN or (node is not None and len(node.outbox) >= node.most):
                break
            done += 1
            if type(self._mode) is Raw and node is not None:
                found = SEND.match(buffer, place)
                if found is not None and (frame := quick_frame(found)) is not None:
                    place = found.end()
                    node.send(frame)
                    continue
            words, onward = next_element(buffer, place)
            if words is None:
                if buffer[place:onward].strip():
                    self._bad("wrote something outside of angle brackets.")
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
        """Before a bus is open: open it, or configure it."""
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

    def _allowed(self, name: str) -> Hub | None:
        hub = self._server.hubs.get(name)
        if hub is None:
            self._bad("asked for a bus that is not here.")
            self.write(b"< error could not open bus >")
            self.end()
        return hub

    def _open(self, hub: Hub) -> None:
        self.node = hub.attach(
            f"socketcand {self.peer}",
            self._hear,
            listen_only=self._listen_only,
            echo=self._echo,
        )
        self._statistics = Statistics(self.node, self.write)
        self._mode = Bcm(self.node, self.write)
        self.node.accept = self._wants
        hub.tell(f"{self.node.name} opened bus {hub.name}.")
        self.write(b"< ok >")

    def _bit_timing(self, hub: Hub, words: list[str]) -> None:
        if len(words) != 8:
            raise CanError("bit timing: 8 values expected")
        try:
            float(words[1])  # the sample point, 0.875 or 875
        except ValueError:
            raise CanError(f"bit timing: {words[1]!r} is no sample point") from None
        bitrate = whole(words[0], 10**8)
        for word in words[2:]:
            whole(word, 10**9)
        if bitrate != hub.bitrate:
            hub.tell(
                f"socketcand {self.peer} asked for {bitrate} bit/s; bus {hub.name} stays at "
                f"{hub.bitrate} bit/s, which its scene sets."
            )

    def _control_mode(self, words: list[str]) -> None:
        if len(words) != 3 or any(word not in ("0", "1") for word in words):
            raise CanError("control mode: three values 0 or 1 expected")
        self._listen_only, self._echo = words[0] == "1", words[1] == "1"

    def _busy(self, words: list[str]) -> bool:
        """With a bus open: change the mode, echo, or what the mode understands."""
        node, mode, statistics = self.node, self._mode, self._statistics
        if node is None or mode is None or statistics is None:
            return False
        name = words[0]
        if len(words) == 1 and name in ("rawmode", "bcmmode", "isotpmode", "controlmode"):
            mode.close()
            if name == "rawmode":
                self._mode = Raw(node, self.write)
            elif name == "bcmmode":
                self._mode = Bcm(node, self.write)
            elif name == "isotpmode":
                self._mode = IsoTpMode(node, self.write)
            else:
                self._mode = Control(node, self.write, statistics)
            self.write(b"< ok >")
            return True
        if words == ["echo"]:
            self.write(b"< echo >")
            return True
        if name == "fdsend":
            raise CanError("this bus carries CAN 2.0, not CAN FD")
        return mode.command(name, words[1:])

    def _wants(self, frame: Frame) -> bool:
        return self._mode is not None and self._mode.wants(frame)

    def _hear(self, frame: Frame) -> bool | None:
        return self._mode.hear(frame) if self._mode is not None else None
