"""The session side of a studio for tests: spoken to over its link, as the server does."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from linkwork.cli.browse import LIMITS, loader
from linkwork.scene import Scene
from linkwork.server import messages as m
from linkwork.server import relay
from linkwork.server.host.host import Host
from linkwork.server.recent import Recents
from linkwork.session.link import PeerEnd, connect, serve
from studio_rig import PATIENCE


class Backstage:
    """The host and what it says."""

    def __init__(self, host: Host, peer: PeerEnd) -> None:
        self.host, self._peer = host, peer
        self._heard: list[dict[str, Any]] = []

    def ask(self, message: m.FromClient) -> None:
        """Says something as client A."""
        self._peer.send(relay.encode(relay.Ask("A", message)))

    def until(self, kind: str, test: Callable[[Any], bool] = lambda _: True) -> Any:
        """Takes what was said until a message of a kind passes a test."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            while self._heard:
                found = self._heard.pop(0)
                if found["type"] == kind and test(found):
                    return found
            for data in self._peer.events(0.1):
                said = relay.decode_outward(data)
                if isinstance(said, relay.Tell):
                    self._heard.append(json.loads(said.text))
        raise AssertionError(f"no {kind} within {PATIENCE:g} s")

    def until_one_of(self, *kinds: str) -> Any:
        """The next message of one of some kinds."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            while self._heard:
                found = self._heard.pop(0)
                if found["type"] in kinds:
                    return found
            for data in self._peer.events(0.1):
                said = relay.decode_outward(data)
                if isinstance(said, relay.Tell):
                    self._heard.append(json.loads(said.text))
        raise AssertionError(f"none of {kinds} within {PATIENCE:g} s")

    def refused(self, message: m.FromClient) -> str:
        """Why a message is refused."""
        self.ask(message)
        return str(self.until("refused", lambda r: r["what"] == m.type_of(message))["text"])


@contextlib.contextmanager
def backstage(
    scene: str | None,
    folder: Path,
    load: Callable[[str], Any] | None = None,
    ready: Callable[[Scene | None], bool] = lambda _: True,
) -> Iterator[Backstage]:
    """A running host whose recordings and list of recent files are in ``folder``."""
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
            thread.join(PATIENCE)
            assert not thread.is_alive()
