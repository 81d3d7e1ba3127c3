"""Forward and inverse kinematics over a world's arrays: poses, Jacobians, tasks and solvers."""

from linkwork.kinematics.forward import forward, integrate, jacobian, velocities
from linkwork.kinematics.solutions import Damping, IkSolution, IkSolutions, IkStep, TaskError
from linkwork.kinematics.solver import Solver, solve
from linkwork.kinematics.tasks import (
    AlignTask,
    CenterOfMassTask,
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
    "CenterOfMassTask",
    "CouplingTask",
    "Damping",
    "DistanceTask",
    "IkSolution",
    "IkSolutions",
    "IkStep",
    "LookAtTask",
    "OrientationTask",
    "PoseTask",
    "PositionTask",
    "PostureTask",
    "Solver",
    "Task",
    "TaskError",
    "forward",
    "integrate",
    "jacobian",
    "solve",
    "velocities",
]
