"""Motion that keeps out of the way, tools that are dragged, and ways through references in time."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.motion.aims import Aim
    from linkwork.motion.avoidance import Avoidance, keep_distance
    from linkwork.motion.reach import Reach
    from linkwork.motion.repulsion import Repulsion

__all__ = ["Aim", "Avoidance", "Reach", "Repulsion", "keep_distance"]

#: Imported when first used: planning alone needs neither compiler nor physics.
_FILES = {
    "Aim": "aims", "Avoidance": "avoidance", "Reach": "reach", "Repulsion": "repulsion",
    "keep_distance": "avoidance",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'linkwork.motion' has no attribute {name!r}")
    return getattr(import_module(f"linkwork.motion.{_FILES[name]}"), name)
