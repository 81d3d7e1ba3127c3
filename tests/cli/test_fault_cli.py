"""``linkwork run --fault`` and ``linkwork check``: faults in a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command_line import linkwork
from linkwork.cli.fault_option import add_fault
from linkwork.core.errors import LinkworkError
from linkwork.formats.toml.write import write_file
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from session_scenes import bench


@pytest.mark.parametrize(
    ("text", "type", "params"),
    [
        ("stuck:arm/tilt@3+2", "stuck", {"sensor": "arm/tilt", "at": 3.0, "lasts": 2.0}),
        ("stuck:arm/tilt.x@0.5", "stuck", {"signal": "arm/tilt.x", "at": 0.5}),
        ("dead:arm/J2", "dead", {"joint": "arm/J2", "at": 0.0}),
        ("dead:arm/J2,chance=0.1", "dead", {"joint": "arm/J2", "chance": 0.1}),
        (
            "drop:can0@2+1,chance=0.3,seed=7,ids=0x11,0x12",
            "drop",
            {"bus": "can0", "at": 2.0, "lasts": 1.0, "chance": 0.3, "seed": 7, "ids": [17, 18]},
        ),
        ("delay@1s,delay_ms=20,ids=5", "delay", {"at": 1.0, "delay": 0.02, "ids": [5]}),
        ("bus_off", "bus_off", {"at": 0.0}),
        (
            "person:joe@1,to=1,-0.5,hidden=false",
            "person",
            {"part": "joe", "at": 1.0, "to": [1, -0.5], "hidden": False},
        ),
    ],
)
def test_a_fault_in_a_word(text: str, type: str, params: dict[str, Any]) -> None:
    """Type, what it strikes, when and for how long, and whatever else the type takes."""
    scene = Scene("s")
    add_fault(scene, text)
    (spec,) = scene.faults
    assert (spec.name, spec.type) == (type, type)
    assert spec.params == params


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ("", "TYPE"),
        ("stuk:tilt@3", "stuck"),
        ("stuck:tilt@soon", "not a time"),
        ("stuck:tilt@3+-1", "0 s or more"),
        ("stuck:tilt@nan", "0 s or more"),
        ("stuck:tilt@", "TYPE"),
        ("stuck:tilt,7", "TYPE"),
        ("stuck:tilt,=7", "TYPE"),
    ],
)
def test_a_word_that_cannot_be_read_is_told(text: str, logged: str) -> None:
    """What was given, and how it is written."""
    with pytest.raises(LinkworkError, match=logged):
        add_fault(Scene("s"), text)


def test_a_run_with_faults_from_the_command_line(tmp_path: Path) -> None:
    """They strike at their times, and the run says so."""
    file = tmp_path / "bench.toml"
    write_file(bench(), file)
    faults = ("--fault", "stuck:angle@0.05+0.1", "--fault", "dead:arm/J2@0.1")
    done = linkwork("run", file, "--for", 0.3, *faults, "--watch", "dead.active")
    assert done.code == 0
    text = done.out + done.err
    assert "fault stuck begins: stuck angle." in text
    assert "fault stuck is over." in text
    assert "fault dead begins: dead arm/J2." in text
    wrong = linkwork("run", file, "--for", 0.1, "--fault", "dead:arm/J9")
    assert wrong.code == 1
    assert "arm/J2" in wrong.err
    assert linkwork("run", file, "--for", 0.1, "--fault", "dead:arm/J2@x").code == 1


def test_a_visitor_comes_into_a_scene_that_has_nobody() -> None:
    """``--fault person`` brings a person along, who walks in."""
    scene = bench()
    add_fault(scene, "person@0.1,speed=4")
    with Session(scene, watch=False) as session:
        assert not session["person.inside"]
        session.step(600)
        assert session["person.inside"] == 1.0
        assert session["visitor.x"] == pytest.approx(0.8)


def test_check_lists_what_will_go_wrong(tmp_path: Path) -> None:
    """Name, type, what it strikes, and when."""
    scene = bench().fault("blind", "stuck", sensor="angle", at=3.0, lasts=2.0)
    scene.fault("limp", "dead", joint="arm/J2", chance=0.1)
    scene.fault("button", "dead", joint="arm/J1")
    write_file(scene, tmp_path / "bench.toml")
    lines = linkwork("check", tmp_path / "bench.toml").out.splitlines()
    rows = [" ".join(line.split()) for line in lines]
    assert "blind stuck angle at 3 s, for 2 s" in rows
    assert "limp dead arm/J2 by chance, 0.1 per s" in rows
    assert "button dead arm/J1 by hand" in rows
