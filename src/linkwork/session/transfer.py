"""Transfer of a state to an edited world."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from linkwork.components.agents.movement_player import MovementPlayer
from linkwork.components.agents.program import Program
from linkwork.core.errors import EngineError, Origin, listing
from linkwork.engines import Engine
from linkwork.engines.common.kernels import loop_state
from linkwork.model.blocks import Block
from linkwork.model.world import Finding, World
from linkwork.session.cycle import Cycle

#: Loops with a larger gap after an edit are closed before the next step [m].
_OPEN = 1e-9


def transfer(old: Cycle, new: Cycle) -> None:
    """Copies the state of all objects of ``old`` with the same id to ``new``.

    Joints of the same type keep coordinates, speeds and targets unless the edit moved them; live
    parameters are kept if the scene's own value did not change; sensors, actuators and agents of
    the same name keep their memory. New items start fresh, and so does the engines' own memory.
    Loops that the edit left open are closed, by engines that can.
    """
    clock = old.state.step * old.h / new.h
    new.state.step = round(clock)
    dofs = _joints(old, new)
    _params(old, new)
    _loops(old, new)
    _contacts(old, new)
    new.refresh()
    for sensor in new.sensors:  # new ones must not show 0 until they are due
        sensor.read(new.state.step, now=True)
    for block in (*new.sensors, *new.actuators, *new.agents, *new.faults.scene_faults):
        _memory(old, new, block)
    buses = {old.world.id_of(bus.spec.name): bus for bus in old.buses}
    for bus in new.buses:
        twin = buses.get(new.world.id_of(bus.spec.name))
        if twin is not None and twin.type == bus.type:
            bus.transfer_from(twin)
        bus.publish_outputs()
    new.faults.transfer_from(old.faults)
    for engine in new.engines:
        engine.reset()
        for before in old.engines if old.h == new.h else ():
            engine.carry(before, dofs)
    for block in new.blocks:
        block.params_changed()
    _close(new)


def _close(new: Cycle) -> None:
    """Closes loops that the edit left open: a new loop, or bars of another length.

    Islands that cannot be closed from the present posture restart in the scene's posture; all
    others continue. Both are reported in the findings.
    """
    if not _open_loops(new):
        return
    for engine in new.engines:
        try:
            found = engine.assemble()
        except EngineError as error:
            found = _reset_engine(new, engine, error)
        new.findings += [finding for finding in found if finding not in new.findings]


def _open_loops(cycle: Cycle) -> list[int]:
    """Returns the indices of the loops that are open at the present poses."""
    world, state = cycle.world, cycle.state
    aside = state.loop_q.copy(), state["loop_turns"].copy()
    return [
        n
        for n in range(len(world.loop_names))
        if not loop_state(np.array([n]), *world.loop_arrays, state.pose, *aside)[0] <= _OPEN
    ]


def _reset_engine(new: Cycle, engine: Engine, error: EngineError) -> list[Finding]:
    """Resets islands that an engine cannot close to the scene's posture, and closes them.

    Those are the islands with an open loop; if that fails, all of the engine's bodies.
    """
    world, loops = new.world, _open_loops(new)
    islands = set(world.island[world.loop_body[loops]].ravel().tolist()) - {-1}
    stuck = engine.owned & np.isin(world.island, sorted(islands))
    for bodies in (stuck, engine.owned):
        _put_back(new, bodies)
        engine.reset()
        with suppress(EngineError):
            found = engine.assemble()
            parts = {world.body_part[b] or world.body_names[b] for b in np.flatnonzero(bodies)}
            text = f"starts in the scene's posture, because after the edit {error.message}"
            origin = error.origin or Origin()
            return [Finding("approximated", listing(parts, most=4), text, origin), *found]

    raise error


def _put_back(new: Cycle, bodies: np.ndarray) -> None:
    """Resets bodies of a mask, and loops on them, to their initial coordinates and speeds."""
    world, state, first = new.world, new.state, new.first
    for joint, body in zip(world.joints, world.joint_body.tolist(), strict=True):
        if bodies[body]:
            q, v = int(world.qadr[body]), int(world.vadr[body])
            coordinates, speeds = slice(q, q + joint.kind.nq), slice(v, v + joint.kind.nv)
            state.q[coordinates], state.v[speeds] = first.q[coordinates], first.v[speeds]
    loops = bodies[world.loop_body].any(axis=1)
    state.loop_q[loops] = first.loop_q[loops]
    state["loop_turns"][loops] = first["loop_turns"][loops]
    new.refresh()


def keep_sources(old: Cycle, new: Cycle) -> None:
    """Keeps the running texts of programs, unless the edit or their file changed them."""
    running = {old.world.id_of(a.spec.name): a for a in old.agents if isinstance(a, Program)}
    for program in new.agents:
        if not isinstance(program, Program):
            continue
        twin = running.get(new.world.id_of(program.spec.name))
        if twin is None or twin.path != program.path:
            continue
        if twin.spec.params.get("source") == program.spec.params.get("source") and (
            twin.changed_on_disk() is None
        ):
            program.source = twin.source


def new_names(old: Cycle, new: Cycle) -> dict[str, str]:
    """New names of the signals of renamed objects, by their old name."""
    called = {new.world.id_of(name): name for name in _owners_of_signals(new)}
    names: dict[str, str] = {}
    for signal in old.signals:
        base, dot, rest = signal.name.partition(".")
        name = called.get(old.world.id_of(base), base)
        if name != base:
            names[signal.name] = f"{name}{dot}{rest}"
    return names


def _owners_of_signals(cycle: Cycle) -> dict[str, None]:
    return {signal.name.partition(".")[0]: None for signal in cycle.signals}


def _by_id(world: World, names: list[str]) -> dict[str, int]:
    return {world.id_of(name): n for n, name in enumerate(names)}


def _pairs(
    old: World, old_names: list[str], new: World, new_names: list[str]
) -> list[tuple[int, int]]:
    before = _by_id(old, old_names)
    after = _by_id(new, new_names)
    return [(before[i], n) for i, n in after.items() if i in before]


def _joints(old: Cycle, new: Cycle) -> list[tuple[int, int]]:
    """Copies the joints; returns their degrees of freedom, before and after."""
    a, b = old.world, new.world
    dofs: list[tuple[int, int]] = []
    for i, j in _pairs(a, a.joint_names, b, b.joint_names):
        if a.joints[i].type != b.joints[j].type:
            continue
        kind = a.joints[i].kind
        x, y = int(a.joint_body[i]), int(b.joint_body[j])
        qa, qb, va, vb = int(a.qadr[x]), int(b.qadr[y]), int(a.vadr[x]), int(b.vadr[y])
        # Compares the scenes, not the first states, in which engines may have closed loops.
        before, after = a.q0[qa : qa + kind.nq], b.q0[qb : qb + kind.nq]
        if not np.array_equal(before, after):
            continue  # the edit moved it: it starts at its new value
        new.state.q[qb : qb + kind.nq] = old.state.q[qa : qa + kind.nq]
        mine, theirs = slice(vb, vb + kind.nv), slice(va, va + kind.nv)
        for name in ("v", "target_effort", "report/acceleration", "report/effort"):
            new.state[name][mine] = old.state[name][theirs]
        new.state.target[mine] = np.clip(old.state.target[theirs], b.dof_lo[mine], b.dof_hi[mine])
        same = a.dof_speed[theirs] == b.dof_speed[mine]
        new.state.target_speed[mine][same] = old.state.target_speed[theirs][same]
        dofs += [(va + k, vb + k) for k in range(kind.nv)]
    return dofs


def _params(old: Cycle, new: Cycle) -> None:
    """Keeps live parameters unless the scene changed them."""
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
    springs = _pairs(a, a.spring_names, b, b.spring_names)
    for i, j in springs:
        before, after = old.first["param/spring"][i], new.first["param/spring"][j]
        np.copyto(new.state["param/spring"][j], old.state["param/spring"][i], where=before == after)
        new.state["report/spring"][j] = old.state["report/spring"][i]
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


def _contacts(old: Cycle, new: Cycle) -> None:
    """The last step's contacts, which sensors read before the next one."""
    a, b = old.world, new.world
    bodies = dict(_pairs(a, a.body_names, b, b.body_names))
    elements = dict(_pairs(a, a.element_names, b, b.element_names))
    report, last = new.state.report, old.state.report
    for row in last.contacts[: last.contact_count]:
        one, two = (bodies.get(int(number)) for number in row[:2])
        mine, theirs = (elements.get(int(number)) for number in row[2:4])
        if None not in (one, two, mine, theirs):
            report.contacts[report.contact_count] = row
            report.contacts[report.contact_count, :4] = one, two, mine, theirs
            report.contact_count += 1


def _memory(old: Cycle, new: Cycle, block: Block) -> None:
    """Copies the memory of the rows that share an id; an agent or a fault is one row."""
    twins = {
        old.world.id_of(spec.name): (twin, number)
        for twin in old.blocks
        if twin.kind == block.kind and twin.type == block.type
        for number, spec in enumerate(twin.specs)
    }
    live = {signal.field for signal in block.signals() if signal.direction == "param"}
    for number, spec in enumerate(block.specs):
        twin, before = twins.get(new.world.id_of(spec.name), (None, 0))
        if twin is None or (old.h != new.h and not _is_periodless(block)):
            continue
        for slot in block.slots():
            name, past = (b.field(slot.removeprefix("int:")) for b in (block, twin))
            here = _row(new, name, block, number)
            there = _row(old, past, twin, before)
            if here is None or there is None or here[0].shape != there[0].shape:
                continue
            kept = (here[1] == there[1]) if name in live else True
            np.copyto(here[0], there[0], where=kept)


def _is_periodless(block: Block) -> bool:
    """Whether a block's memory does not depend on the step length."""
    return block.kind != "agent" or isinstance(block, Program | MovementPlayer)


def _row(
    cycle: Cycle, field: str, block: Block, number: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns one row of a block's field, present and initial; None without rows."""
    if field not in cycle.state:
        return None
    now, first = cycle.state[field], cycle.first[field]
    if block.kind in ("agent", "fault"):
        return now, first
    if now.shape[:1] != (len(block.specs),):
        return None
    return now[number, ...], first[number, ...]
