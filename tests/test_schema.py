"""The JSON schemas that editors use say the same as the reader."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest

from linkwork.errors import LinkworkError
from linkwork.formats.toml import TomlFormat, schema
from linkwork.formats.toml.words import FORMS
from linkwork.parts import JOINT_TYPES, SHAPES, find_kits, kit_part
from test_toml import HEAD, JOINT, ROD, SCENE, SCENE_HEAD, TUBE, UPPER_ARM

KITS = [name for kit in find_kits().values() for name in kit.parts() + kit.scenes()]


def problems(value: Any, rule: dict[str, Any], root: dict[str, Any], path: str = "") -> list[str]:
    """What a JSON schema finds wrong with a value: the keywords that our schemas use, no more."""
    unknown = rule.keys() - {
        "$schema", "$ref", "title", "description", "definitions", "type", "properties", "required",
        "additionalProperties", "items", "minItems", "maxItems", "minimum", "maximum", "pattern",
        "enum", "const", "anyOf", "oneOf", "allOf", "not",
    }  # fmt: skip
    assert not unknown, f"the check does not know {unknown}"
    if "$ref" in rule:
        return problems(value, root["definitions"][rule["$ref"].split("/")[-1]], root, path)
    types: dict[str, Any] = {
        "object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
        "number": (int, float),
    }  # fmt: skip
    found: list[str] = []
    if "type" in rule:
        wrong = isinstance(value, bool) and rule["type"] != "boolean"
        if wrong or not isinstance(value, types[rule["type"]]):
            return [f"{path}: not of type {rule['type']}"]
    if "const" in rule and value != rule["const"]:
        found.append(f"{path}: not {rule['const']}")
    if "enum" in rule and value not in rule["enum"]:
        found.append(f"{path}: none of {rule['enum']}")
    if isinstance(value, str) and not re.search(rule.get("pattern", ""), value):
        found.append(f"{path}: not like {rule['pattern']}")
    if "minimum" in rule and value < rule["minimum"]:
        found.append(f"{path}: too small")
    if "maximum" in rule and value > rule["maximum"]:
        found.append(f"{path}: too large")
    if isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            found.append(f"{path}: {len(value)} items")
        for number, item in enumerate(value):
            found += problems(item, rule.get("items", {}), root, f"{path}[{number}]")
    if isinstance(value, dict):
        found += [f"{path}: lacks {key}" for key in rule.get("required", []) if key not in value]
        for key, item in value.items():
            inner = rule.get("properties", {}).get(key, rule.get("additionalProperties", {}))
            if inner is False:
                found.append(f"{path}.{key}: unknown")
            elif isinstance(inner, dict):
                found += problems(item, inner, root, f"{path}.{key}")
    for inner in rule.get("allOf", []):
        found += problems(value, inner, root, path)
    for word, counts in (("anyOf", range(1, 99)), ("oneOf", [1])):
        fitting = sum(not problems(value, inner, root, path) for inner in rule.get(word, []))
        if word in rule and fitting not in counts:
            found.append(f"{path}: {fitting} of {word} fit")
    if "not" in rule and not problems(value, rule["not"], root, path):
        found.append(f"{path}: must not be like {rule['not']}")
    return found


def judged(text: str) -> list[str]:
    data = tomllib.loads(text)
    rule = schema.make(data["format"])
    return problems(data, rule, rule)


def test_the_shipped_schemas_are_what_the_words_say() -> None:
    """If this fails, run: python -m linkwork.formats.toml.schema --write."""
    for path, text in schema.files().items():
        standing = path.read_text(encoding="utf-8") if path.exists() else ""
        assert standing == text, f"{path.name} is not up to date; run: {schema.COMMAND}"


@pytest.mark.parametrize("name", KITS)
def test_every_kit_pleases_its_schema(name: str) -> None:
    """What the reader takes, an editor does not underline."""
    assert judged(kit_part(name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("text", [UPPER_ARM, SCENE], ids=["part", "scene"])
def test_the_examples_please_their_schema(text: str) -> None:
    """Units in keys, shapes, plug-ins and tables are known."""
    assert judged(text) == []


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "title = 3",
        HEAD + "[[elemnet]]\nname = 'a'",
        HEAD + "[element]\nname = 'a'",
        HEAD + TUBE + "mas = 1",
        HEAD + TUBE + "mass = -1",
        HEAD + TUBE + "mass = 1\nmass_g = 3",
        HEAD + TUBE + "mass_mm = 1",
        HEAD + TUBE + "inertia = [1, 1]\nmass = 1",
        HEAD + TUBE + "color = 'red'",
        HEAD + TUBE + "at = { xyz = [0, 0] }",
        HEAD + TUBE + "shape = {}",
        HEAD + TUBE + "shape = { sphere = { radius = 1 }, plane = {} }",
        HEAD + TUBE + "shapes = [{ box = { size = 3 } }]",
        HEAD + TUBE + ROD + JOINT,
        HEAD + TUBE + ROD + JOINT + "type = 'hingee'",
        HEAD + "[[sensor]]\nname = 's'",
        SCENE_HEAD + "seed = 1.5",
        SCENE_HEAD + "[[posture]]\nname = 'a'",
        SCENE_HEAD + "[collide]\nnever = [['a']]",
        SCENE_HEAD + "[[part]]\npart = 'x'\nbase = 'loose'",
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(text: str) -> None:
    """Editors underline the mistakes that a table of keys and kinds can see."""
    assert judged(text)
    with pytest.raises(LinkworkError, match=r"x\.toml:"):
        TomlFormat().parse(text, "x.toml")


def test_the_schemas_know_every_shape_and_joint() -> None:
    """A shape or joint added to the parts is missed here until the words have it."""
    made = schema.make("linkwork/part 1")
    assert set(SHAPES) <= set(made["definitions"]["shape"]["properties"])
    joint = made["properties"]["joint"]["items"]["properties"]
    assert joint["type"]["enum"] == list(JOINT_TYPES)
    assert {"range", "range_deg", "range_mm"} <= set(joint)


def test_every_key_is_explained() -> None:
    """Editors show a sentence for each key."""

    def walk(rule: Any) -> None:
        if isinstance(rule, dict):
            for name, inner in rule.get("properties", {}).items():
                assert inner.get("description"), name
            for inner in rule.values():
                walk(inner)
        elif isinstance(rule, list):
            for inner in rule:
                walk(inner)

    for form in FORMS:
        walk(json.loads(schema.text(form)))


def test_the_command_prints_where_the_schemas_are(capsys: pytest.CaptureFixture[str]) -> None:
    """So that a user can name the file in the first line of his own."""
    assert schema.main([]) == 0
    assert "part.schema.json" in capsys.readouterr().out
