"""Link messages: messages between the server's process and the session's.

The session's side makes complete messages for browsers; the server relays them unchanged. Only
messages that the server itself needs are defined here.
"""

from __future__ import annotations

import msgspec

from linkwork.core.errors import FormatError
from linkwork.studio.protocol import FromClient


class ClientRequest(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A client's request; ``client`` is its name."""

    client: str
    message: FromClient


class ViewRequest(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The data that all clients together want in each snapshot; ``number`` is echoed in it.

    ``blocks`` are kinds of blocks besides poses and signals.
    """

    number: int
    signals: list[str]
    blocks: list[int]


class ClientCount(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Number of clients connected to the server."""

    count: int


class MeshRequest(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Requests the triangles of a mesh."""

    hash: str


class Broadcast(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A message for browsers, as JSON; ``to`` is one client's name, or empty for all.

    The last message of each ``kind`` in :data:`RETAINED` is sent to new clients.
    """

    to: str
    kind: str
    text: bytes


class MeshResponse(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The triangles of a mesh in the format of ``/api/mesh``; empty if there is none."""

    hash: str
    data: bytes


class Snapshot(msgspec.Struct, frozen=True, array_like=True):
    """The state of the session; only the newest is sent.

    Attributes:
        version: Scene version.
        time: Simulated time [s].
        poses: Poses of the bodies, float32 nb×7.
        view: Number of the view request that the values answer.
        values: Values of the watched signals, float64.
        blocks: Other requested blocks, by kind.
        status: A status message as JSON.
    """

    version: int
    time: float
    poses: bytes
    view: int
    values: bytes
    blocks: dict[int, bytes]
    status: bytes


#: Kinds of state messages, in the order in which new clients get them.
RETAINED = ("scene", "owners", "undo", "reaching", "cloud", "movement")

ToHost = ClientRequest | ViewRequest | ClientCount | MeshRequest
FromHost = Broadcast | MeshResponse

_encoder = msgspec.msgpack.Encoder()
_to_host = msgspec.msgpack.Decoder(ToHost)
_from_host = msgspec.msgpack.Decoder(FromHost)
_snapshot = msgspec.msgpack.Decoder(Snapshot)


def encode(message: msgspec.Struct) -> bytes:
    """A message as bytes."""
    return _encoder.encode(message)


def decode_to_host(data: bytes) -> ToHost:
    """Decodes a message of the server.

    Raises:
        FormatError: If it is not a valid message.
    """
    try:
        return _to_host.decode(data)
    except msgspec.MsgspecError as error:
        raise FormatError(f"this is not a message of the studio's server: {error}.") from None


def decode_from_host(data: bytes) -> FromHost:
    """Decodes a message of the session's side."""
    return _from_host.decode(data)


def decode_snapshot(data: bytes) -> Snapshot:
    """Decodes a snapshot."""
    return _snapshot.decode(data)
