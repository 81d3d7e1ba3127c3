"""Sensors of a real cell, each a program of its own on a network, move the virtual one."""

import json
import math
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from linkwork import Scene, Session, load

TIMEOUT = 30.0

PART = """
format = "linkwork/part 1"
name = "cell"

[[element]]
name = "floor"
shape = { box = { size = [2, 2, 0.02] } }

[[element]]
name = "gate"
shape = { box = { size = [0.8, 0.02, 1] }, at = { xyz = [0.4, 0, 0.5] } }

[[element]]
name = "table"
shape = { cylinder = { radius = 0.3, length = 0.05 } }

[[element]]
name = "lift"
shape = { box = { size = [0.3, 0.3, 0.05] } }

[[joint]]
name = "hinge"
type = "hinge"
from = "floor"
to = "gate"
axis = [0, 0, 1]
range_deg = [0, 90]

[[joint]]
name = "turn"
type = "hinge"
from = "floor"
to = "table"
axis = [0, 0, 1]
range_deg = [-180, 180]

[[joint]]
name = "height"
type = "slider"
from = "floor"
to = "lift"
axis = [0, 0, 1]
range = [0, 1]
"""
SCENE = """
format = "linkwork/scene 1"
name = "network"
step = 0.002

[[part]]
name = "cell"
part = "./cell.toml"

[[engine]]
type = "kinematic"

[[bus]]
name = "can0"
type = "can"
socketcand = 0
slcan = 0
deadline = 0.5

[[bus]]
name = "net"
type = "tcp"
port = 0

[[port]]
name = "gate"
bus = "can0"
commands = [{ signal = "cell/hinge.target", can_id = 0x201, bits = 16 }]

[[port]]
name = "table"
bus = "can0"
commands = [{ signal = "cell/turn.target", can_id = 0x1ABCDE01 }]

[[port]]
name = "lift"
bus = "net"
commands = [{ signal = "cell/height.target" }]
"""

#: Each sensor sends its reading fifty times a second; what it reads comes by standard input.
HEAD = """
import json, socket, struct, sys, threading, time
reading = [None]
def read():
    for line in sys.stdin:
        reading[0] = line.strip()
threading.Thread(target=read, daemon=True).start()
def readings():
    while True:
        if reading[0] is not None:
            yield reading[0]
        time.sleep(0.02)
"""
CAN_NODE = (
    HEAD
    + """
import can
with can.Bus(**json.loads(sys.argv[1])) as bus:
    id = int(sys.argv[2])
    for data in map(bytes.fromhex, readings()):
        bus.send(can.Message(arbitration_id=id, data=data, is_extended_id=id > 0x7FF))
"""
)
TCP_NODE = (
    HEAD
    + """
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
line.sendall(b"join\\n")
for value in readings():
    line.sendall(f"c {value}\\n".encode())
"""
)


class Sensor:
    """A sensor's program."""

    def __init__(self, code: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)], stdin=subprocess.PIPE, text=True
        )

    def reads(self, value: str) -> None:
        """What it measures from now on, as it writes it."""
        assert self.process.stdin is not None
        print(value, file=self.process.stdin, flush=True)

    def dies(self) -> None:
        assert self.process.stdin is not None
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()


@contextmanager
def network(session: Session) -> Iterator[tuple[Sensor, Sensor, Sensor]]:
    """A gate's angle by socketcand, a table's by slcan, a lift's height by plain TCP."""
    assert session.bus_processes is not None
    bus_endpoints = {
        name: endpoint.rpartition(":")[2].partition(" ")[0].partition(",")[0]
        for bus in ("can0", "net")
        for endpoint in session.bus_processes[bus].endpoints
        for name in ("socketcand", "slcan", "TCP")
        if name in endpoint.rpartition(":")[0]
    }
    by_name: dict[str, Any] = {
        "interface": "socketcand", "host": "127.0.0.1", "port": int(bus_endpoints["socketcand"]),
        "channel": "can0",
    }  # fmt: skip
    by_line = {"interface": "slcan", "channel": f"socket://127.0.0.1:{bus_endpoints['slcan']}"}
    with ExitStack() as stack:
        sensors = (
            Sensor(CAN_NODE, json.dumps(by_name), 0x201),
            Sensor(CAN_NODE, json.dumps(by_line), 0x1ABCDE01),
            Sensor(TCP_NODE, bus_endpoints["TCP"]),
        )
        for sensor in sensors:
            stack.callback(sensor.dies)
        yield sensors


def until(reached: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + TIMEOUT
    while not reached():
        assert time.monotonic() < end, f"not within {TIMEOUT:g} s: {what}"
        time.sleep(0.01)


@pytest.mark.capability(129)
def test_a_network_of_sensors_moves_the_virtual_cell(tmp_path: Path) -> None:
    """Three programs by three doors: each moves its own joint; when all are gone, it is told."""
    (tmp_path / "cell.toml").write_text(PART)
    (tmp_path / "network.toml").write_text(SCENE)
    scene = load(tmp_path / "network.toml")
    assert isinstance(scene, Scene)
    with Session(scene) as session:
        run = threading.Thread(target=session.run, kwargs={"clock": "real"})
        run.start()
        try:
            with network(session) as (gate, table, lift):
                for angle, turn, height in ((0.3, -2.0, 0.25), (1.2, 1.5, 0.75)):
                    code = round(angle / (math.pi / 2) * 0xFFFF)
                    gate.reads(code.to_bytes(2, "little").hex())
                    table.reads(struct.pack("<f", turn).hex())
                    lift.reads(str(height))
                    for name, value in (
                        ("hinge.angle", angle),
                        ("turn.angle", turn),
                        ("height.position", height),
                    ):
                        until(
                            lambda n=name, v=value: abs(session[f"cell/{n}"] - v) < 1e-3,
                            f"{name} follows its sensor",
                        )
                assert session.signals.owners["cell/turn.target"] == "can0"
                assert session.signals.owners["cell/height.target"] == "net"
            until(lambda: session["can0.clients"] == 0, "the sensors are gone")
            until(lambda: session["can0.losses"] >= 1, "the loss is told")
            assert session["cell/turn.angle"] == pytest.approx(1.5, abs=1e-3)
        finally:
            session.stop()
            run.join(TIMEOUT)
