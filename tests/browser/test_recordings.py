"""Recordings in a real browser: made, opened, scrubbed, gone on from, and saved as a page."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from linkwork.session.playback import Playback
from linkwork.session.recording import Recording
from linkwork.session.session import Session
from linkwork.studio.host.html_page import write_page
from linkwork.studio.host.open_recording import OpenRecording
from linkwork.studio.host.open_scene import OpenScene
from studio_fixture import Studio, studio
from studio_page import StudioPage, opened

SIGNAL = "arm/J2.angle"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of 3 s with a mark at 1.2 s, in the folder of a studio's recordings."""
    folder = tmp_path_factory.mktemp("studio") / "recordings"
    folder.mkdir()
    with Session("gripper/follow", record=folder / "grip.mcap") as session:
        session.run(1.2)
        session.log("it grips", level="mark", source="mark")
        session.run(1.8)
    return folder / "grip.mcap"


@pytest.fixture(scope="module")
def library(run: Path, chromium: Browser) -> Iterator[Studio]:
    """A studio that lists the recording."""
    with studio(None, run.parent.parent) as running:
        yield running


@pytest.fixture(scope="module")
def tab(library: Studio, chromium: Browser) -> Iterator[StudioPage]:
    """A page of that studio, for all tests."""
    with opened(chromium, library) as page:
        page.until("store.link === 'open' && store.people.driver === store.you")
        yield page


@pytest.fixture
def page(tab: StudioPage, run: Path) -> StudioPage:
    """The page shows the recording from its beginning, opened in the gallery."""
    if tab.ask("store.scene !== null"):
        tab.page.get_by_role("button", name="Linkwork, back to the gallery").click()
    tab.page.locator(f"[data-recording='{run}']").click()
    tab.ready()
    tab.until("store.scene.replay && store.status.time === 0")
    return tab


def seek(page: StudioPage, share: float) -> float:
    """Clicks on the timeline at a share of its width; returns the time that is shown then."""
    box = page.page.get_by_role("slider", name="Time").bounding_box()
    assert box is not None
    page.page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    page.until(f"Math.abs(store.poseTime - {3 * share}) < 0.05")
    return page.ask("store.poseTime")


@pytest.mark.capability(89)
def test_a_recording_is_scrubbed_and_shows_what_it_holds(page: StudioPage, run: Path) -> None:
    """Wherever the timeline is clicked, poses and values are those of the recorded run."""
    page.page.evaluate("linkwork.watch('test', ['arm/J2.angle'])")
    with Recording.open(run) as recording:
        playback = Playback(recording)
        for share in (0.9, 0.25, 0.5):
            when = seek(page, share)
            page.until(f"linkwork.valueOf('{SIGNAL}') !== null")
            assert playback.go(round(when / recording.header.world.step))
            assert page.ask(f"linkwork.valueOf('{SIGNAL}')") == playback.live[SIGNAL]
            shown = np.array(page.ask("Array.from(store.poses)")).reshape(-1, 7)
            np.testing.assert_array_equal(shown, playback.live.state.pose.astype(np.float32))
        playback.close()


def test_marks_stand_on_the_timeline_and_lead_there(page: StudioPage) -> None:
    """The mark that was put while recording is a button that shows its instant."""
    page.page.get_by_role("button", name="Go to it grips, 1.20 s").click()
    page.until("Math.abs(store.poseTime - 1.2) < 1e-6")


def test_a_recording_plays_pauses_and_steps(page: StudioPage) -> None:
    """Space plays to the end at the speed chosen, the arrows step, Backspace begins anew."""
    page.page.get_by_role("combobox", name="Speed", exact=True).select_option("4")
    page.press("Space")
    page.until("!store.status.running && Math.abs(store.poseTime - 3) < 1e-6")
    page.press("ArrowLeft")
    page.until("Math.abs(store.poseTime - (3 - store.scene.step)) < 1e-6")
    page.press("ArrowRight")
    page.until("Math.abs(store.poseTime - 3) < 1e-6")
    page.press("Backspace")
    page.until("store.poseTime === 0")


def test_driving_is_refused_and_going_on_runs_live(page: StudioPage, library: Studio) -> None:
    """A posture is refused with the way out, which goes on live from the instant shown."""
    when = seek(page, 0.5)
    page.page.evaluate("linkwork.command({ type: 'take', signal: 'arm/J1.target' })")
    toast = page.page.get_by_role("status").filter(has_text="this is a recording")
    toast.get_by_role("button", name="Go on from here").click()
    page.until("store.scene && !store.scene.replay && store.status.running")
    page.until(f"store.poseTime > {when}")
    assert isinstance(library.host.open, OpenScene)


@pytest.mark.capability(97)
def test_recorded_in_the_studio_opened_and_back_to_live(
    gripper_page: StudioPage, gripper: Studio
) -> None:
    """Record, mark, stop, open it from the message, look, and go back to the scene that waits."""
    page = gripper_page
    page.press("Space")
    page.page.get_by_role("button", name="Record", exact=True).click()
    page.until("store.status.recording")
    page.press("m")
    page.until("store.notes.some((note) => note.level === 'mark')")
    begun = page.ask("store.status.time")
    page.until("store.status.time > a + 0.5", begun)
    page.page.get_by_role("button", name="Stop recording").click()
    page.page.get_by_role("button", name="Open it").click()
    page.until("store.scene.replay && store.scene.replay.duration > 0.4 && store.poses")
    assert isinstance(gripper.host.open, OpenRecording)
    with Recording.open(gripper.host.open.path) as recording:
        assert page.ask("store.scene.replay.duration") == recording.duration
        first = recording.segments[0].block("pose", recording.first_state)
    shown = np.array(page.ask("Array.from(store.poses)")).reshape(-1, 7)
    np.testing.assert_array_equal(shown, first.astype(np.float32))
    assert page.page.get_by_role("button", name="Record", exact=True).count() == 0
    page.page.get_by_role("button", name="Back to live").click()
    page.until("store.scene && !store.scene.replay && store.status.time > a", begun)
    assert isinstance(gripper.host.open, OpenScene)


def test_changes_behind_a_recording_are_asked_about(
    gripper_page: StudioPage, gripper: Studio, run: Path
) -> None:
    """Leaving a recording asks about the scene that waits behind it, and leads back there."""
    page = gripper_page
    gripper.host._recents.add(str(run), run.name)  # files that were open may be opened again
    edit = {"type": "edit", "kind": "element", "name": "ground", "key": "friction", "value": 0.3}
    page.page.evaluate("(edit) => linkwork.command(edit)", edit)
    page.until("store.undo.dirty")
    page.page.evaluate("(scene) => linkwork.command({ type: 'open', scene })", str(run))
    page.until("store.scene.replay && store.scene.replay.unsaved.length === 1")
    page.page.get_by_role("button", name="Go on from here").first.click()
    dialog = page.page.get_by_role("dialog", name="Discard the changes?")
    expect(dialog).to_contain_text("follow.toml, suspended behind this recording")
    dialog.get_by_role("button", name="Back to the scene").click()
    page.until("store.scene && !store.scene.replay && store.undo.dirty")
    page.press("Control+Z")
    page.until("!store.undo.dirty")


@pytest.mark.capability(89, 97)
def test_the_page_of_a_recording_opens_from_disk(
    chromium: Browser, run: Path, tmp_path: Path
) -> None:
    """Saved as one file it shows the run without a server: scrubbed, played, charted."""
    file = tmp_path / "grip.html"
    with Recording.open(run) as recording:
        write_page(recording, file)
        frames, steps = recording.frames.stacked(), recording.frames.steps
        h = recording.header.world.step
    context = chromium.new_context(viewport={"width": 1100, "height": 600}, offline=True)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    tab = StudioPage(context.new_page(), studio=None)
    tab.page.goto(f"{file.as_uri()}?antialias=off")
    tab.page.wait_for_function("window.linkwork !== undefined")  # all is unpacked
    tab.until("store.poses && stage.bodies.shapeMeshes.length > 0")
    for number in (150, 20, 90):
        when = float(steps[number] * h)
        tab.page.evaluate("t => linkwork.player.show(t)", when)
        shown = np.array(tab.ask("Array.from(store.poses)")).reshape(-1, 7)
        np.testing.assert_allclose(shown, frames[number], atol=1e-6)
        place = tab.ask("stage.bodies.groups.map((g) => g.matrix.elements.slice(12, 15))")
        np.testing.assert_allclose(place, frames[number][:, :3], atol=1e-6)
    charts = tab.page.get_by_role("region", name="Charts")
    assert charts.get_by_role("group", name=f"Chart of {SIGNAL}").count() == 1
    tab.page.get_by_role("button", name="Go to it grips, 1.20 s").click()
    tab.until("Math.abs(store.poseTime - 1.2) < 1e-9")
    tab.page.get_by_role("combobox", name="Speed", exact=True).select_option("4")
    tab.press("Space")
    tab.until("!store.status.running && Math.abs(store.poseTime - 3) < 0.02")
    slider = tab.page.get_by_role("slider", name="Time").bounding_box()
    assert slider is not None
    tab.page.mouse.click(slider["x"] + slider["width"] / 2, slider["y"] + slider["height"] / 2)
    tab.until("Math.abs(store.poseTime - 1.5) < 0.02")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert tab.errors == []
    context.close()


def test_a_recording_is_saved_as_html_from_the_menu(page: StudioPage, tmp_path: Path) -> None:
    """The file menu saves the recording that is shown as one page."""
    page.page.locator(".file-pick").click()
    with page.page.expect_download(timeout=120_000) as waiting:
        page.page.get_by_role("menuitem", name="Save as HTML").click()
    assert waiting.value.suggested_filename == "grip.html"
    waiting.value.save_as(tmp_path / "grip.html")
    assert 'id="film"' in (tmp_path / "grip.html").read_text()
