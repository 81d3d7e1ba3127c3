"""Handlers of inbox messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork.components.agents.movement_player import MovementPlayer
from linkwork.components.agents.program import Program
from linkwork.core.errors import LinkworkError, SceneError, SessionError, SignalError, not_found
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.parts import Spec
from linkwork.model.scene.archive import unpack
from linkwork.model.world import compile_scene
from linkwork.session import messages as m
from linkwork.session.clock import Clock, check_steps
from linkwork.session.cycle import Cycle
from linkwork.session.live_edit import dry_run
from linkwork.session.postures import arrange, place, settle

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: Natural frequency of a grabbed body if no stiffness is given [rad/s].
GRAB_FREQUENCY = 15.0


def apply(session: Session, message: m.Message) -> None:
    """Applies one message.

    Raises:
        LinkworkError: If it is refused. Nothing has changed then, except that a program whose
            successor failed was restarted.
    """
    match message:
        case m.SetSignal():
            session.access.set_now(message.signal, message.value, message.owner)
        case m.TakeSignal():
            session.access.assign_owner(message.signal, message.owner)
        case m.ReleaseSignals():
            session.access.release_owner(message.owner)
        case m.GrabElement():
            _grab(session, message)
        case m.ReleaseGrab():
            session.state["param/grab"][message.slot] = 0.0
            _params(session)
        case m.ApplyPosture():
            _posture(session, message.name)
        case m.PlaceJoint():
            place(session.cycle, message.joint, message.dof, message.value)
        case m.PlaceJoints():
            arrange(session.cycle, message.joints)
        case m.RestoreState():
            session.restore_state(message.state)
        case m.ResetState():
            session.restart()
            session.log("back at the start.")
        case m.ReloadProgram():
            _reload(session, message)
        case m.StartPrograms():
            session.start_withheld(message.agents)
        case m.SwapScene():
            _swap(session, message)
        case m.SetMode():
            session.change_mode(message.mode)
        case m.BusInputs():
            bus = session.cycle.bus(message.bus)
            bus.feed(message.values, turn=message.turn, context=session)
            bus.set_counters(message.counters)
        case m.BusHealth():
            bus = session.cycle.bus(message.bus)
            bus.on_health(message.clients, message.restarts, message.counters, session)
            session.apply_pause_request(bus)
        case m.ControllerLost():
            bus = session.cycle.bus(message.bus)
            bus.on_controller_lost(message.why, session, message.keys)
            session.apply_pause_request(bus)
        case m.OverrideSignal():
            _override(session, message)
        case m.BusCommand():
            session.cycle.bus(message.bus)
            if session.bus_processes is None:
                raise SessionError(f"bus {message.bus!r} is not served.")
            session.bus_processes.order(message.bus, message.name, message.args)
        case m.SetFault():
            session.fault_injector.apply(message)
        case m.StartClock():
            if message.speed is not None:
                mode = "real" if message.speed > 0.0 else "fast"
                session.clock = Clock(mode, message.speed or 1.0)
            session.running = True
            session.clock.restart()
        case m.PauseClock():
            session.pause()
        case m.AdvanceSteps():
            check_steps(message.steps)
            session.clock.granted += message.steps
        case _:
            raise SessionError(f"a session cannot apply {type(message).__name__}.")


def _params(session: Session) -> None:
    for block in session.cycle.blocks:
        block.params_changed()


def _grab(session: Session, message: m.GrabElement) -> None:
    world, state = session.world, session.state
    if not np.isfinite([*message.point, *message.target]).all():
        raise SignalError("a grab takes finite numbers.")
    body, local = world.frame(message.element)
    if world.is_static(body):
        raise SignalError(f"{message.element!r} does not move; it cannot be pulled.")
    if any(engine.kinematic and engine.owned[body] for engine in session.cycle.engines):
        raise SignalError(
            f"{message.element!r} is moved by Kinematic, which has no forces.",
            hint="Set its joint's target, or place it while the session is paused.",
        )
    mass = float(state["param/mass"][body]) or 1.0
    stiffness = message.stiffness or mass * GRAB_FREQUENCY**2
    damping = message.damping or 2.0 * float(np.sqrt(stiffness * mass))
    state["param/grab"][message.slot] = (
        1.0, body, *local.apply(message.point), *message.target, stiffness, damping,
    )  # fmt: skip
    _params(session)


def check_override(cycle: Cycle, message: m.OverrideSignal) -> None:
    """Checks an override before it is applied.

    Raises:
        LinkworkError: If no bus has the signal, or the value is invalid.
    """
    scope, _, key = message.signal.partition("/")
    cycle.bus(scope).check_override(key, message.value)


def _override(session: Session, message: m.OverrideSignal) -> None:
    scope, _, key = message.signal.partition("/")
    bus = session.cycle.bus(scope)
    bus.override(key, message.value)
    if session.signals[message.signal].direction == "input":
        if message.value is not None:
            session.access.assign_owner(message.signal, message.owner)
        else:
            session.access.return_signal(message.signal, scope if bus.has_received(key) else "")


def _posture(session: Session, name: str) -> None:
    world, state = session.world, session.state
    if name not in world.postures:
        raise not_found("posture", name, world.postures)
    wanted = world.postures[name]
    moved: set[int] = set()
    for number in range(len(world.joints)):
        body = int(world.joint_body[number])
        if world.kind[body] in (BALL, FREE):
            continue
        q, v, n = int(world.qadr[body]), int(world.vadr[body]), world.joints[number].kind.nv
        state.q[q : q + n] = wanted[q : q + n]
        state.target[v : v + n] = wanted[q : q + n]
        state.v[v : v + n] = 0.0
        moved.update(range(v, v + n))
    settle(session.cycle, moved)


def _reload(session: Session, message: m.ReloadProgram) -> None:
    programs = {a.spec.name: a for a in session.cycle.agents if isinstance(a, Program)}
    program = programs.get(message.agent)
    if program is None:
        raise not_found("program", message.agent, programs)
    if not session.may_run(program, message.source):
        stays = "" if message.agent in session.withheld else " The one before goes on."
        raise SessionError(
            f"the new text of program {message.agent!r} is not trusted and does not run.{stays}",
            hint="linkwork trust FILE trusts it, with the program or its folder.",
        )
    program.reload(message.source)
    session.log(f"{message.agent} is reloaded.", source=message.agent)
    session.resume()


def _swap(session: Session, message: m.SwapScene) -> None:
    notes: list[str] = []
    cycle = compile_archive(message, session.folder(), notes)
    session.use(cycle, message.archive)
    for note in notes:
        session.log(note, level="warning", source="scene")


def compile_archive(message: m.SwapScene, folder: Path, notes: list[str] | None = None) -> Cycle:
    """Compiles the scene of an archive.

    Args:
        message: The archive, its ids and the texts of its programs.
        folder: Folder for its files, which are needed as long as the scene runs.
        notes: Receives a line for each renamed key of an earlier version.

    Raises:
        LinkworkError: If the scene cannot be used.
    """
    try:
        scene = unpack(message.archive, folder, notes)
        world = compile_scene(scene, ids=message.ids)
        world.agents = [_with_text(spec, message.sources) for spec in world.agents]
        cycle = Cycle(world)
        for program in cycle.agents:
            if isinstance(program, Program):
                program.source = message.sources.get(program.spec.name, program.source)
        dry_run(cycle)
    except LinkworkError:
        raise
    except Exception as error:  # archives are generated: there is no line to name
        raise SceneError(
            f"the archive holds no usable scene: {type(error).__name__}: {error}."
        ) from error
    return cycle


def _with_text(spec: Spec, sources: Mapping[str, str]) -> Spec:
    """The spec of a movement with the text to be played, on which its state depends."""
    if spec.type != MovementPlayer.type or spec.name not in sources:
        return spec
    return replace(spec, params={**spec.params, "source": sources[spec.name]})
