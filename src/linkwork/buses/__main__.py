"""Process of one bus."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from importlib import import_module

import msgspec

from linkwork.buses.adapter import Adapter
from linkwork.buses.messages import (
    BusProcessSettings,
    BusReady,
    Ping,
    PlanUpdate,
    Pong,
    decode_outgoing,
    decode_to_process,
    encode,
)
from linkwork.core.errors import LinkworkError
from linkwork.link import LinkClosed, LinkError, PeerEnd, connect


class LinkOutlet:
    """The link to the session, as the sink of an adapter's messages."""

    def __init__(self, peer: PeerEnd) -> None:
        self._peer = peer

    def send(self, message: msgspec.Struct) -> bool:
        """Sends a message; returns False if it is lost because the link is full or closed."""
        try:
            self._peer.send(encode(message))
        except LinkError:  # full or closed: the session is slow or has ended
            return False
        return True


def main() -> int:
    """Serves the bus; returns the exit code."""
    settings = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=BusProcessSettings)
    sys.path[:] = list(dict.fromkeys([*sys.path, *settings.search_path]))
    try:
        peer = connect(settings.link, settings.key)
    except LinkworkError as error:
        print(error, file=sys.stderr)
        return 1
    # Not the proactor of Windows: the loop waits for the link by its descriptor.
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


async def _serve(settings: BusProcessSettings, peer: PeerEnd) -> int:
    outlet = LinkOutlet(peer)
    try:
        adapter = _load(settings.adapter)(settings.plan, outlet)
        adapter.allow = frozenset(settings.allow)
        adapter.taken(settings.version, 0)
        endpoints = await adapter.start()
    except (LinkworkError, OSError, ImportError) as error:
        known = error if isinstance(error, LinkworkError) else LinkworkError(str(error))
        outlet.send(BusReady(error=known.to_record()))
        return 1
    outlet.send(BusReady([line[:2000] for line in endpoints]))
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        peer.serve()
        try:
            receive_messages(peer, adapter)
        except LinkClosed:
            if not over.done():
                over.set_result(None)
        except Exception as error:
            if not over.done():
                over.set_exception(error)

    loop = asyncio.get_running_loop()
    descriptor = peer.detach_loop()
    loop.add_reader(descriptor, wake)
    wake()
    tending = asyncio.create_task(adapter.run_reports())
    try:
        await asyncio.wait({over, tending}, return_when=asyncio.FIRST_COMPLETED)
        for done in (over, tending):
            if done.done():
                done.result()  # an error in the adapter ends the process, with its traceback
    finally:
        loop.remove_reader(descriptor)
        tending.cancel()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(adapter.close(), 2.0)
        # Clients that are still served are disconnected now; their errors are of no interest.
        loop.set_exception_handler(lambda *_: None)
    return 0


def receive_messages(peer: PeerEnd, adapter: Adapter) -> None:
    """Passes all messages of the session to the adapter."""
    _take(peer, adapter)
    while peer.wait(0.0):  # more arrived meanwhile, or the link has closed
        _take(peer, adapter)


def _take(peer: PeerEnd, adapter: Adapter) -> None:
    snapshot = peer.snapshot()
    for data in peer.events():
        message = decode_to_process(data)
        if isinstance(message, PlanUpdate):
            adapter.replan(message.plan, message.version)
        elif isinstance(message, Ping):
            with contextlib.suppress(LinkError):
                peer.send(encode(Pong(message.number)))
        elif message.name == "log":
            adapter.logging = bool(message.args.get("on", True))
        else:
            try:
                adapter.order(message.name, message.args)
            except LinkworkError as error:
                adapter.note_error(error)
    if snapshot is None:
        return
    now = decode_outgoing(snapshot)
    if now.version == adapter.version:
        adapter.taken(now.version, now.taken)
        adapter.arrived(now.step, now.time, now.turn, now.values)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # threads of the adapter's libraries may still run
