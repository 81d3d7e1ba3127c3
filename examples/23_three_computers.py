"""One computer plans, another controls, a third one has the robot: in lock-step, bit for bit.

python examples/23_three_computers.py                      # three processes of this computer
python examples/23_three_computers.py plan 0.0.0.0 7422    # or each on one of its own
python examples/23_three_computers.py robot 0.0.0.0 7421   # prints its token
python examples/23_three_computers.py control PLANNER:7422 ROBOT:7421 TOKEN
"""

import math
import socket
import subprocess
import sys
import time
from dataclasses import replace

import linkwork as lw
from linkwork.kinematics.leg import LegGeometry

JOINTS = [f"right_{name}" for name in ("hip_z", "hip_y", "hip_x", "knee", "ankle_x", "ankle_y")]
SENSORS = [[f"robot/{name}.{what}" for what in ("angle", "speed")] for name in JOINTS]
STEP, SECONDS = 0.002, 1.0
KP, KD, TIMEOUT = 300.0, 12.0, 60.0  # [N m/rad], [N m s/rad], to wait for the others [s]


def plan(time: float) -> list[float]:
    """The leg's angles: its foot goes round in an ellipse, sole level."""
    begin, way = min(2.0 * time, 1.0) ** 2, 4.0 * math.pi * time
    foot = lw.Pose((0.0, 0.10 * begin * math.sin(way), -0.72 + 0.05 * begin * math.cos(way)))
    return LegGeometry(0.35, 0.35, 0.10).solve(foot).tolist()  # type: ignore[union-attr]


def control(wanted: list[float], before: list[float], seen: list[float]) -> list[float]:
    """Moments, from angles wanted now and a step before, and angles and speeds as they are."""
    pairs = zip(wanted, before, seen[::2], seen[1::2], strict=True)
    return [KP * (w - q) + KD * ((w - b) / STEP - v) for w, b, q, v in pairs]


def robot() -> lw.Scene:
    """The biped with its torso held and moments for drives."""
    part = lw.load_part("bart_uh/biped")
    part.joints.update({n: replace(joint, drive=None) for n, joint in part.joints.items()})
    scene = lw.Scene("three", step=STEP).place(part, name="robot", at=lw.Pose((0.0, 0.0, 1.0)))
    for name in JOINTS:
        scene.actuator(name, "effort", joint=f"robot/{name}")
    first = zip((f"robot/{name}" for name in JOINTS), plan(0.0), strict=True)
    scene.postures["first"], scene.start = dict(first), "first"
    return scene.engine("lagrange")


def alone() -> bytes:
    """All three in this process; the robot's last state."""
    before = plan(0.0)
    with lw.Session(robot()) as session:
        for _ in range(round(SECONDS / STEP)):
            seen = [session[signal] for pair in SENSORS for signal in pair]
            last, before = before, plan(session.time)
            for name, moment in zip(JOINTS, control(before, last, seen), strict=True):
                session[f"robot/{name}.target_effort"] = moment
            session.step()
        print(f"The knee is {math.degrees(abs(session[SENSORS[3][0]] - before[3])):.1f}° off.")
        return session.state.q.tobytes() + session.state.v.tobytes()


def run_robot(host: str, port: str, *helper: str) -> bytes:
    """The robot behind a TCP part that waits for each answer; ``helper`` is told where it is."""
    scene = robot().bus(
        "part", "tcp", host=host, port=int(port), lockstep=True, turn_timeout=TIMEOUT
    )
    for name, sensors in zip(JOINTS, SENSORS, strict=True):
        scene.port(name, commands=[f"robot/{name}.target_effort"], sensors=sensors)
    with lw.Session(scene, allow=["network"]) as session:  # others may reach its part
        print(where := session.bus_processes["part"].endpoints[0], flush=True)  # type: ignore[index]
        if helper:
            subprocess.Popen([*helper, where.split()[3]])
        until = time.monotonic() + TIMEOUT  # the first step would wait for ever
        session.run(SECONDS, progress=lambda t: t or time.monotonic() < until or session.stop())
    if session.time == 0.0:
        raise TimeoutError("no controller joined")
    return session.state.q.tobytes() + session.state.v.tobytes()


def run_planner(host: str, port: str) -> None:
    """Answers each time with the angles wanted then, until whoever asks is gone."""
    with socket.create_server((host, int(port))) as server:
        server.settimeout(TIMEOUT)
        print(server.getsockname()[1], flush=True)
        wire = server.accept()[0].makefile("rw", newline="\n")
        for line in wire:
            print(*plan(float(line)), file=wire, flush=True)


def run_control(planner: str, robot: str, *token: str) -> None:
    """Stands between planner and robot until that is gone, and knows only lines of text."""
    ends = (address.rsplit(":", 1) for address in (planner, robot))
    wires = [socket.create_connection((host, int(port))) for host, port in ends]
    ask, part = (wire.makefile("rw", newline="\n") for wire in wires)
    print("join", *token, file=part, flush=True)
    before: list[float] = []
    for line in part:
        if line.startswith("s "):  # step, time, then what the sensors say
            now, *seen = (float(word) for word in line.split()[2:])
            print(now, file=ask, flush=True)
            last, before = before, [float(word) for word in ask.readline().split()]
            print("c", *control(before, last or before, seen), file=part, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        roles = {"plan": run_planner, "control": run_control, "robot": run_robot}
        try:
            roles[sys.argv[1]](*sys.argv[2:])
        except OSError as error:  # nobody there within TIMEOUT
            sys.exit(f"{sys.argv[1]} gives up: {error}.")
    else:
        this, here = [sys.executable, __file__], ("127.0.0.1", "0")
        with subprocess.Popen([*this, "plan", *here], stdout=subprocess.PIPE, text=True) as first:
            where = f"127.0.0.1:{first.stdout.readline().strip()}"  # type: ignore[union-attr]
            apart = run_robot(*here, *this, "control", where)
        print(f"Three processes and one, bit-identical: {apart == alone()}")
