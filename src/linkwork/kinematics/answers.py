"""What inverse kinematics answers: a posture and how near it is, or one step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwork.errors import LinkworkError, not_found

#: Numbers of the kinds of damping, as the kernels know them.
DAMPING = {"constant": 0, "smallest": 1, "robotix": 2}


@dataclass(frozen=True)
class Miss:
    """How far a task is from its target.

    Attributes:
        task: Its name.
        distance: [m], or the task's own unit.
        angle: [rad].
        reached: Whether that is near enough.
    """

    task: str
    distance: float
    angle: float
    reached: bool

    def __str__(self) -> str:
        turned = f", {math.degrees(self.angle):.4g}°" if self.angle else ""
        return f"{self.task}: {self.distance * 1e3:.4g} mm{turned}"


def _some(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Answer:
    """A posture.

    Attributes:
        q: Coordinates; the nearest that were found where the target is out of reach.
        reached: Whether all tasks are reached.
        misses: Task by task.
        iterations: Steps taken, over all starts.
        starts: Postures from which it was tried.
        reassembled: Whether loops are put together in another way than at the start, as far as
            can be told: no way was found to this posture on which they stay closed.
    """

    q: np.ndarray
    reached: bool
    misses: list[Miss]
    iterations: int
    starts: int
    reassembled: bool = False

    def __str__(self) -> str:
        if self.reached:
            steps = _some(self.iterations, "iteration")
            made = f"reached in {steps} from {_some(self.starts, 'start')}"
            return f"{made}, with loops put together in another way" if self.reassembled else made
        far = "; ".join(str(miss) for miss in self.misses if not miss.reached)
        return f"not reached after {_some(self.starts, 'start')}; the nearest posture misses {far}"


@dataclass(frozen=True)
class Answers:
    """Many postures: coordinates (n×nq), which are reached, iterations, distances and angles."""

    q: np.ndarray
    reached: np.ndarray
    iterations: np.ndarray
    distance: np.ndarray
    angle: np.ndarray


class Tick(NamedTuple):
    """One step.

    Attributes:
        v: Velocities of the degrees of freedom (nv) [rad/s or m/s].
        q: Coordinates after the step.
        damping: λ², how much the tasks were held back.
    """

    v: np.ndarray
    q: np.ndarray
    damping: float


@dataclass(frozen=True)
class Damping:
    """Where the damping λ of the least squares comes from.

    Attributes:
        kind: "smallest" (from the smallest singular value σ: with F = ‖J‖, before higher priorities
            take their part and with axes without weight, nothing above the edge σ = ε F, and
            λ² = (λ₀² F² + ¼ F ‖e‖)(1 − (σ/(ε F))²) below it), "constant" (λ² is the value
            itself) or "robotix" (003 eq. 3.8, λ = k/(1 + ‖JJᵀ‖)).
        value: λ₀, λ² or k.
        edge: ε.
    """

    kind: str = "smallest"
    value: float = 0.05
    edge: float = 0.04

    def __post_init__(self) -> None:
        if self.kind not in DAMPING:
            raise not_found("damping", self.kind, list(DAMPING))
        self.checked(self.value, self.edge)

    @staticmethod
    def checked(value: float, edge: float = 0.0) -> float:
        """The value, if it may be one."""
        if not (0.0 <= value < math.inf and 0.0 <= edge < math.inf):
            raise LinkworkError(
                f"damping must be finite and 0 or above, not {value:g} with the edge {edge:g}."
            )
        return value
