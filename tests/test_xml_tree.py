"""The quick look by which formats of one suffix recognise their XML files."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.errors import FormatError
from linkwork.formats.xml_tree import LARGEST, MOST_NODES, parse, root_tag


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
    """The quick look passes over declarations and comments, and is not misled by them."""
    assert root_tag(text.encode("utf-8")) == root_tag(text.encode("utf-16")) == tag


def test_bytes_that_are_no_text_have_no_outermost_element() -> None:
    """Whatever the bytes are, the quick look says nothing worse than nothing."""
    for head in (b"\xff\xfe<", b"\xff\xfe\x00", bytes(range(256)), b"<\xff>"):
        assert root_tag(head) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"<a>{' ' * LARGEST}</a>", "larger than 16 MB"),
        (f"<a>{'<b/>' * MOST_NODES}</a>", f"more than {MOST_NODES} elements"),
    ],
)
def test_files_beyond_measure_are_refused(tmp_path: Path, text: str, why: str) -> None:
    """Every reader of XML refuses what would fill the memory, and names the file."""
    path = tmp_path / "large.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=f"large.xml.*{why}"):
        parse(path)
