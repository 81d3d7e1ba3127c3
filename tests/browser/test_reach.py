"""A tool is dragged by its gizmo, any link by the hand, and inverse kinematics follow live."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from linkwork.kinematics import jacobian
from linkwork.kinematics.workspace import workspace_parts
from linkwork.studio.host import workspace_sampler
from linkwork.studio.host.reach_editor import ReachEditor
from studio_fixture import TIMEOUT, Studio, studio
from studio_page import StudioPage, opened
from studio_state import at_the_start, eventually, scene_of, value

TIP = "arm/flange"
#: The most that a joint may go between two pictures [rad]: four short steps.
FAR = 4 * 0.05 + 1e-9


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Studio]:
    with studio("kuka/table", tmp_path_factory.mktemp("reach")) as running:
        yield running


@pytest.fixture(scope="module")
def opened_page(table: Studio, chromium: Browser) -> Iterator[StudioPage]:
    with opened(chromium, table, size=(1280, 720)) as page:
        page.ready()
        page.until("store.people.driver === store.you")
        page.press("i")
        page.until("linkwork.reach.joints.length === 7 && linkwork.reach.numbers", timeout=180)
        yield page


@pytest.fixture
def page(opened_page: StudioPage, table: Studio) -> StudioPage:
    """Paused at the first state with the flange as the tool, dragged as usual."""
    page = opened_page
    at_the_start(page, table)
    page.ask("linkwork.command({type: 'set_reach', setup: {tip: a}})", TIP)
    page.until("linkwork.reach.setup?.tip === a && linkwork.reach.joints.length === 7", TIP)
    eventually("ready", lambda: editor(table).reach is not None)
    there = tool(table)
    page.until("a.every((c, n) => Math.abs(c - linkwork.reach.numbers[n]) < 1e-6)", list(there))
    return page


def editor(table: Studio) -> ReachEditor:
    return scene_of(table).reach


def tool(table: Studio) -> tuple[float, float, float]:
    reach = editor(table).reach
    assert reach is not None
    return tuple(map(float, reach.place(scene_of(table).session.state.q).xyz))  # type: ignore[return-value]


def smallest(table: Studio) -> float:
    """Smallest singular value of the tool's Jacobian."""
    session = scene_of(table).session
    rows = jacobian(session.world, session.state.q, TIP)
    return float(np.linalg.svd(rows, compute_uv=False)[-1])


@pytest.fixture
def postures(table: Studio, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Every posture that the session is given by hand, one after the other."""
    session = scene_of(table).session
    found, give = [session.state.q.copy()], session.apply_or_raise

    def apply(message: object) -> None:
        give(message)  # type: ignore[arg-type]
        found.append(session.state.q.copy())

    monkeypatch.setattr(session, "apply_or_raise", apply)
    return found


@pytest.mark.capability(110)
def test_the_tool_goes_through_singular_postures_without_a_jump(
    page: StudioPage, table: Studio, postures: list[np.ndarray]
) -> None:
    """Out of reach and back, then over the shoulder: no joint leaps, and the tool is on time."""
    start = tool(table)
    mouse = page.page.mouse
    usual = smallest(table)
    mouse.move(*page.place("front", start))
    mouse.down()
    out = (start[0] + 1.4, start[1], start[2] + 0.4)
    mouse.move(*page.place("front", out), steps=5)
    eventually("stretched", lambda: smallest(table) < 0.05 * usual)
    eventually("as far as it goes", lambda: tool(table)[0] > start[0] + 0.15)
    base = float(scene_of(table).session.world.x0[1][0])
    over = (base - 0.15, start[1], start[2] + 0.25)
    mouse.move(*page.place("front", start), steps=2)
    eventually("back", lambda: np.allclose(tool(table), start, atol=4e-3))
    mouse.move(*page.place("front", over), steps=5)
    eventually("over the shoulder", lambda: np.allclose(tool(table), over, atol=4e-3))
    mouse.move(*page.place("front", start), steps=3)
    eventually("back again", lambda: np.allclose(tool(table), start, atol=4e-3))
    mouse.up()
    way = np.array(postures)
    assert np.isfinite(way).all()
    steps = np.abs(np.diff(way, axis=0))
    assert steps.sum(axis=0).max() > 2.0  # joints have gone far, however many pictures that took
    assert steps.max() <= FAR


@pytest.mark.capability(110)
def test_an_arrow_moves_the_tool_along_its_axis_and_undo_takes_it_back(
    page: StudioPage, table: Studio
) -> None:
    """The red arrow leaves y, z and the turn of the flange as they are; one undo is enough."""
    session, start = scene_of(table).session, tool(table)
    first = session.state.q.copy()
    x, y = page.place("front", start)
    page.drag((x + 60, y), (x + 35, y))
    eventually("moved", lambda: tool(table)[0] < start[0] - 0.02)
    eventually("at rest", lambda: editor(table).drag.reach is None)
    assert tool(table)[1:] == pytest.approx(start[1:], abs=1e-4)
    page.press("Control+Z")
    eventually("undone", lambda: bool((session.state.q == first).all()))


def test_rings_turn_the_tool_about_its_point(page: StudioPage, table: Studio) -> None:
    """R shows rings; dragging one turns the flange, and its place stays."""
    start = tool(table)
    page.press("r")
    page.until("stage.marks.root.children.at(-1).visible && linkwork.reach.turns")
    reach = editor(table).reach
    assert reach is not None
    before = reach.place(scene_of(table).session.state.q)
    x, y = page.place("front", start)
    ring = 0.82 * 84
    page.drag((x + ring, y), (x + ring * 0.94, y - ring * 0.34))
    eventually("turned", lambda: reach.place(scene_of(table).session.state.q).quat != before.quat)
    eventually("at rest", lambda: editor(table).drag.reach is None)
    after = reach.place(scene_of(table).session.state.q)
    assert after.xyz == pytest.approx(start, abs=1e-3)
    between = abs(float(np.dot(after.quat, before.quat)))
    assert 2 * np.arccos(min(1.0, between)) == pytest.approx(np.radians(20.0), abs=0.06)
    page.press("t")


@pytest.mark.capability(111)
def test_the_whole_chain_follows_a_hand_on_any_link(page: StudioPage, table: Studio) -> None:
    """A pull at the forearm moves more joints than its own; Escape puts all of them back."""
    session = scene_of(table).session
    first = session.state.q.copy()
    start = page.find("front", "arm/forearm")
    mouse = page.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(start[0] - 25, start[1] + 20, steps=5)
    eventually("follows", lambda: int((np.abs(session.state.q - first) > 0.02).sum()) >= 2)
    page.page.keyboard.press("Escape")
    eventually("back", lambda: bool((session.state.q == first).all()))
    mouse.up()


@pytest.mark.capability(112)
def test_another_end_effector_and_first_joint(page: StudioPage, table: Studio) -> None:
    """The gizmo goes to the chosen link, and only the joints from the first one on move."""
    tab, session = page.page, scene_of(table).session
    tab.get_by_label("End effector").select_option("arm/forearm")
    page.until("linkwork.reach.setup.tip === 'arm/forearm' && linkwork.reach.joints.length === 4")
    body, local = session.world.frame("arm/forearm")
    eventually("built", lambda: editor(table).reach is not None)
    at = tool(table)
    assert at == pytest.approx(session.state.pose[body, :3] if local.xyz == (0, 0, 0) else at)
    page.until(
        "(stage.draw(), linkwork.tool.gizmo.stand.place.distanceTo("
        "linkwork.tool.gizmo.stand.place.clone().set(...a)) < 1e-6)",
        list(at),
    )
    tab.get_by_label("End effector").select_option(TIP)
    page.until("linkwork.reach.joints.length === 7")
    tab.get_by_label("First joint").select_option("arm/J4")
    page.until("linkwork.reach.joints.length === 4")
    first = session.state.q.copy()
    x, y = page.place("front", tool(table))
    page.drag((x, y), (x - 30, y + 20))
    eventually("moved", lambda: value(table, "arm/J4.angle") != first[3])
    eventually("at rest", lambda: editor(table).drag.reach is None)
    assert (session.state.q[:3] == first[:3]).all()


def test_priorities_and_damping_are_changed_live(page: StudioPage, table: Studio) -> None:
    """Order, weights and damping of the panel are those of the solver."""
    tab = page.page
    rows = tab.get_by_role("list", name="Priorities").get_by_role("listitem")
    expect(rows).to_have_count(3)
    rows.filter(has_text="Orientation of the tool").get_by_role(
        "button", name="Orientation of the tool: separate priority"
    ).click()
    eventually("own", lambda: [a.priority for a in editor(table).setup.aims] == [0, 1, 2])  # type: ignore[union-attr]
    tab.get_by_role("button", name="Posture: up").click()
    expect(rows.nth(1)).to_have_accessible_name("Posture")
    weight = tab.get_by_label("Weight of Posture")
    weight.fill("0.5")
    weight.press("Enter")

    def aims() -> list[tuple[str, int, float]]:
        setup = editor(table).setup
        assert setup is not None
        return [(a.kind, a.priority, a.weight) for a in setup.aims]

    wanted = [("position", 0, 1.0), ("posture", 1, 0.5), ("orientation", 2, 0.2)]
    eventually("as asked", lambda: aims() == wanted)
    tab.get_by_label("Kind of damping").select_option("robotix")
    slider = tab.get_by_role("slider", name="Damping")
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")

    def damping() -> tuple[str, float]:
        reach = editor(table).reach
        return ("", 0.0) if reach is None else (reach.damping.kind, reach.damping.value)

    eventually("damped", lambda: damping()[0] == "robotix" and damping()[1] > 0.06)
    tab.get_by_role("button", name=re.compile("Posture: remove")).click()
    expect(rows).to_have_count(2)


def test_who_watches_sees_the_tool_and_cannot_drag_it(
    page: StudioPage, table: Studio, chromium: Browser
) -> None:
    """The session refuses a drag of a watcher; no gizmo is offered."""
    first = scene_of(table).session.state.q.copy()
    with opened(chromium, table) as other:
        other.ready()
        other.until("linkwork.reach.setup && linkwork.reach.numbers && store.people.driver")
        other.until(
            "(stage.draw(), linkwork.tool.root.visible && !linkwork.tool.gizmo.root.visible)"
        )
        pose = [*tool(table), 1, 0, 0, 0]
        other.ask("linkwork.send({type: 'reach', pose: a, gesture: 1})", pose)
        other.until("store.refused?.what === 'reach' && store.refused.text.includes('drives')")
    assert (scene_of(table).session.state.q == first).all()


def test_a_panel_that_comes_while_time_stands_has_all_figures(
    page: StudioPage, table: Studio, chromium: Browser
) -> None:
    """Whoever opens it after the figures came sees them at once, without any motion."""
    session = scene_of(table).session
    figure = np.linalg.svd(jacobian(session.world, session.state.q, TIP)[:3], compute_uv=False)
    with opened(chromium, table) as other:
        other.ready()
        other.until("linkwork.reach.numbers && linkwork.reach.near?.length")
        other.press("i")
        tab = other.page
        expect(tab.get_by_label("Manipulability")).to_have_text(f"{figure.prod():.4f}")
        expect(tab.get_by_label("Remaining error")).to_have_text("nothing")
        expect(
            tab.get_by_role("list", name="Nearest pairs").get_by_role("listitem")
        ).not_to_have_count(0)
        expect(tab.get_by_text("Nothing within 300 mm.")).to_be_hidden()


def test_a_typed_place_out_of_reach_says_how_far_is_left(page: StudioPage, table: Studio) -> None:
    """The arm stops at the nearest, the field says where it is, and nonsense does not stay."""
    tab, start = page.page, tool(table)
    z = tab.get_by_label("Position of the tool, z")
    z.fill("2000")
    z.press("Enter")
    eventually("up", lambda: tool(table)[2] > start[2] + 0.1)
    eventually("at rest", lambda: editor(table).drag.reach is None)
    far = np.linalg.norm(np.subtract((start[0], start[1], 2.0), tool(table))) * 1e3
    expect(tab.get_by_label("Remaining error")).to_have_text(
        re.compile(rf"^{far:.1f} mm, .* short$")
    )
    expect(z).to_have_value(f"{tool(table)[2] * 1e3:.1f}")
    z.fill("abc mm")
    z.press("Tab")
    expect(z).to_have_value(f"{tool(table)[2] * 1e3:.1f}")
    page.press("Control+Z")
    expect(tab.get_by_label("Remaining error")).to_have_text("nothing")


def reached(page: StudioPage, table: Studio, place: tuple[float, float, float]) -> None:
    """Drags the tool to a place, turned as it is, and waits until it is there."""
    reach = editor(table).reach
    assert reach is not None
    pose = [*place, *map(float, reach.place(scene_of(table).session.state.q).quat)]
    page.ask("linkwork.command({type: 'reach', pose: a, gesture: 1000 + Math.random() * 1e6 | 0})",
             pose)  # fmt: skip
    eventually("there", lambda: np.allclose(tool(table), place, atol=1e-3))
    page.ask("linkwork.command({type: 'end_tool_drag'})")
    eventually("at rest", lambda: editor(table).drag.reach is None)
    page.until("Math.abs(linkwork.reach.numbers[0] - a) < 1e-6", tool(table)[0])


def trace(page: StudioPage) -> np.ndarray:
    """The places that the trace goes through, up to what is drawn now."""
    positions = page.ask(
        "(stage.draw(), Array.from(linkwork.tool.trace.root.geometry.attributes.position.array"
        ".subarray(0, 3 * linkwork.tool.trace.length)))"
    )
    return np.array(positions).reshape(-1, 3)


@pytest.mark.capability(113, 114, 128)
def test_the_ellipsoid_is_that_of_the_sessions_jacobian(page: StudioPage, table: Studio) -> None:
    """Half axes, figure and Jacobian on the page are what NumPy makes of the session's posture."""
    tab, session, start = page.page, scene_of(table).session, tool(table)
    tab.get_by_role("button", name="Clear the trace").click()
    assert trace(page) == pytest.approx(np.array([start]), abs=1.1e-3)
    reached(page, table, (start[0] - 0.1, start[1] + 0.15, start[2] + 0.1))
    whole = jacobian(session.world, session.state.q, TIP)
    u, lengths, _ = np.linalg.svd(whole[:3])
    drawn = page.ask(
        "(stage.draw(), [linkwork.tool.ellipsoid.root.matrix.elements,"
        " linkwork.tool.ellipsoid.root.visible])"
    )
    sides = np.array(drawn[0]).reshape(4, 4)[:, :3]
    assert drawn[1]
    way = trace(page)  # how many points it has between these two depends on the pictures drawn
    assert way[0] == pytest.approx(start, abs=1.1e-3)
    assert way[-1] == pytest.approx(tool(table), abs=1.1e-3)
    assert np.linalg.norm(sides[:3], axis=1) / 0.2 == pytest.approx(lengths, rel=1e-5)
    assert np.abs((sides[:3] / np.linalg.norm(sides[:3], axis=1)[:, None]) @ u) == pytest.approx(
        np.eye(3), abs=1e-4
    )
    assert sides[3] == pytest.approx(tool(table), abs=1e-6)
    figure = f"{lengths.prod():.4f}"
    expect(tab.get_by_label("Manipulability")).to_have_text(figure)
    expect(tab.locator("[data-view=perspective] .reach-label").first).to_have_text(f"w {figure}")
    tab.get_by_text("Jacobian", exact=True).click()
    cells = tab.get_by_role("table", name="Jacobian").locator("td")
    expect(cells).to_have_count(42)
    shown = [float(text.replace("−", "-")) for text in cells.all_inner_texts()]
    assert shown == pytest.approx(whole.ravel().tolist(), abs=0.0051)
    tab.get_by_label("Kind of ellipsoid").select_option("force")
    words = "  ".join(f"{1 / s:.3f}" for s in lengths[::-1])
    expect(tab.get_by_label("Half axes")).to_have_text(words)
    tab.get_by_label("Kind of ellipsoid").select_option("impact")
    eventually("impact", lambda: editor(table).setup.ellipsoid == "impact")  # type: ignore[union-attr]
    tab.get_by_text("Jacobian", exact=True).click()


@pytest.mark.capability(125, 126)
def test_colliding_faces_are_colored_and_distances_drawn(page: StudioPage, table: Studio) -> None:
    """A flange in a block colours the block's top, whole, and faces of the flange that cross it."""
    tab = page.page
    reached(page, table, (0.32, 0.18, 0.83))
    page.until("(stage.draw(), linkwork.tool.near.count > 2 && linkwork.tool.faces.count === 0)")
    closest = editor(table).block(10, scene_of(table).session.state)
    far = float(np.frombuffer(closest, "<f4")[6])
    expect(
        tab.get_by_role("list", name="Nearest pairs").get_by_role("listitem").first
    ).to_have_text(f"tip – blocks{far * 1e3:.0f} mm")
    reached(page, table, (0.32, 0.18, 0.79))
    page.until("(stage.draw(), linkwork.tool.faces.count > 2)")
    expect(
        tab.get_by_role("list", name="Nearest pairs").get_by_role("listitem").first
    ).to_contain_text("collides")
    assert page.ask("linkwork.tool.faces.pairs") == [["arm/tip", "blocks"]]
    positions = page.ask("Array.from(linkwork.tool.faces.root.geometry.attributes.position.array)")
    faces = np.array(positions).reshape(-1, 3, 3)
    top = faces[(np.abs(faces[:, :, 2] - 0.80) < 1e-6).all(axis=1)]
    assert len(top) == 2
    corners = np.unique(np.round(top.reshape(-1, 3)[:, :2], 4), axis=0).tolist()
    assert corners == [[0.29, 0.15], [0.29, 0.21], [0.35, 0.15], [0.35, 0.21]]
    crossing = faces[~np.isclose(faces[:, :, 2], 0.80).all(axis=1)]
    assert (crossing[:, :, 2].min(axis=1) <= 0.80 + 1e-6).all()
    tab.get_by_role("checkbox", name="Show colliding faces").uncheck(force=True)
    page.until("(stage.draw(), !linkwork.tool.faces.root.visible)")
    tab.get_by_role("checkbox", name="Show colliding faces").check(force=True)


@pytest.mark.capability(127)
def test_the_workspace_grows_is_drawn_and_cleared(
    page: StudioPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compute makes as many places as asked for; a long one can be cancelled."""
    tab = page.page
    seen = threading.Event()

    def waiting(*args: Any, **keywords: Any) -> Iterator[np.ndarray]:
        for part in workspace_parts(*args, **keywords):
            yield part
            seen.wait(TIMEOUT)  # however quick the machine is, this one is under way when seen

    monkeypatch.setattr(workspace_sampler, "workspace_parts", waiting)
    tab.get_by_label("Postures of the cloud").select_option("200000")
    tab.get_by_role("button", name="Compute").click()
    bar = tab.get_by_role("progressbar", name="Progress of the cloud")
    expect(bar).to_be_visible()
    expect(bar).to_have_js_property("value", 1000 / 200_000)
    tab.get_by_role("button", name="Cancel").click()
    page.until("linkwork.reach.cloud === null")
    seen.set()
    tab.get_by_label("Postures of the cloud").select_option("10000")
    tab.get_by_role("button", name="Compute").click()
    page.until(
        "(stage.draw(), linkwork.tool.cloud.count === 10000 && linkwork.tool.cloud.root.visible)"
    )
    tab.get_by_role("button", name="Clear", exact=True).click()
    page.until("(stage.draw(), !linkwork.tool.cloud.root.visible)")
