"""Sequential solver: limits, friction and drives act as with the direct solver."""

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.geometry import Pose
from linkwork.model.parts import Joint, Part, Spec
from linkwork.session.session import Session
from mechanism_reference import pose
from mechanisms import bar, chain, four_bar, ground, ring, scene_of

G = 9.81


def block(**more: Any) -> Part:
    """Returns a body of 0.5 kg that slides vertically."""
    part = Part("lift").add(ground(), bar("block", 0.3, 0.5))
    return part.add(Joint("J", "slider", "ground", "block", axis=(0, 0, 1), **more))


def arm(**more: Any) -> Part:
    """Returns two bars on hinges, the first with a force law."""
    part = Part("arm").add(ground(), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3, deep=0.05))
    return part.add(
        Joint("J", "hinge", "ground", "one", axis=(0, 1, 0), speed=2.0, **more),
        Joint("K", "hinge", "one", "two", at=Pose.of((0.3, 0, 0)), axis=(0.6, 0.8, 0), value=0.4),
    )


@pytest.mark.capability(12)
@pytest.mark.parametrize("most", [1, 50])
def test_a_block_falls_on_its_stop_and_stays_there(most: int) -> None:
    """It falls by g t²/2 without corrections, reaches its limit and never passes it."""
    with Session(
        scene_of(block(range=(-0.5, 3.0)), solver="anytime", max_iterations=most)
    ) as session:
        session.step(300)
        assert session["lift/J.position"] == pytest.approx(-0.5 * G * 0.3**2, abs=1e-9)
        for _ in range(500):
            session.step()
            assert session["lift/J.position"] >= -0.5 - 1e-9
        assert session["lift/J.position"] == pytest.approx(-0.5, abs=1e-9)
        assert session["lift/J.speed"] == pytest.approx(0.0, abs=1e-9)


def test_a_block_that_bounces_comes_back_as_high_as_its_restitution_says() -> None:
    """Half of the velocity is a quarter of the height."""
    part = block(range=(-0.5, 3.0), restitution=0.5)
    with Session(scene_of(part, solver="anytime", step=2e-4)) as session:
        down = round(math.sqrt(2 * 0.5 / G) / 2e-4)
        session.step(down + 5)
        highest = -0.5
        for _ in range(down):
            session.step()
            highest = max(highest, session["lift/J.position"])
        assert highest == pytest.approx(-0.5 + 0.25 * 0.5, abs=1e-3)


@pytest.mark.parametrize("friction", [1.0, 10.0])
def test_friction_slows_a_fall_or_holds(friction: float) -> None:
    """The remaining weight accelerates the block; if none remains it stays."""
    with Session(scene_of(block(friction=friction), solver="anytime")) as session:
        session.step(300)
        left = max(0.5 * G - friction, 0.0) / 0.5
        assert session["lift/J.position"] == pytest.approx(-0.5 * left * 0.3**2, abs=1e-6)


@pytest.mark.parametrize("most", [1, 50])
def test_a_stop_is_not_passed_by_an_arm(most: int) -> None:
    """With a second bar behind it, and with any number of sweeps."""
    with Session(
        scene_of(arm(range=(-0.3, 0.5)), solver="anytime", max_iterations=most)
    ) as session:
        positions = []
        for _ in range(600):
            session.step()
            positions.append(session.state.q[0])
        (account,) = session.report().accounts
    assert max(positions) > 0.499
    past = max(positions) - 0.5  # what K leaves after J's last turn, which is told
    assert past <= min(account.gap + 1e-12, 2e-3)


@pytest.mark.parametrize(
    "more",
    [
        {"damping": 0.05}, {"friction": 0.1},
        {"drive": Spec("actuator", "servo", params={"kp": 8.0, "kd": 0.1})},
        {"drive": Spec("actuator", "servo", params={"kp": 50.0, "kd": 1.0}), "max_effort": 0.2},
    ],
)  # fmt: skip
def test_what_acts_on_a_joint_acts_as_in_mujoco(more: dict[str, Any]) -> None:
    """Dampers, friction and servos, also at their limits."""
    anytime = {"solver": "anytime", "gap": 1e-8, "speed_gap": 1e-6, "max_iterations": 500}
    with (
        Session(scene_of(arm(**more), **anytime)) as ours,
        Session(scene_of(arm(**more), "mujoco", step=2.5e-5)) as theirs,
    ):
        ours.step(250)
        theirs.step(10_000)
        np.testing.assert_allclose(ours.state.q, theirs.state.q, atol=1e-3)


def joint_gaps(session: Session, part: Part) -> tuple[float, float]:
    """Returns the largest distance [m] and axis angle [rad] between the ends of joints, by poses.

    All these joints have their second frame at the origin of their second element.
    """
    far = turned = 0.0
    for joint in part.joints.values():
        a, b = (pose(session, f"{part.name}/{name}") for name in (joint.from_, joint.to))
        here = a @ joint.at
        far = max(far, float(np.linalg.norm(np.subtract(here.xyz, b.xyz))))
        if joint.type == "hinge":
            axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
            one, two = (
                np.subtract((each @ Pose.of(axis.tolist())).xyz, each.xyz) for each in (here, b)
            )
            turned = max(turned, math.asin(min(1.0, float(np.linalg.norm(np.cross(one, two))))))
    return far, turned


@pytest.mark.capability(12)
@pytest.mark.parametrize("step", [2e-3, 1e-2, 4e-2])
@pytest.mark.parametrize(
    ("part", "shortest"),
    [(chain(1), 0.2), (chain(5), 0.2), (chain(3, "ball"), 0.2), (four_bar(), 0.1), (ring(), 0.094)],
    ids=["pendulum", "chain", "ball chain", "four-bar", "ring"],
)
def test_one_correction_per_joint_leaves_small_gaps_and_gains_no_energy(
    part: Part, shortest: float, step: float
) -> None:
    """Open by less than 5 % of the shortest body or 2 g h², by less than 5°, by the poses."""
    allowed = max(0.05 * shortest, 2.0 * G * step**2)
    with Session(scene_of(part, step=step, solver="anytime", max_iterations=1)) as session:
        session.step()
        first = float(session.state.report.energy.sum())
        for _ in range(round(10.0 / step)):
            session.step()
            far, turned = joint_gaps(session, part)
            assert far < allowed
            assert turned < math.radians(5.0)
            assert session.state.report.gap[0] < allowed  # of loops
            assert float(session.state.report.energy.sum()) <= first + 1e-9
        (account,) = session.report().accounts
        assert joint_gaps(session, part)[0] <= account.gap + 1e-12


@pytest.mark.parametrize(("most", "near"), [(1, 1.2), (50, 0.05)])
def test_a_drive_moves_on_with_too_few_sweeps(most: int, near: float) -> None:
    """A motor lifts two bars; one sweep slows it but does not stop it, many are as order 2.

    Steps that needed all joints at once are counted.
    """
    angles = []
    given: list[dict[str, Any]] = [{"solver": "anytime", "max_iterations": most}, {"order": 2}]
    for params in given:
        motor = Spec("actuator", "motor", params={"gain": 20.0})
        part = Part("arm").add(ground(), bar("one", 0.3, 0.6), bar("two", 0.25, 0.4)).add(
            Joint("J", "hinge", "ground", "one", axis=(0, 1, 0), drive=motor, value=0.3),
            Joint("K", "hinge", "one", "two", at=Pose.of((0.3, 0, 0)), axis=(0, 1, 0)),
        )  # fmt: skip
        with Session(scene_of(part, step=2e-3, **params)) as session:
            session["arm/J.target_speed"] = 5.0
            session.run(1.0)
            (account,) = session.report().accounts
            angles.append(session["arm/J.angle"])
            if "solver" in params:
                assert account.stopped == 0
                reported = any("were solved directly" in line for line in account.lines(2e-3))
                assert reported == (account.direct > 0) == (most == 1)
    assert angles[0] == pytest.approx(angles[1], abs=near)


@pytest.mark.capability(12)
@pytest.mark.parametrize("step", [2e-3, 1e-2, 4e-2])
def test_one_correction_per_joint_keeps_a_hexapod_together(
    step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A platform on six rods and cranks, with universal and ball joints."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    ours, linkages = (importlib.import_module(f"shared.{x}") for x in ("loops_ours", "linkages"))
    params = {"solver": "anytime", "max_iterations": 1}
    with ours.session_of(linkages.CASES["hexapod"](), step, **params) as session:
        session.step()
        first = float(session.state.report.energy.sum())
        for _ in range(round(10.0 / step)):
            session.step()
            assert session.state.report.gap[0] < max(0.05 * 0.1, 2.0 * G * step**2)
            assert float(session.state.report.energy.sum()) <= first + 1e-9
        (account,) = session.report().accounts
        assert account.gap < max(0.05 * 0.1, 2.0 * G * step**2, math.radians(5.0))
