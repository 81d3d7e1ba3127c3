"""Chains: the joints that carry something, or that something carries."""

from __future__ import annotations

from linkwork.kinematics.kernels import FREE
from linkwork.world import World


def chain_of(world: World, frame: str) -> list[str]:
    """Joints that carry an element or anchor, the first one first."""
    body, found = world.frame(frame)[0], list[str]()
    names = {int(b): name for b, name in zip(world.joint_body, world.joint_names, strict=True)}
    while body > 0:
        name = names.get(body)
        if name is not None and len(world.dofs(name)):
            found.append(name)
        body = int(world.parent[body])
    return found[::-1]


def hanging_together(world: World, body: int) -> set[str]:
    """Joints of the island and of the placed part that a body belongs to."""
    island, part = int(world.island[body]), world.body_part[body]
    return {
        name
        for each, name in zip(world.joint_body.tolist(), world.joint_names, strict=True)
        if int(world.island[each]) == island >= 0 or (part and world.body_part[each] == part)
    }


def is_free(world: World, joint: str) -> bool:
    """Whether a joint holds a body in no way."""
    return int(world.kind[int(world.joint_body[world.joint(joint)])]) == FREE


def behind(world: World, first: str) -> list[str]:
    """A joint and all that it carries."""
    root, found = int(world.joint_body[world.joint(first)]), list[str]()
    for body, name in zip(world.joint_body.tolist(), world.joint_names, strict=True):
        while body > 0 and body != root:
            body = int(world.parent[body])
        if body == root:
            found.append(name)
    return found
