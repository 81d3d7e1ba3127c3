"""Watch: each port has an age of its own, so that no dead controller hides behind a live one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import can
import pytest

from bus_fixture import line_type, logged, rig, until
from linkwork import Session, load
from linkwork.core.errors import LinkworkError
from linkwork.model.world import compile_scene
from linkwork.session import messages as m
from linkwork.session.cycle import Cycle
from linkwork.session.replay import replay
from part_fixture import Controller, endpoint
from part_fixture import cell as part_cell
from session_scenes import H, bench


@pytest.fixture(autouse=True, scope="module")
def type_of_the_rig() -> Iterator[None]:
    """The rig's type of bus, registered while this module's tests run."""
    with line_type():
        yield


def served(params: dict[str, Any], **options: Any) -> Session:
    """The rig without a process: the tests say what comes over the bus."""
    return Session(rig(**params), watch=False, buses=False, **options)


def feed(session: Session, steps: int, **targets: float) -> None:
    """A controller that repeats its commands with each step."""
    for _ in range(steps):
        session.send(m.BusInputs("line0", {f"{name}.target": v for name, v in targets.items()}))
        session.step()


def ports(session: Session, what: str) -> list[float]:
    """One of the ports' figures."""
    return [session[f"line0/{name}.{what}"] for name in ("J1", "J2")]


def test_a_silent_controller_does_not_hide_behind_a_live_one() -> None:
    """One of two joints gets no commands any more: it ramps, is told of, and the other goes on."""
    with served({"deadline": 0.05, "on_loss": "ramp", "ramp": 0.1}) as session:
        feed(session, 1, J1=0.4, J2=0.8)
        feed(session, 24, J1=0.4)
        assert ports(session, "lost") == [0, 0]
        feed(session, 1, J1=0.4)
        assert ports(session, "lost") == [0, 1]
        assert logged(
            session, "J2: nothing was received for 0.05 s: commands ramp to their safe values."
        )
        feed(session, 99, J1=0.4)
        assert [session["line0/J1.target"], session["line0/J2.target"]] == [0.4, 0.0]
        assert ports(session, "age") == pytest.approx([H, 125 * H])
        assert ports(session, "misses") == [0, 4]
        assert ports(session, "inputs") == [125, 1]
        assert session["line0.age"] == pytest.approx(125 * H)  # of the one that has waited longest
        assert [session[f"line0.{word}"] for word in ("lost", "losses", "misses")] == [1, 1, 4]
        feed(session, 1, J2=0.6)
        assert (session["line0/J2.target"], session["line0.lost"]) == (0.6, 0)
        assert logged(session, "J2: its controller is back.")


def test_all_ports_at_once_are_one_loss() -> None:
    """One controller of both falls silent: told once, counted once for the bus."""
    with served({"deadline": 0.05}) as session:
        feed(session, 1, J1=0.4, J2=0.8)
        session.step(60)
        assert ports(session, "lost") == [1, 1]
        assert [session[f"line0.{word}"] for word in ("lost", "losses", "misses")] == [1, 1, 2]
        reported = [event.text for event in session.outbox.events]
        assert sum("nothing was received" in text for text in reported) == 1
        assert "nothing was received for 0.05 s: commands are held." in reported
        feed(session, 1, J1=0.4)
        assert session["line0.lost"] == 1  # the other joint is still without its controller
        feed(session, 1, J2=0.4)
        assert session["line0.lost"] == 0


def test_who_leaves_is_lost_for_what_he_commanded() -> None:
    """The process says which signals were his; the others' ports go on."""
    with served({"on_loss": "ramp", "ramp": 0.02}) as session:
        feed(session, 2, J1=0.4, J2=0.8)
        session.send(
            m.ControllerLost("line0", "its controller has left", ["J2.target", "gone.target"])
        )
        feed(session, 20, J1=0.4)
        assert ports(session, "lost") == [0, 1]
        assert [session["line0/J1.target"], session["line0/J2.target"]] == [0.4, 0.0]
        assert logged(session, "J2: its controller has left: commands ramp to their safe values.")
        session.send(m.ControllerLost("line0", "its controller has left", ["gone.target"]))
        session.step()
        assert ports(session, "lost") == [0, 1]
        session.send(m.ControllerLost("line0", "all have left"))
        session.step()
        assert ports(session, "lost") == [1, 1]
        assert session["line0.losses"] == 2


def test_a_parameter_is_no_sign_of_life() -> None:
    """A tool that adjusts a gain does not stand in for the controller, nor is it waited for."""
    scene = bench().bus("line0", "line", deadline=0.05)
    scene.port("J1", commands=["arm/J1.target"], parameters=["arm/J1.kp"])
    scene.port("gain", parameters=["arm/J2.kp"])
    with Session(scene, watch=False, buses=False) as session:
        session.send(m.BusInputs("line0", {"gain.kp": 40.0}))
        session.step(100)
        assert session["line0.lost"] == session["line0.age"] == 0
        session.send(m.BusInputs("line0", {"J1.target": 0.2}))
        for _ in range(30):
            session.send(m.BusInputs("line0", {"J1.kp": 40.0}))
            session.step()
        assert session["line0/J1.lost"] == 1
        assert "line0/gain.age" not in session.signals


def test_a_turn_counts_for_every_port() -> None:
    """In lock-step one partner ends the turns: he is there for all ports, or lost for all."""
    with served({"deadline": 0.05, "lockstep": True, "on_loss": "hold"}) as session:
        session.send(m.BusInputs("line0", {"J1.target": 0.4, "J2.target": 0.8}, turn=True))
        session.step()
        for _ in range(100):
            session.send(m.BusInputs("line0", {"J1.target": 0.4}, turn=True))
            session.step()
        assert ports(session, "lost") == [0, 0]
        session.send(m.ControllerLost("line0", "no answer", ["J2.target"]))
        session.step()
        assert ports(session, "lost") == [1, 1]
        session.send(m.BusInputs("line0", {}, turn=True))
        session.step()
        assert ports(session, "lost") == [0, 0]
        assert session["line0.lost"] == 0


def test_limp_gives_back_what_a_joint_was_allowed_once() -> None:
    """Two commands of one joint, even of two ports: limp until both are back, then as before."""
    scene = bench().bus("line0", "line", deadline=0.05, on_loss="torque_off")
    scene.port("where", commands=["arm/J1.target"])
    scene.port("speed", commands=["arm/J1.target_speed"])
    with Session(scene, watch=False, buses=False) as session:
        session.send(m.BusInputs("line0", {"where.target": 0.2, "speed.target_speed": 0.0}))
        session.step(30)
        assert session["arm/J1.max_effort"] == 0.0
        session.send(m.BusInputs("line0", {"where.target": 0.2}))
        session.step()
        assert session["arm/J1.max_effort"] == 0.0
        session.send(m.BusInputs("line0", {"speed.target_speed": 0.0}))
        session.step()
        assert session["arm/J1.max_effort"] == 20.0


def test_a_live_edit_keeps_each_ports_age() -> None:
    """Ports change places; a lost one that goes takes its loss along."""
    with served({"deadline": 0.05}) as session:
        feed(session, 1, J1=0.4, J2=0.8)
        feed(session, 30, J1=0.4)
        edited = rig(deadline=0.05)
        edited.ports.reverse()
        session.swap(edited).result(timeout=60)
        session.step()
        assert ports(session, "age") == pytest.approx([2 * H, 32 * H])
        assert ports(session, "lost") == [0, 1]
        edited = rig(deadline=0.05)
        edited.ports.pop()
        session.swap(edited).result(timeout=60)
        session.step()
        assert session["line0.lost"] == 0


def test_ages_of_ports_replay_bit_for_bit(tmp_path: Path) -> None:
    """They are part of the state, and so is what a loss does to each port."""
    file = tmp_path / "run.mcap"
    with served(
        {"deadline": 0.02, "on_loss": "ramp", "ramp": 0.03}, record=file
    ) as session:  # fmt: skip
        for n in range(60):
            feed(session, 1, **({"J1": 0.01 * n} if n % 20 < 5 else {"J2": -0.01 * n}))
        session.send(m.ControllerLost("line0", "its controller has left", ["J1.target"]))
        session.step(30)
        assert session["line0.losses"] > 2
        last = session.state.hash()
    seen: list[str] = []
    result = replay(file, watch=lambda each: seen.append(each.state.hash()))
    assert result.same, result.mismatch
    assert seen[-1] == last


def test_a_signal_cannot_take_the_name_of_a_ports_health() -> None:
    """The error says which names are taken, and where the port stands."""
    scene = bench().bus("line0", "line")
    scene.port("wine", commands=[{"name": "age", "lo": 0, "hi": 1}])
    with pytest.raises(LinkworkError, match=r"port 'wine': 'age' .* age, misses, lost, inputs"):
        Cycle(compile_scene(scene))


def test_who_commands_a_tcp_part_is_there_for_all_of_it(tmp_path: Path) -> None:
    """A line that leaves a value as it is still shows that its sender lives."""
    with Session(part_cell(tmp_path, "deadline_ms = 5000")) as session:
        first = Controller(endpoint(session))
        first.send_text("c 0.5 - 0.25")
        until(session, lambda: session["part/J2.inputs"] == 1)
        for n in range(100):
            before = session["part/J1.inputs"]
            first.send_text(f"c {0.001 * n} - -")
            until(session, lambda before=before: session["part/J1.inputs"] > before)
            session.step(5)
        assert session["part.losses"] == 0
        first.close()
        until(session, lambda: session["part.lost"])
        second = Controller(endpoint(session))
        second.send_text("c 0.5 - -")  # the other joint has no master yet
        until(session, lambda: session["part/J1.lost"] == 0)
        assert session["part/J2.lost"] == 1
        second.close()


CELL = """
format = "linkwork/scene 1"
name = "cell"

[[part]]
name = "arm"
part = "gripper/arm"

[[bus]]
name = "can0"
type = "can"
socketcand = 0
deadline_ms = {deadline}
on_loss = "hold"

[[port]]
name = "J1"
commands = [{{ signal = "arm/J1.target", can_id = 0x11, bits = 12 }}]

[[port]]
name = "J2"
commands = [{{ signal = "arm/J2.target", can_id = 0x12, bits = 12 }}]
"""


@pytest.mark.parametrize("leaves", [False, True], ids=["falls silent", "leaves"])
def test_two_controllers_of_a_can_bus_are_lost_one_by_one(tmp_path: Path, leaves: bool) -> None:
    """One goes on; the other falls silent or leaves: its joint is lost, and only that."""
    file = tmp_path / "cell.toml"
    file.write_text(CELL.format(deadline=0 if leaves else 300))
    with Session(load(file), watch=False) as session:  # type: ignore[arg-type]
        assert session.bus_processes is not None
        port = int(session.bus_processes["can0"].endpoints[0].rpartition(":")[2])
        first, second = (
            can.Bus(interface="socketcand", host="127.0.0.1", port=port, channel="can0")
            for _ in range(2)
        )
        alive = can.Message(arbitration_id=0x11, data=[0, 8], is_extended_id=False)
        second.send(can.Message(arbitration_id=0x12, data=[0, 4], is_extended_id=False))
        until(session, lambda: session["can0/J2.inputs"])
        if leaves:
            second.shutdown()

        def lost() -> float:
            before = session["can0/J1.inputs"]
            first.send(alive)
            until(session, lambda: session["can0/J1.inputs"] > before)
            return session["can0/J2.lost"]

        until(session, lost)
        assert (session["can0/J1.lost"], session["can0.lost"]) == (0, 1)
        why = "its controller has left" if leaves else "nothing was received for 0.3 s"
        assert logged(session, f"J2: {why}: commands are held.")
        first.shutdown()
        if not leaves:
            second.shutdown()
