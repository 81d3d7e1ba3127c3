"""Tendons and contact pairs that a scene names for the Mujoco engine."""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.engines.mujoco.bodies import Build
from linkwork.engines.mujoco.params import MujocoParams, PairParams, TendonParams
from linkwork.errors import EngineError, Origin, not_found
from linkwork.mujoco_library import mujoco

_SOFTNESS = ("solref_limit", "solimp_limit", "solref_friction", "solimp_friction")


def add_tendons(build: Build, params: MujocoParams, origin: Origin) -> None:
    """Adds tendons, and the constraints between them.

    Raises:
        LinkworkError: If a joint, anchor or tendon is unknown.
    """
    for tendon in params.tendons:
        _add_tendon(build, tendon, origin)
    known = [tendon.name for tendon in params.tendons]
    for tie in params.tendon_ties:
        for name in (tie.a, tie.b):
            if name and name not in known:
                raise not_found("tendon", name, known, origin=origin)
        made = build.spec.add_equality(type=mujoco.mjtEq.mjEQ_TENDON, name1=tie.a, name2=tie.b)
        made.objtype = mujoco.mjtObj.mjOBJ_TENDON
        made.data[:5] = list(tie.polycoef)
        if tie.solref is not None:
            made.solref = list(tie.solref)
        if tie.solimp is not None:
            made.solimp = list(tie.solimp)


def _add_tendon(build: Build, tendon: TendonParams, origin: Origin) -> None:
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
    for number, anchor in enumerate(tendon.path):
        body, pose = world.frame(anchor, origin=origin)
        carrier = build.bodies.get(body, build.spec.worldbody)
        site = f"{tendon.name}#{number}"
        carrier.add_site(name=site, pos=list(pose.xyz), quat=list(pose.quat))
        made.wrap_site(site)
    _set_laws(made, tendon)


def _set_laws(made: object, tendon: TendonParams) -> None:
    for name in ("stiffness", "damping", "springlength"):
        setattr(made, name, list(getattr(tendon, name)))
    for name in ("frictionloss", "armature", "margin"):
        setattr(made, name, getattr(tendon, name))
    if tendon.range is not None:
        made.range = list(tendon.range)  # type: ignore[attr-defined]
        made.limited = mujoco.mjtLimited.mjLIMITED_TRUE  # type: ignore[attr-defined]
    for name in _SOFTNESS:
        if getattr(tendon, name) is not None:
            setattr(made, name, list(getattr(tendon, name)))


def add_pairs(build: Build, pairs: Sequence[PairParams], origin: Origin) -> None:
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
