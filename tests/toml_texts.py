"""TOML texts in every syntax, with the line of each key, for hypothesis."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

Path = tuple[str | int, ...]

BARE = "abcXYZ019_-"
KEYS = [
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
    ]  # fmt: skip
COMMENTS = ["", "", "  # note", "# x = [1, { ", "\t# \"quoted\" '''"]
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
    """Writes a document and records the line on which each path begins."""

    text: str = ""
    lines: dict[Path, int] = field(default_factory=dict)

    def put(self, text: str) -> None:
        self.text += text

    def mark(self, path: Path) -> None:
        self.lines.setdefault(path, self.text.count("\n") + 1)


def pick_key(rng: Random, taken: set[str]) -> tuple[str, str]:
    """Returns an unused key and one spelling of it."""
    key = rng.choice(KEYS)
    while key in taken:
        key = rng.choice(BARE) + key
    taken.add(key)
    bare = key and all(c in "abcXYZ019_-" for c in key)
    variants = [json.dumps(key, ensure_ascii=False)]
    if all(ord(c) <= 0xFFFF for c in key):
        variants.append(json.dumps(key))
    if "'" not in key:
        variants.append(f"'{key}'")
    return key, rng.choice([key, *variants] if bare else variants)


def write_gap(rng: Random, writer: Writer) -> None:
    writer.put(rng.choice(["", " ", "\t "]))
    if rng.randint(0, 3) == 0:
        writer.put(rng.choice(["\n", " # c ], }\n", "\n\n  "]))


def write_value(rng: Random, writer: Writer, path: Path, depth: int) -> None:
    kind = rng.choice(["scalar", "scalar", "array", "table"]) if depth else "scalar"
    if kind == "scalar":
        writer.put(rng.choice(SCALARS))
    elif kind == "array":
        writer.put("[")
        count = rng.randint(0, 3)
        for number in range(count):
            write_gap(rng, writer)
            writer.mark((*path, number))
            write_value(rng, writer, (*path, number), depth - 1)
            write_gap(rng, writer)
            if number < count - 1 or rng.random() < 0.5:
                writer.put(",")
        write_gap(rng, writer)
        writer.put("]")
    else:
        writer.put("{")
        count, taken = rng.randint(0, 3), set()
        for number in range(count):
            writer.put(rng.choice(["", " "]))
            write_pair(rng, writer, path, taken, depth - 1)
            writer.put(rng.choice(["", " "]) + ("," if number < count - 1 else ""))
        writer.put("}")


def write_pair(rng: Random, writer: Writer, path: Path, taken: set[str], depth: int) -> None:
    key, written = pick_key(rng, taken)
    path = (*path, key)
    writer.mark(path)
    while rng.randint(0, 4) == 0:
        key, more = pick_key(rng, set())
        path, written = (*path, key), f"{written}{rng.choice(['.', ' . '])}{more}"
        writer.mark(path)
    writer.put(written + rng.choice(["=", " = ", "\t="]))
    write_value(rng, writer, path, depth)


def make_text(seed: int) -> tuple[str, dict[Path, int]]:
    """Returns a valid TOML text, and the line on which each path begins."""
    rng = Random(seed)
    writer = Writer()
    taken: set[str] = set()
    for _ in range(rng.randint(0, 3)):
        write_pair(rng, writer, (), taken, 3)
        writer.put(rng.choice(COMMENTS) + "\n")
    arrays: dict[str, tuple[str, int]] = {}
    for _ in range(rng.randint(0, 5)):
        writer.put(rng.choice(["", "\n", "# comment [not.a.table]\n", "\n\n"]))
        write_block(rng, writer, taken, arrays)
    text = writer.text
    if rng.random() < 0.5:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text, writer.lines


def write_block(
    rng: Random, writer: Writer, taken: set[str], arrays: dict[str, tuple[str, int]]
) -> None:
    again = bool(arrays) and rng.random() < 0.5
    below = again and rng.randint(0, 2) == 0
    inner: set[str] = set()
    pad = rng.choice(["", " "])
    if below:
        name = rng.choice(sorted(arrays))
        written, count = arrays.pop(name)  # so that no table is opened twice
        path: Path = (name, count - 1, "below")
        writer.mark(path)
        writer.put(f"[{pad}{written}{pad}.below]")
    elif again or rng.random() < 0.5:
        if again:
            name = rng.choice(sorted(arrays))
            written, count = arrays[name]
        else:
            name, written = pick_key(rng, taken)
            count = 0
        arrays[name] = (written, count + 1)
        path = (name, count)
        writer.mark((name,))
        writer.mark(path)
        writer.put(f"[[{pad}{written}{pad}]]")
        inner.add("below")
    else:
        name, written = pick_key(rng, taken)
        path = (name,)
        writer.mark(path)
        writer.put(f"[{pad}{written}{pad}]")
    writer.put(rng.choice(COMMENTS) + "\n")
    for _ in range(rng.randint(0, 3)):
        writer.put(rng.choice(["", "  ", "\t"]))
        write_pair(rng, writer, path, inner, 2)
        writer.put(rng.choice(COMMENTS) + "\n")


#: Texts by seed: drawing each choice from hypothesis itself takes 0.1 s for a text.
TEXTS = st.integers(0, 2**32).map(make_text)
