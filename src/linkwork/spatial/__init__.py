"""Rotations, transforms and inertias for authoring; the compiled forms are in ``kernels``."""

from linkwork.spatial.inertia import Inertia
from linkwork.spatial.pose import Pose

__all__ = ["Inertia", "Pose"]
