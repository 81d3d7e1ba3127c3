"""Positions of the tables, keys and values of a TOML text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import cases
from linkwork.core.errors import FormatError
from linkwork.formats.toml.index import TomlIndex
from toml_texts import TEXTS, Path


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    else:
        yield path, value


@settings(max_examples=cases(500))
@given(TEXTS)
def test_the_line_of_every_key_and_item_is_where_it_was_written(
    made: tuple[str, dict[Path, int]],
) -> None:
    """Headers, dotted keys, inline tables and multi-line arrays are found."""
    text, lines = made
    tomllib.loads(text)
    index = TomlIndex.of(text)
    assert {path: index.entries[path].line for path in lines} == lines


@settings(max_examples=cases(500))
@given(TEXTS)
def test_the_span_of_every_value_holds_exactly_that_value(
    made: tuple[str, dict[Path, int]],
) -> None:
    """Each span, parsed alone, gives the value that tomllib finds at its path."""
    text, _ = made
    index = TomlIndex.of(text)
    for path, value in leaves(tomllib.loads(text)):
        start, end = index.entries[path].value if path else (0, 0)
        if start == end:
            assert value == {}, "only a table made by its header has no value of its own"
        else:
            assert tomllib.loads(f"x = {text[start:end]}")["x"] == value


@settings(max_examples=cases(500))
@given(TEXTS)
def test_nothing_is_indexed_that_is_not_there(made: tuple[str, dict[Path, int]]) -> None:
    """Every path of the index exists in the document."""
    text, _ = made
    data = tomllib.loads(text)
    for path in TomlIndex.of(text).entries:
        value: Any = data
        for step in path:
            value = value[step]


@given(st.text(st.sampled_from("[]{}=.,#\"'\\\n\r ab1_"), max_size=60))
def test_a_text_that_is_not_toml_neither_hangs_nor_fails(text: str) -> None:
    """The scanner processes any text; tomllib validates it."""
    index = TomlIndex.of(text)
    assert index.blocks[0].path == ()
    assert all(1 <= e.line <= text.count("\n") + 1 for e in index.entries.values())


@pytest.mark.parametrize("text", ["x = " + "[" * 40, "x = " + "{a=" * 40, ".".join("a" * 40)])
def test_nesting_has_an_end(text: str) -> None:
    """Nesting deeper than 32 is rejected."""
    with pytest.raises(FormatError, match="nest deeper than 32"):
        TomlIndex.of(text)


def test_the_nearest_table_answers_for_what_is_not_written() -> None:
    """A missing key has the line of its table."""
    index = TomlIndex.of('a = 1\n\n[[joint]]\nname = "j"\n')
    assert index.line(("joint", 0, "axis", 2)) == 3
    assert index.line(("nowhere",)) == 1
