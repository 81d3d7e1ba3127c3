"""CPU time of nineteen full servo models in a step, beside MuJoCo's own actuators.

    python benchmarks/servo.py [--quick] [--json [FILE]]

Ours: the actuators of the humanoid's nineteen ``smart_servo`` (AX-12 with every effect on:
compliance, encoder, backlash, cogging, supply with sag, heat, meter), both calls of a step. MuJoCo:
the same number of ``position`` and of ``dcmotor`` actuators (motor constant, resistance) in
mj_fwdActuation. The last row is a whole step of the humanoid with ``smart_servo``; its peer is the
same step with plain ``servo``.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from shared.rows import Benchmark
from shared.timing import compare, in_turn

import linkwork as lw
from linkwork import Session
from linkwork.core.mujoco_library import mujoco
from linkwork.model.parts import Spec

COUNT = 19
FULL: dict[str, Any] = {
    "model": "AX-12", "supply": 9.6, "supply_resistance": 0.2, "cogging": 0.005,
    "cogging_cycles": 1270.0,
}  # fmt: skip


def humanoid(drive: dict[str, Any] | None) -> Session:
    """The humanoid with its base fixed and its servos moving.

    Args:
        drive: Parameters of ``smart_servo`` for all joints; None keeps the servos of the part.
    """
    part = lw.load_part("bioloid/humanoid")
    for joint in part.joints.values():
        if joint.drive is not None and drive is not None:
            object.__setattr__(joint, "drive", Spec("actuator", "smart_servo", "", drive))
    session = Session(lw.Scene("humanoid", step=0.002).place(part).engine("mujoco"), watch=False)
    for signal in list(session.signals):
        if signal.name.endswith(".target"):
            session[signal.name] = 0.3 * max(signal.lo, -1.0)
    return session


class Ours:
    """The two calls of a step of the actuators, without the step of the engine between them."""

    def __init__(self, session: Session) -> None:
        (self.block,) = session.cycle.actuators
        assert len(self.block.dofs) == COUNT

    def run(self, steps: int) -> None:
        block: Any = self.block
        for step in range(steps):
            block.drive(step)
            block.meter()


class MuJoCo:
    """MuJoCo's actuators on the same number of hinges."""

    def __init__(self, actuator: str) -> None:
        joints = "".join(
            f'<body pos="0 0 {0.3 * n}"><joint name="j{n}"/><geom size="0.1"/></body>'
            for n in range(COUNT)
        )
        drives = "".join(actuator.format(n=n) for n in range(COUNT))
        text = f"<mujoco><worldbody>{joints}</worldbody><actuator>{drives}</actuator></mujoco>"
        self.model: Any = mujoco.MjModel.from_xml_string(text)
        self.data: Any = mujoco.MjData(self.model)
        self.data.ctrl[:] = 0.5
        mujoco.mj_forward(self.model, self.data)

    def run(self, steps: int) -> None:
        model, data, act = self.model, self.data, mujoco.mj_fwdActuation
        for _ in range(steps):
            act(model, data)


def main() -> None:
    bench = Benchmark(__file__, __doc__)
    steps, rounds = (300, 15) if bench.parse().quick else (1000, 41)
    with ExitStack() as stack:
        smart = stack.enter_context(humanoid(FULL))
        plain = stack.enter_context(humanoid(None))
        position = MuJoCo('<position name="a{n}" joint="j{n}" kp="10" kv="0.5"/>')
        motor = MuJoCo('<dcmotor name="a{n}" joint="j{n}" motorconst="1.9" resistance="8"/>')
        calls = {
            "ours": Ours(smart).run, "position": position.run, "dcmotor": motor.run,
            "smart step": smart.step, "plain step": plain.step,
        }  # fmt: skip
        for call in calls.values():
            call(200)
        times = in_turn(calls, steps=steps, rounds=rounds)
    name = f"{COUNT} full servo models, a step"
    rows = [
        compare(times, name, "ours", "position", "MuJoCo position"),
        compare(times, name, "ours", "dcmotor", "MuJoCo dcmotor"),
        compare(
            times, "whole step of the humanoid with full servo models", "smart step", "plain step",
            "Linkwork with plain servos",
        ),
    ]  # fmt: skip
    bench.publish(rows)


if __name__ == "__main__":
    main()
