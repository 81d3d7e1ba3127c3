"""Sessions that somebody watches: requests between steps, snapshots, pauses instead of errors."""

from pathlib import Path

import pytest

from linkwork.session.messages import (
    AdvanceSteps,
    PauseClock,
    ReloadProgram,
    ResetState,
    SessionEvent,
    StartClock,
)
from linkwork.session.outbox import SNAPSHOT_RATE
from linkwork.session.session import Session
from session_scenes import bench, bench_files, program
from session_viewer import Viewer


def watched(session: Session, viewer: Viewer) -> Viewer:
    viewer.session = session
    return viewer


def test_a_failed_program_pauses_a_watched_session_and_resumes_when_mended() -> None:
    """run() does not end: the viewer sends a new text, and time runs again by itself."""
    viewer = Viewer()
    scene = program(bench(), "p", "def loop(self):\n    1 / (self.time < 0.05)")
    with Session(scene, viewer=viewer) as session:
        watched(session, viewer)
        reported: list[SessionEvent] = []

        def progress(now: float) -> None:
            if not reported and (found := [e for e in session.outbox.events if e.level == "error"]):
                reported.extend(found)
                assert not session.running
                viewer.requests.append(ReloadProgram("p", "class Control: pass"))

        session.run(0.1, progress=progress)
        assert session.time == pytest.approx(0.1)
        assert "ZeroDivisionError" in reported[0].text
        assert reported[0].step == 25


def test_a_mended_file_resumes_the_session_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is saved while the session is paused; nobody presses a button."""
    file = bench_files(tmp_path)
    good = (tmp_path / "follow.py").read_text()
    (tmp_path / "follow.py").write_text(good.replace("-angle", "missing"))
    monkeypatch.setattr("linkwork.session.clock.WATCH_PERIOD", 0.01)
    with Session(file, viewer=Viewer()) as session:

        def progress(now: float) -> None:
            if not session.running:
                (tmp_path / "follow.py").write_text(good)

        session.run(0.1, progress=progress)
        texts = [event.text for event in session.outbox.events]
        assert any("name 'missing' is not defined" in text for text in texts)
        assert "follow is reloaded." in texts
        assert session.time == pytest.approx(0.1)


def test_a_pause_of_a_person_is_not_ended_by_a_reload() -> None:
    """Only what a failed program stopped resumes by itself."""
    with Session(program(bench(), "p", "pass")) as session:
        session.step()
        for message in (PauseClock(), ReloadProgram("p", "class Control: pass")):
            session.send(message)
        session.process_inbox()
        assert not session.running
        session.send(StartClock())
        session.process_inbox()
        assert session.running


def test_steps_and_a_reset_by_message_while_paused() -> None:
    """A viewer pauses, steps ten times, resets: the session does just that, and shows the ends."""
    viewer = Viewer()
    with Session(bench(), viewer=viewer) as session:
        watched(session, viewer)
        session.step(5)
        viewer.requests += [PauseClock(), AdvanceSteps(10), ResetState(), AdvanceSteps(3)]
        counts: list[int] = []
        session.after_step.append(lambda: counts.append(session.state.step))
        session.after_step.append(lambda: session.stop() if len(counts) == 13 else None)
        session.run(60.0)
        assert counts == [*range(6, 16), 1, 2, 3]
        assert not session.running
        assert viewer.steps[-1] == 3
        assert 15 in viewer.steps


def test_snapshots_are_published_at_a_limited_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are faster than snapshots; the last one is not delayed by those before."""
    now = [100.0]
    monkeypatch.setattr("linkwork.session.outbox.time.perf_counter", lambda: now[0])
    viewer = Viewer()
    with Session(bench(), viewer=viewer) as session:
        for _ in range(600):
            now[0] += 0.001
            session.step()
    assert len(viewer.steps) == pytest.approx(0.6 * SNAPSHOT_RATE, abs=1.0)


def test_every_event_reaches_the_listeners_in_order() -> None:
    """A thousand events are kept and passed on; none is lost."""
    received: list[str] = []
    with Session(bench()) as session:
        session.outbox.listeners.append(lambda event: received.append(event.text))
        for n in range(1000):
            session.log(f"event {n}")
    assert received == [f"event {n}" for n in range(1000)]
