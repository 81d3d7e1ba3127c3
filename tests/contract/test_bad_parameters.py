"""A mistake in a scene's file gives one clear error with its origin, for every kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.bench import LINE, write_bench
from contract.examples import CASES, EXAMPLES, REGISTRIES, Example
from linkwork.core.errors import (
    EngineError,
    FormatError,
    LinkworkError,
    NameNotFound,
    ProgramError,
    SceneError,
)
from linkwork.session.session import Session

#: Errors of a file's content.
WRONG = (FormatError, SceneError)


def _numbers(given: Any) -> bool:
    one = given[0] if isinstance(given, list) and given else given
    return isinstance(one, int | float) and not isinstance(one, bool)


def _replaced(given: Any, number: float) -> Any:
    return [*given[:-1], number] if isinstance(given, list) else number


def bad_parameters(example: Example) -> Iterator[tuple[str, dict[str, Any], tuple[type, ...], str]]:
    """Returns mistakes in an example: label, parameters, allowed errors, expected names."""
    params = example.params
    yield "unknown", {**params, "no_such_key": 1}, (FormatError,), "no_such_key"
    for key, given in params.items():
        for wrong in ({"a": 1}, 3, True, [given]) if isinstance(given, str) else ("text", {}, True):
            if type(wrong) is type(given):
                continue
            label = f"{key}-{type(wrong).__name__}"
            yield label, {**params, key: wrong}, WRONG, key
        if _numbers(given):
            for label, value in (("nan", float("nan")), ("inf", float("inf"))):
                yield f"{key}-{label}", {**params, key: _replaced(given, value)}, WRONG, ""
    for key in example.positive:
        yield f"{key}-negative", {**params, key: -params[key]}, WRONG, ""
    for key in example.required:
        yield f"{key}-missing", {k: v for k, v in params.items() if k != key}, WRONG, key
    for key in example.names:
        allowed = (NameNotFound, *WRONG, ProgramError)
        yield f"{key}-no-such-name", {**params, key: "nobody"}, allowed, "nobody"
        yield f"{key}-odd-name", {**params, key: "a//b .c\n"}, (LinkworkError,), ""
        if key in example.required:  # otherwise an empty name means none
            yield f"{key}-empty-name", {**params, key: ""}, (LinkworkError,), ""


MISTAKES = [
    pytest.param(kind, type, params, allowed, named, id=f"{kind}-{type}-{label}")
    for kind, type in CASES
    if type in EXAMPLES[kind]
    for label, params, allowed, named in bad_parameters(EXAMPLES[kind][type])
]


@pytest.mark.parametrize(("kind", "type", "params", "allowed", "named"), MISTAKES)
def test_a_mistake_is_told_with_its_place(
    tmp_path: Path,
    kind: str,
    type: str,
    params: dict[str, Any],
    allowed: tuple[type, ...],
    named: str,
) -> None:
    """The error is a LinkworkError that names file, line and parameter."""
    file = write_bench(tmp_path, kind, type, params)
    with pytest.raises(allowed) as caught:
        Session(file, watch=False)
    text = str(caught.value)
    assert named in text
    assert caught.value.origin is not None
    assert caught.value.origin.file == str(file)
    assert LINE <= caught.value.origin.line <= file.read_text().count("\n"), text
    assert text.startswith(f"{file}:")
    assert "Traceback" not in text


@pytest.mark.parametrize("kind", ["engine", "sensor", "actuator", "agent", "bus", "fault"])
def test_an_unknown_type_is_told_with_those_that_exist(tmp_path: Path, kind: str) -> None:
    """An unregistered type is rejected at its line, with the existing types."""
    first = REGISTRIES[kind].names()[0]
    file = write_bench(tmp_path, kind, first, {})
    lines = [f'type = "zzz_{kind}"' if row == f'type = "{first}"' else row
             for row in file.read_text().splitlines()]  # fmt: skip
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(NameNotFound) as caught:
        Session(file, watch=False)
    assert first in str(caught.value)
    assert f"zzz_{kind}" in str(caught.value)
    assert str(caught.value).startswith(f"{file}:")


@pytest.mark.parametrize(("kind", "type"), [c for c in CASES if c[0] != "engine"])
def test_two_of_a_name_are_refused(tmp_path: Path, kind: str, type: str) -> None:
    """Two items of a kind with one name are rejected, at the second's line."""
    file = write_bench(tmp_path, kind, type)
    once = "".join(file.read_text().splitlines(keepends=True)[LINE - 1 :])
    if kind in ("fault", "agent"):
        once = once.removesuffix(EXAMPLES[kind][type].more)
    file.write_text(file.read_text() + "\n" + once)
    with pytest.raises((SceneError, FormatError)) as caught:
        Session(file, watch=False)
    assert "subject" in str(caught.value)
    assert caught.value.origin is not None
    assert caught.value.origin.line > LINE


@pytest.mark.parametrize("type", REGISTRIES["engine"].names())
def test_an_engine_cannot_own_what_is_not_there(tmp_path: Path, type: str) -> None:
    """Owning an unknown or static part is rejected at its line."""
    for owns, errors in (
        (["nobody"], NameNotFound), (["ground"], SceneError), ("arm", WRONG), ([1], WRONG),
    ):  # fmt: skip
        file = write_bench(tmp_path, "engine", type, {"owns": owns})
        with pytest.raises(errors) as caught:
            Session(file, watch=False)
        assert str(caught.value).startswith(f"{file}:"), caught.value
        assert not isinstance(caught.value, EngineError)
