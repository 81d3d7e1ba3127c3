"""Mechanisms with loops: how straight are two famous straight lines, and how closed are the loops?

The kit's scenes run on exact joints, and two of them once more on MuJoCo, whose loops are springs.

python examples/17_mechanisms.py
"""

import linkwork as lw

#: Each pen, and the joint within whose angles its stroke counts [rad]: Watt's goes round an eight.
LINES = {
    "watt": ("linkage/pen", "linkage/left_pivot", 0.25),
    "peaucellier": ("cell/pen", "cell/shaft", 0.6),
}
SECONDS = 4.0


def place(session: lw.Session, anchor: str) -> tuple[float, ...]:
    """Where an anchor is, in the world [m]."""
    body, frame = session.world.frame(anchor)
    row = session.state.pose[body].tolist()
    return (lw.Pose.of(row[:3], quat=row[3:]) @ frame).xyz


def straightness(name: str) -> tuple[float, float]:
    """Length of the pen's stroke, and how far it leaves a straight line meanwhile [m]."""
    pen, joint, most = LINES[name]
    across, along = [], []
    with lw.Session(f"mechanisms/{name}") as session:
        while session.time < SECONDS:
            session.step(5)
            if abs(session[f"{joint}.angle"]) < most:
                x, _, z = place(session, pen)
                across.append(x)
                along.append(z)
    return max(along) - min(along), max(across) - min(across)


def widest_gap(name: str, engine: str) -> float:
    """How far a loop was open at most, in two seconds [m]."""
    scene = lw.load_scene(f"mechanisms/{name}")
    if engine != "impulse":
        scene.engines.clear()
        scene.engine(engine)
    gaps: list[float] = []
    with lw.Session(scene) as session:
        session.after_step.append(lambda: gaps.append(session["world.gap"]))
        session.run(2.0)
    return max(gaps)


def main() -> None:
    for name in LINES:
        stroke, off = straightness(name)
        print(f"{name:>12}: {100 * stroke:.0f} cm, off a straight line by {off:.1e} m")
    for name in ("four_bar", "jansen"):
        ours, theirs = widest_gap(name, "impulse"), widest_gap(name, "mujoco")
        print(f"{name:>12}: loops open by {ours:.0e} m on impulse, by {theirs:.0e} m on mujoco")

    # The middle of a shaft with universal joints hurries and lags; its end turns as its beginning.
    with lw.Session("mechanisms/universal_shaft") as session:
        session.run(3.0)
        ahead = session["shaft/load.angle"] - session["shaft/shaft.angle"]
        print(f"       shaft: after {session['shaft/shaft.angle']:.1f} rad its ends differ by "
              f"{abs(ahead):.0e} rad")  # fmt: skip


if __name__ == "__main__":
    main()
