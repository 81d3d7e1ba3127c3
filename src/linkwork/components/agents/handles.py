"""Handles of joints, sensors or signals in control programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.components.agents.lookup import dof_signal, value_signal
from linkwork.core.errors import SignalError, not_found
from linkwork.core.registry import SENSORS

if TYPE_CHECKING:
    from linkwork.components.agents.control import ProgramContext


def as_number(value: Any, what: str) -> float:
    """``value`` as a float.

    Raises:
        SignalError: If it is not a number.
    """
    if not isinstance(value, str | bytes):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise SignalError(f"{what} takes a number, not {value!r}.")


class SignalHandle:
    """One signal. Reading it is one array access; writes out of range are refused."""

    __slots__ = ("_address", "_item", "_program_context", "_signal")

    def __init__(self, program_context: ProgramContext, name: str) -> None:
        self._program_context = program_context
        self._signal = program_context.context.signals[name]
        self._address = self._signal.address
        self._item = program_context.context.state.data.item

    @property
    def name(self) -> str:
        """Full name, ``arm/J2.angle``."""
        return self._signal.name

    @property
    def unit(self) -> str:
        """Unit of the value."""
        return self._signal.unit

    @property
    def lo(self) -> float:
        """Lowest value, −inf for none."""
        return self._signal.lo

    @property
    def hi(self) -> float:
        """Highest value, inf for none."""
        return self._signal.hi

    @property
    def value(self) -> float:
        """The current value; settable if the signal is an input or a parameter."""
        return self._item(self._address)

    @value.setter
    def value(self, value: float) -> None:
        self._program_context.write(self._signal.name, as_number(value, f"signal {self.name!r}"))

    def set_within(self, value: float) -> None:
        """Sets the nearest value within the signal's range, as a drive would."""
        signal = self._signal
        number = as_number(value, f"signal {signal.name!r}")
        self._program_context.write(signal.name, min(max(number, signal.lo), signal.hi))

    def on_change(self, call: Callable[[float], object], by: float = 0.0) -> None:
        """Calls ``call(value)`` after each step in which the value changed by more than ``by``."""
        self._program_context.on_change(self._signal.name, call, by)


class JointHandle:
    """One degree of freedom: a joint that has one, or ``base.x`` of a joint with several.

    Targets beyond a limit are clipped to it, as by a real drive.

    Attributes:
        name: Full name, ``arm/J2``.
        lo: Lowest value [rad or m], −inf for none.
        hi: Highest value [rad or m], inf for none.
    """

    __slots__ = (
        "_address",
        "_dof",
        "_found",
        "_item",
        "_program_context",
        "_value",
        "hi",
        "lo",
        "name",
    )

    def __init__(self, program_context: ProgramContext, dof: int) -> None:
        world = program_context.context.world
        self.name = world.dof_name(dof)
        self.lo, self.hi = float(world.dof_lo[dof]), float(world.dof_hi[dof])
        self._program_context, self._dof = program_context, dof
        self._value = SignalHandle(program_context, value_signal(world, dof))
        self._address = self._value._address
        self._item = self._value._item
        self._found: dict[str, SignalHandle] = {}

    @property
    def value(self) -> float:
        """The actual angle or position [rad or m]; setting it sets the target."""
        return self._item(self._address)

    @value.setter
    def value(self, value: float) -> None:
        self.target = value

    @property
    def target(self) -> float:
        """The target angle or position [rad or m]."""
        return self._part("target").value

    @target.setter
    def target(self, value: float) -> None:
        self._part("target").set_within(value)

    @property
    def speed(self) -> float:
        """The actual speed [rad/s or m/s]."""
        return self._part("speed").value

    @property
    def target_speed(self) -> float:
        """The target speed, or the maximum on the way to a target [rad/s or m/s]."""
        return self._part("target_speed").value

    @target_speed.setter
    def target_speed(self, value: float) -> None:
        self._part("target_speed").set_within(value)

    @property
    def effort(self) -> float:
        """The actual torque or force [N m or N]."""
        return self._part("effort").value

    @property
    def target_effort(self) -> float:
        """The target torque or force [N m or N]."""
        return self._part("target_effort").value

    @target_effort.setter
    def target_effort(self, value: float) -> None:
        self._part("target_effort").set_within(value)

    @property
    def unit(self) -> str:
        """Unit of the value: "rad" or "m"."""
        return self._value.unit

    def on_change(self, call: Callable[[float], object], by: float = 0.0) -> None:
        """Calls ``call(value)`` after each step in which the value changed by more than ``by``."""
        self._value.on_change(call, by)

    def _part(self, what: str) -> SignalHandle:
        handle = self._found.get(what)
        if handle is None:
            context = self._program_context.context
            handle = SignalHandle(
                self._program_context, dof_signal(context.world, context.signals, self._dof, what)
            )
            self._found[what] = handle
        return handle


class SensorHandle:
    """A sensor: its readings are attributes, ``self.sensor("tilt").x``.

    So are array readings, as copies: ``self.sensor("scan").ranges``.
    """

    __slots__ = ("_arrays", "_found", "_name", "_program_context")
    _arrays: tuple[str, ...]
    _program_context: ProgramContext
    _found: dict[str, SignalHandle]
    _name: str

    def __init__(self, program_context: ProgramContext, name: str) -> None:
        object.__setattr__(self, "_program_context", program_context)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_arrays", self._find_arrays())
        object.__setattr__(self, "_found", {})

    def _find_arrays(self) -> tuple[str, ...]:
        spec = next(s for s in self._program_context.context.world.sensors if s.name == self._name)
        return SENSORS.get(spec.type).arrays

    def signal(self, reading: str) -> SignalHandle:
        """The handle of one reading; "value" means the only one.

        Raises:
            NameNotFound: If there is no such reading; the message lists the existing ones.
        """
        handle = self._found.get(reading)
        if handle is None:
            handle = SignalHandle(self._program_context, self._full_name(reading))
            self._found[reading] = handle
        return handle

    def _full_name(self, reading: str) -> str:
        signals, name = self._program_context.context.signals, self._name
        if f"{name}.{reading}" in signals:
            return f"{name}.{reading}"
        readings = [s.name for s in signals if s.name == name or s.name.startswith(f"{name}.")]
        outputs = [full for full in readings if signals[full].direction == "output"]
        if reading == "value" and len(outputs) == 1:
            return outputs[0]
        known = [full.removeprefix(name).lstrip(".") or "value" for full in readings]
        known += self._arrays
        raise not_found(f"reading of sensor {name!r}", reading, known)

    def on_change(
        self, call: Callable[[float], object], by: float = 0.0, *, reading: str = "value"
    ) -> None:
        """Calls ``call(value)`` after each step in which a reading changed by more than ``by``."""
        self.signal(reading).on_change(call, by)

    def __getattr__(self, reading: str) -> Any:
        if reading.startswith("_"):
            raise AttributeError(reading)
        if reading in self._arrays:
            return self._program_context.context.array(self._name, reading)
        return self.signal(reading).value

    def __setattr__(self, reading: str, value: float) -> None:
        self.signal(reading).value = value


class CameraHandle(SensorHandle):
    """A camera: its newest image, rendered on demand."""

    __slots__ = ()

    def __getattr__(self, reading: str) -> Any:
        """Finds an image by its earlier name: ``colour`` is now ``color``."""
        return self.color if reading == "colour" else super().__getattr__(reading)

    def color(self) -> np.ndarray:
        """Height×width×3 of 8 bit: red, green, blue."""
        return self._program_context.context.array(self._name, "color")

    def depth(self) -> np.ndarray:
        """Height×width [m], along the optical axis; inf if nothing is seen, 0 if too near."""
        return self._program_context.context.array(self._name, "depth")

    def segmentation(self) -> np.ndarray:
        """Height×width: the index into :attr:`names` of each pixel, −1 for none."""
        return self._program_context.context.array(self._name, "segmentation")

    @property
    def names(self) -> list[str]:
        """The elements that :meth:`segmentation` refers to."""
        return self._program_context.context.world.element_names


class PortHandle(SensorHandle):
    """A port: its commands, sensors and parameters are attributes, ``self.port("elbow").target``.

    Commands and parameters may be set, and so may sensors without a signal behind them.
    """

    __slots__ = ()

    def _find_arrays(self) -> tuple[str, ...]:
        return ()

    def _full_name(self, reading: str) -> str:
        signals, name = self._program_context.context.signals, self._name
        if f"{name}.{reading}" in signals:
            return f"{name}.{reading}"
        start = f"{name}."
        known = [s.name.removeprefix(start) for s in signals if s.name.startswith(start)]
        raise not_found(f"signal of port {name!r}", reading, known)
