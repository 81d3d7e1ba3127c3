"""What is found before a run: what the impulse engine does softly, and what closing changed."""

from __future__ import annotations

import math

import numpy as np

from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.impulse.principal import THINNEST, thinned
from linkwork.errors import Origin, listing
from linkwork.world import Finding, World


def shortcomings(world: World, owned: np.ndarray) -> list[Finding]:
    """What cannot be done, or is not done, with the bodies of a mask."""
    found = []
    for b in np.flatnonzero(owned):
        if not (world.mass[b] > 0.0 and np.trace(world.inertia[b]) > 0.0):
            text = "Impulse needs a mass and an extent of every body that moves."
            found.append(Finding("error", world.body_names[b], text, world.body_origins[b]))
        elif (part := thinned(world, int(b))) < 1.0:
            text = (
                f"its inertia about one axis is {part:.2g} of the largest; Impulse counts it "
                f"as {THINNEST:g} of that."
            )
            found.append(Finding("soft", world.body_names[b], text, world.body_origins[b]))
    for joint, name, b in zip(world.joints, world.joint_names, world.joint_body, strict=True):
        if not owned[b] or joint.type != "ball":
            continue
        if joint.ranges[0] is not None:
            text = "Impulse leaves the range of a ball joint open; Mujoco keeps it."
            found.append(Finding("soft", name, text, joint.origin))
        if joint.stiffness and joint.rest:
            text = "the spring of a ball joint is slack where its value is 0; rest is ignored."
            found.append(Finding("soft", name, text, joint.origin))
    for (follows, _), words in zip(world.coupling_dof, world.coupling_words, strict=True):
        if owned[world.dof_body[follows]] and words.get("polycoef"):
            text = "of its coupling Impulse follows the ratio and the offset only."
            found.append(Finding("soft", world.dof_name(int(follows)), text))
    return found


def notes_of_closing(
    world: World, made: Mechanism, moved: np.ndarray, turned: np.ndarray, origin: Origin
) -> list[Finding]:
    """How far [m and rad] bodies went to close all joints: the ones that went farthest."""
    found = []
    for way, said in ((moved, "moved by {:.3g} mm"), (turned, "turned by {:.3g}°")):
        if (most := float(way.max(initial=0.0))) > 1e-9:
            name = world.body_names[made.own[int(way.argmax())]]
            much = said.format(1e3 * most if way is moved else math.degrees(most))
            text = f"was {much}, more than others, to close all joints."
            found.append(Finding("note", name, text, origin))
    return found


def notes_of_joints(
    world: World, made: Mechanism, facing: list[int], redundant: int
) -> list[Finding]:
    """Loops that are taken the other way round, and joints that hold what others hold too."""
    found = []
    for n in facing:
        text = (
            "the axes of its anchors point against each other: the second is taken the other "
            "way round, which is the same joint."
        )
        found.append(Finding("note", world.loop_names[n], text, world.loop_origins[n]))
    if redundant:
        text = (
            f"{redundant} of the ways in which joints hold it are held by others too; forces that "
            "they share cannot be told apart."
        )
        names = [n for n, loop in zip(made.names, made.loops, strict=True) if loop >= 0]
        found.append(Finding("note", listing(names or made.names, most=4), text))
    return found
