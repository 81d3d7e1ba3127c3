"""How level the tripod keeps its tray while the floor tilts by 10 degrees, measured.

python examples/04_tripod_level.py [seconds]
"""

import math
import sys

import linkwork as lw

START = 5.0  # the floor begins to tilt in this time; not measured [s]


def tilt(session: lw.Session, sensor: str) -> float:
    """Angle between the sensor's upward direction and the vertical [rad]."""
    x, y = session[f"{sensor}.x"], session[f"{sensor}.y"]
    return math.atan(math.hypot(math.tan(x), math.tan(y)))


def main(seconds: float = 15.0) -> None:
    scene = lw.load_scene("tripod/level")
    # A second inclinometer, on the floor this time, to compare with the tray's.
    scene.sensor("floor", "inclinometer", on="table/plate")
    worst = steepest = 0.0
    with lw.Session(scene) as session:
        session.run(START)
        while session.time < START + seconds:
            session.step(5)
            worst = max(worst, tilt(session, "tripod/platform/tilt"))
            steepest = max(steepest, tilt(session, "floor"))
    print(f"Floor: up to {math.degrees(steepest):.2f}° at 0.2 Hz, for {seconds:.0f} s.")
    print(f"Tray: within {math.degrees(worst):.2f}° of level.")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
