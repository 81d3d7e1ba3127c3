"""SmartServo: a servo model with the limits of a real one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from linkwork.components.actuators import JointDrive
from linkwork.components.actuators import smart_kernels as cut
from linkwork.components.actuators.smart_params import (
    SmartServoParams,
    check_unused,
    cycles_per_unit,
    motor_constants,
    unused_params,
    with_model,
)
from linkwork.core.state import State
from linkwork.model.blocks import SignalSpec, period_in_steps
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World

_MODES = ("position", "velocity", "effort")
_LOOPS = {"pid": cut.PID, "compliance": cut.COMPLIANCE}
_INPUTS = (("target", "target_speed"), ("target_speed",), ("target_effort",))
#: Temperature coefficient of copper's resistance [1/K].
_COPPER = 0.0039
#: Fraction of the free speed below which the gears' added loss when driven back fades to 0.
_FADE = 1e-3

#: Outputs of a servo: name, column of its memory, unit with {a} for angle and {e} for effort.
_OUTPUTS = (
    ("measured", cut.MEASURED, "{a}"), ("duty", cut.DUTY, ""), ("voltage", cut.VOLTAGE, "V"),
    ("current", cut.CURRENT, "A"), ("power", cut.POWER, "W"),
    ("temperature", cut.TEMPERATURE, "°C"), ("fault", cut.FAULT, ""), ("play", cut.PLAY, "{a}"),
)  # fmt: skip
_METERS = ("energy", "energy_gross", "work", "work_gross", "heat", "shaft_work", "standby_energy")
#: Live parameters in the order of their columns, with units.
_GAINS = {
    "kp": "1/{a}", "ki": "1/({a} s)", "kd": "s/{a}", "margin_cw": "{a}", "margin_ccw": "{a}",
    "slope_cw": "{a}", "slope_ccw": "{a}", "punch": "", "max_duty": "",
    "max_acceleration": "{a}/s²", "supply": "V", "enabled": "", "max_effort": "{e}",
}  # fmt: skip
_SHARES = ("punch", "max_duty", "enabled")


class SmartServo(JointDrive):
    """Servos with motor, gears, electronics and inner loop: targets in, measurements out.

    The bridge's duty u follows from the inner loop; the motor gives k (u V − k ω)/R, of which the
    gears transmit a fraction, less friction; see docs/servos.md for the complete law. It is an
    affine law, so that the torque-speed line and stiff loops are integrated implicitly. Rotor
    inertia, friction and damping become the joint's own.
    """

    type: ClassVar[str] = "smart_servo"
    form = SmartServoParams
    gains: ClassVar[Sequence[str]] = tuple(_GAINS)[:-1]
    metered: ClassVar[bool] = True

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        own = [spec.params for spec in specs]
        specs = [with_model(spec) for spec in specs]
        super().__init__(world, specs, name)
        for spec, params in zip(specs, own, strict=True):
            check_unused(spec, params)
        pairs = zip(self.params, specs, strict=True)
        self.motors = [motor_constants(params, spec) for params, spec in pairs]
        self._every = [self._period(n) for n in range(len(specs))]
        robots = [self._robot(dof) for dof in self.dofs]
        self.robots = list(dict.fromkeys(robots))
        self._robot_of = [self.robots.index(robot) for robot in robots]
        for number, robot in enumerate(self.robots):
            self._offer_robot(number, robot or "world")

    def _robot(self, dof: int) -> str:
        name = self.world.dof_name(dof)
        return name.partition("/")[0] if "/" in name else ""

    def _fastest(self, number: int) -> float:
        """Maximum speed of the setpoint [rad/s or m/s]."""
        own = self.params[number].max_speed
        return min(float(self.world.dof_speed[self.dofs[number]]), math.inf if own is None else own)

    def _period(self, number: int) -> int:
        """Steps between two ticks of the inner loop; 0 if it is faster than the steps."""
        spec, period = self.specs[number], self.params[number].control_period
        step = self.world.scene.step
        if period < step * (1.0 - 1e-9):
            return 0
        return period_in_steps(
            period, step, f"{self.type} {spec.name!r}", spec.at("control_period")
        )

    def check(self) -> list[Finding]:
        """Notes inner loops that are faster than the steps."""
        late = [n for n, p in enumerate(self.params) if p.control_period > 0 and not self._every[n]]
        return [
            Finding(
                "note", self.specs[n].name,
                f"its inner loop runs each {1e3 * self.params[n].control_period:g} ms, faster than "
                "the steps: its law is integrated as a continuous one.", self.specs[n].origin,
            )
            for n in late[:1]
        ]  # fmt: skip

    def inputs_of(self, number: int) -> Sequence[str]:  # noqa: D102
        return _INPUTS[_MODES.index(self.params[number].mode)]

    def limits_of(self, number: int) -> tuple[float, float]:  # noqa: D102
        own = self.params[number].max_acceleration
        return math.inf if own is None else own, self.max_effort(number)

    def armature(self) -> dict[int, float]:  # noqa: D102
        inertias = [motor.inertia for motor in self.motors]
        return dict(zip(self.dofs, inertias, strict=True))

    def offer(self, number: int, unit: str, effort: str) -> None:  # noqa: D102
        world, dof = self.world, self.dofs[number]
        full = world.dof_name(dof)
        lo, hi, fastest = float(world.dof_lo[dof]), float(world.dof_hi[dof]), self._fastest(number)
        mode = self.params[number].mode
        if mode == "position":
            self.offer_input(number, "target", unit, lo, hi)
        if mode == "effort":
            most = self.max_effort(number)
            self.offer_input(number, "target_effort", effort, -most, most)
        else:
            least = 0.0 if mode == "position" else -fastest
            self.offer_input(number, "target_speed", f"{unit}/s", least, fastest)
        memory, gains = self.field("memory"), self.field("gains")
        add = self._signals.append
        add(SignalSpec(f"{full}.setpoint", memory, (number, cut.SETPOINT), unit, lo, hi))
        for name, column, pattern in _OUTPUTS:
            add(SignalSpec(f"{full}.{name}", memory, (number, column), pattern.format(a=unit)))
        for k, name in enumerate(_METERS):
            add(SignalSpec(f"{full}.{name}", memory, (number, cut.ENERGY + k), "J"))
        idle = unused_params(self.specs[number].params)
        for column, (name, pattern) in enumerate(_GAINS.items()):
            if name in idle:
                continue
            of = pattern.format(a=unit, e=effort)
            most = 1.0 if name in _SHARES else math.inf
            add(SignalSpec(f"{full}.{name}", gains, (number, column), of, 0.0, most, "param"))

    def without(self, signal: str) -> str:
        """Why a servo has no such signal: its loop or mode does not use it; else empty."""
        joint, _, word = signal.rpartition(".")
        for dof, spec in zip(self.dofs, self.specs, strict=True):
            if self.world.dof_name(dof) == joint and word in _GAINS:
                return unused_params(spec.params).get(word, "")
        return ""

    def _offer_robot(self, number: int, name: str) -> None:
        field, add = self.field("robots"), self._signals.append
        add(SignalSpec(f"{name}.voltage", field, (number, cut.BUS_VOLTAGE), "V"))
        add(SignalSpec(f"{name}.current", field, (number, cut.BUS_CURRENT), "A"))
        for k, meter in enumerate(_METERS):
            add(SignalSpec(f"{name}.{meter}", field, (number, cut.BUS_METERS + k), "J"))

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return {
            "gains": (len(self.specs), cut.GAIN_COLUMNS),
            "memory": (len(self.specs), cut.MEMORY_COLUMNS),
            "robots": (len(self.robots), cut.ROBOT_COLUMNS),
        }

    def addresses(self, state: State, number: int) -> list[int]:  # noqa: D102
        dof, params = self.dofs[number], self.params[number]
        fields = ("target", "target_speed", "target_effort")
        return [
            state.address("drive", 0, dof), state.address("q", int(self.coordinates[number])),
            state.address("v", dof), state.address("report/acceleration", dof),
            *(state.address(field, dof) for field in fields), self._robot_of[number],
            _MODES.index(params.mode), _LOOPS[params.loop],
            self._every[number], int(params.encoder == "motor"),
        ]  # fmt: skip

    def _form(self, number: int) -> list[float]:
        world, dof, p = self.world, self.dofs[number], self.params[number]
        motor, robot = self.motors[number], self._robot_of[number]
        line = max(q.supply_resistance for q, r in zip(self.params, self._robot_of, strict=True)
                   if r == robot)  # fmt: skip
        return [
            motor.constant, motor.resistance, motor.efficiency, _FADE * p.free_speed,
            motor.inertia, p.cogging, cycles_per_unit(p, angle=world.dof_is_angle(dof)),
            p.backlash, p.resolution, p.speed_filter, p.voltage, line, p.idle_current,
            p.thermal_resistance, p.thermal_capacity, p.ambient, p.max_temperature,
            float(world.dof_lo[dof]), float(world.dof_hi[dof]), self._fastest(number),
            _COPPER if p.thermal_capacity > 0.0 else 0.0,
        ]  # fmt: skip

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        count = len(self.specs)
        form = np.array([self._form(number) for number in range(count)])
        memory, robots = self.slot("memory"), self.slot("robots")
        self.tables = (state.data, self._where, form, self.slot("gains"), memory, robots,
                        np.zeros((count, 3)))  # fmt: skip
        self._meters = state.data, self._where, form, memory, robots

    def reset(self) -> None:
        """Sets every target to the joint's position, and the winding to the ambient temperature."""
        state, world, dofs = self.state, self.world, self.dofs
        here = np.clip(state.q[self.coordinates], world.dof_lo[dofs], world.dof_hi[dofs])
        memory, gains = self.slot("memory"), self.slot("gains")
        for n, (dof, p) in enumerate(zip(dofs, self.params, strict=True)):
            given = {name: getattr(p, name, None) for name in _GAINS}
            given["enabled"], given["max_effort"] = 1.0, self.max_effort(n)
            given["supply"] = p.voltage if p.supply is None else p.supply
            if p.max_acceleration is None:
                given["max_acceleration"] = math.inf
            gains[n] = list(given.values())
            state.target[dof] = memory[n, cut.SETPOINT] = here[n]
            state.target_speed[dof] = self._fastest(n) if p.mode == "position" else 0.0
            state.target_effort[dof] = 0.0
            exact = state.q[self.coordinates[n]]
            step = p.resolution
            memory[n, cut.MEASURED] = step * math.floor(exact / step + 0.5) if step else exact
            memory[n, cut.LAST_Q] = exact
            memory[n, cut.ROTOR] = state.v[dof]
            memory[n, cut.TEMPERATURE] = p.ambient
            memory[n, cut.VOLTAGE] = given["supply"]
            memory[n, cut.HOT_OHM] = self.motors[n].resistance
            state["param/joint_friction"][dof] += p.friction
            state["param/damping"][dof] += p.damping

    def drive(self, step: int) -> None:  # noqa: D102
        cut.drive_smart_servos(self.world.scene.step, step, self._stride, *self.tables)

    def meter(self) -> None:
        """Accumulates the energy of the step, after the engines have made it."""
        cut.meter_smart_servos(self.world.scene.step, self._stride, *self._meters)
