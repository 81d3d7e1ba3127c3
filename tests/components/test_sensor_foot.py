"""A foot sensor's corners carry what the ground carries, at the same place."""

import numpy as np
import pytest

from block_fixture import Rig
from linkwork.core.state import CONTACT_COLUMNS
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Box, Element, Part, Plane, Spec
from linkwork.model.scene import Scene
from linkwork.session.session import Session

G, SIZE = 9.81, (0.22, 0.12)
CORNERS = ("front_left", "front_right", "rear_left", "rear_right")


def foot(on: str = "foot/sole", **params: object) -> Spec:
    return Spec("sensor", "foot", "tread", {"on": on, "size": SIZE, **params})


def loaded(x: float, y: float, *, mass: float = 3.0) -> Part:
    """A flat foot with a load on it, off the middle."""
    return Part("foot").add(
        Element("sole", (Box((0.24, 0.14, 0.02)),), mass=0.5),
        Element("load", (Box((0.02, 0.02, 0.02), collide=False),), on="sole", mass=mass,
                at=Pose((x, y, 0.03))),
        Anchor("under", "sole", Pose((0.0, 0.0, -0.01))),
    )  # fmt: skip


def standing(part: Part, *specs: Spec, turned: float = 0.0) -> Scene:
    scene = Scene("test", step=0.002).add(Element("ground", (Plane(),)))
    scene.place(part, at=Pose.of((0.4, -0.3, 0.0101), rpy=(0.0, 0.0, turned)), base="free")
    scene.sensors.extend(specs)
    return scene


@pytest.mark.capability(175)
@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (0.05, 0.0), (-0.04, 0.03), (0.06, -0.035)])
def test_the_corners_carry_the_weight_where_it_is(x: float, y: float) -> None:
    """The sum is the weight, the centre of pressure lies under the centre of mass."""
    mass = 3.0
    scene = standing(loaded(x, y, mass=mass), foot(), foot_of("under"), turned=0.7)
    with Session(scene) as session:
        session.step(1500)
        for name in ("tread", "under"):
            corners = np.array([session[f"{name}.{corner}"] for corner in CORNERS])
            weight = (mass + 0.5) * G
            assert session[f"{name}.force"] == pytest.approx(weight, rel=1e-4)
            assert corners.sum() == pytest.approx(session[f"{name}.force"], rel=1e-12)
            share = mass / (mass + 0.5)
            place = session[f"{name}.cop_x"], session[f"{name}.cop_y"]
            assert place == pytest.approx((share * x, share * y), abs=2e-4)
            across = SIZE[0] / 2 * (corners[:2].sum() - corners[2:].sum()) / corners.sum()
            assert place[0] == pytest.approx(across, abs=1e-12)


def foot_of(anchor: str) -> Spec:
    return Spec("sensor", "foot", anchor, {"on": f"foot/{anchor}", "size": SIZE})


def by_hand(rows: list[tuple[float, float, float]], *specs: Spec, swapped: bool = False) -> Rig:
    """Contacts of given places in the sole's frame, and forces, on a foot that stands tilted."""
    rig = Rig(standing(loaded(0.0, 0.0), *specs))
    pose = Pose.of((1.0, 2.0, 3.0), rpy=(0.4, -0.2, 0.9))
    body = int(rig.world.element_body[rig.world.element_names.index("foot/sole")])
    rig.state.pose[body] = pose.array()
    table = np.zeros((len(rows), CONTACT_COLUMNS))
    sole, ground = (rig.world.element_names.index(name) for name in ("foot/sole", "ground"))
    for row, (x, y, force) in zip(table, rows, strict=True):
        row[:4] = (0, body, ground, sole) if not swapped else (body, 0, sole, ground)
        row[4:7] = pose.apply((x, y, -0.01))
        row[7:10] = np.array(pose.rotate((0.0, 0.0, 1.0))) * (-1.0 if swapped else 1.0)
        row[11] = force
    rig.state.report.contacts[: len(rows)] = table
    rig.state.report.contact_count = len(rows)
    return rig


@pytest.mark.parametrize("swapped", [False, True])
def test_sum_and_moments_of_any_contacts_are_kept(swapped: bool) -> None:
    """Whatever touches where: force and both moments at the corners are those of the contacts."""
    rng = np.random.default_rng(2)
    rows = [(*rng.uniform(-0.05, 0.05, 2), rng.uniform(1.0, 20.0)) for _ in range(7)]
    read = by_hand(rows, foot(), swapped=swapped).read()
    x, y, force = np.array(rows).T
    corners = np.array([read[f"tread.{corner}"] for corner in CORNERS])
    place = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)]) * SIZE / np.array(2.0)
    assert corners.sum() == pytest.approx(force.sum(), rel=1e-12)
    assert corners @ place == pytest.approx([force @ x, force @ y], rel=1e-9)
    assert read["tread.cop_x"] == pytest.approx(force @ x / force.sum(), rel=1e-9)
    assert read["tread.cop_y"] == pytest.approx(force @ y / force.sum(), rel=1e-9)


def test_a_contact_in_a_corner_is_that_corners_alone() -> None:
    """A force right at the front left corner is read there and nowhere else."""
    read = by_hand([(SIZE[0] / 2, SIZE[1] / 2, 8.0)], foot()).read()
    corners = [read[f"tread.{corner}"] for corner in CORNERS]
    assert corners == pytest.approx([8.0, 0.0, 0.0, 0.0], abs=1e-12)


def test_in_the_air_there_is_nothing_and_noise_is_of_each_corner() -> None:
    """Without contacts all is 0; with noise the corners are independent, within the range."""
    assert set(by_hand([], foot()).read().values()) == {0.0}
    rig = by_hand([], foot(noise=2.0, range=5.0))
    found = np.array([list(rig.read(step).values())[:4] for step in range(4000)])
    assert found.std(axis=0) == pytest.approx([2.0] * 4, rel=0.06)
    assert np.abs(np.corrcoef(found.T) - np.eye(4)).max() < 0.06
    assert np.abs(found).max() == 5.0
