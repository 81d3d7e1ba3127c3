"""Keys of movement files."""

from __future__ import annotations

from linkwork.core.forms import Key, Section, Table
from linkwork.core.value_types import (
    NAME,
    REF,
    ChoiceType,
    ListType,
    MapType,
    NumberType,
    PlainOrTable,
    TextType,
)
from linkwork.formats.toml.part_keys import LABELS
from linkwork.model.scene.motion_limits import PLANNERS
from linkwork.model.scene.movement import INTERPOLATIONS

TIMED_POSTURE = Table(
    {
        "time": Key(NumberType(0.0), "Time from the start of the movement [s].", "time", True),
        "joints": Key(
            MapType(NumberType(), "values by joint"),
            "Value of each joint [rad or m]: { elbow = 0.5 }; omitted joints are interpolated to "
            "the next posture that names them.",
            "dof",
            required=True,
            together=True,
        ),
        "speeds": Key(
            MapType(NumberType(), "speeds by joint"),
            "Speed of joints at this posture [rad/s or m/s], for a planner; by default 0 at "
            "reversals and at the ends, and without overshoot elsewhere.",
            "dof",
            together=True,
            si="rad/s or m/s",
        ),
        "planner": Key(
            ChoiceType(PLANNERS), "Planner of the motion to this posture; the movement's if absent."
        ),
    },
    example="time = 1.5, joints_deg = { elbow = 30 }",
)

LOSSES = Table(
    {
        "joints": Key(ListType(REF, "names"), "Joints that it applies to; all others if absent."),
        "inertia": Key(
            NumberType(0.0),
            "Inertia driven by the motor [kg m² or kg].",
            required=True,
            si="kg m² or kg",
        ),
        "copper": Key(
            NumberType(0.0),
            "Copper loss R/(k·n)² [W/(N m)² or W/N²]; 0 if absent.",
            si="W/(N m)² or W/N²",
        ),
        "viscous": Key(NumberType(0.0), "Viscous friction [N m s or N s/m].", si="N m s or N s/m"),
        "coulomb": Key(NumberType(0.0), "Coulomb friction [N m or N].", si="N m or N"),
        "recuperation": Key(NumberType(0.0, 1.0), "Share of braking power that is recovered."),
    },
    example="inertia = 0.00232, copper = 8",
)


def _limit_key(what: str, unit: str) -> Key:
    """Returns the key of a limit of all joints, or by joint."""
    return Key(
        PlainOrTable(NumberType(0.0), MapType(NumberType(0.0), f"{what}s by joint")),
        f"Maximum {what} for a planner [{unit}]: a number, or {{ elbow = 2 }}.",
        "dof",
        together=True,
        si=unit,
    )


#: Keys and sections of a movement's file.
MOVEMENT = Table(
    {
        "format": Key(TextType(), 'Always "linkwork/movement 1".', required=True),
        "name": Key(NAME, "Name of the movement.", required=True),
        "title": Key(TextType(), "Title, one line."),
        "labels": LABELS,
        "interpolation": Key(
            ChoiceType(INTERPOLATIONS), "Interpolation between postures; linear if absent."
        ),
        "planner": Key(
            ChoiceType(PLANNERS),
            "Planner, instead of an interpolation: the quantity that it minimizes or limits.",
        ),
        "max_speed": _limit_key("speed", "rad/s or m/s"),
        "max_acceleration": _limit_key("acceleration", "rad/s² or m/s²"),
        "max_jerk": _limit_key("jerk", "rad/s³ or m/s³"),
        "losses": Key(Section("losses", LOSSES), "Losses that the planner energy counts."),
        "posture": Key(Section("posture", TIMED_POSTURE), "Postures in order of time."),
    },
    example='name = "greet"',
)
