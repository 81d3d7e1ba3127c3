"""Ready data of servos: files of parameters with their sources, by name or of the user's own."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from linkwork.errors import FormatError, NameNotFound, Origin, not_found
from linkwork.parts import Spec
from linkwork.units import split_unit

FORM = "linkwork/servo 1"
FOLDER = Path(__file__).parent / "models"


@dataclass(frozen=True)
class ServoModel:
    """Data of one servo.

    Attributes:
        name: As it is called, ``AX-12``.
        title: One line for people.
        sources: Where the numbers come from, and which were chosen.
        params: Parameters of ``smart_servo``, in SI units.
    """

    name: str
    title: str
    sources: tuple[str, ...]
    params: dict[str, Any]


def read_model(path: Path, *, origin: Origin | None = None) -> ServoModel:
    """Reads a file of servo data.

    Raises:
        FormatError: If it cannot be read, or is another kind of file.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise FormatError(
            f"file {str(path)!r} cannot be read: {why}.",
            origin=origin,
            hint="A relative path starts at the folder of the file that names it.",
        ) from None
    if table.get("format") != FORM or not isinstance(table.get("parameters"), dict):
        raise FormatError(
            f"file {str(path)!r} is no servo: it says format = {table.get('format')!r}.",
            origin=origin,
            hint=f'A servo\'s file says format = "{FORM}" and has a table [parameters].',
        )
    params = {}
    for key, value in table["parameters"].items():
        name, scale = split_unit(key)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        params[name if number else key] = value * scale if number else value
    sources = table.get("sources", [])
    return ServoModel(str(table.get("name", path.stem)), str(table.get("title", "")),
                      tuple(map(str, sources)), params)  # fmt: skip


@cache
def servo_models() -> dict[str, ServoModel]:
    """The package's own servos, by name."""
    found = [read_model(path) for path in sorted(FOLDER.glob("*.toml"))]
    return {model.name: model for model in found}


def with_model(spec: Spec) -> Spec:
    """The spec with the parameters of the model or file that it names; its own words win.

    Raises:
        NameNotFound: If there is no such model; the message lists what exists.
        FormatError: If the file cannot be used.
    """
    params: dict[str, Any] = {}
    name, file = spec.params.get("model"), spec.params.get("file")
    if isinstance(name, str) and name:
        params |= _named(name, spec).params
    if isinstance(file, str) and file:
        path = Path(spec.origin.file).parent / file if spec.origin.file else Path(file)
        params |= read_model(path, origin=spec.at("file")).params
    return replace(spec, params={**params, **spec.params})


def _named(name: str, spec: Spec) -> ServoModel:
    known = {model.lower(): model for model in servo_models()}
    if name.lower() not in known:
        missing: NameNotFound = not_found("servo", name, known.values(), origin=spec.at("model"))
        raise missing
    return servo_models()[known[name.lower()]]
