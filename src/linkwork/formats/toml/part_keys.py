"""Keys of part files: shapes, elements, joints, anchors, loops, couplings, springs.

The readers, messages, JSON schemas and tables of the documentation all follow these tables.
"""

from __future__ import annotations

from linkwork.core.forms import Key, Table
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
    PlainOrTable,
    TextType,
    VectorType,
)
from linkwork.formats.toml.dofs import NumberOrArray, PerDofTable
from linkwork.model.parts import JOINT_TYPES, LOOP_TYPES, SPRING_TYPES
from linkwork.model.parts.joint import JOINT_ATTRIBUTES
from linkwork.model.parts.native_attributes import (
    MUJOCO_COUPLING,
    MUJOCO_ELEMENT,
    MUJOCO_JOINT,
    MUJOCO_LOOP,
    MUJOCO_SHAPE,
)

VECTOR = VectorType((3,))

AT = Table(
    {
        "xyz": Key(VECTOR, "Position [m].", "length"),
        "rpy": Key(VECTOR, "Rotations about the fixed axes x, y, z, in this order [rad].", "angle"),
        "quat": Key(VectorType((4,)), "Rotation as a quaternion w, x, y, z."),
    },
    example="at = { xyz = [0, 0, 0.2], rpy_deg = [0, 90, 0] }",
)

LABELS = Key(
    MapType(TextType(), "texts by language"), 'Labels by language: { en = "…", de = "…" }.'
)

_RADIUS = Key(NumberType(), "Radius [m].", "length", required=True)
_LENGTH = Key(NumberType(), "Length along z [m].", "length", required=True)

#: The keys of each shape, by its kind.
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
            "top_radius": Key(NumberType(), "Radius at the upper end [m].", "length"),
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
        {"size": Key(VectorType((2,)), "Extent that is drawn [m].", "length")},
        example="plane = { size = [10, 10] }",
    ),
    "terrain": Table(
        {
            "size": Key(VectorType((2,)), "Extent along x and y [m].", "length", required=True),
            "rows": Key(IntegerType(2), "Points along y."),
            "columns": Key(IntegerType(2), "Points along x."),
            "heights": Key(
                ListType(NumberType(), "numbers"), "Height of each point [m], row by row.", "length"
            ),
            "depth": Key(NumberType(0.0), "Thickness below the lowest point [m].", "length"),
        },
        example="terrain = { size = [10, 10], rows = 2, columns = 2, heights = [0, 0, 1, 1] }",
    ),
    "mesh": Table(
        {
            "file": Key(
                FILE,
                "STL, OBJ, Collada or glTF file, relative to this file's folder.",
                required=True,
            ),
            "scale": Key(VECTOR, "Factor along each axis; 0.001 for a file in millimeters."),
            "node": Key(TextType(), "Node of a glTF file; all nodes if absent."),
        },
        example='mesh = { file = "housing.stl", scale = [0.001, 0.001, 0.001] }',
    ),
}


_NATIVE = "Native attributes of the Mujoco engine."

SHAPE = Table(
    {kind: Key(table, f"A {kind}.") for kind, table in SHAPE_TABLES.items()}
    | {
        "at": Key(AT, "Pose in the element's frame."),
        "color": Key(COLOR, "Color, #rrggbb or #rrggbbaa; the element's if absent."),
        "texture": Key(FILE, "Image file of the texture."),
        "texture_repeat": Key(
            VectorType((2,)), "Repetitions of the texture along its width and its height."
        ),
        "visible": Key(BooleanType(), "Whether it is drawn."),
        "collide": Key(BooleanType(), "Whether it collides."),
        "mujoco": Key(MUJOCO_SHAPE, _NATIVE),
    },
    example="shape = { box = { size = [0.1, 0.1, 0.2] } }",
    one_of=tuple(SHAPE_TABLES),
)

ELEMENT = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "shape": Key(SHAPE, "Geometry: { box = { size = […] } } and so on."),
        "shapes": Key(ListType(SHAPE, "shapes"), "Several shapes."),
        "on": Key(REF, "Element that this one is rigidly fixed to."),
        "at": Key(AT, "Pose in the frame of 'on'."),
        "mass": Key(NumberType(0.0), "Mass [kg].", "mass"),
        "density": Key(NumberType(0.0), "Density [kg/m³], if the mass is not given.", si="kg/m³"),
        "com": Key(VECTOR, "Center of mass [m], with 'inertia'.", "length"),
        "inertia": Key(
            VectorType((3, 6)),
            "ixx, iyy, izz, then ixy, ixz, iyz if not 0, about the center of mass [kg m²].",
            si="kg m²",
        ),
        "friction": Key(NumberType(0.0), "Coulomb friction coefficient of the surface."),
        "restitution": Key(NumberType(0.0, 1.0), "Coefficient of restitution, 0 to 1."),
        "color": Key(COLOR, "Color, #rrggbb or #rrggbbaa."),
        "group": Key(NAME, "Collision group."),
        "velocity": Key(VECTOR, "Initial velocity of a free body [m/s].", "length", si="m/s"),
        "spin": Key(
            VECTOR, "Initial angular velocity of a free body [rad/s].", "angle", si="rad/s"
        ),
        "labels": LABELS,
        "mujoco": Key(MUJOCO_ELEMENT, _NATIVE),
    },
    example='name = "tube"',
)

PLUG_IN = Table(
    {"type": Key(NAME, "Registered type.", required=True)},
    example='drive = { type = "servo", kp = 10 }',
    open=True,
)
PLACED_DRIVE = Table(
    {
        **PLUG_IN.keys,
        "file": Key(FILE, "File, if the type has one."),
        "undriven": Key(
            BooleanType(), "Whether a pattern reaches the joints without a drive, not the others."
        ),
    },
    example='neck = { type = "smart_servo", model = "AX-12" }',
    open=True,
)

RAIL_PIECE = Table(
    {
        "length": Key(NumberType(), "Arc length [m].", "length", required=True),
        "turn": Key(NumberType(), "Angle turned to the left over the segment [rad].", "angle"),
        "climb": Key(NumberType(), "Angle pitched upward over the segment [rad].", "angle"),
    },
    example="rail = [{ length = 1, turn_deg = 90 }]",
)

BUS_ENTRY = Table(
    {
        "bus": Key(NAME, "Name of the bus; the only one if absent."),
        "bits": Key(IntegerType(1, 52), "Bits on the wire; a plain number if absent."),
        "lo": Key(NumberType(), "Value of the lowest code [rad or m]; the joint's range.", "dof"),
        "hi": Key(NumberType(), "Value of the highest code [rad or m]; the joint's range.", "dof"),
        "signed": Key(BooleanType(), "Whether codes are two's complement."),
        "scale": Key(NumberType(), "Value of one code [SI], instead of lo and hi.", "dof", si="SI"),
        "offset": Key(NumberType(), "Value of code 0 [SI], with scale.", "dof", si="SI"),
        "dof": Key(NAME, "Degree of freedom, if the joint has several."),
        "group": Key(REF, "Path of groups of the port."),
        "safe": Key(NumberType(), "Value that a ramp reaches after the controller is lost.", "dof"),
    },
    example="bus = { can_id = 4, bits = 10 }",
    open=True,
)

JOINT = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "type": Key(ChoiceType(tuple(JOINT_TYPES)), "Joint type.", required=True),
        "from": Key(NAME, "Parent element.", required=True),
        "to": Key(NAME, "Child element, or the next joint of a chain.", required=True),
        "at": Key(AT, "Pose of the joint's frame in 'from'."),
        "at_to": Key(AT, "Pose of the joint's frame in 'to'."),
        "axis": Key(VECTOR, "Axis, or a plane's normal, in the joint's frame."),
        "axis2": Key(VECTOR, "Second axis of a universal joint."),
        "range": Key(VectorType((2,)), "Lowest and highest value [rad or m].", "dof"),
        "ranges": Key(
            PlainOrTable(ListType(VectorType((2, 0)), "pairs"), PerDofTable(VectorType((2,)))),
            "Range of each degree of freedom: { x = [-1, 1], angle_deg = [-90, 90] }.",
            "dof",
        ),
        **{name: declared.key for name, declared in JOINT_ATTRIBUTES.items()},
        "pitch": Key(NumberType(), "Advance of a screw per turn [m].", "length"),
        "rail": Key(ListType(RAIL_PIECE, "rail segments"), "Segments of a rail."),
        "value": Key(
            PlainOrTable(NumberOrArray(), PerDofTable(NumberType())),
            "Initial value [rad or m], or a table by degree of freedom.",
            "dof",
        ),
        "speed": Key(
            PlainOrTable(NumberOrArray(), PerDofTable(NumberType())),
            "Initial speed [rad/s or m/s], or a table by degree of freedom.",
            "dof",
            si="rad/s or m/s",
        ),
        "drive": Key(PLUG_IN, "The actuator on the joint: its type and parameters."),
        "bus": Key(BUS_ENTRY, "Port of the joint on a bus: { can_id = 4, bits = 10 }."),
        "labels": LABELS,
        "mujoco": Key(MUJOCO_JOINT, _NATIVE),
    },
    example='name = "elbow", type = "hinge", from = "tube", to = "housing"',
)

ANCHOR = Table(
    {
        "name": Key(NAME, "Name in this file.", required=True),
        "on": Key(NAME, "Element that carries the anchor.", required=True),
        "at": Key(AT, "Pose in that element's frame."),
        "fits": Key(TextType(), "Tag; anchors fit if their tags are equal or one has none."),
        "turns": Key(
            IntegerType(),
            "Number of even rotations about z in which a part fits; 0 for any rotation.",
        ),
    },
    example='name = "flange", on = "housing"',
)

ATTACH = Table(
    {
        "part": Key(FILE, "Attached part: a kit name or a path.", required=True),
        "to": Key(REF, "Anchor of this part.", required=True),
        "by": Key(REF, "Anchor of the attached part."),
        "name": Key(NAME, "Scope of its names; the part's own name if absent."),
        "turn": Key(NumberType(), "Rotation about the anchor's z [rad].", "angle"),
    },
    example='part = "./hand.toml", to = "flange"',
)

_POINTS = ListType(VECTOR, "points")

CURVE = Table(
    {
        "polyline": Key(_POINTS, "Corners of straight segments [m].", "length"),
        "spline": Key(_POINTS, "Points of a smooth curve [m].", "length"),
        "arc": Key(
            Table(
                {
                    "radius": _RADIUS,
                    "start": Key(NumberType(), "Angle from x about z [rad]; 0 if absent.", "angle"),
                    "end": Key(
                        NumberType(), "Angle of its end [rad]; a full circle if absent.", "angle"
                    ),
                },
                example="arc = { radius = 0.1, start_deg = -90, end_deg = 90 }",
            ),
            "Arc of a circle about z.",
        ),
        "closed": Key(BooleanType(), "Whether the last point connects to the first."),
        "radius": Key(NumberType(0.0), "Radius of a polyline's corners [m].", "length"),
    },
    example="curve = { spline = [[0, 0, 0], [0.1, 0.05, 0], [0.2, 0, 0]] }",
    one_of=("polyline", "spline", "arc"),
)

LOOP = Table(
    {
        "name": Key(NAME, "Name in this file."),
        "a": Key(REF, "First anchor.", required=True),
        "b": Key(REF, "Second anchor.", required=True),
        "joint": Key(ChoiceType(tuple(LOOP_TYPES)), "Type of the closing joint."),
        "axis": Key(VECTOR, "Axis, or a plane's normal, in the anchors' frames."),
        "axis2": Key(VECTOR, "Second axis of a universal joint."),
        "pitch": Key(NumberType(), "Advance of a screw per turn [m].", "length"),
        "rail": Key(
            ListType(RAIL_PIECE, "rail segments"),
            "Segments of a rail, in the first anchor's frame.",
        ),
        "curve": Key(CURVE, "Curve of a point_on_curve, in the first anchor's frame."),
        "mujoco": Key(MUJOCO_LOOP, _NATIVE),
    },
    example='a = "rod_end", b = "crank_pin"',
)

COUPLING = Table(
    {
        "joint": Key(REF, "Joint that mimics another.", required=True),
        "of": Key(REF, "Joint that is mimicked.", required=True),
        "ratio": Key(NumberType(), "Value = ratio · value(of) + offset."),
        "offset": Key(NumberType(), "[rad or m].", "dof"),
        "mujoco": Key(MUJOCO_COUPLING, _NATIVE),
    },
    example='joint = "finger2", of = "finger1", ratio = -1',
)

SPRING = Table(
    {
        "name": Key(NAME, "Name in this file, and of its signals.", required=True),
        "a": Key(REF, "First anchor.", required=True),
        "b": Key(REF, "Second anchor.", required=True),
        "type": Key(
            ChoiceType(SPRING_TYPES),
            "Linear, along the line between the anchors, or torsion, about an axis.",
        ),
        "stiffness": Key(NumberType(0.0), "[N/m or N m/rad].", si="N/m or N m/rad"),
        "damping": Key(NumberType(0.0), "[N s/m or N m s/rad].", si="N s/m or N m s/rad"),
        "rest": Key(
            NumberType(),
            "Rest length [m] or rest angle [rad]; the initial one if absent.",
            "dof",
        ),
        "axis": Key(VECTOR, "Axis of a torsion spring, in the first anchor's frame."),
    },
    example='name = "strut", a = "upper", b = "lower", stiffness = 500',
)
