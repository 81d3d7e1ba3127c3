"""Forces of joints in the impulse engine, against Newton's second law and a closed form."""

import math

import numpy as np
import pytest

from linkwork.geometry.pose import matrix_from_quat
from linkwork.session.session import Session
from mechanisms import centers, chain, four_bar, scene_of


def named(session: Session) -> dict[str, np.ndarray]:
    """Returns position and force of each joint and loop, by name."""
    names = [*session.world.joint_names, *session.world.loop_names]
    return {names[int(row[6])]: row for row in session.cycle.joint_forces()}


@pytest.mark.capability(10)
def test_the_pivot_of_a_falling_bar_is_held_as_the_closed_form_says() -> None:
    """Along the bar m (g sin φ + ½ l ω²), across it m g cos φ minus the inertial part."""
    length = 0.2
    with Session(scene_of(chain(1, value=0.0, length=length), step=1e-4)) as session:
        assert len(session.cycle.joint_forces()) == 0, "nothing has been held yet"
        session.step(800)
        (row,) = session.cycle.joint_forces()
        angle, mass = float(session.state.q[0]), float(session.world.mass[-1])
        gravity = -float(session.world.scene.gravity[2])
        about = float(session.world.inertia[-1][1, 1]) + mass * (length / 2) ** 2
        spin = math.sqrt(mass * gravity * length * math.sin(angle) / about)
        turn = mass * gravity * (length / 2) * math.cos(angle) / about
        along = mass * (gravity * math.sin(angle) + spin**2 * length / 2)
        across = mass * (gravity * math.cos(angle) - turn * length / 2)
        inward = np.array([-math.cos(angle), 0.0, math.sin(angle)])
        upward = np.array([math.sin(angle), 0.0, math.cos(angle)])
        assert angle > 0.2
        np.testing.assert_allclose(row[3:6], along * inward + across * upward, rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(row[:3], session.state.pose[-1, :3], atol=1e-9)


@pytest.mark.parametrize("order", [2, 4])
def test_forces_of_a_closed_chain_move_its_bodies(order: int) -> None:
    """On each bar of a four-bar they are mass times acceleration minus its weight."""
    h = 1e-4
    with Session(scene_of(four_bar(), step=h, order=order)) as session:
        session.step(500)
        before = centers(session)
        session.step(1)
        middle = centers(session)
        session.step(1)
        held, world = named(session), session.world
        gained = (centers(session) - 2.0 * middle + before) / h**2
        pushed = np.zeros((world.nb, 3))
        ends = {
            name: (int(world.parent[b]), int(b))
            for name, b in zip(world.joint_names, world.joint_body, strict=True)
        }
        ends |= dict(zip(world.loop_names, map(tuple, world.loop_body), strict=True))
        assert set(held) == set(ends)
        assert "four_bar/C" in held
        for name, (first, second) in ends.items():
            pushed[first] -= held[name][3:6]
            pushed[second] += held[name][3:6]
        for b in range(1, world.nb):
            if world.is_static(b):
                continue
            wanted = world.mass[b] * (gained[b - 1] - np.array(world.scene.gravity))
            np.testing.assert_allclose(pushed[b], wanted, atol=0.01 * np.abs(wanted).max() + 0.02)


def test_forces_stand_where_the_joint_is() -> None:
    """For loops and joints: at the anchor of the second body, at any time."""
    with Session(scene_of(four_bar())) as session:
        session.step(50)
        held, world = named(session), session.world
        body, frame = world.anchors["four_bar/tip"]
        pose = session.state.pose[body]
        place = pose[:3] + matrix_from_quat(pose[3:]) @ np.array(frame.xyz)
        np.testing.assert_allclose(held["four_bar/C"][:3], place, atol=1e-9)


def test_no_force_is_told_of_a_state_that_no_step_led_to() -> None:
    """After a restore, before the next step, there are none."""
    with Session(scene_of(four_bar())) as session:
        kept = session.state.save()
        session.step(5)
        assert len(session.cycle.joint_forces()) == 4
        session.restore_state(kept)
        assert len(session.cycle.joint_forces()) == 0
