"""The twin: an inclinometer as a joint, and a model that shows what sensors say (Rocon)."""

import math

import pytest

import linkwork as lw

LEGS = [f"leg{n}/{joint}" for n in (1, 2, 3) for joint in ("hip", "knee")]

#: Each reading of the tripod, and the twin's joint that shows it.
SHOWN = [
    ("tripod/platform/tilt.x", "stand/J1.angle"),
    ("tripod/platform/tilt.y", "stand/J2.angle"),
    *((f"tripod/{leg}.angle", f"twin/{leg}.angle") for leg in LEGS),
]


def largest_lag(session: lw.Session, steps: int) -> float:
    """How far a twin's joint ever is from the reading of the step before [rad]."""
    largest, before = 0.0, [session[reading] for reading, _ in SHOWN]
    for _ in range(steps):
        session.step()
        for value, (_, joint) in zip(before, SHOWN, strict=True):
            largest = max(largest, abs(session[joint] - value))
        before = [session[reading] for reading, _ in SHOWN]
    return largest


@pytest.mark.capability(58)
def test_twin_shows_every_reading_one_step_later():
    """Eight joints of the twin equal two tilts and six leg angles of the step before."""
    with lw.Session("tripod/twin") as session:
        assert largest_lag(session, 3500) < 1e-12
        assert abs(session["twin/leg1/hip.angle"] - math.radians(40)) > math.radians(3)


@pytest.mark.capability(58)
def test_inclinometer_tilts_the_whole_twin():
    """Where nobody levels, the floor tilts the tripod by 10° and the inclinometer tilts the twin.

    The twin's own inclinometer agrees with the tripod's: x and y of two chained hinges differ from
    the two tilts of one frame by tan x − tan x·cos y, 0.15° at 10°.
    """
    scene = lw.load_scene("tripod/twin")
    scene.agents = [agent for agent in scene.agents if agent.name != "level"]
    steepest = difference = 0.0
    with lw.Session(scene) as session:
        session.run(1.0)
        for _ in range(1250):
            session.step(2)
            for axis in "xy":
                real = session[f"tripod/platform/tilt.{axis}"]
                steepest = max(steepest, abs(real))
                difference = max(difference, abs(real - session[f"twin/platform/tilt.{axis}"]))
    assert steepest > math.radians(9)
    assert difference < math.radians(0.2)


def test_twin_weighs_nothing_on_the_real_tripod():
    """The tripod beside a twin moves as it does alone, to a hundredth of a degree.

    Not to the bit: more bodies in one MuJoCo model change how far its solver iterates.
    """
    scene = lw.load_scene("tripod/twin")
    del scene.parts["stand"], scene.parts["twin"]
    scene.agents = [agent for agent in scene.agents if agent.name != "twin"]
    scene.engines[0].params["owns"] = ["table"]
    with lw.Session(scene) as alone, lw.Session("tripod/twin") as both:
        alone.run(3.0)
        both.run(3.0)
        for angle in (f"tripod/{leg}.angle" for leg in LEGS):
            assert both[angle] == pytest.approx(alone[angle], abs=math.radians(0.01))
