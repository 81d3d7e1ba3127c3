"""A bench for agents without a session: joints reach their targets within the step."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from linkwork.components.agents import Agent
from linkwork.core.errors import LinkworkError, Origin
from linkwork.core.registry import AGENTS
from linkwork.core.signals import Signals
from linkwork.core.state import Layout, State
from linkwork.model.blocks import add_blocks
from linkwork.model.parts import Box, Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

STEP = 0.01


def arm() -> Part:
    """Returns three hinges in series; J2 may rotate by 1 rad."""
    part = Part("arm").add(*(Element(f"e{n}", (Box((0.1, 0.1, 0.1)),), mass=1.0) for n in range(4)))
    return part.add(
        Joint("J1", "hinge", "e0", "e1"),
        Joint("J2", "hinge", "e1", "e2", range=(-1.0, 1.0)),
        Joint("J3", "hinge", "e2", "e3"),
    )


def cart() -> Part:
    """Returns a plate that slides and rotates on the floor, with a tray on a slider."""
    part = Part("cart").add(
        *(Element(n, (Box((0.2, 0.2, 0.1)),), mass=1.0) for n in ("floor", "plate", "tray"))
    )
    return part.add(
        Joint("base", "planar", "floor", "plate"), Joint("lift", "slider", "plate", "tray")
    )


def scene() -> Scene:
    made = Scene("bench", step=STEP, seed=7).place(arm()).place(cart())
    return made.sensor("arm/tilt", "inclinometer")


class SmallBench:
    """One cycle: pending writes, agents, motion, listeners in the order they were added."""

    def __init__(self, *agents: tuple[str, str, dict], origin: Origin | None = None) -> None:
        self._world = compile_scene(scene())
        self.agents: list[Agent] = [
            AGENTS.get(type)(
                self._world,
                Spec("agent", type, name, params, origin or Origin()),
                f"agent/{name}",
            )
            for name, type, params in agents
        ]
        layout = Layout()
        world = self._world
        layout.add_world(world.nq, world.nv, world.nb, 0, len(world.element_names))
        layout.add("tilt", 2)
        layout.add("noise", 1)
        add_blocks(layout, list(self.agents))
        self._state = State(layout)
        self._signals = Signals(self._state.data)
        self._add_signals()
        self.listeners: list[list] = []
        self.logged: list[tuple[str, str, str]] = []
        self._pending: list[tuple[str, float, str]] = []
        self._deciding = False
        for agent in self.agents:
            agent.bind(self._state)
            agent.reset()

    def _add_signals(self) -> None:
        state, world = self._state, self._world
        for dof in range(world.nv):
            name = world.dof_name(dof)
            single = "." not in name
            joint = world.joints[world.joint(name.partition(".")[0])]
            lo, hi = world.dof_lo[dof], world.dof_hi[dof]
            between = "." if single else "_"
            value = f"{name}.{joint.kind.dofs[0]}" if single else name
            add = self._signals.add
            add(value, state.address("q", dof), unit="rad", lo=lo, hi=hi)
            add(f"{name}{between}speed", state.address("v", dof), unit="rad/s")
            add(f"{name}{between}effort", state.address("report/effort", dof))
            for what in ("target", "target_speed", "target_effort"):
                limits = {"lo": lo, "hi": hi} if what == "target" else {"lo": -5.0, "hi": 5.0}
                if joint.name != "lift":
                    address = state.address(what, dof)
                    add(f"{name}.{what}", address, unit="rad", direction="input", **limits)
        for n, axis in enumerate("xy"):
            self._signals.add(f"arm/tilt.{axis}", state.address("tilt", n), unit="rad")
        address = state.address("noise", 0)
        self._signals.add("arm/tilt.noise", address, lo=0.0, hi=1.0, direction="param")

    @property
    def signals(self) -> Signals:
        return self._signals

    @property
    def world(self) -> World:
        return self._world

    @property
    def state(self) -> State:
        return self._state

    @property
    def time(self) -> float:
        return self._state.step * STEP

    def follows_exactly(self, dof: int) -> bool:
        return False  # this bench has no engines

    def array(self, sensor: str, name: str) -> np.ndarray:
        raise NotImplementedError("this bench has no sensors")

    def write(self, signal: str, value: float, owner: str) -> None:
        if self._deciding:
            self._signals.set(signal, value, owner)
        else:
            self._signals.check(signal, value, owner)
            self._pending.append((signal, value, owner))

    def check(self, signal: str, value: float, owner: str) -> None:
        self._signals.check(signal, value, owner)

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float, owner: str
    ) -> None:
        self.listeners.append([signal, call, by, owner, self._signals.value(signal)])

    def forget(self, owner: str) -> None:
        self.listeners = [row for row in self.listeners if row[3] != owner]
        self._signals.release(owner)

    def log(self, text: str, *, level: str = "info", source: str = "") -> None:
        self.logged.append((level, source, text))

    def log_error(self, error: LinkworkError, *, level: str = "error", source: str = "") -> None:
        self.log(str(error), level=level, source=source)

    def start(self) -> "SmallBench":
        for agent in self.agents:
            agent.start(self)
        return self

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def step(self) -> None:
        state = self._state
        for signal, value, owner in self._pending:
            self._signals.set(signal, value, owner)
        self._pending.clear()
        self._deciding = True
        try:
            for agent in self.agents:
                if state.step % agent.every == 0:
                    agent.decide(state.step)
        finally:
            self._deciding = False
        state.v[:] = (state.target - state.q) / STEP
        state.q[:] = state.target
        state.step += 1
        for row in list(self.listeners):
            value = self._signals.value(row[0])
            if abs(value - row[4]) > row[2]:
                row[4] = value
                row[1](value)

    def turn(self, joint: str, target: float) -> None:
        """Moves a joint from outside."""
        self._state.target[self._world.single_dof(joint)] = target

    def angle(self, joint: str) -> float:
        return float(self._state.q[self._world.single_dof(joint)])


def program_bench(
    tmp_path: Path, text: str, name: str = "follow", **params: object
) -> tuple[SmallBench, Path]:
    """Returns a bench with one program in a file that a scene file beside it names."""
    file = tmp_path / f"{name}.py"
    file.write_text(text)
    origin = Origin(str(tmp_path / "scene.toml"), 3)
    spec = (name, "program", {"file": file.name, **params})
    return SmallBench(spec, origin=origin), file
