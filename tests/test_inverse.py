"""Inverse kinematics: every kind of task against finite differences, closed forms and numpy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.errors import LinkworkError
from linkwork.kinematics import (
    AlignTask,
    CentreOfMassTask,
    CouplingTask,
    Damping,
    DistanceTask,
    LookAtTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
    Task,
    forward,
    integrate,
    solve,
)
from linkwork.parts import Anchor, Box, Coupling, Element, Joint, Part
from linkwork.scene import Scene
from linkwork.spatial import Pose
from linkwork.world import World, compile_scene

AXES = [(0, 0, 1), (0, 1, 0), (0, 0, 1), (0, -1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)]
HEIGHTS = [0.36, 0.0, 0.42, 0.0, 0.40, 0.0, 0.0]
RANGES = [170, 120, 170, 120, 170, 120, 175]


def arm(*, base: str = "fixed", joints: int = 7, name: str = "arm") -> Part:
    """An S-R-S arm of seven hinges (iiwa's lengths), or its first joints."""
    part = Part(name).add(Element("base", (Box(size=(0.2, 0.2, 0.1)),), mass=4.0))
    for n in range(joints):
        part.add(Element(f"l{n}", (Box(size=(0.1, 0.1, 0.2), at=Pose((0, 0.02, 0.1))),), mass=2.0))
        most = math.radians(RANGES[n])
        part.add(
            Joint(
                f"j{n}", "hinge", "base" if n == 0 else f"l{n - 1}", f"l{n}",
                at=Pose((0.0, 0.0, HEIGHTS[n])), axis=AXES[n], range=(-most, most), max_speed=2.0,
            )
        )  # fmt: skip
    part.add(Anchor("tool", f"l{joints - 1}", at=Pose((0.0, 0.0, 0.126))))
    return part


def world_of(*, base: str = "fixed", joints: int = 7) -> World:
    return compile_scene(Scene("s").place(arm(joints=joints), name="a", base=base))


WORLD = world_of()
FLOATING = world_of(base="free")
BENT = np.array([0.3, 0.5, -0.2, -1.1, 0.4, 0.7, 0.1])


def at(world: World, q: np.ndarray, name: str = "a/tool") -> Pose:
    """Pose of a frame."""
    body, local = world.frame(name)
    row = forward(world, q)[body]
    return Pose(tuple(row[:3]), tuple(row[3:])) @ local


GOAL = Pose.of((0.35, 0.25, 0.7), rpy=(0.4, 1.2, -0.3))
TASKS: dict[str, Task] = {
    "pose": PoseTask("a/tool", GOAL, point=(0.02, 0.01, 0.05)),
    "pose by axis": PoseTask("a/tool", GOAL, position=(1.0, 2.0, 0.0), orientation=(1.0, 0.0, 1.0)),
    "twist": PoseTask("a/tool", GOAL, error="twist"),
    "relative": PoseTask("a/tool", Pose.of((0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0)), relative_to="a/l2"),
    "relative twist": PoseTask("a/tool", Pose((0.1, 0.2, 0.3)), relative_to="a/l2", error="twist"),
    "position": PositionTask("a/l3", (0.2, 0.1, 0.8), point=(0.0, 0.0, 0.2), weight=2.0),
    "orientation": OrientationTask("a/tool", GOAL),
    "axis": AlignTask("a/tool", axis=(0, 0, 1), direction=(1, 0, -1)),
    "axis of a link": AlignTask("a/tool", direction=(1, 0, 1), relative_to="a/l1"),
    "view": LookAtTask("a/tool", (1.0, 0.5, 0.4), axis=(0, 0, 1)),
    "view of a link": LookAtTask("a/tool", (0.0, 0.0, 0.2), at="a/l1"),
    "centre of mass": CentreOfMassTask((0.1, 0.1, 0.5), weight=(1.0, 2.0, 0.5)),
    "coupling": CouplingTask(ratios={"a/j1": 1.0, "a/j3": -0.5}, offset=0.2),
    "distance": DistanceTask("a/tool", "a/l0", 0.5, point=(0.0, 0.1, 0.0)),
    "distance to a place": DistanceTask("a/tool", distance=0.3, other_point=(0.4, 0.0, 0.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("world", [WORLD, FLOATING], ids=["fixed", "floating"])
def test_rows_are_the_derivatives_of_errors(world: World, name: str) -> None:
    """rows · v = −d(error)/dt, to first order in the error for turns (exactly for a twist)."""
    task = TASKS[name]
    solver = Solver(world, [task])
    rng = np.random.default_rng(3)
    exact = not isinstance(task, PoseTask | OrientationTask) or "twist" in name
    q = integrate(world, world.q0, rng.uniform(-0.6, 0.6, world.nv), 1.0)
    if not exact:  # the rotation vector's own rate is its turn's only where it is short
        near = integrate(world, q, rng.uniform(-1e-4, 1e-4, world.nv), 1.0)
        root = at(world, near, "a/l2") if name == "relative" else Pose()
        point = Pose.of(task.point) if isinstance(task, PoseTask) else Pose()
        solver.aim(root.inverse() @ at(world, near) @ point)
    rows, _ = solver.rows(q)
    h = 1e-6
    for column, dof in enumerate(solver.columns.dof):
        v = np.zeros(world.nv)
        v[dof] = 1.0
        ahead = solver.rows(integrate(world, q, v, h))[1]
        behind = solver.rows(integrate(world, q, v, -h))[1]
        expected = (behind - ahead) / (2.0 * h)
        if isinstance(task, AlignTask | LookAtTask):  # the turn about the axis itself is free
            axis = np.array(at(world, q).rotate(getattr(task, "axis", (1, 0, 0))))
            _, error = solver.rows(q)
            lever = error / np.linalg.norm(error)
            assert rows[:, column] @ lever == pytest.approx(expected @ lever, abs=1e-6)
            assert abs(rows[:, column] @ axis) < 1.0
            continue
        np.testing.assert_allclose(rows[:, column], expected, atol=2e-4 if not exact else 1e-6)


def test_two_centres_of_mass_have_rows_of_their_own() -> None:
    """That of an arm and that of all, the one as if the other were not there."""
    scene = Scene("pair").place(arm(), name="a", base="fixed")
    scene.place(arm(), name="b", base="fixed", at=Pose((0.0, 1.0, 0.0)))
    world = compile_scene(scene)
    q = integrate(world, world.q0, np.full(world.nv, 0.3), 1.0)
    one, both = CentreOfMassTask((0, 0, 0), part="a"), CentreOfMassTask((0, 0, 0))
    together = Solver(world, [one, both]).rows(q)[0]
    joints = Solver(world, [both]).columns.dof
    assert list(Solver(world, [one, both]).columns.dof) == list(joints)
    np.testing.assert_allclose(together[3:], Solver(world, [both]).rows(q)[0], atol=1e-14)
    own = list(Solver(world, [one]).columns.dof)
    mine = [list(joints).index(dof) for dof in own]
    np.testing.assert_allclose(together[:3, mine], Solver(world, [one]).rows(q)[0], atol=1e-14)


@pytest.mark.parametrize("name", TASKS)
def test_every_kind_of_task_is_reached(name: str) -> None:
    """A target that some posture fulfils is found from another posture."""
    task = TASKS[name]
    if name in ("relative", "relative twist"):
        body = at(WORLD, BENT, "a/l2").inverse() @ at(WORLD, BENT)
        task = PoseTask(
            "a/tool", body, relative_to="a/l2", error="twist" if "twist" in name else "split"
        )
    if name == "centre of mass":
        task = CentreOfMassTask(com(WORLD, BENT))
    answer = Solver(WORLD, [task]).solve()
    assert answer.reached, answer
    assert (answer.q >= WORLD.dof_lo).all()
    assert (answer.q <= WORLD.dof_hi).all()


def com(world: World, q: np.ndarray) -> np.ndarray:
    """Centre of mass of all moving bodies, with numpy."""
    pose = forward(world, q)
    total, mass = np.zeros(3), 0.0
    for b in range(1, world.nb):
        if not world.is_static(b):
            here = Pose(tuple(pose[b, :3]), tuple(pose[b, 3:]))
            total += world.mass[b] * np.array(here.apply(world.com[b]))
            mass += world.mass[b]
    return total / mass


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 0.99), min_size=7, max_size=7))
def test_reachable_poses_are_reached(parts: list[float]) -> None:
    """Any pose that some posture within the ranges takes is found, within the ranges."""
    q = WORLD.dof_lo + np.array(parts) * (WORLD.dof_hi - WORLD.dof_lo)
    goal = at(WORLD, q)
    answer = SEVEN.solve_many([goal])
    assert answer.reached[0]
    found = at(WORLD, answer.q[0])
    assert math.dist(found.xyz, goal.xyz) < 1e-5
    assert abs(abs(np.dot(found.quat, goal.quat)) - 1.0) < 1e-10
    assert (answer.q[0] >= WORLD.dof_lo).all()
    assert (answer.q[0] <= WORLD.dof_hi).all()


SEVEN = Solver(WORLD, [PoseTask("a/tool")])


def test_the_short_search_and_the_general_one_agree() -> None:
    """A plain pose of a plain chain takes the short way, and both reach it."""
    short = SEVEN
    assert short._chain is not None
    general = Solver(WORLD, [PoseTask("a/tool", position=1.0, orientation=1.0, lm=1e-12)])
    assert general._chain is None
    goal = at(WORLD, BENT)
    for solver in (short, general):
        solver.aim(goal)
        answer = solver.solve()
        assert answer.reached
        assert math.dist(at(WORLD, answer.q).xyz, goal.xyz) < 1e-6


@pytest.mark.parametrize("twist", [False, True])
def test_a_target_out_of_reach_gives_the_nearest_posture_and_says_so(twist: bool) -> None:
    """The arm stretches towards it: the miss is the distance to its sphere of reach."""
    task = PositionTask("a/tool", (2.0, 0.0, 0.36))
    answer = solve(WORLD, task)
    assert not answer.reached
    reach = 0.42 + 0.40 + 0.126
    assert answer.misses[0].distance == pytest.approx(2.0 - reach, abs=1e-4)
    assert "not reached" in str(answer)
    chained = solve(WORLD, PoseTask("a/tool", Pose((0.0, 0.0, 3.0)), lm=1e-12 if twist else 0.0))
    assert not chained.reached
    assert chained.misses[0].distance == pytest.approx(3.0 - 0.36 - reach, abs=2e-2)


def test_a_sub_chain_moves_alone() -> None:
    """Only the joints from the first one on move; the others stay as they are."""
    goal = at(WORLD, BENT, "a/tool").xyz
    start = np.array([0.3, 0.5, 0.0, -0.6, 0.0, 0.0, 0.0])
    solver = Solver(WORLD, [PositionTask("a/tool", goal)], first="a/j2", q=start)
    assert solver.movable == ["a/j2", "a/j3", "a/j4", "a/j5", "a/j6"]
    answer = solver.solve(start)
    assert answer.reached
    np.testing.assert_array_equal(answer.q[:2], start[:2])
    some = Solver(WORLD, [PositionTask("a/tool")], joints=["a/j1", "a/j5"])
    assert some.movable == ["a/j1", "a/j5"]


@pytest.mark.capability(117)
def test_a_control_point_lies_anywhere_on_the_arm() -> None:
    """A point beside the elbow goes where it is asked to."""
    point = (0.05, 0.0, 0.1)
    wanted = at(WORLD, BENT, "a/l3").apply(point)
    answer = solve(WORLD, PositionTask("a/l3", wanted, point=point))
    assert math.dist(at(WORLD, answer.q, "a/l3").apply(point), wanted) < 1e-6


def test_a_floating_base_moves_too() -> None:
    """Two points of a free robot are brought to places that its base has to go to."""
    solver = Solver(
        FLOATING,
        [PoseTask("a/base", Pose.of((1.0, 2.0, 3.0), rpy=(0.3, 0.2, 1.0))),
         PositionTask("a/tool", (1.3, 2.1, 3.8))],
    )  # fmt: skip
    answer = solver.solve()
    assert answer.reached
    assert math.dist(at(FLOATING, answer.q, "a/base").xyz, (1.0, 2.0, 3.0)) < 1e-5


def test_a_tick_without_limits_is_damped_least_squares() -> None:
    """v dt = (JᵀJ + λ² W)⁻¹ Jᵀ e, as numpy has it; and 003's weighted pseudo-inverse."""
    metric = np.array([1.0, 2.0, 3.0, 1.0, 5.0, 1.0, 0.5])
    solver = Solver(WORLD, [PoseTask("a/tool", GOAL)], limits=False, metric=metric)
    rows, error = solver.rows(BENT)
    for square in (1e-3, 1e-6):
        tick = solver.tick(BENT, 0.5, damping=square, speeds=False)
        left = rows.T @ rows + square * np.diag(metric)
        np.testing.assert_allclose(tick.v * 0.5, np.linalg.solve(left, rows.T @ error), atol=1e-9)
    easy = np.linalg.inv(np.diag(metric))
    weighted = easy @ rows.T @ np.linalg.solve(rows @ easy @ rows.T, error)
    exact = solver.tick(BENT, 1.0, damping=1e-9, speeds=False)
    np.testing.assert_allclose(exact.v, weighted, atol=1e-5)


def test_dampings_are_what_they_are_called() -> None:
    """λ² from the smallest singular value, by 003 eq. 3.8, or as given."""
    solver = Solver(WORLD, [PoseTask("a/tool", GOAL)])
    for q in (BENT, np.array([0.3, 0.02, 0.1, -0.03, 0.4, 0.05, 0.1])):
        rows, _ = solver.rows(q)
        sigma = np.linalg.svd(rows, compute_uv=False)[-1]
        size, far = np.linalg.norm(rows), np.linalg.norm(solver.rows(q)[1])
        edge, most = 0.1, 0.1
        part = max(0.0, 1.0 - (sigma / (edge * size)) ** 2)
        expected = part * (most**2 * size**2 + 0.25 * size * far)
        assert solver.tick(q, 0.1, damping=Damping("smallest", most, edge)).damping == (
            pytest.approx(expected, rel=1e-3, abs=1e-10)
        )
        eq38 = 0.3 / (1.0 + np.linalg.norm(rows @ rows.T))
        assert solver.tick(q, 0.1, damping=Damping("robotix", 0.3)).damping == (
            pytest.approx(eq38**2, rel=1e-9)
        )
        assert solver.tick(q, 0.1, damping=1e-3).damping == 1e-3


def test_an_axis_that_is_left_free_does_not_damp() -> None:
    """Where the other two are far from singular, weights (1, 1, 0) are met in full."""
    solver = Solver(WORLD, [PositionTask("a/tool", GOAL.xyz, weight=(1, 1, 0))], limits=False)
    step = solver.tick(BENT, 1.0)
    rows, error = solver.rows(BENT)
    assert step.damping < 1e-10
    np.testing.assert_allclose(rows @ step.v, error, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_tick_within_limits_is_the_minimum_of_its_quadratic(seed: int) -> None:
    """Karush, Kuhn and Tucker: slopes vanish between the bounds and push outwards at them."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(WORLD.dof_lo, WORLD.dof_hi)
    SIX.aim(at(WORLD, rng.uniform(WORLD.dof_lo, WORLD.dof_hi)))
    dt, square = 0.1, 1e-4
    x = SIX.tick(q, dt, damping=square).v * dt
    rows, error = SIX.rows(q)
    lo = np.maximum(WORLD.dof_lo - q, -2.0 * dt)
    hi = np.minimum(WORLD.dof_hi - q, 2.0 * dt)
    slope = rows.T @ (rows @ x - error) + square * x
    assert ((x >= lo - 1e-12) & (x <= hi + 1e-12)).all()
    inside = (x > lo + 1e-9) & (x < hi - 1e-9)
    assert np.abs(slope[inside]).max(initial=0.0) < 1e-9
    assert (slope[x <= lo + 1e-9] > -1e-9).all()
    assert (slope[x >= hi - 1e-9] < 1e-9).all()


SIX = Solver(WORLD, [PoseTask("a/tool")])


def test_nothing_breaks_at_singular_postures() -> None:
    """Stretched out, and with both wrist axes in line, steps stay small and finite."""
    for q in (np.zeros(7), np.array([0.0, 0.0, 0.0, -1e-9, 0.0, 0.0, 0.0])):
        for target in (Pose((0.0, 0.0, 5.0)), Pose((0.5, 0.0, 1.0)), at(WORLD, q)):
            SIX.aim(target)
            tick = SIX.tick(q, 0.01)
            assert np.isfinite(tick.v).all()
            assert np.abs(tick.v).max() <= 2.0 + 1e-9


def test_dragging_through_a_singular_posture_does_not_jump() -> None:
    """The tool follows a line through the stretched-out posture; no joint outruns its speed."""
    q = np.array([0.0, 0.4, 0.0, -0.9, 0.0, 0.5, 0.0])
    start = np.array(at(WORLD, q).xyz)
    solver = Solver(WORLD, [PositionTask("a/tool", start)])
    last = np.zeros(7)
    for n in range(200):
        solver.aim(start + np.array([0.0, 0.0, 0.005 * n]))
        tick = solver.tick(q, 0.02)
        assert np.isfinite(tick.v).all()
        assert np.abs(tick.q - q).max() <= 2.0 * 0.02 + 1e-12
        q, last = tick.q, tick.v
    assert np.abs(last).max() < 0.2  # stretched out, and quiet
    reach = math.dist(at(WORLD, q).xyz, (0.0, 0.0, 0.36))
    assert reach == pytest.approx(0.42 + 0.40 + 0.126, abs=2e-3)


@pytest.mark.capability(110)
def test_couplings_of_a_part_are_kept() -> None:
    """A joint that follows another moves with it, and its range counts."""
    part = arm()
    part.add(Coupling("j5", "j3", ratio=-0.5, offset=0.1))
    world = compile_scene(Scene("s").place(part, name="a", base="fixed"))
    solver = Solver(world, [PositionTask("a/tool", at(WORLD, BENT).xyz)])
    answer = solver.solve()
    assert answer.reached
    assert answer.q[5] == pytest.approx(-0.5 * answer.q[3] + 0.1, abs=1e-12)


NAN = math.nan


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (PositionTask("a/tool", (0.1, 0.2)), "a position .* has 3 numbers"),  # type: ignore[arg-type]
        (PositionTask("a/tool", (0.1, NAN, 0.2)), "finite"),
        (CentreOfMassTask((1.0, 2.0)), "a position .* has 3 numbers"),  # type: ignore[arg-type]
        (CentreOfMassTask((1.0, math.inf, 2.0)), "finite"),
        (PostureTask({"a/j1": NAN}), "finite"),
        (CouplingTask({"a/j1": 1.0}, NAN), "finite"),
        (DistanceTask("a/tool", distance=-0.1), "0 m or above"),
        (DistanceTask("a/tool", distance=NAN), "0 m or above"),
        (PoseTask("a/tool", near=-1.0), "near and near_turn"),
        (PoseTask("a/tool", gain=NAN), "gain"),
        (LookAtTask("a/tool", (NAN, 0.0, 0.0)), "finite"),
    ],
)
def test_a_task_that_says_nothing_is_refused(task: Task, said: str) -> None:
    """Before any number of it reaches a kernel, which would only give NaN."""
    with pytest.raises(LinkworkError, match=said):
        Solver(world_of(), [task])


def test_many_targets_and_starts_are_looked_at() -> None:
    """The wrong one is named; quaternions need not be of length 1."""
    world = world_of()
    solver = Solver(world, [PoseTask("a/tool")])
    good = at(world, world.q0 + 0.3).array()
    for rows, said in (
        ([good[:6]], "target 0 must be a pose or its 7 numbers"),
        ([good, good * NAN], "target 1 is not finite"),
        ([good, np.array([*good[:3], 0.0, 0.0, 0.0, 0.0])], "quaternion of target 1"),
    ):
        with pytest.raises(LinkworkError, match=said):
            solver.solve_many(rows)  # type: ignore[arg-type]
    with pytest.raises(LinkworkError, match="q must have"):
        solver.solve_many([good], q=np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(LinkworkError, match="chunk"):
        solver.solve_many([good], chunk=0)  # type: ignore[arg-type]
    longer = np.array([good, [*good[:3], *(3.0 * good[3:])]])
    answers = solver.solve_many(longer)
    assert answers.reached.all()
    assert (answers.distance < 1e-6).all()


def test_mistakes_are_told() -> None:
    """What a task or a call cannot be is said in words."""
    with pytest.raises(LinkworkError, match="no task"):
        Solver(WORLD, [])
    with pytest.raises(LinkworkError, match="a/nothing"):
        Solver(WORLD, [PoseTask("a/nothing")])
    with pytest.raises(LinkworkError, match="position"):
        Solver(WORLD, [PositionTask("a/tool", weight=-1.0)])
    with pytest.raises(LinkworkError, match="split"):
        Solver(WORLD, [PoseTask("a/tool", error="angles")])
    with pytest.raises(LinkworkError, match="dt must be finite and above 0"):
        SIX.tick(BENT, 0.0)
    with pytest.raises(LinkworkError, match="range_gain"):
        SIX.tick(BENT, 0.01, range_gain=1.5)
    with pytest.raises(LinkworkError, match="damping must be finite"):
        SIX.tick(BENT, 0.01, damping=-1.0)
    with pytest.raises(LinkworkError, match="strict"):
        SIX.tick(BENT, 0.1, scheme="fair")
    with pytest.raises(LinkworkError, match="7 numbers"):
        SIX.solve(np.zeros(3))
    with pytest.raises(LinkworkError, match="no joint may move"):
        Solver(WORLD, [PoseTask("a/tool")], joints=[])
    with pytest.raises(LinkworkError, match="constant"):
        SIX.tick(BENT, 0.1, damping=Damping("none"))
    with pytest.raises(LinkworkError, match="exactly"):
        Solver(WORLD, [DistanceTask("a/tool", keep="about")])
    assert Solver(WORLD, [PostureTask()]).solve().reached
    with pytest.raises(LinkworkError, match=r"no task 7.*0 to 0"):
        SIX.aim(GOAL, 7)
    with pytest.raises(LinkworkError, match="no task -1"):
        SIX.aim(GOAL, -1)
    with pytest.raises(LinkworkError, match=r"no value.*PoseTask"):
        SIX.want(0.1)
    with pytest.raises(LinkworkError, match=r"no target.*PostureTask"):
        Solver(WORLD, [PostureTask()]).aim(GOAL)
    far = Solver(WORLD, [DistanceTask("a/tool")])
    far.want(0.2)
    with pytest.raises(LinkworkError, match="not finite"):
        far.want(math.nan)


@pytest.mark.parametrize("along", [True, False])
def test_solving_for_many_leaves_the_own_target(along: bool) -> None:
    """By the short search and by the general one."""
    tasks: list[Task] = [PoseTask("a/tool", at(WORLD, BENT))]
    solver = Solver(WORLD, tasks if along else [*tasks, PostureTask(weight=0.01, priority=1)])
    assert solver.misses(BENT)[0].reached
    many = solver.solve_many([at(WORLD, BENT * 0.8), at(WORLD, BENT * 1.1)])
    assert many.distance.max() < 1e-4
    assert solver.misses(BENT)[0].reached


def test_many_targets_out_of_reach_get_the_nearest_posture() -> None:
    """Above the stretched arm the miss is what the arm is short of, and no turn; as ``solve``."""
    top = 0.36 + 0.42 + 0.40 + 0.126
    targets = [Pose((0.0, 0.0, top + 0.3)), at(WORLD, BENT), Pose((0.9, 0.7, 0.2))]
    solver = Solver(WORLD, [PoseTask("a/tool")])
    start = np.full(7, 0.2)
    answers = solver.solve_many(targets, q=start)
    assert answers.reached.tolist() == [False, True, False]
    assert answers.distance[0] == pytest.approx(0.3, abs=1e-6)
    assert answers.angle[0] == pytest.approx(0.0, abs=1e-4)
    for n, target in enumerate(targets):
        there = at(WORLD, answers.q[n])
        assert math.dist(there.xyz, target.xyz) == pytest.approx(answers.distance[n], abs=1e-9)
    solver.aim(targets[2])
    one = solver.solve(start).misses[0]
    many = answers.distance[2] ** 2 + answers.angle[2] ** 2
    assert many == pytest.approx(one.distance**2 + one.angle**2, rel=1e-3)
