"""A quick look at a STEP file's text, so that most damaged ones never reach the CAD library."""

from __future__ import annotations

import re

from linkwork.errors import FormatError, Origin

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_TEXT = re.compile(rb"'[^']*'|/\*.*?(?:\*/|\Z)", re.DOTALL)  # strings and comments
_ENTITY = re.compile(rb"#(\d+)\s*=")
_REFERENCE = re.compile(rb"#(\d+)")


def check_syntax(data: bytes, origin: Origin) -> None:
    """Refuses what is no exchange structure of ISO 10303-21, or refers to what is not there.

    Raises:
        FormatError: Naming the line where one is known.
    """
    if not data.lstrip().startswith(b"ISO-10303-21;"):
        found = data.lstrip()[:40].decode("latin-1").partition("\n")[0]
        raise FormatError(
            f"this is no STEP file: it begins with {found!r}, not with ISO-10303-21;.",
            origin=origin,
        )
    if not data.rstrip(b"\0 \t\r\n").endswith(b"END-ISO-10303-21;"):
        raise FormatError(
            "the file does not end with END-ISO-10303-21;: it is cut off.", origin=origin
        )

    def wrong(place: int, what: str) -> FormatError:
        line = data.count(b"\n", 0, place) + 1
        return FormatError(what, origin=Origin(origin.file, line), hint="The file is damaged.")

    body = data.rstrip(b"\0 \t\r\n")
    if odd := _CONTROL.search(body):
        raise wrong(odd.start(), f"byte 0x{body[odd.start()]:02x} is no text.")

    def blank(found: re.Match[bytes]) -> bytes:
        if found[0].startswith(b"/*") and (len(found[0]) < 4 or not found[0].endswith(b"*/")):
            raise wrong(found.start(), "a comment is not closed.")
        return b" " * len(found[0])

    bare = _TEXT.sub(blank, body)
    if (open_ := bare.find(b"'")) >= 0:
        raise wrong(open_, "a text is not closed.")
    if bare.count(b"(") != bare.count(b")"):
        raise wrong(len(bare), "brackets are not closed.")
    known = {found[1] for found in _ENTITY.finditer(bare)}
    for found in _REFERENCE.finditer(bare):
        if found[1] not in known:
            raise wrong(found.start(), f"#{found[1].decode()} is not defined.")
