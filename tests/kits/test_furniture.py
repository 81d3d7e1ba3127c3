"""The furniture of the kit: sizes, anchors that fit, and a room that stays as it is."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.parts import Box, find_kits
from linkwork.session.session import Session


def test_the_shelf_has_five_boards_and_is_one_metre_high() -> None:
    """As in the study of the RoboTiX thesis: boards evenly spread over 1 m, an anchor on each."""
    library = lw.load_part("furniture/shelf")
    boxes = [s for s in library.elements["frame"].shapes if isinstance(s, Box)]
    boards = [s for s in boxes if s.size[2] == 0.02]
    assert len(boards) == 5
    assert max(s.at.xyz[2] + s.size[2] / 2 for s in boxes) == pytest.approx(1.0)
    tops = [library.anchors[f"board{n}"].at.xyz[2] for n in range(1, 6)]
    np.testing.assert_allclose(tops, [s.at.xyz[2] + 0.01 for s in boards])
    np.testing.assert_allclose(np.diff(tops), 0.245)


def test_things_stand_on_anchors() -> None:
    """A book on the table's anchor stands on the board; an arm on it has the board before it."""
    scene = lw.Scene("s").place(lw.load_part("furniture/table"), name="table")
    scene.place(lw.load_part("furniture/book"), name="book", on="table/top", base="free")
    scene.place(lw.load_part("kuka/arm"), name="arm", on="table/left")
    with Session(scene, watch=False) as session:
        session.run(1.0)
        assert session["book.z"] == pytest.approx(0.74, abs=1e-3)
        assert abs(session["book.rx"]) + abs(session["book.ry"]) < 1e-3


def test_four_corners_and_walls_close_a_room() -> None:
    """Joined at their ends, four walls of 2 m and four corners come back to where they began."""
    scene = lw.Scene("s")
    last = ""
    for n in range(4):
        wall, corner = f"wall{n}", f"corner{n}"
        on, by = (f"{last}/end", "start") if last else ("", "")
        scene.place(lw.load_part("furniture/wall"), name=wall, on=on, by=by)
        scene.place(lw.load_part("furniture/corner"), name=corner, on=f"{wall}/end", by="start")
        last = corner
    world = lw.compile_scene(scene)
    poses = lw.forward(world, world.q0)

    def place(name: str) -> lw.Pose:
        body, local = world.frame(name)
        row = poses[body].tolist()
        return lw.Pose.of(row[:3], quat=row[3:]) @ local

    first, end = place("wall0/start"), place("corner3/end")
    np.testing.assert_allclose(end.matrix(), first.matrix(), atol=1e-12)
    np.testing.assert_allclose(end.xyz, first.xyz, atol=1e-12)
    np.testing.assert_allclose(place("corner1/wall").xyz, (2, 4, 0), atol=1e-12)


def test_the_room_stays_as_it_is() -> None:
    """For 3 s nothing sinks, slides or falls, and the door stays where it was put."""
    with Session("furniture/room", watch=False) as session:
        assert not session.cycle.findings
        movable = [n for n, p in session.world.scene.parts.items() if p.base == "free"]
        before = {n: [session[f"{n}.{c}"] for c in "xyz"] for n in movable}
        session.run(3.0)
        for name in movable:
            after = [session[f"{name}.{c}"] for c in "xyz"]
            np.testing.assert_allclose(after, before[name], atol=2e-3)
        assert session["west/hinge.angle"] == pytest.approx(math.radians(50), abs=1e-3)


def test_every_piece_can_be_loose() -> None:
    """Each part has mass, so that it can also be moved, and stands on z = 0 or below."""
    for name in find_kits()["furniture"].parts():
        part = lw.load_part(name)
        assert all((e.mass or 0.0) > 0.0 for e in part.elements.values())
        assert part.anchors or name == "furniture/book"
