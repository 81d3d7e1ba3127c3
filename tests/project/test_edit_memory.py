"""Edits and undos leave nothing behind: neither in the history nor in the session."""

import gc
import tracemalloc
import weakref
from dataclasses import replace
from pathlib import Path

from linkwork import Document, Session
from linkwork.model.parts import kit_part
from linkwork.model.scene import Scene
from linkwork.project import MAX_UNDO_STEPS, READY_UNDO_STEPS, Project
from linkwork.session.cycle import Cycle

SCENE = """
format = "linkwork/scene 1"
name = "cell"

[[part]]
name = "arm"
part = "./arm.toml"
"""


def project(folder: Path) -> Project:
    (folder / "arm.toml").write_text(Path(kit_part("gripper/arm")).read_text())
    (folder / "cell.toml").write_text(SCENE)
    return Project(Document.open(folder / "cell.toml"))


def edit(made: Project, number: int) -> None:
    arm = made.document(str(Path(made.main.path).parent / "arm.toml"))
    with made.step(f"edit {number}"):
        arm.set_value(("element", "E1", "mass"), 1.0 + 0.001 * number)


def test_hundreds_of_edits_need_no_memory(tmp_path: Path) -> None:
    """A step holds the characters that it changed; the parsed scene had 40 kB and more."""
    made = project(tmp_path)
    for number in range(60):
        edit(made, number)
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(60, 460):
            edit(made, number)
            if number % 2:
                made.undo()
        gc.collect()
        growth = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert growth < 1.5e6  # with the 21 scenes of the newest steps; it was 17e6
    assert all(not document.history for document in made.documents.values())


def test_old_steps_are_undone_and_redone_byte_exact(tmp_path: Path) -> None:
    """Beyond those that keep what they have read, too: texts, ids and content."""
    made = project(tmp_path)
    file = str(tmp_path / "arm.toml")
    states = []
    count = 3 * READY_UNDO_STEPS
    for number in range(count):
        arm = made.document(file)
        states.append((arm.text, arm.own_ids))
        with made.step(f"edit {number}"):
            arm.set_value(("element", "E1", "mass"), 1.0 + 0.001 * number)
            if number % 7 == 0:
                arm.rename("joint", "J1" if number % 14 == 0 else "Q1",
                           "Q1" if number % 14 == 0 else "J1")  # fmt: skip
    last = made.document(file).text
    assert sum(step.before is not None for step in made.history) == READY_UNDO_STEPS
    for state in reversed(states):
        made.undo()
        arm = made.document(file)
        assert (arm.text, arm.own_ids) == state
    assert isinstance(made.content, Scene)
    assert "J1" in made.content.parts["arm"].part.joints
    while made.future:
        made.redo()
    assert made.document(file).text == last
    mass = made.content.parts["arm"].part.elements["E1"].mass_properties().mass
    assert abs(mass - (1.0 + 0.001 * (count - 1))) < 1e-12
    assert len(made.history) == count < MAX_UNDO_STEPS


def test_a_swapped_world_is_freed() -> None:
    """Nothing holds the worlds that ran before an edit."""
    before: list[weakref.ref[Cycle]] = []
    with Session("gripper/follow", buses=False) as session:
        for number in range(12):
            before.append(weakref.ref(session.cycle))
            scene = session.world.scene
            session.swap(replace(scene, gravity=(0.0, 0.0, -9.0 - 0.01 * number))).result(60.0)
            session.step(2)
        assert session.version == 13
        gc.collect()
        assert sum(each() is not None for each in before) <= 1
