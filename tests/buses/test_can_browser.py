"""A web page may make a browser connect to any port of its machine: it must not move a robot."""

import pytest

from can_fixture import BusProcess, Line, opened, wait_for

HEAD = "{} / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://page.example\r\n\r\n"
BODY = {
    "socketcand": "< open can0 >< rawmode >< send 011 2 FF 0F >",
    "slcan": "\rO\rt0112FF0F\r",
}
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]


@pytest.mark.parametrize("size", [1, 65536], ids=["byte by byte", "at once"])
@pytest.mark.parametrize("endpoint", BODY)
def test_what_a_browser_sends_is_never_carried_out(endpoint: str, size: int) -> None:
    """Its connection ends at the first line, is counted and told; the next client is served."""
    with BusProcess() as bus:
        address = bus.socketcand if endpoint == "socketcand" else bus.slcan
        for method in METHODS:
            text = (HEAD.format(method) + BODY[endpoint]).encode()
            with Line(address) as page:
                try:
                    for place in range(0, len(text), size):
                        page.send_text(text[place : place + size])
                except ConnectionError:
                    pass  # it was shown the door before it had finished
                assert page.ended()
        wait_for(lambda: bus.stats()["bad"] == len(METHODS), "all to be counted")
        stats = bus.stats()
        assert stats["frames"] == 0
        assert sum("a browser's request" in event for event in stats["events"]) == len(METHODS)
        with opened(bus) as one, opened(bus) as two:
            one.send_text("< send 11 1 5 >")
            two.until("< frame 011 ")


def test_a_tls_hello_is_sent_away() -> None:
    """A page that asks by https speaks TLS, in which it may hide what it likes."""
    with BusProcess() as bus, Line(bus.socketcand) as page:
        page.until("< hi >")
        page.send_text(b"\x16\x03\x01\x02\x00" + BODY["socketcand"].encode())
        assert page.ended()
        assert bus.stats()["frames"] == 0


def test_commands_that_begin_like_a_method_are_commands() -> None:
    """slcan's own P, O, C and T have the first letters of POST, OPTIONS, CONNECT and TRACE."""
    with BusProcess() as bus:
        for command, answer in (("O\r", "\r"), ("P\r", "\a"), ("C\r", "\a"), ("T\r", "\a")):
            with Line(bus.slcan) as line:
                line.send_text(command[0])
                line.send_text(command[1:])
                assert line.until(answer) == answer
