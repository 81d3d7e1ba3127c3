"""Applying inbox messages to a session, one kind each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork.agents.movement import MovementPlayer
from linkwork.agents.program import Program
from linkwork.errors import LinkworkError, SceneError, SessionError, SignalError, not_found
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.parts import Spec
from linkwork.scene.archive import unpack
from linkwork.session import messages as m
from linkwork.session.clock import Clock
from linkwork.session.cycle import Cycle
from linkwork.session.durations import check_steps
from linkwork.session.placing import arrange, place, settle
from linkwork.session.rehearsal import rehearse
from linkwork.world import compile_scene

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: How fast a grabbed body swings towards the hand if no stiffness is given [rad/s].
GRAB_FREQUENCY = 15.0


def apply(session: Session, message: m.Message) -> None:
    """Applies one message.

    Raises:
        LinkworkError: If it is refused. Nothing changed then, but that a program whose successor
            failed was ended and began again.
    """
    match message:
        case m.Set():
            session.set_now(message.signal, message.value, message.owner)
        case m.Take():
            session.hand_over(message.signal, message.owner)
        case m.Release():
            session.hand_back(message.owner)
        case m.Grab():
            _grab(session, message)
        case m.Drop():
            session.state["param/grab"][message.slot] = 0.0
            _params(session)
        case m.Posture():
            _posture(session, message.name)
        case m.Place():
            place(session.cycle, message.joint, message.dof, message.value)
        case m.Arrange():
            arrange(session.cycle, message.joints)
        case m.Restore():
            session.go_back(message.state)
        case m.Reset():
            session.restart()
            session.say("back at the start.")
        case m.Reload():
            _reload(session, message)
        case m.Swap():
            _swap(session, message)
        case m.Mode():
            session.change_mode(message.mode)
        case m.Feed():
            bus = session.cycle.bus(message.bus)
            bus.feed(message.values, turn=message.turn, bench=session)
            bus.note(message.counters)
        case m.Health():
            bus = session.cycle.bus(message.bus)
            bus.hear(message.partners, message.restarts, message.counters, session)
            session.heed(bus)
        case m.Lost():
            bus = session.cycle.bus(message.bus)
            bus.lose(message.why, session, message.keys)
            session.heed(bus)
        case m.Override():
            _override(session, message)
        case m.Order():
            session.cycle.bus(message.bus)
            if session.partners is None:
                raise SessionError(f"bus {message.bus!r} is not served.")
            session.partners.order(message.bus, message.name, message.args)
        case m.Fault():
            session.faults.apply(message)
        case m.Play():
            if message.speed is not None:
                mode = "real" if message.speed > 0.0 else "fast"
                session.clock = Clock(mode, message.speed or 1.0)
            session.running = True
            session.clock.restart()
        case m.Pause():
            session.pause()
        case m.Advance():
            check_steps(message.steps)
            session.clock.granted += message.steps
        case _:
            raise SessionError(f"a session cannot apply {type(message).__name__}.")


def _params(session: Session) -> None:
    for block in session.cycle.blocks:
        block.params_changed()


def _grab(session: Session, message: m.Grab) -> None:
    world, state = session.world, session.state
    if not np.isfinite([*message.point, *message.target]).all():
        raise SignalError("a grab takes finite numbers.")
    body, local = world.frame(message.element)
    if world.is_static(body):
        raise SignalError(f"{message.element!r} does not move; it cannot be pulled.")
    if any(engine.kinematic and engine.owned[body] for engine in session.cycle.engines):
        raise SignalError(
            f"{message.element!r} is moved by Kinematic, which knows no forces.",
            hint="Set its joint's target, or place it while time stands still.",
        )
    mass = float(state["param/mass"][body]) or 1.0
    stiffness = message.stiffness or mass * GRAB_FREQUENCY**2
    damping = message.damping or 2.0 * float(np.sqrt(stiffness * mass))
    state["param/grab"][message.slot] = (
        1.0, body, *local.apply(message.point), *message.target, stiffness, damping,
    )  # fmt: skip
    _params(session)


def check_override(cycle: Cycle, message: m.Override) -> None:
    """Looks at an override before it is applied.

    Raises:
        LinkworkError: If no bus has the signal, or the value is not for it.
    """
    scope, _, key = message.signal.partition("/")
    cycle.bus(scope).check_override(key, message.value)


def _override(session: Session, message: m.Override) -> None:
    scope, _, key = message.signal.partition("/")
    bus = session.cycle.bus(scope)
    bus.override(key, message.value, session)
    if session.signals[message.signal].direction == "input":
        if message.value is not None:
            session.hand_over(message.signal, message.owner)
        else:
            session.hand_on(message.signal, scope if bus.was_fed(key) else "")


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


def _reload(session: Session, message: m.Reload) -> None:
    programs = {a.spec.name: a for a in session.cycle.agents if isinstance(a, Program)}
    program = programs.get(message.agent)
    if program is None:
        raise not_found("program", message.agent, programs)
    program.reload(message.source)
    session.say(f"{message.agent} is reloaded.", source=message.agent)
    session.resume()


def _swap(session: Session, message: m.Swap) -> None:
    cycle = compile_archive(message, session.folder())
    session.use(cycle, message.archive)


def compile_archive(message: m.Swap, folder: Path) -> Cycle:
    """Compiles the scene of an archive.

    Args:
        message: The archive, its ids and the texts of its programs.
        folder: Where its files are put; they are needed as long as the scene runs.

    Raises:
        LinkworkError: If the scene cannot be used.
    """
    try:
        scene = unpack(message.archive, folder)
        world = compile_scene(scene, ids=message.ids)
        world.agents = [_with_text(spec, message.sources) for spec in world.agents]
        cycle = Cycle(world)
        for program in cycle.agents:
            if isinstance(program, Program):
                program.source = message.sources.get(program.spec.name, program.source)
        rehearse(cycle)
    except LinkworkError:
        raise
    except Exception as error:  # an archive is written by machines: there is no line to name
        raise SceneError(
            f"the archive holds no usable scene: {type(error).__name__}: {error}."
        ) from error
    return cycle


def _with_text(spec: Spec, sources: Mapping[str, str]) -> Spec:
    """The spec of a movement with the text that is to be played: its state depends on it."""
    if spec.type != MovementPlayer.type or spec.name not in sources:
        return spec
    return replace(spec, params={**spec.params, "source": sources[spec.name]})
