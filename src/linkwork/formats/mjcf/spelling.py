"""Spelling: names in the file, and whether a scene is one model of MuJoCo's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork.formats.flat import Flat
from linkwork.formats.names import file_names

#: Names of the keyframe of a start that moves; the first that has velocities counts.
STARTS = ("start_values", "start")


@dataclass(frozen=True)
class Spelling:
    """How names are written.

    Attributes:
        engine: What the scene says of its Mujoco engine; None if it has none.
        scope: The part whose names need no scope: the only one, under the scene's name, of a scene
            that is a model of MuJoCo's own.
        given: Names of its elements and joints that its file spelled otherwise.
    """

    engine: Mapping[str, Any] | None = None
    scope: str = ""
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, flat: Flat) -> Spelling:
        """How the names of ``flat`` are written."""
        scene = flat.scene
        engines = [] if scene is None else [s for s in scene.engines if s.type == "mujoco"]
        if scene is None or len(engines) != 1:
            return cls()
        engine = engines[0].params
        if not engine.get("native") or list(scene.parts) != [scene.name]:
            return cls(engine)
        return cls(engine, scene.name, file_names(scene.parts[scene.name].part))

    @property
    def native(self) -> bool:
        """Whether the scene is a model of MuJoCo's own: nothing is said that it does not say."""
        return bool(self.engine and self.engine.get("native"))

    def bare(self, name: str) -> str:
        """A full name without the scope that goes without saying."""
        return name.removeprefix(f"{self.scope}/") if self.scope else name

    def __call__(self, name: str) -> str:
        """Name in the file of an element or joint."""
        bare = self.bare(name)
        return self.given.get(bare, bare) if bare != name else name
