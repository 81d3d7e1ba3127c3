"""What a scene may say of the impulse engine."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Tolerance = Annotated[float, msgspec.Meta(gt=0.0, le=0.1)]
#: What is below this is rounding, in a mechanism of a metre.
LEAST_GAP = 1e-14
Gap = Annotated[float, msgspec.Meta(ge=LEAST_GAP, le=0.1)]


class ImpulseParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``Impulse``.

    Attributes:
        owns: Which parts it moves; all that are left if absent.
        gap: How far a joint or loop may be open after a step [m or rad].
        speed_gap: How fast it may be opening [m/s or rad/s].
        order: Order of the integration in time; 5 by forces only. Joint by joint it is 2.
        method: What holds joints: "impulses" at the ends of steps, with free flight between, or
            "forces" all the time, for mechanisms of joints alone and orders from 4 on.
        foretold: By forces, how badly a step may foretell where bodies or joints are [m or rad]
            before it is taken in pieces; most of that is mended afterwards.
        solver: All impulses at once ("direct"), or joint by joint ("anytime").
        most: Iterations after which a step counts as not closed; joint by joint, rounds after which
            it goes on as it is.
        on_gap: What happens to a step that is not closed: "halve" takes it in halves, "stop" ends
            the run.
        prescribed: Joints that follow their targets whatever it takes.
    """

    owns: list[str] | None = None
    gap: Gap = 1e-10
    speed_gap: Tolerance = 1e-9
    order: Literal[2, 4, 5, 6] = 4
    method: Literal["impulses", "forces"] = "impulses"
    foretold: Tolerance = 1e-4
    solver: Literal["direct", "anytime"] = "direct"
    most: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 50
    on_gap: Literal["halve", "stop"] = "halve"
    prescribed: list[str] = []
