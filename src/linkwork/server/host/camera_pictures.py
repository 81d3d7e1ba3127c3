"""Camera pictures: what the cameras of a running world see, for those who look on."""

from __future__ import annotations

import time

import numpy as np

from linkwork.sensors.camera import Camera
from linkwork.server.messages import IMAGE_HEAD
from linkwork.session.cycle import Cycle
from linkwork.state import State

#: A camera is looked through so often while time runs [1/s], and so many pixels wide at most.
RATE, WIDEST = 10.0, 480


class CameraPictures:
    """Makes blocks of pictures, and keeps the last of each camera.

    Args:
        cycle: What runs.
    """

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle
        self._blocks: dict[int, bytes] = {}
        self._made: dict[int, float] = {}
        self._count = 0

    def block(self, number: int, state: State, *, running: bool) -> bytes:
        """The picture of the sensor ``number`` in a state; empty where that is no camera."""
        sensors = self._cycle.world.sensors
        if number >= len(sensors):
            return b""
        now, last = time.perf_counter(), self._blocks.get(number, b"")
        if last and running and now - self._made[number] < 1.0 / RATE:
            return last
        camera, row = self._cycle.sensor(sensors[number].name)
        if not isinstance(camera, Camera):
            return b""
        self._made[number] = now
        colour = camera.look(row, state).colour
        stride = -(-colour.shape[1] // WIDEST)
        small = np.ascontiguousarray(colour[::stride, ::stride])
        body = small.tobytes()
        if last[IMAGE_HEAD.size :] != body:
            self._count += 1
            height, width, _ = small.shape
            last = self._blocks[number] = IMAGE_HEAD.pack(width, height, self._count) + body
        return last
