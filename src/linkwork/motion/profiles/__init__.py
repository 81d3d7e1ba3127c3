"""Profiles: ways of joints through references in time, within limits (004 §4)."""

from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.reference import Reference
from linkwork.motion.profiles.refusal import OutOfReach
from linkwork.motion.profiles.segment import segment
from linkwork.motion.profiles.sequence import passing_speeds, plan, together
from linkwork.scene.planning import PLANNERS, Limits, Losses

__all__ = [
    "PLANNERS",
    "Limits",
    "Losses",
    "OutOfReach",
    "Profile",
    "Reference",
    "passing_speeds",
    "plan",
    "segment",
    "together",
]
