"""What a DBC file says, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from linkwork.errors import FormatError, Origin, not_found

Number = int | float
NO_NODE = "Vector__XXX"
ORPHANS = 0xC0000000  # the pseudo message that holds signals of no message


class DbcError(FormatError):
    """A DBC file that does not follow its format, or values that its signals cannot hold."""


@dataclass
class DbcSignal:
    """A value in a frame.

    Attributes:
        name: Name, unique in its message.
        start: Start bit as the file counts: of the lowest bit (Intel) or of the highest (Motorola).
        length: Bits.
        big_endian: Motorola order; else Intel.
        signed: Two's complement.
        scale: Physical value of one step.
        offset: Physical value of raw 0.
        minimum: Least physical value; None for no limit.
        maximum: Greatest physical value; None for no limit.
        unit: Its unit.
        receivers: Names of the nodes that use it.
        multiplexer: Its raw value says which other signals the frame holds.
        parent: Name of the multiplexer that this one depends on; empty for always present.
        ranges: Raw values of the parent with which it is present, first and last of each.
        float: Raw bits are an IEEE number of 16, 32 or 64 bits.
        values: Words for raw values.
        comment: Free text.
        attributes: Values of attributes.
        origin: Where it was read.
    """

    name: str
    start: int
    length: int
    big_endian: bool = False
    signed: bool = False
    scale: Number = 1
    offset: Number = 0
    minimum: Number | None = None
    maximum: Number | None = None
    unit: str = ""
    receivers: list[str] = field(default_factory=list)
    multiplexer: bool = False
    parent: str = ""
    ranges: list[tuple[int, int]] = field(default_factory=list)
    float: bool = False
    values: dict[int, str] = field(default_factory=dict)
    comment: str = ""
    attributes: dict[str, Number | str] = field(default_factory=dict)
    origin: Origin = Origin()

    @property
    def raw_range(self) -> tuple[int, int]:
        """Least and greatest raw value of the bits."""
        if self.signed:
            return -(1 << (self.length - 1)), (1 << (self.length - 1)) - 1
        return 0, (1 << self.length) - 1

    def bits(self) -> list[int]:
        """Places in the frame, as the file counts them (byte · 8 + bit), lowest bit last."""
        if not self.big_endian:
            return list(range(self.start + self.length - 1, self.start - 1, -1))
        first = 8 * (self.start // 8) + 7 - self.start % 8
        return [8 * (n // 8) + 7 - n % 8 for n in range(first, first + self.length)]

    def present(self, selector: int) -> bool:
        """Whether the parent's raw value means that this signal is in the frame."""
        return any(low <= selector <= high for low, high in self.ranges)


@dataclass
class DbcMessage:
    """A frame.

    Attributes:
        id: Identifier.
        name: Name, unique in the database.
        length: Bytes.
        extended: 29-bit identifier.
        signals: What it holds.
        sender: Node that sends it; empty for none.
        senders: All that may send it.
        comment: Free text.
        attributes: Values of attributes.
        groups: Names of signals by the name of their group.
        origin: Where it was read.
    """

    id: int
    name: str
    length: int
    extended: bool = False
    signals: list[DbcSignal] = field(default_factory=list)
    sender: str = ""
    senders: list[str] = field(default_factory=list)
    comment: str = ""
    attributes: dict[str, Number | str] = field(default_factory=dict)
    groups: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    origin: Origin = Origin()

    @property
    def number(self) -> int:
        """The identifier as the file writes it: bit 31 marks 29 bits."""
        return self.id | (1 << 31 if self.extended else 0)

    def signal(self, name: str) -> DbcSignal:
        """The signal of a name."""
        for each in self.signals:
            if each.name == name:
                return each
        raise not_found(
            f"signal of {self.name}", name, (s.name for s in self.signals), origin=self.origin
        )


@dataclass
class DbcNode:
    """A device on the bus."""

    name: str
    comment: str = ""
    attributes: dict[str, Number | str] = field(default_factory=dict)


@dataclass
class EnvironmentVariable:
    """A value that only simulations use."""

    name: str
    type: int
    minimum: Number
    maximum: Number
    unit: str
    initial: Number
    number: int
    access: str
    nodes: list[str]
    size: int = 0
    values: dict[int, str] = field(default_factory=dict)
    comment: str = ""
    attributes: dict[str, Number | str] = field(default_factory=dict)


@dataclass
class Attribute:
    """Definition of an attribute.

    Attributes:
        name: Its name.
        of: What has it: empty for the database, ``BU_``, ``BO_``, ``SG_``, ``EV_`` or a relation
            (``BU_SG_REL_``, ``BU_BO_REL_``, ``BU_EV_REL_``).
        type: ``INT``, ``HEX``, ``FLOAT``, ``STRING`` or ``ENUM``.
        minimum: Of a number.
        maximum: Of a number.
        choices: Words of an ``ENUM``.
        default: Where nothing else is said.
    """

    name: str
    of: str
    type: str
    minimum: Number | None = None
    maximum: Number | None = None
    choices: list[str] = field(default_factory=list)
    default: Number | str | None = None


@dataclass
class Database:
    """A whole file."""

    version: str = ""
    nodes: list[DbcNode] = field(default_factory=list)
    messages: list[DbcMessage] = field(default_factory=list)
    tables: dict[str, dict[int, str]] = field(default_factory=dict)
    variables: dict[str, EnvironmentVariable] = field(default_factory=dict)
    definitions: dict[str, Attribute] = field(default_factory=dict)
    attributes: dict[str, Number | str] = field(default_factory=dict)
    relations: list[tuple[str, str, tuple[str | int, ...], Number | str]] = field(
        default_factory=list
    )
    orphans: DbcMessage | None = None
    comment: str = ""

    def __iter__(self) -> Iterator[DbcMessage]:
        return iter(self.messages)

    def message(self, name: str) -> DbcMessage:
        """The message of a name."""
        for each in self.messages:
            if each.name == name:
                return each
        raise not_found("message", name, (m.name for m in self.messages))

    def find(self, id: int, extended: bool) -> DbcMessage | None:
        """The message of an identifier, if there is one."""
        for each in self.messages:
            if each.id == id and each.extended == extended:
                return each
        return None
