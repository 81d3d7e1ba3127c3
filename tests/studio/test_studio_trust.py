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
        here.ask(m.TrustPrograms(how, [program["key"]]))  # type: ignore[arg-type]
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
        keys = [each["key"] for each in scene["untrusted"]]
        assert "no folder" in here.refused(m.TrustPrograms("folder", keys))
        here.ask(m.Seek(0.7))
        here.ask(m.TrustPrograms("content", keys))
        here.until("scene", lambda found: found["untrusted"] == [])
        here.ask(m.ContinueRecording())
        live = here.until("scene", lambda found: found["replay"] is None)
        assert live["untrusted"] == []


@pytest.mark.parametrize("how", ["once", "content", "folder"])
def test_only_what_was_shown_is_trusted(cell: Path, tmp_path: Path, how: str) -> None:
    """A module that comes in between is not trusted with the rest; the banner shows it, too."""
    with backstage(str(cell), tmp_path) as here:
        (program,) = here.until("scene")["untrusted"]
        (cell.parent / "helper.py").write_text("x = 1\n")
        here.ask(m.TrustPrograms(how, [program["key"]]))  # type: ignore[arg-type]
        (anew,) = here.until("scene")["untrusted"]
        assert anew["modules"] == ["helper.py"]
        assert "have changed since they were shown" in here.until("refused")["text"]
        assert "have changed" in here.refused(m.TrustPrograms(how, []))  # type: ignore[arg-type]
        assert TrustStore().entries() == []
        here.ask(m.TrustPrograms(how, [anew["key"]]))  # type: ignore[arg-type]
        here.until("scene", lambda found: found["untrusted"] == [])


def test_trusted_once_is_this_text(cell: Path, tmp_path: Path) -> None:
    """A text that comes later does not run; the old one goes on, also after a restart."""
    with backstage(str(cell), tmp_path) as here:
        (program,) = here.until("scene")["untrusted"]
        here.ask(m.TrustPrograms("once", [program["key"]]))
        here.until("scene", lambda found: found["untrusted"] == [])
        file = cell.parent / "follow.py"
        file.write_text(file.read_text() + "\n# changed by somebody else\n")
        refused = here.until("event", lambda found: "is not trusted" in found["text"])
        assert "The one before goes on." in refused["text"]
        here.ask(m.Reset())
        here.until("event", lambda found: found["text"] == "back at the start.")
        assert here.host.open is not None
        assert here.host.open.session.withheld == []


@pytest.mark.parametrize("how", ["once", "content"])
def test_changed_code_is_offered_while_the_old_one_runs(
    cell: Path, tmp_path: Path, how: str
) -> None:
    """The banner returns with the new text; trusted, it replaces the old one."""
    with backstage(str(cell), tmp_path) as here:
        (program,) = here.until("scene")["untrusted"]
        assert not program["replaces"]
        here.ask(m.TrustPrograms(how, [program["key"]]))  # type: ignore[arg-type]
        here.until("scene", lambda found: found["untrusted"] == [])
        file = cell.parent / "follow.py"
        file.write_text(file.read_text() + "\n# changed later\n")
        (changed,) = here.until("scene", lambda found: found["untrusted"] != [])["untrusted"]
        assert changed["replaces"]
        assert changed["text"].endswith("# changed later\n")
        assert here.host.open is not None
        assert here.host.open.session.withheld == []
        here.ask(m.TrustPrograms(how, [changed["key"]]))  # type: ignore[arg-type]
        here.until("event", lambda found: found["text"] == "follow is reloaded.")
        here.until("scene", lambda found: found["untrusted"] == [])


def test_a_folder_is_trusted_beside_a_text_without_one(cell: Path, tmp_path: Path) -> None:
    """The decision about the folder holds for the programs in it; the text is asked about."""
    inline = '[[agent]]\nname = "inline"\ntype = "program"\nsource = "class Control: pass"\n'
    cell.write_text(f"{cell.read_text()}\n{inline}")
    with backstage(str(cell), tmp_path) as here:
        programs = here.until("scene")["untrusted"]
        assert [each["folder"] for each in programs] == [str(cell.parent), ""]
        here.ask(m.TrustPrograms("folder", [programs[0]["key"]]))
        left = here.until("scene", lambda found: len(found["untrusted"]) == 1)["untrusted"]
        assert [each["agent"] for each in left] == ["inline"]


def test_recording_a_run_trusted_once_does_not_trust_it(cell: Path, tmp_path: Path) -> None:
    """The recording is replayed here, but its scene is asked about again."""
    with backstage(str(cell), tmp_path) as here:
        (program,) = here.until("scene")["untrusted"]
        here.ask(m.TrustPrograms("once", [program["key"]]))
        here.until("scene", lambda found: found["untrusted"] == [])
        here.ask(m.Record(True))
        here.until("event", lambda found: "recording" in found["text"])
        here.ask(m.Record(False))
    with backstage(str(cell), tmp_path) as again:
        assert again.until("scene")["untrusted"]


def test_a_watcher_cannot_trust(cell: Path, tmp_path: Path) -> None:
    """Only the driver's decision counts."""
    with (
        studio(str(cell), tmp_path) as here,
        here.client() as driver,
        here.client() as watcher,
    ):
        assert driver.until("scene")["untrusted"]
        watcher.until("scene")
        watcher.send("trust", how="folder", programs=[])
        assert "drives" in watcher.until("refused")["text"]
        assert TrustStore().entries() == []
