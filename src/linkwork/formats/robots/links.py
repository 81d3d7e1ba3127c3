"""Shapes of a link: which of them are visual, collision or both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from linkwork.core.errors import FormatError, Origin
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Element, Shape

Role = Literal["visual", "collision"]

#: A link without mass; explicit, so that its meshes are not integrated.
MASSLESS = Inertia.of(0.0)


def pair_shapes(visuals: Sequence[Shape], collisions: Sequence[Shape]) -> tuple[Shape, ...]:
    """Returns the shapes of a link; a visual and an equal collision become one shape.

    Args:
        visuals: Shapes that are drawn.
        collisions: Shapes that collide, without color or texture.
    """
    unpaired = Counter(collisions)
    shapes: list[Shape] = []
    for visual in visuals:
        bare = replace(visual, color="", texture="")
        paired = unpaired[bare] > 0
        unpaired[bare] -= paired
        shapes.append(replace(visual, collide=paired))
    shapes.extend(replace(shape, visible=False) for shape in unpaired.elements())
    return tuple(shapes)


def shapes_by_role(
    element: Element, name: str, notes: ConversionNotes
) -> Iterator[tuple[Role, Shape]]:
    """Yields each visual, then each collision, of an element.

    Args:
        element: The element.
        name: Its full name, for the notes.
        notes: Receives a line on shapes that are neither.
    """
    for shape in element.shapes:
        if shape.visible:
            yield "visual", shape
    for shape in element.shapes:
        if shape.collide:
            yield "collision", shape
    if not all(shape.visible or shape.collide for shape in element.shapes):
        note_unused_shapes(name, notes)


def note_unused_shapes(name: str, notes: ConversionNotes) -> None:
    """Notes that shapes which are neither visual nor collision are not written."""
    notes.about("shapes that are neither visible nor collide, left out", name)


def own_color(shape: Shape, element: Element) -> str:
    """Returns the color of a visual; empty if it is the default color."""
    return shape.color or ("" if element.color == Element.color else element.color)


def has_default_surface(element: Element) -> bool:
    """Whether friction and restitution are the default ones."""
    default = (Element.friction, Element.restitution)
    return (element.friction, element.restitution) == default


def clamp_surface(
    friction: float, restitution: float, name: str, notes: ConversionNotes
) -> tuple[float, float]:
    """Returns friction and restitution, clamped to their valid ranges, with a note."""
    if friction < 0.0 or not 0.0 <= restitution <= 1.0:
        notes.about("surface values out of range, clamped", name)
    return max(friction, 0.0), min(max(restitution, 0.0), 1.0)


def link_inertia(
    mass: float,
    matrix: np.ndarray,
    at: Pose,
    name: str,
    origin: Origin,
    notes: ConversionNotes,
) -> Inertia:
    """Returns mass properties in the link's frame; an unphysical matrix is repaired with a note.

    Args:
        mass: [kg].
        matrix: About the center of mass [kg m²].
        at: Pose of the inertial frame in the link's.
        name: Name of the link.
        origin: Where the values are defined.
        notes: Receives the repair.

    Raises:
        FormatError: If the mass is negative.
    """
    if mass < 0.0:
        raise FormatError(f"the mass of link {name!r} is negative ({mass:g} kg).", origin=origin)
    own = Inertia.of(mass, matrix=matrix)
    if why := own.problem():
        own = Inertia.of(mass, matrix=repair_inertia(matrix))
        values = np.maximum(np.linalg.eigvalsh(own.matrix), 0.0)
        moments = ", ".join(f"{value:.4g}" for value in values)
        notes.add(
            f"{origin}: link {name!r}: {why}. Principal inertias raised to {moments} kg m², "
            "mass and center of mass kept.",
            kind="motion",
        )
    moved = own.moved(at)
    return Inertia(moved.mass, moved.com, (moved.matrix + moved.matrix.T) / 2.0)


def repair_inertia(matrix: np.ndarray) -> np.ndarray:
    """Returns the nearest inertia matrix of a real body, with the same principal axes [kg m²].

    A body's second moments s_i = ∫ x_i² dm = (λ_1 + λ_2 + λ_3)/2 − λ_i are not negative. Negative
    ones become 0: the largest principal inertia stays and the two smaller ones rise evenly until
    their sum equals it.
    """
    values, axes = np.linalg.eigh(matrix)
    moments = np.maximum(values.sum() / 2.0 - values, 0.0)
    fixed = (axes * (moments.sum() - moments)) @ axes.T
    return (fixed + fixed.T) / 2.0
