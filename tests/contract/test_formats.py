"""Requirements for every registered file format: the sample part, and error messages."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.examples import FORMAT_EXAMPLES, FormatExample
from linkwork.core.errors import LinkworkError
from linkwork.core.registry import FORMATS
from linkwork.formats import format_for, load, save
from linkwork.formats.lookup import READABLE_TEXT, WRITABLE_TEXT
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.model.parts import Box, Cylinder, Element, Joint, Part, Sphere
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

each_format = pytest.mark.parametrize("name", FORMATS.names())
each_readable = pytest.mark.parametrize(
    "name", [n for n in FORMATS.names() if n not in FORMAT_EXAMPLES or FORMAT_EXAMPLES[n].reads]
)


def sample() -> Part:
    """Returns a small robot that every robot format holds: hinge, slider, compound, limits."""
    return Part("sample").add(
        Element("base", (Box(size=(0.2, 0.1, 0.05)),), mass=3.0),
        Element(
            "link", (Cylinder(radius=0.02, length=0.3, at=Pose.of((0.0, 0.0, 0.15))),), mass=0.5
        ),
        Element("slide", (Sphere(radius=0.03, at=Pose.of((0.1, 0.0, 0.0))),), mass=0.25),
        Joint(
            "turn", "hinge", "base", "link", at=Pose.of((0.05, 0.0, 0.025), rpy=(0.1, -0.2, 0.3)),
            axis=(0.0, 1.0, 0.0), range=((-1.25, 0.75),), max_speed=2.0, max_effort=7.0,
            damping=0.125,
        ),
        Joint(
            "push", "slider", "link", "slide", at=Pose.of((0.0, 0.0, 0.3)), axis=(1.0, 0.0, 0.0),
            range=((0.0, 0.5),), max_speed=0.5, max_effort=20.0,
        ),
    )  # fmt: skip


def compiled(part: Part) -> World:
    return compile_scene(Scene("bench").place(part, name="robot"))


def written(name: str, folder: Path) -> Path:
    """Returns the sample's file in a format."""
    example = example_of(name)
    path = folder / f"sample{FORMATS.get(name).suffixes[0]}"
    content = example.sample
    if content:
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    else:
        save(sample(), path)
    return path


def meant(name: str) -> Part:
    """Returns the part in that file."""
    return (example_of(name).meant or sample)()


def part_in(path: Path) -> Part:
    """Returns the part in a file, or the only one of its scene."""
    thing = load(path)
    if isinstance(thing, Scene):
        (placement,) = thing.parts.values()
        return placement.part
    return thing


def example_of(name: str) -> FormatExample:
    found = FORMAT_EXAMPLES.get(name)
    assert found is not None, (
        f"format {name!r} is registered but has no example: add one to tests/contract/examples.py"
    )
    return found


@each_format
def test_suffixes_lead_to_the_format(name: str) -> None:
    """Each suffix of a format selects it, in upper or lower case.

    A suffix shared with other formats selects one that recognizes its own files.
    """
    form: Any = FORMATS.get(name)
    assert form.suffixes
    for number, suffix in enumerate(form.suffixes):
        for path in (f"x{suffix}", f"x{suffix.upper()}"):
            found = format_for(path)
            if number == 0:
                assert isinstance(found, form)
            else:
                assert isinstance(found, form) or hasattr(form, "recognizes")


def assert_same(theirs: Part, ours: Part) -> None:
    """Both parts have the same joints, limits, masses and kinematics."""
    a, b = compiled(theirs), compiled(ours)
    assert a.joint_names == b.joint_names
    assert [j.type for j in a.joints] == [j.type for j in b.joints]
    for field in ("dof_lo", "dof_hi", "dof_speed", "dof_effort", "damping", "mass"):
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), err_msg=field)
    for field in ("com", "inertia"):
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), atol=1e-12, err_msg=field)
    chance = np.random.default_rng(7)
    for _ in range(10):
        q = chance.uniform(b.dof_lo, b.dof_hi)
        np.testing.assert_allclose(forward(a, q), forward(b, q), atol=1e-12)


@each_readable
def test_the_sample_comes_back(tmp_path: Path, name: str) -> None:
    """A part written and read again is the same part, also the second time."""
    first = written(name, tmp_path)
    assert_same(part_in(first), meant(name))
    again = tmp_path / "again" / first.name
    again.parent.mkdir()
    if example_of(name).writes:
        save(part_in(first), again)
        if not example_of(name).joints:
            assert len(part_in(again).elements) >= len(part_in(first).elements)
            return
        assert_same(part_in(again), meant(name))
    else:
        with pytest.raises(LinkworkError):
            save(part_in(first), again)


def complaint_about(content: bytes, path: Path) -> str:
    """Returns the error for a file with this content, or an empty text."""
    path.write_bytes(content)
    try:
        load(path)
    except LinkworkError as error:
        return str(error)
    return ""


@each_readable
def test_garbage_is_refused(tmp_path: Path, name: str) -> None:
    """Any bytes give a part, a scene or an error that names the file."""
    good = written(name, tmp_path).read_bytes()
    chance = random.Random(3)
    cases = [
        b"",
        b"\0",
        b"\xff\xfe\x00",
        b"format",
        b"<",
        b"{" * 5000,
        bytes(range(256)),
        b"\n" * 99,
    ]
    cases += [good[: len(good) * n // 8] for n in range(1, 8)]
    cases += [bytes(chance.randrange(256) for _ in range(chance.randrange(400))) for _ in range(20)]
    for _ in range(20):
        spoiled = bytearray(good)
        for _ in range(4):
            spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
        cases.append(bytes(spoiled))
    path = tmp_path / f"garbage{FORMATS.get(name).suffixes[0]}"
    refused = [complaint for content in cases if (complaint := complaint_about(content, path))]
    assert len(refused) >= len(cases) // 2
    assert [each for each in refused if str(path) not in each] == []


@each_readable
def test_a_mistake_is_told_with_its_line(tmp_path: Path, name: str) -> None:
    """An error names the file, the line (if people write such files) and the text found."""
    right, wrong = example_of(name).mistake
    path = written(name, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert right in text, "the example's mistake must be in the sample's file"
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    line = text[: text.index(right)].count("\n") + 1
    with pytest.raises(LinkworkError) as caught:
        load(path)
    assert caught.value.origin is not None
    assert caught.value.origin.file == str(path)
    assert caught.value.origin.line == (line if example_of(name).lines else 0), caught.value
    assert wrong.split("=")[1].strip(' "') in str(caught.value)


@pytest.mark.parametrize("name", [n for n, e in FORMAT_EXAMPLES.items() if not e.reads])
def test_what_is_only_written_says_so(tmp_path: Path, name: str) -> None:
    """A write-only format is rejected with the formats that can be read."""
    path = written(name, tmp_path)
    with pytest.raises(LinkworkError, match=r"written, not read\. Bring its meshes as") as caught:
        load(path)
    assert str(path) in str(caught.value)


@each_format
def test_files_that_cannot_be_read_or_written_are_told(tmp_path: Path, name: str) -> None:
    """A missing file, a folder, and an unwritable path are clear errors."""
    suffix = FORMATS.get(name).suffixes[0]
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    for path in (tmp_path / f"missing{suffix}", folder):
        with pytest.raises(LinkworkError) as caught:
            load(path)
        assert path.name in str(caught.value)
    for path in (tmp_path / "nowhere" / f"x{suffix}", folder):
        with pytest.raises(LinkworkError) as caught:
            save(sample(), path)
        assert path.name in str(caught.value)


def test_the_suffixes_that_messages_name_are_those_there_are(tmp_path: Path) -> None:
    """Messages list exactly the suffixes that are read and written."""
    every = {suffix for name in FORMATS.names() for suffix in FORMATS.get(name)().suffixes}
    assert every >= {*READABLE_TEXT, *WRITABLE_TEXT}
    for suffix in every:
        target = tmp_path / f"{suffix[1:]}{suffix}"
        if suffix in WRITABLE_TEXT:
            save(sample(), target)
            assert target.is_file()
        else:
            with pytest.raises(LinkworkError, match="cannot be written"):
                save(sample(), target)
    assert every - {*READABLE_TEXT} == {".humanoid.xml", ".x3d", ".wrl", ".vrml"}
