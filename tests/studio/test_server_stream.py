"""Pictures on their way: whole, made once for all who see the same, and ended with the session."""

import asyncio
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from msgspec.structs import replace

from linkwork.core.errors import NameNotFound
from linkwork.link import connect, serve
from linkwork.studio import protocol as m
from linkwork.studio.protocol import BLOCK, CONTACTS, HEADER, POSES, PROTOCOL, SIGNALS
from linkwork.studio.protocol.link_messages import Broadcast, Snapshot, encode
from linkwork.studio.web.client_sockets import TOO_SLOW, serve_websocket
from linkwork.studio.web.hub import Hub
from linkwork.studio.web.stream import MAX_BYTES, MAX_TEXTS, ClientStream, SnapshotFrames
from studio_fixture import GHOST, TIMEOUT, studio

POSE = np.arange(21, dtype="<f4").tobytes()


def picture() -> Snapshot:
    values = np.array([1.0, 2.0, 3.0]).tobytes()
    return Snapshot(7, 0.5, POSE, 1, values, {CONTACTS: POSE[:28]}, b"{}")


def test_a_picture_is_one_frame_of_blocks() -> None:
    """Poses, the client's own signals and what it asked for, each at a multiple of 8 bytes."""
    data = SnapshotFrames(picture()).frame((CONTACTS,), 300, np.array([2, 0]))
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
    frames = SnapshotFrames(picture())
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
    link.emit(encode(Broadcast("", "event", b"{}")))
    link.close()

    async def run() -> None:
        ended = asyncio.Event()
        while peer.closed is None:
            await asyncio.sleep(0.01)
        Hub(peer, "0", ended.set).start()
        await asyncio.wait_for(ended.wait(), TIMEOUT)

    asyncio.run(run())
    peer.close()


class Stuck:
    """A socket whose other end has stopped reading."""

    async def send_text(self, data: str) -> None:
        await asyncio.Event().wait()

    async def send_bytes(self, data: bytes) -> None:
        await asyncio.Event().wait()


@pytest.mark.parametrize(("size", "count"), [(1, 2 * MAX_TEXTS), (MAX_BYTES // 4, 8)])
def test_a_client_that_stops_reading_is_given_up(size: int, count: int) -> None:
    """Also while a text is being sent to it; nothing is kept for it from then on."""

    async def run() -> None:
        stream = ClientStream(Stuck())
        sender = asyncio.ensure_future(stream.run())
        for _ in range(count):
            stream.text("x" * size)
            await asyncio.sleep(0)
        await asyncio.wait_for(stream.given_up.wait(), TIMEOUT)
        stream.text("x" * size)
        stream.show(SnapshotFrames(picture()))
        assert not stream._texts
        assert stream._newest is None
        assert not sender.done()  # who waits for it would wait for ever
        sender.cancel()
        await asyncio.gather(sender, return_exceptions=True)

    asyncio.run(run())


class Stalled:
    """A WebSocket that takes nothing, not even its end; that it was closed is remembered."""

    asked: ClassVar[dict[str, str]] = {"protocol": str(PROTOCOL)}

    def __init__(self) -> None:
        self.code = 0

    async def accept(self) -> None: ...

    async def read(self) -> str:
        return await asyncio.Event().wait()  # type: ignore[return-value]

    async def send_text(self, data: str) -> None:
        await asyncio.Event().wait()

    send_bytes = send_text

    async def close(self, code: int) -> None:
        self.code = code
        await asyncio.Event().wait()


def test_a_connection_that_takes_nothing_is_ended() -> None:
    """The one who stalls is out, although neither reading nor writing nor closing ends."""

    async def run() -> None:
        with serve() as link, connect(link.address, link.key) as peer:
            hub, socket = Hub(peer, "0", lambda: None), Stalled()
            served = asyncio.ensure_future(serve_websocket(socket, hub))  # type: ignore[arg-type]
            while not hub.people.names:
                await asyncio.sleep(0)
            for _ in range(2 * MAX_TEXTS):
                hub.take("A", b"garbage")
            await asyncio.wait_for(served, TIMEOUT)
            assert socket.code == TOO_SLOW
            assert not hub.people.names

    asyncio.run(run())


class Eyes:
    """A socket that remembers the versions of the pictures that it got."""

    def __init__(self) -> None:
        self.versions: list[int] = []

    async def send_text(self, data: str) -> None: ...

    async def send_bytes(self, data: bytes) -> None:
        self.versions.append(HEADER.unpack_from(data)[3])


def test_no_picture_of_another_scene_is_shown() -> None:
    """One that comes before its scene waits for it; one of the scene before is never sent."""

    async def run() -> None:
        with serve() as link, connect(link.address, link.key) as peer:
            hub, eyes = Hub(peer, "0", lambda: None), Eyes()
            stream = ClientStream(eyes)
            hub.join(stream)
            hub.start()
            sender = asyncio.ensure_future(stream.run())

            async def settle(event: bytes, shown: list[int]) -> None:
                link.emit(encode(Broadcast("", "scene", event)))
                end = asyncio.get_running_loop().time() + TIMEOUT
                while eyes.versions != shown:
                    assert asyncio.get_running_loop().time() < end, eyes.versions
                    await asyncio.sleep(0.01)

            link.publish(encode(picture()))
            await settle(b'{"version": 7}', [7])
            link.publish(encode(picture()))
            link.publish(encode(replace(picture(), version=9)))
            await settle(b'{"version": 8}', [7])
            await settle(b'{"version": 9}', [7, 9])
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)

    asyncio.run(run())


class Ears:
    """A socket that remembers the texts that it got."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def send_text(self, data: str) -> None:
        self.texts.append(data)

    async def send_bytes(self, data: bytes) -> None: ...


def test_who_comes_late_is_told_why_the_run_stopped() -> None:
    """Until the scene is another one; who comes back has heard it already."""

    async def reported(hub: Hub, was: str = "") -> bool:
        ears = Ears()
        stream = ClientStream(ears)
        name = hub.join(stream, was)
        sender = asyncio.ensure_future(stream.run())
        hub._send_all("end")
        while "end" not in ears.texts:
            await asyncio.sleep(0.01)
        sender.cancel()
        await asyncio.gather(sender, return_exceptions=True)
        hub.leave(name)
        return any("bent" in text for text in ears.texts)

    async def run() -> None:
        with serve() as link, connect(link.address, link.key) as peer:
            hub = Hub(peer, "0", lambda: None)
            error = NameNotFound("a bar is bent.").to_record()
            for source, failed, received in (
                ("", "message", False), ("NameNotFound", "", False), ("", "step", True),
            ):  # fmt: skip
                found = m.Event(3, "error", "a bar is bent.", source, error, failed)  # type: ignore[arg-type]
                event = m.encode(found)
                hub._event(Broadcast("", "event", event))
                assert await reported(hub) is received
            assert not await reported(hub, was="A")
            hub._event(Broadcast("", "scene", b'{"version": 7}'))
            assert not await reported(hub)

    asyncio.run(run())


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
