"""A head keeps its eye on a ball: a program that sees color and depth, without a graphics card.

python examples/13_camera.py
"""

from pathlib import Path

import linkwork as lw
from linkwork.components.sensors.camera import png, to_millimeters

WATCH = '''
import math
from linkwork import Control

class Watch(Control):
    """Turns the neck so that what is red stays in the middle of the picture."""

    def init(self):
        self.eye = self.camera("eye")
        self.eye.on_change(self.taken, reading="frame")

    def taken(self, frame):
        red, green, blue = self.eye.color().astype(int).transpose(2, 0, 1)
        rows, columns = (red > 2 * green).nonzero()
        if len(columns) == 0:
            return
        width = red.shape[1]
        left = 1.0 - 2.0 * columns.mean() / width
        neck = self.joint("neck")
        neck.target = neck.value + 0.6 * math.atan(0.7 * left)
        if frame % 20 == 0:
            far = self.eye.depth()[rows, columns].min()
            self.log(f"{self.time:.1f} s: the ball is {100 * left:+.0f} % off, {far:.2f} m ahead")
'''


def scene(folder: Path) -> lw.Scene:
    """A room, a ball that swings through it, and a head on a post."""
    room = lw.Scene("lookout", step=0.01)
    room.add(lw.Element("floor", (lw.Plane(),), color="#9aa58f"))
    for name, x, y, size in (
        ("east", 3.0, 0.0, (0.1, 5.0, 1.4)), ("north", 0.5, 2.5, (5.0, 0.1, 1.4)),
        ("south", 0.5, -2.5, (5.0, 0.1, 1.4)),
    ):  # fmt: skip
        room.add(lw.Element(name, (lw.Box(size),), at=lw.Pose((x, y, 0.7)), color="#d9cfc0"))
    for n, (x, y, color) in enumerate([(2.5, 1.6, "#47729c"), (2.4, -1.5, "#d0a63c")]):
        crate = lw.Box((0.6, 0.6, 0.5), at=lw.Pose((x, y, 0.25)))
        room.add(lw.Element(f"crate{n}", (crate,), color=color))
    ball = lw.Part("ball").add(
        lw.Element("track"),
        lw.Element("ball", (lw.Sphere(0.2),), mass=0.5, color="#d23a2a"),
        lw.Joint("way", "slider", "track", "ball", axis=(0, 1, 0)),
    )
    head = lw.Part("head").add(
        lw.Element("post", (lw.Cylinder(0.05, 0.6, at=lw.Pose((0, 0, 0.3))),)),
        lw.Element("skull", (lw.Sphere(0.12),), mass=0.5),
        lw.Joint("neck", "hinge", "post", "skull", at=lw.Pose((0, 0, 0.7)), axis=(0, 0, 1)),
    )
    room.place(ball, at=lw.Pose((1.9, 0, 0.5))).place(head).engine("kinematic")
    room.agent("swing", "wave", joint="ball/way", amplitude=1.1, frequency=0.2)
    (folder / "watch.py").write_text(WATCH)
    room.agent("watch", "program", file=str(folder / "watch.py"), on="head")
    return room.sensor("eye", "camera", on="head/skull", opening=0.9, period=0.05)


def main() -> None:
    with lw.Session(scene(Path())) as session:
        session.run(8.0)
        for event in session.outbox.events:
            print(event.text)
        Path("eye.png").write_bytes(png(session.image("eye")))
        Path("depth.png").write_bytes(png(to_millimeters(session.image("eye", "depth"))))
        print("Wrote eye.png and depth.png.")


if __name__ == "__main__":
    main()
