"""World: a compiled scene, structure only, as flat arrays with names and origins."""

from linkwork.world.compile import compile_scene
from linkwork.world.world import Finding, World

__all__ = ["Finding", "World", "compile_scene"]
