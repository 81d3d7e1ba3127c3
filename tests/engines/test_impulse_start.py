"""Initial state of the impulse engine: given values and velocities, within all ranges."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.core.errors import EngineError
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Joint, Loop, Part
from linkwork.session.session import Session
from mechanisms import bar, four_bar, ground, scene_of

AXIS = (0.0, 1.0, 0.0)


def slider_crank(
    *, crank: dict[str, Any] | None = None, bore: dict[str, Any] | None = None
) -> Part:
    """Returns a crank of 0.1 m, a rod of 0.3 m and a piston, by default in line."""
    part = Part("engine").add(
        ground(), bar("crank", 0.1, 0.2), bar("rod", 0.3, 0.3), ground("piston")
    )
    part.add(
        Joint("shaft", "hinge", "ground", "crank", axis=AXIS, **(crank or {})),
        Joint("big_end", "hinge", "crank", "rod", at=Pose.of((0.1, 0, 0)), axis=AXIS),
        Joint("bore", "slider", "ground", "piston", axis=(1, 0, 0), value=0.4, **(bore or {})),
        Anchor("end", "rod", Pose.of((0.3, 0, 0))),
        Anchor("wrist", "piston"),
        Loop("pin", "end", "wrist", "hinge", axis=AXIS),
    )
    return part


def notes(session: Session) -> str:
    return "\n".join(str(finding) for finding in session.cycle.findings)


def test_a_speed_that_was_said_is_kept_and_the_others_follow() -> None:
    """Rod and piston follow the crank: −ω r/l about the pin, none along the bore."""
    with Session(scene_of(slider_crank(crank={"speed": 20.0}, bore={}))) as session:
        assert session["engine/shaft.speed"] == pytest.approx(20.0, abs=1e-9)
        assert session["engine/big_end.speed"] == pytest.approx(-20.0 - 20.0 / 3.0, abs=1e-8)
        assert session["engine/bore.speed"] == pytest.approx(0.0, abs=1e-8)
        assert "instead of" not in notes(session)


def test_speeds_that_contradict_each_other_are_told() -> None:
    part = slider_crank(crank={"speed": 20.0}, bore={"speed": 1.0})
    with Session(scene_of(part)) as session:
        assert session["engine/bore.speed"] == pytest.approx(0.0, abs=1e-8)
        assert "engine/bore" in notes(session)
        assert "instead of 1 m/s" in notes(session)


def test_a_posture_is_where_it_starts() -> None:
    """Named joints are kept; the others follow: a four-bar's coupler keeps its length."""
    scene = scene_of(four_bar())
    scene.postures["turned"] = {"four_bar/A": math.radians(80.0)}
    scene.start = "turned"
    with Session(scene) as session:
        assert session["four_bar/A.angle"] == pytest.approx(math.radians(80.0), abs=1e-9)
        a, _, d = session.state.q
        way = (0.3 + 0.25 * math.cos(d) - 0.1 * math.cos(a), 0.25 * math.sin(d) - 0.1 * math.sin(a))
        assert math.hypot(*way) == pytest.approx(0.3, abs=1e-9)


def test_a_posture_that_cannot_be_is_told() -> None:
    """Crank and rocker conflict: all may move, with notes."""
    scene = scene_of(four_bar())
    scene.postures["apart"] = {"four_bar/A": 0.5, "four_bar/D": 0.5}
    scene.start = "apart"
    with Session(scene) as session:
        assert session.state.report.gap[0] < 1e-12
        assert "starts at" in notes(session)
        assert "instead of 28.65°" in notes(session)


def test_what_is_prescribed_stays_where_it_is_drawn() -> None:
    """An open mechanism closes around it, and its first step does not jump."""
    with Session(scene_of(four_bar(open_by=0.02), prescribed=["four_bar/A"])) as session:
        assert session["four_bar/A.angle"] == pytest.approx(math.radians(60.0), abs=1e-9)
        assert session.state.report.gap[0] < 1e-12
        session.step(5)
        np.testing.assert_allclose(session.state.v, 0.0, atol=1e-6)


def test_a_loop_closes_within_the_ranges_of_its_joints() -> None:
    """The piston starts at the end of its range, crank and rod follow."""
    with Session(scene_of(slider_crank(crank={}, bore={"range": (0.0, 0.35)}))) as session:
        assert session["engine/bore.position"] == pytest.approx(0.35, abs=1e-9)
        assert "instead of 0.4 m, the limit of its range" in notes(session)
        cosine = (0.1**2 + 0.35**2 - 0.3**2) / (2 * 0.1 * 0.35)
        assert math.cos(session["engine/shaft.angle"]) == pytest.approx(cosine, abs=1e-9)
        session.step(100)
        assert session["engine/bore.position"] <= 0.35 + 1e-9


def test_a_range_that_no_way_of_closing_reaches_is_named() -> None:
    """Crank and rod are too short for it; the message names the joint, not the step."""
    with pytest.raises(EngineError, match=r"engine/bore is at 0.4 m, out of its range 0.5 m"):
        Session(scene_of(slider_crank(crank={}, bore={"range": (0.5, 0.8)})))


def test_a_joint_of_a_tree_starts_at_the_end_of_its_range_and_says_so() -> None:
    part = Part("arm").add(ground(), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3))
    part.add(
        Joint("J", "hinge", "ground", "one", axis=AXIS, value=0.8, range=(-0.5, 0.5)),
        Joint("K", "hinge", "one", "two", at=Pose.of((0.3, 0, 0)), axis=AXIS, value=0.4),
    )
    with Session(scene_of(part)) as session:
        np.testing.assert_allclose(session.state.q, [0.5, 0.4], atol=1e-9)
        assert "starts at 28.65° instead of 45.84°" in notes(session)
