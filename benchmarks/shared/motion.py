"""Motion of the bodies of ``stream.py``: all turn by the same angle, so that torn updates show.

It needs numpy only, as viser's processes import it too.
"""

from __future__ import annotations

import numpy as np

BODIES, ROW = 100, 10
#: Time step [s], frame rate [1/s]; frequency [Hz], angle [rad], advance per turn [m] of each body.
STEP, RATE, FREQUENCY, AMPLITUDE, PITCH = 0.005, 60.0, 0.5, 1.5, 0.4
#: Height of the bodies at angle 0 [m].
HEIGHT = 0.5


def positions() -> np.ndarray:
    """Positions of the bodies at angle 0 [m], n×3."""
    n = np.arange(BODIES)
    return np.stack(
        [0.5 * (n % ROW) - 2.25, 0.5 * (n // ROW) - 2.25, np.full(BODIES, HEIGHT)], axis=1
    )


def angle(time: float) -> float:
    """The angle of all bodies [rad] at a time [s]."""
    return AMPLITUDE * float(np.sin(2.0 * np.pi * FREQUENCY * time))


def angles(heights: np.ndarray, quaternions: np.ndarray) -> np.ndarray:
    """The angle of each body, computed from its height [m] and from its rotation, 2×n."""
    turned = 2.0 * np.arctan2(quaternions[:, 3], quaternions[:, 0])
    return np.array([(heights - HEIGHT) / PITCH * 2.0 * np.pi, turned])


def is_torn(found: np.ndarray) -> bool:
    """Whether the angles belong to more than one instant."""
    return bool(np.ptp(found) > 1e-4)
