"""Units of DBC files."""

from __future__ import annotations

import math

_TURN, _DEGREE = 2.0 * math.pi, math.pi / 180.0
#: Values of the SI prefixes.
_PREFIXES = {"": 1.0, "k": 1e3, "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6}
#: Units that take any of the prefixes, with their SI unit.
_PREFIXED = {
    "m": "m", "s": "s", "N": "N", "Nm": "N m", "N*m": "N m", "N·m": "N m", "N.m": "N m",
    "rad": "rad", "J": "J", "W": "W", "V": "V", "A": "A", "Hz": "1/s", "Pa": "Pa",
}  # fmt: skip
#: Other units, with their SI unit and their value in it.
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("deg", "Deg", "DEG", "°", "º", "Grad"), ("rad", _DEGREE)),
    **dict.fromkeys(("degree", "degrees", "Degree", "Degrees"), ("rad", _DEGREE)),
    **dict.fromkeys(("radian", "radians", "Rad"), ("rad", 1.0)),
    **dict.fromkeys(("rev", "revs", "turn", "turns", "U", "Umdr"), ("rad", _TURN)),
    "gon": ("rad", math.pi / 200.0), "arcmin": ("rad", _DEGREE / 60.0),
    "rpm": ("rad/s", _TURN / 60.0), "RPM": ("rad/s", _TURN / 60.0), "rps": ("rad/s", _TURN),
    **dict.fromkeys(("1/min", "min-1", "min^-1", "/min", "r/min"), ("rad/s", _TURN / 60.0)),
    "dps": ("rad/s", _DEGREE), "metre": ("m", 1.0), "meter": ("m", 1.0), "in": ("m", 0.0254),
    "inch": ("m", 0.0254), "ft": ("m", 0.3048), "kg": ("kg", 1.0), "g": ("kg", 1e-3),
    "t": ("kg", 1e3), "lb": ("kg", 0.45359237), "sec": ("s", 1.0), "min": ("s", 60.0),
    "h": ("s", 3600.0), "lbf": ("N", 4.4482216152605), "kgf": ("N", 9.80665),
    "%": ("", 0.01), "percent": ("", 0.01), "1": ("", 1.0), "-": ("", 1.0),
}  # fmt: skip


def factor(theirs: str, ours: str) -> float | None:
    """Returns the value of one ``theirs`` in ``ours``; None if it is unknown.

    An empty unit counts as the other one.

    >>> factor("mm/s", "m/s")
    0.001
    >>> factor("furlong", "m") is None
    True
    """
    theirs, ours = theirs.strip(), ours.strip()
    if not theirs or not ours or theirs == ours:
        return 1.0
    found, wanted = _in_si(theirs), _in_si(ours)
    if found is None or wanted is None or found[0] != wanted[0]:
        return None
    return found[1] / wanted[1]


def _in_si(text: str) -> tuple[str, float] | None:
    """Returns the SI unit of a unit and its value in it."""
    text = " ".join(text.split())
    if (known := _word(text)) is not None:
        return known
    above, stroke, below = text.partition("/")
    first, second = _word(above.strip()), _below(below.strip())
    if not stroke or first is None or second is None:
        return None
    return f"{first[0]}/{second[0]}", first[1] / second[1]


def _below(text: str) -> tuple[str, float] | None:
    """Reads a denominator: ``s``, ``s²``, ``s^2``."""
    for square in ("²", "^2", "**2", "2"):
        if text.endswith(square):
            known = _word(text.removesuffix(square))
            return None if known is None else (f"{known[0]}²", known[1] ** 2)
    if "/" in text:  # deg/s/s
        first, _, second = text.partition("/")
        return _below(f"{first}²") if first == second else None
    return _word(text)


def _word(text: str) -> tuple[str, float] | None:
    if text in _UNITS:
        return _UNITS[text]
    for unit, si in (*_PREFIXED.items(), ("N m", "N m")):
        prefix = text.removesuffix(unit)
        if text.endswith(unit) and prefix in _PREFIXES:
            return si, _PREFIXES[prefix]
    return None
