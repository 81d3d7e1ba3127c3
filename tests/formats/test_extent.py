"""Bounding boxes of shapes touch them on every side."""

import numpy as np
import pytest

from linkwork.core.errors import PartError
from linkwork.formats.extent import part_extent, shape_extent
from linkwork.geometry import Pose
from linkwork.model.parts import Element, Ellipsoid, Part, Plane, Shape, Terrain

AT = Pose.of((1.0, -2.0, 0.5), rpy=(0.3, -0.7, 1.1))


def test_an_ellipsoid_reaches_as_far_as_its_points() -> None:
    """The box of a rotated ellipsoid is that of many points on it."""
    shape = Ellipsoid((0.1, 0.3, 0.7), at=AT)
    variants = np.random.default_rng(3).normal(size=(200_000, 3))
    variants /= np.linalg.norm(variants, axis=1, keepdims=True)
    points = (variants * shape.radii) @ AT.matrix().T + AT.xyz
    found = shape_extent(shape)
    assert found is not None
    np.testing.assert_allclose(found[0], points.min(axis=0), atol=1e-3)
    np.testing.assert_allclose(found[1], points.max(axis=0), atol=1e-3)


def test_a_terrain_reaches_from_its_underside_to_its_summit() -> None:
    """The underside is the depth below the lowest point."""
    shape = Terrain((2.0, 4.0), heights=(0.0, 0.5, -0.25, 0.0), depth=0.1)
    found = shape_extent(shape)
    assert found is not None
    np.testing.assert_allclose(found, [(-1.0, -2.0, -0.35), (1.0, 2.0, 0.5)])
    part = Part("hill").add(Element("hill", (shape,)))
    np.testing.assert_allclose(part_extent(part), found)


def test_a_plane_has_no_end_and_unknown_shapes_are_refused() -> None:
    """An unsupported shape is an error, not ignored."""
    assert shape_extent(Plane((1.0, 1.0))) is None

    class Blob(Shape):
        kind = "blob"

    with pytest.raises(PartError, match="'blob' is not known"):
        shape_extent(Blob())
