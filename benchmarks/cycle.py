"""What the cycle costs: a session against a bare MuJoCo loop, side by side in one run.

The session steps a 30-joint humanoid on the Mujoco engine with 20 encoders, 30 PD servos and the
recorder on. The bare loop steps the same compiled model with mj_step, reads 20 joints one by one
and computes the same PD law in numpy.

    python benchmarks/cycle.py [--quick] [--json]
"""

from __future__ import annotations

import copy
import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from shared.humanoid import KD, KP, standing_scene
from shared.report import compare, in_turn, options, show

from linkwork import Session
from linkwork.engines.mujoco import Mujoco
from linkwork.mujoco_library import mujoco


class BareLoop:
    """mj_step, twenty reads and a numpy PD law, as one writes it by hand."""

    def __init__(self, session: Session) -> None:
        engine = session.cycle.engines[0]
        assert isinstance(engine, Mujoco)
        self.model = copy.copy(engine.model.mj)
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.model.jnt_stiffness[:] = 0.0
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = engine._data.qpos
        joints = [
            mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, n) for n in driven(session)
        ]
        self.qadr = self.model.jnt_qposadr[joints]
        self.vadr = self.model.jnt_dofadr[joints]
        self.model.dof_damping[self.vadr] = 0.5
        self.read_from = self.qadr[:20].tolist()
        self.readings = np.zeros(20)
        self.target = np.zeros(len(joints))

    def run(self, steps: int) -> None:
        model, data = self.model, self.data
        for _ in range(steps):
            for n, address in enumerate(self.read_from):
                self.readings[n] = data.qpos[address]
            effort = KP * (self.target - data.qpos[self.qadr]) - KD * data.qvel[self.vadr]
            data.qfrc_applied[self.vadr] = np.clip(effort, -500.0, 500.0)
            mujoco.mj_step(model, data)


def driven(session: Session) -> list[str]:
    """Names of the joints that have a servo."""
    return [
        n for n, j in zip(session.world.joint_names, session.world.joints, strict=True) if j.drive
    ]


def listening(folder: Path, listeners: int, *, by: float = 0.0) -> Session:
    """A recorded session with so many listeners on its joints' angles."""
    session = Session(standing_scene(), record=folder / f"{listeners}-{by}.mcap")
    names = [s.name for s in session.signals if s.name.endswith(".angle")]
    for n in range(listeners):
        session.on_change(names[n % len(names)], _ignore, by=by)
    return session


def _ignore(value: float) -> None:
    pass


def main() -> None:
    args = options(__doc__ or "")
    steps, rounds = (100, 25) if args.quick else (500, 41)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        plain = stack.enter_context(listening(folder, 0))
        quiet = stack.enter_context(listening(folder, 1000, by=0.01))
        loud = stack.enter_context(listening(folder, 1000))
        bare = BareLoop(plain)
        calls = {"plain": plain.step, "quiet": quiet.step, "loud": loud.step, "bare": bare.run}
        for call in calls.values():
            call(500)
        times = in_turn(calls, steps=steps, rounds=rounds)
    loop, none = "bare MuJoCo loop", "no listeners"
    rows = [
        compare(times, "cycle", "plain", "bare", loop),
        compare(times, "1000 listeners, each on a move of 0.01 rad", "quiet", "plain", none),
        compare(times, "1000 listeners, all called each step", "loud", "plain", none),
    ]
    show(rows, as_json=args.json)


if __name__ == "__main__":
    main()
