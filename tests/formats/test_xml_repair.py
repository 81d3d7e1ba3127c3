"""Small faults of XML are read as the parser of Gazebo, Drake and Bullet reads them."""

import contextlib
import ctypes
import random
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.core.errors import FormatError
from linkwork.formats.robots.sdf import SdfFormat
from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.formats.robots.xml import XmlNode, parse_xml
from linkwork.formats.robots.xml_repair import XmlRepair

GOOD = """<?xml version="1.0" encoding="utf-8"?>
<!-- a - b -->
<robot name="a&amp;b" x='1 &lt; 2'>&#65;
  <link
    name="é"
  ><![CDATA[ < & -- ]]></link>
</robot>
<!-- end -->
"""
#: Text with a fault, the line of the fault, what the note says.
FAULTS = {
    "comment": ("<a>\n<!-- x -- y -->\n<b/></a>", 2, '"--" inside a comment'),
    "comment's end": ("<a>\n<!-- x ---><b/></a>", 2, '"--" inside a comment'),
    "declaration": ('\n<?xml version="1.0"?>\n<a><b/></a>', 2, "declaration"),
    "first character": ('?xml version="1.0"?>\n<a><b/></a>', 1, "text before"),
    "no space": ('<a>\n<b c="1"d="2"/></a>', 2, "no space before the attribute 'd'"),
    "ampersand": ("<a>\n<b>R & D</b></a>", 2, 'a lone "&"'),
    "entity": ('<a>\n<b c="&nbsp;"/></a>', 2, 'a lone "&"'),
    "less": ('<a>\n<b c="1 < 2"/></a>', 2, 'a "<" in an attribute'),
    "data's end": ("<a>\n<b>]]></b></a>", 2, '"]]>"'),
    "control": ("<a>\n<b>\x07</b></a>", 2, "control characters"),
    "space": ("<a>\n< b/></a>", 2, 'a space after "<"'),
    "no comment": ("<a>\n<!- x --><b/></a>", 2, "begins no comment"),
    "two roots": ("<a><b/></a>\n<c/>", 2, "text after the end"),
}


class TinyXml:
    """The parser of Gazebo, Drake, ROS and Bullet, by its C++ symbols."""

    def __init__(self, library: Path) -> None:
        lib, pointer = ctypes.CDLL(str(library)), ctypes.c_void_p
        self.make = lib._ZN8tinyxml211XMLDocumentC1EbNS_10WhitespaceE
        self.make.argtypes = [pointer, ctypes.c_bool, ctypes.c_int]
        self.parse = lib._ZN8tinyxml211XMLDocument5ParseEPKcm
        self.parse.argtypes = [pointer, ctypes.c_char_p, ctypes.c_size_t]
        self.save = lib._ZN8tinyxml211XMLDocument8SaveFileEPKcb
        self.save.argtypes = [pointer, ctypes.c_char_p, ctypes.c_bool]
        self.free = lib._ZN8tinyxml211XMLDocumentD1Ev
        self.free.argtypes = [pointer]

    def rewrite(self, data: bytes, target: Path) -> bool:
        """Writes what the parser read as proper XML; False if it refuses the text."""
        document = ctypes.create_string_buffer(1 << 14)
        self.make(document, True, 0)
        try:
            if self.parse(document, data, len(data)):
                return False
            return self.save(document, str(target).encode(), True) == 0
        finally:
            self.free(document)


@pytest.fixture(scope="module")
def tinyxml() -> TinyXml:
    files = distribution("cmeel-tinyxml2").files or []
    library = next(file for file in files if file.name == "libtinyxml2.so")
    return TinyXml(Path(str(library.locate())))


def tree(node: XmlNode) -> tuple:
    """Returns tags, attributes and children."""
    return node.tag, node.attributes, [tree(child) for child in node.children]


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], tuple[XmlNode, list[tuple[int, str]]]]:
    def reader(data: bytes) -> tuple[XmlNode, list[tuple[int, str]]]:
        path, faults = tmp_path / "x.xml", []
        path.write_bytes(data)
        root = parse_xml(path, on_fault=lambda at, text: faults.append((at.line, text)))
        return root, faults

    return reader


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_read_as_tinyxml2_reads_it(read, tinyxml, tmp_path: Path, name: str) -> None:
    """Elements and attributes are those of tinyxml2; the note has the line; others refuse it."""
    text, line, found = FAULTS[name]
    root, faults = read(text.encode())
    ((at, message),) = faults
    assert (at, found in message) == (line, True), message
    with pytest.raises(FormatError, match="not well-formed"):
        parse_xml(tmp_path / "x.xml")
    theirs = tmp_path / "theirs.xml"
    assert tinyxml.rewrite(text.encode(), theirs)
    inside = theirs.read_bytes().partition(b"?>")[2] if b"<?" in text.encode() else b""
    again, _ = read(inside or theirs.read_bytes())
    assert tree(again) == tree(root)
    (child, *_) = root.children
    before = text.partition("<b")[0] if "<b" in text else text.partition("< b")[0]
    assert child.origin.line == before.count("\n") + 1


def test_bytes_that_are_not_utf8_are_latin1(read) -> None:
    """Files of old editors are read; the note names the line."""
    root, faults = read(b"<a>\n<b c='caf\xe9'/></a>")
    assert root.children[0].attributes == {"c": "café"}
    assert faults == [(2, "bytes that are not UTF-8, read as Latin-1")]


def test_an_attribute_twice_has_its_first_value(read) -> None:
    """As in the tinyxml2 of Bullet; newer versions refuse it."""
    root, faults = read(b'<a b="1"\nb="2"/>')
    assert root.attributes == {"b": "1"}
    assert faults == [(2, "the attribute 'b' twice, the first one counts")]


@pytest.mark.parametrize(
    "text",
    ["<a><b></a>", "<a b=1/>", "<a", "", "<a></b>", "<!-- <a/>",
     '<!DOCTYPE a [<!ENTITY b "c">]><a/>', "<a>--</a", "<a><b c='></a>", "<!DOCTYPE a><a>&</a>"],
)  # fmt: skip
def test_other_faults_are_refused(read, text: str) -> None:
    """What tinyxml2 refuses, and document types, are errors; the message is the first one."""
    with pytest.raises(FormatError):
        read(text.encode())


def test_a_good_file_is_not_touched(read) -> None:
    """No fault is found in it, and its repair would be the same tree with the same lines."""
    root, faults = read(GOOD.encode())
    assert not faults
    repair = XmlRepair(GOOD.encode())
    again, _ = read(repair.run())
    assert not repair.faults
    assert tree(again) == tree(root)
    assert [n.origin.line for n in again.walk()] == [n.origin.line for n in root.walk()]


_PARTS = st.sampled_from(
    ["-", "--", "<", ">", "&", '"', "'", " ", "\n", "\r\n", "/", "=", "!", "?", "<!--", "-->",
     'a="1"', "<a>", "</a>", "]]>", '<?xml version="1.0"?>', "\x01", "é", "<b/>", "<![CDATA[",
     "<!DOCTYPE a>", ";", "&amp;", "\ufffe"],
)  # fmt: skip


@given(st.lists(_PARTS, max_size=30).map("".join), st.booleans())
def test_a_repair_keeps_lines_and_fails_as_a_format_error(text: str, inside: bool) -> None:
    """Whatever the text: the line breaks up to a cut end stay, and nothing else is raised."""
    text = f"<r>\n{text}\n</r>" if inside else text
    repair = XmlRepair(text.encode())
    made = repair.run().decode()
    breaks = [c for c in text if c in "\r\n"]
    assert [c for c in made if c in "\r\n"] == breaks[: sum(c in "\r\n" for c in made)]
    assert all(1 <= fault.line <= text.count("\n") + 1 for fault in repair.faults)
    with contextlib.suppress(FormatError):
        parse_xml(Path("x.xml"), text=text, on_fault=lambda *_: None)


def test_mutations_are_read_as_by_tinyxml2(read, tinyxml, tmp_path: Path) -> None:
    """Of 1500 damaged files, those that both read have the same elements and attributes."""
    random_, both, theirs = random.Random(7), 0, tmp_path / "theirs.xml"
    base = '<!-- a - b -->\n<a b="1" c=\'2\'>text <b/> <d e="f">x</d></a>\n<!-- end -->'
    bits = ["-", "--", "<", ">", "&", '"', "'", " ", "\n", "/", "=", "!", "?", "<!--", "-->",
            "\x01", 'a="1"', "<a>", "</a>", "]]>", "b", "<b/>"]  # fmt: skip
    for _ in range(1500):
        text = base
        for _ in range(random_.randint(1, 3)):
            at = random_.randrange(len(text) + 1)
            text = text[:at] + random_.choice(bits) + text[at + random_.choice((0, 0, 0, 1, 3)) :]
        if not tinyxml.rewrite(text.encode(), theirs):
            continue
        try:
            ours, _ = read(text.encode())
            proper, _ = read(theirs.read_bytes())
        except FormatError:
            continue
        assert tree(ours) == tree(proper), text
        both += 1
    assert both > 200


def test_readers_note_file_and_line(tmp_path: Path) -> None:
    """URDF, SDF and included models with ``--`` in comments load; a note has file and line."""
    urdf, sdf = tmp_path / "r.urdf", tmp_path / "w.sdf"
    urdf.write_text('<robot name="r">\n<!-- a -- b -->\n<link name="l"/></robot>')
    assert f'"--" inside a comment, skipped: {urdf}:2.' in UrdfFormat().read_with_notes(urdf)[1]
    model = tmp_path / "box.sdf"
    model.write_text(
        "<sdf version='1.9'>\n\n<!-- - -- -->\n<model name='m'><link name='l'/></model></sdf>"
    )
    sdf.write_text(
        "<!-- -- --><sdf version='1.9'><world name='w'><include><uri>box.sdf</uri></include>"
        "</world></sdf>"
    )
    scene, notes = SdfFormat().read_with_notes(sdf)
    assert list(scene.parts) == ["m"]  # type: ignore[union-attr]
    assert f'"--" inside a comment, skipped: {model}:3, {sdf}:1.' in notes
