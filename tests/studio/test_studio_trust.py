"""The studio shows a stranger's scene without its programs, until the driver trusts them."""

import shutil
from pathlib import Path

import pytest

import linkwork as lw
from host_fixture import backstage
from linkwork.project.trust import VARIABLE, TrustStore
from linkwork.studio import protocol as m
from linkwork.studio.host import project_files
from studio_fixture import studio

KITS = project_files._PACKAGE


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scene in a stranger's folder; nothing is trusted."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    for name in ("follow.toml", "follow.py", "arm.toml"):
        shutil.copy(KITS / "gripper" / name, folder / name)
    with (folder / "follow.py").open("a") as file:
        file.write("\n# not as in the kit\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "trust" / "trust.json"))
    return folder / "follow.toml"


@pytest.mark.parametrize("how", ["once", "content", "folder"])
def test_the_driver_decides_and_the_programs_start(cell: Path, tmp_path: Path, how: str) -> None:
    """The scene names the code and its text; once it is trusted, the program drives its joints."""
    with backstage(str(cell), tmp_path) as here:
        scene = here.until("scene")
        (program,) = scene["untrusted"]
        assert program["agent"] == "follow"
        assert program["text"].endswith("# not as in the kit\n")
        assert program["folder"] == str(cell.parent)
        assert here.host.open is not None
        assert here.host.open.session.withheld == ["follow"]
        here.ask(m.TrustPrograms(how))  # type: ignore[arg-type]
        here.until("scene", lambda found: found["untrusted"] == [])
        assert here.host.open.session.withheld == []
    kinds = {each.kind for each in TrustStore().entries()}
    assert kinds == ({how} if how != "once" else set())
    with backstage(str(cell), tmp_path) as again:
        assert bool(again.until("scene")["untrusted"]) == (how == "once")


def test_a_strangers_recording_is_shown_and_simulated_when_trusted(
    cell: Path, tmp_path: Path
) -> None:
    """Poses are shown at once; values between keyframes need the programs."""
    path = tmp_path / "run.mcap"
    with lw.Session(cell, record=path) as session:
        session.run(1.2)
    TrustStore().path.unlink()  # as if it came from elsewhere
    with backstage(str(path), tmp_path) as here:
        scene = here.until("scene")
        assert [each["agent"] for each in scene["untrusted"]] == ["follow"]
        assert scene["untrusted"][0]["folder"] == ""
        assert "no folder" in here.refused(m.TrustPrograms("folder"))
        here.ask(m.Seek(0.7))
        here.ask(m.TrustPrograms("content"))
        here.until("scene", lambda found: found["untrusted"] == [])
        here.ask(m.ContinueRecording())
        live = here.until("scene", lambda found: found["replay"] is None)
        assert live["untrusted"] == []


def test_a_watcher_cannot_trust(cell: Path, tmp_path: Path) -> None:
    """Only the driver's decision counts."""
    with (
        studio(str(cell), tmp_path) as here,
        here.client() as driver,
        here.client() as watcher,
    ):
        assert driver.until("scene")["untrusted"]
        watcher.until("scene")
        watcher.send("trust", how="folder")
        assert "drives" in watcher.until("refused")["text"]
        assert TrustStore().entries() == []
