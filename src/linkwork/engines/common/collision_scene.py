"""Collision scene: the shapes of a world in a MuJoCo model for geometry queries."""

from __future__ import annotations

from typing import Any

import mujoco as compiled_mujoco
import numpy as np

from linkwork.core.errors import SceneError
from linkwork.engines.common.geoms import add_shape
from linkwork.kinematics import forward
from linkwork.model.parts import Plane
from linkwork.model.world import World

mujoco: Any = compiled_mujoco  # pyright does not see the names of the compiled module

# Geom groups, to select what a ray can hit.
_BOTH, _ONLY_COLLIDING, _ONLY_VISIBLE, _HIDDEN = 0, 1, 2, 5

# The corresponding group of hidden elements.
_INVISIBLE = np.array([_ONLY_COLLIDING, _ONLY_COLLIDING, _HIDDEN])

#: Visible geom groups by kind of ray.
VISIBLE_GROUPS: dict[str, np.ndarray] = {
    "colliding": np.array([1, 1, 0, 0, 0, 0], np.uint8),
    "visible": np.array([1, 0, 1, 0, 0, 0], np.uint8),
}


class CollisionScene:
    """All shapes of a world at the poses of a state.

    It has no state of its own: every query follows :meth:`move`.

    Args:
        world: The world.
        exact: Whether meshes keep all triangles, not only their convex hulls.

    Attributes:
        numbers: Index of each body of the world in the MuJoCo model.
        shapes: The world's index of the shape of each geom.
    """

    def __init__(self, world: World, *, exact: bool = False) -> None:
        spec = mujoco.MjSpec()
        start = forward(world, world.q0)
        bodies: list[Any] = [spec.worldbody]
        moving = [False]
        for b in range(1, world.nb):
            moves = not world.is_static(b)
            moving.append(moves)
            bodies.append(
                spec.worldbody.add_body(
                    name=f"body{b}", mocap=moves, pos=start[b, :3], quat=start[b, 3:]
                )
            )
        for number, world_shape in enumerate(world.shapes):
            shape = world_shape.shape
            if not (shape.collide or shape.visible):
                continue
            group = _ONLY_VISIBLE if not shape.collide else _ONLY_COLLIDING
            geom = add_shape(
                spec, bodies[world_shape.body], world_shape, f"shape{number}",
                moving=moving[world_shape.body], exact=exact,
                group=_BOTH if shape.collide and shape.visible else group,
            )  # fmt: skip
            if isinstance(shape, Plane) and not moving[world_shape.body]:
                geom.size = [0.0, 0.0, 1.0]  # infinite, as in the engines
        try:
            self._model = spec.compile()
        except ValueError as error:
            raise SceneError(
                f"the scene's shapes cannot be prepared for visual sensors: {error}.",
                origin=world.scene.origin,
            ) from None
        self._data = mujoco.MjData(self._model)
        geoms = [self._model.geom(number).name for number in range(self._model.ngeom)]
        self.shapes = np.array([int(name.removeprefix("shape")) for name in geoms], np.int64)
        self._elements = np.array([world.shapes[s].element for s in self.shapes], np.int64)
        self._groups = self._model.geom_group.copy()
        names = [f"body{b}" for b in range(1, world.nb)]
        self.numbers = np.array([0, *(self._model.body(name).id for name in names)])
        mocap = self._model.body_mocapid[self.numbers]
        self._bodies = np.flatnonzero(mocap >= 0)
        if not np.array_equal(mocap[self._bodies], np.arange(len(self._bodies))):
            raise AssertionError("MuJoCo keeps mocap bodies in the order in which they were added")
        mujoco.mj_kinematics(self._model, self._data)

    def move(self, pose: np.ndarray) -> None:
        """Moves every body to its pose (nb×7)."""
        self._data.mocap_pos[:] = pose[self._bodies, :3]
        self._data.mocap_quat[:] = pose[self._bodies, 3:]
        mujoco.mj_kinematics(self._model, self._data)

    def clearance(self, a: int, b: int, most: float) -> tuple[float, np.ndarray]:
        """Returns the distance of two geoms [m], and their nearest points in the world (6).

        Args:
            a: One geom.
            b: The other.
            most: Upper bound of the distance [m].
        """
        points = np.zeros(6)
        far = mujoco.mj_geomDistance(self._model, self._data, a, b, most, points)
        return float(far), points

    def distance(
        self, start: np.ndarray, direction: np.ndarray, seen: np.ndarray, ignored: int
    ) -> float:
        """Returns the distance from ``start`` along ``direction`` [m]; −1 if nothing is hit.

        Args:
            start: World point [m].
            direction: Unit vector in world axes.
            seen: Visible groups of shapes, from :data:`VISIBLE_GROUPS`.
            ignored: Body of the MuJoCo model that the ray passes through.
        """
        return mujoco.mj_ray(
            self._model, self._data, start, direction, seen, True, ignored, None, None
        )

    def cast(
        self, start: np.ndarray, directions: np.ndarray, seen: np.ndarray, ignored: int,
        reach: float, distances: np.ndarray, geoms: np.ndarray, normals: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Casts many rays from one point.

        Args:
            start: World point [m].
            directions: Unit vectors in world axes, in sequence.
            seen: Visible groups of shapes, from :data:`VISIBLE_GROUPS`.
            ignored: Body of the MuJoCo model that the rays pass through.
            reach: Largest distance [m].
            distances: Receives the distances [m]; −1 if nothing is hit.
            geoms: Receives the geoms that are hit; −1 for none.
            normals: Receives the normals of the hits, in sequence, in world axes.
        """
        mujoco.mj_multiRay(
            self._model, self._data, start, directions, seen, True, ignored, geoms, distances,
            normals, len(distances), reach,
        )  # fmt: skip

    def show(self, visible: np.ndarray) -> None:
        """Hides elements whose ``visible`` is 0, and shows all others.

        Hidden elements still stop rays that look for colliding shapes.

        Args:
            visible: By element, as in the state.
        """
        hidden = visible[self._elements] == 0.0
        self._model.geom_group[:] = np.where(hidden, _INVISIBLE[self._groups], self._groups)
