"""A session with the bus of ``line_bus`` on the arm's bench, and external controllers."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from line_bus import LineBus
from linkwork.buses.block import BusBlock
from linkwork.buses.process import BusProcess
from linkwork.core.registry import BUSES
from linkwork.model.scene import Scene
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session
from session_scenes import bench


@contextmanager
def line_type() -> Iterator[None]:
    """Registers the type ``line`` for one test: the registry's contract excludes it."""
    BUSES.register("line", LineBus)
    try:
        yield
    finally:
        BUSES.unregister("line")


def rig(*, name: str = "line0", **params: Any) -> Scene:
    """Returns the arm's bench with the rig's bus: J1 and J2 as inputs and outputs."""
    scene = bench()
    for n in (1, 2):
        scene.port(
            f"J{n}",
            commands=[{"signal": f"arm/J{n}.target", "bits": 12}],
            sensors=[{"signal": f"arm/J{n}.angle", "bits": 12}],
        )
    return scene.bus(name, "line", **params)


class Partner:
    """An external controller: one line of JSON at a time."""

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
    """Returns the process that serves the rig's bus."""
    assert session.bus_processes is not None
    found = session.bus_processes[bus]
    assert isinstance(found, BusProcess)
    return found


def block_of(cycle: Cycle, bus: str = "line0") -> BusBlock:
    """Returns the block of a bus."""
    found = cycle.bus(bus)
    assert isinstance(found, BusBlock)
    return found


def port_of(session: Session, bus: str = "line0") -> int:
    """Returns the port of the rig."""
    return int(process_of(session, bus).endpoints[0].split()[-1])


@contextmanager
def bus_client(session: Session) -> Iterator[Partner]:
    """Returns a connected controller."""
    made = Partner(port_of(session))
    try:
        yield made
    finally:
        made.close()


def until(session: Session, condition: Callable[[], object], *, seconds: float = 30.0) -> None:
    """Polls and steps the session until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, [e.text for e in session.outbox.events]
        session.step()
        time.sleep(0.001)


def logged(session: Session, text: str) -> bool:
    """Returns whether a text was logged."""
    return any(text in event.text for event in session.outbox.events)
