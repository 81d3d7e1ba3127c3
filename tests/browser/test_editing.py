"""Attributes edited in the browser: taken, refused, undone across files, and saved."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from linkwork.model.scene import Scene
from linkwork.studio.host.open_scene import OpenScene
from session_scenes import FINGER_FILE
from studio_fixture import Studio, studio
from studio_page import StudioPage, opened

BENCH = """format = "linkwork/scene 1"
name = "bench"

[[part]]
name = "left"
part = "./finger.toml"

[[part]]
name = "kit"
part = "gripper/arm"
at = { xyz = [0, 1, 0] }

[[posture]]
name = "up"
joints_deg = { "left/bend" = 40 }
"""


#: Presses keys where the focus is, with or without Shift, with no time between.
_KEYS = """(keys) => {
  for (const [key, shiftKey] of keys)
    document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the user's files, in which the studio works."""
    made = tmp_path_factory.mktemp("editing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(made))
        patch.chdir(made)
        yield made


@pytest.fixture(scope="module")
def bench_studio(folder: Path, chromium: Browser) -> Iterator[Studio]:
    (folder / "finger.toml").write_text(FINGER_FILE)
    (folder / "bench.toml").write_text(BENCH)
    with studio(str(folder / "bench.toml"), folder / ".linkwork") as made:
        yield made


@pytest.fixture
def bench(bench_studio: Studio, folder: Path, chromium: Browser) -> Iterator[StudioPage]:
    """A page on ``bench.toml`` as it was written, nothing edited, nothing selected."""
    for file in folder.glob("*.toml"):
        file.unlink()
    (folder / "finger.toml").write_text(FINGER_FILE)
    (folder / "bench.toml").write_text(BENCH)
    with opened(chromium, bench_studio) as page:
        page.until("store.people.driver === store.you")
        reopen(page, str(folder / "bench.toml"))
        yield page


def reopen(page: StudioPage, scene: str) -> None:
    """Opens a scene, whatever was open."""
    page.page.evaluate(
        "(scene) => { window.before = linkwork.store.scene;"
        " linkwork.send({ type: 'open', scene }); }",
        scene,
    )
    page.until("store.scene && store.scene !== window.before && !store.undo.can_undo")
    page.ready()


def running(page: StudioPage) -> OpenScene:
    """What is open on the session's side."""
    assert page.studio is not None
    found = page.studio.host.open
    assert isinstance(found, OpenScene)
    return found


def content(page: StudioPage) -> Scene:
    """The scene as the files say it, saved or not."""
    return running(page).editor.scene


def world_mass(page: StudioPage, element: str) -> float:
    """The mass of a body as the running session has it."""
    world = running(page).session.world
    return float(world.mass[int(world.element_body[world.element_names.index(element)])])


def attribute(page: StudioPage, key: str) -> Locator:
    return page.page.locator(f"[role=complementary] [data-key='{key}']")


def change_friction(page: StudioPage) -> None:
    """Edits a scene that is a kit's."""
    page.row("ground").click()
    page.page.locator(".unset summary").click()
    attribute(page, "friction").fill("0.4")
    attribute(page, "friction").press("Enter")
    page.until("store.undo.dirty && !store.undo.is_own_file")


def until(page: StudioPage, test: Callable[[], bool]) -> None:
    """Waits for something on the server's side, in step with the page."""
    for _ in range(600):
        if test():
            return
        page.page.wait_for_timeout(50)
    raise AssertionError(f"it did not come about; refused: {page.ask('store.refused')}")


@pytest.mark.capability(48)
def test_an_attribute_is_edited_undone_and_redone(bench: StudioPage) -> None:
    """The running world changes with each; the menu names the step."""
    bench.row("left/tip").click()
    field = attribute(bench, "mass")
    field.fill("2*0.4")
    field.press("Enter")
    bench.until("store.undo.can_undo && store.scene.version > 1")
    until(bench, lambda: world_mass(bench, "left/tip") == 0.8)
    undo = bench.page.get_by_role("button", name="Undo: mass of left/tip")
    expect(undo).to_be_enabled()
    expect(bench.page.locator("[data-row=mass] .origin")).to_have_class("origin changed")
    undo.click()
    until(bench, lambda: world_mass(bench, "left/tip") == 0.5)
    bench.until("!store.undo.dirty")
    bench.press("Control+Shift+Z")
    until(bench, lambda: world_mass(bench, "left/tip") == 0.8)


@pytest.mark.capability(48)
def test_a_bad_value_is_refused_at_once_with_the_reason(bench: StudioPage) -> None:
    """Under the field, described by it; what was stays in use; one click repairs it."""
    bench.row("left/bend").click()
    field = attribute(bench, "range_deg")
    field.fill("120")
    field.press("Enter")
    alert = bench.page.locator("[data-row=range_deg] [role=alert]")
    expect(alert).to_contain_text("120 ° is larger than 90 °")
    expect(field).to_have_value("120")
    attribute(bench, "range_deg.1").fill("-120")
    attribute(bench, "range_deg.1").press("Enter")
    expect(alert).to_contain_text("120 ° is larger than −120 °")
    expect(alert).to_contain_text("−90 to 90 ° stays in use")
    reported = alert.get_attribute("id")
    assert reported
    assert reported in (field.get_attribute("aria-describedby") or "").split()
    assert field.get_attribute("aria-invalid") == "true"
    bench.until("!store.undo.can_undo")
    alert.get_by_role("button", name="Swap the two").click()
    bench.until("store.undo.can_undo")
    joint = content(bench).parts["left"].part.joints["bend"]
    assert joint.ranges[0] == pytest.approx((-2.0944, 2.0944), abs=1e-3)
    expect(alert).to_have_count(0)

    mass = attribute(bench, "damping")
    mass.fill("much")
    mass.press("Enter")
    expect(bench.page.locator("[data-row=damping] [role=alert]")).to_contain_text("much")
    bench.page.get_by_role("button", name="Restore").click()
    expect(attribute(bench, "damping")).to_have_value("0.5")


def test_a_value_that_the_scene_cannot_use_is_refused_with_what_stays(bench: StudioPage) -> None:
    """The compiler's reason without a path, the value that was; no toast, no useless repair."""
    bench.row("left/tip").click()
    field = attribute(bench, "mass")
    field.fill("0")
    field.press("Enter")
    alert = bench.page.locator("[data-row=mass] [role=alert]")
    expect(alert).to_contain_text("A moving body needs mass")
    expect(alert).to_contain_text("0.5 kg stays in use.")
    assert "toml" not in alert.inner_text()
    expect(bench.page.locator(".toast")).to_have_count(0)
    bench.until("!store.undo.can_undo")
    assert world_mass(bench, "left/tip") == 0.5
    field.fill("-3")
    field.press("Enter")
    expect(alert).to_contain_text("must be a number, 0 or more")
    expect(alert.get_by_role("button")).to_have_text(["Restore"])
    bench.row("left/base").click()
    bench.until("store.attributes?.name === 'left/base'")


def test_units_are_typed_and_arrows_count(bench: StudioPage) -> None:
    """`1.5 rad` in a field of degrees; arrow keys step and are one edit together."""
    bench.row("left/bend").click()
    field = attribute(bench, "range_deg.1")
    field.fill("1.5 rad")
    field.press("Enter")
    bench.until("store.undo.can_undo")
    joint = content(bench).parts["left"].part.joints["bend"]
    assert joint.ranges[0] == pytest.approx((-1.570796, 1.5), abs=1e-5)
    project = running(bench).editor.project
    assert project is not None
    steps = len(project.history)
    attribute(bench, "damping").focus()
    bench.until("document.activeElement.dataset.key === 'damping'")
    keys = [["ArrowUp", False]] * 3 + [["ArrowUp", True], ["Enter", False]]
    bench.page.evaluate(_KEYS, keys)
    until(bench, lambda: len(project.history) == steps + 1)
    now = content(bench).parts["left"].part.joints["bend"].damping
    assert now == pytest.approx(0.5 + 0.01 * 3 + 0.1)


def test_a_label_is_scrubbed_in_one_edit(bench: StudioPage) -> None:
    """Dragging the name of a number changes it; letting go is the edit."""
    bench.row("left/tip").click()
    label = bench.page.locator("[data-row=mass] label")
    box = label.bounding_box()
    assert box is not None
    start = (box["x"] + 10, box["y"] + box["height"] / 2)
    bench.drag(start, (start[0] + 40, start[1]))
    bench.until("store.undo.can_undo")
    assert content(bench).parts["left"].part.elements["tip"].mass != 0.5
    assert bench.ask("store.undo.undo") == "mass of left/tip"
    bench.press("Control+Z")
    bench.until("!store.undo.can_undo")


def test_a_part_of_the_users_is_saved_in_its_own_file(bench: StudioPage, folder: Path) -> None:
    """An edit of something inside a part goes into the part's file, the scene's stays."""
    bench.row("left/tip").click()
    attribute(bench, "mass").fill("0.75")
    attribute(bench, "mass").press("Enter")
    bench.until("store.undo.dirty")
    expect(bench.page.locator(".dirty-dot")).to_be_visible()
    bench.press("Control+S")
    bench.until("!store.undo.dirty")
    assert (folder / "finger.toml").read_text() == FINGER_FILE.replace("mass = 0.5", "mass = 0.75")
    assert (folder / "bench.toml").read_text() == BENCH
    expect(bench.page.get_by_role("status").filter(has_text="Saved finger.toml")).to_be_visible()


def test_a_kits_part_becomes_the_users_own(bench: StudioPage, folder: Path) -> None:
    """The panel says so before; saved, the copy stands beside the scene."""
    bench.row("kit/J1").click()
    expect(bench.page.locator(".attribute-note")).to_contain_text("your own copy")
    expect(bench.page.locator("[data-row=name] .origin")).to_have_class("origin kit")
    damping = bench.page.locator("[role=complementary] [data-key='damping']")
    if not damping.is_visible():
        bench.page.locator(".unset summary").click()
    damping.fill("0.125")
    damping.press("Enter")
    bench.until("store.undo.dirty")
    bench.press("Control+S")
    bench.until("!store.undo.dirty")
    assert "damping = 0.125" in (folder / "arm.toml").read_text()
    assert 'part = "./arm.toml"' in (folder / "bench.toml").read_text()


def test_a_rename_keeps_the_selection(bench: StudioPage) -> None:
    """The tree, the posture and the selection follow the new name."""
    bench.row("left/bend").click()
    attribute(bench, "name").fill("curl")
    attribute(bench, "name").press("Enter")
    bench.until("store.selection[0]?.name === 'left/curl'")
    expect(bench.row("left/curl")).to_have_attribute("aria-selected", "true")
    bench.until("store.attributes?.name === 'left/curl'")
    assert list(content(bench).postures["up"]) == ["left/curl"]


@pytest.mark.capability(121)
def test_postures_are_applied_and_stored(bench: StudioPage) -> None:
    """A posture of the file is applied; the joints as they stand are stored as another."""
    bench.press("Space")
    bench.until("!store.status.running")
    bench.row("up").click()
    bench.page.get_by_role("button", name="Apply posture").click()
    session = running(bench).session
    until(bench, lambda: abs(session["left/bend.angle"] - 0.6981) < 1e-3)
    bench.page.locator(".file-pick").click()
    bench.page.get_by_role("menuitem", name="Store posture").click()
    dialog = bench.page.get_by_role("dialog", name="Store posture")
    dialog.get_by_label("Name").fill("not allowed!")
    dialog.get_by_role("button", name="Store").click()
    expect(dialog.get_by_role("alert")).to_contain_text("letters, digits")
    dialog.get_by_label("Name").fill("held")
    dialog.get_by_role("button", name="Store").click()
    bench.until("store.scene.postures.includes('held')")
    held = content(bench).postures["held"]
    assert held["left/bend"] == pytest.approx(0.6981, abs=1e-3)
    assert bench.ask("store.undo.undo") == "posture held"


def test_unsaved_changes_are_not_lost_without_a_word(bench: StudioPage, folder: Path) -> None:
    """Going back to the gallery asks; Cancel stays, Save saves and goes."""
    bench.row("left/tip").click()
    attribute(bench, "mass").fill("0.6")
    attribute(bench, "mass").press("Enter")
    bench.until("store.undo.dirty")
    bench.page.get_by_role("button", name="Linkwork, back to the gallery").click()
    dialog = bench.page.get_by_role("dialog", name="Save the changes?")
    expect(dialog).to_contain_text("finger.toml")
    dialog.get_by_role("button", name="Cancel").click()
    assert bench.ask("store.scene !== null")
    bench.page.get_by_role("button", name="Linkwork, back to the gallery").click()
    dialog.get_by_role("button", name="Save", exact=True).click()
    bench.until("store.scene === null")
    assert "mass = 0.6" in (folder / "finger.toml").read_text()
    bench.page.locator(f"[data-file='{folder / 'bench.toml'}'] .recent-row").click()
    bench.ready()


def test_a_kits_scene_is_saved_as_ones_own(bench: StudioPage, folder: Path) -> None:
    """Save asks for a name, writes what changed, and goes on in the new file."""
    reopen(bench, "gripper/follow")
    change_friction(bench)
    bench.press("Control+S")
    dialog = bench.page.get_by_role("dialog", name="Save as")
    dialog.get_by_label("File").fill("mine.toml")
    dialog.get_by_role("button", name="Save").click()
    bench.until("!store.undo.dirty && store.scene.file.endsWith('/mine.toml')")
    expect(bench.page.locator(".file-pick strong")).to_have_text("mine")
    assert "friction = 0.4" in (folder / "mine.toml").read_text()
    assert (folder / "follow.py").is_file()


def test_a_save_that_was_left_closes_nothing_later(bench: StudioPage) -> None:
    """Back to the gallery, Save as, Cancel: the next save is a save and no more."""
    reopen(bench, "gripper/follow")
    change_friction(bench)
    bench.page.get_by_role("button", name="Linkwork, back to the gallery").click()
    bench.page.get_by_role("dialog").get_by_role("button", name="Save as…").click()
    dialog = bench.page.get_by_role("dialog", name="Save as")
    dialog.get_by_role("button", name="Cancel").click()
    bench.press("Control+S")
    dialog.get_by_label("File").fill("kept.toml")
    dialog.get_by_role("button", name="Save").click()
    bench.until("!store.undo.dirty && store.scene?.file.endsWith('/kept.toml')")
    expect(bench.page.get_by_role("status").filter(has_text="kept.toml")).to_be_visible()
    bench.press("ArrowRight")  # all that was asked for before this has been answered
    bench.until("store.scene !== null && store.status.time > 0")


def test_save_as_replaces_a_file_when_told_to(bench: StudioPage, folder: Path) -> None:
    """A name in use is asked about with the name still there; what waited for the save goes on."""
    (folder / "mine.toml").write_text(BENCH)
    reopen(bench, "gripper/follow")
    change_friction(bench)
    bench.page.get_by_role("button", name="Linkwork, back to the gallery").click()
    bench.page.get_by_role("dialog").get_by_role("button", name="Save as…").click()
    dialog = bench.page.get_by_role("dialog", name="Save as")
    dialog.get_by_label("File").fill("mine")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").first).to_have_text("There is a file mine.toml already.")
    assert dialog.get_by_label("File").input_value() == "mine.toml"
    assert (folder / "mine.toml").read_text() == BENCH
    dialog.get_by_role("button", name="Replace").click()
    bench.until("store.scene === null")
    assert "friction = 0.4" in (folder / "mine.toml").read_text()
    reopen(bench, str(folder / "bench.toml"))


def test_another_scene_ends_a_drag(bench: StudioPage) -> None:
    """The pointer that is still down moves nothing in the scene that comes."""
    start = bench.find("front", "left/tip")
    mouse = bench.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(start[0] + 20, start[1] + 20, steps=4)
    until(bench, lambda: bool(running(bench).session.state.q.any()))
    reopen(bench, "gripper/follow")
    bench.page.evaluate("linkwork.store.refused = null")
    mouse.move(start[0] + 60, start[1] + 40, steps=4)
    mouse.up()
    bench.page.evaluate("linkwork.send({ type: 'inspect', name: 'arm/E3', kind: 'element' })")
    bench.until("store.attributes?.name === 'arm/E3'")
    assert bench.ask("store.refused") is None  # "the scene has no left/bend"
