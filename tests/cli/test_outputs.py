"""Commands write no file in place of one that is there, unless told, and never their own source."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import linkwork
from linkwork.cli.screen import Screen, show_event
from linkwork.core.errors import NameNotFound
from linkwork.session.session import Session
from session_scenes import bench

LOG = "time [s],target [deg],angle [deg]\n" + "".join(
    f"{0.02 * n:.2f},50,{min(50.0, 4.0 * n)}\n" for n in range(30)
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "targets.csv").write_text("x,y,z\n0.3,0.1,0.5\n")


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["plan", "bioloid/neck", "--out"], "kept.csv"),
        (["fit", "log.csv", "--free", "max_speed", "--out"], "kept.toml"),
        (["fit", "log.csv", "--free", "max_speed", "--picture"], "kept.svg"),
        (["step", "gripper/arm", "--joint", "arm/J1", "--for", "0.1", "--csv"], "kept.csv"),
        (["step", "gripper/arm", "--joint", "arm/J1", "--for", "0.1", "--picture"], "kept.svg"),
        (["ik", "kuka/arm", "--tip", "flange", "--batch", "targets.csv", "--out"], "kept.csv"),
        (["ports", "tripod/can", "--dbc"], "kept.dbc"),
    ],
)
def test_a_file_that_exists_is_replaced_only_when_told(words: list[str], file: str) -> None:
    """Without --overwrite the command ends with 1 and the file stays; with it, it is written."""
    Path(file).write_text("precious")
    found = linkwork(*words, file)
    assert found.code == 1
    assert f"{file} exists. Give --overwrite to replace it." in found.err
    assert Path(file).read_text() == "precious"
    found = linkwork(*words, file, "--overwrite")
    assert found.code == 0, found.err
    assert Path(file).read_text() != "precious"


def test_the_source_is_never_replaced() -> None:
    """--overwrite does not allow a command to write over what it reads, by whatever name."""
    Path("arm.toml").symlink_to("arm-as-given.toml")
    assert linkwork("convert", "gripper/arm", "arm-as-given.toml").code == 0
    movement = Path("nod.toml")
    assert linkwork("convert", "bioloid/neck", movement).code == 0
    for words in (
        ["fit", "log.csv", "--out", "./log.csv"],
        ["ik", "kuka/arm", "--tip", "flange", "--batch", "targets.csv", "--out", "targets.csv"],
        ["plan", "nod.toml", "--out", "nod.toml"],
        ["step", "arm.toml", "--joint", "arm/J1", "--csv", "arm-as-given.toml"],
        ["run", "arm.toml", "--for", "0.1", "--csv", "arm-as-given.toml"],
    ):
        before = Path(words[-1]).read_text()
        found = linkwork(*words, "--overwrite")
        assert found.code == 1
        assert "is the source itself. Give another name." in found.err, words
        assert Path(words[-1]).read_text() == before


def test_places_where_nothing_can_be_written_are_told_before_the_work() -> None:
    """A folder, a folder that is not there, and one name for two files."""
    for words, expected_text in (
        (["plan", "bioloid/neck", "--out", "."], "is a folder"),
        (["plan", "bioloid/neck", "--out", "nowhere/x.csv"], "there is no folder nowhere"),
        (["fit", "log.csv", "--out", "x", "--picture", "./x"], "is to be written twice"),
    ):
        found = linkwork(*words)
        assert found.code == 1
        assert expected_text in found.err
        assert len(found.err.splitlines()) <= 2


def test_errors_are_not_named_by_their_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """An error of the session has no source; that of an agent is named, whatever its name."""
    with Session(bench()) as session:
        session.log_error(NameNotFound("there is no joint named 'x'."))
        session.log("it is late.", level="warning", source="KneeError")
        for event in list(session.outbox.events)[-2:]:
            show_event(Screen(), event)
    assert capsys.readouterr().out.splitlines() == [
        "error: there is no joint named 'x'.",
        "warning: KneeError: it is late.",
    ]


#: Runs commands in one process in which files grow to 6000 bytes at most.
LIMITED = """
import json, resource, signal, sys
sys.path.insert(0, {tests!r})
from command_line import linkwork
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
print(json.dumps([(r.code, r.out, r.err) for r in (linkwork(*w) for w in {words!r})]))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_a_full_disk_leaves_no_fragments(tmp_path: Path) -> None:
    """Files are whole, as before, or not there; a table of a run ends after a whole row."""
    assert linkwork("run", "gripper/arm", "--for", 100, "--record", "run.mcap").code == 0
    commands = [
        ["replay", "run.mcap", "--html", "a.html"],
        ["replay", "run.mcap", "--csv", "a.csv"],
        ["convert", "tripod/level", "a.glb"],
        ["derive", "gripper/arm", "--to", "c", "--out", "a.c"],
        ["run", "gripper/arm", "--for", "2", "--csv", "table.csv"],
    ]
    code = LIMITED.format(tests=str(Path(__file__).parent.parent), words=commands)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    results = json.loads(done.stdout.splitlines()[-1])
    for words, (code, _, err) in zip(commands, results, strict=True):
        name = words[-1]
        assert code, words
        assert name in err, words
        assert "File too large" in " ".join(err.split()), words
        assert Path(name).exists() == (name == "table.csv"), words
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".linkwork-")]
    table = Path("table.csv").read_text()
    assert table.endswith("\n")
    rows = table.count("\n") - 1
    assert rows > 5
    assert len({line.count(",") for line in table.splitlines()}) == 1
    assert f"Its first {rows} rows are kept." in " ".join(results[-1][2].split())
