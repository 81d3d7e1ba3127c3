"""Mapping: values of physical devices to logical inputs. Pure data, no hardware."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from linkwork.errors import LinkworkError, Origin, not_found

#: Kinds of devices, with the words by which their values are named.
TYPES: dict[str, tuple[str, ...]] = {
    "gamepad": ("axis", "button"),
    "joystick": ("axis", "button"),
    "spacemouse": ("axis", "button"),
    "keyboard": ("key",),
    "midi": ("control", "note"),
    "pedal": ("axis",),
    "tracker": ("axis", "button"),
    "glove": ("axis",),
    "haptic": ("axis", "button"),
}

_EMPTY: MappingProxyType[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Map:
    """One value of a device that is one logical input.

    Attributes:
        source: What moves: ``axis0``, ``button3``, ``key:ArrowUp``, ``control7``.
        to: Logical input: a name of your own (``drive``), or a signal (``arm/elbow.target``).
        scale: What full deflection means [the input's unit].
        offset: What rest means.
        deadzone: Deflection that counts as none, 0 to 1; what is beyond grows from 0 again.
        invert: Whether the other way is forward.
        origin: Where it was said.
    """

    source: str
    to: str
    scale: float = 1.0
    offset: float = 0.0
    deadzone: float = 0.0
    invert: bool = False
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.deadzone < 1.0:
            raise LinkworkError(
                f"deadzone of {self.source!r} must be from 0 to below 1, not {self.deadzone:g}.",
                origin=self.origin,
            )
        if not (math.isfinite(self.scale) and math.isfinite(self.offset)):
            raise LinkworkError(
                f"scale and offset of {self.source!r} must be finite.", origin=self.origin
            )

    def value(self, raw: float) -> float:
        """The logical value of a deflection, which is cut to −1…1.

        With deadzone d it is offset ± scale·sign(r)·max(|r| − d, 0)/(1 − d): still in the middle,
        full at the end, and without a jump between.
        """
        if not math.isfinite(raw):
            return self.offset
        size = max(min(abs(raw), 1.0) - self.deadzone, 0.0) / (1.0 - self.deadzone)
        way = -1.0 if self.invert else 1.0
        return self.offset + way * self.scale * math.copysign(size, raw)


@dataclass(frozen=True)
class Device:
    """A physical device.

    Attributes:
        name: Name in the file.
        type: One of ``TYPES``.
        match: Text in the name by which the system knows it; empty for any of its type.
        maps: What its values mean.
        origin: Where it was said.
    """

    name: str
    type: str
    match: str = ""
    maps: tuple[Map, ...] = ()
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True)
class Mapping:
    """All devices of a file.

    Attributes:
        devices: By name.
        title: One line for people.
        origin: The file.
    """

    devices: dict[str, Device] = field(default_factory=dict)
    title: str = ""
    origin: Origin = field(default=Origin(), compare=False)

    def apply(self, values: MappingProxyType | dict[str, dict[str, float]]) -> dict[str, float]:
        """Logical values of what devices report.

        Args:
            values: For each device, by name, its deflections (−1…1, buttons 0 or 1) by source.
                Sources that no one mapped are passed over; those that are missing rest.

        Returns:
            Value by logical input. Where several maps lead to one input, what they add is summed.

        Raises:
            NameNotFound: If a device is not in the file.
        """
        for name in values:
            if name not in self.devices:
                raise not_found("device", name, self.devices, origin=self.origin)
        found: dict[str, float] = {}
        for name, device in self.devices.items():
            given: Any = values.get(name, _EMPTY)
            for each in device.maps:
                value = each.value(float(given.get(each.source, 0.0)))
                found[each.to] = found.get(each.to, 0.0) + value
        return found

    def find(self, type: str, system_name: str) -> Device | None:
        """The device that a connected one is: of its type, with its text in the system's name."""
        for device in self.devices.values():
            if device.type == type and device.match.lower() in system_name.lower():
                return device
        return None

    def inputs(self) -> list[str]:
        """Every logical input, in the order of the file."""
        return list(dict.fromkeys(each.to for each in self._maps()))

    def _maps(self) -> Iterable[Map]:
        return (each for device in self.devices.values() for each in device.maps)
