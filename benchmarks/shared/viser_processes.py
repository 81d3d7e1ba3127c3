"""Processes of ``stream.py`` in ``.venv-bench``: a viser server, and its clients.

python viser_processes.py server|clients
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
import time
from typing import Any

import msgspec
import numpy as np

from shared.child import serve
from shared.motion import BODIES, HEIGHT, PITCH, RATE, angle, angles, is_torn, positions


def server() -> None:
    """A hundred boxes that move sixty times a second, in one atomic block each time.

    Every reply is the CPU time of the process so far [s].
    """
    viser: Any = importlib.import_module("viser")
    made = viser.ViserServer("127.0.0.1", 0, verbose=False)
    boxes = [
        made.scene.add_box(f"/B{n}", dimensions=(0.3, 0.1, 0.2), position=at)
        for n, at in enumerate(positions().tolist())
    ]
    playing = threading.Event()
    threading.Thread(target=_move, args=(made, boxes, playing), daemon=True).start()

    def reply(request: str) -> float:
        if request == "play":
            playing.set()
        elif request == "pause":
            playing.clear()
        return time.process_time()

    serve([made.get_port(), viser.__version__], reply)


def _move(made: Any, boxes: list[Any], playing: threading.Event) -> None:
    home, due = positions(), time.perf_counter()
    while True:
        if not playing.is_set():
            playing.wait()
            due = time.perf_counter()
        turn = angle(time.perf_counter())
        place = home.copy()
        place[:, 2] = HEIGHT + PITCH * turn / (2.0 * np.pi)
        wxyz = np.array([np.cos(turn / 2.0), 0.0, 0.0, np.sin(turn / 2.0)])
        with made.atomic():
            for box, xyz in zip(boxes, place, strict=True):
                box.position = xyz
                box.wxyz = wxyz
        due = max(due + 1.0 / RATE, time.perf_counter() - 1.0)
        time.sleep(max(0.0, due - time.perf_counter()))


class Client:
    """One client: keeps the pose of each box, and checks after each message that they agree."""

    def __init__(self) -> None:
        self.heights = np.full(BODIES, HEIGHT)
        self.quaternions = np.tile([1.0, 0.0, 0.0, 0.0], (BODIES, 1))
        self.shown, self.last = 0, 0.0
        self.torn = self.messages = self.bytes = 0

    def restart(self) -> None:
        """Sets the counts to zero."""
        self.shown = self.torn = self.messages = self.bytes = 0

    def take(self, data: bytes, unpack: Any) -> None:
        """Applies a message, which holds several changes."""
        size = int.from_bytes(data[8:16], "little")
        window = msgspec.msgpack.decode(unpack(data[16 : 16 + size]))
        moved = False
        for each in window["messages"]:
            name = each.get("name", "")
            if not name.startswith("/B"):
                continue
            if each["type"] == "SetPositionMessage":
                self.heights[int(name[2:])] = each["position"][2]
                moved = True
            elif each["type"] == "SetOrientationMessage":
                self.quaternions[int(name[2:])] = each["wxyz"]
                moved = True
        if not moved:
            return
        self.messages += 1
        self.bytes += len(data)
        found = angles(self.heights, self.quaternions)
        if is_torn(found):
            self.torn += 1
        elif found[0, 0] != self.last:
            self.last = float(found[0, 0])
            self.shown += 1

    async def read(self, socket: Any) -> None:
        """Reads messages until cancelled."""
        zstandard: Any = importlib.import_module("zstandard")
        unpack = zstandard.ZstdDecompressor().decompress
        async for data in socket:
            if isinstance(data, bytes):
                self.take(data, unpack)


async def _clients(address: str, version: str, count: int) -> None:
    from websockets.asyncio.client import connect
    from websockets.typing import Subprotocol

    clients = [Client() for _ in range(count)]
    tasks = []
    for each in clients:
        protocols = [Subprotocol(f"viser-v{version}")]
        socket = await connect(address, subprotocols=protocols, max_size=None)
        tasks.append(asyncio.ensure_future(each.read(socket)))
    loop = asyncio.get_running_loop()

    def reply(request: str) -> object:
        found = asyncio.run_coroutine_threadsafe(_count(clients, float(request)), loop).result()
        for task in tasks:
            if task.done():
                task.result()
        return found

    await asyncio.to_thread(serve, "ready", reply)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _count(clients: list[Client], seconds: float) -> object:
    """Counts updates for some seconds."""
    for each in clients:
        each.restart()
    began = time.perf_counter()
    await asyncio.sleep(seconds)
    passed = time.perf_counter() - began
    return {
        "rates": [each.shown / passed for each in clients],
        "torn": sum(each.torn for each in clients),
        "frames": sum(each.messages for each in clients),
        "bytes": max(each.bytes for each in clients) / passed,
        "wanted": RATE,
    }


if __name__ == "__main__":
    if sys.argv[1] == "clients":
        asyncio.run(_clients(sys.argv[2], sys.argv[3], int(sys.argv[4])))
    else:
        server()
