"""Signals: listen to a distance, drive a joint, and see who owns an input.

A head pans to and fro over three posts. A ray on it measures the distance, a listener notices
each post; then the session takes the head over from the agent that moves it, and gives it back.

python examples/05_listen_and_drive.py
"""

import math

import linkwork as lw
from linkwork.model.parts import Spec

POSTS = {"near": (0.45, 0.30), "middle": (0.70, 0.0), "far": (0.80, -0.55)}  # x, y [m]
RANGE = 2.0  # of the ray [m]


def head() -> lw.Part:
    """A head on a post, with an eye."""
    post = lw.Cylinder(0.06, 0.20, at=lw.Pose((0.0, 0.0, 0.10)))
    eye = lw.Cylinder(0.016, 0.05, at=lw.Pose.of((0.07, 0.0, 0.0), rpy=(0.0, math.pi / 2.0, 0.0)))
    pan = lw.Joint(
        "pan", "hinge", "base", "skull", at=lw.Pose((0.0, 0.0, 0.24)), range=(-1.2, 1.2),
        max_speed=2.0, drive=Spec("actuator", "servo", params={"kp": 8.0, "kd": 0.4}),
    )  # fmt: skip
    return lw.Part("head").add(
        lw.Element("base", (post,), mass=2.0, color="#5b6672"),
        lw.Element("skull", (lw.Box((0.10, 0.08, 0.07)), eye), mass=0.3, color="#d8dde6"),
        pan,
        lw.Anchor("pupil", "skull", lw.Pose((0.10, 0.0, 0.0))),
    )


def scene() -> lw.Scene:
    made = lw.Scene("lookout").place(head())
    made.add(lw.Element("ground", (lw.Plane((4.0, 4.0)),)))
    for name, (x, y) in POSTS.items():
        post = lw.Cylinder(0.04, 0.36, at=lw.Pose((x, y, 0.18)))
        made.add(lw.Element(name, (post,), color="#e0a54a"))
    made.sensor("eye", "ray", on="head/pupil", range=RANGE, period=0.01)
    return made.agent("sweep", "wave", joint="head/pan", amplitude=1.0, frequency=0.2)


def main() -> None:
    with lw.Session(scene()) as session:

        def show(distance: float) -> None:
            what = f"something at {distance:.2f} m" if distance < RANGE else "nothing"
            angle = math.degrees(session["head/pan.angle"])
            print(f"{session.time:5.2f} s  {angle:+4.0f}°  {what}")

        # Called after each step in which the distance moved by more than 10 cm.
        session.on_change("eye.distance", show, by=0.1)
        session.run(5.0)

        # The agent owns the joint's target: setting it is refused until it is taken over.
        try:
            session["head/pan.target"] = 0.0
        except lw.LinkworkError as error:
            print(error)
        x, y = POSTS["near"]
        session.take("head/pan.target")
        session["head/pan.target"] = math.atan2(y, x)
        session.run(1.5)
        print(f"owner: {session.signals.owners['head/pan.target']}")

        session.release()  # and the agent goes on
        session.run(0.5)
        print(f"owner: {session.signals.owners['head/pan.target']}")


if __name__ == "__main__":
    main()
