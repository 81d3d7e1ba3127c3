"""Motion profiles of joints through waypoints in time, within limits (Lima et al. §4)."""

from linkwork.model.scene.motion_limits import PLANNERS, MotionLimits, MotorLosses
from linkwork.motion.profiles.planner import passing_speeds, plan, plan_together
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.reachability import UnreachableWaypoint
from linkwork.motion.profiles.segment import segment
from linkwork.motion.profiles.span import Waypoint

__all__ = [
    "PLANNERS",
    "MotionLimits",
    "MotorLosses",
    "Profile",
    "UnreachableWaypoint",
    "Waypoint",
    "passing_speeds",
    "plan",
    "plan_together",
    "segment",
]
