"""What a scene may say of the Lagrange engine."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e15)]
NotNegative = Annotated[float, msgspec.Meta(ge=0.0, le=1e15)]


class LagrangeParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``Lagrange``.

    Attributes:
        owns: Which parts it moves; all that are left if absent.
        integrator: Method of Runge and Kutta: "rk4" (order 4, four evaluations a step), "heun"
            (order 2) or "rk8" (order 8, eleven).
        code: What computes accelerations: "recursive" kernels, or C "generated" for exactly this
            robot, compiled once and kept.
        contacts: Anchors and elements whose origins touch planes that stand still.
        stiffness: K_f of each contact point [N/m], also along the ground while it grips.
        damping: D_f of each contact point [N s/m], likewise.
        compliance: Stiffness between drive and joint [N m/rad or N/m] by joint; its rotor, the
            joint's armature, then turns by itself.
        compliance_damping: Damping ratio of rotors on compliant joints.
    """

    owns: list[str] | None = None
    integrator: Literal["heun", "rk4", "rk8"] = "rk4"
    code: Literal["recursive", "generated"] = "recursive"
    contacts: list[str] = []
    stiffness: Positive = 50_000.0
    damping: NotNegative = 500.0
    compliance: dict[str, Positive] = {}
    compliance_damping: NotNegative = 0.05
