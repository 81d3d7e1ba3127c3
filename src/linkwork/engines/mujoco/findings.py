"""Findings: what MuJoCo cannot do with a world, or does only softly."""

from __future__ import annotations

import numpy as np

from linkwork.engines.mujoco.bodies import CODE, is_link, is_point
from linkwork.engines.mujoco.rebound import rebound
from linkwork.engines.mujoco.ties import CLOSING
from linkwork.engines.spring_kernels import LINEAR
from linkwork.parts.shape import Mesh, Plane
from linkwork.world import Finding, World


def find(world: World, owned: np.ndarray, felt: np.ndarray, prescribed: list[int]) -> list[Finding]:
    """Lists what the engine cannot do with the bodies it owns, or does only softly.

    Args:
        world: The world.
        owned: Mask over bodies of those it moves.
        felt: Mask over bodies of those that may touch them.
        prescribed: Degrees of freedom that follow their targets.
    """
    found = [f for b in np.flatnonzero(owned) for f in _body(world, int(b))]
    for n, name in enumerate(world.loop_names):
        if owned[world.loop_body[n]].any():
            found.append(_loop(world, n, name))
    for n, name in enumerate(world.spring_names):
        if owned[world.spring_body[n]].any() and world.spring_kind[n] != LINEAR:
            text = (
                "Mujoco has no torsion springs between anchors; give the joint there a stiffness, "
                "or let Impulse own this part."
            )
            found.append(Finding("error", name, text, world.spring_origins[n]))
    for dof in np.flatnonzero(owned[world.dof_body] & (world.restitution > 0.0)).tolist():
        if np.isinf(world.dof_lo[dof]) and np.isinf(world.dof_hi[dof]):
            continue
        given = rebound(float(world.restitution[dof]), world.scene.step)[2]
        text = (
            f"its stops are springs; at this step a restitution of {world.restitution[dof]:g} "
            f"becomes about {given:.2f}."
        )
        where = world.body_origins[int(world.dof_body[dof])]
        found.append(Finding("soft", world.dof_name(dof), text, where))
    followers = world.coupling_dof[:, 0]
    for dof in followers[owned[world.dof_body[followers]]].tolist():
        name, where = world.dof_name(dof), world.body_origins[int(world.dof_body[dof])]
        if dof in prescribed:
            text = "is prescribed but follows another joint; prescribe that one."
            found.append(Finding("error", name, text, where))
        else:
            found.append(Finding("soft", name, "follows its leader as a soft constraint.", where))
    return found + _surfaces(world, owned, felt)


def _body(world: World, b: int) -> list[Finding]:
    """What there is to say of an owned body and its joint."""
    kind, name, where = int(world.kind[b]), world.body_names[b], world.body_origins[b]
    v, found = int(world.vadr[b]), []
    if is_link(world, b):
        if np.count_nonzero(world.parent == b) != 1:
            text = "a chain of joints must end in one body with mass."
            found.append(Finding("error", name, text, where))
        if kind == CODE["free"]:
            text = "a free joint cannot stand in a chain of joints."
            found.append(Finding("error", name, text, where))
    elif kind and world.mass[b] <= 0.0:
        text = "a moving body needs mass: give its elements mass or density."
        found.append(Finding("error", name, text, where))
    elif kind and is_point(world, b):
        text = "has mass but no extent; it gets a radius of gyration of 0.1 mm."
        found.append(Finding("note", name, text, where))
    if kind == CODE["rail"] and _is_bent(world, b):
        text = "Mujoco has only straight rails; let Kinematic own this part."
        found.append(Finding("error", name, text, where))
    if kind == CODE["screw"]:
        found.append(Finding("soft", name, "the screw's thread is a soft constraint.", where))
    if kind == CODE["ball"] and world.stiffness[v] > 0.0 and world.rest[v] != 0.0:
        text = "the spring of a ball joint is slack where its value is 0; rest is ignored."
        found.append(Finding("soft", name, text, where))
    if kind == CODE["free"] and world.stiffness[v] > 0.0:
        text = "a free joint has no spring here; hold it by a ball or planar joint with one."
        found.append(Finding("error", name, text, where))
    return found


def _loop(world: World, n: int, name: str) -> Finding:
    if int(world.loop_kind[n]) in (CODE[kind] for kind in CLOSING):
        text = "the loop is a soft constraint; its gap is reported."
        return Finding("soft", name, text, world.loop_origins[n])
    text = f"Mujoco closes loops by {', '.join(CLOSING)} only; let Impulse own this part."
    return Finding("error", name, text, world.loop_origins[n])


def _surfaces(world: World, owned: np.ndarray, felt: np.ndarray) -> list[Finding]:
    """What there is to say of shapes that touch."""
    found = []
    for piece in world.shapes:
        if not piece.shape.collide or not felt[piece.body]:
            continue
        name = world.element_names[piece.element]
        where = world.element_origins[piece.element]
        if piece.restitution > 0.0:
            given = rebound(piece.restitution, world.scene.step)[2]
            text = (
                f"restitution is a soft contact spring; at this step {piece.restitution:g} "
                f"becomes about {given:.2f}."
            )
            found.append(Finding("soft", name, text, where))
        if isinstance(piece.shape, Mesh):
            found.append(Finding("note", name, "the mesh touches by its convex hull.", where))
        if isinstance(piece.shape, Plane) and not world.is_static(piece.body):
            text = "a plane that moves is a slab of its drawn size."
            found.append(Finding("note", name, text, where))
    return found


def _is_bent(world: World, b: int) -> bool:
    first, count = int(world.rail_first[b]), int(world.rail_count[b])
    return bool(np.any(world.rail[first : first + count, 1:] != 0.0))
