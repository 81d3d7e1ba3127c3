"""Ground contacts: contact points, static planes, friction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Plane, Spec
from linkwork.model.world import World


@dataclass
class GroundContacts:
    """Contact points and static planes.

    Attributes:
        points: By point: body, position in its frame [m] (n×4).
        planes: By plane: normal, a point of it, two tangents (m×12), world axes.
        point_element: Element that carries each point, −1 for none.
        plane_body: Body and element of each plane (m×2).
    """

    points: np.ndarray
    planes: np.ndarray
    point_element: np.ndarray
    plane_body: np.ndarray

    def friction(self, by_element: np.ndarray) -> np.ndarray:
        """Returns the friction coefficient of each point on each plane: the larger of both."""
        own = np.where(self.point_element >= 0, by_element[self.point_element], 0.0)
        theirs = by_element[self.plane_body[:, 1]]
        return np.maximum(own[:, None], theirs[None, :]) + 0.0


def find_ground_contacts(
    world: World, owned: np.ndarray, poses: np.ndarray, names: list[str], spec: Spec
) -> GroundContacts:
    """Returns contact points by name, and all static planes.

    Args:
        world: The world.
        owned: Mask over bodies of the engine.
        poses: Initial poses of all bodies.
        names: Elements and anchors that touch.
        spec: Specification of the engine, for messages.

    Raises:
        NameNotFound: If there is no such element or anchor.
        LinkworkError: If it belongs to a body of another engine.
    """
    points, elements = [], []
    for name in names:
        body, local = world.frame(name, origin=spec.at("contacts"))
        if not owned[body]:
            raise LinkworkError(
                f"contacts: {name!r} is on {world.body_names[body]!r}, which this engine does not "
                "move.",
                origin=spec.at("contacts"),
            )
        points.append([float(body), *local.xyz])
        elements.append(world.element_of(name))
    planes, carriers = [], []
    for piece in world.shapes:
        if not (isinstance(piece.shape, Plane) and piece.shape.collide):
            continue
        if not world.is_static(piece.body):
            continue
        row = poses[piece.body].tolist()
        pose = Pose.of(row[:3], quat=row[3:]) @ piece.pose
        x, y, z = pose.matrix()[:3, :3].T.tolist()
        planes.append([*z, *pose.xyz, *x, *y])
        carriers.append([piece.body, piece.element])
    return GroundContacts(
        np.array(points, float).reshape(-1, 4),
        np.array(planes, float).reshape(-1, 12),
        np.array(elements, np.int64).reshape(-1),
        np.array(carriers, np.int64).reshape(-1, 2),
    )
