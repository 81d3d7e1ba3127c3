"""Inclinometer: how far a frame is tilted about its own x and y."""

from __future__ import annotations

import math
from typing import ClassVar

from linkwork.blocks import scoped_name
from linkwork.parts import Spec
from linkwork.sensors.kernels import read_inclinometers
from linkwork.sensors.readings import ReadingParams, Readings, Row


class InclinometerParams(ReadingParams):
    """Parameters of ``Inclinometer``.

    Attributes:
        on: Element or anchor that carries it.
        noise: On both tilts, independently [rad].
    """

    on: str


class Inclinometer(Readings):
    """Reads tilts of frames: ``<name>.x`` and ``<name>.y`` [rad], −π to π.

    With u the direction against gravity (the world's z where there is none) in the frame's axes:
    x = atan2(u_y, u_z), y = atan2(−u_x, u_z). So a level frame turned by +a about its own x axis
    reads x = +a, y = 0; turned by +a about its own y axis, x = 0, y = +a. A turn about the vertical
    reads nothing. Tilts come from the pose alone: accelerations do not disturb them.
    """

    type: ClassVar[str] = "inclinometer"
    form = InclinometerParams
    kernel = staticmethod(read_inclinometers)
    columns = 2

    def resolve(self, number: int, spec: Spec, params: InclinometerParams) -> Row:  # noqa: D102
        body, frame = self.world.frame(scoped_name(spec, params.on), origin=spec.at("on"))
        self.offer(number, 0, "x", "rad", lo=-math.pi, hi=math.pi)
        self.offer(number, 1, "y", "rad", lo=-math.pi, hi=math.pi)
        return Row((("pose", body, 0), ("param/gravity", 0)), (params.noise, *frame.quat))
