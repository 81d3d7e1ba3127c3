"""TOML texts in every way of writing them, with the line of each key, for hypothesis."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Path = tuple[str | int, ...]

BARE = st.text("abcXYZ019_-", min_size=1, max_size=6)
WORDS = st.sampled_from(
    [
        "",
        "a b",
        "é",
        "x.y",
        "arm/elbow",
        "#",
        '"',
        "'",
        "[t]",
        "=",
        "\\",
        "日本",
        "😀",
        "a\u200b",
        "1.5",
    ]
)
COMMENTS = st.sampled_from(["", "", "  # note", "# x = [1, { ", "\t# \"quoted\" '''"])
STRINGS = [
    '"plain"', "'literal \\ \"'", '"a \\" # b"', '""', "''", '"tab\\t\\u00e9"',
    '"""one line"""', '"""\nlong ""quotes"" [x]\n# no comment\n"""', "'''\nraw '' = \n'''",
    '"""ends in quotes"""""', "'''ends in quote''''", '"""esc \\""" still\\\\"""',
    '"""fold \\\n   ed"""', '"""""x"""',
]  # fmt: skip
SCALARS = [
    "1", "-0.5", "1e-3", "+7", "0x1F", "1_000", "true", "false", "inf", "1979-05-27",
    "1979-05-27 07:32:00", "07:32:00", *STRINGS,
]  # fmt: skip


@dataclass
class Writer:
    """Writes a document piece by piece and notes on which line each path begins."""

    text: str = ""
    lines: dict[Path, int] = field(default_factory=dict)

    def put(self, text: str) -> None:
        self.text += text

    def mark(self, path: Path) -> None:
        self.lines.setdefault(path, self.text.count("\n") + 1)


def draw_key(draw: Any, taken: set[str]) -> tuple[str, str]:
    """A key that is not taken and one way of writing it."""
    key = draw(st.one_of(BARE, WORDS).filter(lambda k: k not in taken))
    taken.add(key)
    bare = key and all(c in "abcXYZ019_-" for c in key)
    ways = [json.dumps(key, ensure_ascii=False)]
    if all(ord(c) <= 0xFFFF for c in key):
        ways.append(json.dumps(key))
    if "'" not in key:
        ways.append(f"'{key}'")
    return key, draw(st.sampled_from([key, *ways] if bare else ways))


def draw_gap(draw: Any, writer: Writer, multiline: bool) -> None:
    writer.put(draw(st.sampled_from(["", " ", "\t "])))
    if multiline and draw(st.integers(0, 3)) == 0:
        writer.put(draw(st.sampled_from(["\n", " # c ], }\n", "\n\n  "])))


def draw_value(draw: Any, writer: Writer, path: Path, depth: int, multiline: bool = True) -> None:
    kind = draw(st.sampled_from(["scalar", "scalar", "array", "table"])) if depth else "scalar"
    if kind == "scalar":
        writer.put(draw(st.sampled_from(SCALARS)))
    elif kind == "array":
        writer.put("[")
        count = draw(st.integers(0, 3))
        for number in range(count):
            draw_gap(draw, writer, multiline)
            writer.mark((*path, number))
            draw_value(draw, writer, (*path, number), depth - 1)
            draw_gap(draw, writer, multiline)
            if number < count - 1 or draw(st.booleans()):
                writer.put(",")
        draw_gap(draw, writer, multiline)
        writer.put("]")
    else:
        writer.put("{")
        count, taken = draw(st.integers(0, 3)), set()
        for number in range(count):
            writer.put(draw(st.sampled_from(["", " "])))
            draw_pair(draw, writer, path, taken, depth - 1)
            writer.put(draw(st.sampled_from(["", " "])) + ("," if number < count - 1 else ""))
        writer.put("}")


def draw_pair(draw: Any, writer: Writer, path: Path, taken: set[str], depth: int) -> None:
    key, written = draw_key(draw, taken)
    path = (*path, key)
    writer.mark(path)
    while draw(st.integers(0, 4)) == 0:
        key, more = draw_key(draw, set())
        path, written = (*path, key), f"{written}{draw(st.sampled_from(['.', ' . ']))}{more}"
        writer.mark(path)
    writer.put(written + draw(st.sampled_from(["=", " = ", "\t="])))
    draw_value(draw, writer, path, depth)


@st.composite
def toml_texts(draw: Any) -> tuple[str, dict[Path, int]]:
    """A valid TOML text, and the line on which each path begins."""
    writer = Writer()
    taken: set[str] = set()
    for _ in range(draw(st.integers(0, 3))):
        draw_pair(draw, writer, (), taken, 3)
        writer.put(draw(COMMENTS) + "\n")
    arrays: dict[str, tuple[str, int]] = {}
    for _ in range(draw(st.integers(0, 5))):
        writer.put(draw(st.sampled_from(["", "\n", "# comment [not.a.table]\n", "\n\n"])))
        draw_block(draw, writer, taken, arrays)
    text = writer.text
    if draw(st.booleans()):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text, writer.lines


def draw_block(
    draw: Any, writer: Writer, taken: set[str], arrays: dict[str, tuple[str, int]]
) -> None:
    again = draw(st.booleans()) and arrays
    below = again and draw(st.integers(0, 2)) == 0
    inner: set[str] = set()
    pad = draw(st.sampled_from(["", " "]))
    if below:
        name = draw(st.sampled_from(sorted(arrays)))
        written, count = arrays.pop(name)  # so that no table is opened twice
        path: Path = (name, count - 1, "below")
        writer.mark(path)
        writer.put(f"[{pad}{written}{pad}.below]")
    elif again or draw(st.booleans()):
        if again:
            name = draw(st.sampled_from(sorted(arrays)))
            written, count = arrays[name]
        else:
            name, written = draw_key(draw, taken)
            count = 0
        arrays[name] = (written, count + 1)
        path = (name, count)
        writer.mark((name,))
        writer.mark(path)
        writer.put(f"[[{pad}{written}{pad}]]")
        inner.add("below")
    else:
        name, written = draw_key(draw, taken)
        path = (name,)
        writer.mark(path)
        writer.put(f"[{pad}{written}{pad}]")
    writer.put(draw(COMMENTS) + "\n")
    for _ in range(draw(st.integers(0, 3))):
        writer.put(draw(st.sampled_from(["", "  ", "\t"])))
        draw_pair(draw, writer, path, inner, 2)
        writer.put(draw(COMMENTS) + "\n")
