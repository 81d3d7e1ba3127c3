"""MJCF: the models of dm_control move as in MuJoCo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwork.formats import load_scene, save
from linkwork.formats.robots.mjcf import MjcfFormat
from mjcf_reference import SUITE, Twin, gap, mujoco, original, scatter

LOSE_NOTHING = (
    "cartpole", "acrobot", "hopper", "walker", "cheetah", "reacher", "humanoid", "quadruped",
    "manipulator", "stacker", "pendulum", "point_mass", "ball_in_cup", "finger", "fish", "lqr",
    "swimmer", "humanoid_CMU",
)  # fmt: skip
ALL = (*LOSE_NOTHING, "dog")
#: Models with few contacts and limits at random states.
FREE = ("acrobot", "cartpole", "reacher", "pendulum", "fish", "lqr", "swimmer")


def model(name: str) -> Path:
    assert SUITE.is_dir(), "the models are missing: `make test` fetches them"
    return SUITE / f"{name}.xml"


@pytest.mark.parametrize("name", LOSE_NOTHING)
def test_accelerations_are_those_of_the_original(name: str) -> None:
    """At 100 random states, in contact and beyond limits, with random controls, to 1e-8."""
    twin, chance = Twin.of(model(name)), np.random.default_rng(3)
    rows = 0
    for _ in range(100):
        twin.place(chance)
        theirs, ours = twin.accelerations()
        assert gap(theirs, ours) < 1e-8
        rows += twin.d.nefc
    assert rows > 100 or name in FREE


def test_the_dog_moves_as_the_original() -> None:
    """Without its skin; contacts that MuJoCo finds by search agree within 1e-5."""
    twin, chance = Twin.of(model("dog")), np.random.default_rng(3)
    gaps = []
    for _ in range(100):
        twin.place(chance)
        gaps.append(gap(*twin.accelerations()))
    assert max(gaps) < 1e-6
    assert sum(g > 1e-8 for g in gaps) <= 2


@pytest.mark.parametrize("name", LOSE_NOTHING)
def test_a_step_is_that_of_the_original(name: str) -> None:
    """One step of the session from random states ends with MuJoCo's velocities."""
    twin, chance = Twin.of(model(name)), np.random.default_rng(5)
    for _ in range(20):
        twin.place(chance)
        before = twin.d.qvel.copy()
        mujoco.mj_step(twin.m, twin.d)
        twin.cycle.move()
        ours = (twin.cycle.state.v[twin.v] - before) / twin.cycle.h
        assert gap((twin.d.qvel - before) / twin.cycle.h, ours) < 1e-8


@pytest.mark.parametrize("name", LOSE_NOTHING)
def test_nothing_but_looks_is_lost(name: str) -> None:
    """All notes concern visual settings only."""
    _, notes = MjcfFormat().read_with_notes(model(name))
    assert [note for note in notes if "visual" not in note] == []


@pytest.mark.parametrize("name", ["hopper", "humanoid", "quadruped", "finger", "swimmer"])
def test_sensors_read_what_mujoco_reads(name: str) -> None:
    """After some steps every sensor of the original has the same reading here."""
    twin = Twin.of(model(name))
    for _ in range(20):
        twin.cycle.sense()
        twin.cycle.move()
        mujoco.mj_step(twin.m, twin.d)
    twin.cycle.sense()
    mujoco.mj_forward(twin.m, twin.d)
    words = {1: ("value",), 3: ("x", "y", "z"), 4: ("w", "x", "y", "z")}
    for s in range(twin.m.nsensor):
        name, first = twin.m.sensor(s).name, int(twin.m.sensor_adr[s])
        for k, word in enumerate(words[int(twin.m.sensor_dim[s])]):
            signal = twin.cycle.signals[f"{name}.{word}"]
            ours, theirs = twin.cycle.state.data[signal.address], twin.d.sensordata[first + k]
            assert ours == pytest.approx(theirs, abs=3e-6, rel=1e-7), f"{name}.{word}"


@pytest.mark.parametrize("name", ALL)
def test_the_whole_suite_comes_in(name: str) -> None:
    """Every model of the suite is read; each omission has a note."""
    scene, notes = MjcfFormat().read_with_notes(model(name))
    m = original(model(name))
    joints = [j for p in scene.parts.values() for j in p.part.joints]
    assert len(joints) == m.njnt
    assert len(scene.actuators) + sum("actuators" in note for note in notes) >= bool(m.nu)
    assert all(note.endswith(".") for note in notes)


@pytest.mark.parametrize("name", ["humanoid", "quadruped", "manipulator"])
def test_a_model_survives_the_way_through_our_own_files(name: str, tmp_path: Path) -> None:
    """Saved as TOML and loaded again, names and accelerations are the same."""
    save(MjcfFormat().read(model(name)), tmp_path / "model.toml")
    again = load_scene(tmp_path / "model.toml")
    twin, chance = Twin.of(model(name), again), np.random.default_rng(7)
    first = Twin.of(model(name))
    assert first.cycle.world.body_names == twin.cycle.world.body_names
    assert first.cycle.world.joint_names == twin.cycle.world.joint_names
    np.testing.assert_array_equal(first.cycle.world.inertia, twin.cycle.world.inertia)
    for _ in range(10):
        twin.place(chance)
        assert gap(*twin.accelerations()) < 1e-8


@pytest.mark.parametrize("name", ALL)
def test_a_model_written_again_is_the_same_model(name: str, tmp_path: Path) -> None:
    """MJCF → scene → MJCF: MuJoCo's own accelerations agree to 1e-8, with drives and sensors."""
    notes = save(MjcfFormat().read(model(name)), tmp_path / "again.mjcf")
    assert [note for note in notes if "neither visible nor collide" not in note] == []
    ends = [original(path) for path in (model(name), tmp_path / "again.mjcf")]
    m, again = ends
    assert [m.nbody, m.njnt, m.nu, m.na, m.nsensor, m.neq] == [
        again.nbody, again.njnt, again.nu, again.na, again.nsensor, again.neq,
    ]  # fmt: skip
    d, other, chance = *map(mujoco.MjData, ends), np.random.default_rng(3)
    positions = [[], []]
    for j in range(m.njnt):
        there = again.joint(m.joint(j).name or f"joint{j}")
        positions[0] += range(there.qposadr[0], there.qposadr[0] + len(there.qpos0))
        positions[1] += range(there.dofadr[0], there.dofadr[0] + len(m.joint(j).damping))
    for _ in range(30):
        scatter(m, d, chance)
        mujoco.mj_resetData(again, other)
        other.qpos[positions[0]], other.qvel[positions[1]] = d.qpos, d.qvel
        other.ctrl[:], other.act[:] = d.ctrl, d.act
        mujoco.mj_forward(m, d)
        mujoco.mj_forward(again, other)
        assert gap(d.qacc, other.qacc[positions[1]]) < 1e-8


@pytest.mark.parametrize("name", ["cartpole", "humanoid", "quadruped", "manipulator"])
def test_a_model_read_again_has_the_same_names(name: str, tmp_path: Path) -> None:
    """The second scene has the elements, joints, anchors and scenery of the first, and no more."""
    first = MjcfFormat().read(model(name))
    save(first, tmp_path / "again.mjcf")
    second = MjcfFormat().read(tmp_path / "again.mjcf")
    assert set(second.scenery) == set(first.scenery)
    (one,), (other,) = ([p.part for p in s.parts.values()] for s in (first, second))
    assert set(other.elements) == set(one.elements)
    assert set(other.joints) == set(one.joints)
    assert set(other.anchors) == set(one.anchors)
    assert [s.name for s in second.actuators] == [s.name for s in first.actuators]
    assert [s.name for s in second.sensors] == [s.name for s in first.sensors]
