"""The command line: help, exit codes, and the commands that do not run anything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import linkwork
from linkwork.cli.app import app
from linkwork.formats import load_part

COMMANDS = [
    "charts",
    "check",
    "compare",
    "convert",
    "derive",
    "fit",
    "ik",
    "kits",
    "look",
    "new",
    "plan",
    "ports",
    "posture",
    "replay",
    "run",
    "step",
    "studio",
    "trust",
    "warmup",
]

URDF = """\
<robot name="pointer">
  <link name="base"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hand"><inertial><mass value="0.5"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="hand"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
  <gazebo reference="hand"/>
</robot>
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINKWORK_KITS", str(tmp_path / "kits"))


def plain(text: str) -> str:
    """The text without colours and line breaks, which depend on the terminal."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[│╭╮╰╯─]", "", text).split())


# ---- help ------------------------------------------------------------------------------------


def test_help_lists_every_command_and_exit_code() -> None:
    """Who asks for help sees where to begin, each command, and what exit codes mean."""
    found = linkwork("--help")
    assert found.code == 0
    assert "linkwork run tripod/level" in found.out
    assert all(command in found.out for command in COMMANDS)
    assert "3 replay differs" in plain(found.out)


def test_every_command_is_tested_here() -> None:
    """The list above is complete."""
    assert sorted(each.name or "" for each in app.registered_commands) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_teaches_by_example(command: str) -> None:
    """Every command's help shows commands to copy."""
    found = linkwork(command, "--help")
    assert found.code == 0
    assert f"$ linkwork {command}" in found.out


def test_the_version_is_printed() -> None:
    """``--version`` prints a name and a number."""
    assert re.fullmatch(r"linkwork \S+\n", linkwork("--version").out)


@pytest.mark.parametrize("module", ["linkwork"])
def test_the_package_runs_as_a_module(module: str) -> None:
    """``python -m linkwork`` is the command, where its script is not on the path."""
    found = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("linkwork ")


def test_help_is_quick_to_load() -> None:
    """Nothing heavy is imported before a command needs it."""
    code = "import sys, linkwork.cli.app; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numba", "numpy", "mujoco", "msgspec", "tomlkit", "trimesh", "rich"}
    assert not heavy & {name.partition(".")[0] for name in run.stdout.split()}


# ---- mistakes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "reported"),
    [
        (["frobnicate"], 2, "No such command"),
        (["run"], 2, "Missing argument"),
        (["run", "gripper/arm", "--nope"], 2, "No such option"),
        (["run", "gripper/arm", "--for", "nan"], 2, "a number above 0, not nan"),
        (["run", "gripper/arm", "--for", "-1"], 2, "a number above 0, not -1"),
        (["run", "gripper/arm", "--for", "inf"], 2, "a number above 0, not inf"),
        (["run", "gripper/arm", "--for", "soon"], 2, "--for"),
        (["run", "gripper/arm", "--rate", "0"], 2, "a number above 0, not 0"),
        (["run", "gripper/arm", "--speed", "-2"], 2, "a number above 0, not -2"),
        (["run", "gripper/arm", "--clock", "slow"], 2, "'fast', 'real'"),
        (["run", "gripper/arm", "--on", "arm"], 2, "the part that --program drives"),
        (["run", "nothing.toml"], 1, "there is no file 'nothing.toml'"),
        (["run", "gripper/nothing"], 1, "there is no kit part named 'gripper/nothing'"),
        (["run", "nokit/arm"], 1, "Available kits: amtec, bart_uh, bioloid, furniture"),
        (["run", "folder.toml"], 1, "is a folder"),
        (["run", "latin.toml"], 1, "latin.toml:2: byte 0xff is not text in UTF-8"),
        (["run", "wrong.toml"], 1, "wrong.toml:4: element 1 has no key 'nme'"),
        (["run", "wrong.toml", "--for", "1"], 1, "Did you mean 'name'?"),
        (["check", "wrong.toml"], 1, "wrong.toml:4:"),
        (["check", "empty.toml"], 1, "empty.toml"),
        (["convert", "wrong.toml", "x.urdf"], 1, "wrong.toml:4:"),
        (["convert", "gripper/arm", "x.docx"], 1, "suffix '.docx' is not known. Written are .toml"),
        (["convert", "gripper/arm", "docx"], 1, "no format writes 'docx': it has no suffix"),
        (["convert", "gripper/arm", "folder.toml"], 1, "is a folder"),
        (["convert", "gripper/arm", "wrong.toml"], 1, "exists. Give --overwrite"),
        (["convert", "wrong.toml", "wrong.toml", "--overwrite"], 1, "is the source itself"),
        (["convert", "tripod/level", "x.urdf"], 1, "Give --part table; its parts: table, tripod"),
        (["run", "kuka"], 1, "'kuka' is a kit, not a file. Say one of kuka/table, kuka/arm"),
        (["check", "empty.xml"], 1, "empty.xml: the file is empty. <mujoco> begins"),
        (["check", "binary.xml"], 1, "binary.xml: the file is not XML. <mujoco> begins"),
        (["check", "page.xml"], 1, "page.xml: the file begins with <html>, which no format"),
        (["check", "braket.stl"], 1, "Did you mean 'bracket.stl'?"),
        (["convert", "tripod/level", "x.urdf", "--part", "leg"], 1, "Available parts"),
        (["convert", "gripper/arm", "nowhere/x.urdf"], 1, "nowhere/x.urdf"),
        (["kits", "nokit"], 1, "Available kits: amtec, bart_uh, bioloid, furniture"),
        (["new", "robot", "a b"], 1, "not allowed"),
        (["new", "robot", "../x"], 1, "not allowed"),
        (["new", "rocket", "x"], 2, "'robot', 'part', 'program'"),
        (["new", "part", "x", "--kit", "a", "--in", "b"], 2, "a kit has its own folder"),
        (["new", "part", "x", "--in", "wrong.toml/y"], 1, "wrong.toml"),
        (["replay", "nothing.mcap"], 1, "nothing.mcap"),
        (["replay", "wrong.toml"], 1, "this is not a recording"),
        (["replay", "folder.toml"], 1, "not a file"),
        (["replay", "nothing.mcap", "--watch", "x"], 2, "--csv"),
        (["studio", "nothing.toml", "--terminal"], 1, "there is no file"),
        (["studio", "--for", "0"], 2, "a number above 0"),
    ],
)
def test_a_mistake_is_one_clear_line(
    tmp_path: Path, words: list[str], code: int, reported: str
) -> None:
    """What a user gets wrong is shown on stderr without a traceback, 2 for usage, 1 for content."""
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "empty.xml").write_text("")
    (tmp_path / "binary.xml").write_bytes(bytes(range(256)))
    (tmp_path / "page.xml").write_text("<?xml version='1.0'?><!-- a page -->\n<html/>")
    (tmp_path / "bracket.stl").write_bytes(b"")
    (tmp_path / "latin.toml").write_bytes(b'format = "linkwork/part 1"\nname = "\xff"\n')
    (tmp_path / "wrong.toml").write_text(
        'format = "linkwork/part 1"\nname = "x"\n[[element]]\nnme = "a"\n'
    )
    found = linkwork(*words)
    assert found.code == code, found
    assert plain(reported) in plain(found.err)
    assert "Traceback" not in found.err + found.out
    if code == 1:
        assert found.err.startswith("error: ")
        assert found.err.count("\n") == 1
        assert found.out == ""


def test_a_fault_of_ours_is_told_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody foresaw says that it is ours and how to see more."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.delenv("LINKWORK_DEBUG", raising=False)
    monkeypatch.setattr("linkwork.cli.scene_argument.load_showing_notes", broken)
    found = linkwork("check", "gripper/arm")
    assert found.code == 4
    assert "ZeroDivisionError: oh. This is a bug in Linkwork" in found.err
    assert "LINKWORK_DEBUG=1" in found.err


def test_ctrl_c_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in any command ends it with code 130."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("linkwork.cli.scene_argument.load_showing_notes", interrupted)
    found = linkwork("check", "gripper/arm")
    assert (found.code, found.err) == (130, "Cancelled.\n")


# ---- check -----------------------------------------------------------------------------------


def test_check_of_a_part_lists_joints_and_anchors() -> None:
    """Who wants to attach something sees where it fits."""
    found = linkwork("check", "tripod/platform")
    assert found.code == 0
    assert re.search(r"^socket1 +leg_socket", found.out, re.MULTILINE)
    assert found.out.rstrip().endswith("It can run.")
    arm = linkwork("check", "gripper/arm")
    assert re.search(r"^J1 +hinge +servo", arm.out, re.MULTILINE)
    assert "3 moving bodies, 3 joints, 3 degrees of freedom, 0 loops, 7.040 kg." in arm.out


def test_check_lists_signals_with_unit_and_range() -> None:
    """Every signal is listed as a person reads it: degrees, range, and whether it can be set."""
    found = linkwork("check", "gripper/arm", "--signals")
    assert re.search(r"^arm/J1.angle +° +−40.000 … 75.000 +watch *$", found.out, re.MULTILINE)
    assert re.search(r"^arm/J1.target +° +−40.000 … 75.000 +watch, set *$", found.out, re.MULTILINE)


def test_check_finds_what_only_a_start_would(tmp_path: Path) -> None:
    """A wave on a signal that does not exist is found without running."""
    scene = tmp_path / "scene.toml"
    scene.write_text(
        'format = "linkwork/scene 1"\nname = "s"\n[[part]]\nname = "arm"\npart = "gripper/arm"\n'
        '[[agent]]\nname = "w"\ntype = "wave"\nsignal = "arm/J9.target"\n'
    )
    found = linkwork("check", scene)
    assert found.code == 1
    assert f"{scene}:6: there is no signal named 'arm/J9.target'" in found.err


def test_check_of_an_engine_that_cannot(tmp_path: Path) -> None:
    """What an engine cannot do makes the check fail, at the thing's own line."""
    part = tmp_path / "light.toml"
    part.write_text(
        'format = "linkwork/part 1"\nname = "light"\n[[element]]\nname = "a"\nmass = 1\n'
        '[[element]]\nname = "b"\n[[joint]]\nname = "j"\ntype = "hinge"\nfrom = "a"\nto = "b"\n'
    )
    found = linkwork("check", part)
    assert found.code == 1
    assert "mass" in found.err
    assert f"{part}:" in found.err


# ---- convert ---------------------------------------------------------------------------------


def test_convert_tells_what_is_lost(tmp_path: Path) -> None:
    """From URDF and back: what either side cannot say is listed, the rest is kept."""
    (tmp_path / "pointer.urdf").write_text(URDF)
    there = linkwork("convert", "pointer.urdf", "pointer.toml")
    assert there.code == 0, there.err
    assert "note: elements that are not read: gazebo" in there.out
    assert there.out.endswith("Wrote pointer.toml.\n")
    part = load_part("pointer.toml")
    assert part.joints["turn"].range == ((-1.0, 1.0),)
    back = linkwork("convert", "gripper/arm", "arm.urdf")
    assert back.code == 0, back.err
    assert "note: anchors, left out: mount." in back.out
    assert {"J1", "J2", "J3"} <= set(load_part("arm.urdf").joints)


def test_convert_takes_a_part_of_a_scene_and_overwrites_when_told(tmp_path: Path) -> None:
    """One part of a scene can be written, and an existing file replaced on request only."""
    (tmp_path / "tripod.urdf").write_text("old")
    words = ("convert", "tripod/level", "tripod.urdf", "--part", "tripod")
    assert linkwork(*words).code == 1
    assert (tmp_path / "tripod.urdf").read_text() == "old"
    assert linkwork(*words, "--overwrite").code == 0
    assert len(load_part("tripod.urdf").joints) >= 6


# ---- kits and new ----------------------------------------------------------------------------


def test_kits_lists_parts_and_scenes_with_titles() -> None:
    """Each part, scene and movement stands in a line of its own, cut nowhere when piped."""
    found = linkwork("kits")
    assert found.code == 0
    lines = {line.split()[0]: line for line in found.out.splitlines()}
    title = "A gripper whose second finger follows the first by a listener"
    assert re.fullmatch(rf"gripper/follow +scene +package +{title} *", lines["gripper/follow"])
    assert re.match(r"tripod/leg +part", lines["tripod/leg"])
    assert re.match(r"kuka/reach +movement +package +Over the table", lines["kuka/reach"])
    assert all(
        line.startswith(("name", "tripod/")) for line in linkwork("kits", "tripod").out.splitlines()
    )


@pytest.mark.capability(46)
def test_a_part_of_ones_own_joins_the_kit(tmp_path: Path) -> None:
    """A new part in a kit of one's own is listed, checked, run, and used by others by its name."""
    made = linkwork("new", "part", "finger", "--kit", "mine")
    assert made.code == 0, made.err
    assert (tmp_path / "kits" / "mine" / "finger.toml").is_file()
    assert re.search(r"^mine/finger +part +user", linkwork("kits").out, re.MULTILINE)
    assert linkwork("check", "mine/finger").code == 0
    hand = tmp_path / "hand.toml"
    hand.write_text(
        'format = "linkwork/part 1"\nname = "hand"\n[[element]]\nname = "palm"\nmass = 1\n'
        "shape = { box = { size = [0.1, 0.1, 0.1] } }\n"
        '[[anchor]]\nname = "side"\non = "palm"\n[[attach]]\npart = "mine/finger"\nto = "side"\n'
    )
    found = linkwork("check", hand)
    assert found.code == 0, found.err
    assert "1 joint, 1 degree of freedom" in found.out


def test_new_robot_runs_at_once(tmp_path: Path) -> None:
    """The files of a new robot run as they are; a second start of the same name changes nothing."""
    made = linkwork("new", "robot", "swing", "--in", "work")
    assert made.code == 0, made.err
    assert "Run it: linkwork run work/swing_scene.toml" in made.out
    found = linkwork("run", "work/swing_scene.toml", "--for", 0.5)
    assert found.code == 0, found.err
    assert "program: J1 is at 10 degrees." in found.out
    before = {file: file.read_bytes() for file in (tmp_path / "work").iterdir() if file.is_file()}
    again = linkwork("new", "robot", "swing", "--in", "work")
    assert again.code == 1
    assert "exists; nothing was written" in again.err
    assert {file: file.read_bytes() for file in before} == before


def test_new_program_drives_a_part() -> None:
    """The program that ``new program`` writes drives the part that it names as example."""
    made = linkwork("new", "program", "dance")
    words = re.search(r"linkwork (run .*)", made.out)
    assert words is not None
    found = linkwork(*words[1].split(), "--for", 0.5)
    assert found.code == 0, found.err
    assert "dance: J1 is at" in found.out


def test_a_kits_scene_is_copied_with_its_parts_by_name(tmp_path: Path) -> None:
    """A copy elsewhere says ``tripod/table``: no path into where Linkwork is installed."""
    found = linkwork("convert", "tripod/can", tmp_path / "my.toml")
    assert found.code == 0, found.err
    text = (tmp_path / "my.toml").read_text()
    assert 'part = "tripod/table"' in text
    assert "kits" not in text
    assert linkwork("check", tmp_path / "my.toml").code == 0


def test_no_help_loses_its_brackets() -> None:
    """What stands in brackets in an option's help is not taken for markup."""
    from rich.text import Text
    from typer.main import get_command

    commands: Any = get_command(app)
    for name, command in commands.commands.items():
        for option in command.params:
            logged = getattr(option, "help", None) or ""
            assert Text.from_markup(logged).plain == logged.replace("\\[", "["), name
        assert Text.from_markup(command.help).plain == command.help.replace("\\[", "["), name


RAILWAY = """format = "linkwork/part 1"
name = "railway"
[[element]]
name = "ground"
[[element]]
name = "wagon"
shape = { box = { size = [0.1, 0.1, 0.1] } }
mass = 1
[[joint]]
name = "R"
type = "rail"
from = "ground"
to = "wagon"
rail = [{ length = 1.0, turn_deg = 90 }]
"""


@pytest.mark.capability(157)
def test_check_takes_an_engine_that_can_run_the_file(tmp_path: Path) -> None:
    """Curved rails are not for mujoco; a file that names its engine is checked with that one."""
    file = tmp_path / "railway.toml"
    file.write_text(RAILWAY)
    done = linkwork("check", file)
    assert done.code == 0, done.err
    shown = " ".join(done.out.split())
    assert "mujoco cannot run it, --engine impulse can: " in shown
    assert "It can run with --engine impulse." in shown
    assert linkwork("run", file, "--engine", "impulse", "--for", "0.01").code == 0
    scene = tmp_path / "scene.toml"
    scene.write_text(
        'format = "linkwork/scene 1"\nname = "s"\n[[part]]\nname = "r"\npart = "./railway.toml"\n'
        '[[engine]]\ntype = "mujoco"\n'
    )
    done = linkwork("check", scene)
    assert done.code == 1
    assert "only straight rails" in done.err
