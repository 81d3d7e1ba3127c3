"""Inverse kinematics: every kind of task against finite differences, closed forms and numpy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.kinematics import (
    AlignTask,
    CenterOfMassTask,
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
from linkwork.model.parts import Anchor, Box, Coupling, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

AXES = [(0, 0, 1), (0, 1, 0), (0, 0, 1), (0, -1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)]
HEIGHTS = [0.36, 0.0, 0.42, 0.0, 0.40, 0.0, 0.0]
RANGES = [170, 120, 170, 120, 170, 120, 175]


def arm(*, base: str = "fixed", joints: int = 7, name: str = "arm") -> Part:
    """Returns an S-R-S arm of seven hinges (iiwa's lengths), or its first joints."""
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
    """Returns the pose of a frame."""
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
    "centre of mass": CenterOfMassTask((0.1, 0.1, 0.5), weight=(1.0, 2.0, 0.5)),
    "coupling": CouplingTask(ratios={"a/j1": 1.0, "a/j3": -0.5}, offset=0.2),
    "distance": DistanceTask("a/tool", "a/l0", 0.5, point=(0.0, 0.1, 0.0)),
    "distance to a place": DistanceTask("a/tool", distance=0.3, other_point=(0.4, 0.0, 0.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("world", [WORLD, FLOATING], ids=["fixed", "floating"])
def test_rows_are_the_derivatives_of_errors(world: World, name: str) -> None:
    """rows · v = −d(error)/dt, to first order in rotation errors (exactly for a twist)."""
    task = TASKS[name]
    solver = Solver(world, [task])
    rng = np.random.default_rng(3)
    exact = not isinstance(task, PoseTask | OrientationTask) or "twist" in name
    q = integrate(world, world.q0, rng.uniform(-0.6, 0.6, world.nv), 1.0)
    if not exact:  # the rate of a rotation vector is the angular velocity only if it is short
        tolerance = integrate(world, q, rng.uniform(-1e-4, 1e-4, world.nv), 1.0)
        root = at(world, tolerance, "a/l2") if name == "relative" else Pose()
        point = Pose.of(task.point) if isinstance(task, PoseTask) else Pose()
        solver.set_target(root.inverse() @ at(world, tolerance) @ point)
    rows, _ = solver.rows(q)
    h = 1e-6
    for column, dof in enumerate(solver.columns.dof):
        v = np.zeros(world.nv)
        v[dof] = 1.0
        ahead = solver.rows(integrate(world, q, v, h))[1]
        behind = solver.rows(integrate(world, q, v, -h))[1]
        expected = (behind - ahead) / (2.0 * h)
        if isinstance(task, AlignTask | LookAtTask):  # the rotation about the axis itself is free
            axis = np.array(at(world, q).rotate(getattr(task, "axis", (1, 0, 0))))
            _, error = solver.rows(q)
            lever = error / np.linalg.norm(error)
            assert rows[:, column] @ lever == pytest.approx(expected @ lever, abs=1e-6)
            assert abs(rows[:, column] @ axis) < 1.0
            continue
        np.testing.assert_allclose(rows[:, column], expected, atol=2e-4 if not exact else 1e-6)


def test_two_centers_of_mass_have_rows_of_their_own() -> None:
    """That of an arm and that of all bodies, independently of each other."""
    scene = Scene("pair").place(arm(), name="a", base="fixed")
    scene.place(arm(), name="b", base="fixed", at=Pose((0.0, 1.0, 0.0)))
    world = compile_scene(scene)
    q = integrate(world, world.q0, np.full(world.nv, 0.3), 1.0)
    one, both = CenterOfMassTask((0, 0, 0), part="a"), CenterOfMassTask((0, 0, 0))
    together = Solver(world, [one, both]).rows(q)[0]
    joints = Solver(world, [both]).columns.dof
    assert list(Solver(world, [one, both]).columns.dof) == list(joints)
    np.testing.assert_allclose(together[3:], Solver(world, [both]).rows(q)[0], atol=1e-14)
    own = list(Solver(world, [one]).columns.dof)
    mine = [list(joints).index(dof) for dof in own]
    np.testing.assert_allclose(together[:3, mine], Solver(world, [one]).rows(q)[0], atol=1e-14)


@pytest.mark.parametrize("name", TASKS)
def test_every_kind_of_task_is_reached(name: str) -> None:
    """A reachable target is found from another posture."""
    task = TASKS[name]
    if name in ("relative", "relative twist"):
        body = at(WORLD, BENT, "a/l2").inverse() @ at(WORLD, BENT)
        task = PoseTask(
            "a/tool", body, relative_to="a/l2", error="twist" if "twist" in name else "split"
        )
    if name == "centre of mass":
        task = CenterOfMassTask(com(WORLD, BENT))
    answer = Solver(WORLD, [task]).solve()
    assert answer.reached, answer
    assert (answer.q >= WORLD.dof_lo).all()
    assert (answer.q <= WORLD.dof_hi).all()


def com(world: World, q: np.ndarray) -> np.ndarray:
    """Returns the center of mass of all moving bodies, with numpy."""
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
    """Any pose of a posture within the ranges is found, within the ranges."""
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
    """A pose of a serial chain uses the chain search, and both searches reach it."""
    short = SEVEN
    assert short._chain is not None
    general = Solver(WORLD, [PoseTask("a/tool", position=1.0, orientation=1.0, lm_damping=1e-12)])
    assert general._chain is None
    goal = at(WORLD, BENT)
    for solver in (short, general):
        solver.set_target(goal)
        answer = solver.solve()
        assert answer.reached
        assert math.dist(at(WORLD, answer.q).xyz, goal.xyz) < 1e-6


@pytest.mark.parametrize("twist", [False, True])
def test_a_target_out_of_reach_gives_the_nearest_posture_and_says_so(twist: bool) -> None:
    """The arm stretches toward it: the error is the distance to its workspace sphere."""
    task = PositionTask("a/tool", (2.0, 0.0, 0.36))
    answer = solve(WORLD, task)
    assert not answer.reached
    reach = 0.42 + 0.40 + 0.126
    assert answer.task_errors[0].distance == pytest.approx(2.0 - reach, abs=1e-4)
    assert "not reached" in str(answer)
    chained = solve(
        WORLD, PoseTask("a/tool", Pose((0.0, 0.0, 3.0)), lm_damping=1e-12 if twist else 0.0)
    )
    assert not chained.reached
    assert chained.task_errors[0].distance == pytest.approx(3.0 - 0.36 - reach, abs=2e-2)


def test_a_sub_chain_moves_alone() -> None:
    """Only the joints from the first one on move."""
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
    """A point beside the elbow reaches its target."""
    point = (0.05, 0.0, 0.1)
    wanted = at(WORLD, BENT, "a/l3").apply(point)
    answer = solve(WORLD, PositionTask("a/l3", wanted, point=point))
    assert math.dist(at(WORLD, answer.q, "a/l3").apply(point), wanted) < 1e-6


def test_a_floating_base_moves_too() -> None:
    """Two points of a free robot reach targets that require base motion."""
    solver = Solver(
        FLOATING,
        [PoseTask("a/base", Pose.of((1.0, 2.0, 3.0), rpy=(0.3, 0.2, 1.0))),
         PositionTask("a/tool", (1.3, 2.1, 3.8))],
    )  # fmt: skip
    answer = solver.solve()
    assert answer.reached
    assert math.dist(at(FLOATING, answer.q, "a/base").xyz, (1.0, 2.0, 3.0)) < 1e-5


def test_a_tick_without_limits_is_damped_least_squares() -> None:
    """v dt = (JᵀJ + λ² W)⁻¹ Jᵀ e by numpy, and the RoboTiX thesis's weighted pseudo-inverse."""
    metric = np.array([1.0, 2.0, 3.0, 1.0, 5.0, 1.0, 0.5])
    solver = Solver(WORLD, [PoseTask("a/tool", GOAL)], limits=False, metric=metric)
    rows, error = solver.rows(BENT)
    for square in (1e-3, 1e-6):
        step = solver.step(BENT, 0.5, damping=square, speeds=False)
        left = rows.T @ rows + square * np.diag(metric)
        np.testing.assert_allclose(step.v * 0.5, np.linalg.solve(left, rows.T @ error), atol=1e-9)
    simple = np.linalg.inv(np.diag(metric))
    weighted = simple @ rows.T @ np.linalg.solve(rows @ simple @ rows.T, error)
    exact = solver.step(BENT, 1.0, damping=1e-9, speeds=False)
    np.testing.assert_allclose(exact.v, weighted, atol=1e-5)


def test_dampings_are_what_they_are_called() -> None:
    """λ² from the smallest singular value, by the RoboTiX thesis eq. 3.8, or constant."""
    solver = Solver(WORLD, [PoseTask("a/tool", GOAL)])
    for q in (BENT, np.array([0.3, 0.02, 0.1, -0.03, 0.4, 0.05, 0.1])):
        rows, _ = solver.rows(q)
        sigma = np.linalg.svd(rows, compute_uv=False)[-1]
        size, far = np.linalg.norm(rows), np.linalg.norm(solver.rows(q)[1])
        edge, most = 0.1, 0.1
        part = max(0.0, 1.0 - (sigma / (edge * size)) ** 2)
        expected = part * (most**2 * size**2 + 0.25 * size * far)
        assert solver.step(q, 0.1, damping=Damping("smallest", most, edge)).damping == (
            pytest.approx(expected, rel=1e-3, abs=1e-10)
        )
        eq38 = 0.3 / (1.0 + np.linalg.norm(rows @ rows.T))
        assert solver.step(q, 0.1, damping=Damping("robotix", 0.3)).damping == (
            pytest.approx(eq38**2, rel=1e-9)
        )
        assert solver.step(q, 0.1, damping=1e-3).damping == 1e-3


def test_an_axis_that_is_left_free_does_not_damp() -> None:
    """If the other two are far from singular, weights (1, 1, 0) are met fully."""
    solver = Solver(WORLD, [PositionTask("a/tool", GOAL.xyz, weight=(1, 1, 0))], limits=False)
    step = solver.step(BENT, 1.0)
    rows, error = solver.rows(BENT)
    assert step.damping < 1e-10
    np.testing.assert_allclose(rows @ step.v, error, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_tick_within_limits_is_the_minimum_of_its_quadratic(seed: int) -> None:
    """Karush-Kuhn-Tucker: gradients vanish between the bounds and point outward at them."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(WORLD.dof_lo, WORLD.dof_hi)
    SIX.set_target(at(WORLD, rng.uniform(WORLD.dof_lo, WORLD.dof_hi)))
    dt, square = 0.1, 1e-4
    x = SIX.step(q, dt, damping=square).v * dt
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
    """Stretched out, and with aligned wrist axes, steps stay small and finite."""
    for q in (np.zeros(7), np.array([0.0, 0.0, 0.0, -1e-9, 0.0, 0.0, 0.0])):
        for target in (Pose((0.0, 0.0, 5.0)), Pose((0.5, 0.0, 1.0)), at(WORLD, q)):
            SIX.set_target(target)
            step = SIX.step(q, 0.01)
            assert np.isfinite(step.v).all()
            assert np.abs(step.v).max() <= 2.0 + 1e-9


def test_dragging_through_a_singular_posture_does_not_jump() -> None:
    """The tool follows a line through the stretched posture within the velocity limits."""
    q = np.array([0.0, 0.4, 0.0, -0.9, 0.0, 0.5, 0.0])
    start = np.array(at(WORLD, q).xyz)
    solver = Solver(WORLD, [PositionTask("a/tool", start)])
    last = np.zeros(7)
    for n in range(200):
        solver.set_target(start + np.array([0.0, 0.0, 0.005 * n]))
        step = solver.step(q, 0.02)
        assert np.isfinite(step.v).all()
        assert np.abs(step.q - q).max() <= 2.0 * 0.02 + 1e-12
        q, last = step.q, step.v
    assert np.abs(last).max() < 0.2  # stretched out, and at rest
    reach = math.dist(at(WORLD, q).xyz, (0.0, 0.0, 0.36))
    assert reach == pytest.approx(0.42 + 0.40 + 0.126, abs=2e-3)


@pytest.mark.capability(110)
def test_couplings_of_a_part_are_kept() -> None:
    """A follower moves with its leader, and its range applies."""
    part = arm()
    part.add(Coupling("j5", "j3", ratio=-0.5, offset=0.1))
    world = compile_scene(Scene("s").place(part, name="a", base="fixed"))
    solver = Solver(world, [PositionTask("a/tool", at(WORLD, BENT).xyz)])
    answer = solver.solve()
    assert answer.reached
    assert answer.q[5] == pytest.approx(-0.5 * answer.q[3] + 0.1, abs=1e-12)


NAN = math.nan


@pytest.mark.parametrize(
    ("task", "logged"),
    [
        (PositionTask("a/tool", (0.1, 0.2)), "a position .* has 3 numbers"),  # type: ignore[arg-type]
        (PositionTask("a/tool", (0.1, NAN, 0.2)), "finite"),
        (CenterOfMassTask((1.0, 2.0)), "a position .* has 3 numbers"),  # type: ignore[arg-type]
        (CenterOfMassTask((1.0, math.inf, 2.0)), "finite"),
        (PostureTask({"a/j1": NAN}), "finite"),
        (CouplingTask({"a/j1": 1.0}, NAN), "finite"),
        (DistanceTask("a/tool", distance=-0.1), "0 m or above"),
        (DistanceTask("a/tool", distance=NAN), "0 m or above"),
        (PoseTask("a/tool", tolerance=-1.0), "tolerance and angle_tolerance"),
        (PoseTask("a/tool", gain=NAN), "gain"),
        (LookAtTask("a/tool", (NAN, 0.0, 0.0)), "finite"),
    ],
)
def test_a_task_that_says_nothing_is_refused(task: Task, logged: str) -> None:
    """Before its numbers reach a kernel, which would only give NaN."""
    with pytest.raises(LinkworkError, match=logged):
        Solver(world_of(), [task])


def test_many_targets_and_starts_are_looked_at() -> None:
    """A wrong one is named; quaternions need not have length 1."""
    world = world_of()
    solver = Solver(world, [PoseTask("a/tool")])
    good = at(world, world.q0 + 0.3).array()
    for rows, logged in (
        ([good[:6]], "target 0 must be a pose or its 7 numbers"),
        ([good, good * NAN], "target 1 is not finite"),
        ([good, np.array([*good[:3], 0.0, 0.0, 0.0, 0.0])], "quaternion of target 1"),
    ):
        with pytest.raises(LinkworkError, match=logged):
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
    """Invalid tasks and calls are rejected with a message."""
    with pytest.raises(LinkworkError, match="no task"):
        Solver(WORLD, [])
    with pytest.raises(LinkworkError, match="a/nothing"):
        Solver(WORLD, [PoseTask("a/nothing")])
    with pytest.raises(LinkworkError, match="position"):
        Solver(WORLD, [PositionTask("a/tool", weight=-1.0)])
    with pytest.raises(LinkworkError, match="split"):
        Solver(WORLD, [PoseTask("a/tool", error="angles")])
    with pytest.raises(LinkworkError, match="dt must be finite and above 0"):
        SIX.step(BENT, 0.0)
    with pytest.raises(LinkworkError, match="range_gain"):
        SIX.step(BENT, 0.01, range_gain=1.5)
    with pytest.raises(LinkworkError, match="damping must be finite"):
        SIX.step(BENT, 0.01, damping=-1.0)
    with pytest.raises(LinkworkError, match="strict"):
        SIX.step(BENT, 0.1, scheme="fair")
    with pytest.raises(LinkworkError, match="7 numbers"):
        SIX.solve(np.zeros(3))
    with pytest.raises(LinkworkError, match="no joint may move"):
        Solver(WORLD, [PoseTask("a/tool")], joints=[])
    with pytest.raises(LinkworkError, match="constant"):
        SIX.step(BENT, 0.1, damping=Damping("none"))
    with pytest.raises(LinkworkError, match="exactly"):
        Solver(WORLD, [DistanceTask("a/tool", keep="about")])
    assert Solver(WORLD, [PostureTask()]).solve().reached
    with pytest.raises(LinkworkError, match=r"no task 7.*0 to 0"):
        SIX.set_target(GOAL, 7)
    with pytest.raises(LinkworkError, match="no task -1"):
        SIX.set_target(GOAL, -1)
    with pytest.raises(LinkworkError, match=r"no value.*PoseTask"):
        SIX.set_value(0.1)
    with pytest.raises(LinkworkError, match=r"no target.*PostureTask"):
        Solver(WORLD, [PostureTask()]).set_target(GOAL)
    far = Solver(WORLD, [DistanceTask("a/tool")])
    far.set_value(0.2)
    with pytest.raises(LinkworkError, match="not finite"):
        far.set_value(math.nan)


@pytest.mark.parametrize("along", [True, False])
def test_solving_for_many_leaves_the_own_target(along: bool) -> None:
    """By the chain search and by the general one."""
    tasks: list[Task] = [PoseTask("a/tool", at(WORLD, BENT))]
    solver = Solver(WORLD, tasks if along else [*tasks, PostureTask(weight=0.01, priority=1)])
    assert solver.task_errors(BENT)[0].reached
    many = solver.solve_many([at(WORLD, BENT * 0.8), at(WORLD, BENT * 1.1)])
    assert many.distance.max() < 1e-4
    assert solver.task_errors(BENT)[0].reached


def test_many_targets_out_of_reach_get_the_nearest_posture() -> None:
    """Above the stretched arm the error is the missing length, without rotation; as ``solve``."""
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
    solver.set_target(targets[2])
    one = solver.solve(start).task_errors[0]
    many = answers.distance[2] ** 2 + answers.angle[2] ** 2
    assert many == pytest.approx(one.distance**2 + one.angle**2, rel=1e-3)
