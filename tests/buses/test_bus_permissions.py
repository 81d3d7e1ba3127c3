"""What a scene's bus may do only if the person who runs it allows it."""

import os
import sys
from pathlib import Path

import pytest

from bus_fixture import process_of
from command_line import linkwork
from linkwork import Session
from linkwork.buses.can.adapter import CanBus
from linkwork.buses.port import BusPlan
from linkwork.buses.tcp import TcpBus
from linkwork.core.errors import SessionError

SCENE = """
format = "linkwork/scene 1"
name = "cell"

[[part]]
name = "arm"
part = "gripper/arm"

[[bus]]
name = "line"
{bus}

[[port]]
name = "J1"
commands = [{{ signal = "arm/J1.target"{address} }}]
"""

CAN = ", can_id = 5, bits = 16, scale = 0.001"


def scene(folder: Path, bus: str, address: str = "") -> Path:
    path = folder / "cell.toml"
    path.write_text(SCENE.format(bus=bus, address=address))
    return path


@pytest.mark.parametrize(
    ("adapter", "params", "exposed"),
    [
        (TcpBus, {}, False),
        (TcpBus, {"host": "localhost"}, False),
        (TcpBus, {"host": "0.0.0.0"}, True),
        (TcpBus, {"host": "bench"}, True),
        (TcpBus, {"connect": "127.0.0.1:1"}, False),
        (TcpBus, {"connect": "[::1]:1"}, False),
        (TcpBus, {"connect": "bench:7420"}, True),
        (TcpBus, {"connect": "127.0.0.1.evil.example:7420"}, True),
        (CanBus, {}, False),
        (CanBus, {"host": "::"}, True),
        (CanBus, {"host": "0.0.0.0", "socketcand": False}, False),
        (CanBus, {"host": "0.0.0.0", "socketcand": False, "slcan": 0}, True),
        (CanBus, {"bridge": {"interface": "virtual", "channel": "x"}}, False),
        (CanBus, {"bridge": {"interface": "socketcan", "channel": "can0"}}, True),
        (CanBus, {"bridge": {"interface": "udp_multicast", "channel": "239.0.0.1"}}, True),
        (CanBus, {"bridge": {"interface": "socketcand", "channel": "a", "host": "::1"}}, False),
        (CanBus, {"bridge": {"interface": "socketcand", "channel": "a", "host": "b"}}, True),
    ],
)
def test_what_reaches_other_machines(
    adapter: type[CanBus | TcpBus], params: dict[str, object], exposed: bool
) -> None:
    """Loopback is ours; every other interface, address and wire is not."""
    plan = BusPlan("line", "x", params)
    assert bool(adapter.exposure(plan)) is exposed


def test_a_scene_opens_no_bus_to_other_machines_by_itself(tmp_path: Path) -> None:
    """Nothing listens; the event says why and how to allow it; allowed, it is served."""
    path = scene(tmp_path, 'type = "tcp"\nhost = "0.0.0.0"\nport = 0')
    with Session(path) as session:
        process = process_of(session, "line")
        assert (process.given_up, process.pid, process.endpoints) == (True, 0, [])
        (text,) = [event.text for event in session.outbox.events if event.level == "error"]
        assert "listens on the network" in text
        assert "--allow network" in text
        session.step(3)
    with Session(path, allow=["network"]) as session:
        assert session.bus_processes is not None
        assert not session.bus_processes.unserved()


def test_the_command_line_allows_it(tmp_path: Path) -> None:
    """`linkwork run` does not begin without; with the option it runs."""
    path = scene(tmp_path, 'type = "tcp"\nhost = "0.0.0.0"\nport = 0')
    refused = linkwork("run", str(path), "--for", "0.1")
    assert refused.code == 4
    assert "--allow network" in refused.err
    allowed = linkwork("run", str(path), "--for", "0.1", "--allow", "network")
    assert allowed.code == 0, allowed.err
    unknown = linkwork("run", str(path), "--for", "0.1", "--allow", "all")
    assert unknown.code != 0
    assert "replace-links" in unknown.err


def test_permissions_are_checked() -> None:
    """A name that is none, and a text instead of a list, are refused."""
    for wrong in (["net"], "network"):
        with pytest.raises(SessionError, match="permissions"):
            Session("gripper/follow", allow=wrong)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_a_link_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    """A user's link stays, and the bus says so; a link of an ended bus is replaced."""
    target = tmp_path / "precious"
    target.write_text("mine")
    link = tmp_path / "tty"
    link.symlink_to(target)
    bus = f'type = "can"\nsocketcand = false\npty = "{link}"'
    path = scene(tmp_path, bus, CAN)
    with Session(path) as session:
        assert session.bus_processes is not None
        (why,) = map(str, session.bus_processes.unserved().values())
        assert "did not make" in why
        assert "--allow replace-links" in why
    assert link.readlink() == target
    with Session(path, allow=["replace-links"]) as session:
        assert os.readlink(link).startswith("/dev/")
    assert not link.is_symlink()
    assert target.read_text() == "mine"
    link.symlink_to("/dev/pts/987654")
    with Session(path) as session:
        assert session.bus_processes is not None
        assert not session.bus_processes.unserved()
        link.unlink()
        link.symlink_to(target)  # taken by somebody else meanwhile
    assert link.readlink() == target


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_a_restarted_bus_replaces_its_own_link(tmp_path: Path) -> None:
    """A process that is killed leaves its link behind; the next one takes it."""
    link = tmp_path / "tty"
    path = scene(tmp_path, f'type = "can"\nsocketcand = false\npty = "{link}"', CAN)
    with Session(path) as session:
        process = process_of(session, "line")
        assert session.bus_processes is not None
        assert process._process is not None
        os.kill(process.pid, 9)
        assert process._process is not None
        process._process.wait()
        link.unlink()
        link.symlink_to("/dev/null")  # as if its terminal's number was given to another one
        while not process.restarts or not process.ready:
            session.bus_processes.receive()
            assert not process.given_up
        assert os.readlink(link).startswith("/dev/pts")
