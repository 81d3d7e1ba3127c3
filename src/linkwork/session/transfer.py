"""Transfer: what a running state brings along when its world is edited."""

from __future__ import annotations

import numpy as np

from linkwork.blocks import Block
from linkwork.session.cycle import Cycle
from linkwork.world import World


def transfer(old: Cycle, new: Cycle) -> None:
    """Writes into ``new``'s state all that shares an id with ``old``.

    Joints of the same type keep coordinates, speeds and targets; live parameters are kept where
    the scene's own value did not change; sensors, actuators and agents of the same name keep
    their memory. What is new starts fresh, and so does the engines' own memory.
    """
    clock = old.state.step * old.h / new.h
    new.state.step = round(clock)
    _joints(old, new)
    _params(old, new)
    _loops(old, new)
    for block in new.blocks:
        _memory(old, new, block)
    new.refresh()


def _by_id(world: World, names: list[str]) -> dict[str, int]:
    return {world.id_of(name): n for n, name in enumerate(names)}


def _pairs(
    old: World, old_names: list[str], new: World, new_names: list[str]
) -> list[tuple[int, int]]:
    before = _by_id(old, old_names)
    after = _by_id(new, new_names)
    return [(before[i], n) for i, n in after.items() if i in before]


def _joints(old: Cycle, new: Cycle) -> None:
    a, b = old.world, new.world
    for i, j in _pairs(a, a.joint_names, b, b.joint_names):
        if a.joints[i].type != b.joints[j].type:
            continue
        kind = a.joints[i].kind
        x, y = int(a.joint_body[i]), int(b.joint_body[j])
        qa, qb, va, vb = int(a.qadr[x]), int(b.qadr[y]), int(a.vadr[x]), int(b.vadr[y])
        new.state.q[qb : qb + kind.nq] = old.state.q[qa : qa + kind.nq]
        for name in ("v", "target", "target_effort", "report/acceleration", "report/effort"):
            new.state[name][vb : vb + kind.nv] = old.state[name][va : va + kind.nv]
        same = a.dof_speed[va : va + kind.nv] == b.dof_speed[vb : vb + kind.nv]
        speeds = new.state.target_speed[vb : vb + kind.nv]
        speeds[same] = old.state.target_speed[va : va + kind.nv][same]


def _params(old: Cycle, new: Cycle) -> None:
    """Live parameters are kept unless the scene now says something else."""
    a, b = old.world, new.world
    bodies = _pairs(a, a.body_names, b, b.body_names)
    elements = _pairs(a, a.element_names, b, b.element_names)
    dofs = [
        (int(a.vadr[a.joint_body[i]]) + k, int(b.vadr[b.joint_body[j]]) + k)
        for i, j in _pairs(a, a.joint_names, b, b.joint_names)
        if a.joints[i].type == b.joints[j].type
        for k in range(a.joints[i].kind.nv)
    ]
    tables = {
        "param/mass": bodies,
        "param/friction": elements,
        "param/visible": elements,
        "param/damping": dofs,
        "param/joint_friction": dofs,
        "param/gravity": [(k, k) for k in range(3)],
    }
    for name, pairs in tables.items():
        for i, j in pairs:
            if old.first[name][i] == new.first[name][j]:
                new.state[name][j] = old.state[name][i]
    body_of = dict(bodies)
    for slot, row in enumerate(old.state["param/grab"]):
        if row[0] and int(row[1]) in body_of:
            new.state["param/grab"][slot] = row
            new.state["param/grab"][slot, 1] = body_of[int(row[1])]


def _loops(old: Cycle, new: Cycle) -> None:
    a, b = old.world, new.world
    for i, j in _pairs(a, a.loop_names, b, b.loop_names):
        new.state.loop_q[j] = old.state.loop_q[i]
        new.state["loop_turns"][j] = old.state["loop_turns"][i]


def _memory(old: Cycle, new: Cycle, block: Block) -> None:
    """Copies the memory of rows (or whole agents) of the same name."""
    if block.kind == "engine":
        return
    twin = next((b for b in old.blocks if b.name == block.name and b.type == block.type), None)
    if twin is None:
        return
    before = {spec.name: n for n, spec in enumerate(twin.specs)}
    for slot in block.slots():
        name = block.field(slot.removeprefix("int:"))
        mine, theirs = new.state[name], old.state[name]
        first_mine, first_theirs = new.first[name], old.first[name]
        rows = len(block.specs)
        if block.kind == "agent" or mine.shape[:1] != (rows,):
            if mine.shape == theirs.shape and block.kind == "agent":
                mine[...] = theirs
            continue
        for n, spec in enumerate(block.specs):
            if (i := before.get(spec.name)) is None:
                continue
            changed = np.asarray(first_mine[n] != first_theirs[i])
            if not changed.any():
                mine[n] = theirs[i]
