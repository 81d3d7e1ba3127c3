"""Shared by the tests of writers: parts to write, postures, poses of their elements."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import linkwork as lw
from linkwork.formats.flat import flatten
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.model.parts import (
    Anchor,
    Box,
    Coupling,
    Cylinder,
    Element,
    Joint,
    Part,
    Sphere,
    find_kits,
)
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

#: Skew frames, so that nothing is correct by chance.
PLACE = Pose.of((0.1, -0.2, 0.3), rpy=(0.4, 1.2, -0.7))
OTHER = Pose.of((-0.05, 0.15, 0.25), rpy=(-1.0, 0.3, 2.0))
AXIS = (2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0)
AXIS2 = (1.0 / 5.0**0.5, 2.0 / 5.0**0.5, 0.0)


def kit_things(kind: type) -> list[str]:
    """Returns names of the parts, or scenes, of all kits."""
    found = []
    for kit in find_kits().values():
        for file in sorted(kit.folder.glob("*.toml")):
            word = "part" if kind is Part else "scene"
            if f'format = "linkwork/{word} ' in file.read_text():
                found.append(f"{kit.name}/{file.stem}")
    return found


def zoo(*types: str) -> Part:
    """Returns a base with a block on a joint of each type, skew at both ends."""
    part = Part("zoo").add(Element("base", (Sphere(0.1),), mass=1.0))
    options = {
        "universal": {"axis": AXIS, "axis2": AXIS2},
        "screw": {"axis": AXIS, "pitch": 0.02},
        "hinge": {"axis": AXIS, "range": (-1.5, 1.5), "damping": 0.1, "max_effort": 3.0},
        "slider": {"axis": AXIS, "range": (-0.2, 0.4), "friction": 0.5, "max_speed": 2.0},
        "cylindrical": {"axis": AXIS},
        "planar": {"axis": AXIS},
    }
    for number, kind in enumerate(types):
        at = Pose.of((0.5 * number, 0.0, 0.0)) @ PLACE
        block = Box((0.1, 0.2, 0.3), at=Pose.of((0.3, 0.1, 0.2), rpy=(0.1, 0.2, 0.3)))
        part.add(
            Element(f"block_{kind}", (block,), mass=2.0),
            Joint(
                f"joint_{kind}", kind, "base", f"block_{kind}", at=at, at_to=OTHER,
                **options.get(kind, {}),
            ),
        )  # fmt: skip
    return part


def four_bar() -> Part:
    """Returns a parallelogram of three bars on a base, closed at value 0."""
    bar = Cylinder(0.01, 0.5)
    upright, across = (replace(bar, at=Pose.of(xyz)) for xyz in ((0, 0, 0.25), (0, 0, 0.25)))
    lying = Pose.of((0, 0, 0.5), rpy=(0, np.pi / 2, 0))
    return (
        Part("four_bar")
        .add(
            Element("base", (Box((0.6, 0.1, 0.02)),), mass=1.0),
            Element("crank", (upright,), mass=0.2),
            Element("coupler", (across,), mass=0.2),
            Element("rocker", (upright,), mass=0.2),
            Joint("a", "hinge", "base", "crank", axis=(0, 1, 0)),
            Joint("b", "hinge", "crank", "coupler", at=lying, axis=(0, 1, 0)),
            Joint("c", "hinge", "base", "rocker", at=Pose.of((0.5, 0, 0)), axis=(0, 1, 0)),
            Anchor("end", "coupler", at=Pose.of((0, 0, 0.5), rpy=(0, -np.pi / 2, 0))),
            Anchor("top", "rocker", at=Pose.of((0, 0, 0.5))),
        )
        .close("end", "top", joint="hinge", axis=(0, 1, 0), name="closing")
    )


def coupled() -> Part:
    """Returns two joints of which the second follows the first."""
    return Part("coupled").add(
        Element("base", mass=1.0),
        Element("one", (Sphere(0.1),), mass=1.0),
        Element("two", (Sphere(0.1),), mass=1.0),
        Joint("lead", "hinge", "base", "one", axis=AXIS, at=PLACE),
        Joint("follow", "hinge", "one", "two", axis=AXIS2, at=OTHER),
        Coupling("follow", "lead", -0.5, 0.25),
    )


def short_joints(world: World) -> dict[str, Joint]:
    """Returns the joints of a placed part by their names without the scope."""
    named = zip(world.joint_names, world.joints, strict=True)
    return {name.removeprefix("robot/"): joint for name, joint in named}


@cache
def part_named(name: str) -> Part:
    return lw.load_part(name)


def placed(part: Part) -> World:
    """Returns the world of a part placed at the origin."""
    return compile_scene(Scene("bench").place(part, name="robot"))


def postures(world: World, count: int = 4, seed: int = 3) -> list[np.ndarray]:
    """Returns coordinates within the limits; quaternions have length one."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        q = world.q0.copy()
        for joint, body in zip(world.joints, world.joint_body, strict=True):
            a, v = int(world.qadr[body]), int(world.vadr[body])
            if joint.type in ("ball", "free"):
                turn = chance.normal(size=4)
                q[a + joint.kind.nq - 4 : a + joint.kind.nq] = turn / np.linalg.norm(turn)
                if joint.type == "free":
                    q[a : a + 3] += chance.uniform(-0.5, 0.5, 3)
                continue
            low = np.maximum(world.dof_lo[v : v + joint.kind.nv], -1.5)
            high = np.minimum(world.dof_hi[v : v + joint.kind.nv], 1.5)
            q[a : a + joint.kind.nq] = chance.uniform(low, high)
        for (follows, leads), (ratio, offset) in zip(
            world.coupling_dof.tolist(), world.coupling_law.tolist(), strict=True
        ):
            positions = [int(world.qadr[world.dof_body[d]]) for d in (follows, leads)]
            q[positions[0]] = ratio * q[positions[1]] + offset
        found.append(q)
    return found


def stands(world: World, q: np.ndarray, scope: str = "robot/") -> dict[str, np.ndarray]:
    """Returns the pose of each element in the world: a 4×4 matrix by name without the scope."""
    pose = forward(world, q)
    found = {}
    for name, body, local in zip(
        world.element_names, world.element_body, world.element_pose, strict=True
    ):
        whole = _pose(pose[body]) @ _pose(local)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = whole.matrix(), whole.xyz
        found[name.removeprefix(scope)] = matrix
    return found


def values_of(world: World, q: np.ndarray) -> dict[str, list[float]]:
    """Returns the coordinates of each joint, by name without the scope."""
    found = {}
    for name, joint, body in zip(world.joint_names, world.joints, world.joint_body, strict=True):
        a = int(world.qadr[body])
        found[name.removeprefix("robot/")] = q[a : a + joint.kind.nq].tolist()
    return found


def masses(part: Part) -> dict[str, tuple[float, np.ndarray, np.ndarray]]:
    """Returns mass, center and inertia of each element in its own frame, by full name."""
    found = {}
    for link in flatten(part).links:
        if link.element is not None:
            inertia = link.element.mass_properties()
            found[link.name] = (inertia.mass, inertia.com, inertia.matrix)
    return found


def _pose(row: np.ndarray) -> Pose:
    return Pose.of(row[:3], quat=row[3:])
