"""Rotations, transforms and inertias for authoring; the compiled forms are in ``kernels``."""

from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import Pose

__all__ = ["Inertia", "Pose"]
