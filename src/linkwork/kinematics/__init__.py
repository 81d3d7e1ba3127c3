"""Forward and inverse kinematics over a world's arrays: poses, Jacobians, tasks and solvers."""

from linkwork.kinematics.answers import Answer, Answers, Damping, Miss, Tick
from linkwork.kinematics.forward import forward, integrate, jacobian, velocities
from linkwork.kinematics.solver import Solver, solve
from linkwork.kinematics.tasks import (
    AlignTask,
    CentreOfMassTask,
    CouplingTask,
    DistanceTask,
    LookAtTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Task,
)

__all__ = [
    "AlignTask",
    "Answer",
    "Answers",
    "CentreOfMassTask",
    "CouplingTask",
    "Damping",
    "DistanceTask",
    "LookAtTask",
    "Miss",
    "OrientationTask",
    "PoseTask",
    "PositionTask",
    "PostureTask",
    "Solver",
    "Task",
    "Tick",
    "forward",
    "integrate",
    "jacobian",
    "solve",
    "velocities",
]
