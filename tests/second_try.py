"""A second try for tests in a real browser, of which nobody is to overlook that it was needed."""

import pytest
from _pytest.runner import runtestprotocol

#: Under this name the reports of a second try hold what the first one said.
_FIRST = "first try"


def is_browser_test(item: pytest.Item) -> bool:
    """Whether a test drives Chromium."""
    return "chromium" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Runs a test that failed once more; all that tests share is made anew for it.

    Pytest asks this for every test of a run, wherever the hook was imported.
    """
    if not is_browser_test(item):
        return None
    if nextitem is not None and not is_browser_test(nextitem):
        nextitem = None  # the browser goes: its event loop would be in the way of other tests'
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    failed = [report for report in reports if report.failed]
    if failed:
        item.session._setupstate.teardown_exact(None)
        item._initrequest()  # type: ignore[attr-defined]
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        item.user_properties.append((_FIRST, failed[0].longreprtext))
        for report in reports:
            report.user_properties = item.user_properties
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def tell_second_tries(terminal: pytest.TerminalReporter) -> None:
    """Says which tests were run twice, and why."""
    twice = {
        report.nodeid: str(text)
        for reports in terminal.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport)
        for name, text in report.user_properties
        if name == _FIRST
    }
    if not twice:
        return
    terminal.section("RUN A SECOND TIME, FOR THE FIRST FAILED", sep="!", red=True, bold=True)
    for test, text in twice.items():
        terminal.section(test, sep="_")
        terminal.line(text)
    terminal.line(f"{len(twice)} of the tests in the browser failed at first. They race, or we do.")
