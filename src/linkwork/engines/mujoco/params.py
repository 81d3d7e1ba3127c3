"""What a scene may say of the Mujoco engine."""

from __future__ import annotations

from typing import Annotated

import msgspec


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
    """

    owns: list[str] | None = None
    prescribed: list[str] = []
    one_way: list[str] = []
    iterations: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 100
    tolerance: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1e-10
    impratio: Annotated[float, msgspec.Meta(gt=0.0, le=1e6)] = 100.0
    contact_time: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] = 0.0
    loop_time: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] = 0.0
