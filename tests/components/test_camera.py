"""A camera's colours, depths and numbers are those that geometry says."""

import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from camera_room import BALL, EYE, RADIUS, A, rays, room, truth
from command_line import linkwork
from drawing.png import read_png
from linkwork.core.errors import FormatError, NameNotFound
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Mesh, Part
from linkwork.model.scene import Light, Scene
from linkwork.session.session import Session
from mesh_files import mesh_of, obj

HERE = np.array(EYE.xyz)


@pytest.mark.parametrize(("width", "height", "opening"), [(64, 48, 1.1), (33, 21, 0.5)])
def test_depth_and_segmentation_are_analytic(width: int, height: int, opening: float) -> None:
    """Each pixel's depth along the optical axis agrees to 1e-6; its element is right."""
    with Session(room(width=width, height=height, opening=opening)) as session:
        depth, names = truth(width, height, opening, HERE)
        found = session.image("eye", "depth")
        assert found.shape == (height, width)
        np.testing.assert_allclose(found, depth, atol=1e-6)
        seen = session.image("eye", "segmentation")
        table = np.array([*session.world.element_names, ""])
        assert np.array_equal(table[seen], names)


def test_colors_are_lambert_plus_ambient() -> None:
    """Under a sun at the zenith the floor shows 0.35 + 0.65·0.5 of its colour, a wall 0.35."""
    with Session(room()) as session:
        shown, seen = session.image("eye"), session.image("eye", "segmentation")
        names = session.world.element_names
        floor = np.unique(shown[seen == names.index("floor")], axis=0)
        assert floor.tolist() == [[round(0x80 * (0.35 + 0.65 * 0.5))] * 3]
        wall = np.unique(shown[seen == names.index("east")], axis=0)
        assert wall.tolist() == [[round(c * 0.35) for c in (0xC8, 0x3C, 0x28)]]
        assert np.unique(shown[seen < 0], axis=0).tolist() == [[0xBC, 0xD4, 0xEE]]


def test_a_ball_is_lit_where_it_faces_the_lamp() -> None:
    """On a sphere the shade follows the cosine between normal and lamp, pixel by pixel."""
    scene = room(width=96, height=72, opening=0.5)
    lamp = np.array([0.5, -1.0, 2.0])
    scene.lights[:] = [Light("lamp", "lamp", tuple(lamp), color="#ff8040", strength=0.9)]
    with Session(scene) as session:
        ball = session.image("eye", "segmentation") == session.world.element_names.index("ball")
        assert ball.sum() > 200
        points = HERE + session.image("eye", "depth")[ball, None] * rays(96, 72, 0.5)[ball]
        normals = (points - BALL) / RADIUS
        towards = (lamp - points) / np.linalg.norm(lamp - points, axis=1, keepdims=True)
        lit = np.maximum((normals * towards).sum(axis=1), 0.0)[:, None]
        shine = 0.9 * np.array([255, 128, 64]) / 255
        wanted = 255 * np.minimum(1.0, 0.35 + 0.65 * lit * shine)
        assert np.abs(session.image("eye")[ball] - wanted).max() <= 0.51


def test_near_and_far_bound_the_depth() -> None:
    """Nearer than ``near`` the depth is 0, beyond ``far`` inf; what is near keeps its colour."""
    with Session(room(near=2.5, far=3.5)) as session:
        depth, names = truth(64, 48, 1.1, HERE)
        found = session.image("eye", "depth")
        assert (found[depth < 2.5] == 0.0).all()
        assert np.isinf(found[depth > 3.5]).all()
        kept = (depth > 2.5) & (depth < 3.5)
        np.testing.assert_allclose(found[kept], depth[kept], atol=1e-6)
        seen = session.image("eye", "segmentation")
        assert (seen[depth > 3.5] == -1).all()
        assert session.world.element_names[seen[names == "ball"][0]] == "ball"


def test_depth_noise_has_its_deviation_and_is_repeated() -> None:
    """Noise is on the depth alone, white over the picture, and the same for the same picture."""
    with Session(room(noise=0.02)) as session, Session(room()) as clean:
        found, depth = session.image("eye", "depth"), clean.image("eye", "depth")
        seen = np.isfinite(depth)
        rest = found[seen] - depth[seen]
        assert rest.std() == pytest.approx(0.02, rel=0.08)
        assert np.array_equal(session.image("eye"), clean.image("eye"))
        session.step()
        session.step()
        assert not np.array_equal(session.image("eye", "depth"), found)
    with Session(room(noise=0.02)) as again:
        assert np.array_equal(again.image("eye", "depth"), found)


def test_a_picture_is_held_for_its_period() -> None:
    """The picture is of the instant at which it was due, however late somebody asks for it."""
    depth, _ = truth(64, 48, 1.1, HERE)
    with Session(room(period=0.1)) as session:
        session.step()
        first = session.image("eye", "depth")
        np.testing.assert_allclose(first, depth, atol=1e-6)
        session["cart/J.target"] = 0.5
        session.step(9)
        assert session["cart/J.position"] == pytest.approx(0.5)
        assert np.array_equal(session.image("eye", "depth"), first)
        session.step()
        assert session["eye.frame"] == 1.0
        moved = HERE + np.array([session["cart/J.position"], 0.0, 0.0])
        np.testing.assert_allclose(
            session.image("eye", "depth"), truth(64, 48, 1.1, moved)[0], atol=1e-6
        )


def test_what_is_hidden_is_not_in_the_picture() -> None:
    """An element whose ``visible`` is 0 is gone, and what is behind it is seen."""
    with Session(room()) as session:
        names = session.world.element_names
        ball = session.image("eye", "segmentation") == names.index("ball")
        session["ball.visible"] = 0.0
        session.step(2)
        seen = session.image("eye", "segmentation")
        assert not (seen == names.index("ball")).any()
        assert set(seen[ball]) <= {names.index("east"), names.index("floor")}
        session["ball.visible"] = 1.0
        session.step(2)
        assert np.array_equal(session.image("eye", "segmentation") == names.index("ball"), ball)


def test_a_mesh_is_seen_with_its_hollows(tmp_path: Path) -> None:
    """Through a frame of triangles, whose hull has no hole, the wall behind is seen."""
    ring = [(y * s, z * s) for s in (1.0, 0.5) for y, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    vertices = np.array([(x, *p) for x in (-0.05, 0.05) for p in ring])
    faces = []
    for k in range(4):
        nxt = (k + 1) % 4
        for a, b, c, d in (
            (k, nxt, nxt + 4, k + 4), (k + 8, nxt + 8, nxt + 12, k + 12),
            (k, nxt, nxt + 8, k + 8), (k + 4, nxt + 4, nxt + 12, k + 12),
        ):  # fmt: skip
            faces += [(a, b, c), (a, c, d)]
    (tmp_path / "frame.obj").write_bytes(obj(mesh_of(vertices, np.array(faces))))
    scene = Scene("frame").engine("kinematic")
    window = Mesh(file=str(tmp_path / "frame.obj"))
    scene.add(Element("frame", (window,), at=Pose((2.0, 0.0, 0.0))))
    scene.add(Element("wall", (Box((0.2, 9.0, 9.0)),), at=Pose((A + 0.1, 0.0, 0.0))))
    scene.add(Element("post", (Box((0.1, 0.1, 0.1)),)))
    scene.sensor("eye", "camera", on="post", width=31, height=31, opening=1.3)
    with Session(scene) as session:
        depth, seen = session.image("eye", "depth"), session.image("eye", "segmentation")
        names = session.world.element_names
        assert names[seen[15, 15]] == "wall"
        assert depth[15, 15] == pytest.approx(A, abs=1e-6)
        row = int(15 - 0.75 / (1.95 * 2.0 * math.tan(0.65) / 31))
        assert names[seen[row, 15]] == "frame"
        assert depth[row, 15] == pytest.approx(1.95, abs=1e-6)


PROGRAM = """
from linkwork import Control

class Watch(Control):
    def init(self):
        self.camera("eye").on_change(self.taken, reading="frame")

    def taken(self, frame):
        eye = self.camera("eye")
        ball = eye.segmentation() == eye.names.index("ball")
        self.log(f"{frame:g} {eye.colour().shape} {eye.depth()[ball].min():.4f}")
"""


@pytest.mark.capability(21)
def test_a_program_is_handed_the_pictures(tmp_path: Path) -> None:
    """A program is told of each new picture, and has it as arrays."""
    (tmp_path / "watch.py").write_text(PROGRAM)
    scene = room(period=0.05).agent("watch", "program", file=str(tmp_path / "watch.py"))
    with Session(scene, watch=False) as session:
        session.step(12)
        logged = [event.text for event in session.outbox.events if event.source == "watch"]
    nearest = truth(64, 48, 1.1, HERE)
    depth = nearest[0][nearest[1] == "ball"].min()
    assert logged == [f"{frame} (48, 64, 3) {depth:.4f}" for frame in (1, 2)]


@pytest.mark.capability(21)
def test_pictures_become_files_and_a_replay_writes_the_same(tmp_path: Path) -> None:
    """``run --images`` writes colour and depth of each frame, ``replay --images`` the same."""
    file, recording = tmp_path / "room.toml", tmp_path / "run.mcap"
    lw.save(room(period=0.1), file)
    first, again = tmp_path / "pictures", tmp_path / "again"
    words = ("--for", 0.35, "--images", first, "--record", recording, "--set", "cart/J.target=1")
    done = linkwork("run", file, *words)
    assert done.code == 0, done.err
    assert "Wrote 4 images" in done.out
    names = [f"eye_{n:06d}{end}" for n in range(4) for end in (".png", "_depth.png")]
    assert sorted(path.name for path in first.iterdir()) == names
    assert read_png(first / "eye_000000.png").shape == (48, 64, 3)
    done = linkwork("replay", recording, "--images", again)
    assert done.code == 0, done.err
    assert all((first / name).read_bytes() == (again / name).read_bytes() for name in names)
    assert linkwork("run", file, "--for", 0.1, "--images", first).code != 0  # it is not empty


@pytest.mark.capability(21)
def test_look_writes_one_picture(tmp_path: Path) -> None:
    """``linkwork look`` writes colour, depth or segmentation of a camera as PNG or numbers."""
    file = tmp_path / "room.toml"
    lw.save(room(), file)
    with Session(file, watch=False) as session:
        shown, depth = session.image("eye"), session.image("eye", "depth")
    assert linkwork("look", file, tmp_path / "eye.png").code == 0
    assert np.array_equal(read_png(tmp_path / "eye.png"), shown)
    assert (
        linkwork("look", file, tmp_path / "d.npy", "--what", "depth", "--sensor", "eye").code == 0
    )
    assert np.array_equal(np.load(tmp_path / "d.npy"), depth)
    done = linkwork("look", file, tmp_path / "s.png", "--what", "segmentation")
    assert " ball" in done.out
    wrong = linkwork("look", file, tmp_path / "no.png", "--sensor", "ear")
    assert wrong.code != 0
    assert "eye" in wrong.err


def test_mistakes_are_told() -> None:
    """Near beyond far, an array that is not there, a sensor that has none: each says so."""
    with pytest.raises(FormatError, match="near 2 m is not below far 1 m"):
        Session(room(near=2.0, far=1.0))
    scene = room().sensor("tilt", "inclinometer", on="cart/body")
    with Session(scene) as session:
        with pytest.raises(NameNotFound, match="has no array 'smell'"):
            session.image("eye", "smell")
        with pytest.raises(NameNotFound, match="numbers only"):
            session.image("tilt")
        with pytest.raises(NameNotFound, match="eye"):
            session.image("ear")


def test_the_carrier_is_not_in_the_picture() -> None:
    """The body that carries the camera does not block its view, other bodies do."""
    part = Part("box").add(Element("shell", (Box((1.0, 1.0, 1.0)),)))
    scene = Scene("inside").place(part).engine("kinematic")
    scene.sensor("eye", "camera", on="box/shell", width=4, height=4)
    with Session(scene) as session:
        assert np.isinf(session.image("eye", "depth")).all()
