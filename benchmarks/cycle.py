"""What the cycle costs: a session against a bare MuJoCo loop, side by side in one run.

The session steps a 30-joint humanoid on the Mujoco engine with 20 encoders, 30 PD servos and the
recorder on. The bare loop steps the same compiled model with mj_step, reads 20 joints and computes
the same PD law in numpy.

    python benchmarks/cycle.py [--quick] [--json]
"""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import mujoco
import numpy as np
from humanoid import standing_scene
from report import Row, options, show, side_by_side

from linkwork import Session
from linkwork.engines.mujoco import Mujoco


class BareLoop:
    """mj_step, twenty reads and a numpy PD law, as one writes it by hand."""

    def __init__(self, session: Session) -> None:
        engine = session.cycle.engines[0]
        assert isinstance(engine, Mujoco)
        self.model = copy.copy(engine.model.mj)
        self.model.actuator_biasprm[:] = 0.0
        self.model.actuator_forcerange[:] = (-200.0, 200.0)
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = engine._data.qpos
        joints = self.model.actuator_trnid[:, 0]
        self.qadr = self.model.jnt_qposadr[joints]
        self.vadr = self.model.jnt_dofadr[joints]
        self.read_from = self.qadr[:20]
        self.readings = np.zeros(20)
        self.target = np.zeros(len(joints))

    def run(self, steps: int) -> None:
        model, data = self.model, self.data
        for _ in range(steps):
            self.readings[:] = data.qpos[self.read_from]
            data.ctrl[:] = 200.0 * (self.target - data.qpos[self.qadr]) - 8.0 * data.qvel[self.vadr]
            mujoco.mj_step(model, data)


def main() -> None:
    args = options(__doc__ or "")
    steps, rounds = (250, 9) if args.quick else (1000, 15)
    rows = []
    with tempfile.TemporaryDirectory() as folder:

        def compare(name: str, listeners: int, *, by: float = 0.0) -> Row:
            session = Session(standing_scene(), record=Path(folder) / f"{name}.mcap")
            names = [s.name for s in session.signals if s.name.endswith(".angle")]
            count = [0]

            def heard(value: float) -> None:
                count[0] += 1

            for n in range(listeners):
                session.on_change(names[n % len(names)], heard, by=by)
            bare = BareLoop(session)
            session.step(500)
            bare.run(500)
            ours, peer, ratio = side_by_side(session.step, bare.run, steps=steps, rounds=rounds)
            session.close()
            return Row(name, ours, peer, "bare MuJoCo loop", ratio)

        rows.append(compare("cycle", 0))
        rows.append(compare("cycle, 1000 listeners (by 0.01 rad)", 1000, by=0.01))
        base = rows[0]
        rows.append(
            Row("1000 listeners against none", rows[1].ours, base.ours, "no listeners",
                rows[1].ratio / base.ratio)
        )  # fmt: skip
        rows.append(compare("cycle, 1000 listeners that all fire", 1000, by=0.0))
    show(rows, as_json=args.json)


if __name__ == "__main__":
    main()
