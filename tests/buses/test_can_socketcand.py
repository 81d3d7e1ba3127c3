"""socketcand, word by word as its protocol is published."""

import itertools
import re
import socket
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from can_fixture import BusProcess, Line, opened, wait_for
from linkwork.buses.can.socketcand import beacon_text


@pytest.fixture(scope="module")
def bus() -> Iterator[BusProcess]:
    with BusProcess() as process:
        yield process


def frames(text: str) -> list[tuple[str, str]]:
    """Identifiers and data of the frames in a text, each in the exact form of the protocol."""
    found = re.findall(r"< frame ([0-9A-F]{3}|[0-9A-F]{8}) \d+\.\d{6} ([0-9A-F]*) >", text)
    assert len(found) == text.count("frame"), text
    return found


def test_a_client_is_greeted_and_opens_a_bus(bus: BusProcess) -> None:
    """< hi >, < open >, < ok >; then BCM is the mode, and echo works everywhere."""
    with Line(bus.socketcand) as line:
        assert line.until(">") == "< hi >"
        line.send_text("< echo >")
        assert line.until(">") == "< echo >"
        line.send_text("< open can0 >")
        assert line.until(">") == "< ok >"
        for mode in ("rawmode", "bcmmode", "isotpmode", "controlmode", "bcmmode"):
            line.send_text(f"< {mode} >< echo >")
            assert line.until("< echo >") == "< ok >< echo >"


@pytest.mark.parametrize("command", ["< open nobus >", "< nobus B 1 2 3 4 5 6 7 8 >"])
def test_a_bus_that_is_not_there_ends_the_connection(bus: BusProcess, command: str) -> None:
    """An error, then the end."""
    with Line(bus.socketcand) as line:
        line.until("< hi >")
        line.send_text(command)
        assert line.until(">") == "< error could not open bus >"
        assert line.ended()


def test_bit_timing_and_control_mode_are_taken_before_opening(bus: BusProcess) -> None:
    """Listen only keeps a client from sending; loopback gives it its own frames."""
    with Line(bus.socketcand) as line, opened(bus) as other:
        line.until("< hi >")
        line.send_text("< can0 B 500000 0.875 125 6 7 2 1 4 >< can0 C 1 0 0 >")
        assert line.until("< ok >< ok >") == "< ok >< ok >"
        line.send_text("< open can0 >< rawmode >< send 111 0 >< echo >")
        line.until("< echo >")
        assert bus.node(line.name)["refused"] == 1
        other.send_text("< echo >")
        assert other.until("< echo >") == "< echo >"
    assert any("500000 bit/s" in event for event in bus.stats()["events"])
    with Line(bus.socketcand) as line:
        line.until("< hi >")
        line.send_text("< can0 C 0 1 0 >< open can0 >< rawmode >< send 111 1 a >")
        assert frames(line.until("0A >").rpartition("< ok >")[2]) == [("111", "0A")]


@pytest.mark.parametrize(
    "command",
    [
        "< can0 B 500000 >",
        "< can0 B nan 0.8 1 1 1 1 1 1 >",
        "< can0 C 2 0 0 >",
        "< can0 C >",
        "< can0 D 1 >",
        "< send 123 0 >",
        "< rawmode >",
        "<>",
        "< >",
    ],
)
def test_what_is_wrong_before_a_bus_is_open_is_told(bus: BusProcess, command: str) -> None:
    """The connection stays, and the bus can be opened."""
    with Line(bus.socketcand) as line:
        line.until("< hi >")
        line.send_text(command)
        assert line.until(">").startswith("< error ")
        line.send_text("< open can0 >")
        assert line.until(">") == "< ok >"


def test_raw_mode_gives_every_frame_in_its_form(bus: BusProcess) -> None:
    """Standard and extended, with and without data, in order."""
    with opened(bus) as one, opened(bus) as two:
        one.send_text("< send 123 0 >< send 1AAAAAAA 2 1 f1 >")
        one.send_text("< send 7FF 8 0 1 22 33 44 55 66 FF >< send 00000123 1 a >")
        got = frames(two.until("0A >"))
        assert got == [
            ("123", ""),
            ("1AAAAAAA", "01F1"),
            ("7FF", "00012233445566FF"),
            ("00000123", "0A"),
        ]
        one.send_text("< echo >")
        assert one.until(">") == "< echo >"  # and nothing of its own before


def test_answers_come_alone_and_frames_a_moment_later(bus: BusProcess) -> None:
    """After rawmode the client reads < ok > by itself, however busy the bus."""
    with opened(bus) as busy:
        for _ in range(5):
            with Line(bus.socketcand) as line:
                line.until("< hi >")
                line.send_text("< open can0 >")
                line.until("< ok >")
                line.send_text("< rawmode >")
                busy.send_text("< send 222 0 >" * 20)
                assert line.socket.recv(256) == b"< ok >"
                busy.send_text("< send 223 0 >")
                line.until("< frame 223")


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_elements_come_in_pieces_and_in_heaps(bus: BusProcess, size: int) -> None:
    """Where packets are cut does not matter, nor do spaces and line ends."""
    text = "  <send 100 1 01>\r\n< send  101 2   1 2 >< echo >< send 00000102 0 >< send 103 0>"
    with opened(bus) as one, opened(bus) as two:
        for n in range(0, len(text), size):
            one.send_text(text[n : n + size])
        got = frames(two.until("< frame 103") + two.until(">"))
        assert got == [("100", "01"), ("101", "0102"), ("00000102", ""), ("103", "")]
        one.until("< echo >")


@pytest.mark.parametrize(
    "command",
    [
        "< send >",
        "< send 123 >",
        "< send 123 9 1 2 3 4 5 6 7 8 9 >",
        "< send 123 2 11 >",
        "< send 123 1 11 22 >",
        "< send 123 1 111 >",
        "< send 123 1 nan >",
        "< send 123 nan >",
        "< send 123 -1 >",
        "< send 123 1_0 >",
        "< send 800 0 >",
        "< send FFFFFFFF 0 >",
        "< send 123456789 0 >",
        "< send x 0 >",
        "< sned 123 0 >",
        "< subscribe 0 0 123 >",
        "< statistics 10 >",
        "< sendpdu 00 >",
    ],
)
def test_a_wrong_command_is_told_counted_and_harmless(bus: BusProcess, command: str) -> None:
    """No frame reaches the bus, and the connection goes on."""
    with opened(bus) as one, opened(bus) as two:
        one.send_text(command)
        assert one.until(">").startswith("< error ")
        one.send_text("< send 321 1 42 >")
        assert frames(two.until("42 >")) == [("321", "42")]
        assert bus.node(one.name)["bad"] == 1


def test_bcm_sends_cyclically_updates_and_deletes(bus: BusProcess) -> None:
    """At once, then at the period; new content without touching the timer; then no more."""
    with opened(bus, "bcmmode") as one, opened(bus) as two:
        one.send_text("< add 0 10000 123 2 11 22 >")
        for _ in range(4):
            assert frames(two.until(">"))[0] == ("123", "1122")
        one.send_text("< update 123 1 33 >")
        wait_for(lambda: frames(two.until(">")) == [("123", "33")], "the update")
        for _ in range(3):
            assert frames(two.until(">")) == [("123", "33")]
        one.send_text("< delete 123 >< send 124 1 1 >")
        two.until("< frame 124")
        two.until(">")
        two.send_text("< echo >")
        assert two.until(">") == "< echo >"
        one.send_text("< add 0 0 125 0 >")
        assert frames(two.until(">")) == [("125", "")]


def test_bcm_jobs_faster_than_a_timer_keep_their_rate_and_end_with_the_client(
    bus: BusProcess,
) -> None:
    """Every 100 µs means ten a millisecond; a client that leaves takes its jobs along."""
    with opened(bus) as two:
        with opened(bus, "bcmmode") as one:
            before = bus.stats()["frames"]
            started = time.perf_counter()
            one.send_text("< add 0 100 10000123 1 1 >")
            wait_for(lambda: bus.stats()["frames"] - before > 2000, "frames")
            assert time.perf_counter() - started > 0.15
        wait_for(lambda: not bus.has(one.name), "the client to be gone")
        count = bus.stats()["frames"]
        two.send_text("< echo >")
        two.until("< echo >")
        assert bus.stats()["frames"] == count


def test_bcm_subscriptions(bus: BusProcess) -> None:
    """Only what is subscribed comes, and all of it, until it is unsubscribed."""
    with opened(bus, "bcmmode") as one, opened(bus) as two:
        one.send_text("< subscribe 0 0 123 >< subscribe 0 0 00000123 >< echo >")
        one.until("< echo >")
        two.send_text("< send 122 0 >< send 123 1 1 >< send 123 1 1 >< send 00000123 1 2 >")
        assert frames(one.until("02 >")) == [("123", "01"), ("123", "01"), ("00000123", "02")]
        one.send_text("< unsubscribe 123 >< echo >")
        one.until("< echo >")
        two.send_text("< send 123 1 1 >< send 00000123 1 3 >")
        assert frames(one.until("03 >")) == [("00000123", "03")]


def test_bcm_filters_by_change_under_a_mask(bus: BusProcess) -> None:
    """Bits that the mask leaves out do not matter."""
    with opened(bus, "bcmmode") as one, opened(bus) as two:
        one.send_text("< filter 0 0 123 2 FF 0F >< echo >")
        one.until("< echo >")
        two.send_text("< send 123 3 1 10 0 >< send 123 3 1 20 9 >")  # the second differs outside
        two.send_text("< send 123 3 1 21 9 >< send 123 3 2 21 9 >")
        got = frames(one.until("022109 >"))
        assert got == [("123", "011000"), ("123", "012109"), ("123", "022109")]


def test_bcm_multiplex_filters(bus: BusProcess) -> None:
    """Each multiplex identifier has its own mask and its own memory; others do not come."""
    with opened(bus, "bcmmode") as one, opened(bus) as two:
        one.send_text(
            "< muxfilter 0 0 123 3 FF 00 00 00 00 00 00 00 33 FF 00 00 00 00 00 00 "
            "44 00 FF 00 00 00 00 00 >< echo >"
        )
        one.until("< echo >")
        two.send_text("< send 123 3 33 1 1 >< send 123 3 33 1 2 >< send 123 3 44 1 1 >")
        two.send_text("< send 123 3 44 2 1 >< send 123 3 55 1 1 >< send 123 3 33 2 2 >")
        got = frames(one.until("330202 >"))
        assert got == [("123", "330101"), ("123", "440101"), ("123", "330202")]


def test_bcm_throttles_to_the_newest(bus: BusProcess) -> None:
    """Within the interval nothing comes, behind it the newest, not all."""
    with opened(bus, "bcmmode") as one, opened(bus) as two:
        one.send_text("< subscribe 0 200000 123 >< echo >")
        one.until("< echo >")
        two.send_text("".join(f"< send 123 1 {n:x} >" for n in range(1, 10)))
        assert frames(one.until("01 >")) == [("123", "01")]
        assert frames(one.until(">")) == [("123", "09")]


@pytest.mark.parametrize(
    "command",
    [
        "< add 0 >",
        "< add 0 0 123 9 >",
        "< add nan 0 123 0 >",
        "< add 1e3 0 123 0 >",
        "< update 555 0 >",
        "< delete 555 >",
        "< delete 123 4 >",
        "< filter 0 0 123 2 FF >",
        "< muxfilter 0 0 123 1 FF 00 00 00 00 00 00 00 >",
        "< muxfilter 0 0 123 2 FF >",
        "< subscribe 0 123 >",
        "< unsubscribe 555 >",
        "< subscribe 0 inf 123 >",
    ],
)
def test_wrong_bcm_commands_are_told(bus: BusProcess, command: str) -> None:
    """With the command's name."""
    with opened(bus, "bcmmode") as one:
        one.send_text(command)
        name = command.split()[1]
        assert one.until(">").startswith(f"< error {name}: ")


def test_statistics_come_at_their_interval_in_every_mode(bus: BusProcess) -> None:
    """Bytes and packets of others, then of this client."""
    with opened(bus, "controlmode") as one, opened(bus) as two:
        one.send_text("< statistics 20 >")
        first = re.search(r"< stat (\d+) (\d+) 0 0 >", one.until("< stat") + one.until(">"))
        assert first
        two.send_text("< send 1 3 1 2 3 >")
        one.send_text("< rawmode >< send 2 1 1 >")
        wanted = f"< stat {int(first[1]) + 3} {int(first[2]) + 1} 1 1 >"
        one.until(wanted)
        one.send_text("< controlmode >< statistics 0 >< statistics 0 >< echo >")
        one.until("< echo >")


def test_iso_tp_carries_messages_of_any_length(bus: BusProcess) -> None:
    """Two channels talk across each other, with blocks, gaps, padding and addresses."""
    for options in ("0 0 0", "C 4 1 0 AA AA", "2 2 F1 0 0 0 12", "202 0 0 0 0 0 12 12"):
        with opened(bus, "isotpmode") as one, opened(bus, "isotpmode") as two:
            one.send_text(f"< isotpconf 1F998877 1F998876 {options} >< echo >")
            two.send_text(f"< isotpconf 1F998876 1F998877 {options} >< echo >")
            one.until("< echo >")
            two.until("< echo >")
            for length in (1, 6, 7, 8, 20, 700):
                content = bytes(n * 7 & 0xFF for n in range(length)).hex().upper()
                one.send_text(f"< sendpdu {content} >")
                assert re.fullmatch(rf"< pdu \d+\.\d{{6}} {content} >", two.until(">"))
                two.send_text(f"< sendpdu {content} >")
                assert re.fullmatch(rf"< pdu \d+\.\d{{6}} {content} >", one.until(">"))


def test_iso_tp_on_the_wire(bus: BusProcess) -> None:
    """First frame, flow control with its block size, consecutive frames, as in ISO 15765-2."""
    with opened(bus, "isotpmode") as one, opened(bus) as raw:
        one.send_text(
            "< isotpconf 701 702 4 2 0 0 55 >< sendpdu 00112233445566778899AABBCCDDEEFF00 >"
        )
        assert frames(raw.until(">")) == [("701", "1011001122334455")]
        raw.send_text("< send 702 3 30 1 0 >")
        assert frames(raw.until(">")) == [("701", "2166778899AABBCC")]
        raw.send_text("< send 702 3 31 0 0 >< send 702 3 30 0 0 >")
        assert frames(raw.until(">")) == [("701", "22DDEEFF00555555")]
        raw.send_text("< send 702 8 10 14 0 1 2 3 4 5 >")
        assert frames(raw.until(">")) == [("701", "300200")]
        raw.send_text("< send 702 8 21 6 7 8 9 A B C >< send 702 8 22 D E F 10 11 12 13 >")
        content = bytes(range(20)).hex().upper()
        assert one.until(">").endswith(f" {content} >")
        one.send_text("< sendpdu 0011223344556677 >")
        raw.until("1008")
        raw.send_text("< send 702 3 32 0 0 >")
        assert one.until(">") == "< error isotp: the receiver's buffer is full >"
        raw.send_text("< send 702 8 10 14 0 1 2 3 4 5 >< send 702 8 22 1 1 1 1 1 1 1 >")
        assert one.until(">") == "< error isotp: a consecutive frame is missing >"


@pytest.mark.parametrize(
    "command",
    [
        "< isotpconf 123 >",
        "< isotpconf 123 124 C 0 0 >",
        "< isotpconf 123 124 0 0 0 0 0 0 0 0 0 >",
        "< isotpconf zzz 124 0 0 0 >",
        "< sendpdu 0011 >",
        "< isotpconf 1 2 0 0 0 >< sendpdu 001 >",
        "< isotpconf 1 2 0 0 0 >< sendpdu >",
        "< isotpconf 1 2 0 0 0 >< sendpdu xx >",
    ],
)
def test_wrong_iso_tp_commands_are_told(bus: BusProcess, command: str) -> None:
    """Also a flag without the value that it needs."""
    with opened(bus, "isotpmode") as one:
        one.send_text(command)
        assert one.until(">").startswith("< error ")


def test_error_frames_come_inline(bus: BusProcess) -> None:
    """A destroyed frame is told to raw clients by its class and time, and sent again."""
    with opened(bus) as one, opened(bus) as two:
        bus.ask('fault {"kind": "error", "times": 1}')
        one.send_text("< send 123 1 77 >")
        got = two.until("77 >")
        assert re.match(r"< error 288 \d+\.\d{6} >< frame 123 ", got)
        bus.ask("clear")


def test_too_many_clients_are_turned_away_and_the_next_has_room(bus: BusProcess) -> None:
    """64 at once; when one leaves, another may come."""
    held = [Line(bus.socketcand) for _ in range(64)]
    for line in held:
        line.until("< hi >")
    with Line(bus.socketcand) as late:
        assert late.until(">") == "< error too many clients >"
        assert late.ended()
    for line in held:
        line.socket.close()
    wait_for(lambda: bus.stats()["clients"] == 0, "room")
    with opened(bus):
        pass


def test_a_slow_wire_slows_its_senders_down_and_loses_nothing() -> None:
    """A flood into a timed bus arrives whole, each frame after the time that its bits take."""
    with (
        BusProcess("--timed", "--bitrate", "250000") as bus,
        opened(bus) as one,
        opened(bus) as two,
    ):
        one.send_text("< send 555 8 55 55 55 55 55 55 55 55 >" * 600 + "< send 7FF 0 >")
        text = two.until("< frame 7FF")
        stamps = [float(word) for word in re.findall(r"frame 555 (\S+)", text)]
        assert len(stamps) == 600
        least = 111 / 250_000  # bits without stuffing
        assert stamps[-1] - stamps[0] > 599 * least
        assert min(b - a for a, b in itertools.pairwise(stamps)) > 0.99 * least
        assert bus.node(one.name)["refused"] == 0


def test_on_a_slow_wire_the_lower_identifier_goes_first() -> None:
    """A frame of high priority passes a queue of low ones that began earlier."""
    with (
        BusProcess("--timed", "--bitrate", "50000") as bus,
        opened(bus) as low,
        opened(bus) as high,
        opened(bus) as listener,
    ):
        low.send_text("< send 700 8 1 2 3 4 5 6 7 8 >" * 150)
        listener.until("< frame 700")
        high.send_text("< send 001 0 >")
        listener.until("< frame 001")
        low.send_text("< send 701 0 >")
        assert listener.until("< frame 701").count("frame 700") > 20


def test_the_beacon_says_all_that_the_protocol_wants() -> None:
    """Name, type, description, addresses and buses, escaped as XML."""
    text = beacon_text([("127.0.0.1", 29536)], ["can0", "can1"], name='a "b" & <c>')
    root = ET.fromstring(text)
    assert root.tag == "CANBeacon"
    assert root.attrib["name"] == 'a "b" & <c>'
    assert root.attrib["type"] == "SocketCAN"
    assert root.attrib["description"]
    assert [child.text for child in root.findall("URL")] == ["can://127.0.0.1:29536"]
    assert [child.attrib["name"] for child in root.findall("Bus")] == ["can0", "can1"]


def test_the_beacon_is_broadcast() -> None:
    """A listener on UDP port 42000 hears it within its interval."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ear.bind(("", 42000))
        ear.settimeout(30.0)
        with BusProcess("--beacon", "--name", "can7") as process:
            while True:
                root = ET.fromstring(ear.recv(4096).decode())
                if [bus.attrib["name"] for bus in root.findall("Bus")] == ["can7"]:
                    break
            host, port = process.socketcand
            assert root.findtext("URL") == f"can://{host}:{port}"
