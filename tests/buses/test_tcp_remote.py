"""Planning, kinematics and dynamics in another process, which sees the arm only over TCP."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from linkwork import Scene, Session, load
from part_fixture import endpoint

UPPER, LOWER = 0.4, 0.3  # lengths of the links [m]
FIRST, LAST = (0.417, 0.403), (0.2, 0.25)  # where the tip goes from and to, straight [m]
SECONDS, STEP = 1.2, 0.002

PART = """
format = "linkwork/part 1"
name = "arm"

[[element]]
name = "post"
shape = { box = { size = [0.1, 0.1, 0.1] } }

[[element]]
name = "upper"
shape = { cylinder = { radius = 0.02, length = 0.4 }, at = { xyz = [0, 0, 0.2] } }
mass = 2

[[element]]
name = "lower"
shape = { cylinder = { radius = 0.02, length = 0.3 }, at = { xyz = [0, 0, 0.15] } }
mass = 1

[[joint]]
name = "shoulder"
type = "hinge"
from = "post"
to = "upper"
at = { xyz = [0, 0, 0.05] }
axis = [0, 1, 0]
range_deg = [-170, 170]
max_effort = 200
drive = { type = "effort" }

[[joint]]
name = "elbow"
type = "hinge"
from = "upper"
to = "lower"
at = { xyz = [0, 0, 0.4] }
axis = [0, 1, 0]
range_deg = [-170, 170]
max_effort = 200
drive = { type = "effort" }
"""
SCENE = """
format = "linkwork/scene 1"
name = "remote"
step = 0.002
start = "first"

[[part]]
name = "arm"
part = "./arm.toml"

[[posture]]
name = "first"
joints = { "arm/shoulder" = FIRST, "arm/elbow" = SECOND }

[[bus]]
name = "part"
type = "tcp"
port = 0
lockstep = true

[[port]]
name = "shoulder"
commands = [{ signal = "arm/shoulder.target_effort" }]
sensors = [{ signal = "arm/shoulder.angle" }, { signal = "arm/shoulder.speed" }]

[[port]]
name = "elbow"
commands = [{ signal = "arm/elbow.target_effort" }]
sensors = [{ signal = "arm/elbow.angle" }, { signal = "arm/elbow.speed" }]
"""

#: The other computer: a straight line in time (planning), joint angles for it (kinematics), and the
#: torques that this motion takes (dynamics of two rods), which the last argument switches off.
ELSEWHERE = """
import math, socket, sys
port, turns, dynamics = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "dynamics"
L1, L2, m1, m2, r, g = 0.4, 0.3, 2.0, 1.0, 0.02, 9.81
l1, l2 = L1 / 2, L2 / 2
I1, I2 = m1 * (3 * r * r + L1 * L1) / 12, m2 * (3 * r * r + L2 * L2) / 12
first, last = (0.417, 0.403), (0.2, 0.25)

def plan(t):
    s = min(max(t, 0.0), 1.0)
    s = s * s * s * (10 + s * (6 * s - 15))
    return [a + s * (b - a) for a, b in zip(first, last)]

def angles(t):
    x, z = plan(t)
    q2 = math.acos((x * x + z * z - L1 * L1 - L2 * L2) / (2 * L1 * L2))
    return math.atan2(x, z) - math.atan2(L2 * math.sin(q2), L1 + L2 * math.cos(q2)), q2

def torques(q, v, a):
    h, c = -m2 * L1 * l2 * math.sin(q[1]), math.cos(q[1])
    m11 = I1 + I2 + m1 * l1 * l1 + m2 * (L1 * L1 + l2 * l2 + 2 * L1 * l2 * c)
    m12, m22 = I2 + m2 * (l2 * l2 + L1 * l2 * c), I2 + m2 * l2 * l2
    down = m2 * g * l2 * math.sin(q[0] + q[1])
    return (m11 * a[0] + m12 * a[1] + h * (2 * v[0] * v[1] + v[1] * v[1])
            - (m1 * l1 + m2 * L1) * g * math.sin(q[0]) - down,
            m12 * a[0] + m22 * a[1] - h * v[0] * v[0] - down)

wire = socket.create_connection(("127.0.0.1", port))
part, out = wire.makefile("r", newline="\\n"), wire.makefile("w", newline="\\n")
print("join", file=out, flush=True)
while part.readline() != "ready\\n":
    pass
d = 1e-4
for _ in range(turns):
    now, q1, v1, q2, v2 = map(float, part.readline().split()[2:])
    wanted, before, after = angles(now), angles(now - d), angles(now + d)
    speed = [(b - a) / (2 * d) for a, b in zip(before, after)]
    turn = [(b - 2 * w + a) / (d * d) for a, w, b in zip(before, wanted, after)]
    known = torques(wanted, speed, turn) if dynamics else (0.0, 0.0)
    print("c", *(k + 20 * (w - q) + 2 * (s - v) for k, w, q, s, v in
                 zip(known, wanted, (q1, q2), speed, (v1, v2))), file=out, flush=True)
"""


def start() -> tuple[float, float]:
    """Angles with the tip where the line begins [rad]."""
    x, z = FIRST
    elbow = math.acos((x * x + z * z - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
    inner = math.atan2(LOWER * math.sin(elbow), UPPER + LOWER * math.cos(elbow))
    return math.atan2(x, z) - inner, elbow


def tip(session: Session) -> tuple[float, float]:
    """Where the tip is, from the shoulder [m]."""
    first = session["arm/shoulder.angle"]
    both = first + session["arm/elbow.angle"]
    return (
        UPPER * math.sin(first) + LOWER * math.sin(both),
        UPPER * math.cos(first) + LOWER * math.cos(both),
    )


def off_the_line(folder: Path, mode: str) -> tuple[float, float]:
    """Runs it; the farthest that the tip was from the line, and at the end from its goal [m]."""
    shoulder, elbow = start()
    (folder / "arm.toml").write_text(PART)
    text = SCENE.replace("FIRST", repr(shoulder)).replace("SECOND", repr(elbow))
    (folder / "remote.toml").write_text(text)
    scene = load(folder / "remote.toml")
    assert isinstance(scene, Scene)
    turns = round(SECONDS / STEP)
    dx, dz = LAST[0] - FIRST[0], LAST[1] - FIRST[1]
    length, farthest = math.hypot(dx, dz), 0.0
    with Session(scene) as session:
        with subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE, str(endpoint(session)), str(turns), mode]
        ) as elsewhere:
            for _ in range(turns):
                session.step()
                x, z = tip(session)
                aside = abs((x - FIRST[0]) * dz - (z - FIRST[1]) * dx) / length
                farthest = max(farthest, aside)
            assert elsewhere.wait(30.0) == 0
        x, z = tip(session)
    return farthest, math.hypot(x - LAST[0], z - LAST[1])


@pytest.mark.capability(83)
def test_planning_kinematics_and_dynamics_run_elsewhere(tmp_path: Path) -> None:
    """The tip follows a straight line within 2 mm; without the dynamics it falls off it."""
    farthest, missed = off_the_line(tmp_path, "dynamics")
    assert farthest < 0.002
    assert missed < 0.002
    fallen, _ = off_the_line(tmp_path, "none")
    assert fallen > 0.02
