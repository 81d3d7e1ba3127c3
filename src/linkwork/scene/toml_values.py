"""Values as TOML text, exact to the last bit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from linkwork.errors import FormatError

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_CONTROL = re.compile(r'[\x00-\x1f\x7f"\\]')


def key_text(key: str) -> str:
    """A key, in quotes where it needs them."""
    return key if _BARE.match(key) else string_text(key)


def string_text(value: str) -> str:
    """A string in quotes.

    Raises:
        FormatError: If it holds halves of characters, which no file can.
    """
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FormatError(f"text {value!r} cannot be written as UTF-8.") from error
    return '"' + _CONTROL.sub(lambda m: _ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04x}", value) + '"'


def value_text(value: Any) -> str:
    """A value as it stands after ``key =``; tables become inline tables.

    Raises:
        FormatError: If TOML has no such value.
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
