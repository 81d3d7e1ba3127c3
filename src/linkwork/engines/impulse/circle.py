"""Circles of joints: which others hold the two bodies of a joint together."""

from __future__ import annotations

from collections import deque

from linkwork.engines.impulse.joint_columns import MODE, SIDES, SOFT
from linkwork.engines.impulse.mechanism import Mechanism


def circle_through(made: Mechanism, joint: int) -> list[str]:
    """Names of the joints of the shortest loop that a joint is part of, itself first.

    What does not move is one body. A coupling holds all of its bodies together.
    """
    at: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for n, whole in enumerate(made.whole):
        if n != joint and not (whole[MODE : MODE + 6] % SOFT).any():
            continue  # a spring holds nothing
        ends[n] = [int(b) for b in whole[: whole[SIDES]]]
        for body in ends[n]:
            at.setdefault(body, []).append(n)
    first, *others = ends[joint]
    came: dict[int, tuple[int, int]] = {first: (-1, -1)}
    queue = deque([first])
    while queue:
        body = queue.popleft()
        if body in others:
            names = []
            while came[body][0] >= 0:
                before, by = came[body]
                names.append(made.names[by])
                body = before
            return list(dict.fromkeys([made.names[joint], *names]))
        for n in at.get(body, ()):
            if n == joint:
                continue
            for other in ends[n]:
                if other not in came:
                    came[other] = (body, n)
                    queue.append(other)
    return [made.names[joint]]
