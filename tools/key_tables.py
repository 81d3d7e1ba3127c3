"""Writes the tables of keys and parameters in docs/ from what the code understands.

A page holds `<!-- keys: joint -->` or `<!-- parameters: sensor encoder -->`; the table that follows
it is written here, and a test fails where it is not what the code says.

python tools/key_tables.py [--check]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from linkwork.components.faults import FaultParams
from linkwork.core.forms import UNITS, Section, Table
from linkwork.core.registry import ACTUATORS, AGENTS, BUSES, ENGINES, FAULTS, SENSORS, Registry
from linkwork.core.value_types import ChoiceType
from linkwork.formats.toml import movement_keys, part_keys, scene_keys

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python tools/key_tables.py"
MARK = re.compile(r"^<!-- (keys|parameters): ([a-z_ ]+) -->\n((?:\|.*\n)*)", re.MULTILINE)

TABLES: dict[str, Table] = {
    "part file": scene_keys.PART,
    "scene file": scene_keys.SCENE,
    "movement file": movement_keys.MOVEMENT,
    "timed posture": movement_keys.TIMED_POSTURE,
    "losses": movement_keys.LOSSES,
    "element": part_keys.ELEMENT,
    "shape": part_keys.SHAPE,
    **part_keys.SHAPE_TABLES,
    "at": part_keys.AT,
    "joint": part_keys.JOINT,
    "rail": part_keys.RAIL_PIECE,
    "anchor": part_keys.ANCHOR,
    "attach": part_keys.ATTACH,
    "loop": part_keys.LOOP,
    "coupling": part_keys.COUPLING,
    "curve": part_keys.CURVE,
    "spring": part_keys.SPRING,
    "part": scene_keys.PLACEMENT,
    "light": scene_keys.LIGHT,
    "viewpoint": scene_keys.VIEWPOINT,
    "posture": scene_keys.POSTURE,
    "collide": scene_keys.COLLIDE,
    "bus": scene_keys.BUS,
    "port": scene_keys.PORT,
    "port signal": scene_keys.PORT_SIGNAL,
    "joint bus": part_keys.BUS_ENTRY,
    "fault": scene_keys.FAULT,
}
REGISTRIES: dict[str, Registry[Any]] = {
    "engine": ENGINES, "sensor": SENSORS, "actuator": ACTUATORS, "agent": AGENTS, "bus": BUSES,
    "fault": FAULTS,
}  # fmt: skip
#: Parameters that all of a kind share, which its table of keys tells already.
COMMON: dict[str, type[msgspec.Struct]] = {"fault": FaultParams}


def key_table(name: str) -> str:
    """The keys of a table of the file format."""
    lines = ["| key | meaning |", "|-|-|"]
    for key, logged in TABLES[name].keys.items():
        written = f"`[[{key}]]`" if isinstance(logged.kind, Section) else f"`{key}`"
        if units := UNITS[logged.unit]:
            written += " " + " ".join(f"`{suffix}`" for suffix in units)
        must = " Required." if logged.required else ""
        if isinstance(logged.kind, ChoiceType):
            must = f" One of {', '.join(f'`{word}`' for word in logged.kind.words)}.{must}"
        lines.append(f"| {written} | {_cell(logged.help)}{must} |")
    return "\n".join(lines) + "\n"


def parameter_table(kind: str, type: str) -> str:
    """The parameters of a registered engine, sensor, actuator, agent or bus."""
    form = form_of(REGISTRIES[kind].get(type))
    reported = dict(_attributes(form))
    lines = ["| parameter | default | meaning |", "|-|-|-|"]
    common = (
        {field.name for field in msgspec.structs.fields(COMMON[kind])} if kind in COMMON else ()
    )
    fields = [field for field in msgspec.structs.fields(form) if field.name not in common]
    for field in sorted(fields, key=lambda field: not field.required):
        help = reported.get(field.name) or (form.__doc__ or "").partition(": ")[2]
        help = help.removeprefix(f"``{field.encode_name}`` in files: ")
        lines.append(f"| `{field.encode_name}` | {_default(field)} | {_cell(help)} |")
    return "\n".join(lines) + "\n"


def form_of(thing: type) -> type[msgspec.Struct]:
    """The struct that checks a plug-in's parameters: ``form``, ``Params``, ``…Params`` beside."""
    for cls in thing.__mro__:
        named = getattr(import_module(cls.__module__), f"{cls.__name__}Params", None)
        if form := named or vars(cls).get("Params") or vars(cls).get("form"):
            return form
    raise LookupError(f"{thing} has no parameters")


def _attributes(form: type) -> Iterator[tuple[str, str]]:
    """Name and description of each attribute that the docstrings tell, bases first."""
    for cls in reversed(form.__mro__):
        text = cls.__dict__.get("__doc__") or ""
        _, _, section = text.partition("Attributes:\n")
        for entry in re.split(r"\n(?=        \w+: )", "\n" + section)[1:]:
            name, _, logged = entry.strip().partition(": ")
            yield name, " ".join(logged.split())


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default  # type: ignore[misc]
    if value is None or value in ("", [], ()):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple | list):
        return f"`[{', '.join(f'{item:g}' for item in value)}]`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _cell(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text.replace("``", "`").replace("|", "\\|")


def written(text: str) -> str:
    """A page with all its tables as the code has them."""

    def table(match: re.Match[str]) -> str:
        kind, name, _ = match.groups()
        made = key_table(name) if kind == "keys" else parameter_table(*name.split())
        return f"<!-- {kind}: {name} -->\n{made}"

    return MARK.sub(table, text)


def main(arguments: list[str] | None = None) -> int:
    """Writes the tables, or with --check says which pages are out of date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if out of date")
    check = parser.parse_args(arguments).check
    late = 0
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (made := written(text)) != text:
            late += 1
            done = f"is out of date; run: {COMMAND}" if check else "written"
            print(f"{page.relative_to(ROOT)} {done}")
            if not check:
                page.write_text(made, encoding="utf-8")
    return 1 if check and late else 0


if __name__ == "__main__":
    sys.exit(main())
