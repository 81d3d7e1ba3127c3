"""Units of DBC files: known ones become the scene's, others are refused with their place."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest

from bus_fixture import block_of
from linkwork.buses.can.dbc_units import factor
from linkwork.buses.can.frame_codec import decode, encode
from linkwork.buses.can.layout import frames
from linkwork.core.errors import LinkworkError
from linkwork.formats import load_scene
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle

SCENE = """format = "linkwork/scene 1"
name = "cell"

[[part]]
name = "arm"
part = "gripper/arm"

[[bus]]
name = "can0"
type = "can"
file = "user.dbc"

[[port]]
name = "shoulder"
commands = [{ signal = "arm/J1.target", dbc = "Wanted.Shoulder"MORE }]
"""
DBC = """VERSION ""
NS_ :
BS_:
BU_: Arm Host
BO_ 512 Wanted: 8 Host
 SG_ Shoulder : 0|KIND (0.5,10) [0|0] "UNIT" Arm
"""


def shoulder(folder: Path, unit: str, *, kind: str = "16@1-", more: str = "") -> Cycle:
    """An arm whose shoulder is bound to a user's DBC file."""
    text = DBC.replace("UNIT", unit).replace("KIND", kind)
    if kind.startswith("32"):
        text += "SIG_VALTYPE_ 512 Shoulder : 1;\n"
    (folder / "user.dbc").write_text(text)
    (folder / "scene.toml").write_text(SCENE.replace("MORE", more))
    return Cycle(compile_scene(load_scene(folder / "scene.toml")))


@pytest.mark.parametrize(
    ("theirs", "ours", "worth"),
    [
        ("deg", "rad", math.radians(1)), ("degrees", "rad", math.radians(1)),
        ("Grad", "rad", math.radians(1)), ("°", "rad", math.radians(1)),
        ("mrad", "rad", 1e-3), ("gon", "rad", math.pi / 200), ("Rad", "rad", 1.0),
        ("deg/s", "rad/s", math.radians(1)), ("°/sec", "rad/s", math.radians(1)),
        ("rpm", "rad/s", math.pi / 30), ("U/min", "rad/s", math.pi / 30),
        ("1/min", "rad/s", math.pi / 30), ("deg/s^2", "rad/s²", math.radians(1)),
        ("deg/s/s", "rad/s²", math.radians(1)), ("mm", "m", 1e-3), ("µm", "m", 1e-6),
        ("mm/s", "m/s", 1e-3), ("m/min", "m/s", 1 / 60), ("mNm", "N m", 1e-3),
        ("N*m", "N m", 1.0), ("kN", "N", 1e3), ("g", "kg", 1e-3), ("ms", "s", 1e-3),
        ("", "rad", 1.0), ("deg", "", 1.0), ("rad", "rad", 1.0), ("xyz", "xyz", 1.0),
    ],
)  # fmt: skip
def test_units_that_are_known_are_turned_into_ours(theirs: str, ours: str, worth: float) -> None:
    """By what the units mean; none at all counts as ours."""
    assert factor(theirs, ours) == pytest.approx(worth, rel=1e-15)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("furlong", "m"), ("deg", "m"), ("A", "N m"), ("grad", "rad"), ("deg/s", "rad"), ("/", "m")],
)
def test_units_that_are_not_known_have_no_factor(theirs: str, ours: str) -> None:
    """Also those of something else, and the word that means two things."""
    assert factor(theirs, ours) is None


@pytest.mark.parametrize("unit", ["Grad", "degrees", "°"])
def test_degrees_in_other_words_are_degrees(tmp_path: Path, unit: str) -> None:
    """A file's own scale and offset count, in radians."""
    quant = block_of(shoulder(tmp_path, unit), "can0").rows["shoulder.target"].signal.quant
    assert quant is not None
    assert (quant.scale, quant.offset) == pytest.approx((math.radians(0.5), math.radians(10)))


def test_a_unit_that_nobody_knows_is_refused_at_the_port(tmp_path: Path) -> None:
    """Taken as radians it would send the joint somewhere else; dbc_unit says what is meant."""
    with pytest.raises(LinkworkError, match=r"in 'klicks', the scene's signal in 'rad'") as caught:
        shoulder(tmp_path, "klicks")
    line = SCENE[: SCENE.index("[[port]]")].count("\n") + 1
    assert str(caught.value).startswith(f"{tmp_path / 'scene.toml'}:{line}:")
    assert "dbc_unit" in str(caught.value)
    block = block_of(shoulder(tmp_path, "klicks", more=', dbc_unit = "deg"'), "can0")
    quant = block.rows["shoulder.target"].signal.quant
    assert quant is not None
    assert quant.scale == pytest.approx(math.radians(0.5))


def test_an_ieee_number_has_the_files_scale_and_unit_too(tmp_path: Path) -> None:
    """A float of 20 with scale 0.5 and offset 10, in degrees, is 20°, and goes back as it was."""
    plan = block_of(shoulder(tmp_path, "deg", kind="32@1-"), "can0").plan
    (form,) = frames(plan, plan.inputs).values()
    data = struct.pack("<f", 20.0) + bytes(4)
    found = decode(form.message, data)
    assert found == {"shoulder.target": pytest.approx(math.radians(20))}
    assert encode(form.message, found) == data
