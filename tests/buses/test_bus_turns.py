"""Lock-step when things go wrong: a partner hangs, leaves, or a fault takes its turn."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bus_fixture import Partner, bus_client, line_type, logged, port_of, process_of, rig
from linkwork.buses import bus_processes
from linkwork.core.errors import SessionError
from linkwork.session.messages import SetFault
from linkwork.session.replay import replay
from linkwork.session.session import Session
from part_fixture import Controller, cell, endpoint

TIMEOUT = 30.0


@pytest.fixture(autouse=True, scope="module")
def type_of_the_rig() -> Iterator[None]:
    """The rig's type of bus, registered while this module's tests run."""
    with line_type():
        yield


@contextmanager
def running(session: Session) -> Iterator[None]:
    """Runs a session in a thread."""
    thread = threading.Thread(target=session.run)
    thread.start()
    try:
        yield
    finally:
        session.stop()
        thread.join(TIMEOUT)
        assert not thread.is_alive()


def until(reached: Callable[[], object], session: Session) -> None:
    """Polls while the session runs elsewhere."""
    end = time.monotonic() + TIMEOUT
    while not reached():
        assert time.monotonic() < end, [event.text for event in session.outbox.events]
        time.sleep(0.002)


def answer(client: Partner, target: float) -> int:
    """Waits for a turn, ends it and says which it was."""
    while not (seen := client.read())["turn"]:
        pass
    client.send(J1_target=target, turn=int(seen["turn"]))
    return int(seen["turn"])


def test_a_partner_that_hangs_is_lost_but_there_and_comes_back(tmp_path: Path) -> None:
    """Patience is over: it counts as connected, has its turns, and an answer ends the loss."""
    file = tmp_path / "run.mcap"
    scene = rig(lockstep=True, on_loss="hold", turn_timeout=0.2)
    with (
        Session(scene, watch=False, record=file) as session,
        bus_client(session) as client,
        running(session),
    ):
        first = answer(client, 0.25)
        until(lambda: session["line0.lost"], session)
        assert session["line0.clients"] == 1
        assert logged(session, "no answer for 0.2 s: commands are held.")
        until(lambda: session.state.step > 5, session)  # time goes on without it
        assert answer(client, -0.25) > first
        until(lambda: session["line0/J1.target"] == -0.25, session)
        assert logged(session, "its controller is back.")
    result = replay(file)
    assert result.same, result.mismatch


def test_time_without_the_partner_is_not_faster_than_the_wall_clock() -> None:
    """Nobody waits for a lost partner for ever, nor does the scene run away from it."""
    scene = rig(lockstep=True, on_loss="hold", period=0.01)
    with Session(scene, watch=False) as session:
        client = Partner(port_of(session))
        with running(session):
            answer(client, 0.25)
            client.close()
            until(lambda: session["line0.lost"], session)
            began, simulated = time.monotonic(), session.time
            until(lambda: session.time > simulated + 0.2, session)
            now = session.time
            # At most the period that was under way on either side is missing.
            assert time.monotonic() - began > now - simulated - 0.025


def watched(folder: Path, policy: str) -> tuple[Session, Controller, Controller]:
    """A part in lock-step, one that commands it and one that looks on."""
    session = Session(cell(folder, f'lockstep = true\non_loss = "{policy}"'))
    driver = Controller(endpoint(session))
    driver.send_text("c 0.4 - -")
    session.step(5)
    return session, driver, Controller(endpoint(session))


def test_who_looks_on_does_not_hide_the_loss_of_the_driver(tmp_path: Path) -> None:
    """The one who commanded is gone: time goes on by the policy, and another may take over."""
    session, driver, observer = watched(tmp_path, "hold")
    with session, running(session):
        driver.close()
        until(lambda: session["part.lost"], session)
        assert logged(session, "its controller has left")
        until(lambda: session["part.clients"] == 1, session)
        until(lambda: session.state.step > 20, session)
        while session["part.lost"]:
            observer.angles()
            observer.send_text("c 0.1 - -")
        until(lambda: session["arm/J1.target"] == 0.1, session)
    with suppress(OSError):
        observer.close()


def test_who_looks_on_does_not_keep_the_session_from_pausing(tmp_path: Path) -> None:
    """Without the driver the scene would wait for ever: the policy stops it, with a message."""
    session, driver, observer = watched(tmp_path, "pause")
    with session:
        driver.close()
        with pytest.raises(SessionError, match="has lost its controller"):
            session.run()
        assert session["part.lost"] == 1
        assert session.state.step == 5
    observer.close()


@contextmanager
def controlled(session: Session) -> Iterator[None]:
    """A controller that answers each line of sensors, until the session ends."""
    controller = Controller(endpoint(session))

    def work() -> None:
        while line := controller.read():
            if line.startswith("s "):
                controller.send_text("c 0.3 - -")

    def control() -> None:
        with suppress(OSError, ValueError):  # closed
            work()

    thread = threading.Thread(target=control)
    thread.start()
    try:
        yield
    finally:
        controller.socket.shutdown(socket.SHUT_RDWR)
        thread.join(TIMEOUT)
        with suppress(OSError):  # what was not sent yet finds nobody
            controller.close()


def test_a_fault_on_the_wire_does_not_stop_time_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end is in simulated time: the turn that it took is given up, and people are told."""
    monkeypatch.setattr(bus_processes, "FAULT_TIMEOUT", 0.2)
    file = tmp_path / "run.mcap"
    scene = cell(tmp_path, 'lockstep = true\non_loss = "hold"')
    scene.fault("gap", "drop", at=0.1, lasts=0.05)
    with Session(scene, record=file) as session, controlled(session), running(session):
        until(lambda: logged(session, "its controller is back."), session)
        assert logged(session, "no answer for 0.2 s, while fault gap is active on the wire")
        assert session["part.losses"] == 1
        until(lambda: session.time > 0.3, session)
    result = replay(file)
    assert result.same, result.mismatch


def test_a_fault_that_is_ended_by_hand_leaves_no_turn_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it took is gone, though no fault is at work any more when patience is over."""
    monkeypatch.setattr(bus_processes, "FAULT_TIMEOUT", 0.5)
    scene = cell(tmp_path, 'lockstep = true\non_loss = "hold"')
    with Session(scene) as session, controlled(session), running(session):
        until(lambda: session.time > 0.05, session)
        session.send(SetFault("hush", kind="drop", args={"bus": "part"}))
        log = process_of(session, "part").log
        until(lambda: any("drop" in line.text for line in list(log)), session)
        session.send(SetFault("hush", on=False))
        until(lambda: logged(session, "fault hush is over"), session)
        now = session.time
        until(lambda: session.time > now + 0.1, session)
