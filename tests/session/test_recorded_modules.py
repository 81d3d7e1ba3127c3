"""A recording holds the modules that its programs import from their folder."""

import importlib.util
import os
import py_compile
import shutil
import sys
from pathlib import Path

import pytest

import linkwork as lw
from command_line import linkwork
from linkwork.components.agents import program_imports
from linkwork.model.parts import find_kits
from linkwork.project.trust import VARIABLE, ProgramCode, is_trusted
from linkwork.session.messages import ReloadProgram, decode_recorded
from linkwork.session.playback import Playback
from linkwork.session.recorded_programs import RecordedPrograms
from linkwork.session.recording import Recording

PROGRAM = """
from linkwork import Control
import helper
from tools.curves import wave

class P(Control):
    def init(self):
        self.count = 0
    def loop(self):
        import late
        self.count += 1
        self.joint("J1").target = helper.GAIN * wave(self.time) + late.OFFSET
"""

SCENE = """format = "linkwork/scene 1"
name = "cell"

[[part]]
name = "arm"
part = "./arm.toml"

[[agent]]
name = "p"
type = "program"
file = "prog.py"
on = "arm"
"""


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scene whose program imports a module, a package and, while it runs, another module."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "decisions" / "trust.json"))
    folder = tmp_path / "cell"
    (folder / "tools").mkdir(parents=True)
    monkeypatch.chdir(folder)
    shutil.copy(find_kits()["gripper"].folder / "arm.toml", folder)
    (folder / "cell.toml").write_text(SCENE)
    (folder / "prog.py").write_text(PROGRAM)
    (folder / "helper.py").write_text("GAIN = 0.25\n")
    (folder / "late.py").write_text("OFFSET = 0.125\n")
    (folder / "tools" / "__init__.py").write_text("")
    (folder / "tools" / "curves.py").write_text(
        "from math import sin\nfrom .scale import SCALE\n"
        "def wave(t):\n    import late\n    return SCALE * sin(t) + late.OFFSET\n"
    )
    (folder / "tools" / "scale.py").write_text("SCALE = 3.0\n")
    return folder


@pytest.mark.capability(89)
def test_a_replay_imports_from_the_recording(cell: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder may change or be gone; its owner need not trust anything to replay it."""
    made = linkwork("run", "cell.toml", "--for", 1.2, "--record", "../run.mcap")
    assert made.code == 0, made.err
    record = cell.parent / "run.mcap"
    (cell / "helper.py").write_text("GAIN = 99.0\n")
    assert lw.replay(record).same
    monkeypatch.chdir(cell.parent)
    shutil.rmtree(cell)
    result = lw.replay(record)
    assert result.same, result.mismatch
    assert linkwork("replay", "run.mcap", "--verify").code == 0
    with Recording.open(record) as recording:
        playback = Playback(recording)
        assert playback.go(550)
        assert playback.problem == ""
        playback.close()


def test_modules_behind_a_link_are_recorded_and_trusted_by_content(cell: Path) -> None:
    """Python imports through a link to a folder, so a change there needs a new decision."""
    (cell / "tools").rename(cell.parent / "common")
    (cell / "tools").symlink_to("../common")
    assert linkwork("trust", "cell.toml").code == 0
    with lw.Session("cell.toml", programs=is_trusted, record=cell.parent / "run.mcap") as session:
        assert session.withheld == []
        session.run(0.2)
    (cell.parent / "common" / "scale.py").write_text("SCALE = 4.0\n")
    with lw.Session("cell.toml", programs=is_trusted) as session:
        assert session.withheld == ["p"]
    assert lw.replay(cell.parent / "run.mcap").same


def test_a_recording_from_elsewhere_is_trusted_with_its_modules(cell: Path) -> None:
    """Without a decision it is not simulated; one about the recording holds for its modules."""
    record = cell.parent / "run.mcap"
    with lw.Session("cell.toml", record=record) as session:
        session.run(0.2)
    (cell.parent / "decisions" / "trust.json").unlink()
    (found,) = lw.replay(record).untrusted
    names = [Path(name).name for name, _ in found.modules or ()]
    assert names == ["helper.py", "late.py", "__init__.py", "curves.py", "scale.py"]
    assert linkwork("trust", record).code == 0
    assert lw.replay(record).same
    assert linkwork("trust", "--revoke", record).code == 0
    assert lw.replay(record).untrusted


def test_a_reload_is_recorded_with_modules_that_have_changed(cell: Path) -> None:
    """Both in a replay and when playback jumps behind and before it."""
    record = cell.parent / "run.mcap"
    with lw.Session("cell.toml", record=record) as session:
        session.run(0.6)
        (cell / "helper.py").write_text("GAIN = 0.5\n")
        session.apply(ReloadProgram("p", PROGRAM + "\n"))
        session.run(0.6)
        later = session["arm/J1.target"]
    with Recording.open(record) as recording:
        (message,) = [decode_recorded(data) for _, data in recording.inbox]
        assert isinstance(message, ReloadProgram)
        assert message.modules == {"helper.py": b"GAIN = 0.5\n"}
    shutil.rmtree(cell / "tools")
    result = lw.replay(record)
    assert result.same, result.mismatch
    with Recording.open(record) as recording:
        playback = Playback(recording)
        for step in (recording.last_step, 100, recording.last_step):
            assert playback.go(step)
            assert playback.problem == ""
        assert playback.live["arm/J1.target"] == later
        playback.close()


def test_a_recorded_module_is_written_nowhere_else(cell: Path) -> None:
    """A hostile recording can give its program any path, and its modules any name."""
    with lw.Session("cell.toml") as session:  # its program is in a folder of the user
        programs = RecordedPrograms([ProgramCode("p", "", PROGRAM)])
        message = ReloadProgram("p", PROGRAM, {"helper.py": b"GAIN = 7.0\n"})
        programs.write_modules(message, session, cell.parent / "replay")
        assert (cell / "helper.py").read_text() == "GAIN = 0.25\n"
        up = ReloadProgram("p", PROGRAM, {"../helper.py": b""})
        with pytest.raises(lw.LinkworkError, match="cannot be the name"):
            programs.write_modules(up, session, cell)


def test_modules_that_cannot_be_recorded_are_named(cell: Path) -> None:
    """Compiled ones and too many: while recording and at the end."""
    (cell / "fast.so").write_bytes(b"\x7fELF")
    made = linkwork("run", "cell.toml", "--for", 0.1, "--record", "../run.mcap")
    assert made.code == 0
    text = " ".join((made.out + made.err).split())
    assert text.count("fast.so beside prog.py cannot be recorded") == 2
    (cell / "fast.so").unlink()
    for number in range(501):
        (cell / f"m{number}.py").write_text("")
    with lw.Session("cell.toml", record=cell.parent / "many.mcap") as session:
        assert any("too many" in event.text for event in session.outbox.events)


def test_programs_share_no_module(cell: Path) -> None:
    """Each start has its own; nothing stays behind in Python's table of modules."""

    (cell / "helper.py").write_text("GAIN = 0.25\ncounts = []\n")
    (cell / "prog.py").write_text(
        "from linkwork import Control\nimport helper\nclass P(Control):\n"
        "    def init(self):\n        helper.counts.append(1)\n"
        "        self.log(str(len(helper.counts)))\n"
    )
    before, programs = set(sys.modules), dict(program_imports._finder.programs)
    for _ in range(2):
        with lw.Session("cell.toml") as session:
            assert session.outbox.events[-1].text == "1"
            session.apply(ReloadProgram("p", (cell / "prog.py").read_text() + "\n"))
            assert [event.text for event in session.outbox.events][-2:-1] == ["1"]
    left = {name for name in set(sys.modules) - before if "linkwork_program" in name}
    assert not left
    assert "helper" not in sys.modules
    assert program_imports._finder.programs == programs


def test_a_module_that_is_imported_late_uses_no_cache(cell: Path) -> None:
    """A forged ``__pycache__`` is not read when a program imports in ``loop()``."""

    source, other = cell / "late.py", cell / "other.py"
    other.write_text("OFFSET = 9.125\n")
    os.utime(other, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    py_compile.compile(str(other), cfile=importlib.util.cache_from_source(str(source)))
    (cell / "helper.py").write_text("GAIN = 0.0\n")
    with lw.Session("cell.toml") as session:
        session.run(0.1)
        assert session["arm/J1.target"] == 0.125
