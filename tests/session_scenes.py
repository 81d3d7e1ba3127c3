"""Small scenes for the tests of sessions, in Python and as files."""

from pathlib import Path

from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part, Plane, Spec
from linkwork.model.scene import Scene

H = 0.002


def arm(name: str = "arm") -> Part:
    """Returns two links on a post, rotating about y, with a servo on each joint."""
    part = Part(name).add(
        Element("post", (Box((0.1, 0.1, 0.4)),), mass=4.0),
        Element("upper", (Box((0.2, 0.04, 0.04), at=Pose((0.1, 0.0, 0.0))),), mass=0.4),
        Element("lower", (Box((0.2, 0.04, 0.04), at=Pose((0.1, 0.0, 0.0))),), mass=0.2),
    )
    for joint, below, above, place in (
        ("J1", "post", "upper", (0.1, 0.0, 0.2)),
        ("J2", "upper", "lower", (0.2, 0.0, 0.0)),
    ):
        drive = Spec("actuator", "servo", params={"kp": 40.0, "kd": 1.0})
        part.add(
            Joint(
                joint, "hinge", below, above, at=Pose(place), axis=(0.0, 1.0, 0.0),
                range=(-1.5, 1.5), max_speed=4.0, max_effort=20.0, damping=0.01, drive=drive,
            )
        )  # fmt: skip
    return part


def box(name: str = "box", mass: float = 0.3) -> Part:
    """Returns one free element."""
    return Part(name).add(Element("cube", (Box((0.1, 0.1, 0.1)),), mass=mass))


def bench(*, name: str = "bench", step: float = H) -> Scene:
    """Returns one arm on the ground, with an encoder on its first joint."""
    scene = Scene(name, step=step).add(Element("ground", (Plane((4.0, 4.0)),)))
    scene.place(arm(), at=Pose((0.0, 0.0, 0.2)))
    return scene.sensor("angle", "encoder", joint="arm/J1")


def program(scene: Scene, name: str, text: str, **params: object) -> Scene:
    """Adds a control program by its text."""
    head = "from linkwork import Control\nclass Program(Control):\n"
    lines = "".join(f"    {line}\n" for line in text.strip("\n").splitlines())
    return scene.agent(name, "program", source=head + lines, **params)


#: A finger with one driven hinge.
FINGER_FILE = """format = "linkwork/part 1"
name = "finger"

[[element]]
name = "base"
shape = { box = { size = [0.1, 0.1, 0.1] } }
mass = 1

[[element]]
name = "tip"
shape = { sphere = { radius = 0.05 } }
mass = 0.5

[[joint]]
name = "bend"
type = "hinge"
from = "base"
to = "tip"
at = { xyz = [0, 0, 0.1] }
axis = [0, 1, 0]
range_deg = [-90, 90]
damping = 0.5
drive = { type = "servo", kp = 10 }
"""

ARM_FILE = """\
format = "linkwork/part 1"
name = "arm"

[[element]]
name = "post"
shape = { box = { size = [0.1, 0.1, 0.4] } }
mass = 4

[[element]]
name = "upper"
shape = { box = { size = [0.2, 0.04, 0.04] }, at = { xyz = [0.1, 0, 0] } }
mass = 0.4

[[element]]
name = "lower"
shape = { box = { size = [0.2, 0.04, 0.04] }, at = { xyz = [0.1, 0, 0] } }
mass = 0.2

[[joint]]
name = "J1"
type = "hinge"
from = "post"
to = "upper"
at = { xyz = [0.1, 0, 0.2] }
axis = [0, 1, 0]
range_deg = [-80, 80]
max_speed_deg = 200
max_effort = 20
drive = { type = "servo", kp = 40, kd = 1 }

[[joint]]
name = "J2"
type = "hinge"
from = "upper"
to = "lower"
at = { xyz = [0.2, 0, 0] }
axis = [0, 1, 0]
range_deg = [-80, 80]
max_speed_deg = 200
max_effort = 20
drive = { type = "servo", kp = 40, kd = 1 }
"""

BOX_FILE = """\
format = "linkwork/part 1"
name = "box"

[[element]]
name = "cube"
shape = { box = { size = [0.1, 0.1, 0.1] } }
mass = 0.3
"""

SCENE_FILE = """\
# An arm that waves; the second joint follows the first.
format = "linkwork/scene 1"
name = "bench"
step = 0.002

[[element]]
name = "ground"
shape = { plane = { size = [4, 4] } }

[[part]]
name = "arm"
part = "./arm.toml"
at = { xyz = [0, 0, 0.2] }     # on its post

[[sensor]]
name = "angle"
type = "encoder"
joint = "arm/J1"

[[agent]]
name = "wave"
type = "wave"
joint = "arm/J1"
amplitude_deg = 30
frequency = 0.5
ramp = 0.2

[[agent]]
name = "follow"
type = "program"
file = "follow.py"
on = "arm"
"""

FOLLOW_FILE = """\
from linkwork import Control


class Follow(Control):
    def init(self):
        self.memory("calls", 0)
        self.joint("J1").on_change(self.follow)

    def follow(self, angle):
        self.memory.calls += 1
        self.joint("J2").value = -angle
"""


def bench_files(folder: Path) -> Path:
    """Writes a scene with its part and program; returns the scene's file."""
    (folder / "arm.toml").write_text(ARM_FILE)
    (folder / "box.toml").write_text(BOX_FILE)
    (folder / "follow.py").write_text(FOLLOW_FILE)
    (folder / "scene.toml").write_text(SCENE_FILE)
    return folder / "scene.toml"
