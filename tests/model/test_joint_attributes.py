"""Each attribute of a joint is declared once; files, schema, panel, notes and world follow."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.errors import FormatError, PartError
from linkwork.core.value_types import (
    BooleanType,
    ChoiceType,
    IntegerType,
    NumberType,
    TextType,
)
from linkwork.formats.conversion_notes import ConversionNotes, note_unsupported
from linkwork.formats.flat import flatten
from linkwork.formats.toml import schema
from linkwork.formats.toml.write import write_text
from linkwork.model.parts import Box, Element, Joint, Part
from linkwork.model.parts.joint import JOINT_ATTRIBUTES
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from linkwork.studio.host.attributes import plain_rows, rows_of

PACKAGE = Path(lw.__file__).parent
#: Fields of a joint that connect, place and initialize it, or are tables of their own.
STRUCTURE = {
    "name", "type", "from_", "to", "at", "at_to", "axis", "axis2", "range", "pitch", "rail",
    "value", "speed", "drive", "bus", "labels", "mujoco", "origin",
}  # fmt: skip
#: Where an attribute is used without being named.
USERS = (
    "model/world/__init__.py", "formats/toml/*.py", "formats/conversion_notes.py",
    "formats/import_options.py", "formats/robots/mjcf/*_bodies.py",
    "formats/robots/mjcf/*_joints.py", "studio/**/*.py",
)  # fmt: skip

each_attribute = pytest.mark.parametrize("name", JOINT_ATTRIBUTES)


def sample(name: str) -> Any:
    """Returns an allowed value other than the default."""
    kind, default = JOINT_ATTRIBUTES[name].key.kind, JOINT_ATTRIBUTES[name].default
    match kind:
        case NumberType():
            return 0.625
        case IntegerType():
            return kind.low + 1
        case BooleanType():
            return not default
        case ChoiceType():
            return next(word for word in kind.words if word != default)
        case TextType():
            return "words"
    raise AssertionError(f"{name}: give a sample of {kind}")


def part_with(**given: Any) -> Part:
    """Returns two boxes with a joint between them."""
    box = (Box((0.1, 0.1, 0.1)),)
    part = Part("p").add(Element("a", box, mass=1.0), Element("b", box, mass=1.0))
    return part.add(Joint("j", given.pop("type", "hinge"), "a", "b", **given))


def world_with(**given: Any) -> World:
    """Returns the world of that part."""
    scene = Scene("s")
    scene.place(part_with(**given), name="p")
    return compile_scene(scene)


def joint_table(text: str) -> str:
    """Returns the table of the joint in a file."""
    return text[text.index("[[joint]]") :]


def test_every_field_of_a_joint_is_structure_or_declared() -> None:
    """A plain value cannot be added to a joint without its declaration."""
    fields = {field.name for field in dataclasses.fields(Joint)}
    assert fields - STRUCTURE == set(JOINT_ATTRIBUTES)
    assert fields >= STRUCTURE


@each_attribute
def test_default_is_that_of_the_joint(name: str) -> None:
    """A joint without the attribute has the declared default, which needs no key in a file."""
    assert getattr(Joint("j", "hinge", "a", "b"), name) == JOINT_ATTRIBUTES[name].default
    assert name not in joint_table(write_text(part_with()))


@each_attribute
@pytest.mark.parametrize("type", ["hinge", "slider", "ball"])
def test_files_hold_it(name: str, type: str, tmp_path: Path) -> None:
    """TOML writes it and reads it back."""
    given = sample(name)
    text = write_text(part_with(type=type, **{name: given}))
    assert re.search(rf"^{name}(_deg)? = ", joint_table(text), re.MULTILINE)
    (tmp_path / "p.toml").write_text(text)
    back = lw.load_part(tmp_path / "p.toml")
    found = getattr(back.joints["j"], name)
    assert found == (pytest.approx(given, rel=1e-12) if isinstance(given, float) else given)


@each_attribute
def test_schema_describes_it(name: str) -> None:
    """Editors complete it, with its description and limits."""
    joint = schema.make_schema("linkwork/part 1")["properties"]["joint"]["items"]
    declared = JOINT_ATTRIBUTES[name].key
    assert joint["properties"][name] == {"description": declared.help} | declared.kind.schema()


@each_attribute
def test_panel_has_its_row(name: str) -> None:
    """The attribute panel shows it with unit and description, given or not, editable or not."""
    key, given = JOINT_ATTRIBUTES[name].key, sample(name)
    head = 'format = "linkwork/part 1"\nname = "p"\n\n[[joint]]\nname = "j"\ntype = "slider"\n'
    written = f'"{given}"' if isinstance(given, str) else str(given).lower()
    for text, source, value in (
        (head, "default", ""),
        (f"{head}{name} = {written}\n", "file", given),
    ):
        rows = rows_of(text, "p.toml", ("joint", 0), "joint", before=None, kit=False)
        row = next(row for row in rows if row.key == name)
        assert (row.value, row.source, row.unit, row.help) == (value, source, key.si_unit, key.help)
        assert row.editable
    (row,) = plain_rows({name: given}, "joint", "p.urdf:1")
    assert (row.value, row.unit, row.help, row.editable) == (given, key.si_unit, key.help, False)


@each_attribute
def test_world_has_it_unless_it_is_descriptive(name: str) -> None:
    """Its array holds it for each degree of freedom; infinity is the absence of a limit."""
    array, given = JOINT_ATTRIBUTES[name].array, sample(name)
    if not array:
        assert name not in {field.name for field in dataclasses.fields(World)}
        return
    for type, count in (("hinge", 1), ("cylindrical", 2), ("ball", 3)):
        default = JOINT_ATTRIBUTES[name].default
        np.testing.assert_array_equal(
            getattr(world_with(type=type), array),
            np.full(count, math.inf if default is None else default),
        )
        held = getattr(world_with(type=type, **{name: given}), array)
        np.testing.assert_array_equal(held, np.full(count, given))


@each_attribute
def test_formats_without_it_note_it(name: str) -> None:
    """A conversion that leaves it out says so, unless the note on another attribute does."""
    plural = JOINT_ATTRIBUTES[name].plural
    notes = ConversionNotes()
    note_unsupported(flatten(part_with(**{name: sample(name)})), {"elements: masses"}, notes)
    assert list(notes.lines()) == ([f"{plural} of joints, left out: j."] if plural else [])


def test_only_rest_needs_no_note() -> None:
    """A rest position means nothing without the spring, which has a note."""
    assert [name for name, each in JOINT_ATTRIBUTES.items() if not each.plural] == ["rest"]


@each_attribute
def test_limits_are_checked_in_python_and_in_files(name: str, tmp_path: Path) -> None:
    """A wrong value is refused with the same words, in a file with the line of its key."""
    kind = JOINT_ATTRIBUTES[name].key.kind
    number = isinstance(kind, NumberType | IntegerType)
    wrong: list[Any] = ["stiff"] if number else [0.5]
    if isinstance(kind, NumberType):
        wrong.append(math.nan)
        wrong += [-0.25] if (kind.low, kind.above) != (None, None) else []
        wrong += [0.0] if kind.above == 0.0 else []
    for value in wrong:
        with pytest.raises(PartError, match=rf"^joint 'j': {name} must be .+, not ") as refused:
            Joint("j", "slider", "a", "b", **{name: value})
        lines = [
            'format = "linkwork/part 1"', 'name = "p"',
            "[[element]]", 'name = "a"', "[[element]]", 'name = "b"',
            "[[joint]]", 'name = "j"', 'type = "slider"', 'from = "a"', 'to = "b"',
            f"{name} = {value!r}",
        ]  # fmt: skip
        (tmp_path / "p.toml").write_text("\n".join(lines))
        with pytest.raises(FormatError) as read:
            lw.load_part(tmp_path / "p.toml")
        assert read.value.message == refused.value.message
        assert read.value.origin is not None
        assert read.value.origin.line == len(lines)


def test_numbers_of_numpy_are_numbers() -> None:
    """Attributes that were computed need no conversion."""
    computed: dict[str, Any] = {"damping": np.float32(0.5), "friction": np.int64(2)}
    joint = Joint("j", "hinge", "a", "b", **computed)
    assert (joint.damping, joint.friction) == (0.5, 2.0)


def test_its_users_do_not_name_it() -> None:
    """Reader, writer, notes, import options, world and panel take attributes from the table."""
    files = [path for pattern in USERS for path in PACKAGE.glob(pattern)]
    assert len(files) > 30
    naming = [path for path in files if re.search(r"\barmature\b", path.read_text("utf-8"))]
    assert naming == []


def test_few_files_name_a_force_law() -> None:
    """The rotor inertia is declared in one file and used where motion is computed: 20 files."""
    #: Their word is an attribute of MuJoCo's tendons and actuators, or a method of our actuators.
    others = {
        "components/actuators/__init__.py", "components/actuators/mujoco.py",
        "components/actuators/smart_servo.py", "engines/mujoco/params.py",
        "engines/mujoco/tendons.py", "formats/robots/mjcf/read_actuators.py",
        "formats/robots/mjcf/read_constraints.py", "formats/robots/mjcf/write_actuators.py",
    }  # fmt: skip
    found = {
        path.relative_to(PACKAGE).as_posix()
        for pattern in ("**/*.py", "formats/schema/*.json")
        for path in PACKAGE.glob(pattern)
        if "armature" in path.read_text("utf-8")
    }
    assert others <= found
    assert len(found - others) <= 20, sorted(found - others)
