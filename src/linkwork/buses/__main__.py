"""A bus's process: reads its settings, joins the session, serves until the session ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from importlib import import_module

import msgspec

from linkwork.buses.adapter import Adapter
from linkwork.buses.messages import (
    Ready,
    Replan,
    Settings,
    decode_outgoing,
    decode_to_process,
    encode,
)
from linkwork.errors import LinkworkError
from linkwork.session.link import LinkClosed, LinkError, PeerEnd, connect


class Wire:
    """The session's end, as an adapter sees it (an ``Outlet``)."""

    def __init__(self, peer: PeerEnd) -> None:
        self._peer = peer

    def send(self, message: msgspec.Struct) -> bool:
        """Sends a message; False where it found no room and is lost."""
        try:
            self._peer.send(encode(message))
        except LinkError:  # full or gone: the session is slow or over
            return False
        return True


def main() -> int:
    """Serves; returns the exit code."""
    settings = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Settings)
    sys.path[:] = list(dict.fromkeys([*sys.path, *settings.places]))
    try:
        peer = connect(settings.link, settings.key)
    except LinkworkError as error:
        print(error, file=sys.stderr)
        return 1
    # Not the proactor of Windows: the link is waited for by its descriptor.
    with peer, asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        return runner.run(_serve(settings, peer))


def _load(path: str) -> type[Adapter]:
    module, _, name = path.partition(":")
    found = import_module(module)
    for each in name.split("."):
        found = getattr(found, each)
    assert isinstance(found, type)
    assert issubclass(found, Adapter)
    return found


async def _serve(settings: Settings, peer: PeerEnd) -> int:
    wire = Wire(peer)
    try:
        adapter = _load(settings.adapter)(settings.plan, wire)
        adapter.taken(settings.version, 0)
        doors = await adapter.start()
    except (LinkworkError, OSError, ImportError) as error:
        wire.send(Ready(error=str(error)[:2000]))
        return 1
    wire.send(Ready([door[:2000] for door in doors]))
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        peer.serve()
        try:
            take(peer, adapter)
        except LinkClosed:
            if not over.done():
                over.set_result(None)
        except Exception as error:
            if not over.done():
                over.set_exception(error)

    loop = asyncio.get_running_loop()
    descriptor = peer.lend()
    loop.add_reader(descriptor, wake)
    wake()
    tending = asyncio.create_task(adapter.tend())
    try:
        await asyncio.wait({over, tending}, return_when=asyncio.FIRST_COMPLETED)
        for done in (over, tending):
            if done.done():
                done.result()  # a fault in the adapter ends the process, with its traceback
    finally:
        loop.remove_reader(descriptor)
        tending.cancel()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(adapter.close(), 2.0)
        # Clients that are still being served are cut off now; nobody needs to hear of that.
        loop.set_exception_handler(lambda *_: None)
    return 0


def take(peer: PeerEnd, adapter: Adapter) -> None:
    """Hands on all that the session says."""
    _take(peer, adapter)
    while peer.wait(0.0):  # it came between the two looks, or the end behind the last events
        _take(peer, adapter)


def _take(peer: PeerEnd, adapter: Adapter) -> None:
    snapshot = peer.snapshot()
    for data in peer.events():
        message = decode_to_process(data)
        if isinstance(message, Replan):
            adapter.replan(message.plan, message.version)
        elif message.name == "log":
            adapter.logging = bool(message.args.get("on", True))
        else:
            try:
                adapter.order(message.name, message.args)
            except LinkworkError as error:
                adapter.note(str(error), "error")
    if snapshot is None:
        return
    now = decode_outgoing(snapshot)
    if now.version == adapter.version:
        adapter.taken(now.version, now.taken)
        adapter.arrived(now.step, now.time, now.turn, now.values)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # whatever threads a library of the adapter's left behind
