"""Pictures of cameras reach those who ask for them, each picture once."""

import asyncio

import numpy as np

from camera_room import room
from linkwork.session.session import Session
from linkwork.studio.host.snapshot_builder import SnapshotBuilder
from linkwork.studio.protocol import BLOCK, HEADER, IMAGE, IMAGE_HEAD, IMAGE_STEP
from linkwork.studio.protocol.link_messages import ViewRequest, decode_snapshot
from linkwork.studio.web.stream import ClientStream, SnapshotFrames


class Line:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    async def send_text(self, data: str) -> None:
        pass

    async def send_bytes(self, data: bytes) -> None:
        self.frames.append(data)


def image_of(frame: bytes) -> tuple[int, np.ndarray] | None:
    """Number of the camera and its picture in a binary frame, if there is one."""
    at = HEADER.size
    while at < len(frame):
        kind, flags, length = BLOCK.unpack_from(frame, at)
        at += BLOCK.size
        if kind == IMAGE:
            width, height, _ = IMAGE_HEAD.unpack_from(frame, at)
            body = frame[at + IMAGE_HEAD.size : at + length]
            return flags, np.frombuffer(body, np.uint8).reshape(height, width, 3)
        at += -(-length // 8) * 8
    return None


def test_each_picture_is_sent_once_and_as_it_is() -> None:
    """The first frame holds the picture, the second does not, and a moved cart makes a new one."""
    key = IMAGE + 0 * IMAGE_STEP
    with Session(room()) as session:
        session.running = False
        snapshot_builder = SnapshotBuilder(session.cycle, ViewRequest(1, [], [key]))
        line = Line()
        stream = ClientStream(line)
        stream.blocks = (key,)

        async def set_view() -> bytes:
            picture = decode_snapshot(snapshot_builder.build(session, None, None, None))
            await stream._send(SnapshotFrames(picture))
            return line.frames[-1]

        found = image_of(asyncio.run(set_view()))
        assert found is not None
        assert found[0] == 0
        assert np.array_equal(found[1], session.image("eye"))
        assert image_of(asyncio.run(set_view())) is None
        session["cart/J.target"] = 1.0
        session.step(3)
        found = image_of(asyncio.run(set_view()))
        assert found is not None
        assert np.array_equal(found[1], session.image("eye"))
        stream.forget()
        assert image_of(asyncio.run(set_view())) is not None


def test_what_is_no_camera_has_no_picture() -> None:
    """A number that is no camera's, or nobody's, gets an empty block that is not sent."""
    with Session(room().sensor("tilt", "inclinometer", on="cart/body")) as session:
        keys = [IMAGE + number * IMAGE_STEP for number in (1, 7)]
        picture = decode_snapshot(
            SnapshotBuilder(session.cycle, ViewRequest(1, [], keys)).build(
                session, None, None, None
            )
        )
        assert [picture.blocks[key] for key in keys] == [b"", b""]
