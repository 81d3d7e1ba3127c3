"""Joint sensors: encoder or effort of one joint."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import msgspec

from linkwork.components.sensors import (
    Finite,
    ReadingParams,
    ReadingRow,
    SampledSensor,
)
from linkwork.components.sensors.kernels import read_efforts, read_encoders
from linkwork.core.errors import FormatError, SceneError
from linkwork.core.value_types import NonNegative
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.blocks import scoped_name
from linkwork.model.parts import Spec


class EncoderParams(ReadingParams):
    """Parameters of ``Encoder``.

    Attributes:
        joint: A joint of one degree of freedom, or ``joint.dof``.
        bits: Bits of the code: 2^bits values from the joint's lowest to its highest value, ends
            included; over a full turn, continued beyond it, if the joint has no range.
        resolution: Distance between two codes [rad or m], counted from 0, instead of ``bits``.
        offset: Offset added to the reading [rad or m].
        noise: Noise of the angle or position, before quantization [rad or m].
        speed_noise: Noise of the speed [rad/s or m/s].
    """

    joint: str
    bits: Annotated[int, msgspec.Meta(ge=1, le=32)] | None = None
    resolution: Annotated[float, msgspec.Meta(gt=0.0, le=1e12)] | None = None
    offset: Finite = 0.0
    speed_noise: NonNegative = 0.0


class Encoder(SampledSensor):
    """Reads joint values: ``<name>.angle`` [rad] or ``<name>.position`` [m], ``<name>.speed``.

    reading = lo + r·⌊(q + noise − lo)/r + ½⌋ + offset, with the resolution
    r = (hi − lo)/(2^bits − 1) and the code ⌊…⌋ clipped to 0 … 2^bits − 1. For a joint without
    range, r = 2π/2^bits, lo = 0 and the reading counts full turns. Speed is the state's, plus its
    own noise.
    """

    type: ClassVar[str] = "encoder"
    form = EncoderParams
    kernel = staticmethod(read_encoders)
    columns = 2

    def resolve(self, number: int, spec: Spec, params: EncoderParams) -> ReadingRow:  # noqa: D102
        world = self.world
        dof = world.single_dof(scoped_name(spec, params.joint), origin=spec.at("joint"))
        angle = world.dof_is_angle(dof)
        body = int(world.dof_body[dof])
        if world.kind[body] == BALL or (world.kind[body] == FREE and angle):
            raise SceneError(
                f"encoder {spec.name!r}: {world.dof_name(dof)!r} has no angle of its own, it is "
                "part of an orientation.",
                origin=spec.origin,
                hint="Use an inclinometer, or the joint's own signals.",
            )
        unit, lo, hi = "rad" if angle else "m", float(world.dof_lo[dof]), float(world.dof_hi[dof])
        self.offer(
            number, 0, "angle" if angle else "position", unit,
            lo=lo + params.offset, hi=hi + params.offset,
        )  # fmt: skip
        self.offer(number, 1, "speed", f"{unit}/s")
        # Only orientations have more coordinates than degrees of freedom.
        coordinate = int(world.qadr[body]) + dof - int(world.vadr[body])
        errors = params.noise, params.speed_noise, params.offset
        return ReadingRow(
            (("q", coordinate), ("v", dof)), (*errors, *self._scale(spec, params, dof))
        )

    def _scale(self, spec: Spec, params: EncoderParams, dof: int) -> tuple[float, float, float]:
        """Lowest value of the scale, resolution (0 for none) and highest code."""
        lo, hi = float(self.world.dof_lo[dof]), float(self.world.dof_hi[dof])
        if params.bits is None:
            return 0.0, params.resolution or 0.0, math.inf
        if params.resolution is not None:
            raise FormatError(
                f"encoder {spec.name!r} has both bits and resolution.",
                origin=spec.origin,
                hint="Keep one of them.",
            )
        if math.isfinite(hi - lo):
            codes = 2**params.bits - 1
            return lo, (hi - lo) / codes, float(codes)
        if self.world.dof_is_angle(dof):
            return 0.0, 2.0 * math.pi / 2**params.bits, math.inf
        raise SceneError(
            f"encoder {spec.name!r}: joint {params.joint!r} has no range to spread "
            f"{params.bits} bits over.",
            origin=spec.origin,
            hint="Give the joint a range, or the encoder a resolution.",
        )


class EffortSensorParams(ReadingParams):
    """Parameters of ``EffortSensor``.

    Attributes:
        joint: A joint of one degree of freedom, or ``joint.dof``.
        noise: [N m or N].
    """

    joint: str


class EffortSensor(SampledSensor):
    """Reads the effort of joints from the last step's report: ``<name>.effort`` [N m or N]."""

    type: ClassVar[str] = "effort"
    form = EffortSensorParams
    kernel = staticmethod(read_efforts)

    def resolve(self, number: int, spec: Spec, params: EffortSensorParams) -> ReadingRow:  # noqa: D102
        dof = self.world.single_dof(scoped_name(spec, params.joint), origin=spec.at("joint"))
        self.offer(number, 0, "effort", "N m" if self.world.dof_is_angle(dof) else "N")
        return ReadingRow((("report/effort", dof),), (params.noise,))
