"""The Amtec arm, seven hinges and a gripper of two sliders, moved in real time from outside."""

import json
import subprocess
import sys
import threading
import time

import pytest

from linkwork import Scene, Session, load
from part_fixture import endpoint

HINGES = {"J1": 0.6, "J2": 0.7, "J3": -0.5, "J4": 1.0, "J5": 0.6, "J6": 0.9, "J7": -0.8}
SLIDERS = {"left": 0.02, "right": 0.012}

#: A controller that knows nothing of Linkwork: it sways all joints and then sends them to a goal,
#: and is done when the sensors say that they are there.
CONTROLLER = """
import json, math, socket, sys
port, goal = int(sys.argv[1]), json.loads(sys.argv[2])
wire = socket.create_connection(("127.0.0.1", port))
part, out = wire.makefile("r", newline="\\n"), wire.makefile("w", newline="\\n")
print("join", file=out, flush=True)
commands, sensors = [], []
while (words := part.readline().split())[0] != "ready":
    if words[0] in ("command", "sensor"):
        (commands if words[0] == "command" else sensors).append(words[1])
first, lines = None, 0
for line in part:
    if not line.startswith("s "):
        continue
    now, *values = map(float, line.split()[2:])
    first, lines = now if first is None else first, lines + 1
    read = {name.split(".")[0]: value for name, value in zip(sensors, values)}
    sway = math.sin(3.0 * (now - first)) if now - first < 1.0 else 1.0
    wanted = {}
    for joint, value in goal.items():
        kind = "position" if joint in ("left", "right") else "angle"
        wanted[f"{joint}.{kind}_wanted"] = sway * value if kind == "angle" else value
    print("c", *(wanted.get(name, "-") for name in commands), file=out, flush=True)
    near = all(abs(read[j] - v) < (0.002 if j in ("left", "right") else 0.03)
               for j, v in goal.items())
    if near and now - first > 1.0:
        break
print(json.dumps({"took": now - first, "lines": lines, "read": read}))
"""


def arm() -> Scene:
    """The scene of example 11 on a free port."""
    scene = load("amtec/tcp")
    assert isinstance(scene, Scene)
    (bus,) = scene.buses
    bus.params["port"] = 0
    return scene


@pytest.mark.capability(32)
def test_seven_hinges_and_two_sliders_are_moved_in_real_time_from_outside() -> None:
    """Every joint goes where another process wants it, at the pace of real time, with time left."""
    goal = HINGES | SLIDERS
    signals = {f"robot/arm/{joint}.angle": value for joint, value in HINGES.items()}
    signals |= {f"robot/gripper/{side}.position": value for side, value in SLIDERS.items()}
    with Session(arm()) as session:
        session.step(10)  # compiled
        start = {name: session[name] for name in signals}
        began, cost, simulated = time.monotonic(), time.thread_time(), session.time
        with subprocess.Popen(
            [sys.executable, "-c", CONTROLLER, str(endpoint(session)), json.dumps(goal)],
            stdout=subprocess.PIPE,
            text=True,
        ) as controller:
            watch = threading.Thread(target=lambda: (controller.wait(), session.stop()))
            watch.start()
            session.run(120.0, clock="real")
            elapsed, cost = time.monotonic() - began, time.thread_time() - cost
            simulated = session.time - simulated
            controller.kill()  # where it did not come to its end
            out, _ = controller.communicate()
            watch.join()

        assert controller.returncode == 0
        logged = json.loads(out)
        assert logged["took"] > 1.0
        assert logged["lines"] >= 5
        for name, value in signals.items():
            near = 0.004 if "gripper" in name else 0.06
            assert session[name] == pytest.approx(value, abs=near), name
            assert abs(session[name] - start[name]) > 0.5 * near, f"{name} did not move"
        owners = session.signals.owners
        assert {owners[name.rpartition(".")[0] + ".target"] for name in signals} == {"part"}

        assert elapsed > simulated - 0.02, "time ran ahead of real time"
        assert cost < simulated, "computing takes longer than real time has"
