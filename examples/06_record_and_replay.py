"""Record a run with hundreds of contacts, and replay it bit for bit.

A ball rolls into a row of dominoes; in mid-run gravity is halved by hand. The recording holds the
scene, the first state and what came in from outside, so that it can be simulated again.

python examples/06_record_and_replay.py
"""

import math

import linkwork as lw

COUNT, STEP = 14, 0.05  # dominoes and their distance [m]
SIZE = (0.012, 0.05, 0.10)  # of each [m]


def place(number: int) -> lw.Pose:
    """Where a domino stands: along an arc."""
    turn = number * 0.13
    radius = STEP / 0.13
    return lw.Pose.of(
        (radius * math.sin(turn), radius * (1.0 - math.cos(turn)), SIZE[2] / 2.0),
        rpy=(0.0, 0.0, turn),
    )


def scene() -> lw.Scene:
    made = lw.Scene("dominoes").add(lw.Element("ground", (lw.Plane((4.0, 4.0)),)))
    for number in range(COUNT):
        color = "#d8dde6" if number % 2 else "#7f8994"
        domino = lw.Part("domino").add(
            lw.Element("tile", (lw.Box(SIZE),), mass=0.04, friction=0.4, color=color)
        )
        made.place(domino, name=f"domino{number + 1}", at=place(number), base="free")
    ball = lw.Part("ball").add(
        lw.Element("ball", (lw.Sphere(0.03),), mass=0.1, color="#e0a54a", velocity=(1.2, 0.0, 0.0))
    )
    return made.place(ball, at=lw.Pose((-0.15, 0.0, 0.0301)), base="free")


def main() -> None:
    with lw.Session(scene(), record="dominoes.mcap", overwrite=True) as session:
        session.run(0.6)
        session["world.gravity_z"] = -4.9  # goes in through the inbox, and so into the recording
        session.run(1.4)
        fallen = sum(session[f"domino{n}.z"] < 0.04 for n in range(1, COUNT + 1))
        state = session.state.hash()
        print(f"{fallen} of {COUNT} dominoes lie. State {state}.")

    heights: list[float] = []
    result = lw.replay("dominoes.mcap", watch=lambda again: heights.append(again["domino7.z"]))
    print(f"Replayed {result.steps} steps; bit-identical: {result.same}.")
    falls = next(step for step, height in enumerate(heights) if height < 0.04)
    print(f"Seen on the way: domino 7 fell at {falls * 0.002:.3f} s.")


if __name__ == "__main__":
    main()
