"""Native attributes: engine-specific settings of a shape, joint, element, loop or coupling.

They are data under the engine's name, ``mujoco = { solref = [0.02, 1] }``. The engine uses them
instead of its own values; other engines ignore them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwork.core.errors import FormatError, Origin, PartError
from linkwork.core.forms import Key, ParameterLocation, Table
from linkwork.core.value_types import (
    REF,
    BooleanType,
    ChoiceType,
    IntegerType,
    NumberType,
    VectorType,
)

_SOLREF = Key(VectorType((2,)), "Time constant [s] and damping ratio; or −stiffness, −damping.")
_SOLIMP = Key(VectorType((5,)), "Impedance: minimum, maximum, width [m or rad], midpoint, power.")
_MASK = IntegerType(-(2**31), 2**31 - 1)
_NON_NEGATIVE = NumberType(0.0)

#: Attributes of a geom.
MUJOCO_SHAPE = Table(
    {
        "name": Key(REF, "Name of the geom, for contact pairs."),
        "friction": Key(
            VectorType((3,), _NON_NEGATIVE), "Sliding, torsional [m] and rolling [m] friction."
        ),
        "solref": _SOLREF,
        "solimp": _SOLIMP,
        "condim": Key(IntegerType(1, 6), "Dimensions of its contacts: 1, 3, 4 or 6."),
        "contype": Key(_MASK, "Bit mask of its contact types."),
        "conaffinity": Key(_MASK, "Bit mask of the contact types that it collides with."),
        "priority": Key(_MASK, "Priority; of two geoms the higher one sets the contact."),
        "solmix": Key(_NON_NEGATIVE, "Weight of its solver parameters in a contact."),
        "margin": Key(_NON_NEGATIVE, "Distance at which contacts become active [m].", si="m"),
        "gap": Key(_NON_NEGATIVE, "Distance within the margin without force [m].", si="m"),
        "adhesion": Key(NumberType(), "Adhesive contact force [N].", si="N"),
        "surfacevel": Key(
            VectorType((6,)), "Velocity of the surface [m/s, rad/s].", si="m/s, rad/s"
        ),
        "fluid": Key(VectorType((5,)), "Coefficients of the ellipsoid fluid model."),
        "mesh_inertia": Key(
            ChoiceType(("convex", "exact", "legacy", "shell")), "How a mesh's own frame is found."
        ),
        "maxhullvert": Key(IntegerType(-1, 100_000), "Maximum number of vertices of the hull."),
    },
    example="mujoco = { condim = 4 }",
)

#: Attributes of a joint.
MUJOCO_JOINT = Table(
    {
        "solref_limit": _SOLREF,
        "solimp_limit": _SOLIMP,
        "solref_friction": _SOLREF,
        "solimp_friction": _SOLIMP,
        "margin": Key(
            _NON_NEGATIVE, "Distance at which the limits become active [rad or m].", si="rad or m"
        ),
        "stiffness": Key(VectorType((2,)), "Quadratic and cubic coefficients of the spring."),
        "damping": Key(VectorType((2,)), "Quadratic and cubic coefficients of the damper."),
        "effort_range": Key(
            VectorType((2,)),
            "Minimum and maximum total effort of its drives [N m or N].",
            si="N m or N",
        ),
        "gravity_by_drive": Key(
            BooleanType(), "Whether gravity compensation counts as drive effort."
        ),
    },
    example="mujoco = { margin = 0.01 }",
)

#: Attributes of a body.
MUJOCO_ELEMENT = Table(
    {
        "gravcomp": Key(NumberType(), "Share of its weight that is compensated."),
        "ipos": Key(
            VectorType((3,)), "Point by which a body without mass is weighted [m].", si="m"
        ),
        "iquat": Key(
            VectorType((4,)), "Rotation of its principal axes, if not those that MuJoCo chooses."
        ),
    },
    example="mujoco = { gravcomp = 1 }",
)

#: Attributes of a connect or weld constraint.
MUJOCO_LOOP = Table(
    {
        "solref": _SOLREF,
        "solimp": _SOLIMP,
        "torquescale": Key(
            _NON_NEGATIVE, "Weight of rotation against translation [m], if fixed.", si="m"
        ),
    },
    example="mujoco = { solref = [0.02, 1] }",
)

#: Attributes of a joint equality.
MUJOCO_COUPLING = Table(
    {
        "solref": _SOLREF,
        "solimp": _SOLIMP,
        "polycoef": Key(VectorType((3,)), "Coefficients of the powers 2, 3 and 4."),
    },
    example="mujoco = { polycoef = [0.1, 0, 0] }",
)


def check_native_attributes(
    given: Mapping[str, Any], table: Table, who: str, *, origin: Origin | None
) -> None:
    """Checks attributes against their table.

    Raises:
        PartError: Naming the owner, the attribute and what is allowed.
    """
    if not given:
        return
    try:
        table.read(dict(given), ParameterLocation(who, origin) / "mujoco")
    except FormatError as error:
        raise PartError(error.message, origin=error.origin, hint=error.hint) from None
