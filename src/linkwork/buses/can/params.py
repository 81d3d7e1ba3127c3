"""Parameters of a CAN bus."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from linkwork.buses.can.faults import CanFaultKind
from linkwork.buses.can.frame import parse_frame

FaultName = Annotated[str, msgspec.Meta(max_length=200)]
Identifier = Annotated[int, msgspec.Meta(ge=0, le=0x1FFFFFFF)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class CanParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of :class:`Can`.

    Attributes:
        channel: Name by which clients open the bus.
        bitrate: Bit rate, for load and timing [bit/s].
        timed: Whether frames take as long as on a wire of that bit rate, and are received when
            their last bit has passed.
        restart_after: Time after which a bus-off node restarts [s]; by order if absent.
        host: Interface that the servers listen on. The protocols have no password.
        socketcand: Port of the socketcand server; 0 for a free one, false for none.
        beacon: Whether the server is announced by UDP broadcast.
        slcan: Port of an slcan server over TCP; 0 for a free one.
        pty: Whether there is an slcan device on a pseudo terminal, or the path of a link to it.
        file: DBC file, from the scene's folder, whose signals the ports name.
        bridge: An external bus, connected through python-can: { interface = "socketcan", channel =
            "can0" } and further arguments of ``can.Bus``.
        turn_id: The controller's frame that ends a turn, in lock-step.
    """

    channel: Annotated[
        str,
        msgspec.Meta(pattern=r"^[A-Za-z0-9]{1,16}$", description="1 to 16 letters and digits"),
    ] = "can0"
    bitrate: Annotated[int, msgspec.Meta(ge=1000, le=10_000_000)] = 500_000
    timed: bool = False
    restart_after: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] | None = None
    host: str = "127.0.0.1"
    socketcand: Port | bool = 29536
    beacon: bool = False
    slcan: Port | bool = False
    pty: bool | str = False
    file: str = ""
    bridge: dict[str, Any] = {}
    turn_id: Identifier | None = None


class FaultOrder(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of the order ``fault``; times count from now. ``clear`` ends those of a name."""

    kind: CanFaultKind
    name: FaultName = ""
    chance: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1.0
    ids: Annotated[list[Identifier], msgspec.Meta(max_length=4096)] = []
    node: FaultName = ""
    after: Annotated[float, msgspec.Meta(ge=0.0, le=1e9)] = 0.0
    lasts: Annotated[float, msgspec.Meta(ge=0.0, le=1e9)] | None = None
    times: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0
    delay: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] = 0.01
    seed: int = 0

    def __str__(self) -> str:
        """Returns a description: ``drop 0x201, 50 %, for 2 s``."""
        words = [self.kind.replace("_", " ")]
        if self.ids:
            shown = ", ".join(f"0x{each:X}" for each in self.ids[:4])
            words[0] += f" {shown}{' …' if len(self.ids) > 4 else ''}"
        if self.node:
            words.append(f"of {self.node}")
        if self.kind is CanFaultKind.DELAY:
            words.append(f"by {1000 * self.delay:g} ms")
        if self.chance < 1.0:
            words.append(f"{100 * self.chance:g} %, seed {self.seed}")
        if self.times:
            words.append(f"{self.times} times")
        words.append("until stopped" if self.lasts is None else f"for {self.lasts:g} s")
        return ", ".join(words)[:200]


class ClearOrder(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of the order ``clear``: a fault's number or name; all without."""

    number: Annotated[int, msgspec.Meta(ge=0)] = 0
    name: FaultName = ""


class SendOrder(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of the order ``send``: a frame in candump's format, ``123#1122``."""

    frame: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]

    def __post_init__(self) -> None:
        parse_frame(self.frame)
