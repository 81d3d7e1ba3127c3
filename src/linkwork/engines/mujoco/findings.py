"""Findings: features of a world that MuJoCo cannot simulate or only approximates."""

from __future__ import annotations

import numpy as np

from linkwork.engines.common.kernels import LINEAR
from linkwork.engines.mujoco.equality import CLOSABLE_KINDS
from linkwork.engines.mujoco.params import MujocoParams
from linkwork.engines.mujoco.restitution import contact_for_restitution
from linkwork.engines.mujoco.spec_builder import CODE, is_link, is_point
from linkwork.model.parts.shape import Mesh, Plane
from linkwork.model.world import Finding, World


def find_approximations(
    world: World,
    owned: np.ndarray,
    collidable: np.ndarray,
    prescribed: list[int],
    params: MujocoParams,
) -> list[Finding]:
    """Lists what the engine cannot do, or only approximates, with the bodies it owns.

    Args:
        world: The world.
        owned: Mask over bodies of those it moves.
        collidable: Mask over bodies of those that may touch them.
        prescribed: Degrees of freedom that follow their targets.
        params: Parameters of the engine. In a model made for MuJoCo, loops and couplings are soft
            by design: then it is a note.
    """
    integrator, softness = params.integrator, "note" if params.native else "approximated"
    found = [f for b in np.flatnonzero(owned) for f in _body(world, int(b))]
    for n, name in enumerate(world.loop_names):
        if owned[world.loop_body[n]].any():
            found.append(_loop(world, n, name, softness))
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
        wanted = float(world.restitution[dof])
        given = contact_for_restitution(wanted, world.scene.step, integrator)[2]
        text = (
            f"its limits are springs; at this step a restitution of {wanted:g} "
            f"becomes about {given:.2f}."
        )
        where = world.body_origins[int(world.dof_body[dof])]
        found.append(Finding("approximated", world.dof_name(dof), text, where))
    followers = world.coupling_dof[:, 0]
    for dof in followers[owned[world.dof_body[followers]]].tolist():
        name, where = world.dof_name(dof), world.body_origins[int(world.dof_body[dof])]
        if dof in prescribed:
            text = "is prescribed but follows another joint; prescribe that one."
            found.append(Finding("error", name, text, where))
        else:
            found.append(Finding(softness, name, "follows its leader as a soft constraint.", where))
    return found + _surfaces(world, collidable, integrator)


def _body(world: World, b: int) -> list[Finding]:
    """Returns findings about an owned body and its joint."""
    kind, name, where = int(world.kind[b]), world.body_names[b], world.body_origins[b]
    v, found = int(world.vadr[b]), []
    if is_link(world, b):
        if np.count_nonzero(world.parent == b) != 1:
            text = "a chain of joints must end in one body with mass."
            found.append(Finding("error", name, text, where))
        if kind == CODE["free"]:
            text = "a free joint cannot be part of a chain of joints."
            found.append(Finding("error", name, text, where))
    elif kind and world.mass[b] <= 0.0:
        text = "a moving body needs mass: give its elements mass or density."
        found.append(Finding("error", name, text, where))
    elif kind and is_point(world, b):
        text = "has mass but no inertia; it gets a radius of gyration of 0.1 mm."
        found.append(Finding("note", name, text, where))
    if kind == CODE["rail"] and _is_bent(world, b):
        text = "Mujoco has only straight rails; let Kinematic own this part."
        found.append(Finding("error", name, text, where))
    if kind == CODE["screw"]:
        found.append(
            Finding("approximated", name, "the screw's thread is a soft constraint.", where)
        )
    if kind == CODE["ball"] and world.stiffness[v] > 0.0 and world.rest[v] != 0.0:
        text = "the spring of a ball joint is relaxed at 0; rest is ignored."
        found.append(Finding("approximated", name, text, where))
    if kind == CODE["free"] and world.stiffness[v] > 0.0:
        text = "a free joint has no spring; use a ball or planar joint with one."
        found.append(Finding("error", name, text, where))
    return found


def _loop(world: World, n: int, name: str, softness: str) -> Finding:
    if int(world.loop_kind[n]) in (CODE[kind] for kind in CLOSABLE_KINDS):
        text = "the loop is a soft constraint; its gap is reported."
        return Finding(softness, name, text, world.loop_origins[n])
    text = f"Mujoco closes loops by {', '.join(CLOSABLE_KINDS)} only; let Impulse own this part."
    return Finding("error", name, text, world.loop_origins[n])


def _surfaces(world: World, collidable: np.ndarray, integrator: str) -> list[Finding]:
    """Returns findings about colliding shapes."""
    found = []
    for world_shape in world.shapes:
        if not world_shape.shape.collide or not collidable[world_shape.body]:
            continue
        name = world.element_names[world_shape.element]
        where = world.element_origins[world_shape.element]
        if world_shape.restitution > 0.0:
            wanted = world_shape.restitution
            given = contact_for_restitution(wanted, world.scene.step, integrator)[2]
            text = (
                f"restitution is a soft contact spring; at this step {wanted:g} becomes about "
                f"{given:.2f}."
            )
            found.append(Finding("approximated", name, text, where))
        if isinstance(world_shape.shape, Mesh):
            found.append(Finding("note", name, "the mesh collides by its convex hull.", where))
        if isinstance(world_shape.shape, Plane) and not world.is_static(world_shape.body):
            text = "a plane that moves is a slab of its drawn size."
            found.append(Finding("note", name, text, where))
    return found


def _is_bent(world: World, b: int) -> bool:
    first, count = int(world.rail_first[b]), int(world.rail_count[b])
    return bool(np.any(world.rail[first : first + count, 1:] != 0.0))
