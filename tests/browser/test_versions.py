"""A page of another version than its server: it says so and offers to reload."""

from playwright.sync_api import Browser, expect

from studio_fixture import Studio
from studio_page import opened

#: Lets the page that is loaded first speak an older protocol, as one from a cache would.
OLD = """
if (!sessionStorage.getItem("old")) {
  sessionStorage.setItem("old", "was here");
  const Real = window.WebSocket;
  window.WebSocket = class extends Real {
    constructor(address) { super(address.replace(/protocol=\\d+/, "protocol=0")); }
  };
}
"""


def test_a_page_of_another_protocol_is_told_to_reload(chromium: Browser, gallery: Studio) -> None:
    """The page says what is wrong and tries no further; Reload brings the present one."""
    context = chromium.new_context()
    context.add_init_script(OLD)
    with opened(chromium, gallery, context=context) as page:
        notice = page.page.get_by_role("alert").filter(has_text="another version of Linkwork")
        expect(notice).to_be_visible(timeout=30_000)
        assert page.ask("store.link") == "refused"
        assert gallery.host.open is None
        notice.get_by_role("button", name="Reload").click()
        page.page.wait_for_load_state()
        page.until("store.link === 'open'")
        expect(notice).to_be_hidden()
    context.close()
