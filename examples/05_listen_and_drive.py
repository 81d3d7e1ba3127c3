"""Signals: listen to a distance, drive a joint, and see who owns an input.

A head pans to and fro over three posts. A ray on it measures the distance; a listener notices
each post and the session takes the head over from the agent that moved it.

python examples/05_listen_and_drive.py
"""

import math

import linkwork as lw
from linkwork.parts import Spec
from linkwork.session.messages import Release, Take

POSTS = {"near": (0.45, 0.30), "middle": (0.70, 0.0), "far": (0.80, -0.55)}  # x, y [m]


def head() -> lw.Part:
    eye = lw.Cylinder(0.016, 0.05, at=lw.Pose.of((0.07, 0.0, 0.0), rpy=(0.0, math.pi / 2.0, 0.0)))
    body = lw.Box((0.10, 0.08, 0.07))
    return lw.Part("head").add(
        lw.Element("base", (lw.Cylinder(0.06, 0.20, at=lw.Pose((0.0, 0.0, 0.10))),), mass=2.0,
                   color="#5b6672"),
        lw.Element("skull", (body, eye), mass=0.3, color="#d8dde6"),
        lw.Joint("pan", "hinge", "base", "skull", at=lw.Pose((0.0, 0.0, 0.24)), range=(-1.2, 1.2),
                 max_speed=2.0, drive=Spec("actuator", "servo", params={"kp": 8.0, "kd": 0.4})),
        lw.Anchor("pupil", "skull", lw.Pose((0.10, 0.0, 0.0))),
    )  # fmt: skip


def scene() -> lw.Scene:
    made = lw.Scene("lookout").place(head())
    made.add(lw.Element("ground", (lw.Plane((4.0, 4.0)),)))
    for name, (x, y) in POSTS.items():
        post = lw.Cylinder(0.04, 0.36, at=lw.Pose((x, y, 0.18)))
        made.add(lw.Element(name, (post,), color="#e0a54a"))
    made.sensor("eye", "ray", on="head/pupil", range=2.0, period=0.01)
    return made.agent("sweep", "wave", joint="head/pan", amplitude=1.0, frequency=0.2)


def main() -> None:
    with lw.Session(scene()) as session:

        def seen(distance: float) -> None:
            if distance < 2.0:
                angle = math.degrees(session["head/pan.angle"])
                print(f"{session.time:5.2f} s: something at {distance:.2f} m, {angle:+.0f}°")

        # Called after each step in which the distance moved by more than 10 cm.
        session.on_change("eye.distance", seen, by=0.1)
        session.run(5.0)

        # The agent owns the joint's target. Setting it is refused until it is taken over.
        try:
            session["head/pan.target"] = 0.0
        except lw.LinkworkError as error:
            print(error)
        session.send(Take("head/pan.target"))
        session.step()
        session["head/pan.target"] = math.atan2(POSTS["far"][1], POSTS["far"][0])
        session.send(Release())
        session.step()
        print(f"owner of head/pan.target: {session.signals.owners.get('head/pan.target', 'nobody')}")


if __name__ == "__main__":
    main()
