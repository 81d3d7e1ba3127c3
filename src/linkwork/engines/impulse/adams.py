"""Weights of Adams' rule, and for which mechanisms it is good."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np

from linkwork.engines.impulse.joint_columns import COUPLING, KIND, POINT_ON_CURVE, SOFT_COUNT
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.kinematics.kernels import RAIL


def adams_weights(order: int) -> np.ndarray:
    """Weights of the last rates, the newest first, for steps of an order (2×order).

    The first row foretells a step by the polynomial through the last ``order − 1`` rates, the
    second foretells the next rate by the same one; its last number is the part by which the error
    of that makes the step better. Both come from backward differences: a step is
    Σ γⱼ ∇ʲf with γⱼ + γⱼ₋₁/2 + … + γ₀/(j+1) = 1.
    """
    room = order - 1
    gamma: list[Fraction] = []
    for j in range(order):
        gamma.append(1 - sum((gamma[i] / (j + 1 - i) for i in range(j)), Fraction(0)))
    weights = np.zeros((2, order))
    for m in range(room):
        sign = (-1) ** m
        weights[0, m] = sum(gamma[j] * sign * comb(j, m) for j in range(m, room))
        weights[1, m] = sign * comb(room, m + 1)
    weights[1, room] = gamma[room]
    return weights


def not_joints_alone(made: Mechanism) -> list[str]:
    """Joints that Adams' rule is not for: something acts along them, or they follow others."""
    kinds = (COUPLING, POINT_ON_CURVE, RAIL)
    bad = np.isin(made.whole[:, KIND], kinds) | (made.whole[:, SOFT_COUNT] > 0)
    return [made.names[n] for n in np.flatnonzero(bad)]
