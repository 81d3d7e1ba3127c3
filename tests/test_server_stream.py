"""Pictures on their way: whole, made once for all who see the same, and ended with the session."""

import asyncio
import sys
from pathlib import Path

import numpy as np
import pytest

from linkwork.server.hub import Hub
from linkwork.server.messages import BLOCK, CONTACTS, HEADER, POSES, SIGNALS
from linkwork.server.relay import Picture, Tell, encode
from linkwork.server.stream import Frames
from linkwork.session.link import connect, serve
from studio_rig import GHOST, PATIENCE, studio

POSE = np.arange(21, dtype="<f4").tobytes()


def picture() -> Picture:
    values = np.array([1.0, 2.0, 3.0]).tobytes()
    return Picture(7, 0.5, POSE, 1, values, {CONTACTS: POSE[:28]}, b"{}")


def test_a_picture_is_one_frame_of_blocks() -> None:
    """Poses, the client's own signals and what it asked for, each at a multiple of 8 bytes."""
    data = Frames(picture()).frame((CONTACTS,), 300, np.array([2, 0]))
    assert HEADER.unpack_from(data) == (1, 0, 0, 7, 0.5)
    at, found = HEADER.size, {}
    while at < len(data):
        assert at % 8 == 0
        kind, flags, length = BLOCK.unpack_from(data, at)
        found[kind] = flags, data[at + 8 : at + 8 + length]
        at += 8 + length + -length % 8
    assert at == len(data)
    assert found == {
        POSES: (0, POSE),
        SIGNALS: (300, np.array([3.0, 1.0]).tobytes()),
        CONTACTS: (0, POSE[:28]),
    }


def test_what_several_clients_see_alike_is_made_once() -> None:
    """The same request gets the very same bytes; another one its own."""
    frames = Frames(picture())
    rows = np.array([0, 1])
    first = frames.frame((), 1, rows)
    assert frames.frame((), 1, rows.copy()) is first
    assert frames.frame((CONTACTS,), 1, rows) != first
    assert frames.frame((), 2, rows) != first
    assert frames.frame((), 1, None) == first[: len(first) - 8 - 16]


def test_a_hub_ends_when_the_links_end_comes_with_its_last_words() -> None:
    """Events and the end that follow each other at once are both taken."""
    link = serve()
    peer = connect(link.address, link.key)
    link.emit(encode(Tell("", "event", b"{}")))
    link.close()

    async def run() -> None:
        ended = asyncio.Event()
        while peer.closed is None:
            await asyncio.sleep(0.01)
        Hub(peer, "0", ended.set).start()
        await asyncio.wait_for(ended.wait(), PATIENCE)

    asyncio.run(run())
    peer.close()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks into /proc")
def test_a_running_server_has_neither_the_compiler_nor_the_physics(tmp_path: Path) -> None:
    """After a scene was shown, driven and streamed as a whole, its memory holds no such library."""
    with studio("gripper/follow", tmp_path) as here, here.client() as client:
        here.get("/api/gallery")
        client.until("scene")
        client.send("watch", number=1, signals=["gripper/J1.angle"])
        client.send("show", contacts=True, ghost=True)
        kinds: list[int] = []
        while set(kinds) != {POSES, SIGNALS, CONTACTS, GHOST}:
            read = client.read()
            kinds = read if isinstance(read, list) else kinds
        maps = Path(f"/proc/{here.server.pid}/maps").read_text()
        assert Path(sys.executable).resolve().name[:6] in maps
        assert not [word for word in ("llvmlite", "numba", "mujoco") if word in maps]
