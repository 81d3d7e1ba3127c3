"""A scene and the files of its parts, edited as one."""

from pathlib import Path

import pytest

from linkwork.core.errors import FormatError, LinkworkError
from linkwork.model.parts import Part, kit_part
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.project import Project
from linkwork.project.document import Document
from linkwork.studio.host.editor import Editor, OpenedFile
from linkwork.studio.host.posture_edits import posture_text
from session_scenes import FINGER_FILE

#: With a comment that edits must keep.
PART = FINGER_FILE.replace('name = "finger"', 'name = "finger"   # ours')

SCENE = """format = "linkwork/scene 1"
name = "bench"

[[part]]
name = "left"
part = "./finger.toml"

[[part]]
name = "right"
part = "./finger.toml"
at = { xyz = [0, 1, 0] }

[[agent]]
name = "nod"
type = "wave"
joint = "left/bend"
amplitude_deg = 5

[[posture]]
name = "up"
joints_deg = { "right/bend" = 20 }
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    (tmp_path / "finger.toml").write_text(PART)
    (tmp_path / "bench.toml").write_text(SCENE)
    return tmp_path / "bench.toml"


def editor(file: Path) -> Editor:
    content = Document.open(file).content
    assert isinstance(content, Scene)
    return Editor(OpenedFile(content, str(file), folders=[file.parent]))


def rows(made: Editor, kind: str, name: str) -> dict[str, object]:
    found, _ = made.rows(compile_scene(made.scene), kind, name)
    return {row.key: row.value for row in found}


@pytest.mark.capability(48)
def test_an_edit_goes_into_the_file_of_the_part(bench: Path) -> None:
    """Both placements change, the scene's own text does not, and undo is exact to the byte."""
    made = editor(bench)
    made.edit("element", "left/tip", "mass", 0.75)
    assert made.state.undo == "mass of left/tip"
    assert made.state.files == [str(bench.parent / "finger.toml")]
    for side in ("left", "right"):
        assert rows(made, "element", f"{side}/tip")["mass"] == 0.75
        assert made.scene.parts[side].part.elements["tip"].mass == 0.75
    assert (bench.parent / "finger.toml").read_text() == PART
    made.undo()
    assert not made.state.dirty
    assert made.state.redo == "mass of left/tip"
    made.redo()
    assert made.save() == [str(bench.parent / "finger.toml")]
    assert (bench.parent / "finger.toml").read_text() == PART.replace("mass = 0.5", "mass = 0.75")
    assert bench.read_text() == SCENE
    assert not made.state.dirty


def test_history_runs_across_files_in_order(bench: Path) -> None:
    """Edits of scene and part in turn are undone in reverse, each in its own file."""
    made = editor(bench)
    made.edit("element", "left/tip", "mass", 0.75)
    made.edit("part", "right", "base", "free")
    made.edit("joint", "left/bend", "damping", 0.5)
    assert made.project is not None
    assert len(made.project.changed) == 2
    assert made.state.undo == "damping of left/bend"
    made.undo()
    assert made.state.undo == "base of right"
    assert made.scene.parts["right"].base == "free"
    made.undo()
    assert made.scene.parts["right"].base == "fixed"
    made.undo()
    assert not made.state.can_undo
    assert not made.state.dirty
    for _ in range(3):
        made.redo()
    assert made.scene.parts["left"].part.joints["bend"].damping == 0.5
    made.undo()
    made.edit("scene", "bench", "step", 0.004)
    assert not made.state.can_redo


def test_what_would_break_the_scene_is_refused_whole(bench: Path) -> None:
    """A bad value of a part, and a good one that the scene cannot use, leave all as it was."""
    made = editor(bench)
    for kind, name, key, value, words in (
        ("element", "left/tip", "mass", -1.0, "0 or more"),
        ("joint", "left/bend", "range_deg", "[-10, 10]", "out of its range"),
        ("joint", "left/bend", "range_deg", "[90, -90]", "range"),
        ("joint", "left/bend", "type", "hinch", "hinge"),
        ("element", "left/nose", "mass", 1.0, "no element named"),
    ):
        with pytest.raises(LinkworkError, match=words):
            made.edit(kind, name, key, value)
    assert not made.state.can_undo
    assert not made.state.dirty
    assert rows(made, "joint", "left/bend")["range_deg"] == "[-90, 90]"


def test_a_rename_in_a_part_is_followed_in_the_scene(bench: Path) -> None:
    """Agents and postures that name the joint go on naming it; stable ids stay."""
    made = editor(bench)
    made.edit("joint", "left/bend", "name", "curl")
    assert made.project is not None
    text = made.project.main.text
    assert 'joint = "left/curl"' in text
    assert '"right/curl" = 20' in text
    assert made.ids["left/curl"] == "left/bend"
    compile_scene(made.scene)
    made.undo()
    assert made.project.main.text == SCENE


KITTED = """format = "linkwork/scene 1"
name = "own"

[[part]]
name = "robot"
part = "tripod/tripod"
at = { xyz = [0, 0, 0.21] }
"""


@pytest.mark.capability(48)
def test_a_kits_part_is_copied_beside_the_scene(tmp_path: Path) -> None:
    """Editing deep inside a kit's robot copies the files on the way; the kit is untouched."""
    file = tmp_path / "own.toml"
    file.write_text(KITTED)
    made = editor(file)
    inner = next(n for n in compile_scene(made.scene).element_names if "/leg1/" in n)
    leg = Path(made.scene.parts["robot"].part.attachments["leg1"].part.origin.file)
    before = leg.read_text()
    _, note = made.rows(compile_scene(made.scene), "element", inner)
    assert "your own copy" in note
    made.edit("element", inner, "friction", 0.33)
    assert made.project is not None
    assert 'part = "./tripod.toml"' in made.project.main.text
    assert len(made.project.history) == 1
    assert not list(tmp_path.glob("leg*"))
    made.save()
    assert leg.read_text() == before
    assert {p.name for p in tmp_path.glob("*.toml")} == {"own.toml", "tripod.toml", "leg.toml"}
    assert '"tripod/platform"' in (tmp_path / "tripod.toml").read_text()
    again = editor(file)
    assert rows(again, "element", inner)["friction"] == 0.33
    assert rows(again, "element", inner.replace("leg1", "leg2"))["friction"] == 0.33
    made.undo()
    assert made.project.main.text == KITTED


def test_a_kits_scene_is_saved_under_another_name(tmp_path: Path) -> None:
    """What changed comes along, programs too; what did not is named by its kit."""
    file = kit_part("gripper/follow")
    content = Document.open(file).content
    assert isinstance(content, Scene)
    made = Editor(OpenedFile(content, str(file), folders=[tmp_path]))
    before = file.read_text()
    with pytest.raises(LinkworkError, match="must end"):
        made.save_as("mine.txt", overwrite=False)
    with pytest.raises(LinkworkError, match="not in a folder"):
        made.save_as("../mine.toml", overwrite=False)
    plain = made.save_as("plain.toml", overwrite=False)
    assert [Path(p).name for p in plain] == ["plain.toml", "follow.py"]
    assert 'part = "gripper/arm"' in (tmp_path / "plain.toml").read_text()
    (tmp_path / "taken.toml").write_text("mine")
    with pytest.raises(LinkworkError, match="already"):
        made.save_as("taken.toml", overwrite=False)
    assert (tmp_path / "taken.toml").read_text() == "mine"
    assert file.read_text() == before

    made = Editor(OpenedFile(content, str(file), folders=[tmp_path]))
    arm = next(n for n in compile_scene(made.scene).element_names if n.startswith("arm/"))
    made.edit("element", arm, "friction", 0.4)
    assert made.state.is_own_file is False
    with pytest.raises(LinkworkError, match="belongs to a kit"):
        made.save()
    made.save_as("changed.toml", overwrite=False)
    assert 'part = "./arm.toml"' in (tmp_path / "changed.toml").read_text()
    assert rows(editor(tmp_path / "changed.toml"), "element", arm)["friction"] == 0.4
    assert file.read_text() == before


def test_a_file_changed_by_others_is_not_written_over(bench: Path) -> None:
    """Saving says so and keeps both."""
    made = editor(bench)
    made.edit("element", "left/tip", "mass", 0.75)
    (bench.parent / "finger.toml").write_text(PART + "\n# theirs\n")
    with pytest.raises(LinkworkError, match="another program"):
        made.save()
    assert made.state.dirty


@pytest.mark.capability(121)
def test_a_posture_is_stored_and_stored_again(bench: Path) -> None:
    """Angles in degrees, lengths in metres; the second time in the same place."""
    made = editor(bench)
    made.store_posture("down", {"left/bend": (-0.5, True), "right/bend": (0.25, True)})
    assert made.scene.postures["down"]["left/bend"] == pytest.approx(-0.5, abs=1e-5)
    assert made.state.undo == "posture down"
    made.store_posture("down", {"left/bend": (0.1, True)})
    assert made.project is not None
    assert made.project.main.text.count('name = "down"') == 1
    assert list(made.scene.postures["down"]) == ["left/bend"]
    with pytest.raises(LinkworkError, match="out of its range"):
        made.store_posture("far", {"left/bend": (3.0, True)})
    text = posture_text(SCENE, "mixed", {"a": (1.0, True), "b": (0.0123456789, False)})
    assert "joints_deg = { a = 57.2958 }" in text
    assert "joints = { b = 0.012346 }" in text


ENDS = """
[[anchor]]
name = "low"
on = "base"

[[anchor]]
name = "high"
on = "tip"
"""


def test_a_loop_is_closed_in_the_file_that_is_open(bench: Path) -> None:
    """By full names, under the next free name; what cannot be is refused and leaves no trace."""
    (bench.parent / "finger.toml").write_text(PART + ENDS)
    made = editor(bench)
    made.close_loop("left/high", "right/high", "hinge", (0.0, 1.0, 0.0))
    made.close_loop("left/low", "right/high", "ball", (0.0, 0.0, 1.0))
    assert made.project is not None
    assert made.project.main.text == SCENE + (
        '\n[[loop]]\nname = "loop1"\na = "left/high"\nb = "right/high"\njoint = "hinge"\n'
        "axis = [0.0, 1.0, 0.0]\n"
        '\n[[loop]]\nname = "loop2"\na = "left/low"\nb = "right/high"\njoint = "ball"\n'
    )
    assert made.state.undo == "loop loop2"
    made.undo()
    assert list(made.scene.loops) == ["loop1"]
    for a, joint, why in (("left/top", "ball", "top"), ("left/low", "glue", "glue")):
        with pytest.raises(LinkworkError, match=why):
            made.close_loop(a, "right/high", joint, (0.0, 0.0, 1.0))
    assert list(made.scene.loops) == ["loop1"]


def test_a_loop_of_a_part_alone_has_names_of_its_own_file(tmp_path: Path) -> None:
    """Without the scope under which the part runs."""
    file = tmp_path / "finger.toml"
    file.write_text(PART + ENDS)
    part = Document.open(file).content
    on_floor = lambda content: Scene("alone").place(content)  # noqa: E731
    made = Editor(OpenedFile(on_floor(part), str(file), scene_of=on_floor, folders=[tmp_path]))
    made.close_loop("finger/low", "finger/high", "ball", (0.0, 0.0, 1.0))
    assert made.project is not None
    assert '[[loop]]\nname = "loop1"\na = "low"\nb = "high"' in made.project.main.text


def test_a_part_is_found_beside_others_in_its_scene(tmp_path: Path) -> None:
    """Its placement gives the names; a scene without it is refused in words."""
    file = tmp_path / "finger.toml"
    file.write_text(PART + ENDS)
    part = Document.open(file).content
    other = Document.open(file).content
    assert isinstance(other, Part)
    beside = lambda content: Scene("two").place(other, name="other").place(content)  # noqa: E731
    made = Editor(OpenedFile(beside(part), str(file), scene_of=beside, folders=[tmp_path]))
    made.close_loop("finger/low", "finger/high", "ball", (0.0, 0.0, 1.0))
    assert made.project is not None
    assert 'a = "low"\nb = "high"' in made.project.main.text
    assert "finger/tip" in made.ids
    without = lambda _: Scene("two").place(other, name="other")  # noqa: E731
    made = Editor(OpenedFile(without(part), str(file), scene_of=without, folders=[tmp_path]))
    with pytest.raises(FormatError, match=r"finger.*is not in the scene 'two'.*other"):
        made.close_loop("finger/low", "finger/high", "ball", (0.0, 0.0, 1.0))


def test_a_part_alone_is_edited_and_has_no_postures(tmp_path: Path) -> None:
    """A part runs on a ground that no file says; its own things are edited in its file."""
    file = tmp_path / "finger.toml"
    file.write_text(PART)

    def on_floor(content: Part | Scene) -> Scene:
        assert isinstance(content, Part)
        return Scene("alone").place(content)

    part = Document.open(file).content
    made = Editor(OpenedFile(on_floor(part), str(file), scene_of=on_floor, folders=[tmp_path]))
    made.edit("joint", "finger/bend", "damping", 0.2)
    assert rows(made, "joint", "finger/bend")["damping"] == 0.2
    assert made.ids["finger/bend"] == "finger/bend"
    made.edit("part", "finger", "title", "A finger")
    assert made.state.undo == "title of finger"
    with pytest.raises(LinkworkError, match="scenes have postures"):
        made.store_posture("up", {})


def test_unsaved_texts_stand_for_files(bench: Path) -> None:
    """A project reads a scene with the texts as they are edited, not as they were saved."""
    project = Project(Document.open(bench))
    with project.step("new finger"):
        project.create(PART.replace("mass = 0.5", "mass = 0.9"), str(bench.parent / "new.toml"))
        project.main.set_value(("part", "left", "part"), "./new.toml")
    assert isinstance(project.content, Scene)
    assert project.content.parts["left"].part.elements["tip"].mass == 0.9
    assert project.content.parts["right"].part.elements["tip"].mass == 0.5
    assert [Path(d.path).name for d in project.changed] == ["new.toml", "bench.toml"]
    project.undo()
    assert project.changed == []
    with pytest.raises(LinkworkError, match="nothing to undo"):
        project.undo()
