"""Mass, center of mass and inertia of the solid that a mesh encloses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.core.errors import MeshError
from linkwork.geometry.meshes.mesh import TriangleMesh


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass properties of a rigid body.

    Attributes:
        mass: [kg].
        com: Center of mass in the mesh's frame, 3 [m].
        inertia: About the center of mass, in the mesh's axes, 3×3 [kg·m²].
        note: Why the numbers are not those of the mesh itself, else empty.
    """

    mass: float
    com: NDArray[np.float64]
    inertia: NDArray[np.float64]
    note: str = ""


def mass_properties(
    mesh: TriangleMesh, *, density: float | None = None, mass: float | None = None
) -> MassProperties:
    """Returns the mass properties of the solid inside a mesh, filled evenly.

    The surface integrals are exact for polyhedra. A mesh with holes or inconsistently oriented
    faces, or whose integrals no solid can have, encloses no definite solid; its convex hull is used
    instead and ``note`` states it. Overlapping closed shells each contribute their mass.

    Args:
        mesh: The surface.
        density: [kg/m³]; give this or ``mass``.
        mass: [kg].

    Raises:
        MeshError: The mesh is flat, or the density or mass is not positive and finite.
    """
    given = density if density is not None else mass
    if given is None or (density is not None and mass is not None):
        raise MeshError("the mass of a mesh needs a density or a mass, exactly one of them.")
    if not (np.isfinite(given) and given > 0):
        kind = "density" if density is not None else "mass"
        raise MeshError(f"the {kind} of a mesh is {given!r}.", hint="It must be greater than zero.")
    volume, com, second, note = _solid(mesh)
    rho = density if density is not None else given / volume
    covariance = rho * second
    inertia = np.trace(covariance) * np.eye(3) - covariance
    return MassProperties(float(rho * volume), com, inertia, note)


def _solid(
    mesh: TriangleMesh,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64], str]:
    """Returns volume, center and central second moments of the mesh, or of its hull and why."""
    if not mesh.is_watertight:
        reason = "the mesh is not watertight"
    else:
        volume, com, second = volume_moments(mesh.triangles)
        reason = _volume_problem(volume, second, float(np.prod(mesh.bounds[1] - mesh.bounds[0])))
        if not reason:
            return volume, com, second, ""
    return (*volume_moments(mesh.hull().triangles), f"{reason}: its convex hull was used")


def _volume_problem(volume: float, second: NDArray[np.float64], box_volume: float) -> str:
    """Returns why moments cannot be those of a solid inside a box of the given volume, or ""."""
    if volume > box_volume * (1 + 1e-9):
        return "the mesh overlaps itself"
    if volume <= box_volume * 1e-9:
        return "the mesh encloses no volume"
    if np.linalg.eigvalsh(second)[0] <= 0:
        return "the mesh has inverted shells"
    return ""


def volume_moments(
    triangles: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Returns volume [m³], centroid [m] and ∫ r rᵀ dV about the centroid [m⁵] of a closed surface.

    Sums over the tetrahedra from a central point to each triangle (a, b, c), with
    d = a·(b×c) and s = a+b+c: V = Σ d/6, ∫ r dV = Σ d s/24,
    ∫ r rᵀ dV = Σ d (s sᵀ + a aᵀ + b bᵀ + c cᵀ)/120. The orientation of the whole surface does not
    matter.

    Args:
        triangles: Corners, m×3×3 [m].
    """
    middle = (triangles.min(axis=(0, 1)) + triangles.max(axis=(0, 1))) / 2
    corners = triangles - middle
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    weight = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume = float(weight.sum() / 6)
    if volume < 0:
        weight, volume = -weight, -volume
    if volume == 0:
        return 0.0, middle, np.zeros((3, 3))
    total = corners.sum(axis=1)
    centroid = weight @ total / (24 * volume)
    second = np.einsum("i,ij,ik->jk", weight, total, total, optimize=True)
    second += np.einsum("i,inj,ink->jk", weight, corners, corners, optimize=True)
    second = second / 120 - volume * np.outer(centroid, centroid)
    return volume, middle + centroid, (second + second.T) / 2
