"""What stands still is named: a bus process, a control program."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import linkwork
from linkwork import Session
from linkwork.buses.process import BusProcess
from linkwork.components.agents import watchdog
from linkwork.core.errors import ProgramError
from linkwork.session.messages import SessionEvent
from part_fixture import Controller, cell, endpoint

PATIENCE = 30.0
SCENE = """
format = "linkwork/scene 1"
name = "cell"

[[part]]
name = "arm"
part = "gripper/arm"

[[agent]]
name = "brain"
type = "program"
file = "brain.py"
call_timeout = {timeout}
"""


def until(session: Session, test: Callable[[], bool]) -> None:
    """Steps in real time until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not test():
        assert time.monotonic() < end, [event.text for event in session.outbox.events]
        session.step()
        time.sleep(0.01)


def texts(session: Session, source: str) -> list[str]:
    return [event.text for event in session.outbox.events if event.source == source]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGSTOP")
def test_a_bus_process_that_stands_still_is_named_and_its_policy_applied(tmp_path: Path) -> None:
    """Stopped, it is named within seconds and the joint goes limp; continued, it works again."""
    with Session(cell(tmp_path, 'on_loss = "torque_off"')) as session:
        assert session.bus_processes is not None
        process = session.bus_processes["part"]
        assert isinstance(process, BusProcess)
        controller = Controller(endpoint(session))
        controller.send_text("c 0.5 - -")
        until(session, lambda: session["arm/J1.target"] == 0.5)
        assert session["part.lost"] == 0.0
        os.kill(process.pid, signal.SIGSTOP)
        try:
            until(session, lambda: session["part.lost"] == 1.0)
            assert process.hung
            text = next(each for each in texts(session, "part") if "has not answered" in each)
            assert str(process.pid) in text
            assert "on_loss = 'torque_off'" in text
            assert session["arm/J1.max_effort"] == 0.0
        finally:
            os.kill(process.pid, signal.SIGCONT)
        until(session, lambda: not process.hung)
        assert "the process of bus 'part' answers again." in texts(session, "part")
        controller.send_text("c 0.25 - -")
        until(session, lambda: session["arm/J1.target"] == 0.25)
        assert session["part.lost"] == 0.0
        assert process.restarts == 0
        controller.close()


def test_a_session_that_does_not_look_blames_no_bus(tmp_path: Path) -> None:
    """A pause of the session, or a slow step, is not a pause of its buses."""
    with Session(cell(tmp_path)) as session:
        assert session.bus_processes is not None
        for _ in range(3):
            session.step(2)
            time.sleep(1.3)
            session.step(2)
        process = session.bus_processes["part"]
        assert isinstance(process, BusProcess)
        assert not process.hung
        assert not [each for each in texts(session, "part") if "answer" in each]


def program(folder: Path, loop: str, timeout: float) -> Path:
    (folder / "cell.toml").write_text(SCENE.format(timeout=timeout))
    (folder / "brain.py").write_text(
        f"import time\n\n\nclass Control:\n    def loop(self):\n        {loop}\n"
    )
    return folder / "cell.toml"


def test_a_program_that_stands_still_is_named_while_it_does(tmp_path: Path) -> None:
    """After a second, before its call returns; then its time limit applies."""
    scene = program(tmp_path, "while True: pass", 2.5)
    named: list[tuple[SessionEvent, float]] = []
    with Session(scene, record=tmp_path / "run.mcap") as session:
        session.outbox.listeners.append(lambda event: named.append((event, time.monotonic())))
        with pytest.raises(ProgramError, match=r"2\.5 s"):
            session.step()
        ended = time.monotonic()
    (event, at), *_ = [each for each in named if each[0].source == "brain"]
    assert event.text == (
        "program 'brain' has not returned from loop() for 1 s; it is stopped after 2.5 s."
    )
    assert event.level == "warning"
    assert at < ended - 0.5


def test_a_program_without_time_limit_is_named_too(tmp_path: Path) -> None:
    """Also one that waits in C code, which nothing interrupts; each call once."""
    scene = program(tmp_path, "time.sleep(1.5) if self.time < 0.001 else None", 0)
    with Session(scene) as session:
        session.step(5)
        assert texts(session, "brain") == [
            "program 'brain' has not returned from loop() for 1 s; it has no time limit."
        ]


def test_the_command_line_names_it(tmp_path: Path) -> None:
    """As a line with the program's name."""
    scene = program(tmp_path, "time.sleep(1.5) if self.time < 0.001 else None", 5)
    done = linkwork("run", scene, "--for", "0.05")
    assert done.code == 0, done.err
    assert "program 'brain' has not returned from loop() for 1 s; it is stopped after" in done.err


def test_a_call_that_returns_at_its_limit_is_late(tmp_path: Path) -> None:
    """As announced: ``time.sleep`` for just the limit pauses the session, each time."""
    scene = program(tmp_path, "time.sleep(1.2)", 1.2)
    with Session(scene) as session:
        for _ in range(2):
            with pytest.raises(ProgramError, match=r"loop\(\) has not returned for 1\.2 s"):
                session.run(0.1)
        assert session.state.step == 0
        assert texts(session, "brain")[0].endswith("it is stopped after 1.2 s.")


def test_a_report_that_fails_does_not_end_the_watchdog() -> None:
    """The next late call is stopped all the same."""
    watched = watchdog.CallWatchdog(1.5)

    def fail(call: object, timeout: float) -> None:
        raise OSError("the client is gone")

    watched.on_slow = fail

    def wait() -> None:
        while True:
            time.sleep(0.01)

    for _ in range(2):
        with pytest.raises(watchdog.CallTimeout):
            watched.run(wait)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_program_that_is_a_pipe_does_not_block(tmp_path: Path) -> None:
    """It is refused when a session starts, and passed over where programs are looked for."""
    scene = program(tmp_path, "pass", 1.0)
    (scene.parent / "brain.py").unlink()
    os.mkfifo(scene.parent / "brain.py")
    with pytest.raises(ProgramError, match="it is not a file"):
        Session(scene)
    assert linkwork("check", scene).code != 0
    refused = linkwork("trust", scene.parent / "brain.py")
    assert "cannot be read: it is not a file" in " ".join(refused.err.split())
