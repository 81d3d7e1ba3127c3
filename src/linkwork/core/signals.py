"""Signals: named values with a unit, a range and one owner."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real

import numpy as np

from linkwork.core.errors import SignalError, not_found


@dataclass(frozen=True, slots=True)
class Signal:
    """A named value.

    Attributes:
        name: ``arm/J2.angle``.
        unit: "rad", "m", "N m", "rad/s", …; empty for pure numbers.
        lo: Lowest value, −inf for none.
        hi: Highest value, inf for none.
        direction: "output" (measured), "input" (its owner sets it) or "param" (anybody may
            change it through the inbox).
        address: Index in the state's flat array.
    """

    name: str
    unit: str
    lo: float
    hi: float
    direction: str
    address: int


class Signals:
    """All signals of a running world, over the state's flat array.

    Args:
        data: The state's flat float64 array.
    """

    def __init__(self, data: np.ndarray) -> None:
        self._data = data
        self._by_name: dict[str, Signal] = {}
        self._aliases: dict[str, str] = {}
        self._used_aliases: dict[str, str] = {}
        self._noted_aliases: set[str] = set()
        self.owners: dict[str, str] = {}

    def add(
        self,
        name: str,
        address: int,
        *,
        unit: str = "",
        lo: float = -math.inf,
        hi: float = math.inf,
        direction: str = "output",
    ) -> Signal:
        """Adds a signal; its name must be new."""
        if name in self._by_name:
            raise SignalError(f"there are two signals named {name!r}.")
        signal = Signal(name, unit, float(lo), float(hi), direction, address)
        self._by_name[name] = signal
        return signal

    def alias(self, old: str, name: str) -> None:
        """Lets a signal also be read by a former name; the alias is not listed."""
        self._aliases[old] = name

    def take_used_aliases(self) -> dict[str, str]:
        """Returns the present names by former names that were used; each former name once."""
        used, self._used_aliases = self._used_aliases, {}
        self._noted_aliases |= used.keys()
        return used

    def __getitem__(self, name: str) -> Signal:
        found = self._by_name.get(name)
        if found is None and (now := self._aliases.get(name)) is not None:
            found = self._by_name.get(now)
            if name not in self._noted_aliases:
                self._used_aliases[name] = now
        if found is None:
            raise not_found("signal", name, self._by_name)
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._by_name or name in self._aliases

    def __iter__(self) -> Iterator[Signal]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def value(self, name: str) -> float:
        """Returns the current value, in the unit of the signal."""
        return float(self._data[self[name].address])

    def check(self, name: str, value: float, owner: str) -> Signal:
        """Returns the signal, if ``owner`` may set it to ``value``.

        Raises:
            SignalError: If it is an output, has another owner, or the value is out of range.
        """
        signal = self[name]
        if signal.direction == "output":
            raise SignalError(f"signal {name!r} is measured; it cannot be set.")
        holder = self.owners.get(name)
        if signal.direction == "input" and holder is not None and holder != owner:
            raise SignalError(
                f"signal {name!r} is owned by {holder!r}, not by {owner!r}.",
                hint="Take it over first.",
            )
        check_value(name, value)
        if not signal.lo <= value <= signal.hi:
            raise SignalError(
                f"signal {name!r} takes {signal.lo:g} to {signal.hi:g} {signal.unit}, "
                f"not {value:g}."
            )
        return signal

    def set(self, name: str, value: float, owner: str) -> None:
        """Sets a signal at once; ``owner`` becomes the owner of an input without one."""
        signal = self.check(name, value, owner)
        if signal.direction == "input":
            self.owners.setdefault(name, owner)
        self._data[signal.address] = value

    def take(self, name: str, owner: str) -> str | None:
        """Makes ``owner`` the owner of an input; returns the previous owner."""
        signal = self[name]
        if signal.direction != "input":
            raise SignalError(f"signal {name!r} is not an input; it has no owner.")
        before = self.owners.get(name)
        self.owners[name] = owner
        return before

    def release(self, owner: str) -> None:
        """Releases everything that ``owner`` owns."""
        self.owners = {name: who for name, who in self.owners.items() if who != owner}


def check_value(name: str, value: object) -> None:
    """Checks that a value can be that of a signal.

    Raises:
        SignalError: If ``value`` is not a finite number.
    """
    if not isinstance(value, Real) or not _is_finite(value):
        raise SignalError(f"signal {name!r} takes finite numbers, not {value!r}.")


def _is_finite(value: Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False
