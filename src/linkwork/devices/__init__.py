"""Devices: mapping of sticks, knobs and pedals to a scene (RoboTiX thesis §2.3.1)."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from linkwork.core.errors import LinkworkError, Origin, not_found
from linkwork.core.forms import Fields, Key, Section, Table
from linkwork.core.mistakes import describe_value
from linkwork.core.value_types import NAME, REF, BooleanType, ChoiceType, NumberType, TextType
from linkwork.formats.toml.source import SourceLocation, TomlSource

#: Kinds of devices, with the names of their values.
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
class InputMap:
    """Mapping of one device value to one logical input.

    Attributes:
        source: The device value: ``axis0``, ``button3``, ``key:ArrowUp``, ``control7``.
        to: Logical input: a name of your own (``drive``), or a signal (``arm/elbow.target``).
        scale: Value at full deflection [the input's unit].
        offset: Value at rest.
        deadzone: Deflection that is ignored, 0 to 1; the value grows from 0 beyond it.
        invert: Whether the direction is inverted.
        origin: Where it is defined.
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
        """Returns the logical value of a deflection, which is clipped to −1…1.

        With deadzone d it is offset ± scale·sign(r)·max(|r| − d, 0)/(1 − d): zero in the middle,
        full at the end, and continuous.
        """
        if not math.isfinite(raw):
            return self.offset
        size = max(min(abs(raw), 1.0) - self.deadzone, 0.0) / (1.0 - self.deadzone)
        sign = -1.0 if self.invert else 1.0
        return self.offset + sign * self.scale * math.copysign(size, raw)


@dataclass(frozen=True)
class Device:
    """A physical device.

    Attributes:
        name: Name in the file.
        type: One of ``TYPES``.
        match: Text in the system's name of it; empty for any of its type.
        maps: The mappings of its values.
        origin: Where it is defined.
    """

    name: str
    type: str
    match: str = ""
    maps: tuple[InputMap, ...] = ()
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True)
class DeviceMapping:
    """All devices of a file.

    Attributes:
        devices: By name.
        title: Title, one line.
        origin: The file.
    """

    devices: dict[str, Device] = field(default_factory=dict)
    title: str = ""
    origin: Origin = field(default=Origin(), compare=False)

    def apply(self, values: MappingProxyType | dict[str, dict[str, float]]) -> dict[str, float]:
        """Returns the logical values for the reported deflections.

        Args:
            values: For each device, by name, its deflections (−1…1, buttons 0 or 1) by source.
                Unmapped sources are ignored; missing ones are at rest.

        Returns:
            Value by logical input. Contributions of several mappings to one input are summed.

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
        """The device of a connected one: of its type, with its text in the system's name."""
        for device in self.devices.values():
            if device.type == type and device.match.lower() in system_name.lower():
                return device
        return None

    def inputs(self) -> list[str]:
        """Returns every logical input, in the order of the file."""
        return list(dict.fromkeys(each.to for each in self._maps()))

    def _maps(self) -> Iterable[InputMap]:
        return (each for device in self.devices.values() for each in device.maps)


__all__ = ["Device", "DeviceMapping", "InputMap", "load_devices"]


FORMAT = "linkwork/devices 1"

_SOURCE = re.compile(r"([a-z]+)([0-9]{1,3}|:[^\s:]{1,40})\Z")

MAP_TABLE = Table(
    {
        "from": Key(
            TextType(), "Device value: axis0, button3, key:ArrowUp, control7.", required=True
        ),
        "to": Key(REF, "Logical input: a name, or a signal of the scene.", required=True),
        "scale": Key(
            NumberType(),
            "Value at full deflection [the input's unit].",
            "dof",
            si="the input's unit",
        ),
        "offset": Key(
            NumberType(), "Value at rest [the input's unit].", "dof", si="the input's unit"
        ),
        "deadzone": Key(NumberType(0.0, 0.99), "Ignored deflection, 0 to 1."),
        "invert": Key(BooleanType(), "Whether the direction is inverted."),
    },
    example='from = "axis0", to = "arm/elbow.target"',
)

DEVICE_TABLE = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "type": Key(ChoiceType(tuple(TYPES)), "Kind of device.", required=True),
        "match": Key(TextType(), "Text in the system's name of the device."),
        "map": Key(Section("device.map", MAP_TABLE), "Mappings of its values."),
    },
    example='name = "pad", type = "gamepad"',
)

DEVICES_TABLE = Table(
    {
        "format": Key(TextType(), "Format of this file.", required=True),
        "title": Key(TextType(), "Title, one line."),
        "device": Key(Section("device", DEVICE_TABLE), "Physical devices."),
    },
    example=f'format = "{FORMAT}"',
)


def load_devices(path: str | os.PathLike[str]) -> DeviceMapping:
    """Reads a file of devices.

    Raises:
        LinkworkError: Naming the object, its file and line, and the allowed values.
    """
    return read_devices(TomlSource.read(path))


def read_devices(source: TomlSource) -> DeviceMapping:
    """Returns the devices of a source, as :func:`load_devices`."""
    location = SourceLocation(source)
    given = source.data.get("format")
    if given != FORMAT:
        found_format = (
            f"has the format {describe_value(given)}"
            if given is not None
            else "does not define its format"
        )
        raise (
            (location / "format")
            .labeled("the file")
            .mistake(f"{found_format}.", hint=f'Write format = "{FORMAT}".')
        )
    with location.with_origin():
        fields = DEVICES_TABLE.read(source.data, location)
        devices: dict[str, Device] = {}
        for table in fields.get("device", ()):
            device = _device(table)
            if device.name in devices:
                raise table.at("name").mistake(f"{device.name!r} is taken by an earlier device.")
            devices[device.name] = device
        if not devices:
            raise location.labeled("the file").mistake(
                "names no device.", hint="Write [[device]] …."
            )
    return DeviceMapping(devices, fields.get("title", ""), location.origin)


def _device(fields: Fields) -> Device:
    words = TYPES[fields["type"]]
    maps: list[InputMap] = []
    for table in fields.get("map", ()):
        source = table["from"]
        matched = _SOURCE.match(source)
        if matched is None or matched[1] not in words:
            forms = " or ".join(f"{w}:Name" if w == "key" else f"{w}0" for w in words)
            raise table.at("from").mistake(
                f"{describe_value(source)} is not a value of a {fields['type']}.",
                hint=f"Write {forms}.",
            )
        with table.location.with_origin():
            more = table.take("to", "scale", "offset", "deadzone", "invert")
            maps.append(InputMap(source, **more, origin=table.location.origin))
    named = fields.take("name", "type", "match")
    return Device(**named, maps=tuple(maps), origin=fields.location.origin)
