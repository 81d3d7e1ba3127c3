"""Contact sensors: total force or foot pressure."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import msgspec

from linkwork.components.sensors import ReadingParams, ReadingRow, SampledSensor
from linkwork.components.sensors.kernels import read_contacts, read_feet
from linkwork.core.errors import not_found
from linkwork.model.blocks import scoped_name
from linkwork.model.parts import Spec
from linkwork.model.world import World

# Columns of the report's contact table.
BODY, ELEMENT = 0, 2
_ANY = -1


class ContactParams(ReadingParams):
    """Parameters of ``Contact``.

    Attributes:
        on: Element that senses contacts.
        with_: ``with`` in files: only contacts with this element count; all if absent.
        whole_body: Whether to sense contacts of every element of the rigid body of ``on``.
        noise: Standard deviation of the force noise [N].
    """

    on: str
    with_: str | None = msgspec.field(default=None, name="with")
    whole_body: bool = False


class Contact(SampledSensor):
    """Reads contacts from the last step's report: ``<name>.force`` [N], ``<name>.touching`` 0 or 1.

    The force is the sum of the normal forces of all contacts of the element; it touches if a
    contact presses or overlaps.
    """

    type: ClassVar[str] = "contact"
    reads_contacts: ClassVar[bool] = True
    form = ContactParams
    kernel = staticmethod(read_contacts)
    columns = 2

    def resolve(self, number: int, spec: Spec, params: ContactParams) -> ReadingRow:  # noqa: D102
        match = find_touching(self.world, spec, params.on)
        if params.whole_body and match[0] == ELEMENT:
            match = BODY, int(self.world.element_body[match[1]])
        other = ELEMENT, _ANY
        if params.with_ is not None:
            other = find_touching(self.world, spec, params.with_)
        self.offer(number, 0, "force", "N", lo=-math.inf if params.noise else 0.0)
        self.offer(number, 1, "touching", lo=0.0, hi=1.0)
        table = ("report/contacts", 0, 0), ("report/contact_count", 0)
        return ReadingRow(table, (params.noise,), (*match, *other))


def find_touching(world: World, spec: Spec, given: str) -> tuple[int, int]:
    """Returns column and index of an element in the contact table, or of a body without one."""
    name = scoped_name(spec, given)
    name = world.aliases.get(name, name)
    if name in world.element_names:
        return ELEMENT, world.element_names.index(name)
    if name in world.body_names:
        return BODY, world.body_names.index(name)
    raise not_found("element", name, world.element_names, origin=spec.origin)


Length = Annotated[float, msgspec.Meta(gt=0.0, le=1e12)]

#: Signals of the corners: front is +x, left is +y.
CORNERS = ("front_left", "front_right", "rear_left", "rear_right")


class FootParams(ReadingParams):
    """Parameters of ``Foot``.

    Attributes:
        on: Element of the foot, or an anchor of it. The sole lies in the x-y plane of its frame,
            around the origin, and is loaded along +z.
        size: Distances of the corners along x and y [m].
        whole_body: Whether to sense contacts of every element of the rigid body; an anchor always
            does.
        range: Maximum force of a corner [N].
        noise: Standard deviation of each corner's noise, independent [N].
    """

    on: str
    size: tuple[Length, Length]
    whole_body: bool = False
    range: Length | None = None


class Foot(SampledSensor):
    """Reads the corners of a sole: ``<name>.front_left`` [N] and the others.

    They are ``front_left``, ``front_right``, ``rear_left`` and ``rear_right``. ``<name>.force`` is
    their sum [N]; ``<name>.cop_x`` and ``cop_y`` are the center of pressure [m] in the frame of the
    sole, 0 without load. Each contact of the last step's report is distributed over the corners by
    its position, so that sum and center of pressure are preserved; a contact outside the corners
    gives negative forces on the opposite side. Only the component of a contact's force along the
    sole's z counts, not friction, which lies in the plane of a flat sole.
    """

    type: ClassVar[str] = "foot"
    reads_contacts: ClassVar[bool] = True
    form = FootParams
    kernel = staticmethod(read_feet)
    columns = 7

    def resolve(self, number: int, spec: Spec, params: FootParams) -> ReadingRow:  # noqa: D102
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
        return ReadingRow(
            (("report/contacts", 0, 0), ("report/contact_count", 0), ("pose", body, 0)),
            (params.noise, *half, reach, *frame.xyz, *frame.quat),
            match,
        )
