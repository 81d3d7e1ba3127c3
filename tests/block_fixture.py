"""Rig: one block of sensors or actuators on a world whose state the test sets."""

from typing import Any

import numpy as np

from linkwork.core.registry import ACTUATORS, SENSORS
from linkwork.core.signals import Signals
from linkwork.core.state import Layout, State
from linkwork.kinematics import forward
from linkwork.model.blocks import add_blocks, add_signals
from linkwork.model.parts import Spec
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene


class Rig:
    """The sensors (or actuators) of a scene, all of one type, without a session."""

    def __init__(self, scene: Scene, kind: str = "sensor", specs: list[Spec] | None = None) -> None:
        self.world: World = compile_scene(scene)
        sensing = kind == "sensor"
        specs = specs or (self.world.sensors if sensing else self.world.actuators)
        self.block: Any = (SENSORS if sensing else ACTUATORS).get(specs[0].type)(self.world, specs)
        layout = Layout()
        world = self.world
        layout.add_world(
            world.nq, world.nv, world.nb, len(world.loop_names), len(world.element_names)
        )
        add_blocks(layout, [self.block])
        self.state = State(layout)
        self.signals = Signals(self.state.data)
        add_signals(self.signals, self.state, [self.block])
        self.block.bind(self.state)
        self.state["param/gravity"][:] = scene.gravity
        self.state["param/visible"][:] = 1.0
        self.pose(world.q0)
        self.block.reset()

    def pose(self, q: Any) -> None:
        """Sets the coordinates and the poses."""
        self.state.q[:] = q
        forward(self.world, self.state.q, self.state.pose)

    def read(self, step: int = 0) -> dict[str, float]:
        """Returns all signals after reading at ``step``."""
        self.block.read(step)
        return self.values()

    def drive(self, step: int = 0) -> np.ndarray:
        """Returns the affine efforts (5×nv) after driving at ``step``."""
        self.block.drive(step)
        return self.state.drive

    def values(self) -> dict[str, float]:
        """Returns all signals."""
        return {signal.name: self.signals.value(signal.name) for signal in self.signals}
