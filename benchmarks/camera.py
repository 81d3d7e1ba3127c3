"""CPU time of a camera image: 320×240 pixels with color and depth, in a walled room of 22 shapes.

    python benchmarks/camera.py [--quick] [--json [FILE]]

The peer casts the same rays through the same MuJoCo model with one call of mj_ray for each pixel
and computes no colors. The run fails unless the depths agree to 1e-9 m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from shared.room import furnished_room
from shared.rows import Benchmark
from shared.timing import compare, in_turn

from linkwork import Session
from linkwork.components.sensors.camera import Camera
from linkwork.core.mujoco_library import mujoco
from linkwork.engines.common.collision_scene import VISIBLE_GROUPS, CollisionScene

#: Time that an image may take [ms]: 20 frames per second.
TARGET_MS = 50.0


class OneByOne:
    """mj_ray for each pixel, in a loop."""

    def __init__(self, session: Session, camera: Camera) -> None:
        lens = camera.lens(0)
        shadow: Any = CollisionScene(session.world, exact=True)
        shadow.move(session.state.pose)
        self.model, self.data = shadow._model, shadow._data
        self.ignored = int(shadow.numbers[lens.body])
        self.start = session.state.pose[lens.body, :3].copy()
        self.size, focal = (lens.height, lens.width), lens.focal
        left = (lens.width / 2 - 0.5 - np.arange(lens.width)) / focal
        up = (lens.height / 2 - 0.5 - np.arange(lens.height)) / focal
        rays = np.stack(np.broadcast_arrays(1.0, left[None, :], up[:, None]), axis=2)
        self.rays = np.ascontiguousarray(rays.reshape(-1, 3))

    def take(self, count: int) -> None:
        geom, depth = np.zeros(1, np.int32), np.zeros(len(self.rays))
        for _ in range(count):
            for n, ray in enumerate(self.rays):
                depth[n] = mujoco.mj_ray(
                    self.model,
                    self.data,
                    self.start,
                    ray,
                    VISIBLE_GROUPS["visible"],
                    True,
                    self.ignored,
                    geom,
                    None,
                )
        self.depth = np.where(depth < 0.0, np.inf, depth).reshape(self.size)


def main() -> None:
    bench = Benchmark(__file__, __doc__)
    rounds = 5 if bench.parse().quick else 21
    with Session(furnished_room()) as session:
        block, _ = session.cycle.sensor("eye")
        assert isinstance(block, Camera)
        peer = OneByOne(session, block)
        optics = block.render(0)

        def take(count: int) -> None:
            for frame in range(count):
                optics.render(session.state.pose, frame)

        times = in_turn({"ours": take, "peer": peer.take}, steps=1, rounds=rounds)
        seen = np.isfinite(peer.depth)
        apart = float(np.abs(optics.depth[seen] - peer.depth[seen]).max())
        if apart > 1e-9:
            raise SystemExit(f"The depths differ by {apart:g} m, more than 1e-9 m.")
    row = compare(
        times, "image of 320×240 pixels, color and depth", "ours", "peer",
        "mj_ray, one call per pixel, no colors", unit="ms",
    )  # fmt: skip
    bench.publish([row], notes=[f"The target for an image is {TARGET_MS:g} ms."])


if __name__ == "__main__":
    main()
