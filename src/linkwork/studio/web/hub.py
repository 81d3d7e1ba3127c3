"""Hub: the connected clients of a studio, one of which drives."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count, islice
from string import ascii_uppercase

import msgspec
import numpy as np

from linkwork.core.errors import LinkworkError, SessionError
from linkwork.link import LinkClosed, PeerEnd
from linkwork.studio import protocol as m
from linkwork.studio.protocol import link_messages
from linkwork.studio.web.stream import ClientStream, SnapshotFrames

#: Approximate number of kept lines, and maximum number of messages with them.
MAX_LOG_LINES, MAX_LOG_MESSAGES = 1000, 200


class _Lines(msgspec.Struct):
    """The fields of a message with frames that the server needs."""

    lines: list[msgspec.Raw]


class LogBacklog:
    """Keeps the newest messages with frames, unchanged."""

    def __init__(self) -> None:
        self._texts: deque[tuple[str, int]] = deque()
        self._count = 0

    @property
    def texts(self) -> list[str]:
        """The messages, oldest first."""
        return [text for text, _ in self._texts]

    def add(self, text: str) -> None:
        """Adds a message; old ones are dropped."""
        lines = len(msgspec.json.decode(text, type=_Lines).lines)
        self._texts.append((text, lines))
        self._count += lines
        while (
            self._count - self._texts[0][1] >= MAX_LOG_LINES or len(self._texts) > MAX_LOG_MESSAGES
        ):
            self._count -= self._texts.popleft()[1]

    def clear(self) -> None:
        """Clears the backlog: another scene runs, or another version of it."""
        self._texts.clear()
        self._count = 0


class ClientRoster:
    """The connected clients, and which of them drives.

    The first client to connect drives. A client that reconnects as a viewer does not, since the
    driver may reconnect, too. When the driver leaves, the requesting client drives; without one,
    nobody drives until a client requests it.

    Attributes:
        names: All clients, in the order of connecting.
        driver: The client that drives, or None.
        requester: The client that asks to drive, or None.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.driver: str | None = None
        self.requester: str | None = None

    def join(self, was: str = "", *, watched: bool = False) -> str:
        """Adds a client and returns the name given to it.

        Args:
            was: The name of a client that reconnects; given again if it is free.
            watched: Whether it was a viewer.
        """
        free = was in _reserved_names() and was not in self.names
        name = was if free else next(each for each in _client_names() if each not in self.names)
        self.names.append(name)
        if self.driver is None and not watched:
            self.driver = name
        return name

    def leave(self, name: str) -> None:
        """Removes a client."""
        self.names.remove(name)
        if self.requester == name:
            self.requester = None
        if self.driver == name:
            self.driver, self.requester = self.requester, None

    def ask(self, name: str) -> None:
        """Requests to drive; granted at once if nobody drives."""
        if self.driver is None:
            self.driver = name
        elif self.driver != name:
            self.requester = name

    def grant(self, to: str) -> bool:
        """Makes a client the driver; naming the driver refuses a request. False if unknown."""
        if to not in self.names:
            return False
        self.driver, self.requester = to, None
        return True


def _reserved_names() -> set[str]:
    """Names that a reconnecting client may get again."""
    return set(islice(_client_names(), 4 * len(ascii_uppercase)))


def _client_names() -> Iterator[str]:
    for round_ in count(1):
        for letter in ascii_uppercase:
            yield letter if round_ == 1 else f"{letter}{round_}"


#: Timeout for a mesh [s], and size of the mesh cache [byte].
MESH_TIMEOUT, MAX_MESH_BYTES = 20.0, 256 * 2**20

#: Texts sent only to watching clients, with the block that these request.
_ON_DEMAND = {"ports": m.PORTS, "frames": m.FRAMES}


class _SceneVersion(msgspec.Struct):
    """The fields of a scene's description that the server needs."""

    version: int


class _Failed(msgspec.Struct):
    """The field of an event that shows a failed run."""

    failed: str = ""


class Hub:
    """All clients of one session. Call it from the event loop's thread only.

    Args:
        peer: The server's end of the link.
        version: Version of the program.
        ended: Called when the session has ended.
        address: The studio's address for other machines; empty if they cannot reach it.
    """

    def __init__(
        self, peer: PeerEnd, version: str, ended: Callable[[], object], address: str = ""
    ) -> None:
        self._address = address
        self.people = ClientRoster()
        self._peer, self._version, self._ended = peer, version, ended
        self._streams: dict[str, ClientStream] = {}
        self._keys: dict[str, str] = {}
        self._retained: dict[str, str] = {}
        self._failure = ""  # why the run stopped, for clients that connect later
        self._descriptor = -1
        self._frames: SnapshotFrames | None = None
        self._shown: int | None = None  # scene version that clients know
        self._view = link_messages.ViewRequest(0, [], [])
        self._backlog = LogBacklog()
        self._meshes: dict[str, bytes] = {}
        self._wanted: dict[str, asyncio.Future[bytes]] = {}

    def start(self) -> None:
        """Starts receiving from the session."""
        self._descriptor = self._peer.detach_loop()
        asyncio.get_running_loop().add_reader(self._descriptor, self._arrived)
        self._arrived()

    # ---- from the session ----------------------------------------------------------------

    def _arrived(self) -> None:
        self._peer.serve()
        try:
            snapshot, events = self._peer.snapshot(), self._peer.events()
        except LinkClosed:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            self._ended()
            return
        for event in events:
            self._event(link_messages.decode_from_host(event))
        if snapshot is not None:
            self._frames = SnapshotFrames(link_messages.decode_snapshot(snapshot))
            for stream in self._streams.values():
                self._show(stream)
        if self._peer.wait(0.0):
            # Something arrived in between, or the link ended behind its last events: the wake-up
            # was consumed with the rest, so check again.
            asyncio.get_running_loop().call_soon(self._arrived)

    def _show(self, stream: ClientStream) -> None:
        """Shows a client the newest snapshot, if it belongs to the scene that clients know."""
        if self._frames is not None and self._frames.snapshot.version == self._shown:
            stream.show(self._frames)

    def _event(self, message: link_messages.FromHost) -> None:
        if isinstance(message, link_messages.MeshResponse):
            waiting = self._wanted.pop(message.hash, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message.data)
            return
        text = message.text.decode()
        if message.kind == "closed":
            self._failure = ""
            self._retained.clear()
            self._backlog.clear()
            self._shown = self._frames = None
            for stream in self._streams.values():
                stream.forget()
        elif message.kind in link_messages.RETAINED:
            self._retained[message.kind] = text
            if message.kind == "scene":
                self._failure = ""
                self._backlog.clear()
                self._retained.pop("movement", None)  # a scene sends its own next
                self._shown = msgspec.json.decode(message.text, type=_SceneVersion).version
                for stream in self._streams.values():
                    stream.forget()  # a waiting snapshot may belong to the previous scene
        elif message.kind == "event":
            event = msgspec.json.decode(message.text, type=_Failed)
            if event.failed == "step":
                self._failure = text
        elif message.kind in _ON_DEMAND:
            if message.kind == "frames":
                self._backlog.add(text)
            for stream in self._streams.values():
                if _ON_DEMAND[message.kind] in stream.blocks:
                    stream.send_if_idle(text)
            return
        if message.to:
            stream = self._streams.get(message.to)
            if stream is not None:
                stream.text(text)
        else:
            self._send_all(text)
        if message.kind == "scene":
            for stream in self._streams.values():
                self._show(stream)

    async def mesh(self, name: str) -> bytes:
        """The triangles of a mesh; empty if there are none."""
        if name in self._meshes:
            return self._meshes[name]
        waiting = self._wanted.get(name)
        if waiting is None:
            waiting = self._wanted[name] = asyncio.get_running_loop().create_future()
            self._peer.send(link_messages.encode(link_messages.MeshRequest(name)))
        try:
            data = await asyncio.wait_for(asyncio.shield(waiting), MESH_TIMEOUT)
        except TimeoutError:
            self._wanted.pop(name, None)
            return b""
        if data and sum(map(len, self._meshes.values())) + len(data) < MAX_MESH_BYTES:
            self._meshes[name] = data
        return data

    # ---- from clients --------------------------------------------------------------------

    def join(self, stream: ClientStream, was: str = "", *, watched: bool = False) -> str:
        """Adds a client, possibly one that reconnects, and returns its name."""
        name, people = self.people.join(was, watched=watched), self.people
        self._streams[name] = stream
        self._keys[name] = secrets.token_urlsafe(16)
        is_open = "scene" in self._retained
        hello = m.Hello(
            m.PROTOCOL, self._version, name, people.driver, [*people.names], is_open, self._address,
            self._keys[name],
        )  # fmt: skip
        stream.text(m.encode(hello).decode())
        for kind in link_messages.RETAINED:
            if kind in self._retained:
                stream.text(self._retained[kind])
        if self._failure and not was:
            stream.text(self._failure)
        self._show(stream)
        self._send_people()
        return name

    def why_not(self, key: str) -> str:
        """Why the client with this key may not change anything; empty for the driver."""
        driver = self.people.driver
        if driver is not None and secrets.compare_digest(self._keys[driver].encode(), key.encode()):
            return ""
        return f"{driver} drives. Ask to drive first." if driver else "Ask to drive first."

    def leave(self, name: str) -> None:
        """Removes a client and releases what it grabbed."""
        drove = self.people.driver == name
        self.people.leave(name)
        del self._streams[name], self._keys[name]
        if drove:
            self._pass_on(name, m.EndGrab())
        self._see()
        self._send_people()

    def take(self, name: str, data: str | bytes) -> None:
        """Handles a client's message, or refuses it."""
        stream = self._streams[name]
        try:
            message = m.decode(data)
        except LinkworkError as error:
            self._refuse(stream, m.claimed_type(data), error)
            return
        if not isinstance(message, m.ALLOWED_TO_ALL) and self.people.driver != name:
            why = SessionError(self.why_not(self._keys[name]))
            self._refuse(stream, m.type_of(message), why)
            return
        match message:
            case m.Ack():
                stream.acknowledge(message.frame)
            case m.Watch():
                stream.signals, stream.number = message.signals, message.number
                stream.rows = None
                self._see()
            case m.ShowBlocks():
                looked = m.FRAMES in stream.blocks
                stream.blocks = _blocks(message)
                stream.images.clear()
                if message.frames and not looked:  # lines that others have seen; newer ones follow
                    for text in self._backlog.texts:
                        stream.text(text)
                self._see()
            case m.ControlRequest():
                self.people.ask(name)
                self._send_people()
            case m.ControlGrant():
                if self.people.grant(message.to):
                    self._pass_on(name, m.EndGrab())
                    self._send_people()
                else:
                    error = SessionError(f"{message.to!r} is not here.")
                    self._refuse(stream, "control_grant", error)
            case _:
                self._pass_on(name, message)

    def _pass_on(self, name: str, message: m.FromClient) -> None:
        try:
            self._peer.send(link_messages.encode(link_messages.ClientRequest(name, message)))
        except LinkworkError as error:
            stream = self._streams.get(name)
            if stream is not None:
                self._refuse(stream, m.type_of(message), error)

    def _refuse(self, stream: ClientStream, what: str, error: LinkworkError) -> None:
        stream.text(m.encode(m.Refused.of(what, error)).decode())

    def _send_people(self) -> None:
        people = self.people
        message = m.People(people.driver, [*people.names], people.requester)
        self._send_all(m.encode(message).decode())
        with contextlib.suppress(LinkworkError):  # the link has ended, and with it the server
            self._peer.send(link_messages.encode(link_messages.ClientCount(len(people.names))))

    def _send_all(self, text: str) -> None:
        for stream in self._streams.values():
            stream.text(text)

    def _see(self) -> None:
        """Requests from the session the blocks that all clients together want."""
        streams = list(self._streams.values())
        needed = dict.fromkeys(name for stream in streams for name in stream.signals)
        names = self._view.signals
        if len(names) > 2 * len(needed) + 64:
            names = []
        known = set(names)
        new = [each for each in needed if each not in known]
        names = [*names, *new]
        blocks = sorted({kind for stream in streams for kind in stream.blocks})
        view = link_messages.ViewRequest(self._view.number, names, blocks)
        if view != self._view:
            self._view = link_messages.ViewRequest(view.number + 1, names, blocks)
            try:
                self._peer.send(link_messages.encode(self._view))
            except LinkworkError:
                return  # the link has ended, and with it the server
        place = {each: row for row, each in enumerate(names)}
        for stream in streams:
            stream.rows = np.array([place[each] for each in stream.signals], np.int64)
            stream.view = self._view.number
            self._show(stream)  # while the session is paused, no other snapshot follows


def _blocks(message: m.ShowBlocks) -> tuple[int, ...]:
    """The kinds of blocks that a client requested."""
    asked = (
        (m.CONTACTS, message.contacts), (m.GHOST, message.ghost), (m.PORTS, message.ports),
        (m.FRAMES, message.frames), (m.FORCES, message.forces), (m.REACH, message.reach),
        (m.NEAR, message.near),
    )  # fmt: skip
    cameras = tuple(m.IMAGE + number * m.IMAGE_STEP for number in dict.fromkeys(message.cameras))
    return (*(kind for kind, wanted in asked if wanted), *cameras)
