"""Browser test files are distributed over the processes."""

from collections import Counter

from browser_sharding import BROWSERS, browser_groups
from test_docs import ROOT


def test_browser_files_make_groups_of_one_size() -> None:
    """Each file is in one of the groups, which differ by less than the longest file."""
    groups = browser_groups(ROOT)
    files = sorted((ROOT / "tests" / "browser").glob("test_*.py"))
    assert {file.relative_to(ROOT).as_posix() for file in files} < groups.keys()
    assert "tests/test_newcomer.py" in groups
    loads: Counter[str] = Counter()
    for name, group in groups.items():
        loads[group] += (ROOT / name).stat().st_size
    assert len(loads) == BROWSERS
    longest = max((ROOT / name).stat().st_size for name in groups)
    assert max(loads.values()) - min(loads.values()) < longest
