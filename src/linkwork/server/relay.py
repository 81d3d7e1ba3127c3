"""Relay: what the server's process and the session's say to each other over the link.

The session's side makes whole messages for browsers; the server passes them on as they are. Only
what the server must know itself is spelled out here.
"""

from __future__ import annotations

import msgspec

from linkwork.errors import FormatError
from linkwork.server.messages import FromClient


class Ask(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """What a client asked for; ``client`` is its name."""

    client: str
    message: FromClient


class Look(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """What the clients together want to see in each picture; ``number`` comes back with it.

    ``blocks`` are kinds of blocks besides poses and signals.
    """

    number: int
    signals: list[str]
    blocks: list[int]


class MeshWanted(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Asks for the triangles of a mesh."""

    hash: str


class Tell(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A message for browsers, as JSON; ``to`` is one client's name, or empty for all.

    The last one of each ``kind`` in :data:`LASTING` is told to newcomers.
    """

    to: str
    kind: str
    text: bytes


class MeshFound(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The triangles of a mesh as ``/api/mesh`` gives them; empty if there is none."""

    hash: str
    data: bytes


class Picture(msgspec.Struct, frozen=True, array_like=True):
    """How things stand: the newest wins.

    Attributes:
        version: Scene version.
        time: Simulated time [s].
        poses: Of the bodies, float32 nb×7.
        look: Number of the look whose values these are.
        values: Of the watched signals, float64.
        blocks: What else was asked for, by kind of block.
        status: A status message as JSON.
    """

    version: int
    time: float
    poses: bytes
    look: int
    values: bytes
    blocks: dict[int, bytes]
    status: bytes


#: Kinds of messages that describe how things stand, in the order in which newcomers get them.
LASTING = ("scene", "owners", "undo", "reaching", "cloud", "movement")

Inward = Ask | Look | MeshWanted
Outward = Tell | MeshFound

_encoder = msgspec.msgpack.Encoder()
_inward = msgspec.msgpack.Decoder(Inward)
_outward = msgspec.msgpack.Decoder(Outward)
_picture = msgspec.msgpack.Decoder(Picture)


def encode(message: msgspec.Struct) -> bytes:
    """A message as bytes."""
    return _encoder.encode(message)


def decode_inward(data: bytes) -> Inward:
    """What the server said.

    Raises:
        FormatError: If it is no such message.
    """
    try:
        return _inward.decode(data)
    except msgspec.MsgspecError as error:
        raise FormatError(f"this is no message of the studio's server: {error}.") from None


def decode_outward(data: bytes) -> Outward:
    """What the session's side said."""
    return _outward.decode(data)


def decode_picture(data: bytes) -> Picture:
    """A picture from bytes."""
    return _picture.decode(data)
