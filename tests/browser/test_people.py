"""Several people: two browsers agree, one drives and hands over, a stalled tab slows nobody."""

import pytest
from playwright.sync_api import Browser, Route, expect

from linkwork.studio.protocol import MAX_IN_FLIGHT
from studio_fixture import Studio
from studio_page import opened
from studio_state import at_the_start, eventually, scene_of

POSES = "Array.from(store.poses)"
#: Lets the script of a page hang until a request is answered, and notes which pictures it takes.
_STALL = """() => void setTimeout(() => {
  const { store } = linkwork;
  let now = store.poseTime;
  window.seen = [];
  Object.defineProperty(store, "poseTime", {
    get: () => now,
    set: (time) => { now = time; window.seen.push(time); },
  });
  const request = new XMLHttpRequest();
  request.open("GET", "stall", false);
  request.send();
  window.awake = true;
}, 0)"""


@pytest.mark.capability(154)
def test_two_agree_one_drives_and_hands_over(chromium: Browser, gripper: Studio) -> None:
    """A watcher sees the same and its controls are off, until it asks and is let."""
    with opened(chromium, gripper) as driver, opened(chromium, gripper) as watcher:
        driver.ready()
        watcher.ready()
        driver.until("store.people.driver === store.you && store.people.people.length === 2")
        at_the_start(driver, gripper)
        session = scene_of(gripper).session
        for page in (driver, watcher):
            page.until("!store.status.running && store.status.time === 0")
        driver.press("ArrowRight")
        for page in (driver, watcher):
            page.until("store.poseTime === 0.002")
        assert driver.ask(POSES) == watcher.ask(POSES)
        tab = watcher.page
        assert tab.get_by_role("button", name="Play (Space)").is_disabled()
        assert tab.get_by_role("textbox", name="J1 wanted").is_disabled()
        assert tab.get_by_role("slider", name="J1 wanted").get_attribute("aria-disabled") == "true"
        save = tab.get_by_role("button", name="Save (Ctrl+S)")
        assert save.is_disabled()
        assert (
            save.get_attribute("title") == f"{driver.ask('store.you')} drives. Ask to drive first."
        )
        tab.locator(".file-pick").click()
        for words in ("Save", "Store posture…"):
            item = tab.get_by_role("menuitem", name=words, exact=words != "Save").first
            assert item.get_attribute("aria-disabled") == "true"
            assert "Ask to drive first" in (item.get_attribute("title") or "")
        tab.keyboard.press("Escape")
        watcher.row("arm/E3").click()
        assert tab.locator("[role=complementary] [data-key=mass]").is_disabled()
        before = session.state.q.copy()
        start = watcher.find("front", "arm/E3")
        watcher.drag(start, (start[0], start[1] - 30))
        watcher.press("Space")
        tab.get_by_text("drives. You watch.").wait_for()
        assert not session.running
        assert (session.state.q == before).all()
        ask = tab.get_by_role("banner").get_by_role("button", name="Ask to drive")
        ask.click()
        driver.page.get_by_role("alertdialog").get_by_role("button", name="Not now").click()
        watcher.until("store.people.requester === null && store.people.driver !== store.you")
        ask.click()
        driver.page.get_by_role("alertdialog").get_by_role("button", name="Hand over").click()
        watcher.until("store.people.driver === store.you")
        driver.until("store.people.driver !== store.you")
        assert driver.page.get_by_role("button", name="Play (Space)").is_disabled()
        tab.get_by_role("button", name="Play (Space)").click()
        eventually("running", lambda: session.running)
        driver.until("store.status.running")


def test_the_button_is_called_what_it_says(chromium: Browser, gripper: Studio) -> None:
    """Ask to drive, Asked A, and Drive where nobody does: to the eye and to a screen reader."""
    with opened(chromium, gripper) as first, opened(chromium, gripper) as second:
        for page in (first, second):
            page.ready()
            page.until("store.people.driver && store.people.people.length === 2")
        first_drives = first.ask("store.people.driver === store.you")
        driver, watcher = (first, second) if first_drives else (second, first)
        ask = watcher.page.get_by_role("banner").locator(".people-side > .button")
        expect(ask).to_have_text("Ask to drive")
        expect(ask).to_have_accessible_name("Ask to drive")
        ask.click()
        name = f"Asked {driver.ask('store.you')}"
        expect(ask).to_have_text(name)
        expect(ask).to_have_accessible_name(name)
        driver.page.get_by_role("alertdialog").get_by_role("button", name="Not now").click()
        expect(ask).to_have_accessible_name("Ask to drive")
        driver.page.close()
        expect(ask).to_have_text("Drive")
        expect(ask).to_have_accessible_name("Drive")


def test_a_stalled_tab_slows_nobody(chromium: Browser, gripper: Studio) -> None:
    """While one page's script hangs, the other sees all; then the first sees the present."""
    hanging: list[Route] = []
    with opened(chromium, gripper) as lively, opened(chromium, gripper) as stalled:
        lively.ready()
        stalled.ready()
        lively.until("store.people.driver === store.you")
        at_the_start(lively, gripper)
        lively.press("Space")
        session = scene_of(gripper).session
        eventually("running", lambda: session.running)
        stalled.page.route("**/stall", lambda route: hanging.append(route))
        stalled.page.evaluate(_STALL)
        while not hanging:  # the script stands still from here until it is answered
            lively.page.wait_for_timeout(10)
        reached = session.time + 1.5
        lively.until("store.poseTime > a", reached)
        hanging[0].fulfill(body="")
        stalled.until("window.awake && store.poseTime > a", reached)
        late = [time for time in stalled.ask("window.seen") if time < reached]
        # Some ninety pictures were made meanwhile.
        assert len(late) <= MAX_IN_FLIGHT
        lively.press("Space")


def test_the_address_is_copied_to_share(chromium: Browser, gripper: Studio) -> None:
    """What is copied lets another person in, who watches; on loopback it says where it works."""
    with opened(chromium, gripper) as page:
        page.ready()
        page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.page.get_by_role("button", name="Share").click()
        page.page.get_by_text("It works on this machine only").wait_for()
        address = page.page.evaluate("navigator.clipboard.readText()")
        person = page.page.context.new_page()
        person.goto(address)
        person.get_by_role("banner").get_by_text("drives").wait_for()
        person.close()
