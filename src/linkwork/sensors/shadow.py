"""Shadow: the shapes of a world in a MuJoCo model that is only asked about geometry."""

from __future__ import annotations

from typing import Any

import mujoco as compiled_mujoco
import numpy as np

from linkwork.engines.mujoco_geoms import add_shape
from linkwork.errors import SceneError
from linkwork.kinematics import forward
from linkwork.parts import Plane
from linkwork.world import World

mujoco: Any = compiled_mujoco  # pyright cannot see the names of the compiled module

# Geom groups, so that each ray may choose what it sees.
_BOTH, _ONLY_COLLIDING, _ONLY_VISIBLE, _HIDDEN = 0, 1, 2, 5

# Group of each of these groups for elements that are not drawn.
_UNSEEN = np.array([_ONLY_COLLIDING, _ONLY_COLLIDING, _HIDDEN])

#: Geom groups that are seen, by what a ray looks for.
SEEN: dict[str, np.ndarray] = {
    "colliding": np.array([1, 1, 0, 0, 0, 0], np.uint8),
    "visible": np.array([1, 0, 1, 0, 0, 0], np.uint8),
}


class Shadow:
    """All shapes of a world, moved to wherever the state says.

    Nothing in it is remembered: every query follows :meth:`move`.

    Args:
        world: The world.
        exact: Whether meshes are there with all their triangles, not only by their convex hulls.

    Attributes:
        numbers: Number of each body of the world in the MuJoCo model.
        shapes: The world's number of the shape behind each geom.
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
        for number, piece in enumerate(world.shapes):
            shape = piece.shape
            if not (shape.collide or shape.visible):
                continue
            group = _ONLY_VISIBLE if not shape.collide else _ONLY_COLLIDING
            geom = add_shape(
                spec, bodies[piece.body], piece, f"shape{number}", moving=moving[piece.body],
                exact=exact, group=_BOTH if shape.collide and shape.visible else group,
            )  # fmt: skip
            if isinstance(shape, Plane) and not moving[piece.body]:
                geom.size = [0.0, 0.0, 1.0]  # without end, as engines see it
        try:
            self._model = spec.compile()
        except ValueError as error:
            raise SceneError(
                f"the scene's shapes cannot be made ready for sensors that look: {error}.",
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
        """Puts every body at its pose (nb×7)."""
        self._data.mocap_pos[:] = pose[self._bodies, :3]
        self._data.mocap_quat[:] = pose[self._bodies, 3:]
        mujoco.mj_kinematics(self._model, self._data)

    def clearance(self, a: int, b: int, most: float) -> tuple[float, np.ndarray]:
        """Distance of two geoms [m], and their nearest points in the world, six numbers.

        Args:
            a: One geom.
            b: The other.
            most: What is farther apart counts as this far [m].
        """
        points = np.zeros(6)
        far = mujoco.mj_geomDistance(self._model, self._data, a, b, most, points)
        return float(far), points

    def distance(
        self, start: np.ndarray, direction: np.ndarray, seen: np.ndarray, ignored: int
    ) -> float:
        """Distance from ``start`` along the unit vector ``direction`` [m]; −1 if nothing is hit.

        Args:
            start: World point [m].
            direction: Unit vector in world axes.
            seen: Groups of shapes that count, from :data:`SEEN`.
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
            directions: Unit vectors in world axes, one behind the other.
            seen: Groups of shapes that count, from :data:`SEEN`.
            ignored: Body of the MuJoCo model that the rays pass through.
            reach: What is farther away may be left out [m].
            distances: Takes the distances [m]; −1 where nothing is hit.
            geoms: Takes the geoms that are hit; −1 where none is.
            normals: Takes the normals of what is hit, one behind the other, in world axes.
        """
        mujoco.mj_multiRay(
            self._model, self._data, start, directions, seen, True, ignored, geoms, distances,
            normals, len(distances), reach,
        )  # fmt: skip

    def show(self, visible: np.ndarray) -> None:
        """Takes elements whose ``visible`` is 0 out of sight, and brings all others back.

        They stop rays that look for what collides all the same.

        Args:
            visible: By element, as the state has it.
        """
        hidden = visible[self._elements] == 0.0
        self._model.geom_group[:] = np.where(hidden, _UNSEEN[self._groups], self._groups)
