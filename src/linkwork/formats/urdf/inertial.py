"""Inertials: a link's mass properties, and the smallest repair of those no body can have."""

from __future__ import annotations

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.urdf.context import Reading
from linkwork.formats.urdf.values import number, origin_pose
from linkwork.formats.xml_tree import Node
from linkwork.spatial.inertia import Inertia

#: A link without mass; explicit, so that nobody measures its meshes to find out.
MASSLESS = Inertia.of(0.0)


def read_inertial(link: Node, name: str, reading: Reading) -> Inertia:
    """Mass properties in the link's frame; zero for a link without ``<inertial>``.

    Raises:
        FormatError: If numbers are missing or the mass is negative.
    """
    node = link.first("inertial")
    if node is None:
        return MASSLESS
    mass_node, matrix_node = node.first("mass"), node.first("inertia")
    if mass_node is None or matrix_node is None:
        missing = "mass" if mass_node is None else "inertia"
        raise FormatError(
            f"the <inertial> of link {name!r} has no <{missing}>.",
            origin=node.origin,
            hint="It needs <mass value=…/> and <inertia ixx=… ixy=… ixz=… iyy=… iyz=… izz=…/>.",
        )
    mass = number(mass_node, "value")
    if mass < 0.0:
        raise FormatError(
            f"the mass of link {name!r} is negative ({mass:g} kg).", origin=mass_node.origin
        )
    xx, xy, xz, yy, yz, zz = (
        number(matrix_node, key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    own = Inertia.of(mass, matrix=matrix)
    if why := own.problem():
        own = Inertia.of(mass, matrix=repaired(matrix))
        values = np.maximum(np.linalg.eigvalsh(own.matrix), 0.0)
        moments = ", ".join(f"{value:.4g}" for value in values)
        reading.notes.say(
            f"{node.origin}: link {name!r}: {why}. Principal inertias raised to {moments} kg m², "
            "mass and centre of mass kept."
        )
    moved = own.moved(origin_pose(node))
    return Inertia(moved.mass, moved.com, (moved.matrix + moved.matrix.T) / 2.0)


def repaired(matrix: np.ndarray) -> np.ndarray:
    """The nearest inertia matrix that a real body can have, same principal axes [kg m²].

    A body's second moments s_i = ∫ x_i² dm = (λ_1 + λ_2 + λ_3)/2 − λ_i cannot be negative. Those
    that are become 0; the largest principal inertia stays and the two smaller ones rise evenly
    until they add up to it.
    """
    values, axes = np.linalg.eigh(matrix)
    moments = np.maximum(values.sum() / 2.0 - values, 0.0)
    fixed = (axes * (moments.sum() - moments)) @ axes.T
    return (fixed + fixed.T) / 2.0
