"""CAN as a scene's bus: joints in frames, frames that move joints, by python-can as it is."""

import math
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import can
import cantools
import pytest
from cantools.database.can import Database

from bus_fixture import process_of
from command_line import linkwork
from linkwork import LinkworkError, Scene, Session, load
from linkwork.buses.block import bus_blocks
from linkwork.buses.can.dbc_export import dbc_text
from linkwork.buses.can.layout import frames
from linkwork.formats import load_scene
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle
from linkwork.session.messages import BusCommand, Message, SetSignal

TIMEOUT = 20.0
CELL = """
format = "linkwork/scene 1"
name = "cell"
step = 0.002

[[element]]
name = "ground"
shape = {{ plane = {{ size = [2, 2] }} }}

[[part]]
name = "arm"
part = "gripper/arm"

[[bus]]
name = "can0"
type = "can"
socketcand = 0
period = 0.01
{bus}

[[port]]
name = "J1"
commands = [{{ signal = "arm/J1.target", can_id = 0x11, bits = 12 }}]
sensors = [{{ signal = "arm/J1.angle", can_id = 0x111, bits = 12 }}]

[[port]]
name = "J2"
commands = [{{ signal = "arm/J2.target", can_id = 0x12, bits = 10, big_endian = true, start = 7 }}]
sensors = [
  {{ signal = "arm/J2.angle", can_id = 0x112, bits = 16, signed = true, send = "request" }},
]

{more}
"""


def cell(folder: Path, bus: str = "", more: str = "") -> Scene:
    file = folder / "cell.toml"
    file.write_text(CELL.format(bus=bus, more=more))
    scene = load(file)
    assert isinstance(scene, Scene)
    return scene


@contextmanager
def client(session: Session) -> Iterator[can.BusABC]:
    """python-can on the socketcand door of a session's bus."""
    assert session.bus_processes is not None
    port = int(session.bus_processes["can0"].endpoints[0].rpartition(":")[2])
    bus = can.Bus(interface="socketcand", host="127.0.0.1", port=port, channel="can0")
    try:
        yield bus
    finally:
        bus.shutdown()


@contextmanager
def running(scene: Scene) -> Iterator[Session]:
    """A session that runs in real time, in a thread."""
    with Session(scene) as session:
        thread = threading.Thread(target=session.run, kwargs={"clock": "real"})
        thread.start()
        try:
            yield session
        finally:
            session.stop()
            thread.join(TIMEOUT)


def until(reached, what: str) -> None:
    end = time.monotonic() + TIMEOUT
    while not reached():
        assert time.monotonic() < end, f"not within {TIMEOUT:g} s: {what}"
        time.sleep(0.01)


def frame(bus: can.BusABC, number: int) -> can.Message:
    """The next frame of an identifier."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        message = bus.recv(1.0)
        if message is not None and message.arbitration_id == number:
            return message
    raise AssertionError(f"no frame 0x{number:X}")


@pytest.mark.capability(53, 56)
def test_frames_move_joints_and_joints_send_frames(tmp_path: Path) -> None:
    """An incoming frame moves its joint; the joint's motion sends frames with its angle."""
    low, high = math.radians(-40), math.radians(75)
    with running(cell(tmp_path)) as session, client(session) as bus:
        wanted = round((0.9 - low) / (high - low) * 4095)
        bus.send(can.Message(arbitration_id=0x11, data=wanted.to_bytes(2, "little"),
                             is_extended_id=False))  # fmt: skip
        until(lambda: abs(session["arm/J1.target"] - 0.9) < 0.001, "the target")
        until(lambda: abs(session["arm/J1.angle"] - 0.9) < 0.01, "the angle")
        assert session.signals.owners["arm/J1.target"] == "can0"
        code = -1
        while abs(low + code * (high - low) / 4095 - 0.9) > 0.02:
            code = int.from_bytes(frame(bus, 0x111).data, "little")


@pytest.mark.capability(54)
def test_cantools_reads_our_dbc_and_agrees(tmp_path: Path) -> None:
    """What cantools encodes with our DBC moves the joint; what we send, it decodes."""
    with running(cell(tmp_path)) as session, client(session) as bus:
        plan = bus_blocks(session.cycle)[0].plan
        database = cantools.database.load_string(dbc_text(plan), "dbc")
        assert isinstance(database, Database)
        order = database.get_message_by_frame_id(0x12)
        data = order.encode({order.signals[0].name: 0.5}, strict=False)
        bus.send(can.Message(arbitration_id=0x12, data=data, is_extended_id=False))
        until(lambda: abs(session["arm/J2.target"] - 0.5) < 0.001, "the target")
        until(
            lambda: (
                abs(session["arm/J2.angle"] - 0.5) < 0.01 and abs(session["arm/J2.speed"]) < 1e-3
            ),
            "rest at the angle",
        )
        session.send(order_of("send", frame="112#R2"))
        answer = frame(bus, 0x112)  # the port answers a request (RTR)
        found = database.decode_message(0x112, bytes(answer.data))
        assert isinstance(found, dict)
        (value,) = found.values()
        assert float(str(value)) == pytest.approx(session["arm/J2.angle"], abs=0.01)


def test_the_command_line_writes_the_dbc(tmp_path: Path) -> None:
    """``linkwork ports --dbc`` writes what cantools reads; a scene without CAN is told."""
    done = linkwork("ports", "tripod/can", "--dbc", tmp_path / "tripod.dbc")
    assert done.code == 0, done.err
    database = cantools.database.load_file(tmp_path / "tripod.dbc")
    assert isinstance(database, Database)
    tilt = database.get_message_by_frame_id(0x120)
    assert [(s.start, s.length, s.is_signed) for s in tilt.signals] == [
        (0, 16, True),
        (16, 16, True),
    ]
    refused = linkwork("ports", "amtec/tcp", "--dbc", tmp_path / "no.dbc")
    assert refused.code != 0
    assert "there is none" in refused.err


def order_of(name: str, **args: str) -> Message:
    return BusCommand("can0", name, {**args})


def test_what_clients_do_wrong_is_counted_once_and_stays(tmp_path: Path) -> None:
    """Before and after the bus is open, and when the client has left; so are two masters."""
    with running(cell(tmp_path)) as session, client(session) as honest:
        assert session.bus_processes is not None
        port = int(session.bus_processes["can0"].endpoints[0].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), TIMEOUT) as line:
            line.sendall(b"< nonsense >< open can0 >< rawmode >< send 700 2 1 >< send 700 1 7 >")
            assert frame(honest, 0x700).data == b"\x07"
            honest.send(can.Message(arbitration_id=0x700, is_extended_id=False))
            until(lambda: session["can0.bad"] == 2, "both mistakes")
            until(lambda: session["can0.conflicts"] == 1, "the second master")
        until(lambda: session["can0.clients"] == 1, "the client is gone")
        with socket.create_connection(("127.0.0.1", port), TIMEOUT) as line:
            line.sendall(b"< open can0 >< rawmode >< send 700 9 >")
            until(lambda: session["can0.bad"] == 3, "one more")


@pytest.mark.capability(58)
def test_a_sensor_frame_tilts_the_whole_model(tmp_path: Path) -> None:
    """An inclinometer's frame drives a joint that carries everything else (Rocon)."""
    file = tmp_path / "tilt.toml"
    file.write_text("""
format = "linkwork/scene 1"
name = "tilt"
step = 0.002

[[part]]
name = "table"
part = "tripod/table"

[[engine]]
type = "kinematic"

[[bus]]
name = "can0"
type = "can"
socketcand = 0

[[port]]
name = "inclinometer"
commands = [
  { signal = "table/roll.target", can_id = 0x120, bits = 16, signed = true, lo = -0.8, hi = 0.8 },
]
""")
    scene = load(file)
    assert isinstance(scene, Scene)
    with running(scene) as session, client(session) as bus:
        code = round(math.radians(8) / 0.8 * 32767)
        bus.send(can.Message(arbitration_id=0x120, is_extended_id=False,
                             data=code.to_bytes(2, "little", signed=True)))  # fmt: skip
        until(lambda: abs(session["table/roll.angle"] - math.radians(8)) < 1e-3, "the tilt")


def test_a_users_dbc_binds_joints(tmp_path: Path) -> None:
    """Bits, scale, order and unit come from the file: degrees there are radians here."""
    (tmp_path / "arm.dbc").write_text("""VERSION ""
NS_ :
BS_:
BU_: Arm Host
BO_ 2364540158 Wanted: 4 Host
 SG_ Shoulder : 7|16@0- (0.01,0) [-300|300] "deg" Arm
 SG_ Gripper : 23|8@0+ (0.5,-10) [-10|117.5] "deg" Arm
""")
    more = """
[[port]]
name = "shoulder"
commands = [{ signal = "arm/J3.target", dbc = "Wanted.Gripper" }]
"""
    with running(cell(tmp_path, 'file = "arm.dbc"', more)) as session, client(session) as bus:
        database = cantools.database.load_file(tmp_path / "arm.dbc")
        assert isinstance(database, Database)
        data = database.encode_message("Wanted", {"Shoulder": 12.5, "Gripper": 30.0})
        number = database.get_message_by_name("Wanted").frame_id
        bus.send(can.Message(arbitration_id=number, data=data, is_extended_id=True))
        until(lambda: abs(session["arm/J3.target"] - math.radians(30)) < 1e-9, "the target")


def levelled(delay: float) -> tuple[bytes, float]:
    """The tripod's first half second with a program that takes its time for each turn [s]."""
    scene = load("tripod/can")
    assert isinstance(scene, Scene)
    scene.buses[0].params["socketcand"] = 0
    with Session(scene) as session:
        thread = threading.Thread(target=session.run, args=(0.3,))
        thread.start()
        with client(session) as bus:
            for turn in range(30):
                tilt = frame(bus, 0x120).data
                time.sleep(delay)
                hip = 2048 + (turn % 7) * 20 + tilt[0] % 8
                bus.send(can.Message(arbitration_id=0x11, data=hip.to_bytes(2, "little"),
                                     is_extended_id=False))  # fmt: skip
                bus.send(can.Message(arbitration_id=0x80, is_extended_id=False))
            thread.join(TIMEOUT)
        moved = session.state.q, session.state.v, session.state.target
        return b"".join(each.tobytes() for each in moved), session.time


def test_lockstep_over_can_is_the_same_at_every_pace() -> None:
    """The turn's frame lets time go on; a slow program gives the same bits."""
    found = {levelled(delay) for delay in (0.0, 0.01)}
    assert len(found) == 1
    assert next(iter(found))[1] == pytest.approx(0.3)


@pytest.mark.parametrize("plant", ["real", "both"])
def test_a_real_plant_hears_commands_once_they_are_given(tmp_path: Path, plant: str) -> None:
    """The bus serves before anybody has given one, and sends only what was given."""
    more = f'plant = "{plant}"\nbridge = {{ interface = "virtual", channel = "machine" }}'
    with running(cell(tmp_path, more)) as session, client(session) as bus:
        until(lambda: session["can0.clients"] == 2, "the bridge and the client")
        session.send(SetSignal("can0/J2.target", 0.3))
        assert frame(bus, 0x12).dlc == 2
        sent = {line.address for line in list(process_of(session, "can0").log) if line.way == "out"}
        assert sent <= {"012"}
        assert session["can0.restarts"] == 0


@pytest.mark.parametrize(
    ("bus", "sensor", "logged"),
    [
        ("lockstep = true", "can_id = 3", "turn_id"),
        ('plant = "real"', "can_id = 3", "bridge"),
        ("", "bits = 8", "can_id"),
        ("", "can_id = 0x111, bits = 8", "share bits"),
        ("", "can_id = 3, start = 60, bits = 8", "do not fit"),
        ("", 'dbc = "A.B"', "DBC file"),
        ("", 'can_id = 0x111, start = 16, bits = 8, send = "period"', "different times"),
        ("", "can_id = 0x11, bits = 8", "encode the same bits differently"),
        ("", "can_id = 0x800, extended = false", "extended"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, bus: str, sensor: str, logged: str
) -> None:
    """Before anything runs, with file and line."""
    more = f'[[port]]\nname = "x"\nsensors = [{{ signal = "arm/J3.angle", {sensor} }}]'
    with pytest.raises(LinkworkError, match=logged) as error:
        Session(cell(tmp_path, bus, more))
    assert "cell.toml:" in str(error.value)


def test_what_the_tripod_measures_comes_by_itself() -> None:
    """Through socketcand nobody hears a request, so nothing waits for one."""
    (bus,) = bus_blocks(Cycle(compile_scene(load_scene("tripod/can"))))
    sent = {key: form.send for key, form in frames(bus.plan, bus.plan.outputs).items()}
    assert len(sent) == 7
    assert set(sent.values()) == {"period"}
