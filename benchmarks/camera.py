"""What a picture costs: 320×240 colour and depth on one core, in a walled room of 22 shapes.

The peer casts the same rays through the same MuJoCo model one by one, as one writes it by hand, and
shades nothing. The second row holds the picture against the bar of 20 frames per second.

    python benchmarks/camera.py [--quick] [--json]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from shared.report import Row, compare, in_turn, options, show
from shared.room import furnished_room

from linkwork import Session
from linkwork.mujoco_library import mujoco
from linkwork.sensors.camera import Camera
from linkwork.sensors.shadow import SEEN, Shadow

#: Frames per second that a picture must reach.
BAR = 20.0


class OneByOne:
    """mj_ray for each pixel, in a loop."""

    def __init__(self, session: Session, camera: Camera) -> None:
        lens = camera.lens(0)
        shadow: Any = Shadow(session.world, exact=True)
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
                    self.model, self.data, self.start, ray, SEEN["visible"], True, self.ignored,
                    geom, None,
                )  # fmt: skip
        self.depth = np.where(depth < 0.0, np.inf, depth).reshape(self.size)


def main() -> None:
    args = options(__doc__ or "")
    rounds = 5 if args.quick else 21
    with Session(furnished_room()) as session:
        block, _ = session.cycle.sensor("eye")
        assert isinstance(block, Camera)
        peer = OneByOne(session, block)
        optics = block.look(0)

        def take(count: int) -> None:
            for frame in range(count):
                optics.take(session.state.pose, frame)

        times = in_turn({"ours": take, "peer": peer.take}, steps=1, rounds=rounds)
        seen = np.isfinite(peer.depth)
        off = np.abs(optics.depth[seen] - peer.depth[seen]).max()
        assert off < 1e-9, f"the depths differ by {off:g} m"
    row = compare(times, "320×240 colour and depth", "ours", "peer", "mj_ray one by one")
    bar = 1e6 / BAR
    rows = [row, Row(f"the same, {1e6 / row.ours:.1f} frames/s", row.ours, bar, f"bar of {BAR:g}/s",
                     row.ours / bar)]  # fmt: skip
    show(rows, as_json=args.json)


if __name__ == "__main__":
    main()
