"""Comparison of an MJCF model's motion here with that in MuJoCo itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.core.errors import EngineError, FormatError, Origin
from linkwork.core.mujoco_library import mujoco, warning_log
from linkwork.formats.robots.mjcf import MjcfFormat
from linkwork.model.parts.spec import plain_name, scoped_name_of
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle

#: Disturbance of the second start of MuJoCo [rad or m]: what it does to the motion is the
#: difference that rounding alone may make.
DISTURBANCE = 1e-10
#: How many disturbed starts are tried before a run is said to differ: where a contact is about to
#: open or close, one disturbance may happen to miss what another meets.
DISTURBED_STARTS = 5
#: Allowed difference [rad or m], and how many times the effect of the disturbance.
TOLERANCE, DISTURBANCE_FACTOR = 1e-6, 10.0
#: Most coordinates of a run that are kept.
MAX_NUMBERS = 100_000_000
#: Spread of random starts: positions [rad or m], velocities [rad/s or m/s].
POSITION_SPREAD, SPEED_SPREAD = 0.1, 0.2


@dataclass
class RunComparison:
    """One run of both.

    Attributes:
        start: Name of the start: a keyframe, "start", or "random n".
        time: Duration that both reached [s].
        difference: Largest difference of a coordinate [rad or m].
        joint: Joint with it.
        disturbed: Largest difference of MuJoCo from itself with disturbed starts.
        parted_at: Time at which the difference exceeds the allowed one [s]; None if never.
        energy: Largest difference of the energy since the start [J].
        energy_scale: Largest change of MuJoCo's energy since the start [J].
        contacts: Most contacts of a step, in MuJoCo.
        other_contacts: Steps in which the number of contacts differs.
        failed: Why the run ended here, although MuJoCo goes on; empty if it did not.
        unstable: Whether MuJoCo itself warned of instability, which ended the run; the step before
            is then not judged.
        agrees: Whether the difference is no more than rounding may make.
    """

    start: str
    time: float = 0.0
    difference: float = 0.0
    joint: str = ""
    disturbed: float = 0.0
    parted_at: float | None = None
    energy: float = 0.0
    energy_scale: float = 0.0
    contacts: int = 0
    other_contacts: int = 0
    failed: str = ""
    unstable: bool = False
    agrees: bool = True


@dataclass
class MujocoComparison:
    """A model in MuJoCo and here.

    Attributes:
        notes: Notes of the reader.
        runs: The runs so far.
    """

    path: Path
    notes: list[str] = field(default_factory=list)
    runs: list[RunComparison] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not MjcfFormat().recognizes(_head(self.path)):
            raise FormatError(
                "only MJCF models, which MuJoCo reads as they are, can be compared with it.",
                origin=Origin(str(self.path)),
                hint="Convert it first: linkwork convert FILE model.xml",
            )
        scene, self.notes = MjcfFormat().read_with_notes(self.path)
        try:
            # MuJoCo itself does not find all meshes of a relative path
            self.model = mujoco.MjModel.from_xml_path(os.path.abspath(self.path))
        except ValueError as error:
            raise FormatError(
                f"MuJoCo refuses the model: {' '.join(str(error).split())}.",
                origin=Origin(str(self.path)),
            ) from None
        warning_log.warnings.clear()
        self.cycle = Cycle(compile_scene(scene))
        self._q, self._v = _coordinates(self.cycle, scene, self.model.njnt)
        self._controls = _signals(self.cycle, self.model)

    def run(
        self,
        seconds: float,
        random: int = 3,
        *,
        seed: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Iterator[RunComparison]:
        """Runs both from the first keyframe or the start, then from random states.

        In the middle of a run the controls change.

        Args:
            seconds: Duration of each run [s].
            random: Number of random states.
            seed: Seed of the random states and controls.
            progress: Called with the fraction of each run.
        """
        chance = np.random.default_rng(seed)
        for number in range(random + 1):
            run = self._run(number, seconds, chance, progress)
            self.runs.append(run)
            yield run

    def _run(
        self,
        number: int,
        seconds: float,
        chance: np.random.Generator,
        progress: Callable[[float], None] | None,
    ) -> RunComparison:
        m, cycle = self.model, self.cycle
        theirs, first = mujoco.MjData(m), mujoco.MjData(m)
        run = RunComparison(self._place(theirs, number, chance))
        later = _middle_controls(m, chance)
        disturbances = chance.normal(size=(DISTURBED_STARTS, m.nv)) * DISTURBANCE
        self._copy(theirs, first)
        energies = _energy(m, theirs), cycle.state.report.energy.sum()
        steps = max(1, round(seconds / m.opt.timestep))
        if steps * max(1, m.nq) > MAX_NUMBERS:
            raise FormatError(
                f"{seconds:g} s are {steps} steps of {m.nq} coordinates, which are kept: at most "
                f"{MAX_NUMBERS} numbers are.",
                origin=Origin(str(self.path)),
                hint=f"Compare at most {MAX_NUMBERS // max(1, m.nq) * m.opt.timestep:g} s.",
            )
        path, apart = np.zeros((steps, m.nq)), np.zeros(steps)
        reached = 0
        for step in range(steps):
            if step == steps // 2:
                theirs.ctrl[:] = later
                self._set_controls(later)
            mujoco.mj_step(m, theirs)
            run.unstable = not np.isfinite(theirs.qpos).all() or bool(theirs.warning.number.sum())
            warning_log.warnings.clear()
            if run.unstable:
                reached = max(0, reached - 1)
                break
            try:
                cycle.move()
            except EngineError as error:
                run.failed = str(error)
                break
            path[step], reached = theirs.qpos, step + 1
            apart[step] = self._measure(run, theirs, energies, step)
            if progress is not None and step % 50 == 0:
                progress((step + 1) / steps)
        self._judge(run, first, (disturbances, later, steps), path[:reached], apart[:reached])
        return run

    def _judge(
        self,
        run: RunComparison,
        first: Any,
        disturbed: tuple[np.ndarray, np.ndarray, int],
        path: np.ndarray,
        apart: np.ndarray,
    ) -> None:
        """Compares the difference with that of MuJoCo from itself.

        Args:
            run: The run.
            first: MuJoCo's start.
            disturbed: Disturbances, controls from the middle on, number of steps.
            path: MuJoCo's coordinates at each step that is judged.
            apart: Difference at each of them.
        """
        disturbances, later, steps = disturbed
        effect, mine = np.zeros(len(path)), np.maximum.accumulate(apart)
        parted = np.zeros(0, np.int64)
        for disturbance in disturbances:
            own = self._disturbed(first, disturbance, later, steps, path)
            effect = np.maximum(effect, np.maximum.accumulate(own))
            parted = np.flatnonzero(mine > np.maximum(TOLERANCE, DISTURBANCE_FACTOR * effect))
            if not len(path) or mine[-1] <= max(TOLERANCE, DISTURBANCE_FACTOR * effect[-1]):
                break
        if len(path):
            run.disturbed, run.difference = float(effect[-1]), float(mine[-1])
            run.agrees = run.difference <= max(TOLERANCE, DISTURBANCE_FACTOR * run.disturbed)
        run.agrees = run.agrees and not run.failed and len(path) > 0
        if not run.agrees and len(parted):
            run.parted_at = float(parted[0] + 1) * float(self.model.opt.timestep)

    def _disturbed(
        self, first: Any, disturbance: np.ndarray, later: np.ndarray, steps: int, path: np.ndarray
    ) -> np.ndarray:
        """Returns how far MuJoCo comes from its own path with a disturbed start, at each step."""
        m, data, apart = self.model, mujoco.MjData(self.model), np.zeros(self.model.nv)
        for name in ("qpos", "qvel", "act", "ctrl"):
            getattr(data, name)[:] = getattr(first, name)
        mujoco.mj_integratePos(m, data.qpos, disturbance, 1.0)
        made = np.zeros(len(path))
        for step, there in enumerate(path):
            if step == steps // 2:
                data.ctrl[:] = later
            mujoco.mj_step(m, data)
            if m.nv:
                mujoco.mj_differentiatePos(m, apart, 1.0, there, data.qpos)
                made[step] = np.abs(apart).max()
        warning_log.warnings.clear()
        return np.nan_to_num(made, nan=np.inf)

    def _place(self, data: Any, number: int, chance: np.random.Generator) -> str:
        """Sets a start; returns its name."""
        m, name = self.model, "start"
        mujoco.mj_resetData(m, data)
        if m.nkey:
            mujoco.mj_resetDataKeyframe(m, data, 0)
            name = f"keyframe {m.key(0).name or 0}"
        if not number:
            return name
        mujoco.mj_integratePos(m, data.qpos, chance.normal(size=m.nv) * POSITION_SPREAD, 1.0)
        data.qvel[:] = chance.normal(size=m.nv) * SPEED_SPREAD
        return f"random {number}"

    def _copy(self, theirs: Any, first: Any) -> None:
        """Copies MuJoCo's start to where it is kept and to ours."""
        m, cycle = self.model, self.cycle
        for name in ("qpos", "qvel", "act", "ctrl"):
            getattr(first, name)[:] = getattr(theirs, name)
        cycle.restore(cycle.first)
        state = cycle.state
        state.q[self._q], state.v[self._v] = theirs.qpos, theirs.qvel
        cycle.refresh()
        self._set_controls(theirs.ctrl)
        taken: set[str] = set()
        for a in range(m.nu):
            name, count = (
                plain_name(m.actuator(a).name or f"actuator{a}", taken),
                m.actuator_actnum[a],
            )
            taken.add(name)
            for k in range(count):
                word = f"{name}.activation" if count == 1 else f"{name}.activation{k}"
                if word in cycle.signals:
                    address = cycle.signals[word].address
                    state.data[address] = theirs.act[m.actuator_actadr[a] + k]

    def _set_controls(self, controls: np.ndarray) -> None:
        for number, (control, _) in enumerate(self._controls.values()):
            if control is not None:
                self.cycle.state.data[control] = controls[number]

    def _measure(
        self, run: RunComparison, theirs: Any, first: tuple[float, float], step: int
    ) -> float:
        """Measures a step; returns the difference of the coordinates."""
        m, cycle = self.model, self.cycle
        run.time = (step + 1) * float(m.opt.timestep)
        apart, largest = np.zeros(m.nv), 0.0
        if m.nv:
            mujoco.mj_differentiatePos(m, apart, 1.0, theirs.qpos, cycle.state.q[self._q])
            worst = int(np.abs(apart).argmax())
            largest = float(abs(apart[worst]))
            if largest > run.difference:
                run.difference = largest
                run.joint = m.joint(int(m.dof_jntid[worst])).name or f"joint{m.dof_jntid[worst]}"
        contacts = int((theirs.contact.efc_address >= 0).sum()) if theirs.ncon else 0
        run.contacts = max(run.contacts, contacts)
        run.other_contacts += contacts != len(cycle.contacts())
        change = _energy(m, theirs) - first[0]
        run.energy_scale = max(run.energy_scale, abs(change))
        ours = float(cycle.state.report.energy.sum()) - first[1]
        run.energy = max(run.energy, abs(ours - change))
        return largest


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(65_536)


def _coordinates(cycle: Cycle, scene: Scene, count: int) -> tuple[list[int], list[int]]:
    """Returns our coordinates and degrees of freedom in MuJoCo's order of joints."""
    world, q, v = cycle.world, [], []
    parts = scene.parts.values()
    names = [scoped_name_of(placed.name, joint) for placed in parts for joint in placed.part.joints]
    for name in names[:count]:
        number = world.joint(name)
        body, kind = int(world.joint_body[number]), world.joints[number].kind
        q += [int(world.qadr[body]) + k for k in range(kind.nq)]
        v += [int(world.vadr[body]) + k for k in range(kind.nv)]
    return q, v


def _signals(cycle: Cycle, m: Any) -> dict[Any, tuple[int | None, int | None]]:
    """Returns the addresses of control and activation of each of MuJoCo's actuators."""
    found: dict[Any, tuple[int | None, int | None]] = {}
    taken: set[str] = set()
    for a in range(m.nu):
        name = plain_name(m.actuator(a).name or f"actuator{a}", taken)
        taken.add(name)
        words = (f"{name}.control", f"{name}.activation")
        control, activation = (
            cycle.signals[word].address if word in cycle.signals else None for word in words
        )
        found[a] = control, activation
    return found


def _middle_controls(m: Any, chance: np.random.Generator) -> np.ndarray:
    """Returns random controls in the middle of their ranges."""
    limited = m.actuator_ctrllimited.astype(bool)
    lowest = np.where(limited, m.actuator_ctrlrange[:, 0], -1.0)
    highest = np.where(limited, m.actuator_ctrlrange[:, 1], 1.0)
    return lowest + (highest - lowest) * chance.uniform(0.3, 0.7, m.nu)


def _energy(m: Any, data: Any) -> float:
    """Returns MuJoCo's energy of the present state [J]."""
    mujoco.mj_fwdPosition(m, data)
    mujoco.mj_fwdVelocity(m, data)
    mujoco.mj_energyPos(m, data)
    mujoco.mj_energyVel(m, data)
    return float(data.energy.sum())
