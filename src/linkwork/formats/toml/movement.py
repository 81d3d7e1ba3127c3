"""Reading and writing a movement's file."""

from __future__ import annotations

from typing import Any

from linkwork.formats.toml.emit import document_text
from linkwork.formats.toml.numbers import angle, tidy
from linkwork.formats.toml.rows import changed
from linkwork.formats.toml.tables import Fields
from linkwork.scene import Movement, TimedPosture


def read_movement(fields: Fields) -> Movement:
    """A movement from the tables of its file.

    Raises:
        LinkworkError: Naming the thing, its file and line, and what would be allowed.
    """
    units: dict[str, set[str]] = {"_deg": set(), "": set(), "_mm": set()}
    postures = tuple(_posture(table, units) for table in fields.get("posture", ()))
    return Movement(
        postures=postures,
        angles=frozenset(units["_deg"]),
        lengths=frozenset(units["_mm"]),
        origin=fields.place.origin,
        **fields.take("name", "title", "labels", "interpolation"),
    )


def _posture(fields: Fields, units: dict[str, set[str]]) -> TimedPosture:
    made: dict[str, float] = {}
    for suffix, values in fields["joints"].items():
        unit = "_mm" if suffix == "_cm" else suffix
        other = {"_mm": "_deg", "_deg": "_mm"}.get(unit)
        for name, value in values.items():
            here = fields.place / f"joints{suffix}" / name
            if name in made:
                raise here.wrong("is given twice; once is enough.")
            if other and name in units[other]:
                raise here.wrong("is an angle in one posture and a length in another.")
            units[unit].add(name)
            made[name] = value
    return TimedPosture(fields["time"], made, fields.place.origin)


def movement_text(movement: Movement) -> str:
    """The text of a movement's file; joints known to turn are in degrees where no bit is lost."""
    top: dict[str, Any] = {"format": "linkwork/movement 1", "name": movement.name}
    top |= changed(movement, "title", "labels", "interpolation")
    sections = []
    for posture in movement.postures:
        row: dict[str, Any] = {"time": tidy(posture.time)}
        for name, value in posture.joints.items():
            known = name in movement.angles
            said = angle("joints", value) if known else {"joints": tidy(value)}
            for key, number in said.items():
                row.setdefault(key, {})[name] = number
        sections.append(("[[posture]]", row))
    return document_text(top, sections)
