"""Bus processes: looked after, never in the session's way; lock-step is the same at any speed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bus_fixture import (
    Partner,
    block_of,
    bus_client,
    line_type,
    logged,
    port_of,
    process_of,
    rig,
    until,
)
from linkwork.buses import messages as talk
from linkwork.core.errors import SessionError
from linkwork.link import connect
from linkwork.session import messages as m
from linkwork.session.replay import replay
from linkwork.session.session import Session


def pid(session: Session) -> int:
    return process_of(session).pid


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
        return Path(f"/proc/{number}/stat").read_text().split()[2] != "Z"
    except (OSError, FileNotFoundError):
        return False


def serves(session: Session) -> bool:
    return process_of(session).ready


@pytest.fixture(autouse=True, scope="module")
def type_of_the_rig() -> Iterator[None]:
    """The rig's type of bus, registered while this module's tests run."""
    with line_type():
        yield


@pytest.fixture(scope="module")
def shared():
    """One session for tests that leave it as it was."""
    with Session(rig(deadline=0.0), watch=False) as session:
        yield session


@pytest.mark.capability(26)
def test_a_controller_outside_moves_the_arm_and_reads_it(shared: Session) -> None:
    """Commands over the bus move the joint; what it reads are the joint's codes."""
    with bus_client(shared) as client:
        until(shared, lambda: shared["line0.clients"] == 1)
        client.send(J1_target=0.4)
        until(shared, lambda: abs(shared["arm/J1.angle"] - 0.4) < 0.05)
        assert shared.signals.owners["arm/J1.target"] == "line0"
        assert shared.signals.owners["line0/J1.target"] == "line0"
        quant = block_of(shared.cycle).rows["J1.angle"].signal.quant
        assert quant is not None
        read = client.read()
        for _ in range(3):
            read = client.read()
        assert read["J1.angle"] == quant.nearest(read["J1.angle"])
        feeds = shared["line0.inputs"]
        client.send(J1_target=float("nan"))
        client.send(J1_target=1e9, nobody=3)
        until(shared, lambda: shared["line0.inputs"] > feeds)
        assert shared["line0/J1.target"] == 1.5  # held at the range's end
        assert shared["line0.age"] < 1.0
        status = process_of(shared)
        until(shared, lambda: status.status.get("invalid", 0) >= 2 and shared["line0.invalid"] >= 2)
    until(shared, lambda: shared["line0.clients"] == 0)


def test_the_process_loads_no_physics(shared: Session) -> None:
    """A bus process has imported neither compiler nor physics, and not even numpy."""
    shared.send(m.BusCommand("line0", "modules"))
    until(shared, lambda: logged(shared, "heavy []"))


def test_the_log_shows_what_went_over_the_bus_and_can_be_paused(shared: Session) -> None:
    """Lines arrive in order, and stop while the log is paused."""
    process = process_of(shared)
    with bus_client(shared) as client:
        client.send(J2_target=0.125)
        until(shared, lambda: any(b"0.125" in frame.data for frame in process.log))
        shared.send(m.BusCommand("line0", "log", {"on": False}))
        shared.send(m.BusCommand("line0", "modules"))
        shared.outbox.events.clear()
        until(shared, lambda: logged(shared, "heavy"))  # the order before has been taken by now
        client.send(J2_target=0.625)
        until(shared, lambda: shared["line0/J2.target"] == 0.625)
        lines = process.status["lines"]
        until(shared, lambda: process.status["lines"] >= lines)
        assert not any(b"0.625" in frame.data for frame in process.log)
        shared.send(m.BusCommand("line0", "log", {"on": True}))


def test_a_wrong_order_is_answered(shared: Session) -> None:
    """Orders that the bus does not know, and buses that do not exist, are told of."""
    shared.send(m.BusCommand("line0", "dance"))
    until(shared, lambda: logged(shared, "knows no order 'dance'"))
    shared.send(m.BusCommand("nobody", "dance"))
    until(shared, lambda: logged(shared, "no bus named 'nobody'"))


def test_a_flood_is_latched_and_memory_stays_flat(shared: Session) -> None:
    """A hundred thousand feeds at once cost a few messages, and no memory at either end."""

    def flood() -> int:
        shared.outbox.events.clear()
        shared.send(m.BusCommand("line0", "flood", {"count": 100_000}))
        until(shared, lambda: logged(shared, "flooded"))
        (event,) = (e for e in shared.outbox.events if "flooded" in e.text)
        return int(event.text.split()[-1])

    first = flood()
    before = shared["line0.inputs"]
    last = first
    for _ in range(3):
        last = flood()
    assert last - first < 5e6
    until(shared, lambda: shared["line0/J1.target"] == pytest.approx(0.099999))
    assert shared["line0.inputs"] - before < 10_000
    assert len(process_of(shared).log) <= 1000


def test_a_partner_that_never_reads_or_sends_garbage_disturbs_nobody(shared: Session) -> None:
    """Half lines, binary noise and a reader that sleeps: the next honest client is served."""
    with bus_client(shared) as mute, bus_client(shared) as noisy, bus_client(shared) as honest:
        noisy.socket.sendall(b"\xff\x00{]\n[1,2]\n3\n" * 1000 + b'{"J1.target": ')
        assert mute is not noisy
        until(shared, lambda: shared["line0.clients"] == 3)
        noisy.close()
        honest.send(J1_target=-0.25)
        until(shared, lambda: shared["line0/J1.target"] == -0.25)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.one_of(
    st.binary(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers(-2**63, 2**63 - 1)
        | st.text(max_size=20) | st.binary(max_size=20),
        lambda inner: st.lists(inner, max_size=5)
        | st.dictionaries(st.sampled_from(
            ["type", "values", "version", "turn", "partners", "counters", "frames", "text", "x"]
        ), inner, max_size=6),
        max_leaves=12,
    ).map(msgspec.msgpack.encode),
    st.builds(
        talk.InputValues, version=st.integers(0, 3), turn=st.integers(-5, 5),
        values=st.dictionaries(
            st.sampled_from(["J1.target", "J2.target", "J1.angle", "x", ""]), st.floats(),
        ),
    ).map(talk.encode),
    st.builds(
        talk.BusReport, clients=st.integers(-2, 10**7),
        counters=st.dictionaries(st.sampled_from(["lines", "x"]), st.floats()),
    ).map(talk.encode),
))  # fmt: skip
def test_no_message_of_a_bus_process_breaks_the_session(shared: Session, data: bytes) -> None:
    """Whatever arrives on the link of a bus, the session steps on and its state stays finite."""
    process = process_of(shared)
    with connect(process.link.address, process.link.key) as peer:
        peer.send(data)
        seen = shared.state.step
        shared.step(2)
        assert shared.state.step == seen + 2
    block = shared.cycle.buses[0]
    assert all(abs(v) < 1e6 for v in block.slot("value"))
    shared.step()


def test_a_killed_process_is_started_anew_and_the_session_never_stops() -> None:
    """Killed, or ended by a fault of its adapter: a message, a new process, the next client."""
    with Session(rig(on_loss="stop"), watch=False) as session:
        with bus_client(session) as client:
            client.send(J1_target=0.5)
            until(session, lambda: session["line0.inputs"] > 0)
            first = pid(session)
            os.kill(first, signal.SIGKILL)
            until(session, lambda: session["line0.restarts"] == 1 and serves(session))
        assert logged(session, "its process had ended; it was restarted.")
        assert session["line0.lost"] == 1.0
        assert pid(session) != first
        with bus_client(session) as client:
            client.send(J1_target=-0.5)
            until(session, lambda: session["line0/J1.target"] == -0.5)
            assert session["line0.lost"] == 0.0
            second = pid(session)
            session.send(m.BusCommand("line0", "raise"))
            until(session, lambda: pid(session) not in (0, second) and serves(session))
        last = pid(session)
    assert not alive(last)


def test_a_process_that_stands_still_holds_nobody_up() -> None:
    """Stopped for a while: the session steps on, and what it sends meanwhile does not pile up."""
    with Session(rig(), watch=False) as session, bus_client(session) as client:
        client.send(J1_target=0.5)
        until(session, lambda: session["line0.inputs"] > 0)
        os.kill(pid(session), signal.SIGSTOP)
        try:
            session.step(2000)
        finally:
            os.kill(pid(session), signal.SIGCONT)
        client.send(J1_target=-0.5)
        until(session, lambda: session["line0/J1.target"] == -0.5)
        assert session["line0.restarts"] == 0


def test_a_process_that_keeps_ending_is_given_up() -> None:
    """Five new starts within a minute are enough; the session goes on without the bus."""
    with Session(rig(fails="crash"), watch=False) as session:
        until(session, lambda: logged(session, "keeps ending"))
        assert sum("was restarted" in e.text for e in session.outbox.events) == 5
        step = session.state.step
        session.step(5)
        assert session.state.step == step + 5


def test_a_bus_that_cannot_open_its_door_says_why() -> None:
    """The reason is told once, nothing is started again, and the session runs."""
    with Session(rig(fails="error"), watch=False) as session:
        until(session, lambda: logged(session, "cannot be served: the rig was told to fail."))
        session.step(10)
        assert not logged(session, "anew")


def test_the_process_ends_with_a_session_that_is_killed(tmp_path: Path) -> None:
    """Nothing is left of a session that had no time to say goodbye."""
    script = tmp_path / "run.py"
    script.write_text(
        "import sys, time\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "from bus_fixture import line_type, rig\n"
        "from linkwork.session.session import Session\n"
        "with line_type(), Session(rig(), watch=False) as session:\n"
        "    print(session.bus_processes['line0'].pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        number = int(run.stdout.readline())
        assert alive(number)
        run.kill()
        run.wait()
    end = time.monotonic() + 30
    while alive(number):
        assert time.monotonic() < end
        time.sleep(0.05)


# ---- lock-step -----------------------------------------------------------------------------------


def controller(port: int, delay: float, turns: int, stop: threading.Event) -> None:
    """Answers each turn with targets made from what it reads, after a delay."""
    client = Partner(port)
    for _ in range(turns):
        try:
            seen = client.read()
        except (EOFError, OSError):  # the session is over
            break
        if stop.wait(delay * (1 + seen["step"] % 3)):
            break
        target = 0.5 - 0.8 * seen["J1.angle"]
        client.send(J1_target=target, J2_target=-0.3 + seen["J2.angle"] / 2, turn=seen["turn"])
    client.close()


def run_in_lockstep(delay: float, record: Path | None = None) -> tuple[str, float]:
    """Hash of the last state, and where J1 is."""
    with Session(rig(lockstep=True, period=0.01), watch=False, record=record) as session:
        stop = threading.Event()
        thread = threading.Thread(target=controller, args=(port_of(session), delay, 1000, stop))
        thread.start()
        try:
            session.run(0.4, clock="fast")
            return session.state.hash(), session["arm/J1.angle"]
        finally:
            stop.set()
            session.close()
            thread.join()


@pytest.mark.capability(26)
def test_lockstep_is_the_same_however_slow_the_partner(tmp_path: Path) -> None:
    """Three partners, three speeds, one result to the last bit; and the same again in a replay."""
    path = tmp_path / "run.mcap"
    results = [run_in_lockstep(delay) for delay in (0.0, 0.002)]
    results.append(run_in_lockstep(0.011, path))
    assert len({hash for hash, _ in results}) == 1
    assert results[0][1] > 0.05
    again = replay(path)
    assert again.same, again.mismatch


def test_a_lagging_partner_freezes_time_and_pause_still_works() -> None:
    """Without the partner's turn there is no step; the session can be stopped meanwhile."""
    with Session(rig(lockstep=True), watch=False) as session, bus_client(session) as client:
        running = threading.Thread(target=session.run)
        running.start()
        try:
            seen = client.read()
            while not seen["turn"]:
                seen = client.read()
            for n in range(3):
                assert seen["step"] == n
                client.send(J1_target=0.1, turn=seen["turn"])
                seen = client.read()
            time.sleep(0.1)  # no step may come of it, however long it takes
            assert session.state.step == 3
            session.send(m.PauseClock())
            end = time.monotonic() + 30
            while session.running:
                assert time.monotonic() < end
                time.sleep(0.005)
        finally:
            session.stop()
            running.join(30)
        assert not running.is_alive()
        assert session.state.step == 3


@pytest.mark.parametrize(("policy", "goes_on"), [("hold", True), ("pause", False)])
def test_a_partner_that_dies_in_lockstep_ends_by_its_policy(policy: str, goes_on: bool) -> None:
    """Time goes on without it, or the session is paused with a message."""
    with Session(rig(lockstep=True, on_loss=policy), watch=False) as session:
        client = Partner(port_of(session))

        def run() -> None:
            with suppress(SessionError):  # paused, and nobody watches
                session.run(0.2)

        running = threading.Thread(target=run)
        running.start()
        try:
            seen = client.read()
            while not seen["turn"]:
                seen = client.read()
            client.send(J1_target=0.2, turn=seen["turn"])
            client.read()
            client.close()
            end = time.monotonic() + 30
            while not session["line0.lost"] or (running.is_alive() if goes_on else session.running):
                assert time.monotonic() < end
                time.sleep(0.005)
            assert logged(session, "its client has left")
        finally:
            session.stop()
            running.join(30)
        assert (session.state.step == 100) == goes_on


def test_patience_ends_the_wait_for_a_partner_that_hangs() -> None:
    """A partner that is there but does not answer is given up after the bus's patience."""
    scene = rig(lockstep=True, on_loss="hold", turn_timeout=0.3)
    with Session(scene, watch=False) as session, bus_client(session) as client:
        running = threading.Thread(target=lambda: session.run(0.05))
        running.start()
        seen = client.read()
        while not seen["turn"]:
            seen = client.read()
        client.send(J1_target=0.2, turn=seen["turn"])
        running.join(30)
        assert not running.is_alive()
        assert session["line0.lost"] == 1.0
