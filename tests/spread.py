"""Which process runs which file: all that drives a browser is shared out among two of them."""

from pathlib import Path

#: Where Chromium is driven.
BROWSER_TESTS = ("tests/browser/test_*.py", "tests/test_newcomer.py")
#: So many browsers run at a time; each waits for its page half of the time, more would starve
#: each other of the machine.
BROWSERS = 2


def browser_groups(root: Path) -> dict[str, str]:
    """The group of each file that drives a browser; by their lengths, groups take equally long."""
    files = [file for place in BROWSER_TESTS for file in root.glob(place)]
    sizes = {file.relative_to(root).as_posix(): file.stat().st_size for file in files}
    loads = dict.fromkeys((f"browser {number}" for number in range(BROWSERS)), 0)
    found: dict[str, str] = {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        found[name] = min(loads, key=lambda group: loads[group])
        loads[found[name]] += sizes[name]
    return found
