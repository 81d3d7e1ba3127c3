"""Visum figure 1: the cycle of a simulation step, and its text about controllers."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from engine_scenes import arm, loose, servo
from linkwork.components.actuators.joint_drives import Servo
from linkwork.components.agents import Agent
from linkwork.components.sensors.joint_sensors import Encoder
from linkwork.core.registry import ACTUATORS, AGENTS, ENGINES, SENSORS
from linkwork.engines.kinematic import Kinematic
from linkwork.geometry import Pose
from linkwork.model.parts import Plane, Sphere
from linkwork.model.parts.element import Element
from linkwork.model.scene import Scene
from linkwork.session.session import Session

CALLS: list[str] = []


class NotedEncoder(Encoder):
    type: ClassVar[str] = "noted_encoder"

    def read(self, *args: Any, **more: Any) -> None:
        CALLS.append("sensor")
        super().read(*args, **more)


class Chaser(Agent):
    """Sets the joint's target 0.01 rad beyond its encoder reading."""

    type: ClassVar[str] = "chaser"

    def decide(self, step: int) -> None:
        CALLS.append("agent")
        angle = self.context.signals.value("eye.angle")
        self.context.write("arm/J.target", angle + 0.01, self.spec.name)


class NotedServo(Servo):
    type: ClassVar[str] = "noted_servo"

    def drive(self, step: int) -> None:
        CALLS.append("actuator")
        super().drive(step)


class NotedEngine(Kinematic):
    type: ClassVar[str] = "noted_engine"

    def advance(self, h: float) -> None:
        CALLS.append("controller")
        super().advance(h)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """Opens an arm with a sensor, an agent, an actuator and an engine that log their calls."""
    for registry, plug in (
        (SENSORS, NotedEncoder), (AGENTS, Chaser), (ACTUATORS, NotedServo), (ENGINES, NotedEngine),
    ):  # fmt: skip
        monkeypatch.setitem(registry._loaded, plug.type, plug)
    scene = Scene("test").place(arm()).engine("noted_engine")
    scene.actuator("drive", "noted_servo", joint="arm/J").agent("chaser", "chaser")
    with Session(scene.sensor("eye", "noted_encoder", joint="arm/J")) as session:
        CALLS.clear()
        yield session


@pytest.mark.capability(3)
def test_figure_1_sensors_agents_actuators_controllers_then_the_picture(session: Session) -> None:
    """Each step runs in the order of the figure; the display comes last."""
    session.after_step.append(lambda: CALLS.append("renderer"))
    session.step(3)
    assert CALLS == ["sensor", "agent", "actuator", "controller", "renderer"] * 3


@pytest.mark.capability(3)
def test_each_stage_works_with_what_the_one_before_it_left(session: Session) -> None:
    """The target of a step follows from its reading, its motion from its target: no delay."""
    for step in range(1, 6):
        session.step()
        assert session["eye.angle"] == pytest.approx(0.01 * (step - 1))
        assert session["arm/J.target"] == pytest.approx(0.01 * step)
        assert session["arm/J.angle"] == pytest.approx(0.01 * step)


@pytest.mark.capability(4)
def test_different_simulation_methods_in_one_world_and_scenery_without_any() -> None:
    """ "This enables the parallel use of different simulation methods in a single VR-world. …
    Nodes without a controller are just static scenery."
    """
    scene = Scene("test").add(Element("ground", (Plane(),)))
    for n, name in enumerate(("drawn", "heavy", "scenery")):
        part = arm(drive=servo(kp=1.0, kd=0.05))
        scene.place(part, name=name, at=Pose((0.0, float(n), 1.0)))
    scene.place(loose("ball", Sphere(0.1)), at=Pose((2.0, 0.0, 1.0)), base="free")
    scene.engine("kinematic", owns=["drawn"]).engine("mujoco", owns=["heavy", "ball"])
    with Session(scene) as session:
        for name in ("drawn", "heavy", "scenery"):
            session[f"{name}/J.target"] = 0.5
        session.step(1000)
        assert session["drawn/J.angle"] == 0.5
        assert session["heavy/J.angle"] > 0.51  # sags
        assert session["scenery/J.angle"] == 0.0
        assert session["ball.z"] == pytest.approx(0.1, abs=1e-3)
