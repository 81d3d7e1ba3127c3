"""Clocks: as fast as possible, in step with real time, or handed out step by step."""

import math
import threading

import pytest

from linkwork.errors import ProgramError, SessionError
from linkwork.session import clock as clock_module
from linkwork.session import running
from linkwork.session.clock import GIVEN_UP, Clock
from linkwork.session.link import PeerEnd, local_link
from linkwork.session.messages import (
    Advance,
    Pause,
    Play,
    Reload,
    Set,
    Watch,
    decode_snapshot,
    encode,
)
from linkwork.session.session import Session
from session_scenes import H, bench, program


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
    for module in (clock_module, running):
        monkeypatch.setattr(module, "time", made)
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
        assert GIVEN_UP < max(late) < GIVEN_UP + 0.02
        assert min(late[200:]) < 0.02
        assert session.clock.lost == pytest.approx(4.0, abs=1.1)


def test_a_pause_is_not_lateness(wall: WallClock) -> None:
    """After Pause and Play the clock begins from there."""
    with Session(bench()) as session:

        def poke() -> None:
            if session.state.step == 10:
                session.send(Pause())

        session.after_step.append(poke)
        rests: list[float] = []

        def progress(now: float) -> None:
            if not session.running:
                rests.append(now)
                if len(rests) == 5:
                    session.send(Play())

        session.run(0.1, clock="real", progress=progress)
        assert rests == [10 * H] * 5
        assert session.state.step == 50
        assert session.clock.lateness == 0.0


def test_messages_do_not_drive_the_clock(wall: WallClock) -> None:
    """A peer that sends more often than the session steps wakes it, but time keeps its pace."""
    end, join = local_link()
    peer = join()

    def wait(seconds: float) -> bool:
        wall.sleep(min(seconds, 0.001))
        peer.send(encode(Set("world.gravity_x", wall.now / 1000.0)))
        return True

    end.wait = wait  # type: ignore[method-assign]
    with Session(bench(step=0.01), link=end) as session:
        session.run(0.5, clock="real")
        assert wall.now - 100.0 == pytest.approx(0.5, abs=0.02)


def test_play_sets_the_pace(wall: WallClock) -> None:
    """Speed 4 is four times real time, 0 as fast as possible; none keeps the clock."""
    with Session(bench()) as session:
        session.send(Play(4.0))
        session.run(0.4)
        assert wall.now == pytest.approx(100.1, abs=H)
        session.send(Play())
        session.run(0.4)
        assert wall.now == pytest.approx(100.2, abs=2 * H)
        session.send(Play(0.0))
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


def in_lockstep(session: Session, partner: threading.Thread) -> None:
    partner.start()
    session.run(clock="lockstep")
    partner.join()


def test_a_session_in_lockstep_waits_for_its_partner() -> None:
    """Without steps handed out, simulated time stands still however long real time goes on."""
    with Session(bench()) as session:
        naps: list[int] = []

        def progress(now: float) -> None:
            naps.append(session.state.step)
            if len(naps) == 3:
                session.send(Advance(7))
            if len(naps) == 6:
                session.stop()

        session.run(clock="lockstep", progress=progress)
        assert naps[:3] == [0, 0, 0]
        assert naps[-1] == 7
        assert session.state.step == 7


def partner(peer: PeerEnd, session: Session, slow: float) -> None:
    """Reads the angle after each ten steps and answers with a target, as a co-simulation does."""
    pause = threading.Event()
    peer.send(encode(Watch(["arm/J1.angle"])))
    wanted = 0
    peer.send(encode(Advance(10)))
    wanted += 10
    for _ in range(30):
        while True:
            peer.wait(5.0)
            peer.events()
            data = peer.snapshot()
            if data is not None and decode_snapshot(data).step == wanted:
                break
        angle = decode_snapshot(data).values["arm/J1.angle"]
        pause.wait(slow)
        peer.send(encode(Set("arm/J1.target", 0.5 - 0.3 * angle)))
        peer.send(encode(Advance(10)))
        wanted += 10
    while session.state.step < wanted:
        pause.wait(0.001)
    session.stop()


@pytest.mark.parametrize("slow", [0.0, 0.01])
def test_a_partner_gets_the_same_bits_however_slow_it_is(slow: float) -> None:
    """Ten steps, an answer, ten steps: the same run as one that nobody waited for."""
    end, join = local_link()
    with Session(bench(), link=end) as session:
        peer = join()
        thread = threading.Thread(target=partner, args=(peer, session, slow))
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
    script = [Set("arm/J1.target", 0.3), Advance(20), Set("arm/J1.target", -0.3), Advance(20)]
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
    end, join = local_link()
    scene = program(bench(), "p", "def loop(self):\n    1 / (self.time < 0.01)")
    with Session(scene, link=end) as session:
        peer = join()
        peer.send(encode(Advance(1000)))
        told: list[str] = []

        def progress(now: float) -> None:
            told.extend(e.text for e in session.outbox.events if e.level == "error")
            if told:
                session.stop()

        session.run(clock="lockstep", progress=progress)
        assert session.state.step == 5
        assert len(told) == 1
        session.send(Reload("p", "class Control: pass"))
        session.send(Advance(3))
        session.after_step.append(lambda: session.stop() if session.state.step == 8 else None)
        session.run()
        assert session.state.step == 8


def test_a_failure_that_nobody_watches_ends_the_run() -> None:
    """Without a peer the caller gets the error."""
    scene = program(bench(), "p", "def loop(self):\n    1 / 0")
    with Session(scene) as session:
        session.send(Advance(3))
        with pytest.raises(ProgramError):
            session.run(clock="lockstep")
        assert session.clock.granted == 0
