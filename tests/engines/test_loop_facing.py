"""Loops between anchors with opposite axes."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Joint, Loop, Part
from linkwork.session.session import Session
from mechanisms import bar, four_bar, ground, scene_of


def hung(kind: str, tilt: float, **more: Any) -> Part:
    """Returns a bar held by a loop about y, whose second anchor is rotated about x."""
    part = Part("one").add(ground(), bar("bar", 0.3, 0.5, wide=0.05))
    return part.add(
        Joint("free", "free", "ground", "bar"), Anchor("a", "ground"),
        Anchor("b", "bar", Pose.of((0, 0, 0), rpy=(tilt, 0, 0))),
        Loop("L", "a", "b", kind, axis=(0, 1, 0), **more),
    )  # fmt: skip


def between(session: Session, tilt: float) -> Pose:
    """Returns the pose of the second anchor in the first."""
    row = session.state.pose[session.world.body("one/bar")]
    return Pose.of(row[:3], quat=row[3:]) @ Pose.of(rpy=(tilt, 0, 0))


@pytest.mark.capability(15)
@pytest.mark.parametrize("params", [{"order": 2}, {"order": 4}, {"method": "forces", "order": 5}])
@pytest.mark.parametrize("kind", ["hinge", "cylindrical", "planar"])
def test_a_joint_between_anchors_that_face_each_other_is_the_same_joint(
    kind: str, params: dict[str, Any]
) -> None:
    """A half turn of the second anchor changes nothing, at the start or later, with a note."""
    with (
        Session(scene_of(hung(kind, math.pi), **params)) as ours,
        Session(scene_of(hung(kind, 0.0), **params)) as truth,
    ):
        logged = [str(finding) for finding in ours.cycle.findings]
        assert any("one/L: the axes of its anchors are opposite" in s for s in logged)
        assert not any("moved" in s for s in logged)
        offset = []  # of the coordinate's zero: half a turn about another axis
        for _ in range(4):
            ours.step(100)
            truth.step(100)
            np.testing.assert_allclose(ours.state.pose, truth.state.pose, atol=1e-8)
            offset.append(float(ours.state.loop_q[0] - truth.state.loop_q[0]))
        assert abs(truth.state.pose[-1] - truth.world.x0[-1]).max() > 0.1  # it does move
        assert np.ptp(offset) < 1e-8


@pytest.mark.parametrize("kind", ["hinge", "cylindrical", "screw", "planar"])
def test_anchors_that_almost_face_each_other_are_brought_face_to_face(kind: str) -> None:
    """By the shorter rotation, 8 degrees instead of 172; and they stay so."""
    more = {"pitch": 0.05} if kind == "screw" else {}
    with Session(scene_of(hung(kind, 3.0, **more))) as session:
        for steps in (0, 300):
            session.step(steps)
            x, y, z = between(session, 3.0).rotate((0, 1, 0))
            assert y == pytest.approx(-1.0, abs=1e-12)
            assert math.hypot(x, z) < 1e-9


@pytest.mark.parametrize("tilt", [1e-3, 1.0, 3.0, math.pi])
@pytest.mark.parametrize("kind", ["fixed", "slider"])
def test_what_holds_every_turn_is_not_content_with_half_of_one(kind: str, tilt: float) -> None:
    """Anchors of a fixed or sliding loop have equal attitudes once closed."""
    with Session(scene_of(hung(kind, tilt))) as session:
        for steps in (0, 100):
            session.step(steps)
            w, *xyz = between(session, tilt).quat
            assert abs(w) == pytest.approx(1.0, abs=1e-12)
            assert np.linalg.norm(xyz) < 1e-9


def test_a_four_bar_of_anchors_that_face_each_other_moves_as_any_other() -> None:
    """With its last hinge reversed: the same motion and energy."""
    with (
        Session(scene_of(four_bar(turned=math.pi))) as ours,
        Session(scene_of(four_bar())) as truth,
    ):
        ours.step(1000)
        truth.step(1000)
        np.testing.assert_allclose(ours.state.q, truth.state.q, atol=1e-6)
        assert ours.report().accounts[0].exceeded == 0
