"""Features that formats lack, and what is restored of parts that use them."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import chain

import numpy as np

from export_fixture import masses, placed, postures, stands
from linkwork.formats.flat import flatten
from linkwork.model.parts import Joint, Part
from linkwork.model.scene import Scene
from linkwork.model.world import World

#: Types of joints that a format has no word for, and what the names of the joints that stand for
#: one end in: none where what it carries is held, or is joined by nothing.
WORDLESS: dict[str, dict[str, tuple[str, ...]]] = {
    ".urdf": {
        "universal": ("_1", "_2"),
        "cylindrical": ("_position", "_angle"),
        "ball": ("_x", "_y", "_z"),
        "screw": ("", "_slide"),
    },
    ".sdf": {
        "cylindrical": ("_position", "_angle"),
        "planar": ("_x", "_y", "_angle"),
        "free": (),
    },
    ".mjcf": {
        "universal": ("_1", "_2"),
        "cylindrical": ("_position", "_angle"),
        "planar": ("_x", "_y", "_angle"),
        "screw": ("", "_slide"),
    },
}


def plain(names: list[str]) -> list[str]:
    """Returns names as flat files have them."""
    return [name.replace("/", "_") for name in names]


def wordless(thing: Part | Scene, suffix: str) -> list[str]:
    """Returns full names of the joints between elements that a format lacks."""
    return [
        link.joint_name
        for link in flatten(thing).links
        if link.joint is not None and link.carrier and link.joint.type in WORDLESS[suffix]
    ]


def comes_loose(thing: Part | Scene, suffix: str) -> bool:
    """Returns whether an element is joined only by loops in the file."""
    links = flatten(thing).links
    free = any(link.joint and link.carrier and link.joint.type == "free" for link in links)
    return free and "free" in WORDLESS[suffix]


def written_names(world: World, suffix: str) -> list[str]:
    """Returns names of the joints of a file, in the order of the world's joints."""
    named = zip(world.joint_names, world.joints, strict=True)
    return [name for full, joint in named for name in _written(full, joint, suffix)]


def assert_told(thing: Part | Scene, notes: list[str], suffix: str) -> None:
    """Asserts that the writer's notes name every joint and loop that the format lacks."""
    reported = _reported(notes)
    assert {*wordless(thing, suffix)} <= reported
    if suffix == ".urdf":
        assert {loop.name for loop in flatten(thing).loops} <= reported


def assert_loops_come_back(part: Part, back: Part, notes: list[str], suffix: str) -> None:
    """Loops that the notes do not tell as left out come back between the same points.

    MuJoCo holds a hinge by two points of its axis. In SDF the first loop of what nothing else
    carries is the joint that carries it.
    """
    reported, found = _reported(notes), {loop.name: loop for loop in flatten(back).loops}
    for loop in flatten(part).loops:
        name = loop.name.replace("/", "_")
        if loop.name in reported or name in back.joints:
            assert loop.name in reported or back.joints[name].type == loop.loop.joint
            continue
        if suffix == ".mjcf" and loop.loop.joint == "hinge":
            both = [found[f"{name}_1"], found[f"{name}_2"]]
            ends = [[np.mean([e.ends[n][1].xyz for e in both], axis=0)] for n in (0, 1)]
            assert {each.loop.joint for each in both} == {"ball"}
            again = both[0]
        else:
            again = found[name]
            ends = [[again.ends[n][1].xyz] for n in (0, 1)]
            assert again.loop.joint == loop.loop.joint
        for n, (link, pose) in enumerate(loop.ends):
            assert again.ends[n][0] == link.replace("/", "_")
            np.testing.assert_allclose(ends[n][0], pose.xyz, atol=1e-9)


def assert_pieces_come_back(part: Part, back: Part, suffix: str) -> None:
    """Elements, masses and names of joints come back, and all stands where it stood.

    Where nothing lost its joint that is so at any values, else where all values are 0.
    """
    before, after = masses(part), masses(back)
    for name, (mass, com, matrix) in before.items():
        found = after.pop(name.replace("/", "_"))
        least = 0.0 if mass else 1e-9  # what MuJoCo needs
        np.testing.assert_allclose(found[0], mass, rtol=1e-9, atol=least, err_msg=name)
        np.testing.assert_allclose(found[1], com, atol=2e-9, err_msg=name)
        np.testing.assert_allclose(found[2], matrix, atol=2e-9, err_msg=name)
    # what stands for places between joints, or for the world, weighs at most what MuJoCo needs
    assert all(mass <= 1e-9 for mass, _, _ in after.values())
    one, other = placed(part), placed(back)
    names = plain(other.joint_names)
    kept = [*chain.from_iterable(
        _written(name.replace("/", "_"), joint, suffix)
        for name, joint in zip(one.joint_names, one.joints, strict=True)
    )]  # fmt: skip
    assert {*kept} <= {*names}
    loose = comes_loose(part, suffix)
    if not loose:
        assert {*kept} == {*names}
        assert branches(other, single(one)) == branches(one, single(one))
    for q in [zeros(one)] if loose else [zeros(one), *postures(one)]:
        there, here = moved_alike(one, other, q, suffix)
        seen = {k.replace("/", "_"): v for k, v in stands(other, there).items()}
        for name, matrix in stands(one, here).items():
            found = seen[name.replace("/", "_")]
            np.testing.assert_allclose(found, matrix, atol=1e-9, err_msg=name)


def single(world: World) -> set[str]:
    """Returns flat names of the joints that every format has."""
    named = zip(plain(world.joint_names), world.joints, strict=True)
    return {name for name, joint in named if joint.type in ("hinge", "slider")}


def branches(world: World, names: set[str]) -> dict[str, list[str]]:
    """Returns for each of these joints its ancestors, from the ground on."""
    called = dict(zip(world.joint_body.tolist(), plain(world.joint_names), strict=True))
    found: dict[str, list[str]] = {}
    for body, name in called.items():
        if name not in names:
            continue
        path, at = [], int(world.parent[body])
        while at > 0:
            if called.get(at) in names:
                path.append(called[at])
            at = int(world.parent[at])
        found[name] = path[::-1]
    return found


def zeros(world: World) -> np.ndarray:
    """Returns the coordinates with all values 0; free bodies keep their pose."""
    q = np.zeros_like(world.q0)
    for joint, body in zip(world.joints, world.joint_body, strict=True):
        if joint.type in ("ball", "free"):
            a = int(world.qadr[body])
            q[a : a + joint.kind.nq] = world.q0[a : a + joint.kind.nq]
    return q


def logged(
    world: World, q: np.ndarray, suffix: str, held: Collection[str] = ()
) -> tuple[dict[str, list[float]], np.ndarray]:
    """The coordinates of each joint of a file as near to ``q`` as it can say, and the world's.

    Args:
        world: What was written.
        q: Its coordinates.
        suffix: The format.
        held: Types of joints that the reader of the file does not move.
    """
    values: dict[str, list[float]] = {}
    here = q.copy()
    for full, joint, body in zip(world.joint_names, world.joints, world.joint_body, strict=True):
        name, a, width = full.replace("/", "_"), int(world.qadr[body]), joint.kind.nq
        ends = WORDLESS[suffix].get(joint.type)
        given = q[a : a + width].tolist()
        if (
            joint.type in held
            or (ends is not None and joint.type in ("ball", "free"))
            or ends == ()
        ):
            here[a : a + width] = zeros(world)[a : a + width]
        elif ends is None:
            values[name] = given
        elif joint.type == "screw":
            values |= {name: given, f"{name}_slide": [joint.pitch * given[0] / math.tau]}
        else:
            values |= {name + end: [value] for end, value in zip(ends, given, strict=True)}
    return values, here


def moved_alike(
    one: World, other: World, q: np.ndarray, suffix: str
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the other world as near to ``q`` as it can say, and the first's of those."""
    values, here = logged(one, q, suffix)
    there, names = zeros(other), plain(other.joint_names)
    for name, given in values.items():
        a = int(other.qadr[other.joint_body[names.index(name)]])
        there[a : a + len(given)] = given
    return there, here


def _written(name: str, joint: Joint, suffix: str) -> list[str]:
    return [name + end for end in WORDLESS[suffix].get(joint.type, ("",))]


def _reported(notes: list[str]) -> set[str]:
    """Returns names after the colons of notes."""
    return {name for note in notes for name in note.rpartition(": ")[2].rstrip(".").split(", ")}
