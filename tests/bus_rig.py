"""A session with the bus of ``line_bus`` on the arm's bench, and controllers outside."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from line_bus import LineBus
from linkwork.buses.process import BusProcess
from linkwork.registry import BUSES
from linkwork.scene import Scene
from linkwork.session.session import Session
from session_scenes import bench


@contextmanager
def line_type() -> Iterator[None]:
    """The type ``line``, for as long as a test needs it: the registry's contract is for others."""
    BUSES.register("line", LineBus)
    try:
        yield
    finally:
        BUSES.forget("line")


def rig(*, name: str = "line0", **params: Any) -> Scene:
    """The arm's bench with the rig's bus: J1 and J2 in, J1 and J2 out."""
    scene = bench()
    for n in (1, 2):
        scene.port(
            f"J{n}",
            commands=[{"signal": f"arm/J{n}.target", "bits": 12}],
            sensors=[{"signal": f"arm/J{n}.angle", "bits": 12}],
        )
    return scene.bus(name, "line", **params)


class Partner:
    """A controller outside: one line of JSON at a time."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("rwb")

    def send(self, **values: float) -> None:
        self.send_text({key.replace("_", "."): value for key, value in values.items()})

    def send_text(self, values: dict[str, float]) -> None:
        self.file.write(json.dumps(values).encode() + b"\n")
        self.file.flush()

    def read(self) -> dict[str, float]:
        line = self.file.readline()
        if not line:
            raise EOFError
        return json.loads(line)

    def close(self) -> None:
        with suppress(OSError):  # what was not sent yet finds nobody
            self.file.close()
        self.socket.close()


def process_of(session: Session, bus: str = "line0") -> BusProcess:
    """The process that serves the rig's bus."""
    assert session.partners is not None
    return session.partners[bus]


def port_of(session: Session, bus: str = "line0") -> int:
    """Where the rig listens."""
    return int(process_of(session, bus).doors[0].split()[-1])


@contextmanager
def partner(session: Session) -> Iterator[Partner]:
    """A controller that is connected."""
    made = Partner(port_of(session))
    try:
        yield made
    finally:
        made.close()


def until(session: Session, condition: Callable[[], object], *, seconds: float = 30.0) -> None:
    """Lets the session take in and step until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, [e.text for e in session.outbox.events]
        session.step()
        time.sleep(0.001)


def said(session: Session, text: str) -> bool:
    """Whether people were told something."""
    return any(text in event.text for event in session.outbox.events)
