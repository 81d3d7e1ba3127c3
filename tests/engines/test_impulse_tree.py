"""Steps by forces in joint coordinates: the same motion as in body coordinates, cheaper."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio
import pytest

from linkwork.engines.impulse import Impulse, adams
from linkwork.geometry import Inertia, Pose
from linkwork.model.parts import Anchor, Element, Joint, Loop, Part
from linkwork.model.scene import Scene
from linkwork.session.messages import SetSignal
from linkwork.session.session import Session
from mechanisms import bar, centers, chain, four_bar, ground, ring, scene_of

pin: Any = pinocchio

#: Loops that leave a chain of bars with ball joints some freedom.
LOOPS = ("ball", "hinge", "universal", "cylindrical", "planar", "slider", "screw", "point_on_plane")


@pytest.fixture(params=[1e9, 0], ids=["joints", "bodies"])
def worth(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """Returns the coordinates that steps use."""
    monkeypatch.setattr(adams, "LARGEST_COST_RATIO", request.param)
    return request.param


def closed(kind: str) -> Part:
    """Returns four bars on balls and universals, the last closed by a loop of some kind."""
    part, before = Part("closed").add(ground()), "ground"
    kinds = ("ball", "universal", "ball", "ball")
    for n, each in enumerate(kinds):
        part.add(bar(f"bar{n}", 0.2, 0.3, wide=0.04, deep=0.05))
        at = Pose.of((0.2 if n else 0.0, 0, 0), rpy=(0.1 * n, 0.6, 0.2))
        more: dict[str, Any] = {"axis2": (0, 0, 1)} if each == "universal" else {}
        part.add(Joint(f"J{n}", each, before, f"bar{n}", at=at, axis=(0, 1, 0), **more))
        before = f"bar{n}"
    with Session(scene_of(part, engine="kinematic")) as session:
        end = Pose(tuple(session.state.pose[-1, :3]), tuple(session.state.pose[-1, 3:]))
    last: dict[str, Any] = {"pitch": 0.05} if kind == "screw" else {}
    last |= {"axis2": (1, 0, 0)} if kind == "universal" else {}
    return part.add(
        Anchor("tip", before), Anchor("place", "ground", end),
        Loop("held", "place", "tip", kind, axis=(0, 1, 0), **last),
    )  # fmt: skip


def run(part: Part, *, steps: int = 300, **params: Any) -> tuple[np.ndarray, np.ndarray, float]:
    with Session(scene_of(part, **params)) as session:
        session.step(steps)
        (account,) = session.report().accounts
        assert account.exceeded == 0
        return session.state.pose.copy(), session.state.v.copy(), account.gap


@pytest.mark.capability(15, 16)
@pytest.mark.parametrize("kind", LOOPS)
def test_loops_of_every_kind_move_alike_by_joints_and_by_impulses(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Position and velocity after 0.3 s agree within the orders; gaps as allowed."""
    monkeypatch.setattr(adams, "LARGEST_COST_RATIO", 1e9)
    pose, v, gap = run(closed(kind), method="forces", order=6)
    there, speeds, _ = run(closed(kind), order=6)
    assert gap <= 1e-10
    np.testing.assert_allclose(pose, there, atol=2e-7)
    np.testing.assert_allclose(v, speeds, atol=1e-5)


@pytest.mark.capability(10)
def test_accelerations_of_a_four_bar_are_pinocchios(worth: float) -> None:
    """Pinocchio's constraint dynamics give the limit of the first step's Δv/h."""
    with Session(scene_of(four_bar(), step=1e-6, method="forces")) as session:
        session.step()
        ours = session.state.v / 1e-6
        q = session.world.q0
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    axis, positions = np.array([0.0, -1.0, 0.0]), ((0, 0.0), (1, 0.1), (0, 0.3))
    for (parent, x), length, mass in zip(
        positions, (0.1, 0.3, 0.25), (0.5, 1.5, 1.25), strict=True
    ):
        joint = model.addJoint(
            parent, pin.JointModelRevoluteUnaligned(axis), pin.SE3(np.eye(3), np.array([x, 0, 0])),
            f"J{length}",
        )  # fmt: skip
        squares = np.array([2 * 0.02**2, length**2 + 0.02**2, length**2 + 0.02**2])
        inertia = pin.Inertia(mass, np.array([length / 2, 0, 0]), np.diag(mass / 12 * squares))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    ends = [2, pin.SE3(np.eye(3), np.array([0.3, 0, 0]))]
    ends += [3, pin.SE3(np.eye(3), np.array([0.25, 0, 0]))]
    equality = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, *ends, pin.ReferenceFrame.LOCAL
    )
    equalities, held = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    equalities.append(equality)
    held.append(equality.createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, equalities, held)
    zero = np.zeros(3)
    settings = pin.ProximalSettings(1e-14, 1e-10, 50)
    truth = pin.constraintDynamics(model, data, q, zero, zero, equalities, held, settings)
    np.testing.assert_allclose(ours, truth, rtol=1e-6)


def test_small_mechanisms_go_by_joints_and_large_ones_by_bodies() -> None:
    """The cheaper method is used: a ring has one long branch."""
    for part, by_joints in ((four_bar(), True), (chain(10), True), (ring(40), False)):
        with Session(scene_of(part, method="forces")) as session:
            engine = session.cycle.engines[0]
            assert isinstance(engine, Impulse)
            assert engine.stepper.tree.used is by_joints


def test_heavier_bodies_move_alike(worth: float) -> None:
    """A mass changed at run time applies with its inertia."""
    ends = []
    both: tuple[dict[str, Any], ...] = ({"method": "forces", "order": 6}, {"order": 6})
    for params in both:
        with Session(scene_of(four_bar(), **params)) as session:
            session.step(50)
            session.send(SetSignal("four_bar/coupler.mass", 4.5))
            session.step(150)
            ends.append(centers(session))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)


def test_forces_of_joints_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joint forces do not depend on the coordinates."""
    found = []
    for limit in (1e9, 0):
        monkeypatch.setattr(adams, "LARGEST_COST_RATIO", limit)
        with Session(scene_of(four_bar(), method="forces", order=6)) as session:
            session.step(200)
            found.append(session.cycle.engines[0].joint_forces())
            session.step(1)  # and reading them changes nothing
            found.append(session.state.pose.copy())
    np.testing.assert_allclose(found[0], found[2], atol=1e-3)
    np.testing.assert_allclose(found[1], found[3], atol=1e-8)


def test_a_run_by_joints_that_is_gone_back_in_goes_the_same_way_again() -> None:
    """The history of steps is part of the state: bit-exact, with forces read in between."""
    with Session(scene_of(closed("hinge"), method="forces", order=6)) as session:
        session.step(50)
        kept = session.state.save()
        session.step(50)
        there = session.state.copy()
        session.cycle.restore(kept)
        for _ in range(50):
            session.step()
            session.cycle.engines[0].joint_forces()
        np.testing.assert_array_equal(session.state.pose, there.pose)
        np.testing.assert_array_equal(session.state.v, there.v)


def bob(length: float, mass: float, kind: str, inertia: Inertia | None = None) -> Part:
    """Returns a bar that swings from a joint."""
    rod = bar("rod", length, mass, wide=0.1 * length, deep=0.1 * length)
    if inertia is not None:
        rod = Element("rod", rod.shapes, inertia=inertia)
    return Part("bob").add(ground(), rod, Joint("J", kind, "ground", "rod", axis=(0, 1, 0)))


@pytest.mark.parametrize(
    ("part", "steps"),
    [
        (bob(4e-3, 1e-6, "ball"), 20),
        (bob(4e-4, 1e-7, "hinge"), 5),
        (bob(0.4, 0.3, "ball", Inertia.of(0.3, (0.2, 0, 0), np.diag([0.0, 4e-3, 4e-3]))), 20),
    ],
    ids=["milligram", "speck", "rod without thickness"],
)
def test_the_smallest_bodies_fall_as_by_impulses(part: Part, steps: int) -> None:
    """Any mass is valid, and inertias are adjusted in the same way."""
    pose, _, _ = run(part, steps=steps, step=1e-4, method="forces", order=6)
    there, _, _ = run(part, steps=steps, step=1e-4, order=6)
    assert np.isfinite(pose).all()
    np.testing.assert_allclose(pose, there, atol=1e-9)


def test_far_from_the_origin_a_mechanism_moves_alike() -> None:
    """At half a kilometer, within the rounding of positions."""
    ends = []
    for x in (0.0, 500.0):
        scene = Scene("far").engine("impulse", method="forces", order=6, gap=1e-9)
        with Session(scene.place(four_bar(), at=Pose.of((x, x, 0.0)))) as session:
            session.step(200)
            ends.append(session.state.q.copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)


@pytest.mark.parametrize("order", [4, 6])
def test_a_first_step_that_is_too_long_is_taken_in_pieces(order: int) -> None:
    """A tree cannot open: two half steps reveal the error."""
    with Session(scene_of(chain(3), step=0.1, method="forces", order=order)) as session:
        session.step()
        (account,) = session.report().accounts
        assert account.halved == 1
    with Session(scene_of(chain(3), step=0.1, order=6)) as truth:
        truth.step()
    np.testing.assert_allclose(centers(session), centers(truth), atol=1e-3)
