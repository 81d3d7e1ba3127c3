"""Parameters of the Mujoco engine, written to the options of a model."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from linkwork.core.mujoco_library import ROLLING_FRICTION, TORSIONAL_FRICTION, mujoco
from linkwork.model.scene import Scene

_Limited = msgspec.Meta(ge=-1e15, le=1e15)
#: A finite number.
Finite = Annotated[float, _Limited]
#: A finite number of at least 0.
NonNegative = Annotated[float, msgspec.Meta(ge=0.0, le=1e15)]
Two = tuple[Finite, Finite]
Three = tuple[Finite, Finite, Finite]
Five = tuple[Finite, Finite, Finite, Finite, Finite]
Count = Annotated[int, msgspec.Meta(ge=0, le=100_000)]

Disable = Literal[
    "constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper",
    "warmstart", "filterparent", "refsafe", "midphase", "eulerdamp", "nativeccd", "island",
    "multiccd",
]  # fmt: skip
Integrator = Literal["auto", "discrete", "Euler", "RK4", "implicit", "implicitfast"]
Enable = Literal["override", "diagexact", "ipc", "speculative"]


class PairParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Two shapes with a contact of their own, regardless of collision filters.

    Attributes:
        a: Name of the first shape, given in its ``mujoco`` attributes, scoped by its part.
        b: Name of the second.
        condim: Dimensions of the contact.
        friction: Two tangential, one torsional and two rolling coefficients.
        solref: Time constant and damping.
        solimp: Impedance.
        solreffriction: Time constant and damping of friction.
        margin: Distance at which it becomes active [m].
        gap: Distance within the margin without force [m].
        adhesion: Adhesion force [N].
    """

    a: str
    b: str
    condim: Literal[1, 3, 4, 6] = 3
    friction: Five = (1.0, 1.0, TORSIONAL_FRICTION, ROLLING_FRICTION, ROLLING_FRICTION)
    solref: Two = (0.02, 1.0)
    solimp: Five = (0.9, 0.95, 0.001, 0.5, 2.0)
    solreffriction: Two = (0.0, 0.0)
    margin: NonNegative = 0.0
    gap: NonNegative = 0.0
    adhesion: Finite = 0.0


class TendonWrapParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A sphere or cylinder that a tendon wraps around, or a pulley that divides it.

    Attributes:
        geom: Name of the shape, given in its ``mujoco`` attributes, scoped by its part.
        side: Anchor on the side of the shape where the tendon passes; the shorter side if empty.
        pulley: Divisor of the branch that begins here; 0 if it is no pulley.
    """

    geom: str = ""
    side: str = ""
    pulley: NonNegative = 0.0


class TendonParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A tendon: a weighted sum of joint values, or a path through anchors.

    Attributes:
        name: Its name.
        joints: Weight of each joint, or
        path: Anchors along its path, in order; between them ``{ geom = … }`` for a shape that it
            wraps around, ``{ pulley = … }`` for a pulley.
        stiffness: Spring, with the coefficients of its second and third power [N/m].
        damping: Damper, likewise [N s/m].
        springlength: Shortest and longest slack length [m].
        range: Shortest and longest length [m]; unlimited if absent.
        frictionloss: Coulomb friction [N].
        armature: Inertia of its length [kg].
        margin: Distance at which the limit becomes active [m].
        solref_limit: Time constant and damping of the limit.
        solimp_limit: Impedance of the limit.
        solref_friction: Time constant and damping of friction.
        solimp_friction: Impedance of friction.
        effort_range: Minimum and maximum total force of its actuators [N].
    """

    name: str
    joints: dict[str, Finite] = {}
    path: list[str | TendonWrapParams] = []
    stiffness: Three = (0.0, 0.0, 0.0)
    damping: Three = (0.0, 0.0, 0.0)
    springlength: Two = (-1.0, -1.0)
    range: Two | None = None
    frictionloss: NonNegative = 0.0
    armature: NonNegative = 0.0
    margin: NonNegative = 0.0
    solref_limit: Two | None = None
    solimp_limit: Five | None = None
    solref_friction: Two | None = None
    solimp_friction: Five | None = None
    effort_range: Two | None = None


class EqualityParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A joint or tendon whose value or length is a polynomial of another's, or fixed.

    Attributes:
        a: The following joint or tendon.
        b: The leading one; empty if the first is held.
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
        owns: Parts that it moves; all remaining ones if absent.
        prescribed: Joints that follow their targets exactly.
        one_way: Parts of other dynamic engines that push this one's as infinite masses.
        iterations: Maximum number of solver iterations.
        tolerance: Solver tolerance.
        impratio: Ratio of frictional to normal constraint impedance.
        contact_time: Time constant of contacts [s]; longer is softer. 0 is the default.
        loop_time: Time constant of loops and couplings [s]; 0 is the stiffest.
        native: Use MuJoCo's own softness, friction combination and collision filters by default,
            for models made for it.
        integrator: Time integrator. All but "discrete" evaluate drive efforts at the start of the
            step. "auto" is "discrete", and for free bodies without springs, drives, tendons and
            restitution "implicitfast", which is several times faster with many contacts.
        cone: Kind of friction cones.
        solver: Constraint solver: "PGS", "CG" or "Newton".
        jacobian: Matrix type: "dense", "sparse" or "auto".
        ls_iterations: Maximum number of line search iterations.
        ls_tolerance: Tolerance of the line search.
        noslip_iterations: Maximum number of no-slip iterations.
        noslip_tolerance: Tolerance of the no-slip solver.
        ccd_iterations: Maximum number of iterations of convex collision detection.
        ccd_tolerance: Tolerance of convex collision detection.
        wind: Velocity of the medium [m/s].
        magnetic: Magnetic field.
        density: Of the medium [kg/m³].
        viscosity: Of the medium [Pa s].
        o_margin: Margin of all contacts [m], if "override" is enabled.
        o_solref: Time constant and damping of all contacts, likewise.
        o_solimp: Impedance of all contacts, likewise.
        o_friction: Friction of all contacts, likewise.
        disable: MuJoCo features to disable: "contact", "limit" and other flags.
        enable: MuJoCo features to enable: "override", "diagexact" and other flags.
        pairs: Shapes with a contact of their own.
        tendons: Tendons.
        tendon_equalities: Tendons that follow each other or are fixed.
        joint_equalities: Joints that are held at a value, or follow a second joint, by a soft
            constraint.
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
    integrator: Integrator = "auto"
    cone: Literal["elliptic", "pyramidal"] = "elliptic"
    solver: Literal["PGS", "CG", "Newton"] | None = None
    jacobian: Literal["dense", "sparse", "auto"] | None = None
    ls_iterations: Count | None = None
    ls_tolerance: NonNegative | None = None
    noslip_iterations: Count | None = None
    noslip_tolerance: NonNegative | None = None
    ccd_iterations: Count | None = None
    ccd_tolerance: NonNegative | None = None
    wind: Three | None = None
    magnetic: Three | None = None
    density: NonNegative | None = None
    viscosity: NonNegative | None = None
    o_margin: Finite | None = None
    o_solref: Two | None = None
    o_solimp: Five | None = None
    o_friction: Five | None = None
    disable: list[Disable] = []
    enable: list[Enable] = []
    pairs: list[PairParams] = []
    tendons: list[TendonParams] = []
    tendon_equalities: list[EqualityParams] = []
    joint_equalities: list[EqualityParams] = []


#: Fields that are copied to MuJoCo's options.
OPTIONS = (
    "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations",
    "ccd_tolerance", "wind", "magnetic", "density", "viscosity", "o_margin", "o_solref",
    "o_solimp", "o_friction",
)  # fmt: skip


#: Arena size for solvers that need a matrix of all constraints [byte]; only used pages are
#: allocated. MuJoCo's own estimate ignores it: a dog on its back runs out of memory.
ARENA_BYTES = 256 * 2**20


def set_options(spec: Any, scene: Scene, params: MujocoParams) -> None:
    """Fills the options of a model being built."""
    spec.compiler.autolimits = True
    spec.compiler.degree = False
    spec.compiler.fusestatic = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    option = spec.option
    option.timestep = scene.step
    option.gravity = list(scene.gravity)
    option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{params.integrator.upper()}")
    option.cone = getattr(mujoco.mjtCone, f"mjCONE_{params.cone.upper()}")
    option.impratio = params.impratio
    option.iterations = params.iterations
    option.tolerance = params.tolerance
    if params.solver is not None:
        option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{params.solver.upper()}")
    if params.jacobian is not None:
        option.jacobian = getattr(mujoco.mjtJacobian, f"mjJAC_{params.jacobian.upper()}")
    for name in OPTIONS:
        value = getattr(params, name)
        if value is not None:
            setattr(option, name, list(value) if isinstance(value, tuple) else value)
    if params.noslip_iterations or params.solver == "PGS":
        spec.memory = ARENA_BYTES
    for flag in ("autoreset", *params.disable):
        option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}"))
    for flag in params.enable:
        option.enableflags |= int(getattr(mujoco.mjtEnableBit, f"mjENBL_{flag.upper()}"))
    if not params.native:  # collision filters are ours
        option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
