"""Contact: how hard an element is pressed, and whether it touches anything."""

from __future__ import annotations

import math
from typing import ClassVar

import msgspec

from linkwork.blocks import scoped_name
from linkwork.errors import not_found
from linkwork.parts import Spec
from linkwork.sensors.kernels import read_contacts
from linkwork.sensors.readings import ReadingParams, Readings, Row
from linkwork.world import World

# Columns of the report's contact table.
BODY, ELEMENT = 0, 2
_ANY = -1


class ContactParams(ReadingParams):
    """Parameters of ``Contact``.

    Attributes:
        on: Element that feels.
        with_: ``with`` in files: only contacts with this element count; all if absent.
        whole_body: Feel with every element of the rigid body that ``on`` belongs to.
        noise: On the force [N].
    """

    on: str
    with_: str | None = msgspec.field(default=None, name="with")
    whole_body: bool = False


class Contact(Readings):
    """Reads contacts from the last step's report: ``<name>.force`` [N], ``<name>.touching`` 0 or 1.

    The force is the sum of the normal forces of all contacts of the element; it touches where a
    contact presses or overlaps.
    """

    type: ClassVar[str] = "contact"
    reads_contacts: ClassVar[bool] = True
    form = ContactParams
    kernel = staticmethod(read_contacts)
    columns = 2

    def resolve(self, number: int, spec: Spec, params: ContactParams) -> Row:  # noqa: D102
        match = find_touching(self.world, spec, params.on)
        if params.whole_body and match[0] == ELEMENT:
            match = BODY, int(self.world.element_body[match[1]])
        partner = ELEMENT, _ANY
        if params.with_ is not None:
            partner = find_touching(self.world, spec, params.with_)
        self.offer(number, 0, "force", "N", lo=-math.inf if params.noise else 0.0)
        self.offer(number, 1, "touching", lo=0.0, hi=1.0)
        table = ("report/contacts", 0, 0), ("report/contact_count", 0)
        return Row(table, (params.noise,), (*match, *partner))


def find_touching(world: World, spec: Spec, given: str) -> tuple[int, int]:
    """Column and number by which the contact table knows an element, or a body without one."""
    name = scoped_name(spec, given)
    name = world.aliases.get(name, name)
    if name in world.element_names:
        return ELEMENT, world.element_names.index(name)
    if name in world.body_names:
        return BODY, world.body_names.index(name)
    raise not_found("element", name, world.element_names, origin=spec.origin)
