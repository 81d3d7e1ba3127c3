"""The posture of a real machine, read back over the bus: another session is the machine."""

import contextlib
import math
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import linkwork as lw
from command_line import linkwork
from host_fixture import backstage
from linkwork import Session
from linkwork.buses.block import BusBlock
from linkwork.core.errors import LinkworkError, SessionError
from linkwork.session.postures import machine_buses
from linkwork.studio import protocol as m
from linkwork.studio.host.open_scene import OpenScene
from part_fixture import TIMEOUT, cell, endpoint, run_until
from studio_state import eventually

DEG = math.pi / 180


@contextlib.contextmanager
def machine(folder: Path, j1: float, j2: float) -> Iterator[int]:
    """A machine that stands in a posture and says so over TCP; the port that it listens on."""
    folder.mkdir()
    with Session(cell(folder)) as hardware:
        hardware["arm/J1.target"], hardware["arm/J2.target"] = j1, j2
        hardware.run(2.0)
        run = threading.Thread(target=hardware.run, kwargs={"clock": "real"})
        run.start()
        try:
            yield endpoint(hardware)
        finally:
            hardware.stop()
            run.join(TIMEOUT)


@pytest.mark.capability(172)
@pytest.mark.parametrize("plant", ['plant = "real"', 'plant = "both"\ncloses = "virtual"'])
def test_the_posture_of_a_machine_is_read(tmp_path: Path, plant: str) -> None:
    """Whoever closes the loop: what is read is the machine's, not the scene's."""
    with machine(tmp_path / "hardware", 0.4, 0.3) as port:
        scene = cell(tmp_path, f'{plant}\nconnect = "127.0.0.1:{port}"')
        with Session(scene) as session:
            assert machine_buses(session.cycle) == ["part"]
            run_until(session, lambda: session["part.inputs"] > 2)
            found = session.read_posture()
            assert list(found) == ["arm/J1", "arm/J2"]
            assert found == pytest.approx({"arm/J1": 0.4, "arm/J2": 0.3}, abs=0.02)
            assert session.read_posture("part") == pytest.approx(found, abs=1e-3)


def test_where_no_machine_is_that_is_said(tmp_path: Path) -> None:
    """A bus with the scene behind it, a bus not known, and a machine that has said nothing."""
    with Session(cell(tmp_path)) as session:
        with pytest.raises(SessionError, match="no bus has one"):
            session.read_posture()
        with pytest.raises(SessionError, match="the scene itself is behind bus 'part'"):
            session.read_posture("part")
        with pytest.raises(LinkworkError, match="no bus named 'prt'"):
            session.read_posture("prt")
    silent = cell(tmp_path, 'plant = "real"\nconnect = "127.0.0.1:9"')
    with (
        Session(silent) as session,
        pytest.raises(SessionError, match=r"not reported arm/J1, arm/J2"),
    ):
        session.read_posture()


@pytest.mark.capability(172)
def test_the_command_line_reads_postures_into_a_movement(tmp_path: Path) -> None:
    """`linkwork posture` prints it and adds it to a movement, which checks."""
    made = tmp_path / "wave.toml"
    with machine(tmp_path / "hardware", 0.4, 0.3) as port:
        cell(tmp_path, f'plant = "real"\nconnect = "127.0.0.1:{port}"')
        for more in ((), ("--at", "2.5")):
            done = linkwork("posture", tmp_path / "cell.toml", "--to", made, *more)
            assert done.code == 0, done.err
            assert "arm/J1" in done.out
    kept = lw.load_movement(made)
    assert [p.time for p in kept.postures] == [0.0, 2.5]
    for posture in kept.postures:
        assert posture.joints == pytest.approx({"J1": 0.4, "J2": 0.3}, abs=0.02)
    assert linkwork("check", made).code == 0
    cell(tmp_path)
    refused = linkwork("posture", tmp_path / "cell.toml")
    assert refused.code == 1
    assert "no bus has one" in refused.err
    assert linkwork("posture", tmp_path / "cell.toml", "--at", "1").code == 1


def test_a_machine_beyond_the_range_of_a_joint_is_told(tmp_path: Path) -> None:
    """What it says is read, not the end of the range, and the command warns."""
    part = lw.load("gripper/arm")
    assert isinstance(part, lw.Part)
    part.joints["J1"] = replace(part.joints["J1"], range=(-10 * DEG, 10 * DEG))
    lw.save(part, tmp_path / "narrow.toml")
    with machine(tmp_path / "hardware", 0.4, 0.3) as port:
        cell(tmp_path, f'plant = "real"\nconnect = "127.0.0.1:{port}"')
        file = tmp_path / "cell.toml"
        file.write_text(file.read_text().replace("gripper/arm", "./narrow.toml"))
        done = linkwork("posture", file, "--to", tmp_path / "wave.toml")
    assert done.code == 0, done.err
    assert re.search(r"arm/J1 is at 2\d\S*°, beyond its range of -10° to 10°", done.err)
    assert "J2" not in done.err
    kept = lw.load_movement(tmp_path / "wave.toml").postures[0].joints
    assert kept == pytest.approx({"J1": 0.4, "J2": 0.3}, abs=0.02)


@pytest.mark.capability(172)
def test_the_studio_reads_a_machine_into_the_selected_posture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the scene is paused, the values come in, go into the posture, and are undone."""
    monkeypatch.chdir(tmp_path)
    with machine(tmp_path / "hardware", 0.4, 0.3) as port:
        cell(tmp_path, f'plant = "real"\nconnect = "127.0.0.1:{port}"')
        with backstage("cell.toml", tmp_path) as here:
            here.until("scene")
            here.ask(m.Pause())
            here.ask(m.Reset())
            here.ask(m.AddPosture())
            logged = here.until("movement", lambda s: s["draft"])
            assert logged["buses"] == ["part"]
            before: dict[str, float] = logged["draft"]["postures"][0]["joints"]

            def read(reported: Any) -> dict[str, float]:
                return reported["draft"]["postures"][0]["joints"]

            def reading() -> dict[str, float]:
                """Asks until the machine has said something."""
                end = time.monotonic() + TIMEOUT
                while time.monotonic() < end:
                    here.ask(m.ReadPosture("part", 0))
                    reported = here.until_one_of("movement", "refused")
                    if reported["type"] == "movement" and read(reported) != before:
                        return read(reported)
                    time.sleep(0.02)
                raise AssertionError("the machine says nothing")

            found = reading()
            assert found == pytest.approx({**before, "J1": 0.4, "J2": 0.3}, abs=0.02)
            here.ask(m.Undo())
            here.until("movement", lambda s: s["draft"]["postures"][0]["joints"] == before)
            here.ask(m.Undo())
            here.until("movement", lambda s: s["draft"] is None)
            here.ask(m.ReadPosture("part"))  # an empty editor: one is added
            logged = here.until("movement", lambda s: s["draft"])
            assert read(logged) == pytest.approx({"J1": 0.4, "J2": 0.3}, abs=0.02)
            assert logged["selected"] == -1
            here.ask(m.Undo())
            here.until("movement", lambda s: s["draft"] is None)
            assert "no bus named 'can7'" in here.refused(m.ReadPosture("can7"))


@pytest.mark.capability(172)
@pytest.mark.parametrize("ask", [m.ReadPosture("part"), m.AddPosture()])
def test_reading_while_time_runs_sends_a_machine_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: m.FromClient
) -> None:
    """Who guides an arm by hand and reads its postures does not take its joints over."""
    monkeypatch.chdir(tmp_path)
    with machine(tmp_path / "hardware", 0.4, 0.3) as port:
        cell(tmp_path, f'plant = "both"\nconnect = "127.0.0.1:{port}"')
        with backstage("cell.toml", tmp_path) as here:
            here.until("scene")
            scene = here.host.open
            assert isinstance(scene, OpenScene)
            session, bus = scene.session, scene.session.cycle.bus("part")
            assert isinstance(bus, BusBlock)
            eventually("the machine speaks", lambda: bus.has_any_input)
            for number in (1, 2):
                here.ask(ask)
                logged = here.until("movement", lambda s, n=number: count(s) == n)
                assert logged["selected"] == -1
            assert session.running
            assert session.signals.owners == {}
            assert all(map(math.isnan, bus.outgoing))
            here.ask(m.Undo())
            here.until("movement", lambda s: count(s) == 1)
            assert session.signals.owners == {}


def count(logged: Any) -> int:
    """How many postures a movement has that was told."""
    return len(logged["draft"]["postures"]) if logged["draft"] else 0
