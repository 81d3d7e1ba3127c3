"""What a scene may say of the Mujoco engine."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

_Limited = msgspec.Meta(ge=-1e15, le=1e15)
#: A finite number.
Finite = Annotated[float, _Limited]
#: A finite number of at least 0.
Positive = Annotated[float, msgspec.Meta(ge=0.0, le=1e15)]
Two = tuple[Finite, Finite]
Three = tuple[Finite, Finite, Finite]
Five = tuple[Finite, Finite, Finite, Finite, Finite]
Count = Annotated[int, msgspec.Meta(ge=0, le=100_000)]

Disable = Literal[
    "constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper",
    "warmstart", "filterparent", "refsafe", "midphase", "eulerdamp", "nativeccd", "island",
    "multiccd",
]  # fmt: skip
Enable = Literal["override", "diagexact", "ipc", "speculative"]


class PairParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Two shapes with a contact of their own, whatever else says that they touch or not.

    Attributes:
        a: Name that its ``mujoco`` words give the first, behind its part's.
        b: Name of the second.
        condim: Dimensions of the contact.
        friction: Along two directions, turning and rolling about two.
        solref: Time constant and damping.
        solimp: Impedance.
        solreffriction: Time constant and damping of friction.
        margin: Distance at which it begins [m].
        gap: Distance within the margin without force [m].
        adhesion: Force that holds it together [N].
    """

    a: str
    b: str
    condim: Literal[1, 3, 4, 6] = 3
    friction: Five = (1.0, 1.0, 0.005, 0.0001, 0.0001)
    solref: Two = (0.02, 1.0)
    solimp: Five = (0.9, 0.95, 0.001, 0.5, 2.0)
    solreffriction: Two = (0.0, 0.0)
    margin: Positive = 0.0
    gap: Positive = 0.0
    adhesion: Finite = 0.0


class TendonParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A tendon: a weighted sum of joints' values, or a string through anchors.

    Attributes:
        name: Its name.
        joints: Weight of each joint, or
        path: Anchors that it goes through, in order.
        stiffness: Spring, with the coefficients of its second and third power [N/m].
        damping: Damper, likewise [N s/m].
        springlength: Shortest and longest slack length [m].
        range: Shortest and longest length [m]; none if absent.
        frictionloss: Coulomb friction [N].
        armature: Inertia of changing its length [kg].
        margin: Distance at which the limit begins [m].
        solref_limit: Time constant and damping of the limit.
        solimp_limit: Impedance of the limit.
        solref_friction: Time constant and damping of friction.
        solimp_friction: Impedance of friction.
    """

    name: str
    joints: dict[str, Finite] = {}
    path: list[str] = []
    stiffness: Three = (0.0, 0.0, 0.0)
    damping: Three = (0.0, 0.0, 0.0)
    springlength: Two = (-1.0, -1.0)
    range: Two | None = None
    frictionloss: Positive = 0.0
    armature: Positive = 0.0
    margin: Positive = 0.0
    solref_limit: Two | None = None
    solimp_limit: Five | None = None
    solref_friction: Two | None = None
    solimp_friction: Five | None = None


class TendonTieParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A tendon whose length is a polynomial of another's, or is held.

    Attributes:
        a: The tendon that follows.
        b: The tendon that leads; empty to hold the other.
        polycoef: Coefficients of the powers 0 to 4.
        solref: Time constant and damping.
        solimp: Impedance.
    """

    a: str
    b: str = ""
    polycoef: Five = (0.0, 1.0, 0.0, 0.0, 0.0)
    solref: Two | None = None
    solimp: Five | None = None


class MujocoParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Mujoco``.

    Attributes:
        owns: Parts it moves; all that are left if absent.
        prescribed: Joints that follow their targets whatever it takes.
        one_way: Parts of other dynamic engines that push this one's as infinite masses.
        iterations: Most solver iterations a step.
        tolerance: Solver tolerance.
        impratio: How much harder friction resists slip than contact resists depth.
        contact_time: Time constant of contacts [s]; longer is softer. 0 is the default.
        loop_time: Time constant of loops and couplings [s]; 0 is the stiffest.
        native: Softness, mixing of friction and who touches whom are MuJoCo's own, where no
            word says otherwise; for models that were made for it.
        integrator: How time goes on. All but "discrete" take drives' efforts as they are at the
            start of the step.
        cone: Kind of friction cones.
        solver: How contacts are solved: "PGS", "CG" or "Newton".
        jacobian: How its matrices are kept: "dense", "sparse" or "auto".
        ls_iterations: Most steps of a line search.
        ls_tolerance: Tolerance of a line search.
        noslip_iterations: Most iterations against slip.
        noslip_tolerance: Tolerance of those.
        ccd_iterations: Most iterations of the search for contacts of convex shapes.
        ccd_tolerance: Tolerance of that search.
        wind: Velocity of the medium [m/s].
        magnetic: Magnetic field.
        density: Of the medium [kg/m³].
        viscosity: Of the medium [Pa s].
        o_margin: Margin of all contacts [m], where "override" is enabled.
        o_solref: Time constant and damping of all contacts, likewise.
        o_solimp: Impedance of all contacts, likewise.
        o_friction: Friction of all contacts, likewise.
        disable: What MuJoCo leaves undone: "contact", "limit" and other flags.
        enable: What it does beyond: "override", "diagexact" and other flags.
        pairs: Shapes with a contact of their own.
        tendons: Tendons.
        tendon_ties: Tendons that follow each other or are held.
    """

    owns: list[str] | None = None
    prescribed: list[str] = []
    one_way: list[str] = []
    iterations: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 100
    tolerance: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1e-10
    impratio: Annotated[float, msgspec.Meta(gt=0.0, le=1e6)] = 100.0
    contact_time: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] = 0.0
    loop_time: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] = 0.0
    native: bool = False
    integrator: Literal["discrete", "Euler", "RK4", "implicit", "implicitfast"] = "discrete"
    cone: Literal["elliptic", "pyramidal"] = "elliptic"
    solver: Literal["PGS", "CG", "Newton"] | None = None
    jacobian: Literal["dense", "sparse", "auto"] | None = None
    ls_iterations: Count | None = None
    ls_tolerance: Positive | None = None
    noslip_iterations: Count | None = None
    noslip_tolerance: Positive | None = None
    ccd_iterations: Count | None = None
    ccd_tolerance: Positive | None = None
    wind: Three | None = None
    magnetic: Three | None = None
    density: Positive | None = None
    viscosity: Positive | None = None
    o_margin: Finite | None = None
    o_solref: Two | None = None
    o_solimp: Five | None = None
    o_friction: Five | None = None
    disable: list[Disable] = []
    enable: list[Enable] = []
    pairs: list[PairParams] = []
    tendons: list[TendonParams] = []
    tendon_ties: list[TendonTieParams] = []


#: Fields that go as they are into MuJoCo's options.
OPTIONS = (
    "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations",
    "ccd_tolerance", "wind", "magnetic", "density", "viscosity", "o_margin", "o_solref",
    "o_solimp", "o_friction",
)  # fmt: skip
