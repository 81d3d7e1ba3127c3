"""How the bodies of the stream's benchmark move: all by the same angle, so that a mix shows.

Needs numpy only: rivals import it too.
"""

from __future__ import annotations

import numpy as np

BODIES, ROW = 100, 10
#: Time step [s], pictures [1/s], frequency [Hz], angle [rad] and advance per turn [m] of each body.
STEP, RATE, FREQUENCY, AMPLITUDE, PITCH = 0.005, 60.0, 0.5, 1.5, 0.4
#: Height of the bodies at angle 0 [m].
HEIGHT = 0.5


def places() -> np.ndarray:
    """Where the bodies are at angle 0, n×3."""
    n = np.arange(BODIES)
    return np.stack(
        [0.5 * (n % ROW) - 2.25, 0.5 * (n // ROW) - 2.25, np.full(BODIES, HEIGHT)], axis=1
    )


def angle(time: float) -> float:
    """The angle that all bodies have at a time [s]."""
    return AMPLITUDE * float(np.sin(2.0 * np.pi * FREQUENCY * time))


def angles(heights: np.ndarray, quaternions: np.ndarray) -> np.ndarray:
    """The angle of each body, from how high it is [m] and from how it is turned, 2×n."""
    turned = 2.0 * np.arctan2(quaternions[:, 3], quaternions[:, 0])
    return np.array([(heights - HEIGHT) / PITCH * 2.0 * np.pi, turned])


def is_torn(found: np.ndarray) -> bool:
    """Whether the angles are of more than one instant."""
    return bool(np.ptp(found) > 1e-4)
