"""Hub: passes on between the session's process and the clients."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import msgspec
import numpy as np

from linkwork.errors import LinkworkError
from linkwork.server import messages as m
from linkwork.server import relay
from linkwork.server.backlog import Backlog
from linkwork.server.people import People
from linkwork.server.stream import Frames, Stream
from linkwork.session.link import LinkClosed, PeerEnd

#: How long a mesh is waited for [s], and how many are kept [byte].
PATIENCE, MOST_MESHES = 20.0, 256 * 2**20

#: Texts that go only to those who look, with what they have asked for then.
_LOOKED_AT = {"ports": m.PORTS, "frames": m.FRAMES}


class _Version(msgspec.Struct):
    """Of a scene's description, what the server itself must know."""

    version: int


class _Failed(msgspec.Struct):
    """Of an event, what tells a run that failed by itself: its source is the kind of error."""

    level: str = ""
    source: str = ""


class Hub:
    """All clients of one session. Its calls belong to the event loop's thread.

    Args:
        peer: The server's end of the link.
        version: Version of the program.
        ended: Called when the session is gone.
        address: Where other machines reach the studio; empty where they cannot.
    """

    def __init__(
        self, peer: PeerEnd, version: str, ended: Callable[[], object], address: str = ""
    ) -> None:
        self._address = address
        self.people = People()
        self._peer, self._version, self._ended = peer, version, ended
        self._streams: dict[str, Stream] = {}
        self._keys: dict[str, str] = {}
        self._lasting: dict[str, str] = {}
        self._failure = ""  # why the run stopped, for those who come later
        self._descriptor = -1
        self._frames: Frames | None = None
        self._shown: int | None = None  # version of the scene that clients were told of
        self._look = relay.Look(0, [], [])
        self._backlog = Backlog()
        self._meshes: dict[str, bytes] = {}
        self._wanted: dict[str, asyncio.Future[bytes]] = {}

    def start(self) -> None:
        """Begins to listen to the session."""
        self._descriptor = self._peer.lend()
        asyncio.get_running_loop().add_reader(self._descriptor, self._arrived)
        self._arrived()

    # ---- from the session ----------------------------------------------------------------

    def _arrived(self) -> None:
        self._peer.serve()
        try:
            picture, events = self._peer.snapshot(), self._peer.events()
        except LinkClosed:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            self._ended()
            return
        for event in events:
            self._event(relay.decode_outward(event))
        if picture is not None:
            self._frames = Frames(relay.decode_picture(picture))
            for stream in self._streams.values():
                self._show(stream)
        if self._peer.wait(0.0):
            # Something came in between, or the end of the link behind its last events: what
            # wakes us has been taken back with the rest, so we look again by ourselves.
            asyncio.get_running_loop().call_soon(self._arrived)

    def _show(self, stream: Stream) -> None:
        """Shows a client the newest picture, if it is one of the scene that clients know."""
        if self._frames is not None and self._frames.picture.version == self._shown:
            stream.show(self._frames)

    def _event(self, message: relay.Outward) -> None:
        if isinstance(message, relay.MeshFound):
            waiting = self._wanted.pop(message.hash, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message.data)
            return
        text = message.text.decode()
        if message.kind == "closed":
            self._failure = ""
            self._lasting.clear()
            self._backlog.clear()
            self._shown = self._frames = None
            for stream in self._streams.values():
                stream.forget()
        elif message.kind in relay.LASTING:
            self._lasting[message.kind] = text
            if message.kind == "scene":
                self._failure = ""
                self._backlog.clear()
                self._lasting.pop("movement", None)  # a scene's own comes after it
                self._shown = msgspec.json.decode(message.text, type=_Version).version
                for stream in self._streams.values():
                    stream.forget()  # what waits may be of the scene before
        elif message.kind == "event":
            event = msgspec.json.decode(message.text, type=_Failed)
            if event.level == "error" and event.source.endswith("Error"):
                self._failure = text
        elif message.kind in _LOOKED_AT:
            if message.kind == "frames":
                self._backlog.add(text)
            for stream in self._streams.values():
                if _LOOKED_AT[message.kind] in stream.blocks:
                    stream.glimpse(text)
            return
        if message.to:
            stream = self._streams.get(message.to)
            if stream is not None:
                stream.text(text)
        else:
            self._tell_all(text)
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
            self._peer.send(relay.encode(relay.MeshWanted(name)))
        try:
            data = await asyncio.wait_for(asyncio.shield(waiting), PATIENCE)
        except TimeoutError:
            self._wanted.pop(name, None)
            return b""
        if data and sum(map(len, self._meshes.values())) + len(data) < MOST_MESHES:
            self._meshes[name] = data
        return data

    # ---- from clients --------------------------------------------------------------------

    def join(self, stream: Stream, was: str = "", *, watched: bool = False) -> str:
        """Lets a client in, perhaps one that comes back, and returns its name."""
        name, people = self.people.join(was, watched=watched), self.people
        self._streams[name] = stream
        self._keys[name] = secrets.token_urlsafe(16)
        is_open = "scene" in self._lasting
        hello = m.Hello(
            m.PROTOCOL, self._version, name, people.driver, [*people.names], is_open, self._address,
            self._keys[name],
        )  # fmt: skip
        stream.text(m.encode(hello).decode())
        for kind in relay.LASTING:
            if kind in self._lasting:
                stream.text(self._lasting[kind])
        if self._failure and not was:
            stream.text(self._failure)
        self._show(stream)
        self._tell_people()
        return name

    def why_not(self, key: str) -> str:
        """Why the client with this key may not change anything; empty for who drives."""
        driver = self.people.driver
        if driver is not None and secrets.compare_digest(self._keys[driver].encode(), key.encode()):
            return ""
        return f"{driver} drives. Ask to drive first." if driver else "Ask to drive first."

    def leave(self, name: str) -> None:
        """A client is gone; what it holds with its hand falls."""
        drove = self.people.driver == name
        self.people.leave(name)
        del self._streams[name], self._keys[name]
        if drove:
            self._pass_on(name, m.Drop())
        self._see()
        self._tell_people()

    def take(self, name: str, data: str | bytes) -> None:
        """Takes a client's message; what is none, or not for it to say, is refused."""
        stream = self._streams[name]
        try:
            message = m.decode(data)
        except LinkworkError as error:
            self._refuse(stream, m.claimed_type(data), str(error))
            return
        if not isinstance(message, m.FOR_ALL) and self.people.driver != name:
            self._refuse(stream, m.type_of(message), self.why_not(self._keys[name]))
            return
        match message:
            case m.Ack():
                stream.acknowledge(message.frame)
            case m.Watch():
                stream.signals, stream.number = message.signals, message.number
                stream.rows = None
                self._see()
            case m.Show():
                looked = m.FRAMES in stream.blocks
                stream.blocks = _blocks(message)
                stream.images.clear()
                if message.frames and not looked:  # what others have seen; the rest is to come
                    for text in self._backlog.texts:
                        stream.text(text)
                self._see()
            case m.ControlRequest():
                self.people.ask(name)
                self._tell_people()
            case m.ControlGrant():
                if self.people.grant(message.to):
                    self._pass_on(name, m.Drop())
                    self._tell_people()
                else:
                    self._refuse(stream, "control_grant", f"{message.to!r} is not here.")
            case _:
                self._pass_on(name, message)

    def _pass_on(self, name: str, message: m.FromClient) -> None:
        try:
            self._peer.send(relay.encode(relay.Ask(name, message)))
        except LinkworkError as error:
            stream = self._streams.get(name)
            if stream is not None:
                self._refuse(stream, m.type_of(message), str(error))

    def _refuse(self, stream: Stream, what: str, text: str) -> None:
        stream.text(m.encode(m.Refused(what, text)).decode())

    def _tell_people(self) -> None:
        people = self.people
        message = m.People(people.driver, [*people.names], people.asks)
        self._tell_all(m.encode(message).decode())

    def _tell_all(self, text: str) -> None:
        for stream in self._streams.values():
            stream.text(text)

    def _see(self) -> None:
        """Asks the session for what the clients together want to see."""
        streams = list(self._streams.values())
        needed = dict.fromkeys(name for stream in streams for name in stream.signals)
        names = self._look.signals
        if len(names) > 2 * len(needed) + 64:
            names = []
        known = set(names)
        new = [each for each in needed if each not in known]
        names = [*names, *new]
        blocks = sorted({kind for stream in streams for kind in stream.blocks})
        look = relay.Look(self._look.number, names, blocks)
        if look != self._look:
            self._look = relay.Look(look.number + 1, names, blocks)
            try:
                self._peer.send(relay.encode(self._look))
            except LinkworkError:
                return  # the link has ended, and with it the server
        place = {each: row for row, each in enumerate(names)}
        for stream in streams:
            stream.rows = np.array([place[each] for each in stream.signals], np.int64)
            stream.look = self._look.number
            self._show(stream)  # while time stands still, no other comes


def _blocks(message: m.Show) -> tuple[int, ...]:
    """The kinds of blocks that a client asks for."""
    asked = (
        (m.CONTACTS, message.contacts), (m.GHOST, message.ghost), (m.PORTS, message.ports),
        (m.FRAMES, message.frames), (m.FORCES, message.forces), (m.REACH, message.reach),
        (m.NEAR, message.near),
    )  # fmt: skip
    cameras = tuple(m.IMAGE + number * m.IMAGE_STEP for number in dict.fromkeys(message.cameras))
    return (*(kind for kind, wanted in asked if wanted), *cameras)
