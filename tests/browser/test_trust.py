"""Trust and damage in a real browser: a stranger's code is shown, and runs when it is trusted."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from linkwork.model.parts import find_kits
from linkwork.project.trust import VARIABLE
from linkwork.session.recording import Recording
from linkwork.session.session import Session
from studio_fixture import studio
from studio_page import opened


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scene in a stranger's folder; nothing is trusted."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    for name in ("follow.toml", "follow.py", "arm.toml"):
        shutil.copy(find_kits()["gripper"].folder / name, folder / name)
    with (folder / "follow.py").open("a") as file:
        file.write("\n# not as in the kit\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "trust" / "trust.json"))
    return folder / "follow.toml"


def test_the_banner_shows_the_code_and_trusts_it(
    cell: Path, tmp_path: Path, chromium: Browser
) -> None:
    """It names the file and shows its text; after the decision it is gone."""
    with studio(str(cell), tmp_path) as running, opened(chromium, running) as page:
        page.ready()
        banner = page.page.get_by_label("Untrusted programs")
        expect(banner).to_contain_text("follow.py")
        banner.get_by_text("Show the code").click()
        expect(banner.locator("pre")).to_contain_text("# not as in the kit")
        banner.get_by_role("button", name="Trust once").click()
        expect(banner).to_be_hidden()
        page.until("store.scene.untrusted.length === 0")
        file = cell.parent / "follow.py"
        file.write_text(file.read_text() + "\n# changed later\n")
        expect(banner).to_contain_text("The version before runs on.")
        banner.get_by_role("button", name="Trust this content").click()
        expect(banner).to_be_hidden()


def test_the_folder_can_be_trusted_beside_a_text_without_one(
    cell: Path, tmp_path: Path, chromium: Browser
) -> None:
    """The button is there; the text without a file is then the only one asked about."""
    inline = '[[agent]]\nname = "inline"\ntype = "program"\nsource = "class Control: pass"\n'
    cell.write_text(f"{cell.read_text()}\n{inline}")
    with studio(str(cell), tmp_path) as running, opened(chromium, running) as page:
        page.ready()
        banner = page.page.get_by_label("Untrusted programs")
        expect(banner.get_by_role("status")).to_contain_text("follow.py, inline")
        banner.get_by_role("button", name="Trust the folder").click()
        expect(banner.get_by_role("status")).not_to_contain_text("follow.py")
        expect(banner.get_by_role("button", name="Trust the folder")).to_have_count(0)


def test_a_damaged_recording_says_what_is_lost(tmp_path: Path, chromium: Browser) -> None:
    """Above the views, as long as it is open."""
    path = tmp_path / "run.mcap"
    with Session("gripper/follow", record=path) as session:
        session.run(0.5)
    with Recording.open(path) as recording:
        place = recording._index.series["frame"].starts[5]
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with studio(str(path), tmp_path) as running, opened(chromium, running) as page:
        page.ready()
        state = page.page.get_by_label("State of the recording")
        expect(state).to_contain_text("a message on 'frame' is lost")
