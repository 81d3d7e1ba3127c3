"""A small arm on a CAN bus, as user files, for tests of the studio."""

from pathlib import Path

import can

from linkwork.studio.host.open_scene import OpenScene
from studio_fixture import Studio

ARM = """format = "linkwork/part 1"
name = "arm"

[[element]]
name = "base"
shape = { box = { size = [0.2, 0.2, 0.1] } }

[[element]]
name = "upper"
shape = { cylinder = { radius = 0.03, length = 0.4 }, at = { xyz = [0, 0, 0.2] } }
mass = 1

[[element]]
name = "lower"
shape = { cylinder = { radius = 0.03, length = 0.3 }, at = { xyz = [0, 0, 0.15] } }
mass = 0.5

[[joint]]
name = "shoulder"
type = "hinge"
from = "base"
to = "upper"
at = { xyz = [0, 0, 0.05] }
axis = [0, 1, 0]
range_deg = [-90, 90]
drive = { type = "servo", kp = 60, kd = 5 }
bus = { can_id = 0x201, bits = 12, group = "arm/drives" }

[[joint]]
name = "elbow"
type = "hinge"
from = "upper"
to = "lower"
at = { xyz = [0, 0, 0.4] }
axis = [0, 1, 0]
range_deg = [-120, 120]
drive = { type = "servo", kp = 30, kd = 2 }
"""

SCENE = """format = "linkwork/scene 1"
name = "can_bench"
gravity = [0, 0, 0]

[[part]]
name = "arm"
part = "./arm.toml"

[[engine]]
type = "kinematic"

[[bus]]
name = "can0"
type = "can"
socketcand = 0

[[fault]]
name = "limp"
type = "dead"
joint = "arm/elbow"
"""


def write_bench(folder: Path) -> Path:
    """Writes the files and returns the scene's."""
    (folder / "arm.toml").write_text(ARM)
    (folder / "bench.toml").write_text(SCENE)
    return folder / "bench.toml"


def running(studio: Studio) -> OpenScene:
    """Returns the open connections on the session's side."""
    found = studio.host.open
    assert isinstance(found, OpenScene)
    return found


def controller(studio: Studio) -> can.BusABC:
    """Returns python-can on the bus of the bench."""
    clients = running(studio).session.bus_processes
    assert clients is not None
    (endpoint,) = [each for each in clients["can0"].endpoints if "socketcand" in each]  # type: ignore[index]
    host, _, port = endpoint.rpartition(" ")[2].rpartition(":")
    return can.Bus(interface="socketcand", host=host, port=int(port), channel="can0")
