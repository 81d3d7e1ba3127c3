"""Symbolic models: a robot's kinematics and dynamics as expressions, code and formulas."""

from linkwork.dynamics.symbolic.compiled import CompiledDynamics
from linkwork.dynamics.symbolic.expression import (
    Expression,
    ExpressionGraph,
    count_operations,
    evaluate,
)
from linkwork.dynamics.symbolic.model import PointMotion, SymbolicModel

__all__ = [
    "CompiledDynamics",
    "Expression",
    "ExpressionGraph",
    "PointMotion",
    "SymbolicModel",
    "count_operations",
    "evaluate",
]
