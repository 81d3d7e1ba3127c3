"""Messages from a client to the studio's server."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from linkwork.core.errors import FormatError
from linkwork.studio.protocol.frames import (
    Gesture,
    Length,
    Name,
    Number,
    Triple,
    shortened,
)
from linkwork.studio.protocol.views import (
    MovementDraft,
    ReachSetup,
)


class ClientMessage(
    msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, forbid_unknown_fields=True
):
    """Base of client messages."""


class Open(ClientMessage, frozen=True):
    """Opens a scene or part: a kit's name for it, or a recent or imported file.

    While a recording is displayed, a scene with unsaved changes may be suspended behind it; it is
    discarded only with ``discard``.
    """

    scene: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    discard: bool = False


class CloseScene(ClientMessage, frozen=True, tag="close_scene"):
    """Returns to the gallery; ``discard`` as for ``open``."""

    discard: bool = False


class Play(ClientMessage, frozen=True):
    """Starts the clock."""


class Pause(ClientMessage, frozen=True):
    """Pauses the clock."""


class SingleStep(ClientMessage, frozen=True, tag="step"):
    """Executes some steps while paused; a negative number goes back through history."""

    steps: Annotated[int, msgspec.Meta(ge=-10_000, le=10_000)] = 1


class Reset(ClientMessage, frozen=True):
    """Restores the initial state."""


class Speed(ClientMessage, frozen=True):
    """Simulated seconds per real second; 0 is as fast as possible."""

    value: Annotated[float, msgspec.Meta(ge=0.0, le=1000.0)]


class Seek(ClientMessage, frozen=True):
    """Displays the past at a time [s]; playing continues from there."""

    time: Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]


class BackToLive(ClientMessage, frozen=True, tag="live"):
    """Displays the present again."""


class Set(ClientMessage, frozen=True):
    """Sets an input or a parameter."""

    signal: Name
    value: float


class Take(ClientMessage, frozen=True):
    """Takes ownership of an input."""

    signal: Name


class Release(ClientMessage, frozen=True):
    """Releases all inputs."""


class DragJoint(ClientMessage, frozen=True, tag="place"):
    """Sets a joint's value directly, while paused.

    Messages of one gesture have the same ``gesture`` and are one undo step; 0 is a step of its own.
    """

    joint: Name
    dof: Name
    value: float
    gesture: Gesture = 0


class Posture(ClientMessage, frozen=True):
    """Moves the robot to a named posture."""

    name: Name


class Grab(ClientMessage, frozen=True):
    """Pulls a point of an element (in its frame) toward a target (in the world frame)."""

    element: Name
    point: Triple
    target: Triple


class EndGrab(ClientMessage, frozen=True, tag="drop"):
    """Ends a pull."""


class Watch(ClientMessage, frozen=True):
    """Requests the values of these signals; their blocks carry ``number`` as flags."""

    number: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    signals: Annotated[list[Name], msgspec.Meta(max_length=4096)]


class ShowBlocks(ClientMessage, frozen=True, tag="show"):
    """Requests contacts, the wanted posture, the ports and the frames of buses.

    ``forces`` are the constraint forces of joints and loops.

    ``cameras`` are the indices of the requested cameras among the scene's sensors. ``reach`` is the
    dragged tool, ``near`` the surroundings of its robot.
    """

    contacts: bool = False
    ghost: bool = False
    forces: bool = False
    ports: bool = False
    frames: bool = False
    cameras: Annotated[
        list[Annotated[int, msgspec.Meta(ge=0, lt=2**16)]], msgspec.Meta(max_length=4)
    ] = []
    reach: bool = False
    near: bool = False


class SetReach(ClientMessage, frozen=True, tag="set_reach"):
    """Sets the dragged tool and its settings; without a setup there is none."""

    setup: ReachSetup | None = None


class DragTool(ClientMessage, frozen=True, tag="reach"):
    """Drags the tool to a pose (7 numbers), or with ``frame`` a point of that frame to a position.

    Joints move there step by step, also after the last message. Messages of one gesture have the
    same ``gesture``.
    """

    pose: tuple[Length, Length, Length, Length, Length, Length, Length]
    gesture: Gesture = 0
    frame: Name = ""
    point: Triple = (0.0, 0.0, 0.0)


class EndToolDrag(ClientMessage, frozen=True, tag="end_tool_drag"):
    """Ends a drag of the tool; a ``cancelled`` drag restores the joints."""

    cancelled: bool = False


class SampleWorkspace(ClientMessage, frozen=True, tag="workspace"):
    """Requests the tool's workspace, sampled with this number of postures; 0 cancels it."""

    count: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 50_000


class Override(ClientMessage, frozen=True):
    """Overrides a port's signal with a value; null ends the override."""

    signal: Name
    value: float | None = None


class SendBusOrder(ClientMessage, frozen=True, tag="order"):
    """Sends an order to a bus: a fault to inject, a frame to send."""

    bus: Name
    name: Name
    args: Annotated[
        dict[Name, bool | float | Annotated[str, msgspec.Meta(max_length=512)] | list[int]],
        msgspec.Meta(max_length=100),
    ] = {}


class FaultRequest(ClientMessage, frozen=True, tag="fault"):
    """Begins or ends a fault: one of the scene by its name, or with a ``kind`` a new one.

    ``args`` are its parameters as in a file; without name and kind all faults end. A ``person``
    without a ``part`` is a visitor added to the scene, who starts at ``enters``.
    """

    name: Name = ""
    on: bool = True
    kind: Name = ""
    args: Annotated[
        dict[Name, bool | float | Annotated[str, msgspec.Meta(max_length=512)] | list[float]],
        msgspec.Meta(max_length=100),
    ] = {}


class Inspect(ClientMessage, frozen=True):
    """Requests the attributes of an object; ``kind`` is scene, part, element, joint and so on."""

    name: Name
    kind: Name


class EditAttribute(ClientMessage, frozen=True, tag="edit"):
    """Changes an attribute in the file; ``value`` is a number, or text as in the file."""

    name: Name
    kind: Name
    key: Name
    value: Annotated[str, msgspec.Meta(max_length=65536)] | float | bool


class CloseLoop(ClientMessage, frozen=True, tag="close_loop"):
    """Connects two anchors by a joint, in the file; ``axis`` is in the anchors' frames."""

    a: Name
    b: Name
    joint: Name = "ball"
    axis: Triple = (0.0, 0.0, 1.0)


class GiveServos(ClientMessage, frozen=True, tag="give_servos"):
    """Gives servos to all joints without a drive, in the file; of an import, in a TOML copy."""


class Undo(ClientMessage, frozen=True):
    """Undoes the last edit."""


class Redo(ClientMessage, frozen=True):
    """Redoes the last undone step."""


class Save(ClientMessage, frozen=True):
    """Writes the changed files."""


class SaveAs(ClientMessage, frozen=True, tag="save_as"):
    """Writes the scene and the files it needs to a new file, and continues with that."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    overwrite: bool = False


class NewScene(ClientMessage, frozen=True, tag="new_scene"):
    """Opens a new, unsaved scene: a floor and, if one is named, a part of a kit.

    ``discard`` as for ``open``.
    """

    name: Name
    part: Name = ""
    discard: bool = False


class StorePosture(ClientMessage, frozen=True, tag="store_posture"):
    """Writes the displayed joint values into the file, as a named posture."""

    name: Name


class SetMovement(ClientMessage, frozen=True, tag="set_movement"):
    """Replaces the edited movement; without a draft it is removed.

    ``what`` names the undo step; messages of one ``gesture`` are one step. ``selected`` is the
    index of a posture. The answer has the same ``number``, also if it is a refusal.
    """

    draft: MovementDraft | None = None
    selected: Number = -1
    on: Name = ""
    what: Annotated[str, msgspec.Meta(max_length=200)] = ""
    gesture: Gesture = 0
    number: Gesture = 0


class AddPosture(ClientMessage, frozen=True, tag="add_posture"):
    """Adds the robot's present posture, or with ``wanted`` its target posture.

    Without a ``time`` it is placed one second after the last. If there is no movement, one is
    created for the part ``on``.
    """

    wanted: bool = False
    time: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] | None = None
    on: Name = ""


class ShowMovement(ClientMessage, frozen=True, tag="show_movement"):
    """Selects a ``posture`` by its index and shows it, or shows the movement at a time [s].

    While paused, the joints are set directly; while running, their targets are set.
    """

    posture: Number = -1
    time: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0


class PlayMovement(ClientMessage, frozen=True, tag="play_movement"):
    """Plays the movement on the robot, or stops it; ``take`` takes its joints over first."""

    on: bool = True
    take: bool = False


class MirrorMovement(ClientMessage, frozen=True, tag="mirror_movement"):
    """Exchanges left and right in a posture, or in all of them."""

    posture: Number = -1


class ReadPosture(ClientMessage, frozen=True, tag="read_posture"):
    """Writes the posture that a bus's machine reports into a posture, or adds one.

    ``on`` is the robot of a new movement.
    """

    bus: Name = ""
    posture: Number = -1
    on: Name = ""


class OpenMovement(ClientMessage, frozen=True, tag="open_movement"):
    """Opens a movement for editing: a kit's name of it, or a file in the studio's folders."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    name: Name = ""
    on: Name = ""


class SaveMovement(ClientMessage, frozen=True, tag="save_movement"):
    """Writes the movement, as TOML or into its robot's XML of Lima."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    overwrite: bool = False


class ConvertToToml(ClientMessage, frozen=True, tag="convert"):
    """Makes a TOML copy of the open file, and opens it."""


class ForgetRecent(ClientMessage, frozen=True, tag="forget"):
    """Removes a file from the list of recent ones; the file itself is kept."""

    path: Annotated[str, msgspec.Meta(max_length=4096)]


class TrustPrograms(ClientMessage, frozen=True, tag="trust"):
    """Trusts programs of the open scene or recording.

    ``once`` runs them as they are until something else is opened, ``content`` also later as long as
    they do not change, ``folder`` everything in their folder. ``programs`` are the keys of those
    that were shown; others, also changed ones, are not trusted.
    """

    how: Literal["once", "content", "folder"]
    programs: Annotated[
        list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(max_length=1000)
    ]


class Record(ClientMessage, frozen=True):
    """Starts or stops a recording."""

    on: bool


class Mark(ClientMessage, frozen=True):
    """Adds a named mark to the running recording."""

    text: Annotated[str, msgspec.Meta(max_length=200)] = ""


class ContinueRecording(ClientMessage, frozen=True, tag="continue_recording"):
    """Continues live from the displayed instant of the recording; ``discard`` as for ``open``."""

    discard: bool = False


class ControlRequest(ClientMessage, frozen=True, tag="control_request"):
    """Requests control."""


class ControlGrant(ClientMessage, frozen=True, tag="control_grant"):
    """Hands control over to a client."""

    to: Name


class Ack(ClientMessage, frozen=True):
    """Number of snapshots received since the connection was made."""

    frame: Annotated[int, msgspec.Meta(ge=0, le=2**53)]


FromClient = (
    Open
    | CloseScene
    | Play
    | Pause
    | SingleStep
    | Reset
    | Speed
    | Seek
    | BackToLive
    | Set
    | Take
    | TrustPrograms
    | Release
    | DragJoint
    | Posture
    | Grab
    | EndGrab
    | Watch
    | ShowBlocks
    | Override
    | SendBusOrder
    | FaultRequest
    | Inspect
    | EditAttribute
    | CloseLoop
    | GiveServos
    | Undo
    | Redo
    | Save
    | SaveAs
    | SetReach
    | DragTool
    | EndToolDrag
    | SampleWorkspace
    | NewScene
    | StorePosture
    | ConvertToToml
    | ForgetRecent
    | Record
    | Mark
    | ContinueRecording
    | ControlRequest
    | ControlGrant
    | Ack
    | SetMovement
    | AddPosture
    | ShowMovement
    | PlayMovement
    | MirrorMovement
    | ReadPosture
    | OpenMovement
    | SaveMovement
)

#: Messages that a viewer may send; all others are the driver's.
ALLOWED_TO_ALL = (Watch, ShowBlocks, Inspect, ControlRequest, Ack)


_decoder = msgspec.json.Decoder(FromClient)


def decode(data: bytes | str) -> FromClient:
    """Decodes a client's message from JSON.

    Raises:
        FormatError: If it is not a valid message; the error text says why.
    """
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(f"this is not a studio message: {shortened(str(error))}.") from None
