"""Several engines in one world: ownership, and interaction of their bodies."""

import math
from pathlib import Path

import numpy as np
import pytest

from engine_scenes import (
    SIDE,
    G,
    arm,
    block,
    cycle,
    effort,
    loose,
    motor,
    move,
    seen_from,
    servo,
)
from linkwork.core.errors import LinkworkError, Origin, SceneError
from linkwork.formats import load_scene
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part, Plane, Spec, Sphere
from linkwork.model.scene import Scene
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session

HERE = Origin("scene.toml", 3)

# Riding


def platform(kind: str) -> Part:
    """Returns a rough plate on a stand that slides along x or tilts about y."""
    axis = (1.0, 0.0, 0.0) if kind == "slider" else SIDE
    return Part("table").add(
        Element("stand", mass=1.0),
        Element("plate", (Box((0.6, 0.6, 0.02), at=Pose((0.0, 0.0, -0.01))),), mass=2.0),
        Joint("J", kind, "stand", "plate", at=Pose((0.0, 0.0, 0.3)), axis=axis),
    )


def carrying(
    kind: str, engines: tuple[str, ...] = ("kinematic", "mujoco"), height: float = 0.1
) -> Scene:
    """Returns the platform, moved by Kinematic, with a box on it."""
    scene = Scene("test").place(platform(kind))
    at = Pose((0.1, 0.0, 0.3 + height / 2.0))
    scene.place(loose("box", Box((0.1, 0.1, height))), at=at, base="free")
    for name in engines:
        scene.engine(name, **({"owns": ["table"]} if name == "kinematic" else {}))
    return scene


@pytest.mark.capability(4)
@pytest.mark.parametrize(
    ("kind", "amplitude", "frequency"), [("slider", 0.2, 0.5), ("hinge", math.radians(10), 0.2)]
)
@pytest.mark.parametrize("engines", [("kinematic", "mujoco"), ("mujoco", "kinematic")])
def test_box_rides_on_a_platform_that_kinematic_moves(
    kind: str, amplitude: float, frequency: float, engines: tuple[str, ...]
) -> None:
    """It slips by less than 0.1 mm/s, in any order of the engines."""
    scene = carrying(kind, engines)
    scene.agent("wave", "wave", joint="table/J", amplitude=amplitude, frequency=frequency, ramp=1.0)
    with Session(scene) as session:
        session.step(600)
        seconds = 4.0
        before = np.array(seen_from(session.cycle, "table/plate", "box/body").xyz)
        start = session["table/J.position" if kind == "slider" else "table/J.angle"]
        farthest = 0.0
        for _ in range(round(seconds / session.cycle.h)):
            session.step()
            now = session["table/J.position" if kind == "slider" else "table/J.angle"]
            farthest = max(farthest, abs(now - start))
        slip = np.array(seen_from(session.cycle, "table/plate", "box/body").xyz) - before
        assert farthest > amplitude
        assert np.abs(slip).max() < 1e-4 * seconds


def test_box_slides_on_a_platform_that_is_too_quick() -> None:
    """Above μ g a flat box slides: friction accelerates it by μ g only."""
    ours = cycle(carrying("slider", height=0.02))
    dof = ours.world.single_dof("table/J")
    move(ours, 100)
    t = 0.0
    for _ in range(100):  # 15 m/s² against 0.8 · 9.81
        t += ours.h
        ours.state.target[dof] = 0.5 * 15.0 * t**2
        ours.move()
    body = ours.world.body("box/body")
    assert ours.state.twist[body, 0] == pytest.approx(0.8 * G * t, rel=0.03)


def test_platform_in_motion_at_the_start_does_not_kick() -> None:
    """A platform with initial velocity carries a box with the same velocity."""
    scene = Scene("test").place(platform("slider"))
    box = loose("box", Box((0.1, 0.1, 0.1)), velocity=(0.5, 0.0, 0.0))
    scene.place(box, at=Pose((0.1, 0.0, 0.35)), base="free")
    ours = cycle(scene.engine("kinematic", owns=["table"]).engine("mujoco"))
    dof = ours.world.single_dof("table/J")
    ours.state.v[dof] = 0.5
    ours.refresh()
    for engine in ours.engines:
        engine.reset()
    ours.state.target[dof], ours.state.target_speed[dof] = 10.0, 0.5
    body = ours.world.body("box/body")
    for _ in range(100):
        ours.move()
        assert ours.state.twist[body, 0] == pytest.approx(0.5, abs=2e-3)


def test_kinematic_pusher_moves_a_box_and_feels_nothing() -> None:
    """The pusher follows its target and pushes the box."""
    pusher = Part("pusher").add(
        Element("base", mass=1.0),
        block("wall", (0.05, 0.3, 0.2), 1.0),
        Joint("X", "slider", "base", "wall", axis=(1.0, 0.0, 0.0)),
    )
    scene = Scene("test").add(Element("ground", (Plane(),)))
    scene.place(pusher, at=Pose((0.0, 0.0, 0.12)))
    scene.place(loose("box", Box((0.1, 0.1, 0.1)), 50.0), at=Pose((0.2, 0.0, 0.05)), base="free")
    ours = cycle(scene.engine("kinematic", owns=["pusher"]).engine("mujoco"))
    ours.state.target[0], ours.state.target_speed[0] = 0.5, 0.25
    move(ours, 1000)
    assert ours.state.q[0] == pytest.approx(0.5, abs=1e-12)
    gap = ours.state.q[1] - (0.5 + 0.025 + 0.05)
    assert abs(gap) < 2e-3


# Several dynamic engines


def two_robots(**second: object) -> Scene:
    """Returns an arm each for two Mujoco engines, a table for Kinematic, and a ground."""
    scene = Scene("test").add(Element("ground", (Plane(),)))
    for n, name in enumerate(("left", "right")):
        scene.place(arm(drive=servo(kp=20.0, kd=0.5)), name=name, at=Pose((0.0, 0.5 * n, 0.5)))
    scene.place(platform("hinge"), at=Pose((1.0, 0.0, 0.0)))
    scene.place(loose("box", Box((0.1, 0.1, 0.1))), at=Pose((1.1, 0.0, 0.36)), base="free")
    scene.engine("kinematic", owns=["table"]).engine("mujoco", owns=["left"])
    return scene.engine("mujoco", owns=["right", "box"], **second)


@pytest.mark.capability(4, 158)
def test_three_engines_in_one_world_each_move_their_own() -> None:
    """Two arms and a box of two Mujoco engines move as in one; the table follows its target."""
    several, one = two_robots(), two_robots()
    one.engines = [one.engines[0], Spec("engine", "mujoco")]
    results = []
    for scene in (several, one):
        with Session(scene) as session:
            session["left/J.target"], session["right/J.target"] = 0.4, -0.7
            session["table/J.target"] = 0.1
            session["table/J.target_speed"] = 0.05
            session.step(800)
            results.append(session.state.q.copy())
            assert session["table/J.angle"] == pytest.approx(0.08)
            assert session["left/J.angle"] == pytest.approx(0.4, abs=0.01)
            assert session["right/J.angle"] == pytest.approx(-0.7, abs=0.01)
    assert results[0] == pytest.approx(results[1], abs=1e-9)


def test_contacts_and_energy_of_all_engines_are_reported() -> None:
    """The contact table and the energy include every engine."""
    scene = Scene("test").add(Element("ground", (Plane(),)))
    for n in range(2):
        box = loose(f"box{n}", Box((0.1, 0.1, 0.1)), 1.0 + n)
        scene.place(box, at=Pose((n, 0.0, 0.05)), base="free")
        scene.engine("mujoco", owns=[f"box{n}"])
    ours = cycle(scene)
    move(ours, 300)
    rows = ours.contacts()
    for n in range(2):
        mine = np.isin(rows[:, :2], ours.world.body(f"box{n}/body")).any(axis=1)
        assert rows[mine, 11].sum() == pytest.approx((1.0 + n) * G, rel=1e-3)
    assert ours.state.report.energy[1] == pytest.approx(3.0 * G * 0.05, rel=0.02)


def meeting(**second: object) -> Scene:
    """Returns a ball of one Mujoco engine above a box of another."""
    scene = Scene("test").add(Element("ground", (Plane(),)))
    scene.place(loose("box", Box((0.2, 0.2, 0.2)), 0.5), at=Pose((0.0, 0.0, 0.1)), base="free")
    scene.place(loose("ball", Sphere(0.05), 5.0), at=Pose((0.0, 0.0, 0.5)), base="free")
    return scene.engine("mujoco", owns=["box"]).engine("mujoco", owns=["ball"], **second)


def test_bodies_of_two_dynamic_engines_pass_through_each_other_and_check_says_so() -> None:
    """Neither treats the other's body as an infinite mass unless declared."""
    ours = cycle(meeting())
    (found,) = [f for f in ours.findings if f.level == "approximated"]
    assert found.about == "box"
    assert "ball" in found.text
    assert "one_way" in found.text
    move(ours, 500)
    assert ours.state.q[9] == pytest.approx(0.05, abs=1e-3)  # the ball lies inside the box
    assert ours.state.q[2] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.capability(4)
def test_one_way_lets_a_body_push_as_an_infinite_mass() -> None:
    """Declared one-way, the ball lies on the box without loading it."""
    ours = cycle(meeting(one_way=["box"]))
    assert [f for f in ours.findings if f.level == "approximated"] == []
    move(ours, 600)
    assert ours.state.q[9] == pytest.approx(0.25, abs=2e-3)
    rows = ours.contacts()
    ground = ours.world.body("ground")
    under = rows[np.isin(rows[:, :2], ground).any(axis=1)]
    assert under[:, 11].sum() == pytest.approx(0.5 * G, rel=1e-3)


def test_one_way_names_parts_of_other_dynamic_engines_only() -> None:
    """Own, kinematic and unknown parts are rejected with their origin."""
    for name, words in (("ball", "this engine"), ("bell", "ball/body"), ("ground", "not at all")):
        scene = meeting()
        params = {"owns": ["ball"], "one_way": [name]}
        scene.engines[1] = Spec("engine", "mujoco", params=params, origin=HERE)
        with pytest.raises(LinkworkError, match=rf"scene.toml:3: .*{words}"):
            cycle(scene)
    scene = carrying("slider", ())
    scene.engine("kinematic", owns=["table"]).engine("mujoco", one_way=["table"])
    with pytest.raises(SceneError, match="moved by kinematic"):
        cycle(scene)


# Ownership


@pytest.mark.capability(4)
def test_what_no_engine_owns_is_scenery() -> None:
    """An arm without an engine is static, and other bodies can lie on it."""
    scene = Scene("test").place(arm(mass=1.0, length=0.4), name="shelf", at=Pose((0.0, 0.0, 0.3)))
    lost = loose("lost", Sphere(0.02), velocity=(1.0, 0.0, 0.0))
    scene.place(lost, at=Pose((0.0, 3.0, 0.0)), base="free")
    scene.place(loose("box", Box((0.1, 0.1, 0.1))), at=Pose((0.2, 0.0, 0.37)), base="free")
    with Session(scene.engine("mujoco", owns=["box"])) as session:
        session.step(400)
        assert session["shelf/J.angle"] == 0.0
        assert session["lost.x"] == 0.0
        assert session["lost.x_speed"] == 0.0
        assert session["box.z"] == pytest.approx(0.36, abs=1e-3)


def test_two_engines_cannot_own_one_island() -> None:
    """Connected bodies have one engine; the error names the part and the line."""
    scene = Scene("test").place(arm())
    scene.engine("kinematic", owns=["arm"])
    scene.engines.append(Spec("engine", "mujoco", params={"owns": ["arm/link"]}, origin=HERE))
    with pytest.raises(SceneError, match=r"scene.toml:3: two engines own 'arm/link'"):
        cycle(scene)


def test_only_one_engine_takes_what_is_left() -> None:
    """Two engines without owns are rejected."""
    scene = Scene("test").place(arm()).engine("kinematic")
    scene.engines.append(Spec("engine", "mujoco", origin=HERE))
    with pytest.raises(SceneError, match=r"scene.toml:3: .*no 'owns'"):
        cycle(scene)


@pytest.mark.parametrize(
    ("owns", "words"), [(["arn"], "'arn'"), (["ground"], "nothing that moves"), ("arm", "list")]
)
def test_owns_names_things_that_move(owns: object, words: str) -> None:
    """Unknown names, scenery, and a text instead of a list are rejected with their origin."""
    scene = Scene("test").place(arm()).add(Element("ground", (Plane(),)))
    scene.engines = [Spec("engine", "mujoco", params={"owns": owns}, origin=HERE)]
    with pytest.raises(LinkworkError, match=rf"scene.toml:3: .*{words}"):
        cycle(scene)


SWAPPED = """
format = "linkwork/scene 1"
name = "swap"

[[element]]
name = "ground"
shape = {{ plane = {{ size = [4, 4] }} }}
friction = 0.5

[[part]]
name = "arm"
part = "./arm.toml"

[[engine]]
type = "{engine}"
"""

ARM = """
format = "linkwork/part 1"
name = "arm"

[[element]]
name = "post"
shape = { box = { size = [0.1, 0.1, 0.4] }, at = { xyz = [0, 0, 0.2] } }
mass = 4

[[element]]
name = "link"
shape = { box = { size = [0.3, 0.04, 0.04] }, at = { xyz = [0.15, 0, 0] } }
mass = 0.5

[[joint]]
name = "J"
type = "hinge"
from = "post"
to = "link"
at = { xyz = [0.1, 0, 0.35] }
axis = [0, 1, 0]
range_deg = [-90, 90]
max_speed_deg = 60
drive = { type = "servo", kp = 200, kd = 5 }
"""


@pytest.mark.capability(5)
def test_engine_is_swapped_by_one_word(tmp_path: Path) -> None:
    """The same file runs on either engine; only the dynamic one sags under the weight."""
    (tmp_path / "arm.toml").write_text(ARM)
    reached = {}
    for engine in ("kinematic", "mujoco"):
        file = tmp_path / f"{engine}.toml"
        file.write_text(SWAPPED.format(engine=engine))
        with Session(load_scene(file)) as session:
            session["arm/J.target"] = 0.5
            session.step(1500)
            reached[engine] = session["arm/J.angle"]
    assert reached["kinematic"] == 0.5
    sag = 0.5 * G * 0.15 * math.cos(0.5) / 200.0
    assert reached["mujoco"] - 0.5 == pytest.approx(sag, rel=0.01)


# Prescribed joints inside a dynamic engine


def cart(**joint: object) -> Scene:
    """Returns a rod that hangs from a cart with a prescribed slider."""
    rod = Box((0.02, 0.02, 0.4), at=Pose((0.0, 0.0, -0.2)), collide=False)
    part = Part("cart").add(
        Element("rail", mass=1.0),
        Element("cart", (Box((0.1, 0.1, 0.1), collide=False),), mass=2.0),
        Element("rod", (rod,), mass=0.5),
        Joint("X", "slider", "rail", "cart", axis=(1.0, 0.0, 0.0), **joint),  # type: ignore[arg-type]
        Joint("P", "hinge", "cart", "rod", axis=SIDE, value=0.3),
    )
    return Scene("test", step=0.001).place(part).engine("mujoco", prescribed=["cart/X"])


AMPLITUDE, OMEGA = 0.1, 2.0 * math.pi
ROD, LEVER = 0.5, 0.2
PIVOT = ROD * (0.4**2 + 0.02**2) / 12.0 + ROD * LEVER**2


def swing(angle: float, t: float) -> float:
    """Exact equation of the rod on the driven cart: I φ̈ = −m g l sin φ + m l ẍ cos φ."""
    pushed = -AMPLITUDE * OMEGA**2 * math.sin(OMEGA * t)
    return ROD * LEVER * (pushed * math.cos(angle) - G * math.sin(angle)) / PIVOT


def test_pendulum_feels_the_inertia_of_a_prescribed_cart() -> None:
    """The cart follows its target exactly; the rod obeys the exact equation."""
    ours = cycle(cart())
    ours.state.v[0] = AMPLITUDE * OMEGA
    ours.refresh()
    angle, speed, h = 0.3, 0.0, ours.h
    for step in range(2000):
        t = step * h
        ours.state.target[0] = AMPLITUDE * math.sin(OMEGA * (t + h))
        ours.move()
        k1 = speed, swing(angle, t)  # Runge–Kutta
        k2 = speed + h / 2 * k1[1], swing(angle + h / 2 * k1[0], t + h / 2)
        k3 = speed + h / 2 * k2[1], swing(angle + h / 2 * k2[0], t + h / 2)
        k4 = speed + h * k3[1], swing(angle + h * k3[0], t + h)
        angle += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        speed += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        assert ours.state.q[0] == pytest.approx(ours.state.target[0], abs=1e-15)
        assert ours.state.q[1] == pytest.approx(angle, abs=3e-3)


def test_effort_of_a_prescribed_joint_is_inverse_dynamics() -> None:
    """The reported force moves cart and rod: M ẍ − m l (φ̈ cos φ − φ̇² sin φ)."""
    ours = cycle(cart())
    ours.state.v[0] = AMPLITUDE * OMEGA
    ours.refresh()
    for step in range(1000):
        before = float(ours.state.q[1])
        ours.state.target[0] = AMPLITUDE * math.sin(OMEGA * (step + 1) * ours.h)
        ours.move()
        pushed, turned = ours.state.report.acceleration
        angle, speed = before, float(ours.state.v[1])
        bend = turned * math.cos(angle) - speed**2 * math.sin(angle)
        expected = 2.5 * pushed - ROD * LEVER * bend
        assert ours.state.report.effort[0] == pytest.approx(expected, abs=0.05)


def test_motor_prescribes_a_speed() -> None:
    """A motor on a prescribed joint moves it at exactly its signed velocity, at any load."""
    ours = cycle(cart(drive=motor()))
    ours.state.target_speed[0] = -0.7
    move(ours, 500)
    assert ours.state.q[0] == pytest.approx(-0.35, abs=1e-12)
    assert ours.state.v[0] == pytest.approx(-0.7, abs=1e-12)


def test_effort_on_a_prescribed_joint_is_found_to_have_no_effect() -> None:
    """Check reports it."""
    ours: Cycle = cycle(cart(drive=effort()))
    assert [f.about for f in ours.findings if "no effect" in f.text] == ["cart/X"]


def test_joint_of_another_engine_cannot_be_prescribed() -> None:
    """A prescribed joint must be owned."""
    scene = carrying("slider", ())
    scene.engine("kinematic", owns=["table"]).engine("mujoco", prescribed=["table/J"])
    with pytest.raises(LinkworkError, match="'table/J' is prescribed but not owned"):
        cycle(scene)
