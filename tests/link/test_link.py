"""The link between a session and its peers keeps its promises, whatever a peer does."""

import asyncio
import contextlib
import gc
import itertools
import os
import random
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.link import (
    LinkClosed,
    LinkError,
    LinkFull,
    LinkLimits,
    PeerEnd,
    PeerJoined,
    PeerLeft,
    SessionEnd,
    connect,
    local_link,
    serve,
)
from linkwork.link.address import dial
from linkwork.link.framing import GOODBYE, MESSAGE, SNAPSHOT, FrameBatch, FrameReader, frame
from linkwork.link.handshake import (
    HELLO_SIZE,
    MAGIC,
    WELCOME_SIZE,
    PeerHandshake,
    SessionHandshake,
)

HANG = 60.0  # [s]; only a test that would fail anyway waits so long
# a loaded machine changes nothing
PATIENT = LinkLimits(handshake_timeout=10 * HANG, linger=HANG / 4)
TIGHT = replace(PATIENT, message=1 << 16, backlog=1 << 18)
LOOPBACK = "tcp:127.0.0.1:0"


class Bench:
    """One link of some kind, whose ends are all closed at the end."""

    def __init__(self, kind: str, limits: LinkLimits = PATIENT) -> None:
        self.kind = kind
        self.peers: list[PeerEnd] = []
        if kind == "local":
            self.session, self._join = local_link(limits)
        else:
            self.session = serve(LOOPBACK if kind == "tcp" else None, limits=limits)

    def join(self, *, snapshots: bool = True) -> PeerEnd:
        if self.kind == "local":
            peer = self._join(snapshots=snapshots)
        else:
            peer = connect(self.session.address, self.session.key, snapshots=snapshots)
        self.peers.append(peer)
        return peer

    def close(self) -> None:
        for peer in self.peers:
            peer.close()
        self.session.close()


@pytest.fixture(params=["local", "unix", "tcp"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "unix" and not hasattr(socket, "AF_UNIX"):
        pytest.skip("no unix sockets here")
    return request.param


@pytest.fixture
def bench(kind: str) -> Iterator[Bench]:
    made = Bench(kind)
    yield made
    made.close()


@pytest.fixture
def tight(kind: str) -> Iterator[Bench]:
    """A link that holds little."""
    made = Bench(kind, TIGHT)
    yield made
    made.close()


@pytest.fixture
def session() -> Iterator[SessionEnd]:
    """A session that other processes can reach and that holds little."""
    with serve(limits=TIGHT) as made:
        yield made


def until(condition: Callable[[], bool]) -> None:
    """Waits for what must come, for ever but for a hang."""
    end = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


def gather(session: SessionEnd, number: int) -> list[tuple[int, bytes | PeerJoined | PeerLeft]]:
    """Receives until there are so many."""
    found: list[tuple[int, bytes | PeerJoined | PeerLeft]] = []
    end = time.monotonic() + HANG
    while len(found) < number:
        assert time.monotonic() < end, f"only {len(found)} of {number} came"
        session.wait(0.1)
        found += session.receive()
    return found


def farewell(session: SessionEnd) -> str:
    """Receives until a peer has left, and says why."""
    while True:
        for _, message in gather(session, 1):
            if isinstance(message, PeerLeft):
                return message.reason


def events(peer: PeerEnd, number: int) -> list[bytes]:
    """Takes events until there are so many."""
    found: list[bytes] = []
    end = time.monotonic() + HANG
    while len(found) < number:
        assert time.monotonic() < end, f"only {len(found)} of {number} came"
        found += peer.events(0.1)
    return found


def end_of(peer: PeerEnd) -> tuple[list[bytes], str]:
    """Takes events to the end of the link, and what it says then."""
    found: list[bytes] = []
    end = time.monotonic() + HANG
    try:
        while time.monotonic() < end:
            found += peer.events(0.1)
    except LinkClosed as closed:
        return found, str(closed)
    pytest.fail("the link never ended")


def accepts(peer: PeerEnd, message: bytes) -> bool:
    """Sends a message if there is room for it."""
    try:
        peer.send(message)
    except LinkFull:
        return False
    return True


def numbers(count: int) -> list[bytes]:
    return [b"%d" % i for i in range(count)]


def raw_peer(session: SessionEnd) -> socket.socket:
    """A peer that has the key and otherwise does what the test wants."""
    sock = dial(session.address, HANG)
    shake = PeerHandshake(session.key, sock.recv(HELLO_SIZE, socket.MSG_WAITALL))
    sock.sendall(shake.answer(snapshots=True))
    shake.check(sock.recv(5 + WELCOME_SIZE, socket.MSG_WAITALL)[5:])
    return sock


def read_all(sock: socket.socket) -> bytes:
    data = b""
    try:
        while part := sock.recv(1 << 16):
            data += part
    except ConnectionResetError:
        pass
    return data


# What is promised of order, loss and newness


def test_events_arrive_in_order_and_none_is_lost(bench: Bench) -> None:
    """10⁵ events, emitted as fast as possible, are what a peer takes."""
    peer = bench.join()
    sent = numbers(100_000)
    emitter = threading.Thread(target=lambda: [bench.session.emit(event) for event in sent])
    emitter.start()
    assert events(peer, len(sent)) == sent
    emitter.join()
    assert peer.events() == []


def test_events_of_one_call_and_of_several_are_the_same(bench: Bench) -> None:
    """Events emitted together, of all sizes, arrive as if emitted one by one."""
    peer = bench.join()
    sent = [bytes([i % 256]) * (i * i % 9973) for i in range(500)] + [b"", bytes(1 << 20), b"end"]
    bench.session.emit(*sent)
    bench.session.emit()
    assert events(peer, len(sent)) == sent


def test_messages_arrive_in_order_and_none_is_lost(bench: Bench) -> None:
    """Each of four peers sends 2 500 messages; the session has all of each in order."""
    peers = [bench.join() for _ in range(4)]
    sent = numbers(2500)
    senders = [
        threading.Thread(target=lambda p=peer: [p.send(message) for message in sent])
        for peer in peers
    ]
    for sender in senders:
        sender.start()
    found = gather(bench.session, 4 + 4 * len(sent))
    for peer in peers:
        assert [message for who, message in found if who == peer.id] == [PeerJoined(), *sent]
    for sender in senders:
        sender.join()


def test_the_latest_snapshot_wins(bench: Bench) -> None:
    """Who took an event finds the snapshot published before it, and no older one after that."""
    peer = bench.join()
    for i in range(1000):
        bench.session.publish(b"%d" % i)
    bench.session.emit(b"mark")
    assert events(peer, 1) == [b"mark"]
    assert peer.snapshot() == b"999"
    assert peer.snapshot() is None


def test_a_snapshot_is_a_copy(bench: Bench) -> None:
    """The blocks of a snapshot are joined, and may be reused at once."""
    peer = bench.join()
    head, body = bytearray(b"head"), bytearray(b"body")
    bench.session.publish([head, memoryview(body), b"!"])
    head[:] = body[:] = b"????"
    bench.session.emit(b"mark")
    events(peer, 1)
    assert peer.snapshot() == b"headbody!"
    bench.session.publish(memoryview(body))
    body[:] = b"----"
    assert peer.wait(HANG)
    assert peer.snapshot() == b"????"


def test_a_newcomer_sees_the_newest_snapshot_and_later_events(bench: Bench) -> None:
    """A paused session need not publish again for a peer that comes late."""
    bench.session.publish(b"old")
    bench.session.publish(b"new")
    bench.session.emit(b"before")
    peer = bench.join()
    bench.session.emit(b"after")
    assert events(peer, 1) == [b"after"]
    assert peer.snapshot() == b"new"


def test_a_peer_may_do_without_snapshots(bench: Bench) -> None:
    """A peer that joined for events is not bothered with snapshots."""
    bench.session.publish(b"first")
    peer = bench.join(snapshots=False)
    bench.session.publish(b"second")
    bench.session.emit(b"mark")
    assert events(peer, 1) == [b"mark"]
    assert peer.snapshot() is None
    assert not peer.wait(0.0)


def test_all_peers_see_the_same_order(bench: Bench) -> None:
    """Two threads emit to many peers: all of these see one order."""
    peers = [bench.join() for _ in range(12)]
    threads = [
        threading.Thread(target=lambda n=name: [bench.session.emit(n) for _ in range(200)])
        for name in (b"a", b"b")
    ]
    for thread in threads:
        thread.start()
    first, *others = [events(peer, 400) for peer in peers]
    assert all(other == first for other in others)
    for thread in threads:
        thread.join()


def test_an_event_for_one_peer_reaches_only_that_one(bench: Bench) -> None:
    """What is sent to one peer keeps its place among what all get."""
    one, other = bench.join(), bench.join()
    assert bench.session.peers == [one.id, other.id]
    bench.session.emit(b"all")
    bench.session.send(one.id, b"yours")
    bench.session.emit(b"end")
    assert events(one, 3) == [b"all", b"yours", b"end"]
    assert events(other, 2) == [b"all", b"end"]


# Coming and going


def test_coming_and_going_stand_among_the_messages(bench: Bench) -> None:
    """A peer's messages lie between its joining and its leaving."""
    peer = bench.join()
    peer.send(b"hello")
    peer.send(b"bye")
    peer.close()
    assert gather(bench.session, 4) == [
        (peer.id, PeerJoined()),
        (peer.id, b"hello"),
        (peer.id, b"bye"),
        (peer.id, PeerLeft("closed by the peer")),
    ]
    assert bench.session.peers == []


def test_who_comes_again_gets_a_new_id(bench: Bench) -> None:
    """After leaving or being dropped a peer can join again, as a new one."""
    first = bench.join()
    first.close()
    second = bench.join()
    bench.session.drop(second.id, "for a test")
    third = bench.join()
    bench.session.emit(b"welcome back")
    assert events(third, 1) == [b"welcome back"]
    assert len({first.id, second.id, third.id}) == 3
    until(lambda: bench.session.peers == [third.id])


def test_a_dropped_peer_gets_its_events_and_the_reason(bench: Bench) -> None:
    """Dropping comes after what was sent, and both ends know why."""
    peer = bench.join()
    bench.session.emit(*numbers(100))
    bench.session.drop(peer.id, "it speaks an old version")
    taken, complaint = end_of(peer)
    assert taken == numbers(100)
    assert "it speaks an old version" in complaint
    assert peer.closed == "it speaks an old version"
    assert farewell(bench.session) == "it speaks an old version"
    with pytest.raises(LinkClosed, match="old version"):
        peer.send(b"too late")
    bench.session.send(peer.id, b"nobody there, nothing wrong")
    bench.session.drop(peer.id, "again")


def test_an_id_that_never_was_is_refused(bench: Bench) -> None:
    """The error lists the ids that are connected."""
    peer = bench.join()
    with pytest.raises(LinkError, match=rf"no peer 77\. Connected peers: {peer.id}"):
        bench.session.send(77, b"hello")
    with pytest.raises(LinkError, match="no peer 0"):
        bench.session.drop(0, "")


def test_a_closed_session_has_handed_over_its_last_events(bench: Bench) -> None:
    """Events emitted just before closing arrive, more than a socket holds, then the end."""
    peer = bench.join()
    sent = [number * 500 for number in numbers(5000)]
    bench.session.emit(*sent)
    bench.session.close()
    taken, complaint = end_of(peer)
    assert taken == sent
    assert "the session was closed" in complaint
    with pytest.raises(LinkError):
        bench.join()


def test_closing_twice_is_closing_once(bench: Bench) -> None:
    """Both ends may be closed again; a closed session speaks to nobody, a closed peer says so."""
    peer = bench.join()
    peer.close()
    peer.close()
    with pytest.raises(LinkClosed, match="this end was closed"):
        peer.send(b"message")
    with pytest.raises(LinkClosed, match="this end was closed"):
        peer.events()
    assert peer.snapshot() is None
    bench.session.close()
    bench.session.close()
    bench.session.publish(b"snapshot")
    bench.session.emit(b"event")
    bench.session.receive()
    assert bench.session.receive() == []
    assert not bench.session.wait(0.0)


def test_no_more_peers_than_allowed(kind: str) -> None:
    """One too many is told so, and there is room again when another leaves."""
    made = Bench(kind, replace(PATIENT, peers=2))
    one, _ = made.join(), made.join()
    with pytest.raises(LinkError, match="maximum of 2 peers"):
        made.join()
    one.close()
    until(lambda: len(made.session.peers) == 1)
    made.session.emit(b"to one")
    assert events(made.join(), 0) == []
    made.close()


# Waiting


def test_waiting_wakes_for_a_message_and_for_an_event(bench: Bench) -> None:
    """A round trip in lock-step needs no polling."""
    peer = bench.join()
    gather(bench.session, 1)
    assert not bench.session.wait(0.0)
    assert not peer.wait(0.001)

    def answer() -> None:
        for _ in range(200):
            for event in events(peer, 1):
                peer.send(event)

    thread = threading.Thread(target=answer)
    thread.start()
    for i in range(200):
        bench.session.emit(b"%d" % i)
        assert bench.session.wait(HANG)
        assert bench.session.receive() == [(peer.id, b"%d" % i)]
    thread.join()


def test_messages_come_without_waiting_too(bench: Bench) -> None:
    """A session that waited once and then only receives gets its messages all the same."""
    peer = bench.join()
    gather(bench.session, 1)
    assert not bench.session.wait(0.01)
    peer.send(b"message")
    found: list[tuple[int, bytes | PeerJoined | PeerLeft]] = []
    until(lambda: bool(found.extend(bench.session.receive()) or found))
    assert found == [(peer.id, b"message")]


def test_waiting_ends_when_another_thread_ends_the_link(bench: Bench) -> None:
    """Who sleeps in ``events`` or ``wait`` is woken by the end."""
    peer = bench.join()
    gather(bench.session, 1)
    woken: list[object] = []
    threads = [
        threading.Thread(target=lambda: woken.append(end_of(peer))),
        threading.Thread(target=lambda: woken.append(bench.session.wait(HANG))),
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    bench.session.drop(peer.id, "enough")
    for thread in threads:
        thread.join()
    assert len(woken) == 2


@pytest.mark.parametrize("detached", [False, True])
def test_an_event_loop_can_watch_a_peer(bench: Bench, detached: bool) -> None:
    """``fileno`` or ``detach_loop`` wakes asyncio for snapshots, events and the end."""
    peer = bench.join()
    descriptor = peer.detach_loop() if detached else peer.fileno()
    news: asyncio.Queue[object] = asyncio.Queue()

    def take() -> None:
        if detached:
            peer.serve()
        try:
            if (snapshot := peer.snapshot()) is not None:
                news.put_nowait(snapshot)
            for event in peer.events():
                news.put_nowait(event)
        except LinkClosed:
            asyncio.get_running_loop().remove_reader(descriptor)
            news.put_nowait(None)

    async def watch() -> list[object]:
        asyncio.get_running_loop().add_reader(descriptor, take)
        seen = []
        for act in (
            lambda: bench.session.publish(b"snapshot"),
            lambda: bench.session.emit(b"event"),
            bench.session.close,
        ):
            await asyncio.to_thread(act)
            seen.append(await asyncio.wait_for(news.get(), HANG))
        return seen

    assert asyncio.run(watch()) == [b"snapshot", b"event", None]


def test_what_was_lent_comes_back(bench: Bench) -> None:
    """A peer whose sockets an event loop served still hands over what it sent when it closes."""
    peer = bench.join()
    peer.detach_loop()
    peer.serve()
    peer.send(b"last words")
    peer.close()
    until(lambda: b"last words" in [item for _, item in bench.session.receive()])


def test_the_descriptor_is_quiet_when_nothing_is_new(bench: Bench) -> None:
    """Taking makes it unreadable, so that a loop does not spin."""
    peer = bench.join()

    descriptor = peer.fileno()

    def readable() -> bool:
        return bool(select.select([descriptor], [], [], 0)[0])

    peer.events()
    assert not readable()
    bench.session.emit(b"event")
    until(readable)
    assert events(peer, 1) == [b"event"]
    assert not readable()


# Bounds


def test_what_is_too_large_is_refused_with_the_limit(tight: Bench) -> None:
    """Nothing of it crosses, and the link goes on."""
    peer = tight.join()
    large = bytes(TIGHT.message + 1)
    for send in (tight.session.emit, tight.session.publish, peer.send):
        with pytest.raises(LinkError, match="65537 bytes is larger than the 65536 bytes allowed"):
            send(large)
    with pytest.raises(LinkError, match="larger"):
        tight.session.send(peer.id, large)
    with pytest.raises(LinkError, match="larger"):
        tight.session.emit(b"small", large)
    tight.session.emit(large[1:])
    peer.send(large[1:])
    assert events(peer, 1) == [large[1:]]
    assert gather(tight.session, 2)[1] == (peer.id, large[1:])


def test_a_peer_that_never_takes_is_dropped_and_others_go_on(tight: Bench) -> None:
    """The reason states the bound, and another peer misses nothing."""
    idle, eager = tight.join(), tight.join()
    gather(tight.session, 2)
    sent: list[bytes] = []
    while len(tight.session.peers) == 2:
        event = b"%d" % len(sent) * 200
        tight.session.emit(event)
        sent.append(event)
        assert events(eager, 1) == [event]
        assert len(sent) < 100_000
    assert tight.session.peers == [eager.id]
    assert farewell(tight.session) == TIGHT.unread()
    assert str(TIGHT.backlog) in TIGHT.unread()
    tight.session.emit(b"go on")
    assert events(eager, 1) == [b"go on"]
    taken, complaint = end_of(idle)
    assert taken == sent[: len(taken)]
    assert str(TIGHT.backlog) in complaint


def test_a_session_that_never_receives_holds_little(tight: Bench) -> None:
    """Sending fails with a clear error, and nothing that was accepted is lost."""
    peer = tight.join()
    message = bytes(1000)
    accepted = 0
    while accepts(peer, message):
        accepted += 1
        assert accepted < 100_000
    with pytest.raises(LinkFull, match=f"has not taken the {TIGHT.backlog} bytes"):
        peer.send(message)
    found = gather(tight.session, 1 + accepted)
    assert [content for _, content in found[1:]] == [message] * accepted
    until(lambda: accepts(peer, b"again"))
    assert gather(tight.session, 1) == [(peer.id, b"again")]


def test_memory_stays_flat(kind: str) -> None:
    """Snapshots for a peer that takes none leave two or three in memory, not a thousand."""
    made = Bench(kind, replace(PATIENT, message=1 << 20, backlog=1 << 21))
    made.join()
    snapshot = memoryview(bytes(500_000))
    made.session.publish(snapshot)
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(1000):
            made.session.publish(snapshot)
        made.session.emit(b"end")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(snapshot)
    made.close()


def test_a_slow_reader_misses_snapshots_only(session: SessionEnd) -> None:
    """Read late, the stream has every event in order and each finds its snapshot before it."""
    with raw_peer(session) as slow:
        for i in range(500):
            session.publish(b"%d," % i * 2000)
            session.emit(b"%d" % i)
        stream = bytearray()
        reader, batch, last = FrameReader(TIGHT), FrameBatch(), -1
        count = 0
        while count < 500:
            stream += slow.recv(4096)
            while len(stream) >= 5:
                size = 5 + struct.unpack_from("<I", stream)[0]
                if len(stream) < size:
                    break
                reader.feed(bytes(stream[:size]), batch)
                del stream[:size]
                if batch.snapshot is not None:
                    newest = int(batch.snapshot.partition(b",")[0])
                    assert newest > last
                    last, batch.snapshot = newest, None
                for event in batch.messages:
                    assert int(event) == count
                    assert last >= count
                    count += 1
                batch.messages.clear()
        assert last == 499


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({"message": 0}, "must be from 1 to"),
        ({"message": 2**32}, "must be from 1 to"),
        ({"message": 1000, "backlog": 1000}, "at least 1064"),
    ],
)
def test_limits_that_cannot_work_are_refused(limits: dict[str, int], complaint: str) -> None:
    """A backlog must have room for one message at least."""
    with pytest.raises(LinkError, match=complaint):
        LinkLimits(**limits)


# Strangers and broken peers


GARBAGE = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\0" * 5000,
    MAGIC,
    MAGIC + bytes(100),
    MAGIC[:7],
    b"linkwork link 2\n" + bytes(65),
    b"",
    *(random.Random(seed).randbytes(seed * 37) for seed in range(40)),
]


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_garbage_from_a_stranger_is_dropped(bench: Bench) -> None:
    """Whoever has no key changes nothing, whatever he sends and however he leaves."""
    peer = bench.join()
    assert gather(bench.session, 1) == [(peer.id, PeerJoined())]
    strangers = []
    for garbage in GARBAGE[:20]:
        strangers.append(dial(bench.session.address, HANG))
        try:
            strangers[-1].sendall(garbage)
        except OSError:
            assert garbage  # it was hung up on while it still talked
    for garbage in GARBAGE[20:]:
        with dial(bench.session.address, HANG) as stranger:
            try:
                stranger.sendall(garbage)
            except OSError:
                assert garbage
    bench.session.emit(b"still here")
    assert events(peer, 1) == [b"still here"]
    peer.send(b"me too")
    assert gather(bench.session, 1) == [(peer.id, b"me too")]
    assert bench.session.peers == [peer.id]
    for stranger in strangers:
        stranger.close()


def test_a_browser_is_hung_up_on_at_once(session: SessionEnd) -> None:
    """What cannot be a peer's answer is not waited for."""
    with dial(session.address, HANG) as browser:
        browser.sendall(GARBAGE[0])
        assert len(read_all(browser)) == HELLO_SIZE


def test_a_stranger_who_says_nothing_is_turned_away() -> None:
    """A connection that proves nothing in time is closed."""
    with (
        serve(limits=LinkLimits(handshake_timeout=0.02)) as session,
        dial(session.address, HANG) as silent,
        dial(session.address, HANG) as half,
    ):
        half.sendall(MAGIC[:5])
        assert len(read_all(silent)) == HELLO_SIZE
        assert len(read_all(half)) == HELLO_SIZE
        assert session.receive() == []


def test_strangers_cannot_take_all_the_room(session: SessionEnd) -> None:
    """However many wait without a key, the session holds few and lets peers in after them."""
    strangers = [dial(session.address, HANG) for _ in range(60)]
    rejected = [one for one in strangers if not one.recv(HELLO_SIZE)]
    assert len(rejected) == 60 - 32
    for one in strangers:
        one.close()

    def joins() -> bool:
        try:
            connect(session.address, session.key).close()
        except LinkError:
            return False
        return True

    until(joins)


def test_half_a_message_is_no_message(session: SessionEnd) -> None:
    """A peer that breaks off in a message has left, and the whole ones before it count."""
    with raw_peer(session) as broken:
        broken.sendall(frame(MESSAGE, b"whole") + frame(MESSAGE, bytes(1000))[:500])
    _, whole, left = (message for _, message in gather(session, 3))
    assert whole == b"whole"
    assert isinstance(left, PeerLeft)
    assert "connection was lost" in left.reason
    assert session.peers == []


def test_a_message_in_pieces_is_whole(session: SessionEnd) -> None:
    """Bytes that come one by one make the same messages."""
    with raw_peer(session) as slow:
        for byte in frame(MESSAGE, b"one") + frame(MESSAGE, b"two"):
            slow.sendall(bytes([byte]))
        found = gather(session, 3)
    assert [message for _, message in found] == [PeerJoined(), b"one", b"two"]


@pytest.mark.parametrize(
    ("bytes_sent", "complaint"),
    [
        (struct.pack("<IB", 2**31, MESSAGE), "2147483648 bytes is larger than the 65536 bytes"),
        (struct.pack("<IB", TIGHT.message + 1, MESSAGE) + bytes(99), "65537 bytes is larger"),
        (struct.pack("<IB", 3, 77) + b"abc", "unknown kind 77"),
        (frame(SNAPSHOT, b"mine"), "messages only"),
        (random.Random(1).randbytes(300_000), "link"),
    ],
)
def test_a_peer_that_breaks_the_rules_is_sent_away(
    session: SessionEnd, bytes_sent: bytes, complaint: str
) -> None:
    """What it sent before counts; both ends know why it had to go; others do not notice."""
    with connect(session.address, session.key) as good, raw_peer(session) as bad:
        try:
            bad.sendall(frame(MESSAGE, b"fine") + bytes_sent)
        except OSError:
            assert len(bytes_sent) > TIGHT.message
        found = gather(session, 4)
        assert found[-2][1] == b"fine"
        reason = found[-1][1]
        assert isinstance(reason, PeerLeft)
        assert complaint in reason.reason
        if len(bytes_sent) < TIGHT.message:
            assert read_all(bad) == frame(GOODBYE, reason.reason.encode())
        session.emit(b"go on")
        assert events(good, 1) == [b"go on"]
        assert session.peers == [good.id]


def test_a_peer_that_does_not_read_is_told_why_when_it_does(session: SessionEnd) -> None:
    """The goodbye follows the half-sent frame, so that a late reader can understand it."""
    with raw_peer(session) as sleeper:
        while session.peers:
            session.emit(bytes(10_000))
        assert farewell(session) == TIGHT.unread()
        batch = FrameBatch()
        FrameReader(TIGHT).feed(read_all(sleeper), batch)
        assert set(batch.messages) == {bytes(10_000)}
        assert batch.goodbye == TIGHT.unread()


def test_a_wrong_key_is_refused(session: SessionEnd) -> None:
    """The error says so, and the session does not notice."""
    for key in ("", "wrong", session.key[:-1], session.key + "x"):
        with pytest.raises(LinkError, match="the key is wrong"):
            connect(session.address, key)
    assert session.receive() == []
    assert session.peers == []


def serve_bytes(reply: Callable[[socket.socket], None]) -> tuple[str, threading.Thread]:
    """Something that listens and is no session."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with listener, listener.accept()[0] as sock:
            reply(sock)

    thread = threading.Thread(target=answer)
    thread.start()
    return f"tcp:127.0.0.1:{listener.getsockname()[1]}", thread


def pretend(sock: socket.socket) -> None:
    """A session without the key, which lets everybody in."""
    shake = SessionHandshake("another key")
    sock.sendall(shake.hello)
    sock.recv(1000)
    sock.sendall(frame(4, shake.welcome(1, LinkLimits())))
    sock.recv(1)


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (pretend, "does not have the key"),
        (lambda sock: sock.sendall(b"HTTP/1.1 400 Bad Request\r\n" * 5), "not a Linkwork session"),
        (lambda sock: sock.sendall(b"linkwork link 9\n" + bytes(32)), "version 9 .* version 1"),
        (lambda sock: sock.sendall(MAGIC), "closed the connection"),
        (lambda sock: sock.recv(1), "timed out"),
    ],
)
def test_a_false_session_is_refused(reply: Callable[[socket.socket], None], complaint: str) -> None:
    """A peer talks only to a session that has the key, and says what it met instead."""
    address, thread = serve_bytes(reply)
    with pytest.raises(LinkError, match=complaint):
        connect(address, "key", timeout=0.2 if complaint == "timed out" else HANG)
    thread.join()


def test_the_key_does_not_cross_and_is_not_shown(session: SessionEnd) -> None:
    """Neither end sends it and no representation prints it."""
    with dial(session.address, HANG) as sock:
        hello = sock.recv(HELLO_SIZE, socket.MSG_WAITALL)
        answer = PeerHandshake(session.key, hello).answer(snapshots=True)
    assert session.key.encode() not in hello + answer
    assert session.key not in repr(session)
    assert len(session.key) >= 32


# Addresses


def test_a_fresh_address_belongs_to_this_user_and_leaves_no_trace() -> None:
    """Only the user can enter the socket's folder, which is gone after closing."""
    session = serve()
    path = Path(session.address.removeprefix("unix:"))
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    session.close()
    assert not path.parent.exists()


@pytest.mark.parametrize("address", ["tcp:0.0.0.0:0", "tcp:[::]:0", "tcp:example.org:80"])
def test_other_machines_are_kept_out_unless_asked(address: str) -> None:
    """Listening beyond loopback must be allowed in words."""
    with pytest.raises(LinkError, match="beyond_loopback"):
        serve(address)


def test_other_machines_may_be_let_in() -> None:
    """With the word, any address of this machine is served."""
    with serve("tcp:0.0.0.0:0", beyond_loopback=True) as session:
        port = session.address.rpartition(":")[2]
        connect(f"tcp:127.0.0.1:{port}", session.key).close()


@pytest.mark.parametrize(
    "address", ["", "here", "tcp:", "tcp:localhost", "tcp::80", "tcp:localhost:99999", "unix:"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    """The error shows what addresses look like."""
    for use in (serve, lambda where: connect(where, "key")):
        with pytest.raises(LinkError, match=r"unix:/path/to/socket and tcp:host:port"):
            use(address)


def test_nobody_at_the_address(tmp_path: Path) -> None:
    """The error names the address and asks what a user would ask himself."""
    for address in (f"unix:{tmp_path}/none", "tcp:127.0.0.1:1"):
        with pytest.raises(LinkError, match=r"no session answers at .* Check that it runs"):
            connect(address, "key")


def test_an_address_in_use_is_not_taken_over(tmp_path: Path) -> None:
    """A running session keeps its path, a file keeps its content."""
    with serve(f"unix:{tmp_path}/link") as session:
        with pytest.raises(LinkError, match="a running session uses it"):
            serve(session.address)
        connect(session.address, session.key).close()
    with serve(f"unix:{tmp_path}/link"):
        pass
    (tmp_path / "file").write_text("precious")
    with pytest.raises(LinkError, match="is not a socket"):
        serve(f"unix:{tmp_path}/file")
    with pytest.raises(LinkError, match="cannot listen"):
        serve(f"unix:{tmp_path}/{'long' * 50}")
    with pytest.raises(LinkError, match="key of a link is empty"):
        serve(key="")


# Other processes


PEER = """
import sys, time
from linkwork.link import LinkClosed, connect
peer = connect(sys.argv[1], sys.argv[2])
expected = 0
try:
    while True:
        for event in peer.events(1.0):
            if event == b"sum up":
                peer.send(b"%d" % expected)
                continue
            assert event == b"%d" % expected
            expected += 1
except LinkClosed:
    heavy = {"numba", "llvmlite", "mujoco"} & {name.partition(".")[0] for name in sys.modules}
    print(sorted(heavy))
"""

SESSION = """
import sys, time
from linkwork.link import serve
session = serve(sys.argv[1], key="key")
print("ready", flush=True)
while True:
    session.publish(b"snapshot")
    session.emit(b"event")
    time.sleep(0.001)
"""


def run(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True
    )


def test_a_process_gets_every_event_and_stays_light(session: SessionEnd) -> None:
    """A peer process counts 10⁵ events in order and has loaded neither numba nor MuJoCo."""
    with run(PEER, session.address, session.key) as process:
        gather(session, 1)
        for start in range(0, 100_000, 500):
            session.emit(*(b"%d" % i for i in range(start, start + 500)))
            if start % 5000 == 0:  # the session holds little: let the peer follow
                session.emit(b"sum up")
                gather(session, 1)
        session.emit(b"sum up")
        assert gather(session, 1)[0][1] == b"100000"
        session.close()
        assert process.communicate(timeout=HANG)[0] == "[]\n"
    assert process.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_a_killed_peer_has_left(session: SessionEnd) -> None:
    """SIGKILL in mid-stream is a leaving like another; the rest go on, and it can come again."""
    with connect(session.address, session.key) as witness:
        gather(session, 1)
        for life in range(2):
            with run(PEER, session.address, session.key) as process:
                gather(session, 1)
                session.emit(*numbers(10))
                process.send_signal(signal.SIGKILL)
                assert "connection was lost" in farewell(session)
            assert session.peers == [witness.id]
            session.emit(b"life %d is over" % life)
            assert events(witness, 11)[-1] == b"life %d is over" % life


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_a_killed_session_ends_the_link(tmp_path: Path) -> None:
    """Its peers see the end, and a new session can listen at the same path."""
    address = f"unix:{tmp_path}/link"
    with run(SESSION, address) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with connect(address, "key") as peer:
            events(peer, 5)
            assert peer.snapshot() == b"snapshot"
            process.send_signal(signal.SIGKILL)
            taken, complaint = end_of(peer)
            assert set(taken) <= {b"event"}
            assert "connection was lost" in complaint
    with serve(address) as session, connect(address, session.key) as peer:
        session.emit(b"alive")
        assert events(peer, 1) == [b"alive"]


# The stream


@given(
    contents=st.lists(
        st.tuples(st.sampled_from([MESSAGE, SNAPSHOT]), st.binary(max_size=300)), max_size=30
    ),
    cuts=st.lists(st.integers(0, 10_000), max_size=40),
)
def test_a_stream_may_be_cut_anywhere(contents: list[tuple[int, bytes]], cuts: list[int]) -> None:
    """However the bytes are divided, the frames are the same."""
    stream = b"".join(frame(kind, content) for kind, content in contents)
    reader, batch = FrameReader(TIGHT), FrameBatch()
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    for start, end in itertools.pairwise(edges):
        reader.feed(memoryview(stream)[start:end], batch)
    assert batch.messages == [content for kind, content in contents if kind == MESSAGE]
    snapshots = [content for kind, content in contents if kind == SNAPSHOT]
    assert batch.snapshot == (snapshots[-1] if snapshots else None)


@given(st.binary(max_size=2000))
def test_any_bytes_are_frames_or_an_error(data: bytes) -> None:
    """The reader fails in no other way."""
    with contextlib.suppress(LinkError):
        FrameReader(TIGHT).feed(data, FrameBatch())
