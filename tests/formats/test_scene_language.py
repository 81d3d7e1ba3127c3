"""Scenes in files and in Python, initial motion, suggestions for typos."""

import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Inertia
from linkwork.model.parts.spec import Spec
from linkwork.model.scene import CollisionRules, Light, Viewpoint
from linkwork.session.session import Session

PART = """\
format = "linkwork/part 1"
name = "toy"
title = "A swing on a slider"
labels = { en = "toy", de = "Spielzeug" }

[[element]]
name = "base"
shapes = [
  { box = { size_mm = [200, 100, 50] }, texture = "wood.png", texture_repeat = [4, 2] },
  { sphere = { radius = 0.02 }, at = { xyz = [0, 0, 0.1] }, color = "#aa3311", collide = false },
]
mass = 2
friction = 0.4
restitution = 0.3
color = "#c9b08c"
group = "toys"

[[element]]
name = "cart"
shape = { cylinder = { radius = 0.03, length = 0.1 } }
density = 700

[[element]]
name = "arm"
shape = { capsule = { radius = 0.01, length = 0.2 }, at = { xyz = [0, 0, -0.1] } }
mass_g = 300
inertia = [0.002, 0.002, 0.0001]
com = [0, 0, -0.1]

[[joint]]
name = "slide"
type = "slider"
from = "base"
to = "cart"
at = { xyz = [0, 0, 0.05] }
axis = [1, 0, 0]
range_mm = [-80, 80]
value_mm = 10
speed_mm = 200

[[joint]]
name = "swing"
type = "hinge"
from = "cart"
to = "arm"
axis = [0, 1, 0]
range_deg = [-180, 180]
value_deg = 20
speed_deg = 90
damping = 0.001
max_effort = 2
drive = { type = "servo", kp = 5, kd = 0.1 }

[[anchor]]
name = "tip"
on = "arm"
at = { xyz = [0, 0, -0.2], rpy_deg = [180, 0, 0] }
fits = "tool"
"""

SCENE = """\
format = "linkwork/scene 1"
name = "all"
title = "Everything that a scene says for itself"
background = "#dde6ee"
gravity = [0, 0, -3.7]
step_ms = 1
seed = 5
start = "begin"

[[part]]
name = "toy"
part = "./toy.toml"
at = { xyz = [0, 0, 0.5], rpy_deg = [0, 0, 90] }

[[part]]
name = "loose"
part = "./toy.toml"
at = { xyz = [1, 0, 0.6] }
base = "free"

[[element]]
name = "ground"
shape = { plane = { size = [6, 6] } }
friction = 1
group = "floors"

[[element]]
name = "bump"
on = "ground"
at = { xyz = [2, 0, 0] }
shape = { cone = { radius = 0.3, length = 0.2, top_radius = 0.1 } }
velocity = [0, 0, 0]

[[sensor]]
name = "tilt"
type = "inclinometer"
on = "loose/base"

[[agent]]
name = "sway"
type = "wave"
joint = "toy/swing"
amplitude_deg = 10

[[posture]]
name = "begin"
joints_deg = { "toy/swing" = 15 }
joints_mm = { "toy/slide" = -20 }

[[light]]
name = "noon"
kind = "sun"
xyz = [1, -1, 4]
color = "#fff4e0"
strength = 0.8
shadows = false

[[light]]
name = "desk"
kind = "lamp"
xyz = [0, 1, 2]

[[viewpoint]]
name = "side"
xyz = [0, -2, 1]
look_at = [0, 0, 0.4]
opening_deg = 40

[collide]
never = [["toys", "bump"]]
joined = true
"""


def files(folder: Path) -> Path:
    """Writes the scene as files."""
    (folder / "wood.png").write_bytes(b"no real image")
    (folder / "toy.toml").write_text(PART)
    (folder / "all.toml").write_text(SCENE)
    return folder / "all.toml"


def in_python(folder: Path) -> lw.Scene:
    """Returns the same scene, with the same names."""
    deg = math.pi / 180.0
    toy = lw.Part("toy", title="A swing on a slider", labels={"en": "toy", "de": "Spielzeug"})
    wood = str(folder / "wood.png")
    box = lw.Box((0.2, 0.1, 0.05), texture=wood, texture_repeat=(4.0, 2.0))
    ball = lw.Sphere(0.02, at=lw.Pose((0.0, 0.0, 0.1)), color="#aa3311", collide=False)
    toy.add(
        lw.Element("base", (box, ball), mass=2.0, friction=0.4, restitution=0.3, color="#c9b08c",
                   group="toys"),
        lw.Element("cart", (lw.Cylinder(0.03, 0.1),), density=700.0),
        lw.Element("arm", (lw.Capsule(0.01, 0.2, at=lw.Pose((0.0, 0.0, -0.1))),),
                   inertia=Inertia.of(0.3, (0.0, 0.0, -0.1), np.diag([0.002, 0.002, 0.0001]))),
        lw.Joint("slide", "slider", "base", "cart", at=lw.Pose((0.0, 0.0, 0.05)),
                 axis=(1.0, 0.0, 0.0), range=(-80 * 1e-3, 80 * 1e-3), value=10 * 1e-3,
                 speed=200 * 1e-3),
        lw.Joint("swing", "hinge", "cart", "arm", axis=(0.0, 1.0, 0.0),
                 range=(-180 * deg, 180 * deg), value=20 * deg, speed=90 * deg, damping=0.001,
                 max_effort=2.0, drive=Spec("actuator", "servo", "", {"kp": 5, "kd": 0.1})),
        lw.Anchor("tip", "arm", lw.Pose.of((0.0, 0.0, -0.2), rpy=(math.pi, 0.0, 0.0)), "tool"),
    )  # fmt: skip
    scene = lw.Scene(
        "all", title="Everything that a scene says for itself", background="#dde6ee",
        gravity=(0.0, 0.0, -3.7), step=1 * 1e-3, seed=5, start="begin",
    )  # fmt: skip
    turned = lw.Pose.of((0.0, 0.0, 0.5), rpy=(0.0, 0.0, 90 * deg))
    scene.place(toy, name="toy", at=turned)
    scene.place(toy, name="loose", at=lw.Pose((1.0, 0.0, 0.6)), base="free")
    scene.add(
        lw.Element("ground", (lw.Plane((6.0, 6.0)),), friction=1.0, group="floors"),
        lw.Element("bump", (lw.Cone(0.3, 0.2, 0.1),), on="ground", at=lw.Pose((2.0, 0.0, 0.0))),
    )
    scene.sensor("tilt", "inclinometer", on="loose/base")
    scene.agent("sway", "wave", joint="toy/swing", amplitude=10 * deg)
    scene.postures["begin"] = {"toy/swing": 15 * deg, "toy/slide": -20 * 1e-3}
    scene.lights += [
        Light("noon", "sun", (1.0, -1.0, 4.0), color="#fff4e0", strength=0.8, shadows=False),
        Light("desk", "lamp", (0.0, 1.0, 2.0)),
    ]
    scene.viewpoints.append(Viewpoint("side", (0.0, -2.0, 1.0), (0.0, 0.0, 0.4), 40 * deg))
    scene.collide = CollisionRules(never=(("toys", "bump"),), joined=True)
    return scene


@pytest.mark.capability(7, 8)
def test_a_file_and_python_make_the_same_scene(tmp_path: Path) -> None:
    """Equal as data, as worlds, after a run, and after saving and reading."""
    read, made = lw.load_scene(files(tmp_path)), in_python(tmp_path)
    assert read == made
    one, other = lw.compile_scene(read), lw.compile_scene(made)
    assert one.body_names == other.body_names
    assert one.joint_names == other.joint_names
    for field in ("q0", "v0", "mass", "com", "inertia", "dof_lo", "dof_hi", "x0"):
        assert np.array_equal(getattr(one, field), getattr(other, field)), field
    hashes = []
    for scene in (read, made):
        with Session(scene, watch=False) as session:
            session.run(0.3)
            hashes.append(session.state.hash())
    assert hashes[0] == hashes[1]
    lw.save(made, tmp_path / "again.toml")
    assert lw.load_scene(tmp_path / "again.toml") == made


@pytest.mark.capability(9)
def test_joints_start_with_their_speeds(tmp_path: Path) -> None:
    """Without gravity and drives a slider and a centered hinge keep their speeds."""
    part = lw.Part("p").add(
        lw.Element("base", (lw.Box((0.1, 0.1, 0.1)),), mass=1.0),
        lw.Element("cart", (lw.Box((0.1, 0.1, 0.1), collide=False),), mass=1.0),
        lw.Element("wheel", (lw.Cylinder(0.1, 0.02, collide=False),), mass=1.0),
        lw.Joint("slide", "slider", "base", "cart", axis=(1.0, 0.0, 0.0), speed=0.5),
        lw.Joint("turn", "hinge", "cart", "wheel", axis=(0.0, 0.0, 1.0), value=0.1, speed=-2.0),
    )
    scene = lw.Scene("s", gravity=(0.0, 0.0, 0.0)).place(part, name="p")
    with Session(scene, watch=False) as session:
        session.run(1.0)
        assert session["p/slide.position"] == pytest.approx(0.5, abs=1e-9)
        assert session["p/turn.angle"] == pytest.approx(0.1 - 2.0, abs=1e-9)


@pytest.mark.parametrize("type", ["universal", "planar", "ball", "cylindrical"])
def test_joints_of_several_freedoms_have_several_speeds(type: str) -> None:
    """One number for each degree of freedom, in order; another count is rejected."""
    part = lw.Part("p").add(
        lw.Element("a", (lw.Box((0.1, 0.1, 0.1)),), mass=1.0),
        lw.Element("b", (lw.Box((0.1, 0.1, 0.1)),), mass=1.0),
    )
    count = {"universal": 2, "cylindrical": 2}.get(type, 3)
    speeds = tuple(0.1 * (n + 1) for n in range(count))
    part.add(lw.Joint("j", type, "a", "b", axis2=(1.0, 0.0, 0.0), speed=speeds))
    world = lw.compile_scene(lw.Scene("s").place(part))
    assert world.v0.tolist() == list(speeds)
    with pytest.raises(LinkworkError, match=f"speed needs {count} finite numbers"):
        lw.Joint("j", type, "a", "b", speed=(1.0,) * 5)
    with pytest.raises(LinkworkError, match="velocity and spin"):
        lw.Joint("j", "free", "a", "b", speed=(1.0,) * 6)


@pytest.mark.capability(18, 98)
def test_balls_bounce_on_the_floors_that_are_chosen() -> None:
    """A ball rebounds to e²·h from one floor, and passes through an excluded one."""
    height, e = 0.5, 0.8
    ball = lw.Part("ball").add(
        lw.Element("ball", (lw.Sphere(0.05),), mass=0.1, restitution=e, group="balls")
    )
    scene = lw.Scene("s", step=0.0005)
    scene.add(
        lw.Element("lawn", (lw.Box((1.0, 1.0, 0.1), at=lw.Pose((0.0, 0.0, -0.05))),),
                   restitution=e, group="floors"),
        lw.Element("net", (lw.Box((1.0, 1.0, 0.01), at=lw.Pose((0.0, 0.0, 0.3))),)),
    )  # fmt: skip
    scene.collide = CollisionRules(never=(("balls", "net"),))
    scene.place(ball, name="ball", at=lw.Pose((0.0, 0.0, 0.05 + height)), base="free")
    with Session(scene, watch=False) as session:
        session.run(math.sqrt(2.0 * height / 9.81) + 0.02)
        top = 0.0
        for _ in range(1000):
            session.step()
            top = max(top, session["ball.z"] - 0.05)
    assert top == pytest.approx(e * e * height, rel=0.05)


@pytest.mark.parametrize(
    ("where", "wrong", "meant"),
    [
        ("toy.toml", "texture_repat = [4, 2]", "texture_repeat"),
        ("toy.toml", "fricton = 0.4", "friction"),
        ("toy.toml", "sped_deg = 90", "speed_deg"),
        ("toy.toml", "velosity = [0, 0, 1]", "velocity"),
        ("all.toml", 'backgroud = "#dde6ee"', "background"),
        ("all.toml", "gravty = [0, 0, -3.7]", "gravity"),
        ("all.toml", "shadow = false", "shadows"),
        ("all.toml", "openning_deg = 40", "opening_deg"),
        ("all.toml", "nevr = []", "never"),
        ("all.toml", 'strt = "begin"', "start"),
    ],
)
@pytest.mark.capability(7)
def test_a_typo_gets_its_line_and_a_suggestion(
    tmp_path: Path, where: str, wrong: str, meant: str
) -> None:
    """The message names file and line, and the most likely name."""
    file = files(tmp_path)
    lines = (tmp_path / where).read_text().splitlines()
    plain = meant.removesuffix("_deg")
    number = next((n for n, line in enumerate(lines) if line.startswith(plain)), None)
    if number is None:  # inside a table, or absent: put it on the first element
        number = next(n for n, line in enumerate(lines) if plain in line or line == "mass = 2")
        key = meant if meant in lines[number] else lines[number]
        value = wrong if key != meant else wrong.split(" =")[0]
        lines[number] = lines[number].replace(key, value)
    else:
        lines[number] = wrong
    (tmp_path / where).write_text("\n".join(lines))
    with pytest.raises(LinkworkError) as caught:
        lw.load_scene(file)
    text = str(caught.value)
    assert f"{where}:{number + 1}: " in text
    assert f"Did you mean {meant!r}?" in text
