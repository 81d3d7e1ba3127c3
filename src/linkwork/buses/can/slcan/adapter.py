"""SlcanAdapter: a LAWICEL serial CAN adapter."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable

from linkwork.buses.can.frame import MAX_EXTENDED_ID, MAX_STANDARD_ID, CanError, CanFrame
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.node import CanNode, NodeState


class Acceptance:
    """Acceptance code and mask; a mask bit of 1 means that the bit is ignored.

    In single filter mode the four registers form one filter; in dual mode (the adapter's default)
    they form two, and a frame passes if it matches one of them. (SJA1000 data sheet, 6.4.15.)
    """

    def __init__(self) -> None:
        self.code = 0x00000000
        self.mask = 0xFFFFFFFF
        self.dual = True

    @property
    def open(self) -> bool:
        """Whether all frames pass."""
        return self.mask == 0xFFFFFFFF

    def passes(self, frame: CanFrame) -> bool:
        """Whether a frame passes."""
        if self.open:
            return True
        if not self.dual:
            return _fits(_single(frame), self.code, self.mask, _single_cared(frame))
        first, second = _dual(frame)
        # Filter 1 has its third byte in the low halves of registers 1 and 3.
        high = _fits(first, _first_part(self.code), _first_part(self.mask), _dual_cared(frame))
        cared = 0xFFFF if frame.extended else 0xFFF0
        low = _fits(second, self.code & 0xFFFF, self.mask & 0xFFFF, cared)
        return high or low


def _fits(bits: int, code: int, mask: int, cared: int) -> bool:
    return not (bits ^ code) & ~mask & cared


def _single(frame: CanFrame) -> int:
    if frame.extended:
        return frame.id << 3 | frame.remote << 2
    data = frame.data.ljust(2, b"\0")
    return frame.id << 21 | frame.remote << 20 | data[0] << 8 | data[1]


def _single_cared(frame: CanFrame) -> int:
    if frame.extended:
        return 0xFFFFFFFC
    # A data byte that the frame lacks is not compared.
    return (0xFFF00000, 0xFFF0FF00, 0xFFF0FFFF)[min(len(frame.data), 2)]


def _first_part(register: int) -> int:
    """Filter 1 in dual mode: registers 0 and 1, and the low halves of 1 and 3 for a data byte."""
    return (register >> 16) << 4 | (register & 0x0F)


def _dual(frame: CanFrame) -> tuple[int, int]:
    if frame.extended:
        top = frame.id >> 13
        return top << 4, top
    data = frame.data[:1] or b"\0"
    head = frame.id << 5 | frame.remote << 4
    return (head | data[0] >> 4) << 4 | (data[0] & 0x0F), head


def _dual_cared(frame: CanFrame) -> int:
    if frame.extended:
        return 0xFFFF0
    return 0xFFFFF if frame.data else 0xFFF00


MINUTE = 60_000  # the time stamp counts milliseconds and restarts each minute

_LONG_MARK = 0b100  # Linux's flag of 29 bits, which SavvyCAN leaves in the identifier
_FRAME = re.compile(
    rb"(?:t([0-9A-Fa-f]{3})|T([0-9A-Fa-f]{8})|r([0-9A-Fa-f]{3})|R([0-9A-Fa-f]{8}))"
    rb"([0-8])((?:[0-9A-Fa-f]{2})*)\Z"
)


def parse_frame(command: bytes) -> CanFrame:
    """Reads a transmit command."""
    found = _FRAME.match(command)
    if not found:
        raise CanError("not a frame")
    standard, extended, remote, remote_extended, length, rest = found.groups()
    long = extended is not None or remote_extended is not None
    asks = remote is not None or remote_extended is not None
    id = int(standard or extended or remote or remote_extended or b"", 16)
    if long and id >> 29 == _LONG_MARK:
        id &= MAX_EXTENDED_ID
    dlc = int(length)
    if id > (MAX_EXTENDED_ID if long else MAX_STANDARD_ID):
        raise CanError("the identifier is too large")
    if len(rest) != (0 if asks else 2 * dlc):
        raise CanError("the length does not fit the data")
    return CanFrame(id, b"" if asks else bytes.fromhex(rest.decode()), long, asks, False, dlc)


def frame_text(frame: CanFrame, *, stamped: bool = False) -> bytes:
    """Writes a frame; error frames have no format and give an empty text."""
    if frame.error:
        return b""
    if frame.extended:
        head = f"{'R' if frame.remote else 'T'}{frame.id:08X}{frame.dlc}"
    else:
        head = f"{'r' if frame.remote else 't'}{frame.id:03X}{frame.dlc}"
    stamp = f"{int(frame.stamp * 1000.0) % MINUTE:04X}" if stamped else ""
    return f"{head}{frame.data.hex().upper()}{stamp}\r".encode()


OK, ERROR_REPLY = b"\r", b"\a"
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
MAX_POLLED = 256  # maximum number of frames that wait for P and A


class SlcanAdapter:
    """The adapter behind one serial line.

    Args:
        hub: The bus.
        name: Name of its node.
        write: Sends text back; returns False if it is lost.

    Attributes:
        node: Its node on the bus.
    """

    def __init__(self, hub: CanHub, name: str, write: Callable[[bytes], bool]) -> None:
        self.node: CanNode = hub.attach(name, self._on_frame)
        self._write = write
        self._hub = hub
        self._open = False
        self._stamped = False
        self._auto = True
        self._rate = hub.bitrate
        self._acceptance = Acceptance()
        self._pending: deque[CanFrame] = deque()
        self._overrun = self._transmit_full = False
        self._seen_errors = 0
        self.node.present = lambda: self._open
        self.node.accept = lambda frame: self._open and self._acceptance.passes(frame)

    @property
    def open(self) -> bool:
        """Whether the channel is open."""
        return self._open

    def command(self, line: bytes) -> None:
        """Executes one command, without its CR, and answers."""
        if not line:
            self._write(OK)  # a client that clears the line with empty commands
            return
        name, rest = line[:1], line[1:]
        when, act = _COMMANDS.get(name, ("", None))
        if act is not None and when not in ("always", "open" if self._open else "closed"):
            self._write(ERROR_REPLY)  # valid, but not in this state
            return
        answer = act(self, line if name in b"tTrR" else rest) if act is not None else None
        if answer is None:
            shown = line[:32].decode("ascii", "replace")
            self.node.bad(f"sent a command that is refused ({shown}).")
            answer = ERROR_REPLY
        self._write(answer)

    def reply_error(self) -> None:
        """Answers an invalid command."""
        self.node.bad("sent an unknown slcan command.")
        self._write(ERROR_REPLY)

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
            return ERROR_REPLY
        if not self._auto:
            return OK
        return b"Z\r" if frame.extended else b"z\r"

    def _on_frame(self, frame: CanFrame) -> bool | None:
        if frame.error:
            return None
        if self._auto:
            return self._write(frame_text(frame, stamped=self._stamped))
        if len(self._pending) >= MAX_POLLED:
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
            self._hub.emit(
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
            (len(self._pending) >= MAX_POLLED)
            | (self._transmit_full or node.full) << 1
            | node.errors.warning << 2
            | self._overrun << 3
            | (node.state is NodeState.PASSIVE) << 5
            | (node.count.errors != self._seen_errors or node.state is NodeState.OFF) << 7
        )
        self._overrun = self._transmit_full = False
        self._seen_errors = node.count.errors
        return b"F%02X\r" % flags

    def _poll_one(self, rest: bytes) -> bytes | None:
        if rest:
            return None
        if self._auto:
            return ERROR_REPLY  # frames are sent without polling
        if not self._pending:
            return OK
        return frame_text(self._pending.popleft(), stamped=self._stamped)

    def _poll_all(self, rest: bytes) -> bytes | None:
        if rest:
            return None
        if self._auto:
            return ERROR_REPLY  # frames are sent without polling
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
        # Nothing is stored after the session, so there is no auto-start.
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
