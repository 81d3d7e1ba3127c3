"""Shared by all tests: the capability mark, test order, and settings of hypothesis."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from playwright.sync_api import Browser

from browser_sharding import browser_groups, is_browser_test
from browser_sharding import pytest_runtest_protocol as pytest_runtest_protocol
from capabilities import allowed, read_list
from chromium import HOW, find, is_required, launch
from effort import VARIABLE
from linkwork.cli.studio_server import is_built
from linkwork.project.trust import VARIABLE as TRUST_VARIABLE
from linkwork.project.trust import TrustStore

# Compiling a kernel inside the first example takes seconds, irrelevant to the test.
hypothesis.settings.register_profile("linkwork", deadline=None, max_examples=25)
hypothesis.settings.register_profile("full", deadline=None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One Chromium for all tests."""
    program = find()
    if program is None:
        if is_required():
            pytest.fail(f"there is no browser. {HOW}")
        pytest.skip(f"no browser: {HOW}")
    assert is_built(), "the studio's page has not been built: make client"
    with launch(program) as browser:
        yield browser


@pytest.fixture(scope="session", autouse=True)
def trusted_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Trusts programs that tests write; the user's decisions are neither read nor changed."""
    base = tmp_path_factory.getbasetemp()
    file = tmp_path_factory.mktemp("trust") / "trust.json"
    root = Path(__file__).parent.parent
    os.environ[TRUST_VARIABLE] = str(file)
    store = TrustStore(file)
    for folder in (base, root / "examples", root / "tests"):
        store.trust_folder(folder)


def pytest_configure(config: pytest.Config) -> None:
    full = config.getoption("--full")
    if full:
        os.environ[VARIABLE] = "1"
    hypothesis.settings.load_profile("full" if full else "linkwork")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="try every case, not a tenth of them")
    parser.addoption(
        "--capability",
        type=int,
        metavar="N",
        help="run only the tests that prove capability N of docs/capabilities.toml",
    )


def numbers_of(item: pytest.Item) -> list[int]:
    return [number for mark in item.iter_markers("capability") for number in mark.args]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Assigns whole files to processes, in order, and all browser tests to two of them."""
    from xdist.scheduler import LoadFileScheduling

    groups = browser_groups(config.rootpath)

    class FewBrowsers(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return groups.get(file, file)

    config.option.loadscopereorder = False
    return FewBrowsers(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Reports that the studio was not tested in a browser."""
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple) and HOW in report.longrepr[2]
    ]
    if skipped:
        terminalreporter.section(
            "NOT TESTED: THE STUDIO IN A BROWSER", sep="!", red=True, bold=True
        )
        terminalreporter.line(f"{len(skipped)} tests were skipped, for there is no browser. {HOW}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse marks that name no capability; with --capability, keep the tests that prove it."""
    known = read_list()
    # Last: by then the kernels they wait for are compiled. Of several processes two begin with
    # them, for they take longest.
    items.sort(key=is_browser_test, reverse=hasattr(config, "workerinput"))
    for item in items:
        for mark in item.iter_markers("capability"):
            if not mark.args or mark.kwargs or any(number not in known for number in mark.args):
                raise pytest.UsageError(
                    f"{item.nodeid}: capability{mark.args} names no capability; {allowed(known)}"
                )
    wanted = config.getoption("--capability")
    if wanted is not None:
        dropped = [item for item in items if wanted not in numbers_of(item)]
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if wanted in numbers_of(item)]
