"""Symbolic models: a robot's kinematics and dynamics as expressions, as code and as formulas."""

from linkwork.dynamics.symbolic.compiled import Compiled
from linkwork.dynamics.symbolic.expression import Expression, Graph, count_operations, evaluate
from linkwork.dynamics.symbolic.model import Model, Point

__all__ = ["Compiled", "Expression", "Graph", "Model", "Point", "count_operations", "evaluate"]
