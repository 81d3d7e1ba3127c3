"""Cardan angles φ, ψ, θ of 002: a frame turned by Rx(φ) Ry(ψ) Rz(θ), with their rates."""

from __future__ import annotations

import math

import numpy as np

from linkwork.spatial.pose import Quat, quat_multiply


def cardan_quat(phi: float, psi: float, theta: float) -> Quat:
    """Rx(φ) Ry(ψ) Rz(θ) as a quaternion."""
    x = (math.cos(0.5 * phi), math.sin(0.5 * phi), 0.0, 0.0)
    y = (math.cos(0.5 * psi), 0.0, math.sin(0.5 * psi), 0.0)
    z = (math.cos(0.5 * theta), 0.0, 0.0, math.sin(0.5 * theta))
    return quat_multiply(quat_multiply(x, y), z)


def turning(angles: np.ndarray, rates: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Angular velocity [rad/s] and acceleration [rad/s²] in the world, by row.

    ω = E(φ, ψ)·(φ̇, ψ̇, θ̇) and α = E·(φ̈, ψ̈, θ̈) + Ė·(φ̇, ψ̇, θ̇), E's columns being the axes
    about which the three angles turn.
    """
    axes, turned = _axes(angles, rates)
    return np.array([axes @ rates, axes @ changes + turned @ rates])


def _axes(angles: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E and its rate of change."""
    s, c = math.sin(angles[0]), math.cos(angles[0])
    sp, cp = math.sin(angles[1]), math.cos(angles[1])
    f, p = float(rates[0]), float(rates[1])
    axes = np.array([[1.0, 0.0, sp], [0.0, c, -s * cp], [0.0, s, c * cp]])
    turned = np.array(
        [
            [0.0, 0.0, cp * p],
            [0.0, -s * f, -c * f * cp + s * sp * p],
            [0.0, c * f, -s * f * cp - c * sp * p],
        ]
    )
    return axes, turned
