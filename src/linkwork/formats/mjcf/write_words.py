"""Writing engine words: what stands under ``mujoco`` here is MJCF's own word there."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from linkwork.formats.numerals import numeral, numerals

#: MJCF's spelling of words that it spells differently.
SPELLED = {
    "solref_limit": "solreflimit",
    "solimp_limit": "solimplimit",
    "solref_friction": "solreffriction",
    "solimp_friction": "solimpfriction",
    "effort_range": "actuatorfrcrange",
    "gravity_by_drive": "actuatorgravcomp",
    "fluid": "fluidcoef",
}


def set_words(node: ET.Element, words: Mapping[str, Any]) -> None:
    """Sets the attributes that engine words stand for."""
    for word, value in words.items():
        node.set(SPELLED.get(word, word), _spelled(value))
    if "fluid" in words:
        node.set("fluidshape", "ellipsoid")


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return numerals(value) if isinstance(value, list | tuple) else numeral(value)
