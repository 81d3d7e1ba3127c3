"""The bench: one scene, written as files, to which an example is added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit

from contract.examples import Example, example
from linkwork.formats import load_scene
from linkwork.model.scene import Scene
from linkwork.session.messages import BusInputs
from linkwork.session.session import Session

ARM = """\
format = "linkwork/part 1"
name = "arm"

[[element]]
name = "base"
shape = { box = { size = [0.1, 0.1, 0.1] } }
mass = 2

[[element]]
name = "upper"
shape = { box = { size = [0.03, 0.03, 0.2] }, at = { xyz = [0, 0, 0.1] } }
mass = 0.3

[[element]]
name = "lower"
shape = { box = { size = [0.03, 0.03, 0.2] }, at = { xyz = [0, 0, 0.1] } }
mass = 0.2

[[element]]
name = "hand"
shape = { box = { size = [0.03, 0.03, 0.1] }, at = { xyz = [0, 0, 0.05] } }
mass = 0.1

[[joint]]
name = "J1"
type = "hinge"
from = "base"
to = "upper"
at = { xyz = [0, 0, 0.05] }
axis = [0, 1, 0]
range = [-1.5, 1.5]
max_speed = 5
max_effort = 20
drive = { type = "servo", kp = 60, kd = 2 }

[[joint]]
name = "J2"
type = "hinge"
from = "upper"
to = "lower"
at = { xyz = [0, 0, 0.2] }
axis = [0, 1, 0]
range = [-1.5, 1.5]
damping = 0.05

[[joint]]
name = "J3"
type = "hinge"
from = "lower"
to = "hand"
at = { xyz = [0, 0, 0.2] }
axis = [1, 0, 0]
range = [-1.5, 1.5]
max_speed = 5
max_effort = 5
drive = { type = "servo", kp = 10, kd = 0.2 }

[[anchor]]
name = "tip"
on = "hand"
at = { xyz = [0, 0, 0.1], rpy_deg = [180, 0, 0] }
"""

BALL = """\
format = "linkwork/part 1"
name = "ball"

[[element]]
name = "ball"
shape = { sphere = { radius = 0.05 } }
mass = 0.2
group = "balls"
"""

SCENE = """\
format = "linkwork/scene 1"
name = "bench"
step = 0.002

[[element]]
name = "ground"
shape = { plane = { size = [4, 4] } }

[[part]]
name = "arm"
part = "./arm.toml"
at = { xyz = [0, 0, 1] }

[[part]]
name = "ball"
part = "./ball.toml"
at = { xyz = [1, 0, 0.2] }
base = "free"

[[agent]]
name = "sway"
type = "wave"
joint = "arm/J1"
amplitude = 0.4
frequency = 1.5

"""

#: A part that an edit adds to the running bench.
LATE = """
[[part]]
name = "late"
part = "./ball.toml"
at = { xyz = [-1, 0, 0.5] }
base = "free"
"""

#: The line of the bench's file at which the example begins.
LINE = SCENE.count("\n") + 1
NAME = "subject"


def write_bench(
    folder: Path, kind: str, type: str, params: dict[str, Any] | None = None, *, more: str = ""
) -> Path:
    """Writes the bench with one example (``params`` replaces its parameters); returns the scene."""
    given = example(kind, type)
    for name, text in {"arm.toml": ARM, "ball.toml": BALL, **given.files}.items():
        (folder / name).write_text(text)
    head = {"type": type} if kind == "engine" else {"name": NAME, "type": type}
    table = {**head, **(given.params if params is None else params)}
    file = folder / "bench.toml"
    file.write_text(SCENE + tomlkit.dumps({kind: [table]}) + given.more + more)
    return file


def bench(folder: Path, kind: str, type: str, *, more: str = "") -> Scene:
    """Returns the bench as a scene."""
    return load_scene(write_bench(folder, kind, type, more=more))


def opened(scene: Scene, **options: Any) -> Session:
    """Returns a deterministic session: of buses only those in lock-step are served."""
    served = any(spec.params.get("lockstep") for spec in scene.buses)
    return Session(scene, watch=False, buses=served, **options)


def nudge(session: Session) -> None:
    """Sets every free input of the driven joints, so that all of them are active."""
    for bus in session.cycle.buses:
        if not bus.spec.params.get("lockstep"):  # else its controller sets the target
            session.send(BusInputs(bus.plan.name, {"elbow.target": 0.25}))
    for signal in session.signals:
        if signal.direction != "input" or signal.name in session.signals.owners:
            continue
        if signal.name.startswith("arm/J2."):
            session[signal.name] = min(max(0.25, signal.lo), signal.hi)


__all__ = ["LATE", "LINE", "NAME", "Example", "bench", "nudge", "opened", "write_bench"]
