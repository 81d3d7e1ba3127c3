"""Foot: normal forces at the four corners of a sole, and the centre of pressure."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import msgspec

from linkwork.blocks import scoped_name
from linkwork.parts import Spec
from linkwork.sensors.contact import BODY, find_touching
from linkwork.sensors.kernels import read_feet
from linkwork.sensors.readings import ReadingParams, Readings, Row

Length = Annotated[float, msgspec.Meta(gt=0.0, le=1e12)]

#: Signals of the corners: front is +x, left is +y.
CORNERS = ("front_left", "front_right", "rear_left", "rear_right")


class FootParams(ReadingParams):
    """Parameters of ``Foot``.

    Attributes:
        on: Element that treads, or an anchor of it. The sole lies in the x-y plane of its frame,
            around the origin, and is pressed along +z.
        size: Distances of the corners along x and y [m].
        whole_body: Feel with every element of the rigid body; an anchor always does.
        range: Largest force that a corner reads [N].
        noise: On each corner, independently [N].
    """

    on: str
    size: tuple[Length, Length]
    whole_body: bool = False
    range: Length | None = None


class Foot(Readings):
    """Reads the corners of a sole: ``<name>.front_left`` [N] and the others.

    They are ``front_left``, ``front_right``, ``rear_left`` and ``rear_right``. ``<name>.force`` is
    their sum [N]; ``<name>.cop_x`` and ``cop_y`` are the centre of pressure [m] in the frame of the
    sole, 0 without load. Each contact of the last step's report is spread over the corners by its
    place, so that sum and centre of pressure stay what they are; one that lies outside the corners
    pulls at those on the other side. Of a contact's force the part along the sole's z counts;
    friction, which lies in the sole where it is flat on the ground, does not.
    """

    type: ClassVar[str] = "foot"
    reads_contacts: ClassVar[bool] = True
    form = FootParams
    kernel = staticmethod(read_feet)
    columns = 7

    def resolve(self, number: int, spec: Spec, params: FootParams) -> Row:  # noqa: D102
        body, frame = self.world.frame(scoped_name(spec, params.on), origin=spec.at("on"))
        match = BODY, body
        if not params.whole_body and scoped_name(spec, params.on) not in self.world.anchors:
            match = find_touching(self.world, spec, params.on)
        reach = params.range or math.inf
        for column, corner in enumerate(CORNERS):
            self.offer(number, column, corner, "N", lo=-reach, hi=reach)
        self.offer(number, 4, "force", "N")
        self.offer(number, 5, "cop_x", "m")
        self.offer(number, 6, "cop_y", "m")
        half = [length / 2.0 for length in params.size]
        return Row(
            (("report/contacts", 0, 0), ("report/contact_count", 0), ("pose", body, 0)),
            (params.noise, *half, reach, *frame.xyz, *frame.quat),
            match,
        )
