"""Schwanen 2002 chapter 5: the walk of BARt-UH II, and its three modes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from example_robots import pinocchio
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.model.scene import MODES
from linkwork.model.world import World
from linkwork.session.replay import replay
from linkwork.session.session import Session

LEG = ("hip_z", "hip_y", "hip_x", "knee", "ankle_x", "ankle_y")
JOINTS = [f"robot/{side}_{name}" for side in ("right", "left") for name in LEG]  # q1 … q12
G, MASS = 9.81, 22.0


def opened(mode: str, step: float = 0.002, **options: object) -> Session:
    """Opens the walk in a mode; prescribed motion does not depend on the step."""
    scene = replace(lw.load_scene("bart_uh/walk"), mode=mode, step=step)
    return Session(scene, watch=False, **options)  # type: ignore[arg-type]


def pose_of(session: Session, frame: str) -> np.ndarray:
    """Returns rotation and position (3×4) of an anchor or element, from the coordinates."""
    body, local = session.world.frame(frame)
    row = forward(session.world, session.state.q)[body]
    at = Pose(tuple(row[:3]), tuple(row[3:])) @ local
    return np.column_stack([at.matrix(), at.xyz])


@pytest.mark.capability(76)
@pytest.mark.capability(71)
def test_the_kinematic_walk_keeps_soles_flat_and_torso_level() -> None:
    """To 1e-9; the stance foot does not slide, and all joints stay in range."""
    with opened("kinematic", 0.01) as session:
        world = session.world
        dofs = [world.single_dof(name) for name in JOINTS]
        positions = world.qadr[world.dof_body[dofs]]
        flat = {side: pose_of(session, f"robot/{side}_sole")[:3, :3] for side in ("right", "left")}
        stood: dict[str, np.ndarray] = {}
        height = pose_of(session, "robot/torso")[2, 3]
        lifted, slid = 0.0, 0.0
        for _ in range(257):
            session.step(2)
            torso = pose_of(session, "robot/torso")
            np.testing.assert_allclose(torso[:3, :3], np.eye(3), atol=1e-9)
            assert torso[2, 3] == pytest.approx(height, abs=1e-9)
            assert torso[0, 3] == pytest.approx(0.0, abs=1e-9)
            q = session.state.q[positions]
            assert (q >= world.dof_lo[dofs]).all()
            assert (q <= world.dof_hi[dofs]).all()
            assert (q[[3, 9]] < 0.0).all()  # human-like
            for side in ("right", "left"):
                sole = pose_of(session, f"robot/{side}_sole")
                np.testing.assert_allclose(sole[:3, :3], flat[side], atol=1e-9)
                assert sole[2, 3] > -1e-9
                lifted = max(lifted, sole[2, 3])
                if session[f"walk.{side}_share"] > 1e-6:
                    slid = max(slid, np.abs(sole[:3, 3] - stood.get(side, sole[:3, 3])).max())
                    stood[side] = sole[:3, 3]
                else:
                    stood.pop(side, None)
        assert slid < 1e-9
        assert lifted == pytest.approx(0.05, abs=1e-4)
        assert pose_of(session, "robot/torso")[1, 3] == pytest.approx(1.0, abs=1e-9)
        assert session["walk.step"] == 6.0


@pytest.mark.capability(71)
@pytest.mark.capability(84)
def test_what_is_prescribed_has_its_derivatives_everywhere() -> None:
    """Velocities and accelerations of joints, torso and feet are the derivatives of positions."""
    with opened("kinematic") as session:
        session.step(640)
        tables = ["torso_state", "right_state", "left_state"]
        columns = [f"{t}.{c}" for t in tables for c in ("x", "y", "z", "phi", "psi", "theta")]
        names = [(f"{j}.angle", f"{j}.speed", f"{j}.acceleration") for j in JOINTS]
        names += [(c, f"{c}_speed", f"{c}_acceleration") for c in columns]
        rows = []
        for _ in range(3):
            session.step()
            rows.append([[session[name] for name in triple] for triple in names])
        before, here, after = np.array(rows)
        rates = (after - before)[:, :2] / (2.0 * session.cycle.h)
        np.testing.assert_allclose(rates, here[:, 1:], atol=5e-2)
        np.testing.assert_allclose(rates[:, 0], here[:, 1], atol=5e-4)
        assert np.abs(here[:, 2]).max() > 1.0
        foot = session.world.body("robot/right_foot")
        place = forward(session.world, session.state.q)[foot, :3] + [0.0, 0.0, -0.05]
        assert session["right_state.y"] == pytest.approx(place[1], abs=1e-9)
        assert session["right_state.z"] == pytest.approx(place[2], abs=1e-9)


class Twin:
    """The walk's robot built joint by joint in Pinocchio, with its carriage."""

    def __init__(self, world: World) -> None:
        model, numbers = pinocchio.Model(), {0: 0}
        for b in range(1, world.nb):
            if world.kind[b] == 0:
                numbers[b] = 0
                continue
            letter = "XYZ"[int(np.argmax(world.axis[b]))]
            kind = getattr(pinocchio, f"JointModel{'R' if world.kind[b] == 1 else 'P'}{letter}")
            over = int(world.parent[b])
            start = pinocchio.SE3(np.eye(3), world.x0[b, :3])
            if numbers[over] == 0 and over > 0:
                start = pinocchio.SE3(np.eye(3), world.x0[over, :3]) * start
            numbers[b] = model.addJoint(numbers[over], kind(), start, f"j{b}")
            own = pinocchio.Inertia(world.mass[b], world.com[b], world.inertia[b])
            model.appendBodyToJoint(numbers[b], own, pinocchio.SE3.Identity())
        model.armature = world.armature.copy()
        self.model, self.data, self.numbers, self.world = model, model.createData(), numbers, world

    def efforts(self, session: Session, shares: dict[str, float]) -> np.ndarray:
        """Returns inverse dynamics with the ground reaction shared by the documented rule."""
        model, data, state = self.model, self.data, session.state
        q, v, a = state.q, state.v, state.report.acceleration
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        force = data.dhg.linear + np.array([0.0, 0.0, MASS * G])
        moment = data.dhg.angular + np.cross(data.com[0], force)  # about the origin
        points = {side: pose_of(session, f"robot/{side}_sole")[:3, 3] for side in shares}
        left = moment - sum(np.cross(points[s], share * force) for s, share in shares.items())
        outer = pinocchio.StdVec_Force()
        outer.extend([pinocchio.Force.Zero() for _ in range(model.njoints)])
        for side, share in shares.items():
            wrench = np.cross(points[side], share * force) + share * left
            number = self.numbers[self.world.body(f"robot/{side}_foot")]
            whole = pinocchio.Force(share * force, wrench)
            outer[number] = data.oMi[number].actInv(whole)
        return pinocchio.rnea(model, data, q, v, a, outer)


@pytest.mark.capability(72)
def test_emulated_moments_are_pinocchios_with_the_ground_under_the_feet() -> None:
    """In single and double support; the carriage carries no load."""
    with opened("emulation", 0.01) as session:
        world, twin = session.world, Twin(session.world)
        dofs = [world.single_dof(name) for name in JOINTS]
        held = [world.single_dof(f"torso/{name}") for name in ("x", "y", "z", "phi", "psi")]
        both = 0
        for _ in range(20):
            session.step(24)
            shares = {side: session[f"walk.{side}_share"] for side in ("right", "left")}
            both += 0.01 < shares["right"] < 0.99
            wanted = twin.efforts(session, shares)
            made = session.state.report.effort
            np.testing.assert_allclose(made[dofs], wanted[dofs], atol=1e-9)
            np.testing.assert_allclose(made[held], 0.0, atol=1e-9)
            assert np.abs(made[dofs]).max() > 3.0
        assert both >= 3


@pytest.mark.capability(72)
def test_the_feet_carry_what_moves_and_weighs() -> None:
    """Their forces sum to m (a + g), with a of the total center of mass."""
    with opened("emulation", 0.01) as session:
        twin, found = Twin(session.world), []
        for _ in range(12):
            session.step(30)
            state = session.state
            q, v, a = state.q.copy(), state.v.copy(), state.report.acceleration.copy()
            pinocchio.centerOfMass(twin.model, twin.data, q, v, a)
            acceleration = twin.data.acom[0]
            session.step()  # feet are read at the start of the next step
            total = session["robot/right_tread.force"] + session["robot/left_tread.force"]
            assert total == pytest.approx(MASS * (acceleration[2] + G), abs=1e-9)
            found.append(total)
        assert max(found) - min(found) > 1.0  # not only the static weight


@pytest.mark.capability(72)
def test_left_and_right_moments_are_the_same_a_step_later() -> None:
    """In a uniform walk Q9 is Q3 of the previous step (unlike Schwanen 2002 fig. 5.8)."""
    with opened("emulation", 0.01) as session:
        rows = []
        for _ in range(500):
            session.step()
            rows.append([session[f"{name}.effort"] for name in JOINTS])
        moments, step = np.array(rows), round(0.8 / session.cycle.h)
        # from the third to the last but one step the torso moves uniformly
        middle = slice(round(1.8 / session.cycle.h), round(3.2 / session.cycle.h))
        right, left = moments[:, :6], moments[step:, 6:]
        mirror = np.array([-1.0, -1.0, 1.0, 1.0, 1.0, -1.0])  # about z and y they are mirrored
        np.testing.assert_allclose(right[middle], mirror * left[middle], atol=1e-9)
        # at one time they differ, and in the first step, where the torso accelerates
        assert np.abs(right[middle, 2] - moments[middle, 8]).max() > 5.0
        first = slice(20, 80)
        assert np.abs(right[first, 2] - moments[step:, 8][first]).max() > 0.5


@pytest.mark.capability(73)
@pytest.mark.capability(75)
def test_drives_track_the_path_and_softer_ones_lag() -> None:
    """Target and actual values; a gain changed at run time changes the error."""
    with opened("simulation") as session:
        session.step(900)
        errors = []
        for kp in (600.0, 60.0):
            for name in JOINTS:
                session[f"{name}.kp"] = kp
            worst = 0.0
            for _ in range(400):  # a whole step of the walk
                session.step()
                off = [session[f"{n}.target"] - session[f"{n}.angle"] for n in JOINTS]
                worst = max(worst, float(np.abs(off).max()))
            errors.append(worst)
        assert 1e-4 < errors[0] < 0.03
        assert errors[1] > 2.0 * errors[0]
        assert session["torso/y.position"] == pytest.approx(session["torso/y.target"], abs=1e-6)


@pytest.mark.capability(74)
def test_one_switch_keeps_time_and_posture_and_is_replayed(tmp_path: object) -> None:
    """Through all modes of one running scene; the recording replays bit-exact."""
    path = f"{tmp_path}/modes.mcap"
    with opened("kinematic", record=path) as session:
        session.step(450)
        for mode in ("emulation", "simulation", "kinematic"):
            session["robot/right_knee.kp"] = 500.0
            before = session.time, session.state.q.copy(), session["robot/right_knee.target"]
            session.mode = mode
            session.process_inbox()
            assert session.mode == mode
            after = session.time, session.state.q, session["robot/right_knee.target"]
            assert after[0] == before[0]
            assert after[2] == before[2]
            np.testing.assert_array_equal(after[1], before[1])
            assert session["robot/right_knee.kp"] == 500.0
            session.step(60)
            effort = abs(session["robot/right_knee.effort"])
            assert (effort > 0.1) == (mode != "kinematic")
            off = abs(session["robot/right_knee.target"] - session["robot/right_knee.angle"])
            assert (off > 1e-6) == (mode == "simulation")
    result = replay(path)
    assert result.same, result.mismatch


def test_an_unknown_mode_is_refused() -> None:
    """The message lists the modes; nothing changes."""
    with opened("kinematic") as session:
        with pytest.raises(lw.LinkworkError, match=r"dynamic.*emulation, kinematic, simulation"):
            session.mode = "dynamic"
        session.step()
        assert session.mode == "kinematic"
    assert MODES == ("kinematic", "emulation", "simulation")


def test_a_switch_that_cannot_be_recorded_changes_nothing(tmp_path: Path) -> None:
    """A file of the scene is missing: the switch is rejected, and the recording continues."""
    skin, path = tmp_path / "skin.png", tmp_path / "modes.mcap"
    skin.write_bytes(b"a picture")
    block = lw.Part("block")
    block.add(lw.Element("block", (lw.Box((0.1, 0.1, 0.1), texture=str(skin)),)))
    scene = lw.Scene("textured", mode="kinematic").place(block, name="block").engine("impulse")
    with Session(scene, watch=False, record=path) as session:
        session.step(10)
        skin.unlink()
        session.mode = "emulation"
        session.step(30)
        assert (session.mode, session.version) == ("kinematic", 1)
        assert any("skin.png" in event.text for event in session.outbox.events)
    result = replay(path)
    assert result.same, result.mismatch
    assert result.steps == 40


def test_the_mode_it_has_is_no_switch() -> None:
    """A scene without a mode is simulated; setting that mode creates no new version."""
    scene = replace(lw.load_scene("bart_uh/walk"), mode="")
    with Session(scene, watch=False) as session:
        session.mode = session.mode
        session.process_inbox()
        assert (session.version, session.world.scene.mode) == (1, "")
        session.mode = "kinematic"
        session.process_inbox()
        reported = [event.text for event in session.outbox.events]
        assert "the mode is kinematic now; this is version 2." in reported
