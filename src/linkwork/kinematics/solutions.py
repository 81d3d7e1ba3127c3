"""Results of inverse kinematics: a posture with its errors, or one step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwork.core.errors import LinkworkError, not_found

#: Codes of the kinds of damping in the kernels.
DAMPING = {"constant": 0, "smallest": 1, "robotix": 2}


@dataclass(frozen=True)
class TaskError:
    """Error of a task.

    Attributes:
        task: Its name.
        distance: [m], or the task's own unit.
        angle: [rad].
        reached: Whether it is within the tolerances.
    """

    task: str
    distance: float
    angle: float
    reached: bool

    def __str__(self) -> str:
        turned = f", {math.degrees(self.angle):.4g}°" if self.angle else ""
        return f"{self.task}: {self.distance * 1e3:.4g} mm{turned}"


def _count_text(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class IkSolution:
    """A posture.

    Attributes:
        q: Coordinates; the nearest ones found if the target is out of reach.
        reached: Whether all tasks are reached.
        task_errors: Error of each task.
        iterations: Steps taken, over all starts.
        starts: Number of start postures.
        changed_assembly: Whether loops are assembled differently than at the start, as far as
            known: no path to this posture was found on which they stay closed.
    """

    q: np.ndarray
    reached: bool
    task_errors: list[TaskError]
    iterations: int
    starts: int
    changed_assembly: bool = False

    def __str__(self) -> str:
        if self.reached:
            steps = _count_text(self.iterations, "iteration")
            made = f"reached in {steps} from {_count_text(self.starts, 'start')}"
            return f"{made}, with a changed assembly of loops" if self.changed_assembly else made
        far = "; ".join(str(miss) for miss in self.task_errors if not miss.reached)
        starts = _count_text(self.starts, "start")
        return f"not reached after {starts}; the nearest has the errors {far}"


@dataclass(frozen=True)
class IkSolutions:
    """Many postures: coordinates (n×nq), which are reached, iterations, distances, angles."""

    q: np.ndarray
    reached: np.ndarray
    iterations: np.ndarray
    distance: np.ndarray
    angle: np.ndarray


class IkStep(NamedTuple):
    """One step.

    Attributes:
        v: Velocities of the degrees of freedom (nv) [rad/s or m/s].
        q: Coordinates after the step.
        damping: λ².
    """

    v: np.ndarray
    q: np.ndarray
    damping: float


@dataclass(frozen=True)
class Damping:
    """Damping λ of the least squares.

    Attributes:
        kind: "smallest" (from the smallest singular value σ: with F = ‖J‖, before higher priorities
            and including axes without weight, zero above the edge σ = ε F, and λ² = (λ₀² F² + ¼ F
            ‖e‖)(1 − (σ/(ε F))²) below it), "constant" (λ² is the value itself) or "robotix"
            (RoboTiX thesis eq. 3.8, λ = k/(1 + ‖JJᵀ‖)).
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
        """Returns the value if it is valid."""
        if not (0.0 <= value < math.inf and 0.0 <= edge < math.inf):
            raise LinkworkError(
                f"damping must be finite and 0 or above, not {value:g} with the edge {edge:g}."
            )
        return value
