"""Mechanisms in the studio: forces at joints, loops closed between two anchors, the gap."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

import linkwork as lw
from linkwork.studio.host.open_scene import OpenScene
from mechanisms import four_bar, scene_of
from studio_fixture import Studio, studio
from studio_page import COMPILING, StudioPage, opened


@pytest.fixture(scope="module")
def bars(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Studio]:
    """Three bars that hang in two chains from a block, with an anchor at each end."""
    folder = tmp_path_factory.mktemp("bars")
    part = four_bar()
    del part.loops["C"]
    lw.save(scene_of(part), folder / "bars.toml")
    with studio(str(folder / "bars.toml"), folder) as running:
        yield running


@pytest.fixture
def page(bars: Studio, chromium: Browser) -> Iterator[StudioPage]:
    """The bars in their first posture, paused."""
    with opened(chromium, bars) as page:
        page.ready()
        page.until("store.people.driver === store.you")
        if page.ask("store.status.running"):
            page.pause()
        while page.ask("store.undo.can_undo"):
            page.press("Control+z")
            page.until("!store.undo.can_undo && store.scene.loops.length === 0", timeout=COMPILING)
        page.press("Backspace")
        page.until("store.status.time === 0 && store.poseTime === 0")
        page.page.evaluate("linkwork.stage.cameraTargets.fit(); linkwork.stage.draw()")
        page.rest()
        yield page


def scene(bars: Studio) -> OpenScene:
    assert isinstance(bars.host.open, OpenScene)
    return bars.host.open


def pick(page: StudioPage) -> None:
    """Picks the two anchors in a view, apart from each other as the chains have fallen."""
    page.page.get_by_label("Anchors", exact=True).set_checked(True, force=True)
    page.page.evaluate("linkwork.command({ type: 'step', steps: 80 })")
    page.until("store.status.step === 80 && store.poseTime === store.status.time")
    first, second = (
        page.page.evaluate(
            """(name) => {
              const { stage, store } = linkwork;
              stage.draw();
              const { body, pose } = store.scene.anchors.find((each) => each.name === name);
              const view = stage.views.find((each) => each.slot === "front");
              const point = view.camera.stand.target.clone().fromArray(pose);
              const at = view.project(point.applyMatrix4(stage.bodies.groups[body].matrix));
              const box = view.element.getBoundingClientRect();
              return [box.left + at.x, box.top + at.y];
            }""",
            f"four_bar/{name}",
        )
        for name in ("end", "tip")
    )
    page.page.mouse.click(*first)
    page.until("store.selection.length === 1 && store.selection[0].kind === 'anchor'")
    page.page.keyboard.down("Shift")
    page.page.mouse.click(*second)
    page.page.keyboard.up("Shift")
    page.until("store.selection.map((thing) => thing.name).join() === a",
               "four_bar/end,four_bar/tip")  # fmt: skip


@pytest.mark.capability(99)
def test_a_loop_closed_by_picking_two_anchors_runs_at_once(page: StudioPage, bars: Studio) -> None:
    """It stands in the file, holds while it runs, and is gone after undo."""
    pick(page)
    page.page.get_by_role("button", name="Close loop here").click()
    dialog = page.page.get_by_role("dialog", name="Close a loop")
    dialog.get_by_label("Axis of the anchors").select_option("y")
    dialog.get_by_role("button", name="Close loop", exact=True).click()
    page.until("store.scene.loops.length === 1", timeout=COMPILING)
    page.until("store.selection[0].kind === 'loop' && store.selection[0].name === 'loop1'")
    assert "[[loop]]" in scene(bars).editor.project.main.text  # type: ignore[union-attr]
    began = page.ask("store.status.time")
    page.play()
    page.until("store.status.time > a + 0.5", began)
    page.pause()
    assert scene(bars).session.state.report.gap[0] < 1e-9
    assert page.ask("store.status.gap") < 1e-9
    expect(page.page.get_by_role("button", name="Largest gap")).to_contain_text("< 1 nm")
    page.press("Control+z")
    page.until("store.scene.loops.length === 0", timeout=COMPILING)
    assert "[[loop]]" not in scene(bars).editor.project.main.text  # type: ignore[union-attr]


def test_a_loop_that_cannot_be_closed_is_refused(page: StudioPage, bars: Studio) -> None:
    """The reason is told, and the file is as it was."""
    before = scene(bars).editor.project.main.text  # type: ignore[union-attr]
    page.row("four_bar/end").click()
    page.row("four_bar/tip").click(modifiers=["Shift"])
    page.page.get_by_role("button", name="Close loop here").click()
    dialog = page.page.get_by_role("dialog", name="Close a loop")
    dialog.get_by_label("To anchor").select_option("four_bar/end")
    dialog.get_by_role("button", name="Close loop", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("Choose two different anchors.")
    dialog.get_by_label("To anchor").select_option("four_bar/tip")
    # About x of both anchors: the bars can turn about y only.
    dialog.get_by_label("Axis of the anchors").select_option("x")
    dialog.get_by_role("button", name="Close loop", exact=True).click()
    expect(page.page.locator(".toast.error")).to_contain_text("cannot be closed")
    page.until("!store.undo.can_undo && store.scene.loops.length === 0", timeout=COMPILING)
    assert scene(bars).editor.project.main.text == before  # type: ignore[union-attr]


def test_arrows_are_the_forces_that_the_engine_holds_joints_with(
    page: StudioPage, bars: Studio
) -> None:
    """Each where its joint is and as the engine says; the largest is named."""
    page.page.get_by_label("Joint forces", exact=True).set_checked(True, force=True)
    page.play()
    page.until("store.status.time > 0.2 && store.forces?.length > 0")
    page.pause()
    page.drawn()
    session = scene(bars).session
    rows = np.array(page.ask("[...store.forces]")).reshape(-1, 7)
    np.testing.assert_allclose(rows, session.cycle.joint_forces(), rtol=1e-5, atol=1e-5)
    assert page.ask("stage.marks.held.shafts.count") == len(rows) == 3
    sizes = np.linalg.norm(rows[:, 3:6], axis=1)
    most = session.world.joint_names[int(rows[sizes.argmax(), 6])]
    assert page.ask("stage.marks.held.largest.name") == most
    label = page.view("Front").locator(".force-label")
    expect(label).to_contain_text(f"N at {most.rpartition('/')[2]}")
    page.page.get_by_label("Joint forces", exact=True).set_checked(False, force=True)
    page.until("(stage.draw(), !stage.marks.held.root.visible)")


def test_gap_and_energy_are_charted_by_a_click(page: StudioPage) -> None:
    """In the status bar; both energies come into one chart."""
    page.page.get_by_role("button", name="Largest gap").click()
    page.page.get_by_role("button", name="Energy").click()
    curves = page.page.locator(".chart-curve")
    expect(curves).to_have_count(3)
    assert page.ask("linkwork.charts.list.map((chart) => chart.curves)") == [
        ["world.gap"],
        ["world.kinetic_energy", "world.potential_energy"],
    ]
