"""Reaction forces and moments of joints, and the energy, as signals."""

import csv
import math
from pathlib import Path

import pytest

from command_line import linkwork
from linkwork.core.errors import NameNotFound
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Joint, Loop, Part
from linkwork.session.session import Session
from mechanisms import bar, four_bar, ground, scene_of

LENGTH, MASS, WIDE, G = 0.4, 0.6, 0.02, 9.81


def pendulum(start: float) -> Part:
    return Part("clock").add(
        ground(), bar("rod", LENGTH, MASS),
        Joint("pin", "hinge", "ground", "rod", axis=(0, 1, 0), value=start),
    )  # fmt: skip


@pytest.mark.parametrize(
    "params", [{"order": 2}, {"order": 4}, {"order": 6}, {"order": 6, "method": "forces"}]
)
def test_a_pendulums_pin_carries_weight_and_swing(params: dict) -> None:
    """Along the rod m g cos φ + m a ω², across it m g sin φ (1 − m a² / I); ω from the energy."""
    start, a = 0.3, LENGTH / 2
    about_pin = MASS * (LENGTH**2 + WIDE**2) / 12 + MASS * a * a
    with Session(scene_of(pendulum(start), step=2e-4, **params)) as session:
        for _ in range(10):
            session.step(173)
            down = session["clock/pin.angle"] - math.pi / 2  # from the hanging position
            first = start - math.pi / 2
            speed2 = 2 * MASS * G * a * (math.cos(down) - math.cos(first)) / about_pin
            along = MASS * G * math.cos(down) + MASS * a * speed2
            across = MASS * G * math.sin(down) * (1 - MASS * a * a / about_pin)
            assert session["clock/pin.force"] == pytest.approx(math.hypot(along, across), rel=2e-3)
            up = along * math.cos(down) + across * math.sin(down)
            assert session["clock/pin.force_z"] == pytest.approx(up, rel=1e-2, abs=0.02)
            assert session["clock/pin.force_y"] == pytest.approx(0.0, abs=1e-9)
            assert session["clock/pin.moment"] == pytest.approx(0.0, abs=1e-9)


def test_a_beam_on_two_supports_shares_its_weight() -> None:
    """At rest: half on the hinge, half on the point of a loop at the other end."""
    part = Part("beam").add(
        ground(), bar("beam", LENGTH, MASS),
        Joint("left", "hinge", "ground", "beam", axis=(0, 1, 0)),
        Anchor("end", "beam", Pose.of((LENGTH, 0, 0))),
        Anchor("bearing", "ground", Pose.of((LENGTH, 0, 0))),
        Loop("right", "bearing", "end", "point_on_plane", axis=(0, 0, 1)),
    )  # fmt: skip
    with Session(scene_of(part)) as session:
        session.step(20)
        for name in ("left", "right"):
            assert session[f"beam/{name}.force_z"] == pytest.approx(MASS * G / 2, rel=1e-6)
            assert session[f"beam/{name}.force"] == pytest.approx(MASS * G / 2, rel=1e-6)


def test_a_slide_bears_the_moment_of_what_sticks_out() -> None:
    """A bar on a level slider: its weight as force, weight times lever as moment."""
    part = Part("arm").add(
        ground(), bar("bar", LENGTH, MASS),
        Joint("slide", "slider", "ground", "bar", axis=(0, 1, 0)),
    )  # fmt: skip
    with Session(scene_of(part)) as session:
        session.step(20)
        assert session["arm/slide.force"] == pytest.approx(MASS * G, rel=1e-9)
        assert session["arm/slide.moment"] == pytest.approx(MASS * G * LENGTH / 2, rel=1e-9)


def test_signals_agree_with_the_arrows() -> None:
    """They equal the forces that the studio draws at the joints of a four-bar."""
    with Session(scene_of(four_bar())) as session:
        session.step(100)
        rows = session.cycle.joint_forces()
        world = session.cycle.world
        names = [*world.joint_names, *world.loop_names]
        assert len(rows) == 4
        for row in rows:
            name = names[int(row[6])]
            found = [session[f"{name}.force_{axis}"] for axis in "xyz"]
            assert found == pytest.approx(row[3:6].tolist(), rel=1e-9, abs=1e-12)


def test_no_forces_are_told_before_a_step_and_where_an_engine_does_not_know_them() -> None:
    with Session(scene_of(pendulum(0.3))) as session:
        assert session["clock/pin.force"] == 0.0
    with (
        Session(scene_of(pendulum(0.3), "mujoco")) as other,
        pytest.raises(NameNotFound, match=r"clock/pin\.force"),
    ):
        other["clock/pin.force"]


def test_the_energy_of_the_world_is_a_signal() -> None:
    """Kinetic and potential, on every engine; that of a pendulum is constant."""
    for engine in ("impulse", "mujoco", "lagrange"):
        with Session(scene_of(pendulum(0.3), engine)) as session:
            session.step()
            first = session["world.energy"]
            session.step(300)
            parts = session["world.kinetic_energy"] + session["world.potential_energy"]
            assert session["world.energy"] == pytest.approx(parts, rel=1e-12)
            assert session["world.energy"] == pytest.approx(first, abs=1e-3)
            assert session["world.kinetic_energy"] > 0.1


def test_forces_of_bearings_and_the_energy_are_in_recordings(tmp_path: Path) -> None:
    """Read back by name, with the values of the run."""
    path, table = tmp_path / "swing.mcap", tmp_path / "swing.csv"
    names = ["clock/pin.force", "world.energy"]
    with Session(scene_of(pendulum(0.3)), record=str(path)) as session:
        session.step(200)
        reported = [session[name] for name in names]
    watched = [word for name in names for word in ("--watch", name)]
    found = linkwork("replay", path, "--csv", table, *watched)
    assert found.code == 0, found.err
    with table.open() as lines:
        *_, last = csv.DictReader(lines)
    values = [next(float(v) for k, v in last.items() if k.startswith(name)) for name in names]
    assert values == pytest.approx(reported, rel=1e-6)
    assert reported[0] > 1.0
