"""Reported gaps agree with the poses."""

import math
from typing import Any

import numpy as np
import pytest

from effort import seconds
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Joint, Loop, Part, Spec, Spring
from linkwork.session.session import Session
from mechanisms import bar, chain, ground, scene_of


def widest(session: Session) -> tuple[float, str]:
    """Returns the largest distance between the two points of a joint, from poses, and its name."""
    found = []
    for name, b in zip(session.world.joint_names, session.world.joint_body, strict=True):
        world, rows = session.world, session.state.pose
        parent, child = (
            Pose.of(rows[n, :3], quat=rows[n, 3:]) for n in (int(world.parent[b]), int(b))
        )
        x0 = Pose.of(world.x0[b, :3], quat=world.x0[b, 3:])
        pivot = Pose.of(world.pivot[b])
        apart = np.subtract((parent @ x0 @ pivot).xyz, (child @ pivot).xyz)
        found.append((float(np.linalg.norm(apart)), name))
    return max(found)


@pytest.mark.capability(11)
@pytest.mark.parametrize(
    "params",
    [
        {"order": 2}, {"order": 4}, {"order": 5, "method": "forces"},
        {"solver": "anytime", "max_iterations": 3},
    ],
)  # fmt: skip
def test_the_widest_gap_is_a_distance_and_the_widest(params: dict[str, Any]) -> None:
    """For balls with three open rows, gap, joint and step are reported correctly."""
    with Session(scene_of(chain(6, "ball"), **params)) as session:
        gaps = []
        for n in range(1, 201):
            session.step()
            gaps.append((*widest(session), n))
        gap, joint, step = max(gaps)
        (account,) = session.report().accounts
        assert account.gap == pytest.approx(gap, rel=1e-3, abs=2e-15)
        assert (account.joint, account.step) == (joint, step)


def test_what_a_spring_or_a_servo_misses_is_no_gap() -> None:
    """Sequential with few sweeps: only errors of joints count as gaps."""
    part = Part("arm").add(ground(), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3))
    servo = Spec("actuator", "servo", params={"kp": 20.0, "kd": 0.5})
    part.add(
        Joint("J", "hinge", "ground", "one", axis=(0, 1, 0), drive=servo, max_effort=0.5),
        Joint("K", "ball", "one", "two", at=Pose.of((0.3, 0, 0)), speed=(1.0, 2.0, 3.0)),
        Anchor("hook", "ground", Pose.of((0.2, 0.1, 0.4))), Anchor("eye", "two"),
        Spring("coil", "hook", "eye", stiffness=1.0, damping=0.01),
    )  # fmt: skip
    with Session(scene_of(part, step=0.01, solver="anytime", max_iterations=2)) as session:
        gaps = []
        for n in range(1, 101):
            session.step()
            gaps.append((*widest(session), n))
        gap = max(gaps)[0]
        (account,) = session.report().accounts
        assert account.joint in session.world.joint_names
        assert (
            0.999 * gap <= account.gap < 10.0 * gap
        )  # a hinge's tilt [rad] is more than its distance


def test_more_than_the_gap_allowed_is_told() -> None:
    """If each row is within the gap but the distance is not, the step is exceeded."""
    with Session(
        scene_of(chain(6, "ball"), step=0.01, solver="anytime", max_iterations=3, gap=1e-7)
    ) as session:
        over = 0
        for _ in range(200):
            session.step()
            over += widest(session)[0] > 1e-7
        (account,) = session.report().accounts
        assert 0 < over <= account.exceeded


def bennett() -> Part:
    """Returns Bennett's linkage: four twisted rods, overconstrained by three.

    Lengths and twists of opposite rods are equal, with sin α / a = sin β / b; joint angles satisfy
    tan(θ₁/2) tan(θ₂/2) = sin((β + α)/2) / sin((β − α)/2).
    """
    a, alpha, beta, first = 0.2, math.radians(40.0), math.radians(80.0), 1.2
    b = a * math.sin(beta) / math.sin(alpha)
    ratio = math.sin(0.5 * (beta + alpha)) / math.sin(0.5 * (beta - alpha))
    second = 2.0 * math.atan(ratio / math.tan(0.5 * first))
    part, before, at = Part("bennett").add(ground()), "ground", Pose.of((0, 0, 0))
    for n, (length, twist, angle) in enumerate(
        [(a, alpha, first), (b, beta, second), (a, alpha, -first)]
    ):
        speed = 0.0 if n else 2.0
        joint = Joint(
            f"J{n}", "hinge", before, f"rod{n}", at=at, axis=(0, 0, 1), value=angle, speed=speed
        )
        part.add(bar(f"rod{n}", length, 0.3), joint)
        before, at = f"rod{n}", Pose.of((length, 0, 0), rpy=(twist, 0, 0))
    last = Pose.of((0, 0, 0), rpy=(0, 0, -second)) @ Pose.of((b, 0, 0), rpy=(beta, 0, 0))
    part.add(Anchor("end", before, at), Anchor("base", "ground", last.inverse()))
    return part.add(Loop("closed", "end", "base", "hinge", axis=(0, 0, 1)))


@pytest.mark.capability(11)
@pytest.mark.parametrize("order", [2, 4])
def test_velocities_of_redundant_rows_are_kept_too(order: int) -> None:
    """Bennett's linkage never opens faster than ``speed_gap``, after any step."""
    with Session(scene_of(bennett(), order=order)) as session:
        session.run(seconds(60.0, 6.0))
        (account,) = session.report().accounts
        assert account.exceeded == 0
        assert account.speed_gap <= 1e-9
