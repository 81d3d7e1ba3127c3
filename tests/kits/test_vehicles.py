"""The cart and the crawler of Visum, section 6: they move by friction, explore, and replay."""

import math
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from floor_cells import CELL, footprint, free_cells

#: Where the cart's wheels stand, seen from the middle of its rear axle [m].
WHEELS = {
    "front_left": (0.22, 0.11),
    "front_right": (0.22, -0.11),
    "rear_left": (0.0, 0.11),
    "rear_right": (0.0, -0.11),
}
MINUTES = 2


def heading(session: lw.Session, element: str) -> float:
    """Which way an element points in the plane [rad]."""
    w, x, y, z = session.state.pose[session.world.body(element)][3:]
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@dataclass
class Watch:
    """What is seen of the cart while it explores, after each step.

    Attributes:
        touched: Pairs of elements that touched, the floor under the tyres left out.
        visited: Cells whose middle the cart has been over.
    """

    touched: set[tuple[str, str]] = field(default_factory=set)
    visited: set[tuple[int, int]] = field(default_factory=set)

    def look(self, session: lw.Session) -> None:
        names, report = session.world.element_names, session.state.report
        for row in report.contacts[: report.contact_count]:
            pair = sorted((names[int(row[2])], names[int(row[3])]))
            if not (pair[1] == "floor" and pair[0].endswith("/tyre")):
                self.touched.add((pair[0], pair[1]))
        if session.state.step % 5 == 0:
            at = session["cart.x"], session["cart.y"], heading(session, "cart/chassis")
            self.visited |= footprint(at, length=0.40, width=0.30)


@pytest.fixture(scope="module")
def exploration(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Watch]:
    """Two minutes of the kit's scene, recorded."""
    path = tmp_path_factory.mktemp("vehicles") / "explore.mcap"
    watch = Watch()
    with lw.Session("vehicles/explore", record=path) as session:
        session.after_step.append(lambda: watch.look(session))
        session.run(60.0 * MINUTES)
    return path, watch


@pytest.mark.capability(25)
def test_cart_explores_the_room_and_touches_nothing(exploration: tuple[Path, Watch]) -> None:
    """In 120 s it is over the middle of 60 % of all free cells of 0.25 m; only tyres touch."""
    watch = exploration[1]
    free = free_cells(lw.load_scene("vehicles/explore"), (-2.0, 2.0), (-1.5, 1.5))
    assert CELL == 0.25
    assert len(free) == 174
    assert watch.touched == set()
    assert watch.visited <= {(i, j) for i in range(16) for j in range(12)}
    assert len(free & watch.visited) >= 0.6 * len(free)


@pytest.mark.capability(25, 156)
def test_the_exploration_replays_bit_for_bit_in_a_new_process(
    exploration: tuple[Path, Watch],
) -> None:
    """``linkwork replay --verify`` simulates it again and finds every bit the same."""
    command = [sys.executable, "-m", "linkwork", "replay", str(exploration[0]), "--verify"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Bit-identical: 30000 steps; 120 hashes, 120 keyframes, 7500 snapshots" in done.stdout


@pytest.mark.capability(22)
def test_the_turret_measures_the_room() -> None:
    """Readings over a turn equal the distances to the walls of a 4 m by 3 m room.

    A cart that stands is at the origin; what stands in the room is taken out.
    """
    scene = lw.load_scene("vehicles/explore")
    scene.agents = []
    for name in ("partition", "crate", "pillar", "chest"):
        del scene.scenery[name]
    with lw.Session(scene) as session:
        session["eye/turn.target_speed"] = 2.0
        seen = 0.0
        for _ in range(200):
            session.run(0.016)
            # The reading was taken before the step in which the turret went on.
            turret = session["eye/turn.angle"] - session["eye/turn.speed"] * 0.004
            at = heading(session, "cart/chassis")
            x = session["cart.x"] + 0.10 * math.cos(at)
            y = session["cart.y"] + 0.10 * math.sin(at)
            c, s = math.cos(at + turret), math.sin(at + turret)
            wall_x = (math.copysign(2.0, c) - x) / c
            wall_y = (math.copysign(1.5, s) - y) / s
            assert session["eye/ray.distance"] == pytest.approx(min(wall_x, wall_y), abs=0.04)
            seen = max(seen, turret)
    assert seen > 2.0 * math.pi


def test_the_explorer_sets_its_wheels_its_steering_and_its_turret() -> None:
    """It owns the inputs of seven drives, and no more."""
    with lw.Session("vehicles/explore") as session:
        session.run(0.3)
        owned = {name for name, owner in session.signals.owners.items() if owner == "explore"}
    wheels = {f"cart/{name}/spin.target_speed" for name in WHEELS}
    steering = {"cart/left_steer.target", "cart/right_steer.target"}
    assert owned == wheels | steering | {"eye/turn.target_speed"}


@pytest.mark.capability(23)
@pytest.mark.parametrize("bend", [0.0, 1.0, -2.5])
def test_cart_turns_about_the_point_where_its_axles_meet(bend: float) -> None:
    """Steered by Ackermann's law it drives the circle of that curvature: κ to 4 %, way to 3 %."""
    scene = lw.Scene("yard", step=0.004).add(lw.Element("ground", (lw.Plane(),)))
    scene.place(lw.load_part("vehicles/cart"), base="free")
    speed, duration = 0.4, 4.0
    with lw.Session(scene) as session:
        for name, (x, y) in WHEELS.items():
            ahead, aside = 1.0 - bend * y, bend * x
            session[f"cart/{name}/spin.target_speed"] = speed * math.hypot(ahead, aside) / 0.05
            if name.startswith("front"):
                session[f"cart/{name[6:]}_steer.target"] = math.atan2(aside, ahead)
        session.run(1.0)
        before, turned, way = rear_axle(session), 0.0, 0.0
        for _ in range(round(duration / 0.02)):
            session.run(0.02)
            now = rear_axle(session)
            way += math.hypot(now[0] - before[0], now[1] - before[1])
            turned += math.remainder(now[2] - before[2], 2.0 * math.pi)
            before = now
    assert way == pytest.approx(speed * duration, rel=0.03)
    assert turned / way == pytest.approx(bend, rel=0.04, abs=1e-4)


def rear_axle(session: lw.Session) -> tuple[float, float, float]:
    """Middle of the cart's rear axle, and its heading [m, rad]."""
    at = heading(session, "cart/chassis")
    return session["cart.x"] - 0.11 * math.cos(at), session["cart.y"] - 0.11 * math.sin(at), at


@pytest.mark.capability(23)
def test_cart_drives_figure_eights_by_its_own_reckoning() -> None:
    """Two rounds stay within 6 cm of x = 1.1 sin u, y = 0.425 sin 2u, and reach both ends."""
    u = np.linspace(0.0, 2.0 * math.pi, 2000)
    curve = np.stack([1.1 * np.sin(u), 0.425 * np.sin(2.0 * u)], axis=1)
    positions = []
    with lw.Session("vehicles/eight") as session:
        while session.time < 26.0:
            session.run(0.1)
            positions.append((session["cart.x"], session["cart.y"]))
            assert session["cart/bump.touching"] == 0.0
    away = np.linalg.norm(np.array(positions)[:, None] - curve, axis=2).min(axis=1)
    assert away.max() < 0.06
    xs = np.array(positions)[:, 0]
    assert xs.max() > 1.0
    assert xs.min() < -1.0
    assert np.count_nonzero((xs[:-1] < 0.0) & (xs[1:] >= 0.0)) >= 2


@pytest.mark.capability(24)
def test_crawler_pulls_itself_forward_and_replays(tmp_path: Path) -> None:
    """At least 0.3 m in 20 s, straight ahead; the recording comes out the same, bit for bit."""
    with lw.Session("vehicles/crawl", record=tmp_path / "crawl.mcap") as session:
        driven = {n for n, owner in session.signals.owners.items() if owner == "crawl"}
        session.run(20.0)
        driven |= {n for n, owner in session.signals.owners.items() if owner == "crawl"}
        assert session["crawler.x"] > 0.3
        assert abs(session["crawler.y"]) < 0.01
    assert driven == {f"crawler/{joint}.target" for joint in ("shoulder", "elbow", "wrist")}
    assert lw.replay(tmp_path / "crawl.mcap").same


@pytest.mark.capability(18, 24)
def test_only_friction_moves_the_crawler() -> None:
    """The same strokes with a tip that has no friction lead nowhere, and so on a floor of ice."""
    for smooth in ("crawler/tip", "ground"):
        with lw.Session("vehicles/crawl") as session:
            session[f"{smooth}.friction"] = 0.0
            session.run(6.0)
            assert abs(session["crawler.x"]) < 0.02


@pytest.mark.capability(23, 24)
def test_both_robots_in_one_scene(tmp_path: Path) -> None:
    """000, fig. 3: a cart and a crawler, each by its own program; both replay bit for bit."""
    with lw.Session("vehicles/together", record=tmp_path / "together.mcap") as session:
        start = session["cart.x"], session["crawler.x"]
        way, before = 0.0, (session["cart.x"], session["cart.y"])
        for _ in range(80):
            session.run(0.1)
            now = session["cart.x"], session["cart.y"]
            way += math.hypot(now[0] - before[0], now[1] - before[1])
            before = now
        assert way == pytest.approx(0.5 * 8.0, rel=0.05)
        assert session["crawler.x"] - start[1] > 0.25
        assert {"eight", "crawl"} <= set(session.signals.owners.values())
    assert lw.replay(tmp_path / "together.mcap").same
