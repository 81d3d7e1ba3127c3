"""The studio over HTTPS, and who drives after a broken line."""

import json
import ssl
import urllib.request
from pathlib import Path

from linkwork.cli.browse import LIMITS
from linkwork.server.certificate import certificate
from linkwork.server.people import People
from linkwork.server.process import ServerProcess, Settings
from linkwork.session.link import serve


def test_a_client_that_trusts_the_certificate_is_served(tmp_path: Path) -> None:
    """The certificate names this machine, so that a client can check it, and its key is private."""
    made, key = certificate("127.0.0.1", tmp_path)
    assert certificate("127.0.0.1", tmp_path) == (made, key)
    assert key.stat().st_mode & 0o077 == 0
    with serve(limits=LIMITS) as link:
        settings = Settings(
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


def test_who_watched_does_not_drive_after_a_broken_line() -> None:
    """The names are given again, and the wheel waits for who had it, or for who asks."""
    people = People()
    assert people.join("B", watched=True) == "B"
    assert people.driver is None
    assert people.join("A") == "A"
    assert people.driver == "A"
    assert people.join("A") == "C"
    assert people.join("<b>") == "D"
