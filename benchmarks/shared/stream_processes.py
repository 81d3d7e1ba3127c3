"""Processes of ``stream.py`` on our side: a session alone, a studio, and the studio's clients.

python stream_processes.py alone|studio|clients
"""

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

from shared.child import cpu, serve
from shared.motion import BODIES, RATE, STEP, angle, angles, is_torn

TOKEN = "only-for-benchmarks"


def alone() -> None:
    """A session without clients; the reply to "4" is its CPU time per second in a run of 4 s."""
    from linkwork import Session
    from shared.crowd import crowd

    session = Session(crowd())
    session.step(100)

    def run(request: str) -> float:
        start, began = time.process_time(), time.perf_counter()
        session.run(float(request), clock="real")
        return (time.process_time() - start) / (time.perf_counter() - began)

    serve("ready", run)


def studio() -> None:
    """A studio; every reply is the CPU time of its session and of its server so far [s]."""
    from linkwork.cli.studio_server import LIMITS
    from linkwork.link import serve as serve_link
    from linkwork.studio.host.editor import OpenedFile
    from linkwork.studio.host.host import Host
    from linkwork.studio.web.gallery import Recents
    from linkwork.studio.web.process import ServerProcess, ServerSettings
    from shared.crowd import crowd

    with tempfile.TemporaryDirectory() as folder, serve_link(limits=LIMITS) as link:
        server = ServerProcess(ServerSettings(link.address, link.key, "127.0.0.1", 0, TOKEN))
        host = Host(
            link, lambda _: OpenedFile(crowd()), recents=Recents(Path(folder) / "recent.json"),
            recordings=Path(folder),
        )  # fmt: skip
        host.prepare("crowd")
        thread = threading.Thread(target=host.run)
        thread.start()
        try:
            serve(server.port, lambda _: [time.process_time(), cpu(server.pid)])
        finally:
            host.stop()
            thread.join()
            server.close()


class Client:
    """One client: acknowledges frames as the page does, and checks that they are not torn."""

    def __init__(self) -> None:
        self.socket: Any = None
        self.frames = self.torn = self.bytes = self._received = 0

    def restart(self) -> None:
        """Sets the counts to zero."""
        self.frames = self.torn = self.bytes = 0

    async def read(self) -> None:
        """Reads frames until cancelled."""
        from linkwork.studio.protocol import BLOCK, HEADER, POSES, SNAPSHOTS_PER_ACK

        async for data in self.socket:
            if isinstance(data, str):
                continue
            self._received += 1
            if self._received % SNAPSHOTS_PER_ACK == 0:
                await self.send("ack", frame=self._received)
            now = HEADER.unpack_from(data)[4]
            kind, _, length = BLOCK.unpack_from(data, HEADER.size)
            assert kind == POSES
            start = HEADER.size + BLOCK.size
            poses = np.frombuffer(data[start : start + length], "<f4").reshape(-1, 7)[-BODIES:]
            found = angles(poses[:, 2].astype(float), poses[:, 3:].astype(float))
            # The agent uses the time at which a step begins, the frame has the time at its end.
            off = abs(float(found[0, 0]) - angle(max(0.0, now - STEP)))
            self.torn += is_torn(found) or off > 1e-4
            self.frames += 1
            self.bytes += len(data)

    async def send(self, type: str, **fields: object) -> None:
        await self.socket.send(json.dumps({"type": type, **fields}))


async def _clients(address: str, count: int) -> None:
    from websockets.asyncio.client import connect

    clients = [Client() for _ in range(count)]
    tasks = []
    for each in clients:
        each.socket = await connect(address, max_size=None, compression=None)
        tasks.append(asyncio.ensure_future(each.read()))
    loop = asyncio.get_running_loop()

    def reply(request: str) -> object:
        found = asyncio.run_coroutine_threadsafe(_do(clients, request), loop).result()
        for task in tasks:
            if task.done():
                task.result()
        return found

    await asyncio.to_thread(serve, "ready", reply)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for each in clients:
        await each.socket.close()


async def _do(clients: list[Client], request: str) -> object:
    """Plays, pauses, or counts frames for as many seconds as the request says."""
    if request in ("play", "pause"):
        await clients[0].send(request)
        await asyncio.sleep(0.7)
        return request
    for each in clients:
        each.restart()
    began = time.perf_counter()
    await asyncio.sleep(float(request))
    passed = time.perf_counter() - began
    return {
        "rates": [each.frames / passed for each in clients],
        "torn": sum(each.torn for each in clients),
        "frames": sum(each.frames for each in clients),
        "bytes": max(each.bytes for each in clients) / passed,
        "wanted": RATE,
    }


if __name__ == "__main__":
    if sys.argv[1] == "clients":
        asyncio.run(_clients(sys.argv[2], int(sys.argv[3])))
    else:
        {"alone": alone, "studio": studio}[sys.argv[1]]()
