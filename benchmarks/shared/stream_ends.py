"""Our ends of the stream's benchmark, each a process: a session alone, a studio, its watchers."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from shared.child import answer, cpu
from shared.motion import BODIES, RATE, STEP, angle, angles, is_torn

TOKEN = "only-for-benchmarks"


def alone() -> None:
    """A session that nobody watches; ``4`` runs it for 4 s and tells its CPU time per second."""
    from linkwork import Session
    from shared.crowd import crowd

    session = Session(crowd())
    session.step(100)

    def run(word: str) -> float:
        start, began = time.process_time(), time.perf_counter()
        session.run(float(word), clock="real")
        return (time.process_time() - start) / (time.perf_counter() - began)

    answer("ready", run)


def studio() -> None:
    """A studio; answers with the CPU times of its session and of its server so far [s]."""
    from linkwork.cli.browse import LIMITS
    from linkwork.server.host.editor import Opened
    from linkwork.server.host.host import Host
    from linkwork.server.process import ServerProcess, Settings
    from linkwork.server.recent import Recents
    from linkwork.session.link import serve
    from shared.crowd import crowd

    with tempfile.TemporaryDirectory() as folder, serve(limits=LIMITS) as link:
        server = ServerProcess(Settings(link.address, link.key, "127.0.0.1", 0, TOKEN))
        host = Host(
            link, lambda _: Opened(crowd()), recents=Recents(Path(folder) / "recent.json"),
            recordings=Path(folder),
        )  # fmt: skip
        host.prepare("crowd")
        thread = threading.Thread(target=host.run)
        thread.start()
        try:
            answer(server.port, lambda _: [time.process_time(), cpu(server.pid)])
        finally:
            host.stop()
            thread.join()
            server.close()


class Watcher:
    """One client: acknowledges pictures as the page does, and looks whether they are whole."""

    def __init__(self) -> None:
        self.socket: Any = None
        self.pictures = self.torn = self.bytes = self._received = 0

    def restart(self) -> None:
        """Counts anew."""
        self.pictures = self.torn = self.bytes = 0

    async def watch(self) -> None:
        """Reads until cancelled."""
        from linkwork.server.messages import ACK_EACH, BLOCK, HEADER, POSES

        async for data in self.socket:
            if isinstance(data, str):
                continue
            self._received += 1
            if self._received % ACK_EACH == 0:
                await self.say("ack", frame=self._received)
            now = HEADER.unpack_from(data)[4]
            kind, _, length = BLOCK.unpack_from(data, HEADER.size)
            assert kind == POSES
            start = HEADER.size + BLOCK.size
            poses = np.frombuffer(data[start : start + length], "<f4").reshape(-1, 7)[-BODIES:]
            found = angles(poses[:, 2].astype(float), poses[:, 3:].astype(float))
            # An agent decides by the time at which a step begins, a picture is of its end.
            off = abs(float(found[0, 0]) - angle(max(0.0, now - STEP)))
            self.torn += is_torn(found) or off > 1e-4
            self.pictures += 1
            self.bytes += len(data)

    async def say(self, type: str, **fields: object) -> None:
        await self.socket.send(json.dumps({"type": type, **fields}))


async def _watch(address: str, count: int) -> None:
    from websockets.asyncio.client import connect

    watchers = [Watcher() for _ in range(count)]
    tasks = []
    for each in watchers:
        each.socket = await connect(address, max_size=None, compression=None)
        tasks.append(asyncio.ensure_future(each.watch()))
    loop = asyncio.get_running_loop()

    def word(text: str) -> object:
        found = asyncio.run_coroutine_threadsafe(_do(watchers, text), loop).result()
        for task in tasks:
            if task.done():
                task.result()
        return found

    await asyncio.to_thread(answer, "ready", word)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for each in watchers:
        await each.socket.close()


async def _do(watchers: list[Watcher], text: str) -> object:
    """Plays, pauses, or counts for some seconds."""
    if text in ("play", "pause"):
        await watchers[0].say(text)
        await asyncio.sleep(0.7)
        return text
    for each in watchers:
        each.restart()
    began = time.perf_counter()
    await asyncio.sleep(float(text))
    passed = time.perf_counter() - began
    return {
        "rates": [each.pictures / passed for each in watchers],
        "torn": sum(each.torn for each in watchers),
        "pictures": sum(each.pictures for each in watchers),
        "bytes": max(each.bytes for each in watchers) / passed,
        "wanted": RATE,
    }


if __name__ == "__main__":
    if sys.argv[1] == "watch":
        asyncio.run(_watch(sys.argv[2], int(sys.argv[3])))
    else:
        {"alone": alone, "studio": studio}[sys.argv[1]]()
