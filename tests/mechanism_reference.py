"""Closed forms of the kit's mechanisms, and poses from a session."""

import math

import numpy as np

import linkwork as lw
from linkwork.geometry import Pose

#: All scenes of the kit.
SCENES = (
    "double_pendulum", "four_bar", "slider_crank", "jansen", "watt", "peaucellier", "pantograph",
    "universal_shaft", "screw_jack", "hexapod", "agile_eye", "delta", "ring", "chain",
)  # fmt: skip
#: Theo Jansen's proportions.
JANSEN = {
    "a": 38.0, "b": 41.5, "c": 39.3, "d": 40.1, "e": 55.8, "f": 39.4, "g": 36.7, "h": 65.7,
    "i": 49.0, "j": 50.0, "k": 61.9, "l": 7.8, "m": 15.0,
}  # fmt: skip


def pose(session: lw.Session, name: str) -> Pose:
    """Returns the pose of an element or anchor in the world."""
    body, frame = session.world.frame(name)
    row = session.state.pose[body].tolist()
    return Pose.of(row[:3], quat=row[3:]) @ frame


def place(session: lw.Session, name: str) -> np.ndarray:
    """Returns the position of an element or anchor in the world [m]."""
    return np.array(pose(session, name).xyz)


def turn(session: lw.Session, name: str) -> np.ndarray:
    """Returns the rotation of an element or anchor in the world (3×3)."""
    w, x, y, z = pose(session, name).quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def along(angle: float, length: float = 1.0) -> np.ndarray:
    """Returns a vector in the plane of x and z."""
    return length * np.array([math.cos(angle), math.sin(angle)])


def intersect(p: np.ndarray, a: float, q: np.ndarray, b: float, side: int) -> np.ndarray:
    """Returns the point at ``a`` from p and ``b`` from q, left (+1) or right (−1) of the line."""
    way = q - p
    far = float(np.hypot(*way))
    x = (a * a - b * b + far * far) / (2.0 * far)
    y = side * math.sqrt(a * a - x * x)
    return p + (x * way + y * np.array([-way[1], way[0]])) / far


def coupler_point(crank: float) -> np.ndarray:
    """Returns the pen of the four-bar, relative to the crank's axle [m]."""
    pin, pivot = along(crank, 0.10), np.array([0.30, 0.0])
    knee = intersect(pin, 0.30, pivot, 0.25, +1)
    first = (knee - pin) / 0.30
    return pin + 0.16 * first + 0.12 * np.array([-first[1], first[0]])


def jansen_foot(crank: float, unit: float = 0.004) -> np.ndarray:
    """Returns the foot of Jansen's linkage, relative to the crank's axle [m]."""
    n = {name: unit * length for name, length in JANSEN.items()}
    pin, pivot = along(crank, n["m"]), np.array([-n["a"], -n["l"]])
    top = intersect(pivot, n["b"], pin, n["j"], +1)
    knee = intersect(pivot, n["c"], pin, n["k"], -1)
    hip = intersect(pivot, n["d"], top, n["e"], +1)
    shank = intersect(hip, n["f"], knee, n["g"], -1)
    return intersect(shank, n["h"], knee, n["i"], -1)


def from_watts_curve(point: np.ndarray, rocker: float, half: float, apart: float) -> float:
    """Distance of a point from Watt's sextic, to first order [m].

    ρ (ρ − d² − r² + c²)² + 4 d² y² (ρ − r²) = 0 with ρ = x² + y², of rockers r about (±d, 0) and a
    coupler of length 2 c.
    """

    def sextic(x: float, y: float) -> float:
        rho = x * x + y * y
        return rho * (rho - apart**2 - rocker**2 + half**2) ** 2 + 4.0 * apart**2 * y * y * (
            rho - rocker**2
        )

    x, y = point
    step = 1e-6
    slope = np.array(
        [
            (sextic(x + step, y) - sextic(x - step, y)) / (2.0 * step),
            (sextic(x, y + step) - sextic(x, y - step)) / (2.0 * step),
        ]
    )
    return abs(sextic(x, y)) / float(np.hypot(*slope))


def three_spheres(centers: np.ndarray, radius: float) -> np.ndarray:
    """Returns the lower intersection of spheres of ``radius`` about three centers (3×3) [m]."""
    a, b, c = centers
    e1 = (b - a) / np.linalg.norm(b - a)
    e2 = c - a - ((c - a) @ e1) * e1
    e2 /= np.linalg.norm(e2)
    e3 = np.cross(e1, e2)
    d, i, j = (b - a) @ e1, (c - a) @ e1, (c - a) @ e2
    x, y = d / 2.0, (i * i + j * j - i * d) / (2.0 * j)
    z = math.sqrt(radius**2 - x * x - y * y)
    both = [a + x * e1 + y * e2 + s * z * e3 for s in (1.0, -1.0)]
    return min(both, key=lambda point: point[2])
