"""The syntax of ``--fault``: a fault in one word, ``stuck:tilt@3+2``."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from linkwork.core.errors import FormatError
from linkwork.core.registry import FAULTS
from linkwork.core.value_types import split_unit

if TYPE_CHECKING:
    from linkwork.model.scene import Scene

FORM = "TYPE[:WHAT][@AT[+LASTS]][,KEY=VALUE…]"
_WORD = re.compile(
    r"(?P<type>[A-Za-z0-9_-]+)(:(?P<what>[^@,]+))?(@(?P<at>[^+,]+)(\+(?P<lasts>[^,]+))?)?"
)


def add_fault(scene: Scene, text: str) -> None:
    """Adds the fault given by ``--fault`` to a scene.

    Without a time and a chance it begins at once. A ``person`` without a part is added to the scene
    as a visitor.

    Raises:
        LinkworkError: If the text cannot be parsed; the message shows the syntax.
    """
    head, *keys = text.split(",")
    match = _WORD.fullmatch(head.strip())
    if match is None:
        raise _unclear(text)
    type = match["type"]
    form = FAULTS.get(type)
    params: dict[str, Any] = {}
    if match["what"]:
        params[_key(form, type, match["what"], text)] = match["what"]
    for key in ("at", "lasts"):
        if match[key]:
            params[key] = _time(match[key], text)
    for pair in _pairs(keys, text):
        name, factor = split_unit(pair[0])
        params[name] = _value(pair[1], factor)
    if "at" not in params and "chance" not in params:
        params["at"] = 0.0
    if type == "person" and "part" not in params:
        from linkwork.components.faults.person import add_person

        params["part"] = add_person(scene)
        params.setdefault("to", [0.8, 0.0])
    taken, name, number = {spec.name for spec in scene.faults}, type, 2
    while name in taken:
        name, number = f"{type}_{number}", number + 1
    scene.fault(name, type, **params)


def _unclear(text: str) -> FormatError:
    return FormatError(
        f"--fault takes {FORM}, not {text!r}.",
        hint="For example stuck:tilt@3+2 or drop:can0@2+1,chance=0.3,seed=7.",
    )


def _key(form: Any, type: str, what: str, text: str) -> str:
    if not form.what:
        raise FormatError(f"--fault {text!r}: {type} strikes nothing by name.")
    return "signal" if form.what == "sensor" and "." in what else form.what


def _time(text: str, whole: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        raise FormatError(
            f"--fault {whole!r}: {text!r} is not a time in seconds.", hint=f"It is written {FORM}."
        ) from None
    if not (math.isfinite(seconds) and seconds >= 0.0):
        raise FormatError(f"--fault {whole!r}: a time is 0 s or more, not {text!r}.")
    return seconds


def _pairs(words: list[str], text: str) -> list[tuple[str, str]]:
    """Keys and values; commas in ``ids=1,2`` belong to the value."""
    pairs: list[tuple[str, str]] = []
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key.strip():
            pairs.append((key.strip(), value.strip()))
        elif pairs and word.strip():
            pairs[-1] = pairs[-1][0], f"{pairs[-1][1]},{word.strip()}"
        else:
            raise _unclear(text)
    return [(key, f"{value}," if key in ("ids", "to") else value) for key, value in pairs]


def _value(text: str, factor: float) -> Any:
    """A number, boolean or text, or a list of them if there are commas."""
    if "," in text:
        return [_value(item, factor) for item in text.split(",") if item.strip()]
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text, 0) if factor == 1.0 else int(text, 0) * factor
    except ValueError:
        pass
    try:
        return float(text) * factor
    except ValueError:
        return text
