"""One valid example of every registered type; a new type adds its own.

The bench on which they run is in ``bench.py``: an arm of three joints, J1 moved by a wave, J2 for
actuators, J3 for agents, and a ball that falls on the ground.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contract import small_files
from linkwork.core.registry import (
    ACTUATORS,
    AGENTS,
    BUSES,
    ENGINES,
    FAULTS,
    FORMATS,
    SENSORS,
    Registry,
)
from linkwork.formats import find_file
from linkwork.model.parts import Part

REGISTRIES: dict[str, Registry[Any]] = {
    registry.kind: registry
    for registry in (ENGINES, SENSORS, ACTUATORS, AGENTS, BUSES, FAULTS, FORMATS)
}


@dataclass(frozen=True)
class Example:
    """A valid spec of one registered type.

    Attributes:
        params: Parameters, as in a file.
        names: Those that name an object of the scene.
        required: Required ones.
        positive: Those that must not be negative.
        anew: Slots that an edit of the scene resets, as documented.
        files: Files it needs, by name.
        more: Further content of the scene's file: the ports of a bus.
        moves: The joint whose target an agent or bus sets.
    """

    params: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    anew: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    more: str = ""
    moves: str = "arm/J3"


@dataclass(frozen=True)
class FormatExample:
    """Properties of one format.

    Attributes:
        mistake: A text in the sample part's file, and its replacement with a mistake.
        writes: Whether the format can be written.
        sample: The sample part's file where the format cannot be written, or cannot say all of
            the sample part, else empty.
        meant: The part in that file, where it is not the sample part.
        lines: Whether people write such files, so that a mistake is told with its line.
        reads: Whether the format can be read.
        joints: Whether a part read back from a file that we wrote has its joints again.
    """

    mistake: tuple[str, str]
    writes: bool = True
    sample: str | bytes = ""
    meant: Callable[[], Part] | None = None
    lines: bool = True
    reads: bool = True
    joints: bool = True


PROGRAM = """
import math
from linkwork import Control

class Count(Control):
    def init(self):
        for slot in ("calls", "moves", "ticks"):
            self.memory(slot, 0.0)
        self.joint("J1").on_change(self.moved, by=0.01)
        self.every(0.05, self.tick)

    def loop(self):
        self.memory.calls += 1
        wave = math.sin(0.1 * self.memory.calls)
        self.joint("J3").target = 0.3 * wave + self.random.uniform(0.0, 0.01)

    def moved(self, angle):
        self.memory.moves += 1

    def tick(self):
        self.memory.ticks += 1
"""

MOVEMENT = """
format = "linkwork/movement 1"
name = "nod"
interpolation = "smooth"

[[posture]]
time = 0
joints_deg = { J3 = 0 }

[[posture]]
time = 0.3
joints_deg = { J3 = 20 }

[[posture]]
time = 0.5
joints_deg = { J3 = -10 }
"""

#: A port that lets a bus move J3 by what J1 does. A bus in lock-step goes the same way each time.
PORT = """
[[port]]
name = "elbow"
group = "arm/test"
commands = [{ signal = "arm/J3.target", bits = 12, wire = "a" }]
sensors = [{ signal = "arm/J1.angle", bits = 10, signed = true, wire = "a" }]
parameters = [{ signal = "arm/J3.kp" }]
"""

#: Targets of faults.
ENCODER = """
[[sensor]]
name = "angle"
type = "encoder"
joint = "arm/J1"
period = 0.006
"""
#: For engines without contacts: balls fall through the ground.
FALLING = """
[collide]
never = [["balls", "ground"]]
"""
VISITOR = """
[[part]]
name = "visitor"
part = "./ball.toml"
at = { xyz = [2, 0, 0.5] }
base = "free"

[[engine]]
type = "mujoco"

[[engine]]
type = "kinematic"
owns = ["visitor"]
"""
CAN = f"""
[[bus]]
name = "can0"
type = "can"
socketcand = 0
{
    PORT.replace('wire = "a"', "can_id = 4", 1)
    .replace('wire = "a"', "can_id = 5")
    .replace('"arm/J3.kp"', '"arm/J3.kp", bits = 8, lo = 0, hi = 100, can_id = 6')
}
"""
#: A robot with legs, for agents that move feet, with bent knees.
BIPED = """
[[part]]
name = "robot"
part = "./biped.toml"
at = { xyz = [0, 2, 0.8577848] }
"""


def crouched() -> str:
    """Returns BARt-UH II with bent knees."""
    text = Path(find_file("bart_uh/biped")).read_text()
    for side in ("right", "left"):
        for joint, value in (("hip_x", 20), ("knee", -40), ("ankle_x", 20)):
            name = f'[[joint]]\nname = "{side}_{joint}"\n'
            assert name in text
            text = text.replace(name, f"{name}value_deg = {value}\n")
    return text


TABLE = "time [s],J3 [deg]\n0,0\n0.1,10\n0.3,-5\n0.6,20\n"
TIMES = ("at", "lasts")


def wire(**params: Any) -> Example:
    """Returns a fault on the wire."""
    given = {"bus": "can0", "at": 0.05, "lasts": 5.0, "chance": 0.5, "ids": [5], "node": "me"}
    return Example(given | params, names=("bus",), positive=(*TIMES, "chance"), more=CAN)


EXAMPLES: dict[str, dict[str, Example]] = {
    "engine": {
        "kinematic": Example(),
        "emulation": Example(),
        "mujoco": Example(
            {"iterations": 40, "tolerance": 1e-9, "impratio": 5.0, "contact_time": 0.01},
            positive=("iterations", "tolerance", "impratio", "contact_time"),
        ),
        "impulse": Example(
            {"gap": 1e-9, "speed_gap": 1e-8, "order": 4, "max_iterations": 30},
            positive=("gap", "speed_gap", "max_iterations"),
            more=FALLING,
        ),
        "lagrange": Example(
            {"integrator": "rk4", "contacts": ["ball/ball"], "stiffness": 2e4, "damping": 40.0},
            positive=("stiffness", "damping"),
        ),
    },
    "sensor": {
        "encoder": Example(
            {"joint": "arm/J1", "bits": 12, "offset": 0.1, "noise": 0.001, "period": 0.02},
            names=("joint",), required=("joint",), positive=("bits", "noise", "period"),
        ),
        "effort": Example(
            {"joint": "arm/J1", "noise": 0.01, "period": 0.01},
            names=("joint",), required=("joint",), positive=("noise", "period"),
        ),
        "ray": Example(
            {"on": "arm/tip", "range": 3.0, "direction": [0.0, 0.0, -1.0], "noise": 0.001},
            names=("on",), required=("on", "range"), positive=("range", "noise"),
        ),
        "inclinometer": Example(
            {"on": "arm/upper", "noise": 0.001, "period": 0.02},
            names=("on",), required=("on",), positive=("noise", "period"),
        ),
        "contact": Example(
            {"on": "ball/ball", "with": "ground", "noise": 0.01},
            names=("on", "with"), required=("on",), positive=("noise",),
        ),
        "imu": Example(
            {"on": "arm/tip", "noise": 0.02, "gyro_noise_density": 0.001, "bias": [0.1, 0.0, -0.1],
             "bias_walk": 0.3, "gyro_bias_walk": 0.1, "range": 60.0, "period": 0.006},
            names=("on",), required=("on",),
            positive=("noise", "gyro_noise_density", "bias_walk", "range", "period"),
        ),
        "foot": Example(
            {"on": "ball/ball", "size": [0.04, 0.02], "noise": 0.01, "range": 20.0},
            names=("on",), required=("on", "size"), positive=("noise", "range"),
        ),
        "lidar": Example(
            {"on": "arm/base", "range": 3.0, "min_range": 0.02, "count": 9, "opening": 1.5,
             "noise": 0.001, "period": 0.02},
            names=("on",), required=("on", "range"),
            positive=("range", "min_range", "count", "opening", "noise", "period"),
        ),
        "camera": Example(
            {"on": "arm/tip", "width": 16, "height": 12, "opening": 0.9, "near": 0.02, "far": 9.0,
             "sky": "#102030", "noise": 0.001, "period": 0.04},
            names=("on",), required=("on",),
            positive=("width", "height", "opening", "near", "far", "noise", "period"),
            anew=("pose", "visible"),  # another world has another image
        ),
        "motion": Example(
            {"on": "arm/tip", "period": 0.004},
            names=("on",), required=("on",), positive=("period",),
        ),
        "mujoco": Example(
            {"sensor": "framelinvel", "on": "arm/tip", "cutoff": 5.0, "period": 0.02},
            names=("on",), required=("sensor", "on"), positive=("cutoff", "period"),
        ),
    },
    "actuator": {
        "servo": Example(
            {"joint": "arm/J2", "kp": 8.0, "kd": 0.3, "max_effort": 4.0},
            names=("joint",), required=("joint",), positive=("kp", "kd", "max_effort"),
        ),
        "smart_servo": Example(
            {"joint": "arm/J2", "model": "AX-12", "stall_effort": 4.0, "stall_current": 4.0,
             "control_period": 0.004, "backlash": 0.002, "cogging": 0.01, "cogging_cycles": 100.0,
             "supply_resistance": 0.2, "punch": 0.05, "max_effort": 4.0},
            names=("joint", "model"), required=("joint",),
            positive=("stall_effort", "control_period", "backlash", "punch", "max_effort"),
            anew=("robots",),  # sums of the joints' meters
        ),
        "auto_servo": Example(
            {"joint": "arm/J2", "bandwidth": 4.0, "damping_ratio": 0.8, "max_effort": 4.0},
            names=("joint",), required=("joint",),
            positive=("bandwidth", "damping_ratio", "max_effort"),
        ),
        "motor": Example(
            {"joint": "arm/J2", "gain": 0.5, "max_effort": 4.0},
            names=("joint",), required=("joint",), positive=("gain", "max_effort"),
        ),
        "effort": Example(
            {"joint": "arm/J2", "max_effort": 0.5},
            names=("joint",), required=("joint",), positive=("max_effort",),
        ),
        "general": Example(
            {"joints": {"arm/J2": 1.5}, "gain": [2.0, 0.0, 0.0], "bias": [0.0, -2.0, -0.1],
             "dynamics": "filter", "time": 0.05, "control_range": [-1.0, 1.0]},
            required=("joints",), positive=("time",),
        ),
        "mujoco": Example(
            {"joint": "arm/J2", "dynamics": "filter", "dynprm": [0.05], "gainprm": [2.0],
             "activations": 1, "control_range": [-1.0, 1.0]},
            names=("joint",), required=("joint",),
        ),
    },
    "agent": {
        "program": Example(
            {"file": "count.py", "on": "arm", "period": 0.01, "call_timeout": 30.0},
            names=("file", "on"), positive=("period", "call_timeout"),
            anew=("int:timer", "int:timer_count"),  # init() sets them again
            files={"count.py": PROGRAM},
        ),
        "wave": Example(
            {"joint": "arm/J3", "amplitude": 0.2, "frequency": 2.0, "offset": 0.1, "ramp": 0.3},
            names=("joint",), required=("joint",), positive=("frequency", "ramp"),
        ),
        "sequence": Example(
            {"joint": "arm/J3", "times": [0.0, 0.2, 0.5], "values": [0.0, 0.4, -0.2], "ramp": 0.1},
            names=("joint",), required=("joint", "times", "values"), positive=("ramp",),
        ),
        "movement": Example(
            {"file": "nod.toml", "on": "arm", "movement": "nod", "start": 0.02, "speed": 1.5,
             "ramp": 0.1, "period": 0.004, "repeat": True},
            names=("file", "on", "movement"), required=("file",),
            positive=("start", "speed", "ramp", "period"), files={"nod.toml": MOVEMENT},
        ),
        "formula": Example(
            {"formulas": {"J3": "0.3*sin(2*pi*t) + rad(5)*t"}, "on": "arm", "start": 0.02},
            names=("on",), required=("formulas",), positive=("start",),
        ),
        "table": Example(
            {"file": "way.csv", "columns": ["J3"], "on": "arm", "start": 0.02},
            names=("file", "on"), required=("file",), positive=("start",),
            files={"way.csv": TABLE},
        ),
        "legs": Example(
            {"feet": ["right_heel", "left_sole"], "on": "robot", "knee": "human",
             "formulas": {"right_heel_z": "0.05*sin(2*pi*t)^2"}},
            names=("on",), required=("feet",), more=BIPED, moves="robot/right_knee",
            files={"biped.toml": crouched()},
        ),
        "walk": Example(
            {"feet": ["right_sole", "left_sole"], "on": "robot", "length": 0.1, "height": 0.03,
             "period": 0.5, "double_support": 0.3, "steps": 3, "first": "left", "start": 0.02},
            names=("on",), required=("feet",),
            positive=("height", "period", "double_support", "steps", "start"), more=BIPED,
            moves="robot/right_knee", files={"biped.toml": crouched()},
        ),
    },
    "bus": {
        "loop": Example(
            {"lockstep": True, "period": 0.01, "deadline": 0.5, "ramp": 0.3, "on_loss": "ramp",
             "plant": "virtual", "delay": 0.0001},
            positive=("period", "deadline", "ramp", "delay"), more=PORT,
        ),
        "can": Example(
            {"channel": "can7", "bitrate": 250_000, "host": "127.0.0.1",
             "restart_after": 0.5, "period": 0.01, "deadline": 0.5},
            positive=("bitrate", "restart_after", "period", "deadline"),
            more=PORT.replace('wire = "a"', "can_id = 4", 1).replace('wire = "a"', "can_id = 5")
            .replace('"arm/J3.kp"', '"arm/J3.kp", bits = 8, lo = 0, hi = 100, can_id = 6'),
        ),
        # No client is connected: the tests send its input.
        "tcp": Example(
            {"port": 0, "host": "127.0.0.1", "token": "secret", "period": 0.01, "deadline": 0.5},
            positive=("period", "deadline"), more=PORT.replace(', wire = "a"', ""),
        ),
    },
    "fault": {
        "stuck": Example(
            {"sensor": "angle", "at": 0.05, "lasts": 5.0},
            names=("sensor",), required=("sensor",), positive=TIMES, more=ENCODER,
        ),
        "offset": Example(
            {"signal": "angle.angle", "by": 0.1, "at": 0.05},
            names=("signal",), required=("signal", "by"), positive=("at",), more=ENCODER,
        ),
        "noise": Example(
            {"sensor": "angle", "deviation": 0.1, "chance": 40.0, "seed": 3, "lasts": 5.0},
            names=("sensor",), required=("sensor", "deviation"),
            positive=("deviation", "chance", "lasts"), more=ENCODER,
        ),
        "dead": Example(
            {"joint": "arm/J1", "at": 0.05, "lasts": 5.0},
            names=("joint",), required=("joint",), positive=TIMES,
        ),
        "person": Example(
            {"part": "visitor", "to": [0.5, 0.0], "speed": 2.0, "around": "arm/base",
             "radius": 1.9, "at": 0.05},
            names=("part", "around"), required=("part", "to"),
            positive=("at", "speed", "radius"), more=VISITOR,
        ),
        "drop": wire(),
        "delay": wire(delay=0.02),
        "corrupt": wire(seed=4),
        "duplicate": wire(times=3),
        "error": wire(),
        "bus_off": wire(),
    },
}  # fmt: skip

FORMAT_EXAMPLES: dict[str, FormatExample] = {
    "gltf": FormatExample(
        ('"version": "2.0"', '"version": "=2x"'),
        sample=small_files.gltf_file(), meant=small_files.gltf_part, lines=False, joints=False,
    ),
    "humanoid_xml": FormatExample(
        ("value='Universal'", "value='Uniwersal'"),
        sample=small_files.HUMANOID, meant=small_files.humanoid_part,
    ),
    "mjcf": FormatExample(
        ('type="slide"', 'type="slyde"'), sample=small_files.MJCF, meant=small_files.mjcf_part,
    ),
    "mesh": FormatExample(
        ("vertex 0.125", "vertex 0.125=high"),
        writes=False, sample=small_files.stl_file(), meant=small_files.stl_part,
    ),
    "sdf": FormatExample(('type="revolute"', 'type="revolut"')),
    "robotix": FormatExample(
        ("TYPE = 2", "TYPE = 7"), sample=small_files.ROBOTIX, meant=small_files.robotix_part,
    ),
    "step": FormatExample(
        ("ISO-10303-21", "ISO=10303"),
        writes=False, sample=small_files.step_file(), meant=small_files.step_part, lines=False,
    ),
    "toml": FormatExample(('type = "hinge"', 'type = "hinj"')),
    "urdf": FormatExample(('type="revolute"', 'type="revolut"')),
    "wrl": FormatExample(("", ""), reads=False),
    "x3d": FormatExample(("", ""), reads=False),
}  # fmt: skip

#: Kind and name of everything registered that takes part in the cycle.
CASES = [
    (kind, name) for kind in ("engine", "sensor", "actuator", "agent", "bus", "fault")
    for name in REGISTRIES[kind].names()
]  # fmt: skip


def example(kind: str, name: str) -> Example:
    """Returns the example of a registered type."""
    found = EXAMPLES[kind].get(name)
    assert found is not None, (
        f"{kind} {name!r} is registered but has no example: add one to tests/contract/examples.py"
    )
    return found
