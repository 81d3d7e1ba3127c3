"""MuJoCo model of the bodies that an engine owns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.core.errors import Origin
from linkwork.core.mujoco_library import mujoco
from linkwork.engines.mujoco.contacts import add_contacts
from linkwork.engines.mujoco.equality import add_equalities, add_joint_equalities
from linkwork.engines.mujoco.params import MujocoParams, set_options
from linkwork.engines.mujoco.spec_builder import ModelBuilder, add_bodies, body_name
from linkwork.engines.mujoco.tendons import add_pairs, add_springs, add_tendons
from linkwork.model.world import World

#: Inertia of foreign bodies and prescribed joints, relative to the mass of all our own.
PRESCRIBED_INERTIA = 1e6


@dataclass
class MujocoModel:
    """A compiled MuJoCo model with the mapping of its indices to ours.

    Attributes:
        mj: The MjModel.
        q_map: Pairs of our coordinate and MuJoCo's.
        v_map: Pairs of our degree of freedom and MuJoCo's.
        dof_to: MuJoCo's joint, coordinate and degree of freedom of each of our degrees of freedom
            (nv×3), −1 if it has none.
        foreign: Bodies of other engines; ``foreign_q``, ``foreign_v`` their free joints.
        geom_body, geom_element: Our body and element of each geom.
        slides: Slide joints of screws: (our dof, MuJoCo's q, MuJoCo's v, m/rad).
        body_to: MuJoCo's body of each of ours, −1 if it has none.
        element_bodies: MuJoCo's bodies of elements that are fixed to the first of theirs, by our
            body.
        heavy: Mass [kg] and inertia [kg m²] of infinite masses.
        body_mass, body_inertia: MuJoCo's masses and principal inertias as compiled.
        geom_friction: MuJoCo's sliding friction as compiled.
    """

    mj: Any
    q_map: np.ndarray
    v_map: np.ndarray
    dof_to: np.ndarray
    foreign: np.ndarray
    foreign_q: np.ndarray
    foreign_v: np.ndarray
    geom_body: np.ndarray
    geom_element: np.ndarray
    slides: list[tuple[int, int, int, float]]
    body_to: np.ndarray
    heavy: float
    body_mass: np.ndarray
    body_inertia: np.ndarray
    geom_friction: np.ndarray
    element_bodies: dict[int, list[int]]


def build_model(
    world: World,
    owned: np.ndarray,
    collidable: np.ndarray,
    prescribed: list[int],
    driven: list[int],
    params: MujocoParams,
    *,
    origin: Origin,
    extras: Sequence[Callable[[ModelBuilder], None]] = (),
) -> MujocoModel:
    """Builds the MuJoCo model of the owned bodies, with all others as scenery or moving masses.

    Args:
        world: The world.
        owned: Mask over bodies.
        collidable: Mask over bodies that may collide with the owned ones.
        prescribed: Degrees of freedom that follow their targets as infinite masses.
        driven: Degrees of freedom that have an actuator.
        params: Parameters of the engine.
        origin: Origin of these parameters.
        extras: Functions that add to the model, such as sensors.
    """
    heavy = PRESCRIBED_INERTIA * max(1e-3, float(world.mass[owned].sum()))
    build = ModelBuilder(
        world, owned, collidable, set(prescribed), set(driven), heavy, params.native,
        params.integrator,
    )  # fmt: skip
    build.wanted = {name for pair in params.pairs for name in (pair.a, pair.b)}
    wraps = [wrap for tendon in params.tendons for wrap in tendon.path]
    build.wanted |= {wrap.geom for wrap in wraps if not isinstance(wrap, str)}
    set_options(build.spec, world.scene, params)
    add_bodies(build)
    add_contacts(build, params.contact_time)
    add_pairs(build, params.pairs, origin)
    add_equalities(build, params.loop_time)
    add_joint_equalities(build, params.joint_equalities, origin)
    add_tendons(build, params, origin)
    add_springs(build)
    for add in extras:
        add(build)
    mj = build.spec.compile()
    model = _map(build, mj)
    _set_mean_inertia(model, prescribed)
    return model


def _map(build: ModelBuilder, mj: Any) -> MujocoModel:
    world = build.world
    q_map, v_map = [], []
    dof_to = np.full((world.nv, 3), -1, np.int64)
    for q, v, name, size in build.coordinates:
        joint = mj.joint(name)
        to_q, to_v = int(joint.qposadr[0]), int(joint.dofadr[0])
        dofs = {7: 6, 4: 3, 1: 1}[size]
        q_map += [(q + k, to_q + k) for k in range(size)]
        v_map += [(v + k, to_v + k) for k in range(dofs)]
        for k in range(dofs):
            dof_to[v + k] = joint.id, to_q + k, to_v + k
    foreign = [mj.joint(f"{body_name(world, b)}#foreign") for b in build.foreign]
    geom_body, geom_element = np.zeros(mj.ngeom, np.int64), np.zeros(mj.ngeom, np.int64)
    for name, body, element, _ in build.geoms:
        number = mj.geom(name).id
        geom_body[number], geom_element[number] = body, element
    body_to = np.full(world.nb, -1, np.int64)
    for b, mj_body in build.bodies.items():
        body_to[b] = mj_body.id
    slides = []
    for dof, name, pitch in build.slides:
        joint = mj.joint(name)
        slides.append((dof, int(joint.qposadr[0]), int(joint.dofadr[0]), pitch))
    return MujocoModel(
        mj, np.array(q_map, np.int64).reshape(-1, 2), np.array(v_map, np.int64).reshape(-1, 2),
        dof_to, np.array(build.foreign, np.int64),
        np.array([int(j.qposadr[0]) for j in foreign], np.int64),
        np.array([int(j.dofadr[0]) for j in foreign], np.int64), geom_body, geom_element, slides,
        body_to, build.heavy, mj.body_mass.copy(), mj.body_inertia.copy(),
        mj.geom_friction[:, 0].copy(), _element_bodies(build),
    )  # fmt: skip


def _element_bodies(build: ModelBuilder) -> dict[int, list[int]]:
    """Returns MuJoCo's bodies of elements that are fixed to others, by our body."""
    made: dict[int, list[int]] = {}
    for element, mj_body in build.element_bodies.items():
        body = int(build.world.element_body[element])
        if mj_body.id != build.bodies[body].id:
            made.setdefault(body, []).append(mj_body.id)
    return made


def _set_mean_inertia(model: MujocoModel, prescribed: list[int]) -> None:
    """Excludes infinite masses from the mean inertia, which scales MuJoCo's solver tolerance."""
    mj = model.mj
    heavy = {int(model.dof_to[dof, 2]) for dof in prescribed}
    for v in model.foreign_v.tolist():
        heavy |= set(range(v, v + 6))
    if not heavy or len(heavy) >= mj.nv:
        return
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    full = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, full)
    light = [i for i in range(mj.nv) if i not in heavy]
    mj.stat.meaninertia = float(np.mean(np.diag(full)[light]))
