"""A trial: the servo with numbers that are tried, against the measurement."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from linkwork.actuators.fit_numbers import TOGETHER, Number, number
from linkwork.actuators.response import respond_to
from linkwork.actuators.smart_params import SmartServoParams
from linkwork.errors import SceneError

#: How far from the first reading the servo may have stood [rad].
_START = 0.005


class Trial:
    """The servo with numbers that are tried, against the measurement.

    A point x holds what each number counts in, and last where the servo stood at first.

    Attributes:
        numbers: What is fitted.
        given: The point to start from.
        low: Lowest allowed x.
        high: Highest allowed x.
    """

    def __init__(
        self, time: np.ndarray, angle: np.ndarray, target: np.ndarray, params: dict[str, Any],
        names: list[str], test: dict[str, float], step: float,
    ) -> None:  # fmt: skip
        self.params, self.test, self.step = params, test, step
        self.time, self.angle = time - time[0], angle
        count = math.ceil(self.time[-1] / step) + 1
        rows = np.searchsorted(self.time, step * np.arange(count) + 1e-9, side="right") - 1
        self.targets = target[rows]
        self.numbers: list[Number] = [number(name, self._first(name), params) for name in names]
        self.given = np.array([*(each.x(each.first) for each in self.numbers), 0.0])
        self.low = np.array([*(each.x(each.low) for each in self.numbers), -1.0])
        self.high = np.array([*(each.x(each.high) for each in self.numbers), 1.0])

    def _first(self, name: str) -> float:
        if name in self.test:
            return max(self.test[name], 1e-3) if name == "delay" else self.test[name]
        one = TOGETHER.get(name, (name,))[0]
        given = self.params.get(one)
        if given is None:
            usual = SmartServoParams(joint="J")
            given = {
                "max_speed": self._fastest(), "max_acceleration": self._hardest(),
                "supply": self.params.get("voltage", usual.voltage),
            }.get(one, getattr(usual, one))  # fmt: skip
        if not isinstance(given, int | float):
            raise SceneError(f"{name} is no number that could be fitted.")
        if name == "free_speed":
            given = max(given, self._fastest())
        return float(given)

    def _fastest(self) -> float:
        return max(float(np.abs(np.diff(self.angle) / np.diff(self.time)).max()), 1e-3)

    def _hardest(self) -> float:
        speed = np.diff(self.angle) / np.diff(self.time)
        return max(float(np.abs(np.diff(speed)).max() / np.diff(self.time).mean()), 1e-3)

    def split(
        self, x: np.ndarray, without: Collection[str] = ()
    ) -> tuple[dict[str, Any], dict[str, float]]:
        """Parameters of the servo, and of the test, with the values that are tried.

        Those ``without`` stay as they were given.
        """
        params, test = dict(self.params), dict(self.test)
        for tried, count in zip(self.numbers, x[:-1].tolist(), strict=True):
            name, value = tried.name, tried.value(count)
            if name in without:
                continue
            if name in test:
                test[name] = value
            for each in TOGETHER.get(name, () if name in test else (name,)):
                params[each] = value
        return params, test

    def residual(self, x: np.ndarray, without: Collection[str] = ()) -> np.ndarray:
        """Simulated minus measured angle in each row [rad]; 1e3 where that cannot be."""
        try:
            off = self.simulated(x, without) - self.angle
        except SceneError:  # a motor that cannot be
            return np.full(len(self.time), 1e3)
        return off if np.isfinite(off).all() else np.full(len(self.time), 1e3)

    def simulated(self, x: np.ndarray, without: Collection[str] = ()) -> np.ndarray:
        """The simulated angle in each row [rad].

        Raises:
            SceneError: If no motor is like that.
        """
        params, test = self.split(x, without)
        start = float(self.angle[0] + _START * x[-1])
        made = respond_to(
            self.targets, params, inertia=test["inertia"], step=self.step,
            start=start, load=test["load"],
        )  # fmt: skip
        when = np.maximum(self.time - test["delay"], 0.0)
        time, way = np.append(0.0, made.time), np.append(start, made.angle)
        return np.interp(when, time, way)

    def cost(self, x: np.ndarray, without: Collection[str] = ()) -> float:
        """Sum of the squared residuals [rad²]."""
        residual = self.residual(x, without)
        return float(residual @ residual)

    def jacobian(self, x: np.ndarray, by: float = 0.01) -> np.ndarray:
        """How the residuals change with each x, by central differences."""
        columns = []
        for n in range(len(x)):
            up, down = x.copy(), x.copy()
            up[n], down[n] = min(x[n] + by, self.high[n]), max(x[n] - by, self.low[n])
            columns.append((self.residual(up) - self.residual(down)) / (up[n] - down[n]))
        return np.array(columns).T
