"""Wire format of the studio's messages.

A text frame is JSON with a field ``type``. A binary frame is one snapshot: the header of
:data:`HEADER`, then blocks until the frame ends. A block is the header of :data:`BLOCK`, its
numbers, and zeros up to a multiple of 8 bytes; clients skip unknown kinds of blocks. Positions are
in meters, angles in radians; a pose is x y z and the quaternion w x y z.
"""

from __future__ import annotations

import struct
from typing import Annotated, Any, Literal

import msgspec

from linkwork.core.errors import FormatError

#: Protocol version, raised with each incompatible change; checked when a client connects.
PROTOCOL = 3

#: Kind of frame, two zero fields, scene version, simulated time [s]; little endian.
HEADER = struct.Struct("<BBHId")
#: The only kind of binary frame so far; other kinds are not acknowledged.
SNAPSHOT = 1
#: Kind of block, flags, length of its numbers without padding [byte].
BLOCK = struct.Struct("<HHI")
#: Kinds of blocks: poses of the bodies; values of the watched signals, with the number of the watch
#: as flags; points, forces and bodies of contacts; poses of the bodies with joints at their
#: targets.
POSES, SIGNALS, CONTACTS, GHOST = 1, 2, 3, 4
#: Kind of a block with constraint forces of joints and loops: position [m], force on the second
#: body [N], and the index of the joint, or the number of joints plus the index of the loop; empty
#: if no engine computes them.
FORCES = 8
#: Kind of a block about the dragged tool, a list of numbers: its pose (7); its target pose, NaN
#: while it is not dragged (7); lengths (3) and axes, one after the other (9), of its ellipsoid; the
#: manipulability measure of that; the damping of the last step; the distance of the tool from its
#: target, or at rest from where it was released, zeros if reached [m, rad]; whether it is moving;
#: how often the robot's coordinates were set directly; n; its Jacobian, row by row (6·n).
REACH = 9
#: Kind of a block with the surroundings of the dragged robot: nearest points of its shape and of
#: the other, their distance [m], then element and shape of the first and of the second.
NEAR = 10
#: Numbers per row of a block, and bytes per number.
ROWS = {
    POSES: (7, 4), SIGNALS: (1, 8), CONTACTS: (7, 4), GHOST: (7, 4), 7: (1, 1), 8: (7, 4),
    9: (1, 8), 10: (11, 4),
}  # fmt: skip
#: Requested like blocks, but sent as texts, ``ports`` and ``frames``, only to watching clients.
PORTS, FRAMES = 5, 6
#: Kind of a block with the image of a camera: its index among the sensors as flags; width and
#: height, a number that changes with each new image, then red, green, blue for each pixel. It is
#: sent only when it is new.
IMAGE = 7
IMAGE_HEAD = struct.Struct("<HHI")
#: A camera is requested by kind and index in one number: kind + index·IMAGE_STEP.
IMAGE_STEP = 2**16
#: Maximum number of unacknowledged snapshots, and the number of snapshots per acknowledgment: every
#: message costs the server as much as a snapshot.
MAX_IN_FLIGHT, SNAPSHOTS_PER_ACK = 12, 6
#: Prefix of attribute keys of the running scene, which no file contains.
LIVE = "live."
#: Natural frequency of a pulled body [rad/s]: the spring's stiffness is mass times its square.
GRAB_FREQUENCY = 15

Name = Annotated[str, msgspec.Meta(max_length=512)]
#: A coordinate [m], bounded.
Length = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Triple = tuple[Length, Length, Length]
Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e9)]
#: An index in a list, −1 for none; of a gesture, 0 for none.
Number = Annotated[int, msgspec.Meta(ge=-1, le=2**31)]
Gesture = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
#: Origin of an attribute: a kit's file, the user's file, or none.
Source = Literal["kit", "file", "default"]
Level = Literal["info", "warning", "error", "approximated", "note", "mark"]
Direction = Literal["output", "input", "param"]
Drive = Literal["servo", "motor", "effort", "kinematic", "none"]
Role = Literal["command", "sensor", "parameter"]
ShapeKind = Literal["box", "cylinder", "cone", "sphere", "capsule", "plane", "mesh"]
AimKind = Literal["position", "orientation", "posture", "center of mass", "point"]
DampingKind = Literal["smallest", "constant", "robotix"]
EllipsoidKind = Literal["velocity", "force", "dynamic", "impact"]
Interpolation = Literal["linear", "smooth", "hold"]
#: Planner of a movement's joints; empty for none.
Planner = Literal["", "acceleration", "speed", "energy", "cruise", "jerk"]


def plain(value: Any) -> Any:
    """Converts numpy numbers and arrays to Python's own, for messages."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise FormatError(f"{value!r} cannot be sent in a message.")


_encoder = msgspec.json.Encoder(enc_hook=plain)


def encode(message: msgspec.Struct) -> bytes:
    """A message as JSON."""
    return _encoder.encode(message)


def shortened(text: str) -> str:
    """A text with its middle cut out if it is long, so that answers do not repeat long input."""
    return text if len(text) <= 400 else f"{text[:200]} … {text[-100:]}"


def claimed_type(data: bytes | str) -> str:
    """The type that a message claims to have; empty if it has none."""
    try:
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return shortened(msgspec.json.decode(fields["type"], type=str))
    except (msgspec.MsgspecError, KeyError, ValueError, RecursionError):
        return ""


def type_of(message: msgspec.Struct) -> str:
    """The value of a message's field ``type``."""
    return str(type(message).__struct_config__.tag)
