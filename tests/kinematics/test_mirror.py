"""Mirrored postures: every link is at the mirror image of its partner, whatever the names."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.errors import SceneError
from linkwork.kinematics import forward
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.mirror import Mirror, find_mirror
from linkwork.model.parts import Box
from linkwork.model.world import World, compile_scene

BOX = (Box((0.05, 0.05, 0.05)),)


def dofs_of(world: World) -> list[int]:
    return [dof for dof in range(world.nv) if world.kind[world.dof_body[dof]] not in (BALL, FREE)]


def q_of(world: World, values: dict[int, float]) -> np.ndarray:
    q = world.q0.copy()
    for dof, value in values.items():
        body = int(world.dof_body[dof])
        q[int(world.qadr[body]) + dof - int(world.vadr[body])] = value
    return q


def names(world: World, found: Mirror) -> dict[str, tuple[str, float]]:
    return {world.dof_name(a): (world.dof_name(b), s) for a, (b, s) in found.images.items()}


@pytest.mark.capability(172)
def test_the_mirrored_humanoid_stands_where_the_mirror_shows_it() -> None:
    """For random postures each link is at the reflected position of its partner."""
    world = compile_scene(lw.Scene("s").place(lw.load_part("bioloid/humanoid"), name="r"))
    dofs, rng = dofs_of(world), np.random.default_rng(1)
    found = find_mirror(world, dofs)
    assert (found.normal, found.offset, found.left_out) == ((0.0, 1.0, 0.0), 0.0, ())
    assert names(world, found)["r/neck"] == ("r/neck", -1.0)
    assert names(world, found)["r/left_knee"] == ("r/right_knee", 1.0)
    trunk = forward(world, world.q0)[world.body("r/trunk")]
    for _ in range(20):
        values = dict(zip(dofs, rng.uniform(-0.5, 0.5, len(dofs)), strict=True))
        poses, images = (forward(world, q_of(world, v)) for v in (values, found.of(values)))
        for body, name in enumerate(world.body_names):
            if not name.startswith("r/"):
                continue
            swap = name.replace("left", "\0").replace("right", "left").replace("\0", "right")
            there = images[world.body(swap)][:3] - trunk[:3]
            np.testing.assert_allclose(there * (1, -1, 1), poses[body][:3] - trunk[:3], atol=1e-9)
        assert found.of(found.of(values)) == pytest.approx(values)


def beast(*, mirrored: bool = True) -> lw.Part:
    """Returns a body with a slider and a universal joint at each side, with meaningless names."""
    part = lw.Part("beast").add(lw.Element("a", BOX, mass=1.0))
    for side, (one, other) in ((1.0, "pq"), (-1.0, "xy")):
        high = 0.2 if mirrored or side > 0 else 0.3
        part.add(
            lw.Element(one, BOX, mass=1.0),
            lw.Element(other, BOX, mass=1.0),
            lw.Joint(
                f"s{one}", "slider", "a", one, at=lw.Pose((0.1, side * 0.3, 0.0)), axis=(0, 1, 0)
            ),
            lw.Joint(f"u{other}", "universal", one, other, at=lw.Pose((0.0, side * 0.1, high))),
        )
    return part


def test_sliders_and_universal_joints_have_images_too() -> None:
    """Signs follow from the axes: both sliders point to +y, so the image is negated."""
    world = compile_scene(lw.Scene("s").place(beast(), name="b"))
    found = find_mirror(world, dofs_of(world))
    reported = names(world, found)
    assert reported["b/sp"] == ("b/sx", -1.0)
    first, second = reported["b/uq.angle1"], reported["b/uq.angle2"]
    assert {first[0], second[0]} == {"b/uy.angle1", "b/uy.angle2"}
    q = dict(zip(dofs_of(world), (0.02, 0.3, -0.2, 0.05, 0.1, 0.4), strict=True))
    poses, images = (forward(world, q_of(world, v)) for v in (q, found.of(q)))
    for one, other in (("p", "x"), ("q", "y"), ("x", "p"), ("y", "q")):
        here, there = poses[world.body(f"b/{one}")], images[world.body(f"b/{other}")]
        np.testing.assert_allclose(there[:3] * (1, -1, 1), here[:3], atol=1e-9)


def test_what_has_no_image_is_said() -> None:
    """An asymmetric robot is rejected; a partly symmetric one reports the rest."""
    world = compile_scene(lw.Scene("s").place(beast(mirrored=False), name="b"))
    dofs = dofs_of(world)
    sliders = find_mirror(world, dofs)  # a slider has no position, only a direction
    assert {world.dof_name(dof) for dof in sliders.images} >= {"b/sp", "b/sx"}
    # A vertical axis has no height; a horizontal one does.
    assert {world.dof_name(dof) for dof in sliders.left_out} == {"b/uq.angle2", "b/uy.angle2"}
    skew = lw.Part("k").add(
        lw.Element("a", BOX, mass=1.0),
        lw.Element("b", BOX, mass=1.0),
        lw.Joint("j", "hinge", "a", "b", axis=(0.36, 0.48, 0.8), at=lw.Pose((0.1, 0.2, 0.3))),
    )
    world = compile_scene(lw.Scene("s").place(skew, name="k"))
    with pytest.raises(SceneError, match="no plane mirrors these joints: k/j"):
        find_mirror(world, dofs_of(world))
    with pytest.raises(SceneError, match="no joint to mirror"):
        find_mirror(world, [])
