"""Where postures come from: joints that a movement can drive, as they are, are wanted, or read."""

from __future__ import annotations

from linkwork.errors import SessionError
from linkwork.server.host.movement_robot import MovementRobot
from linkwork.session.reading import beyond, read_posture
from linkwork.session.session import Session
from linkwork.state import State


def driven(session: Session, robot: MovementRobot) -> dict[str, int]:
    """Degrees of freedom that go into postures, by name: those with a target.

    Others follow, or a motor turns them: a movement that named them could not be played. Where
    none has a target all count; such a robot is only shown.
    """
    dof_name, signals = session.world.dof_name, session.signals
    found = {
        name: dof
        for name, dof in robot.dofs.items()
        if any(f"{dof_name(dof)}{end}" in signals for end in (".target", "_target"))
    }
    return found or robot.dofs


def present(
    session: Session, robot: MovementRobot, state: State, *, wanted: bool
) -> dict[str, float]:
    """The posture that a robot has in a state, or is to have."""
    known, values = driven(session, robot), robot.values(state.q)
    made = {name: values[name] for name in known}
    if wanted:
        for name, dof in known.items():
            if f"{session.world.dof_name(dof)}.target" in session.signals:
                made[name] = robot.tidy(name, float(state.target[dof]))
    return made


def reported(session: Session, robot: MovementRobot, bus: str) -> dict[str, float]:
    """The posture that a machine reports.

    Raises:
        LinkworkError: If it reports none of the robot.
    """
    begin = f"{robot.on}/" if robot.on else ""
    found = read_posture(session.cycle, bus)
    said = {name.removeprefix(begin): value for name, value in found.items()}
    values = {name: robot.tidy(name, said[name]) for name in robot.dofs if name in said}
    if not values:
        raise SessionError(f"the machine has no joint of {robot.on or 'the scene'}.")
    for words in beyond(session.world, found):
        session.say(f"{words} The posture takes the end.", level="warning", source="movement")
    return values
