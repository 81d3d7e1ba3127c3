"""The studio's messages: one Python file, and TypeScript made of it."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.core.errors import FormatError
from linkwork.studio import protocol as messages
from linkwork.studio.protocol import typescript


def test_typescript_is_in_step_with_the_messages() -> None:
    """The client's types are what messages.py says; the failure names the command to run."""
    file = Path(__file__).resolve().parents[2] / typescript.TARGET
    same = file.is_file() and file.read_text(encoding="utf-8") == typescript.typescript()
    assert same, f"{typescript.TARGET} is out of date. Run: {typescript.COMMAND}"


def test_each_type_word_stands_for_one_message() -> None:
    """No two messages of one direction share a word."""
    for union in (messages.FromServer, messages.FromClient):
        words = [cls.__struct_config__.tag for cls in union.__args__]
        assert len(set(words)) == len(words)


def test_a_message_comes_back_as_it_was() -> None:
    """What a client writes as JSON is read field by field."""
    text = '{"type": "grab", "element": "arm/E2", "point": [0, 0, 0.1], "target": [1, 2, 3]}'
    assert messages.decode(text) == messages.Grab("arm/E2", (0.0, 0.0, 0.1), (1.0, 2.0, 3.0))
    assert json.loads(messages.encode(messages.Refused("set", "no"))) == {
        "type": "refused",
        "what": "set",
        "text": "no",
        "key": "",
        "reason": "",
        "error": None,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"type": "explode"}',
        '{"type": "set", "signal": "a"}',
        '{"type": "set", "signal": "a", "value": "b"}',
        '{"type": "set", "signal": "a", "value": 1, "more": 2}',
        '{"type": "grab", "element": "e", "point": [0, 0, 1e99], "target": [0, 0, 0]}',
        '{"type": "step", "steps": 1e9}',
        "[" * 5000,
    ],
)
def test_what_is_no_message_is_refused_with_a_reason(text: str) -> None:
    """Wrong types, unknown words, missing and additional fields and far places are refused."""
    with pytest.raises(FormatError, match="not a studio message"):
        messages.decode(text)


@given(st.binary(max_size=200))
def test_garbage_is_never_more_than_refused(data: bytes) -> None:
    """Whatever arrives is a message or a FormatError."""
    with contextlib.suppress(FormatError):
        messages.decode(data)
