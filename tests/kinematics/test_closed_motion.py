"""Measures, holding efforts and workspaces with loops and couplings, by closed forms."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from kinematics.test_inverse import BENT, arm, at
from linkwork.core.errors import LinkworkError
from linkwork.dynamics import crba, holding_efforts
from linkwork.dynamics.holding_efforts import Load
from linkwork.dynamics.measures import dynamic_manipulability
from linkwork.geometry import Pose
from linkwork.kinematics import PositionTask, PostureTask, Solver, forward
from linkwork.kinematics.measures import closed_jacobian, manipulability
from linkwork.kinematics.workspace import workspace
from linkwork.model.parts import Anchor, Box, Coupling, Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from looped_arm import looped_arm
from mechanism_reference import coupler_point, three_spheres
from mechanisms import four_bar

FOUR_BAR = compile_scene(lw.load_scene("mechanisms/four_bar"))
DELTA = compile_scene(lw.load_scene("mechanisms/delta"))
HEXAPOD = compile_scene(lw.load_scene("mechanisms/hexapod"))
MOTORS = [f"robot/arm{n}/drive" for n in (1, 2, 3)]
STROKES = [f"hexapod/leg{n}/stroke" for n in range(1, 7)]
ACROSS = 1e-6


def slopes(of: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """Returns derivatives by central differences (one column per unknown)."""
    steps = ACROSS * np.eye(len(x))
    return np.array([(of(x + s) - of(x - s)) / (2 * ACROSS) for s in steps]).T


def with_joints(world: World, values: dict[str, float]) -> np.ndarray:
    """Returns the closed posture with given joint values."""
    answer = Solver(world, [PostureTask(values, tolerance=1e-10)]).solve()
    assert answer.reached, answer
    return answer.q


def heights(world: World, q: np.ndarray) -> float:
    """Returns the potential energy [J] from the centers of mass."""
    pose = forward(world, q)
    total = 0.0
    for b in range(1, world.nb):
        here = Pose(tuple(pose[b, :3]), tuple(pose[b, 3:]))
        total += 9.81 * world.mass[b] * here.apply(world.com[b])[2]
    return total


def platform(angles: np.ndarray) -> np.ndarray:
    """Returns the position of the delta's platform from its lever angles."""
    rows = []
    for n, angle in enumerate(angles):
        out, azimuth = 0.11 + 0.16 * math.cos(angle) - 0.045, 2 * math.pi * n / 3
        rows.append(
            (out * math.cos(azimuth), out * math.sin(azimuth), 0.62 - 0.16 * math.sin(angle))
        )
    return three_spheres(np.array(rows), 0.34)


@pytest.mark.capability(113)
@pytest.mark.parametrize("angle", [0.4, 1.3, 2.9])
def test_the_pen_of_a_four_bar_moves_as_its_curve_does(angle: float) -> None:
    """One nonzero length, |dp/dθ| of the closed form per unit crank velocity."""
    q = with_joints(FOUR_BAR, {"linkage/shaft": angle})
    slope = slopes(lambda x: coupler_point(float(x[0])), np.array([angle]))[:, 0]
    made = manipulability(FOUR_BAR, q, "linkage/pen")
    assert made.lengths == pytest.approx([np.hypot(*slope), 0.0, 0.0], abs=1e-7)
    assert abs(made.axes[[0, 2], 0] @ slope) == pytest.approx(np.hypot(*slope), abs=1e-7)
    force = manipulability(FOUR_BAR, q, "linkage/pen", kind="force")
    assert force.lengths[-1] == pytest.approx(1.0 / np.hypot(*slope), rel=1e-6)
    # by another joint: the same motion per unit of its own velocity
    by = with_joints(FOUR_BAR, {"linkage/shaft": angle + ACROSS})
    pivot = FOUR_BAR.qadr[FOUR_BAR.joint_body[FOUR_BAR.joint("linkage/pivot")]]
    rate = (by - q)[pivot] / ACROSS
    other = manipulability(FOUR_BAR, q, "linkage/pen", joints=["linkage/pivot"])
    assert other.lengths[0] == pytest.approx(np.hypot(*slope) / abs(rate), rel=1e-4)


@pytest.mark.capability(113)
@pytest.mark.parametrize("angles", [(0.3, 0.3, 0.3), (0.1, 0.5, 0.9)])
def test_the_ellipsoid_of_a_delta_is_that_of_three_spheres(angles: tuple[float, ...]) -> None:
    """dp/dθ of the intersection of three spheres: Jacobian, lengths, figure."""
    q = with_joints(DELTA, dict(zip(MOTORS, angles, strict=True)))
    truth = slopes(platform, np.array(angles))
    rows = closed_jacobian(DELTA, q, "robot/platform")
    np.testing.assert_allclose(rows[:3], truth, atol=1e-7)
    np.testing.assert_allclose(rows[3:], 0.0, atol=1e-9)  # it never tilts
    made = manipulability(DELTA, q, "robot/platform")
    np.testing.assert_allclose(made.lengths, np.linalg.svd(truth, compute_uv=False), atol=1e-7)
    assert made.figure == pytest.approx(abs(np.linalg.det(truth)), abs=1e-7)


@pytest.mark.capability(113)
def test_the_ellipsoid_of_a_hexapod_is_that_of_its_legs() -> None:
    """Leg rates are n · (v + ω × r): the Jacobian is the inverse of those six rows."""
    world = HEXAPOD
    task = PositionTask("hexapod/platform", (0.02, -0.01, 0.37), tolerance=1e-10)
    answer = Solver(world, [task]).solve()
    assert answer.reached, answer
    here = at(world, answer.q, "hexapod/platform")
    half, rows = math.radians(14), []
    for n in range(3):
        for side in (-1, 1):
            foot, top = 2 * math.pi * n / 3 + side * half, 2 * math.pi * n / 3
            top += side * (math.pi / 3 - half)
            a = (0.22 * math.cos(foot), 0.22 * math.sin(foot), 0.05)
            r = np.array(here.rotate((0.14 * math.cos(top), 0.14 * math.sin(top), 0.0)))
            leg = np.array(here.xyz) + r - a
            leg /= np.linalg.norm(leg)
            rows.append([*leg, *np.cross(r, leg)])
    truth = np.linalg.inv(rows)
    found = closed_jacobian(world, answer.q, "hexapod/platform", joints=STROKES)
    np.testing.assert_allclose(found, truth, atol=1e-7)
    np.testing.assert_allclose(
        closed_jacobian(world, answer.q, "hexapod/platform"), truth, atol=1e-7
    )
    made = manipulability(world, answer.q, "hexapod/platform", turning=True)
    np.testing.assert_allclose(made.lengths, np.linalg.svd(truth[3:], compute_uv=False), atol=1e-7)


def test_too_few_joints_are_refused() -> None:
    """Two levers of a delta do not determine its platform, which is an error."""
    q = with_joints(DELTA, dict.fromkeys(MOTORS, 0.3))
    with pytest.raises(LinkworkError, match="can still move while the named joints"):
        manipulability(DELTA, q, "robot/platform", joints=MOTORS[:2])
    with pytest.raises(LinkworkError, match="cannot hold this posture"):
        holding_efforts(DELTA, q, joints=MOTORS[:2])
    for kind in ("dynamic", "impact"):
        with pytest.raises(LinkworkError, match="can still move while the named joints"):
            dynamic_manipulability(DELTA, q, "robot/platform", kind=kind, joints=MOTORS[:2])


@pytest.mark.capability(115)
def test_the_mass_that_a_four_bar_shows_is_that_of_its_energy() -> None:
    """½ m(θ) θ̇² of all links: 1/Λ along the path is (dp/dθ)²/m, unit torque gives p'/m."""
    angle = 1.1
    q = with_joints(FOUR_BAR, {"linkage/shaft": angle})
    ahead, behind = (with_joints(FOUR_BAR, {"linkage/shaft": angle + s}) for s in (ACROSS, -ACROSS))
    rate = (ahead - behind) / (2 * ACROSS)
    mass = rate @ crba(FOUR_BAR, q) @ rate
    slope = np.hypot(*slopes(lambda x: coupler_point(float(x[0])), np.array([angle]))[:, 0])
    impact = dynamic_manipulability(FOUR_BAR, q, "linkage/pen", kind="impact")
    assert impact.lengths[np.isfinite(impact.lengths)] == pytest.approx([mass / slope**2], rel=1e-4)
    simple = dynamic_manipulability(FOUR_BAR, q, "linkage/pen")
    assert simple.lengths == pytest.approx([slope / mass, 0.0, 0.0], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("world", "drives", "values"),
    [
        (FOUR_BAR, ["linkage/shaft"], [0.7]),
        (DELTA, MOTORS, [0.1, 0.5, 0.9]),
        (HEXAPOD, STROKES, [0.01, -0.02, 0.0, 0.02, 0.01, -0.01]),
    ],
    ids=["four-bar", "delta", "hexapod"],
)
def test_drives_hold_what_the_energy_asks_for(
    world: World, drives: list[str], values: list[float]
) -> None:
    """τ = dV/dθ at the drives of closed postures, also with a force at the end point."""
    tip = {1: "linkage/pen", 3: "robot/platform", 6: "hexapod/platform"}[len(drives)]
    force = np.array([1.5, 0.0, -2.0])

    def energy(x: np.ndarray) -> np.ndarray:
        q = with_joints(world, dict(zip(drives, x, strict=True)))
        return np.array([heights(world, q) - force @ at(world, q, tip).xyz])

    x = np.array(values)
    steps = 1e-5 * np.eye(len(x))
    truth = np.array([(energy(x + s) - energy(x - s))[0] / 2e-5 for s in steps])
    q = with_joints(world, dict(zip(drives, values, strict=True)))
    found = holding_efforts(
        world, q, loads=[Load(tip, force=tuple(force))], joints=drives, gravity=(0, 0, -9.81)
    )  # fmt: skip
    dofs = [world.single_dof(name) for name in drives]
    np.testing.assert_allclose(found[dofs], truth, atol=1e-5 * max(1.0, np.abs(truth).max()))
    assert np.count_nonzero(found) == len(drives)
    alone = holding_efforts(world, q, loads=[Load(tip, force=tuple(force))], gravity=(0, 0, -9.81))
    np.testing.assert_allclose(alone, found, atol=1e-9)  # no joints named: the drives hold


def test_joints_without_a_drive_hold_what_they_are_named_for() -> None:
    """One pivot alone gives dV/dφ of its angle; all together do the same work with less."""
    q = with_joints(FOUR_BAR, {"linkage/shaft": 0.7})
    ahead, behind = (with_joints(FOUR_BAR, {"linkage/shaft": 0.7 + s}) for s in (1e-5, -1e-5))
    rate = (ahead - behind) / 2e-5
    slope = (heights(FOUR_BAR, ahead) - heights(FOUR_BAR, behind)) / 2e-5
    gravity = (0, 0, -9.81)
    pivot = FOUR_BAR.single_dof("linkage/pivot")
    found = holding_efforts(FOUR_BAR, q, joints=["linkage/pivot"], gravity=gravity)
    assert found[pivot] == pytest.approx(slope / rate[pivot], rel=1e-5)
    assert np.count_nonzero(found) == 1
    names = [name for name in FOUR_BAR.joint_names if len(FOUR_BAR.dofs(name))]
    spread = holding_efforts(FOUR_BAR, q, joints=names, gravity=gravity)
    # the least-squares solution for this work is along the rates
    np.testing.assert_allclose(spread, slope * rate / (rate @ rate), atol=1e-5 * abs(slope))
    assert np.count_nonzero(spread) == 3
    assert np.linalg.norm(spread) < np.linalg.norm(found)


def test_loops_and_drives_say_nothing_of_what_stands_beside_them() -> None:
    """A free box or an arm without drives holds itself; the delta is unaffected."""
    scene = lw.load_scene("mechanisms/delta")
    box = Part("box").add(Element("box", (Box(size=(0.1, 0.1, 0.1)),), mass=2.0))
    scene.place(box, name="box", base="free", at=Pose((1.0, 0.0, 0.5)))
    scene.place(arm(), name="arm", base="fixed", at=Pose((2.0, 0.0, 0.0)))
    world = compile_scene(scene)
    gravity = (0, 0, -9.81)
    made = holding_efforts(world, world.q0, gravity=gravity)
    alone = holding_efforts(DELTA, DELTA.q0, gravity=gravity)
    for name in MOTORS:
        assert made[world.single_dof(name)] == pytest.approx(alone[DELTA.single_dof(name)])
    loose = [d for d in range(world.nv) if world.body_part[world.dof_body[d]] == "box"]
    assert made[loose] == pytest.approx([0, 0, 2 * 9.81, 0, 0, 0], abs=1e-9)
    tree = compile_scene(Scene("s").place(arm(), name="arm", base="fixed"))
    mine = [world.single_dof(f"arm/j{n}") for n in range(7)]
    np.testing.assert_allclose(
        made[mine], holding_efforts(tree, tree.q0, gravity=gravity), atol=1e-9
    )


def test_an_arm_before_a_driven_loop_counts_joint_by_joint() -> None:
    """Its flange has the ellipsoid of the arm alone, although only the loop is driven."""
    world = compile_scene(Scene("s").place(looped_arm(), name="a", base="fixed"))
    tree = compile_scene(Scene("s").place(arm(), name="a", base="fixed"))
    q = world.q0.copy()
    q[[world.qadr[world.joint_body[world.joint(f"a/j{n}")]] for n in range(7)]] = BENT
    made = manipulability(world, q, "a/tool")
    np.testing.assert_allclose(made.jacobian, manipulability(tree, BENT, "a/tool").jacobian)
    assert closed_jacobian(world, q, "a/rod").shape == (6, 8)


def tilted(angle: float, *, driven: bool = True) -> World:
    """Returns a planar four-bar whose last hinge is skew."""
    part = four_bar(turned=angle)
    if driven:
        part.joints["A"] = replace(part.joints["A"], drive=Spec("actuator", "servo"))
    return compile_scene(Scene("s").place(part, name="p", base="fixed"))


@pytest.mark.parametrize("driven", [True, False])
def test_a_loop_that_leaves_nothing_free_is_refused(driven: bool) -> None:
    """Skew by rounding of a file it moves as if planar; skew by more is an error."""
    flat, nearly, askew = (tilted(angle, driven=driven) for angle in (0.0, 1e-8, 1e-3))
    true = manipulability(flat, flat.q0, "p/rocker", point=(0.2, 0, 0)).lengths
    assert true[0] > 0.01
    found = manipulability(nearly, nearly.q0, "p/rocker", point=(0.2, 0, 0)).lengths
    np.testing.assert_allclose(found, true, atol=1e-6)
    efforts = holding_efforts(nearly, nearly.q0)
    np.testing.assert_allclose(efforts, holding_efforts(flat, flat.q0), atol=1e-5)
    assert np.abs(efforts).max() > 0.1
    for ask in (manipulability, dynamic_manipulability):
        with pytest.raises(LinkworkError, match="'p/C' leaves no degree of freedom"):
            ask(askew, askew.q0, "p/rocker")
    with pytest.raises(LinkworkError, match=r"leaves no degree of freedom|do not close"):
        workspace(askew, "p/rocker", 10)
    with pytest.raises(LinkworkError, match="'p/C' leaves no degree of freedom"):
        holding_efforts(askew, askew.q0)


def test_a_leader_counts_and_holds_for_its_followers() -> None:
    """Two hinges with b = −2 a: the tip moves on a line through the shoulder; torque is −dV/da."""
    part = Part("p").add(Element("stand", mass=1.0))
    for name, before, x in (("upper", "stand", 0.0), ("lower", "upper", 0.5)):
        part.add(Element(name, (Box(size=(0.5, 0.1, 0.1), at=Pose((0.25, 0, 0))),), mass=2.0))
        part.add(Joint(f"{name}_j", "hinge", before, name, at=Pose((x, 0, 0)), axis=(0, -1, 0)))
    part.add(Anchor("tip", "lower", at=Pose((0.5, 0.0, 0.0))))
    part.add(Coupling("lower_j", "upper_j", ratio=-2.0))
    world = compile_scene(Scene("s").place(part, name="p", base="fixed"))
    a = 0.6
    q = np.array([a, -2 * a])
    made = manipulability(world, q, "p/tip")
    assert made.lengths == pytest.approx([2 * 0.5 * math.sin(a), 0.0, 0.0], abs=1e-8)
    assert made.jacobian.shape == (3, 1)
    efforts = holding_efforts(world, q, gravity=(0, 0, -9.81))
    # centers at ¼ and at ½ − ¼ along the links, at the heights ± sin a
    height = 2.0 * 9.81 * math.cos(a) * (0.25 + 0.5 - 0.25)
    assert efforts == pytest.approx([height, 0.0], abs=1e-9)


@pytest.mark.capability(127)
def test_the_workspace_of_a_four_bars_pen_is_its_curve() -> None:
    """All positions are on the closed curve, and every part of it is reached."""
    cloud = workspace(FOUR_BAR, "linkage/pen", 2000)
    shaft = np.array(at(FOUR_BAR, FOUR_BAR.q0, "linkage/crank").xyz)
    curve = np.array([coupler_point(x) for x in np.linspace(0, 2 * math.pi, 4000)])
    far = cloud[:, None, [0, 2]] - shaft[[0, 2]] - curve[None]
    tolerance = np.hypot(far[..., 0], far[..., 1])
    assert tolerance.min(axis=1).max() < 1e-3  # never in the other assembly
    assert np.histogram(tolerance.argmin(axis=1), bins=16, range=(0, 4000))[0].min() > 80


@pytest.mark.capability(127)
def test_every_place_of_a_deltas_workspace_is_one_that_its_arms_reach() -> None:
    """Each lever's end is 0.34 m from the position for some angle in its range."""
    cloud = workspace(DELTA, "robot/platform", 300)
    reach = np.linspace(-math.pi, math.pi, 4001)
    for n in range(3):
        azimuth = 2 * math.pi * n / 3
        out = 0.11 + 0.16 * np.cos(reach) - 0.045
        ends = np.column_stack(
            [out * math.cos(azimuth), out * math.sin(azimuth), 0.62 - 0.16 * np.sin(reach)]
        )
        far = np.linalg.norm(cloud[:, None] - ends[None], axis=2)
        assert (np.abs(far - 0.34).min(axis=1) < 2e-3).all()
    assert np.ptp(cloud, axis=0).min() > 0.1
