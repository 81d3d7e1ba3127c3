"""The kit of mechanisms: each stays closed, and moves by its closed form."""

import math
import runpy
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from effort import seconds
from linkwork.model.parts import find_kits
from mechanism_reference import (
    SCENES,
    coupler_point,
    from_watts_curve,
    jansen_foot,
    place,
    three_spheres,
    turn,
)

KIT = find_kits()["mechanisms"]


def program(name: str) -> dict[str, Any]:
    """Returns the definitions of a control program of the kit."""
    return runpy.run_path(str(KIT.folder / f"{name}.py"))


def test_the_kit_has_every_mechanism() -> None:
    """A scene and a picture for each of the fourteen."""
    assert {f"mechanisms/{name}" for name in SCENES} == set(KIT.scenes())
    for name in SCENES:
        assert (KIT.folder / f"{name}.png").stat().st_size < 150_000


@pytest.mark.capability(15, 16)
@pytest.mark.parametrize("name", SCENES)
def test_every_mechanism_holds_together(name: str) -> None:
    """Initially closed, without omissions, and no joint opens more or faster than allowed.

    For 6 s, with ``--full`` for a minute; the chain of 200 bodies for a third of that.
    """
    duration = seconds(60.0, 6.0) / (3.0 if name == "chain" else 1.0)
    with lw.Session(f"mechanisms/{name}") as session:
        for finding in session.cycle.findings:
            assert finding.level == "note", finding
            assert "to close all joints" not in str(finding)
        session.run(duration)
        report = session.report()
        (account,) = (a for a in report.accounts if a.engine == "impulse")
        assert account.steps == report.steps == round(session.time / session.cycle.h)
        assert session.time == pytest.approx(duration)
        assert 0.0 < account.gap <= account.allowed[0] <= 1e-10
        assert 0.0 < account.speed_gap <= account.allowed[1] <= 1e-9
        assert account.exceeded == 0
        assert report.gap <= 1e-9
        assert np.isfinite(session.state.pose).all()
        assert np.isfinite(session.state.twist).all()


@pytest.mark.parametrize(
    "name", ["slider_crank", "universal_shaft", "hexapod", "agile_eye", "delta"]
)
def test_well_chosen_joints_hold_nothing_twice(name: str) -> None:
    """Suitable balls and sliding pins avoid redundant constraints; others have a note."""
    with lw.Session(f"mechanisms/{name}") as session, lw.Session("mechanisms/four_bar") as other:
        assert not any("are redundant" in str(f) for f in session.cycle.findings)
        assert any("are redundant" in str(f) for f in other.cycle.findings)


def test_the_double_pendulum_keeps_its_energy() -> None:
    """Within 1e-5 of the kinetic energy, over half a minute of chaotic motion."""
    with lw.Session("mechanisms/double_pendulum") as session:
        energies, swing = [], 0.0
        for _ in range(300):
            session.step(50)
            energies.append(session["world.kinetic_energy"] + session["world.potential_energy"])
            swing = max(swing, session["world.kinetic_energy"])
        assert np.ptp(energies) < 1e-5 * swing


def test_the_four_bars_pen_draws_its_coupler_curve() -> None:
    with lw.Session("mechanisms/four_bar") as session:
        for _ in range(100):
            session.step(20)
            x, y, z = place(session, "linkage/pen")
            truth = coupler_point(session["linkage/shaft.angle"])
            np.testing.assert_allclose((x, y, z - 0.22), (truth[0], 0.0, truth[1]), atol=1e-9)
        assert session["linkage/shaft.angle"] > 2 * math.pi


def test_the_piston_is_where_the_crank_puts_it() -> None:
    """Position and velocity, also at and near the dead centers."""
    crank, rod = 0.06, 0.2
    with lw.Session("mechanisms/slider_crank") as session:
        nearest = 1.0
        for _ in range(400):
            session.step(5)
            angle, speed = session["engine/shaft.angle"], session["engine/shaft.speed"]
            side = math.sqrt(rod**2 - (crank * math.sin(angle)) ** 2)
            truth = crank * math.cos(angle) + side - math.sqrt(rod**2 - crank**2)
            assert session["engine/bore.position"] == pytest.approx(truth, abs=1e-9)
            slope = -crank * math.sin(angle) * (1.0 + crank * math.cos(angle) / side)
            assert session["engine/bore.speed"] == pytest.approx(slope * speed, abs=1e-8)
            nearest = min(nearest, abs(math.sin(angle)))
        assert nearest < 0.01
        assert session["engine/shaft.angle"] > 6 * math.pi


def test_jansens_feet_walk_along_their_curve() -> None:
    """With his proportions, over many turns; both legs are in phase."""
    with lw.Session("mechanisms/jansen") as session:
        low = []
        for _ in range(120):
            session.step(25)
            for leg, side, deep in (("left", 1.0, 0.025), ("right", -1.0, -0.04)):
                x, y, z = place(session, f"legs/{leg}/foot")
                truth = jansen_foot(session[f"legs/{leg}/shaft.angle"])
                np.testing.assert_allclose(
                    (side * x, y, z - 0.40), (truth[0], deep, truth[1]), atol=1e-9
                )
                low.append(z)
            both = session["legs/left/shaft.angle"] + session["legs/right/shaft.angle"]
            assert both == pytest.approx(math.pi, abs=1e-9)
        assert session["legs/left/shaft.angle"] < -4 * math.pi
        on_the_ground = np.array(low) < min(low) + 0.01
        assert on_the_ground.mean() > 0.35  # a long flat step, and a short return


def test_the_pantograph_draws_three_times_as_large() -> None:
    made = program("pantograph")
    with lw.Session("mechanisms/pantograph") as session:
        for _ in range(100):
            session.step(40)
            stylus, copy = place(session, "arm/stylus")[:2], place(session, "arm/copy")[:2]
            np.testing.assert_allclose(copy, 3.0 * stylus, atol=1e-9)
            x, y = made["heart"](2 * math.pi * (session.time - 0.002) / 8.0)
            np.testing.assert_allclose(stylus, (0.165 + x, y), atol=1e-9)


def test_the_middle_of_a_cardan_shaft_hurries_and_lags() -> None:
    """tan b = tan a · cos β for the middle, and the end equals the beginning."""
    tilt = math.radians(30)
    across = np.array([-math.sin(tilt), 0.0, math.cos(tilt)])
    with lw.Session("mechanisms/universal_shaft") as session:
        largest = 0.0
        for _ in range(200):
            session.step(20)
            a = session["shaft/shaft.angle"]
            pin = turn(session, "shaft/sleeve")[:, 2]
            b = math.atan2(-pin[1], pin @ across)
            ahead = math.remainder(b - a, 2 * math.pi)
            truth = math.atan2(math.sin(a) * math.cos(tilt), math.cos(a))
            assert math.remainder(b - truth, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
            assert session["shaft/load.angle"] == pytest.approx(a, abs=1e-9)
            largest = max(largest, abs(ahead))
        assert largest == pytest.approx(math.radians(4.11), abs=0.002)
        assert session["shaft/shaft.angle"] > 4 * math.pi


def test_the_jack_lifts_by_its_pitch_a_turn() -> None:
    """The torque that holds its load is m g p / 2π."""
    with lw.Session("mechanisms/screw_jack") as session:
        turns = 0.0
        for _ in range(70):
            session.step(50)
            turns = session["jack/thread.angle"] / (2 * math.pi)
            assert session["jack/guide.position"] == pytest.approx(0.016 * turns, abs=1e-9)
        session.run(0.6)
        assert turns == pytest.approx(6.0, abs=0.02)
        torque = 21.2 * 9.81 * 0.016 / (2 * math.pi)
        assert session["jack/thread.effort"] == pytest.approx(torque, rel=1e-3)


def test_the_hexapods_legs_are_as_long_as_its_pose_asks_for() -> None:
    """The platform has its target pose, and each leg the length |p + R b − a|, to 1e-9."""
    made = program("hexapod")
    half = math.radians(14)
    feet, tops = [], []
    for n in range(3):
        for side in (-1, 1):
            foot, top = 2 * math.pi * n / 3 + side * half, 2 * math.pi * n / 3
            top += side * (math.pi / 3 - half)
            feet.append((0.22 * math.cos(foot), 0.22 * math.sin(foot), 0.05))
            tops.append((0.14 * math.cos(top), 0.14 * math.sin(top), 0.0))
    with lw.Session("mechanisms/hexapod") as session:
        rest = np.linalg.norm(np.add(tops, (0, 0, 0.35)) - feet, axis=1)
        tilted = 0.0
        for _ in range(100):
            session.step(30)
            at, turned = place(session, "hexapod/platform"), turn(session, "hexapod/platform")
            wanted, gaze = made["wanted"](session.time - 0.002)
            np.testing.assert_allclose(at, np.add(wanted, (0, 0, 0.35)), atol=1e-9)
            np.testing.assert_allclose(turned, gaze, atol=1e-9)
            long = np.linalg.norm(at + np.array(tops) @ turned.T - feet, axis=1)
            strokes = [session[f"hexapod/leg{n}/stroke.position"] for n in range(1, 7)]
            np.testing.assert_allclose(long - rest, strokes, atol=1e-9)
            tilted = max(tilted, math.acos(turned[2, 2]))
        assert tilted > 0.15


@pytest.mark.capability(87)
def test_the_agile_eye_looks_where_its_motors_say() -> None:
    """Its pins are perpendicular to the middle axes, and all axes intersect in one point."""
    made = program("agile_eye")
    up = np.ones(3) / math.sqrt(3)
    first = np.array([1.0, 0.0, 0.0]) - up / math.sqrt(3)
    first /= np.linalg.norm(first)
    motors = np.vstack([first, np.cross(up, first), up])  # their axes, by columns
    with lw.Session("mechanisms/agile_eye") as session:
        widest = 0.0
        for _ in range(100):
            session.step(30)
            seen = turn(session, "eye/eye")
            np.testing.assert_allclose(
                motors.T @ seen @ motors, made["gaze"](session.time - 0.002), atol=1e-9
            )
            for n in range(3):
                angle = session[f"eye/leg{n + 1}/drive.angle"]
                axes = [motors[:, (n + k) % 3] for k in range(3)]
                middle = math.cos(angle) * axes[2] - math.sin(angle) * axes[1]
                pin = seen @ axes[1]
                assert middle @ pin == pytest.approx(0.0, abs=1e-9)
                for piece in ("proximal", "distal"):  # their frames are at the center
                    there = place(session, f"eye/leg{n + 1}/{piece}")
                    np.testing.assert_allclose(there, (0, 0, 0.27), atol=1e-9)
            np.testing.assert_allclose(place(session, "eye/eye"), (0, 0, 0.27), atol=1e-9)
            widest = max(widest, math.acos(seen[2, 2]))
        assert widest > 0.44


def test_the_delta_robot_is_where_three_spheres_meet() -> None:
    """By its lever angles alone; it reaches its target, and never tilts."""
    made = program("delta")
    with lw.Session("mechanisms/delta") as session:
        variants = []
        for _ in range(100):
            session.step(30)
            centers = []
            for n in range(3):
                angle = session[f"robot/arm{n + 1}/drive.angle"]
                out = 0.11 + 0.16 * math.cos(angle) - 0.045
                azimuth = 2 * math.pi * n / 3
                centers.append(
                    (
                        out * math.cos(azimuth),
                        out * math.sin(azimuth),
                        0.62 - 0.16 * math.sin(angle),
                    )
                )
            there = place(session, "robot/platform")
            np.testing.assert_allclose(there, three_spheres(np.array(centers), 0.34), atol=1e-9)
            wanted = made["path"](session.time - 0.002)
            np.testing.assert_allclose(there, np.add(wanted, (0, 0, 0.62)), atol=1e-9)
            np.testing.assert_allclose(turn(session, "robot/platform"), np.eye(3), atol=1e-9)
            variants.append(there)
        assert np.ptp(variants, axis=0)[0] > 0.2
        assert np.ptp(variants, axis=0)[2] > 0.1


def test_the_ring_keeps_its_energy() -> None:
    with lw.Session("mechanisms/ring") as session:
        energies, swing = [], 0.0
        for _ in range(300):
            session.step(10)
            energies.append(session["world.kinetic_energy"] + session["world.potential_energy"])
            swing = max(swing, session["world.kinetic_energy"])
        assert np.ptp(energies) < 2e-2 * swing


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "watt", "jansen"])
def test_mujoco_agrees_within_its_softness(name: str) -> None:
    """The same scene on both engines, for half a second: positions within 2 mm."""
    scene = lw.load_scene(f"mechanisms/{name}")
    other = lw.load_scene(f"mechanisms/{name}")
    other.engines.clear()
    other.engine("mujoco", integrator="RK4")
    other.step = scene.step / 8
    with lw.Session(scene) as ours, lw.Session(other) as theirs:
        ours.run(0.5)
        theirs.run(0.5)
        np.testing.assert_allclose(theirs.state.pose[:, :3], ours.state.pose[:, :3], atol=2e-3)
        assert ours["world.gap"] < 1e-9
        assert theirs["world.gap"] < 2e-3


def test_what_is_drawn_in_the_scenes_is_the_closed_form() -> None:
    """Watt's track is his sextic, and Jansen's the path of a foot."""
    track = lw.load_scene("mechanisms/watt").scenery["track"]
    far = math.hypot(0.24, 0.08)
    for shape in track.shapes:
        assert isinstance(shape, lw.Capsule)
        tip = shape.at @ lw.Pose.of((0.0, 0.0, shape.length / 2))
        x, z = tip.xyz[0], tip.xyz[2] - 0.36
        own = np.array([(0.24 * x - 0.08 * z) / far, (0.24 * z + 0.08 * x) / far])
        if np.hypot(*own) > 0.02:
            assert from_watts_curve(own, 0.24, 0.08, far) < 2e-5
    track = lw.load_scene("mechanisms/jansen").scenery["left_track"]
    for number, shape in enumerate(track.shapes):
        assert isinstance(shape, lw.Capsule)
        tip = shape.at @ lw.Pose.of((0.0, 0.0, -shape.length / 2))
        truth = jansen_foot(math.radians(5 * number))
        np.testing.assert_allclose((tip.xyz[0], tip.xyz[2] - 0.40), truth, atol=2e-5)
