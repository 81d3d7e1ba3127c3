"""A cart explores a room by one distance sensor; where it has been is drawn as text.

The scene and its program are the kit's (vehicles/explore). The program reckons where it is from
its wheels and draws a map of its own; the map here is drawn from where the cart really is.

python examples/15_explore.py [seconds]
"""

import math
import sys

import linkwork as lw

CELL = 0.25  # of the map [m]
WEST, SOUTH, COLUMNS, ROWS = -2.0, -1.5, 16, 12  # of the room


def heading(session: lw.Session) -> float:
    """Which way the cart points [rad]."""
    w, _, _, z = session.state.pose[session.world.body("cart/chassis")][3:]
    return 2.0 * math.atan2(z, w)


def under(x: float, y: float, turn: float) -> set[tuple[int, int]]:
    """Cells whose middle is under the cart, 0.40 m by 0.30 m."""
    found = set()
    for i in range(COLUMNS):
        for j in range(ROWS):
            dx, dy = WEST + (i + 0.5) * CELL - x, SOUTH + (j + 0.5) * CELL - y
            ahead = dx * math.cos(turn) + dy * math.sin(turn)
            aside = dy * math.cos(turn) - dx * math.sin(turn)
            if abs(ahead) < 0.20 and abs(aside) < 0.15:
                found.add((i, j))
    return found


def main(seconds: float = 20.0) -> None:
    visited: set[tuple[int, int]] = set()
    nearest, touched = math.inf, False
    with lw.Session("vehicles/explore") as session:
        while session.time < seconds:
            session.step(10)
            visited |= under(session["cart.x"], session["cart.y"], heading(session))
            nearest = min(nearest, session["eye/ray.distance"])
            touched = touched or session["cart/bump.touching"] > 0.0
    for j in reversed(range(ROWS)):
        print("  " + "".join(" ■" if (i, j) in visited else " ·" for i in range(COLUMNS)))
    print(f"{len(visited)} of {COLUMNS * ROWS} cells in {seconds:.0f} s; nearest {nearest:.2f} m.")
    print(f"Touched anything: {touched}.")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
