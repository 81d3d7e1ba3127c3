"""Forward kinematics and geometric Jacobians over a world's arrays."""

from linkwork.kinematics.forward import forward, integrate, jacobian, velocities

__all__ = ["forward", "integrate", "jacobian", "velocities"]
