"""Before the first step, and steps of runs: energy, durations, names of signals, errors."""

import math

import numpy as np
import pytest

import linkwork as lw
from engine_scenes import SIDE, bar
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Element, Joint, Part, Spring
from linkwork.model.scene import Scene
from linkwork.session.session import Session

PROGRAM = """from linkwork import Control


class Bad(Control):
    def loop(self):
        if self.time > 0.0095:
            1 / 0
"""


def swing() -> Scene:
    """Returns a rod that moves on a hinge with a spring, and a free ball with a velocity."""
    rod = Part("rod").add(
        Element("post", mass=1.0), bar("bar", 0.4, 2.0),
        Joint("J", "hinge", "post", "bar", axis=SIDE, value=0.3, speed=2.0, armature=0.01,
              stiffness=5.0, rest=0.1),
    )  # fmt: skip
    stone = Part("stone").add(
        Element("body", (lw.Sphere(0.1, collide=False),), mass=3.0, velocity=(0.0, 1.5, 0.0))
    )
    scene = Scene("swing", step=0.001).place(rod, at=Pose((0.0, 0.0, 1.0)))
    return scene.place(stone, base="free", at=Pose((1.0, 0.0, 2.0)))


@pytest.mark.capability(13)
@pytest.mark.parametrize("engine", ["mujoco", "impulse", "lagrange"])
def test_the_energy_is_right_before_the_first_step(engine: str) -> None:
    """½ J ω² + ½ m v² + m g z + ½ k (q − q₀)², of any dynamic engine."""
    with Session(swing().engine(engine), watch=False) as session:
        world = session.world
        body = world.body("rod/bar")
        about = world.inertia[body][1, 1] + 2.0 * 0.2**2 + 0.01
        kinetic = 0.5 * about * 2.0**2 + 0.5 * 3.0 * 1.5**2
        height = 1.0 - 0.2 * math.sin(0.3)
        potential = 9.81 * (2.0 * height + 3.0 * 2.0) + 0.5 * 5.0 * 0.2**2
        for moment in ("before", "after a reset"):
            assert session["world.kinetic_energy"] == pytest.approx(kinetic, rel=1e-12), moment
            assert session["world.potential_energy"] == pytest.approx(potential, rel=1e-12)
            assert session["world.energy"] == pytest.approx(kinetic + potential, rel=1e-12)
            session.step(20)
            assert session["world.energy"] == pytest.approx(kinetic + potential, rel=1e-3)
            session.reset()
            session.process_inbox()


@pytest.mark.capability(13)
@pytest.mark.parametrize("engine", ["mujoco", "impulse"])
def test_the_energy_of_springs_counts_before_the_first_step(engine: str) -> None:
    """½ k (l − l₀)² of a spring between anchors."""
    part = Part("p").add(
        Element("post", mass=1.0), Element("ball", (lw.Sphere(0.05, collide=False),), mass=1.0),
        Joint("S", "slider", "post", "ball", axis=(0.0, 0.0, 1.0), value=0.3),
        Anchor("top", "post"), Anchor("eye", "ball"),
        Spring("spring", "top", "eye", stiffness=100.0, rest=0.1),
    )  # fmt: skip
    with Session(Scene("s", gravity=(0.0, 0.0, 0.0)).place(part).engine(engine)) as session:
        assert session["world.energy"] == pytest.approx(0.5 * 100.0 * 0.2**2, rel=1e-12)


def test_short_runs_add_up() -> None:
    """1000 runs of 0.4 ms at a step of 1 ms are 0.4 s, as are 7 runs of a seventh of 1 s."""
    with Session(swing().engine("lagrange"), watch=False) as session:
        for _ in range(1000):
            session.run(0.0004)
        assert session.state.step == 400
        for _ in range(7):
            session.run(1.0 / 7.0)
        assert session.state.step == 1400
        session.run(0.0003)
        assert session.state.step == 1400
        session.step()  # not owed: the remainder stays
        session.run(0.0003)
        assert session.state.step == 1402
        session.reset()
        session.process_inbox()
        session.run(0.0004)
        assert session.state.step == 0


def test_runs_of_whole_steps_are_whole_steps() -> None:
    """Rounding does not accumulate: 3000 runs of 0.1 s, each of 100 steps (of 1 ms), kinematic."""
    scene = Scene("s", step=0.1).place(Part("p").add(Element("e", mass=1.0)))
    with Session(scene.engine("kinematic"), watch=False) as session:
        for n in range(1, 3001):
            session.run(0.1)
            assert session.state.step == n


def test_in_asks_for_a_signal() -> None:
    """``"x" in session`` tells whether there is such a signal."""
    with Session(swing().engine("mujoco"), watch=False) as session:
        assert "rod/J.angle" in session
        assert "rod/J.angel" not in session
        assert 3 not in session
        assert sorted(session)[0] == min(signal.name for signal in session.signals)


@pytest.mark.parametrize(
    ("agent", "params", "words"),
    [
        ("formula", {"formulas": {"rod/J": "log(0.0105 - t)"}}, "formula 'bad'"),
        ("formula", {"formulas": {"world.gravity_z": "1e6*t"}}, "formula 'bad'"),
        (
            "program",
            {"source": PROGRAM},
            "'bad'",
        ),
    ],
)
def test_an_error_that_stops_a_run_names_time_and_agent(
    agent: str, params: dict, words: str
) -> None:
    """Whatever the agent does wrong."""
    scene = swing().engine("mujoco").actuator("drive", "servo", joint="rod/J")
    scene.agent("bad", agent, **params)
    with Session(scene, watch=False) as session:
        with pytest.raises(LinkworkError) as caught:
            session.run(0.1)
        assert words in str(caught.value)
        assert f"at {session.time:.3f} s" in str(caught.value)
        assert session.time == pytest.approx(0.01, abs=1.1e-3)
        (event,) = [e for e in session.outbox.events if e.level == "error"]
        assert event.text == str(caught.value)
        assert np.isfinite(session["world.energy"])
