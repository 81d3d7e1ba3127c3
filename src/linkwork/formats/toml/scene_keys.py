"""Keys of scene files: specs, ports, faults, placements, lights, postures."""

from __future__ import annotations

from linkwork.core.forms import Key, Section, Table
from linkwork.core.renamed_keys import RENAMED_VALUES
from linkwork.core.value_types import (
    COLOR,
    FILE,
    NAME,
    REF,
    BooleanType,
    ChoiceType,
    IntegerType,
    ListType,
    MapType,
    NumberType,
    PairType,
    TextType,
)
from linkwork.formats.toml.movement_keys import MOVEMENT
from linkwork.formats.toml.part_keys import (
    ANCHOR,
    AT,
    ATTACH,
    COUPLING,
    ELEMENT,
    JOINT,
    LABELS,
    LOOP,
    PLACED_DRIVE,
    SPRING,
    VECTOR,
)
from linkwork.model.parts.part import SELF_COLLISION
from linkwork.model.scene import BASES, MODES


def _spec(named: bool, example: str) -> Table:
    keys = {
        "name": Key(NAME, "Name of its signals.", required=named),
        "type": Key(NAME, "Registered type.", required=True),
        "at": Key(AT, "Pose, if the type has one."),
        "file": Key(FILE, "File, relative to this file's folder, if the type has one."),
    }
    return Table(keys, example=example, open=True)


SENSOR = _spec(True, 'name = "eye", type = "ray", on = "head"')
ACTUATOR = _spec(True, 'name = "drive", type = "servo", joint = "arm/elbow"')
AGENT = _spec(True, 'name = "control", type = "program", file = "control.py"')
ENGINE = _spec(False, 'type = "mujoco"')

PLANTS = ("virtual", "real")
#: Keys of specs that are paths of files.
SPEC_FILES = ("file", "certificate", "key")
#: Policies for commands after their controller is lost.
POLICIES = ("hold", "ramp", "torque_off", "stop", "pause")

BUS = Table(
    {
        "name": Key(
            NAME, "Name of its signals, and owner of the inputs that it sets.", required=True
        ),
        "type": Key(NAME, "Registered type.", required=True),
        "plant": Key(
            ChoiceType((*PLANTS, "both")),
            "Plant behind its ports: this scene, hardware on the bus, or both.",
        ),
        "closes": Key(
            ChoiceType(PLANTS), "Plant whose sensors close the loop, if the plant is both."
        ),
        "period": Key(NumberType(0.0), "Control period [s]; the scene's step if absent.", "time"),
        "deadline": Key(
            NumberType(0.0), "Maximum age of a port's command [s]; 0 for no limit.", "time"
        ),
        "on_loss": Key(
            ChoiceType(POLICIES, former=tuple(RENAMED_VALUES["bus", "on_loss"])),
            "Policy for commands after the controller is lost.",
        ),
        "ramp": Key(NumberType(0.0), "Duration of a ramp to the safe values [s].", "time"),
        "lockstep": Key(
            BooleanType(), "Whether the scene waits for the controller before each period."
        ),
        "turn_timeout": Key(
            NumberType(0.0),
            "Maximum wait for one turn in lock-step, in wall-clock time [s]; 0 for no limit.",
            "time",
        ),
        "file": Key(FILE, "File, relative to this file's folder, if the type has one."),
        "certificate": Key(FILE, "TLS certificate file, relative to this file's folder."),
        "key": Key(FILE, "File of its private key, relative to this file's folder."),
    },
    example='name = "can0", type = "can"',
    open=True,
)

PORT_SIGNAL = Table(
    {
        "signal": Key(REF, "Signal of the scene, 'arm/elbow.target'."),
        "name": Key(NAME, "Name in the port; the last part of the signal's name if absent."),
        "bits": Key(IntegerType(1, 52), "Bits on the wire; a plain number if absent."),
        "lo": Key(
            NumberType(), "Value of the lowest code [SI]; the signal's range.", "dof", si="SI"
        ),
        "hi": Key(
            NumberType(), "Value of the highest code [SI]; the signal's range.", "dof", si="SI"
        ),
        "signed": Key(BooleanType(), "Whether codes are two's complement."),
        "scale": Key(NumberType(), "Value of one code [SI], instead of lo and hi.", "dof", si="SI"),
        "offset": Key(NumberType(), "Value of code 0 [SI], with scale.", "dof", si="SI"),
        "unit": Key(TextType(), "Unit, if it has no signal."),
        "safe": Key(
            NumberType(),
            "Value that a ramp reaches after the controller is lost [SI].",
            "dof",
            si="SI",
        ),
    },
    example='signal = "arm/elbow.target", bits = 10',
    open=True,
)

_PORT_SIGNALS = ListType(PORT_SIGNAL, "tables")

PORT = Table(
    {
        "name": Key(NAME, "Name of the port.", required=True),
        "bus": Key(NAME, "Name of its bus; the only one if absent."),
        "group": Key(REF, "Path of its groups, 'left/leg'."),
        "commands": Key(_PORT_SIGNALS, "Commands from the controller to the plant."),
        "sensors": Key(_PORT_SIGNALS, "Measurements from the plant to the controller."),
        "parameters": Key(_PORT_SIGNALS, "Adjustable values, such as gains."),
    },
    example='name = "elbow", sensors = [{ signal = "arm/elbow.angle", bits = 10 }]',
)

FAULT = Table(
    {
        "name": Key(NAME, "Name of its signals.", required=True),
        "type": Key(NAME, "Registered type: stuck, dead, drop and others.", required=True),
        "at": Key(
            NumberType(0.0), "Start time [s]; without at and chance it starts by hand only.", "time"
        ),
        "lasts": Key(NumberType(0.0), "Duration [s]; unlimited if absent.", "time"),
        "chance": Key(
            NumberType(0.0),
            "Rate of random starts [1/s]; on a bus, share of frames affected.",
            si="1/s",
        ),
        "seed": Key(IntegerType(), "Seed of its random numbers; the scene's if absent."),
        "sensor": Key(REF, "Sensor that it affects."),
        "signal": Key(REF, "Measured signal that it affects, 'can0/tilt.x'."),
        "joint": Key(REF, "Joint whose drive it affects."),
        "bus": Key(NAME, "Bus that it affects; the only one if absent."),
        "part": Key(REF, "Part that represents the person."),
    },
    example='name = "blind", type = "stuck", sensor = "tilt", at = 3',
    open=True,
)

PLACEMENT = Table(
    {
        "name": Key(NAME, "Scope of its names; the part's own name if absent."),
        "part": Key(FILE, "A kit name or a path.", required=True),
        "at": Key(AT, "Pose in the world, or in the anchor's frame."),
        "base": Key(ChoiceType(BASES), "Whether the part is fixed or free."),
        "on": Key(REF, "Anchor of a part placed earlier, 'table/top'."),
        "by": Key(REF, "Anchor of the part that coincides with 'on'."),
        "drives": Key(
            MapType(PLACED_DRIVE, "drives"),
            "Drives that replace the part's, by joint or pattern: "
            "{ '*' = { type = 'smart_servo', model = 'AX-12' } }.",
        ),
    },
    example='name = "arm", part = "./arm.toml"',
)

LIGHT = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "kind": Key(ChoiceType(("sun", "lamp")), "Directional light or point light."),
        "xyz": Key(VECTOR, "Position [m].", "length"),
        "look_at": Key(VECTOR, "Point that it shines at [m].", "length"),
        "color": Key(COLOR, "Color."),
        "strength": Key(NumberType(0.0), "Intensity; 1 is daylight."),
        "shadows": Key(BooleanType(), "Whether it casts shadows."),
    },
    example='name = "sun"',
)

VIEWPOINT = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "xyz": Key(VECTOR, "Camera position [m].", "length"),
        "look_at": Key(VECTOR, "Point that the camera looks at [m].", "length"),
        "opening": Key(NumberType(0.0), "Vertical field of view [rad].", "angle"),
    },
    example='name = "front"',
)

POSTURE = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "joints": Key(
            MapType(NumberType(), "values by joint"),
            "Value of each joint [rad or m]: { 'arm/elbow' = 0.5 }.",
            "dof",
            required=True,
            together=True,
        ),
    },
    example="name = \"home\", joints_deg = { 'arm/elbow' = 30 }",
)

COLLIDE = Table(
    {
        "never": Key(ListType(PairType(), "pairs of names"), "Pairs that do not collide."),
        "always": Key(
            ListType(PairType(), "pairs of names"), "Pairs that collide although joined."
        ),
        "joined": Key(BooleanType(), "Whether directly joined bodies collide."),
    },
    example='never = [["left_finger", "right_finger"]]',
)

#: Keys and sections of a part's file. A ``Section`` is written ``[[section]]``, once per item.
PART = Table(
    {
        "format": Key(TextType(), 'Always "linkwork/part 1".', required=True),
        "name": Key(NAME, "Name of the part.", required=True),
        "title": Key(TextType(), "Title, one line."),
        "labels": LABELS,
        "aliases": Key(
            MapType(TextType(), "names"), "Names in the imported file, with the names here."
        ),
        "self_collision": Key(
            ChoiceType(SELF_COLLISION),
            "Which elements collide with each other, joined ones aside: all; separate, all but "
            "pairs that overlap at the start (for imports); or none.",
        ),
        "element": Key(Section("element", ELEMENT), "Rigid bodies."),
        "joint": Key(Section("joint", JOINT), "Joints."),
        "anchor": Key(Section("anchor", ANCHOR), "Attachment frames for other parts."),
        "attach": Key(Section("attach", ATTACH), "Parts attached at anchors."),
        "loop": Key(Section("loop", LOOP), "Closed loops."),
        "coupling": Key(Section("coupling", COUPLING), "Joints that mimic others."),
        "spring": Key(Section("spring", SPRING), "Springs between anchors."),
        "sensor": Key(Section("sensor", SENSOR), "Sensors of the part."),
        "port": Key(Section("port", PORT), "Ports of the part."),
    },
    example='name = "upper_arm"',
)

#: Keys and sections of a scene's file.
SCENE = Table(
    {
        "format": Key(TextType(), 'Always "linkwork/scene 1".', required=True),
        "name": Key(NAME, "Name of the scene.", required=True),
        "title": Key(TextType(), "Title, one line."),
        "background": Key(COLOR, "Background color; the studio's if absent."),
        "gravity": Key(VECTOR, "Gravity [m/s²]; [0, 0, -9.81] if absent.", si="m/s²"),
        "step": Key(NumberType(0.0), "Time step [s].", "time"),
        "seed": Key(IntegerType(), "Seed of all random numbers."),
        "start": Key(NAME, "Initial posture of a session."),
        "mode": Key(
            ChoiceType(MODES),
            "Mode of motion, which can change while it runs: kinematic (joints follow their "
            "targets exactly), emulation (the same, with computed efforts) or simulation (the "
            "engines below).",
        ),
        "part": Key(Section("part", PLACEMENT), "Parts and their poses."),
        "element": Key(Section("element", ELEMENT), "Scenery, fixed to the world."),
        "light": Key(Section("light", LIGHT), "Lights."),
        "viewpoint": Key(Section("viewpoint", VIEWPOINT), "Camera viewpoints."),
        "posture": Key(Section("posture", POSTURE), "Named postures."),
        "loop": Key(Section("loop", LOOP), "Loops between parts."),
        "coupling": Key(Section("coupling", COUPLING), "Joints that mimic others."),
        "spring": Key(Section("spring", SPRING), "Springs between parts."),
        "engine": Key(Section("engine", ENGINE), "Engines, which move the bodies."),
        "sensor": Key(Section("sensor", SENSOR), "Sensors."),
        "actuator": Key(Section("actuator", ACTUATOR), "Actuators."),
        "agent": Key(Section("agent", AGENT), "Agents: programs and others that set targets."),
        "bus": Key(Section("bus", BUS), "Connections to external software and hardware."),
        "port": Key(Section("port", PORT), "Devices on the buses."),
        "fault": Key(Section("fault", FAULT), "Faults to inject."),
        "collide": Key(COLLIDE, "Collision rules."),
    },
    example='name = "bench"',
)

#: The table of each file format, by the file's ``format`` key.
FILE_TABLES: dict[str, Table] = {
    "linkwork/part 1": PART,
    "linkwork/scene 1": SCENE,
    "linkwork/movement 1": MOVEMENT,
}
