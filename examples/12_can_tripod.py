"""A program that sees only CAN frames keeps the tripod level, through python-can as it is.

    python examples/12_can_tripod.py                       # starts the tripod, then levels it
    python examples/12_can_tripod.py 192.168.0.7 29536     # a tripod that stands elsewhere

With another interface in ``can.Bus`` the same program levels the machine. It needs python-can:
pip install "linkwork[bus]".
"""

import subprocess
import sys
from math import acos, atan2, cos, degrees, hypot, radians, sin

import can

THIGH = SHIN = 0.12  # [m]
RADIUS, HEIGHT = 0.14, 2 * THIGH * cos(radians(40))  # of the sockets; of the hips above the feet
INTEGRAL, TWICE, STEEPEST = 16.0, 80.0, radians(14)
PERIOD = 0.01  # of the inclinometer's frames [s]
INCLINOMETER, SYNC = 0x120, 0x80
STANDARD = {"is_extended_id": False}
RANGES = {1: (-20, 100), 2: (-150, -5)}  # of hip and knee [deg], 12 bits each


def code(angle: float, joint: int) -> bytes:
    """An angle [rad] as the servo takes it: 0 at its lowest, 4095 at its highest."""
    low, high = (radians(end) for end in RANGES[joint])
    return min(max(round((angle - low) / (high - low) * 4095), 0), 4095).to_bytes(2, "little")


def tilts(data: bytes | bytearray) -> list[float]:
    """The inclinometer's two angles [rad]."""
    words = (int.from_bytes(data[n : n + 2], "little", signed=True) for n in (0, 2))
    return [radians(45) * (2 * word + 1) / 65535 for word in words]


def level(bus: can.BusABC, seconds: float) -> float:
    """Levels the tray; returns the steepest tilt of the second half [rad]."""
    sums, twice, worst = [0.0, 0.0], [0.0, 0.0], 0.0
    for step in range(round(seconds / PERIOD)):
        while (message := bus.recv(30.0)) is not None and message.arbitration_id != INCLINOMETER:
            pass
        if message is None:
            raise SystemExit("The inclinometer is silent.")
        tilt = tilts(message.data)
        sums = [s + t * PERIOD for s, t in zip(sums, tilt, strict=True)]
        twice = [d + s * PERIOD for d, s in zip(twice, sums, strict=True)]
        floor = [INTEGRAL * s + TWICE * d for s, d in zip(sums, twice, strict=True)]
        x, y = (min(max(angle, -STEEPEST), STEEPEST) for angle in floor)
        for leg, azimuth in ((1, 0.0), (2, radians(120)), (3, radians(240))):
            px, py = RADIUS * cos(azimuth), RADIUS * sin(azimuth)
            fx, fy = px * cos(y), py * cos(x) + px * sin(y) * sin(x)
            out = fx * cos(azimuth) + fy * sin(azimuth) - RADIUS
            down = HEIGHT - (py * sin(x) - px * sin(y) * cos(x))
            bend = acos(min(hypot(out, down) / (THIGH + SHIN), 1.0))
            for joint, angle in ((1, atan2(out, down) + bend), (2, -2 * bend)):
                data = code(angle, joint)
                bus.send(can.Message(arbitration_id=16 * leg + joint, data=data, **STANDARD))
        bus.send(can.Message(arbitration_id=SYNC, **STANDARD))
        if step > seconds / PERIOD / 2:
            worst = max(worst, hypot(*tilt))
    return worst


def run(host: str, port: int, seconds: float = 10.0) -> None:
    with can.Bus(interface="socketcand", host=host, port=port, channel="can0") as bus:
        print(f"Tray: within {degrees(level(bus, seconds)):.2f}° of level.")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run(sys.argv[1], int(sys.argv[2]))
    else:
        scene = [sys.executable, "-m", "linkwork", "run", "tripod/can", "--clock", "real"]
        with subprocess.Popen(scene, stdout=subprocess.PIPE, text=True) as tripod:
            assert tripod.stdout is not None
            while "socketcand on" not in (line := tripod.stdout.readline()):
                assert line, "the tripod does not run"
            run("127.0.0.1", 29536)
            tripod.terminate()
