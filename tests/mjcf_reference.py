"""Reference for imported models: MuJoCo on the original file, against the session's world."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco as compiled_mujoco
import numpy as np

from linkwork.core.mujoco_library import warning_log
from linkwork.formats.robots.mjcf import MjcfFormat
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle

mujoco: Any = compiled_mujoco

#: Where `make test` unpacks the models of dm_control.
SUITE = Path(sys.prefix) / "models" / "dm_control" / "suite"


@dataclass
class Twin:
    """A model in MuJoCo and in a session's world.

    Attributes:
        m, d: MuJoCo's original.
        cycle: Ours.
        q, v: Our coordinates and degrees of freedom in MuJoCo's order.
    """

    m: Any
    d: Any
    cycle: Cycle
    q: list[int]
    v: list[int]

    @classmethod
    def of(cls, path: Path, scene: Scene | None = None) -> Twin:
        """Loads a file into both."""
        m = original(path)
        scene = scene or MjcfFormat().read(path)
        cycle = Cycle(compile_scene(scene))
        world, q, v = cycle.world, [], []
        for j in range(m.njnt):
            name = f"{scene.name}/{m.joint(j).name or f'joint{j}'}"
            clash = f"{scene.name}/joint:{m.joint(j).name}"
            number = world.joint(clash if clash in world.aliases else name)
            body, kind = world.joint_body[number], world.joints[number].kind
            q += [int(world.qadr[body]) + k for k in range(kind.nq)]
            v += [int(world.vadr[body]) + k for k in range(kind.nv)]
        return cls(m, mujoco.MjData(m), cycle, q, v)

    def place(self, chance: np.random.Generator) -> None:
        """Sets both to the same random state, with the same random controls."""
        m, d, cycle = self.m, self.d, self.cycle
        scatter(m, d, chance)
        cycle.restore(cycle.first)
        state = cycle.state
        state.q[self.q], state.v[self.v] = d.qpos, d.qvel
        cycle.refresh()
        for a in range(m.nu):
            name = m.actuator(a).name or f"actuator{a}"
            self.set(f"{name}.control", d.ctrl[a])
            if m.actuator_actadr[a] >= 0:
                self.set(f"{name}.activation", d.act[m.actuator_actadr[a]])

    def set(self, signal: str, value: float) -> None:
        self.cycle.state.data[self.cycle.signals[signal].address] = value

    def accelerations(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns MuJoCo's accelerations of the original, and of the engine's model."""
        engine: Any = self.cycle.engines[0]
        for actuator in self.cycle.actuators:
            actuator.drive(0)
        engine._enter(self.cycle.h, True)
        mujoco.mj_forward(engine._mj, engine._data)
        engine._fresh = False
        mujoco.mj_forward(self.m, self.d)
        ours = np.zeros(self.cycle.world.nv)
        for here, there in engine.model.v_map.tolist():
            ours[here] = engine._data.qacc[there]
        return self.d.qacc.copy(), ours[self.v]


def original(path: Path) -> Any:
    """Returns MuJoCo's model of a file, without its deprecation warnings."""
    m = mujoco.MjModel.from_xml_path(str(path))
    warning_log.warnings.clear()
    return m


def scatter(m: Any, d: Any, chance: np.random.Generator) -> None:
    """Sets MuJoCo's data to a random state with random controls."""
    mujoco.mj_resetData(m, d)
    mujoco.mj_integratePos(m, d.qpos, chance.normal(size=m.nv) * 0.7, 1.0)
    for j in range(m.njnt):
        if m.jnt_type[j] == 0:
            d.qpos[m.jnt_qposadr[j] + 2] = chance.uniform(0.0, 1.5)
    d.qvel[:] = chance.normal(size=m.nv) * 2.0
    d.ctrl[:] = chance.uniform(-1.5, 1.5, m.nu)
    d.act[:] = chance.uniform(-1.0, 1.0, m.na)


def gap(theirs: np.ndarray, ours: np.ndarray) -> float:
    """Returns the largest difference relative to the scale of both."""
    if not theirs.size:
        return 0.0
    return float(np.abs(theirs - ours).max() / max(1.0, np.abs(theirs).max()))
