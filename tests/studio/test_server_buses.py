"""Buses in the studio: what clients are told of them while they look, and what they may say."""

import math
from collections.abc import Iterator
from typing import Any

import can
import pytest

from can_arm_fixture import controller, running, write_bench
from studio_fixture import Client, Studio, studio


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("buses")
    with studio(str(write_bench(folder)), folder) as made:
        yield made


@pytest.fixture
def driver(bench: Studio) -> Iterator[Client]:
    with bench.client() as client:
        client.until("hello")
        client.until("scene")
        while client.last.get("people", {}).get("driver") != client.last["hello"]["you"]:
            client.read()
        yield client


def order(client: Client, name: str, **args: Any) -> None:
    client.send("order", bus="can0", name=name, args=args)


def test_the_scene_tells_of_its_buses(driver: Client) -> None:
    """Each signal with unit, range, bits, address and the joint behind its port."""
    (bus,) = driver.last["scene"]["buses"]
    assert (bus["name"], bus["kind"], bus["about"]) == ("can0", "can", "CAN, 500 kbit/s")
    assert {"fault", "clear", "restart", "send"} == set(bus["orders"])
    (port,) = bus["ports"]
    assert (port["joint"], port["group"]) == ("arm/shoulder", "arm/drives")
    target = next(s for s in port["signals"] if s["role"] == "command")
    assert target["name"] == "can0/arm/shoulder.target"
    assert (target["bits"], target["address"], target["unit"]) == (12, "0x201", "rad")
    assert target["hi"] == pytest.approx(math.pi / 2)


def test_ports_are_told_only_to_those_who_look(bench: Studio, driver: Client) -> None:
    """Value, code, owner; the other client gets none of it."""
    with bench.client() as other:
        other.until("scene")
        driver.send("show", ports=True)
        seen = driver.until("ports")
        assert seen["buses"][0]["state"] in ("waiting", "active", "lost")
        assert len(seen["values"]) == len(seen["raw"]) == len(seen["owners"]) == 2
        assert [port.keys() for port in seen["ports"]] == [{"age", "missed_deadlines", "lost"}]
        assert None not in running(bench).bus_monitor.ports().raw
        other.send("inspect", name="arm/shoulder", kind="joint")
        other.until("attributes")
        assert "ports" not in other.last
    driver.send("show")


def test_a_held_signal_is_let_go_of(bench: Studio, driver: Client) -> None:
    """An override sets value and owner; what is out of range is refused with the range."""
    driver.send("show", ports=True)
    driver.send("override", signal="can0/arm/shoulder.target", value=0.5)
    held = driver.until("ports", lambda p: True in p["held"])
    place = held["held"].index(True)
    assert held["values"][place] == 0.5
    assert held["owners"][place] == "user"
    assert held["raw"][place] == round((0.5 + math.pi / 2) / math.pi * 4095)
    driver.send("override", signal="can0/arm/shoulder.target", value=9)
    assert "takes" in driver.until("refused")["text"]
    driver.send("override", signal="can0/arm/shoulder.target")
    driver.until("ports", lambda p: True not in p["held"])
    driver.send("show")


def test_frames_are_told_decoded(bench: Studio, driver: Client) -> None:
    """A frame of python-can is a line with its bytes and what they mean."""
    driver.send("show", frames=True)
    with controller(bench) as bus:
        bus.send(can.Message(arbitration_id=0x201, data=[0xFF, 0x0F], is_extended_id=False))
        found = driver.until("frames", lambda f: any(x["way"] == "in" for x in f["lines"]))
    (line,) = [x for x in found["lines"] if x["way"] == "in"]
    assert (line["address"], line["data"]) == ("201", "ff 0f")
    assert "arm/shoulder.target = 90°" in line["text"]
    driver.send("show")


def test_who_comes_later_gets_the_lines_before(bench: Studio, driver: Client) -> None:
    """A second viewer, and one who comes when nobody looks, see what has passed."""

    def has_it(frames: Any) -> bool:
        return any(line["address"] == "345" for line in frames["lines"])

    driver.send("show", frames=True)
    order(driver, "send", frame="345#0102")
    driver.until("frames", has_it)
    with bench.client() as second:
        second.until("scene")
        second.send("show", frames=True)
        found = second.until("frames", has_it)
        numbers = [line["number"] for line in found["lines"]]
        assert numbers == sorted(set(numbers))
    driver.send("show")
    with bench.client() as third:
        third.until("scene")
        third.send("show", frames=True)
        third.until("frames", has_it)


def test_faults_are_ordered_told_of_and_ended(bench: Studio, driver: Client) -> None:
    """A fault at work is listed with its hits, and ended by its number."""
    driver.send("show", ports=True, frames=True)
    order(driver, "fault", kind="drop", ids=[0x201], chance=1, seed=7)
    driver.until("ports", lambda p: p["buses"][0]["faults"])
    with controller(bench) as bus:
        bus.send(can.Message(arbitration_id=0x201, data=[0, 0], is_extended_id=False))
        lost = driver.until("frames", lambda f: any(x["mark"] == "dropped" for x in f["lines"]))
        assert lost["bus"] == "can0"
        reported = driver.until("ports", lambda p: p["buses"][0]["faults"][0]["hits"] >= 1)
    (fault,) = reported["buses"][0]["faults"]
    assert (fault["text"], fault["name"]) == ("drop 0x201, until stopped", "")
    order(driver, "clear", number=fault["number"])
    driver.until("ports", lambda p: not p["buses"][0]["faults"])
    driver.send("show")


def test_the_scenes_faults_are_begun_and_new_ones_injected(driver: Client) -> None:
    """Each is told of with what it strikes; a wrong one is refused with the reason."""
    driver.send("show", ports=True)
    driver.send("fault", name="limp")
    reported = driver.until("ports", lambda p: p["faults"][0]["active"])
    assert reported["faults"][0]["about"] == "arm/elbow"
    assert reported["faults"][0]["from_scene"]
    driver.send("fault", kind="drop", args={"ids": [0x201], "chance": 0.5, "seed": 3})
    reported = driver.until("ports", lambda p: p["buses"][0]["faults"])
    assert reported["buses"][0]["faults"][0]["name"] == "drop"
    assert reported["faults"][1]["about"] == "can0 0x201"
    driver.send("fault", on=False)
    driver.until("ports", lambda p: not p["buses"][0]["faults"])
    assert not any(fault["active"] for fault in driver.last["ports"]["faults"])
    driver.send("fault", kind="stuck", args={"signal": "no/such.thing"})
    assert "no/such.thing" in driver.until("refused", lambda r: r["what"] == "fault")["text"]
    driver.send("show")


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("explode", {}, "no order"),
        ("fault", {"kind": "melt"}, "melt"),
        ("fault", {"kind": "drop", "chance": 2}, "chance"),
        ("fault", {"kind": "drop", "ids": [-1]}, "ids"),
        ("send", {"frame": "not a frame"}, "not a frame"),
        ("clear", {"number": 1.5}, "number"),
    ],
)
def test_a_wrong_order_is_refused(driver: Client, name: str, args: Any, words: str) -> None:
    """At once and with the reason, before the bus hears of it."""
    order(driver, name, **args)
    refused = driver.until("refused")
    assert refused["what"] == "order"
    assert words in refused["text"]


def test_a_watcher_gives_no_orders(bench: Studio, driver: Client) -> None:
    """Overrides and orders are the driver's."""
    with bench.client() as other:
        other.until("scene")
        other.send("override", signal="can0/arm/shoulder.target", value=0.1)
        assert "drives" in other.until("refused")["text"]
        order(other, "clear")
        assert "drives" in other.until("refused")["text"]
