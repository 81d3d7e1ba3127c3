"""Triangle meshes: mass, hull and simplification against closed forms, MuJoCo and trimesh."""

import subprocess
import sys
from typing import Any

import mujoco
import numpy as np
import pytest
import trimesh
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from linkwork.core.errors import MeshError
from linkwork.geometry.meshes import TriangleMesh, mass_properties
from linkwork.geometry.meshes.mass import volume_moments
from mesh_files import ball, bent, box, mesh_of

#: MuJoCo, whose classes come from compiled modules that type checkers cannot see.
ENGINE: Any = mujoco
TURN = np.array([0.5, 0.1, -0.7, 0.3])
SHIFT = np.array([0.3, -2.0, 5.0])


def mujoco_model(mesh: TriangleMesh, *, with_faces: bool = True) -> Any:
    """Returns the mesh as a body of density 1000 with exact inertia, compiled by MuJoCo."""
    spec = ENGINE.MjSpec()
    entry = spec.add_mesh(name="mesh", inertia=ENGINE.mjtMeshInertia.mjMESH_INERTIA_EXACT)
    entry.uservert = mesh.vertices.ravel().tolist()
    if with_faces:
        entry.userface = mesh.faces.ravel().tolist()
    body = spec.worldbody.add_body(name="body")
    body.add_geom(type=ENGINE.mjtGeom.mjGEOM_MESH, meshname="mesh", density=1000.0)
    return spec.compile()


def single(mesh: TriangleMesh) -> TriangleMesh:
    """Returns the mesh with vertices rounded to MuJoCo's single precision."""
    return mesh_of(mesh.vertices.astype(np.float32), mesh.faces)


def support(points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Returns the support function of points in each direction."""
    return (points @ directions.T).max(axis=0)


def directions(count: int) -> np.ndarray:
    found = np.random.default_rng(5).normal(size=(count, 3))
    return found / np.linalg.norm(found, axis=1)[:, None]


def test_box_has_the_mass_properties_of_the_textbook():
    """A box of density ρ has mass ρxyz and inertia m(y²+z²)/12 about its center."""
    found = mass_properties(box(1.0, 2.0, 3.0).moved(SHIFT), density=7.0)
    assert found.mass == pytest.approx(42.0, rel=1e-13)
    assert_allclose(found.com, SHIFT, atol=1e-13)
    assert_allclose(found.inertia, 42 / 12 * np.diag([13, 10, 5]), rtol=1e-12, atol=1e-11)
    assert found.note == ""


def test_tetrahedron_has_the_mass_properties_of_the_textbook():
    """The unit corner tetrahedron has ∫x² = 1/60 and ∫xy = 1/120 about its corner."""
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    mesh = TriangleMesh(np.array(corners), np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))
    found = mass_properties(mesh, density=1.0)
    about_corner = np.full((3, 3), 1 / 120) + np.eye(3) * (1 / 60 - 1 / 120)
    central = about_corner - np.full((3, 3), 1 / 16) / 6
    assert found.mass == pytest.approx(1 / 6, rel=1e-14)
    assert_allclose(found.com, [0.25] * 3, rtol=1e-14)
    assert_allclose(found.inertia, np.trace(central) * np.eye(3) - central, atol=1e-16)


def test_refined_ball_converges_to_the_ellipsoid_with_second_order():
    """Each refinement of an ellipsoid's mesh divides the error of its inertia by about four."""
    radii = np.array([1.0, 2.0, 0.5])
    volume = 4 / 3 * np.pi * radii.prod()
    squares = radii**2
    exact = volume / 5 * np.diag(squares.sum() - squares)
    errors = [
        np.abs(mass_properties(ball(n, tuple(radii)), density=1.0).inertia - exact).max()
        for n in range(3, 6)
    ]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)
    assert errors[2] < 0.01 * exact.max()


@pytest.mark.parametrize("mesh", [box(), bent(), ball(2, (1.0, 0.3, 2.0))], ids=str)
def test_mass_properties_agree_with_mujocos_compiler(mesh: TriangleMesh):
    """Mass, center and inertia of a moved mesh are those of MuJoCo's exact mesh inertia."""
    mesh = single(mesh.moved(SHIFT, TURN))
    model = mujoco_model(mesh)
    axes = np.empty(9)
    ENGINE.mju_quat2Mat(axes, model.body_iquat[1])
    axes = axes.reshape(3, 3)
    found = mass_properties(mesh, density=1000.0)
    assert found.mass == pytest.approx(model.body_mass[1], rel=1e-9)
    assert_allclose(found.com, model.body_ipos[1], atol=1e-9)
    theirs = axes @ np.diag(model.body_inertia[1]) @ axes.T
    assert_allclose(found.inertia, theirs, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.parametrize("mesh", [box(), bent(), ball(2, (1.0, 0.3, 2.0))], ids=str)
def test_mass_properties_agree_with_trimesh(mesh: TriangleMesh):
    """Mass, center and inertia of a moved mesh are those that trimesh integrates."""
    mesh = mesh.moved([0.1, 0.2, -0.3], TURN)
    other = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    other.density = 3.0
    found = mass_properties(mesh, density=3.0)
    assert found.mass == pytest.approx(other.mass, rel=1e-12)
    assert_allclose(found.com, other.center_mass, atol=1e-12)
    assert_allclose(found.inertia, other.moment_inertia, atol=1e-11)


def test_given_mass_fixes_the_density():
    """Mass properties from a mass are those from mass over volume as density."""
    by_mass = mass_properties(bent(), mass=6.0)
    by_density = mass_properties(bent(), density=2.0)
    assert by_mass.mass == 6.0
    assert_allclose(by_mass.inertia, by_density.inertia, rtol=1e-14)


def test_inside_out_mesh_has_the_same_mass_properties():
    """The orientation of the whole surface does not matter."""
    turned = TriangleMesh(bent().vertices, bent().faces[:, ::-1])
    found, usual = mass_properties(turned, density=1.0), mass_properties(bent(), density=1.0)
    assert found.mass == pytest.approx(usual.mass)
    assert_allclose(found.inertia, usual.inertia, rtol=1e-13)
    assert found.note == ""


def test_mesh_with_a_hole_takes_the_mass_of_its_hull_and_says_so():
    """A box without lid has the mass of the full box, with a note."""
    opened = TriangleMesh(box().vertices, box().faces[2:])
    found = mass_properties(opened, density=1.0)
    assert not opened.is_watertight
    assert found.mass == pytest.approx(6.0, rel=1e-12)
    assert_allclose(found.inertia, mass_properties(box(), density=1.0).inertia, rtol=1e-12)
    assert "not watertight" in found.note
    assert "convex hull" in found.note


def test_face_wound_the_wrong_way_is_not_watertight():
    """A closed surface with inconsistent orientation encloses no definite volume."""
    faces = box().faces.copy()
    faces[0] = faces[0, ::-1]
    assert box().is_watertight
    assert not TriangleMesh(box().vertices, faces).is_watertight


def test_inverted_twin_shells_take_the_mass_of_their_hull():
    """Two boxes of opposite orientation cancel; the hull is used, and a note gives the reason."""
    first, second = box(1, 1, 1), box(1, 1, 1).moved([3, 0, 0])
    vertices = np.concatenate([first.vertices, second.vertices])
    faces = np.concatenate([first.faces, second.faces[:, ::-1] + 8])
    found = mass_properties(TriangleMesh(vertices, faces), density=1.0)
    assert found.mass == pytest.approx(4.0)
    assert "no volume" in found.note


def test_hollow_box_weighs_less_by_its_cavity():
    """An inner shell that faces inward is a cavity."""
    outer, inner = box(2, 2, 2), box(1, 1, 1)
    vertices = np.concatenate([outer.vertices, inner.vertices])
    faces = np.concatenate([outer.faces, inner.faces[:, ::-1] + 8])
    found = mass_properties(TriangleMesh(vertices, faces), density=1.0)
    assert found.mass == pytest.approx(7.0)
    assert_allclose(found.inertia, np.eye(3) * (8 * 8 - 2) / 12, atol=1e-13)


def test_mirroring_scale_keeps_the_outside_outside():
    """Negative factors reverse the faces if and only if they mirror."""
    for scale in ((-1, 2, 3), (-1, -2, 3), (-1, -2, -3), (1, 2, 3)):
        mesh = bent().scaled(scale)
        a, b, c = mesh.triangles.swapaxes(0, 1)
        assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(3 * 6)
    assert_allclose(bent().scaled(2.0).bounds, 2 * bent().bounds)


def test_moved_turns_then_shifts():
    """A quarter turn about z maps x to y before the translation; the length does not matter."""
    mesh = bent().moved([10, 0, 0], [2.0, 0, 0, 2.0])
    assert_allclose(mesh.bounds, [[8, 0, 0], [10, 2, 1]], atol=1e-14)
    assert bent().moved([0, 0, 0]).color is None


@given(st.integers(0, 10_000), st.integers(4, 300), st.floats(1e-4, 1e3))
def test_hull_is_a_closed_surface_around_all_points(seed: int, count: int, size: float):
    """The hull has the points' support in every direction, and its faces point outward."""
    rng = np.random.default_rng(seed)
    points = size * rng.normal(size=(count, 3)) * rng.uniform(0.05, 1, size=3) + size * SHIFT
    # Rounding creates coplanar and equal points, the hard cases of hulls.
    points = np.round(points / size, int(rng.integers(1, 8))) * size
    extent = np.ptp(points, axis=0).max()
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if spread[2] < 1e-5 * max(extent, 1e-9):
        with pytest.raises(MeshError, match=r"flat|single point"):
            mesh_of(points, [(0, 1, 2)]).hull()
        return
    hull = mesh_of(points, [(0, 1, 2)]).hull()
    assert hull.is_watertight
    assert len(hull.faces) == 2 * len(hull.vertices) - 4
    rays = directions(60)
    assert_allclose(support(hull.vertices, rays), support(points, rays), atol=1e-6 * extent)
    a, b, c = (hull.triangles - hull.vertices.mean(axis=0)).swapaxes(0, 1)
    assert (np.einsum("ij,ij->i", a, np.cross(b, c)) >= -1e-9 * extent**3).all()


@pytest.mark.parametrize("seed", range(5))
def test_hull_has_the_vertices_that_mujoco_finds(seed: int):
    """The hull of a random cloud has the vertices, faces and volume of MuJoCo's."""
    cloud = np.random.default_rng(seed).normal(size=(200, 3)).astype(np.float32)
    mesh = mesh_of(cloud, [(0, 1, 2)])
    hull = mesh.hull()
    model = mujoco_model(mesh, with_faces=False)
    assert [len(hull.vertices), len(hull.faces)] == model.mesh_graph[:2].tolist()
    assert volume_moments(hull.triangles)[0] * 1000 == pytest.approx(model.body_mass[1], rel=1e-9)


def test_hull_of_a_dotted_box_is_the_box():
    """The hull of a grid of coplanar points on a box is the box, rotated or not."""
    line = np.linspace(-1, 1, 9)
    grid = np.array([(x, y, z) for x in line for y in line for z in line])
    hull = mesh_of(grid, [(0, 1, 9)]).hull()
    assert sorted(map(tuple, hull.vertices)) == sorted(map(tuple, box(2, 2, 2).vertices))
    turned = mesh_of(grid, [(0, 1, 9)]).moved(SHIFT, TURN).hull()
    assert turned.is_watertight
    assert len(turned.vertices) <= 20  # rounding may leave a few of the points on edges
    assert volume_moments(turned.triangles)[0] == pytest.approx(8.0, rel=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 7), st.integers(20, 200))
def test_hull_of_lattice_points_has_no_empty_face(seed: int, steps: int, count: int):
    """For lattice points, mostly coplanar or collinear, every face has a nonzero area."""
    points = np.random.default_rng(seed).integers(0, steps, (count, 3)).astype(float)
    assume(np.linalg.matrix_rank(points - points[0]) == 3)
    hull = mesh_of(points, [(0, 1, 2)]).hull()
    a, b, c = hull.triangles.swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    assert hull.is_watertight
    assert len(hull.faces) == 2 * len(hull.vertices) - 4
    assert (np.linalg.norm(normals, axis=1) >= 1.0).all()
    assert (points @ normals.T <= np.einsum("ij,ij->i", normals, a)).all()


def test_hull_of_a_flat_mesh_is_refused():
    """A flat mesh has no hull, and the message gives the reason."""
    with pytest.raises(MeshError, match="flat"):
        mesh_of([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2), (1, 3, 2)]).hull()
    with pytest.raises(MeshError, match="flat"):
        mass_properties(mesh_of([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]), density=1.0)


@pytest.mark.parametrize("limit", [20, 50, 100, 500, 2000])
def test_simplified_ball_is_closed_small_and_round(limit: int):
    """A ball of 8192 triangles keeps the limit, stays watertight and near the sphere."""
    mesh = ball(5)
    found = mesh.simplified(limit)
    assert 4 <= len(found.faces) <= limit
    assert found.is_watertight
    radii = np.linalg.norm(found.vertices, axis=1)
    assert np.abs(radii - 1).max() < 5 / np.sqrt(limit)
    if limit >= 100:
        assert volume_moments(found.triangles)[0] == pytest.approx(4.19, rel=30 / limit)


def test_simplified_box_keeps_its_corners():
    """Quadric minimization keeps sharp corners that averaging would cut off."""
    line = np.linspace(-1, 1, 21)
    sides = []
    for axis in range(3):
        for end in (-1.0, 1.0):
            for u, v in ((u, v) for u in range(20) for v in range(20)):
                quad = np.full((4, 3), end)
                quad[:, (axis + 1) % 3] = line[[u, u + 1, u + 1, u]]
                quad[:, (axis + 2) % 3] = line[[v, v, v + 1, v + 1]]
                quad = quad if end > 0 else quad[::-1]
                sides += [quad[[0, 1, 2]], quad[[0, 2, 3]]]
    corners = np.concatenate(sides)
    _, first, number = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    mesh = mesh_of(corners[first], number.reshape(-1, 3))
    found = mesh.simplified(400)
    assert mesh.is_watertight
    assert found.is_watertight
    assert_allclose(found.bounds, mesh.bounds, atol=1e-9)
    assert volume_moments(found.triangles)[0] == pytest.approx(8.0, rel=1e-9)


def test_simplified_shell_does_not_vanish():
    """Walls thinner than the new triangles become sheets; the surface remains."""
    outer, inner = ball(5), ball(5).scaled(0.999)
    vertices = np.concatenate([outer.vertices, inner.vertices])
    faces = np.concatenate([outer.faces, inner.faces[:, ::-1] + len(outer.vertices)])
    found = TriangleMesh(vertices, faces).simplified(600)
    assert found.is_watertight
    assert len(found.faces) > 300
    assert_allclose(found.bounds, outer.bounds, atol=0.05)


def test_small_mesh_is_not_simplified():
    """A mesh within the limit is returned unchanged; a limit below four is rejected."""
    mesh = box()
    assert mesh.simplified(12) is mesh
    with pytest.raises(MeshError, match="4 or more"):
        mesh.simplified(3)
    with pytest.raises(MeshError, match="8192 triangles keeps no shape with at most 4"):
        ball(5).simplified(4)


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        ([(0, 0, 0)], [(0, 0, 1)], "names the vertex 1, but there are 1"),
        ([(0, 0, 0)], [(0, 0, -1)], "names the vertex -1"),
        ([(0, 0, np.nan)], [(0, 0, 0)], "vertex 0 is"),
        ([(0, 0, 1e10)], [(0, 0, 0)], "vertex 0 is"),
        ([(0, 0, 0)], np.empty((0, 3), dtype=int), "at least one triangle"),
        ([(0, 0)], [(0, 0, 0)], "n×3"),
        ([(0, 0, 0)], [(0.5, 0, 0)], "whole numbers"),
        ([(0, 0, 0)], np.array([(2**33, 0, 0)]), "whole numbers"),
        ([("a", "b", "c")], [(0, 0, 0)], "numbers"),
        ([(0, 0, 0), (1,)], [(0, 0, 0)], "numbers"),
    ],
)
def test_impossible_mesh_is_refused(vertices, faces, message: str):
    """Invalid tables give a MeshError with the reason."""
    with pytest.raises(MeshError, match=message):
        TriangleMesh(vertices, faces)


@pytest.mark.parametrize("kind", [{}, {"mass": 1.0, "density": 1.0}, {"mass": 0.0}])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_impossible_mass_is_refused(kind: dict, value: float):
    """Neither, both, or a mass or density that is not positive and finite gives a MeshError."""
    with pytest.raises(MeshError):
        mass_properties(box(), **kind)
    with pytest.raises(MeshError, match="density"):
        mass_properties(box(), density=value)


@pytest.mark.parametrize("scale", [0.0, (1, 0, 1), (1, 2), np.nan, (1, np.inf, 1)])
def test_impossible_scale_is_refused(scale):
    """A scale that flattens the mesh, or is not one or three finite numbers, is rejected."""
    with pytest.raises(MeshError, match="scale"):
        box().scaled(scale)


def test_impossible_move_is_refused():
    """A zero quaternion or a translation of two numbers is rejected."""
    with pytest.raises(MeshError, match="moved"):
        box().moved([0, 0, 0], [0, 0, 0, 0])
    with pytest.raises(MeshError, match="moved"):
        box().moved([0, 0])


def test_arrays_cannot_be_changed():
    """The arrays of a mesh are copies and read-only, since loaded meshes are shared."""
    positions = np.array(box().vertices)
    mesh = TriangleMesh(positions, box().faces)
    positions[0] = 99.0
    assert mesh.vertices.max() < 2
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 0.0


def test_import_brings_no_heavy_library():
    """Importing the package loads neither numba, MuJoCo, trimesh nor any reader's library."""
    code = "import sys, linkwork.geometry.meshes; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numba", "mujoco", "trimesh", "collada", "msgspec", "defusedxml"}
    assert not heavy & set(run.stdout.split())
