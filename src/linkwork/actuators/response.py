"""Response: a smart servo on a flywheel, given targets; quick enough to be fitted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork.actuators.response_kernels import respond
from linkwork.actuators.smart_params import without_effect
from linkwork.actuators.smart_servo import SmartServo
from linkwork.blocks import add_blocks
from linkwork.errors import Origin
from linkwork.parts import Box, Element, Joint, Part, Spec
from linkwork.scene import Scene
from linkwork.state import Layout, State
from linkwork.world import World, compile_scene


@dataclass(frozen=True)
class Response:
    """What a servo did.

    Attributes:
        time: [s], from one step on.
        angle: [rad].
        speed: [rad/s].
        energy: Taken from the supply so far [J].
    """

    time: np.ndarray
    angle: np.ndarray
    speed: np.ndarray
    energy: np.ndarray


@lru_cache(maxsize=4)
def _bench(step: float) -> World:
    """A hinge that nothing but the servo knows of."""
    box = (Box((0.1, 0.1, 0.1)),)
    part = Part("bench").add(
        Element("post", box, mass=1.0),
        Element("wheel", box, mass=1.0),
        Joint("J", "hinge", "post", "wheel"),
    )
    return compile_scene(Scene("bench", step=step).place(part))


def respond_to(
    targets: np.ndarray,
    params: dict[str, Any],
    *,
    inertia: float,
    step: float = 0.001,
    start: float = 0.0,
    load: float = 0.0,
    origin: Origin | None = None,
) -> Response:
    """Lets a servo with ``params`` (in SI units) turn a flywheel.

    Args:
        targets: Wanted angle in each step [rad].
        params: Parameters of ``smart_servo``.
        inertia: Of the flywheel [kg m²], without the rotor's.
        step: Length of a step [s].
        start: Angle at first [rad].
        load: Constant torque that pulls back [N m].
        origin: Where the parameters were said, for messages.
    """
    world = _bench(step)
    idle = without_effect(params)
    used = {name: value for name, value in params.items() if name not in idle}
    spec = Spec(
        "actuator", "smart_servo", "servo", {**used, "joint": "bench/J"}, origin or Origin()
    )
    block = SmartServo(world, [spec])
    layout = Layout()
    layout.add_world(world.nq, world.nv, world.nb, 0, len(world.element_names), contacts=1)
    add_blocks(layout, [block])
    state = State(layout)
    block.bind(state)
    state.q[:] = start
    block.reset()
    own = block.params[0]
    wheel = np.array([inertia + block.motors[0].inertia, own.friction, own.damping, load])
    out = np.zeros((len(targets), 3))
    respond(step, np.asarray(targets, float), wheel, np.zeros(5), *block.tables, out)
    time = step * np.arange(1, len(targets) + 1)
    return Response(time, *out.T.copy())
