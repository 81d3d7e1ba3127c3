"""What the views draw over the bodies: each toggle adds something, at the right place."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

import overlay_scene
from studio_fixture import Studio, studio
from studio_page import StudioPage, opened

#: Whether a toggle's part of the scene graph is drawn.
DRAWN = {
    "Frames": "stage.marks.frames.root.visible"
    " && stage.marks.frames.root.children[1].children[0].visible",
    "Centers of mass": "stage.marks.frames.root.visible"
    " && stage.marks.frames.root.children.some((g) => g.children[1].visible)",
    "Inertia boxes": "stage.marks.frames.root.visible"
    " && stage.marks.frames.root.children.some((g) => g.children[2].visible)",
    "Sensor rays": "stage.marks.rays.root.visible && stage.marks.rays.met.visible",
    "Traces": "stage.marks.trace.root.visible",
    "Collision shapes": "stage.bodies.shapeMeshes.some((p) => p.mesh.material.wireframe)",
    "Grid": "Object.values(stage.grids).some((g) => g.visible)",
    "Shadows": "stage.lights.shadows",
    "Joint glyphs": "stage.marks.glyph.root.visible",
    "Contacts": "stage.marks.contacts.dots.count > 0",
    "Forces": "stage.marks.contacts.shafts.count > 0",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("overlays")
    with studio(overlay_scene.write_scene(folder), folder) as running:
        yield running


@pytest.fixture(scope="module")
def page(bench: Studio, chromium: Browser) -> Iterator[StudioPage]:
    with opened(chromium, bench, size=(1280, 800)) as page:
        page.ready()
        page.until("store.people.driver === store.you")
        run_while(page, "!(store.status.time > 0.3 && store.contacts?.length > 0)")
        yield page


def run_while(page: StudioPage, condition: str) -> None:
    """Lets time run as long as a condition holds, then stops it."""
    if not page.ask("store.status.running"):
        page.press("Space")
    page.until(f"!({condition}) && store.status.running")
    page.press("Space")
    page.until("!store.status.running")


@pytest.mark.parametrize("label", DRAWN)
def test_each_toggle_draws_and_hides(page: StudioPage, label: str) -> None:
    """No toggle is disabled; on, its marks are in the scene graph, off, they are not."""
    page.row("bench/hinge").click()
    box = page.page.get_by_role("group", name="Show in views").get_by_label(label, exact=True)
    assert box.is_enabled()
    was = box.is_checked()
    for on in (not was, was, True):
        box.set_checked(on, force=True)
        page.until(f"(stage.draw(), Boolean({DRAWN[label]})) === a", on)
    box.set_checked(was, force=True)


def test_a_ray_ends_where_its_sensor_says(page: StudioPage, bench: Studio) -> None:
    """Drawn from its start to the sign it meets, and faintly on to its range."""
    page.page.get_by_label("Sensor rays", exact=True).set_checked(True, force=True)
    page.until("stage.marks.rays.dots.count === 1")
    assert bench.host.open is not None
    assert bench.host.open.session["eye.distance"] == pytest.approx(overlay_scene.MET, abs=1e-6)
    met = page.ask("Array.from(stage.marks.rays.met.geometry.attributes.position.array)")
    assert met == pytest.approx([0.0, 0.0, 0.1, overlay_scene.MET, 0.0, 0.1], abs=1e-6)
    beyond = page.ask("Array.from(stage.marks.rays.beyond.geometry.attributes.position.array)")
    assert beyond[3] == pytest.approx(overlay_scene.REACH, abs=1e-6)


@pytest.mark.capability(49)
@pytest.mark.parametrize("kind", overlay_scene.TYPES)
def test_every_type_of_joint_has_a_glyph(page: StudioPage, kind: str) -> None:
    """A selected joint shows its range and its value, and its label names it."""
    page.page.get_by_label("Joint glyphs", exact=True).set_checked(True, force=True)
    page.row(f"bench/{kind}").click()
    page.until("(stage.draw(), stage.marks.glyph.joint?.name) === a", f"bench/{kind}")
    layers = page.ask(
        "Object.fromEntries(stage.marks.glyph.root.children.map((m) => [m.name, m.visible]))"
    )
    assert layers["arc"]
    assert layers["axis"] == (kind not in ("ball", "rail"))
    assert layers["actual"] == (kind != "ball")
    assert layers["ends"] == (kind in ("hinge", "screw", "slider", "rail"))
    label = page.view("Perspective").locator(".joint-label")
    assert label.is_visible()
    assert kind in label.inner_text()


@pytest.mark.capability(49)
def test_a_glyph_shows_axis_range_value_and_the_last_twelve_degrees(page: StudioPage) -> None:
    """A hinge of −1 to 1.5 rad: the arc spans its range, the needle its value, the ends 12°."""
    page.row("bench/hinge").click()
    page.until("(stage.draw(), stage.marks.glyph.joint?.name) === 'bench/hinge'")
    angles = """(name) => {
      const { stage } = linkwork;
      const mesh = stage.marks.glyph.root.children.find((m) => m.name === name);
      const at = mesh.geometry.attributes.position;
      const pivot = stage.bodies.groups.find((g) => g.name.includes('hinge')).matrix.elements;
      const found = [];
      for (let i = 0; i < at.count; i++) {
        const [x, y] = [at.getX(i) - pivot[12], at.getY(i) - pivot[13]];
        if (Math.hypot(x, y) > 1e-6) found.push(Math.atan2(y, x));
      }
      return [Math.min(...found), Math.max(...found)];
    }"""
    low, high = page.page.evaluate(angles, "arc")
    assert high - low == pytest.approx(2.5, abs=1e-3)
    ends = page.page.evaluate(angles, "ends")
    assert ends == pytest.approx([low, high], abs=1e-3)
    assert page.ask(
        "stage.marks.glyph.root.children.find((m) => m.name === 'ends')"
        ".material.color.getHexString()"
    ) == page.page.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--warn').trim().slice(1)"
    )


@pytest.mark.capability(173)
def test_a_texture_is_laid_on_its_shape(page: StudioPage) -> None:
    """The image beside the scene file covers the box that names it."""
    page.until("stage.bodies.of('sign')[0].mesh.material.map !== null")
    size = page.ask(
        "(({ width, height }) => [width, height])"
        "(stage.bodies.of('sign')[0].mesh.material.map.image)"
    )
    assert size == [8, 8]
    assert page.ask("stage.bodies.of('ball')[0]?.mesh.material.map ?? null") is None


def test_a_trace_follows_what_is_selected(page: StudioPage, bench: Studio) -> None:
    """While time runs, the path of the selected element grows behind it; Esc takes it away."""
    page.page.get_by_label("Traces", exact=True).set_checked(True, force=True)
    page.row("ball/ball").and_(page.page.locator("[data-kind=element]")).click()
    run_while(page, "stage.marks.trace.length < 4")
    page.press("Escape")
    page.until("(stage.draw(), stage.marks.trace.length === 0)")
    assert (
        page.ask("stage.marks.trace.root.children[0].geometry.attributes.position?.count ?? 0") == 0
    )
