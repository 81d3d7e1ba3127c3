"""What clients of other projects write, byte for byte, and what they wait for.

Each was run against the bus, or read in its published source where it needs a kernel with CAN.
"""

from collections.abc import Iterator

import can
import pytest

from can_fixture import BusProcess, Line, opened

Conversation = list[tuple[str, str]]
#: Bytes of a client that has opened the bus, and the frame that others hear: 11 or 29 bits, data.
Sends = list[tuple[str, str, str]]


@pytest.fixture(scope="module")
def bus() -> Iterator[BusProcess]:
    with BusProcess("--pty", "--bitrate", "500000") as process:
        yield process


def talk(line: Line, conversation: Conversation) -> None:
    """Says each text and hears exactly its answer."""
    for logged, answer in conversation:
        line.send_text(logged)
        if answer:
            assert line.until(answer) == answer, logged


def received(listener: Line) -> tuple[str, str]:
    """Identifier and data of the next frame."""
    listener.until("< frame ")
    id, _, *data = listener.until(" >").split()[:-1]
    return id, "".join(data)


SOCKETCAND: dict[str, tuple[Conversation, Sends]] = {
    "socketcandcl": (  # both commands in one go, lower case, two spaces at the end
        [("< open can0 >< rawmode >", "< ok >< ok >")],
        [
            ("< send 123 2 1a ff  >", "123", "1AFF"),
            ("< send 00000123 1 07  >", "00000123", "07"),
            ("< send 7FF 0  >", "7FF", ""),
        ],
    ),
    "SavvyCAN": (  # numbers without leading zeros; a negative one has its sign spread over 64 bits
        [("< open can0 >", "< ok >"), ("< rawmode >", "< ok >")],
        [
            ("< send 5 3 1 7f ffffffffffffff80 >", "005", "017F80"),
            ("< send ffffffff9abcdef0 1 ffffffffffffffff >", "1ABCDEF0", "FF"),
            ("< send ffffffff80000123 0 >", "00000123", ""),
        ],
    ),
    "Kayak": (  # its BCM connection, which sends without any mode
        [("< open can0 >", "< ok >")],
        [
            ("< send 123 2 1a ff >", "123", "1AFF"),
            ("< send 1abcdef0 0  >", "1ABCDEF0", ""),
            ("< add 0 0 124 2 00 01 >< delete 124 >", "124", "0001"),
        ],
    ),
    "python-can": (  # bytes without leading zeros
        [("< open can0 >", "< ok >"), ("< rawmode >", "< ok >")],
        [("< send 123 2 1 ff >", "123", "01FF"), ("< send 123 0  >", "123", "")],
    ),
    "plain programs": (  # line ends behind each command, no spaces at the brackets
        [("<open can0>\n<rawmode>\r\n", "< ok >< ok >")],
        [("<send 123 1 0xFE>\n", "123", "FE"), ("< send 80000123 1 01 >", "00000123", "01")],
    ),
}


@pytest.mark.parametrize("client", SOCKETCAND)
def test_a_socketcand_client_is_understood(bus: BusProcess, client: str) -> None:
    """Greeted, let in, and its frames reach others as they were meant."""
    conversation, sends = SOCKETCAND[client]
    with opened(bus) as listener, Line(bus.socketcand) as line:
        assert line.until("< hi >") == "< hi >"
        talk(line, conversation)
        for logged, id, data in sends:
            line.send_text(logged)
            assert received(listener) == (id, data), logged
        talk(line, [("< echo >", "< echo >")])  # and nothing was refused
        assert bus.node(line.name)["bad"] == 0


def test_kayak_subscribes_and_reads_its_frames(bus: BusProcess) -> None:
    """In BCM mode, identifiers in lower case."""
    with opened(bus) as sender, Line(bus.socketcand) as kayak:
        kayak.until("< hi >")
        talk(kayak, [("< open can0 >", "< ok >")])
        talk(kayak, [("< subscribe 0 0 1abcdef0 >< subscribe 0 0 12a >< echo >", "< echo >")])
        sender.send_text("< send 12A 2 1 2 >< send 12B 0 >< send 1ABCDEF0 0 >")
        assert received(kayak) == ("12A", "0102")
        assert received(kayak) == ("1ABCDEF0", "")
        talk(kayak, [("< unsubscribe 12a >< unsubscribe 1abcdef0 >< echo >", "< echo >")])


REMOTE = {
    "< send 123 4  >": "r1234",  # python-can: a length and no data
    "< send 1ABCDEF0 8 >": "R1ABCDEF08",
    "< send C0000123 0 >": "R000001230",  # with Linux's marks, as the reference program reads it
    "< send 40000123 2 0 0 >": "R000001232",
}


@pytest.mark.parametrize("command", REMOTE)
def test_remote_frames_go_out_by_socketcand(bus: BusProcess, command: str) -> None:
    """The protocol's text has no form for them; these are what its clients can write."""
    with opened(bus) as sender, Line(bus.slcan) as listener:
        talk(listener, [("O\r", "\r")])
        sender.send_text(command)
        assert listener.until("\r") == REMOTE[command] + "\r"
        talk(sender, [("< echo >", "< echo >")])


def test_python_can_sends_a_remote_frame_and_goes_on(bus: BusProcess) -> None:
    """Its reader would end at an answer that it does not know."""
    host, port = bus.socketcand
    with (
        can.Bus(interface="socketcand", host=host, port=port, channel="can0") as client,
        Line(bus.slcan) as other,
    ):
        talk(other, [("O\r", "\r")])
        client.send(can.Message(arbitration_id=0x123, is_remote_frame=True, dlc=4,
                                is_extended_id=False))  # fmt: skip
        assert other.until("\r") == "r1234\r"
        other.send_text("t1231AA\r")
        answer = client.recv(30.0)
        assert answer
        assert bytes(answer.data) == b"\xaa"


@pytest.mark.parametrize("command", ["< fdsend 123 1 2 11 22 >", "< fdsend 1ABCDEF0 0 0 >"])
@pytest.mark.parametrize("mode", ["rawmode", "bcmmode"])
def test_can_fd_is_refused_in_words(bus: BusProcess, mode: str, command: str) -> None:
    """The bus carries CAN 2.0; newer programs have a command for CAN FD."""
    with opened(bus, mode) as line:
        line.send_text(command)
        assert line.until(">") == "< error this bus carries CAN 2.0, not CAN FD >"


@pytest.mark.parametrize(
    "command",
    ["< subscribe 0 0 C0000123 >", "< filter 0 0 123 2 >", "< send FFFFFFFFFFFFFFFF 0 >"],
)
def test_what_only_looks_like_it_is_refused(bus: BusProcess, command: str) -> None:
    """A remote frame cannot be subscribed, a mask has bytes, an error frame is not sent."""
    with opened(bus, "bcmmode") as line:
        line.send_text(command)
        assert line.until(">").startswith(f"< error {command.split()[1]}: ")


SLCAN: dict[str, tuple[Conversation, Sends]] = {
    "slcand": (  # of can-utils, with -o -c -s6: it ends at the line discipline without a kernel's
        [("C\rS6\r", "\a\r"), ("O\r", "\r")],
        [("t1232AABB\r", "123", "AABB")],
    ),
    "the driver of Linux": (  # close, rate, flags, open; listens to no answer
        [("C\rS6\r", "\a\r"), ("F\r", "\a"), ("O\r", "\r")],
        [("T1ABCDEF02AABB\r", "1ABCDEF0", "AABB"), ("t7FF0\r", "7FF", "")],
    ),
    "SavvyCAN": (  # its 29-bit identifiers carry Linux's mark
        [("C\r", "\a"), ("S6\r", "\r"), ("O\r", "\r")],
        [("t1232AABB\r", "123", "AABB"), ("T9ABCDEF01FF\r", "1ABCDEF0", "FF")],
    ),
    "SavvyCAN with CAN FD": (  # the data rate is refused, the rest goes on
        [("C\r", "\a"), ("S6\r", "\r"), ("Y2\r", "\a"), ("O\r", "\r"), ("b1232AABB\r", "\a")],
        [("t1232AABB\r", "123", "AABB")],
    ),
    "mac-can": (  # SLCAN of UV Software: it waits for the exact length of each answer
        [
            *[("C\r", "\a"), ("V\r", "V1013\r"), ("N\r", "NLW01\r"), ("s001C\r", "\r")],
            *[("S6\r", "\r"), ("M00000000\r", "\r"), ("mFFFFFFFF\r", "\r"), ("O\r", "\r")],
            ("F\r", "F00\r"),
        ],
        [("t1203616263\r", "120", "616263")],
    ),
    "dronecan": (  # clears with ten closings, and ends commands of its own with CR LF
        [("C\r" * 10, "\a" * 10), ("S8\r", "\r"), ("O\r", "\r"), ("stat\r\n", "\a")],
        [("T1401550A80100000008000FC0\r", "1401550A", "0100000008000FC0")],
    ),
    "CANard": (  # of the CANtact
        [("S6\r", "\r"), ("O\r", "\r")],
        [("t1232AABB\r", "123", "AABB")],
    ),
    "a person": (  # LF behind CR; empty lines to clear
        [("\r\r\r", "\r\r\r"), ("S6\r\n", "\r"), ("O\r\n", "\r")],
        [("t1232aabb\r\n", "123", "AABB")],
    ),
}


@pytest.mark.parametrize("client", SLCAN)
def test_an_slcan_client_is_understood(bus: BusProcess, client: str) -> None:
    """Each command is answered as LAWICEL's manual says, and frames reach others."""
    conversation, sends = SLCAN[client]
    with opened(bus) as listener, Line(bus.slcan) as line:
        talk(line, conversation)
        for logged, id, data in sends:
            talk(line, [(logged, "Z\r" if logged.startswith("T") else "z\r")])
            assert received(listener) == (id, data), logged
        talk(line, [("C\r", "\r"), ("V\r", "V1013\r")])
