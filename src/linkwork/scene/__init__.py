"""Scene: what is authored, and the document in which it is edited."""

from linkwork.scene.movement import Movement, TimedPosture
from linkwork.scene.scene import Collide, Light, Placement, Scene, Viewpoint

__all__ = [
    "Collide",
    "Light",
    "Movement",
    "Placement",
    "Scene",
    "TimedPosture",
    "Viewpoint",
]
