"""Findings of the impulse engine: what it approximates, why a mechanism does not close."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.errors import Origin, listing
from linkwork.engines.impulse.body_kernels import MASS_INV
from linkwork.engines.impulse.frames import MIN_INERTIA_RATIO, inertia_ratio
from linkwork.engines.impulse.joint_law_kernels import JOINT, PRESCRIBED, ROW_MODE
from linkwork.engines.impulse.mechanism import COUPLING, KIND, SIZE, Mechanism
from linkwork.model.world import Finding, World


def limitations(world: World, owned: np.ndarray) -> list[Finding]:
    """Returns what the engine cannot do, or approximates, with the bodies of a mask."""
    found = []
    for b in np.flatnonzero(owned):
        if not (world.mass[b] > 0.0 and np.trace(world.inertia[b]) > 0.0):
            text = "Impulse needs a mass and an inertia of every body that moves."
            found.append(Finding("error", world.body_names[b], text, world.body_origins[b]))
        elif (part := inertia_ratio(world, int(b))) < 1.0:
            text = (
                f"its inertia about one axis is {part:.2g} of the largest; Impulse uses "
                f"{MIN_INERTIA_RATIO:g} of that."
            )
            found.append(Finding("approximated", world.body_names[b], text, world.body_origins[b]))
    for joint, name, b in zip(world.joints, world.joint_names, world.joint_body, strict=True):
        if not owned[b] or joint.type != "ball":
            continue
        if joint.ranges[0] is not None:
            text = "Impulse does not limit the range of a ball joint; Mujoco does."
            found.append(Finding("approximated", name, text, joint.origin))
        if joint.stiffness and joint.rest:
            text = "the spring of a ball joint is relaxed at 0; rest is ignored."
            found.append(Finding("approximated", name, text, joint.origin))
    for (follows, _), words in zip(world.coupling_dof, world.coupling_words, strict=True):
        if owned[world.dof_body[follows]] and words.get("polycoef"):
            text = "Impulse uses only the ratio and the offset of its coupling."
            found.append(Finding("approximated", world.dof_name(int(follows)), text))
    return found


def assembly_findings(
    world: World, mechanism: Mechanism, moved: np.ndarray, turned: np.ndarray, origin: Origin
) -> list[Finding]:
    """Notes the largest displacement [m] and rotation [rad] that closed the joints."""
    found = []
    for displacements, stated in ((moved, "moved by {:.3g} mm"), (turned, "turned by {:.3g}°")):
        if (most := float(displacements.max(initial=0.0))) > 1e-9:
            name = world.body_names[mechanism.own[int(displacements.argmax())]]
            much = stated.format(1e3 * most if displacements is moved else math.degrees(most))
            text = f"was {much}, the largest change, to close all joints."
            found.append(Finding("note", name, text, origin))
    return found


def joint_findings(
    world: World, mechanism: Mechanism, flipped_loops: list[int], redundant: int
) -> list[Finding]:
    """Notes flipped loop axes and redundant constraints."""
    found = []
    for n in flipped_loops:
        text = (
            "the axes of its anchors are opposite: the second is reversed, which is the same joint."
        )
        found.append(Finding("note", world.loop_names[n], text, world.loop_origins[n]))
    if redundant:
        text = (
            f"{redundant} of its constraints are redundant; the forces that they share are not "
            "unique."
        )
        names = [n for n, loop in zip(mechanism.names, mechanism.loops, strict=True) if loop >= 0]
        found.append(Finding("note", listing(names or mechanism.names, most=4), text))
    return found


#: Relative pivot of K below which a configuration is nearly singular.
_NEAR_SINGULAR = 1e-4
#: Ratio of masses above which the equations are badly conditioned.
_MASS_RATIO = 1e5


def origin_of(world: World, mechanism: Mechanism, names: list[str]) -> Origin | None:
    """Returns the origin of the first loop among these joints, or else of the first joint."""
    for name in names:
        if name in world.loop_names:
            return world.loop_origins[world.loop_names.index(name)]
    for name in names:
        if name in world.joint_names:
            return world.joints[world.joint_names.index(name)].origin
    return None


def gap_text(mechanism: Mechanism, joint: int, errors: np.ndarray) -> str:
    """Returns the gap of a joint with its unit."""
    found = np.abs(np.nan_to_num(errors[joint], nan=np.inf))
    row = int(found.argmax())
    if mechanism.joint_ints[joint, KIND] == COUPLING:
        return f"{found[row]:.3g} (m or rad)"
    return f"{found[row]:.3g} {'m' if row < 3 else 'rad'}"


def prescribed_among(mechanism: Mechanism, names: list[str]) -> list[str]:
    """Returns which of these joints are prescribed."""
    rows = mechanism.row_ints[mechanism.row_ints[:, ROW_MODE] == PRESCRIBED, JOINT]
    return [name for name in names if name in {mechanism.names[n] for n in rows}]


def closing_hint(
    mechanism: Mechanism, names: list[str], first: np.ndarray, pivot: np.ndarray
) -> str:
    """Returns a hint for joints that cannot be closed in a step."""
    if len(prescribed := prescribed_among(mechanism, names)) > 1:
        return f"{listing(prescribed, most=6)} are prescribed: give them consistent targets."
    size = mechanism.joint_ints[:, SIZE]
    acts = (np.arange(6) < size[:, None]) & (pivot > 0.0)
    if len(names) > 1 and (1.0 / (first[acts] * pivot[acts]) < _NEAR_SINGULAR).any():
        return (
            "It is near a singular configuration (a change point, with joints in line). Use a "
            "smaller step, or a drive that avoids it."
        )
    mass = 1.0 / mechanism.bodies[mechanism.bodies[:, MASS_INV] > 0.0, MASS_INV]
    if mass.max() > _MASS_RATIO * mass.min():
        return (
            f"Masses from {mass.min():.2g} to {mass.max():.2g} kg are joined: increase the "
            "smallest, or use a larger gap."
        )
    if prescribed:
        return (
            f"{prescribed[0]} is prescribed: give it a target that it can reach, or a smaller step."
        )
    return "Use a smaller step, or look for joints that contradict each other."
