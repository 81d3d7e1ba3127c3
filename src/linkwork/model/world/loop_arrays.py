"""Loop arrays: loops and springs between anchors as flat arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwork.core.errors import Origin, SceneError, not_found
from linkwork.geometry.pose import Pose
from linkwork.model.parts import LOOP_TYPES, SPRING_TYPES
from linkwork.model.parts.curve import PIECE_ROWS
from linkwork.model.world.flatten import FlatScene
from linkwork.model.world.world import World


class LoopArrayBuilder:
    """Builds the arrays of loops and springs.

    Args:
        flat: The scene without nesting.
        body_of: Body of each element.
        pose_of: Pose of each element in its body.
    """

    def __init__(self, flat: FlatScene, body_of: dict[str, int], pose_of: dict[str, Pose]) -> None:
        self.flat, self._body_of, self._pose_of = flat, body_of, pose_of

    def _ends(self, a: str, b: str, what: str, origin: Origin) -> list[tuple[int, np.ndarray]]:
        ends = []
        for anchor_name in (a, b):
            if anchor_name not in self.flat.anchors:
                raise not_found("anchor", anchor_name, self.flat.anchors, origin=origin)
            anchor, on = self.flat.anchors[anchor_name]
            ends.append((self._body_of[on], (self._pose_of[on] @ anchor.at).array()))
        if ends[0][0] == ends[1][0]:
            raise SceneError(
                f"{what} joins two anchors of one rigid body: {a!r}, {b!r}.", origin=origin
            )
        return ends

    def loops(self, rail: list[tuple[float, float, float]]) -> dict[str, Any]:
        """Returns the arrays of the loops; adds their rails to those of the joints."""
        bodies, poses, tracks, table, rails = [], [], [], [], []
        for name, loop in self.flat.loops.items():
            ends = self._ends(loop.a, loop.b, f"loop {name!r}", loop.origin)
            bodies.append([e[0] for e in ends])
            poses.append([e[1] for e in ends])
            rails.append([len(rail), len(loop.rail)])
            rail.extend((p.length, p.turn, p.climb) for p in loop.rail)
            rows = loop.curve.table() if loop.curve is not None else np.zeros((0, 3))
            tracks.append([sum(map(len, table)), len(rows) // PIECE_ROWS])
            table.append(rows)
        loops = self.flat.loops.values()
        return {
            "loop_names": list(self.flat.loops),
            "loop_origins": [loop.origin for loop in loops],
            "loop_kind": np.array([LOOP_TYPES[loop.joint] for loop in loops], np.int64),
            "loop_body": np.array(bodies, np.int64).reshape(-1, 2),
            "loop_pose": np.array(poses, np.float64).reshape(-1, 2, 7),
            "loop_axis": np.array([loop.directions[0] for loop in loops]).reshape(-1, 3),
            "loop_axis2": np.array([loop.directions[1] for loop in loops]).reshape(-1, 3),
            "loop_pitch": np.array([loop.pitch / (2.0 * math.pi) for loop in loops]),
            "loop_rail": np.array(rails, np.int64).reshape(-1, 2),
            "loop_track": np.array(tracks, np.int64).reshape(-1, 2),
            "track": np.concatenate([np.zeros((0, 3)), *table]),
            "loop_words": [loop.mujoco for loop in loops],
        }

    def loop_elements(self, element_names: list[str]) -> np.ndarray:
        """Returns the elements of the anchors of each loop."""
        index = {name: number for number, name in enumerate(element_names)}
        rows = [
            [index[self.flat.anchors[anchor][1]] for anchor in (loop.a, loop.b)]
            for loop in self.flat.loops.values()
        ]
        return np.array(rows, np.int64).reshape(-1, 2)

    def springs(self) -> dict[str, Any]:
        """Returns the arrays of the springs; a rest length that is not given is NaN."""
        springs = self.flat.springs
        bodies, poses, laws = [], [], []
        for name, spring in springs.items():
            ends = self._ends(spring.a, spring.b, f"spring {name!r}", spring.origin)
            bodies.append([e[0] for e in ends])
            poses.append([e[1] for e in ends])
            rest = math.nan if spring.rest is None else spring.rest
            laws.append((spring.stiffness, rest, spring.damping))
        return {
            "spring_names": list(springs),
            "spring_origins": [spring.origin for spring in springs.values()],
            "spring_kind": np.array(
                [SPRING_TYPES.index(s.type) for s in springs.values()], np.int64
            ),
            "spring_body": np.array(bodies, np.int64).reshape(-1, 2),
            "spring_pose": np.array(poses, np.float64).reshape(-1, 2, 7),
            "spring_axis": np.array([s.axis for s in springs.values()]).reshape(-1, 3),
            "spring_law": np.array(laws, np.float64).reshape(-1, 3),
        }


def check_springs(world: World) -> None:
    """Rejects springs with the name of a joint or an element.

    Raises:
        SceneError: Naming both.
    """
    taken = {*world.joint_names, *world.element_names, *world.body_names}
    for name, origin in zip(world.spring_names, world.spring_origins, strict=True):
        if name in taken:
            raise SceneError(
                f"spring {name!r} has the name of a joint or an element.", origin=origin
            )
