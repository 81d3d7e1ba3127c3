"""Buses in the browser: ports and their codes, the bus log, faults, and a joint's address."""

from collections.abc import Callable, Iterator
from pathlib import Path

import can
import pytest
from playwright.sync_api import Browser, Locator, expect

from can_arm_fixture import controller, running, write_bench
from linkwork.buses.port_listing import port_lines
from linkwork.buses.process import BusProcess
from studio_fixture import Studio, studio
from studio_page import SHARP, StudioPage, opened

TARGET = "can0/arm/shoulder.target"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("buses")


#: Everything in the head of the dock that a person may press or type into.
ROOM = """() => [...document.querySelectorAll(
  ".dock-head button, .dock-head select, .dock-head input")]
  .filter((each) => !each.matches(".search button"))
  .map((each) => [each, (each.closest(".search") ?? each).getBoundingClientRect()])
  .filter(([_, box]) => box.width > 0)
  .map(([each, { left, right, top, bottom }]) => ({
    name: each.getAttribute("aria-label") ?? each.textContent, left, right, top, bottom }))"""


@pytest.fixture(scope="module")
def bench_studio(folder: Path, chromium: Browser) -> Iterator[Studio]:
    with studio(str(write_bench(folder)), folder / ".linkwork") as made:
        yield made


@pytest.fixture
def bench(bench_studio: Studio, folder: Path, chromium: Browser) -> Iterator[StudioPage]:
    """A page on the bench as it was written, in the workspace for tests, time running."""
    scene = str(write_bench(folder))
    with opened(chromium, bench_studio, size=(1440, 900), scale=SHARP) as page:
        page.until("store.people.driver === store.you && store.scene")
        page.page.evaluate(
            "(scene) => { window.before = linkwork.store.scene;"
            " linkwork.send({ type: 'open', scene }); }",
            scene,
        )
        page.until("store.scene && store.scene !== window.before && !store.undo.can_undo")
        page.ready()
        page.page.get_by_role("tab", name="Test", exact=True).click()
        if not page.ask("store.status.running"):
            page.press("Space")
        page.until("store.status.running && linkwork.buses.ports")
        yield page


def process(page: StudioPage) -> BusProcess:
    """The bus's process as the session knows it."""
    assert page.studio is not None
    clients = running(page.studio).session.bus_processes
    assert clients is not None
    return clients["can0"]  # type: ignore[index]


def until(page: StudioPage, test: Callable[[], object]) -> None:
    """Waits for something on the server's side, in step with the page."""
    for _ in range(600):
        if test():
            return
        page.page.wait_for_timeout(50)
    raise AssertionError(f"it did not come about; refused: {page.ask('store.refused')}")


def signal(page: StudioPage, name: str) -> Locator:
    return page.page.locator(f".port-signal[data-signal='{name}']")


def frames(page: StudioPage) -> Locator:
    return page.page.get_by_role("table", name="Frames").locator("tbody tr")


def send_text(bus: can.BusABC, code: int, can_id: int = 0x201) -> None:
    data = code.to_bytes(2, "little")
    bus.send(can.Message(arbitration_id=can_id, data=data, is_extended_id=False))


def controlled(page: StudioPage) -> can.BusABC:
    assert page.studio is not None
    return controller(page.studio)


@pytest.mark.capability(30)
def test_the_panel_shows_what_the_ports_hold(bench: StudioPage) -> None:
    """Value, code, address and owner of each signal are the session's; a click selects."""
    assert bench.studio is not None
    with controlled(bench) as bus:
        send_text(bus, 3072)
        session = running(bench.studio).session
        until(bench, lambda: session.signals.owners.get(TARGET) == "can0")
        expect(signal(bench, TARGET).locator(".port-raw")).to_have_text("0xC00")
        expect(signal(bench, TARGET).locator(".port-value")).to_have_text("45.0°")
        expect(signal(bench, TARGET)).to_contain_text("set by can0")
        expect(signal(bench, TARGET)).to_contain_text("0x201")
        until(bench, lambda: session["arm/shoulder.angle"] > 0.78)
        box = bench.page.get_by_role("region", name="Bus can0")
        expect(box.locator(".bus-state")).to_have_text("active")
        until(
            bench,
            lambda: (
                bench.ask("linkwork.buses.ports.raw")
                == [line.raw for line in port_lines(session.cycle)]
            ),
        )
    bench.page.locator("[data-port='arm/shoulder']").click()
    assert bench.ask("store.selection[0].name") == "arm/shoulder"


@pytest.mark.capability(56)
def test_a_frame_is_shown_decoded_and_moves_the_joint(bench: StudioPage) -> None:
    """A frame of python-can stands in the log with its bytes and meaning."""
    assert bench.studio is not None
    session = running(bench.studio).session
    with controlled(bench) as bus:
        send_text(bus, 4095)
        row = frames(bench).filter(has_text="FF 0F").first
        expect(row).to_contain_text("201")
        expect(row).to_contain_text("arm/shoulder.target = 90°")
        until(bench, lambda: session["arm/shoulder.angle"] > 1.5)


@pytest.mark.capability(56)
def test_a_frame_is_looked_into_bit_by_bit(bench: StudioPage) -> None:
    """Its bits, whose they are, raw and physical value; chosen by mouse and by keyboard."""
    with controlled(bench) as bus:
        send_text(bus, 3072)
        send_text(bus, 7, can_id=0x333)
        expect(frames(bench).filter(has_text="333")).to_have_count(1)
    bench.page.get_by_label("Filter by id or text").fill("00")
    bench.page.get_by_role("group", name="Direction").get_by_text("In").click()
    expect(frames(bench)).to_have_count(2)
    frames(bench).filter(has_text="00 0C").click()
    look = bench.page.get_by_role("region", name="Frame 0x201")
    row = look.locator("[data-signal='arm/shoulder.target']")
    expect(row).to_contain_text("45.0°")
    expect(row).to_contain_text("raw 3072 ×")
    expect(row).to_contain_text("bytes 0 … 1, 12 bits, Intel")
    bits = look.get_by_role("table", name="Bits").locator("td.bit")
    assert bits.all_inner_texts() == list("0000000000001100")
    owned = look.locator("td.owned").evaluate_all("(all) => all.map((e) => e.dataset.bit)")
    assert sorted(map(int, owned)) == list(range(12))

    log = bench.page.get_by_role("group", name="Bus log")
    log.focus()
    bench.page.keyboard.press("End")
    look = bench.page.get_by_role("region", name="Frame 0x333")
    expect(look).to_contain_text("No port or DBC file defines this frame")
    bench.page.keyboard.press("ArrowUp")
    expect(bench.page.get_by_role("region", name="Frame 0x201")).to_be_visible()
    bench.page.keyboard.press("Escape")
    expect(bench.page.locator(".frame-inspector")).to_be_hidden()
    expect(log).to_be_focused()


def test_the_log_is_filtered_paused_and_cleared(bench: StudioPage) -> None:
    """By identifier, text and way; a paused log stands still and catches up."""
    with controlled(bench) as bus:
        send_text(bus, 2048)
        send_text(bus, 0, can_id=0x333)
        send_text(bus, 0, can_id=0x11)
        bench.until("linkwork.buses.lines.filter((l) => l.address === '333').length === 1")
        field = bench.page.get_by_label("Filter by id or text")
        for written in ("0x11", "011"):  # as the ports write it, and as the log does
            field.fill(written)
            expect(frames(bench)).to_have_count(1)
            expect(frames(bench).first).to_contain_text("011")
        field.fill("0x333")
        expect(frames(bench)).to_have_count(1)
        bench.page.get_by_role("button", name="Pause the log").click()
        send_text(bus, 1, can_id=0x333)
        bench.until("linkwork.buses.lines.filter((l) => l.address === '333').length === 2")
        expect(frames(bench)).to_have_count(1)
        bench.page.get_by_role("button", name="Resume the log").click()
        expect(frames(bench)).to_have_count(2)
        bench.page.get_by_role("group", name="Direction").get_by_text("Out").click()
        expect(frames(bench)).to_have_count(0)
        expect(bench.page.locator(".frame-log .empty")).to_contain_text("No frame fits")
        bench.page.get_by_role("button", name="Clear the log").click()
        bench.until("linkwork.buses.lines.length === 0")


@pytest.mark.parametrize("width", [1440, 1300, 1100])
def test_the_tools_of_the_log_have_room_beside_each_other(bench: StudioPage, width: int) -> None:
    """In a narrower window they shrink, or stand in a second row; none covers another."""
    bench.page.set_viewport_size({"width": width, "height": 850})
    with controlled(bench) as bus:
        send_text(bus, 5)
        expect(frames(bench).first).to_be_visible()
    boxes = bench.page.evaluate(ROOM)
    assert len(boxes) >= 8
    covers = [
        (a["name"], b["name"])
        for n, a in enumerate(boxes)
        for b in boxes[n + 1 :]
        if a["left"] < b["right"] - 1 and b["left"] < a["right"] - 1
        and a["top"] < b["bottom"] - 1 and b["top"] < a["bottom"] - 1
    ]  # fmt: skip
    assert covers == []
    assert all(box["right"] <= width for box in boxes)
    top = {box["name"]: box["top"] + box["bottom"] for box in boxes}
    assert top["Hide the charts"] == pytest.approx(top["Frames"], abs=8)  # never in a row alone
    if width == 1440:  # the panel is beside the dock; its buttons stand in one column
        facts = bench.page.locator(".bus-facts .icon-button").all()
        assert len({round(each.bounding_box()["x"]) for each in facts}) == 1  # type: ignore[index]


def test_a_seed_is_asked_for_where_something_happens_by_chance(bench: StudioPage) -> None:
    """A drive that dies at once needs none; at a rate it does, and dies by that rule."""
    assert bench.studio is not None
    session = running(bench.studio).session
    panel = bench.page.get_by_role("tabpanel", name="Faults")
    panel.get_by_role("button", name="Dead drive").click()
    seed = panel.get_by_label("Seed")
    expect(seed).to_be_hidden()
    panel.get_by_label("Rate").fill("0.001")
    expect(seed).to_be_visible()
    seed.fill("7")
    panel.get_by_label("Joint").select_option("arm/shoulder")
    panel.get_by_role("button", name="Inject").click()
    until(bench, lambda: session.cycle.faults.find("dead"))
    fault = session.cycle.faults.find("dead")
    assert fault is not None
    assert (fault.params.chance, fault.params.seed) == (0.001, 7)
    panel.get_by_role("button", name="Drop", exact=True).click()
    panel.get_by_label("Sender").fill("person")
    panel.get_by_label("At most").fill("2")
    panel.get_by_role("button", name="Inject").click()
    until(bench, lambda: session.cycle.faults.find("drop"))
    lost = session.cycle.faults.find("drop")
    assert lost is not None
    assert (lost.params.node, lost.params.times) == ("person", 2)


def test_a_reloaded_page_and_a_second_one_have_the_log(
    bench: StudioPage, chromium: Browser
) -> None:
    """The newest lines are there at once, each one time."""
    assert bench.studio is not None
    with controlled(bench) as bus:
        send_text(bus, 5, can_id=0x345)
        expect(frames(bench).filter(has_text="345")).to_have_count(1)
    with opened(chromium, bench.studio, size=(1440, 900)) as other:
        other.ready()
        other.page.get_by_role("tab", name="Test", exact=True).click()
        expect(frames(other).filter(has_text="345")).to_have_count(1)
    bench.page.reload()
    bench.ready()
    bench.page.get_by_role("tab", name="Test", exact=True).click()
    expect(frames(bench).filter(has_text="345")).to_have_count(1)
    assert bench.ask(
        "new Set(linkwork.buses.lines.map((l) => l.number)).size === linkwork.buses.lines.length"
    )


@pytest.mark.capability(30)
def test_a_signal_is_held_and_let_go_of(bench: StudioPage) -> None:
    """A person's value goes before the bus's; released, the bus's newest counts."""
    assert bench.studio is not None
    session = running(bench.studio).session
    with controlled(bench) as bus:
        send_text(bus, 4095)
        until(bench, lambda: session["arm/shoulder.angle"] > 1.5)
        row = signal(bench, TARGET)
        row.get_by_role("button", name=f"Override {TARGET}").click()
        field = row.get_by_label(f"Hold {TARGET} at")
        field.fill("-30")
        field.press("Enter")
        expect(row).to_contain_text("held by a person")
        until(bench, lambda: session["arm/shoulder.angle"] < -0.5)
        field.fill("400")
        field.press("Enter")
        expect(bench.page.get_by_text("takes -1.5708 to 1.5708 rad").first).to_be_visible()
        row.get_by_role("button", name="Release").click()
        until(bench, lambda: session["arm/shoulder.angle"] > 1.5)
        expect(row).to_contain_text("set by can0")


@pytest.mark.capability(130)
def test_a_fault_is_injected_and_ended(bench: StudioPage) -> None:
    """Frames are lost while it is at work: the joint stays, the log says so, the card counts."""
    assert bench.studio is not None
    session = running(bench.studio).session
    with controlled(bench) as bus:
        send_text(bus, 2048)
        until(bench, lambda: abs(session["arm/shoulder.angle"]) < 0.01)
        panel = bench.page.get_by_role("tabpanel", name="Faults")
        panel.get_by_role("button", name="Drop", exact=True).click()
        panel.get_by_label("Frames").fill("0x201")
        panel.get_by_role("button", name="Inject").click()
        card = panel.get_by_role("listitem", name="Fault drop")
        expect(card).to_contain_text("drop can0 0x201")
        send_text(bus, 4095)
        expect(frames(bench).filter(has_text="dropped")).to_have_count(1)
        expect(card).to_contain_text("1 frame affected")
        assert [fault.hits for fault in process(bench).faults] == [1]
        assert abs(session["arm/shoulder.angle"]) < 0.01
        fault = session.cycle.faults.find("drop")
        assert fault is not None
        assert fault.active
        card.get_by_role("button", name="End fault").click()
        expect(card.get_by_role("img", name="over")).to_be_visible()
        expect(card).to_contain_text("affected the last time")
        assert not fault.active
        send_text(bus, 4095)
        until(bench, lambda: session["arm/shoulder.angle"] > 1.5)


@pytest.mark.capability(130)
def test_a_sensor_is_stuck_and_a_scene_fault_is_begun(bench: StudioPage) -> None:
    """The port tells what it is stuck at; the file's own fault has a switch."""
    assert bench.studio is not None
    session = running(bench.studio).session
    panel = bench.page.get_by_role("tabpanel", name="Faults")
    panel.get_by_role("button", name="Stuck sensor").click()
    panel.get_by_label("Reading").select_option("can0/arm/shoulder.angle")
    panel.get_by_label("At", exact=True).fill("0.25")
    panel.get_by_role("button", name="Inject").click()
    until(bench, lambda: session["can0/arm/shoulder.angle"] == 0.25)
    expect(panel.get_by_role("listitem").filter(has_text="stuck")).to_contain_text("active")
    panel.get_by_role("button", name="Stop all").click()
    until(bench, lambda: session["can0/arm/shoulder.angle"] != 0.25)

    own = panel.get_by_role("listitem", name="Fault limp")
    expect(own).to_contain_text("dead arm/elbow")
    own.get_by_role("button", name="Begin fault limp").click()
    until(bench, lambda: session["limp.active"] == 1.0)
    own.get_by_role("button", name="End fault limp").click()
    until(bench, lambda: session["limp.active"] == 0.0)


@pytest.mark.capability(130)
def test_a_person_walks_into_the_cell_and_out(bench: StudioPage) -> None:
    """The form proposes a way in; the person is seen walking it, and leaves by the button."""
    assert bench.studio is not None
    session = running(bench.studio).session
    panel = bench.page.get_by_role("tabpanel", name="Faults")
    panel.get_by_role("button", name="Person", exact=True).click()
    assert panel.get_by_label("Walks to").input_value() == "0.7, 0"
    panel.get_by_label("Enters at").fill("far away")
    panel.get_by_role("button", name="Inject").click()
    expect(bench.page.get_by_text("Enters at takes x and y in meters").first).to_be_visible()
    panel.get_by_label("Enters at").fill("2.5, -1")
    panel.get_by_label("Walks to").fill("1, -1")
    panel.get_by_label("Walking speed").fill("20")
    panel.get_by_role("button", name="Inject").click()
    bench.until("store.scene.elements.some((e) => e.name === 'visitor/person')")
    card = panel.get_by_role("listitem", name="Fault person")
    expect(card).to_contain_text("person visitor")
    expect(card).to_contain_text("active")
    seen = "linkwork.stage.bodies.shapeMeshes.find((p) => p.element.name === 'visitor/person')"
    bench.until(f"{seen}.mesh.visible")
    until(bench, lambda: abs(session["visitor.x"] - 1.0) < 1e-9)
    body = "store.scene.bodies.findIndex((b) => b.part === 'visitor')"
    bench.until(f"Math.abs(store.poses[7 * ({body})] - 1) < 1e-5")
    assert session["visitor.y"] == pytest.approx(-1.0)
    card.get_by_role("button", name="End fault person").click()
    until(bench, lambda: session["visitor/person.visible"] == 0.0)
    bench.until(f"!{seen}.mesh.visible")
    assert session["person.active"] == 0.0
    assert not bench.ask("store.undo.dirty")


def test_a_frame_is_sent_from_the_page(bench: StudioPage) -> None:
    """It moves the joint, and a wrong one is refused with the reason."""
    assert bench.studio is not None
    session = running(bench.studio).session
    field = bench.page.get_by_label("Frame to send")
    field.fill("201#0000")
    field.press("Enter")
    until(bench, lambda: session["arm/shoulder.angle"] < -1.5)
    expect(frames(bench).filter(has_text="person").first).to_contain_text("201")
    field.fill("frame 7")
    field.press("Enter")
    bench.until("store.refused?.what === 'order'")


@pytest.mark.capability(53)
@pytest.mark.capability(54)
def test_an_identifier_is_edited_and_a_joint_is_bound(bench: StudioPage) -> None:
    """The running bus follows: the joint hears its new frame, and another joins the bus."""
    assert bench.studio is not None
    session = running(bench.studio).session
    bench.page.get_by_role("tab", name="Attributes", exact=True).click()
    bench.page.locator("[data-port='arm/shoulder']").click()
    field = bench.page.locator("[role=complementary] [data-key='bus.can_id']")
    expect(field).to_have_value("0x201")
    field.fill("0x900000000")
    field.press("Enter")
    alert = bench.page.locator("[data-row='bus.can_id'] [role=alert]")
    expect(alert).to_contain_text("536870911")
    field.fill("0x222")
    field.press("Enter")
    expect(signal(bench, TARGET)).to_contain_text("0x222")
    with controlled(bench) as bus:
        send_text(bus, 4095, can_id=0x222)
        until(bench, lambda: session["arm/shoulder.angle"] > 1.5)

        bits = bench.page.locator("[role=complementary] [data-key='bus.bits']")
        bits.fill("10")
        bits.press("Enter")
        expect(signal(bench, TARGET)).to_contain_text("10 bit")
        send_text(bus, 0, can_id=0x222)
        until(bench, lambda: session["arm/shoulder.angle"] < -1.5)
        send_text(bus, 1023, can_id=0x222)
        until(bench, lambda: session["arm/shoulder.angle"] > 1.5)

        bench.page.get_by_role("tab", name="Scene", exact=True).click()
        bench.row("arm/elbow").click()
        bench.page.locator(".bind-form summary").click()
        form = bench.page.locator(".bind-form")
        expect(form.get_by_label("Identifier")).to_have_value("0x223")
        form.get_by_role("button", name="Bind").click()
        bench.until("store.scene.buses[0].ports.length === 2")
        expect(bench.page.locator("[data-key='bus.can_id']")).to_have_value("0x223")
        send_text(bus, 0, can_id=0x223)
        until(bench, lambda: session["arm/elbow.angle"] < -2.0)


def test_a_scene_without_buses_says_so(gripper_page: StudioPage) -> None:
    """Each panel tells what is missing."""
    page = gripper_page.page
    page.get_by_role("tab", name="Ports", exact=True).click()
    expect(page.get_by_role("tabpanel", name="Ports")).to_contain_text("has no buses")
    page.get_by_role("tab", name="Faults").click()
    panel = page.get_by_role("tabpanel", name="Faults")
    expect(panel).to_contain_text("No fault is active")
    expect(panel.get_by_role("button", name="Drop", exact=True)).to_have_count(0)
    expect(panel.get_by_role("button", name="Dead drive")).to_be_visible()


def test_a_port_whose_controller_is_silent_says_so(bench: StudioPage, folder: Path) -> None:
    """The other port goes on: its name stays plain, and the bus tells of the one that waits."""
    extra = """
[[port]]
name = "lamp"
commands = [{ name = "wish", can_id = 0x300, bits = 8, lo = 0, hi = 1 }]
"""
    file = folder / "bench.toml"
    text = file.read_text().replace("socketcand = 0", "socketcand = 0\ndeadline_ms = 300")
    file.write_text(text + extra)
    bench.page.evaluate(
        "(scene) => { window.before = linkwork.store.scene;"
        " linkwork.send({ type: 'open', scene }); }",
        str(file),
    )
    bench.until("store.scene && store.scene !== window.before && linkwork.buses.ports")
    if not bench.ask("store.status.running"):
        bench.press("Space")
    bus = controlled(bench)
    send_text(bus, 128, 0x300)
    lamp, shoulder = (
        bench.page.locator(f".port-head[data-port='{name}'] .port-age")
        for name in ("lamp", "arm/shoulder")
    )
    ages: list[str] = []
    for _ in range(200):
        send_text(bus, 2048)
        bench.page.wait_for_timeout(50)
        ages = [each.text_content() or "" for each in (lamp, shoulder)]
        if ages[0].startswith("lost, ") and "lost" not in ages[1]:
            break
    else:
        pytest.fail(f"lamp and shoulder: {ages}")
    expect(lamp).to_have_class("port-age warn")
    expect(bench.page.locator(".bus-state")).to_have_text("controller lost")
    bus.shutdown()
