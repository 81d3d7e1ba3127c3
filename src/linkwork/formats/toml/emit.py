"""TOML text of values: tidy numbers, poses, whole documents."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwork.core.errors import FormatError
from linkwork.core.value_types import SUFFIXES
from linkwork.geometry.pose import IDENTITY, Pose

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_CONTROL = re.compile(r'[\x00-\x1f\x7f"\\]')


def key_text(key: str) -> str:
    """Returns a key, in quotes if necessary."""
    return key if _BARE.match(key) else string_text(key)


def string_text(value: str) -> str:
    """Returns a string in quotes.

    Raises:
        FormatError: If it holds lone surrogates.
    """
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FormatError(f"text {value!r} cannot be written as UTF-8.") from error
    return '"' + _CONTROL.sub(lambda m: _ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04x}", value) + '"'


def value_text(value: Any) -> str:
    """Returns the text of a value; tables become inline tables.

    Raises:
        FormatError: If TOML cannot hold the value.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return string_text(value)
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(float(value))
        case list() | tuple():
            return f"[{', '.join(value_text(item) for item in value)}]"
        case Mapping():
            pairs = [f"{key_text(str(k))} = {value_text(v)}" for k, v in value.items()]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    raise FormatError(f"a file cannot hold {value!r}.")


def pairs_text(table: Mapping[str, Any]) -> str:
    """Returns the lines ``key = value``; arrays of tables get a line for each table."""
    lines = []
    for key, value in table.items():
        if isinstance(value, list | tuple) and len(value) > 1 and isinstance(value[0], Mapping):
            items = "".join(f"    {value_text(item)},\n" for item in value)
            lines.append(f"{key_text(key)} = [\n{items}]\n")
        else:
            lines.append(f"{key_text(key)} = {value_text(value)}\n")
    return "".join(lines)


def document_text(top: Mapping[str, Any], sections: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Returns a whole document: keys at the top, then a table under each header (``[[joint]]``)."""
    blocks = [pairs_text(top), *(f"{header}\n{pairs_text(table)}" for header, table in sections)]
    return "\n".join(blocks)


_DEGREES, _MILLIMETERS = SUFFIXES["_deg"], SUFFIXES["_mm"]

#: Maximum number of decimals of degrees.
_DECIMALS = (3, 6, 9)


def tidy_number(value: float) -> float | int:
    """Returns the number, as an integer if it is whole."""
    return int(value) if abs(value) < 1e15 and value == int(value) else float(value)


def tidy_numbers(values: Sequence[float]) -> list[float | int]:
    """Returns the numbers, as integers if they are whole."""
    return [tidy_number(value) for value in values]


def _as_degrees(
    values: Sequence[float], same: Callable[[list[float]], bool]
) -> list[float | int] | None:
    for decimals in _DECIMALS:
        rounded = [round(value / _DEGREES, decimals) for value in values]
        if same([value * _DEGREES for value in rounded]):
            return tidy_numbers(rounded)
    return None


def angles(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Returns angles [rad] as ``name_deg`` if that is exact, else as ``name``."""
    exact = _as_degrees(values, lambda read: read == list(values))
    return {f"{name}_deg": exact} if exact is not None else {name: tidy_numbers(values)}


def angle(name: str, value: float) -> dict[str, Any]:
    """Returns one angle [rad], as :func:`angles`."""
    return {key: values[0] for key, values in angles(name, [value]).items()}


def length(name: str, value: float) -> dict[str, Any]:
    """Returns a length [m] as ``name_mm`` if that is exact, else as ``name``."""
    for decimals in _DECIMALS:
        rounded = round(value / _MILLIMETERS, decimals)
        if rounded * _MILLIMETERS == value:
            return {f"{name}_mm": tidy_number(rounded)}
    return {name: tidy_number(value)}


def pose_table(pose: Pose) -> dict[str, Any]:
    """Returns a pose as ``{ xyz, rpy_deg }``, or with ``quat`` if angles are not exact."""
    made: dict[str, Any] = {}
    if any(pose.xyz):
        made["xyz"] = tidy_numbers(pose.xyz)
    if pose.quat != IDENTITY.quat:
        rpy = pose.rpy()
        exact = _as_degrees(rpy, lambda read: Pose.of(rpy=read).quat == pose.quat)
        if exact is not None:
            made["rpy_deg"] = exact
        elif Pose.of(rpy=rpy).quat == pose.quat and all(math.isfinite(c) for c in rpy):
            made["rpy"] = tidy_numbers(rpy)
        else:
            made["quat"] = tidy_numbers(pose.quat)
    return made


def pose_entry(name: str, pose: Pose) -> dict[str, Any]:
    """Returns ``{name: pose}``; empty for the identity."""
    return {name: pose_table(pose)} if pose != IDENTITY else {}
