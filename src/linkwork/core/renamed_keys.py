"""Renamed keys: names of earlier versions that files, programs and recordings may hold.

Files are written with the new name; the old one is read with a note that states the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: New name of each renamed parameter, by kind and type of the spec; an empty type is every type.
RENAMED_KEYS: dict[tuple[str, str], dict[str, str]] = {
    ("engine", "impulse"): {"foretold": "prediction_tolerance", "most": "max_iterations"},
    ("engine", "mujoco"): {"tendon_ties": "tendon_equalities"},
    ("agent", "program"): {"patience": "call_timeout"},
    ("bus", ""): {"patience": "turn_timeout"},
}
#: New name of each renamed value, by kind of the spec and key.
RENAMED_VALUES: dict[tuple[str, str], dict[str, str]] = {
    ("bus", "on_loss"): {"limp": "torque_off"},
}
#: New name of each renamed class of a scene archive.
RENAMED_CLASSES = {"Collide": "CollisionRules"}


def new_names(kind: str, type: str) -> dict[str, str]:
    """Returns the new name of each renamed parameter of a spec."""
    return RENAMED_KEYS.get((kind, ""), {}) | RENAMED_KEYS.get((kind, type), {})


def current_params(
    kind: str, type: str, params: Mapping[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Returns the parameters of a spec under their current names, with notes.

    A parameter given under both names keeps its old name, which the check of the parameters then
    rejects.

    Args:
        kind: Kind of the spec, "engine".
        type: Its type, "impulse".
        params: Its parameters.

    Returns:
        The parameters, and for each renamed one its old name and a sentence for people.
    """
    names = new_names(kind, type)
    current: dict[str, Any] = {}
    notes: list[tuple[str, str]] = []
    for key, value in params.items():
        name = names.get(key, key)
        if name != key and name in params:
            name = key
        elif name != key:
            notes.append((key, f"{key!r} is now called {name!r}."))
        words = RENAMED_VALUES.get((kind, name), {})
        if isinstance(value, str) and value in words:
            notes.append((key, f'{name} = "{value}" is now called "{words[value]}".'))
            value = words[value]
        current[name] = value
    return current, notes
