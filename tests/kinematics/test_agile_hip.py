"""BARt-UH II with parallel hips: the closed form and the mechanism agree."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.kinematics.agile_eye import AgileEyeGeometry, AgileEyeSolver
from linkwork.kinematics.leg import LegGeometry
from linkwork.model.world import compile_scene
from mechanism_reference import place, turn

KIT = Path(lw.__file__).parent / "kits" / "bart_uh"
DRIVES = {s: [f"robot/{s}_hip/arc{n}/drive" for n in (1, 2, 3)] for s in ("right", "left")}


@pytest.mark.capability(87)
def test_the_legs_hang_where_the_closed_form_says_and_no_pin_opens() -> None:
    """Both thighs have the target attitude to 1e-9 with three motors each; gaps below 1e-10 m."""
    made = runpy.run_path(str(KIT / "agile_hips.py"))
    with lw.Session("bart_uh/agile_hips") as session:
        hips = {s: AgileEyeSolver(session.world, DRIVES[s], f"robot/{s}_hip/head") for s in DRIVES}
        start = {side: turn(session, f"robot/{side}_hip/head") for side in DRIVES}
        widest = 0.0
        for _ in range(40):
            session.step(40)
            for side, hip in hips.items():
                wanted = made["turn"](*made["wanted"](side, session.time - session.cycle.h)[:3])
                seen = turn(session, f"robot/{side}_hip/head")
                np.testing.assert_allclose(seen @ start[side].T, wanted, atol=1e-9)
                assert turn(session, f"robot/{side}_leg/thigh") @ start["left"].T == pytest.approx(
                    wanted, abs=1e-9
                )
                angles = hip.geometry.angles(wanted)
                assert angles is not None
                read = [session[f"{name}.angle"] for name in DRIVES[side]]
                np.testing.assert_allclose(read, angles, atol=1e-9)
                hub = np.add(hip.center, place(session, "robot/torso"))
                np.testing.assert_allclose(place(session, f"robot/{side}_hip/head"), hub, atol=1e-9)
                for n in (1, 2, 3):  # the middle axis is perpendicular to the pin
                    middle = turn(session, f"robot/{side}_hip/arc{n}/proximal")[:, 2]
                    pin = place(session, f"robot/{side}_hip/pin{n}") - hub
                    assert middle @ pin == pytest.approx(0.0, abs=1e-10)
                widest = max(widest, math.acos(min(1.0, seen[2, 2])))
        assert widest > math.radians(27)
        assert session.report().gap < 1e-10


def test_it_is_the_robot_with_the_hinged_hips_but_for_its_hips() -> None:
    """22 kg, the same feet, and the leg's closed form gives the motor angles."""
    agile, hinged = (
        lw.Scene(name).place(lw.load_part(f"bart_uh/{name}"), name="robot")
        for name in ("agile_biped", "biped")
    )
    agile.engine("impulse")
    with lw.Session(agile) as one, lw.Session(hinged) as two:
        assert one.world.mass.sum() == pytest.approx(two.world.mass.sum(), abs=1e-12)
        for side in DRIVES:
            for corner in ("sole", "front_left", "rear_right"):
                np.testing.assert_allclose(
                    place(one, f"robot/{side}_leg/{corner}"),
                    place(two, f"robot/{side}_{corner}"),
                    atol=1e-12,
                )
        hip = AgileEyeSolver(one.world, DRIVES["right"], "robot/right_hip/head")
        found = LegGeometry(0.35, 0.35, 0.10).solve(Pose((0.05, 0.1, -0.7)))
        assert found is not None
        q1, q2, q3 = found[:3].tolist()
        wanted = LegGeometry(0.35, 0.0).place(np.array([q1, q2, q3, 0, 0, 0])).matrix()[:3, :3]
        made = hip.geometry.angles(wanted)
        ideal = AgileEyeGeometry.about((0, 0, -1), (-1, 0, 0)).angles(wanted)
        assert made is not None
        assert ideal is not None
        np.testing.assert_allclose(made, ideal, atol=1e-10)


def test_one_motor_alone_turns_about_no_axis_of_the_hip() -> None:
    """Schwanen 2002 §2.4: a rotation about one axis needs two or three actuators."""
    geometry = AgileEyeGeometry.about((0, 0, -1), (1, 0, 0))
    for axis in np.eye(3):
        half = math.sin(0.15)
        quat = (math.cos(0.15), *(half * axis).tolist())
        angles = geometry.angles(Pose((0, 0, 0), quat).matrix()[:3, :3])  # type: ignore[arg-type]
        assert angles is not None
        assert np.count_nonzero(np.abs(angles) > 0.02) >= 2


def test_where_the_head_starts_changes_nothing_of_its_closed_form() -> None:
    """With an initial rotation of 0.2 rad the motor angles of the drawn pose are still 0."""
    scene = lw.Scene("s").place(lw.load_part("bart_uh/agile_biped"), name="robot").engine("impulse")
    world = compile_scene(scene)
    drawn = AgileEyeSolver(world, DRIVES["right"], "robot/right_hip/head")
    half = 0.1
    wanted = Pose((0, 0, 0), (math.cos(half), math.sin(half), 0.0, 0.0))
    at = int(world.qadr[world.frame("robot/right_hip/head")[0]])
    world.q0[at + 3 : at + 7] = wanted.quat
    for n in (1, 2, 3):
        for name in ("drive", "middle"):
            dof = world.single_dof(f"robot/right_hip/arc{n}/{name}")
            world.q0[world.qadr[world.dof_body[dof]]] = 0.3
    turned = AgileEyeSolver(world, DRIVES["right"], "robot/right_hip/head")
    for target in (Pose(), wanted):
        one, two = drawn.solve(target), turned.solve(target)
        assert one is not None
        assert two is not None
        np.testing.assert_allclose(two, one, atol=1e-9)
    still = turned.solve(Pose((0, 0, 0), (0.0, 0.0, 0.0, 1.0)))  # drawn rotated about z by 180°
    assert still is not None
    np.testing.assert_allclose(still, 0.0, atol=1e-9)


def test_a_serial_hip_is_no_agile_eye() -> None:
    """Its three axes also intersect at right angles, but the motors are in series."""
    scene = lw.Scene("s").place(lw.load_part("bart_uh/biped"), name="robot").engine("impulse")
    world, hips = compile_scene(scene), [f"robot/right_hip_{axis}" for axis in "xyz"]
    with pytest.raises(LinkworkError, match="not on one body"):
        AgileEyeSolver(world, hips, "robot/right_thigh")


def test_pins_and_middle_axes_that_stand_askew_are_refused() -> None:
    """The closed form requires the orthogonal design; a head without pins has none."""
    scene = lw.Scene("s").place(lw.load_part("bart_uh/agile_biped"), name="robot").engine("impulse")
    right, head = DRIVES["right"], "robot/right_hip/head"
    world = compile_scene(scene)
    pin = world.loop_names.index("robot/right_hip/pin1_ball")
    world.loop_pose[pin, :, 2] += 0.01
    with pytest.raises(LinkworkError, match="next motor's axis"):
        AgileEyeSolver(world, right, head)
    world = compile_scene(scene)
    body = world.dof_body[world.single_dof("robot/right_hip/arc2/middle")]
    world.axis[body] = (0.0, math.sin(0.1), math.cos(0.1))
    with pytest.raises(LinkworkError, match="middle axis"):
        AgileEyeSolver(world, right, head)
    with pytest.raises(LinkworkError, match="no pin connects it"):
        AgileEyeSolver(compile_scene(scene), right, "robot/left_hip/head")


def test_what_is_no_agile_eye_is_refused() -> None:
    """Too few motors, left-handed or non-intersecting axes, no rotation."""
    scene = lw.Scene("s").place(lw.load_part("bart_uh/agile_biped"), name="robot").engine("impulse")
    with lw.Session(scene) as session:
        world, right = session.world, DRIVES["right"]
        for drives, match in (
            (right[:2], "2 motors are named"),
            (right[::-1], "left-handed"),
            ([*right[:2], "robot/left_hip/arc3/drive"], "miss each other"),
            ([*right[:2], "robot/right_hip/arc3/middle"], "not on one body"),
            ([*right[:2], "robot/nothing"], "nothing"),
        ):
            with pytest.raises(LinkworkError, match=match):
                AgileEyeSolver(world, drives, "robot/right_hip/head")
        hip = AgileEyeSolver(world, right, "robot/right_hip/head")
    with pytest.raises(LinkworkError, match="rotation matrix"):
        hip.geometry.angles(np.ones((3, 3)))
    with pytest.raises(LinkworkError, match="perpendicular"):
        AgileEyeGeometry.about((0, 0, 1), (0, 1, 1))
    across = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # rotates one pin onto its motor's axis
    axes = hip.geometry.motors
    assert hip.geometry.angles(axes @ across.T @ axes.T) is None
    assert hip.solve(Pose()) is not None
