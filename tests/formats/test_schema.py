"""The JSON schemas for editors agree with the reader."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from formats.test_toml import HEAD, JOINT, ROD, SCENE, SCENE_HEAD, TUBE, UPPER_ARM
from linkwork.core.errors import LinkworkError
from linkwork.core.forms import Key
from linkwork.formats.toml import TomlFormat, schema
from linkwork.formats.toml.scene_keys import FILE_TABLES
from linkwork.model.parts import JOINT_TYPES, SHAPES, find_kits, kit_part

KITS = [name for kit in find_kits().values() for name in kit.parts() + kit.scenes()]


def problems(value: Any, rule: dict[str, Any], root: dict[str, Any], path: str = "") -> list[str]:
    """Returns violations of a JSON schema, for the keywords that our schemas use."""
    unknown = rule.keys() - {
        "$schema", "$ref", "title", "description", "definitions", "type", "properties", "required",
        "additionalProperties", "items", "minItems", "maxItems", "minimum", "maximum",
        "exclusiveMinimum", "pattern", "enum", "const", "anyOf", "oneOf", "allOf", "not",
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
    if "exclusiveMinimum" in rule and value <= rule["exclusiveMinimum"]:
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
    rule = schema.make_schema(data["format"])
    return problems(data, rule, rule)


def test_the_shipped_schemas_are_what_the_words_say() -> None:
    """If this fails, run: python -m linkwork.formats.toml.schema --write."""
    for path, text in schema.files().items():
        standing = path.read_text(encoding="utf-8") if path.exists() else ""
        assert standing == text, f"{path.name} is not up to date; run: {schema.COMMAND}"


@pytest.mark.parametrize("name", KITS)
def test_every_kit_pleases_its_schema(name: str) -> None:
    """Files that the reader accepts satisfy the schema."""
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
    """The schema detects mistakes in keys and types."""
    assert judged(text)
    with pytest.raises(LinkworkError, match=r"x\.toml:"):
        TomlFormat().parse(text, "x.toml")


def test_the_schemas_know_every_shape_and_joint() -> None:
    """A new shape or joint must be added to the tables of keys."""
    made = schema.make_schema("linkwork/part 1")
    assert set(SHAPES) <= set(made["definitions"]["shape"]["properties"])
    joint = made["properties"]["joint"]["items"]["properties"]
    assert joint["type"]["enum"] == list(JOINT_TYPES)
    assert {"range", "range_deg", "range_mm"} <= set(joint)


def test_every_key_is_explained() -> None:
    """Each key has a description for editors."""

    def walk(rule: Any) -> None:
        if isinstance(rule, dict):
            for name, inner in rule.get("properties", {}).items():
                assert inner.get("description"), name
            for inner in rule.values():
                walk(inner)
        elif isinstance(rule, list):
            for inner in rule:
                walk(inner)

    for form in FILE_TABLES:
        walk(json.loads(schema.text(form)))


def test_the_command_prints_where_the_schemas_are(capsys: pytest.CaptureFixture[str]) -> None:
    """A user can name the printed file in the first line of a file."""
    assert schema.main([]) == 0
    assert "part.schema.json" in capsys.readouterr().out


def keys_within(thing: Any) -> Iterator[Key]:
    """Yields every key of a table and of the tables in it."""
    if isinstance(thing, Key):
        yield thing
    if isinstance(thing, Mapping):
        thing = list(thing.values())
    elif dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        thing = [getattr(thing, field.name) for field in dataclasses.fields(thing)]
    if isinstance(thing, list | tuple):
        for each in thing:
            yield from keys_within(each)


@pytest.mark.parametrize("form", FILE_TABLES)
def test_units_are_data_and_agree_with_the_help(form: str) -> None:
    """A unit in brackets in a key's help is the key's unit, or that of one of its numbers."""
    found = {id(key): key for key in keys_within(FILE_TABLES[form])}.values()
    assert len(found) > 10
    for key in found:
        named = re.findall(r"\[([^\]]*[^-.,… \d\]][^\]]*)\]", key.help)  # not "[0, 1]"
        assert not named or not key.si_unit or key.si_unit in (*named, " or ".join(named[::-1])), (
            f"{key.help!r} has the unit {key.si_unit!r}"
        )
        assert named or not key.si, f"{key.help!r} does not name its unit {key.si!r}"
