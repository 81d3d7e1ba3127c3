"""The studio over HTTPS, and who drives after a broken line."""

import ipaddress
import json
import socket
import ssl
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from linkwork.cli.studio_server import LIMITS
from linkwork.core.hosts import own_addresses
from linkwork.link import serve
from linkwork.studio.web import access as certificates
from linkwork.studio.web.access import certificate
from linkwork.studio.web.hub import ClientRoster
from linkwork.studio.web.process import ServerProcess, ServerSettings


def test_a_client_that_trusts_the_certificate_is_served(tmp_path: Path) -> None:
    """The certificate names this machine, so that a client can check it, and its key is private."""
    made, key = certificate("127.0.0.1", tmp_path)
    assert certificate("127.0.0.1", tmp_path) == (made, key)
    assert key.stat().st_mode & 0o077 == 0
    with serve(limits=LIMITS) as link:
        settings = ServerSettings(
            link.address, link.key, "127.0.0.1", 0, "t",
            certificate=str(made), certificate_key=str(key),
        )  # fmt: skip
        server = ServerProcess(settings)
        try:
            address = f"https://127.0.0.1:{server.port}/api/gallery?token=t"
            trust = ssl.create_default_context(cafile=str(made))
            with urllib.request.urlopen(address, timeout=30, context=trust) as answer:
                assert json.load(answer)["scenes"]
        finally:
            server.close()


def test_a_certificate_for_every_interface_names_each_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that got another address gets another certificate."""
    names = {"192.0.2.7", "2001:db8::7"}
    monkeypatch.setattr(certificates, "own_addresses", lambda: sorted(names))
    made, _ = certificate("0.0.0.0", tmp_path)
    trust = ssl.create_default_context(cafile=str(made))
    reported: Any = trust.get_ca_certs()[0].get("subjectAltName")
    addresses = {ipaddress.ip_address(name) for kind, name in reported if kind == "IP Address"}
    assert {ipaddress.ip_address(name) for name in names} <= addresses
    assert certificate("0.0.0.0", tmp_path)[0] == made
    names.add("192.0.2.8")
    assert certificate("0.0.0.0", tmp_path)[0] != made


def test_this_machine_is_called_by_addresses_that_others_reach() -> None:
    """None of them is its own alone; what listens everywhere answers at each of version 4."""
    with socket.create_server(("0.0.0.0", 0)) as listening:
        for address in own_addresses():
            known = ipaddress.ip_address(address)
            assert not known.is_loopback
            assert not known.is_link_local
            if known.version == 4:
                socket.create_connection((address, listening.getsockname()[1]), 30).close()


def test_who_watched_does_not_drive_after_a_broken_line() -> None:
    """The names are given again, and the wheel waits for who had it, or for who asks."""
    people = ClientRoster()
    assert people.join("B", watched=True) == "B"
    assert people.driver is None
    assert people.join("A") == "A"
    assert people.driver == "A"
    assert people.join("A") == "C"
    assert people.join("<b>") == "D"
