"""A file being edited: what the user wrote stays, undo is exact, mistakes change nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import cases
from linkwork.core.errors import FormatError, LinkworkError, NameNotFound, SceneError
from linkwork.model.parts import Part
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.project.document import Document
from linkwork.project.edits import Patch
from linkwork.project.text import append_table, remove_at, set_at
from toml_texts import TEXTS

ARM = """\
#:schema ./part.schema.json
# The arm of the bench.
format = "linkwork/part 1"
name = "arm"        # as on the door

[[element]]
name = "tube"
mass = 1.2          # weighed
shape = { cylinder = { radius = 0.03, length = 0.40 } }

# The joint that squeaks.
[[joint]]
name = "elbow"
type = "hinge"
from = "tube"
to = "housing"
range_deg = [
    -90,            # down
    120,            # up
]
drive = { type = "servo", kp = 40 }

[[element]]
name = "housing"
mass = 0.4

[element.labels]
en = "housing"      # to be translated

[[joint]]
name = "wrist"
type = "hinge"
from = "housing"
to = "hand"

[[element]]
name = "hand"
[[element]]
name = "nail"
on = "hand"

[[anchor]]
name = "tip"
on = "hand"

[[coupling]]
joint = "wrist"
of = "elbow"

[[sensor]]
name = "angle"
type = "encoder"
joint = "elbow"
"""

BENCH = """\
format = "linkwork/scene 1"
name = "bench"
start = "home"

[[part]]
name = "left"
part = "./arm.toml"

[[part]]
name = "right"
part = "./arm.toml"

[[posture]]
name = "home"
joints_deg = { "left/elbow" = 30, 'right/elbow' = 20 }

[[posture]]
name = "up"
[posture.joints]
"left/elbow" = 0.5  # steep

[[sensor]]
name = "eye"
type = "ray"
on = "left/tip"

[[agent]]
name = "control"
type = "program"
file = "left.py"
joints = ["left/elbow", "right/elbow"]
watch = "eye.distance"
home = "home"

[collide]
never = [["left", "right/hand"]]
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.toml"
    path.write_text(ARM, encoding="utf-8")
    return path


@pytest.fixture
def bench(arm: Path) -> Path:
    path = arm.parent / "bench.toml"
    path.write_text(BENCH, encoding="utf-8")
    return path


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came."""
    old, new = before.splitlines(), after.splitlines()
    return [x for x in old if x not in new], [x for x in new if x not in old]


def test_a_value_is_set_and_nothing_else_moves(arm: Path) -> None:
    """Comments, order and spaces stay; only the value's text is another."""
    document = Document.open(arm)
    document.set_value(("element", "tube", "mass"), 1.5)
    assert changed_lines(ARM, document.text) == (
        ["mass = 1.2          # weighed"],
        ["mass = 1.5          # weighed"],
    )
    assert isinstance(document.content, Part)
    assert document.content.elements["tube"].mass == 1.5


def test_values_inside_tables_are_set_where_they_stand(arm: Path) -> None:
    """Inline tables, tables under a header of their own, and new keys."""
    document = Document.open(arm)
    document.set_value(("element", "tube", "shape", "cylinder", "radius"), 0.05)
    assert "shape = { cylinder = { radius = 0.05, length = 0.40 } }" in document.text
    document.set_value(("joint", "elbow", "drive", "kd"), 2.0)
    assert 'drive = { type = "servo", kp = 40, kd = 2.0 }' in document.text
    document.set_value(("element", "housing", "labels", "en"), "box")
    assert 'en = "box"      # to be translated' in document.text
    document.set_value(("element", "housing", "labels", "de"), "Gehäuse")
    assert 'to be translated\nde = "Gehäuse"\n' in document.text
    document.set_value(("joint", "wrist", "at", "xyz"), [0, 0, 1])
    assert 'to = "hand"\nat = { xyz = [0, 0, 1] }\n' in document.text
    document.set_value(("title",), "An arm")
    assert '# as on the door\ntitle = "An arm"\n' in document.text
    document.set_value(("joint", "elbow", "drive", "kp"), None)
    assert 'drive = { type = "servo", kd = 2.0 }' in document.text
    document.set_value(("element", "housing", "labels"), None)
    assert "[element.labels]" not in document.text
    document.set_value(("coupling", 0, "ratio"), -1.0)
    assert 'of = "elbow"\nratio = -1.0\n' in document.text
    while document.history:
        document.undo()
    assert document.text == ARM


def test_a_value_in_another_unit_takes_the_place_of_the_old(arm: Path) -> None:
    """range for range_deg: one of them stands, not both."""
    document = Document.open(arm)
    document.set_value(("joint", "elbow", "range"), [-1.0, 1.0])
    assert "range_deg" not in document.text
    assert isinstance(document.content, Part)
    assert document.content.joints["elbow"].ranges == ((-1.0, 1.0),)
    document.undo()
    assert document.text == ARM


def test_adding_and_removing(arm: Path) -> None:
    """A new table follows the last of its kind; a removed one takes its comment along."""
    document = Document.open(arm)
    document.add("anchor", {"name": "side", "on": "tube", "at": {"xyz": [0, 0, 0.1]}})
    added = '\n[[anchor]]\nname = "side"\non = "tube"\nat = { xyz = [0, 0, 0.1] }\n\n[[coupling]]'
    assert added in document.text
    document.add("loop", {"a": "tip", "b": "side"})
    assert document.text.endswith('joint = "elbow"\n\n[[loop]]\na = "tip"\nb = "side"\n')
    document.remove("loop", "loop1")
    document.remove("coupling", 0)
    document.remove("sensor", "angle")
    document.remove("joint", "elbow")
    assert "squeaks" not in document.text
    assert isinstance(document.content, Part)
    assert list(document.content.joints) == ["wrist"]
    assert document.content.elements["housing"].labels == {"en": "housing"}
    while document.history:
        document.undo()
    assert document.text == ARM


def test_inline_arrays_of_tables_are_edited_too(tmp_path: Path) -> None:
    """Whoever writes element = [{ … }] may add, set and remove as well."""
    text = 'format = "linkwork/part 1"\nname = "p"\nelement = [{ name = "a" }, { name = "b" }]\n'
    document = Document(text, tmp_path / "p.toml")
    document.add("element", {"name": "c", "on": "b"})
    document.set_value(("element", "a", "mass"), 2)
    document.rename("element", "b", "bee")
    document.remove("element", "a")
    assert isinstance(document.content, Part)
    assert [(e.name, e.on) for e in document.content.elements.values()] == [
        ("bee", ""),
        ("c", "bee"),
    ]


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d.set_value(("element", "tube", "mass"), -1),
        lambda d: d.set_value(("element", "tube", "mass"), "heavy"),
        lambda d: d.set_value(("element", "tube", "mass"), object()),
        lambda d: d.set_value(("element", "tube", "mass"), float("nan")),
        lambda d: d.set_value(("element", "tube", "colour"), "#ffffff"),
        lambda d: d.set_value(("element", "nobody", "mass"), 1),
        lambda d: d.set_value(("element", 9, "mass"), 1),
        lambda d: d.set_value(("joint", "elbow", "from"), "nobody"),
        lambda d: d.set_value(("joint", "elbow", "axis", 7, "x"), 1),
        lambda d: d.set_value(("joint", "elbow", "pitch"), None),
        lambda d: d.set_value((), 1),
        lambda d: d.add("element", {"name": "tube"}),
        lambda d: d.add("elemnet", {"name": "x"}),
        lambda d: d.add("anchor", {"name": "x", "on": "nobody"}),
        lambda d: d.remove("element", "tube"),
        lambda d: d.remove("element", "nobody"),
        lambda d: d.remove("loop", "nobody"),
        lambda d: d.rename("element", "tube", "hand"),
        lambda d: d.rename("element", "tube", "a/b"),
        lambda d: d.rename("element", "nobody", "x"),
        lambda d: d.rename("loop", "nobody", "x"),
        lambda d: d.redo(),
    ],
)
def test_a_refused_edit_changes_nothing(arm: Path, edit: Any) -> None:
    """The error says why; text, content, history, ids and file are as they were."""
    document = Document.open(arm)
    document.set_value(("element", "tube", "mass"), 1.3)
    before = document.text, document.content, list(document.history), document.ids
    with pytest.raises(LinkworkError):
        edit(document)
    assert (document.text, document.content, list(document.history), document.ids) == before
    assert arm.read_text(encoding="utf-8") == ARM


def test_a_check_may_refuse_more(arm: Path) -> None:
    """What compiles, an editor may demand, beyond what the format does."""

    def compiles(content: Part | Scene) -> None:
        assert isinstance(content, Part)
        compile_scene(Scene("trial").place(content))

    document = Document.open(arm, check=compiles)
    with pytest.raises(LinkworkError, match="falls apart"):
        document.add("element", {"name": "loose"})
    assert document.text == ARM


def test_a_rename_follows_every_reference_in_a_part(arm: Path) -> None:
    """Joints, fixings, anchors, couplings and sensors speak of the new name."""
    document = Document.open(arm)
    document.rename("element", "hand", "palm")
    document.rename("joint", "elbow", "knee")
    document.rename("element", "tube", "shank")
    part = document.content
    assert isinstance(part, Part)
    assert part.joints["wrist"].to == "palm"
    assert part.elements["nail"].on == "palm"
    assert part.anchors["tip"].on == "palm"
    assert part.couplings[0].of == "knee"
    assert part.sensors[0].params["joint"] == "knee"
    assert part.joints["knee"].from_ == "shank"
    assert "elbow" not in document.text
    assert document.text.count("#") == ARM.count("#")
    document.undo()
    document.undo()
    document.undo()
    assert document.text == ARM


def test_a_rename_follows_every_reference_in_a_scene(bench: Path) -> None:
    """A part's name is also the scope of what is in it; file names are no references."""
    document = Document.open(bench)
    document.rename("part", "left", "port")
    document.rename("posture", "home", "rest")
    document.rename("sensor", "eye", "lidar")
    scene = document.content
    assert isinstance(scene, Scene)
    assert scene.start == "rest"
    assert set(scene.postures["rest"]) == {"port/elbow", "right/elbow"}
    assert set(scene.postures["up"]) == {"port/elbow"}
    assert scene.sensors[0].params["on"] == "port/tip"
    assert scene.agents[0].params["joints"] == ["port/elbow", "right/elbow"]
    assert scene.agents[0].params["watch"] == "lidar.distance"
    assert scene.agents[0].params["home"] == "rest"
    assert scene.agents[0].params["file"].endswith("/left.py")
    assert scene.collide.never == (("port", "right/hand"),)
    assert '"port/elbow" = 0.5  # steep' in document.text
    while document.history:
        document.undo()
    assert document.text == BENCH


def test_ids_outlive_renames(bench: Path) -> None:
    """A thing keeps the id it was born with; a name used again gets a new one."""
    document = Document.open(bench)
    assert document.ids["left/elbow"] == "left/elbow"
    document.rename("part", "left", "port")
    assert document.ids["port"] == "left"
    assert document.ids["port/elbow"] == "left/elbow"
    assert "left" not in document.ids
    document.add("part", {"name": "left", "part": "./arm.toml"})
    assert document.ids["left/elbow"] == "left~2/elbow"
    assert document.ids["port/elbow"] == "left/elbow"
    document.undo()
    document.undo()
    assert document.ids["left/elbow"] == "left/elbow"
    document.redo()
    assert document.ids["port/elbow"] == "left/elbow"
    world = compile_scene(document.content, ids=document.ids)  # type: ignore[arg-type]
    assert world.id_of("port/elbow") == "left/elbow"


def test_setting_a_name_is_a_rename(arm: Path) -> None:
    """So that no editor breaks references by accident."""
    document = Document.open(arm)
    document.set_value(("joint", 0, "name"), "knee")
    assert document.ids["knee"] == "elbow"
    assert isinstance(document.content, Part)
    assert document.content.couplings[0].of == "knee"


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "", "   # no line break at the end"])
def test_undo_restores_the_file_byte_for_byte(
    tmp_path: Path, line_break: str, mark: str, end: str
) -> None:
    """Windows line breaks, byte order marks and a missing last line break included."""
    raw = (mark + (ARM.rstrip("\n") + end).replace("\n", line_break)).encode()
    path = tmp_path / "arm.toml"
    path.write_bytes(raw)
    path.chmod(0o600)
    document = Document.open(path)
    document.set_value(("element", "tube", "mass"), 7)
    document.add("anchor", {"name": "x", "on": "tube"})
    document.add("loop", {"a": "x", "b": "tip", "name": "l"})
    document.rename("element", "tube", "pipe")
    document.set_value(("sensor", "angle", "bits"), 12)
    document.remove("element", "nail")
    document.save()
    saved = path.read_bytes()
    assert saved != raw
    assert b"\r\n" not in saved or b"\n" not in saved.replace(b"\r\n", b"")
    assert isinstance(document.content, Part)
    assert Document.open(path).content == document.content
    for _ in range(6):
        document.undo()
    assert not document.history
    document.save()
    assert path.read_bytes() == raw
    assert path.stat().st_mode & 0o777 == 0o600
    for _ in range(6):
        document.redo()
    document.save()
    assert path.read_bytes() == saved
    with pytest.raises(SceneError, match="nothing to redo"):
        document.redo()


def test_a_new_edit_ends_what_could_be_redone(arm: Path) -> None:
    """History is a line, not a tree."""
    document = Document.open(arm)
    document.set_value(("title",), "one")
    document.undo()
    document.set_value(("title",), "two")
    with pytest.raises(SceneError, match="nothing to redo"):
        document.redo()
    assert document.history[-1].what == "set title"


def test_saving_does_not_run_over_another_program(arm: Path) -> None:
    """A file that changed under the editor is overwritten only on demand."""
    document = Document.open(arm)
    assert not document.changed
    document.set_value(("title",), "mine")
    assert document.changed
    arm.write_text(ARM + "# theirs\n", encoding="utf-8")
    with pytest.raises(FormatError, match="changed by another program"):
        document.save()
    assert arm.read_text(encoding="utf-8") == ARM + "# theirs\n"
    document.save(overwrite=True)
    assert 'title = "mine"' in arm.read_text(encoding="utf-8")
    assert not document.changed


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    """Missing files, other encodings and broken parts are LinkworkErrors with the file's name."""
    with pytest.raises(FormatError, match=r"no\.toml: the file cannot be opened"):
        Document.open(tmp_path / "no.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xff")
    with pytest.raises(FormatError, match=r"latin\.toml"):
        Document.open(tmp_path / "latin.toml")
    (tmp_path / "bad.toml").write_text('format = "linkwork/part 1"\nname = 3\n')
    with pytest.raises(FormatError, match=r"bad\.toml:2"):
        Document.open(tmp_path / "bad.toml")
    with pytest.raises(NameNotFound):
        Document(ARM, tmp_path / "new.toml").remove("anchor", "none")


@given(st.text("ab\n", max_size=12), st.text("ab\n", max_size=12))
def test_a_patch_leads_there_and_back(before: str, after: str) -> None:
    """The smallest change between two texts, both ways."""
    patch = Patch.between(before, after)
    assert patch.apply(before) == after
    assert patch.inverse().apply(after) == before


def positions(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, item in inner:
        found.append((*path, key))
        if isinstance(item, dict | list):
            found += positions(item, (*path, key))
    return found


def reach(data: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        data = data[step]
    return data


def pruned(value: Any) -> Any:
    """Without empty tables and arrays, which have no lines of their own."""
    if isinstance(value, dict):
        made = {key: pruned(inner) for key, inner in value.items()}
        return {key: inner for key, inner in made.items() if inner not in ({}, [])}
    if isinstance(value, list):
        return [inner for inner in map(pruned, value) if inner not in ({}, [])]
    return value


@settings(max_examples=cases(600))
@given(TEXTS, st.integers(0, 2**32))
def test_any_change_of_any_text_does_just_what_it_says(made: Any, seed: int) -> None:
    """Set, add and remove in random TOML: tomllib sees that change and no other."""
    text, rng = made[0], Random(seed)
    expected = tomllib.loads(text)
    paths = positions(expected)
    verb = rng.choice(["set", "add key", "remove", "add table"])
    if verb == "add table":
        text = append_table(text, "new", {"a": {"b": [1, {"c": "d"}]}}, array=True)
        expected["new"] = [{"a": {"b": [1, {"c": "d"}]}}]
    elif verb == "add key":
        tables = [(), *(p for p in paths if isinstance(reach(expected, p), dict))]
        path = (*rng.choice(tables), "new key")
        reach(expected, path[:-1])["new key"] = [1, {"x": "é"}]
        text = set_at(text, path, [1, {"x": "é"}])
    elif paths:
        path = rng.choice(paths)
        around = reach(expected, path[:-1])
        if verb == "remove":
            text = remove_at(text, path)
            del around[path[-1]]
        elif isinstance(path[-1], str):
            around[path[-1]] = {"changed": ["a", 1.5]}
            text = set_at(text, path, {"changed": ["a", 1.5]})
        elif not isinstance(around[path[-1]], dict | list):
            around[path[-1]] = "changed"
            text = set_at(text, path, "changed")
    assert pruned(tomllib.loads(text)) == pruned(expected)
