"""The impulse engine with live changes of masses, friction and damping, and after failures."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.core.errors import EngineError
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.model.parts import Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from mechanisms import bar, chain, four_bar, ground, scene_of

MASS, SIDE = 2.0, 0.1
INERTIA = MASS * SIDE**2 / 6.0


def weightless(part: Part, engine: str = "impulse", **params: Any) -> Scene:
    return Scene("space", gravity=(0, 0, 0), step=1e-3).place(part).engine(engine, **params)


def loose(kind: str, **more: Any) -> Part:
    """Returns a cube on a joint through its center, without force laws."""
    cube = Element("cube", (Box(size=(SIDE, SIDE, SIDE), collide=False),), mass=MASS)
    return Part("one").add(ground(), cube, Joint("J", kind, "ground", "cube", **more))


@pytest.mark.parametrize("params", [{}, {"order": 4}, {"method": "forces", "order": 4}])
def test_a_pendulum_swings_on_whatever_it_weighs(params: dict[str, Any]) -> None:
    """Its motion does not depend on its mass, changed repeatedly."""
    with (
        Session(scene_of(chain(1), **params)) as plain,
        Session(scene_of(chain(1), **params)) as session,
    ):
        for mass in (0.9, 0.9, 0.05, 0.3):
            for each in (plain, session):
                each.step(150)
            session["chain/bar0.mass"] = mass
        for each in (plain, session):
            each.step(150)
        near = 1e-8 if params.get("method") == "forces" else 1e-11
        np.testing.assert_allclose(session.state.q, plain.state.q, atol=near)
        np.testing.assert_allclose(session.state.v, plain.state.v, atol=10 * near)


def test_a_top_keeps_its_speed_when_its_mass_changes() -> None:
    """Velocities are kept, as in the other engines."""
    shape = Box(size=(0.1, 0.2, 0.3), collide=False)
    part = Part("one").add(ground(), Element("top", (shape,), mass=1.0, spin=(3.0, 2.0, 1.0)))
    part.add(Joint("J", "free", "ground", "top"))
    with Session(weightless(part)) as plain, Session(weightless(part)) as session:
        for each in (plain, session):
            each.step(100)
        session["one/top.mass"] = 7.0
        for each in (plain, session):
            each.step(100)
        np.testing.assert_allclose(session.state.twist, plain.state.twist, atol=1e-12)
        kinetic = [each["world.kinetic_energy"] for each in (plain, session)]
        assert kinetic[1] == pytest.approx(7.0 * kinetic[0])


def test_a_heavier_bar_swings_as_in_mujoco() -> None:
    """A double pendulum whose lower bar is made three times as heavy, and light again."""
    ends = []
    variants: dict[str, Any] = {"impulse": {"order": 4}, "mujoco": {"integrator": "RK4"}}
    for engine, params in variants.items():
        with Session(scene_of(chain(2), engine, **params)) as session:
            for mass in (0.9, 0.9, 0.1):
                session.step(150)
                session["chain/bar1.mass"] = mass
            session.step(150)
            ends.append([*session.state.q, *session.state.v])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize("engine", ["impulse", "mujoco", "lagrange"])
@pytest.mark.parametrize(
    ("kind", "signal", "inert"),
    [
        ("hinge", "one/J.{}", INERTIA), ("slider", "one/J.{}", MASS),
        ("cylindrical", "one/J.angle_{}", INERTIA), ("ball", "one/J.ry_{}", INERTIA),
    ],
)  # fmt: skip
def test_a_loose_joint_can_be_damped_while_it_runs(
    engine: str, kind: str, signal: str, inert: float
) -> None:
    """v = v₀ exp(−d t / I) exactly while a damper is set."""
    speeds: dict[str, Any] = {"cylindrical": (0.0, 3.0), "ball": (0.0, 3.0, 0.0)}
    part = loose(kind, speed=speeds.get(kind, 3.0))
    name = signal.format("speed")
    with Session(weightless(part, engine)) as session:
        session.step(100)
        first = session[name]
        assert abs(first) == pytest.approx(3.0, abs=1e-9)
        session[signal.format("damping")] = inert
        session.step(500)
        slow = session[name]
        assert slow == pytest.approx(first * math.exp(-0.5), rel=1e-3)
        assert session[signal.format("effort")] == pytest.approx(-inert * slow, rel=1e-2)
        session[signal.format("damping")] = 0.0
        session.step(100)
        assert session[name] == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("engine", ["impulse", "mujoco"])
def test_friction_of_a_loose_joint_stops_it_when_it_is_set(engine: str) -> None:
    """From 3 rad/s with f / I = 10 rad/s² it stops after 0.3 s and 0.45 rad."""
    with Session(weightless(loose("hinge", speed=3.0), engine)) as session:
        session.step(100)
        there = session["one/J.angle"]
        session["one/J.friction"] = 10.0 * INERTIA
        session.step(500)
        assert session["one/J.angle"] - there == pytest.approx(0.45, abs=3e-3)
        assert session["one/J.speed"] == pytest.approx(0.0, abs=5e-3)


def test_a_loop_is_damped_while_it_runs_as_in_mujoco() -> None:
    """A four-bar without dampers is damped, and swings on without them."""
    ends = []
    for engine, step, params in (("impulse", 1e-3, {}), ("mujoco", 2e-4, {})):
        with Session(scene_of(four_bar(), engine, step=step, **params)) as session:
            for damping in (0.0, 0.05, 0.0):
                session["four_bar/B.damping"] = damping
                session["four_bar/A.friction"] = 0.5 * damping
                session.step(round(0.2 / step))
            ends.append(session.state.q.copy())
            if engine == "impulse":
                report = session.report().accounts[0]
                assert report.gap <= 1e-10
                assert report.exceeded == 0
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-3)


def test_what_forces_cannot_carry_is_refused_when_it_is_set() -> None:
    """Friction stops the run with the joint's name; without it the run continues."""
    with Session(scene_of(chain(2), method="forces", order=4)) as session:
        session.step(10)
        session["chain/J1.friction"] = 0.1
        with pytest.raises(EngineError, match=r"only: chain/J1 has a force law"):
            session.step()
        session["chain/J1.friction"] = 0.0
        session.step(10)
        assert session.state.step == 20


@pytest.mark.parametrize("params", [{}, {"order": 4}, {"method": "forces", "order": 4}])
def test_a_step_that_fails_leaves_nothing_behind(params: dict[str, Any]) -> None:
    """The engine's memory is unchanged, within a run and after a restore."""
    part = Part("arm").add(ground(), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3, deep=0.05))
    part.add(
        Joint("J", "hinge", "ground", "one", axis=(0, 1, 0), speed=2.0),
        Joint("K", "ball", "one", "two", speed=(1.0, 2.0, 3.0)),
    )
    with Session(scene_of(part, on_gap="stop", **params)) as session:
        session.step(20)
        cycle = session.cycle
        (engine,) = cycle.engines
        for jump in (False, True):
            kept = session.state.copy()
            if jump:
                session.state.v[:] = 1.0
                cycle.refresh()
            before = session.state.copy()
            with pytest.raises(EngineError, match=r"cannot be closed|too long"):
                engine.advance(40.0)  # the step is too long to close any joint
            assert session.state.same(before), session.state.difference(before)
            cycle.restore(kept)
        session.step(20)
        end = session.state.copy()
    with Session(scene_of(part, on_gap="stop", **params)) as undisturbed:
        undisturbed.step(40)
        assert undisturbed.state.same(end), undisturbed.state.difference(end)


def test_a_drive_whose_limit_is_lifted_leaves_it() -> None:
    """It ended the last step at its limit, which is infinite now: the law is that of the drive."""
    row, drive = np.zeros(law.ROW_COLUMNS), np.array([1.0, 10.0, 0.5, -np.inf, np.inf])
    row[law.DRIVE] = 1.0
    law.start_row(row, drive, 0.02, 0.0, 1e-3, 1.0)
    law.set_law(row, drive, 1e-3)
    assert row[law.DRIVE] == 0.0
    assert row[law.ALPHA] == pytest.approx(0.5e-3 * (1.0 - 10.0 * 0.02))
