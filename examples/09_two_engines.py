"""Two engines in one world: boxes with contact dynamics ride on a platform that is only moved.

The platform goes where its target says, without masses or forces (kinematic); the boxes obey
gravity and friction (mujoco) and feel the platform's motion.

python examples/09_two_engines.py
"""

import linkwork as lw

TOP = 0.26  # of the platform [m]
BOXES = {"left": -0.12, "right": 0.12}  # where they stand [m]


def lift() -> lw.Part:
    """A platform that slides along x and up and down: two sliders in a chain."""
    foot = lw.Box((0.9, 0.20, 0.06), at=lw.Pose((0.0, 0.0, 0.03)))
    column = lw.Box((0.05, 0.05, 0.18), at=lw.Pose((0.0, 0.0, -0.10)))
    return lw.Part("lift").add(
        lw.Element("foot", (foot,), mass=20.0, color="#5b6672"),
        lw.Element("deck", (lw.Box((0.5, 0.34, 0.02)), column), mass=5.0, color="#c9b79c"),
        lw.Joint("along", "slider", "foot", "rise", axis=(1, 0, 0), range=(-0.3, 0.3)),
        lw.Joint(
            "rise", "slider", "along", "deck", at=lw.Pose((0.0, 0.0, TOP - 0.01)), axis=(0, 0, 1),
            range=(-0.05, 0.10),
        ),
    )  # fmt: skip


def scene() -> lw.Scene:
    made = lw.Scene("ride").add(lw.Element("ground", (lw.Plane((4.0, 4.0)),))).place(lift())
    for name, x in BOXES.items():
        box = lw.Part("box").add(
            lw.Element("box", (lw.Box((0.10, 0.10, 0.10)),), density=400.0, color="#e0a54a")
        )
        made.place(box, name=name, at=lw.Pose((x, 0.0, TOP + 0.0501)), base="free")
    made.engine("kinematic", owns=["lift"]).engine("mujoco")  # the second takes what is left
    made.agent("along", "wave", joint="lift/along", amplitude=0.2, frequency=0.4, ramp=2.0)
    return made.agent("rise", "wave", joint="lift/rise", amplitude=0.04, frequency=0.8, ramp=2.0)


def main() -> None:
    with lw.Session(scene()) as session:
        slipped = 0.0
        print("    time   deck    left   right   (x, m)")
        for _ in range(8):
            session.run(1.0)
            deck = session["lift/along.position"]
            positions = [session[f"{name}.x"] for name in BOXES]
            print(f"{session.time:6.1f} s {deck:+.3f}  {positions[0]:+.3f}  {positions[1]:+.3f}")
            for place, start in zip(positions, BOXES.values(), strict=True):
                slipped = max(slipped, abs(place - deck - start))
        print(f"The boxes rode along and slipped by {slipped * 1000:.2f} mm at most.")


if __name__ == "__main__":
    main()
