"""Writing motion: the scene's postures as animations of the joints' nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.formats.flat import Flat, FlatLink
from linkwork.formats.gltf.write_surfaces import Buffer
from linkwork.formats.posture import Values, link_pose, start_values
from linkwork.spatial.pose import Pose

#: An animation goes from the start into its posture within this time [s], in so many steps: a
#: quaternion turns the short way, so that each step must be less than half a turn.
DURATION, STEPS = 1.0, 12


def add_postures(flat: Flat, nodes: dict[str, int], buffer: Buffer) -> list[dict[str, Any]]:
    """An animation for each posture of the scene."""
    if flat.scene is None:
        return []
    first = start_values(flat)
    found = []
    for name in flat.scene.postures:
        last = start_values(flat, name)
        shares = np.linspace(0.0, 1.0, STEPS + 1)
        track = [_between(first, last, float(share)) for share in shares]
        made = animation(name, flat, nodes, buffer, shares * DURATION, track)
        if made is not None:
            found.append(made)
    return found


def animation(
    name: str,
    flat: Flat,
    nodes: dict[str, int],
    buffer: Buffer,
    times: np.ndarray,
    track: Sequence[Values],
) -> dict[str, Any] | None:
    """An animation through the values of joints at given times [s]; None if nothing moves."""
    offsets: dict[str, Pose] = {"": Pose()}
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    clock = -1
    for link in flat.links:
        offsets[link.name] = link.offset
        if link.joint is None or not _moves(link, track):
            continue
        poses = [offsets[link.carrier] @ link_pose(link, values) for values in track]
        paths = {"translation": np.array([pose.xyz for pose in poses])}
        paths["rotation"] = np.array([(*pose.quat[1:], pose.quat[0]) for pose in poses])
        for path, values in paths.items():
            if not (values != values[0]).any():
                continue
            if clock < 0:
                clock = buffer.add(np.asarray(times, np.float64), "SCALAR")
            out = buffer.add(values, "VEC3" if path == "translation" else "VEC4")
            samplers.append({"input": clock, "output": out, "interpolation": "LINEAR"})
            target = {"node": nodes[link.name], "path": path}
            channels.append({"sampler": len(samplers) - 1, "target": target})
    return {"name": name, "samplers": samplers, "channels": channels} if channels else None


def _moves(link: FlatLink, track: Sequence[Values]) -> bool:
    first = tuple(track[0][link.joint_name])
    return any(tuple(values[link.joint_name]) != first for values in track)


def _between(first: Values, last: Values, share: float) -> dict[str, tuple[float, ...]]:
    return {
        name: tuple(a + share * (b - a) for a, b in zip(values, last[name], strict=True))
        for name, values in first.items()
    }
