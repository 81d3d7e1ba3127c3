"""MJCF constraint reader: equality constraints, tendons, contact pairs and exclusions."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.core.mujoco_library import mujoco
from linkwork.formats.robots.mjcf.compiled import pose_of
from linkwork.formats.robots.mjcf.context import MjcfReadContext, numbers
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Anchor, Coupling, Loop
from linkwork.model.parts.constraints import law_from_start
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import CollisionRules

_EQ, _OBJ, _WRAP = mujoco.mjtEq, mujoco.mjtObj, mujoco.mjtWrap
_SINGLE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)


def read_equalities(reading: MjcfReadContext, engine: dict[str, Any]) -> None:
    """Reads equalities: loops, couplings, and those of tendons into the engine's table."""
    m = reading.m
    for e in range(m.neq):
        kind = int(m.eq_type[e])
        if not m.eq_active0[e]:
            name = reading.model.name("equality", e) or f"equality {e}"
            reading.notes.about("constraints that are not active, left out", name)
        elif kind in (_EQ.mjEQ_CONNECT, _EQ.mjEQ_WELD):
            _read_loop(reading, e, kind == _EQ.mjEQ_WELD)
        elif kind == _EQ.mjEQ_JOINT:
            _read_coupling(reading, e, engine)
        elif kind == _EQ.mjEQ_TENDON:
            _read_tendon_equality(reading, e, engine)
        else:
            reading.lost("constraints of a type that is not read", "equality", e)


def _softness(m: Any, e: int) -> dict[str, Any]:
    found = {"solref": (m.eq_solref[e], _SOLREF), "solimp": (m.eq_solimp[e], _SOLIMP)}
    return {
        word: numbers(value)
        for word, (value, default) in found.items()
        if numbers(value) != default
    }


def _read_loop(reading: MjcfReadContext, e: int, rigid: bool) -> None:
    m, part = reading.m, reading.part
    name = plain_name(reading.model.name("equality", e) or f"loop{e}", set(part.loops))
    data, origin = m.eq_data[e], reading.model.origin("equality", e)
    one, other = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    words = _softness(m, e)
    if rigid and float(data[10]) != 1.0:
        words["torquescale"] = float(data[10])
    if int(m.eq_objtype[e]) == _OBJ.mjOBJ_SITE:
        ends = [reading.anchors[one], reading.anchors[other]]
    else:
        poses = _weld_poses(data) if rigid else _connect_poses(data)
        ends = []
        for body, pose, letter in ((one, poses[0], "a"), (other, poses[1], "b")):
            taken = {*part.anchors, *part.elements}
            anchor = Anchor(plain_name(f"{name}_{letter}", taken), reading.elements[body], pose)
            part.add(anchor)
            ends.append(anchor.name)
    joint = "fixed" if rigid else "ball"
    part.add(Loop(name, ends[0], ends[1], joint, origin=origin, mujoco=words))


def _connect_poses(data: np.ndarray) -> tuple[Pose, Pose]:
    """Returns the constrained point in the frames of both bodies."""
    return Pose(numbers(data[0:3])), Pose(numbers(data[3:6]))  # type: ignore[arg-type]


def _weld_poses(data: np.ndarray) -> tuple[Pose, Pose]:
    """Returns the welded frame in both bodies: at the second one's anchor, with its orientation.

    MuJoCo stores the anchor in the second body, its position in the first body, and the
    orientation of the second body in the first.
    """
    first = pose_of(data[3:6], data[6:10])
    return first, Pose(numbers(data[0:3]))  # type: ignore[arg-type]


def _read_coupling(reading: MjcfReadContext, e: int, engine: dict[str, Any]) -> None:
    """Reads the constraint of a joint: a coupling, or into the engine's table."""
    m = reading.m
    numbers_of = [n for n in (int(m.eq_obj1id[e]), int(m.eq_obj2id[e])) if n >= 0]
    if any(int(m.jnt_type[number]) not in _SINGLE for number in numbers_of):
        reading.lost("couplings of joints with several degrees of freedom", "equality", e)
        return
    a, b, c, d, f = numbers(m.eq_data[e][:5])
    names = [reading.joints[number] for number in numbers_of]
    starts = [float(m.qpos0[m.jnt_qposadr[number]]) for number in numbers_of]
    words = _softness(m, e)
    # MuJoCo measures both from their reference values: y − y0 = p(x − x0)
    if len(names) == 1:
        law = (a + starts[0], 0.0, 0.0, 0.0, 0.0)
    else:
        law = law_from_start((a, b, c, d, f), -starts[1], -starts[0])
    if len(names) == 1 or any(c.joint == names[0] for c in reading.part.couplings):
        made = dict(zip("ab", map(reading.full, names), strict=False))
        engine.setdefault("joint_equalities", []).append(made | {"polycoef": list(law)} | words)
        return
    offset, ratio, *further = law
    if any((c, d, f)):
        words["polycoef"] = tuple(further)
    origin = reading.model.origin("equality", e)
    reading.part.add(Coupling(names[0], names[1], ratio, offset, origin, words))


def _read_tendon_equality(reading: MjcfReadContext, e: int, engine: dict[str, Any]) -> None:
    m = reading.m
    one, other = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    known = {tendon["name"] for tendon in engine.get("tendons", ())}
    names = [m.tendon(n).name if n >= 0 else "" for n in (one, other)]
    if any(name and name not in known for name in names):
        reading.lost("constraints of tendons that are not read", "equality", e)
        return
    if any(float(m.tendon_length0[n]) for n in (one, other) if n >= 0):
        reading.notes.about("constraints of tendons count from their length at the start", names[0])
    made: dict[str, Any] = {"a": names[0], "b": names[1]} | _softness(m, e)
    made["polycoef"] = list(numbers(m.eq_data[e][:5]))
    engine.setdefault("tendon_equalities", []).append(made)


def read_tendons(reading: MjcfReadContext, engine: dict[str, Any]) -> None:
    """Reads tendons into the engine's table, except those that only actuators use."""
    m = reading.m
    tied = {
        int(n)
        for e in range(m.neq)
        if int(m.eq_type[e]) == _EQ.mjEQ_TENDON
        for n in (m.eq_obj1id[e], m.eq_obj2id[e])
    }
    for t in range(m.ntendon):
        laws = _tendon_laws(m, t)
        if m.tendon_springyield[t]:
            reading.lost("yielding of springs", "tendon", t)
        made = _path(reading, t)
        if made is None:
            reading.lost("tendons around geoms that are not read", "tendon", t)
        elif laws or t in tied or "path" in made:
            name = m.tendon(t).name
            engine.setdefault("tendons", []).append({"name": name} | made | laws)


def _path(reading: MjcfReadContext, t: int) -> dict[str, Any] | None:
    m = reading.m
    first, count = int(m.tendon_adr[t]), int(m.tendon_num[t])
    wraps = range(first, first + count)
    kinds = {int(m.wrap_type[w]) for w in wraps}
    if kinds == {int(_WRAP.mjWRAP_JOINT)}:
        return {"joints": fixed_weights(reading, t)}
    path: list[Any] = []
    for w in wraps:
        kind, number = int(m.wrap_type[w]), int(m.wrap_objid[w])
        if kind == _WRAP.mjWRAP_SITE:
            path.append(reading.full(reading.anchors[number]))
        elif kind == _WRAP.mjWRAP_PULLEY:
            path.append({"pulley": float(m.wrap_prm[w])})
        elif number in reading.geoms:
            path.append({"geom": reading.geom_name(number)})
            if (side := int(m.wrap_prm[w])) >= 0:
                path[-1]["side"] = reading.full(reading.anchors[side])
        else:
            return None
    return {"path": path}


def fixed_weights(reading: MjcfReadContext, t: int) -> dict[str, float]:
    """Returns the weight of each joint of a fixed tendon, by full name; empty for other tendons."""
    m = reading.m
    made: dict[str, float] = {}
    for w in range(int(m.tendon_adr[t]), int(m.tendon_adr[t]) + int(m.tendon_num[t])):
        if int(m.wrap_type[w]) != _WRAP.mjWRAP_JOINT:
            return {}
        name = reading.full(reading.joints[int(m.wrap_objid[w])])
        made[name] = made.get(name, 0.0) + float(m.wrap_prm[w])
    return made


def _tendon_laws(m: Any, t: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for word in ("stiffness", "damping"):
        law = [
            float(getattr(m, f"tendon_{word}")[t]),
            *numbers(getattr(m, f"tendon_{word}poly")[t]),
        ]
        if any(law):
            made[word] = law
    if "stiffness" in made:
        made["springlength"] = list(numbers(m.tendon_lengthspring[t]))
    if m.tendon_actfrclimited[t]:
        made["effort_range"] = list(numbers(m.tendon_actfrcrange[t]))
    if m.tendon_limited[t]:
        made["range"] = list(numbers(m.tendon_range[t]))
    for word in ("frictionloss", "armature", "margin"):
        if value := float(getattr(m, f"tendon_{word}")[t]):
            made[word] = value
    for word, column in (("limit", "lim"), ("friction", "fri")):
        if (word == "limit" and "range" not in made) or (
            word == "friction" and not made.get("frictionloss")
        ):
            continue
        for law, default in (("solref", _SOLREF), ("solimp", _SOLIMP)):
            value = numbers(getattr(m, f"tendon_{law}_{column}")[t])
            if value != default:
                made[f"{law}_{word}"] = list(value)
    return made


def read_contacts(reading: MjcfReadContext, engine: dict[str, Any]) -> None:
    """Reads contact exclusions and pairs."""
    m = reading.m
    never: list[tuple[str, str]] = []
    for n in range(m.nexclude):
        one, other = divmod(int(m.exclude_signature[n]), 2**16)
        for a in _bodies(reading, one):
            never.extend((a, b) for b in _bodies(reading, other))
    if never:
        reading.scene.collide = CollisionRules(never=tuple(never), origin=reading.scene.origin)
    for n in range(m.npair):
        made = _pair(reading, n)
        if made is not None:
            engine.setdefault("pairs", []).append(made)


def _bodies(reading: MjcfReadContext, body: int) -> list[str]:
    if body:
        return [reading.full(reading.elements[body])]
    return list(reading.scenery.values())


def _pair(reading: MjcfReadContext, n: int) -> dict[str, Any] | None:
    m = reading.m
    made: dict[str, Any] = {}
    for word, g in (("a", int(m.pair_geom1[n])), ("b", int(m.pair_geom2[n]))):
        if g not in reading.geoms:
            reading.lost("contact pairs of geoms without a name", "pair", n)
            return None
        made[word] = reading.geom_name(g)
    made["condim"] = int(m.pair_dim[n])
    for word in ("friction", "solref", "solimp", "solreffriction"):
        made[word] = list(numbers(getattr(m, f"pair_{word}")[n]))
    for word in ("margin", "gap", "adhesion"):
        if value := float(getattr(m, f"pair_{word}")[n]):
            made[word] = value
    return made
