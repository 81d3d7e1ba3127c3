"""Bodies fall and bounce on the floors that are meant for them, and on no other (Visum, Schwanen
2002).
"""

import math
from dataclasses import replace
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Box, Element, Loop, Part, Plane, Sphere, Spring
from linkwork.model.scene import CollisionRules, Scene
from linkwork.session.session import Session

G = 9.81

SCENE = """
format = "linkwork/scene 1"
name = "floors"
step = 0.001

[[element]]
name = "shelf"
at = { xyz = [0, 0, 0.5] }
shape = { box = { size = [2, 2, 0.02] }, at = { xyz = [0, 0, -0.01] } }

[[element]]
name = "ground"
shape = { plane = { size = [4, 4] } }

[[part]]
name = "red"
part = "./red.toml"
at = { xyz = [-0.3, 0, 1.05] }
base = "free"

[[part]]
name = "blue"
part = "./blue.toml"
at = { xyz = [0.3, 0, 1.05] }
base = "free"

[collide]
never = [["sinking", "shelf"]]
"""

BALL = """
format = "linkwork/part 1"
name = "ball"

[[element]]
name = "ball"
shape = {{ sphere = {{ radius = 0.05 }} }}
mass = 0.2
restitution = {restitution}
group = "{group}"
"""


@pytest.fixture
def floors(tmp_path: Path) -> Path:
    """Returns a shelf over a floor, a ball that the shelf carries, and one that passes through."""
    path = tmp_path / "floors.toml"
    path.write_text(SCENE)
    (tmp_path / "red.toml").write_text(BALL.format(restitution=0.5, group="carried"))
    (tmp_path / "blue.toml").write_text(BALL.format(restitution=0.5, group="sinking"))
    return path


@pytest.mark.capability(18, 98)
def test_balls_bounce_only_on_the_floors_chosen_for_them(floors: Path) -> None:
    """One bounces on the shelf to e²h; the other passes through and bounces on the ground.

    From a height h the first bounce reaches e²h, within the engine's 0.06 of e.
    """
    heights: dict[str, list[float]] = {"red": [], "blue": []}
    with lw.Session(floors) as session:
        while session.time < 2.5:
            session.step(2)
            for name, seen in heights.items():
                seen.append(session[f"{name}.z"] - 0.05)
    for name, floor in (("red", 0.5), ("blue", 0.0)):
        seen = [height - floor for height in heights[name]]
        assert min(seen) > -0.02
        assert seen[-1] == pytest.approx(0.0, abs=0.03)
        drop = seen[0]
        down = next(n for n, height in enumerate(seen) if height < 0.005)
        assert down * 0.002 == pytest.approx(math.sqrt(2.0 * drop / G), rel=0.03)
        e = math.sqrt(max(seen[down + 5 :]) / drop)
        assert e == pytest.approx(0.5, abs=0.06)


@pytest.mark.capability(98)
def test_without_the_choice_both_stay_on_the_shelf(floors: Path) -> None:
    """The same file without its [collide] table."""
    floors.write_text(SCENE.partition("[collide]")[0])
    with lw.Session(floors) as session:
        session.run(2.0)
        for name in ("red", "blue"):
            assert session[f"{name}.z"] == pytest.approx(0.55, abs=0.02)


@pytest.mark.capability(98)
def test_gravity_is_the_scenes_to_choose(floors: Path) -> None:
    """With gravity along +x balls fall past all floors: x = g t²/2."""
    floors.write_text(SCENE.replace('name = "floors"', 'name = "floors"\ngravity = [1.62, 0, 0]'))
    with lw.Session(floors) as session:
        start = session["red.x"]
        session.run(1.0)
        assert session["red.x"] - start == pytest.approx(0.81, rel=2e-3)
        assert session["red.z"] == pytest.approx(1.05, abs=1e-9)


@pytest.mark.capability(10)
@pytest.mark.parametrize("engine", ["impulse", "lagrange"])
def test_a_body_that_would_fall_through_a_floor_is_refused(engine: str) -> None:
    """These engines have no contacts; the scene may say that nothing collides."""

    def scene(*, body: bool = True, floor: bool = True, base: str = "free") -> Scene:
        stone = Part("stone").add(Element("body", (Sphere(0.1, collide=body),), mass=1.0))
        made = Scene("s").add(Element("ground", (Plane(size=(2.0, 2.0), collide=floor),)))
        return made.place(stone, base=base, at=Pose((0.0, 0.0, 1.0))).engine(engine)

    with pytest.raises(LinkworkError, match=r"stone/body: it would fall through 'ground'.*collide"):
        Session(scene(), watch=False)
    for allowed in (scene(body=False), scene(floor=False), scene(base="fixed")):
        Session(allowed, watch=False).close()
    never = scene()
    never.collide = CollisionRules(never=(("stone", "ground"),))
    Session(never, watch=False).close()
    below = scene()
    below.parts["stone"] = replace(below.parts["stone"], at=Pose((0.0, 0.0, -1.0)))
    Session(below, watch=False).close()


def test_a_table_is_a_floor_for_what_stands_over_it() -> None:
    """A static box stops nothing beside it."""
    top = Box((1.0, 1.0, 0.1), at=Pose((0.0, 0.0, 0.5)))
    for x, falls in ((0.2, True), (0.8, False)):
        stone = Part("stone").add(Element("body", (Sphere(0.1),), mass=1.0))
        scene = Scene("s").add(Element("table", (top,))).engine("impulse")
        scene.place(stone, base="free", at=Pose((x, 0.0, 1.0)))
        if falls:
            with pytest.raises(LinkworkError, match="fall through 'table'"):
                Session(scene, watch=False)
        else:
            Session(scene, watch=False).close()


@pytest.mark.parametrize("held", ["loop", "spring"])
def test_a_free_body_that_hangs_does_not_fall_through(held: str) -> None:
    """A loop or a spring to the scenery holds it."""
    post = Part("post").add(Element("post", mass=1.0), Anchor("hook", "post"))
    stone = Part("stone").add(Element("body", (Sphere(0.1),), mass=1.0), Anchor("eye", "body"))
    scene = Scene("s").add(Element("ground", (Plane(size=(2.0, 2.0)),))).engine("impulse")
    scene.place(post, at=Pose((0.0, 0.0, 1.0)))
    scene.place(stone, base="free", at=Pose((0.0, 0.0, 1.0)))
    if held == "loop":
        scene.loops["l"] = Loop("l", "post/hook", "stone/eye", "ball")
    else:
        scene.springs["s"] = Spring("s", "post/hook", "stone/eye", stiffness=100.0, rest=0.0)
    Session(scene, watch=False).close()
