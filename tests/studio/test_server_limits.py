"""What a stranger can do to the studio's server before it has shown the token."""

import contextlib
import http.client
import json
import re
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from linkwork.studio.web.access import token_cookie
from linkwork.studio.web.connections import FIRST_BYTES_TIMEOUT, MAX_STRANGERS
from studio_fixture import PROTOCOL, TOKEN, Studio, studio

HEADERS = ("content-security-policy", "x-content-type-options", "referrer-policy")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with studio(None, tmp_path_factory.mktemp("limits")) as running:
        yield running


def fetch(here: Studio, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    """An answer as it comes, redirects not followed."""
    connection = http.client.HTTPConnection(here.address, timeout=30.0)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()


def descriptors(here: Studio) -> int:
    return len(list(Path(f"/proc/{here.server.pid}/fd").iterdir()))


@contextlib.contextmanager
def half_requests(here: Studio, count: int, start: bytes) -> Iterator[list[socket.socket]]:
    """Connections that begin a request and do not go on."""
    with contextlib.ExitStack() as stack:
        made = []
        for _ in range(count):
            each = stack.enter_context(socket.create_connection(("127.0.0.1", here.server.port)))
            with contextlib.suppress(ConnectionError):
                each.sendall(start)
            made.append(each)
        yield made


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
        b"POST /api/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
    ],
    ids=["silent", "header", "websocket", "body"],
)
def test_500_half_requests_stop_nobody(here: Studio, start: bytes) -> None:
    """The page is served, a client stays connected, descriptors are bounded and come back."""
    before = descriptors(here)
    with here.client() as client:
        client.until("hello")
        with half_requests(here, 500, start):
            since = time.monotonic()
            answer, _ = fetch(here, "/")
            assert answer.status in (200, 503)
            assert time.monotonic() - since < 5.0  # 0.02 s on the machine of the benchmarks
            assert descriptors(here) <= before + MAX_STRANGERS + 20
            end = time.monotonic() + FIRST_BYTES_TIMEOUT + 25.0
            while descriptors(here) > before + 4 and time.monotonic() < end:
                time.sleep(0.1)
            assert descriptors(here) <= before + 4
        client.send("control_request")
        client.until("people")


def test_every_answer_has_the_security_headers(here: Studio) -> None:
    """Pages, files, data, refusals and a refused socket."""
    for path in ("/", "/icon.svg", "/nothing", f"/?token={TOKEN}", "/?token=x", "/api/gallery"):
        answer, _ = fetch(here, path)
        assert all(answer.headers.get(name) for name in HEADERS), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers.get("server") is None
    with pytest.raises(InvalidStatus) as refused, here.client(token="x"):
        pass
    assert all(refused.value.response.headers.get(name) for name in HEADERS)


def test_the_token_becomes_a_cookie_and_leaves_the_address(here: Studio) -> None:
    """A page opened with the token is sent on without it; the cookie then opens everything."""
    answer, _ = fetch(here, f"/?antialias=off&token={TOKEN}&alone=top")
    assert answer.status == 303
    assert answer.headers["location"] == "./?antialias=off&alone=top"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"linkwork-token-{here.server.port}={TOKEN};")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(re.split(r"; ?", cookie))
    mine = cookie.partition(";")[0]
    assert fetch(here, "/api/gallery", Cookie=mine)[0].status == 200
    shared, body = fetch(here, "/api/share", Cookie=mine)
    assert json.loads(body) == {"token": TOKEN}
    assert shared.headers["cache-control"] == "no-store"
    where = f"ws://{here.address}/ws?protocol={PROTOCOL}"
    with connect(where, additional_headers={"Cookie": mine}) as made:
        assert json.loads(made.recv(timeout=30.0))["type"] == "hello"
    for wrong in (f"linkwork-token-1={TOKEN}", f"linkwork-token-{here.server.port}=x", "a"):
        assert fetch(here, "/api/gallery", Cookie=wrong)[0].status == 403
        assert fetch(here, "/api/share", Cookie=wrong)[0].status == 403
    assert fetch(here, "/?token=wrong", Cookie=mine)[0].status == 403


def test_a_cookie_is_named_by_the_port_that_the_browser_sees() -> None:
    """Also behind a forwarded port, and at the standard ones."""
    assert token_cookie("localhost:8350", "http") == "linkwork-token-8350"
    assert token_cookie("[::1]:9000", "ws") == "linkwork-token-9000"
    assert token_cookie("bench", "wss") == "linkwork-token-443"
    assert token_cookie("bench", "http") == "linkwork-token-80"
    assert token_cookie("bench:x", "http") == "linkwork-token-80"


def test_the_page_of_a_recording_needs_the_driver(here: Studio) -> None:
    """Making one costs minutes of a processor: a viewer cannot ask for it."""
    path = f"/api/recording.html?token={TOKEN}&path=nothing.mcap"
    with here.client() as driver, here.client() as viewer:
        keys = [client.until("hello")["key"] for client in (driver, viewer)]
        answer, body = fetch(here, path, **{"x-linkwork-key": keys[0]})
        assert (answer.status, b"drive" in body) == (400, False)
        for key in (keys[1], ""):
            answer, body = fetch(here, path, **{"x-linkwork-key": key})
            assert answer.status == 403
            assert b"drive" in body


def test_a_refused_socket_is_one_plain_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever is wrong with it, the terminal shows no traceback and not a line for each."""
    handshake = (
        f"GET /ws?token={TOKEN} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    ).encode()
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    with studio(None, tmp_path) as here:
        with pytest.raises(InvalidStatus), here.client(token="x"):
            pass
        for bad in (
            handshake + b"\r\n",
            (handshake + key).replace(b": 13", b": 12"),
            (handshake + key).replace(b"Host: localhost", b"Host: evil.example"),
            (handshake + key).replace(b"/ws", b"/other"),
            handshake + key + b"\xff\xff\xff\xff",
        ):
            with socket.create_connection(("127.0.0.1", here.server.port)) as each:
                each.sendall(bad)
                each.settimeout(10.0)
                with contextlib.suppress(ConnectionError):
                    while each.recv(4096):
                        pass
    err = capfd.readouterr().err
    assert "Traceback" not in err
    assert "refused a WebSocket from 127.0.0.1: the token is wrong" in err
    assert "returned without completing" not in err
    assert len(err.splitlines()) <= 4
