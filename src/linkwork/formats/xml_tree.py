"""XML with the line of each element, read so that no document reaches out or blows up."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

from defusedxml import DefusedXmlException
from defusedxml.sax import make_parser

from linkwork.errors import FormatError, Origin

#: Characters kept inside an element; those that anyone reads are short.
LONGEST_TEXT = 4096
#: Largest file that is read [byte], and most elements in it.
LARGEST, MOST_NODES = 16 * 2**20, 200_000


@dataclass(eq=False)
class Node:
    """An XML element.

    Attributes:
        tag: Name, with the prefix as written (``xacro:macro``).
        attributes: Values by name.
        origin: File and line of its first character.
        children: Elements inside, in order.
        text: Characters directly inside, as far as they are kept.
    """

    tag: str
    attributes: dict[str, str]
    origin: Origin
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Node]:
        """The children called ``tag``."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Node | None:
        """The first child called ``tag``, if there is one."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[Node]:
        """This element and all inside it, in the order of the file."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


class _Builder(ContentHandler):
    """Builds the tree while the parser walks the file."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file
        self.root: Node | None = None
        self.open: list[Node] = []
        self.count = 0

    def setDocumentLocator(self, locator) -> None:  # noqa: ANN001 - the parser's interface
        self.locator = locator

    def startElement(self, name: str, attrs) -> None:  # noqa: ANN001
        line = self.locator.getLineNumber() or 0
        self.count += 1
        if self.count > MOST_NODES:
            raise FormatError(
                f"the file has more than {MOST_NODES} elements.", origin=Origin(self.file, line)
            )
        node = Node(name, dict(attrs.items()), Origin(self.file, line))
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)

    def endElement(self, name: str) -> None:
        self.open.pop()

    def characters(self, content: str) -> None:
        if self.open and len(self.open[-1].text) < LONGEST_TEXT:
            self.open[-1].text += content


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def parse(path: Path, *, text: str | None = None) -> Node:
    """Reads an XML file.

    Args:
        path: The file.
        text: What it holds, if it need not be read.

    Raises:
        FormatError: If it cannot be read, is too large, is not XML, or declares a DTD or entities.
    """
    file = str(path)
    try:
        data = _read(path) if text is None else text.encode("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"the file cannot be read: {why}.", origin=Origin(file)) from error
    if len(data) > LARGEST:
        raise FormatError(f"the file is larger than {LARGEST >> 20} MB.", origin=Origin(file))
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
    """Name of the outermost element of a file that begins so; empty if none is to be seen."""
    wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = head.decode("utf-16" if wide else "utf-8", "replace").lstrip("\ufeff")
    place = 0
    while skipped := _BEFORE_ROOT.match(text, place):
        place = skipped.end()
    found = _TAG.match(text, place)
    return found[1] if found else ""
