"""XML trees: elements with their lines, values checked where they are read."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

from defusedxml import DefusedXmlException
from defusedxml.sax import make_parser

from linkwork.core.errors import FormatError, Origin, listing, os_error_text
from linkwork.formats.robots.xml_repair import XmlRepair
from linkwork.geometry.pose import Vec3

#: Maximum number of characters kept of an element's text.
MAX_TEXT = 4096
#: Maximum size of a file [bytes], and maximum number of elements in it.
MAX_BYTES, MAX_NODES = 16 * 2**20, 200_000
#: Maximum depth of elements; MuJoCo reads no deeper.
MAX_DEPTH = 499


@dataclass(eq=False)
class XmlNode:
    """An XML element.

    Attributes:
        tag: Name, with the prefix as written (``xacro:macro``).
        attributes: Values by name.
        origin: File and line of its first character.
        children: Child elements, in order.
        text: Its own text, truncated.
    """

    tag: str
    attributes: dict[str, str]
    origin: Origin
    children: list[XmlNode] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[XmlNode]:
        """Returns the children called ``tag``."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> XmlNode | None:
        """Returns the first child called ``tag``, if there is one."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[XmlNode]:
        """Yields this element and all its descendants, in the order of the file."""
        stack: list[XmlNode] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


class _Builder(ContentHandler):
    """Builds the tree while the parser reads the file."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file
        self.root: XmlNode | None = None
        self.open: list[XmlNode] = []
        self.count = 0

    def setDocumentLocator(self, locator) -> None:  # noqa: ANN001 - the parser's interface
        self.locator = locator

    def startElement(self, name: str, attrs) -> None:  # noqa: ANN001
        line = self.locator.getLineNumber() or 0
        self.count += 1
        if self.count > MAX_NODES:
            raise FormatError(
                f"the file has more than {MAX_NODES} elements.", origin=Origin(self.file, line)
            )
        if len(self.open) >= MAX_DEPTH:
            raise FormatError(
                f"elements are nested deeper than {MAX_DEPTH}.", origin=Origin(self.file, line)
            )
        node = XmlNode(name, dict(attrs.items()), Origin(self.file, line))
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)

    def endElement(self, name: str) -> None:
        self.open.pop()

    def characters(self, content: str) -> None:
        if self.open and len(self.open[-1].text) < MAX_TEXT:
            self.open[-1].text += content


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def parse_xml(
    path: Path, *, text: str | None = None, on_fault: Callable[[Origin, str], object] | None = None
) -> XmlNode:
    """Reads an XML file.

    Args:
        path: The file.
        text: Its text, if it need not be read.
        on_fault: Receives the place and description of each small fault that is repaired, such as
            ``--`` in a comment; without it such a file is refused.

    Raises:
        FormatError: If it cannot be read, is too large, is not XML, or declares a DTD or entities.
    """
    file = str(path)
    try:
        data = _read(path) if text is None else text.encode("utf-8")
    except (OSError, ValueError) as error:
        why = os_error_text(error)
        raise FormatError(f"the file cannot be read: {why}.", origin=Origin(file)) from error
    if len(data) > MAX_BYTES:
        raise FormatError(f"the file is larger than {MAX_BYTES >> 20} MB.", origin=Origin(file))
    try:
        return _parse(data, file)
    except FormatError as error:
        is_wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        if on_fault is None or is_wide or not isinstance(error.__cause__, SAXParseException):
            raise
        repair = XmlRepair(data)
        try:
            root = _parse(repair.run(), file)
        except FormatError as second:
            raise (error if isinstance(second.__cause__, SAXParseException) else second) from None
        for fault in repair.faults:
            on_fault(Origin(file, fault.line), fault.text)
        return root


def _parse(data: bytes, file: str) -> XmlNode:
    builder = _Builder(file)
    parser = make_parser()
    parser.forbid_dtd = True
    parser.setContentHandler(builder)
    try:
        parser.parse(io.BytesIO(data))
    except DefusedXmlException as error:
        raise FormatError(
            f"a document type, entities and outside references are refused ({error}).",
            origin=Origin(file, parser.getLineNumber() or 0),
            hint="Remove the <!DOCTYPE …> block; no robot needs one.",
        ) from error
    except SAXParseException as error:
        raise FormatError(
            f"this is not well-formed XML: {error.getMessage()}.",
            origin=Origin(file, error.getLineNumber() or 0),
        ) from error
    except (SAXException, LookupError, ValueError) as error:
        raise FormatError(f"the XML cannot be read: {error}.", origin=Origin(file)) from error
    if builder.root is None:
        raise FormatError("the file holds no XML element.", origin=Origin(file))
    return builder.root


_BEFORE_ROOT = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(\[.*?\]\s*)?>", re.DOTALL)
_TAG = re.compile(r"<([A-Za-z_][^\s/>]*)")


def root_tag(head: bytes) -> str:
    """Returns the name of the root element, from the start of a file; empty if there is none."""
    wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = head.decode("utf-16" if wide else "utf-8", "replace").lstrip("\ufeff")
    place = 0
    while skipped := _BEFORE_ROOT.match(text, place):
        place = skipped.end()
    found = _TAG.match(text, place)
    return found[1] if found else ""


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?\Z", re.IGNORECASE)

#: Larger numbers [any SI unit] are rejected as mistakes; their products would overflow.
MAX_VALUE = 1e30
#: A limit of this size or larger is no limit [rad, m, N m, …].
NO_LIMIT = 1e9


def parse_number(text: str) -> float:
    """Returns a finite number in decimal notation; NaN if ``text`` is not one."""
    value = float(text) if _NUMBER.match(text) else math.nan
    return value if abs(value) <= MAX_VALUE else math.nan


def parse_limit(text: str) -> float:
    """Returns a number or infinity, clamped to ±``NO_LIMIT``; NaN if ``text`` is not one."""
    if not (_NUMBER.match(text) or _INFINITE.match(text)):
        return math.nan
    return max(-NO_LIMIT, min(NO_LIMIT, float(text)))


def required_attribute(node: XmlNode, name: str) -> str:
    """Returns the attribute ``name``.

    Raises:
        FormatError: If it is missing or empty.
    """
    value = node.attributes.get(name, "").strip()
    if not value:
        raise FormatError(
            f"<{node.tag}> needs the attribute {name!r}.",
            origin=node.origin,
            hint=f"It has: {listing(node.attributes)}.",
        )
    return value


def bad_attribute(node: XmlNode, name: str, allowed: str, found: str = "") -> FormatError:
    """Returns the error of an attribute that is not ``allowed``, or holds ``found``."""
    found = found or node.attributes.get(name, "").strip()
    return FormatError(f"{name}={found!r} of <{node.tag}> is not {allowed}.", origin=node.origin)


def number_attribute(node: XmlNode, name: str, default: float | None = None) -> float:
    """Returns a finite number; without ``default`` the attribute is required.

    Raises:
        FormatError: If it is missing or not a number.
    """
    if default is not None and name not in node.attributes:
        return default
    value = parse_number(required_attribute(node, name))
    if math.isnan(value):
        raise bad_attribute(node, name, "a finite number in decimal notation")
    return value


def limit_attribute(node: XmlNode, name: str, default: float) -> float:
    """Returns a limit, clamped to ±``NO_LIMIT``; infinity is allowed.

    Raises:
        FormatError: If it is not a number.
    """
    text = node.attributes.get(name, "").strip()
    if not text:
        return default
    value = parse_limit(text)
    if math.isnan(value):
        raise bad_attribute(node, name, "a number")
    return value


def numbers_attribute(node: XmlNode, name: str, count: int) -> tuple[float, ...]:
    """Returns ``count`` finite numbers separated by spaces.

    Raises:
        FormatError: If it is missing, or does not hold ``count`` numbers.
    """
    words = required_attribute(node, name).split()
    if len(words) != count:
        raise bad_attribute(node, name, f"{count} numbers separated by spaces")
    values = tuple(parse_number(word) for word in words)
    for word, value in zip(words, values, strict=True):
        if math.isnan(value):
            raise bad_attribute(node, name, "a finite number in decimal notation", word)
    return values


def vector_attribute(node: XmlNode, name: str, default: Vec3 | None = None) -> Vec3:
    """Returns three finite numbers; without ``default`` the attribute is required.

    Raises:
        FormatError: If it is missing, or not three numbers.
    """
    if default is not None and name not in node.attributes:
        return default
    x, y, z = numbers_attribute(node, name, 3)
    return (x, y, z)
