"""python-can as it is, through every door."""

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import can
import pytest
from can.interfaces.slcan import slcanBus

from can_fixture import BusProcess

DOORS = ["socketcand", "slcan on TCP", "slcan on a terminal"]


@pytest.fixture(scope="module")
def bus() -> Iterator[BusProcess]:
    with BusProcess("--pty", "--answer", "--beacon") as process:
        yield process


def through(bus: BusProcess, endpoint: str) -> can.BusABC:
    if endpoint == "socketcand":
        host, port = bus.socketcand
        return can.Bus(interface="socketcand", host=host, port=port, channel="can0")
    where = bus.pty if "terminal" in endpoint else "socket://{}:{}".format(*bus.slcan)
    client = slcanBus(channel=where, bitrate=1_000_000, sleep_after_open=0)
    client.get_version(30.0)  # it does not wait for the channel to be open, so we do
    return client


def answer(client: can.BusABC, id: int) -> can.Message:
    """The next message with an identifier."""
    while message := client.recv(30.0):
        if message.arbitration_id == id:
            return message
    raise AssertionError(f"{id:X} did not come")


@pytest.mark.capability(55)
@pytest.mark.parametrize("endpoint", DOORS)
def test_a_client_sends_and_is_answered(bus: BusProcess, endpoint: str) -> None:
    """Standard and extended frames of each length go out, and the node on the bus answers."""
    with through(bus, endpoint) as client:
        for extended in (False, True):
            for length in range(9):
                data = bytes(range(length))
                id = 0x1ABCDEF0 if extended else 0x120
                client.send(can.Message(arbitration_id=id, data=data, is_extended_id=extended))
                back = answer(client, id + 1)
                assert bytes(back.data) == data
                assert back.is_extended_id == extended
                assert back.dlc == length
                assert abs(back.timestamp - time.time()) < 60.0


@pytest.mark.parametrize("endpoint", DOORS)
@pytest.mark.parametrize("other", DOORS[:2])
def test_clients_hear_each_other_and_not_themselves(
    bus: BusProcess, endpoint: str, other: str
) -> None:
    """Across doors of every kind."""
    with through(bus, endpoint) as one, through(bus, other) as two:
        one.send(can.Message(arbitration_id=0x301, data=b"one", is_extended_id=False))
        assert bytes(answer(two, 0x301).data) == b"one"
        two.send(can.Message(arbitration_id=0x303, data=b"two", is_extended_id=False))
        message = one.recv(30.0)
        assert message
        assert message.arbitration_id == 0x303


def test_remote_frames_pass_between_slcan_clients(bus: BusProcess) -> None:
    """slcan has a form for them."""
    with through(bus, DOORS[1]) as one, through(bus, DOORS[2]) as two:
        one.send(can.Message(arbitration_id=0x305, is_remote_frame=True, dlc=4))
        message = answer(two, 0x305)
        assert message.is_remote_frame
        assert message.dlc == 4


def test_version_and_serial_number_are_given(bus: BusProcess) -> None:
    """python-can asks the adapter for them."""
    with through(bus, DOORS[1]) as client:
        assert isinstance(client, slcanBus)
        assert client.get_version(30.0) == (10, 13)
        assert client.get_serial_number(30.0) == "LW01"


def test_the_server_is_discovered(bus: BusProcess) -> None:
    """can.detect_available_configs finds it by its beacon."""
    found: list[Any] = []
    for _ in range(5):  # beacons of others may come first
        found += can.detect_available_configs("socketcand")
        if any(each["port"] == bus.socketcand[1] for each in found):
            break
    config = next(each for each in found if each["port"] == bus.socketcand[1])
    with can.Bus(**config) as client:
        client.send(can.Message(arbitration_id=0x10, is_extended_id=False))
        assert answer(client, 0x11)


def test_periodic_sending_and_filters_of_python_can_work(bus: BusProcess) -> None:
    """What python-can does by itself on top of a door."""
    with through(bus, DOORS[0]) as one, through(bus, DOORS[0]) as two:
        two.set_filters([{"can_id": 0x77, "can_mask": 0x7FF, "extended": False}])
        message = can.Message(arbitration_id=0x77, data=b"x", is_extended_id=False)
        task = one.send_periodic(message, 0.01)
        one.send(can.Message(arbitration_id=0x79, is_extended_id=False))
        got = [two.recv(30.0) for _ in range(5)]
        assert [message.arbitration_id for message in got if message] == [0x77] * 5
        task.stop()


def test_error_frames_reach_python_can(bus: BusProcess) -> None:
    """As messages marked as errors."""
    with through(bus, DOORS[0]) as one, through(bus, DOORS[0]) as two:
        bus.ask('fault {"kind": "error", "times": 1}')
        one.send(can.Message(arbitration_id=0x91, is_extended_id=False))
        first = two.recv(30.0)
        assert first
        assert first.is_error_frame
        assert answer(two, 0x91)
        bus.ask("clear")


def test_a_port_that_is_taken_is_told_without_a_traceback(bus: BusProcess) -> None:
    """What is wrong, and what to do."""
    run = subprocess.run(
        [sys.executable, "-m", "linkwork.buses.can", "--socketcand", str(bus.socketcand[1])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert "cannot listen" in run.stderr
    assert "another port" in run.stderr
