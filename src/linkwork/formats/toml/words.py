"""The words of Linkwork's files: every section, its keys, their kinds and units.

Reading, messages and the JSON schemas for editors all follow this one table.
"""

from __future__ import annotations

from linkwork.formats.toml.freedoms import ByFreedom, OneOrMore
from linkwork.formats.toml.kinds import (
    COLOR,
    FILE,
    NAME,
    REF,
    Either,
    Flag,
    Integer,
    ListOf,
    MapOf,
    Number,
    Numbers,
    Pair,
    Text,
    Word,
)
from linkwork.formats.toml.tables import Key, Section, Table
from linkwork.parts import JOINT_TYPES, LOOP_TYPES, SPRING_TYPES
from linkwork.parts.engine_words import (
    MUJOCO_COUPLING,
    MUJOCO_ELEMENT,
    MUJOCO_JOINT,
    MUJOCO_LOOP,
    MUJOCO_SHAPE,
    EngineWord,
)
from linkwork.scene.planning import PLANNERS
from linkwork.scene.scene import BASES, MODES
from linkwork.scene.track import INTERPOLATIONS

VECTOR = Numbers((3,))

AT = Table(
    {
        "xyz": Key(VECTOR, "Position [m].", "length"),
        "rpy": Key(VECTOR, "Turns about the fixed axes x, y, z, in this order [rad].", "angle"),
        "quat": Key(Numbers((4,)), "Rotation as a quaternion w, x, y, z."),
    },
    example="at = { xyz = [0, 0, 0.2], rpy_deg = [0, 90, 0] }",
)

LABELS = Key(MapOf(Text(), "texts by language"), 'Words for people: { en = "…", de = "…" }.')

_RADIUS = Key(Number(), "Radius [m].", "length", required=True)
_LENGTH = Key(Number(), "Length along z [m].", "length", required=True)

#: The keys of each shape, by its word.
SHAPE_TABLES: dict[str, Table] = {
    "box": Table(
        {"size": Key(VECTOR, "Full edge lengths [m].", "length", required=True)},
        example="box = { size = [0.1, 0.1, 0.2] }",
    ),
    "cylinder": Table(
        {"radius": _RADIUS, "length": _LENGTH},
        example="cylinder = { radius = 0.03, length = 0.4 }",
    ),
    "cone": Table(
        {
            "radius": _RADIUS,
            "length": _LENGTH,
            "top_radius": Key(Number(), "Radius at the upper end [m].", "length"),
        },
        example="cone = { radius = 0.03, length = 0.1 }",
    ),
    "sphere": Table({"radius": _RADIUS}, example="sphere = { radius = 0.05 }"),
    "ellipsoid": Table(
        {"radii": Key(VECTOR, "Half axes along x, y, z [m].", "length", required=True)},
        example="ellipsoid = { radii = [0.1, 0.1, 0.05] }",
    ),
    "capsule": Table(
        {"radius": _RADIUS, "length": _LENGTH},
        example="capsule = { radius = 0.03, length = 0.4 }",
    ),
    "plane": Table(
        {"size": Key(Numbers((2,)), "How much of it is drawn [m].", "length")},
        example="plane = { size = [10, 10] }",
    ),
    "terrain": Table(
        {
            "size": Key(Numbers((2,)), "Extent along x and y [m].", "length", required=True),
            "rows": Key(Integer(2), "Points along y."),
            "columns": Key(Integer(2), "Points along x."),
            "heights": Key(
                ListOf(Number(), "numbers"), "Height of each point [m], row by row.", "length"
            ),
            "depth": Key(Number(0.0), "Thickness below the lowest point [m].", "length"),
        },
        example="terrain = { size = [10, 10], rows = 2, columns = 2, heights = [0, 0, 1, 1] }",
    ),
    "mesh": Table(
        {
            "file": Key(
                FILE, "STL, OBJ, Collada or glTF file, from this file's folder.", required=True
            ),
            "scale": Key(VECTOR, "Factor along each axis; 0.001 for a file in millimetres."),
            "node": Key(Text(), "The node of a glTF file that is meant; all if absent."),
        },
        example='mesh = { file = "housing.stl", scale = [0.001, 0.001, 0.001] }',
    ),
}


def _engine_words(words: dict[str, EngineWord]) -> Key:
    """What only the Mujoco engine understands."""
    kinds = {
        "number": lambda word: Number(word.low, word.high),
        "numbers": lambda word: Numbers((word.count,)),
        "whole": lambda word: Integer(int(word.low or 0), int(word.high or 2**31)),
        "flag": lambda word: Flag(),
        "name": lambda word: REF,
    }
    keys = {name: Key(kinds[word.kind](word), word.help) for name, word in words.items()}
    table = Table(keys, example=f"mujoco = {{ {next(iter(words))} = … }}")
    return Key(table, "What only the Mujoco engine understands.")


SHAPE = Table(
    {kind: Key(table, f"A {kind}.") for kind, table in SHAPE_TABLES.items()}
    | {
        "at": Key(AT, "Pose in the element's frame."),
        "color": Key(COLOR, "Colour, #rrggbb or #rrggbbaa; the element's if absent."),
        "texture": Key(FILE, "Image file laid on the shape."),
        "texture_repeat": Key(
            Numbers((2,)), "How often the image is repeated along its width and its height."
        ),
        "visible": Key(Flag(), "Whether it is drawn."),
        "collide": Key(Flag(), "Whether it touches others."),
        "mujoco": _engine_words(MUJOCO_SHAPE),
    },
    example="shape = { box = { size = [0.1, 0.1, 0.2] } }",
    one_of=tuple(SHAPE_TABLES),
)

ELEMENT = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "shape": Key(SHAPE, "Geometry: { box = { size = […] } } and so on."),
        "shapes": Key(ListOf(SHAPE, "shapes"), "Several shapes."),
        "on": Key(REF, "Element that this one is rigidly fixed to."),
        "at": Key(AT, "Pose in the frame of 'on'."),
        "mass": Key(Number(0.0), "Mass [kg].", "mass"),
        "density": Key(Number(0.0), "Density [kg/m³], where the mass is not given."),
        "com": Key(VECTOR, "Centre of mass [m], beside 'inertia'.", "length"),
        "inertia": Key(
            Numbers((3, 6)),
            "ixx, iyy, izz, then ixy, ixz, iyz where not 0, about the centre of mass [kg m²].",
        ),
        "friction": Key(Number(0.0), "Coulomb coefficient of the surface."),
        "restitution": Key(Number(0.0, 1.0), "0 keeps no speed at impact, 1 keeps all."),
        "color": Key(COLOR, "Colour, #rrggbb or #rrggbbaa."),
        "group": Key(NAME, "Collision group."),
        "velocity": Key(VECTOR, "Initial velocity of a free body [m/s].", "length"),
        "spin": Key(VECTOR, "Initial angular velocity of a free body [rad/s].", "angle"),
        "labels": LABELS,
        "mujoco": _engine_words(MUJOCO_ELEMENT),
    },
    example='name = "tube"',
)

PLUG_IN = Table(
    {"type": Key(NAME, "Registered type.", required=True)},
    example='drive = { type = "servo", kp = 10 }',
    open=True,
)
PLACED_DRIVE = Table(
    {**PLUG_IN.keys, "file": Key(FILE, "A file that it needs.")},
    example='neck = { type = "smart_servo", model = "AX-12" }',
    open=True,
)

RAIL_PIECE = Table(
    {
        "length": Key(Number(), "Arc length [m].", "length", required=True),
        "turn": Key(Number(), "Angle turned left over the piece [rad].", "angle"),
        "climb": Key(Number(), "Angle pitched upward over the piece [rad].", "angle"),
    },
    example="rail = [{ length = 1, turn_deg = 90 }]",
)

BUS_ENTRY = Table(
    {
        "bus": Key(NAME, "The bus; the only one if absent."),
        "bits": Key(Integer(1, 52), "Bits on the wire; a plain number if absent."),
        "lo": Key(Number(), "Value of the lowest code [rad or m]; the joint's range.", "freedom"),
        "hi": Key(Number(), "Value of the highest code [rad or m]; the joint's range.", "freedom"),
        "signed": Key(Flag(), "Whether codes are two's complement."),
        "scale": Key(Number(), "What one code is worth [SI], in place of lo and hi.", "freedom"),
        "offset": Key(Number(), "Value of code 0 [SI], beside scale.", "freedom"),
        "dof": Key(NAME, "The degree of freedom, where the joint has several."),
        "group": Key(REF, "Path of groups that the port belongs to."),
        "safe": Key(Number(), "Where a ramp leads when the controller is lost.", "freedom"),
    },
    example="bus = { can_id = 4, bits = 10 }",
    open=True,
)

JOINT = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "type": Key(Word(tuple(JOINT_TYPES)), "Kind of joint.", required=True),
        "from": Key(NAME, "Element that carries.", required=True),
        "to": Key(NAME, "Element that is carried, or the next joint of a chain.", required=True),
        "at": Key(AT, "Pose of the joint's frame in 'from'."),
        "at_to": Key(AT, "Pose of the joint's frame in 'to'."),
        "axis": Key(VECTOR, "Axis, or a plane's normal, in the joint's frame."),
        "axis2": Key(VECTOR, "Second axis of a universal joint."),
        "range": Key(Numbers((2,)), "Lowest and highest value [rad or m].", "freedom"),
        "ranges": Key(
            Either(ListOf(Numbers((2, 0)), "pairs"), ByFreedom(Numbers((2,)))),
            "Lowest and highest value of each freedom: { x = [-1, 1], angle_deg = [-90, 90] }.",
            "freedom",
        ),
        "max_speed": Key(Number(), "Largest speed [rad/s or m/s].", "freedom"),
        "max_effort": Key(Number(), "Largest drive torque or force [N m or N]."),
        "damping": Key(Number(), "Viscous damping [N m s/rad or N s/m]."),
        "friction": Key(Number(), "Coulomb friction [N m or N]."),
        "stiffness": Key(Number(), "Spring towards 'rest' [N m/rad or N/m]."),
        "rest": Key(Number(), "Where the spring is slack [rad or m].", "freedom"),
        "armature": Key(Number(), "Rotor inertia seen at the joint [kg m² or kg]."),
        "pitch": Key(Number(), "Advance of a screw per turn [m].", "length"),
        "rail": Key(ListOf(RAIL_PIECE, "rail pieces"), "Pieces of a rail."),
        "restitution": Key(
            Number(0.0, 1.0), "Part of the speed with which it bounces off the ends of its range."
        ),
        "value": Key(
            Either(OneOrMore(), ByFreedom(Number())),
            "Initial value [rad or m]; by freedom where there are several.",
            "freedom",
        ),
        "speed": Key(
            Either(OneOrMore(), ByFreedom(Number())),
            "Initial speed [rad/s or m/s]; by freedom where there are several.",
            "freedom",
        ),
        "drive": Key(PLUG_IN, "The actuator on the joint: its type and parameters."),
        "bus": Key(BUS_ENTRY, "How the joint appears on a bus: { can_id = 4, bits = 10 }."),
        "labels": LABELS,
        "mujoco": _engine_words(MUJOCO_JOINT),
    },
    example='name = "elbow", type = "hinge", from = "tube", to = "housing"',
)

ANCHOR = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "on": Key(NAME, "Element that carries the anchor.", required=True),
        "at": Key(AT, "Pose in that element's frame."),
        "fits": Key(Text(), "Tag; anchors join if their tags are the same or one has none."),
        "turns": Key(Integer(), "In how many even turns about z a part may sit; 0 for any."),
    },
    example='name = "flange", on = "housing"',
)

ATTACH = Table(
    {
        "part": Key(FILE, "The part that comes: a kit name or a path.", required=True),
        "to": Key(REF, "Anchor of this part that carries it.", required=True),
        "by": Key(REF, "Anchor of the coming part."),
        "name": Key(NAME, "Scope of its names; the part's own name if absent."),
        "turn": Key(Number(), "Turn about the anchor's z [rad].", "angle"),
    },
    example='part = "./hand.toml", to = "flange"',
)

_POINTS = ListOf(VECTOR, "points")

CURVE = Table(
    {
        "polyline": Key(_POINTS, "Straight pieces from point to point [m].", "length"),
        "spline": Key(_POINTS, "A smooth line through points [m].", "length"),
        "arc": Key(
            Table(
                {
                    "radius": _RADIUS,
                    "start": Key(Number(), "Angle from x about z [rad]; 0 if absent.", "angle"),
                    "end": Key(Number(), "Angle of its end [rad]; a whole turn on.", "angle"),
                },
                example="arc = { radius = 0.1, start_deg = -90, end_deg = 90 }",
            ),
            "Part of a circle about z.",
        ),
        "closed": Key(Flag(), "Whether the last point is joined to the first."),
        "radius": Key(Number(0.0), "Radius of a polyline's corners [m].", "length"),
    },
    example="curve = { spline = [[0, 0, 0], [0.1, 0.05, 0], [0.2, 0, 0]] }",
    one_of=("polyline", "spline", "arc"),
)

LOOP = Table(
    {
        "name": Key(NAME, "Name in this file."),
        "a": Key(REF, "First anchor.", required=True),
        "b": Key(REF, "Second anchor.", required=True),
        "joint": Key(Word(tuple(LOOP_TYPES)), "Closing joint."),
        "axis": Key(VECTOR, "Axis, or a plane's normal, in the anchors' frames."),
        "axis2": Key(VECTOR, "Second axis of a universal joint."),
        "pitch": Key(Number(), "Advance of a screw per turn [m].", "length"),
        "rail": Key(ListOf(RAIL_PIECE, "rail pieces"), "Pieces of a rail, in the first anchor."),
        "curve": Key(CURVE, "Curve of a point_on_curve, in the first anchor's frame."),
        "mujoco": _engine_words(MUJOCO_LOOP),
    },
    example='a = "rod_end", b = "crank_pin"',
)

COUPLING = Table(
    {
        "joint": Key(REF, "The joint that follows.", required=True),
        "of": Key(REF, "The joint that leads.", required=True),
        "ratio": Key(Number(), "Its value is ratio · value(of) + offset."),
        "offset": Key(Number(), "[rad or m].", "freedom"),
        "mujoco": _engine_words(MUJOCO_COUPLING),
    },
    example='joint = "finger2", of = "finger1", ratio = -1',
)

SPRING = Table(
    {
        "name": Key(NAME, "Name in this file, and of its signals.", required=True),
        "a": Key(REF, "First anchor.", required=True),
        "b": Key(REF, "Second anchor.", required=True),
        "type": Key(Word(SPRING_TYPES), "Along the line between them, or about an axis."),
        "stiffness": Key(Number(0.0), "[N/m or N m/rad]."),
        "damping": Key(Number(0.0), "[N s/m or N m s/rad]."),
        "rest": Key(
            Number(),
            "Length [m] or angle [rad] at which it is slack; that of the start if absent.",
            "freedom",
        ),
        "axis": Key(VECTOR, "Axis of a torsion spring, in the first anchor's frame."),
    },
    example='name = "strut", a = "upper", b = "lower", stiffness = 500',
)


def _spec(named: bool, example: str) -> Table:
    keys = {
        "name": Key(NAME, "Name of its signals.", required=named),
        "type": Key(NAME, "Registered type.", required=True),
        "at": Key(AT, "Pose, where the type has one."),
        "file": Key(FILE, "File, from this file's folder, where the type has one."),
    }
    return Table(keys, example=example, open=True)


SENSOR = _spec(True, 'name = "eye", type = "ray", on = "head"')
ACTUATOR = _spec(True, 'name = "drive", type = "servo", joint = "arm/elbow"')
AGENT = _spec(True, 'name = "control", type = "program", file = "control.py"')
ENGINE = _spec(False, 'type = "mujoco"')

PLANTS = ("virtual", "real")
#: What becomes of commands when their controller is lost.
#: Keys of engines, sensors, agents, buses and the like that are files.
SPEC_FILES = ("file", "certificate", "key")
POLICIES = ("hold", "ramp", "limp", "stop", "pause")

BUS = Table(
    {
        "name": Key(NAME, "Name of its signals, and the owner of what it sets.", required=True),
        "type": Key(NAME, "Registered type.", required=True),
        "plant": Key(
            Word((*PLANTS, "both")),
            "What is behind its ports: this scene, hardware on the bus, or both at once.",
        ),
        "closes": Key(Word(PLANTS), "Whose sensors close the loop, where the plant is both."),
        "period": Key(Number(0.0), "Control period [s]; the scene's step if absent.", "time"),
        "deadline": Key(Number(0.0), "Longest age of a port's command [s]; 0 for any.", "time"),
        "on_loss": Key(Word(POLICIES), "What becomes of commands when the controller is lost."),
        "ramp": Key(Number(0.0), "How long a ramp to the safe values takes [s].", "time"),
        "lockstep": Key(Flag(), "Whether the scene waits for the partner before each period."),
        "patience": Key(
            Number(0.0), "Longest wait in lock-step, by the wall clock [s]; 0 for ever.", "time"
        ),
        "file": Key(FILE, "File, from this file's folder, where the type has one."),
        "certificate": Key(FILE, "File of a certificate, from this file's folder, for TLS."),
        "key": Key(FILE, "File of its private key, from this file's folder."),
    },
    example='name = "can0", type = "can"',
    open=True,
)

PORT_SIGNAL = Table(
    {
        "signal": Key(REF, "Signal of the scene behind it, 'arm/elbow.target'."),
        "name": Key(NAME, "Name in the port; the signal's last word if absent."),
        "bits": Key(Integer(1, 52), "Bits on the wire; a plain number if absent."),
        "lo": Key(Number(), "Value of the lowest code [SI]; the signal's range.", "freedom"),
        "hi": Key(Number(), "Value of the highest code [SI]; the signal's range.", "freedom"),
        "signed": Key(Flag(), "Whether codes are two's complement."),
        "scale": Key(Number(), "What one code is worth [SI], in place of lo and hi.", "freedom"),
        "offset": Key(Number(), "Value of code 0 [SI], beside scale.", "freedom"),
        "unit": Key(Text(), "Unit, where no signal is behind it."),
        "safe": Key(Number(), "Where a ramp leads when the controller is lost [SI].", "freedom"),
    },
    example='signal = "arm/elbow.target", bits = 10',
    open=True,
)

_PORT_SIGNALS = ListOf(PORT_SIGNAL, "tables")

PORT = Table(
    {
        "name": Key(NAME, "Name of the port.", required=True),
        "bus": Key(NAME, "Its bus; the only one if absent."),
        "group": Key(REF, "Path of groups that it belongs to, 'left/leg'."),
        "commands": Key(_PORT_SIGNALS, "What a controller wants of the plant."),
        "sensors": Key(_PORT_SIGNALS, "What the plant tells."),
        "parameters": Key(_PORT_SIGNALS, "What can be adjusted: gains and the like."),
    },
    example='name = "elbow", sensors = [{ signal = "arm/elbow.angle", bits = 10 }]',
)

FAULT = Table(
    {
        "name": Key(NAME, "Name of its signals.", required=True),
        "type": Key(NAME, "Registered type: stuck, dead, drop and others.", required=True),
        "at": Key(Number(0.0), "When it begins [s]; without at and chance by hand only.", "time"),
        "lasts": Key(Number(0.0), "How long it lasts [s]; for good if absent.", "time"),
        "chance": Key(
            Number(0.0), "How often it begins by chance [1/s]; on a bus, share of frames struck."
        ),
        "seed": Key(Integer(), "Seed of the chance; the scene's if absent."),
        "sensor": Key(REF, "The sensor that it strikes."),
        "signal": Key(REF, "The measured signal that it strikes, 'can0/tilt.x'."),
        "joint": Key(REF, "The joint whose drive it strikes."),
        "bus": Key(NAME, "The bus that it strikes; the only one if absent."),
        "part": Key(REF, "The part that is the person."),
    },
    example='name = "blind", type = "stuck", sensor = "tilt", at = 3',
    open=True,
)

PLACEMENT = Table(
    {
        "name": Key(NAME, "Scope of its names; the part's own name if absent."),
        "part": Key(FILE, "A kit name or a path.", required=True),
        "at": Key(AT, "Pose in the world, or in the anchor's frame."),
        "base": Key(Word(BASES), "Whether the part is held or free."),
        "on": Key(REF, "Anchor of a part placed before, 'table/top'."),
        "by": Key(REF, "Anchor of the part that meets 'on'."),
        "drives": Key(
            MapOf(PLACED_DRIVE, "drives"),
            "Drives in place of the part's own, by joint or pattern: "
            "{ '*' = { type = 'smart_servo', model = 'AX-12' } }.",
        ),
    },
    example='name = "arm", part = "./arm.toml"',
)

LIGHT = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "kind": Key(Word(("sun", "lamp")), "From a direction, or from a place."),
        "xyz": Key(VECTOR, "Where it is [m].", "length"),
        "look_at": Key(VECTOR, "Where it shines [m].", "length"),
        "color": Key(COLOR, "Colour."),
        "strength": Key(Number(0.0), "Strength; 1 is a bright day."),
        "shadows": Key(Flag(), "Whether bodies throw shadows in it."),
    },
    example='name = "sun"',
)

VIEWPOINT = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "xyz": Key(VECTOR, "Where the eye is [m].", "length"),
        "look_at": Key(VECTOR, "Where it looks [m].", "length"),
        "opening": Key(Number(0.0), "Vertical opening [rad].", "angle"),
    },
    example='name = "front"',
)

POSTURE = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "joints": Key(
            MapOf(Number(), "values by joint"),
            "Value of each joint [rad or m]: { 'arm/elbow' = 0.5 }.",
            "freedom",
            required=True,
            together=True,
        ),
    },
    example="name = \"home\", joints_deg = { 'arm/elbow' = 30 }",
)

COLLIDE = Table(
    {
        "never": Key(ListOf(Pair(), "pairs of names"), "Pairs that do not touch."),
        "always": Key(ListOf(Pair(), "pairs of names"), "Pairs that touch although joined."),
        "joined": Key(Flag(), "Whether bodies joined directly touch."),
    },
    example='never = [["left_finger", "right_finger"]]',
)

#: Keys and sections of a part's file. A ``Section`` is written ``[[section]]``, once per thing.
PART = Table(
    {
        "format": Key(Text(), 'Always "linkwork/part 1".', required=True),
        "name": Key(NAME, "Name of the part.", required=True),
        "title": Key(Text(), "One line for people."),
        "labels": LABELS,
        "aliases": Key(MapOf(Text(), "names"), "Names of an imported file to the names here."),
        "element": Key(Section("element", ELEMENT), "Rigid pieces."),
        "joint": Key(Section("joint", JOINT), "Movable connections."),
        "anchor": Key(Section("anchor", ANCHOR), "Places where other parts fit."),
        "attach": Key(Section("attach", ATTACH), "Parts that sit on anchors."),
        "loop": Key(Section("loop", LOOP), "Closed loops."),
        "coupling": Key(Section("coupling", COUPLING), "Joints that follow others."),
        "spring": Key(Section("spring", SPRING), "Springs between anchors."),
        "sensor": Key(Section("sensor", SENSOR), "Sensors of the part."),
        "port": Key(Section("port", PORT), "Ports of the part."),
    },
    example='name = "upper_arm"',
)

#: Keys and sections of a scene's file.
SCENE = Table(
    {
        "format": Key(Text(), 'Always "linkwork/scene 1".', required=True),
        "name": Key(NAME, "Name of the scene.", required=True),
        "title": Key(Text(), "One line for people."),
        "background": Key(COLOR, "Colour behind everything; the studio's own if absent."),
        "gravity": Key(VECTOR, "Gravity [m/s²]; [0, 0, -9.81] if absent."),
        "step": Key(Number(0.0), "Time step [s].", "time"),
        "seed": Key(Integer(), "Seed of everything random."),
        "start": Key(NAME, "Posture in which a session starts."),
        "mode": Key(
            Word(MODES),
            "What moves it, a choice that can be changed while it runs: kinematic (joints go where "
            "their targets say), emulation (and the efforts that this takes are computed) or "
            "simulation (the engines below).",
        ),
        "part": Key(Section("part", PLACEMENT), "Parts and where they stand."),
        "element": Key(Section("element", ELEMENT), "Scenery, fixed to the world."),
        "light": Key(Section("light", LIGHT), "Lights."),
        "viewpoint": Key(Section("viewpoint", VIEWPOINT), "Places to look from."),
        "posture": Key(Section("posture", POSTURE), "Named postures."),
        "loop": Key(Section("loop", LOOP), "Loops between parts."),
        "coupling": Key(Section("coupling", COUPLING), "Joints that follow others."),
        "spring": Key(Section("spring", SPRING), "Springs between parts."),
        "engine": Key(Section("engine", ENGINE), "What moves the bodies."),
        "sensor": Key(Section("sensor", SENSOR), "Sensors."),
        "actuator": Key(Section("actuator", ACTUATOR), "Actuators."),
        "agent": Key(Section("agent", AGENT), "What decides: programs and others."),
        "bus": Key(Section("bus", BUS), "Ways to software and hardware outside."),
        "port": Key(Section("port", PORT), "Devices on the buses."),
        "fault": Key(Section("fault", FAULT), "What goes wrong on purpose."),
        "collide": Key(COLLIDE, "Which bodies touch."),
    },
    example='name = "bench"',
)

TIMED_POSTURE = Table(
    {
        "time": Key(Number(0.0), "When it is reached [s], from the beginning.", "time", True),
        "joints": Key(
            MapOf(Number(), "values by joint"),
            "Value of each joint [rad or m]: { elbow = 0.5 }; joints left out go on to the next "
            "posture that names them.",
            "freedom",
            required=True,
            together=True,
        ),
        "speeds": Key(
            MapOf(Number(), "speeds by joint"),
            "Speed of joints when they are there [rad/s or m/s], for a planner; without, they rest "
            "where they turn back and at the ends, and pass elsewhere without overshooting.",
            "freedom",
            together=True,
        ),
        "planner": Key(
            Word(PLANNERS), "How its joints get here; by the movement's planner if absent."
        ),
    },
    example="time = 1.5, joints_deg = { elbow = 30 }",
)

LOSSES = Table(
    {
        "joints": Key(ListOf(REF, "names"), "Joints that are meant; all others if absent."),
        "inertia": Key(Number(0.0), "What the motor turns [kg m² or kg].", required=True),
        "copper": Key(Number(0.0), "Copper loss R/(k·n)² [W/(N m)² or W/N²]; 0 if absent."),
        "viscous": Key(Number(0.0), "Friction that grows with speed [N m s or N s/m]."),
        "coulomb": Key(Number(0.0), "Friction that does not [N m or N]."),
        "recuperation": Key(Number(0.0, 1.0), "Share of braking power that comes back."),
    },
    example="inertia = 0.00232, copper = 8",
)


def _largest(what: str, unit: str) -> Key:
    """A limit of all joints, or by joint."""
    return Key(
        Either(Number(0.0), MapOf(Number(0.0), f"{what}s by joint")),
        f"Largest {what} that a planner may use [{unit}]: a number, or {{ elbow = 2 }}.",
        "freedom",
        together=True,
    )


#: Keys and sections of a movement's file.
MOVEMENT = Table(
    {
        "format": Key(Text(), 'Always "linkwork/movement 1".', required=True),
        "name": Key(NAME, "Name of the movement.", required=True),
        "title": Key(Text(), "One line for people."),
        "labels": LABELS,
        "interpolation": Key(
            Word(INTERPOLATIONS), "How values go from posture to posture; linear if absent."
        ),
        "planner": Key(Word(PLANNERS), "In place of an interpolation: what is least or kept."),
        "max_speed": _largest("speed", "rad/s or m/s"),
        "max_acceleration": _largest("acceleration", "rad/s² or m/s²"),
        "max_jerk": _largest("jerk", "rad/s³ or m/s³"),
        "losses": Key(Section("losses", LOSSES), "What the planner energy counts."),
        "posture": Key(Section("posture", TIMED_POSTURE), "Postures, in the order of time."),
    },
    example='name = "greet"',
)

#: Each format by the word in a file's ``format`` key.
FORMS: dict[str, Table] = {
    "linkwork/part 1": PART,
    "linkwork/scene 1": SCENE,
    "linkwork/movement 1": MOVEMENT,
}
