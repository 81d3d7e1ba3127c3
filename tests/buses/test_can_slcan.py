"""slcan, command by command as LAWICEL's manuals have it, on TCP and on a pseudo terminal."""

import asyncio
import os
import re
import select
import time
from collections.abc import Iterator
from typing import Self

import pytest

from can_fixture import TIMEOUT, BusProcess, Line, wait_for
from linkwork.buses.can import CanError, CanHub, data_frame, remote_frame
from linkwork.buses.can.slcan import SlcanPty
from linkwork.buses.can.slcan.adapter import Acceptance


@pytest.fixture(scope="module")
def bus() -> Iterator[BusProcess]:
    with BusProcess("--pty", "--bitrate", "500000") as process:
        yield process


class Terminal:
    """A plain client of a pseudo terminal."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_RDWR | os.O_NOCTTY)
        self.text = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.file)

    def send_text(self, text: str) -> None:
        os.write(self.file, text.encode())

    def until(self, end: str) -> str:
        while end.encode() not in self.text:
            assert select.select([self.file], [], [], TIMEOUT)[0], f"{end!r} did not come"
            self.text += os.read(self.file, 4096)
        head, _, self.text = self.text.partition(end.encode())
        return head.decode() + end


def ask(line: Line | Terminal, command: str) -> str:
    """Says a command and gives the one answer, which ends with CR or is BEL."""
    line.send_text(command + "\r")
    while not (found := re.match(rb"[^\r\a]*[\r\a]", line.text)):
        if isinstance(line, Line):
            line.text += line.socket.recv(4096)
        else:
            assert select.select([line.file], [], [], TIMEOUT)[0]
            line.text += os.read(line.file, 4096)
    line.text = line.text[found.end() :]
    return found.group().decode()


def ready(bus: BusProcess, *setup: str) -> Line:
    """A client with the channel open."""
    line = Line(bus.slcan)
    for command in (*setup, "S6", "O"):
        assert ask(line, command) == "\r"
    return line


@pytest.mark.parametrize(
    ("state", "command", "answer"),
    [
        ("closed", "S0", "\r"),
        ("closed", "S8", "\r"),
        ("closed", "SA", "\a"),
        ("closed", "S", "\a"),
        ("closed", "S66", "\a"),
        ("open", "S6", "\a"),
        ("closed", "s031C", "\r"),
        ("closed", "s03", "\a"),
        ("closed", "sGGGG", "\a"),
        ("open", "O", "\a"),
        ("open", "L", "\a"),
        ("closed", "C", "\a"),
        ("open", "C", "\r"),
        ("closed", "t1230", "\a"),
        ("open", "t1230", "z\r"),
        ("open", "t1232AABB", "z\r"),
        ("open", "t1232AAB", "\a"),
        ("open", "t12319", "\a"),
        ("open", "t1239112233445566778899", "\a"),
        ("open", "tFFF0", "\a"),
        ("open", "t12", "\a"),
        ("open", "tnan0", "\a"),
        ("open", "T1234567F0", "Z\r"),
        ("open", "T1234567F811223344556677FF", "Z\r"),
        ("open", "TFFFFFFFF0", "\a"),
        ("open", "r1234", "z\r"),
        ("open", "r123411", "\a"),
        ("open", "R1234567F8", "Z\r"),
        ("open", "F", "F00\r"),
        ("closed", "F", "\a"),
        ("open", "P", "\a"),
        ("open", "A", "\a"),
        ("closed", "P", "\a"),
        ("closed", "X0", "\r"),
        ("closed", "X2", "\a"),
        ("open", "X0", "\a"),
        ("closed", "Z1", "\r"),
        ("open", "Z1", "\a"),
        ("closed", "W0", "\r"),
        ("closed", "W1", "\r"),
        ("open", "W1", "\a"),
        ("closed", "M00000000", "\r"),
        ("closed", "M0000000", "\a"),
        ("open", "M00000000", "\a"),
        ("closed", "mFFFFFFFF", "\r"),
        ("open", "mFFFFFFFF", "\a"),
        ("closed", "U1", "\r"),
        ("closed", "U7", "\a"),
        ("open", "Q1", "\r"),
        ("closed", "Q1", "\a"),
        ("open", "Q3", "\a"),
        ("closed", "V", "V1013\r"),
        ("open", "v", "v1013\r"),
        ("open", "N", "NLW01\r"),
        ("open", "V1", "\a"),
        ("closed", "", "\r"),
        ("closed", "?", "\a"),
        ("open", "x" * 300, "\a"),
    ],
)
def test_each_command_is_answered(bus: BusProcess, state: str, command: str, answer: str) -> None:
    """CR for good, BEL for bad, and each in its state only."""
    with ready(bus) if state == "open" else Line(bus.slcan) as line:
        assert ask(line, command) == answer
        assert ask(line, "V") == "V1013\r"


def test_frames_of_all_kinds_reach_the_others(bus: BusProcess) -> None:
    """Data and remote, 11 and 29 bits."""
    with ready(bus) as one, ready(bus) as two:
        for command in ("t1232AABB", "T0000012310A", "r1234", "R1ABCDEF08", "t0000"):
            one.send_text(command + "\r")
            assert two.until("\r") == command + "\r"


def test_listen_only_hears_and_may_not_send(bus: BusProcess) -> None:
    """L opens without the right to speak."""
    with ready(bus) as one, Line(bus.slcan) as two:
        assert ask(two, "L") == "\r"
        assert ask(two, "t1230") == "\a"
        one.send_text("t4440\r")
        assert two.until("\r") == "t4440\r"


def test_time_stamps_count_milliseconds_of_a_minute(bus: BusProcess) -> None:
    """Four hexadecimal digits below 60 000 behind the data."""
    with ready(bus) as one, ready(bus, "Z1") as two:
        one.send_text("t1231AA\r")
        first = re.fullmatch(r"t1231AA([0-9A-F]{4})\r", two.until("\r"))
        assert first
        time.sleep(0.02)
        one.send_text("t1230\r")
        second = re.fullmatch(r"t1230([0-9A-F]{4})\r", two.until("\r"))
        assert second
        assert 0 <= int(first[1], 16) < 60_000
        assert 10 <= (int(second[1], 16) - int(first[1], 16)) % 60_000 < 30_000


def test_polling_gives_frames_when_asked(bus: BusProcess) -> None:
    """With auto poll off: P gives one, A all and then A; an empty queue is CR, or A."""
    with ready(bus) as one, ready(bus, "X0") as two:
        assert ask(two, "P") == "\r"
        assert ask(two, "A") == "A\r"
        assert ask(two, "t7770") == "\r"  # no z without auto poll
        one.until("t7770\r")
        for command in ("t1110", "t2220", "t3331AA"):
            assert ask(one, command) == "z\r"
        wait_for(lambda: bus.node(two.name)["received"] == 3, "the frames")
        assert ask(two, "P") == "t1110\r"
        assert ask(two, "A") == "t2220\r"
        assert two.until("\r") == "t3331AA\r"
        assert two.until("\r") == "A\r"
        assert ask(two, "P") == "\r"


def test_a_queue_that_is_not_polled_overruns_and_says_so(bus: BusProcess) -> None:
    """Status flags: receive queue full and overrun, the latter until it is read."""
    with ready(bus) as one, ready(bus, "X0") as two:
        one.send_text("t1110\r" * 300)
        wait_for(lambda: bus.node(two.name)["lost"] == 44, "the loss")
        assert ask(two, "F") == "F09\r"
        assert ask(two, "F") == "F01\r"


def test_status_flags_tell_of_errors_on_the_bus(bus: BusProcess) -> None:
    """Bus error after a destroyed frame; warning and error passive when they pile up."""
    with ready(bus) as one, ready(bus) as two:
        bus.ask('fault {"kind": "error", "times": 1}')
        ask(one, "t1110")
        two.until("t1110\r")
        assert ask(two, "F") == "F80\r"
        assert ask(two, "F") == "F00\r"
        name = next(n for n in bus.stats()["nodes"] if one.name in n)
        bus.ask(f'fault {{"kind": "error", "times": 17, "node": "{name}"}}')
        ask(one, "t2220")
        two.until("t2220\r")
        assert ask(one, "F") == "FA4\r"
        bus.ask("clear")


def test_acceptance_registers_filter(bus: BusProcess) -> None:
    """The manual's example: code and mask let one identifier through."""
    with ready(bus) as one, ready(bus, "W1", "M24600000", "m001FFFFF") as two:
        for command in ("t1220", "t123122", "t124100", "t1231AA"):
            assert ask(one, command) == "z\r"
        assert two.until("\r") == "t123122\r"
        assert two.until("\r") == "t1231AA\r"


def test_acceptance_as_the_data_sheet_has_it() -> None:
    """Single and dual filters, for both kinds of frames, with data bytes and remote bit."""
    filter = Acceptance()
    filter.dual = False
    filter.code, filter.mask = 0x123 << 21 | 0xAA << 8, ~(0xFFF << 20 | 0xFF << 8) & 0xFFFFFFFF
    assert filter.passes(data_frame(0x123, b"\xaa\x55"))
    assert filter.passes(data_frame(0x123))  # without data there is nothing to compare
    assert not filter.passes(data_frame(0x123, b"\xab"))
    assert not filter.passes(data_frame(0x122, b"\xaa"))
    assert not filter.passes(remote_frame(0x123))
    filter.code, filter.mask = 0x12345678 << 3, 0x7
    assert filter.passes(data_frame(0x12345678))
    assert not filter.passes(data_frame(0x12345679))
    filter.dual = True
    filter.code = (0x100 << 5 | 0xA) << 16 | 0x200 << 5 | 0xB
    filter.mask = 0x00100010  # the remote bits do not matter
    assert filter.passes(data_frame(0x100, b"\xab"))
    assert filter.passes(remote_frame(0x100))
    assert not filter.passes(data_frame(0x100, b"\xac"))
    assert filter.passes(data_frame(0x200, b"\xff"))
    assert not filter.passes(data_frame(0x300))
    filter.code, filter.mask = 0xABCD0000 | 0x1234, 0
    assert filter.passes(data_frame(0xABCD << 13, extended=True))
    assert filter.passes(data_frame((0x1234 << 13) + 99, extended=True))
    assert not filter.passes(data_frame(0xABCE << 13, extended=True))


def test_another_bit_rate_is_told_and_does_no_harm(bus: BusProcess) -> None:
    """The scene sets the bus's rate; a client with another one is let in, and people are told."""
    with Line(bus.slcan) as line:
        assert ask(line, "s0014") == "\r"  # 1 Mbit/s at 16 MHz
        assert ask(line, "O") == "\r"
    assert any(line.name in event and "1000000 bit/s" in event for event in bus.stats()["events"])


@pytest.mark.parametrize("size", [1, 3, 10])
def test_commands_come_in_pieces_and_in_heaps(bus: BusProcess, size: int) -> None:
    """Where packets are cut does not matter; line feeds are ignored."""
    text = "t1001AA\r\nt1011BB\r\r\nt1020\r"
    with ready(bus) as one, ready(bus) as two:
        for n in range(0, len(text), size):
            one.send_text(text[n : n + size])
        assert [two.until("\r") for _ in range(3)] == ["t1001AA\r", "t1011BB\r", "t1020\r"]


def test_a_terminal_is_an_adapter_too(bus: BusProcess) -> None:
    """Clients come and go on the device; no echo, no line editing."""
    with ready(bus) as other:
        for _ in range(2):
            with Terminal(bus.pty) as line:
                line.send_text("C\r")
                time.sleep(0)
                line.until("\r" if _ else "\a")
                assert ask(line, "V") == "V1013\r"
                assert ask(line, "O") == "\r"
                assert ask(line, "t1231AA") == "z\r"
                assert other.until("\r") == "t1231AA\r"
                other.send_text("t3210\r")
                assert line.until("\r") == "t3210\r"
                other.until("z\r")
        with Terminal(bus.pty) as line:
            assert ask(line, "C") == "\r"


def test_windows_is_told_of_the_other_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no pseudo terminals; the message says what to use."""

    async def run() -> None:
        with pytest.raises(CanError, match=r"Windows.*slcan over TCP"):
            SlcanPty(CanHub())

    monkeypatch.setattr("sys.platform", "win32")
    asyncio.run(run())


def test_half_a_command_on_a_terminal_is_forgotten(bus: BusProcess) -> None:
    """What a client that died left behind does not spoil the next one's first command."""
    with Terminal(bus.pty) as line:
        line.send_text("t123811")
        before = bus.node(bus.pty)["bad"]
        wait_for(lambda: bus.node(bus.pty)["bad"] == before + 1, "the rest to be forgotten")
        assert ask(line, "V") == "V1013\r"


def test_a_terminal_that_nobody_reads_loses_whole_frames_and_is_closed() -> None:
    """The bus goes on; after its patience the channel is closed and the line is clean."""
    with (
        BusProcess("--pty", "--timeout", "0.3") as bus,
        Line(bus.slcan) as sender,
        Terminal(bus.pty) as line,
    ):
        assert ask(line, "O") == "\r"
        assert ask(sender, "O") == "\r"
        sender.send_text("t12381122334455667788\r" * 6000)
        wait_for(lambda: any("was closed" in e for e in bus.stats()["events"]), "the end")
        assert bus.node(bus.pty)["lost"] > 0
        assert ask(line, "V") == "V1013\r"  # nothing stale before it
        assert ask(line, "O") == "\r"


def test_a_terminal_that_is_read_late_gives_whole_frames(bus: BusProcess) -> None:
    """Many are missing, none is cut."""
    with Terminal(bus.pty) as line, ready(bus) as sender:
        line.send_text("C\rO\r")
        line.until("\r")
        sender.send_text("t12381122334455667788\r" * 6000)
        wait_for(lambda: bus.node(bus.pty)["lost"] > 100, "losses")
        line.until("t")
        assert line.until("\r") == "12381122334455667788\r"
        for _ in range(2000):
            assert line.until("\r") == "t12381122334455667788\r"
        line.send_text("C\r")
