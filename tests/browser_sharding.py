"""Distribution of test files over processes: browser tests share two of them."""

from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

#: Where Chromium is driven.
BROWSER_TESTS = ("tests/browser/test_*.py", "tests/test_newcomer.py")
#: So many browsers run at a time; each waits for its page half of the time, more would starve
#: each other of the machine.
BROWSERS = 2


def browser_groups(root: Path) -> dict[str, str]:
    """Returns the group of each browser file; groups take equally long."""
    files = [file for place in BROWSER_TESTS for file in root.glob(place)]
    sizes = {file.relative_to(root).as_posix(): file.stat().st_size for file in files}
    loads = dict.fromkeys((f"browser {number}" for number in range(BROWSERS)), 0)
    found: dict[str, str] = {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        found[name] = min(loads, key=lambda group: loads[group])
        loads[found[name]] += sizes[name]
    return found


def is_browser_test(item: pytest.Item) -> bool:
    """Returns whether a test drives Chromium."""
    return "chromium" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Closes the browser after the last test that needs it: its event loop disturbs others."""
    if not is_browser_test(item) or nextitem is None or is_browser_test(nextitem):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    runtestprotocol(item, nextitem=None)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
