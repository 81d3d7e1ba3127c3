"""Mirror: which joint of a robot is the mirror image of which, found in its geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.errors import SceneError, listing
from linkwork.kinematics.forward import forward, velocities
from linkwork.world import World

#: Screws that differ by less are the same: axes [1], places [m].
TOLERANCE = 2e-3
#: Words that change places in the names of two sides; names only decide where geometry cannot.
_SIDES = (("left", "right"), ("Left", "Right"), ("l_", "r_"), ("L_", "R_"), ("_l", "_r"),
          ("_L", "_R"))  # fmt: skip


@dataclass(frozen=True)
class Mirror:
    """What becomes of joint values when a robot is seen in a mirror.

    Attributes:
        images: By degree of freedom, that of its image and the sign of the value there.
        left_out: Degrees of freedom without an image.
        normal: Of the mirror's plane, in the frame of the body that carries the robot's joints.
        offset: How far the plane is from that frame's origin [m].
    """

    images: dict[int, tuple[int, float]]
    left_out: tuple[int, ...]
    normal: tuple[float, float, float]
    offset: float

    def of(self, values: Mapping[int, float]) -> dict[int, float]:
        """The mirrored posture: values by degree of freedom, without those that have no image."""
        found = {dof: self.images[dof] for dof in values if dof in self.images}
        return {image: sign * values[dof] + 0.0 for dof, (image, sign) in found.items()}


def find_mirror(world: World, dofs: Sequence[int]) -> Mirror:
    """The plane in which most of a robot is its own mirror image when all its joints are at 0.

    A joint moves what it carries by a screw: a velocity v of the point at the origin and an angular
    velocity ω. Seen in a plane through the origin with the reflection M it is (M v, −M ω). Two
    joints are images of each other if one's screw, seen so, is ± the other's, and the joints that
    carry them are images too; of several, the one whose pivot is nearest to the image. Planes
    across the axes of the body that carries the robot are tried, y first, which leads to the left
    by custom.

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
            seen = _moved(screws, normal * offset), pivots - normal * offset
            found = _matched(world, dofs, *seen, carriers, normal)
            if all(image == dof and sign > 0.0 for dof, (image, sign) in found.items()):
                continue  # nothing would change
            pairs = any(image != dof for dof, (image, _) in found.items())
            if (pairs, len(found)) > rank:
                rest = tuple(dof for dof in dofs if dof not in found)
                nx, ny, nz = normal.tolist()
                best, rank = Mirror(found, rest, (nx, ny, nz), offset), (pairs, len(found))
    if best is None:
        names = listing([world.dof_name(dof) for dof in dofs])
        raise SceneError(
            f"no plane mirrors these joints: {names}.",
            hint="At value 0 of its joints a robot must be its own mirror image, or a part of it.",
        )
    return best


def _screws(world: World, dofs: Sequence[int]) -> tuple[np.ndarray, np.ndarray, dict[int, int]]:
    """Of each freedom ω and v, its pivot, in the frame of what carries all, and who carries it."""
    q = world.q0.copy()
    for dof in dofs:
        body = int(world.dof_body[dof])
        q[int(world.qadr[body]) + dof - int(world.vadr[body])] = 0.0
    pose = forward(world, q)
    bodies = {int(world.dof_body[dof]): dof for dof in dofs}
    root = int(world.parent[min(bodies)])
    turn, place = _matrix(pose[root, 3:]), pose[root, :3]
    screws, pivots = np.empty((len(dofs), 6)), np.empty((len(dofs), 3))
    for row, dof in enumerate(dofs):
        body, speed = int(world.dof_body[dof]), np.zeros(world.nv)
        speed[dof] = 1.0
        twist = velocities(world, q, speed, pose)[body]
        middle = pose[body, :3] + _matrix(pose[body, 3:]) @ world.com[body]
        at_root = twist[:3] + np.cross(twist[3:], place - middle)
        pivot = pose[body, :3] + _matrix(pose[body, 3:]) @ world.pivot[body]
        pivots[row] = turn.T @ (pivot - place)
        screws[row] = *(turn.T @ twist[3:]), *(turn.T @ at_root)
    carriers = {dof: _carrier(world, dof, bodies) for dof in dofs}
    return screws, pivots, carriers


def _matrix(quat: np.ndarray) -> np.ndarray:
    w, x, y, z = quat
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _carrier(world: World, dof: int, bodies: Mapping[int, int]) -> int:
    """The freedom before this one in its joint, else the last of the joint below; −1 if none."""
    body = int(world.dof_body[dof])
    if dof > int(world.vadr[body]):
        return dof - 1
    while body > 0:
        body = int(world.parent[body])
        if body in bodies:
            return bodies[body]
    return -1


def _offsets(screws: np.ndarray, normal: np.ndarray) -> list[float]:
    """Where the plane may be: through the origin, or in the middle of the axes."""
    turning = screws[np.abs(screws[:, :3]).max(axis=1) > 0.5]
    places = np.cross(turning[:, :3], turning[:, 3:]) @ normal
    across = np.abs(turning[:, :3] @ normal) < 0.5  # a place along its own axis says nothing
    return [0.0, float(places[across].mean())] if across.any() else [0.0]


def _moved(screws: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The screws as seen from another origin."""
    made = screws.copy()
    made[:, 3:] += np.cross(screws[:, :3], to)
    return made


def _matched(
    world: World, dofs: Sequence[int], screws: np.ndarray, pivots: np.ndarray,
    carriers: Mapping[int, int], normal: np.ndarray,
) -> dict[int, tuple[int, float]]:  # fmt: skip
    """Images by freedom, from the carrying body outwards; both sides of a pair or none."""
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
    """The name with left and right exchanged, where it says one of them."""
    for one, other in _SIDES:
        for old, new in ((one, other), (other, one)):
            if old in name:
                return name.replace(old, new)
    return name
