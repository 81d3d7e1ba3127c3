"""Recognition of XML formats by their root element."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.core.errors import FormatError
from linkwork.formats.robots.xml import MAX_BYTES, MAX_NODES, parse_xml, root_tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("<a/>", "a"),
        ("\ufeff <?xml version='1.0'?><!--\n<b>--><a x='1'>", "a"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>", "a"),
        ("<ns:a>", "ns:a"),
        ("text <a/>", ""),
        ("<!-- never ends", ""),
        ("", ""),
    ],
)
def test_the_outermost_element_is_seen(text: str, tag: str) -> None:
    """Declarations and comments before the root element are skipped."""
    assert root_tag(text.encode("utf-8")) == root_tag(text.encode("utf-16")) == tag


def test_bytes_that_are_no_text_have_no_outermost_element() -> None:
    """Any other bytes give an empty name."""
    for head in (b"\xff\xfe<", b"\xff\xfe\x00", bytes(range(256)), b"<\xff>"):
        assert root_tag(head) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"<a>{' ' * MAX_BYTES}</a>", "larger than 16 MB"),
        (f"<a>{'<b/>' * MAX_NODES}</a>", f"more than {MAX_NODES} elements"),
    ],
)
def test_files_beyond_measure_are_refused(tmp_path: Path, text: str, why: str) -> None:
    """Every XML reader rejects files that would exhaust memory, and names the file."""
    path = tmp_path / "large.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=f"large.xml.*{why}"):
        parse_xml(path)
