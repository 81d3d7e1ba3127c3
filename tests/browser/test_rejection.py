"""Who does not know the token, or comes from elsewhere, is turned away with a page that helps."""

import pytest
from playwright.sync_api import Browser

from studio_fixture import TOKEN, Studio
from studio_page import opened


def test_a_wrong_token_gets_a_page_that_takes_the_right_one(
    chromium: Browser, gripper: Studio
) -> None:
    """The page says what is wrong and where the token stands; typed in, it lets one in."""
    with opened(chromium, gripper, token="wrong", expect_errors=True) as page:
        tab = page.page
        tab.get_by_role("heading", name="The token is wrong.").wait_for()
        tab.get_by_role("textbox", name="Token").fill(TOKEN)
        tab.get_by_role("button", name="Open the studio").click()
        tab.get_by_role("toolbar", name="Transport").wait_for()
        page.ready()


def test_a_page_without_a_token_says_how_to_get_in(chromium: Browser, gripper: Studio) -> None:
    """Without a token the page loads and shows no scene; it offers to take the token."""
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(f"http://{gripper.address}/")
    tab.locator(".link-notice").get_by_text("The token is wrong.").wait_for()
    assert tab.evaluate("linkwork.store.scene") is None
    assert tab.get_by_role("alert").count() == 1
    tab.get_by_role("button", name="Enter the token").click()
    tab.get_by_role("textbox", name="Token").wait_for()
    context.close()


@pytest.mark.parametrize("path", ["/", f"/api/gallery?token={TOKEN}"])
def test_a_name_that_is_not_ours_is_turned_away(gripper: Studio, path: str) -> None:
    """A foreign name that leads here gets 403, a person with words of what to do."""
    status, body = gripper.get(path, Host="evil.example", Accept="text/html")
    assert status == 403
    assert b"another site" in body
    assert (b"--host" in body) == (path == "/")


def test_a_page_of_another_site_gets_no_line(chromium: Browser, gripper: Studio) -> None:
    """A script of another origin cannot open the socket, even with the token."""
    context = chromium.new_context()
    tab = context.new_page()
    tab.route("http://elsewhere.test/**", lambda route: route.fulfill(body="<p>elsewhere</p>"))
    tab.goto("http://elsewhere.test/")
    opened_ = tab.evaluate(
        """(address) => new Promise((done) => {
          const socket = new WebSocket(address);
          socket.onopen = () => done(true);
          socket.onerror = () => done(false);
        })""",
        f"ws://{gripper.address}/ws?token={TOKEN}&protocol=3",
    )
    assert opened_ is False
    context.close()
