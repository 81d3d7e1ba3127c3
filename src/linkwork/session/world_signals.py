"""Signals that every world has."""

from __future__ import annotations

from linkwork.core.signals import Signals
from linkwork.core.state import State
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.world import World
from linkwork.session.kernels import RUN_LAST_ENERGY

#: Bounds of masses, dampings and frictions that engines can handle [SI].
MIN_PARAM, MAX_PARAM = 1e-9, 1e9


def add_world_signals(signals: Signals, state: State, world: World, turning: list[int]) -> None:
    """Adds joint values, speeds and efforts, the live parameters and the report.

    Args:
        signals: The signals, to which they are added.
        state: The state.
        world: The world.
        turning: Bodies with ball or free joints, in the order of the ``orientation`` field.
    """
    rows = {body: row for row, body in enumerate(turning)}
    for number, joint in enumerate(world.joints):
        body = int(world.joint_body[number])
        for k, dof_name in enumerate(joint.kind.dofs):
            dof = int(world.vadr[body]) + k
            kind = int(world.kind[body])
            rotated = kind == BALL or (kind == FREE and k >= 3)
            if rotated:
                address = state.address("orientation", rows[body], k - (3 if kind == FREE else 0))
            else:
                address = state.address("q", int(world.qadr[body]) + k)
            _add_dof(signals, state, world, number, dof, dof_name, address)
    _add_params(signals, state, world)
    _add_springs(signals, state, world)
    signals.add("world.kinetic_energy", state.address("report/energy", 0), unit="J")
    signals.add("world.potential_energy", state.address("report/energy", 1), unit="J")
    signals.add("world.energy", state.address("report/run", RUN_LAST_ENERGY), unit="J")
    signals.add("world.gap", state.address("report/gap", 0), unit="m")


def _add_dof(
    signals: Signals, state: State, world: World, number: int, dof: int, name: str, address: int
) -> None:
    joint, full = world.joints[number], world.joint_names[number]
    single = joint.kind.nv == 1
    angle = joint.kind.is_angle(dof - int(world.vadr[world.joint_body[number]]))
    unit, effort = ("rad", "N m") if angle else ("m", "N")
    prefix = f"{full}." if single else f"{full}.{name}_"
    signals.add(f"{full}.{name}", address, unit=unit, lo=world.dof_lo[dof], hi=world.dof_hi[dof])
    signals.add(f"{prefix}speed", state.address("v", dof), unit=f"{unit}/s")
    signals.add(
        f"{prefix}acceleration", state.address("report/acceleration", dof), unit=f"{unit}/s²"
    )
    signals.add(f"{prefix}effort", state.address("report/effort", dof), unit=effort)
    if joint.type != "free":
        signals.add(
            f"{prefix}damping", state.address("param/damping", dof), unit=f"{effort} s/{unit}",
            lo=0.0, hi=MAX_PARAM, direction="param",
        )  # fmt: skip
        signals.add(
            f"{prefix}friction", state.address("param/joint_friction", dof), unit=effort,
            lo=0.0, hi=MAX_PARAM, direction="param",
        )  # fmt: skip


def _add_params(signals: Signals, state: State, world: World) -> None:
    for k, axis in enumerate("xyz"):
        signals.add(
            f"world.gravity_{axis}", state.address("param/gravity", k), unit="m/s²",
            lo=-1e4, hi=1e4, direction="param",
        )  # fmt: skip
    for body in range(1, world.nb):
        if world.mass[body] > 0.0 and not world.is_static(body):
            signals.add(
                f"{world.body_names[body]}.mass", state.address("param/mass", body), unit="kg",
                lo=MIN_PARAM, hi=MAX_PARAM, direction="param",
            )  # fmt: skip
    for number, name in enumerate(world.element_names):
        signals.add(
            f"{name}.friction", state.address("param/friction", number), lo=0.0, hi=1e3,
            direction="param",
        )  # fmt: skip
        signals.add(
            f"{name}.visible", state.address("param/visible", number), lo=0.0, hi=1.0,
            direction="param",
        )  # fmt: skip


def _add_springs(signals: Signals, state: State, world: World) -> None:
    for number, name in enumerate(world.spring_names):
        turns = bool(world.spring_kind[number])
        unit, push = ("rad", "N m") if turns else ("m", "N")
        length, force = ("angle", "torque") if turns else ("length", "force")
        signals.add(f"{name}.{length}", state.address("report/spring", number, 0), unit=unit)
        signals.add(f"{name}.{force}", state.address("report/spring", number, 1), unit=push)
        for k, (what, of) in enumerate(
            (("stiffness", f"{push}/{unit}"), ("rest", unit), ("damping", f"{push} s/{unit}"))
        ):
            lo, hi = 0.0, MAX_PARAM
            if what == "rest" and turns:
                lo = -MAX_PARAM
            elif what == "rest" and world.spring_law[number, 1] == 0.0:
                hi = 0.0  # it acts in all directions, which a spring with a rest length does not
            signals.add(
                f"{name}.{what}", state.address("param/spring", number, k), unit=of,
                lo=lo, hi=hi, direction="param",
            )  # fmt: skip


def add_target_signals(signals: Signals, state: State, world: World, dofs: list[int]) -> None:
    """Adds the targets of joints that follow them without an actuator."""
    for dof in dofs:
        name = world.dof_name(dof)
        unit = "rad" if world.dof_is_angle(dof) else "m"
        signals.add(
            f"{name}.target", state.address("target", dof), unit=unit, lo=world.dof_lo[dof],
            hi=world.dof_hi[dof], direction="input",
        )  # fmt: skip
        signals.add(
            f"{name}.target_speed", state.address("target_speed", dof), unit=f"{unit}/s", lo=0.0,
            hi=world.dof_speed[dof], direction="input",
        )  # fmt: skip
