"""Motion planning: collision avoidance, interactive inverse kinematics, timed profiles."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.motion.avoidance import Avoidance, Repulsion, keep_distance
    from linkwork.motion.reach import ReachSolver
    from linkwork.motion.reach_goals import ReachGoal

__all__ = ["Avoidance", "ReachGoal", "ReachSolver", "Repulsion", "keep_distance"]

#: Imported on first use: planning alone needs neither compiler nor physics.
_FILES = {
    "Avoidance": "avoidance",
    "ReachGoal": "reach_goals",
    "ReachSolver": "reach",
    "Repulsion": "avoidance",
    "keep_distance": "avoidance",
}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'linkwork.motion' has no attribute {name!r}")
    return getattr(import_module(f"linkwork.motion.{_FILES[name]}"), name)
