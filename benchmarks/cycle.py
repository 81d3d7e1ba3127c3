"""CPU time of a step of a session, beside a bare MuJoCo loop.

    python benchmarks/cycle.py [--quick] [--json [FILE]]

The session steps a standing 30-joint humanoid on the MuJoCo engine with 20 encoders, 30 PD servos
and the recorder on. The bare loop steps the same compiled model from the same state with mj_step,
reads the joints by one index and computes the same PD law in numpy; it records nothing. The run
fails unless both end on the same number of contacts and at the same height. The rows with
listeners show what listeners cost: their peer is the same session without listeners.
"""

from __future__ import annotations

import copy
import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from shared.humanoid import KD, KP, standing_scene
from shared.rows import Benchmark
from shared.timing import compare, in_turn

from linkwork import Session
from linkwork.core.mujoco_library import mujoco
from linkwork.engines.mujoco import Mujoco

ENCODERS = 20
#: Largest torque of a servo [N m], as in the scene.
MAX_EFFORT = 500.0
#: Largest difference of the pelvis's height between session and bare loop at the end [m].
SAME_HEIGHT = 1e-4


class BareLoop:
    """mj_step with encoders and a PD law in numpy, from the state in which a session is."""

    def __init__(self, session: Session) -> None:
        self.model = copy.copy(engine_of(session).model.mj)
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.model.jnt_stiffness[:] = 0.0
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = coordinates(session)
        joints = [
            mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, n) for n in driven(session)
        ]
        self.q_index = self.model.jnt_qposadr[joints]
        self.v_index = self.model.jnt_dofadr[joints]
        self.model.dof_damping[self.v_index] = 0.5
        self.readings = np.zeros(ENCODERS)
        self.target = np.zeros(len(joints))

    def run(self, steps: int) -> None:
        model, data, readings, target = self.model, self.data, self.readings, self.target
        qpos, qvel, push = data.qpos, data.qvel, data.qfrc_applied
        q_index, v_index = self.q_index, self.v_index
        for _ in range(steps):
            q = qpos[q_index]
            readings[:] = q[:ENCODERS]
            effort = KP * (target - q) - KD * qvel[v_index]
            push[v_index] = np.clip(effort, -MAX_EFFORT, MAX_EFFORT)
            mujoco.mj_step(model, data)

    def contacts(self, qpos: np.ndarray) -> int:
        """Number of contacts of the model at coordinates."""
        data = mujoco.MjData(self.model)
        data.qpos[:] = qpos
        mujoco.mj_forward(self.model, data)
        return int(data.ncon)


def engine_of(session: Session) -> Mujoco:
    """The MuJoCo engine of a session."""
    engine = session.cycle.engines[0]
    assert isinstance(engine, Mujoco)
    return engine


def coordinates(session: Session) -> np.ndarray:
    """The session's coordinates in MuJoCo's order."""
    model = engine_of(session).model
    qpos = np.zeros(model.mj.nq)
    qpos[model.q_map[:, 1]] = session.state.q[model.q_map[:, 0]]
    return qpos


def driven(session: Session) -> list[str]:
    """Names of the joints that have a servo."""
    return [
        n for n, j in zip(session.world.joint_names, session.world.joints, strict=True) if j.drive
    ]


def listening(folder: Path, listeners: int, *, by: float = 0.0) -> Session:
    """A recorded session with ``listeners`` on the angles of its joints."""
    session = Session(standing_scene(encoders=ENCODERS), record=folder / f"{listeners}-{by}.mcap")
    names = [s.name for s in session.signals if s.name.endswith(".angle")]
    for n in range(listeners):
        session.on_change(names[n % len(names)], _ignore, by=by)
    return session


def _ignore(value: float) -> None:
    pass


def check_alike(session: Session, bare: BareLoop) -> str:
    """Fails unless session and bare loop stand alike; returns how they stand."""
    qpos = coordinates(session), bare.data.qpos
    contacts = [bare.contacts(each) for each in qpos]
    heights = [float(each[2]) for each in qpos]
    if contacts[0] != contacts[1] or abs(heights[0] - heights[1]) > SAME_HEIGHT:
        raise SystemExit(
            f"The session ends on {contacts[0]} contacts at a height of {heights[0]:.5f} m, the "
            f"bare loop on {contacts[1]} contacts at {heights[1]:.5f} m: they do not compare."
        )
    return (
        f"Both end on {contacts[0]} contacts, the pelvis {heights[0]:.4f} m above the floor "
        f"(heights differ by {1e6 * abs(heights[0] - heights[1]):.0f} µm)."
    )


def main() -> None:
    bench = Benchmark(__file__, __doc__)
    args = bench.parse()
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
        alike = check_alike(plain, bare)
    without = "Linkwork without listeners"
    rows = [
        compare(times, "step of a session", "plain", "bare", "bare MuJoCo loop"),
        compare(times, "step, 1000 listeners called at a change of 0.01 rad", "quiet", "plain",
                without),
        compare(times, "step, 1000 listeners called at every step", "loud", "plain", without),
    ]  # fmt: skip
    bench.publish(rows, notes=[alike])


if __name__ == "__main__":
    main()
