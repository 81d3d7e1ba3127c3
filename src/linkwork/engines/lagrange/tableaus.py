"""Methods of Runge and Kutta as tables of coefficients."""

from __future__ import annotations

import numpy as np

Tableau = tuple[np.ndarray, np.ndarray]


def heun() -> Tableau:
    """Order 2, two evaluations."""
    return np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0.5, 0.5])


def rk4() -> Tableau:
    """The classical method of order 4 (002 eq. 4.22, with k2 at q + k1/2)."""
    a = np.zeros((4, 4))
    a[1, 0], a[2, 1], a[3, 2] = 0.5, 0.5, 1.0
    return a, np.array([1.0, 2.0, 2.0, 1.0]) / 6.0


def rk8() -> Tableau:
    """Order 8 with eleven evaluations (Cooper and Verner 1972)."""
    s = float(np.sqrt(21.0))
    rows: list[list[float]] = [
        [],
        [1 / 2],
        [1 / 4, 1 / 4],
        [1 / 7, (-7 - 3 * s) / 98, (21 + 5 * s) / 49],
        [(11 + s) / 84, 0, (18 + 4 * s) / 63, (21 - s) / 252],
        [(5 + s) / 48, 0, (9 + s) / 36, (-231 + 14 * s) / 360, (63 - 7 * s) / 80],
        [(10 - s) / 42, 0, (-432 + 92 * s) / 315, (633 - 145 * s) / 90, (-504 + 115 * s) / 70,
         (63 - 13 * s) / 35],
        [1 / 14, 0, 0, 0, (14 - 3 * s) / 126, (13 - 3 * s) / 63, 1 / 9],
        [1 / 32, 0, 0, 0, (91 - 21 * s) / 576, 11 / 72, (-385 - 75 * s) / 1152,
         (63 + 13 * s) / 128],
        [1 / 14, 0, 0, 0, 1 / 9, (-733 - 147 * s) / 2205, (515 + 111 * s) / 504,
         (-51 - 11 * s) / 56, (132 + 28 * s) / 245],
        [0, 0, 0, 0, (-42 + 7 * s) / 18, (-18 + 28 * s) / 45, (-273 - 53 * s) / 72,
         (301 + 53 * s) / 72, (28 - 28 * s) / 45, (49 - 7 * s) / 18],
    ]  # fmt: skip
    a = np.zeros((11, 11))
    for n, row in enumerate(rows):
        a[n, : len(row)] = row
    b = np.zeros(11)
    b[[0, 7, 8, 9, 10]] = 1 / 20, 49 / 180, 16 / 45, 49 / 180, 1 / 20
    return a, b


TABLEAUS = {"heun": heun, "rk4": rk4, "rk8": rk8}
