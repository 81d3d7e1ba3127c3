"""Reported gaps agree with the poses."""

from typing import Any

import numpy as np
import pytest

from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Joint, Part, Spec, Spring
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
    with Session(scene_of(part, solver="anytime", max_iterations=2)) as session:
        gaps = []
        for n in range(1, 101):
            session.step()
            gaps.append((*widest(session), n))
        gap = max(gaps)[0]
        (account,) = session.report().accounts
        assert account.joint in session.world.joint_names
        assert gap <= account.gap < 10.0 * gap  # a hinge's tilt [rad] is more than its distance


def test_more_than_the_gap_allowed_is_told() -> None:
    """If each row is within the gap but the distance is not, the step is exceeded."""
    with Session(
        scene_of(chain(6, "ball"), solver="anytime", max_iterations=3, gap=1e-7)
    ) as session:
        over = 0
        for _ in range(200):
            session.step()
            over += widest(session)[0] > 1e-7
        (account,) = session.report().accounts
        assert 0 < over <= account.exceeded
