"""Reading a file of devices, ``format = "linkwork/devices 1"``."""

from __future__ import annotations

import os
import re

from linkwork.devices.mapping import TYPES, Device, Map, Mapping
from linkwork.formats.toml.kinds import NAME, REF, Flag, Number, Text, Word
from linkwork.formats.toml.source import Place, Source, found
from linkwork.formats.toml.tables import Fields, Key, Section, Table

FORM = "linkwork/devices 1"

_SOURCE = re.compile(r"([a-z]+)(\d{1,3}|:[^\s:]{1,40})\Z")

MAP = Table(
    {
        "from": Key(Text(), "What moves: axis0, button3, key:ArrowUp, control7.", required=True),
        "to": Key(REF, "Logical input: a name, or a signal of the scene.", required=True),
        "scale": Key(Number(), "What full deflection means [the input's unit].", "freedom"),
        "offset": Key(Number(), "What rest means [the input's unit].", "freedom"),
        "deadzone": Key(Number(0.0, 0.99), "Deflection that counts as none, 0 to 1."),
        "invert": Key(Flag(), "Whether the other way is forward."),
    },
    example='from = "axis0", to = "arm/elbow.target"',
)

DEVICE = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "type": Key(Word(tuple(TYPES)), "Kind of device.", required=True),
        "match": Key(Text(), "Text in the name by which the system knows it."),
        "map": Key(Section("device.map", MAP), "What its values mean."),
    },
    example='name = "pad", type = "gamepad"',
)

DEVICES = Table(
    {
        "format": Key(Text(), "Format of this file.", required=True),
        "title": Key(Text(), "One line for people."),
        "device": Key(Section("device", DEVICE), "Physical devices."),
    },
    example=f'format = "{FORM}"',
)


def load_devices(path: str | os.PathLike[str]) -> Mapping:
    """Reads a file of devices.

    Raises:
        LinkworkError: Naming the thing, its file and line, and what would be allowed.
    """
    return read_devices(Source.read(path))


def read_devices(source: Source) -> Mapping:
    """The devices that a source says, as :func:`load_devices`."""
    place = Place(source)
    given = source.data.get("format")
    if given != FORM:
        said = f"has the format {found(given)}" if given is not None else "does not say its format"
        raise (
            (place / "format")
            .called("the file")
            .wrong(f"{said}.", hint=f'Write format = "{FORM}".')
        )
    with place.blamed():
        fields = DEVICES.read(source.data, place)
        devices: dict[str, Device] = {}
        for table in fields.get("device", ()):
            device = _device(table)
            if device.name in devices:
                raise table.at("name").wrong(f"{device.name!r} is taken by an earlier device.")
            devices[device.name] = device
        if not devices:
            raise place.called("the file").wrong("names no device.", hint="Write [[device]] ….")
    return Mapping(devices, fields.get("title", ""), place.origin)


def _device(fields: Fields) -> Device:
    words = TYPES[fields["type"]]
    maps: list[Map] = []
    for table in fields.get("map", ()):
        source = table["from"]
        matched = _SOURCE.match(source)
        if matched is None or matched[1] not in words:
            forms = " or ".join(f"{w}:Name" if w == "key" else f"{w}0" for w in words)
            raise table.at("from").wrong(
                f"{found(source)} is no value of a {fields['type']}.", hint=f"Write {forms}."
            )
        with table.place.blamed():
            more = table.take("to", "scale", "offset", "deadzone", "invert")
            maps.append(Map(source, **more, origin=table.place.origin))
    named = fields.take("name", "type", "match")
    return Device(**named, maps=tuple(maps), origin=fields.place.origin)
