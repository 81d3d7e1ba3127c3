"""A LAWICEL adapter: the channel's state and the answer to each command.

After the manuals of CAN232 (V3) and CANUSB (V1.0D): commands end with CR, an answer is CR for good
or BEL for bad, and some commands are open only while the channel is open, or only while closed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from linkwork.buses.can.frame import CanError, Frame
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.node import Node
from linkwork.buses.can.slcan.acceptance import Acceptance
from linkwork.buses.can.slcan.text import frame_text, parse_frame
from linkwork.buses.can.states import State

OK, BELL = b"\r", b"\a"
RATES = dict(
    zip(
        b"0123456789",
        (
            *(10_000, 20_000, 50_000, 100_000, 125_000),
            *(250_000, 500_000, 800_000, 1_000_000, 83_300),
        ),
        strict=True,
    )
)
VERSION, SOFTWARE, SERIAL = b"V1013", b"v1013", b"NLW01"
POLL_MOST = 256  # frames that wait for P and A


class SlcanAdapter:
    """The adapter behind one serial line.

    Args:
        hub: The bus.
        name: Name of its node.
        write: Sends text back; False where it is lost.

    Attributes:
        node: Its place on the bus.
    """

    def __init__(self, hub: Hub, name: str, write: Callable[[bytes], bool]) -> None:
        self.node: Node = hub.attach(name, self._hear)
        self._write = write
        self._hub = hub
        self._open = False
        self._stamped = False
        self._auto = True
        self._rate = hub.bitrate
        self._acceptance = Acceptance()
        self._pending: deque[Frame] = deque()
        self._overrun = self._transmit_full = False
        self._seen_errors = 0
        self.node.present = lambda: self._open
        self.node.accept = lambda frame: self._open and self._acceptance.passes(frame)

    @property
    def open(self) -> bool:
        """The channel is open: frames come and go."""
        return self._open

    def command(self, line: bytes) -> None:
        """Carries out one command, without its CR, and answers."""
        if not line:
            self._write(OK)  # a client that clears the line with empty commands
            return
        name, rest = line[:1], line[1:]
        when, act = _COMMANDS.get(name, ("", None))
        if act is not None and when not in ("always", "open" if self._open else "closed"):
            self._write(BELL)  # lawful, but not now
            return
        answer = act(self, line if name in b"tTrR" else rest) if act is not None else None
        if answer is None:
            shown = line[:32].decode("ascii", "replace")
            self.node.bad(f"sent a command that is refused ({shown}).")
            answer = BELL
        self._write(answer)

    def bell(self) -> None:
        """Answers something that cannot be a command."""
        self.node.bad("sent what is no command of slcan.")
        self._write(BELL)

    def close(self) -> None:
        """Closes the channel, as if the adapter had been unplugged."""
        self._open = False
        self._pending.clear()

    # Frames

    def _transmit(self, line: bytes) -> bytes | None:
        try:
            frame = parse_frame(line)
        except CanError:
            return None
        if not self.node.send(frame):
            self._transmit_full = self.node.full
            return BELL
        if not self._auto:
            return OK
        return b"Z\r" if frame.extended else b"z\r"

    def _hear(self, frame: Frame) -> bool | None:
        if frame.error:
            return None
        if self._auto:
            return self._write(frame_text(frame, stamped=self._stamped))
        if len(self._pending) >= POLL_MOST:
            self._overrun = True
            return False
        self._pending.append(frame)
        return None

    # Commands; None means refused

    def _setup(self, rest: bytes) -> bytes | None:
        if len(rest) != 1 or rest[0] not in RATES:
            return None
        return self._set_rate(RATES[rest[0]])

    def _setup_registers(self, rest: bytes) -> bytes | None:
        registers = _hex(rest, 4)
        if registers is None:
            return None
        first, second = registers >> 8, registers & 0xFF
        # SJA1000 at 16 MHz: two clocks to a time quantum of the prescaler.
        quanta = 1 + ((second & 0x0F) + 1) + ((second >> 4 & 0x07) + 1)
        return self._set_rate(round(8_000_000 / (((first & 0x3F) + 1) * quanta)))

    def _set_rate(self, rate: int) -> bytes:
        if rate != self._hub.bitrate and rate != self._rate:
            self._hub.tell(
                f"{self.node.name} asked for {rate} bit/s; bus {self._hub.name} stays at "
                f"{self._hub.bitrate} bit/s, which its scene sets."
            )
        self._rate = rate
        return OK

    def _open_normal(self, rest: bytes) -> bytes | None:
        return self._open_as(rest, listen_only=False)

    def _open_listening(self, rest: bytes) -> bytes | None:
        return self._open_as(rest, listen_only=True)

    def _open_as(self, rest: bytes, *, listen_only: bool) -> bytes | None:
        if rest:
            return None
        self._open = True
        self._pending.clear()
        self._overrun = self._transmit_full = False
        self.node.listen_only = listen_only
        if self.node.errors.off:
            self.node.restart()  # opening resets the controller
        return OK

    def _close(self, rest: bytes) -> bytes | None:
        if rest:
            return None
        self.close()
        return OK

    def _flags(self, rest: bytes) -> bytes | None:
        if rest:
            return None
        node = self.node
        flags = (
            (len(self._pending) >= POLL_MOST)
            | (self._transmit_full or node.full) << 1
            | node.errors.warning << 2
            | self._overrun << 3
            | (node.state is State.PASSIVE) << 5
            | (node.count.errors != self._seen_errors or node.state is State.OFF) << 7
        )
        self._overrun = self._transmit_full = False
        self._seen_errors = node.count.errors
        return b"F%02X\r" % flags

    def _poll_one(self, rest: bytes) -> bytes | None:
        if rest:
            return None
        if self._auto:
            return BELL  # frames come by themselves
        if not self._pending:
            return OK
        return frame_text(self._pending.popleft(), stamped=self._stamped)

    def _poll_all(self, rest: bytes) -> bytes | None:
        if rest:
            return None
        if self._auto:
            return BELL  # frames come by themselves
        frames = [frame_text(frame, stamped=self._stamped) for frame in self._pending]
        self._pending.clear()
        return b"".join(frames) + b"A\r"

    def _auto_poll(self, rest: bytes) -> bytes | None:
        if rest not in (b"0", b"1"):
            return None
        self._auto = rest == b"1"
        return OK

    def _time_stamp(self, rest: bytes) -> bytes | None:
        if rest not in (b"0", b"1"):
            return None
        self._stamped = rest == b"1"
        return OK

    def _filter_mode(self, rest: bytes) -> bytes | None:
        if rest not in (b"0", b"1"):
            return None
        self._acceptance.dual = rest == b"0"
        return OK

    def _code(self, rest: bytes) -> bytes | None:
        value = _hex(rest, 8)
        if value is None:
            return None
        self._acceptance.code = value
        return OK

    def _mask(self, rest: bytes) -> bytes | None:
        value = _hex(rest, 8)
        if value is None:
            return None
        self._acceptance.mask = value
        return OK

    def _serial_rate(self, rest: bytes) -> bytes | None:
        # There is no wire whose rate would change.
        return OK if len(rest) == 1 and rest in b"0123456" else None

    def _auto_start(self, rest: bytes) -> bytes | None:
        # Nothing is kept after the session, so there is nothing to start from by itself.
        return OK if rest in (b"0", b"1", b"2") else None

    def _version(self, rest: bytes) -> bytes | None:
        return VERSION + OK if not rest else None

    def _software(self, rest: bytes) -> bytes | None:
        return SOFTWARE + OK if not rest else None

    def _serial(self, rest: bytes) -> bytes | None:
        return SERIAL + OK if not rest else None


def _hex(text: bytes, digits: int) -> int | None:
    if len(text) != digits or any(byte not in b"0123456789abcdefABCDEF" for byte in text):
        return None
    return int(text, 16)


# Each command, and whether the channel must be open or closed for it.
_COMMANDS: dict[bytes, tuple[str, Callable[[SlcanAdapter, bytes], bytes | None]]] = {
    b"S": ("closed", SlcanAdapter._setup),
    b"s": ("closed", SlcanAdapter._setup_registers),
    b"O": ("closed", SlcanAdapter._open_normal),
    b"L": ("closed", SlcanAdapter._open_listening),
    b"C": ("open", SlcanAdapter._close),
    b"t": ("open", SlcanAdapter._transmit),
    b"T": ("open", SlcanAdapter._transmit),
    b"r": ("open", SlcanAdapter._transmit),
    b"R": ("open", SlcanAdapter._transmit),
    b"F": ("open", SlcanAdapter._flags),
    b"P": ("open", SlcanAdapter._poll_one),
    b"A": ("open", SlcanAdapter._poll_all),
    b"X": ("closed", SlcanAdapter._auto_poll),
    b"Z": ("closed", SlcanAdapter._time_stamp),
    b"W": ("closed", SlcanAdapter._filter_mode),
    b"M": ("closed", SlcanAdapter._code),
    b"m": ("closed", SlcanAdapter._mask),
    b"U": ("closed", SlcanAdapter._serial_rate),
    b"Q": ("open", SlcanAdapter._auto_start),
    b"V": ("always", SlcanAdapter._version),
    b"v": ("always", SlcanAdapter._software),
    b"N": ("always", SlcanAdapter._serial),
}
