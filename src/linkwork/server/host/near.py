"""Near: what stands near a robot, for distances that are kept and shown."""

from __future__ import annotations

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.motion import Avoidance
from linkwork.world import World

#: Distances are shown from here on [m], and so many at most.
REACH, MOST = 0.3, 24


def surroundings(
    world: World, tip: str, *, distance: float = 0.0, itself: bool = False
) -> Avoidance | None:
    """Distances of a robot from all else that collides, and with ``itself`` from itself.

    Args:
        world: The world.
        tip: Element or anchor of the robot.
        distance: To keep [m].
        itself: Whether its own links count.

    Returns:
        None where there is nothing to be near to.
    """
    robot = world.body_part[world.frame(tip)[0]]
    colliding = dict.fromkeys(s.element for s in world.shapes if s.shape.collide)
    names = [world.element_names[number] for number in colliding]
    others = [name for name in names if not name.startswith(f"{robot}/")]
    try:
        return Avoidance(world, robot, others, distance=distance, itself=itself)
    except LinkworkError:
        return None


def near_rows(near: Avoidance, q: np.ndarray) -> np.ndarray:
    """The closest pairs as :data:`~linkwork.server.messages.NEAR` says, the closest first."""
    found = near.nearest(q, REACH)[:MOST]
    rows = np.zeros((len(found), 11), "<f4")
    for row, each in zip(rows, found, strict=True):
        row[:3], row[3:6], row[6] = each.on_a, each.on_b, each.distance
        row[7:] = each.shapes
    return rows
