"""Tendons and contact pairs of a MuJoCo model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.core.errors import EngineError, Origin, not_found
from linkwork.core.mujoco_library import mujoco
from linkwork.engines.common.kernels import LINEAR
from linkwork.engines.mujoco.params import MujocoParams, PairParams, TendonParams
from linkwork.engines.mujoco.spec_builder import ModelBuilder, carrying_body
from linkwork.model.world import World

_SOFTNESS = ("solref_limit", "solimp_limit", "solref_friction", "solimp_friction")


def add_tendons(build: ModelBuilder, params: MujocoParams, origin: Origin) -> None:
    """Adds tendons, and the constraints between them.

    Raises:
        LinkworkError: If a joint, anchor or tendon is unknown.
    """
    for tendon in params.tendons:
        _add_tendon(build, tendon, origin)
    known = [tendon.name for tendon in params.tendons]
    for equality in params.tendon_equalities:
        for name in (equality.a, equality.b):
            if name and name not in known:
                raise not_found("tendon", name, known, origin=origin)
        made = build.spec.add_equality(
            type=mujoco.mjtEq.mjEQ_TENDON, name1=equality.a, name2=equality.b
        )
        made.objtype = mujoco.mjtObj.mjOBJ_TENDON
        made.data[:5] = list(equality.polycoef)
        if equality.solref is not None:
            made.solref = list(equality.solref)
        if equality.solimp is not None:
            made.solimp = list(equality.solimp)


def _add_tendon(build: ModelBuilder, tendon: TendonParams, origin: Origin) -> None:
    world = build.world
    made = build.spec.add_tendon(name=tendon.name)
    names = {v: name for _, v, name, size in build.coordinates if size == 1}
    if not tendon.joints and len(tendon.path) < 2:
        raise EngineError(
            f"tendon {tendon.name!r} needs joints with their weights, or a path of two anchors.",
            origin=origin,
        )
    for joint, weight in tendon.joints.items():
        dof = world.single_dof(joint, origin=origin)
        if dof not in names:
            raise EngineError(
                f"tendon {tendon.name!r}: joint {joint!r} is not moved by this engine.",
                origin=origin,
            )
        made.wrap_joint(names[dof], weight)
    for number, wrap in enumerate(tendon.path):
        if isinstance(wrap, str):
            made.wrap_site(_add_site(build, wrap, f"{tendon.name}#{number}", origin))
        elif wrap.pulley:
            made.wrap_pulley(wrap.pulley)
        else:
            if wrap.geom not in build.named:
                raise not_found("named shape", wrap.geom, build.named, origin=origin)
            side = f"{tendon.name}#{number}#side"
            beside = _add_site(build, wrap.side, side, origin) if wrap.side else ""
            made.wrap_geom(build.named[wrap.geom], beside)
    _set_laws(made, tendon)


def _add_site(build: ModelBuilder, anchor: str, name: str, origin: Origin) -> str:
    """Adds a point of a tendon at an anchor."""
    carrier, pose = carrying_body(build, anchor, origin)
    carrier.add_site(name=name, pos=list(pose.xyz), quat=list(pose.quat))
    return name


def _set_laws(made: object, tendon: TendonParams) -> None:
    for name in ("stiffness", "damping", "springlength"):
        setattr(made, name, list(getattr(tendon, name)))
    for name in ("frictionloss", "armature", "margin"):
        setattr(made, name, getattr(tendon, name))
    if tendon.effort_range is not None:
        made.actfrcrange = list(tendon.effort_range)  # type: ignore[attr-defined]
        made.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE  # type: ignore[attr-defined]
    if tendon.range is not None:
        made.range = list(tendon.range)  # type: ignore[attr-defined]
        made.limited = mujoco.mjtLimited.mjLIMITED_TRUE  # type: ignore[attr-defined]
    for name in _SOFTNESS:
        if getattr(tendon, name) is not None:
            setattr(made, name, list(getattr(tendon, name)))


def add_pairs(build: ModelBuilder, pairs: Sequence[PairParams], origin: Origin) -> None:
    """Adds contacts between named shapes.

    Raises:
        NameNotFound: If no shape has the name.
    """
    for pair in pairs:
        for name in (pair.a, pair.b):
            if name not in build.named:
                raise not_found("named shape", name, build.named, origin=origin)
        made = build.spec.add_pair(geomname1=build.named[pair.a], geomname2=build.named[pair.b])
        made.condim = pair.condim
        for name in ("friction", "solref", "solimp", "solreffriction"):
            setattr(made, name, list(getattr(pair, name)))
        for name in ("margin", "gap", "adhesion"):
            setattr(made, name, getattr(pair, name))


def own_springs(world: World, owned: np.ndarray) -> np.ndarray:
    """Returns the springs of owned bodies."""
    return np.flatnonzero(owned[world.spring_body].any(axis=1))


def add_springs(build: ModelBuilder) -> None:
    """Adds a tendon for each spring; :func:`set_springs` writes its law."""
    world = build.world
    for n in own_springs(world, build.owned).tolist():
        if world.spring_kind[n] != LINEAR:
            continue
        made = build.spec.add_tendon(name=_name(world, n))
        for end, body in enumerate(world.spring_body[n].tolist()):
            at = world.spring_pose[n, end]
            site = f"{_name(world, n)}{'ab'[end]}"
            build.bodies[body].add_site(name=site, pos=at[:3].tolist(), quat=at[3:].tolist())
            made.wrap_site(site)
        made.stiffness, made.damping = [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]
        made.springlength = [0.0, 0.0]


def set_springs(world: World, mj: Any, which: np.ndarray, law: np.ndarray) -> None:
    """Writes stiffness, rest and damping (n×3) into the compiled model."""
    for n in which.tolist():
        number = mj.tendon(_name(world, n)).id
        mj.tendon_stiffness[number] = law[n, 0]
        mj.tendon_lengthspring[number] = law[n, 1]
        mj.tendon_damping[number] = law[n, 2]


def tendon_springs(world: World, mj: Any, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns stiffness (n) and its further coefficients (n×2) of tendons.

    They are 0 for the tendons of :func:`add_springs`, whose energy is counted with the springs.
    """
    stiffness, further = mj.tendon_stiffness.copy(), mj.tendon_stiffnesspoly.copy()
    for n in which.tolist():
        if world.spring_kind[n] == LINEAR:
            number = mj.tendon(_name(world, n)).id
            stiffness[number], further[number] = 0.0, 0.0
    return stiffness, further


def _name(world: World, n: int) -> str:
    return f"{world.spring_names[n]}#spring"
