"""Opening a file never runs its Python; the user decides, by content or by folder."""

import json
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import linkwork as lw
from command_line import linkwork, start
from linkwork.core.errors import FormatError, LinkworkError
from linkwork.model.parts import find_kits
from linkwork.project.trust import (
    VARIABLE,
    ProgramCode,
    TrustStore,
    TrustWarning,
    is_trusted,
    program_code,
    programs_of,
)
from linkwork.session.messages import ReloadProgram, StartPrograms
from linkwork.session.playback import Playback
from linkwork.session.recording import Recording

#: Writes a file wherever it runs.
HOSTILE = """
from pathlib import Path
Path({mark!r}).touch()
from linkwork import Control

class Hostile(Control):
    def init(self):
        Path({mark!r}).touch()
    def loop(self):
        Path({mark!r}).touch()
        self.joint("J1").target = 0.5
"""

SCENE = """format = "linkwork/scene 1"
name = "cell"

[[part]]
name = "arm"
part = "./arm.toml"

[[agent]]
name = "hostile"
type = "program"
file = "hostile.py"
on = "arm"
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrustStore:
    """The user's decisions, of which there are none yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "decisions" / "trust.json"))
    return TrustStore()


@pytest.fixture
def hostile(tmp_path: Path, store: TrustStore) -> Path:
    """A stranger's folder; its program leaves a mark where it runs."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    shutil.copy(find_kits()["gripper"].folder / "arm.toml", folder)
    (folder / "hostile.py").write_text(HOSTILE.format(mark=str(tmp_path / "ran")))
    (folder / "cell.toml").write_text(SCENE)
    return folder


def ran(folder: Path) -> bool:
    """Whether the program has run since the last call."""
    mark = folder.parent / "ran"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


@pytest.mark.capability(160)
@pytest.mark.parametrize(
    "words",
    [
        ["check", "cell.toml"],
        ["convert", "cell.toml", "made.glb"],
        ["step", "cell.toml", "arm/J1", "--by", "5", "--for", "0.2"],
        ["charts", "cell.toml", "--for", "0.1", "--out", "charts"],
        ["kits"],
        ["studio", "cell.toml", "--terminal", "--for", "0.2"],
    ],
    ids=lambda words: words[0],
)
def test_no_command_but_run_runs_a_strangers_code(
    hostile: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Looking, checking, converting, measuring: the program of an untrusted scene does not run."""
    monkeypatch.chdir(hostile)
    done = linkwork(*words)
    assert not ran(hostile)
    if words[0] == "studio":
        assert done.code == 0, done.err
        assert "'hostile' is not trusted and does not run" in " ".join(done.err.split())


def test_run_is_the_decision_and_names_the_code(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``linkwork run FILE`` and ``lw.Session(path)`` run what they are given."""
    monkeypatch.chdir(hostile)
    done = linkwork("run", "cell.toml", "--for", 0.1)
    assert done.code == 0, done.err
    assert "this runs the code of" in done.out
    assert "hostile.py" in done.out
    assert ran(hostile)
    with lw.Session(hostile / "cell.toml") as session:
        session.run(0.1)
    assert ran(hostile)


def test_the_code_is_named_before_it_runs(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the run is recorded, or the program ends it at once; in Python in the log."""
    monkeypatch.chdir(hostile)
    text = (hostile / "hostile.py").read_text()
    recorded = linkwork("run", "cell.toml", "--for", 0.1, "--record", "run.mcap")
    assert "this runs the code of" in recorded.out
    (hostile / "hostile.py").write_text("print('it runs')\nraise SystemExit\n")
    failed = linkwork("run", "cell.toml", "--for", 0.1)
    assert failed.code != 0
    assert failed.out.index("this runs the code of") < failed.out.index("it runs")
    (hostile / "hostile.py").write_text(text)
    with lw.Session(hostile / "cell.toml") as session:
        first = session.outbox.events[0].text
    assert first.startswith("this runs the code of")
    assert first.endswith("hostile.py.")


@pytest.mark.parametrize("how", ["kit", "folder", "file"])
def test_a_text_is_not_trusted_by_the_path_of_another(
    hostile: Path, store: TrustStore, tmp_path: Path, how: str
) -> None:
    """A scene may give a program's text and name a trusted file: the text is what would run."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "good.py").write_text("class Control: pass\n")
    if how == "folder":
        store.trust_folder(mine)
    else:
        store.trust_file(mine / "good.py")
    kit = find_kits()["gripper"].folder
    for file in (kit / "follow.py", kit / "none.py") if how == "kit" else (mine / "good.py",):
        source = f"source = {json.dumps((hostile / 'hostile.py').read_text())}"
        text = SCENE.replace('"hostile.py"', f"{json.dumps(str(file))}\n{source}")
        (hostile / "cell.toml").write_text(text)
        with lw.Session(hostile / "cell.toml", programs=is_trusted) as session:
            assert session.withheld == ["hostile"]
        assert not ran(hostile)


def test_a_recorded_run_is_replayed_but_its_scene_is_not_trusted(
    hostile: Path, store: TrustStore
) -> None:
    """To run a file once, with a recording, is no decision to run it whenever it is opened."""
    with lw.Session(hostile / "cell.toml", record=hostile / "run.mcap") as session:
        session.run(0.2)
    assert {each.kind for each in store.entries()} == {"recorded"}
    assert lw.replay(hostile / "run.mcap").same
    with lw.Session(hostile / "cell.toml", programs=is_trusted) as session:
        assert session.withheld == ["hostile"]
    assert linkwork("trust", "--revoke", "hostile").code == 0
    assert lw.replay(hostile / "run.mcap").untrusted


def test_a_replay_runs_only_what_was_found_before(hostile: Path) -> None:
    """A recording that changes after its programs were trusted runs nothing new."""
    with lw.Session(hostile / "cell.toml", record=hostile / "run.mcap") as session:
        session.run(0.2)
    ran(hostile)
    other = ProgramCode("hostile", "", "class Control: pass")
    with Recording.open(hostile / "run.mcap") as recording:
        playback = Playback(recording, codes=[other])
        assert playback.live.withheld == ["hostile"]
        playback.close()
    assert not ran(hostile)


def test_a_withheld_program_leaves_its_joints(hostile: Path) -> None:
    """The scene runs without its untrusted program, until it is started."""
    with lw.Session(hostile / "cell.toml", programs=is_trusted) as session:
        assert session.withheld == ["hostile"]
        before = session["arm/J1.target"]
        session.run(0.1)
        assert session["arm/J1.target"] == before
        assert not session.apply(StartPrograms(["hostile"]))
        assert not session.apply(ReloadProgram("hostile", "class Control: pass"))
        assert not ran(hostile)
        TrustStore().trust_folder(hostile)
        assert session.apply(StartPrograms(["hostile"]))
        session.run(0.1)
        assert session.withheld == []
        assert session["arm/J1.target"] == 0.5
    assert ran(hostile)


@pytest.mark.capability(97)
def test_a_strangers_recording_is_not_simulated(hostile: Path, store: TrustStore) -> None:
    """``replay --verify`` checks bytes and keyframes, says so and fails; ``--trust`` simulates."""
    with lw.Session(hostile / "cell.toml", record=hostile / "run.mcap") as session:
        session.run(1.2)
    assert linkwork("replay", hostile / "run.mcap", "--verify").code == 0, "it was made here"
    store.path.unlink()  # elsewhere nobody has trusted it
    ran(hostile)
    path = hostile / "run.mcap"
    found = linkwork("replay", path, "--verify")
    assert found.code == 3
    assert "Not re-simulated: it brings programs that nobody has trusted: hostile." in found.out
    assert "1 keyframes agree with their hashes" in found.out
    page = linkwork("replay", path, "--html", hostile / "page.html")
    assert page.code == 0, page.err
    refused = linkwork("replay", path, "--html", "b.html", "--watch", "arm/*.effort")
    assert refused.code == 1
    assert "--trust runs them" in refused.err
    for words in (["--csv", "b.csv", "--watch", "arm/*.effort"], ["--images", "b"]):
        refused = linkwork("replay", path, *words)
        assert refused.code == 1
        assert "--trust runs them" in " ".join(refused.err.split())
        assert "Wrote" not in refused.out
        assert not Path(words[1]).exists()
    with Recording.open(path) as recording:
        playback = Playback(recording, simulate=False)
        assert playback.go(500)
        assert not playback.go(700)
        playback.close()
    assert not lw.replay(path).same
    assert not ran(hostile)
    trusting = linkwork("replay", path, "--verify", "--trust")
    assert trusting.code == 0, trusting.out
    assert ran(hostile)
    assert linkwork("trust", path).code == 0
    assert linkwork("replay", path, "--verify").code == 0


def test_a_run_without_its_program_replays_without_it(hostile: Path, store: TrustStore) -> None:
    """Which programs ran is recorded, also when they were started later."""
    record = hostile / "run.mcap"
    with lw.Session(hostile / "cell.toml", programs=is_trusted, record=record) as session:
        session.run(0.6)
        store.trust_content(programs_of(session.world.scene))
        session.apply(StartPrograms(["hostile"]))
        session.run(0.6)
    result = lw.replay(record)
    assert result.same, result.mismatch
    with Recording.open(record) as recording:
        playback = Playback(recording)
        assert playback.go(recording.last_step)
        assert playback.problem == ""
        playback.close()


def test_content_is_trusted_with_what_it_imports(hostile: Path, store: TrustStore) -> None:
    """A changed program, a changed or new module beside it: each needs a new decision."""
    (hostile / "helper.py").write_text("x = 1\n")
    program = hostile / "hostile.py"

    def code() -> ProgramCode:
        return program_code("hostile", program, program.read_text())

    store.trust_content([code()])
    assert is_trusted(code())
    (hostile / "helper.py").write_text("x = 2\n")
    assert not is_trusted(code())
    (hostile / "helper.py").write_text("x = 1\n")
    assert is_trusted(code())
    (hostile / "random.so").write_bytes(b"\x7fELF")
    assert not is_trusted(code())
    (hostile / "random.so").unlink()
    package = hostile / "tools"
    package.mkdir()
    (package / "inner.py").write_text("")
    assert not is_trusted(code())
    shutil.rmtree(package)
    elsewhere = hostile.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "inner.py").write_text("")
    package.symlink_to(elsewhere)
    (elsewhere / "again").symlink_to(elsewhere)
    assert not is_trusted(code()), "Python imports it through the link"
    package.unlink()
    program.write_text(program.read_text() + "\n")
    assert not is_trusted(code())
    store.trust_folder(hostile)
    assert is_trusted(code())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_beside_a_program_does_not_block(hostile: Path, store: TrustStore) -> None:
    """It is not read; its content is not trusted."""
    os.mkfifo(hostile / "helper.py")
    with lw.Session(hostile / "cell.toml", programs=is_trusted) as session:
        assert session.withheld == ["hostile"]
        with pytest.raises(LinkworkError, match="too many modules"):
            store.trust_content(programs_of(session.world.scene))


def test_decisions_of_several_processes_are_all_kept(hostile: Path, store: TrustStore) -> None:
    """Two that decide at once do not overwrite each other's decision."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: TrustStore().trust_file(f"p{n}.py"), range(40)))
    assert len(store.entries()) == 40


def test_a_forged_cache_beside_a_module_is_not_used(hostile: Path, store: TrustStore) -> None:
    """Compiled code in ``__pycache__`` may say something else than its source; it is not read."""
    import importlib.util
    import py_compile

    source = hostile / "helper_of_hostile.py"
    source.write_text("VALUE = 'source'\n")
    other = hostile / "other.py"
    other.write_text("VALUE = 'forged'\n")
    os.utime(other, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    cached = Path(importlib.util.cache_from_source(str(source)))
    cached.parent.mkdir()
    py_compile.compile(str(other), cfile=str(cached), doraise=True)
    other.unlink()
    (hostile / "hostile.py").write_text(
        "from linkwork import Control\nfrom helper_of_hostile import VALUE\n"
        "class P(Control):\n    def init(self):\n        self.log(VALUE)\n"
    )
    with lw.Session(hostile / "cell.toml") as session:
        assert [event.text for event in session.outbox.events][-1] == "source"


def test_decisions_are_private_listed_and_revoked(hostile: Path, store: TrustStore) -> None:
    """``linkwork trust`` makes, lists and revokes; the file is the user's alone."""
    assert "Nothing is trusted but the kits." in linkwork("trust").out
    assert linkwork("trust", hostile / "cell.toml").code == 0
    assert linkwork("trust", hostile).code == 0
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    listed = linkwork("trust").out
    assert "folder" in listed
    assert "content" in listed
    assert {each.kind for each in store.entries()} == {"folder", "content"}
    assert linkwork("trust", "--revoke", hostile).code == 0
    assert linkwork("trust", "--revoke", str(hostile / "hostile.py")).code == 0
    assert store.entries() == []
    assert linkwork("trust", "--revoke", "nothing").code == 1


@pytest.mark.parametrize("name", ["cell.toml", "hostile.py", "run.mcap", "hash"])
def test_what_was_trusted_is_revoked_by_the_same_name(
    hostile: Path, store: TrustStore, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Also with the modules beside a program, and after the program has changed."""
    monkeypatch.chdir(hostile)
    (hostile / "helper.py").write_text("x = 1\n")
    with lw.Session("cell.toml", record="run.mcap") as session:
        session.run(0.1)
    assert linkwork("trust", "cell.toml" if name == "hash" else name).code == 0
    assert {each.kind for each in store.entries()} == {"recorded", "content"}
    if name == "hash":
        content = [each for each in store.entries() if each.kind == "content"]
        short = linkwork("trust", "--revoke", content[0].key[:5])
        assert short.code == 1
        assert "at least 6 characters" in " ".join(short.err.split())
        assert linkwork("trust", "--revoke", content[0].key[:6]).code == 0
        assert content[0] not in store.entries()
        return
    if name != "run.mcap":
        (hostile / "hostile.py").write_text("class Control: pass\n")
    assert linkwork("trust", "--revoke", name).code == 0
    assert "content" not in {each.kind for each in store.entries()}
    if name == "run.mcap":
        assert store.entries() == []
        assert lw.replay("run.mcap").untrusted


def test_a_damaged_list_trusts_nothing(hostile: Path, store: TrustStore) -> None:
    """It is named in a warning; kits run, and nothing is written over it."""
    store.path.parent.mkdir()
    for text in ("{", "[]", json.dumps({"folders": 3, "files": [], "content": {}})):
        store.path.write_text(text)
        with pytest.warns(TrustWarning, match=r"trust\.json: .*cannot be read"):
            assert store.untrusted([program_code("p", None, "x")])
        with pytest.warns(TrustWarning):
            assert linkwork("run", "gripper/follow", "--for", 0.1).code == 0
        with pytest.warns(TrustWarning):
            assert linkwork("run", hostile / "cell.toml", "--for", 0.1).code == 0
        for words in (["trust"], ["trust", hostile], ["new", "robot", "swing"]):
            refused = linkwork(*words)
            assert refused.code == 1
            assert "Repair or delete the file" in " ".join(refused.err.split())
        assert store.path.read_text() == text


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize(("mode", "folder"), [(0o666, 0o700), (0o620, 0o700), (0o600, 0o777)])
def test_a_list_that_others_can_write_is_not_believed(
    hostile: Path, store: TrustStore, mode: int, folder: int
) -> None:
    """Others could trust their programs with it; the warning has the command that closes it."""
    store.trust_folder(hostile)
    code = program_code("hostile", hostile / "hostile.py", (hostile / "hostile.py").read_text())
    assert is_trusted(code)
    store.path.chmod(mode)
    store.path.parent.chmod(folder)
    command = f"chmod {600 if mode != 0o600 else 700}"
    with pytest.warns(TrustWarning, match=command):
        assert not is_trusted(code)
    with pytest.raises(FormatError, match="other users can write"):
        store.trust_folder(hostile.parent)
    assert command in " ".join(linkwork("trust").err.split())
    store.path.chmod(0o600)
    store.path.parent.chmod(0o700)
    assert is_trusted(code)


def test_the_command_prints_the_warning_as_one_line(hostile: Path, store: TrustStore) -> None:
    """Without a file and line of the package."""
    store.path.parent.mkdir()
    store.path.write_text("{")
    done = start("run", "gripper/follow", "--for", "0.1", cwd=hostile)
    _, err = done.communicate(timeout=300)
    assert done.returncode == 0
    assert err.startswith(f"warning: {store.path}: the list of trusted programs cannot be read")
    assert err.count("warning") == 1


def test_kits_and_new_programs_are_trusted(tmp_path: Path, store: TrustStore) -> None:
    """Programs of the package and those that ``linkwork new`` makes need no decision."""
    for name in ("tripod/level", "vehicles/explore", "gripper/follow"):
        assert store.untrusted(programs_of(lw.load(name))) == []  # type: ignore[arg-type]
    assert linkwork("new", "robot", "swing").code == 0
    assert str(tmp_path / "swing.py") in "".join(linkwork("trust").out.split())
    assert store.untrusted(programs_of(lw.load("swing_scene.toml"))) == []  # type: ignore[arg-type]
    with Path("swing.py").open("a") as file:
        file.write("# edited\n")
    assert store.untrusted(programs_of(lw.load("swing_scene.toml"))) == []  # type: ignore[arg-type]


def test_a_folder_that_is_none_is_refused(store: TrustStore) -> None:
    """The error names it."""
    with pytest.raises(LinkworkError, match="there is no folder"):
        store.trust_folder("nowhere")
