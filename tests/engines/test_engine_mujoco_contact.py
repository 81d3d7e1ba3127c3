"""Contact in the Mujoco engine: friction, restitution, collision filters."""

import math
from pathlib import Path

import numpy as np
import pytest

from engine_scenes import G, arm, block, cycle, loose, move, servo
from linkwork.core.errors import NameNotFound, Origin
from linkwork.core.mujoco_library import mujoco
from linkwork.engines.mujoco import Mujoco
from linkwork.engines.mujoco.restitution import contact_for_restitution
from linkwork.geometry import Pose
from linkwork.model.parts import (
    Anchor,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Element,
    Joint,
    Mesh,
    Part,
    Plane,
    Shape,
    Sphere,
)  # fmt: skip
from linkwork.model.scene import CollisionRules, Scene
from linkwork.session.cycle import Cycle
from mesh_files import binary_stl, box, written

# Friction


def slope(angle: float, ground: float, body: float) -> Cycle:
    """Returns a flat block on a plane tilted by ``angle``, with the friction of each."""
    tilt = Pose.of(rpy=(0.0, angle, 0.0))
    scene = Scene("test").add(Element("ground", (Plane(),), friction=ground, at=tilt))
    sledge = loose("sledge", Box((0.2, 0.2, 0.04)), friction=body)
    return cycle(scene.place(sledge, at=tilt @ Pose((0.0, 0.0, 0.02)), base="free"))


@pytest.mark.capability(9, 85, 18)
@pytest.mark.parametrize("mu", [0.2, 0.5, 0.8])
def test_block_slides_only_where_the_slope_is_steeper_than_its_friction(mu: float) -> None:
    """At 0.97 of the friction angle it sticks, at 1.03 it slides."""
    for part, slides in ((0.97, False), (1.03, True)):
        ours = slope(part * math.atan(mu), mu, mu)
        move(ours, 100)
        before = ours.state.q[:3].copy()
        move(ours, 500)
        slip = float(np.linalg.norm(ours.state.q[:3] - before))
        assert slip > 0.02 if slides else slip < 1e-4


@pytest.mark.capability(9, 85, 18)
@pytest.mark.parametrize("mu", [0.1, 0.3, 0.5])
def test_sliding_block_accelerates_by_coulombs_law(mu: float) -> None:
    """a = g (sin α − μ cos α)."""
    angle = 0.6
    ours = slope(angle, mu, mu)
    move(ours, 100)
    before = float(np.linalg.norm(ours.state.v[:3]))
    move(ours, 300)
    gained = float(np.linalg.norm(ours.state.v[:3])) - before
    expected = G * (math.sin(angle) - mu * math.cos(angle))
    assert gained / (300 * ours.h) == pytest.approx(expected, rel=1e-3)


@pytest.mark.capability(85)
def test_the_smoother_of_two_surfaces_decides() -> None:
    """The smaller friction of two surfaces applies."""
    for ground, body in ((0.05, 1.0), (1.0, 0.05)):
        ours = slope(math.atan(0.1), ground, body)
        move(ours, 600)
        assert np.linalg.norm(ours.state.v[:3]) > 0.3
    ours = slope(math.atan(0.1), 1.0, 0.8)
    move(ours, 600)
    assert np.linalg.norm(ours.state.v[:3]) < 1e-4


# Rebound


def bounce(
    restitution: float,
    shape: Shape,
    *,
    ground: float = 0.0,
    step: float = 0.001,
    integrator: str = "auto",
) -> float:
    """Returns the ratio of rebound to impact velocity of a body that falls on the floor."""
    scene = Scene("test", step=step).engine("mujoco", integrator=integrator)
    scene.add(Element("ground", (Plane(),), restitution=ground))
    ball = loose("ball", shape, restitution=restitution)
    ours = cycle(scene.place(ball, at=Pose((0.0, 0.0, 0.45)), base="free"))
    fastest = 0.0
    for _ in range(round(1.0 / step)):
        ours.move()
        fastest = min(fastest, ours.state.v[2])
        if ours.state.v[2] > 0.0 and ours.state.q[2] > 0.05:
            return -float(ours.state.v[2]) / fastest
    return 0.0


@pytest.mark.capability(9, 18)
@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("shape", [Sphere(0.05), Box((0.1, 0.1, 0.1))], ids=["ball", "box"])
@pytest.mark.parametrize("integrator", ["auto", "discrete", "Euler", "RK4"])
def test_rebound_is_near_the_restitution(restitution: float, shape: Shape, integrator: str) -> None:
    """Balls and boxes rebound with the given coefficient within 0.06, with every integrator."""
    found = bounce(restitution, shape, integrator=integrator, step=0.002)
    assert found == pytest.approx(restitution, abs=0.06)


def test_the_livelier_of_two_surfaces_decides() -> None:
    """The larger restitution of two surfaces applies."""
    assert bounce(0.0, Sphere(0.05), ground=0.5) == pytest.approx(0.5, abs=0.06)
    assert bounce(0.0, Sphere(0.05)) < 0.1


def test_check_says_what_becomes_of_a_restitution() -> None:
    """The finding names the element, is of level approximated, and gives the actual value."""
    scene = Scene("test").add(Element("ground", (Plane(),)))
    ball = loose("ball", Sphere(0.05), restitution=0.95)
    scene.engine("mujoco", integrator="discrete")
    ours = cycle(scene.place(ball, at=Pose((0.0, 0.0, 0.5)), base="free"))
    (found,) = [f for f in ours.findings if "restitution" in f.text]
    assert (found.level, found.about) == ("approximated", "ball/body")
    expected = contact_for_restitution(0.95, scene.step, "discrete")[2]
    assert f"0.95 becomes about {expected:.2f}" in found.text
    rebound = bounce(0.95, Sphere(0.05), step=scene.step, integrator="discrete")
    assert rebound == pytest.approx(expected, abs=0.03)


def test_the_integrator_is_chosen_by_the_model() -> None:
    """Free bodies get "implicitfast", everything with joints "discrete"; the summary says it."""
    ball = loose("ball", Sphere(0.05))
    free = Scene("test").add(Element("ground", (Plane(),))).place(ball, base="free")
    jointed = Scene("test").place(
        Part("arm").add(
            Element("post", mass=1.0),
            block("link", (0.1, 0.1, 0.1), 1.0),
            Joint("J", "hinge", "post", "link"),
        )
    )
    for scene, integrator in ((free, "implicitfast"), (jointed, "discrete")):
        ours = cycle(scene)
        engine = ours.engines[0]
        assert isinstance(engine, Mujoco)
        assert engine.model.mj.opt.integrator == int(
            getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        )
        assert integrator in engine.summary()


# Collision filters


def crossed(collide: CollisionRules, **more: str) -> Cycle:
    """Returns two jointed links that overlap, in a scene with the given filter."""
    part = Part("part").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        block("link", (0.1, 0.1, 0.1), 1.0),
        block("tip", (0.1, 0.1, 0.1), 1.0, **more),
        Joint("J1", "slider", "post", "link", at=Pose((0.05, 0.0, 0.0))),
        Joint("J2", "slider", "link", "tip", at=Pose((0.04, 0.0, 0.0))),
    )
    return cycle(Scene("test", gravity=(0.0, 0.0, 0.0), collide=collide).place(part))


def touching(ours: Cycle) -> set[tuple[str, str]]:
    """Returns the names of the elements in contact after a step."""
    ours.move()
    names = ours.world.element_names
    return {tuple(sorted((names[int(r[2])], names[int(r[3])]))) for r in ours.contacts()}  # type: ignore[misc]


def test_joined_bodies_do_not_touch() -> None:
    """Neighbors may overlap; bodies further along the chain collide."""
    assert touching(crossed(CollisionRules())) == {("part/post", "part/tip")}


def test_collide_table_decides_who_touches() -> None:
    """``joined`` lets neighbors collide, ``never`` and ``always`` name pairs and groups."""
    pairs = {("part/link", "part/post"), ("part/link", "part/tip"), ("part/post", "part/tip")}
    assert touching(crossed(CollisionRules(joined=True))) == pairs
    assert touching(crossed(CollisionRules(never=(("part/post", "part/tip"),)))) == set()
    assert touching(crossed(CollisionRules(never=(("part", "part"),)))) == set()
    always = CollisionRules(always=(("part/link", "part/post"),))
    assert touching(crossed(always)) == {("part/link", "part/post"), ("part/post", "part/tip")}
    group = CollisionRules(never=(("part/post", "soft"),))
    assert touching(crossed(group, group="soft")) == set()


def test_unknown_name_in_the_collide_table_is_refused() -> None:
    """The message lists existing names, and the origin of the table."""
    collide = CollisionRules(never=(("part/post", "part/tipp"),), origin=Origin("scene.toml", 12))
    with pytest.raises(NameNotFound, match=r"scene.toml:12: .*'part/tipp'.*part/tip"):
        crossed(collide)


def test_snapped_parts_do_not_touch_and_scenery_under_an_arm_does() -> None:
    """An attached part overlaps its parent; an arm's link lies on the ground."""
    table = Part("table").add(block("top", (0.4, 0.4, 0.04), 5.0), Anchor("spot", "top"))
    scene = Scene("test").place(table, at=Pose((0.0, 0.0, 0.1)))
    scene.place(arm(), on="table/spot").add(Element("ground", (Plane(),)))
    ours = cycle(scene)
    ours.state.q[0] = 1.4
    ours.refresh()
    move(ours, 400)
    assert touching(ours) == {("arm/link", "ground")}


def test_infinite_masses_do_not_touch_each_other() -> None:
    """A kinematic platform may move through scenery."""
    lift = Part("lift").add(
        Element("base", mass=1.0),
        block("plate", (0.3, 0.3, 0.05), 1.0),
        Joint("Z", "slider", "base", "plate"),
    )
    scene = Scene("test").place(lift).add(block("wall", (0.3, 0.3, 0.3), 0.0))
    scene.place(loose("ball", Sphere(0.05)), at=Pose((2.0, 0.0, 1.0)), base="free")
    scene.engine("kinematic", owns=["lift"]).engine("mujoco")
    assert touching(cycle(scene)) == set()


# Shapes


@pytest.mark.parametrize(
    ("shape", "height"),
    [
        (Box((0.1, 0.1, 0.08)), 0.04),
        (Cylinder(0.05, 0.08), 0.04),
        (Sphere(0.04), 0.04),
        (Capsule(0.02, 0.1, at=Pose.of(rpy=(math.pi / 2.0, 0.0, 0.0))), 0.02),
        (Cone(0.06, 0.08), 0.04),
        (Cone(0.06, 0.08, 0.03), 0.04),
        (Plane((0.1, 0.1)), 0.02),
    ],
    ids=["box", "cylinder", "sphere", "capsule", "cone", "cut cone", "plane as slab"],
)
@pytest.mark.parametrize("ground", [Plane(), Box((2.0, 2.0, 0.2), at=Pose((0.0, 0.0, -0.1)))],
                         ids=["on plane", "on box"])  # fmt: skip
def test_every_shape_lies_on_the_ground(shape: Shape, height: float, ground: Shape) -> None:
    """It comes to rest at its own height; the contacts carry its weight."""
    scene = Scene("test").add(Element("ground", (ground,)))
    scene.place(loose("thing", shape), at=Pose((0.0, 0.0, height + 0.005)), base="free")
    ours = cycle(scene)
    move(ours, 400)
    assert ours.state.q[2] == pytest.approx(height, abs=1e-3)
    # MuJoCo's contact points of a cylinder on a box move from step to step, with any integrator
    wandering = isinstance(shape, Cylinder) and isinstance(ground, Box)
    assert ours.contacts()[:, 11].sum() == pytest.approx(G, rel=1e-2 if wandering else 1e-3)


def test_meshes_touch_by_their_hull_and_scenery_may_be_one_without_mass(tmp_path: Path) -> None:
    """A cube from a file lies on a slab from a file that has neither mass nor density."""
    file = str(written(tmp_path, "cube.stl", binary_stl(box(1.0, 1.0, 1.0))))
    slab = Element("ground", (Mesh(file, scale=(2.0, 2.0, 0.2), at=Pose((0.0, 0.0, -0.1))),))
    cube = loose("cube", Mesh(file, scale=(0.1, 0.1, 0.1)), mass=0.5)
    scene = Scene("test").add(slab).place(cube, at=Pose((0.0, 0.0, 0.06)), base="free")
    ours = cycle(scene)
    move(ours, 400)
    assert ours.state.q[2] == pytest.approx(0.05, abs=1e-3)
    assert {f.about for f in ours.findings if "convex hull" in f.text} == {"ground", "cube/body"}


def test_plane_on_a_moving_body_carries_others() -> None:
    """A plane as a tray, held by a servo, carries a ball."""
    tray = Part("tray").add(
        Element("base", mass=1.0),
        Element("top", (Plane((0.5, 0.5)),), mass=1.0),
        Joint("Z", "slider", "base", "top", at=Pose((0.0, 0.0, 0.5)),
              drive=servo(kp=1e5, kd=1e3)),
    )  # fmt: skip
    scene = Scene("test").place(tray)
    scene.place(loose("ball", Sphere(0.05)), at=Pose((0.0, 0.0, 0.56)), base="free")
    ours = cycle(scene)
    move(ours, 400)
    assert ours.state.q[3] == pytest.approx(0.55, abs=1e-3)
    assert [f.about for f in ours.findings if "slab" in f.text] == ["tray/top"]


def test_stack_of_boxes_stands_still() -> None:
    """Six boxes with a heavy one on top neither sink nor creep."""
    scene = Scene("test").add(Element("ground", (Plane(),)))
    for n in range(6):
        mass = 10.0 if n == 5 else 1.0
        at = Pose((0.003 * (-1) ** n, 0.0, 0.05 + 0.1 * n))
        scene.place(loose(f"box{n}", Box((0.1, 0.1, 0.1)), mass), at=at, base="free")
    ours = cycle(scene)
    move(ours, 500)
    before = ours.state.q.copy()
    move(ours, 250)
    assert np.abs(ours.state.q - before).max() < 5e-4
    assert ours.contacts()[:, 10].max() < 1e-3
