"""The session side of a studio for tests, controlled over its link as the server does."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from linkwork.cli.studio_server import LIMITS, loader
from linkwork.link import PeerEnd, connect, serve
from linkwork.model.scene import Scene
from linkwork.studio import protocol as m
from linkwork.studio.host.host import Host
from linkwork.studio.protocol import link_messages
from linkwork.studio.web.gallery import Recents
from studio_fixture import TIMEOUT


class Backstage:
    """The host and its messages."""

    def __init__(self, host: Host, peer: PeerEnd) -> None:
        self.host, self._peer = host, peer
        self._received: list[dict[str, Any]] = []

    def ask(self, message: m.FromClient) -> None:
        """Sends a message as client A."""
        self._peer.send(link_messages.encode(link_messages.ClientRequest("A", message)))

    def until(self, kind: str, test: Callable[[Any], bool] = lambda _: True) -> Any:
        """Reads messages until one of a kind passes a test."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            while self._received:
                found = self._received.pop(0)
                if found["type"] == kind and test(found):
                    return found
            for data in self._peer.events(0.1):
                logged = link_messages.decode_from_host(data)
                if isinstance(logged, link_messages.Broadcast):
                    self._received.append(json.loads(logged.text))
        raise AssertionError(f"no {kind} within {TIMEOUT:g} s")

    def until_one_of(self, *kinds: str) -> Any:
        """Returns the next message of one of some kinds."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            while self._received:
                found = self._received.pop(0)
                if found["type"] in kinds:
                    return found
            for data in self._peer.events(0.1):
                logged = link_messages.decode_from_host(data)
                if isinstance(logged, link_messages.Broadcast):
                    self._received.append(json.loads(logged.text))
        raise AssertionError(f"none of {kinds} within {TIMEOUT:g} s")

    def refused(self, message: m.FromClient) -> str:
        """Returns the reason of a message's rejection."""
        self.ask(message)
        return str(self.until("refused", lambda r: r["what"] == m.type_of(message))["text"])


@contextlib.contextmanager
def backstage(
    scene: str | None,
    folder: Path,
    load: Callable[[str], Any] | None = None,
    ready: Callable[[Scene | None], bool] = lambda _: True,
) -> Iterator[Backstage]:
    """Runs a host whose recordings and list of recent files are in ``folder``."""
    recents, recordings = Recents(folder / "recent.json"), folder / "recordings"
    with serve(limits=LIMITS) as link, connect(link.address, link.key) as peer:
        load = load or loader(scene, recents, recordings)
        host = Host(link, load, recents=recents, recordings=recordings, folder=folder, ready=ready)
        host.prepare(scene)
        thread = threading.Thread(target=host.run, daemon=True)
        thread.start()
        try:
            yield Backstage(host, peer)
        finally:
            host.stop()
            thread.join(TIMEOUT)
            assert not thread.is_alive()
