"""Mirror symmetry of a robot: pairs of joints found from its geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import SceneError, listing
from linkwork.geometry.pose import matrix_from_quat
from linkwork.kinematics.forward import forward, velocities
from linkwork.model.world import World

#: Tolerance of equal screws: axes [1], positions [m].
TOLERANCE = 2e-3
#: Words exchanged in names of the two sides; names decide only if the geometry is ambiguous.
_SIDE_NAMES = (("left", "right"), ("Left", "Right"), ("l_", "r_"), ("L_", "R_"), ("_l", "_r"),
          ("_L", "_R"))  # fmt: skip


@dataclass(frozen=True)
class Mirror:
    """Mapping of joint values to the mirrored robot.

    Attributes:
        images: By degree of freedom, that of its image and the sign of the value there.
        left_out: Degrees of freedom without an image.
        normal: Of the mirror plane, in the frame of the robot's carrier.
        offset: Distance of the plane from that frame's origin [m].
    """

    images: dict[int, tuple[int, float]]
    left_out: tuple[int, ...]
    normal: tuple[float, float, float]
    offset: float

    def of(self, values: Mapping[int, float]) -> dict[int, float]:
        """Returns the mirrored posture: values by degree of freedom, if they have an image."""
        found = {dof: self.images[dof] for dof in values if dof in self.images}
        return {image: sign * values[dof] + 0.0 for dof, (image, sign) in found.items()}


def find_mirror(world: World, dofs: Sequence[int]) -> Mirror:
    """Returns the plane in which most of a robot is its own mirror image with all joints at 0.

    A joint moves its bodies by a screw: a velocity v of the point at the origin and an angular
    velocity ω. The reflection M in a plane through the origin maps it to (M v, −M ω). Two joints
    are images of each other if the reflected screw of one is ± that of the other, and their
    carriers are images too; of several, the one with the nearest pivot. The planes normal to the
    axes of the robot's carrier are tried, y first, which points left by convention.

    Args:
        world: The world.
        dofs: Degrees of freedom of the robot, without balls and free bodies.

    Raises:
        SceneError: If there is no such plane.
    """
    if not dofs:
        raise SceneError("there is no joint to mirror.")
    screws, pivots, carriers = _screws(world, dofs)
    best: Mirror | None = None
    rank: tuple[bool, int] = (False, 0)
    for axis in (1, 0, 2):
        normal = np.eye(3)[axis]
        for offset in _offsets(screws, normal):
            seen = _shifted_screws(screws, normal * offset), pivots - normal * offset
            found = _matched(world, dofs, *seen, carriers, normal)
            if all(image == dof and sign > 0.0 for dof, (image, sign) in found.items()):
                continue  # every joint is its own image
            pairs = any(image != dof for dof, (image, _) in found.items())
            if (pairs, len(found)) > rank:
                rest = tuple(dof for dof in dofs if dof not in found)
                nx, ny, nz = normal.tolist()
                best, rank = Mirror(found, rest, (nx, ny, nz), offset), (pairs, len(found))
    if best is None:
        names = listing([world.dof_name(dof) for dof in dofs])
        raise SceneError(
            f"no plane mirrors these joints: {names}.",
            hint="With all joints at 0, the robot or a part of it must be symmetric.",
        )
    return best


def _screws(world: World, dofs: Sequence[int]) -> tuple[np.ndarray, np.ndarray, dict[int, int]]:
    """Returns ω and v of each degree of freedom, its pivot in the carrier's frame, its carrier."""
    q = world.q0.copy()
    for dof in dofs:
        body = int(world.dof_body[dof])
        q[int(world.qadr[body]) + dof - int(world.vadr[body])] = 0.0
    pose = forward(world, q)
    bodies = {int(world.dof_body[dof]): dof for dof in dofs}
    root = int(world.parent[min(bodies)])
    turn, place = matrix_from_quat(pose[root, 3:]), pose[root, :3]
    screws, pivots = np.empty((len(dofs), 6)), np.empty((len(dofs), 3))
    for row, dof in enumerate(dofs):
        body, speed = int(world.dof_body[dof]), np.zeros(world.nv)
        speed[dof] = 1.0
        twist = velocities(world, q, speed, pose)[body]
        middle = pose[body, :3] + matrix_from_quat(pose[body, 3:]) @ world.com[body]
        at_root = twist[:3] + np.cross(twist[3:], place - middle)
        pivot = pose[body, :3] + matrix_from_quat(pose[body, 3:]) @ world.pivot[body]
        pivots[row] = turn.T @ (pivot - place)
        screws[row] = *(turn.T @ twist[3:]), *(turn.T @ at_root)
    carriers = {dof: _carrier(world, dof, bodies) for dof in dofs}
    return screws, pivots, carriers


def _carrier(world: World, dof: int, bodies: Mapping[int, int]) -> int:
    """Returns the previous degree of freedom of the joint, or the last of its parent; or −1."""
    body = int(world.dof_body[dof])
    if dof > int(world.vadr[body]):
        return dof - 1
    while body > 0:
        body = int(world.parent[body])
        if body in bodies:
            return bodies[body]
    return -1


def _offsets(screws: np.ndarray, normal: np.ndarray) -> list[float]:
    """Returns candidate offsets of the plane: through the origin, or midway between axes."""
    turning = screws[np.abs(screws[:, :3]).max(axis=1) > 0.5]
    distances = np.cross(turning[:, :3], turning[:, 3:]) @ normal
    across = np.abs(turning[:, :3] @ normal) < 0.5  # a position along its own axis is arbitrary
    return [0.0, float(distances[across].mean())] if across.any() else [0.0]


def _shifted_screws(screws: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Returns the screws relative to another origin."""
    made = screws.copy()
    made[:, 3:] += np.cross(screws[:, :3], to)
    return made


def _matched(
    world: World, dofs: Sequence[int], screws: np.ndarray, pivots: np.ndarray,
    carriers: Mapping[int, int], normal: np.ndarray,
) -> dict[int, tuple[int, float]]:  # fmt: skip
    """Returns images by degree of freedom, from the carrier outward; both of a pair or none."""
    flip = np.eye(3) - 2.0 * np.outer(normal, normal)
    seen = np.hstack([-screws[:, :3] @ flip, screws[:, 3:] @ flip])
    found: dict[int, tuple[int, float]] = {}
    for row, dof in enumerate(dofs):
        below = carriers[dof]
        if below >= 0 and below not in found:
            continue
        wanted = found[below][0] if below >= 0 else -1
        fits = [
            (round(float(np.abs(pivots[k] - pivots[row] @ flip).max()), 3), other, sign)
            for k, other in enumerate(dofs)
            for sign in (1.0, -1.0)
            if carriers[other] == wanted
            and np.abs(screws[k] - sign * seen[row]).max() < TOLERANCE
            and all(image != other for image, _ in found.values())
        ]
        if fits:
            name = _other_side(world.dof_name(dof))
            best = min(fits, key=lambda fit: (fit[0], world.dof_name(fit[1]) != name))
            found[dof] = best[1:]
    return {dof: image for dof, image in found.items() if found.get(image[0], (-1,))[0] == dof}


def _other_side(name: str) -> str:
    """Returns the name with left and right exchanged, if it contains one of them."""
    for one, other in _SIDE_NAMES:
        for old, new in ((one, other), (other, one)):
            if old in name:
                return name.replace(old, new)
    return name
