"""Clocks: as fast as possible, in step with real time, or handed out step by step."""

import math
import threading

import pytest

from linkwork.core.errors import ProgramError, SessionError
from linkwork.session import clock as clock_module
from linkwork.session.clock import MAX_LATENESS, Clock
from linkwork.session.messages import (
    AdvanceSteps,
    PauseClock,
    ReloadProgram,
    SetSignal,
    StartClock,
)
from linkwork.session.session import Session
from session_scenes import H, bench, program
from session_viewer import Viewer


class WallClock:
    """A time that passes only where somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept = 0.0

    def perf_counter(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0.0
        self.slept += seconds
        self.now += seconds


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    made = WallClock()
    monkeypatch.setattr(clock_module, "time", made)
    return made


def test_the_real_time_clock_sleeps_as_long_as_the_simulated_time_lasts(wall: WallClock) -> None:
    """One simulated second takes one second, at double speed half of one, at a tenth ten."""
    with Session(bench()) as session:
        for speed in (1.0, 2.0, 0.1):
            before = wall.now
            session.run(1.0, clock="real", speed=speed)
            assert wall.now - before == pytest.approx(1.0 / speed, abs=2 * H / speed)
        assert session.clock.lateness == 0.0
        before = wall.now
        session.run(1.0, clock="fast")
        assert wall.now == before


def test_lateness_is_shown_and_made_up_for(wall: WallClock) -> None:
    """A step that takes 50 ms is late; the next ones hurry until real time is met again."""
    with Session(bench()) as session:
        late: list[float] = []

        def work() -> None:
            if session.state.step == 10:
                wall.now += 0.05
            late.append(session.clock.lateness)

        session.after_step.append(work)
        session.run(0.2, clock="real")
        assert max(late) == pytest.approx(0.05 - H, abs=1e-6)
        assert late[9] == 0.0
        assert late[-1] == 0.0
        assert session.clock.lost == 0.0
        assert wall.now == pytest.approx(100.2, abs=2 * H)


def test_a_machine_that_is_too_slow_gives_time_up(wall: WallClock) -> None:
    """Steps of 10 ms on a 2 ms clock: lateness grows to a second, is given up and begins anew."""
    with Session(bench()) as session:
        late: list[float] = []

        def work() -> None:
            wall.now += 0.01
            late.append(session.clock.lateness)

        session.after_step.append(work)
        session.run(1.0, clock="real")
        assert MAX_LATENESS < max(late) < MAX_LATENESS + 0.02
        assert min(late[200:]) < 0.02
        assert session.clock.lost == pytest.approx(4.0, abs=1.1)


def test_a_pause_is_not_lateness(wall: WallClock) -> None:
    """After Pause and Play the clock begins from there."""
    with Session(bench()) as session:

        def wake() -> None:
            if session.state.step == 10:
                session.send(PauseClock())

        session.after_step.append(wake)
        rests: list[float] = []

        def progress(now: float) -> None:
            if not session.running:
                rests.append(now)
                if len(rests) == 5:
                    session.send(StartClock())

        session.run(0.1, clock="real", progress=progress)
        assert rests == [10 * H] * 5
        assert session.state.step == 50
        assert session.clock.lateness == 0.0


def test_messages_do_not_drive_the_clock(wall: WallClock) -> None:
    """A viewer that sends more often than the session steps wakes it, but time keeps its pace."""
    viewer = Viewer()

    def wait(seconds: float) -> bool:
        wall.sleep(min(seconds, 0.001))
        session.send(SetSignal("world.gravity_x", wall.now / 1000.0))
        return True

    viewer.waiting = wait
    with Session(bench(step=0.01), viewer=viewer) as session:
        session.run(0.5, clock="real")
        assert wall.now - 100.0 == pytest.approx(0.5, abs=0.02)


def test_play_sets_the_pace(wall: WallClock) -> None:
    """Speed 4 is four times real time, 0 as fast as possible; none keeps the clock."""
    with Session(bench()) as session:
        session.send(StartClock(4.0))
        session.run(0.4)
        assert wall.now == pytest.approx(100.1, abs=H)
        session.send(StartClock())
        session.run(0.4)
        assert wall.now == pytest.approx(100.2, abs=2 * H)
        session.send(StartClock(0.0))
        session.run(0.4)
        assert wall.now == pytest.approx(100.2, abs=2 * H)


@pytest.mark.parametrize(("mode", "speed"), [("slow", 1.0), ("real", 0.0), ("real", math.nan)])
def test_a_clock_that_cannot_be_is_refused(mode: str, speed: float) -> None:
    """The message lists the clocks, or says what a speed may be."""
    with pytest.raises(SessionError, match=r"Clocks: fast, real, lockstep|must be above 0"):
        Clock(mode, speed)


def test_a_reset_does_not_stretch_a_run(wall: WallClock) -> None:
    """run(1) does a second's worth of steps, also if time is set back in its midst."""
    with Session(bench()) as session:
        steps = []
        session.after_step.append(lambda: steps.append(session.state.step))
        session.after_step.append(lambda: session.reset() if len(steps) == 300 else None)
        session.run(1.0)
        assert len(steps) == 500
        assert session.state.step == 200


# ---- lock-step -----------------------------------------------------------------------------


def in_lockstep(session: Session, bus_client: threading.Thread) -> None:
    bus_client.start()
    session.run(clock="lockstep")
    bus_client.join()


def test_a_session_in_lockstep_waits_for_its_partner() -> None:
    """Without steps handed out, simulated time stands still however long real time goes on."""
    with Session(bench()) as session:
        naps: list[int] = []

        def progress(now: float) -> None:
            naps.append(session.state.step)
            if len(naps) == 3:
                session.send(AdvanceSteps(7))
            if len(naps) == 6:
                session.stop()

        session.run(clock="lockstep", progress=progress)
        assert naps[:3] == [0, 0, 0]
        assert naps[-1] == 7
        assert session.state.step == 7


def bus_client(session: Session, slow: float) -> None:
    """Reads the angle after each ten steps and answers with a target, as a co-simulation does."""
    pause = threading.Event()
    wanted = 10
    session.send(AdvanceSteps(10))
    for _ in range(30):
        while session.state.step < wanted:
            pause.wait(0.001)
        angle = session["arm/J1.angle"]
        pause.wait(slow)
        session.send(SetSignal("arm/J1.target", 0.5 - 0.3 * angle))
        session.send(AdvanceSteps(10))
        wanted += 10
    while session.state.step < wanted:
        pause.wait(0.001)
    session.stop()


@pytest.mark.parametrize("slow", [0.0, 0.01])
def test_a_partner_gets_the_same_bits_however_slow_it_is(slow: float) -> None:
    """Ten steps, an answer, ten steps: the same run as one that nobody waited for."""
    with Session(bench()) as session:
        thread = threading.Thread(target=bus_client, args=(session, slow))
        in_lockstep(session, thread)
        found = session.state.hash()
    with Session(bench()) as session:
        session.step(10)
        for _ in range(30):
            session["arm/J1.target"] = 0.5 - 0.3 * session["arm/J1.angle"]
            session.step(10)
        assert session.state.hash() == found


def test_messages_behind_an_advance_wait_for_its_steps() -> None:
    """All sent at once, or one by one: each target holds for the steps that were meant."""
    script = [
        SetSignal("arm/J1.target", 0.3),
        AdvanceSteps(20),
        SetSignal("arm/J1.target", -0.3),
        AdvanceSteps(20),
    ]
    with Session(bench()) as session:
        seen: list[float] = []
        session.after_step.append(lambda: seen.append(session["arm/J1.target"]))
        session.after_step.append(lambda: session.stop() if len(seen) == 40 else None)
        for message in script:
            session.send(message)
        session.run(clock="lockstep")
        assert seen == [0.3] * 20 + [-0.3] * 20


def test_a_step_that_fails_takes_back_what_was_handed_out() -> None:
    """A failed program is told once, not once for each step still to go; mended, it waits again."""
    scene = program(bench(), "p", "def loop(self):\n    1 / (self.time < 0.01)")
    with Session(scene, viewer=Viewer()) as session:
        session.send(AdvanceSteps(1000))
        reported: list[str] = []

        def progress(now: float) -> None:
            reported.extend(e.text for e in session.outbox.events if e.level == "error")
            if reported:
                session.stop()

        session.run(clock="lockstep", progress=progress)
        assert session.state.step == 5
        assert len(reported) == 1
        session.send(ReloadProgram("p", "class Control: pass"))
        session.send(AdvanceSteps(3))
        session.after_step.append(lambda: session.stop() if session.state.step == 8 else None)
        session.run()
        assert session.state.step == 8


def test_a_failure_that_nobody_watches_ends_the_run() -> None:
    """Without a viewer, or with one that nobody is connected to, the caller gets the error."""
    scene = program(bench(), "p", "def loop(self):\n    1 / 0")
    for viewer in (None, Viewer(connected=False)):
        with Session(scene, viewer=viewer) as session:
            session.send(AdvanceSteps(3))
            with pytest.raises(ProgramError):
                session.run(clock="lockstep")
            assert session.clock.granted == 0
